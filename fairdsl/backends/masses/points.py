"""Boxes of few individuals: each is decided exactly, and its mass counted.

Atoms whose inside is not known count for the lower bound only if all of their values agree, and for the upper bound if
one of them does. Where a value is no float64, a decision is taken in rational arithmetic, one individual at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from itertools import accumulate
from math import prod

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.masses.law import KeyLaw
from fairdsl.ir.expr import Predicate, Who
from fairdsl.ir.model import Model
from fairdsl.numerics.axes import Axis
from fairdsl.numerics.evaluate import BatchEvaluator
from fairdsl.numerics.exact import UNDECIDED, decision
from fairdsl.numerics.predicates import mask

__all__ = ["NOTHING", "Given", "Individuals", "Parts"]

BoolArray = NDArray[np.bool_]
Ranges = Mapping[int, tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Parts:
    """Bounds of Pr[favourable, given, box] and of Pr[given, box], in units of the law's denominator."""

    favourable_low: int
    favourable_high: int
    total_low: int
    total_high: int

    @property
    def open(self) -> int:
        """What is not known."""
        return self.favourable_high - self.favourable_low + self.total_high - self.total_low


#: Of a box in which nobody is asked about.
NOTHING = Parts(0, 0, 0, 0)


class Given(Enum):
    """Whether the condition holds in a box: for nobody, everybody, or not known."""

    NO = "no"
    YES = "yes"
    OPEN = "open"


class Individuals:
    """Decides all individuals of small boxes."""

    #: Individuals at most, and where values are no floats.
    _MOST, _MOST_EXACT = 4096, 64

    def __init__(self, model: Model, condition: Predicate, axes: Mapping[int, Axis], width: int) -> None:
        self._model, self._condition, self._axes, self._width = model, condition, axes, width
        self._columns = tuple(sorted(axes))
        self._evaluator = BatchEvaluator(model)
        #: By column, before each atom: values listed, atoms without a list, atoms with values that are no floats.
        self._before = {
            column: (
                _before([len(atom.values or ()) for atom in axis.atoms]),
                _before([atom.values is None for atom in axis.atoms]),
                _before([not _floats(atom.values) for atom in axis.atoms]),
            )
            for column, axis in axes.items()
        }

    def few(self, ranges: Ranges) -> bool:
        """Whether the individuals of a box are listed, and are few."""
        count, most = 1, self._MOST
        for column in self._columns:
            start, stop = ranges[column]
            listed, unlisted, inexact = self._before[column]
            count *= listed[stop] - listed[start]
            if inexact[stop] > inexact[start]:
                most = self._MOST_EXACT
            if count > most or unlisted[stop] > unlisted[start]:
                return False
        return True

    def count(self, ranges: Ranges) -> int:
        """How many individuals a box of listed atoms has."""
        spans = ((self._before[column][0], *ranges[column]) for column in self._columns)
        return prod(listed[stop] - listed[start] for listed, start, stop in spans)

    def parts(self, ranges: Ranges, law: KeyLaw) -> Parts:
        """The masses of a box, with nothing open but what an atom's inside or a threshold leaves open."""
        atoms = [self._axes[column].atoms[slice(*ranges[column])] for column in self._columns]
        values = [[value for atom in each for value in atom.values or ()] for each in atoms]
        starts = [np.cumsum([0, *(len(atom.values or ()) for atom in each)])[:-1] for each in atoms]
        shape = tuple(len(each) for each in values)
        given, sure, maybe = (array.reshape(shape) for array in self._judged(values))
        together = np.logical_and, np.logical_or
        tables = [_reduced(table, starts, by) for table in (given,) for by in together]
        low, high = _reduced(given & sure, starts, np.logical_and), _reduced(given & maybe, starts, np.logical_or)
        found = [law.summed(table, self._columns, ranges) for table in (low, high, *tables)]
        return Parts(*found)

    def _judged(self, values: Sequence[Sequence[Fraction]]) -> tuple[BoolArray, BoolArray, BoolArray]:
        """Of all combinations: whether they are admitted, surely favourable, perhaps favourable."""
        count = prod(len(each) for each in values)
        floats = all(_floats(each) for each in values)
        points = np.zeros((count, self._width), dtype=np.float64 if floats else object)
        grids = np.indices([len(each) for each in values]).reshape(len(values), count)
        for column, each, places in zip(self._columns, values, grids, strict=True):
            points[:, column] = np.array([float(v) if floats else v for v in each], dtype=points.dtype)[places]
        given = mask(self._condition, {Who.EACH: points})
        decisions = np.full(count, UNDECIDED, dtype=np.int64)
        rows = np.flatnonzero(given)
        if floats and rows.size:
            decisions[rows] = self._evaluator.settled(points[rows]).decisions
        elif not floats:
            for row in rows.tolist():
                outcome = decision(self._model, tuple(Fraction(value) for value in points[row]))
                decisions[row] = UNDECIDED if outcome is None else outcome
        sure = decisions == self._model.favourable
        return given, sure, sure | (decisions == UNDECIDED)


def _before(counts: Iterable[int]) -> list[int]:
    """The sum of the counts before each place, and of all."""
    return [0, *accumulate(counts)]


def _floats(values: Sequence[Fraction] | None) -> bool:
    """Whether all values are float64 numbers."""
    return all(abs(value) < 10**300 and Fraction(float(value)) == value for value in values or ())


def _reduced(table: BoolArray, starts: Sequence[NDArray[np.int64]], by: np.ufunc) -> BoolArray:
    """Values taken together into their atoms, axis by axis."""
    for axis, places in enumerate(starts):
        if len(places) < table.shape[axis]:
            table = by.reduceat(table, places, axis=axis)
    return np.asarray(table, dtype=np.bool_)
