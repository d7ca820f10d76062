"""In which order columns become known: several orders are tried, and the one with the fewest states is taken.

No rule is best for all models: a network wants neighbours together, so that few cells are carried along, a vote its
trees finished one after the other, a list the columns first that decide most. All are tried with little work, then
they go on with four times as much without the one that came least far, and so on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import prod

from fairdsl.backends.rates.columns import Column
from fairdsl.backends.rates.distribution import Distribution
from fairdsl.backends.rates.path import cells_along
from fairdsl.backends.rates.program import Program
from fairdsl.backends.rates.states import Counting, Course

__all__ = ["Courses", "Ordered"]

#: The work of the first round, and how many times as much that of the next is.
_FIRST, _MORE = 1 << 16, 4

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
            self._left.sort(key=lambda each: -each[1].known)
            del self._left[max(1, len(self._left) - 1) :]


def _orders(
    program: Program, distribution: Distribution, keys: Sequence[int], columns: Mapping[int, Column]
) -> Iterator[tuple[int, ...]]:
    made = program.diagrams
    scopes = [made.reads[root] for root in program.roots]
    everywhere = sorted(distribution.sizes)
    weight = {column: sum(scope >> column & 1 for scope in scopes) for column in everywhere}

    def by_weight(column: int) -> tuple[int, int, int]:
        """Columns that many diagrams read first; those that only add numbers last."""
        return int(column in program.adds), -weight[column], columns[column].classes

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


def _greedy(columns: Sequence[int], cost: Callable[[list[int], int], tuple[int, ...]]) -> tuple[int, ...]:
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
    """The cells that are carried along with a column more."""
    inside = {*known, column}
    needed = set(keys).union(*(table.columns for table in distribution.tables if not inside.issuperset(table.columns)))
    return prod(distribution.sizes[each] for each in inside & needed)
