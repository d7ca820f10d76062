"""The column that says what became of people, and which of its values is the good one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from fairdsl.data.cells import GAPS
from fairdsl.diagnostics import DiagnosticError
from fairdsl.drafting import errors
from fairdsl.drafting.columns import Column
from fairdsl.drafting.good import Ground, good_of, truth_of
from fairdsl.drafting.words import in_comment
from fairdsl.ir.domain import Boolean, Integer, Real, show_number


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """A column of what became of people, and the condition on it that counts as positive."""

    column: Column
    #: The condition, in the language, about an attribute of the column's name.
    condition: str
    #: For which rows it is true.
    positive: tuple[bool, ...]
    #: How the condition was chosen.
    why: str
    #: Whether the header names a bad outcome, so that the positive value is the one for which it is not so.
    reversed: bool = False

    @property
    def known(self) -> list[str]:
        """The values that say what became of somebody."""
        return _known(self.column.values)

    @property
    def unknown(self) -> bool:
        """Whether of some rows nobody knows what became of them."""
        return len(self.known) < len(self.column.values)

    @property
    def two_valued(self) -> bool:
        """Whether the column has two values, in whatever capitals those of a boolean are."""
        return isinstance(self.column.type, Boolean) or len(self.known) == 2


def named_column(name: str, columns: Sequence[Column], instead: Sequence[str] = ()) -> Column:
    """The column with that header or name; raises DiagnosticError (E0670) where there is none that a spec can use.

    ``instead`` are those that may be meant.
    """
    # Headers first: `a_b` may be one, and the name of an earlier column `a-b` as well.
    headed = [column for column in columns if column.header == name]
    found = next((column for column in (*headed, *columns) if name in (column.header, column.name)), None)
    if found is None or found.type is None:
        raise DiagnosticError(
            errors.no_such_column(name, [c.header for c in columns], None if found is None else found.why, instead)
        )
    return found


def _known(values: Sequence[str]) -> list[str]:
    found = [value for value in values if value.lower() not in GAPS]
    return found if len(found) > 1 else [*values]


def label_of(column: Column) -> Label:
    """The label, and the value of it that is taken for the good one."""
    if isinstance(column.type, Integer | Real) and len(set(column.cells)) > 2:
        numbers = column.numbers or ()
        middle = sorted(numbers)[len(numbers) // 2]
        return Label(
            column=column,
            condition=f"{column.name} >= {show_number(middle)}",
            positive=tuple(number >= middle for number in numbers),
            why="from the median on: write the threshold that counts",
        )
    values = sorted(column.values, key=Fraction) if column.numbers is not None else _known(column.values)
    found = good_of(column.header, values)
    good = found.value
    positive = tuple(cell == good for cell in column.cells)
    if isinstance(column.type, Boolean):
        condition = column.name if truth_of(good) else f"not {column.name}"
        positive = tuple(truth_of(cell) is truth_of(good) for cell in column.cells)  # `Yes` is `yes`
    elif column.numbers is not None:
        condition = f"{column.name} = {show_number(Fraction(good))}"
    else:
        condition = f'{column.name} = "{good}"'
    return Label(
        column=column,
        condition=condition,
        positive=positive,
        why=f"{in_comment(good)} counts as positive ({found.ground.value}): write the one that does",
        reversed=found.ground is Ground.BAD_HEADER,
    )
