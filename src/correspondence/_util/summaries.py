"""Summaries in plain words: one method prints them, one returns their text."""

from __future__ import annotations

from abc import ABC, abstractmethod

__all__ = ["WithSentences", "WithSummary"]


class WithSummary(ABC):
    """A result that says in a few lines what was found."""

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


class WithSentences(WithSummary):
    """A result whose summary is sentences, each on its line."""

    @abstractmethod
    def write_sentences(self) -> list[str]:
        """Write what was found in sentences."""

    def write_summary(self) -> str:
        """Write what `write_sentences` says, each sentence on its line.

        Returns
        -------
        str
            The lines that `summary` prints.
        """
        return "\n".join(self.write_sentences())
