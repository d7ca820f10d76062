"""Several diagrams as one: what is left of a bundle of trees is a single number, and its ends are those of its sum.

Along an order of the columns a diagram has few residuals, so a bundle of several has a table of moves that still fits
into a processor's cache. Who walks through many combinations then looks up a number for each bundle instead of one for
each tree, and what a bundle can add at least and at most is that of all its trees together, which is less than what
each of them could by itself. Residuals become fewer towards the end of the order, so bundles are bound together there.

A table has, for every state and class, what the bounds of the sum gain by the class: the least end what is added and
can still be added at least, without what could be before, and the greatest end likewise. So the ends of a combination
are a running sum, and meet when nothing is left.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.rates.engine import TooManyError
from fairdsl.backends.rates.program import Program
from fairdsl.backends.rates.states import Images
from fairdsl.clock import look

IntArray = NDArray[np.int64]

#: States times classes of a bundle's table at most, and of a single diagram's.
_ENTRIES, _TABLE = 1 << 16, 1 << 22


@dataclass(frozen=True, slots=True, eq=False)
class Move:
    """What a class makes of a bundle: the state that ``follows`` and what both ``ends`` of its sums gain.

    Entries are states times classes in a row: [entries], and [2 sums, entries].
    """

    follows: IntArray
    ends: IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Bound:
    """A bundle made of several, by their places among those before; ``sizes`` are the numbers of their states.

    ``ends`` [2, sums, states] is what the ends of its sums gain by looking at all of it at once; None of a single one.
    """

    places: tuple[int, ...]
    sizes: tuple[int, ...]
    ends: IntArray | None

    def together(self, left: IntArray) -> IntArray:
        """Its states, from those of all bundles before, [bundles, combinations]."""
        found: IntArray = left[self.places[0]]
        for place, size in zip(self.places[1:], self.sizes[1:], strict=True):
            found = found * size + left[place]
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Bundled:
    """A program in bundles: how many there are at first, and what both ends of the sums are then, [2, sums].

    By column of the order, what bundles are ``bound`` together before it, and how it ``moves`` each; None: not at all.
    """

    count: int
    ends: IntArray
    bound: tuple[tuple[Bound, ...], ...]
    moves: tuple[tuple[Move | None, ...], ...]


@dataclass(frozen=True, eq=False)
class _Bundle:
    """Diagrams from a column of the order on: before each column, and behind the last, there are ``sizes`` states.

    ``follows`` [states, classes] and ``worth`` [sums, states, classes], what the class adds; None where it is not read.
    """

    first: int
    sizes: list[int]
    steps: list[tuple[IntArray, IntArray] | None]

    def size(self, place: int) -> int:
        """How many states there are before a column, by its place in the order."""
        return self.sizes[place - self.first]

    def step(self, place: int) -> tuple[IntArray, IntArray] | None:
        """What a column makes of it."""
        return self.steps[place - self.first]

    def rest(self, sums: int) -> list[IntArray]:
        """What can be added at least and at most, [2, sums, states], before each column and behind the last."""
        found = [np.zeros((2, sums, self.sizes[-1]), dtype=np.int64)]
        for step in reversed(self.steps):
            if step is None:
                found.append(found[-1])
                continue
            follows, worth = step
            after = worth + found[-1][..., follows]
            found.append(np.stack([after[0].min(axis=-1), after[1].max(axis=-1)]))
        return found[::-1]


def bundled_along(program: Program, order: Sequence[int]) -> Bundled:
    """The bundles of a program's diagrams along an order of the columns; TooManyError where one has too many states."""
    sums, classes = len(program.sure), [program.diagrams.column(column).classes for column in order]
    bundles: list[_Bundle] = []
    for single in _singles(program, order):
        joined = _joined(bundles[-1], single, 0, classes) if bundles else single
        bundles[-1:] = [joined] if joined is not None else [*bundles[-1:], single]
    rests = [bundle.rest(sums) for bundle in bundles]
    count, ends = len(bundles), np.array(sum(rest[0][..., 0] for rest in rests))
    for root in program.roots:
        if program.diagrams.is_leaf(root):
            ends = ends + np.array(program.diagrams.low[root], dtype=np.int64)
    bound, moves = [], []
    for place in range(len(order)):
        own: list[Bound] = []
        parts, before, old = _parts(bundles, place, classes), bundles, rests
        bundles, rests = [], []
        for part in parts:
            look()
            sizes = tuple(before[number].size(place) for number in part)
            if len(part) == 1:
                bundles.append(before[part[0]])
                rests.append(old[part[0]])
                own.append(Bound(part, sizes, None))
                continue
            whole = before[part[0]]
            for number in part[1:]:
                joined = _joined(whole, before[number], place, classes)
                assert joined is not None, "it was counted"
                whole = joined
            bundles.append(whole)
            rests.append(whole.rest(sums))
            each = np.zeros((2, sums, 1), dtype=np.int64)
            for number in part:
                other = old[number][place - before[number].first]
                each = (each[..., None] + other[:, :, None, :]).reshape(2, sums, -1)
            own.append(Bound(part, sizes, rests[-1][0] - each))
        bound.append(tuple(own))
        moves.append(tuple([_move(each, place, rest) for each, rest in zip(bundles, rests, strict=True)]))
    return Bundled(count, ends, tuple(bound), tuple(moves))


