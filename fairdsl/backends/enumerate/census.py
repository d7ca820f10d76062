"""Everybody, evaluated: who is admissible, every decision, and what exact arithmetic had to settle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.contract import Budget, Observer
from fairdsl.backends.demands import Measured, joined, measured, settled_by
from fairdsl.ir.demand import Demanded
from fairdsl.ir.expr import Who, conjoin, variables
from fairdsl.ir.model import Model
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Pair, Sure
from fairdsl.models.black_boxes.asked import BlackBoxEvaluator
from fairdsl.models.evaluators import evaluator_of
from fairdsl.numerics.confidence import OPEN, is_sure, sure_rows
from fairdsl.numerics.evaluate import BatchEvaluator, Settled, points_of
from fairdsl.numerics.grid import Grid
from fairdsl.numerics.predicates import mask

#: The decision of an individual that the budget did not reach.
UNSEEN = -2
_ROWS = 65536


@dataclass(slots=True)
class Census:
    """What is known of every point of the grid; arrays have the grid's shape.

    ``decisions`` are outcomes, ``UNDECIDED`` or ``UNSEEN``, and mean something only where
    ``admissible`` (in domain and target). ``margins`` are distances to another decision in scores,
    roughly. ``measured`` is what every model makes of the first ``seen`` who are ``listed``, kept where tuples of
    them are judged, and ``as_files`` the same as the deployed files have it. ``masked`` says whether the budget
    sufficed to find out who is admissible. ``doubled`` counts the individuals whose decision took more digits
    than float64 has, ``exactly`` those that took exact arithmetic. ``deployed`` are the decisions of the
    deployed file. ``sure`` says of each individual whether the model is as sure as the question asks of ``a`` and
    of ``b``: 1, 0, or OPEN; there is no entry where the question asks nothing.
    """

    grid: Grid
    admissible: NDArray[np.bool_]
    decisions: NDArray[np.int16]
    margins: NDArray[np.float32]
    masked: bool
    listed: NDArray[np.int64]
    seen: int = 0
    doubled: int = 0
    exactly: int = 0
    deployed: NDArray[np.int16] | None = None
    sure: dict[Who, NDArray[np.int8]] = field(default_factory=dict)
    measured: Measured | None = None
    as_files: Measured | None = None

    def surely(self, who: Who) -> NDArray[np.bool_]:
        """Whom the model is sure enough of to be ``who``."""
        return self.sure[who] == 1 if who in self.sure else np.ones(self.grid.shape, dtype=np.bool_)

    def perhaps(self, who: Who) -> NDArray[np.bool_]:
        """Whom the model may be sure enough of: those of whom it is, and those of whom that stays open."""
        return self.sure[who] != 0 if who in self.sure else np.ones(self.grid.shape, dtype=np.bool_)

    @property
    def count(self) -> int:
        """How many individuals are admissible."""
        return int(self.admissible.sum())

    @property
    def as_deployed(self) -> Census | None:
        """The same people with the deployed file's decisions in place of the exact ones; None where not run."""
        return None if self.deployed is None else replace(self, decisions=self.deployed, deployed=None)

    @property
    def complete(self) -> bool:
        """Whether everybody was evaluated."""
        return self.masked and self.seen == self.count


def take_census(
    problem: Problem, asked: Demanded, grid: Grid, budget: Budget, observer: Observer, *, measure: bool
) -> Census:
    """Evaluate every individual, until the budget ends; ``measure``: by every model, and keep that."""
    pair = asked.pair
    census = Census(
        grid=grid,
        admissible=np.zeros(grid.shape, dtype=np.bool_),
        decisions=np.full(grid.shape, UNSEEN, dtype=np.int16),
        margins=np.zeros(grid.shape, dtype=np.float32),
        masked=True,
        listed=np.zeros(0, dtype=np.int64),
        sure={who: np.full(grid.shape, OPEN, dtype=np.int8) for who in (Who.A, Who.B) if pair.sure_of(who)},
    )
    wanted = conjoin(problem.domain.where, pair.target)
    read = {variable.attribute for variable in variables(wanted)}
    for indices in grid.chunks(_ROWS):
        if budget.exhausted:
            census.masked = False
            return census
        census.admissible.reshape(-1)[indices] = mask(wanted, {Who.EACH: grid.points(indices, read)})
    evaluators = [evaluator_of(model) for model in (problem.models if measure else (problem.model,))]
    census.listed = everybody = np.flatnonzero(census.admissible)
    chunk = min(evaluator.chunk for evaluator in evaluators)
    parts: list[Measured] = []
    for start in range(0, everybody.size, chunk):
        if budget.exhausted:
            break
        indices = everybody[start : start + chunk]
        points = grid.points(indices)
        settled = [settled_by(evaluator, points) for evaluator in evaluators]
        _note(census, pair, evaluators[0], points, settled[0], indices)
        parts += [measured(points, settled, problem.models, asked)] if measure else []
        observer.progress("enumerate", census.seen / everybody.size, f"{census.seen:,} individuals")
    if measure:
        nobody = np.zeros((0, len(problem.domain.attributes)))
        empty = measured(nobody, [settled_by(each, nobody) for each in evaluators], problem.models, asked)
        census.measured = joined(parts or [empty])
    return census


def _note(
    census: Census,
    pair: Pair,
    evaluator: BatchEvaluator | BlackBoxEvaluator,
    points: NDArray[np.float64],
    settled: Settled,
    indices: NDArray[np.int64],
) -> None:
    """What the first model makes of some people."""
    census.decisions.reshape(-1)[indices] = settled.decisions
    census.doubled += settled.doubled
    census.exactly += settled.exactly
    census.seen += len(indices)
    census.margins.reshape(-1)[indices] = evaluator.margins(settled.scores)
    for who, answers in census.sure.items():
        answers.reshape(-1)[indices] = _surely(evaluator.model, points, settled, pair.sure_of(who))


def _surely(model: Model, points: NDArray[np.float64], settled: Settled, wanted: Sequence[Sure]) -> NDArray[np.int8]:
    """How the model meets what is asked of each point: in float64, and exactly where that leaves a doubt."""
    answers = sure_rows(model, settled.scores, settled.errors, settled.decisions, wanted)
    rows = np.flatnonzero((answers == OPEN) & (settled.decisions >= 0))
    for row, point in zip(rows.tolist(), points_of(points[rows]), strict=True):
        answer = is_sure(model, point, wanted)
        answers[row] = OPEN if answer is None else answer
    return answers
