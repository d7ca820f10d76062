"""What ``where`` and ``target`` leave of each attribute: interval and value-set propagation.

The sets are a sound over-approximation: no individual that satisfies the predicates lies outside their
product. Engines draw from them, bound over them and count points in them; the predicates themselves are
still checked point by point. Imports neither numpy nor any engine, so that planning stays quick.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import filterfalse
from math import ceil, floor, prod

from fairdsl.ir.domain import Domain
from fairdsl.ir.expr import And, Compare, Linear, Member, Not, Or, Predicate, Relation, conjoin, conjuncts, variables
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Pair

#: Sets up to this size are filtered value by value; larger ones only through their ends.
_FILTERED = 256
#: Rounds of propagation. More could only sharpen linear constraints over several wide attributes.
_ROUNDS = 4


@dataclass(frozen=True, slots=True)
class Finite:
    """Exactly these numbers, ascending: a ``range`` for unbroken integers, otherwise a tuple."""

    values: Sequence[int | Fraction]

    @property
    def low(self) -> Fraction | None:
        """The least value; None when empty."""
        return Fraction(self.values[0]) if self.values else None

    @property
    def high(self) -> Fraction | None:
        """The greatest value; None when empty."""
        return Fraction(self.values[-1]) if self.values else None

    @property
    def count(self) -> int:
        """How many values there are."""
        return len(self.values)

    def nearest(self, value: float) -> Fraction:
        """The value that is nearest to a number; there is one."""
        if isinstance(self.values, range) and self.values.step == 1:
            return Fraction(min(max(round(value), self.values[0]), self.values[-1]))
        return Fraction(min(self.values, key=lambda own: abs(float(own) - value)))

    def contains(self, value: Fraction | int) -> bool:
        """Membership."""
        # A range looks for anything but an int by going through all its values.
        return (int(value) if value == int(value) else value) in self.values


@dataclass(frozen=True, slots=True)
class Interval:
    """All reals from ``low`` to ``high``, both included; None where unbounded. Never empty."""

    low: Fraction | None
    high: Fraction | None

    @property
    def count(self) -> None:
        """Reals are not counted."""
        return

    def nearest(self, value: float | Fraction) -> Fraction:
        """The value that is nearest to a number."""
        found = Fraction(value) if self.low is None else max(self.low, Fraction(value))
        return found if self.high is None else min(self.high, found)

    def contains(self, value: Fraction | int) -> bool:
        """Membership."""
        return (self.low is None or self.low <= value) and (self.high is None or value <= self.high)


ValueSet = Finite | Interval
_EMPTY = Finite(())
_Ends = tuple[Fraction | None, Fraction | None]


def narrow(domain: Domain, *predicates: Predicate) -> tuple[ValueSet, ...]:
    """The value set of each attribute that ``domain.where`` and the predicates (over EACH) leave.

    Where nothing satisfies them and this is noticed, every set is empty.
    """
    return _narrowed(domain, conjoin(domain.where, *predicates))


def measure_of(problem: Problem, pair: Pair) -> str:
    """How units of pairs are measured: counted where no attribute of a unit is real, else by volume."""
    sets = narrow(problem.domain, pair.target)
    shared = range(len(sets)) if pair.of_individuals else [at for at in range(len(sets)) if at not in pair.differ]
    return "counting" if all(isinstance(sets[at], Finite) for at in shared) else "volume"


@lru_cache(maxsize=64)  # checks, planner and engines ask the same of a question
def _narrowed(domain: Domain, predicate: Predicate) -> tuple[ValueSet, ...]:
    predicate = without_not(predicate)
    sets: list[ValueSet] = []
    for attribute in domain.attributes:
        values = attribute.values
        if values is None:
            sets.append(Interval(*attribute.bounds))
        else:
            sets.append(Finite(values if isinstance(values, range) else tuple(sorted(values))))
    mentioned = sorted({variable.attribute for variable in variables(predicate)})
    for _ in range(_ROUNDS):
        before = list(sets)
        for attribute_index in mentioned:
            sets[attribute_index] = _restrict(predicate, attribute_index, sets)
            if sets[attribute_index].count == 0:
                return tuple(_EMPTY for _ in sets)
        if before == sets:
            break
    if not possible(predicate, sets) or any(s.count == 0 for s in sets):
        return tuple(_EMPTY for _ in sets)
    return tuple(sets)


def count_points(sets: Sequence[ValueSet]) -> int | None:
    """The number of points of the product; None with an interval of reals among them."""
    counts = [values.count for values in sets]
    if 0 in counts:
        return 0
    return None if None in counts else prod(count for count in counts if count is not None)


def without_not(predicate: Predicate, negated: bool = False) -> Predicate:
    """The same predicate with negation only in relations and ``Not(Member)``."""
    match predicate:
        case Compare(left=left, relation=relation, span=span):
            return Compare(left=left, relation=relation.negated, span=span) if negated else predicate
        case Member():
            return Not(predicate) if negated else predicate
        case And(parts) | Or(parts):
            turned = tuple(without_not(part, negated) for part in parts)
            return And(turned) if isinstance(predicate, And) != negated else Or(turned)
        case Not(part):
            return without_not(part, not negated)


def _restrict(predicate: Predicate, index: int, sets: Sequence[ValueSet]) -> ValueSet:
    """The attribute's set, less what the predicate rules out given the other sets."""
    alive = _alive(predicate, sets)
    if alive is None:
        return _EMPTY
    predicate = alive
    narrowed = clipped(sets[index], _ends(predicate, index, sets))
    listed = _listed(predicate, index) if narrowed.count is None or narrowed.count > _FILTERED else None
    if listed is not None:
        narrowed = Finite(tuple(sorted(_plain(value) for value in listed if narrowed.contains(value))))
    if isinstance(narrowed, Interval) or narrowed.count > _FILTERED:
        return narrowed
    others = list(sets)
    about = [part for part in conjuncts(predicate) if _restricts(part, index)]
    # What an inequality leaves possible has no gaps, so of a thousand of them only the ends are tried.
    ends, others_about = And(tuple(filter(_without_gaps, about))), And(tuple(filterfalse(_without_gaps, about)))

    def possible_at(value: int | Fraction, part: Predicate) -> bool:
        others[index] = Finite((value,))
        return possible(part, others)

    values = narrowed.values
    first = next((place for place in range(len(values)) if possible_at(values[place], ends)), len(values))
    last = next((place for place in reversed(range(first, len(values))) if possible_at(values[place], ends)), -1)
    kept = tuple(value for value in values[first : last + 1] if possible_at(value, others_about))
    return narrowed if len(kept) == narrowed.count else Finite(kept)


