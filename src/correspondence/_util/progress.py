"""Progress of work that takes a while."""

from __future__ import annotations

from tqdm import tqdm

__all__ = ["make_progress_bar"]


def make_progress_bar(total: int, text: str, progress: bool | None = None) -> tqdm:
    """Make a bar to ``update``: always shown (True), never (False), or in a terminal after two seconds (None)."""
    shown = {"delay": 2, "disable": None} if progress is None else {"disable": not progress}
    return tqdm(total=total, desc=text, **shown)
