"""Boxes of few individuals: each is decided exactly, and its mass counted.

Atoms whose inside is not known count for the lower bound only if all of their values agree, and for the upper bound if
one of them does. Where a value is not a float64, a decision is taken in rational arithmetic, one individual at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.clock import look
from fairdsl.ir.expr import Predicate, Who
from fairdsl.ir.model import ByHighest, Model
from fairdsl.ir.opaque import BlackBox
from fairdsl.metrics.alike import Assignment
from fairdsl.models.evaluators import settling
from fairdsl.numerics.axes import Axis
from fairdsl.numerics.bounds import comparable
from fairdsl.numerics.evaluate import BatchEvaluator
from fairdsl.numerics.event import event_of
from fairdsl.numerics.exact import UNDECIDED, decision, enclosed_scores
from fairdsl.numerics.predicates import mask
from fairdsl.numerics.rounding import float_above, float_below

BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Decided:
    """The atoms of a box, all combinations of them, with what their individuals get."""

    #: Ranges of the single atoms, [combinations, columns].
    start: IntArray
    stop: IntArray
    #: Whether everybody meets the condition, whether nobody does; and the same of the event, of those who do.
    yes: BoolArray
    no: BoolArray
    certain: BoolArray
    impossible: BoolArray


class Individuals:
    """Decides all individuals of small boxes.

    What happens to them is that the model favours them or, where there are ``groups`` of assignments, that within each
    of them it decides alike about all who have these values and are the same else.
    """

    #: Individuals at most, and where values are not floats.
    _MOST, _MOST_EXACT = 1024, 64

    def __init__(
        self,
        model: Model,
        condition: Predicate,
        axes: Mapping[int, Axis],
        width: int,
        groups: Sequence[Sequence[Assignment]] = (),
    ) -> None:
        self._model, self._condition, self._axes, self._width = model, condition, axes, width
        self._groups = groups
        self._columns = tuple(sorted(axes))
        self._settled = settling(model)
        #: A black box is given the attributes of its domain, and nothing beside them.
        self._given = len(model.opaque.domain.attributes) if isinstance(model.opaque, BlackBox) else width
        #: By column, before each atom: values listed, atoms without a list, atoms with values that are not floats.
        self._before = {
            column: (
                _before([len(atom.values or ()) for atom in axis.atoms]),
                _before([atom.values is None for atom in axis.atoms]),
                _before([not _floats(atom.values) for atom in axis.atoms]),
            )
            for column, axis in axes.items()
        }

    def few(self, start: IntArray, stop: IntArray) -> bool:
        """Whether the individuals of a box are listed, and are few."""
        count, most = 1, self._MOST
        for column in self._columns:
            first, last = start[column], stop[column]
            listed, unlisted, inexact = self._before[column]
            count *= listed[last] - listed[first]
            if inexact[last] > inexact[first]:
                most = self._MOST_EXACT
            if count > most or unlisted[last] > unlisted[first]:
                return False
        return True

    def decided(self, start: IntArray, stop: IntArray) -> Decided:
        """A box atom by atom, with nothing open but what an atom's inside or a threshold leaves open."""
        look()
        atoms = [self._axes[column].atoms[start[column] : stop[column]] for column in self._columns]
        values = [[value for atom in each for value in atom.values or ()] for each in atoms]
        starts = [np.cumsum([0, *(len(atom.values or ()) for atom in each)])[:-1] for each in atoms]
        shape = tuple(len(each) for each in values)
        given, sure, maybe = (array.reshape(shape) for array in self._judged(values))
        first, last = self.atoms(start, stop)

        def by_atom(table: BoolArray, by: np.ufunc) -> BoolArray:
            return _reduced(table, starts, by).reshape(-1)

        return Decided(
            first,
            last,
            yes=by_atom(given, np.logical_and),
            no=~by_atom(given, np.logical_or),
            certain=by_atom(given & sure, np.logical_and),
            impossible=~by_atom(given & maybe, np.logical_or),
        )

    def atoms(self, start: IntArray, stop: IntArray) -> tuple[IntArray, IntArray]:
        """The atoms of a box as boxes, in the order in which they are decided, [combinations, columns]."""
        columns = list(self._columns)
        places = np.indices((stop - start)[columns].tolist()).reshape(len(columns), -1).T
        first, last = np.repeat(start[None], len(places), axis=0), np.repeat(stop[None], len(places), axis=0)
        first[:, columns] += places
        last[:, columns] = first[:, columns] + 1
        return first, last

    def _judged(self, values: Sequence[Sequence[Fraction]]) -> tuple[BoolArray, BoolArray, BoolArray]:
        """Of all combinations: whether they are admitted, surely favourable, perhaps favourable."""
        count = prod(len(each) for each in values)
        set_to = [list(each.values()) for group in self._groups for each in group]
        floats = all(_floats(each) for each in (*values, *set_to))
        points = np.zeros((count, self._width), dtype=np.float64 if floats else object)
        grids = np.indices([len(each) for each in values]).reshape(len(values), count)
        for column, each, places in zip(self._columns, values, grids, strict=True):
            points[:, column] = np.array([float(v) if floats else v for v in each], dtype=points.dtype)[places]
        given = mask(self._condition, {Who.EACH: points})
        rows = np.flatnonzero(given)
        if self._groups or (isinstance(self._model.rule, ByHighest) and any(self._model.rule.slack)):
            sure, maybe = np.zeros((2, count), dtype=np.bool_)
            judge = self._alike if self._groups else self._within_slack
            sure[rows], maybe[rows] = judge(points[rows, : self._given])
            return given, sure, maybe
        decisions = np.full(count, UNDECIDED, dtype=np.int64)
        decisions[rows] = self._decisions(points[rows, : self._given])
        sure = self._model.favours(decisions)
        return given, sure, sure | (decisions == UNDECIDED)

    def _decisions(self, points: NDArray[Any]) -> IntArray:
        if points.dtype != object:
            return self._settled(points).decisions if len(points) else np.zeros(0, dtype=np.int64)
        found = [decision(self._model, tuple(map(Fraction, point))) for point in points.tolist()]
        return np.array([UNDECIDED if outcome is None else outcome for outcome in found], dtype=np.int64)

    def _alike(self, points: NDArray[Any]) -> tuple[BoolArray, BoolArray]:
        """Whose units are surely decided alike, group by group, and whose may be."""
        sure, maybe = np.ones((2, len(points)), dtype=np.bool_)
        for group in self._groups:
            decided = []
            for assignment in group:
                others = points.copy()
                for column, value in assignment.items():
                    others[:, column] = value if points.dtype == object else float(value)
                decided.append(self._decisions(others))
            outcomes = np.array(decided)
            known = outcomes != UNDECIDED
            most, least = outcomes.max(axis=0), np.where(known, outcomes, outcomes.max(axis=0)).min(axis=0)
            maybe &= least == most  # of those that are known
            sure &= (least == most) & known.all(axis=0)
        return sure, maybe

    def _within_slack(self, points: NDArray[Any]) -> tuple[BoolArray, BoolArray]:
        """Who is favourable whatever the scores are within the rule's slack, and who may be."""
        low, high = self._scores(points)
        event = event_of(self._model)
        sure, maybe = np.ones((2, len(points)), dtype=np.bool_)
        for demand in event.demands:
            ahead, behind = demand.row.index(1), demand.row.index(-1)
            least, most = low[:, ahead] - high[:, behind], high[:, ahead] - low[:, behind]
            error = 2.0**-50 * (np.abs(low[:, [ahead, behind]]) + np.abs(high[:, [ahead, behind]])).sum(axis=1) + 1e-300
            # Where nothing is known of a score, neither comparison is true.
            sure &= least - error > float_above(demand.high)
            maybe &= ~(most + error < float_below(demand.low))
        return sure, maybe

    def _scores(self, points: NDArray[Any]) -> tuple[FloatArray, FloatArray]:
        """Ends of the scores, [individuals, scores]."""
        if points.dtype != object:
            scores, errors = self._evaluator.scores(points, by_row=True)
            return scores - errors * (1 + 2.0**-50), scores + errors * (1 + 2.0**-50)
        found = [enclosed_scores(self._model, tuple(map(Fraction, point))) for point in points.tolist()]
        ends = [list(zip(each.values, each.errors, strict=True)) for each in found]
        low = [[float_below(value - error) for value, error in each] for each in ends]
        high = [[float_above(value + error) for value, error in each] for each in ends]
        shape = (len(points), self._model.score_count)
        return np.array(low, dtype=np.float64).reshape(shape), np.array(high, dtype=np.float64).reshape(shape)

    @cached_property
    def _evaluator(self) -> BatchEvaluator:
        return BatchEvaluator(self._model)


def _before(counts: Iterable[int]) -> list[int]:
    """The sum of the counts before each place, and of all."""
    return [0, *accumulate(counts)]


def _floats(values: Sequence[Fraction] | None) -> bool:
    """Whether all values are float64 numbers."""
    return all(-(10**300) < number < 10**300 and float(number) == number for number in map(comparable, values or ()))


def _reduced(table: BoolArray, starts: Sequence[NDArray[np.int64]], by: np.ufunc) -> BoolArray:
    """Values taken together into their atoms, axis by axis."""
    for axis, places in enumerate(starts):
        if len(places) < table.shape[axis]:
            table = by.reduceat(table, places, axis=axis)
    return np.asarray(table, dtype=np.bool_)
