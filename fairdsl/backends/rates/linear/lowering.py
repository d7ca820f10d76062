"""Predicates over several columns on all combinations of cells: certainly true, certainly false, or neither."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.rates.linear.refine import LISTED, Leftover, Looks, Refined, choose_remainder, looks_of, refined
from fairdsl.backends.rates.linear.remainder import NormalAxis, normal_axis
from fairdsl.backends.rates.linear.task import ONE, Chances, Clause, State, Task, TooLargeError, WeightedSum
from fairdsl.ir.domain import Attribute, Integer
from fairdsl.ir.expr import Not, Predicate, Variable, Who, holds, holds_at, substitute
from fairdsl.ir.feature import AttributeInput
from fairdsl.ir.population import Cell, Factor, Inside, Network, Normal, Row
from fairdsl.metrics.joint import key_of
from fairdsl.numerics.axes import mentioned
from fairdsl.numerics.narrow import Finite, Interval, ValueSet, possible
from fairdsl.numerics.pieces import Piece, Reading, pieces_of, subdivided
from fairdsl.numerics.predicates import mask

#: Combinations of cells that predicates are evaluated on at most: of single values, and of ranges.
_VALUES = 1 << 19
_RANGES = 1 << 15

_Truth = NDArray[np.bool_]
_ZERO, _ONE = Fraction(0), Fraction(1)
#: The cells of every axis as sets of values.
Sets = Sequence[Sequence[ValueSet]]


def condition_of(predicate: Predicate, sets: Sets) -> Chances:
    """A condition as a table of 0 and 1 (0 to 1 where it holds in a part of a combination)."""
    axes = mentioned(predicate)
    certain, maybe = _truth(predicate, axes, sets)
    least = tuple(_ONE if true else _ZERO for true in certain.tolist())
    most = least if np.array_equal(certain, maybe) else tuple(_ONE if true else _ZERO for true in maybe.tolist())
    return Chances(axes=axes, shape=tuple(len(sets[axis]) for axis in axes), least=least, most=most)


def clauses_of(indicators: Iterable[tuple[Predicate, Fraction]], sets: Sets) -> tuple[Clause, ...]:
    """What the indicators add to the score; those whose columns lie within another's are added to its table."""
    groups: dict[tuple[int, ...], list[tuple[Predicate, Fraction]]] = {}
    for predicate, weight in sorted(indicators, key=lambda entry: -len(mentioned(entry[0]))):
        own = set(mentioned(predicate))
        home = next((axes for axes in groups if own <= set(axes)), tuple(sorted(own)))
        groups.setdefault(home, []).append((predicate, weight))
    return tuple(_clause(axes, members, sets) for axes, members in groups.items())


def _clause(axes: tuple[int, ...], members: list[tuple[Predicate, Fraction]], sets: Sets) -> Clause:
    shape = tuple(len(sets[axis]) for axis in axes)
    low, high = np.full(prod(shape), _ZERO, dtype=object), np.full(prod(shape), _ZERO, dtype=object)
    for predicate, weight in members:
        certain, maybe = _truth(predicate, axes, sets)
        below, above = (certain, maybe) if weight > 0 else (maybe, certain)
        low[below] += weight
        high[above] += weight
    return Clause(axes=axes, shape=shape, low=tuple(low.tolist()), high=tuple(high.tolist()))


def _truth(predicate: Predicate, axes: tuple[int, ...], sets: Sets) -> tuple[_Truth, _Truth]:
    """Where the predicate holds everywhere, and where it may hold somewhere, of all combinations (row-major)."""
    count = prod(len(sets[axis]) for axis in axes)
    if all(isinstance(cell, Finite) and cell.count == 1 for axis in axes for cell in sets[axis]):
        if count > _VALUES:
            raise TooLargeError
        places = {axis: place for place, axis in enumerate(axes)}
        grid = np.meshgrid(*(_numbers(sets[axis]) for axis in axes), indexing="ij")
        points = np.stack([part.ravel() for part in grid], axis=1)
        local = substitute(predicate, lambda variable: Variable(places[variable.attribute], variable.who))
        found = mask(local, {Who.EACH: points})
        return found, found
    if count > _RANGES:
        raise TooLargeError
    current = [cells[0] for cells in sets]
    certain, maybe = np.zeros(count, dtype=np.bool_), np.zeros(count, dtype=np.bool_)
    for number, combination in enumerate(product(*(sets[axis] for axis in axes))):
        for axis, cell in zip(axes, combination, strict=True):
            current[axis] = cell
        maybe[number] = possible(predicate, current)
        certain[number] = maybe[number] and not possible(Not(predicate), current)
    return certain, maybe


