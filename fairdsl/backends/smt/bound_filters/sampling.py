"""The second bound filter: violations found by drawing individuals in many partitions at once.

For every partition a number of units is drawn; each becomes a cluster of its members: all assignments of
the differing attributes (a sample where these are many), and for relaxed attributes some partners beside
the unit itself. Scores come from float64 without error bounds: what looks like a violation is only ever a
suggestion, replayed exactly before it counts. Later rounds change single attributes of the units that came
nearest to a violation; and between a granted and a refused unit of one partition walks cross the decision boundary,
next to which pairs are treated differently: attributes are exchanged until the decision turns
(:mod:`fairdsl.numerics.exchange`), then the last exchanged number is halved. Boxes contain every mixture of two of
their points.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.smt.bound_filters.bounding import assignments_of
from fairdsl.backends.smt.bound_filters.boxes import Box, Boxes, Draw
from fairdsl.backends.smt.cases import pair_of
from fairdsl.clock import NEVER, Deadline
from fairdsl.ir.domain import Point
from fairdsl.ir.expr import TRUE, Who, conjoin
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Differ, Pair, ScoreGap
from fairdsl.numerics.evaluate import BatchEvaluator, points_of
from fairdsl.numerics.exchange import exchanged
from fairdsl.numerics.narrow import Finite, without_not
from fairdsl.numerics.predicates import mask
from fairdsl.numerics.rounding import float_below

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

#: Assignments of the differing attributes in a cluster at most, and partners where attributes are relaxed.
_ASSIGNMENTS, _PARTNERS = 24, 3
#: Members that are evaluated at a time, over all partitions.
_MEMBERS = 1 << 18
#: Suspects a partition that are handed on, the clearest first.
_SUSPECTS = 4


@dataclass(frozen=True, slots=True)
class Suspect:
    """A pair [2, attributes] that seems to break the demand in the partition at this place."""

    place: int
    rows: FloatArray

    @property
    def pair(self) -> tuple[Point, Point]:
        """The two individuals, exactly."""
        a, b = points_of(self.rows)
        return a, b


@dataclass(frozen=True, slots=True)
class _Clusters:
    """``members`` [n, k, attributes] of n units; ``owners`` [n] are the places of their partitions."""

    owners: IntArray
    members: FloatArray
    valid: BoolArray
    decisions: IntArray
    scores: FloatArray
    distances: FloatArray

    def joined(self, other: _Clusters) -> _Clusters:
        """Those of both."""
        both = {one.name: (getattr(self, one.name), getattr(other, one.name)) for one in fields(self)}
        return _Clusters(**{name: np.concatenate(arrays) for name, arrays in both.items()})


class Sampler:
    """Draws in the partitions of one question; the same seed draws the same.

    No further round begins after ``until``. ``compared``: how many individuals of each unit are.
    """

    def __init__(self, problem: Problem, sets: Box, seed: int, until: Deadline = NEVER) -> None:
        self._pair: Pair = pair_of(problem)
        self._sets, self._until = sets, until
        self._rng = np.random.default_rng([seed, 1])
        self._evaluator = BatchEvaluator(problem.model)
        self._assignments = self._drawn_assignments()
        self._partners = _PARTNERS if self._pair.relax else 0
        self.compared = len(self._assignments) * (1 + self._partners)
        self._wanted = without_not(conjoin(problem.domain.where, self._pair.target))
        self._whole = np.array([isinstance(values, Finite) for values in sets], dtype=np.bool_)
        self._gapless = np.array([isinstance(getattr(values, "values", range(0)), range) for values in sets])
        self._free = [
            index for index, values in enumerate(sets) if index not in self._pair.differ and values.count != 1
        ]

    def suspects(self, boxes: Boxes, units: int, rounds: int) -> list[Suspect]:
        """Pairs that seem to break the demand, at most a few a partition, the clearest first.

        ``units`` are drawn in each partition in the first round; each further round moves as many.
        """
        found: list[Suspect] = []
        draws = [Draw(sets) for sets in boxes.sets]
        at_once = max(1, _MEMBERS // (units * self.compared))
        for start in range(0, len(boxes), at_once):
            if start and self._until.passed:
                break
            places = np.arange(start, min(start + at_once, len(boxes)))
            found.extend(self._hunt(boxes, draws, places, units, rounds))
        return found

    def _hunt(self, boxes: Boxes, draws: Sequence[Draw], places: IntArray, units: int, rounds: int) -> list[Suspect]:
        owners = np.repeat(places, units)
        clusters = self._measured(owners, self._drawn(boxes, draws, owners))
        found = self._pairs(clusters)
        for number in range(rounds):
            left = np.setdiff1d(places, [suspect.place for suspect in found])
            if left.size and self._free and number:
                clusters = self._moved(boxes, draws, clusters, left, units)
                found.extend(self._pairs(clusters))
                left = np.setdiff1d(left, [suspect.place for suspect in found])
            if not left.size or not self._free or self._until.passed:
                break
            beside = self._crossed(clusters, left, units)
            if beside is not None:
                found.extend(self._pairs(beside))
                clusters = clusters.joined(beside)
        return found

    def _crossed(self, clusters: _Clusters, left: IntArray, units: int) -> _Clusters | None:
        """Clusters beside the decision boundary of the partitions that have units on both sides of it."""
        if isinstance(self._pair.demand, ScoreGap):
            return None
        granted, refused, owners = [], [], []
        order = np.argsort(clusters.owners, kind="stable")
        starts = np.searchsorted(clusters.owners[order], [left, left + 1])
        for place, start, stop in zip(left.tolist(), *starts.tolist(), strict=True):
            rows = order[start:stop]
            decided = clusters.decisions[rows, 0]
            one = rows[decided == decided[0]]
            other = rows[decided != decided[0]]
            if one.size and other.size:
                granted.append(self._rng.choice(one, units // 2))
                refused.append(self._rng.choice(other, units // 2))
                owners.append(np.full(units // 2, place))
        if not owners:
            return None
        first, second, owner = np.concatenate(granted), np.concatenate(refused), np.concatenate(owners)
        wanted = clusters.decisions[first, 0]
        near, far = neighbours(
            clusters.members[first, 0, :],
            clusters.members[second, 0, :],
            lambda points: self._evaluator.approximate_decisions(self._evaluator.approximate(points)) == wanted,
            self._whole,
            self._gapless,
            self._rng,
        )
        return self._measured(np.concatenate([owner, owner]), np.concatenate([near, far]))

    def _drawn_assignments(self) -> FloatArray:
        """[k, differing]."""
        every = assignments_of(self._pair, self._sets, _ASSIGNMENTS)
        if len(every) > 1 or all(values.count == 1 for values in every[0].values()):
            return np.array([[float(side[index].low or 0) for index in self._pair.differ] for side in every])
        columns = []
        for index in self._pair.differ:
            column = Draw((self._sets[index],)).values(np.zeros(_ASSIGNMENTS, dtype=np.int64), self._rng)
            ends = (self._sets[index].low, self._sets[index].high)
            column[:2] = [column[0] if end is None else float(end) for end in ends]
            columns.append(column)
        return np.column_stack(columns)

    def _drawn(self, boxes: Boxes, draws: Sequence[Draw], owners: IntArray) -> FloatArray:
        """One unit for each owner, [n, attributes]."""
        points = np.empty((len(owners), len(self._sets)), order="F")
        for attribute, draw in enumerate(draws):
            points[:, attribute] = draw.values(boxes.codes[owners, attribute], self._rng)
        return points

    def _moved(self, boxes: Boxes, draws: Sequence[Draw], clusters: _Clusters, left: IntArray, units: int) -> _Clusters:
        """New units beside the best ones of each partition that is left."""
        order = np.lexsort((clusters.distances, clusters.owners))
        owners = clusters.owners[order]
        starts = np.searchsorted(owners, left)
        counts = np.searchsorted(owners, left, side="right") - starts
        best = max(1, units // 8)
        chosen = starts[:, None] + np.arange(units)[None, :] % np.minimum(best, counts)[:, None]
        rows = order[chosen.ravel()]
        points = np.asfortranarray(clusters.members[rows, 0, :])
        owners = clusters.owners[rows]
        kept = np.arange(units)[None, :].repeat(len(left), axis=0).ravel() < best  # the best stay as they are
        attribute_of = self._rng.integers(0, len(self._free), len(rows))
        for place, attribute in enumerate(self._free):
            moving = np.flatnonzero((attribute_of == place) & ~kept)
            codes = boxes.codes[owners[moving], attribute]
            points[moving, attribute] = draws[attribute].moved(points[moving, attribute], codes, self._rng)
        return self._measured(owners, points)

    def _measured(self, owners: IntArray, units: FloatArray) -> _Clusters:
        members = self._members(units)
        count, size, width = members.shape
        flat = np.asfortranarray(members.reshape(-1, width))
        valid = np.ones(len(flat), dtype=np.bool_) if self._wanted == TRUE else mask(self._wanted, {Who.EACH: flat})
        scores = self._evaluator.approximate(flat)
        decisions = self._evaluator.approximate_decisions(scores).reshape(count, size)
        margins = self._evaluator.margins(scores).reshape(count, size)
        valid = valid.reshape(count, size)
        first = scores[:, 0].reshape(count, size)
        return _Clusters(owners, members, valid, decisions, first, self._distances(valid, decisions, margins, first))

    def _members(self, units: FloatArray) -> FloatArray:
        """[n, k, attributes]: the unit under every assignment, then its partners likewise."""
        blocks = []
        for partner in range(1 + self._partners):
            block = np.repeat(units[:, None, :], len(self._assignments), axis=1)
            block[:, :, list(self._pair.differ)] = self._assignments[None, :, :]
            if partner:
                for relaxation in self._pair.relax:
                    whole = self._sets[relaxation.attribute]
                    near = Draw((whole,)).near(units[:, relaxation.attribute], relaxation.by, self._rng)
                    block[:, :, relaxation.attribute] = near[:, None]
            blocks.append(block)
        return np.concatenate(blocks, axis=1)

    def _distances(self, valid: BoolArray, decisions: IntArray, margins: FloatArray, scores: FloatArray) -> FloatArray:
        """How far each cluster is from breaking the demand; 0 or less where it seems to."""
        demand = self._pair.demand
        with np.errstate(invalid="ignore"):
            if isinstance(demand, ScoreGap):
                spread = np.where(valid, scores, -np.inf).max(axis=1) - np.where(valid, scores, np.inf).min(axis=1)
                lacking = float_below(demand.limit) - spread
                return np.where(np.isfinite(lacking), lacking, np.inf)
        most = np.where(valid, decisions, -1).max(axis=1)
        least = np.where(valid, decisions, np.iinfo(np.int64).max).min(axis=1)
        nearest = np.where(valid, margins, np.inf).min(axis=1)
        differ = (most >= 0) & (most != least)
        # Among violations the clearest come first: those whose least margin is greatest.
        return np.where(differ, -nearest, np.where(valid.sum(axis=1) > 1, nearest, np.inf))

    def _pairs(self, clusters: _Clusters) -> list[Suspect]:
        """The best suspects of each partition."""
        rows = np.flatnonzero(clusters.distances <= 0)
        rows = rows[np.lexsort((clusters.distances[rows], clusters.owners[rows]))]
        owners = clusters.owners[rows]
        rank = np.arange(len(rows)) - np.searchsorted(owners, owners)
        found = []
        for row in rows[rank < _SUSPECTS].tolist():
            pair = self._pair_of(clusters, row)
            if pair is not None:
                found.append(Suspect(int(clusters.owners[row]), pair))
        return found

    def _pair_of(self, clusters: _Clusters, row: int) -> FloatArray | None:
        """The comparable pair of one cluster whose scores are furthest apart; a is the unit itself."""
        own = len(self._assignments)
        members, scores = clusters.members[row], clusters.scores[row]
        differing = list(self._pair.differ)
        apart = members[:own, None, differing] != members[None, :, differing]
        comparable = apart.all(axis=2) if self._pair.mode is Differ.EACH else apart.any(axis=2)
        comparable &= clusters.valid[row][:own, None] & clusters.valid[row][None, :]
        gaps = np.abs(scores[:own, None] - scores[None, :])
        if isinstance(self._pair.demand, ScoreGap):
            comparable &= gaps >= float_below(self._pair.demand.limit) * (1 - 1e-12)
        else:
            comparable &= clusters.decisions[row][:own, None] != clusters.decisions[row][None, :]
        if not comparable.any():
            return None
        place = int(np.argmax(np.where(comparable, gaps, -1.0)))
        return np.asarray(members[[place // members.shape[0], place % members.shape[0]]])


#: Halvings of a number at most.
_HALVINGS = 24


def neighbours(
    one: FloatArray,
    other: FloatArray,
    like_one: Callable[[FloatArray], BoolArray],
    whole: BoolArray,
    halvable: BoolArray,
    rng: np.random.Generator,
) -> tuple[FloatArray, FloatArray]:
    """Points [n, attributes] on both sides of the boundary between rows of ``one`` and of ``other``.

    ``like_one`` says which points are decided like rows of ``one`` (it is true of ``one`` and false of
    ``other``). ``halvable`` [attributes]: every number (of ``whole`` ones every integer) between two values
    of the attribute is a value too.
    """
    near, far, last = exchanged(one, other, like_one, rng)
    rows = np.arange(len(one))
    for _ in range(_HALVINGS):
        begin, end = near[rows, last], far[rows, last]
        middle_values = np.where(whole[last], np.floor((begin + end) / 2), ((begin + end) / 2).astype(np.float32))
        moved = halvable[last] & (middle_values != begin) & (middle_values != end)
        if not moved.any():
            break
        point = near.copy()
        point[rows, last] = np.where(moved, middle_values, begin)
        alike = like_one(point)
        near = np.where((moved & alike)[:, None], point, near)
        far = np.where((moved & ~alike)[:, None], point, far)
    return near, far
