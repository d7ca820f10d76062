"""People drawn from a distribution, in an order that the seed alone decides.

A column is drawn once those it depends on are: its cell by the probabilities that its parents' cells have, and a value
in it. Real values are drawn as floats, cells by uniform numbers of 53 bits. Where parents have no distribution the
individual is *lost*: such combinations have no mass, so others are drawn instead; along paths, where a baseline leads
there, they may be favoured or not.

Of a cell whose inside is not known every value is tried that may matter: decisions are then known as far as all agree.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import ceil, floor, inf, prod
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.domain import Attribute
from fairdsl.ir.exact_rows import Column, ExactRows, Scaled
from fairdsl.ir.expr import Predicate, holds
from fairdsl.ir.population import Cell, Factor, Inside, Network, Normal, Row, with_ancestors
from fairdsl.metrics.subject import Subject, axes_of, predicates_of, weighed_by
from fairdsl.numerics.rounding import float_above, float_below
from fairdsl.numerics.truth import ByColumn, by_column

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]

#: Ways in which all values within cells may lie that are tried for each individual, at most.
_VARIANTS = 64


class OpenInsideError(Exception):
    """What lies within the cells of a column is not known, and it matters: the column, and why it cannot be tried."""

    def __init__(self, attribute: Attribute, why: str) -> None:
        super().__init__(f"what lies within the cells of `{attribute.name}` is not known, and {why}")
        self.attribute = attribute


@dataclass(frozen=True, slots=True, eq=False)
class Crowd:
    """Individuals: the cells of their columns [people, columns], and who is lost [people].

    ``values`` are all columns, once for every way in which values within open cells are tried.
    """

    cells: Integers
    values: tuple[ExactRows, ...]
    lost: Booleans

    def __len__(self) -> int:
        return len(self.cells)


class People:
    """Draws the people of a subject. Raises OpenInsideError where the insides of cells leave too much open."""

    def __init__(self, subject: Subject, rng: np.random.Generator) -> None:
        self._network, self._rng = subject.network, rng
        self.set_from_outside = _set_columns(subject.network)
        self._factors = _needed(subject, bool(self.set_from_outside))
        #: Whether somebody may be lost.
        self.may_lose = any(not subject.network.complete(factor) for factor in self._factors)
        both = zip(subject.network.columns, subject.network.cells, strict=True)
        self._inside = {column: _Inside(*each) for column, each in enumerate(both)}
        drawn = {factor.column for factor in self._factors if not factor.normal}
        self._tried = _tried(subject, drawn & subject.read)
        self._groups = list(product(*(range(len(subject.network.cells[column])) for column in self.set_from_outside)))
        self._next = 0
        #: By column and the cells of its parents, once they were needed.
        self._steps: dict[tuple[int, tuple[int, ...]], Floats] = {}

    def draw(self, count: int) -> Crowd:
        """So many more individuals; of columns that are set from outside, each combination in turn."""
        cells = np.zeros((count, len(self._network.columns)), dtype=np.int64)
        lost = np.zeros(count, dtype=np.bool_)
        if self.set_from_outside:
            turn = (self._next + np.arange(count)) % len(self._groups)
            self._next = (self._next + count) % len(self._groups)
            cells[:, list(self.set_from_outside)] = np.array(self._groups, dtype=np.int64)[turn]
        numbers: dict[int, Floats] = {}
        for factor in self._factors:
            cells[:, factor.column], own = self._drawn(factor, cells, lost)
            if own is not None:
                numbers[factor.column] = own
        columns: list[Column] = []
        for column, inside in self._inside.items():
            known = numbers.get(column)
            columns.append(inside.values(cells[:, column], self._rng) if known is None else known)
        return Crowd(cells, tuple(self._variants(columns, cells)), lost)

    def _drawn(self, factor: Factor, cells: Integers, lost: Booleans) -> tuple[Integers, Floats | None]:
        """The cells of a column by those of its parents, and its values where they are normal."""
        count, chance = len(cells), self._rng.random(len(cells))
        found, numbers = np.zeros(count, dtype=np.int64), np.zeros(count) if factor.normal else None
        sizes = tuple(len(self._network.cells[parent]) for parent in factor.parents)
        codes = np.zeros(count, dtype=np.int64)
        if sizes:
            codes = np.ravel_multi_index(tuple(cells[:, parent] for parent in factor.parents), sizes).astype(np.int64)
        order = np.argsort(codes, kind="stable")
        starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
        for people in np.split(order, starts[1:]):
            at = tuple(int(place) for place in cells[people[0], list(factor.parents)])
            row = factor.rows.get(at)
            if row is None:
                lost[people] = True
            elif isinstance(row, Normal):
                assert numbers is not None
                numbers[people] = _normal_numbers(row, self._network.columns[factor.column], chance[people])
            else:
                steps = self._steps.get((factor.column, at))
                if steps is None:
                    steps = self._steps[factor.column, at] = _steps(row)
                found[people] = np.searchsorted(steps, chance[people], side="right")
        return found, numbers

    def _variants(self, columns: list[Column], cells: Integers) -> list[ExactRows]:
        """The individuals with every value that is tried in the cells whose inside is not known."""
        count = len(cells)
        if not self._tried:
            return [ExactRows.of_columns(columns, count)]
        found = []
        for places in product(*(range(each.most) for each in self._tried.values())):
            chosen = list(columns)
            for (column, each), place in zip(self._tried.items(), places, strict=True):
                chosen[column] = each.at(columns[column], cells[:, column], place)
            found.append(ExactRows.of_columns(chosen, count))
        return found


def _set_columns(network: Network) -> tuple[int, ...]:
    """The columns without a distribution of their own."""
    drawn = {factor.column for factor in network.factors}
    return tuple(column for column in range(len(network.columns)) if column not in drawn)


def _needed(subject: Subject, intervened: bool) -> list[Factor]:
    """The factors of columns that matter, parents first.

    Those that something reads, and those before them; and where nothing is set from outside, those with combinations of
    parents that have no mass, which nobody has.
    """
    network = subject.network
    factors = {factor.column: factor for factor in network.factors}
    read = set(subject.read)
    if not intervened:
        read.update(factor.column for factor in network.factors if not network.complete(factor))
    wanted = with_ancestors(read, network.parents) & factors.keys()
    ordered: list[Factor] = []
    done: set[int] = set()
    while len(ordered) < len(wanted):
        for column in sorted(wanted - done):
            if done.issuperset(parent for parent in factors[column].parents if parent in factors):
                ordered.append(factors[column])
                done.add(column)
    return ordered


def _steps(row: Row) -> Floats:
    """Where the uniform number of each cell ends; one of probability 0 has none."""
    assert not isinstance(row, Normal)
    steps = np.cumsum([float(probability) for probability in row])
    last = max(place for place, probability in enumerate(row) if probability)
    steps[last:] = 1.0
    return np.asarray(steps)


def _normal_numbers(distribution: Normal, attribute: Attribute, chance: Floats) -> Floats:
    """Normal numbers from uniform ones, between the bounds of the attribute where they are truncated."""
    own = NormalDist(float(distribution.mean), float(distribution.sd))
    low, high = attribute.bounds if distribution.truncated else (None, None)
    least, most = -inf if low is None else float_above(low), inf if high is None else float_below(high)
    mirrored = least > own.mean  # the lower tail is the one that floats resolve
    if mirrored:
        least, most = 2 * own.mean - most, 2 * own.mean - least
    start, end = (0.0 if least == -inf else own.cdf(least)), (1.0 if most == inf else own.cdf(most))
    inside = np.clip(start + (end - start) * chance, 1e-300, 1 - 2.0**-53)
    found = np.clip([own.inv_cdf(number) for number in inside.tolist()], least, most)
    return np.asarray(2 * own.mean - found if mirrored else found, dtype=np.float64)


class _Inside:
    """The values of a column by its cells."""

    def __init__(self, attribute: Attribute, cells: Sequence[Cell]) -> None:
        self._attribute, self._cells = attribute, cells
        #: A value of each cell: its only one, where it has no more.
        self._first = Scaled.of_fractions([_some(cell) for cell in cells])
        self._wide = [place for place, cell in enumerate(cells) if cell.inside is Inside.UNIFORM]

    def values(self, cells: Integers, rng: np.random.Generator) -> Column:
        """One for each individual."""
        if not self._wide:
            return _plain(self._first.at(cells))
        found = self._first.floats[cells]
        ranges = {place: cells == place for place in self._wide}
        for place, people in ranges.items():
            if np.any(people):
                found[people] = self._spread(self._cells[place], int(people.sum()), rng)
        points = self._first.at(cells)
        if Scaled.of_floats(self._first.floats).fractions == self._first.fractions:
            return found
        # Some single value is not a float: the others are taken as exactly the floats that they are.
        numbers = [
            Fraction(value) if self._cells[cell].inside is Inside.UNIFORM else exact
            for value, cell, exact in zip(found.tolist(), cells.tolist(), points.fractions, strict=True)
        ]
        return Scaled.of_fractions(numbers)

    def _spread(self, cell: Cell, count: int, rng: np.random.Generator) -> Floats:
        values = self._attribute.values
        if values is None:
            assert cell.low is not None
            assert cell.high is not None
            low, high = float_above(cell.low), float_below(cell.high)
            return np.asarray(np.clip(low + (high - low) * rng.random(count), low, high))
        inside = _whole(self._attribute, cell)
        if isinstance(inside, range) and inside.step == 1:
            return rng.integers(inside[0], inside[-1] + 1, count).astype(np.float64)
        return np.array([float(value) for value in inside])[rng.integers(0, len(inside), count)]


def _whole(attribute: Attribute, cell: Cell) -> Sequence[int]:
    """The whole numbers, or codes, in a cell."""
    values = attribute.values or ()
    if not isinstance(values, range) or values.step != 1:
        return [value for value in values if cell.contains(Fraction(value))]
    low = values[0] if cell.low is None else max(values[0], ceil(cell.low))
    high = values[-1] if cell.high is None else min(values[-1], floor(cell.high))
    return range(low, high if cell.open and cell.high == high else high + 1)


def _some(cell: Cell) -> Fraction:
    return cell.low if cell.low is not None else cell.high if cell.high is not None else Fraction(0)


def _plain(column: Scaled) -> Column:
    """Floats where every number is one."""
    return column.floats if column.denominator == 1 and column.numerators.dtype != object else column


@dataclass(frozen=True, slots=True, eq=False)
class _Tried:
    """The values that are tried in each cell of a column whose inside is not known."""

    values: Mapping[int, Sequence[Fraction]]

    @property
    def most(self) -> int:
        """The most values that are tried in a cell."""
        return max(len(each) for each in self.values.values())

    def at(self, known: Column, cells: Integers, place: int) -> Column:
        """The column with one of them in each such cell."""
        exact = known if isinstance(known, Scaled) else Scaled.of_floats(known)
        numbers = exact.fractions
        for cell, values in self.values.items():
            chosen = values[place % len(values)]
            for person in np.flatnonzero(cells == cell).tolist():
                numbers[person] = chosen
        return Scaled.of_fractions(numbers)


def _tried(subject: Subject, columns: set[int]) -> dict[int, _Tried]:
    """What is tried in the cells that are open, by column; only columns in which it may matter."""
    network = subject.network
    open_ = {c for c in columns if any(cell.inside is Inside.UNKNOWN for cell in network.cells[c])}
    if not open_:
        return {}
    asked, given = by_column(predicates_of(subject)), by_column([subject.condition]).parts
    axes, weighed = axes_of(subject, asked), _read_as_numbers(subject, asked)
    found: dict[int, _Tried] = {}
    for column in sorted(open_):
        attribute, own = network.columns[column], asked.alone.get(column, [])
        values: dict[int, Sequence[Fraction]] = {}
        for place, cell in enumerate(network.cells[column]):
            atom = next((each for each in axes[column].atoms if each.cell == place), None)
            if cell.inside is not Inside.UNKNOWN or atom is None:
                continue
            if column in weighed:
                if atom.values is None:
                    raise OpenInsideError(attribute, "the model reads its numbers")
                values[place] = atom.values
            else:  # one for every combination of truths
                values[place] = tuple({_truths(own, value): value for value in atom.samples}.values())
            if len({_truths([part for part in given if part in own], value) for value in values[place]}) > 1:
                raise OpenInsideError(attribute, "a condition asks for it")
        if values:
            found[column] = _Tried(values)
        if prod(each.most for each in found.values()) > _VARIANTS:
            raise OpenInsideError(attribute, f"there are more than {_VARIANTS} ways in which all of them may lie")
    return found


def _truths(predicates: Sequence[Predicate], value: Fraction) -> tuple[bool, ...]:
    return tuple(holds(predicate, lambda _: value) for predicate in predicates)


def _read_as_numbers(subject: Subject, asked: ByColumn) -> frozenset[int]:
    """The columns of which every value may matter, and not the truth of some tests alone."""
    if subject.model.opaque is not None:
        return subject.read
    return frozenset(weighed_by(subject.model) | asked.together)