def _numbers(cells: Sequence[ValueSet]) -> NDArray[Any]:
    values = [cell.values[0] for cell in cells if isinstance(cell, Finite)]
    if all(isinstance(value, int) or value.denominator == 1 for value in values):
        return np.array([int(value) for value in values], dtype=np.int64)
    return np.array([Fraction(value) for value in values], dtype=object)


# --------------------------------------------------------------------------------------------------
# From a subject to a task: cells become axes, inputs contributions, conditions shares and tables of 0 and 1.
#
# What a law leaves open within a cell is enclosed: a cell of :attr:`Inside.UNKNOWN` contributes anything from its least
# to its greatest value, whatever the law inside and its dependence on the rest, since results are monotone in every
# contribution; a condition that holds in a part of it holds in none or in all of its mass.


@dataclass(slots=True)
class _Read:
    """What the model and the conditions read: of single columns, and of several at once."""

    slopes: dict[int, Fraction] = field(default_factory=dict)
    indicators: dict[int, list[tuple[Predicate, Fraction]]] = field(default_factory=dict)
    conditions: dict[int, list[Predicate]] = field(default_factory=dict)
    joint_indicators: list[tuple[Predicate, Fraction]] = field(default_factory=list)
    joint_conditions: list[Predicate] = field(default_factory=list)
    constant: Fraction = _ZERO
    impossible: bool = False

    def of(self, column: int) -> Reading:
        return Reading(
            slope=self.slopes.get(column, _ZERO),
            indicators=tuple(self.indicators.get(column, ())),
            conditions=tuple(self.conditions.get(column, ())),
        )

    @property
    def looks(self) -> dict[int, Looks]:
        """The columns that are read by predicates over several, and how."""
        return looks_of((*(predicate for predicate, _ in self.joint_indicators), *self.joint_conditions))


def _read(of: WeightedSum) -> _Read:
    found = _Read(constant=of.constant)
    for item, weight in of.terms:
        if isinstance(item, AttributeInput):
            found.slopes[item.attribute] = found.slopes.get(item.attribute, _ZERO) + weight
            continue
        match mentioned(item.predicate):
            case ():
                found.constant += weight if _constant(item.predicate) else _ZERO
            case (column,):
                found.indicators.setdefault(column, []).append((item.predicate, weight))
            case _:
                found.joint_indicators.append((item.predicate, weight))
    for predicate in of.conditions:
        match mentioned(predicate):
            case ():
                found.impossible = found.impossible or not _constant(predicate)
            case (column,):
                found.conditions.setdefault(column, []).append(predicate)
            case _:
                found.joint_conditions.append(predicate)
    return found


def _constant(predicate: Predicate) -> bool:
    return holds(predicate, lambda _: _ZERO)


def task_of(of: WeightedSum, parts: int) -> Task:
    """The task, with ranges that need it cut into so many parts; TooLargeError where predicates join too many cells."""
    read = _read(of)
    looks = read.looks
    fine = refined(of.network, looks, parts)
    network = fine.network
    blocked = frozenset((*looks, *of.keys))
    left = choose_remainder(network, {column: read.of(column) for column in range(len(network.columns))}, blocked)
    factors = {factor.column: factor for factor in network.factors}
    builder = _Builder(network, read, looks, factors, parts, left, lost=of.lost)
    for column in range(len(network.columns)):
        if column not in left.columns:
            builder.add(column)
    chances = [builder.chances_of(factor) for factor in network.factors if factor.column not in left.columns]
    sets = [builder.sets.get(column, []) for column in range(len(network.columns))]
    chances += [condition_of(predicate, sets) for predicate in read.joint_conditions]
    if read.impossible:
        chances.append(Chances(axes=(), shape=(), least=(_ZERO,), most=(_ZERO,)))
    clauses = clauses_of(read.joint_indicators, sets)
    return Task(
        sizes={column: len(cells) for column, cells in builder.sets.items()},
        chances=tuple(chances),
        readings=builder.readings,
        clauses=clauses,
        keys={column: _keys(of.network, fine, column) for column in of.keys},
        constant=read.constant,
        remainder=left.law,
        divided=fine.divided or builder.divided,
        notes=tuple(dict.fromkeys((*builder.notes, *_loose(chances, clauses)))),
    )


