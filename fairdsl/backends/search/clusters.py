"""Clusters: an individual together with some whom it may be compared with, evaluated at once.

A centre gives the values that all members share. Members take the assignments of the differing attributes - all of
them, or a sample where there are many, half of it near the centre - and values of the relaxed attributes inside one
window no wider than the relaxation, so that any two members are similar enough. Of a demand about one individual the
centre is the only member.

How far a cluster is from breaking the demand is its *distance*: how true the demand is of the tuple of members of whom
it is least true (:mod:`.degrees`); 0 or less where it is broken. Where the question asks how sure the model is, what it
lacks of that, in logits, is added.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.search.assignments import Assignments
from fairdsl.backends.search.candidates import apart
from fairdsl.backends.search.degrees import Outputs, Tuples
from fairdsl.backends.search.evaluators import Evaluator
from fairdsl.backends.search.sampling import Column, Sampler
from fairdsl.ir.demand import Demanded
from fairdsl.ir.domain import Point
from fairdsl.ir.expr import Who
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Pair, Sure
from fairdsl.numerics.chances import approximate_odds_of
from fairdsl.numerics.confidence import approximate_log_odds
from fairdsl.numerics.evaluate import points_of
from fairdsl.numerics.rounding import float_below

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]

#: Assignments of the differing attributes in a cluster at most, and copies of each under relaxations.
_ASSIGNMENTS, _COPIES = 24, 4
#: Tuples of a cluster that are looked at, at most.
_TUPLES = 288


@dataclass(frozen=True, slots=True)
class Measured:
    """Clusters: ``valid`` members are in domain and target, ``decisions`` are those of one of the models.

    ``distances`` are those of the tuples ``places``, the i-th of which has the ``places[who][i]``-th member.
    """

    members: FloatArray  # [n, k, attributes]
    valid: BoolArray  # [n, k]
    decisions: IntArray  # [n, k]
    evaluator: Evaluator
    places: Mapping[Who, IntArray]  # [m] each
    by_tuple: FloatArray  # [n, m]

    @property
    def distances(self) -> FloatArray:
        """Of each cluster, [n]; infinite without anybody to ask about."""
        found: FloatArray = self.by_tuple.min(axis=1, initial=np.inf)
        return found

    def broken_in(self, row: int) -> Mapping[Who, Point]:
        """The tuple of one cluster that seems to break the demand most clearly; ValueError where there is none."""
        best = int(np.argmin(self.by_tuple[row]))
        return {who: points_of(self.members[[row], at[best]])[0] for who, at in self.places.items()}


class Clusters:
    """Builds and measures the clusters of one question."""

    def __init__(self, problem: Problem, sampler: Sampler, evaluators: Sequence[Evaluator]) -> None:
        self._asked: Demanded = problem.demanded
        self._pair, self._sampler, self.evaluators = self._asked.pair, sampler, tuple(evaluators)
        self._either_way = isinstance(problem.question, Pair) and problem.question.symmetric
        differing = [] if self._asked.alone else [sampler.columns[index] for index in self._pair.differ]
        self._assignments = Assignments(differing, most=_ASSIGNMENTS, sampled=_ASSIGNMENTS)
        #: How many members a cluster has.
        self.size = self._assignments.size * (_COPIES if self._pair.relax else 1)

    @property
    def free(self) -> list[int]:
        """The attributes whose values centres vary."""
        given = self._pair.differ if self._assignments.complete and not self._asked.alone else ()
        columns = enumerate(self._sampler.columns)
        return [index for index, column in columns if index not in given and not column.single]

    def build(self, centres: FloatArray) -> FloatArray:
        """The members [n, k, attributes] of the clusters around the centres [n, attributes]."""
        members = np.repeat(centres[:, None, :], self.size, axis=1)
        if self._asked.alone:
            return members
        assignments = self._assignments.take(self._sampler.rng)
        copies = _COPIES if self._pair.relax else 1
        members[:, :, list(self._pair.differ)] = np.tile(assignments, (copies, 1))[None, :, :]
        if not self._assignments.complete:
            near = slice(2, self.size, 2)  # the first two are the lowest and the highest values
            for index in self._pair.differ:
                around = np.broadcast_to(centres[:, [index]], members[:, near, index].shape)
                stepped = self._sampler.columns[index].step(around.ravel(), self._sampler.rng)
                members[:, near, index] = stepped.reshape(around.shape)
        for relaxation in self._pair.relax:
            column = self._sampler.columns[relaxation.attribute]
            by = np.inf if relaxation.by is None else float_below(relaxation.by)
            members[:, :, relaxation.attribute] = self._relaxed(members[:, :, relaxation.attribute], column, by)
        return members

    def _relaxed(self, values: FloatArray, column: Column, by: float) -> FloatArray:
        rng, shape = self._sampler.rng, values.shape
        if not np.isfinite(by):
            drawn = column.draw(values.size, rng).reshape(shape)
            return np.where(rng.random(shape) < 0.25, values, drawn)
        # One window per cluster, somewhere around the centre; half of the members at its ends.
        start = values[:, :1] - by * rng.choice((0.0, 0.5, 1.0), (shape[0], 1))
        place = rng.random(shape)
        place = np.where(rng.random(shape) < 0.5, np.rint(place), place)
        return column.settle((start + by * place).ravel()).reshape(shape)

    def measure(self, centres: FloatArray) -> Measured:
        """Evaluate the clusters around the centres."""
        members = self.build(centres)
        count, size, width = members.shape
        flat = members.reshape(-1, width)
        valid = self._sampler.inside(flat).reshape(count, size)
        scores = [evaluator.approximate(flat) for evaluator in self.evaluators]
        outputs = tuple(
            self._outputs(place, evaluator, found, (count, size))
            for place, (evaluator, found) in enumerate(zip(self.evaluators, scores, strict=True))
        )
        places = self._places()
        by_tuple = Tuples(self._asked, members, outputs, places).kept()
        if self._pair.sure:
            lacking = self._lacking(scores[0], outputs[0].decisions, places)
            by_tuple = np.where(lacking > 0, np.maximum(by_tuple, 0) + lacking, by_tuple)
        one = int(self._sampler.rng.integers(len(outputs))) if len(outputs) > 1 else 0
        by_tuple[~self._comparable(members, valid, places)] = np.inf
        return Measured(members, valid, outputs[one].decisions, self.evaluators[one], places, by_tuple)

    def _outputs(self, place: int, evaluator: Evaluator, found: FloatArray, shape: tuple[int, int]) -> Outputs:
        """What one model makes of the members."""
        decisions = evaluator.approximate_decisions(found)
        odds = {
            term: approximate_odds_of(term, evaluator.model, found, decisions).reshape(shape)
            for term in self._asked.chances(place)
        }
        margins = evaluator.margins(found).reshape(shape)
        return Outputs(found[:, 0].reshape(shape), decisions.reshape(shape), margins, odds)

    def _places(self) -> Mapping[Who, IntArray]:
        """The tuples of members that are looked at: all of them, or some."""
        if self._asked.alone:
            return {Who.EACH: np.zeros(1, dtype=np.int64)}
        if self._asked.several:
            # So many tuples of different members; none where there are too few members.
            count = _TUPLES if self.size >= len(self._asked.people) else 0
            drawn = self._sampler.rng.random((count, max(self.size, len(self._asked.people)))).argsort(axis=1)
            return {who: drawn[:, place] for place, who in enumerate(self._asked.people)}
        first, second = np.triu_indices(self.size, 1)
        if not self._either_way:
            first, second = np.concatenate([first, second]), np.concatenate([second, first])
        if len(first) > _TUPLES:
            some = self._sampler.rng.choice(len(first), _TUPLES, replace=False)
            first, second = first[some], second[some]
        return {Who.A: first, Who.B: second}

    def _comparable(self, members: FloatArray, valid: BoolArray, places: Mapping[Who, IntArray]) -> BoolArray:
        """Which tuples are of members who differ as the question asks, [n, m]."""
        if self._asked.alone:
            return valid
        # Without relaxations the same members differ in every cluster.
        some = members[:1] if self._assignments.complete else members
        found = np.logical_and.reduce([valid[:, at] for at in places.values()])
        for first, second in combinations(places.values(), 2):
            found = found & apart(self._pair, some[:, first], some[:, second])
        return np.asarray(found, dtype=np.bool_)

    def _lacking(self, scores: FloatArray, decisions: IntArray, places: Mapping[Who, IntArray]) -> FloatArray:
        """How much surer, in logits, the model would have to be of the members of each tuple, [n, m]."""
        model = self.evaluators[0].model
        log_odds = approximate_log_odds(model, scores, decisions.ravel()).reshape(decisions.shape)
        found = np.zeros((len(decisions), len(places[Who.A])))
        for who in (Who.A, Who.B):
            if wanted := self._pair.sure_of(who):
                # A level of 1/2 or less may be met on the boundary itself, which floats only come near to.
                found += np.maximum(0.0, _logit(wanted) * (1 - 1e-9) - 1e-9 - log_odds)[:, places[who]]
        return found


def _logit(wanted: Sequence[Sure]) -> float:
    """The logit of the highest level, roughly."""
    return max(-float(np.log(float(sure.odds_against))) for sure in wanted)
