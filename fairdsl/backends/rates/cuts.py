"""Where boxes are cut: at an atom where a test that is open changes its truth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.expr import Predicate
from fairdsl.numerics.axes import mentioned
from fairdsl.numerics.truth import Truths

__all__ = ["NOWHERE", "Cuts", "Look", "halved"]

BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

#: In place of the column of a cut.
NOWHERE = -1


@dataclass(slots=True)
class Look:
    """What bounds say of boxes."""

    #: Whether the event has happened everywhere in the box, and whether it has nowhere, [boxes].
    certain: BoolArray
    impossible: BoolArray
    #: The column to cut (``NOWHERE``: none is preferred) and the first atom of its upper part, [boxes].
    column: IntArray
    at: IntArray
    #: Bounds of the share of the box's mass in which the event happens, [boxes].
    least: FloatArray
    most: FloatArray


class Cuts:
    """The cuts of some predicates."""

    def __init__(self, predicates: Sequence[Predicate], truths: Truths) -> None:
        self._columns = [np.array(mentioned(predicate), dtype=np.int64) for predicate in predicates]
        self._changes: list[IntArray] = []
        for predicate, columns in zip(predicates, self._columns, strict=True):
            if len(columns) != 1:
                self._changes.append(np.zeros(0, dtype=np.int64))
                continue
            _, true, false = truths.table(predicate)
            self._changes.append(1 + np.flatnonzero((np.diff(true) != 0) | (np.diff(false) != 0)))

    def of(self, chosen: IntArray, start: IntArray, stop: IntArray) -> tuple[IntArray, IntArray]:
        """Column and atom of the cut of a chosen predicate (-1: none) in each box."""
        column, at = np.full(len(chosen), NOWHERE), np.zeros(len(chosen), dtype=np.int64)
        for number in np.unique(chosen[chosen >= 0]).tolist():
            rows = np.flatnonzero(chosen == number)
            column[rows], at[rows] = self._cut(number, start[rows], stop[rows])
        return column, at

    def _cut(self, number: int, start: IntArray, stop: IntArray) -> tuple[IntArray, IntArray]:
        columns, changes = self._columns[number], self._changes[number]
        if len(columns) != 1:
            return halved(start[:, columns], stop[:, columns], columns)
        first, last = start[:, columns[0]], stop[:, columns[0]]
        column, at = np.full(len(start), columns[0]), np.full(len(start), changes[0] if len(changes) else 0)
        if len(changes) > 1:  # the one next to the middle
            middle = (first + last) / 2
            at = changes[np.argmin(np.abs(changes[None, :] - middle[:, None]), axis=1)]
        inside = (first < at) & (at < last)
        return np.where(inside, column, NOWHERE), at


def halved(start: IntArray, stop: IntArray, columns: IntArray) -> tuple[IntArray, IntArray]:
    """The middle of the longest of some columns, whose ranges are [boxes, columns]."""
    if not len(columns):
        return np.full(len(start), NOWHERE), np.zeros(len(start), dtype=np.int64)
    lengths = stop - start
    best, rows = np.argmax(lengths, axis=1), np.arange(len(start))
    found = np.where(lengths[rows, best] > 1, columns[best], NOWHERE)
    return found, (start[rows, best] + stop[rows, best]) // 2
