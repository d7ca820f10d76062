"""Trees over columns of several values: the value by going through the leaves, and the work is that of the leaves."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction
from math import prod

import pytest

from fairdsl.backends.ssat.engine import Engine
from fairdsl.backends.ssat.instance import Bound, Clause, Instance, Quantifier

Box = dict[int, range]


class Tree:
    """A random tree over columns with the values 0, 1, ..; tests are ``value <= threshold``."""

    def __init__(self, seed: int, columns: int, depth: int) -> None:
        chosen = random.Random(seed)
        self.masses = [_law(chosen, chosen.randint(2, 9)) for _ in range(columns)]
        self.leaves: list[tuple[Box, bool]] = []
        whole = {column: range(len(masses)) for column, masses in enumerate(self.masses)}
        self._grow(chosen, whole, depth)

    def _grow(self, chosen: random.Random, box: Box, depth: int) -> None:
        wide = [column for column, values in box.items() if len(values) > 1]
        if not depth or not wide:
            self.leaves.append((box, chosen.random() < 0.5))
            return
        column = chosen.choice(wide)
        threshold = chosen.randrange(box[column].start, box[column].stop - 1)
        self._grow(chosen, box | {column: range(box[column].start, threshold + 1)}, depth - 1)
        self._grow(chosen, box | {column: range(threshold + 1, box[column].stop)}, depth - 1)

    def rate(self) -> Fraction:
        """The mass of the accepting leaves."""
        return sum(
            (
                prod(
                    (sum(self.masses[column][value] for value in values) for column, values in box.items()),
                    start=Fraction(1),
                )
                for box, accepts in self.leaves
                if accepts
            ),
            start=Fraction(0),
        )

    def instance(self) -> Instance:
        """A clause for each rejecting leaf; ``value <= k`` iff ``value <= k - 1`` or one more chance."""
        numbers = iter(range(1, 10_000))
        chances: list[Bound] = []
        below: list[list[int]] = []
        for masses in self.masses:
            below.append([])
            left = Fraction(1)
            for mass in masses[:-1]:
                below[-1].append(next(numbers))
                chances.append(Bound(below[-1][-1], Quantifier.RANDOM, mass / left))
                left -= mass
        defined: list[Bound] = []
        clauses: list[Clause] = []
        for column in below:
            for k in range(1, len(column)):
                gate = next(numbers)
                defined.append(Bound(gate, Quantifier.EXISTS))
                clauses += [(-gate, column[k - 1], column[k]), (gate, -column[k - 1]), (gate, -column[k])]
                column[k] = gate
        clauses += [tuple(self._against(box, below)) for box, accepts in self.leaves if not accepts]
        prefix = (*chances, *defined)
        return Instance(variables=len(prefix), prefix=prefix, clauses=tuple(clauses))

    def _against(self, box: Box, below: list[list[int]]) -> Iterator[int]:
        """Somebody outside of the box."""
        for column, values in box.items():
            if values.stop < len(self.masses[column]):
                yield -below[column][values.stop - 1]
            if values.start:
                yield below[column][values.start - 1]


def _law(chosen: random.Random, size: int) -> list[Fraction]:
    weights = [chosen.randint(1, 9) for _ in range(size)]
    return [Fraction(weight, sum(weights)) for weight in weights]


@pytest.mark.parametrize("seed", range(8))
def test_small_trees(seed: int) -> None:
    tree = Tree(seed, columns=3, depth=4)
    assert Engine(tree.instance()).solve().low == tree.rate()


@pytest.mark.parametrize("seed", range(3))
def test_large_trees(seed: int) -> None:
    """Tests are decided before the chances that they depend on; otherwise there are as many cases as values."""
    tree = Tree(seed, columns=12, depth=9)
    found = Engine(tree.instance()).solve()
    assert found.low == tree.rate()
    assert found.statistics.decisions < 2 * len(tree.leaves)
