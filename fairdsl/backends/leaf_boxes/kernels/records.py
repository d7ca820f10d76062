"""What the kernels are given: trees, the tree of boxes, and room to work in."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["FAIR", "OPEN", "STUCK", "UNFAIR", "VACUOUS", "Boxes", "Integers", "Room", "Settled", "Trees"]

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

#: What a box is. *Stuck*: every test is answered, and a decision is open (its threshold is no rational number).
FAIR, VACUOUS, UNFAIR, STUCK, OPEN = 0, 1, 2, 3, 4


class Trees(NamedTuple):
    """Trees without shared nodes, of each assignment of the protected attributes, over the axes of boxes.

    A node tests whether the part of its axis is before ``cut`` (ordered), or in ``cut``, a set of bits. What the way to
    a node leaves of its own axis are the parts from ``first`` up to ``last``, or the set ``first``. Leaves, of axis -1,
    have a ``value``: what they add to the score, as a whole number.
    """

    axis: Integers
    cut: Integers
    #: The number of a node's test: equal tests have one.
    test: Integers
    yes: Integers
    no: Integers
    first: Integers
    last: Integers
    value: Integers
    #: The extreme values of the leaves below a node.
    least: Integers
    most: Integers
    #: The values as floats, in units of the score.
    real: Floats
    #: The roots, [assignments, trees], and those of the condition that says who is there, 1 or 0, [assignments].
    roots: Integers
    conditions: Integers
    #: Whether two people of one assignment may be compared with each other, [assignments].
    inside: BoolArray
    ordered: BoolArray
    #: Sums of the sizes of parts along each axis, exact, [axes, parts + 1].
    sums: Floats
    #: The tests, as axis and cut, [tests, 2].
    tests: Integers
    #: A score is below for sure up to the first, above for sure from the second on.
    limits: Integers
    #: The same in units of the score, outward; then what rounding may add to a mean and to a variance.
    margins: Floats


class Boxes(NamedTuple):
    """The tree of boxes: one that was cut has two children, at ``child`` and ``child + 1``; freed pairs are used again.

    Masses are shares of the whole. ``fair`` bounds from below what is fair of a box, its own bound or the sum of those
    of its children, whichever is more; ``left`` is the share of the box, by the last bound above it, that is open.
    """

    low: Integers
    high: Integers
    parent: Integers
    child: Integers
    axis: Integers
    cut: Integers
    mass: Floats
    fair: Floats
    left: Floats
    heap: Integers
    free: Integers
    #: Sizes of the heap, of ``free``, of the boxes in use; nodes visited for ranges, for moments; boxes looked at.
    counts: Integers


class Settled(NamedTuple):
    """Boxes that were settled by the last call, how, and of an unfair one two assignments that are decided apart."""

    low: Integers
    high: Integers
    kind: Integers
    first: Integers
    second: Integers
    number: Integers


class Room(NamedTuple):
    """Scratch space: the kernels allocate nothing."""

    stack: Integers
    chances: Floats
    inner_stack: Integers
    inner_chances: Floats
    lows: Integers
    highs: Integers
    #: Of the trees that a box leaves open: where they are, their means, and the axes that they test, as bits.
    active: Integers
    means: Floats
    tested: Integers
    #: Of each assignment: whether it is there, ends of its score, of its score minus the first one's; mean, variance.
    present: BoolArray
    ends: Integers
    moments: Floats
    gain: Floats
    effects: Floats
