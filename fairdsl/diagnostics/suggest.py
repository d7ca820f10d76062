"""Did you mean: the nearest known name, if it is near enough to be a slip of the hand."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher
from itertools import islice

#: So many known names are looked at, and so many letters of a name: a suggestion costs the same in every file.
_LOOKED_AT = 2_000
_LETTERS = 80
#: So many are compared letter by letter. Where more are known, those that begin or end alike come into question.
_COMPARED = 24


def nearest(name: str, known: Iterable[str], *, cutoff: float = 0.72) -> str | None:
    """The known name closest to ``name``, or None when none is close (ratio of matching characters).

    Of thousands of known names only the first ones are looked at, and of these the ones with the same ends.
    """
    folded = name.casefold()[:_LETTERS]
    candidates = list(islice(known, _LOOKED_AT))
    if len(candidates) > _COMPARED:
        candidates = list(islice((other for other in candidates if _alike(folded, other)), _COMPARED))
    best, best_ratio = None, cutoff
    for candidate in candidates:
        ratio = SequenceMatcher(None, folded, candidate[:_LETTERS].casefold()).ratio()
        if ratio > best_ratio:
            best, best_ratio = candidate, ratio
    return best


def _alike(folded: str, candidate: str) -> bool:
    """Whether two names are about as long, and begin with the same letter or end with it."""
    near = 2 * abs(len(folded) - len(candidate)) <= len(folded) + 2
    return near and (candidate[:1].casefold() == folded[:1] or candidate[-1:].casefold() == folded[-1:])
