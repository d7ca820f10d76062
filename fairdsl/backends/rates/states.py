"""States of a program when its columns become known one after the other.

A state is what the columns so far have added to each sum, and what is left of each diagram; what leads to the same
future is one state. A sum that is certain is lifted to one number, a state whose sums are all certain is *the* accepted
state, and one that cannot reach what it needs is dropped. For a weighted sum this is the dynamic program of subset
sums, for a tree or list a decision diagram, for a vote both at once. No mass is looked at, so the states are counted,
and an order of the columns chosen, before anything is computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.rates.program import Program
from fairdsl.clock import look

__all__ = ["Counting", "Course", "Step"]

IntArray = NDArray[np.int64]

#: What a transition takes for every sum and diagram, and a node for every class, in products of two masses.
_TRANSITION, _NODE = 8, 32
#: Rows of new states that are made at once.
_BATCH = 1 << 17
_FITS = 1 << 62


@dataclass(frozen=True, eq=False)
class Step:
    """A column becomes known: the states after it, by the states before and the column's class."""

    column: int
    #: The state that follows, -1 where the event is impossible, [states, classes]; None where nothing changes.
    follows: IntArray | None
    #: How many states there are after it.
    states: int


@dataclass(frozen=True, eq=False)
class Course:
    """The steps of a program in an order of its columns."""

    steps: tuple[Step, ...]
    #: Whether the event is certain in the last states, and whether it is possible; [states].
    sure: NDArray[np.bool_]
    maybe: NDArray[np.bool_]
    #: How many products of masses it takes.
    products: float

    @property
    def most(self) -> int:
        """The greatest number of states."""
        return max((step.states for step in self.steps), default=1)


@dataclass(eq=False)
class _States:
    """What the columns so far added, [states, sums], and what is left of the diagrams, [states, diagrams]."""

    sums: IntArray
    left: IntArray

    def __len__(self) -> int:
        return len(self.sums)

    @property
    def width(self) -> int:
        """How many sums and diagrams a state has."""
        return int(self.sums.shape[1] + self.left.shape[1])

    def at(self, rows: NDArray[np.int64] | NDArray[np.bool_]) -> _States:
        """Some of them."""
        return _States(self.sums[rows], self.left[rows])


class Counting:
    """The states along an order of the columns, counted as far as they may be; then it can go on.

    ``cells`` says for how many cells each state has a mass when a column becomes known, [columns].
    """

    def __init__(self, program: Program, order: Sequence[int], cells: Sequence[int]) -> None:
        self._program, self._order, self._cells = program, order, cells
        self._walk = _Walk(program, order)
        nothing = _States(np.zeros((1, len(program.sure)), np.int64), np.array([program.roots], np.int64))
        self._states, _ = self._walk.settled(nothing)
        self._steps: list[Step] = []
        self._work = self._products = 0.0

    @property
    def known(self) -> int:
        """How many columns became known."""
        return len(self._steps)

    def within(self, limit: float) -> Course | None:
        """The course; None where it takes more work than the limit, all together."""
        while self.known < len(self._order):
            look()
            if not len(self._states):
                return Course((), np.zeros(1, np.bool_), np.zeros(1, np.bool_), 0.0)
            if not self._next(self._order[self.known], self._cells[self.known], limit):
                return None
        if self._work + self._products > limit:
            return None
        program, states = self._program, self._states
        sure = np.asarray((states.sums >= program.sure).all(axis=1), dtype=np.bool_)
        maybe = np.asarray((states.sums >= program.maybe).all(axis=1), dtype=np.bool_)
        return Course(tuple(self._steps), sure, maybe, self._products)

    def _next(self, column: int, beside: int, limit: float) -> bool:
        """Let a column become known; False, with nothing changed, where that is too much work."""
        walk, states = self._walk, self._states
        if not walk.reads(column, states):
            self._steps.append(Step(column, None, len(states)))
            self._products += len(states) * beside
            return True
        each = walk.classes(column)
        products = self._products + each * len(states) * beside
        work = self._work + each * len(states) * _TRANSITION * states.width
        if work + products > limit:
            return False
        changing = walk.changing(column, states)
        work += each * _NODE * len(changing)
        if work + products > limit:
            return False
        found = walk.step(column, states, changing, limit / (_TRANSITION * states.width))
        if found is None:
            return False
        self._states, follows = found
        self._steps.append(Step(column, follows, len(self._states)))
        self._work, self._products = work, products
        return True