def _alive(predicate: Predicate, sets: Sequence[ValueSet]) -> Predicate | None:
    """The predicate without alternatives that no point of the product satisfies; None if nothing is left."""
    if isinstance(predicate, And | Or):
        parts = [_alive(part, sets) for part in predicate.parts]
        left = tuple(part for part in parts if part is not None)
        if isinstance(predicate, And):
            return And(left) if len(left) == len(parts) else None
        return (left[0] if len(left) == 1 else Or(left)) if left else None
    return predicate if possible(predicate, sets) else None


def _restricts(predicate: Predicate, index: int) -> bool:
    """Whether it may rule out values of the attribute: it mentions it, and no alternative leaves it free."""
    if isinstance(predicate, Or):
        return all(_restricts(part, index) for part in predicate.parts)
    return any(variable.attribute == index for variable in variables(predicate))


def _without_gaps(predicate: Predicate) -> bool:
    """Whether the values of each attribute that leave it possible lie side by side."""
    return isinstance(predicate, Compare) and predicate.relation not in (Relation.NE, Relation.EQ)


def _plain(value: Fraction) -> int | Fraction:
    return value.numerator if value.denominator == 1 else value


def clipped(values: ValueSet, ends: _Ends) -> ValueSet:
    """The values between two ends, both included; None where there is none."""
    low, high = ends
    if isinstance(values, Interval):
        low = values.low if low is None else low if values.low is None else max(low, values.low)
        high = values.high if high is None else high if values.high is None else min(high, values.high)
        if low is not None and high is not None and low >= high:
            return Finite((_plain(low),)) if low == high else _EMPTY
        return Interval(low, high)
    if isinstance(values.values, range) and values.values.step == 1:
        start = values.values.start if low is None else max(values.values.start, ceil(low))
        stop = values.values.stop if high is None else min(values.values.stop, floor(high) + 1)
        return Finite(range(start, max(start, stop)))
    kept = (v for v in values.values if (low is None or low <= v) and (high is None or v <= high))
    return Finite(tuple(kept))


def _least(left: Linear, sets: Sequence[ValueSet], skip: int | None = None) -> Fraction | None:
    """The least value of the linear form over sets that are not empty, the term of ``skip`` left out."""
    return _end(left, sets, False, skip)


def _most(left: Linear, sets: Sequence[ValueSet], skip: int | None = None) -> Fraction | None:
    """The greatest one."""
    return _end(left, sets, True, skip)


def _end(left: Linear, sets: Sequence[ValueSet], greatest: bool, skip: int | None) -> Fraction | None:
    end = left.constant
    for variable, coefficient in left.terms:
        if variable.attribute == skip:
            continue
        values, upper = sets[variable.attribute], (coefficient.numerator > 0) == greatest
        if isinstance(values, Finite):
            end += coefficient * values.values[-1 if upper else 0]
        elif (bound := values.high if upper else values.low) is None:
            return None
        else:
            end += coefficient * bound
    return end