def _move(bundle: _Bundle, place: int, rest: Sequence[IntArray]) -> Move | None:
    """What a column makes of a bundle."""
    step = bundle.step(place)
    if step is None:
        return None
    (follows, worth), at = step, place - bundle.first
    gains = worth + rest[at + 1][..., follows] - rest[at][..., None]
    return Move(np.ascontiguousarray(follows.reshape(-1)), np.ascontiguousarray(gains.reshape(-1, follows.size)))


def _singles(program: Program, order: Sequence[int]) -> Iterator[_Bundle]:
    """What columns add by themselves, and each diagram that asks something."""
    made, sums = program.diagrams, len(program.sure)
    nodes = [0, *sorted(set(program.roots) - {0})]
    roots = [place for place in np.searchsorted(nodes, program.roots).tolist() if not made.is_leaf(nodes[place])]
    along: list[Images | None] = []
    adding: list[tuple[IntArray, IntArray] | None] = []
    for column in order:
        look()
        count, added = made.column(column).classes, program.adds.get(column)
        adding.append(None if added is None else (np.zeros((1, count), dtype=np.int64), added.T[:, None, :]))
        changing = made.below(nodes, 1 << column)
        if not changing:
            along.append(None)
            continue
        found = made.put_in(changing, column)
        becomes = [found.get(node) or (node,) * count for node in nodes]
        images = Images.of(made, np.array(becomes, dtype=np.int64))
        along.append(images)
        nodes = images.nodes
    yield _Bundle(0, [1] * (len(order) + 1), adding)
    for root in roots:
        states, sizes, steps = np.array([root]), [1], list[tuple[IntArray, IntArray] | None]()
        for each in along:
            if each is None:
                steps.append(None)
            else:
                if len(states) * each.places.shape[1] > _TABLE:
                    raise TooManyError("too much is left of a tree")
                after, follows = np.unique(each.places[states], return_inverse=True)
                steps.append((follows.reshape(len(states), -1), each.worth[:sums, states]))
                states = after
            sizes.append(len(states))
        yield _Bundle(0, sizes, steps)


def _joined(one: _Bundle, other: _Bundle, first: int, classes: Sequence[int]) -> _Bundle | None:
    """Two bundles as one from a column on; None where its table would be too large."""
    width = other.size(first)
    states = np.arange(one.size(first) * width)
    sizes, steps = [len(states)], list[tuple[IntArray, IntArray] | None]()
    for place in range(first, len(classes)):
        parts = [(bundle.step(place), own) for bundle, own in zip((one, other), np.divmod(states, width), strict=True)]
        if all(step is None for step, _ in parts):
            steps.append(None)
        else:
            if len(states) * classes[place] > _ENTRIES:
                return None
            (ahead, more), (behind, less) = (
                (own[:, None], 0) if step is None else (step[0][own], step[1][:, own]) for step, own in parts
            )
            width = other.size(place + 1)
            states, follows = np.unique(ahead * width + behind, return_inverse=True)
            steps.append((follows.reshape(len(parts[0][1]), -1), np.asarray(more + less)))
        sizes.append(len(states))
    return _Bundle(first, sizes, steps)


def _parts(bundles: Sequence[_Bundle], place: int, classes: Sequence[int]) -> list[tuple[int, ...]]:
    """Which bundles are bound together before a column: as many as have a small table, the smallest first."""
    left = [[bundle.size(each) for each in range(place, len(classes))] for bundle in bundles]
    found: list[tuple[list[int], list[int]]] = []
    for number in sorted(range(len(bundles)), key=lambda number: max(left[number])):
        if found:
            sizes = [size * own for size, own in zip(found[-1][1], left[number], strict=True)]
            if all(size * count <= _ENTRIES for size, count in zip(sizes, classes[place:], strict=True)):
                found[-1] = ([*found[-1][0], number], sizes)
                continue
        found.append(([number], left[number]))
    return [tuple(numbers) for numbers, _ in found]
