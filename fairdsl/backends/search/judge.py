"""The replay of many pairs at once: what counts as found, and what is a violation in one arithmetic only.

A pair is *found* if it is admissible, breaks the demand in exact arithmetic, and breaks it in the deployed float32
file where there is one. If only one of the two arithmetics calls it a violation it is a *gap*, which never counts.

Exact arithmetic is float64 with a rigorous error bound, and more digits or fractions for whatever that bound leaves
open (:meth:`Evaluator.settled`); the distance of two scores from a gap's limit likewise. The deployed file runs in
batches, of whose kernels the last bit of a score may depend on the size of the batch; where a bound of its rounding
says what it decides, it need not run.

A black box has one arithmetic, its own. In place of the second one it is asked again, a file one by one, a function in
other batches (:mod:`fairdsl.models.black_boxes.asked`); what breaks the demand in one of the two alone is a gap as
well.

Whether pairs are such as the question speaks of, for many at once and from the question alone.

The same rules as :func:`fairdsl.replay.admissible`, in the same order; nothing is taken over from how a pair was
found. All comparisons are exact: floats are compared with the floats next to a bound, linear conditions by
:func:`fairdsl.numerics.predicates.mask`.

What the deployed file decides of many individuals, run only where rounding may matter.

For most models everybody is run: that costs less than all the rest. The file of a support vector machine takes longer
than the search itself, so it is not run on those whom it is bounded to decide as exact arithmetic does
(:mod:`fairdsl.numerics.kernel_float32`). The first few dozen of these are run all the same, and if the file decides
only one of them otherwise, it does not compute as supposed and is run on everybody from then on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from enum import IntEnum
from fractions import Fraction
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.contract import Budget
from fairdsl.backends.search.candidates import apart, between
from fairdsl.backends.search.evaluators import Evaluator
from fairdsl.backends.search.ground import SETTLED, Pairs
from fairdsl.ir.domain import Attribute, Domain, Integer, Real
from fairdsl.ir.expr import Who, conjoin
from fairdsl.ir.model import Deployed, Readout
from fairdsl.ir.opaque import BlackBox
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Pair, ScoreGap
from fairdsl.models.black_boxes.asked import BlackBoxEvaluator
from fairdsl.numerics.confidence import OPEN, is_sure, sure_rows
from fairdsl.numerics.evaluate import BatchEvaluator, Settled, points_of
from fairdsl.numerics.exact import UNDECIDED, settled_gap
from fairdsl.numerics.kernel_float32 import decided_alike
from fairdsl.numerics.predicates import mask
from fairdsl.numerics.rounding import float_above, float_below
from fairdsl.replay import runtime_of

#: Individuals who are run although a bound says how they are decided.
_PROBES = 64


class DeployedFile:
    """The decisions of one deployed file, which ``run`` runs on a batch.

    ``ran`` counts the individuals that it was run on, ``bounded`` those of whom a bound alone says what it decides.
    """

    def __init__(self, run: Callable[[FloatArray], IntArray], evaluator: Evaluator) -> None:
        self._file, self._evaluator = run, evaluator
        self._probes, self._bounded = 0, True
        self.ran = self.bounded = 0

    def decisions(self, points: FloatArray, settled: Settled) -> IntArray:
        """The file's outcomes for individuals [n, attributes] whom exact arithmetic decides as ``settled`` says."""
        if not isinstance(self._evaluator, BatchEvaluator) or not self._bounded:
            return self._run(points)
        alike = decided_alike(self._evaluator, points, settled)
        probed = np.flatnonzero(alike)[: _PROBES - self._probes]
        self._probes += len(probed)
        found = settled.decisions.copy()
        asked = ~alike
        asked[probed] = True
        found[asked] = self._run(points[asked])
        if (found[probed] != settled.decisions[probed]).any():
            self._bounded = False
            found[~asked] = self._run(points[~asked])
        else:
            self.bounded += int((~asked).sum())
        return found

    def _run(self, points: FloatArray) -> IntArray:
        self.ran += len(points)
        return self._file(points)


def admissible_rows(pair: Pair, domain: Domain, a: FloatArray, b: FloatArray) -> BoolArray:
    """Which ordered pairs (a[i], b[i]) are admissible, how sure the model is of them left aside; [n]."""
    found = np.ones(len(a), dtype=np.bool_)
    within = conjoin(domain.where, pair.target)
    for individuals in (a, b):
        for index, attribute in enumerate(domain.attributes):
            found &= _contains(attribute, individuals[:, index])
        found &= mask(within, {Who.EACH: individuals})
    loose = {*pair.differ, *(relaxation.attribute for relaxation in pair.relax)}
    equal = [index for index in range(len(domain.attributes)) if index not in loose]
    found &= (a[:, equal] == b[:, equal]).all(axis=1)
    found &= apart(pair, a, b)
    found &= mask(conjoin(between(pair), pair.pair_target), {Who.A: a, Who.B: b})
    return found


