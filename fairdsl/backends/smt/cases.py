"""The question, negated and split into cases that are settled one by one.

Definition. The property holds iff no admissible pair (a, b) breaks the demand. A pair breaks it iff for
some case below, scores and values satisfy the case:

* ``same decision``: for some two outcomes p != q, a has decision p and b has decision q;
* ``|score(a) - score(b)| <= limit``: score(a) - score(b) > limit, or the same with a and b exchanged
  (``<``: the strictness swaps).

Where the question is symmetric, (a, b) is admissible iff (b, a) is, so one orientation of each is enough.
A decision is a conjunction of linear inequalities over the scores; outcomes of ByHighest beat those of a
lower index strictly, because ties go to the lowest index. A threshold that is known only to lie in
[low, high] is widened: granted means that it is met for some value in there, and so does refused.

Each case is further split by the values of the differing attributes where these are few. All values
take part, not only the extremes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from fairdsl.backends.smt.region import Region, whole_region
from fairdsl.ir.expr import Relation
from fairdsl.ir.model import ByHighest, ByThreshold, DecisionRule, Model
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Differ, Pair, ScoreGap
from fairdsl.numerics.narrow import Finite

__all__ = ["Atom", "Case", "cases", "pair_of", "ways", "widened"]

#: More ordered pairs of assignments than this stay symbolic; splitting then takes them apart.
_FEW_PAIRS = 100

_Row = tuple[Fraction, ...]


@dataclass(frozen=True, slots=True)
class Atom:
    """``a . scores(a) + b . scores(b) + constant > 0`` (or ``>= 0`` where not strict)."""

    a: _Row
    b: _Row
    constant: Fraction
    strict: bool


@dataclass(frozen=True, slots=True)
class Case:
    """One way to break the demand: inequalities over the scores, and the pairs it looks at."""

    title: str
    atoms: tuple[Atom, ...]
    region: Region


def pair_of(problem: Problem) -> Pair:
    """The question, which the backend has offered to answer."""
    assert isinstance(problem.question, Pair)
    return problem.question


def widened(problem: Problem) -> bool:
    """Whether some case admits more than the question: then only a replay can tell."""
    rule = problem.model.rule
    return isinstance(rule, ByThreshold) and rule.low != rule.high


def cases(problem: Problem) -> tuple[Case, ...]:
    """All cases, in a fixed order; none where nothing is left to compare."""
    pair = pair_of(problem)
    start = whole_region(problem.domain, pair)
    if start.empty:
        return ()
    return tuple(
        Case(title + groups, atoms, region)
        for title, atoms in ways(problem.model, pair)
        for groups, region in _assignments(problem, pair, start)
    )


def ways(model: Model, pair: Pair) -> Iterator[tuple[str, tuple[Atom, ...]]]:
    """The ways in which scores can break the demand: a title and the inequalities, one after another."""
    both = not pair.symmetric
    if isinstance(pair.demand, ScoreGap):
        yield from _gaps(pair.demand, both)
        return
    names = model.outcomes
    for first, second in product(range(len(names)), repeat=2):
        if first != second and (both or first > second):
            a = _decided(model.rule, first, model.score_count, of_a=True)
            b = _decided(model.rule, second, model.score_count, of_a=False)
            if a is not None and b is not None:
                yield f"a: {names[first]}, b: {names[second]}", (*a, *b)


def _gaps(demand: ScoreGap, both: bool) -> Iterator[tuple[str, tuple[Atom, ...]]]:
    one, minus = (Fraction(1),), (Fraction(-1),)
    strict = demand.relation is Relation.LE
    relation = ">" if strict else ">="
    yield f"score(a) - score(b) {relation} {demand.limit}", (Atom(one, minus, -demand.limit, strict),)
    if both:
        yield f"score(b) - score(a) {relation} {demand.limit}", (Atom(minus, one, -demand.limit, strict),)


def _decided(rule: DecisionRule, outcome: int, count: int, *, of_a: bool) -> tuple[Atom, ...] | None:
    """The inequalities of one individual's decision; None where the rule never decides so."""
    if isinstance(rule, ByHighest):
        rows = [
            (tuple(Fraction((k == outcome) - (k == other)) for k in range(count)), other < outcome)
            for other in range(count)
            if other != outcome
        ]
        return tuple(_atom(row, Fraction(0), strict, of_a) for row, strict in rows)
    if outcome not in (rule.granted, rule.otherwise):
        return None
    relation = rule.relation if outcome == rule.granted else rule.relation.negated
    above = relation in (Relation.GT, Relation.GE)
    strict = relation in (Relation.GT, Relation.LT)
    if above:
        return (_atom((Fraction(1),), -rule.low, strict, of_a),)
    return (_atom((Fraction(-1),), rule.high, strict, of_a),)


def _atom(row: _Row, constant: Fraction, strict: bool, of_a: bool) -> Atom:
    none = (Fraction(0),) * len(row)
    return Atom(row if of_a else none, none if of_a else row, constant, strict)


def _assignments(problem: Problem, pair: Pair, start: Region) -> Iterator[tuple[str, Region]]:
    """The regions of all comparable pairs of values of the differing attributes, or the whole region."""
    sets = [start.a[index] for index in pair.differ]
    count = 1
    for values in sets:
        count *= values.count**2 if isinstance(values, Finite) else _FEW_PAIRS + 1
    if count > _FEW_PAIRS:
        yield "", start
        return
    every = list(product(*(values.values for values in sets if isinstance(values, Finite))))
    for ours, theirs in product(every, repeat=2):
        apart = [x != y for x, y in zip(ours, theirs, strict=True)]
        if all(apart) if pair.mode is Differ.ALL else any(apart):
            yield _described(problem, pair, ours, theirs), _fixed(pair, start, ours, theirs)


def _fixed(pair: Pair, start: Region, ours: tuple[int | Fraction, ...], theirs: tuple[int | Fraction, ...]) -> Region:
    region = start
    for index, x, y in zip(pair.differ, ours, theirs, strict=True):
        region = region.with_values("a", index, Finite((x,))).with_values("b", index, Finite((y,)))
    return region


def _described(
    problem: Problem, pair: Pair, ours: tuple[int | Fraction, ...], theirs: tuple[int | Fraction, ...]
) -> str:
    parts = []
    for index, x, y in zip(pair.differ, ours, theirs, strict=True):
        attribute = problem.domain.attributes[index]
        parts.append(f"{attribute.name}: {attribute.show(Fraction(x))} / {attribute.show(Fraction(y))}")
    return "; " + ", ".join(parts)
