"""Columns that are independent given the keys, each with single values: the score of a group is a sum of independent
whole numbers.

It is so where every column that the score reads depends on columns of groups alone (the law of each group is a
product), nothing is conditioned and no indicator reads two columns. Such a subject, or its task, is restated here
with few numbers, since there are many of them: everything that adds to the score is a whole multiple of
``1 / scale``. The columns that nothing reads are left out, for the laws of all columns sum to 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, product, repeat
from math import gcd, lcm, prod
from typing import NamedTuple

from fairdsl.backends.rates.linear.task import ONE, Chances, State, Task, WeightedSum
from fairdsl.ir.expr import TRUE, Predicate, holds, holds_at
from fairdsl.ir.feature import AttributeInput
from fairdsl.ir.population import Cell, Factor, Normal
from fairdsl.metrics.joint import Key, key_of
from fairdsl.numerics.axes import mentioned

_ZERO = Fraction(0)
#: Groups are gone through one after the other.
_GROUPS = 4096

#: Numerators of numbers over a common denominator, not necessarily the least.
Multiples = tuple[list[int], int]
Law = tuple[Fraction, ...]


#: A column that is read: what each cell adds, in whole units, and the law of its cells, one for everybody or one for
#: each group. (There are many of them, and a tuple with names takes ten times as long to make.)
Weighed = tuple[Sequence[int], tuple[Law, ...]]


class Group(NamedTuple):
    """One combination of the keys' cells: its key, its probability, and what these cells add, in whole units."""

    key: Key
    mass: Fraction
    adds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Independent:
    """The score is ``constant`` plus the sum of what group and columns add, over ``scale``."""

    scale: Fraction
    constant: Fraction
    columns: tuple[Weighed, ...]
    groups: tuple[Group, ...]


def independent_of(of: WeightedSum) -> Independent | None:
    """The subject as a sum of independent numbers; None where it is none."""
    network = of.network
    if not _unconditional(of.conditions) or not network.known:
        return None
    added = _added(of)
    if added is None:
        return None
    constant, multiples = added
    factors = {factor.column: factor for factor in network.factors}
    keys = {column: [key_of(cell) for cell in network.cells[column]] for column in of.keys}
    return _assembled(constant, multiples, factors, keys)


def _unconditional(conditions: Iterable[Predicate]) -> bool:
    return all(
        condition == TRUE or (not mentioned(condition) and holds(condition, lambda _: _ZERO))
        for condition in conditions
    )


def _added(of: WeightedSum) -> tuple[Fraction, dict[int, Multiples]] | None:
    """The constant, and by column what each of its cells adds; None where ranges or several columns are read."""
    constant = of.constant
    slopes: dict[int, Fraction] = {}
    indicators: dict[int, list[tuple[Predicate, Fraction]]] = {}
    for item, weight in of.terms:
        if isinstance(item, AttributeInput):
            column = item.attribute
            slopes[column] = slopes[column] + weight if column in slopes else weight
            continue
        match mentioned(item.predicate):
            case ():
                constant += weight if holds(item.predicate, lambda _: _ZERO) else _ZERO
            case (column,):
                indicators.setdefault(column, []).append((item.predicate, weight))
            case _:
                return None
    for column in indicators:
        slopes.setdefault(column, _ZERO)
    known: dict[int, Multiples | None] = {}
    found: dict[int, Multiples] = {}
    every = of.network.cells
    for column, slope in sorted(slopes.items()):
        numerator, denominator = slope.as_integer_ratio()
        own = indicators.get(column)
        if not (numerator or own):
            continue
        cells = every[column]
        name = id(cells)  # columns of one type often share them
        if name not in known:
            known[name] = _values(cells)
        values = known[name]
        if values is None:
            return None
        numbers, under = values
        if own:
            found[column] = _indicated(slope, own, values)
        elif len(numbers) == 2:  # most columns
            found[column] = [numerator * numbers[0], numerator * numbers[1]], denominator * under
        else:
            found[column] = [numerator * number for number in numbers], denominator * under
    return constant, found


def _values(cells: Sequence[Cell]) -> Multiples | None:
    """The single values that the cells are."""
    values = [cell.low for cell in cells if cell.low is not None and cell.low == cell.high]
    return _multiples(values) if len(values) == len(cells) else None