def _contains(attribute: Attribute, values: FloatArray) -> BoolArray:
    match attribute.type:
        case Integer(low=low, high=high):
            found = (np.floor(values) == values) & (values >= low) & (values <= high)
        case Real(low=low, high=high):
            found = np.isfinite(values)
            if low is not None:
                found &= values >= float_above(low)
            if high is not None:
                found &= values <= float_below(high)
        case _:
            found = np.isin(values, np.array(attribute.values or (), dtype=np.float64))
    return np.asarray(found, dtype=np.bool_)


FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]

#: Float64 errors of a difference of two numbers, relative to their sizes, are far below this.
_ROUNDED = 2.0**-48
#: Outputs of these kinds are the score itself; of others no gap is taken.
_SCORES = (Readout.SCORE, Readout.DIFFERENCE)


class Status(IntEnum):
    """What a pair is."""

    NO_VIOLATION = 0
    FOUND = 1
    GAP = 2


@dataclass(frozen=True, slots=True)
class Judged:
    """Pairs with what became of them; a and b are the columns of the arrays of twos."""

    a: FloatArray  # [n, attributes]
    b: FloatArray
    status: NDArray[np.int8]  # [n]
    decisions: IntArray  # [n, 2]; negative where open
    scores: FloatArray  # [n, 2, scores]

    def __len__(self) -> int:
        return len(self.status)

    def at(self, rows: IntArray | BoolArray | slice) -> Judged:
        """Some of the pairs."""
        return Judged(*(getattr(self, entry.name)[rows] for entry in fields(self)))

    @classmethod
    def joined(cls, parts: list[Judged]) -> Judged:
        """Several batches as one; ValueError without any."""
        return cls(*(np.concatenate([getattr(part, entry.name) for part in parts]) for entry in fields(cls)))


