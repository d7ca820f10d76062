"""How often a model discriminates, over the domain and among rows, and how often it is right.

The rate over the domain is the share of unfair units (docs/semantics.md, section 3). It is exact for a single tree and
for small domains; otherwise uniform units are sampled, and the interval contains the rate with the confidence asked
for. Every model of a run is measured on the same draws, so that two models do not differ by luck alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.contract import Budget, Facts, Observer, Offer, Procedure
from fairdsl.backends.enumerate import Enumerate
from fairdsl.backends.leaf_boxes import LeafBoxes
from fairdsl.backends.sampling import Sampling
from fairdsl.codec import INLINE
from fairdsl.ir.enclosure import Enclosed, Enclosure
from fairdsl.ir.model import Model
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Precision, Quantity
from fairdsl.models.evaluators import decided
from fairdsl.numerics.leaves import Leaves
from fairdsl.repairing.subject import Rows, Subject, Trainee
from fairdsl.verdict import Estimated, Shares

BoolArray = NDArray[np.bool_]

#: A domain of at most so many individuals is counted instead of sampled.
_FEW = 2**16


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate(Enclosed):
    """A share of unfair units."""

    #: The share, or the interval of an estimate of it.
    number: Annotated[Enclosure, INLINE]
    #: Units that were drawn to estimate it; 0 where it is proved.
    sampled: int = 0

    @property
    def exact(self) -> bool:
        """Whether it is proved to be one number."""
        return not self.sampled and self.number.exact


@dataclass(frozen=True, slots=True, kw_only=True)
class OnRows:
    """A model on rows."""

    #: How many there are.
    rows: int
    #: How many of them lie in the target.
    in_target: int
    #: How many of those lie in unfair units.
    unfair: int
    #: How many are decided as their label says.
    correct: int
    #: How many are given each outcome, in the order of the outcomes.
    decided: tuple[int, ...]

    def __post_init__(self) -> None:
        if not 0 <= self.unfair <= self.in_target <= self.rows or not 0 <= self.correct <= self.rows:
            raise ValueError("parts of the rows are no more than the rows")


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What a model is like."""

    #: Over the domain; None: the time ended first.
    rate: Rate | None
    #: On the rows that models are chosen by.
    rows: OnRows


def measure(
    subject: Subject, model: Model, rows: Rows, precision: Precision, budget: Budget, observer: Observer
) -> Measured:
    """Measure a model; raises DiagnosticError (E0592) where its units cannot be judged one by one."""
    among = on_rows(subject, model, rows, decided(model, rows.values))
    return Measured(rate=_rate(subject, model, precision, budget, observer), rows=among)


def on_rows(subject: Trainee, model: Model, rows: Rows, decisions: NDArray[np.int64]) -> OnRows:
    """What a model makes of rows by its ``decisions``; a row in doubt counts as unfair, and as decided wrongly."""
    asked, unfair = subject.unfair_of(rows.values, model)
    return OnRows(
        rows=len(rows),
        in_target=asked,
        unfair=unfair,
        correct=int(np.count_nonzero(decisions == rows.outcomes)),
        decided=tuple(int(np.count_nonzero(decisions == outcome)) for outcome in range(len(model.outcomes))),
    )


def _rate(subject: Subject, model: Model, precision: Precision, budget: Budget, observer: Observer) -> Rate | None:
    problem = subject.problem(model, Quantity.DISCRIMINATION_RATE, precision)
    procedure = _procedure(problem)
    match procedure.answer(problem, Facts(), budget, observer):
        case Shares() as shares:
            return Rate(number=shares.share.complement)
        case Estimated(estimate=estimate):
            return Rate(number=estimate.interval.complement, sampled=estimate.sampled)
        case _:
            return None


def _procedure(problem: Problem) -> Procedure:
    """Who measures: always the same for the same kind of model, however fast the machine is."""
    single_tree, size = Leaves.of(problem.model).trees == 1, problem.domain.size
    exact: list[Procedure] = []
    if single_tree:
        exact.append(LeafBoxes())
    if size is not None and size <= _FEW:
        exact.append(Enumerate())
    return next((one for one in exact if isinstance(one.offer(problem), Offer)), Sampling())
