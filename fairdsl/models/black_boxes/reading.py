"""How the answers of a black box become decisions: by its decision clause, and by what its output looks like.

Nothing says what the numbers of a black box are, so they are taken as what the clause calls them:

* ``when score``: the one number of an individual; ``when probability``: the one number, or one of two columns, and
  always from 0 to 1; both are compared with the threshold as the output's own type holds it;
* ``when class = LABEL``: the label, one whole number or text, or the highest column (the first where they are equal);
* ``decide by highest score``: a column for each outcome, the first of the highest;
* no clause: the outcome itself, by its name, or of a function by its position in the declaration, from 0.

Which label or column means which outcome is said by :mod:`fairdsl.models.classes.labels`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.decimals import individuals
from fairdsl.ir.declaration import (
    ByAnswer,
    DecisionClause,
    Highest,
    Label,
    ModelDeclaration,
    WhenClass,
    WhenProbability,
    WhenScore,
)
from fairdsl.ir.domain import Domain
from fairdsl.ir.expr import Relation
from fairdsl.ir.model import ByHighest, ByThreshold, DecisionRule, Readout
from fairdsl.ir.opaque import Answers
from fairdsl.models import errors
from fairdsl.models.classes.known import Classes
from fairdsl.models.classes.labels import check_high, column_of, labels_of, places_of, single_probability
from fairdsl.models.readout import NoLabelError, Reading, decisions_of, numbers_of
from fairdsl.source import Span

#: How far a probability may be from 0..1 by rounding.
_ROUNDED = 1e-6


class Kind(Enum):
    """What the elements of an output are."""

    NUMBERS = "number"
    CLASSES = "whole number"
    TEXTS = "text"

    def several(self, count: int) -> str:
        """So many of them, in words."""
        return f"one {self.value}" if count == 1 else f"{count} {self.value}s"


#: What labels are.
_LABELS = (Kind.CLASSES, Kind.TEXTS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """How an output is read; see :class:`fairdsl.models.readout.Reading`.

    ``classes`` are those that are known of it. ``order``: which outcome each of the scores is of; None: as declared.
    """

    readout: Readout
    channel: int = 0
    relation: Relation | None = None
    threshold: Fraction | None = None
    granted: int = 1
    otherwise: int = 0
    labels: tuple[Label | None, ...] = ()
    classes: Classes | None = None
    order: tuple[int, ...] | None = None


def kind_of(output: NDArray[Any]) -> Kind | None:
    """The kind of an array's elements; None for what is neither number nor text."""
    match output.dtype.kind:
        case "f":
            return Kind.NUMBERS
        case "i" | "u" | "b":
            return Kind.CLASSES
        case "U":
            return Kind.TEXTS
        case "O" if all(isinstance(element, str) for element in output.ravel()):
            return Kind.TEXTS
    return None


def score_count(clause: DecisionClause, outcomes: tuple[str, ...]) -> int:
    """How many scores a black box with this clause gives."""
    match clause:
        case WhenScore() | WhenProbability():
            return 1
        case Highest():
            return len(outcomes)
        case _:
            return 0


def rule_of(clause: DecisionClause) -> DecisionRule:
    """The rule over the scores: to search by; the decisions are those of :func:`answers_of`."""
    if isinstance(clause, WhenScore | WhenProbability):
        threshold = clause.threshold
        return ByThreshold(
            relation=clause.relation,
            low=threshold,
            high=threshold,
            granted=clause.outcome,
            otherwise=1 - clause.outcome,
        )
    return ByHighest()


