"""General demands judged on many individuals: what every engine that goes through individuals shares.

Individuals are measured once (:class:`Measured`): the decisions of every model that the demand names, and its scores
between two floats. Tuples of them are judged in float64, and what that leaves open exactly, one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.contract import Budget
from fairdsl.ir.demand import Chance, Demanded, Magnitude, Probability, Score
from fairdsl.ir.enclosure import Enclosure
from fairdsl.ir.exact_rows import ExactRows
from fairdsl.ir.expr import Predicate, Variable, Who
from fairdsl.ir.model import Model
from fairdsl.ir.opaque import BlackBox
from fairdsl.ir.problem import Problem
from fairdsl.models.black_boxes.asked import BlackBoxEvaluator
from fairdsl.models.evaluators import evaluator_of
from fairdsl.numerics.chances import as_scores, chances_between, logistic
from fairdsl.numerics.demand import FALSE, OPEN, TRUE, Between, between, magnitude, step_of, sums, truth, truths
from fairdsl.numerics.evaluate import BatchEvaluator, Points, Settled, points_of
from fairdsl.replay import Exactly, gives_probability, runtime_of

Evaluator = BatchEvaluator | BlackBoxEvaluator
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Truths = NDArray[np.int8]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Measured:
    """Individuals, and for each model of the demand their decisions [n] and the ends of their scores [n].

    ``chances`` has the probabilities that the demand names.
    """

    points: Points
    decisions: tuple[Integers, ...]
    scores: tuple[Between, ...]
    steps: tuple[int | None, ...]
    chances: Mapping[Chance, Between] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.points)

    def attribute(self, index: int, rows: Integers) -> Between:
        """A column of the domain."""
        if isinstance(self.points, ExactRows):
            some = self.points.at(rows)
            column = some.floats[:, index]
            error = np.zeros_like(column) if some.rounding is None else some.rounding[:, index]
            return Between(column - error, column + error, self.steps[index])
        column = self.points[rows, index]
        return Between(column, column, self.steps[index])


@dataclass(frozen=True, slots=True)
class Judged:
    """Tuples in three values: whether the premise is true of them, and whether they break the demand."""

    premise: Truths
    broken: Truths

    @property
    def asked(self) -> BoolArray:
        """Those whom the demand is about."""
        return np.asarray(self.premise == TRUE, dtype=np.bool_)

    @property
    def violating(self) -> BoolArray:
        """Those who break it."""
        return np.asarray(self.broken == TRUE, dtype=np.bool_)

    @property
    def undecided(self) -> BoolArray:
        """Those of whom it is not known, or not known whether the demand is about them."""
        return np.asarray((self.broken == OPEN) | (self.premise == OPEN), dtype=np.bool_)


class Judge:
    """Measures individuals and judges tuples of them, for one problem."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.asked = problem, problem.demanded
        self.exactly = Exactly(problem)
        self._attributes = len(problem.domain.attributes)
        exact = (as_scores(part, self.asked, problem.models, self._attributes) for part in self._asked_of)
        self._over_scores = tuple(exact)
        self._evaluators = [evaluator_of(model) for model in problem.models]
        self.chunk = min((evaluator.chunk for evaluator in self._evaluators), default=1 << 14)

    @property
    def _asked_of(self) -> tuple[Predicate, Predicate]:
        """Premise and formula, as they are written."""
        return self.asked.premise, self.asked.formula

    @property
    def has_files(self) -> bool:
        """Whether some model has a file that decides in its own arithmetic."""
        return any(
            model.deployed is not None and not isinstance(model.opaque, BlackBox) for model in self.problem.models
        )

    def measure(self, points: Points) -> Measured:
        """What the models make of individuals."""
        settled = [settled_by(evaluator, points) for evaluator in self._evaluators]
        return measured(points, settled, self.problem.models, self.asked)

    def as_deployed(self, points: Floats, measured: Measured) -> Measured:
        """What the deployed files make of the same individuals; models without one stay as they are."""
        decisions, scores, chances = list(measured.decisions), list(measured.scores), dict(measured.chances)
        for place, model in enumerate(self.problem.models):
            if model.deployed is None or isinstance(model.opaque, BlackBox):
                continue
            runtime = runtime_of(model.deployed)
            decisions[place] = runtime.decide_array(points)
            numbers = np.asarray(runtime.scores_array(points)[:, :1], dtype=np.float64)
            scores[place] = _scores(numbers, np.zeros_like(numbers))
            for term in self.asked.chances(place):
                if not isinstance(term, Probability):
                    continue  # how sure a model is, is a matter of exact arithmetic
                if gives_probability(model.deployed):
                    chances[term] = scores[place]
                else:
                    found = np.array([logistic(float(number)) for number in numbers[:, 0]], dtype=np.float64)
                    chances[term] = Between.at_once(found, step_of(found))
        return replace(measured, points=points, decisions=tuple(decisions), scores=tuple(scores), chances=chances)

    def judge(
        self,
        people: Mapping[Who, Measured],
        rows: Mapping[Who, Integers],
        *,
        files: bool = False,
        budget: Budget | None = None,
    ) -> Judged:
        """Tuples, the i-th of which has the ``rows[who][i]``-th of ``people[who]``.

        With ``files`` the numbers are those of deployed files, and nothing but sums of them is settled. What rounding
        leaves open stays so once the budget ends.
        """
        count = len(next(iter(rows.values())))
        known: dict[Variable, Between] = {}

        def of(variable: Variable) -> Between:
            if variable not in known:
                known[variable] = self._number(variable, people, rows, of, count)
            return known[variable]

        premise, formula = (truths(part, of, count) for part in (self._asked_of if files else self._over_scores))
        left = np.flatnonzero((premise != FALSE) & ((premise == OPEN) | (formula == OPEN)))
        for done, row in enumerate(left.tolist()):
            if budget is not None and done % 64 == 63 and budget.exhausted:
                break
            premise[row], formula[row] = self._settled(row, known, people, rows, files=files)
        return Judged(premise, np.minimum(premise, -formula).astype(np.int8))

    def _number(
        self,
        variable: Variable,
        people: Mapping[Who, Measured],
        rows: Mapping[Who, Integers],
        of: Callable[[Variable], Between],
        count: int,
    ) -> Between:
        term = self.asked.term(variable)
        if isinstance(term, Magnitude):
            return sums(term.form, of, count).magnitude
        who, some = people[variable.who], rows[variable.who]
        if term is None:
            return who.attribute(variable.attribute, some)
        if isinstance(term, Chance):
            return who.chances[term].at(some)
        if isinstance(term, Score):
            return who.scores[term.model].at(some)
        ranks = np.array(term.ranks, dtype=np.float64)
        decided = who.decisions[term.model][some]
        number = ranks[np.maximum(decided, 0)]
        if not (decided < 0).any():
            return Between(number, number, step=0)
        open_ = decided < 0
        return Between(np.where(open_, ranks.min(), number), np.where(open_, ranks.max(), number), step=0)

    def _settled(
        self,
        row: int,
        known: Mapping[Variable, Between],
        people: Mapping[Who, Measured],
        rows: Mapping[Who, Integers],
        *,
        files: bool,
    ) -> tuple[int, int]:
        """A tuple that rounding leaves open: first by exact sums of the same numbers, then by exact numbers."""

        def of(variable: Variable) -> Enclosure:
            term = self.asked.term(variable)
            if isinstance(term, Magnitude):
                return magnitude(between(term.form, of))
            number = known[variable]
            return Enclosure(low=Fraction(float(number.low[row])), high=Fraction(float(number.high[row])))

        finite = all(np.isfinite(n.low[row]) and np.isfinite(n.high[row]) for n in known.values())
        premise, formula = OPEN, OPEN
        if finite:
            premise, formula = (truth(part, of) for part in (self._asked_of if files else self._over_scores))
        if files or premise == FALSE or (premise == TRUE and formula != OPEN):
            return premise, formula
        return self.exactly.judge({who: _point(people[who], int(some[row])) for who, some in rows.items()})


