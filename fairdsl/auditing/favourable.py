"""Which value of the decisions, and of what became of people, is the good one.

It is the one that is named, else what the rule of ``init`` is sure of (``drafting/good.py``). What predicts a column
whose header names a bad outcome means by 1 what that column does; of any other column beside it nobody knows, and it is
asked.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from fairdsl.auditing.errors import not_audited
from fairdsl.data.cells import BLANKS
from fairdsl.diagnostics import DiagnosticError
from fairdsl.diagnostics.surface import said
from fairdsl.drafting.good import Ground, good_of, names_a_good_outcome, side_of, truth_of
from fairdsl.drafting.words import in_comment, listed

#: Headers that say no more than that it is about the other column.
_ABOUT = re.compile(r"pred|y_?hat|y_?true|actual|target|label|^outcome_*$", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sought:
    """A column whose good value is sought."""

    header: str
    #: Its values, each once.
    values: Sequence[str]
    #: What it is called in messages.
    what: str
    #: The value that the caller names for it, the argument by which that is done, and whether it is for this one alone.
    named: object | None
    argument: str
    own: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """A good value as the table would write it, and by what it is taken for that, where nobody named it."""

    value: str
    ground: Ground | None = None
    #: The same in words, and how to name another one.
    why: str = ""


def good_values(decided: Sought | None, label: Sought | None) -> tuple[Taken | None, Taken | None]:
    """The good values of the decisions and of the label; raises DiagnosticError (E0681) where one is not clear."""
    parts = [part for part in (decided, label) if part is not None]
    wanted = {id(part): _named(part, _other(part, parts)) for part in parts}
    found = {id(part): wanted[id(part)] or _told(part) for part in parts}
    for part in parts:
        other, good = _other(part, parts), found[id(part)]
        if other is not None and good.ground is Ground.BAD_HEADER and found[id(other)].ground is Ground.SO:
            found[id(other)] = _beside(other, found[id(other)], part)
    first, second = (None if part is None else found[id(part)] for part in (decided, label))
    return first, second


def score_is_good(header: str, label: Sought, good: Taken) -> None:
    """DiagnosticError (E0681) where high scores may be those of the bad outcome that the label's header names."""
    if good.ground is Ground.BAD_HEADER and not names_a_good_outcome(header):
        title = f"is a high `{header}` good, or does it speak for `{label.header}`?"
        raise _refused(title, _reason(label), _by_hand(label, good.value))


def _other(part: Sought, parts: Sequence[Sought]) -> Sought | None:
    return next((each for each in parts if each is not part), None)


def _has(part: Sought) -> bool:
    """Whether the value that is named, not for it alone, is one of its own."""
    return part.named is not None and not part.own and _match(part) is not None


def _named(part: Sought, other: Sought | None) -> Taken | None:
    """The value that is named; None where none is, or where it is that of the other column, in words of its own."""
    if part.named is None:
        return None
    value, elsewhere = _match(part), None
    if value is None and other is not None and not part.own and _has(other):
        elsewhere = _match(other)
        # Of columns in one coding it is the same value, which no row of this one has.
        value = elsewhere if {*part.values} <= {*other.values} else None
    if value is not None:
        return Taken(value=value)
    if elsewhere is None:
        title = f"no row of `{part.what}` has the value {in_comment(_word(part.named))}"
        raise _refused(title, f"the values are {listed(part.values, 6)}", "name one of them")
    return None


def _match(part: Sought) -> str | None:
    """The value that is named, in the words of the column: True, 1 and yes are one answer."""
    wanted = _word(part.named)
    if wanted in part.values or (so := truth_of(wanted)) is None:
        return wanted if wanted in part.values else None
    same = [value for value in part.values if truth_of(value) is so]
    return same[0] if same else wanted if all(truth_of(value) is not None for value in part.values) else None


def _told(part: Sought) -> Taken:
    """What the values, or the header, say by themselves."""
    good = good_of(part.header, part.values)
    if good.ground is Ground.GUESS:
        title = f"which value of `{part.what}` is the favourable one?"
        help_text = f"write `{_option(part, good.value)}` if that is the favourable one"
        raise _refused(title, f"the values are {listed(part.values, 6)}", help_text)
    return _taken(part, good.value, good.ground, good.ground.value)


def _beside(part: Sought, plain: Taken, bad: Sought) -> Taken:
    """The good value of what stands beside a column that names a bad outcome."""
    if names_a_good_outcome(part.header):
        return plain
    if _ABOUT.search(part.header) or bad.header.lower() in part.header.lower():
        why = f"it is about `{bad.header}`, which names a bad outcome"
        return _taken(part, side_of(part.values, so=False), Ground.BAD_HEADER, why)
    title = f"does {in_comment(plain.value)} of `{part.what}` mean the good outcome, or `{bad.header}`?"
    raise _refused(title, _reason(bad), _by_hand(part, plain.value))


def _taken(part: Sought, value: str, ground: Ground, why: str) -> Taken:
    others = [each for each in part.values if each != value]
    other = others[0] if others else side_of(part.values, so=not truth_of(value))
    return Taken(value=value, ground=ground, why=f"{why}; otherwise `{_option(part, other)}`")


def _reason(bad: Sought) -> str:
    return f"`{bad.header}` names a bad outcome, so that the other value of it is the good one"


def _by_hand(part: Sought, value: str) -> str:
    """How to name the good value of a column by itself."""
    return f"name the good value, as in `{_option(part, value)}`"


def _option(part: Sought, value: str) -> str:
    return said(f"--{part.argument.replace('_', '-')} {shlex.quote(value)}", f"{part.argument}={value!r}")


def _word(value: object) -> str:
    """A value as a cell would have it."""
    from fairdsl.dataframes.tables import cells_of

    return cells_of([value], "`positive`")[0].strip(BLANKS)


def _refused(title: str, reason: str, help_text: str) -> DiagnosticError:
    return DiagnosticError(not_audited(title, reason, help_text))
