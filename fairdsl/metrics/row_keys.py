"""The rows of a table by the keys of a question: which of them count, for which key, and shares of them as a joint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import compress, product

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.enclosure import Enclosure
from fairdsl.ir.expr import Predicate, Who, conjoin
from fairdsl.ir.population import Rows
from fairdsl.ir.question import GroupMetric
from fairdsl.metrics.joint import Bounds, Joint, Key, cells_of, columns_of, key_of
from fairdsl.numerics.cells import places
from fairdsl.numerics.predicates import mask

_Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class RowKeys:
    """Which rows count, ``among`` [rows], and for which of all ``keys`` each of those does, ``places`` [counting]."""

    among: NDArray[np.bool_]
    places: _Counts
    keys: list[Key]

    @classmethod
    def of(cls, question: GroupMetric, rows: Rows, where: Predicate) -> RowKeys:
        """Rows in the domain, as ``where`` says, and in `given`, whose values lie in the cells of the columns."""
        values, columns = rows.sample.values, columns_of(question, rows)
        among = np.asarray(mask(conjoin(where, question.given), {Who.EACH: values}), dtype=np.bool_)
        found = np.full((len(values), len(columns)), -1, dtype=np.int64)
        for number, column in enumerate(columns):
            found[:, number] = places(values.column(column), cells_of(rows, column))
        among &= np.all(found >= 0, axis=1)
        keys = [[key_of(cell) for cell in cells_of(rows, column)] for column in columns]
        shape, counting = [len(column) for column in keys], found[among]
        flat = np.ravel_multi_index(tuple(counting.T), shape) if columns else np.zeros(len(counting), dtype=np.int64)
        return cls(among, np.asarray(flat, dtype=np.int64), list(product(*keys)))

    def joint(self, least: _Counts, most: _Counts, copies: int = 1) -> Joint:
        """Shares of all rows, by key: all, and those favoured in at least and at most so many of their ``copies``."""
        return self.joint_of_sums(self.summed(least), self.summed(most), copies)

    def joint_of_sums(self, few: _Counts, more: _Counts, copies: int = 1) -> Joint:
        """The same of numbers of favoured copies that are added up by key [keys]."""
        whole, everybody = len(self.among), np.bincount(self.places, minlength=len(self.keys))
        return Joint(
            favourable={
                key: Bounds(low=Fraction(low, whole * copies), high=Fraction(high, whole * copies))
                for key, low, high in zip(self.keys, few.tolist(), more.tolist(), strict=True)
            },
            total={
                key: Bounds.exactly(Fraction(count, whole))
                for key, count in zip(self.keys, everybody.tolist(), strict=True)
            },
        )

    def joint_of_scores(self, scores: Sequence[Enclosure]) -> Joint:
        """The sums of scores, each between two numbers, and all rows, by key."""
        whole = len(self.among)
        sums = [[Fraction(0), Fraction(0)] for _ in self.keys]
        for place, (low, high) in zip(self.places.tolist(), compress(scores, self.among.tolist()), strict=True):
            sums[place][0] += low
            sums[place][1] += high
        everybody = np.bincount(self.places, minlength=len(self.keys))
        return Joint(
            favourable={},
            total={
                key: Bounds.exactly(Fraction(count, whole))
                for key, count in zip(self.keys, everybody.tolist(), strict=True)
            },
            sums={
                key: Enclosure(low=low / whole, high=high / whole)
                for key, (low, high) in zip(self.keys, sums, strict=True)
            },
        )

    def summed(self, counts: _Counts) -> _Counts:
        """Numbers of rows [rows], added up by key [keys]."""
        sums = np.zeros(len(self.keys), dtype=np.int64)
        np.add.at(sums, self.places, counts[self.among])
        return sums
