"""Did you mean: the nearest known name, if it is near enough to be a slip of the hand."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher

__all__ = ["nearest"]


def nearest(name: str, known: Iterable[str], *, cutoff: float = 0.72) -> str | None:
    """The known name closest to ``name``, or None when none is close (ratio of matching characters)."""
    folded = name.casefold()
    best, best_ratio = None, cutoff
    for candidate in known:
        ratio = SequenceMatcher(None, folded, candidate.casefold()).ratio()
        if ratio > best_ratio:
            best, best_ratio = candidate, ratio
    return best
