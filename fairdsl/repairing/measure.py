"""How often a model discriminates, over the domain and among rows, and how often it is right.

The rate over the domain is the share of unfair units (docs/semantics.md, section 3). It is exact for a single tree and
for small domains; otherwise uniform units are sampled, and the interval contains the rate with the confidence asked
for. Every model of a run is measured on the same draws, so that two models do not differ by luck alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.contract import Budget, Facts, Observer, Offer, Procedure
from fairdsl.backends.enumerate import Enumerate
from fairdsl.backends.leaf_boxes import LeafBoxes
from fairdsl.backends.sampling import Sampling
from fairdsl.backends.units import settling
from fairdsl.ir.expr import Who, conjoin
from fairdsl.ir.model import Model
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Precision, Quantity
from fairdsl.numerics.leaves import Leaves
from fairdsl.numerics.predicates import mask
from fairdsl.repairing.subject import Rows, Subject
from fairdsl.verdict import Estimated, Shares

__all__ = ["Measured", "OnRows", "Rate", "measure", "on_rows"]

BoolArray = NDArray[np.bool_]

#: A domain of at most so many individuals is counted instead of sampled.
_FEW = 2**16


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """A share of unfair units in [low, high]; ``sampled`` units were drawn to estimate it, 0 where it is proved."""

    low: Fraction
    high: Fraction
    sampled: int = 0

    @property
    def exact(self) -> bool:
        """Whether it is proved to be one number."""
        return not self.sampled and self.low == self.high


@dataclass(frozen=True, slots=True, kw_only=True)
class OnRows:
    """A model on rows: how many lie in unfair units (of those in the target), how many are decided rightly.

    ``decided`` counts the rows by outcome.
    """

    rows: int
    in_target: int
    unfair: int
    correct: int
    decided: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A model over the domain (None: the time ended first) and on the rows that models are chosen by."""

    rate: Rate | None
    rows: OnRows


def measure(
    subject: Subject, model: Model, rows: Rows, precision: Precision, budget: Budget, observer: Observer
) -> Measured:
    """Measure a model; raises DiagnosticError (E0592) where its units cannot be judged one by one."""
    among = on_rows(subject, model, rows)
    return Measured(rate=_rate(subject, model, precision, budget, observer), rows=among)


def on_rows(subject: Subject, model: Model, rows: Rows) -> OnRows:
    """What a model makes of rows, in exact arithmetic; a row in doubt counts as unfair, and as decided wrongly.

    A black box has no exact arithmetic, and is asked about each row by itself.
    """
    decisions = settling(model)(rows.values).decisions
    wanted = mask(conjoin(subject.domain.where, subject.pair.target), {Who.EACH: rows.values})
    judged = subject.units(model).judge(rows.values.at(wanted))
    return OnRows(
        rows=len(rows),
        in_target=int(wanted.sum()),
        unfair=int((judged.unfair | judged.doubtful).sum()),
        correct=int(np.count_nonzero(decisions == rows.outcomes)),
        decided=tuple(int(np.count_nonzero(decisions == outcome)) for outcome in range(len(model.outcomes))),
    )


def _rate(subject: Subject, model: Model, precision: Precision, budget: Budget, observer: Observer) -> Rate | None:
    problem = subject.problem(model, Quantity.DISCRIMINATION_RATE, precision)
    procedure = _procedure(problem)
    match procedure.answer(problem, Facts(), budget, observer):
        case Shares(certified=certified, falsified=falsified, total=total) if total != 0:
            return Rate(low=falsified, high=1 - certified)
        case Estimated(estimate=estimate):
            return Rate(low=1 - estimate.high, high=1 - estimate.low, sampled=estimate.sampled)
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
