"""How probable individuals are under a distribution, as whole numbers in proportion to their probabilities."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.domain import Attribute
from fairdsl.ir.population import Factor, Inside, Network, Normal
from fairdsl.numerics.cells import places

Integers = NDArray[np.int64]


def unlisted(network: Network, attributes: int) -> Attribute | None:
    """A column of the first so many whose values have no probabilities one by one; None where all have."""
    for column in range(attributes):
        unknown = any(cell.inside is Inside.UNKNOWN for cell in network.cells[column])
        if unknown or network.factor_of(column).normal:
            return network.columns[column]
    return None


def weights_of(network: Network, people: NDArray[np.float64]) -> tuple[NDArray[Any], int]:
    """The probabilities of individuals [n, attributes], all of whose values are listed, as whole numbers [n] over one
    denominator: a label is summed over.
    """
    attributes = people.shape[1]
    cells = {column: places(people[:, column], network.cells[column]) for column in range(attributes)}
    inside = np.logical_and.reduce([found >= 0 for found in cells.values()])
    known = {column: np.maximum(found, 0) for column, found in cells.items()}
    shared = np.array([1 if some else 0 for some in inside.tolist()], dtype=object)
    over = 1
    for column in range(attributes):
        part, whole = _within(network, column, known[column])
        shared, over = shared * part, over * whole
    behind = range(attributes, len(network.columns))
    if not any(parent in behind for factor in network.factors for parent in factor.parents):
        for column in range(attributes):
            part, whole = _rows(network, network.factor_of(column), known)
            shared, over = shared * part, over * whole
        return shared, over
    (label,) = behind
    total = np.zeros(len(people), dtype=object)
    # What is made whole is made so alike for every value of the label.
    for value in range(len(network.cells[label])):
        here = {**known, label: np.full(len(people), value, dtype=np.int64)}
        mass, denominator = shared, over
        for factor in network.factors:
            part, whole = _rows(network, factor, here)
            mass, denominator = mass * part, denominator * whole
        total = total + mass
    return total, denominator


def _rows(network: Network, factor: Factor, cells: Mapping[int, Integers]) -> tuple[NDArray[Any], int]:
    """The probability of each one's cell given those of its parents, over one denominator for the whole table."""
    columns = (*factor.parents, factor.column)
    sizes = tuple(len(network.cells[column]) for column in columns)
    codes = np.ravel_multi_index(tuple(cells[column] for column in columns), sizes)
    distinct, where = np.unique(codes, return_inverse=True)
    listed = [row for row in factor.rows.values() if not isinstance(row, Normal)]
    whole = lcm(*(probability.denominator for row in listed for probability in row))
    found: list[int] = []
    for *parents, own in zip(*(part.tolist() for part in np.unravel_index(distinct, sizes)), strict=True):
        row = factor.rows.get(tuple(parents))
        found.append(0 if row is None or isinstance(row, Normal) else int(row[own] * whole))
    return np.array(found, dtype=object)[where], whole


def _within(network: Network, column: int, cells: Integers) -> tuple[NDArray[Any], int]:
    """The part of its cell that each one's value is, over one denominator for the column."""
    values = network.columns[column].values or ()
    counts = [
        1 if cell.inside is Inside.POINT else max(1, sum(cell.contains(Fraction(value)) for value in values))
        for cell in network.cells[column]
    ]
    whole = lcm(*counts)
    return np.array([whole // count for count in counts], dtype=object)[cells], whole
