"""What is known of boxes of individuals, and of all boxes of a cover."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.rates.arithmetic import Masses
from fairdsl.backends.rates.frontier import Open
from fairdsl.backends.rates.tree_bounds import NOWHERE, Look

if TYPE_CHECKING:
    from fairdsl.backends.rates.box_tree import BoxTree

BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

#: Shares of probabilities are lowered by it, which covers the rounding of the product.
_LESS = 1.0 - 2.0**-40


@dataclass(slots=True)
class Judged:
    """Boxes with what is known of them; ``yes`` and ``no``: the condition holds everywhere, or nowhere."""

    start: IntArray
    stop: IntArray
    root: IntArray
    mass: Masses
    yes: BoolArray
    no: BoolArray
    look: Look

    def at(self, rows: BoolArray | IntArray) -> Judged:
        """Some of them."""
        look = Look(*(getattr(self.look, each.name)[rows] for each in fields(Look)))
        start, stop, root, mass = self.start[rows], self.stop[rows], self.root[rows], self.mass[rows]
        return Judged(start, stop, root, mass, self.yes[rows], self.no[rows], look)

    @property
    def closed(self) -> BoolArray:
        """Of which nothing is open: nobody meets the condition, or all do and are decided."""
        return np.asarray(self.no | (self.yes & (self.look.certain | self.look.impossible)), dtype=np.bool_)

    @property
    def shares(self) -> tuple[FloatArray, ...]:
        """Which part of the mass certainly is favourable, is not, meets the condition, and does not; [boxes] each."""
        yes, no = self.yes.astype(np.float64), self.no.astype(np.float64)
        less = np.where(self.look.most > 0, np.minimum(1.0 - self.look.most, _LESS), 1.0)
        return self.look.least * yes, np.maximum(no, less), yes, no


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What is known of a cover, and its open boxes: what :class:`Cover` keeps under these names."""

    open: Open
    sums: Masses
    best: Masses
    stuck: Masses
    kept: list[Judged] | None
    boxes: int
    individuals: int
    roundings: int
    #: The tree of boxes, where it is kept; its roots are those that this began with.
    tree: BoxTree | None = None


def part(mass: Masses, share: FloatArray) -> Masses:
    """At least a share of masses, without rounding where it is nothing or everything."""
    every = share[:, None]
    if mass.dtype == object:
        return np.asarray((mass * np.floor(every * 2.0**30).astype(np.int64).astype(object)) >> 30, dtype=object)
    some = mass * every * _LESS
    if mass.dtype == np.int64:
        some = np.floor(some).astype(np.int64)
    return np.where(every == 1.0, mass, np.where(every == 0.0, 0, some))


def decided_one_by_one(certain: BoolArray, impossible: BoolArray) -> Look:
    """What is said of boxes whose individuals were decided."""
    nowhere = np.full(len(certain), NOWHERE)
    least, most = certain.astype(np.float64), (~impossible).astype(np.float64)
    return Look(certain, impossible, nowhere, nowhere, least, most)
