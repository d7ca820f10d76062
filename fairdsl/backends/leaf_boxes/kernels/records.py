"""What the kernels are given: trees, the tree of boxes, and room to work in."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairdsl.numerics.kernels.records import by_reference

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
Bits = NDArray[np.uint64]
Places = NDArray[np.int32]

#: What a box is. *Stuck*: every test is answered, and a decision is open (its threshold is not a rational number).
#: *Peeled*: nothing is left of it. *Counted*: part by part, without a box for each.
FAIR, VACUOUS, UNFAIR, STUCK, OPEN, PEELED, COUNTED = 0, 1, 2, 3, 4, 5, 6


class Trees(NamedTuple):
    """Trees without shared nodes, of each assignment of the protected attributes, over the axes of boxes.

    A node tests whether the part of its axis is before ``cut`` (ordered), or in ``cut``, a set of bits. Leaves, of axis
    -1, have a ``value``: what they add to the score, as a whole number.
    """

    axis: Integers
    cut: Integers
    yes: Integers
    no: Integers
    value: Integers
    #: The roots, [assignments, trees], and those of the condition that says who is there, 1 or 0, [assignments].
    roots: Annotated[Integers, 2]
    conditions: Integers
    #: Whether two people of one assignment may be compared with each other, [assignments].
    inside: BoolArray
    ordered: BoolArray
    #: Sums of the sizes of parts along each axis, [axes, parts + 1], and whether all are exact: else no means are taken
    #: of a box, and none is counted.
    sums: Annotated[Floats, 2]
    precise: bool
    #: A score is below for sure up to the first, above for sure from the second on.
    limits: Integers


class Leaves(NamedTuple):
    """The leaves of all trees as sets of bits, 64 a *word*, those of a tree in ascending order of their values.

    Which leaves of a tree a box reaches is then the intersection of a set for each end of the box, and the extreme ones
    are its lowest and its highest bit. A tree here may be several trees of the model, and a leaf one of each that meet.
    Each leaf stands once, with the assignments of the protected attributes that may come to it.
    """

    #: The words of each tree, [trees + 1]; trees in which assignments part stand behind those in which all are alike.
    starts: Integers
    #: Trees in which all assignments are alike.
    alike: int
    #: Of each leaf, [words * 64]: its value, and the ends of its box, [words * 64, axes].
    value: Integers
    low: Annotated[Integers, 2]
    high: Annotated[Integers, 2]
    #: The leaves that each assignment may come to, [assignments, words of the trees in which they part].
    whose: Annotated[Bits, 2]
    #: All leaves, [words].
    everywhere: Bits
    #: Sets of leaves, [rows, words]. Of an ordered axis first those that begin before each part or at it, then those
    #: that end behind each; of another one those that hold each part.
    meet: Annotated[Bits, 2]
    #: The first row of each axis, [axes + 1].
    rows: Integers
    #: The same sets word by word, [words, rows].
    across: Annotated[Bits, 2]
    #: The axes of which each leaf has not all parts, and the ordered ones of which some leaf of each tree has not, as
    #: bits.
    bounded: Integers
    tested: Integers
    #: Of each tree, [trees, rows], in the first row of each part of an ordered axis: the next one at which one of its
    #: leaves begins or ends.
    behind: Annotated[Places, 2]


class Duels(NamedTuple):
    """What the leaves add to each of several numbers, whose signs decide between the outcomes (:mod:`..duels`)."""

    ordered: BoolArray
    #: Of each leaf, [words * 64, numbers]: what it adds at least, and at most (they differ where it was rounded).
    low: Annotated[Integers, 2]
    high: Annotated[Integers, 2]
    #: Sums of the sizes of parts along each axis, [axes, parts + 1].
    sums: Annotated[Floats, 2]


class Boxes(NamedTuple):
    """The tree of boxes: one that was cut has two children, at ``child`` and ``child + 1``; freed pairs are used again.

    Masses are shares of the whole. ``fair`` bounds from below what is fair of a box, with what was ``peeled`` off at
    its ends, which is not a part of it any more; ``left`` is the share of the box that is open by the last bound above
    it that is more than what is shown below that. A box has a bound of its own where ``fair`` is more than what was
    peeled off. ``below`` is what the boxes below such a one show, and it counts where it is more; ``above`` is the
    nearest such box above another, or -1.
    """

    low: Annotated[Integers, 2]
    high: Annotated[Integers, 2]
    parent: Integers
    child: Integers
    axis: Integers
    cut: Integers
    mass: Floats
    fair: Floats
    peeled: Floats
    left: Floats
    below: Floats
    above: Integers
    #: What of everything is fair at least, and how many sums that took.
    known: Floats
    #: The boxes that are open, as a heap, and the open mass of each entry.
    heap: Integers
    keys: Floats
    free: Integers
    #: Sizes of the heap, of ``free``, of the boxes in use; boxes looked at; nodes visited for ranges, 0 (of which files
    #: count another kind), and as much as visiting so many nodes takes for effects of pairs. Then how many boxes, from
    #: the first, nobody has looked at yet, and how many entries of ``free`` were free before the last call and still
    #: are.
    counts: Integers
    #: Running means: the share of a box that effects of pairs leave open, and what is counted for them; by how much
    #: less is open once a box is cut, and what is counted for a look without effects. Then the open mass of the heap,
    #: and how many leaves may be left in a box that is counted.
    pace: Floats


class Found(NamedTuple):
    """What is known of each box where all cuts are kept, and how many leaves the sums have there that bound it.

    ``shown`` are the shares of everything that ranges show to be decided alike, and apart.
    """

    known: Integers
    leaves: Integers
    shown: Floats


class Settled(NamedTuple):
    """Boxes that were settled by the last call, how, and of an unfair one two assignments that are decided apart.

    ``owner`` is the box of which they are parts, or which they are. Of one that was counted (but for an unfair part of
    it, which is the entry before) ``first`` and ``second`` are the sizes of what is fair and unfair.
    """

    low: Annotated[Integers, 2]
    high: Annotated[Integers, 2]
    kind: Integers
    first: Integers
    second: Integers
    owner: Integers
    number: Integers


class Parts(NamedTuple):
    """Parts of a box that wait to be counted (:mod:`.counting`), one a level; the last level has no part."""

    #: Their ends [levels, axes]; sizes, in whole numbers.
    low: Annotated[Integers, 2]
    high: Annotated[Integers, 2]
    size: Integers
    #: The trees that are open in each [levels, trees], how many, and one after the other the leaves that are reached
    #: of them [levels, words].
    trees: Annotated[Integers, 2]
    number: Integers
    reached: Annotated[Bits, 2]
    #: What all other trees add to the ends of the scores, [levels, assignments, 4].
    base: Annotated[Integers, 3]
    #: Of the tree with the widest range: how wide, and the leaves at its ends.
    widest: Integers


class Room(NamedTuple):
    """Scratch space for ranges: the kernels allocate nothing."""

    #: Of each assignment: whether it is there, ends of its score, of its score minus the first one's.
    present: BoolArray
    ends: Annotated[Integers, 2]
    before: Annotated[Integers, 2]
    #: What ranges gain by a cut before each part, [axes, parts + 1]; of axes that are not ordered in all, at 0, and the
    #: set that gains most, and how much.
    gain: Annotated[Floats, 2]
    sets: Integers
    widest: Integers
    #: The leaves that a box reaches, and scratch space of the same kind, [words].
    reached: Bits
    union: Bits
    #: The ends of a box while it is looked at, and of the scores in each part of each axis [assignments + 1, axes,
    #: parts + 1]; the last row is of trees in which all are alike.
    low: Integers
    high: Integers
    lows_along: Annotated[Integers, 3]
    highs_along: Annotated[Integers, 3]
    #: Two assignments that are decided apart; ends of scores behind each part of an axis, [parts + 1, 4].
    pair: Integers
    behind: Annotated[Integers, 2]


class Effects(NamedTuple):
    """Scratch space for effects of one axis and of pairs (:mod:`.pairwise`).

    Places are parts of an axis, or several beside each other that no leaf in the box tells apart.
    """

    #: The ends of a box; the leaves that it reaches, and scratch space of the same kind, [words].
    low: Integers
    high: Integers
    reached: Bits
    union: Bits
    #: Mean and variance of each sum.
    moments: Annotated[Floats, 2]
    #: Of each axis how many places a box has, where they begin and end [axes, parts + 1], counted from where the box
    #: begins, and the number of the place in which each part is (the one behind the box too).
    width: Integers
    edge: Annotated[Integers, 2]
    numbers: Annotated[Integers, 2]
    #: Of a tree: the axes that part it, into how many segments, where these begin [axes, parts + 1], and their sizes.
    axes: Integers
    segments: Integers
    ends: Annotated[Integers, 2]
    size: Annotated[Floats, 2]
    #: Of each of its leaves: the first and the last segment [leaves, axes], the inverse of its share
    #: of each axis, chance, value and their product.
    first: Annotated[Integers, 2]
    last: Annotated[Integers, 2]
    inverse: Annotated[Floats, 2]
    chance: Floats
    value: Floats
    amount: Floats
    #: Its effects in the segments of an axis [axes, parts], and changes of those of two [parts + 1, parts + 1]; sums of
    #: such along one of them.
    effect: Annotated[Floats, 2]
    both: Annotated[Floats, 2]
    column: Floats
    #: Of all trees, the last row for those in which assignments do not part: main effects [assignments + 1, axes,
    #: parts], effects of pairs [assignments + 1, parts of one axis times parts of another], which begin at ``begins``.
    main: Annotated[Floats, 3]
    table: Annotated[Floats, 2]
    begins: Annotated[Integers, 2]
    #: Sums of means and widths of ranges [assignments + 1, 2], and of least values.
    sums: Annotated[Floats, 2]
    least: Integers
    #: The axes that trees with a rest test, as bits, and its deviation [assignments + 1, trees]; how many these are.
    tested: Annotated[Integers, 2]
    deviation: Annotated[Floats, 2]
    rests: Integers
    #: Of each assignment: variances of main effects and effects of pairs [assignments, axes, axes], of the rest.
    varies: Annotated[Floats, 3]
    rest: Floats
    #: The size of each part of each axis of a box; g of :func:`.pairwise.pairwise`.
    part: Annotated[Floats, 2]
    rounding: Floats
    #: Of cells (:mod:`.cells`): the axes that are chosen, as a flag each and one a level, and the place along each; on
    #: each level the size, means and (of cells) variances [levels + 1, assignments * 2], and main effects [levels + 1,
    #: assignments, axes, parts]; of each assignment the variance of effects of pairs of other axes, and rounding.
    chosen: Integers
    levels: Integers
    place: Integers
    sizes: Floats
    middle: Annotated[Floats, 2]
    held: Annotated[Floats, 4]
    between: Floats
    more: Floats
    #: For each choice of a least distance and each score [choices, 2, scores + 1], of cells that are taken to be above,
    #: or below: what is not; behind these the size of such cells. Then the size of all others, [choices].
    spread: Annotated[Floats, 3]
    others: Floats
    #: How many numbers were added to others, about.
    steps: Integers
    #: Of each cut of an axis what is foreseen to be not above, and not below, on either side [parts, 4].
    gained: Annotated[Floats, 2]


class Scores(NamedTuple):
    """The sums whose means and variances bound what is fair: of each assignment, or the least of all and the greatest.

    All who are compared are above the limits where those sums are that count ``above`` [sums], and so ``below``.
    """

    trees: Trees
    leaves: Leaves
    work: Effects
    above: BoolArray
    below: BoolArray
    #: Whether they are those of assignments, so that only those count who are there.
    own: bool


by_reference(Trees, Leaves, Duels, Boxes, Found, Settled, Parts, Room, Effects, Scores)
