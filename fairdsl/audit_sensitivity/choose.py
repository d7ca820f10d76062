"""Where discriminators are planted: against whom, by what they know them, and among whom.

A discriminator of some size decides about so many people otherwise. Whom it means is a box: a few conditions on
attributes that are not protected, as somebody would write them. Boxes are drawn by a seed and the one that comes
nearest to the size is taken; each smaller discriminator lies within the next greater one, so that what is detected
grows with the size.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor, log10, sqrt

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.domain import Attribute, Boolean, Category, Domain, Real
from fairdsl.ir.expr import Compare, Linear, Member, Predicate, Relation, Variable, Who, conjoin
from fairdsl.numerics.predicates import mask

Floats = NDArray[np.float64]
Marks = NDArray[np.bool_]

#: A group that is chosen for an attribute has at least this part of the people, if any group has.
_SMALLEST = 0.05
#: Boxes that are drawn for each size, and the conditions of one.
_TRIES, _CONDITIONS = 48, 3
#: What represents a group goes together with it at least so well (the phi coefficient).
_CLOSE = 0.1
#: A column of numbers is cut in so many places to look for what represents a group.
_CUTS = 19


@dataclass(frozen=True, slots=True)
class Box:
    """Conditions on attributes: from the one number to the other one, both included; None without end."""

    sides: Mapping[int, tuple[Fraction | None, Fraction | None]]

    def within(self, other: Box) -> Box:
        """What lies in both."""
        sides = dict(other.sides)
        for place, (low, high) in self.sides.items():
            least, most = sides.get(place, (None, None))
            lows, highs = (
                [each for each in (low, least) if each is not None],
                [h for h in (high, most) if h is not None],
            )
            sides[place] = max(lows, default=None), min(highs, default=None)
        return Box(dict(sorted(sides.items())))

    @property
    def predicate(self) -> Predicate:
        """The conditions, by attribute."""
        return conjoin(*(part for place, ends in self.sides.items() for part in _between(place, *ends)))


#: No condition at all.
ANYWHERE = Box({})


def _between(place: int, low: Fraction | None, high: Fraction | None) -> Iterator[Predicate]:
    if low is not None and low == high:
        yield Member(variable=Variable(place), values=frozenset({low}))
        return
    for relation, end in ((Relation.GE, low), (Relation.LE, high)):
        if end is not None:
            yield Compare(left=Linear.of({Variable(place): Fraction(1)}, -end), relation=relation)


@dataclass(frozen=True, slots=True)
class Group:
    """People by a condition on protected attributes."""

    who: Predicate
    attributes: frozenset[int]


def groups_of(protected: Sequence[int], domain: Domain, people: Floats) -> Iterator[Group]:
    """One group of each protected attribute: of values the rarest that is not very rare, of numbers the upper half."""
    for place in protected:
        column, attribute = people[:, place], domain.attributes[place]
        if _listed(attribute):
            found, counts = np.unique(column, return_counts=True)
            frequent = counts >= min(_SMALLEST * len(column), counts.max())
            rarest = found[frequent][np.argmin(counts[frequent])]
            yield Group(_is(place, float(rarest)).predicate, frozenset({place}))
        else:
            # The code of those who have no value lies above all that are values.
            last = None if attribute.missing is None else attribute.known.bounds[1]
            having = column if last is None else column[column <= float(last)]
            if having.size:
                half = Box({place: (_rounded(attribute, having, float(np.median(having))), last)})
                yield Group(half.predicate, frozenset({place}))


class Sites:
    """Finds proxies and boxes among the people of a domain, by attributes that are not ``protected``."""

    def __init__(self, domain: Domain, people: Floats, protected: frozenset[int], rng: np.random.Generator) -> None:
        self._domain, self._people, self._rng = domain, people, rng
        places = (place for place in range(len(domain.attributes)) if place not in protected)
        self._free = [place for place in places if domain.attributes[place].present is None]

    def holds(self, predicate: Predicate) -> Marks:
        """For whom of the people the predicate holds."""
        return mask(predicate, {Who.EACH: self._people})

    def proxy(self, group: Marks, refusable: Marks, wanted: float) -> Predicate | None:
        """The condition on one attribute that goes together best with the group; None where none does.

        One that is met by so many of the group who can be refused goes before those that are not.
        """
        best, greatest = None, (False, _CLOSE)
        for place in self._free:
            for box in self._conditions(place):
                met = self.holds(box.predicate)
                close = _phi(met, group)
                rank = int((met & group & refusable).sum()) >= wanted, close
                if close > _CLOSE and rank > greatest:
                    best, greatest = box.predicate, rank
        return best

    def _conditions(self, place: int) -> Iterator[Box]:
        column, attribute = self._people[:, place], self._domain.attributes[place]
        if _listed(attribute):
            yield from (_is(place, value) for value in np.unique(column).tolist())
        else:
            for cut in np.unique(np.quantile(column, np.linspace(0, 1, _CUTS + 2)[1:-1])).tolist():
                limit = _rounded(attribute, column, cut)
                yield Box({place: (limit, None)})
                yield Box({place: (None, limit)})

    def box(self, outer: Box, counted: Marks, wanted: float) -> Box:
        """The box within another one that has as nearly as possible so many of those who are ``counted``."""
        inside = self.holds(outer.predicate) & counted
        best, off = outer, abs(int(inside.sum()) - wanted)
        for _ in range(_TRIES):
            drawn = self._drawn(inside, wanted)
            apart = abs(int((self.holds(drawn.predicate) & inside).sum()) - wanted)
            if apart < off:
                best, off = drawn.within(outer), apart
        return best

    def _drawn(self, left: Marks, wanted: float) -> Box:
        """Conditions that leave about so many of these."""
        box, order = ANYWHERE, self._rng.permutation(self._free).tolist()
        for place in order:
            have = int(left.sum())
            if have <= 1.1 * wanted or len(box.sides) == _CONDITIONS:
                break
            side = self._side(place, left, wanted / have, last=place == order[-1])
            if side is not None:
                box = side.within(box)
                left = left & self.holds(side.predicate)
        return box

    def _side(self, place: int, left: Marks, part: float, *, last: bool) -> Box | None:
        """A condition on one attribute that leaves at least about this part."""
        column, attribute = self._people[left, place], self._domain.attributes[place]
        if _listed(attribute):
            values, counts = np.unique(column, return_counts=True)
            enough = values[(counts >= part * len(column)) & (counts < len(column))]
            return _is(place, float(self._rng.choice(enough))) if enough.size else None
        # Not all by one attribute, where there are several: discriminators are not needles.
        part = part if last or self._rng.random() < 0.5 else sqrt(part)
        ordered = np.sort(column)
        count = max(1, round(part * len(ordered)))
        last_start = len(ordered) - count
        start = int(self._rng.choice([0, last_start, int(self._rng.integers(0, last_start + 1))]))
        low, high = (_rounded(attribute, column, float(ordered[end])) for end in (start, start + count - 1))
        least, most = ordered[0] == ordered[start], ordered[-1] == ordered[start + count - 1]
        return None if least and most else Box({place: (None if least else low, None if most else high)})


def _listed(attribute: Attribute) -> bool:
    return isinstance(attribute.type, Category | Boolean)


def _is(place: int, value: float) -> Box:
    return Box({place: (Fraction(value), Fraction(value))})


def _rounded(attribute: Attribute, column: Floats, value: float) -> Fraction:
    """A number as somebody would write it: whole, or with three figures of the column's range."""
    if not isinstance(attribute.type, Real):
        return Fraction(round(value))
    width = float(column.max() - column.min())
    step = Fraction(10) ** (floor(log10(width)) - 3) if width > 0 else Fraction(1, 1000)
    return round(Fraction(value) / step) * step


def _phi(one: Marks, other: Marks) -> float:
    """The correlation of two marks; 0 where one of them says nothing."""
    spread = one.std() * other.std()
    return float(((one & other).mean() - one.mean() * other.mean()) / spread) if spread else 0.0
