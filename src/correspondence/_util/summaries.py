"""Summaries in plain words: one method prints them, one returns their text."""

from __future__ import annotations

from abc import ABC, abstractmethod

__all__ = ["WithSummary"]


class WithSummary(ABC):
    """What can say in a few lines what was found."""

    def summary(self) -> None:
        """Print in a few lines what was found; `write_summary` returns the text."""
        print(self.write_summary())

    @abstractmethod
    def write_summary(self) -> str:
        """Write in a few lines what was found.

        Returns
        -------
        str
            The lines that `summary` prints.
        """