def _multiples(values: Iterable[Fraction]) -> Multiples:
    ratios = [value.as_integer_ratio() for value in values]
    common = lcm(*{denominator for _, denominator in ratios})
    return [numerator * (common // denominator) for numerator, denominator in ratios], common


def _indicated(slope: Fraction, indicators: list[tuple[Predicate, Fraction]], values: Multiples) -> Multiples:
    found = []
    for numerator in values[0]:
        value = Fraction(numerator, values[1])
        weights = [weight for predicate, weight in indicators if holds_at(predicate, value)]
        found.append(sum(weights, slope * value))
    return _multiples(found)


def independent_of_task(task: Task, kept: Sequence[int]) -> Independent | None:
    """The same of a task, whose results are listed by the ``kept`` axes."""
    if task.remainder is not None or task.clauses or task.divided:
        return None
    groups, read = frozenset(kept), task.readings.keys() | frozenset(kept)
    if any(table.column in read and not groups.issuperset(table.axes[:-1]) for table in task.chances):
        return None
    factors: dict[int, Factor] = {}
    for table in task.chances:
        if table.column is None or table.column in factors or not (table.complete and table.exact):
            return None
        factors[table.column] = _factor(table)
    multiples: dict[int, Multiples] = {}
    for column in sorted(task.readings):
        cells = [_known(states) for states in task.readings[column]]
        ends = [cell for cell in cells if cell is not None]
        if len(ends) < len(cells):
            return None
        multiples[column] = _multiples(ends)
    return _assembled(task.constant, multiples, factors, {column: list(task.keys[column]) for column in kept})


def _factor(table: Chances) -> Factor:
    *parents, column = table.axes
    size = table.shape[-1]
    combinations = product(*(range(count) for count in table.shape[:-1]))
    rows = {cells: table.least[n * size : (n + 1) * size] for n, cells in enumerate(combinations)}
    return Factor(column=column, parents=tuple(parents), rows=rows)


def _known(states: tuple[State, ...]) -> Fraction | None:
    """What a cell adds, where it is one number for all of it."""
    if len(states) != 1:
        return None
    (state,) = states
    return state.low if state.low == state.high and state.least == state.most == 1 else None


def _assembled(
    constant: Fraction,
    multiples: Mapping[int, Multiples],
    factors: Mapping[int, Factor],
    keys: Mapping[int, list[Fraction]],
) -> Independent | None:
    """None where a column depends on another that is not a key, or has a normal law."""
    if prod(len(values) for values in keys.values()) > _GROUPS:
        return None
    scale, adds = _whole(multiples)
    combinations = list(product(*(range(len(values)) for values in keys.values())))
    groups = _groups(combinations, adds, factors, keys)
    if groups is None:
        return None
    places = {column: place for place, column in enumerate(keys)}
    columns: list[Weighed] = []
    for column, added in adds.items():
        if column in places:
            continue
        factor = factors.get(column)
        if factor is None:
            return None
        if factor.parents:
            laws = _laws(factor, combinations, places)
        else:
            law = factor.rows[()]
            laws = None if isinstance(law, Normal) else (law,)
        if laws is None:
            return None
        columns.append((added, laws))
    return Independent(scale=scale, constant=constant, columns=tuple(columns), groups=groups)


def _laws(factor: Factor, combinations: Sequence[tuple[int, ...]], places: Mapping[int, int]) -> tuple[Law, ...] | None:
    """The law of each group; None where it depends on others than keys, or is not a list of masses."""
    if not all(parent in places for parent in factor.parents):
        return None
    at = [places[parent] for parent in factor.parents]
    rows = [factor.rows[tuple([cells[place] for place in at])] for cells in combinations]
    laws = tuple([row for row in rows if not isinstance(row, Normal)])
    return laws if len(laws) == len(rows) else None


def _whole(multiples: Mapping[int, Multiples]) -> tuple[Fraction, dict[int, list[int]]]:
    """The least scale at which all are whole, and the whole numbers."""
    common = lcm(*{denominator for _, denominator in multiples.values()})
    adds = {
        column: numerators if denominator == common else [number * (common // denominator) for number in numerators]
        for column, (numerators, denominator) in multiples.items()
    }
    shared = gcd(*chain.from_iterable(adds.values())) or common  # any scale will do for zeros
    if shared > 1:
        adds = {column: [number // shared for number in added] for column, added in adds.items()}
    return Fraction(common, shared), adds


def _groups(
    combinations: Sequence[tuple[int, ...]],
    adds: Mapping[int, Sequence[int]],
    factors: Mapping[int, Factor],
    keys: Mapping[int, list[Fraction]],
) -> tuple[Group, ...] | None:
    """All groups; None where the law of a key depends on what is not a key."""
    places = {column: place for place, column in enumerate(keys)}
    factors_of_keys = [(place, factors[column]) for column, place in places.items() if column in factors]
    laws = [_laws(factor, combinations, places) for _, factor in factors_of_keys]
    added = [(place, adds[column]) for column, place in places.items() if column in adds]
    masses: list[Fraction] | None = None
    for (place, _), rows in zip(factors_of_keys, laws, strict=True):
        if rows is None:
            return None
        parts = [row[cells[place]] for row, cells in zip(rows, combinations, strict=True)]
        masses = parts if masses is None else [mass * part for mass, part in zip(masses, parts, strict=True)]
    sums = [sum([of_column[cells[place]] for place, of_column in added]) for cells in combinations]
    return tuple(map(Group, product(*keys.values()), masses or repeat(ONE), sums))
