"""The population in force, in words: what `fairdsl explain SPEC --population` prints.

A distribution that is not what its author thinks answers another question, so nothing of it is left out but the
probabilities of long tables; an empty network is said to be empty.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import prod

from fairdsl.ir.domain import Attribute, show_number
from fairdsl.ir.population import Cell, Factor, Inside, Network, Normal, Population, Row, Rows, Sample
from fairdsl.populations.cutting import show_cell, show_end

#: So many cells of a column, and so many rows of a table, are listed.
_LISTED = 12


def described(population: Population) -> list[str]:
    """One line for each fact: where the distribution comes from, its choices, columns, edges and probabilities."""
    match population:
        case Rows():
            return list(_rows(population))
        case Network():
            return list(_network(population))


def _rows(population: Rows) -> Iterator[str]:
    yield "distribution: the rows of the data, each with the same probability"
    yield _data(population.sample)
    yield "columns: " + ", ".join(attribute.name for attribute in population.columns)


def _network(network: Network) -> Iterator[str]:
    yield f"distribution: {network.how}"
    if network.sample is not None:
        yield _data(network.sample)
    for name, value in network.settings:
        yield f"set {name} = {value}"
    yield _edges(network)
    for factor in sorted(network.factors, key=lambda factor: factor.column):
        yield from _column(network, factor)


def _data(sample: Sample) -> str:
    return f"data: {sample.rows:,} rows of {sample.path}, sha256 {sample.sha256}"


def _edges(network: Network) -> str:
    if not network.edges:
        return "edges: none, so every attribute is independent of all others"
    names = [attribute.name for attribute in network.columns]
    arrows = ", ".join(f"{names[parent]} -> {names[child]}" for parent, child in sorted(network.edges))
    alone = [
        name for place, name in enumerate(names) if all(place not in (parent, child) for parent, child in network.edges)
    ]
    lonely = f"; independent of all others: {', '.join(alone)}" if alone else ""
    origin = "written" if network.causal else "not causes"
    return f"edges: {len(network.edges)} ({origin}): {arrows}{lonely}"


def _column(network: Network, factor: Factor) -> Iterator[str]:
    attribute, cells = network.columns[factor.column], network.cells[factor.column]
    label = " (the label)" if network.has_label and factor.column == len(network.columns) - 1 else ""
    yield f"{attribute.name}{label}: {_cells(attribute, cells)}"
    if factor.parents:
        possible = prod(len(network.cells[parent]) for parent in factor.parents)
        names = ", ".join(network.columns[parent].name for parent in factor.parents)
        rest = ", the others have probability 0" if len(factor.rows) < possible else ""
        yield f"  {len(factor.rows):,} of {possible:,} combinations of {names} occur{rest}"
    for number, (key, row) in enumerate(sorted(factor.rows.items())):
        if number == _LISTED:
            yield f"  and {len(factor.rows) - _LISTED:,} more"
            break
        given = ", ".join(
            f"{network.columns[parent].name} = {_cell(network.cells[parent][index], network.columns[parent])}"
            for parent, index in zip(factor.parents, key, strict=True)
        )
        yield f"  {f'given {given}: ' if given else ''}{_distribution(attribute, cells, row)}"


def _cells(attribute: Attribute, cells: tuple[Cell, ...]) -> str:
    if all(cell.inside is Inside.POINT for cell in cells):
        return f"{len(cells):,} values"
    within = (
        "alike within each" if any(cell.inside is Inside.UNIFORM for cell in cells) else "any distribution within each"
    )
    if len(cells) == 1:
        return _cell(cells[0], attribute)
    return f"{len(cells):,} ranges, {within}"


def _distribution(attribute: Attribute, cells: tuple[Cell, ...], row: Row) -> str:
    if isinstance(row, Normal):
        return f"normal, mean {show_number(row.mean)}, sd {show_number(row.sd)}{', truncated' if row.truncated else ''}"
    likely = [(cell, probability) for cell, probability in zip(cells, row, strict=True) if probability]
    shown = [f"{_cell(cell, attribute)} {_probability(probability)}" for cell, probability in likely[:_LISTED]]
    more = f" and {len(likely) - _LISTED:,} more" if len(likely) > _LISTED else ""
    return ", ".join(shown) + more


def _cell(cell: Cell, attribute: Attribute) -> str:
    return show_cell(cell, attribute, show_end)


def _probability(value: Fraction) -> str:
    """A fraction where it is short, a decimal otherwise."""
    text = str(value)
    return text if len(text) <= 9 else f"{float(value):.6f}"
