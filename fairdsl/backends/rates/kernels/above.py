"""Of many boxes the share in which a line of the inputs reaches a threshold, from above.

:mod:`fairdsl.backends.rates.halfspace` says what is computed and why it is an upper bound. All arrays belong to the
caller; atoms of all columns stand one behind the other, those of column c from ``first[c]`` on.
"""

from __future__ import annotations

from math import ceil, inf
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairdsl.numerics.kernels.compiled import exact, part

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

#: Steps of the grid on which contributions are added up.
GRID = 512
_LEAST_STEP = 1e-290
#: More than the rounding of a quotient of at most some thousand steps.
_NEAR = 1e-9


class Layout(NamedTuple):
    """A model's inputs and a distribution's tables, by column."""

    #: Of all atoms: the first of each column; their shares of their cells, and their cells.
    first: Ints
    weights: Floats
    cells: Ints
    #: Inputs of one column: their place, the column, and where the most and the least of each atom stand.
    places: Ints
    columns: Ints
    at: Ints
    most: Floats
    least: Floats
    #: Tables: where their numbers begin, and which of ``members`` and ``strides`` are theirs.
    begins: Ints
    numbers: Floats
    owns: Ints
    members: Ints
    strides: Ints
    #: Of each column the tables that it is in.
    touches: Ints
    tables: Ints


class Lined(NamedTuple):
    """Lines over boxes: what the inputs of several columns add at most, and the sizes of what was added there."""

    coefficients: Floats
    constants: Floats
    thresholds: Floats
    fixed: Floats
    sizes: Floats


class Room(NamedTuple):
    """Where the loops compute: of all atoms their laws and contributions; spreads of columns; three grids."""

    law: Floats
    values: Floats
    spread: Floats
    grid: Floats
    other: Floats
    steps: Floats


@part
def _apart(layout: Layout, start: Ints, stop: Ints, independent: Bools) -> int:
    """Mark the columns that no table joins with another one of several cells; how many there are."""
    count = len(layout.first)
    for column in range(count):
        independent[column] = True
    for table in range(len(layout.begins)):
        wide = 0
        for member in range(layout.owns[table], layout.owns[table + 1]):
            column = layout.members[member]
            first = layout.first[column]
            if layout.cells[first + start[column]] != layout.cells[first + stop[column] - 1]:
                wide += 1
        if wide > 1:
            for member in range(layout.owns[table], layout.owns[table + 1]):
                column = layout.members[member]
                first = layout.first[column]
                if layout.cells[first + start[column]] != layout.cells[first + stop[column] - 1]:
                    independent[column] = False
    found = 0
    for column in range(count):
        found += independent[column]
    return found


@part
def _weigh(layout: Layout, start: Ints, stop: Ints, column: int, law: Floats) -> None:
    """The probabilities of a column's atoms in the box, in which it is independent of the others."""
    first = layout.first[column]
    begin, end = first + start[column], first + stop[column]
    for atom in range(begin, end):
        law[atom] = layout.weights[atom]
    if layout.cells[begin] != layout.cells[end - 1]:  # within one cell the tables say nothing of the atoms
        for touch in range(layout.touches[column], layout.touches[column + 1]):
            table = layout.tables[touch]
            base = layout.begins[table]
            own = 0
            for member in range(layout.owns[table], layout.owns[table + 1]):
                other = layout.members[member]
                if other == column:
                    own = layout.strides[member]
                else:
                    base += layout.strides[member] * layout.cells[layout.first[other] + start[other]]
            for atom in range(begin, end):
                law[atom] *= layout.numbers[base + own * layout.cells[atom]]
    whole = 0.0
    for atom in range(begin, end):
        whole += law[atom]
    for atom in range(begin, end):
        law[atom] = law[atom] / whole if whole > 0.0 else 0.0


@part
def _contribute(layout: Layout, start: Ints, stop: Ints, coefficients: Floats, room: Room) -> float:
    """The most that each atom may contribute to the line; the sizes of what was added."""
    for column in range(len(layout.first)):
        for atom in range(layout.first[column] + start[column], layout.first[column] + stop[column]):
            room.values[atom] = 0.0
    size = 0.0
    for entry in range(len(layout.places)):
        factor = coefficients[layout.places[entry]]
        if factor != 0.0:
            column = layout.columns[entry]
            first, at = layout.first[column], layout.at[entry]
            largest = 0.0
            for atom in range(start[column], stop[column]):
                side = layout.most[at + atom] if factor > 0.0 else layout.least[at + atom]
                room.values[first + atom] += factor * side
                largest = max(largest, abs(side))
            size += abs(factor) * largest
    return size


@part
def _add(room: Room, begin: int, end: int, step: float, length: int) -> int:
    """Add a column's contributions to the grid, rounded up; the length of the grid then."""
    longest = 0
    for atom in range(begin, end):
        if room.values[atom] > 0.0:
            longest = max(longest, ceil(room.values[atom] / step + _NEAR))
    for place in range(longest + 1):
        room.steps[place] = 0.0
    for atom in range(begin, end):
        place = ceil(room.values[atom] / step + _NEAR) if room.values[atom] > 0.0 else 0
        room.steps[place] += room.law[atom]
    for place in range(length + longest):
        room.other[place] = 0.0
    for shift in range(longest + 1):
        mass = room.steps[shift]
        if mass > 0.0:
            for place in range(length):
                room.other[place + shift] += mass * room.grid[place]
    for place in range(length + longest):
        room.grid[place] = room.other[place]
    return length + longest