def _keys(network: Network, fine: Refined, column: int) -> tuple[Fraction, ...]:
    """The key of every cell of the axis: that of the cell which it was cut from."""
    keys = tuple(key_of(cell) for cell in network.cells[column])
    return tuple(keys[place] for place in fine.origins.get(column, range(len(keys))))


def _loose(chances: list[Chances], clauses: tuple[Clause, ...]) -> list[str]:
    """What several columns' predicates leave open."""
    found = []
    if any(table.column is None and not table.exact for table in chances):
        found.append("cells that lie in part within a condition on several columns count in full and not at all")
    if any(clause.low != clause.high for clause in clauses):
        found.append("indicators of several columns are 0 to 1 where a cell lies in part within them")
    return found


@dataclass(slots=True)
class _Builder:
    """Axis by axis: the cells as sets of values, their states, and what to say about them."""

    network: Network
    read: _Read
    looks: dict[int, Looks]
    factors: dict[int, Factor]
    parts: int
    left: Leftover
    sets: dict[int, list[ValueSet]] = field(default_factory=dict)
    readings: dict[int, tuple[tuple[State, ...], ...]] = field(default_factory=dict)
    normal: dict[int, NormalAxis] = field(default_factory=dict)
    lost: bool = False
    divided: bool = False
    notes: list[str] = field(default_factory=list)

    def add(self, column: int) -> None:
        attribute, reading = self.network.columns[column], self.read.of(column)
        factor = self.factors.get(column)
        reads = bool(reading.weighs or reading.conditions) and column != self.left.within
        if factor is not None and factor.normal:
            if not reads and column not in self.looks:
                self.sets[column] = [self._set_of(column, self.network.cells[column][0])]
                self.normal[column] = NormalAxis.undivided(factor)
                return
            look = self.looks.get(column, Looks((), False))
            gridded = bool(reading.slope) or look.tangled
            cuts = (*reading.cuts, *look.cuts)
            axis = normal_axis(attribute, self.network.cells[column][0], factor, cuts, self.parts if gridded else 0)
            self.normal[column] = axis
            self.sets[column] = [_range(piece) if look.tangled else Finite((piece.sample,)) for piece in axis.pieces]
            self.divided = self.divided or gridded
            self.readings[column] = tuple(_admitted(reading, piece) for piece in axis.pieces)
            return
        cells = self.network.cells[column]
        self.sets[column] = [self._set_of(column, cell) for cell in cells]
        if reads:
            self.readings[column] = tuple(tuple(self._states(attribute, cell, reading)) for cell in cells)

    def _set_of(self, column: int, cell: Cell) -> ValueSet:
        """The cell for predicates over several columns: a value that speaks for it, or all of them."""
        attribute = self.network.columns[column]
        speaker = self.looks[column].speaker(attribute, cell) if column in self.looks else None
        return _values_of(attribute, cell) if speaker is None else Finite((speaker,))

    def _states(self, attribute: Attribute, cell: Cell, reading: Reading) -> list[State]:
        if cell.low is not None and cell.low == cell.high:
            return list(_at_point(cell.low, reading))
        pieces = pieces_of(attribute, cell, reading.cuts)
        if cell.inside is Inside.UNIFORM and cell.low is not None and cell.high is not None:
            return self._uniform(pieces, reading)
        admitted = [piece for piece in pieces if reading.admits(piece)]
        if not admitted:
            return []
        if len(admitted) < len(pieces):
            self.notes.append(
                f"cells of `{attribute.name}` that lie in part within a condition count in full and not at all"
            )
        ends = [reading.ends(piece) for piece in admitted]
        lows, highs = [low for low, _ in ends], [high for _, high in ends]
        low = None if None in lows else min(low for low in lows if low is not None)
        high = None if None in highs else max(high for high in highs if high is not None)
        if low != high:
            self.notes.append(
                f"nothing is known of `{attribute.name}` within its cells, which finer `bins` narrow: "
                "the result holds for every distribution"
            )
        return [State(low, high, ONE if len(admitted) == len(pieces) else _ZERO, ONE)]

    def _uniform(self, pieces: list[Piece], reading: Reading) -> list[State]:
        whole = sum((piece.size for piece in pieces), _ZERO)
        states = []
        for piece in pieces:
            if not reading.admits(piece) or (len(pieces) > 1 and not piece.size):
                continue
            for part in self._parted(piece, reading, whole):
                share = part.size / whole
                low, high = reading.ends(part)
                states.append(State(low, high, share, share))
        return states

    def _parted(self, piece: Piece, reading: Reading, whole: Fraction) -> list[Piece]:
        if not reading.slope or piece.point:
            return [piece]
        if piece.count is not None and whole <= LISTED:
            return list(subdivided(piece, piece.count))
        self.divided = True
        wanted = -(-self.parts * piece.size // whole)
        return list(subdivided(piece, max(1, int(wanted))))

    def chances_of(self, factor: Factor) -> Chances:
        """The factor over the axes that are there: as a parent a normal column has a single cell, and is none."""
        single = self.left.columns | frozenset(self.normal)
        parents = [place for place, parent in enumerate(factor.parents) if parent not in single]
        axes = (*(factor.parents[place] for place in parents), factor.column)
        shape = tuple(len(self.sets[axis]) for axis in axes)
        least, most = [_ZERO] * prod(shape), [_ZERO] * prod(shape)
        axis = self.normal.get(factor.column)
        exact = True
        for cells, row in factor.rows.items():
            start = 0
            for place, size in zip(parents, shape, strict=False):
                start = start * size + cells[place]
            start *= shape[-1]
            low, high = _ends(row) if axis is None else axis.rows[cells]
            least[start : start + shape[-1]] = low
            most[start : start + shape[-1]] = high
            exact = exact and low is high
        below = tuple(least)
        complete = self.network.complete(factor)
        if not complete and not self.lost:
            name = self.network.columns[factor.column].name
            self.notes.append(f"what `{name}` depends on in ways that have no distribution counts as impossible")
        return Chances(
            axes=axes,
            shape=shape,
            least=below,
            most=below if exact else tuple(most),
            column=factor.column,
            complete=complete,
        )


def _ends(row: Row) -> tuple[tuple[Fraction, ...], tuple[Fraction, ...]]:
    if isinstance(row, Normal):
        raise ValueError("a normal distribution has an axis of its own")
    return row, row


def _at_point(value: Fraction, reading: Reading) -> tuple[State, ...]:
    if not all(holds_at(condition, value) for condition in reading.conditions):
        return ()
    added = reading.slope * value
    for predicate, weight in reading.indicators:
        added += weight if holds_at(predicate, value) else 0
    return (State(added, added, ONE, ONE),)


def _admitted(reading: Reading, piece: Piece) -> tuple[State, ...]:
    if not reading.admits(piece):
        return ()
    low, high = reading.ends(piece)
    return (State(low, high, ONE, ONE),)


def _range(piece: Piece) -> ValueSet:
    return Finite((piece.sample,)) if piece.point else Interval(piece.low, piece.high)


def _values_of(attribute: Attribute, cell: Cell) -> ValueSet:
    """All values of a cell, or a few more: an open end counts as closed."""
    if cell.low is not None and cell.low == cell.high:
        return Finite((cell.low.numerator if cell.low.denominator == 1 else cell.low,))
    if attribute.values is None:
        return Interval(cell.low, cell.high)
    pieces = pieces_of(attribute, cell, ())
    if isinstance(attribute.type, Integer) and len(pieces) == 1:
        return Finite(range(int(pieces[0].low or 0), int(pieces[0].high or 0) + 1))
    return Finite(tuple(piece.sample.numerator for piece in pieces))
