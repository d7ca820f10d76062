"""A network with finer cells for predicates over several columns, which look into the ranges of its cells.

Most of them compare one column at a time (``age >= 30 and sex = male``): a uniform cell is cut where those comparisons
change, and on every part one value speaks for all. Where columns are *tangled* in a linear comparison, whole numbers
become cells of their own (parts, where they are many), and reals parts. Of a uniform cell every part has its own share,
so the law is the same one said in more words.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain, product
from math import prod

from fairdsl.backends.rates.linear.remainder import NormalSum, SingleColumn, Uniform
from fairdsl.backends.rates.linear.task import Remainder
from fairdsl.ir.domain import Attribute
from fairdsl.ir.expr import Predicate, atoms, borders, holds_at, variables
from fairdsl.ir.population import Cell, Factor, Inside, Network, Normal, Row
from fairdsl.numerics.pieces import Piece, Reading, pieces_of, subdivided

#: Whole numbers are listed one by one up to so many.
LISTED = 4096


@dataclass(frozen=True, slots=True)
class Looks:
    """How predicates over several columns look at one: ``atoms`` are the comparisons of it alone.

    ``tangled``: others compare it with further columns.
    """

    atoms: tuple[Predicate, ...]
    tangled: bool

    @property
    def cuts(self) -> list[Fraction]:
        """Where an atom may change its truth, ascending."""
        return sorted({cut for atom in self.atoms for cut in borders(atom)})

    def speaker(self, attribute: Attribute, cell: Cell) -> Fraction | None:
        """A value that speaks for the whole cell, except for single values of no mass; None: there is none."""
        if self.tangled:
            return None
        pieces = pieces_of(attribute, cell, self.cuts)
        if cell.inside is Inside.UNIFORM and len(pieces) > 1:
            pieces = [piece for piece in pieces if piece.size]
        answers = {tuple(holds_at(atom, piece.sample) for atom in self.atoms) for piece in pieces}
        return pieces[0].sample if len(answers) == 1 else None


def looks_of(predicates: Iterable[Predicate]) -> dict[int, Looks]:
    """By column."""
    own: dict[int, dict[Predicate, None]] = {}
    tangled: set[int] = set()
    for atom in chain.from_iterable(map(atoms, predicates)):
        columns = {variable.attribute for variable in variables(atom)}
        if len(columns) > 1:
            tangled |= columns
        for column in columns:
            own.setdefault(column, {}).update({atom: None} if len(columns) == 1 else {})
    return {column: Looks(tuple(found), column in tangled) for column, found in own.items()}


@dataclass(frozen=True, slots=True)
class Refined:
    """The network, and of each column that was cut the new cells' old ones; ``divided``: finer parts tell more."""

    network: Network
    origins: dict[int, tuple[int, ...]]
    divided: bool


def refined(network: Network, looks: Mapping[int, Looks], parts: int) -> Refined:
    """Cut the uniform cells of the columns that are looked at."""
    origins: dict[int, tuple[int, ...]] = {}
    divided = False
    for column, look in looks.items():
        cells, places, shares = _cut(network.columns[column], network.cells[column], look, parts)
        divided = divided or (look.tangled and any(_range(cell) for cell in cells))
        if len(cells) == len(network.cells[column]):
            continue
        origins[column] = places
        network = replace(
            network,
            cells=tuple(cells if number == column else old for number, old in enumerate(network.cells)),
            factors=tuple(_spread(factor, column, places, shares) for factor in network.factors),
        )
    return Refined(network, origins, divided)


def _range(cell: Cell) -> bool:
    return cell.inside is Inside.UNIFORM and cell.low != cell.high


def _cut(
    attribute: Attribute, cells: tuple[Cell, ...], look: Looks, parts: int
) -> tuple[tuple[Cell, ...], tuple[int, ...], tuple[Fraction, ...]]:
    found: list[Cell] = []
    places: list[int] = []
    shares: list[Fraction] = []
    for place, cell in enumerate(cells):
        if not _range(cell) or cell.low is None or cell.high is None:
            found.append(cell)
            places.append(place)
            shares.append(Fraction(1))
            continue
        pieces = [piece for piece in pieces_of(attribute, cell, look.cuts) if piece.size]
        whole = sum((piece.size for piece in pieces), Fraction(0))
        for part in (part for piece in pieces for part in _parted(piece, look, parts, whole)):
            found.append(Cell(low=part.low, high=part.high, inside=Inside.POINT if part.point else Inside.UNIFORM))
            places.append(place)
            shares.append(part.size / whole)
    return tuple(found), tuple(places), tuple(shares)


