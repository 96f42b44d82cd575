"""Progress of work that takes a while."""

from __future__ import annotations

from tqdm import tqdm

__all__ = ["make_progress_bar"]


def make_progress_bar(total: int, text: str, progress: bool | None = None) -> tqdm:
    """Bar to ``update``: in a terminal from two seconds on by default, always with True, never with False."""
    shown = {"delay": 2, "disable": None} if progress is None else {"disable": not progress}
    return tqdm(total=total, desc=text, **shown)