def possible(predicate: Predicate, sets: Sequence[ValueSet]) -> bool:
    """False only if no point of the product satisfies the predicate."""
    match predicate:
        case Compare(left=left, relation=relation):
            return _comparable(left, relation, sets)
        case Member(variable=variable, values=values):
            return any(sets[variable.attribute].contains(value) for value in values)
        case Not(Member(variable=variable, values=values)):
            inside = sets[variable.attribute]
            return isinstance(inside, Interval) or any(value not in values for value in inside.values)
        case Not(part):
            return possible(without_not(part, negated=True), sets)
        case And(parts):
            return all(possible(part, sets) for part in parts)
        case Or(parts):
            return any(possible(part, sets) for part in parts)


def decided(predicate: Predicate, sets: Sequence[ValueSet]) -> bool | None:
    """The predicate's truth for all points of the product; None where the sets leave it open."""
    if not possible(predicate, sets):
        return False
    if not possible(without_not(predicate, negated=True), sets):
        return True
    return None


def _comparable(left: Linear, relation: Relation, sets: Sequence[ValueSet]) -> bool:
    if any(sets[variable.attribute].count == 0 for variable, _ in left.terms):
        return False
    if relation is Relation.EQ and len(left.terms) == 1:
        ((variable, coefficient),) = left.terms
        return sets[variable.attribute].contains(-left.constant / coefficient)
    match relation:
        case Relation.LE:
            return (low := _least(left, sets)) is None or low <= 0
        case Relation.LT:
            return (low := _least(left, sets)) is None or low < 0
        case Relation.GE:
            return (high := _most(left, sets)) is None or high >= 0
        case Relation.GT:
            return (high := _most(left, sets)) is None or high > 0
        case Relation.EQ:
            low, high = _least(left, sets), _most(left, sets)
            return (low is None or low <= 0) and (high is None or high >= 0)
        case Relation.NE:
            return not _least(left, sets) == _most(left, sets) == 0


def _ends(predicate: Predicate, index: int, sets: Sequence[ValueSet]) -> _Ends:
    """Closed bounds on one attribute that follow from the predicate and the other sets, none of which is empty."""
    match predicate:
        case Compare(left=left, relation=relation):
            return _compare_ends(left, relation, index, sets)
        case Member(variable=variable, values=values) if variable.attribute == index and values:
            return min(values), max(values)
        case And(parts):
            low: Fraction | None = None
            high: Fraction | None = None
            for part in parts:
                part_low, part_high = _ends(part, index, sets)
                low = part_low if low is None else low if part_low is None else max(low, part_low)
                high = part_high if high is None else high if part_high is None else min(high, part_high)
            return low, high
        case Or(parts):
            ends = [_ends(part, index, sets) for part in parts]
            lows, highs = [end[0] for end in ends], [end[1] for end in ends]
            return (
                None if None in lows else min((v for v in lows if v is not None), default=None),
                None if None in highs else max((v for v in highs if v is not None), default=None),
            )
        case _:
            return None, None


def _compare_ends(left: Linear, relation: Relation, index: int, sets: Sequence[ValueSet]) -> _Ends:
    coefficient = next((c for variable, c in left.terms if variable.attribute == index), None)
    if coefficient is None or relation is Relation.NE:
        return None, None
    # coefficient * x <= -(least of the rest) (from <=) and coefficient * x >= -(most of the rest) (from >=).
    most = least = None
    if relation in (Relation.LE, Relation.LT, Relation.EQ) and (rest := _least(left, sets, index)) is not None:
        most = _inside(-rest / coefficient, relation is Relation.LT, coefficient > 0, sets[index])
    if relation in (Relation.GE, Relation.GT, Relation.EQ) and (rest := _most(left, sets, index)) is not None:
        least = _inside(-rest / coefficient, relation is Relation.GT, coefficient < 0, sets[index])
    return (least, most) if coefficient > 0 else (most, least)


def _inside(bound: Fraction, strict: bool, upper: bool, values: ValueSet) -> Fraction:
    """The bound moved to the last integer that satisfies it, where the values are integers."""
    if isinstance(values, Interval) or not isinstance(values.values, range):
        return bound
    if upper:
        return Fraction(ceil(bound) - 1 if strict else floor(bound))
    return Fraction(floor(bound) + 1 if strict else ceil(bound))


def _listed(predicate: Predicate, index: int) -> frozenset[Fraction] | None:
    """A finite set that the predicate confines the attribute to, where one is written."""
    match predicate:
        case Member(variable=variable, values=values) if variable.attribute == index:
            return values
        case Compare(left=left, relation=Relation.EQ) if [v.attribute for v, _ in left.terms] == [index]:
            return frozenset({-left.constant / left.terms[0][1]})
        case And(parts):
            found = [listed for part in parts if (listed := _listed(part, index)) is not None]
            return frozenset.intersection(*found) if found else None
        case Or(parts):
            lists = [_listed(part, index) for part in parts]
            if not lists or None in lists:
                return None
            return frozenset().union(*(listed for listed in lists if listed is not None))
        case _:
            return None
