"""The distribution of the columns that matter, as tables of whole numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import prod

from fairdsl.backends.rates.columns import Column
from fairdsl.ir.population import Factor, Network
from fairdsl.numerics.elimination import elimination
from fairdsl.numerics.tables import Table, joined, summed, whole_table

__all__ = ["Distribution", "TangledError", "distribution_of"]

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
    factors = _needed(network, wanted)
    scopes = [{*factor.parents, factor.column} for factor in factors]
    sizes = {column: len(cells) for column, cells in enumerate(network.cells)}
    order = list(elimination(scopes, sizes, wanted))
    largest = max((cells for _, cells in order), default=1)
    if largest > _CLIQUE:
        raise TangledError(largest)
    made = [whole_table(network, factor) for factor in factors]
    for column, _ in order:
        touched = [(table, scale) for table, scale in made if column in table.columns]
        made = [(table, scale) for table, scale in made if column not in table.columns]
        made.append((summed(joined([table for table, _ in touched]), column), prod(scale for _, scale in touched)))
    return Distribution(
        tables=tuple(table for table, _ in made),
        scales=tuple(scale for _, scale in made),
        sizes={column: sizes[column] for column in wanted},
    )


def _needed(network: Network, wanted: set[int]) -> list[Factor]:
    """Without the columns that nothing reads and nothing depends on, whose distributions sum to 1."""
    factors = {factor.column: factor for factor in network.factors}
    children = dict.fromkeys(factors, 0)
    for factor in network.factors:
        for parent in factor.parents:
            children[parent] = children.get(parent, 0) + 1
    waiting = list(factors)
    while waiting:
        column = waiting.pop()
        candidate = factors.get(column)
        if candidate is None or column in wanted or children[column] or not _complete(network, candidate):
            continue
        del factors[column]
        for parent in candidate.parents:
            children[parent] -= 1
        waiting.extend(candidate.parents)
    return list(factors.values())


def _complete(network: Network, factor: Factor) -> bool:
    return len(factor.rows) == prod(len(network.cells[parent]) for parent in factor.parents)
