"""What a box says of a predicate: whether it may be true in it, and whether it may be false.

Boxes are ranges of atoms [boxes, axes]. Predicates about one column have tables by atom, exactly; linear comparisons
of several are bounded by the ends of their terms in float64, with the error of such sums added outward; the rest is
three-valued logic. Both answers may be yes too often, never too seldom.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.expr import And, Compare, Linear, Member, Not, Or, Predicate, Relation, Who, holds
from fairdsl.numerics.axes import Axis, mentioned
from fairdsl.numerics.bounds import outward
from fairdsl.numerics.predicates import mask

BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
#: May be true, may be false: of each box.
Pair = tuple[BoolArray, BoolArray]

_EXACT = 2**53
#: So few values are compared one by one sooner than as an array.
_FEW = 64


@dataclass(slots=True)
class ByColumn:
    """What predicates are about.

    ``alone``: by column the largest parts that are about it alone; ``together``: the columns that a comparison of
    several is about.
    """

    alone: dict[int, list[Predicate]]
    together: set[int]

    @property
    def columns(self) -> set[int]:
        """All columns that are looked at."""
        return {*self.alone, *self.together}

    @property
    def parts(self) -> list[Predicate]:
        """All parts about one column."""
        return [part for parts in self.alone.values() for part in parts]


def by_column(predicates: Iterable[Predicate]) -> ByColumn:
    """What these are about; a part that they share is looked at once, for trees repeat their tests."""
    walk, listed = _Walk(), list(predicates)  # which keeps them while their identities count
    walk.note(listed)
    return ByColumn(
        {column: list(dict.fromkeys(parts.values())) for column, parts in walk.alone.items()}, walk.together
    )


@dataclass(slots=True)
class _Walk:
    """Predicates by identity: the columns of those that were looked at, and, by column, parts that are about it."""

    columns: dict[int, frozenset[int]] = field(default_factory=dict)
    alone: dict[int, dict[int, Predicate]] = field(default_factory=dict)
    together: set[int] = field(default_factory=set)

    def note(self, parts: Iterable[Predicate]) -> None:
        """Those that are about one column each."""
        for part in parts:
            if len(own := self._of(part)) == 1:
                (column,) = own
                self.alone.setdefault(column, {})[id(part)] = part

    def _of(self, predicate: Predicate) -> frozenset[int]:
        found = self.columns.get(id(predicate))
        if found is None:
            found = self.columns[id(predicate)] = self._looked(predicate)
        return found

    def _looked(self, predicate: Predicate) -> frozenset[int]:
        match predicate:
            case Compare(left=left):
                found = frozenset([variable.attribute for variable, _ in left.terms])
                if len(found) > 1:
                    self.together |= found
            case Member(variable=variable):
                found = frozenset((variable.attribute,))
            case Not(part):
                found = self._of(part)
            case And(parts) | Or(parts):
                found = frozenset().union(*map(self._of, parts))
                if len(found) > 1:
                    self.note(parts)
        return found


@dataclass(slots=True)
class Truths:
    """The predicates over axes; tables are made when a predicate is first asked about."""

    axes: Mapping[int, Axis]
    _tables: dict[Predicate, tuple[int, IntArray, IntArray]] = field(default_factory=dict)
    _known: dict[int, Pair] = field(default_factory=dict)

    def of(self, predicates: Sequence[Predicate], start: IntArray, stop: IntArray) -> list[Pair]:
        """For each predicate whether it may be true and may be false in each box; ranges are [boxes, columns]."""
        self._known = {}
        return [self._of(predicate, start, stop) for predicate in predicates]

    def table(self, predicate: Predicate) -> tuple[int, BoolArray, BoolArray]:
        """Of a predicate about one column: the column, and by atom whether it may be true and may be false."""
        column, true, false = self._prefixes(predicate)
        return column, np.diff(true) > 0, np.diff(false) > 0

    def _of(self, predicate: Predicate, start: IntArray, stop: IntArray) -> Pair:
        known = self._known.get(id(predicate))
        if known is None:
            known = self._known[id(predicate)] = self._found(predicate, start, stop)
        return known

    def _found(self, predicate: Predicate, start: IntArray, stop: IntArray) -> Pair:
        count = len(mentioned(predicate))
        if count == 0:
            truth = np.full(len(start), holds(predicate, lambda _: Fraction(0)))
            return truth, ~truth
        if count == 1:
            column, true, false = self._prefixes(predicate)
            first, last = start[:, column], stop[:, column]
            return true[last] > true[first], false[last] > false[first]
        match predicate:
            case Compare(left=left, relation=relation):
                low, high = self._span(left, start, stop)
                return _possible(relation, low, high), _possible(relation.negated, low, high)
            case And(parts):
                pairs = [self._of(part, start, stop) for part in parts]
                return np.all([true for true, _ in pairs], axis=0), np.any([false for _, false in pairs], axis=0)
            case Or(parts):
                pairs = [self._of(part, start, stop) for part in parts]
                return np.any([true for true, _ in pairs], axis=0), np.all([false for _, false in pairs], axis=0)
            case Not(part):
                return self._of(part, start, stop)[::-1]
            case Member():
                raise ValueError("membership is about one column")

    def _prefixes(self, predicate: Predicate) -> tuple[int, IntArray, IntArray]:
        """Counts of the atoms before each at which the predicate may be true, and false."""
        found = self._tables.get(predicate)
        if found is None:
            (column,) = mentioned(predicate)
            true, false = _by_atom(predicate, column, self.axes[column])
            counts = [np.concatenate([[0], np.cumsum(each)]).astype(np.int64) for each in (true, false)]
            found = self._tables[predicate] = (column, counts[0], counts[1])
        return found

    def _span(self, left: Linear, start: IntArray, stop: IntArray) -> tuple[FloatArray, FloatArray]:
        """Ends of a linear form over the boxes, outward."""
        below, above = outward(left.constant, left.constant)
        low, high = np.full(len(start), below), np.full(len(start), above)
        size = np.abs(low) + np.abs(high)
        for variable, coefficient in left.terms:
            axis = self.axes[variable.attribute]
            least, most = axis.low[start[:, variable.attribute]], axis.high[stop[:, variable.attribute] - 1]
            ends = outward(coefficient, coefficient)
            products = np.array([end * side for end in ends for side in (least, most)])
            low, high = low + products.min(axis=0), high + products.max(axis=0)
            size = size + np.abs(products).max(axis=0)
        # A term rounds its product and its addition; the factor 4 covers the rounding of the sizes as well.
        error = 4 * (len(left.terms) + 2) * 2.0**-53 * size + 1e-300
        with np.errstate(invalid="ignore"):
            return np.nan_to_num(low - error, nan=-np.inf, posinf=np.inf, neginf=-np.inf), np.nan_to_num(
                high + error, nan=np.inf, posinf=np.inf, neginf=-np.inf
            )


def truths_at(predicate: Predicate, column: int, values: Sequence[Fraction]) -> BoolArray:
    """Whether a predicate about one column holds at each of its values."""
    if len(values) <= _FEW and isinstance(predicate, Compare) and len(predicate.left.terms) == 1:
        return np.array(_compared(predicate, values), dtype=np.bool_)
    plain = all(value.denominator == 1 and abs(value.numerator) < _EXACT for value in values)
    points = np.zeros((len(values), column + 1), dtype=np.float64 if plain else object)
    points[:, column] = [float(value) for value in values] if plain else list(values)
    return mask(predicate, {Who.EACH: points})


def _compared(comparison: Compare, values: Sequence[Fraction]) -> list[bool]:
    """The same of a comparison with a constant, in whole numbers over a positive denominator."""
    ((_, factor),) = comparison.left.terms
    (by, under), (constant, over) = factor.as_integer_ratio(), comparison.left.constant.as_integer_ratio()
    slope, offset, compares = by * over, constant * under, comparison.relation.compares
    return [compares(slope * value.numerator + offset * value.denominator, 0) for value in values]


def _by_atom(predicate: Predicate, column: int, axis: Axis) -> Pair:
    """By atom, whether some of its samples makes the predicate true, and false."""
    samples = [sample for atom in axis.atoms for sample in atom.samples]
    starts = np.concatenate([[0], np.cumsum([len(atom.samples) for atom in axis.atoms])])[:-1]
    truths = truths_at(predicate, column, samples)
    return np.logical_or.reduceat(truths, starts), np.logical_or.reduceat(~truths, starts)


def _possible(relation: Relation, low: FloatArray, high: FloatArray) -> BoolArray:
    """Whether a form between these ends may have the relation to 0; the ends are never exact."""
    match relation:
        case Relation.LE | Relation.LT:
            return np.asarray(low <= 0, dtype=np.bool_)
        case Relation.GE | Relation.GT:
            return np.asarray(high >= 0, dtype=np.bool_)
        case Relation.EQ:
            return np.asarray((low <= 0) & (high >= 0), dtype=np.bool_)
        case Relation.NE:
            return np.ones(len(low), dtype=np.bool_)
