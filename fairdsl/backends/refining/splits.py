"""Boxes as a tree: how each was cut, or what became of it.

It is kept where results are files that say it (docs/jobs.md). A box has a number; its halves follow each other. Parts
that were lent out number their own boxes, the roots first, and are put into their places by renumbering them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.refining.refinement import State

__all__ = ["Splits"]

Integers = NDArray[np.int64]

#: What is known of each box: its first half (-1: none), along which axis it was cut and where, what became of it.
_COLUMNS = ("child", "axis", "cut", "fate")


class Splits:
    """The boxes, with room for more."""

    def __init__(self, roots: int) -> None:
        self.count = roots
        self._of = {name: _empty(name, max(roots, 16)) for name in _COLUMNS}

    @classmethod
    def of(cls, state: State) -> Splits:
        """Those of a state."""
        found = cls(len(state["child"]))
        for name, column in found._of.items():
            column[: found.count] = state[name]
        return found

    def state(self) -> dict[str, NDArray[Any]]:
        """Copies of all that is known."""
        return {name: column[: self.count].copy() for name, column in self._of.items()}

    def settle(self, boxes: Integers, fates: Integers) -> None:
        """What became of some boxes."""
        self._of["fate"][boxes] = fates

    def cut(self, boxes: Integers, cuts: Integers) -> Integers:
        """Cut some boxes, each along an axis at a place; the numbers of all first halves, then of all second ones."""
        first = self.count + 2 * np.arange(len(boxes))
        self._grow(self.count + 2 * len(boxes))
        self._of["child"][boxes], self._of["axis"][boxes], self._of["cut"][boxes] = first, cuts[:, 0], cuts[:, 1]
        return np.concatenate([first, first + 1])

    @classmethod
    def joined(cls, before: State, lent: Sequence[Integers], states: Sequence[State]) -> tuple[Splits, list[Integers]]:
        """Every part in the place of its roots, and what the boxes of each are numbered then."""
        found, numbers = cls.of(before), list[Integers]()
        for roots, state in zip(lent, states, strict=True):
            new = len(state["child"]) - len(roots)
            number = np.concatenate([roots, found.count + np.arange(new)])
            found._grow(found.count + new)
            for name, column in found._of.items():
                given = state[name]
                column[number] = np.where(given >= 0, number[given], given) if name == "child" else given
            numbers.append(number)
        return found, numbers

    def _grow(self, count: int) -> None:
        if count > len(self._of["child"]):
            for name, column in self._of.items():
                self._of[name] = np.concatenate([column, _empty(name, max(count, 2 * len(column)) - len(column))])
        self.count = count


def _empty(name: str, count: int) -> NDArray[Any]:
    return np.full(count, -1 if name == "child" else 0, dtype=np.int8 if name == "fate" else np.int64)
