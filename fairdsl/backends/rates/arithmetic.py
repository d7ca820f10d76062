"""How masses are computed: as whole numbers where they fit or are few, else in float64 with a counted error.

All masses are products and sums of numbers that are not negative. So the relative error of a float64 result is at most
that of as many roundings as there are on the longest way to it: (1 + 2^-53)^n - 1, as long as nothing underflows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from math import log2, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.rates.diagram import Column
from fairdsl.ir.population import Network
from fairdsl.metrics.joint import Bounds
from fairdsl.numerics.elimination import eliminate, elimination, mattering
from fairdsl.numerics.tables import Table, joined, summed, whole_table

#: Masses of any of the three kinds.
Masses = NDArray[Any]

#: Whole numbers below it are int64.
_FITS = 1 << 62
#: Products of probabilities from 2^-900 on are normal numbers.
_LEAST = -900.0


class Kind(Enum):
    """What masses are held in."""

    WHOLE = "int64"  # numerators over one denominator that are less than 2^62
    LARGE = "object"  # the same as Python's integers
    FLOAT = "float64"


@dataclass(slots=True)
class Arithmetic:
    """The kind, what its numbers are over, and how many roundings there were on the longest way."""

    kind: Kind
    denominator: int
    roundings: int = 0
    #: Binary logarithm of the least product that is not zero.
    least: float = 0.0

    @classmethod
    def exact(cls, denominator: int) -> Arithmetic:
        """Whole numbers over a denominator."""
        return cls(Kind.WHOLE if denominator < _FITS else Kind.LARGE, denominator)

    def numbers(self, whole: Masses, scale: int) -> Masses:
        """Whole numbers over ``scale`` as this kind holds them."""
        if self.kind is not Kind.FLOAT:
            return whole.astype(self.kind.value)
        flat = [int(number) / scale for number in whole.ravel().tolist()]
        present = [number for number in flat if number]
        self.least += log2(min(present)) if present else 0.0
        self.roundings += 1
        return np.array(flat, dtype=np.float64).reshape(whole.shape)

    def shares(self, whole: Masses, scale: int) -> Masses:
        """The same of many numbers whose roundings, two each, and sizes are counted already."""
        if self.kind is not Kind.FLOAT:
            return whole.astype(self.kind.value)
        return np.asarray(whole / scale, dtype=np.float64) if whole.dtype == object else whole / float(scale)

    @property
    def safe(self) -> bool:
        """Whether nothing can have underflowed."""
        return self.least > _LEAST

    def bounds(self, least: Masses, most: Masses) -> list[Bounds]:
        """The masses that results stand for, at least and at most, in the order of the arrays."""
        return [
            self._enclosed(low, high)
            for low, high in zip(np.ravel(least).tolist(), np.ravel(most).tolist(), strict=True)
        ]

    def _enclosed(self, low: int | float, high: int | float) -> Bounds:
        if isinstance(low, int):
            exact = Fraction(low, self.denominator)
            return Bounds(low=exact, high=exact if low == high else Fraction(int(high), self.denominator))
        error = Fraction(2 * (self.roundings + 1), 1 << 53)
        return Bounds(low=Fraction(low) * (1 - error), high=min(Fraction(1), Fraction(high) * (1 + 2 * error)))


# ---- The distribution of the columns that matter, as tables of whole numbers ---------------------

#: Cells of the largest table when columns that nothing reads are summed out.
_CLIQUE = 1 << 18


class TangledError(Exception):
    """The network connects so many columns that a table would be too large."""

    def __init__(self, cells: int) -> None:
        super().__init__(f"the distribution connects so many columns that a table would have {cells:,} cells")


@dataclass(frozen=True, eq=False)
class Distribution:
    """Pr[columns] is the product of the tables over ``scale``, and of each column's share of a class."""

    tables: tuple[Table, ...]
    #: What each table's numbers are over, [tables].
    scales: tuple[int, ...]
    #: How many cells each column has.
    sizes: Mapping[int, int]

    def denominator(self, columns: Mapping[int, Column]) -> int:
        """What masses of classes are over."""
        shares = prod(columns[column].denominator for column in self.sizes if column in columns)
        return prod(self.scales) * shares


def distribution_of(network: Network, wanted: Iterable[int]) -> Distribution:
    """The joint distribution of some columns; TangledError where that takes too large tables."""
    wanted = set(wanted)
    every = [(*factor.parents, factor.column) for factor in network.factors]
    whole = [factor.column if network.complete(factor) else None for factor in network.factors]
    needed = mattering(list(zip(every, whole, strict=True)), wanted)
    factors, scopes = [network.factors[place] for place in needed], [every[place] for place in needed]
    sizes = {column: len(cells) for column, cells in enumerate(network.cells)}
    order = list(elimination(scopes, sizes, wanted))
    largest = max((cells for _, cells in order), default=1)
    if largest > _CLIQUE:
        raise TangledError(largest)
    made = eliminate(
        [whole_table(network, factor) for factor in factors],
        lambda scaled: scaled[0].columns,
        (column for column, _ in order),
        lambda touched, column: (
            summed(joined([table for table, _ in touched]), column),
            prod(scale for _, scale in touched),
        ),
    )
    return Distribution(
        tables=tuple(table for table, _ in made),
        scales=tuple(scale for _, scale in made),
        sizes={column: sizes[column] for column in wanted},
    )
