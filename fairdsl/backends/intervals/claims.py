"""Claims of stored nodes: shares of their boxes on a grid, rounded outward, so that each takes two bytes at most.

In boxes of a few units the grid is that of whole units, so counts stay as they are. In others it is that of squares,
which is fine where shares are small; rounding adds less than 0.002 % of a box to what is undecided of it. What a
deployed file may decide otherwise is said on top of what the model may, coarsely. Codes become numbers as the kernels
compute them, in the same order, and what was read is written as the same codes again.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.intervals.kernels.tree import LEAST
from fairdsl.backends.intervals.task import AttributeKind, Task

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

#: Boxes of at most so many units are decided by evaluation.
SMALL = 32
#: Steps of squares: of claims, and of what a deployed file adds to them.
_STEPS, _EXTRA_STEPS = 2**16 - 1, 2**8 - 1


class Grid:
    """The grid of each node's claims, by the ``mass`` of its box as a share of all decided units."""

    def __init__(self, task: Task, mass: Floats) -> None:
        units = np.rint(mass * task.decided)
        #: Boxes whose shares are those of whole units.
        self._whole = (units >= 1) & (units <= SMALL) & ~(task.kinds == AttributeKind.REAL).any()
        self._top = np.where(self._whole, units, _STEPS)
        self._mass, self._deployed = mass, task.float32_error is not None

    def codes(self, violating: Floats, falsified: Floats, violating32: Floats) -> dict[str, Codes]:
        """The codes of what is known of the nodes, by kind of claim."""
        most = self._nearest(violating, self._top, _STEPS)
        most += (self._upper(most) < violating) & (most < self._top)
        least = self._nearest(falsified, self._top, _STEPS)
        least -= self._lower(least) > falsified
        codes = {"violating": most, "falsified": least}
        if self._deployed:
            room = self._room(most)
            extra = self._nearest(np.maximum(violating32 - self._upper(most), 0.0), room, _EXTRA_STEPS)
            codes["violating32"] = extra + ((self._upper(most, extra) < violating32) & (extra < room))
        return codes

    def values(self, codes: Mapping[str, Codes]) -> dict[str, Floats]:
        """What codes say of the nodes, by kind of claim; ValueError where that is more than there is."""
        most, least, extra = codes["violating"], codes["falsified"], codes.get("violating32")
        more = np.zeros_like(most) if extra is None else extra
        if (least < 0).any() or (more < 0).any() or (most > self._top).any() or (more > self._room(most)).any():
            raise ValueError("a node claims more than its box has, or less than nothing")
        if (least > most).any():
            raise ValueError("a node has more units that are surely unfair than may be")
        values = {"violating": self._upper(most), "falsified": self._lower(least)}
        return values if extra is None else values | {"violating32": self._upper(most, extra)}

    def _nearest(self, values: Floats, top: Floats, steps: int) -> Codes:
        share = np.divide(values, self._mass, out=np.zeros_like(values), where=self._mass > 0)
        exact = np.where(self._whole, share * self._top, np.sqrt(share) * steps)
        return np.minimum(np.rint(exact), top).astype(np.int64)

    def _room(self, most: Codes) -> Floats:
        """How much more may be claimed of a deployed file."""
        return np.where(self._whole, self._top - most, _EXTRA_STEPS)

    def _upper(self, codes: Codes, extra: Codes | int = 0) -> Floats:
        squares = np.minimum(np.square(codes / _STEPS) + np.square(np.divide(extra, _EXTRA_STEPS)), 1.0)
        share = np.where(self._whole, (codes + extra) / self._top, squares)
        return np.where(share > 0.0, np.maximum(self._mass * share, LEAST), 0.0)

    def _lower(self, codes: Codes) -> Floats:
        share = np.where(self._whole, codes / self._top, np.square(codes / _STEPS))
        return self._mass * (share * (1.0 - 1e-15)) * (1.0 - 1e-9)
