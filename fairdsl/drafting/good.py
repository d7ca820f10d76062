"""Which value of a column is the good one, and by what that is taken: the rule of ``init`` and of ``audit``.

What says that it is so (1, true, yes) is good, unless the header names a bad outcome (``default``): then the other one
is. A word for a good outcome (``granted``) says it by itself. Everything else is a guess, which ``init`` writes into a
spec that somebody reads before it is used, and ``audit``, which answers at once, asks about.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from fairdsl.data.cells import BOOLEANS, decimal_of

#: Words for a good outcome.
_GOOD = re.compile(
    "good|grant(ed)?|approved?|accept(ed)?|admit(ted)?|hired?|(re)?paid|survived?|pass(ed)?|promoted|>50k|won",
    re.IGNORECASE,
)
#: Words that say of which value there is much: as good, or as bad, as what the header names.
_MUCH = re.compile("pos(itive)?|high|active", re.IGNORECASE)
#: Headers of bad outcomes.
_BAD = re.compile(
    "default|recid|rearrest|arrest|fraud|churn|denied|denial|reject|refus|declin|drop.?out|delinquen|bankrupt|fired",
    re.IGNORECASE,
)
#: Words for what is so, with those for what is not.
_OPPOSITE = {"1": "0", "true": "false", "yes": "no", "y": "n"}
_OPPOSITE |= {no: yes for yes, no in _OPPOSITE.items()}
_TRUTHS = BOOLEANS | {"y": 1, "n": 0}
#: The same of numbers, as (digits, power of ten); some libraries write -1 for what is not.
_NUMBERS = {(1, 0): True, (0, 0): False, (-1, 0): False}


class Ground(Enum):
    """By what a value is taken for the good one; the words for it."""

    SO = "as 1, true and yes are"
    BAD_HEADER = "the header names a bad outcome"
    WORD = "as the word says"
    GUESS = "a GUESS"


@dataclass(frozen=True, slots=True)
class Good:
    """A good value as the table would write it, also where no row has it."""

    value: str
    ground: Ground


def good_of(header: str, values: Sequence[str]) -> Good:
    """The good one of a column's values, each once."""
    bad = _BAD.search(header) is not None
    if all(truth_of(value) is not None for value in values):  # in whatever capitals
        return Good(side_of(values, so=not bad), Ground.BAD_HEADER if bad else Ground.SO)
    so = [value for value in values if truth_of(value) or _MUCH.fullmatch(value)]
    if bad and len(values) == 2 and len(so) == 1:
        other = next(value for value in values if value not in so)
        return Good(other, Ground.BAD_HEADER if _MUCH.fullmatch(so[0]) else Ground.GUESS)
    words = [value for value in values if _GOOD.fullmatch(value)]
    if words:
        return Good(words[0], Ground.WORD if len(words) == 1 else Ground.GUESS)
    so = so if len(values) <= 2 else []  # of several numbers 1 says nothing
    return Good((so or [value for value in values if not _BAD.search(value)] or [*values])[-1], Ground.GUESS)


def truth_of(value: str) -> bool | None:
    """Whether the value says that something is so, or that it is not; None where it says neither."""
    word = _TRUTHS.get(value.lower())
    number = decimal_of(value)
    return bool(word) if word is not None else None if number is None else _NUMBERS.get(number)


def side_of(values: Sequence[str], *, so: bool) -> str:
    """Of truth values the one on that side, also where no row has it."""
    found = next((value for value in values if truth_of(value) is so), None)
    return found or _OPPOSITE.get(values[0].lower(), "1" if so else "0")


def names_a_good_outcome(header: str) -> bool:
    """Whether a word of the header says that what is so is good, as of ``loan_granted``."""
    words = re.findall(r"[a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", header).lower())
    return any(_GOOD.fullmatch(word) or _MUCH.fullmatch(word) for word in words) and not _BAD.search(header)