def _parted(piece: Piece, look: Looks, parts: int, whole: Fraction) -> Iterable[Piece]:
    if not look.tangled:
        return [piece]
    if piece.count is not None and piece.count <= LISTED:
        return subdivided(piece, piece.count)
    return subdivided(piece, max(1, -(-parts * piece.size // whole)))


def _spread(factor: Factor, column: int, places: tuple[int, ...], shares: tuple[Fraction, ...]) -> Factor:
    """The factor over the new cells: its own column's masses are shared out, a parent's rows repeated."""
    if factor.column == column:
        return replace(factor, rows={cells: _shared(row, places, shares) for cells, row in factor.rows.items()})
    if column not in factor.parents:
        return factor
    position = factor.parents.index(column)
    rows = {
        (*cells[:position], new, *cells[position + 1 :]): row
        for cells, row in factor.rows.items()
        for new, old in enumerate(places)
        if old == cells[position]
    }
    return replace(factor, rows=rows)


def _shared(row: Row, places: tuple[int, ...], shares: tuple[Fraction, ...]) -> Row:
    if isinstance(row, Normal):
        return row
    return tuple(row[old] * share for old, share in zip(places, shares, strict=True))


# --------------------------------------------------------------------------------------------------
# Which columns are left out of all tables because their part of the score has a law in closed form.
#
# If there are normal columns that enter linearly and that nothing else reads, all of them; otherwise at most one
# column, the one that would be the hardest to cut into parts. All other ranges are cut, in ``lowering``.

#: Combinations of cells that a closed form may depend on.
_COMBINATIONS = 4096


@dataclass(frozen=True, slots=True)
class Leftover:
    """The columns whose axes are not needed, and the law of what they contribute (None: nothing).

    ``within``: a column that stays as an axis of its cells, while what is read of it within them is in the law.
    """

    columns: frozenset[int] = frozenset()
    law: Remainder | None = None
    within: int | None = None


def choose_remainder(network: Network, readings: Mapping[int, Reading], blocked: frozenset[int]) -> Leftover:
    """``blocked`` columns are needed as axes: keys, and what predicates over several columns mention."""
    factors = {factor.column: factor for factor in network.factors}
    normal = {column: factor for column, factor in factors.items() if _normal(factor)}
    free = {column: factor for column, factor in normal.items() if column not in blocked}
    linear = {column: factor for column, factor in free.items() if _linear(factor, readings[column])}
    if linear and prod(len(network.cells[axis]) for axis in _parents(linear, normal)) <= _COMBINATIONS:
        return _normal_sum(network, linear, readings, _parents(linear, normal))
    candidates = [
        column for column in factors if column not in blocked and _wide(network, factors[column], readings[column])
    ]
    if not candidates:
        return Leftover()
    chosen = max(candidates, key=lambda column: (_effect(network, factors[column], readings[column]), -column))
    factor, reading = factors[chosen], readings[chosen]
    if chosen in normal:
        axes = _parents({chosen: factor}, normal)
        if prod(len(network.cells[axis]) for axis in axes) > _COMBINATIONS:
            return Leftover()
        return Leftover(frozenset({chosen}), _single_normal(network, factor, reading, axes))
    return _single_uniform(network, chosen, reading)


def _normal(factor: Factor) -> bool:
    return bool(factor.rows) and all(isinstance(row, Normal) for row in factor.rows.values())


def _linear(factor: Factor, reading: Reading) -> bool:
    truncated = any(isinstance(row, Normal) and row.truncated for row in factor.rows.values())
    return bool(reading.slope) and not (reading.indicators or reading.conditions or truncated)


def _parents(factors: Mapping[int, Factor], normal: Mapping[int, Factor]) -> tuple[int, ...]:
    """The axes that the laws depend on; a normal parent has a single cell and is none."""
    return tuple(sorted({p for factor in factors.values() for p in factor.parents if p not in normal}))


def _normal_sum(
    network: Network, factors: Mapping[int, Factor], readings: Mapping[int, Reading], axes: tuple[int, ...]
) -> Leftover:
    moments: dict[tuple[int, ...], tuple[Fraction, Fraction]] = {}
    for cells in product(*(range(len(network.cells[axis])) for axis in axes)):
        mean = variance = Fraction(0)
        for column, factor in factors.items():
            row = factor.rows.get(_own(factor, axes, cells))
            if not isinstance(row, Normal):
                break
            mean += readings[column].slope * row.mean
            variance += (readings[column].slope * row.sd) ** 2
        else:
            moments[cells] = (mean, variance)
    defined = len(moments) == prod(len(network.cells[axis]) for axis in axes)
    return Leftover(frozenset(factors), NormalSum(axes=axes, moments=moments, conditioned=not defined))


def _own(factor: Factor, axes: tuple[int, ...], cells: tuple[int, ...]) -> tuple[int, ...]:
    """The cells of a factor's parents, in its order; a parent that is not an axis has a single one."""
    at = dict(zip(axes, cells, strict=True))
    return tuple(at.get(parent, 0) for parent in factor.parents)


def _wide(network: Network, factor: Factor, reading: Reading) -> bool:
    """Whether the column would have to be cut into parts otherwise."""
    if not reading.slope:
        return False
    cells = network.cells[factor.column]
    rows = factor.rows.values()
    if any(isinstance(row, Normal) for row in rows):
        return all(isinstance(row, Normal) for row in rows)
    ranges = [cell for cell in cells if cell.inside is Inside.UNIFORM and cell.low != cell.high]
    known = all(cell.inside is not Inside.UNKNOWN for cell in cells)
    return known and any(_many(network.columns[factor.column], cell) for cell in ranges)


def _many(attribute: Attribute, cell: Cell) -> bool:
    if cell.low is None or cell.high is None:
        return False
    return attribute.values is None or cell.high - cell.low >= LISTED


def _effect(network: Network, factor: Factor, reading: Reading) -> Fraction:
    """How far the column moves the score: its range, or six standard deviations."""
    laws = [row for row in factor.rows.values() if isinstance(row, Normal)]
    if laws:
        return abs(reading.slope) * 6 * max(law.sd for law in laws)
    ends = [end for cell in network.cells[factor.column] for end in (cell.low, cell.high) if end is not None]
    return abs(reading.slope) * (max(ends) - min(ends))


def _single_normal(network: Network, factor: Factor, reading: Reading, axes: tuple[int, ...]) -> Remainder:
    attribute = network.columns[factor.column]
    pieces = _admitted(attribute, network.cells[factor.column][0], reading)
    laws: dict[tuple[int, ...], tuple[tuple[Piece, Uniform | Normal], ...]] = {}
    for cells in product(*(range(len(network.cells[axis])) for axis in axes)):
        row = factor.rows.get(_own(factor, axes, cells))
        if isinstance(row, Normal):
            laws[cells] = tuple((piece, row) for piece in pieces)
    defined = len(laws) == prod(len(network.cells[axis]) for axis in axes)
    conditioned = bool(reading.conditions) or not defined
    return SingleColumn(axes=axes, reading=reading, bounds=attribute.bounds, laws=laws, conditioned=conditioned)


def _single_uniform(network: Network, column: int, reading: Reading) -> Leftover:
    """The column stays as an axis of its cells, which its law within them depends on; it adds nothing to the tables."""
    attribute = network.columns[column]
    laws: dict[tuple[int, ...], tuple[tuple[Piece, Uniform | Normal], ...]] = {}
    for place, cell in enumerate(network.cells[column]):
        pieces = pieces_of(attribute, cell, reading.cuts)
        whole = sum((piece.size for piece in pieces), Fraction(0))
        shares = [piece.size / whole for piece in pieces]
        laws[place,] = tuple(
            (piece, Uniform(share))
            for piece, share in zip(pieces, shares, strict=True)
            if share and reading.admits(piece)
        )
    law = SingleColumn(
        axes=(column,), reading=reading, bounds=attribute.bounds, laws=laws, conditioned=bool(reading.conditions)
    )
    return Leftover(law=law, within=column)


def _admitted(attribute: Attribute, cell: Cell, reading: Reading) -> list[Piece]:
    return [piece for piece in pieces_of(attribute, cell, reading.cuts) if reading.admits(piece) and not piece.point]
