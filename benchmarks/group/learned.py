"""Weighted sums under networks that are learned from rows, by fairdsl's own search for edges.

Rows are drawn from a seed: 0 is protected and a fair coin, every later variable depends on two of those before it. The
search (BIC, at most three parents, the protected variable a root) finds the edges, the rows give the frequencies.
Variables are numbered so that parents come first and, of those that may come next, the one that moves the score most:
whoever goes through assignments one variable after the other can stop early then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.population import Cell, Factor, Normal
from fairdsl.populations.climb import Choices, climb
from fairdsl.populations.counts import fitted
from fairdsl.populations.scores import FamilyScore
from group.sums import FALSE_AND_TRUE, Sum

__all__ = ["edges_of", "learned"]

_ROWS = 2000
_PARENTS = 3
#: Of a combination of parents that no row has: some law has to stand there for both ways.
_NOBODY = Fraction(1, 2)

Codes = NDArray[np.intp]


def learned(size: int, seed: int, *, decay: float = 1.0, heaviest: int = 100) -> Sum:
    """A network over so many variables; the k-th weight is up to ``heaviest * decay**k``, and no less than 1."""
    random = np.random.default_rng([seed, size])
    codes = _rows(size, random)
    cells: Sequence[Sequence[Cell]] = [FALSE_AND_TRUE] * size
    choices = Choices(max_parents=_PARENTS, protected=frozenset({0}), seed=seed)
    structure = climb(size, FamilyScore(codes, "bic", 1.0), choices)
    parents = {place: sorted(above) for place, above in enumerate(structure)}
    factors = {factor.column: factor for factor in fitted(codes, cells, parents)}
    tops = random.permutation([max(1.0, heaviest * decay**place) for place in range(size)])
    weights = [round(top * part) or 1 for top, part in zip(tops, random.uniform(-1, 1, size), strict=True)]
    return _ordered(factors, weights)


def edges_of(drawn: Sum) -> int:
    """How many edges the network has."""
    return sum(len(above) for above in drawn.parents)


def _rows(size: int, random: np.random.Generator) -> Codes:
    codes = np.zeros((_ROWS, size), dtype=np.intp)
    codes[:, 0] = random.random(_ROWS) < 0.5
    for place in range(1, size):
        above = random.choice(place, size=min(place, 2), replace=False)
        chances = random.uniform(0.1, 0.9, 2 ** len(above))
        row = codes[:, above] @ (1 << np.arange(len(above)))
        codes[:, place] = random.random(_ROWS) < chances[row]
    return codes


def _ordered(factors: Mapping[int, Factor], weights: Sequence[int]) -> Sum:
    """The same with variables renumbered: the protected one first, then always the heaviest whose parents are there."""
    order = [0]
    while len(order) < len(factors):
        ready = [column for column in factors if column not in order and set(factors[column].parents) <= set(order)]
        order.append(max(ready, key=lambda column: (abs(weights[column]), -column)))
    places = {column: place for place, column in enumerate(order)}
    ordered = [factors[column] for column in order]
    own = tuple(weights[column] for column in order)
    return Sum(
        weights=own,
        threshold=sum(own) // 2,
        parents=tuple(tuple(places[parent] for parent in factor.parents) for factor in ordered),
        chances=tuple(_chances(factor) for factor in ordered),
    )


def _chances(factor: Factor) -> tuple[Fraction, ...]:
    found = []
    for number in range(2 ** len(factor.parents)):
        cells = tuple(number >> shift & 1 for shift in reversed(range(len(factor.parents))))
        row = factor.rows.get(cells, (1 - _NOBODY, _NOBODY))
        if isinstance(row, Normal):
            raise ValueError("frequencies are not a normal law")
        found.append(row[1])
    return tuple(found)
