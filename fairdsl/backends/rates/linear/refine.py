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

from fairdsl.ir.domain import Attribute
from fairdsl.ir.expr import And, Compare, Member, Not, Or, Predicate, borders, holds_at, variables
from fairdsl.ir.population import Cell, Factor, Inside, Network, Normal, Row
from fairdsl.numerics.pieces import Piece, pieces_of, subdivided

__all__ = ["LISTED", "Looks", "Refined", "looks_of", "refined"]

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
    atoms = [atom for predicate in predicates for atom in _atoms(predicate)]
    own: dict[int, dict[Predicate, None]] = {}
    tangled: set[int] = set()
    for atom in atoms:
        columns = {variable.attribute for variable in variables(atom)}
        if len(columns) > 1:
            tangled |= columns
        for column in columns:
            own.setdefault(column, {}).update({atom: None} if len(columns) == 1 else {})
    return {column: Looks(tuple(found), column in tangled) for column, found in own.items()}


def _atoms(predicate: Predicate) -> Iterable[Predicate]:
    match predicate:
        case Compare() | Member():
            yield predicate
        case And(parts) | Or(parts):
            for part in parts:
                yield from _atoms(part)
        case Not(part):
            yield from _atoms(part)


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
