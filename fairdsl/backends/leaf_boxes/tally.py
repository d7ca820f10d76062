"""What was settled of each box, exactly: of itself as it was peeled or counted, and of what lay below it and is closed.

A box whose halves are closed is closed itself, and their numbers are its own from then on. So the boxes that are left
are a tree in which each node says what became of the part of its box that is not below it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.leaf_boxes.kernels.records import COUNTED, FAIR, STUCK, UNFAIR, VACUOUS, Boxes, Integers, Settled
from fairdsl.backends.leaf_boxes.sizes import Sizes
from fairdsl.backends.refining.refinement import State

#: How many kinds there are: numbers of kinds are columns.
KINDS = 1 + max(FAIR, VACUOUS, UNFAIR, STUCK)


class Tally:
    """The sizes of what is settled, [boxes, kinds]."""

    def __init__(self, sizes: Sizes, amounts: NDArray[Any] | None = None) -> None:
        self._sizes = sizes
        self._amounts = self.none(0) if amounts is None else amounts.copy()

    def none(self, boxes: int) -> NDArray[Any]:
        """Of so many boxes nothing."""
        return np.zeros((boxes, KINDS), dtype=self._sizes.kind)

    def upto(self, boxes: int) -> NDArray[Any]:
        """Of the first so many boxes."""
        self._grow(boxes)
        return self._amounts[:boxes].copy()

    @classmethod
    def joined(cls, sizes: Sizes, before: State, lent: Sequence[Integers], states: Sequence[State]) -> Tally:
        """Where every part stands in the place of its roots (:func:`.graft.grafted`)."""
        amounts, more = before["tally"].copy(), []
        for leaves, state in zip(lent, states, strict=True):
            amounts[leaves] += state["tally"][: len(leaves)]
            more.append(state["tally"][2 * len(leaves) :])
        return cls(sizes, np.concatenate([amounts, *more]))

    def enter(self, settled: Settled, boxes: int) -> None:
        """Add what the last call settled; there is room for so many boxes."""
        self._grow(boxes)
        count, factor = int(settled.number[0]), self._sizes.factor
        kind, owner = settled.kind[:count], settled.owner[:count]
        whole = np.flatnonzero(kind != COUNTED)
        np.add.at(self._amounts, (owner[whole], kind[whole]), self._sizes.each(settled.low[whole], settled.high[whole]))
        counted = np.flatnonzero(kind == COUNTED)
        for column, amount in ((FAIR, settled.first), (UNFAIR, settled.second)):
            np.add.at(self._amounts[:, column], owner[counted], amount[counted].astype(self._sizes.kind) * factor)

    def close(self, boxes: Boxes, freed: Integers) -> None:
        """Hand what is known of pairs that were freed to the box that is closed above them."""
        if not len(freed):
            return
        pairs = np.concatenate([freed, freed + 1])
        to = np.arange(len(boxes.mass))
        to[pairs] = np.concatenate([boxes.parent[freed]] * 2)
        while True:  # those above may be freed as well
            further = to[to[pairs]]
            if (further == to[pairs]).all():
                break
            to[pairs] = further
        self._grow(len(boxes.mass))
        np.add.at(self._amounts, to[pairs], self._amounts[pairs])
        self._amounts[pairs] = 0

    def _grow(self, boxes: int) -> None:
        if boxes > len(self._amounts):
            self._amounts = np.concatenate([self._amounts, self.none(boxes - len(self._amounts))])