@part
def _spread(layout: Layout, start: Ints, stop: Ints, independent: Bools, room: Room) -> tuple[float, float, int]:
    """Take off each column's least contribution, of columns that are not independent the most.

    What was taken off, what is left at most, and the column of which most is left.
    """
    off, left, widest = 0.0, 0.0, -1
    for column in range(len(layout.first)):
        begin, end = layout.first[column] + start[column], layout.first[column] + stop[column]
        low, high = inf, -inf
        for atom in range(begin, end):
            low, high = min(low, room.values[atom]), max(high, room.values[atom])
        room.spread[column] = 0.0
        if not independent[column]:
            off += high
            continue
        off += low
        for atom in range(begin, end):
            room.values[atom] -= low
        room.spread[column] = high - low
        left += high - low
        if high > low and (widest < 0 or high - low > room.spread[widest]):
            widest = column
    return off, left, widest


@part
def _others(layout: Layout, start: Ints, stop: Ints, step: float, room: Room) -> tuple[int, int]:
    """Add up columns with a spread on the grid, the narrowest first; the grid's length, and how often was rounded."""
    room.grid[0] = 1.0
    length, rounds = 1, 0
    while True:
        least = -1
        for column in range(len(layout.first)):
            if room.spread[column] > 0.0 and (least < 0 or room.spread[column] < room.spread[least]):
                least = column
        if least < 0:
            return length, rounds
        room.spread[least] = 0.0
        begin, end = layout.first[least] + start[least], layout.first[least] + stop[least]
        before = length
        length = _add(room, begin, end, step, length)
        rounds += 2 * (2 * (end - begin) + length - before + len(layout.begins) + 8)


@part
def _reached(room: Room, begin: int, end: int, needed: float, step: float, length: int) -> float:
    """Pr[contribution of the atoms + grid >= needed]."""
    for place in range(length - 1, 0, -1):  # from now on what lies from a place on
        room.grid[place - 1] += room.grid[place]
    share, inverse = 0.0, 1.0 / step
    for atom in range(begin, end):
        steps = (needed - room.values[atom]) * inverse * (1.0 - 1e-12) - _NEAR
        if steps <= 0.0:
            share += room.law[atom] * room.grid[0]
        elif steps <= length - 1:
            share += room.law[atom] * room.grid[ceil(steps)]
    return share


@part
def _share(
    layout: Layout, start: Ints, stop: Ints, independent: Bools, needed: float, size: float, terms: int, room: Room
) -> float:
    """Pr[contributions >= needed] at most, those of columns that are not independent being the most they can be."""
    off, left, widest = _spread(layout, start, stop, independent, room)
    # An addition for each input and some for each column, a product each; doubled against its own rounding.
    rounds = 2 * (terms + 4 * len(layout.first) + 16)
    needed -= off
    needed -= rounds * 2.0**-52 * size + 1e-300
    if not needed > 0.0:
        return 1.0
    if widest < 0 or needed > left * (1.0 + 1e-9):
        return 0.0  # contributions are at most what is left, up to the rounding counted above
    room.spread[widest] = 0.0
    others = 0.0
    for column in range(len(layout.first)):
        others += room.spread[column]
    step = others / GRID if others > 0.0 else 1.0
    if not _LEAST_STEP < step < inf:
        return 1.0  # quotients by it could overflow, or be none of what they stand for
    length, more = _others(layout, start, stop, step, room)
    begin, end = layout.first[widest] + start[widest], layout.first[widest] + stop[widest]
    rounds += more + 2 * (2 * (end - begin) + length + len(layout.begins) + 8)
    share = _reached(room, begin, end, needed, step, length)
    least: float = min(1.0, share * (1.0 + rounds * 2.0**-51) + 1e-250)
    return least


@exact
def shares_above(
    layout: Layout, starts: Ints, stops: Ints, lined: Lined, asked: Bools, room: Room, shares: Floats, alone: Bools
) -> None:
    """Fill ``shares`` [boxes, lines] of the boxes that are asked for, and ``alone`` [boxes, columns] of all."""
    boxes, lines = shares.shape
    for box in range(boxes):
        start, stop = starts[box], stops[box]
        independent = alone[box]
        found = _apart(layout, start, stop, independent)
        if 2 * found <= len(layout.first):  # half-spaces would say next to nothing
            for column in range(len(layout.first)):
                independent[column] = False
            continue
        if not asked[box]:
            continue
        for column in range(len(layout.first)):
            if independent[column]:
                _weigh(layout, start, stop, column, room.law)
        for line in range(lines):
            constant = lined.constants[box, line]
            size = lined.sizes[box, line] + abs(constant) + abs(lined.thresholds[line])
            size += _contribute(layout, start, stop, lined.coefficients[box, line], room)
            if size < inf:  # false where it is not a number
                needed = lined.thresholds[line] - constant - lined.fixed[box, line]
                terms = lined.coefficients.shape[2]
                shares[box, line] = _share(layout, start, stop, independent, needed, size, terms, room)
