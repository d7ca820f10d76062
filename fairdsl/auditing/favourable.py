"""Which value of the decisions, and of what became of people, is the good one.

It is the one that is named, else the one that says that it is so: 1, true or yes. Where the header names a bad outcome
(``default``), it is the other one, by the rule of ``init``. What predicts such a column means by 1 what that column
does; of any other column beside it nobody knows, and it is asked.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace

from fairdsl.auditing.errors import not_audited
from fairdsl.data.cells import BLANKS
from fairdsl.diagnostics import DiagnosticError
from fairdsl.diagnostics.surface import said
from fairdsl.drafting.label import names_a_good_outcome, of_a_bad_outcome
from fairdsl.drafting.words import in_comment, listed

#: Values that need nobody to say which is the good one; -1 is what some libraries write for the other one.
TRUE, FALSE = ("1", "true", "yes"), ("0", "false", "no", "-1")
_OPPOSITE = dict(zip(TRUE, FALSE, strict=False)) | dict(zip(FALSE, (*TRUE, "1"), strict=True))
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
class Good:
    """A good value as the table would write it, and why it is taken for that, where nobody named it."""

    value: str
    why: str = ""
    named: bool = False


def good_values(decided: Sought | None, label: Sought | None) -> tuple[Good | None, Good | None]:
    """The good values of the decisions and of the label; raises DiagnosticError (E0681) where one is not clear."""
    parts = [part for part in (decided, label) if part is not None]
    wanted = {id(part): _named(part, _other(part, parts)) for part in parts}
    found = {id(part): wanted[id(part)] or _told(part) for part in parts}
    for part in parts:
        other, good = _other(part, parts), found[id(part)]
        if other is not None and good.why and not (found[id(other)].named or found[id(other)].why):
            found[id(other)] = _beside(other, found[id(other)], part)
    first, second = (None if part is None else found[id(part)] for part in (decided, label))
    return first, second


def score_is_good(header: str, label: Sought, good: Good) -> None:
    """DiagnosticError (E0681) where high scores may be those of the bad outcome that the label's header names."""
    if good.why and not names_a_good_outcome(header):
        title = f"is a high `{header}` good, or does it speak for `{label.header}`?"
        raise _refused(title, _reason(label), _by_hand(label, good.value))


def _other(part: Sought, parts: Sequence[Sought]) -> Sought | None:
    return next((each for each in parts if each is not part), None)


def _has(part: Sought) -> bool:
    """Whether the value that is named, not for it alone, is one of its own."""
    return part.named is not None and not part.own and _match(part) is not None


def _named(part: Sought, other: Sought | None) -> Good | None:
    """The value that is named; None where none is, or where it is that of the other column, in words of its own."""
    if part.named is None:
        return None
    value, elsewhere = _match(part), None
    if value is None and other is not None and not part.own and _has(other):
        elsewhere = _match(other)
        # Of columns in one coding it is the same value, which no row of this one has.
        value = elsewhere if {*part.values} <= {*other.values} else None
    if value is not None:
        return Good(value=value, named=True)
    if elsewhere is None:
        title = f"no row of `{part.what}` has the value {in_comment(_word(part.named))}"
        raise _refused(title, f"the values are {listed(part.values, 6)}", "name one of them")
    return None


def _match(part: Sought) -> str | None:
    """The value that is named, in the words of the column: True, 1 and yes are one answer."""
    wanted = _word(part.named)
    side = next((side for side in (TRUE, FALSE) if wanted.lower() in side), ())
    same = [value for value in part.values if value == wanted]
    same = same or [value for value in part.values if value.lower() in side]
    return same[0] if same else wanted if side and _truths(part) else None


def _told(part: Sought) -> Good:
    """What the values, or the header, say by themselves."""
    if not _truths(part):
        value = part.values[-1]
        option = f"--{part.argument.replace('_', '-')} {shlex.quote(value)}"
        how = said(option, f"{part.argument}={value!r}")
        title = f"which value of `{part.what}` is the favourable one?"
        help_text = f"write `{how}` if that is the favourable one"
        raise _refused(title, f"the values are {listed(part.values, 6)}", help_text)
    both = list(part.values)
    if len(both) == 1:
        both.append(_OPPOSITE[both[0].lower()])
    bad = of_a_bad_outcome(part.header, both)
    return Good(value=_side(part, TRUE)) if bad is None else Good(value=bad, why="the header names a bad outcome")


def _beside(part: Sought, plain: Good, bad: Sought) -> Good:
    """The good value of what stands beside a column that names a bad outcome."""
    if names_a_good_outcome(part.header):
        return plain
    if _ABOUT.search(part.header) or bad.header.lower() in part.header.lower():
        return replace(plain, value=_side(part, FALSE), why=f"it is about `{bad.header}`, which names a bad outcome")
    title = f"does {in_comment(plain.value)} of `{part.what}` mean the good outcome, or `{bad.header}`?"
    raise _refused(title, _reason(bad), _by_hand(part, plain.value))


def _reason(bad: Sought) -> str:
    return f"`{bad.header}` names a bad outcome, so that the other value of it is the good one"


def _by_hand(part: Sought, value: str) -> str:
    """How to name the good value of a column by itself."""
    option = f"--{part.argument.replace('_', '-')} {shlex.quote(value)}"
    return f"name the good value, as in `{said(option, f'{part.argument}={value!r}')}`"


def _side(part: Sought, side: Sequence[str]) -> str:
    """The value on that side, also where no row has it."""
    found = next((value for value in part.values if value.lower() in side), None)
    return found or _OPPOSITE[part.values[0].lower()]


def _truths(part: Sought) -> bool:
    return all(value.lower() in _OPPOSITE for value in part.values)


def _word(value: object) -> str:
    """A value as a cell would have it."""
    from fairdsl.dataframes.tables import cells_of

    return cells_of([value], "`positive`")[0].strip(BLANKS)


def _refused(title: str, reason: str, help_text: str) -> DiagnosticError:
    return DiagnosticError(not_audited(title, reason, help_text))
