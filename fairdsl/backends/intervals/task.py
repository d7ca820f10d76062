"""A task: one question about pairs as plain arrays, all that a refinement needs and nothing else.

Self-contained, so that it can be written to a file or sent to another machine. Positions count from 0:
``position`` p of an attribute is its p-th value (for reals: the p-th of equally long cells). The first
layer is split into what each attribute contributes, so that nothing depends on the values themselves::

    z = origin[comparison] + sum over attributes of contribution(attribute, position) + path

*Paths* carry an individual to those it is compared with: the hull of the origin and the ``moves``. A
continuous score that has both signs on a pair is zero somewhere on the path between the two, so a region
of units without such a zero is fair. Docs: docs/semantics.md, section 3.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.model import Curve

__all__ = ["AttributeKind", "Curve", "Task"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class AttributeKind(IntEnum):
    """How an attribute enters the first layer."""

    LATTICE = 0  # one coordinate, the position itself: contribution = position * column
    TABLE = 1  # one coordinate a position (an indicator): contribution = column of the position
    REAL = 2  # one coordinate in cells; position p stands for the whole cell [p, p + 1]


@dataclass(frozen=True, kw_only=True, eq=False)
class Task:
    """A question as arrays; see the module's docstring.

    ``kinds`` and ``sizes`` are [attributes]: the kind and the number of positions of each attribute that
    two compared individuals share. ``first_coordinate`` is [attributes + 1]: where its columns start.

    ``weights[0]`` is [units, coordinates], ``weights[k]`` [units, units below]; the last has a row for each
    pair of outcomes in ``rivals`` ([rows, 2]): row r is score(i) - score(j) (or the score minus its
    threshold), ``margin`` [rows, 2] encloses what must be added to it (0, 0 unless the threshold is only
    known as an enclosure). ``biases`` belong to the layers above the first; the first layer's are in
    ``origin``. ``slopes`` and ``curves`` (numbers of :class:`Curve`) are per hidden layer, [units].
    ``strict``: the granted outcome needs score > 0 (otherwise >= 0).

    A comparison c is a set of assignments of the differing attributes (a connected component of those that
    are compared): ``origin[c]`` [units of the first layer], moves ``move_start[c]:move_start[c + 1]`` of
    ``moves`` [moves, units], each with the ``simplex`` it is a vertex of (the path is the sum of one point of
    each simplex; every simplex has the zero move as a further vertex). ``groups`` [.., units],
    ``group_start``: what each compared assignment itself contributes in the first layer (origin included).
    ``relaxed``: partners may also differ in other attributes, so only the paths, not ``groups``, cover them.

    A root is a box of positions ``low <= position <= high`` ([roots, attributes]) with its ``comparison`` and
    ``component``: roots of one component are disjoint, those of different components may share units.
    ``decided`` units lie in roots, ``vacuous`` ones have nobody to be compared with, ``undetermined`` ones may
    or may not be in the target: their sum is ``total``. Units count positions of all attributes.

    ``corners`` [comparisons]: whether every vertex of the path is an assignment that is compared, so that a unit
    with both signs on the path's vertices is treated unfairly. ``exact``: every number here is the model's own,
    not the nearest float64.

    ``remainders`` is what the float64 numbers leave out where they are not ``exact``, of each array in :attr:`rounded`
    (:mod:`~.remainders`); nothing where that is not known, and then ties stay undecided.

    ``float32_error`` [rows] bounds how far the deployed float32 file's rows are from the exact ones; None
    where no file is deployed.
    """

    kinds: Integers
    sizes: Integers
    first_coordinate: Integers
    weights: tuple[Floats, ...]
    biases: tuple[Floats, ...]
    slopes: tuple[Floats, ...]
    curves: tuple[Integers, ...]
    rivals: Integers
    margin: Floats
    strict: bool
    origin: Floats
    moves: Floats
    move_start: Integers
    simplex: Integers
    groups: Floats
    group_start: Integers
    relaxed: bool
    corners: NDArray[np.bool_]
    exact: bool
    low: Integers
    high: Integers
    comparison: Integers
    component: Integers
    decided: int
    vacuous: int
    undetermined: int
    float32_error: Floats | None
    remainders: tuple[NDArray[np.int32], ...] = ()

    @property
    def rounded(self) -> tuple[Floats, ...]:
        """The arrays that individuals are evaluated by."""
        return (*self.weights, *self.biases, *self.slopes, self.groups)

    @property
    def total(self) -> int:
        """At most so many units are in the target."""
        return self.decided + self.vacuous + self.undetermined
