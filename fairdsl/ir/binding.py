"""How a model file is connected with the spec: what is fed into each of its inputs, and what each outcome stands for.

All of it is in the spec's words and the file's own names, so that whoever reads it can hold it against the program that
the model was trained with.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Annotated

from fairdsl.codec import KEYED

#: Inputs, and categories with their codes, that a summary names at most.
_NAMED = 12


class BoundBy(Enum):
    """Why a number of the file is filled with this feature and with no other."""

    NAME = "name"  # the file's own name of it is that of the attribute, or of its column
    READS = "reads"  # the spec lists the features
    ORDER = "order"  # nothing but the order of the domain's attributes


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundInput:
    """One number (or text) that the file reads."""

    #: The file's name of it: an input, a column, or a place in a matrix, counted from 0, as in ``X[2]``.
    input: str
    #: What is filled in, as the spec writes it: ``age``, ``(income - 38) / 13``, ``housing = own``.
    feature: str
    #: Which numbers come in: ``female = 0, male = 1``, ``18 .. 90``.
    values: str
    #: Of a category that is read as it stands, the code of each value, which means nothing by itself.
    codes: Annotated[tuple[tuple[str, int], ...], KEYED] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundOutcome:
    """What of the file's output makes the decision this outcome: ``label 1 of `label```."""

    #: The outcome.
    outcome: str
    #: What of the output makes the decision this outcome.
    when: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """The whole connection of one file, inputs in the order in which the file reads them."""

    #: Why inputs are filled as they are.
    by: BoundBy
    #: In the order in which the file reads them.
    inputs: tuple[BoundInput, ...]
    #: Every outcome.
    outcomes: tuple[BoundOutcome, ...]

    @property
    def by_order_alone(self) -> bool:
        """Whether exchanging two inputs would be noticed by nobody."""
        return self.by is BoundBy.ORDER and len(self.inputs) > 1

    def input_lines(self) -> list[str]:
        """A line an input, in columns: ``X[0]  gender  female = 0, male = 1``; what both call alike is there once."""
        alike = all(item.input == item.feature for item in self.inputs)
        rows = [(item.input, *(() if alike else (item.feature,)), item.values) for item in self.inputs]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)][:-1]
        return ["  ".join([*map(str.ljust, row, widths), row[-1]]) for row in rows]

    def outcome_lines(self) -> list[str]:
        """A line an outcome: ``good  label 1 of `label```."""
        width = max(len(item.outcome) for item in self.outcomes)
        return [f"{item.outcome:<{width}}  {item.when}" for item in self.outcomes]

    def summary(self) -> list[tuple[str, str]]:
        """What of the connection nothing but the spec vouches for, under headings: order, codes, outcomes.

        What the file and the spec call by one name is only counted.
        """
        lines = [("inputs", self._inputs_in_short())]
        coded = [item for item in self.inputs if item.codes]
        if coded:
            shown = [f"{item.feature}: {item.values}" for item in coded[:_NAMED]]
            lines.append(("codes", "; ".join(shown) + _more(len(coded) - _NAMED)))
        lines.append(("outcomes", "; ".join(f"{item.outcome}: {item.when}" for item in self.outcomes)))
        return lines

    def _inputs_in_short(self) -> str:
        count = len(self.inputs)
        match self.by:
            case BoundBy.NAME:
                return f"{count} by name; `fairdsl explain` lists them"
            case BoundBy.READS:
                return f"{count} as `reads` says; `fairdsl explain` lists them"
            case BoundBy.ORDER:
                shown = ", ".join(f"{item.input} {item.feature}" for item in self.inputs[:_NAMED])
                return f"{count} by their order alone: {shown}{_more(count - _NAMED)}"


def _more(count: int) -> str:
    return f" and {count} more" if count > 0 else ""
