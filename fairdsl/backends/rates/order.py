"""In which order columns become known: several orders are tried, and the one with the fewest states is taken.

No rule is best for all models: a network wants neighbours together, so that few cells are carried along, a vote its
trees finished one after the other, a list the columns first that decide most. All are tried with little work, then
they go on with four times as much without the one that came least far, and so on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import inf, log2, prod

from fairdsl.backends.rates.columns import Column
from fairdsl.backends.rates.distribution import Distribution
from fairdsl.backends.rates.path import cells_along
from fairdsl.backends.rates.program import Program
from fairdsl.backends.rates.states import Counting, Course

__all__ = ["Courses", "Ordered", "order_of_cells"]

#: The work of the first round, and how many times as much that of the next is.
_FIRST, _MORE = 1 << 16, 4
#: After so much work an order has to have come half of the way, in bits of combinations that are told apart.
_HALF_WAY = 1 << 28

#: An order of the columns, and the course along it.
Ordered = tuple[tuple[int, ...], Course]


class Courses:
    """The courses of a program along several orders, each as far as it was counted."""

    def __init__(
        self, program: Program, distribution: Distribution, keys: Sequence[int], columns: Mapping[int, Column]
    ) -> None:
        self.program = program
        orders = dict.fromkeys(_orders(program, distribution, keys, columns))
        self._left = [(order, Counting(program, order, cells_along(distribution, order, keys))) for order in orders]
        self._allowed = _FIRST

    def within(self, limit: float) -> Ordered | None:
        """A course of at most so much work; None where no order has one. What was counted before is not again."""
        while True:
            for order, counting in self._left:
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
