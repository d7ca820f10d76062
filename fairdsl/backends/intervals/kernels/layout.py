"""The arrays that every kernel works on: the network, a node, and scratch space."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.intervals.task import AttributeKind
from fairdsl.numerics.kernels.records import by_reference

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
#: The same with two dimensions.
FloatRows = Annotated[Floats, 2]
IntegerRows = Annotated[Integers, 2]

LATTICE, TABLE, REAL = int(AttributeKind.LATTICE), int(AttributeKind.TABLE), int(AttributeKind.REAL)

#: Phases of a unit in a node: not fixed, fixed by bounds, fixed by a split (which is a half-space of inputs).
OPEN, ON, OFF, ON_BY_SPLIT, OFF_BY_SPLIT = 0, 1, 2, 3, 4


class Layers(NamedTuple):
    """The network above its inputs, flat. Layers count from 1; ``widths[0]`` is the number of shared coordinates.

    ``unit[k - 1]`` is the first unit of layer k in the flat arrays of units, ``at[k - 1]`` its first weight.
    ``error`` [layers + 1] bounds the rounding error of every affine form of a layer over the whole domain,
    ``steep`` [coordinates] that of every slope of a row in a coordinate (moves behind shared coordinates).
    ``error32`` is negative where no float32 file is deployed.
    """

    widths: Integers
    weight: Floats
    at: Integers
    bias: Floats
    unit: Integers
    slope: Floats
    curve: Integers
    rivals: IntegerRows
    margin: FloatRows
    error: Floats
    steep: Floats
    error32: Floats


class Paths(NamedTuple):
    """Comparisons: where paths start, the moves they are made of, and the assignments that are compared.

    ``corners``: whether all vertices of a path are compared assignments.
    """

    origin: FloatRows
    moves: FloatRows
    move_start: Integers
    simplex: Integers
    groups: FloatRows
    group_start: Integers
    corners: NDArray[np.bool_]


class Shape(NamedTuple):
    """The shared attributes: kind, number of positions, first coordinate."""

    kinds: Integers
    sizes: Integers
    first: Integers


class Net(NamedTuple):
    """A task for the kernels.

    ``plain``: every coordinate is an interval (no tables, only segments). ``forward_error`` bounds the error of
    evaluating a row in float64; 0 where no operation rounds.
    """

    layers: Layers
    paths: Paths
    shape: Shape
    forward_error: float
    strict: bool
    plain: bool
    relaxed: bool


class Box(NamedTuple):
    """Ranges of a node's coordinates, path coordinates behind the shared ones.

    ``group``: -1 for a coordinate that is an interval; otherwise one number for all coordinates of which
    exactly one is 1: even for the positions of a table (``high`` is 1 where allowed), odd for the moves of a
    simplex (which may also all be 0).
    """

    low: Floats
    high: Floats
    group: Integers


class Units(NamedTuple):
    """Phase and pre-activation bounds of every hidden unit, and the relaxation gap it adds to the rows.

    Open units lie between the lines ``below_slope * z + below_offset`` and ``above_slope * z + above_offset``.
    Where relaxations add up (ranges.py), a unit's value lies within ``radius`` of ``middle``. ``pull`` is what the row
    that was bounded last multiplies its value with. From the frontier on ``live`` lists each layer's units that are
    not surely 0, open ones first (from its first unit's place on), ``lives`` how many there are of layer k (at k).
    """

    phase: NDArray[np.int8]
    live: Integers
    lives: Integers
    below: Floats
    above: Floats
    gap: Floats
    below_slope: Floats
    below_offset: Floats
    above_slope: Floats
    above_offset: Floats
    middle: Floats
    radius: Floats
    pull: Floats


class Forms(NamedTuple):
    """Exact affine forms of two layers at a time; ``reach``: 1 where paths can enter, otherwise 0."""

    form: Annotated[Floats, 3]  # [2, widest, coordinates]
    offset: FloatRows  # [2, widest]
    reach: FloatRows  # [2, widest]


class Halves(NamedTuple):
    """The half-spaces in force: ``form[j] @ x + offset[j] >= 0``, by the sign of which unit."""

    form: FloatRows
    offset: Floats
    unit: Integers


class Scratch(NamedTuple):
    """Vectors that kernels overwrite, named after what they hold; ``trial`` is a form on trial, least at ``point``.

    ``start`` [units of the first layer]: what is the same all over the box. ``along`` [units, coordinates]: how much an
    open unit's affine bounds vary along each coordinate. ``left`` [4, rows]: sums of shares, see groups.py.
    """

    trial: Floats
    point: Floats
    start: Floats
    back: FloatRows  # [layers + 1, widest] coefficients on their way down
    influence: FloatRows  # [2, widest]
    hidden: FloatRows  # [2, widest]
    beaten: NDArray[np.int8]
    position: NDArray[np.int32]
    along: FloatRows
    left: FloatRows


class Row(NamedTuple):
    """A row's affine bounds, their mean, and intervals of its gradient (with space for the next layer)."""

    lower: Floats
    upper: Floats
    mean: Floats
    slope_low: Floats
    slope_high: Floats
    next_low: Floats
    next_high: Floats


class Law(NamedTuple):
    """The law of a weighted sum while it is built; ``span_low/high``: each attribute's contribution."""

    mass: FloatRows  # [2, cells]
    shift: Integers
    weight: Floats
    order: Integers
    span_low: Floats
    span_high: Floats


class Regions(NamedTuple):
    """The regions that a box is cut into by the signs of units while it is analysed, as a tree.

    ``share`` and ``share32`` are at most the shares of the box with a zero in the region, by its own bounds
    (``total``: or by its parts' together). ``half`` is the unit whose half-space bounds that share (-1: none does),
    ``split`` the unit to cut by next (-1: none), ``cut`` the one that it is cut by, and ``first`` the first part (-1:
    it is not cut), behind which the other one stands.
    """

    phase: Annotated[NDArray[np.int8], 2]
    parent: Integers
    share: Floats
    share32: Floats
    total: Floats
    half: Integers
    split: Integers
    cut: Integers
    first: Integers


class Work(NamedTuple):
    """Everything a node is analysed with. ``result``: see node.py."""

    box: Box
    units: Units
    forms: Forms
    halves: Halves
    scratch: Scratch
    row: Row
    law: Law
    regions: Regions
    result: Floats


by_reference(Layers, Paths, Shape, Net, Box, Units, Forms, Halves, Scratch, Row, Law, Regions, Work)