def settled_by(evaluator: Evaluator, points: Points) -> Settled:
    """What a model makes of individuals: of a black box its answers about each alone define what it decides."""
    settle = evaluator.settled_alone if isinstance(evaluator, BlackBoxEvaluator) else evaluator.settled
    return settle(points)


def measured(points: Points, by_model: Sequence[Settled], models: Sequence[Model], asked: Demanded) -> Measured:
    """Individuals, and what each model makes of them, as far as the demand asks."""
    return Measured(
        points,
        tuple(found.decisions for found in by_model),
        tuple(_scores(found.scores, found.errors) for found in by_model),
        _steps(points),
        {
            term: chances_between(term, models[place], found.scores, found.errors, found.decisions)
            for place, found in enumerate(by_model)
            for term in asked.chances(place)
        },
    )


def joined(parts: Sequence[Measured]) -> Measured:
    """Individuals that were measured part by part."""
    first = parts[0]
    if len(parts) == 1:
        return first
    scores = tuple(_in_a_row([part.scores[place] for part in parts]) for place in range(len(first.scores)))
    return Measured(
        np.concatenate([np.asarray(part.points) for part in parts]),
        tuple(np.concatenate([part.decisions[place] for part in parts]) for place in range(len(first.decisions))),
        scores,
        tuple(_finest([part.steps[index] for part in parts]) for index in range(len(first.steps))),
        {term: _in_a_row([part.chances[term] for part in parts]) for term in first.chances},
    )


def _in_a_row(parts: Sequence[Between]) -> Between:
    low, step = np.concatenate([part.low for part in parts]), _finest([part.step for part in parts])
    if all(part.known for part in parts):
        return Between.at_once(low, step)
    return Between(low, np.concatenate([part.high for part in parts]), step)


def _finest(steps: Sequence[int | None]) -> int | None:
    known = [step for step in steps if step is not None]
    return max(known) if len(known) == len(steps) else None


def _point(measured: Measured, row: int) -> tuple[Fraction, ...]:
    rows = np.array([row])
    some = measured.points.at(rows) if isinstance(measured.points, ExactRows) else measured.points[rows]
    return points_of(some)[0]


def _scores(scores: Floats, errors: Floats) -> Between:
    """The first score, moved outward by its error; and what all are multiples of where they are known.

    A black box that gives outcomes alone has no score, and is asked for none.
    """
    if not scores.shape[1]:
        return Between(np.full(len(scores), -np.inf), np.full(len(scores), np.inf), None)
    score, error = scores[:, 0], errors[:, 0]
    if not error.any() and np.isfinite(score).all():
        return Between.at_once(score, step_of(score))
    with np.errstate(all="ignore"):
        exact = error == 0
        low = np.where(exact, score, np.nextafter(score - error, -np.inf))
        high = np.where(exact, score, np.nextafter(score + error, np.inf))
        step = step_of(score) if bool(exact.all()) else None
    return Between(np.nan_to_num(low, nan=-np.inf), np.nan_to_num(high, nan=np.inf), step)


def _steps(points: Points) -> tuple[int | None, ...]:
    """Of each attribute what all its values are multiples of."""
    if isinstance(points, ExactRows):
        rounded = points.rounding
        return tuple(
            None if rounded is not None and np.any(rounded[:, index]) else step_of(column)
            for index, column in enumerate(points.floats.T)
        )
    return tuple(map(step_of, points.T))
