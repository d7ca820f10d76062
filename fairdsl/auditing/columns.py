"""The columns of an audit as declarations of a spec: groups, decisions, outcomes, scores."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from fairdsl.auditing.errors import not_audited
from fairdsl.auditing.favourable import Taken
from fairdsl.data.cells import BLANKS, BOOLEANS, decimal_of
from fairdsl.diagnostics import DiagnosticError
from fairdsl.drafting.good import truth_of
from fairdsl.drafting.words import can_be_quoted, listed, quoted
from fairdsl.ir.domain import show_number
from fairdsl.source.names import value_text

#: Values that a category has at most.
_MANY = 100
#: A number with more values than these is cut into bins.
_EACH = 8
#: A column of decisions has fewer numbers than these: more look like scores.
_SCORES = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of the table, and the attribute of the spec that reads it."""

    #: The attribute's name.
    name: str
    #: The column's header.
    header: str
    #: Its type as the language writes it, with bins.
    type: str
    #: How many groups it makes at most.
    groups: int

    @property
    def declared(self) -> str:
        """The declaration: ``hours : integer 0 .. 99 column "hours-per-week"``."""
        header = "" if self.header == self.name else f" column {quoted(self.header)}"
        return f"{self.name} : {self.type}{header}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A column of decisions, or of what became of people, and the value of it that is the good one."""

    column: Column
    #: The good value in the spec's words.
    positive: str
    #: The condition for it.
    condition: str
    #: How many values there are.
    values: int
    #: The good value of the column in words, and why it is taken for that.
    told: str


def group_column(name: str, header: str, cells: Sequence[str], bins: int) -> Column:
    """Who is protected: values as they occur, and of a number with many of them so many ``bins``."""
    values = distinct(cells)
    numbers = _numbers(values)
    if numbers is not None and len(values) > _EACH:
        whole = all(number.denominator == 1 for number in numbers)
        low, high = show_number(min(numbers)), show_number(max(numbers))
        kind = f"{'integer' if whole else 'real'} {low} .. {high}  bins by quantiles {bins}"
        return Column(name=name, header=header, type=kind, groups=bins)
    gaps = sum(not cell.strip(BLANKS) for cell in cells)
    if gaps and _numbers([value for value in values if value]) is not None and len(values) > _EACH:
        reason = f"{gaps:,} of {len(cells):,} rows have no value, and the others are numbers to be cut into bins"
        raise _refused(f"`{header}` makes no groups", reason, "leave these rows out, or cut it into groups yourself")
    if len(values) > _MANY:
        reason = f"it has {len(values):,} different values ({listed(values, 3)})"
        raise _refused(f"`{header}` makes too many groups", reason, "give groups: map the values to fewer")
    return Column(name=name, header=header, type=_category(header, values), groups=len(values))


def outcome_values(header: str, cells: Sequence[str], what: str) -> list[str]:
    """The values of decisions, or of what became of people: ``what`` says which in messages."""
    values = distinct(cells)
    gaps = sum(not cell.strip(BLANKS) for cell in cells)
    if gaps:
        reason = f"{gaps:,} of {len(cells):,} rows have none"
        raise _refused(f"`{what}` has rows without a value", reason, "leave these rows out, or say what became of them")
    if len(values) > _SCORES:
        reason = f"it has {len(values):,} different values ({listed(values, 3)}), which look like scores"
        help_text = "give decisions, or the scores as `scores` with the `threshold` from which on one is favourable"
        raise _refused(f"`{what}` is not a column of decisions", reason, help_text)
    return values


def outcome_column(name: str, header: str, values: Sequence[str], good: Taken) -> Outcome:
    """A column with these values, one of which is ``good``."""
    if all(value.lower() in BOOLEANS or decimal_of(value) in ((0, 0), (1, 0)) for value in values):
        kind, written = "boolean", "yes" if truth_of(good.value) else "no"
        condition = name if written == "yes" else f"{name} = no"  # behind `favourable when` no `not` can stand
    else:
        kind, written = _category(header, dict.fromkeys([*values, good.value])), value_text(good.value)
        condition = f"{name} = {written}"
    return Outcome(
        column=Column(name=name, header=header, type=kind, groups=len(values)),
        positive=written,
        condition=condition,
        values=max(2, len(values)),
        told=f"`{header}` = {good.value}" + (f" ({good.why})" if good.why else ""),
    )


def score_column(name: str, header: str, cells: Sequence[str], bins: int) -> Column:
    """Scores: numbers, cut into so many bins."""
    values = distinct(cells)
    numbers = _numbers(values)
    if numbers is None:
        wrong = [value for value in values if decimal_of(value) is None]
        reason = f"some are not numbers: {listed(wrong, 3)}"
        raise _refused("`scores` are not numbers", reason, "give a finite number a row")
    low, high = min(numbers), max(numbers)
    inside = Fraction(0) <= low and high <= 1
    low, high = (Fraction(0), Fraction(1)) if inside else (low, max(high, low + 1))
    # Few scores are bins of their own.
    cut = f"  bins by quantiles {bins}" if len(values) > 1 else ""
    kind = f"real {show_number(low)} .. {show_number(high)}{cut}"
    return Column(name=name, header=header, type=kind, groups=min(bins, len(values)))


def distinct(cells: Sequence[str]) -> list[str]:
    """The values, numbers by their size and texts in alphabetical order."""
    values = sorted({cell.strip(BLANKS) for cell in cells})
    numbers = _numbers(values)
    return values if numbers is None else [value for _, value in sorted(zip(numbers, values, strict=True))]


def _numbers(values: Sequence[str]) -> list[Fraction] | None:
    """What they write; None where some of them is not a number."""
    read = [decimal_of(value) for value in values]
    return [Fraction(n[0]) * Fraction(10) ** n[1] for n in read if n is not None] if values and all(read) else None


def _category(header: str, values: Iterable[str]) -> str:
    bad = [value for value in values if not can_be_quoted(value)]
    if bad:
        reason = f"a value has a quote or a control character in it ({listed(bad, 2)})"
        raise _refused(f"`{header}` cannot be written in a spec", reason, "give the groups other names")
    return f"category {{ {', '.join(map(value_text, values))} }}"


def _refused(title: str, reason: str, help_text: str) -> DiagnosticError:
    return DiagnosticError(not_audited(title, reason, help_text))