class _Walk:
    """A program on its way along an order: what the columns that are left can still add."""

    def __init__(self, program: Program, order: Sequence[int]) -> None:
        self._program = program
        self._made = program.diagrams
        self._left = [column for column in order if column in program.adds]
        lifts = np.zeros(len(program.sure), dtype=np.int64)
        for root in program.roots:
            lifts += np.maximum(0, -np.array(self._made.low[root], dtype=np.int64))
        for added in program.adds.values():
            lifts += np.maximum(0, -added.min(axis=0))
        #: A certain sum is this number: whatever is added, it stays certain.
        self._certain = program.sure + lifts
        self._rest()

    def _rest(self) -> None:
        """What numbers of the columns that are left add at least, and at most, [sums]."""
        nothing = np.zeros(len(self._program.sure), dtype=np.int64)
        added = [self._program.adds[column] for column in self._left]
        self._low = sum((each.min(axis=0) for each in added), nothing)
        self._high = sum((each.max(axis=0) for each in added), nothing)

    def classes(self, column: int) -> int:
        """How many classes of a column are told apart."""
        return self._made.column(column).classes

    def reads(self, column: int, states: _States) -> bool:
        """Whether any state depends on a column."""
        if column in self._program.adds:
            return True
        return any(self._made.reads[node] >> column & 1 for node in np.unique(states.left).tolist())

    def changing(self, column: int, states: _States) -> list[int]:
        """The nodes that read a column, children before parents."""
        return self._made.below(np.unique(states.left).tolist(), 1 << column)

    def step(
        self, column: int, states: _States, changing: Sequence[int], limit: float
    ) -> tuple[_States, IntArray] | None:
        """The states after a column, and which follows on which; None where there are more than the limit."""
        if column in self._left:
            self._left.remove(column)
            self._rest()
        count = self.classes(column)
        present = np.unique(states.left)
        images = self._made.put_in(changing, column)
        becomes = np.array([images.get(node) or (node,) * count for node in present.tolist()], dtype=np.int64)
        place = np.searchsorted(present, states.left)
        added = self._program.adds.get(column, np.zeros((count, len(self._program.sure)), dtype=np.int64))
        parts: list[_States] = []
        follows = np.full((count, len(states)), -1, dtype=np.int64)
        start, batch = 0, max(1, _BATCH // len(states))
        for first in range(0, count, batch):
            look()
            kinds = np.arange(first, min(count, first + batch))
            left = becomes.reshape(len(present), count)[place[None, :, :], kinds[:, None, None]]
            sums = states.sums[None, :, :] + added[kinds][:, None, :]
            rows = len(kinds) * len(states)
            made = _States(sums.reshape(rows, sums.shape[2]), left.reshape(rows, left.shape[2]))
            kept, alive = self.settled(made)
            merged, number = _merged(kept)
            own = np.full(len(alive), -1, dtype=np.int64)
            own[alive] = number + start
            follows[kinds] = own.reshape(len(kinds), len(states))
            parts.append(merged)
            start += len(merged)
            if start > limit:
                return None
        together = _States(np.concatenate([p.sums for p in parts]), np.concatenate([p.left for p in parts]))
        if len(parts) > 1:
            together, number = _merged(together)
            follows = np.where(follows >= 0, number[follows], -1)
        return _closed(together), follows.T

    def settled(self, states: _States) -> tuple[_States, NDArray[np.bool_]]:
        """What leaves add is added, certain sums are lifted, and what cannot happen is left out; which rows are left.

        Of the accepted state nothing is left to be asked.
        """
        made, program = self._made, self._program
        present = np.unique(states.left)
        place = np.searchsorted(present, states.left)
        width = states.sums.shape[1]
        low = np.array([made.low[node] for node in present.tolist()], dtype=np.int64).reshape(-1, width)
        high = np.array([made.high[node] for node in present.tolist()], dtype=np.int64).reshape(-1, width)
        leaf = np.array([made.is_leaf(node) for node in present.tolist()], dtype=np.bool_)
        sums, left = states.sums.copy(), states.left.copy()
        least, most = sums + self._low, sums + self._high
        for diagram in range(left.shape[1]):
            at = place[:, diagram]
            least += low[at]
            most += high[at]
            done = leaf[at]
            sums[done] += low[at[done]]
            left[done, diagram] = 0
        certain = least >= program.sure
        sums = np.where(certain, self._certain, sums)
        left[certain.all(axis=1)] = 0
        alive = np.asarray((most >= program.maybe).all(axis=1), dtype=np.bool_)
        return _States(sums, left).at(alive), alive


def _closed(states: _States) -> _States:
    """Without the diagrams of which nothing is left in any state."""
    return _States(states.sums, states.left[:, states.left.any(axis=0)])


def _merged(states: _States) -> tuple[_States, IntArray]:
    """Each different state once, and for each row the number of its state."""
    code = np.zeros(len(states), dtype=np.int64)
    size = 1
    for column in (*states.sums.T, *states.left.T):
        ranks, count = _ranked(column)
        if size * count >= _FITS:
            _, code = np.unique(code, return_inverse=True)
            code = code.reshape(-1)
            size = int(code.max(initial=0)) + 1
        code = code * count + ranks
        size *= count
    _, first, inverse = np.unique(code, return_index=True, return_inverse=True)
    return states.at(first), inverse.reshape(-1)


def _ranked(column: IntArray) -> tuple[IntArray, int]:
    """Numbers that are equal where the column's are, from 0 on, and how many there may be."""
    if not column.size:
        return column, 1
    low, high = int(column.min()), int(column.max())
    if high - low < 4 * len(column) + 1024:
        return column - low, high - low + 1
    values, ranks = np.unique(column, return_inverse=True)
    return ranks.reshape(-1), len(values)
