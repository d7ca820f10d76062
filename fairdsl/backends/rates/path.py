"""Masses of states, one column after the other: the *path* order.

Beside the state there is an axis of cells for every column that a table still has to be multiplied for, and for every
key. A column is put in with all tables that are complete with it; where nothing needs it any more it is summed out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf, log2, prod

import numpy as np

from fairdsl.backends.rates.arithmetic import Arithmetic, Distribution, Masses
from fairdsl.backends.rates.diagram import Column
from fairdsl.backends.rates.program import Program
from fairdsl.backends.rates.states import Counting, Course, Step
from fairdsl.clock import look
from fairdsl.numerics.tables import aligned

#: Masses that are multiplied at once.
_BATCH = 1 << 20


@dataclass(frozen=True, slots=True)
class Stage:
    """A column and what becomes known with it: ``tables`` by number, the axes before and after it."""

    column: int
    tables: tuple[int, ...]
    before: tuple[int, ...]
    after: tuple[int, ...]


def stages(distribution: Distribution, order: Sequence[int], keys: Sequence[int]) -> list[Stage]:
    """The columns in an order, the cells of keys being needed to the end."""
    known: list[int] = []
    live: tuple[int, ...] = ()
    waiting = {number for number, table in enumerate(distribution.tables) if table.columns}
    found = []
    for column in order:
        known.append(column)
        ready = sorted(number for number in waiting if set(distribution.tables[number].columns) <= set(known))
        waiting.difference_update(ready)
        needed = set(keys).union(*(distribution.tables[number].columns for number in waiting))
        after = tuple(each for each in (*live, column) if each in needed)
        found.append(Stage(column, tuple(ready), live, after))
        live = after
    return found


def cells_along(distribution: Distribution, order: Sequence[int], keys: Sequence[int]) -> list[int]:
    """For how many cells each state has a mass when a column becomes known, [columns]."""
    along = stages(distribution, order, keys)
    return [prod(distribution.sizes[each] for each in {*stage.before, stage.column}) for stage in along]


def masses_of(
    distribution: Distribution,
    course: Course,
    order: Sequence[int],
    keys: Sequence[int],
    columns: Mapping[int, Column],
    arithmetic: Arithmetic,
) -> tuple[Masses, Masses]:
    """The mass of the event, certainly and possibly, by the cells of the keys in their order."""
    shape = tuple(distribution.sizes[key] for key in keys)
    if not course.sure.any() and not course.maybe.any():
        nothing = np.zeros(shape, dtype=arithmetic.kind.value)
        return nothing, nothing
    masses = np.ones((1,), dtype=arithmetic.kind.value)
    for table, scale in zip(distribution.tables, distribution.scales, strict=True):
        if not table.columns:
            masses = masses * arithmetic.numbers(np.asarray(table.numbers, dtype=object).reshape(1), scale)
    live: tuple[int, ...] = ()
    for stage, step in zip(stages(distribution, order, keys), course.steps, strict=True):
        look()
        weights = weights_of(distribution, stage, columns, arithmetic, split=step.follows is not None)
        masses = _put_in(masses, weights, stage, step, arithmetic)
        live = stage.after
    places = [live.index(key) for key in keys]
    found = []
    for chosen in (course.sure, course.maybe):
        arithmetic.roundings += int(chosen.sum())
        found.append(masses[chosen].sum(axis=0, dtype=masses.dtype).transpose(places))
    return found[0], found[1]


def weights_of(
    distribution: Distribution, stage: Stage, columns: Mapping[int, Column], arithmetic: Arithmetic, *, split: bool
) -> Masses:
    """What masses are multiplied with in each class, [classes, cells of the axes before, cells of the column].

    All classes are one unless they are told apart (``split``), as are the cells of a column that nothing needs later.
    """
    axes = (*stage.before, stage.column)
    column = columns[stage.column]
    shares = arithmetic.numbers(column.shares.astype(object), column.denominator)
    if not split:
        shares = shares.sum(axis=0, keepdims=True)
        arithmetic.roundings += len(column.choices)
    weights = shares.reshape((len(shares), *[1] * len(stage.before), shares.shape[1]))
    for number in stage.tables:
        table = distribution.tables[number]
        numbers = arithmetic.numbers(table.numbers, distribution.scales[number])
        weights = weights * aligned(numbers, [axes.index(each) for each in table.columns], len(axes))[None]
        arithmetic.roundings += 1
    sizes = tuple(distribution.sizes[each] for each in axes)
    weights = np.broadcast_to(weights, (len(weights), *sizes))
    if stage.column not in stage.after:
        arithmetic.roundings += sizes[-1]
        return np.asarray(weights.sum(axis=-1, dtype=weights.dtype))[..., None]
    return weights


def _put_in(masses: Masses, weights: Masses, stage: Stage, step: Step, arithmetic: Arithmetic) -> Masses:
    """The masses after a column, [states, cells of the axes after]."""
    gone = tuple(place + 1 for place, each in enumerate(stage.before) if each not in stage.after)
    cells = weights.shape[1:]
    if stage.column not in stage.after:
        gone = (*gone, len(cells))
    arithmetic.roundings += 2 + prod(cells[place - 1] for place in gone)
    kept = tuple(size for place, size in enumerate(cells, start=1) if place not in gone)
    if step.follows is None:
        return np.asarray((masses[..., None] * weights).sum(axis=gone, dtype=masses.dtype))
    follows = step.follows.reshape(-1)
    order = np.argsort(follows, kind="stable")
    order = order[np.searchsorted(follows[order], 0) :]
    after = np.zeros((step.states, *kept), dtype=masses.dtype)
    if not order.size:
        return after
    arithmetic.roundings += int(np.bincount(follows[order]).max()) + 1
    classes = len(weights)
    batch = max(1, _BATCH // max(1, prod(cells)))
    for start in range(0, len(order), batch):
        look()
        rows = order[start : start + batch]
        states, kinds = np.divmod(rows, classes)
        parts = masses[states][..., None] * weights[kinds]
        if gone:
            parts = parts.sum(axis=gone, dtype=masses.dtype)
        to = follows[rows]
        first = np.flatnonzero(np.diff(to, prepend=-1))
        after[to[first]] += np.add.reduceat(parts, first, axis=0)
    return after


# --------------------------------------------------------------------------------------------------
# In which order columns become known: several orders are tried, and the one with the fewest states is taken.
#
# No rule is best for all models: a network wants neighbours together, so that few cells are carried along, a vote its
# trees finished one after the other, a list the columns first that decide most. All are tried with little work, then
# they go on with four times as much without the one that came least far, and so on.

#: The work of the first round, and how many times as much that of the next is.
_FIRST, _MORE = 1 << 16, 4
#: After so much work an order has to have come half of the way, in bits of combinations that are distinguished.
_HALF_WAY = 1 << 28

#: An order of the columns, and the course along it.
Ordered = tuple[tuple[int, ...], Course]


class Courses:
    """The courses of a program along several orders, each as far as it was counted."""

    def __init__(
        self, program: Program, distribution: Distribution, keys: Sequence[int], columns: Mapping[int, Column]
    ) -> None:
        self.program = program
        self._distribution, self._keys = distribution, keys
        self._orders = _orders(program, distribution, keys, columns)
        self._left: list[tuple[tuple[int, ...], Counting]] = []
        self._allowed = _FIRST

    def within(self, limit: float) -> Ordered | None:
        """A course of at most so much work; None where no order has one. What was counted before is not again."""
        while True:
            for order, counting in self._begun():
                course = counting.within(min(self._allowed, limit))
                if course is not None:
                    return order, course
            if self._allowed >= limit:
                return None
            self._allowed *= _MORE
            # Those that came farthest go on.
            self._left.sort(key=lambda each: -each[1].progress)
            del self._left[max(1, len(self._left) - 1) :]
            order, best = self._left[0]
            if self._allowed > _HALF_WAY and 2 * best.progress < best.whole:
                return None

    def _begun(self) -> Iterator[tuple[tuple[int, ...], Counting]]:
        """The orders that are left, and behind them those that nobody came to so far."""
        yield from list(self._left)
        for order in self._orders:
            if all(order != known for known, _ in self._left):
                counting = Counting(self.program, order, cells_along(self._distribution, order, self._keys))
                self._left.append((order, counting))
                yield order, counting


def _orders(
    program: Program, distribution: Distribution, keys: Sequence[int], columns: Mapping[int, Column]
) -> Iterator[tuple[int, ...]]:
    made = program.diagrams
    scopes = [made.reads[root] for root in program.roots]
    everywhere = sorted(distribution.sizes)
    by_weight = _by_weight(program, columns)

    if not scopes and not program.adds:  # there is a single state
        yield _greedy(everywhere, lambda known, column: (_cells(distribution, keys, known, column),))
        return
    yield tuple(sorted(everywhere, key=by_weight))
    yield _greedy(everywhere, lambda known, column: (_open(scopes, known, column), *by_weight(column)))
    yield _greedy(everywhere, lambda known, column: (_cells(distribution, keys, known, column), *by_weight(column)))
    yield _greedy(
        everywhere,
        lambda known, column: (
            _cells(distribution, keys, known, column) * 4 ** min(64, _open(scopes, known, column)),
            *by_weight(column),
        ),
    )


def order_of_cells(
    program: Program, distribution: Distribution, keys: Sequence[int], columns: Mapping[int, Column]
) -> tuple[int, ...]:
    """The keys, and behind them the columns with which the fewest cells are carried along, what decides most first."""
    by_weight, own = _by_weight(program, columns), list(keys)
    rest = [column for column in sorted(distribution.sizes) if column not in own]
    return (
        *own,
        *_greedy(rest, lambda known, column: (_cells(distribution, keys, [*own, *known], column), *by_weight(column))),
    )


def _by_weight(program: Program, columns: Mapping[int, Column]) -> Callable[[int], tuple[int, float]]:
    """What nothing reads first, then what decides most for what it multiplies states by; what only adds last."""
    weight = _weights(program)

    def key(column: int) -> tuple[int, float]:
        if column not in weight:
            return int(column in program.adds), -inf
        return int(column in program.adds), -weight[column] / log2(max(2, columns[column].classes))

    return key


def _weights(program: Program) -> dict[int, float]:
    """How much the diagrams' tests of each column decide: how often they are come to, times the spread below them."""
    made, weight = program.diagrams, dict[int, float]()
    often = dict.fromkeys(program.roots, 1.0)
    for node in reversed(made.below(program.roots)):
        key = made.nodes[node]
        assert key is not None, "a leaf reads nothing"
        number, yes, no = key
        test = made.tests[number]
        holds = sum(test[1]) / len(test[1]) if isinstance(test, tuple) else 0.5
        spread = float(sum(made.high[node]) - sum(made.low[node]))
        for column in made.columns_of(number):
            weight[column] = weight.get(column, 0.0) + often[node] * spread
        often[yes] = often.get(yes, 0.0) + often[node] * holds
        often[no] = often.get(no, 0.0) + often[node] * (1 - holds)
    return weight


def _greedy(columns: Sequence[int], cost: Callable[[list[int], int], tuple[float, ...]]) -> tuple[int, ...]:
    """Next always the column that costs least behind those that are known."""
    left, known = list(columns), list[int]()
    while left:
        column = min(left, key=lambda each: cost(known, each))
        left.remove(column)
        known.append(column)
    return tuple(known)


def _open(scopes: Sequence[int], known: Sequence[int], column: int) -> int:
    """How many diagrams are begun and not finished with a column more."""
    bits = sum(1 << each for each in known) | 1 << column
    return sum(bool(scope & bits) and bool(scope & ~bits) for scope in scopes)


def _cells(distribution: Distribution, keys: Sequence[int], known: Sequence[int], column: int) -> int:
    """The cells that are carried along with a column more, and those of the keys, which will be."""
    inside = {*known, column}
    needed = set[int]().union(*(table.columns for table in distribution.tables if not inside.issuperset(table.columns)))
    return prod(distribution.sizes[each] for each in (inside & needed).union(keys))
