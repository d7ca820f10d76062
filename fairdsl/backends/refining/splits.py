"""Boxes as a tree: how each was cut, or what became of it; and refinements that lend boxes out, with trees or without.

It is kept where results are files that say it (docs/jobs.md). A box has a number; its halves follow each other. Parts
that were lent out number their own boxes, the roots first, and are put into their places by renumbering them.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.refining.refinement import State, Stepwise

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


class Lending(Stepwise):
    """A refinement whose boxes go to parts in turn; where it notes how they are cut, each has a ``number`` there."""

    def __init__(self, task: Any, splits: Splits | None, *, memory: int) -> None:
        super().__init__()
        self.task, self._splits = task, splits
        #: What there was when boxes were lent out, and which each part took.
        self._lent: tuple[State, list[Integers]] | None = None

    @abstractmethod
    def _dealt(self, parts: int) -> Sequence[State]:
        """States that share out the boxes that wait, the heaviest first, and know of nothing else."""

    @abstractmethod
    def _known(self) -> State:
        """What else a state knows."""

    @abstractmethod
    def _take(self, states: Sequence[State], waiting: Sequence[State]) -> None:
        """What disjoint parts came to, together; the boxes that wait are those of ``waiting``."""

    @classmethod
    def resume(cls, task: Any, state: State, *, memory: int = 2 << 30) -> Self:
        """Go on from what :meth:`state`, or :meth:`fork`, returned."""
        found = cls(task, Splits.of(state) if "child" in state else None, memory=memory)
        found._take([state], [state])
        return found

    def state(self) -> State:
        """Everything needed to go on."""
        noted = {} if self._splits is None else self._splits.state()
        return {**self._dealt(1)[0], **self._known(), **noted}

    def fork(self, parts: int) -> Sequence[State]:
        """States of so many refinements that share out the boxes."""
        states = self._dealt(parts)
        self._lent = self.state(), [state["number"] for state in states]
        counts = [len(state["number"]) for state in states]
        noted = [{} if self._splits is None else Splits(count).state() for count in counts]
        return [{**s, "number": np.arange(n), **more} for s, n, more in zip(states, counts, noted, strict=True)]

    def join(self, states: Sequence[State]) -> None:
        """Take over what forked refinements found; may be called again with later states of the same parts."""
        if self._lent is None:
            raise ValueError("nothing is lent out")
        before, lent = self._lent
        waiting = states
        if self._splits is not None:
            self._splits, numbers = Splits.joined(before, lent, states)
            waiting = [{**s, "number": number[s["number"]]} for s, number in zip(states, numbers, strict=True)]
        self._take([before, *states], waiting)


def _empty(name: str, count: int) -> NDArray[Any]:
    return np.full(count, -1 if name == "child" else 0, dtype=np.int8 if name == "fate" else np.int64)
