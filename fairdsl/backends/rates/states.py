"""States of a program when its columns become known one after the other.

A state is what the columns so far have added to each sum, and what is left of each diagram; what leads to the same
future is one state. A sum that is certain is lifted to one number, a state whose sums are all certain is *the* accepted
state, and one that cannot reach what it needs is dropped. For a weighted sum this is the dynamic program of subset
sums, for a tree or list a decision diagram, for a vote both at once. No mass is looked at, so the states are counted,
and an order of the columns chosen, before anything is computed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import log2

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.rates.diagram import Column, Diagrams
from fairdsl.backends.rates.program import Program
from fairdsl.clock import look

IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

#: What a transition takes for every sum and diagram, and a node for every class, in products of two probabilities.
_TRANSITION, _NODE = 8, 32
#: Numbers of new states that are made at once.
_BATCH = 1 << 20


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
    sure: BoolArray
    maybe: BoolArray
    #: How many products of probabilities it takes.
    products: float

    @property
    def most(self) -> int:
        """The greatest number of states."""
        return max((step.states for step in self.steps), default=1)


@dataclass(eq=False)
class _States:
    """What the columns so far added, [sums, states], and places of what is left of the diagrams, [diagrams, states].

    Places are those in the walk's nodes; at place 0 nothing is left.
    """

    sums: IntArray
    left: IntArray

    def __len__(self) -> int:
        return int(self.sums.shape[1])

    @property
    def width(self) -> int:
        """How many sums and diagrams a state has."""
        return len(self.sums) + len(self.left)

    def at(self, rows: IntArray | slice) -> _States:
        """Some of them."""
        return _States(self.sums[:, rows], self.left[:, rows])


class Counting:
    """The states along an order of the columns, counted as far as they may be; then it can go on.

    ``cells`` says for how many cells each state has a mass when a column becomes known, [columns].
    """

    def __init__(self, program: Program, order: Sequence[int], cells: Sequence[int]) -> None:
        self._program, self._order, self._cells = program, order, cells
        self._walk = _Walk(program, order)
        self._bits = [log2(self._walk.classes(column)) for column in order]
        self._states = self._walk.begin()
        self._steps: list[Step] = []
        self._work = self._products = 0.0

    @property
    def known(self) -> int:
        """How many columns became known."""
        return len(self._steps)

    @property
    def progress(self) -> float:
        """How far it came: the binary logarithm of the combinations of classes that are told apart by now."""
        return sum(self._bits[: self.known])

    @property
    def whole(self) -> float:
        """What its progress is at the end."""
        return sum(self._bits)

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
        sure = np.asarray((states.sums >= program.sure[:, None]).all(axis=0), dtype=np.bool_)
        maybe = np.asarray((states.sums >= program.maybe[:, None]).all(axis=0), dtype=np.bool_)
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
    """A program on its way along an order: what is left of its diagrams, and what columns that are left can add."""

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
        #: What may be left of diagrams now; the first is the leaf that adds nothing.
        self._nodes = [0, *sorted(set(program.roots) - {0})]
        self._rest()

    def _rest(self) -> None:
        """What numbers of the columns that are left add at least, and at most, [sums]."""
        nothing = np.zeros(len(self._program.sure), dtype=np.int64)
        added = [self._program.adds[column] for column in self._left]
        self._low = sum((each.min(axis=0) for each in added), nothing)
        self._high = sum((each.max(axis=0) for each in added), nothing)

    def begin(self) -> _States:
        """The state of which nothing is known; none if the event cannot happen."""
        sums = np.zeros((len(self._program.sure), 1), dtype=np.int64)
        left = np.searchsorted(self._nodes, self._program.roots).reshape(-1, 1)
        becomes = np.array(self._nodes, dtype=np.int64)[:, None]
        states, _ = self._put_in(_States(sums, left), Images.of(self._made, becomes), 0 * sums)
        return states

    def classes(self, column: int) -> int:
        """How many classes of a column are told apart."""
        return self._made.column(column).classes

    def _present(self, states: _States) -> list[int]:
        """The nodes that are left in any state, by their places; elsewhere 0."""
        used = np.zeros(len(self._nodes), dtype=np.bool_)
        used[states.left] = True
        return [node if there else 0 for node, there in zip(self._nodes, used.tolist(), strict=True)]

    def reads(self, column: int, states: _States) -> bool:
        """Whether any state depends on a column."""
        if column in self._program.adds:
            return True
        return any(self._made.reads[node] >> column & 1 for node in self._present(states))

    def changing(self, column: int, states: _States) -> list[int]:
        """The nodes that read a column, children before parents."""
        return self._made.below(self._present(states), 1 << column)

    def step(
        self, column: int, states: _States, changing: Sequence[int], limit: float
    ) -> tuple[_States, IntArray] | None:
        """The states after a column, and which follows on which; None where there are more than the limit."""
        if column in self._left:
            self._left.remove(column)
            self._rest()
        count = self.classes(column)
        found = self._made.put_in(changing, column)
        becomes = [found.get(node) or (node,) * count for node in self._present(states)]
        images = Images.of(self._made, np.array(becomes, dtype=np.int64))
        added = self._program.adds.get(column, np.zeros((count, len(self._program.sure)), dtype=np.int64)).T
        parts: list[_States] = []
        follows = np.full((len(states), count), -1, dtype=np.int64)
        start, batch = 0, max(1, _BATCH // (count * max(1, states.width)))
        for first in range(0, len(states), batch):
            look()
            rows = slice(first, first + batch)
            kept, alive = self._put_in(states.at(rows), images, added)
            merged, number = _merged(kept)
            follows[rows][alive] = number + start
            parts.append(merged)
            start += len(merged)
            if start > limit:
                return None
        together = _States(*(np.concatenate([getattr(p, name) for p in parts], axis=1) for name in ("sums", "left")))
        if len(parts) > 1:
            together, number = _merged(together)
            follows = np.where(follows >= 0, number[follows], -1)
        self._nodes = images.nodes
        return _closed(together), follows

    def _put_in(self, states: _States, images: Images, added: IntArray) -> tuple[_States, BoolArray]:
        """What follows on states in each class of a column, and whether anything does, [states, classes].

        What leaves add is added, certain sums are lifted, and of the accepted state nothing is left to be asked.
        """
        program = self._program
        sums = states.sums[:, :, None] + added[:, None, :]
        least, most = sums + self._low[:, None, None], sums + self._high[:, None, None]
        for at in states.left:
            for number in range(len(sums)):
                for total, table in ((least, images.low), (most, images.high), (sums, images.worth)):
                    total[number] += table[number].take(at, axis=0)
        alive = np.asarray((most >= program.maybe[:, None, None]).all(axis=0), dtype=np.bool_)
        certain = least[:, alive] >= program.sure[:, None]
        left = np.array([images.places.take(at, axis=0)[alive] for at in states.left], dtype=np.int64)
        left = left.reshape(len(states.left), certain.shape[1])
        left[:, certain.all(axis=0)] = 0
        return _States(np.where(certain, self._certain[:, None], sums[:, alive]), left), alive


@dataclass(frozen=True, eq=False)
class Images:
    """What becomes of nodes, by their places, in each class of a column."""

    #: The nodes that are left after it, the leaf that adds nothing first; every leaf is that one once it has added.
    nodes: list[int]
    #: Their places, [nodes before, classes].
    places: IntArray
    #: What leaves add, and what can be added at least and at most, [sums, nodes before, classes].
    worth: IntArray
    low: IntArray
    high: IntArray

    @classmethod
    def of(cls, made: Diagrams, becomes: IntArray) -> Images:
        """From the nodes that follow, [nodes before, classes]."""
        nodes, number = np.unique(np.append(becomes, 0), return_inverse=True)
        number = number.reshape(-1)[:-1].reshape(becomes.shape)
        listed = nodes.tolist()
        low, high = (np.array([each[node] for node in listed], dtype=np.int64).T for each in (made.low, made.high))
        leaf = np.array([made.is_leaf(node) for node in listed], dtype=np.bool_)
        places = np.where(leaf, 0, np.arange(len(nodes)))
        ends = (np.ascontiguousarray(each[:, number]) for each in (np.where(leaf, low, 0), low, high))
        return cls(listed, places[number], *ends)


def _closed(states: _States) -> _States:
    """Without the diagrams of which nothing is left in any state."""
    return _States(states.sums, states.left[states.left.any(axis=1)])


def _merged(states: _States) -> tuple[_States, IntArray]:
    """Each different state once, and for each row the number of its state.

    States are sorted by a random linear form of their numbers; where two different ones have one form, by another.
    """
    rows = [*states.sums, *states.left]
    attempt = 0
    while True:
        code = np.zeros(len(states), dtype=np.uint64)
        for row, factor in zip(rows, _form(len(rows), attempt), strict=True):
            code += row.astype(np.uint64) * factor
        _, first, number = np.unique(code, return_index=True, return_inverse=True)
        number = number.reshape(-1)
        if all(np.array_equal(row[first][number], row) for row in rows):
            return states.at(first), number
        attempt += 1


@cache
def _form(width: int, attempt: int) -> NDArray[np.uint64]:
    """The factors of a random linear form of so many numbers."""
    return np.random.default_rng(attempt).integers(1, 1 << 63, width, dtype=np.uint64)


# --------------------------------------------------------------------------------------------------
# Cells of which only the mass is known: the mass of an event at least and at most, wherever in them values lie.
#
# Once the cells of all columns are drawn, somebody chooses the class of each open cell, for the event or against it.
# So a state of a course becomes the *set* of states that choices may have led to, and who chooses has what he wants
# where any state of the set gives it. Sets of one future are one set: a state that gives what is wanted whatever
# follows settles its set, and one that never gives it is left out. Both ends are those over all distributions with
# these masses, whatever values within cells depend on: each choice is such a distribution, and none gives more or
# less.

#: In a row of states: one that decides the set, and the padding behind the last.
_SETTLED, _NOTHING = -1, 1 << 62


def chosen(course: Course, columns: Mapping[int, Column], limit: float, *, favouring: bool) -> Course | None:
    """The course over what is drawn, where classes of open cells are chosen for the event or against it.

    None where there are too many sets of states.
    """
    layers = _layers(course, course.maybe if favouring else ~course.sure, impossible=not favouring)
    sets = _as_sets(layers[0][:1, None])
    steps: list[Step] = []
    work = 0.0
    for step, layer in zip(course.steps, layers[1:], strict=True):
        look()
        if step.follows is None:
            steps.append(Step(step.column, None, len(sets)))
            continue
        choices = columns[step.column].choices
        work += sets.size * sum(map(len, choices))
        if work > limit:
            return None
        follows = np.where(step.follows < 0, step.states, step.follows)
        sets, number = _together([_images(sets, follows[:, list(choice)], layer) for choice in choices])
        lost = (sets[:, 0] == (_NOTHING if favouring else _SETTLED))[number]
        steps.append(Step(step.column, np.where(lost, -1, number).reshape(len(choices), -1).T, len(sets)))
    met = sets[:, 0] == (_SETTLED if favouring else _NOTHING)
    return Course(tuple(steps), met, met, course.products + work)


def _layers(course: Course, wanted: BoolArray, *, impossible: bool) -> list[IntArray]:
    """What stands for each state, and behind them for what is impossible, before every step and after the last.

    Its number, ``_SETTLED`` where whatever follows is wanted, ``_NOTHING`` where nothing is.
    """
    always, never = np.append(wanted, impossible), np.append(~wanted, not impossible)
    layers = [_codes(always, never)]
    for step in reversed(course.steps):
        if step.follows is not None:
            follows = np.where(step.follows < 0, step.states, step.follows)
            always = np.append(always[follows].all(axis=1), impossible)
            never = np.append(never[follows].all(axis=1), not impossible)
        layers.append(_codes(always, never))
    return layers[::-1]


def _codes(always: BoolArray, never: BoolArray) -> IntArray:
    return np.where(always, _SETTLED, np.where(never, _NOTHING, np.arange(len(always))))


def _images(sets: IntArray, follows: IntArray, layer: IntArray) -> IntArray:
    """The sets after a step of which some classes may be chosen: ``follows`` of states, [states, classes]."""
    live = (sets != _SETTLED) & (sets != _NOTHING)
    codes = layer[follows[np.where(live, sets, 0)]]
    return _as_sets(np.where(live[..., None], codes, sets[..., None]).reshape(len(sets), -1))


def _as_sets(rows: IntArray) -> IntArray:
    """Rows of states in order, each state once; nothing beside one that settles the set."""
    rows = np.sort(rows, axis=1)
    again = np.zeros(rows.shape, np.bool_)
    again[:, 1:] = (rows[:, 1:] == rows[:, :-1]) | (rows[:, :1] == _SETTLED)
    rows = np.sort(np.where(again, _NOTHING, rows), axis=1)
    return rows[:, : max(1, int((rows != _NOTHING).sum(axis=1).max(initial=1)))]


def _together(found: Sequence[IntArray]) -> tuple[IntArray, IntArray]:
    """Each different set once, and for every row the number of its set."""
    width = max(each.shape[1] for each in found)
    rows = np.full((sum(map(len, found)), width), _NOTHING)
    start = 0
    for each in found:
        rows[start : start + len(each), : each.shape[1]] = each
        start += len(each)
    sets, number = np.unique(rows, axis=0, return_inverse=True)
    return sets, number.reshape(-1)
