"""Pairs from boxes of unfair units: as many distinct ones as are wanted, each of them replayed before it is shown."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import islice, product

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.leaf_boxes.descent import UnfairBoxes
from fairdsl.backends.leaf_boxes.lowering import Lowered
from fairdsl.ir.domain import Point
from fairdsl.ir.question import Differ
from fairdsl.replay import spread, witness
from fairdsl.verdict import Witness

Integers = NDArray[np.int64]

#: Values of one attribute that pairs of the same box differ in at most; pairs that are spread, and replayed.
_VALUES, _SPREAD, _REPLAYS = 64, 500, 100
#: Values of unbounded attributes may be larger than any float.
_FAR = Fraction(10) ** 150


@dataclass(slots=True)
class Shown:
    """Violations in both arithmetics, and those that only one of the two shows."""

    witnesses: list[Witness] = field(default_factory=list)
    gaps: list[Witness] = field(default_factory=list)


def look_for(lowered: Lowered, axes: tuple[int, ...], boxes: UnfairBoxes, most: int) -> Shown:
    """Up to ``most`` witnesses, far apart from each other."""
    shown = Shown()
    # Of individuals both may be units, and be the pair of the other one's.
    found = list({frozenset(pair): pair for pair in islice(pairs(lowered, axes, boxes), _SPREAD)}.values())
    points = np.array([[_roughly(value) for value in a] for a, _ in found], dtype=np.float64)
    for index in spread(points.reshape(len(found), -1), lowered.problem.domain, _REPLAYS):
        replayed = witness(lowered.problem, *found[index])
        if replayed is not None:
            (shown.witnesses if replayed.replay.agrees else shown.gaps).append(replayed)
        if len(shown.witnesses) >= most:
            break
    del shown.gaps[most:]
    return shown


def _roughly(value: Fraction) -> float:
    """Where a value lies, for being far apart: one that is beyond floats lies at their end."""
    return float(max(-_FAR, min(_FAR, value)))


def pairs(lowered: Lowered, axes: tuple[int, ...], boxes: UnfairBoxes) -> Iterator[tuple[Point, Point]]:
    """Two people of each unfair unit that a box lists: one unit of every box, then a second one, and so on."""
    waiting = [_of_box(lowered, axes, boxes, index) for index in range(len(boxes.first))]
    while waiting:
        left = []
        for one in waiting:
            pair = next(one, None)
            if pair is not None:
                yield pair
                left.append(one)
        waiting = left


def _of_box(lowered: Lowered, axes: tuple[int, ...], boxes: UnfairBoxes, index: int) -> Iterator[tuple[Point, Point]]:
    pair, cuts = lowered.pair, lowered.cuts
    first, second = (lowered.assignments[int(chosen[index])] for chosen in (boxes.first, boxes.second))
    of_a, of_b = {}, {}
    inside = first == second
    for attribute, one, other in zip(pair.differ, first, second, strict=True):
        part = cuts[attribute].parts[other]
        of_a[attribute] = cuts[attribute].parts[one].speaker
        # Two people who are in the same parts differ inside one of them, under `all` inside each.
        apart = one == other and (pair.mode is Differ.EACH or (inside and part.several))
        of_b[attribute] = list(part.some(1 + apart))[-1]
        inside = inside and not apart
    shared = [attribute for attribute in range(len(cuts)) if attribute not in pair.differ]
    axis_of = {attribute: axis for axis, attribute in enumerate(axes)}
    moving = {entry.attribute: entry.by for entry in pair.relax}
    own, near = (boxes.low[index], boxes.high[index]), (boxes.near_low[index], boxes.near_high[index])
    # The first unit of a box is often the only one that is asked for, so the others are listed when it was taken.
    for most in (1, _VALUES):
        listed = [list(islice(_values(lowered, i, axis_of.get(i), own), most)) for i in shared]
        for chosen in islice(product(*listed), int(most > 1), None):
            values = dict(zip(shared, chosen, strict=True))
            others = {i: _near(lowered, i, axis_of.get(i), near, values[i], by) for i, by in moving.items()}
            both = _point(values | of_a), _point(values | others | of_b)
            yield both[::-1] if boxes.swapped[index] else both


def _near(
    lowered: Lowered,
    attribute: int,
    axis: int | None,
    box: tuple[Integers, Integers],
    value: Fraction,
    by: Fraction | None,
) -> Fraction:
    """A value of a partner within the distance, the value itself where it is in the box."""
    if axis is None or by is None:
        return value if axis is None else next(_values(lowered, attribute, axis, box))
    for number in _parts_of(lowered, attribute, axis, box):
        part = lowered.cuts[attribute].parts[number]
        low, high = (value - by if part.low[0] < value - by else part.low[0]), min(part.high[0], value + by)
        if part.values is None:
            for found in (part.speaker, Fraction(low), Fraction(high), (Fraction(low) + Fraction(high)) / 2):
                if abs(found - value) <= by and part.low <= (found, 0) and (found, 1) <= part.high:
                    return found
        else:
            place = bisect_left(part.values, value - by)
            if place < len(part.values) and part.values[place] <= value + by:
                return Fraction(part.values[place])
    return value


def _values(lowered: Lowered, attribute: int, axis: int | None, box: tuple[Integers, Integers]) -> Iterator[Fraction]:
    """Values of a shared attribute in a box, the middle one of them first."""
    chosen = _parts_of(lowered, attribute, axis, box)
    middle = len(chosen) // 2
    for part in chosen[middle:] + chosen[:middle]:
        yield from lowered.cuts[attribute].parts[part].some(_VALUES)


def _parts_of(lowered: Lowered, attribute: int, axis: int | None, box: tuple[Integers, Integers]) -> list[int]:
    """The parts of an attribute that a box holds."""
    cut = lowered.cuts[attribute]
    chosen = list(range(len(cut.parts)))
    if axis is None:
        return chosen
    low, high = int(box[0][axis]), int(box[1][axis])
    return chosen[low:high] if cut.ordered else [part for part in chosen if low >> part & 1]


def _point(values: dict[int, Fraction]) -> Point:
    return tuple(values[attribute] for attribute in range(len(values)))