def reading_of(declaration: ModelDeclaration, classes: Classes, kind: Kind | None, columns: int) -> Told | None:
    """How an output of so many columns is read; None where the clause asks for another one.

    ``classes`` are those that are known of the output. Raises DiagnosticError (E0511) where they do not fit the clause.
    """
    clause, outcomes = declaration.decision, declaration.outcomes
    match clause:
        case WhenScore() if kind is Kind.NUMBERS and columns == 1:
            _check_one_number(declaration, clause, classes)
            return _compared(clause, Readout.SCORE, 0)
        case WhenProbability() if kind is Kind.NUMBERS and columns == 1:
            _check_one_number(declaration, clause, classes)
            return _compared(clause, Readout.CHANNEL, 0)
        case WhenProbability() if kind is Kind.NUMBERS and columns == 2:
            return replace(_compared(clause, Readout.CHANNEL, column_of(declaration, clause, classes)), classes=classes)
        case WhenClass() if kind in _LABELS and columns == 1 and (classes.labels or _of_kind(clause, kind)):
            return Told(readout=Readout.LABEL, labels=labels_of(declaration, clause, classes), classes=classes)
        case WhenClass() | ByAnswer() if kind is Kind.NUMBERS and columns == len(outcomes) and columns > 1:
            if isinstance(clause, ByAnswer) and not classes.named:
                return None
            return Told(readout=Readout.HIGHEST, labels=places_of(declaration, classes), classes=classes)
        case Highest() if kind is Kind.NUMBERS and columns == len(outcomes):
            places = places_of(declaration, classes)
            order = None if places == tuple(range(columns)) else tuple(places.index(place) for place in range(columns))
            return Told(readout=Readout.HIGHEST, classes=classes, order=order)
        case ByAnswer() if kind is Kind.TEXTS and columns == 1:
            return Told(readout=Readout.LABEL, labels=outcomes, classes=classes)
        case ByAnswer() if kind is Kind.CLASSES and columns == 1:
            return Told(readout=Readout.LABEL, labels=tuple(range(len(outcomes))), classes=classes)
    return None


def _check_one_number(declaration: ModelDeclaration, clause: WhenScore | WhenProbability, classes: Classes) -> None:
    """Check what a threshold says of the one number against the label that comes with high ones, if it is known."""
    if classes.named:
        check_high(declaration, clause, classes)
    elif isinstance(clause, WhenProbability):
        single_probability(declaration, clause, classes.output)


def _of_kind(clause: WhenClass, kind: Kind | None) -> bool:
    return all(isinstance(each.label, str) == (kind is Kind.TEXTS) for each in clause.classes)


def _compared(clause: WhenScore | WhenProbability, readout: Readout, channel: int) -> Told:
    return Told(
        readout=readout,
        channel=channel,
        relation=clause.relation,
        threshold=clause.threshold,
        granted=clause.outcome,
        otherwise=1 - clause.outcome,
    )


@dataclass(frozen=True, slots=True)
class Asked:
    """Whose answers are read: the model's name, whom it is about, how many scores it gives, and where it is named."""

    name: str
    domain: Domain
    scores: int
    span: Span | None


def in_words(domain: Domain, row: NDArray[np.float64]) -> str:
    """An individual in the spec's words."""
    (told,) = individuals(domain, tuple(Fraction(value) for value in row.tolist()))
    return ", ".join(f"{name} = {value}" for name, value in told.items())


def answers_of(asked: Asked, reading: Reading, output: NDArray[Any], points: NDArray[np.float64]) -> Answers:
    """What an output [n, columns] says of the individuals [n, attributes].

    Raises DiagnosticError (E0517) for a number that is not finite, a probability outside 0..1, and a label that is no
    outcome's.
    """
    if len(output) != len(points):
        times = f"{len(output)} time{'' if len(output) == 1 else 's'} for {len(points)} individuals"
        raise DiagnosticError(errors.no_answer(asked.name, f"answers {times}", None, asked.span))
    numbers = np.empty((len(output), 0)) if reading.readout is Readout.LABEL else numbers_of(reading, output)
    _check(asked, "a number that is not finite", numbers, ~np.isfinite(numbers), points)
    if reading.readout is Readout.CHANNEL:
        outside = (numbers < -_ROUNDED) | (numbers > 1 + _ROUNDED)
        _check(asked, "a probability outside 0 .. 1", numbers, outside, points)
    try:
        decisions = decisions_of(reading, output)
    except NoLabelError as problem:
        what = f"answers an outcome that is none: {problem}"
        raise DiagnosticError(errors.no_answer(asked.name, what, None, asked.span)) from problem
    return Answers(decisions, numbers[:, : asked.scores].copy())


def _check(
    asked: Asked, what: str, numbers: NDArray[np.float64], odd: NDArray[np.bool_], points: NDArray[np.float64]
) -> None:
    """Refuse numbers among which there are odd ones."""
    if not odd.any():
        return
    row = int(np.flatnonzero(odd.any(axis=1))[0])
    answer = ", ".join(f"{value:g}" for value in numbers[row].tolist())
    whose = f"about {in_words(asked.domain, points[row])}"
    raise DiagnosticError(errors.no_answer(asked.name, f"answers {what}: {answer}", whose, asked.span))
