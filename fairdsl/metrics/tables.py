"""How far a distribution that was counted in rows may lie from that of the population, if its structure is right.

Let Q be the distribution of the population with the columns of a group fixed (given their values, if no other column is
a parent of one of them; set to them, along paths), and R the same with frequencies in place of probabilities. Both are
products of tables. Two theorems bound |R(B) - Q(B)| for an event B; a probability that the rows leave out counts as
0.

**Any structure.** Let H_i be the probability of B where the columns up to i, in the order of the graph, are drawn
from R and those behind from Q. Then R(B) - Q(B) is the sum of

    H_i - H_(i-1)  =  sum_u sum_x (R_i(x | u) - Q_i(x | u)) W_i(x, u),        u the cells of the parents of i,

where W_i(x, u), the sum over all prefixes with u of R(prefix) Q(B | prefix, x), lies between 0 and the probability
R(u). Given the columns before i of all rows, W_i is no matter of chance (it knows Q behind i, not R), and R_i(. | u)
are the frequencies of N_iu independent draws from Q_i(. | u). So the summands are a sequence of martingale
differences, and by Hoeffding's lemma the i-th has the variance proxy V_i = sum_u R(u)^2 / (4 N_iu), known beforehand;
with S their sum and V that of the V_i, E exp(l S - l^2 V / 2) is at most 1 for every l. Mixed over l with a normal
density of variance 1 / c (de la Pena, Klass and Lai, Annals of Probability 32, 2004), with probability 1 - p,

    |S|  <=  sqrt((V + c) (ln(1 + V / c) + 2 ln(1 / p))),        c = 1 / (10 n) for n rows, fixed before any column.

V is at least 1 / (4 n), so c costs little. Where no row has u, R(u) is lost and counts as that much more. The same
holds for the mean of a function between 0 and 1, so for a distribution in which some columns are drawn uniformly.

**No two parents apart.** If any two parents of a column are joined by an edge, the columns of the group counting as
joined, R(B) is an average, over ways to recombine rows, of the frequency of B among k independent draws from Q, k the
rows of the group: in the order of the columns, every recombined row takes its cell from a row with the same parents'
cells, none twice, which is possible because those cells already come from one row. Hoeffding's bound (1963, section
5) holds for such averages: |R(B) - Q(B)| <= sqrt(ln(2 E / p) / (2 k)) for E events at once. A structure that was
searched for is one of at most 3^(n (n - 1) / 2).

Where those in question are an event E of their own, a rate is h / (h + m) with h = Q(hit, E) and m = Q(miss, E),
which rises with h and falls with m, and both lie within the bound of their frequencies. Sums and products below are
of numbers that are not negative, fewer than 10^8 in a row, so their relative error is below 10^-7, by which all is
widened.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from math import log, log1p, prod, sqrt

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.population import Cell, Inside, Network, Sample, with_ancestors
from fairdsl.numerics.cells import places
from fairdsl.numerics.elimination import elimination
from fairdsl.numerics.tables import Table, joined, without_in_order

#: Cells of columns that are fixed: every column by itself, or as one child reads it.
Fixed = Mapping[int, int]
#: What a child reads in place of a fixed parent, by (parent, child).
Read = Mapping[tuple[int, int], int]

_FloatArray = NDArray[np.float64]

#: Tables and products with more numbers than these are not made: then no bound is known.
_MOST = 1 << 22
#: More than the relative error of any sum of products here, and than those of logarithms and roots.
_ROUNDING = 1e-7


@dataclass(frozen=True, slots=True)
class Tables:
    """A distribution counted in rows: cells, the parents of every column, and how many cells each could have.

    ``relevant`` are the columns that events are about, and their ancestors: the distribution of those is the product of
    their tables alone. ``searched``: the structure was found in the same rows.
    """

    sample: Sample
    cells: tuple[tuple[Cell, ...], ...]
    parents: tuple[tuple[int, ...], ...]
    possible: tuple[int, ...]
    relevant: tuple[int, ...]
    searched: bool

    def closed(self, columns: Sequence[int]) -> bool:
        """Whether the columns have no parents but each other."""
        return all(parent in columns for column in columns for parent in self.parents[column])

    def joined(self, columns: Sequence[int]) -> bool:
        """Whether any two parents of a column are joined by an edge, where ``columns`` are joined with each other."""
        edges = {frozenset((parent, child)) for child in self.relevant for parent in self.parents[child]}
        edges |= {frozenset(pair) for pair in combinations(columns, 2)}
        rest = [self.parents[child] for child in self.relevant if child not in columns]
        return all(frozenset(pair) in edges for parents in rest for pair in combinations(parents, 2))

    def bound(self, fixed: Fixed, *, miss: Fraction, events: int, read: Read | None = None) -> Fraction | None:
        """How far an event's probability is from its frequency, of so many at once, but with probability ``miss``.

        ``fixed`` are closed columns with their cells; with ``read`` they are set instead, and children read them so.
        The bound is that for any structure; None: it is not known, as the tables are too large.
        """
        found = _drift(self, tuple(sorted(fixed.items())), tuple(sorted((read or {}).items())))
        if found is None:
            return None
        variance, lost = found
        least = 1 / (10 * self.sample.rows)
        surprise = log(events) + self._structures() - log(miss)
        return _at_most_one(lost + sqrt((variance + least) * (log1p(variance / least) + 2 * surprise)))

    def bound_of_joined(self, fixed: Fixed, *, miss: Fraction, events: int) -> Fraction:
        """The same where no two parents are apart, for so many events at once; ``fixed`` are closed and joined."""
        codes = _codes(self.sample, self.cells)
        rows = int(np.all([codes[:, column] == cell for column, cell in fixed.items()], axis=0).sum())
        rows = len(codes) if not fixed else rows
        if rows == 0:
            return Fraction(1)
        return _at_most_one(sqrt((log(2 * events) + self._structures() - log(miss)) / (2 * rows)))

    def _structures(self) -> float:
        """The logarithm of how many structures it could have been: of a pair of columns no edge, or one of two."""
        columns = len(self.cells)
        return columns * (columns - 1) / 2 * log(3) if self.searched else 0.0


def tables_of(network: Network, *, label: bool) -> Tables | None:
    """The tables of a distribution counted in rows; None of any other, and where the rows themselves are not at hand.

    ``label``: events are about the label too.
    """
    if network.sample is None or network.sample.rows == 0 or len(network.factors) < len(network.columns):
        return None
    parents = tuple(network.factor_of(column).parents for column in range(len(network.columns)))
    about = len(parents) if label else len(parents) - network.has_label
    sizes = [_possible(attribute.size, cells) for attribute, cells in zip(network.columns, network.cells, strict=True)]
    return Tables(
        sample=network.sample,
        cells=network.cells,
        parents=parents,
        possible=tuple(sizes),
        relevant=tuple(sorted(with_ancestors(range(about), network.parents))),
        searched=network.searched,
    )


def share_of(tables: Tables, fixed: Fixed) -> Fraction | None:
    """The frequency of closed columns having these cells; None where no row has them."""
    codes = _codes(tables.sample, tables.cells)
    share = Fraction(1)
    for column in fixed:
        parents = tables.parents[column]
        alike = np.ones(len(codes), dtype=np.bool_)
        for parent in parents:
            alike &= codes[:, parent] == fixed[parent]
        hits = int((alike & (codes[:, column] == fixed[column])).sum())
        if hits == 0:
            return None
        share *= Fraction(hits, int(alike.sum()))
    return share


def _possible(size: int | None, cells: Sequence[Cell]) -> int:
    """How many cells the column could have had: where only the values that occur are cells, all values."""
    listed = size is not None and all(cell.inside is Inside.POINT for cell in cells)
    return max(size, len(cells)) if listed and size is not None else len(cells)


@lru_cache(maxsize=8)
def _codes(sample: Sample, cells: tuple[tuple[Cell, ...], ...]) -> NDArray[np.intp]:
    """The cell of every row in every column, [rows, columns]."""
    return np.column_stack([places(sample.values.column(place), column) for place, column in enumerate(cells)])


def _at_most_one(bound: float) -> Fraction:
    return min(Fraction(1), Fraction(bound * (1 + _ROUNDING)))


# ---- the sum over the columns --------------------------------------------------------------------


@lru_cache(maxsize=256)
def _drift(
    tables: Tables, fixed: tuple[tuple[int, int], ...], read: tuple[tuple[tuple[int, int], int], ...]
) -> tuple[float, float] | None:
    """The variance proxy V, and what is lost, over the columns that are not fixed; None where tables are too large."""
    cells, seen = dict(fixed), dict(read)
    counts: dict[int, _FloatArray] = {}
    for column in tables.relevant:
        if column not in cells:
            table = _counted(tables, column)
            if table is None:
                return None
            parents = tables.parents[column]
            at = tuple(
                seen.get((parent, column), cells[parent]) if parent in cells else slice(None) for parent in parents
            )
            counts[column] = table[at]
    free = [tuple(parent for parent in parents if parent not in cells) for parents in tables.parents]
    variance = lost = 0.0
    for column, table in counts.items():
        reached = _reached(free[column], free, counts)
        if reached is None:
            return None
        rows = table.sum(axis=-1)
        lost += float(reached[rows == 0].sum())
        if tables.possible[column] > 1:  # a single possible cell is certain
            variance += float((reached**2 / (4 * np.maximum(rows, 1)))[rows > 0].sum())
    return variance, lost


def _counted(tables: Tables, column: int) -> _FloatArray | None:
    """Rows by the cells of the parents and of the column, [parents..., cells]; None where they are too many."""
    codes, members = _codes(tables.sample, tables.cells), (*tables.parents[column], column)
    shape = tuple(len(tables.cells[member]) for member in members)
    if prod(shape) > _MOST:
        return None
    flat = np.ravel_multi_index(tuple(codes[:, member] for member in members), shape)
    return np.bincount(flat, minlength=prod(shape)).astype(np.float64).reshape(shape)


def _reached(
    targets: tuple[int, ...], free: Sequence[tuple[int, ...]], counts: Mapping[int, _FloatArray]
) -> _FloatArray | None:
    """R of every combination of cells of the targets, [targets...], by eliminating their ancestors one by one."""
    left = sorted(with_ancestors(targets, dict(enumerate(free))))
    if not left:
        return np.ones(())
    factors = [Table((*free[column], column), _frequencies(counts[column])) for column in left]
    # A column counts as two cells at least, so that few cells are few axes.
    sizes = {column: max(2, counts[column].shape[-1]) for column in left}
    order = list(elimination([factor.columns for factor in factors], sizes, set(targets)))
    if max([prod(sizes[column] for column in targets), *(cells for _, cells in order)]) > _MOST:
        return None
    found = joined(without_in_order(factors, [column for column, _ in order]))
    reached: _FloatArray = found.numbers.transpose([found.columns.index(column) for column in targets])
    return reached


def _frequencies(counts: _FloatArray) -> _FloatArray:
    rows = counts.sum(axis=-1, keepdims=True)
    found: _FloatArray = np.divide(counts, rows, out=np.zeros_like(counts), where=rows > 0)
    return found