class Judge:
    """Replays pairs of one question."""

    def __init__(self, problem: Problem, pair: Pair, evaluator: Evaluator) -> None:
        self._problem, self._pair, self._evaluator = problem, pair, evaluator
        self._box = BlackBoxEvaluator(problem.model) if isinstance(problem.model.opaque, BlackBox) else None
        deployed = problem.model.deployed
        self._file = None if deployed is None else DeployedFile(_run(deployed), evaluator)

    @property
    def file_runs(self) -> tuple[int, int]:
        """The individuals on whom the deployed file was run, and those whom a bound says it decides alike."""
        return (0, 0) if self._file is None else (self._file.ran, self._file.bounded)

    def replay(self, a: FloatArray, b: FloatArray) -> Judged:
        """Judge the ordered pairs (a[i], b[i])."""
        count, scores = len(a), self._problem.model.score_count
        status = np.full(count, Status.NO_VIOLATION, dtype=np.int8)
        decisions = np.full((count, 2), UNDECIDED, dtype=np.int64)
        values = np.zeros((count, 2, scores))
        rows = np.flatnonzero(admissible_rows(self._pair, self._problem.domain, a, b))
        if not rows.size:
            return Judged(a, b, status, decisions, values)
        both = np.concatenate([a[rows], b[rows]])
        settled = self._evaluator.settled(both)
        exact = self._exactly(both, settled)
        float32 = self._float32(both, settled)
        admitted = self._sure(both, settled)
        agreed = exact if float32 is None else exact & float32
        either = exact if float32 is None else exact | float32
        found = np.where(agreed, Status.FOUND, np.where(either, Status.GAP, Status.NO_VIOLATION))
        status[rows] = np.where(admitted, found, Status.NO_VIOLATION)
        decisions[rows] = _twos(settled.decisions)
        values[rows] = _twos(settled.scores)
        return Judged(a, b, status, decisions, values)

    def best_of(self, pairs: Pairs, budget: Budget) -> tuple[Judged, IntArray]:
        """The best pair of each owner, then of those not confirmed the next one, while there is time; the owners."""
        parts, owners = [self.replay(pairs.a[:0], pairs.b[:0])], [pairs.owners[:0]]
        left = np.arange(len(pairs.owners))
        while left.size and not budget.exhausted:
            first = np.unique(pairs.owners[left], return_index=True)[1][: SETTLED // 2]
            now = left[first]
            judged = self.replay(pairs.a[now], pairs.b[now])
            parts.append(judged)
            owners.append(pairs.owners[now])
            done = pairs.owners[now[judged.status == Status.FOUND]]
            left = np.delete(left, first)
            left = left[~np.isin(pairs.owners[left], done)]
        return Judged.joined(parts), np.concatenate(owners)

    def _exactly(self, both: FloatArray, settled: Settled) -> BoolArray:
        """Whether it is proved that the two break the demand."""
        demand = self._pair.demand
        if isinstance(demand, ScoreGap):
            box = self._box is not None
            return _broken(demand, settled.scores[:, 0]) if box else self._gaps(both, settled, demand)
        of_a, of_b = _twos(settled.decisions).T
        return np.asarray((of_a != of_b) & (of_a != UNDECIDED) & (of_b != UNDECIDED), dtype=np.bool_)

    def _gaps(self, both: FloatArray, settled: Settled, demand: ScoreGap) -> BoolArray:
        scores, errors = _twos(settled.scores)[:, :, 0], _twos(settled.errors)[:, :, 0]
        gap = np.abs(scores[:, 0] - scores[:, 1])
        with np.errstate(invalid="ignore"):
            error = (errors.sum(axis=1) + _ROUNDED * np.abs(scores).sum(axis=1)) * (1 + _ROUNDED) + 1e-300
            broken = gap - error > float_above(demand.limit)
            kept = gap + error < float_below(demand.limit)
        for row in np.flatnonzero(~broken & ~kept).tolist():
            a, b = points_of(both[[row, row + len(both) // 2]])
            broken[row] = settled_gap(self._problem.model, (a, b), demand.relation, demand.limit) is False
        return np.asarray(broken, dtype=np.bool_)

    def _sure(self, both: FloatArray, settled: Settled) -> BoolArray:
        """Whether the model is proved to be as sure of both as is asked."""
        half = len(both) // 2
        found = np.ones(half, dtype=np.bool_)
        for who, rows in ((Who.A, slice(0, half)), (Who.B, slice(half, None))):
            wanted = self._pair.sure_of(who)
            if not wanted:
                continue
            model, decisions = self._problem.model, settled.decisions[rows]
            answers = sure_rows(model, settled.scores[rows], settled.errors[rows], decisions, wanted)
            for row in np.flatnonzero(answers == OPEN).tolist():
                (point,) = points_of(both[rows][[row]])
                answers[row] = is_sure(model, point, wanted) is True
            found &= answers == 1
        return found

    def _float32(self, both: FloatArray, settled: Settled) -> BoolArray | None:
        """Whether the deployed file breaks the demand; None where there is none, or none of its numbers is a score.

        Of a black box: whether it does when it is asked again in another way.
        """
        deployed, demand = self._problem.model.deployed, self._pair.demand
        if self._box is not None:
            again = self._box.ask_again(both)
            if isinstance(demand, ScoreGap):
                return _broken(demand, again.scores[:, 0])
            of_a, of_b = _twos(again.decisions).T
            return np.asarray(of_a != of_b, dtype=np.bool_)
        if deployed is None or self._file is None:
            return None
        if isinstance(demand, ScoreGap):
            readable = deployed.readout in _SCORES
            return _broken(demand, runtime_of(deployed).scores_array(both)[:, 0]) if readable else None
        of_a, of_b = _twos(self._file.decisions(both, settled)).T
        return np.asarray(of_a != of_b, dtype=np.bool_)


def _run(deployed: Deployed) -> Callable[[FloatArray], IntArray]:
    """The file, opened when it is first needed."""
    return lambda points: runtime_of(deployed).decide_array(points)


def _broken(demand: ScoreGap, both: FloatArray) -> BoolArray:
    """Which gaps break the demand, of a model's own numbers [2 n], which are taken as they are."""
    numbers = _twos(both)
    gap = np.abs(numbers[:, 0] - numbers[:, 1])
    limit = float_below(demand.limit)
    broken = gap > limit
    near = np.abs(gap - limit) <= _ROUNDED * (np.abs(numbers).sum(axis=1) + abs(limit)) + 1e-300
    for row in np.flatnonzero(near).tolist():
        of_a, of_b = (Fraction(value) for value in numbers[row].tolist())
        broken[row] = not demand.relation.compares(abs(of_a - of_b), demand.limit)
    return np.asarray(broken, dtype=np.bool_)


_Number = TypeVar("_Number", np.float64, np.int64)


def _twos(stacked: NDArray[_Number]) -> NDArray[_Number]:
    """[2 n, ...] with the a's first, to [n, 2, ...]."""
    half = len(stacked) // 2
    return np.stack([stacked[:half], stacked[half:]], axis=1)
