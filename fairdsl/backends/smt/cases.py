"""The question, negated and split into cases that are settled one by one.

Definition. The property holds iff no admissible pair (a, b) breaks the demand. A pair breaks it iff for
some case below, scores and values satisfy the case:

* ``same decision``: for some two outcomes p != q, a has decision p and b has decision q;
* ``|score(a) - score(b)| <= limit``: score(a) - score(b) > limit, or the same with a and b exchanged
  (``<``: the strictness swaps).

Where the question is symmetric, (a, b) is admissible iff (b, a) is, so one orientation of each is enough.
A decision is a conjunction of linear inequalities over the scores; outcomes of ByHighest beat those of a
lower index strictly, because ties go to the lowest index. A threshold that is known only to lie in
[low, high] is widened: granted means that it is met for some value in there, and so does refused. Where the
question asks how sure the model is of an individual, a case fixes its decision and has conditions that are
necessary for being sure of it (:mod:`~fairdsl.backends.smt.atoms`); of a pair that a solver finds only a replay
tells whether it counts, and :func:`refined` excludes one that does not.

Each case is further split by the values of the differing attributes where these are few. All values
take part, not only the extremes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import product
from typing import overload

from fairdsl.backends.smt.atoms import Atom, decided, exactly_linear, sure_of, tangent
from fairdsl.backends.smt.region import Region, whole_region
from fairdsl.ir.demand import Demanded
from fairdsl.ir.domain import Point
from fairdsl.ir.expr import TRUE, Predicate, Relation, Who
from fairdsl.ir.model import ByThreshold, Model
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Differ, Pair, ScoreGap
from fairdsl.numerics.exact import exact_scores
from fairdsl.numerics.narrow import Finite, ValueSet

__all__ = ["Atom", "Case", "Cases", "cases", "comparable_ways", "in_parts", "pair_of", "refined", "ways", "widened"]

#: More ordered pairs of assignments than this stay symbolic; splitting then takes them apart.
_FEW_PAIRS = 100

#: A case gets no more conditions than this.
_MOST_ATOMS = 200


@dataclass(frozen=True, slots=True)
class Case:
    """One way to break the demand: inequalities over the scores, and the pairs it looks at.

    ``outcomes`` are the decisions of a and b that the inequalities fix, None where they leave it open. ``number`` is
    the case's place among those of the question, ``condition`` what the attributes meet beside what the question asks.
    """

    title: str
    atoms: tuple[Atom, ...]
    region: Region
    outcomes: tuple[int | None, int | None] = (None, None)
    number: int = 0
    condition: Predicate = TRUE


@dataclass(frozen=True, slots=True)
class Cases(Sequence[Case]):
    """All cases of a question, in a fixed order: every way with every part. Each is made when it is asked for."""

    ways: tuple[_Way, ...]
    parts: tuple[tuple[str, Region], ...]

    def __len__(self) -> int:
        return len(self.ways) * len(self.parts)

    @overload
    def __getitem__(self, place: int) -> Case: ...

    @overload
    def __getitem__(self, place: slice) -> list[Case]: ...

    def __getitem__(self, place: int | slice) -> Case | list[Case]:
        if isinstance(place, slice):
            return [self[each] for each in range(len(self))[place]]
        number = range(len(self))[place]
        way, (groups, region) = self.ways[number // len(self.parts)], self.parts[number % len(self.parts)]
        return Case(way.title + groups, way.atoms, region, way.outcomes, number)


def pair_of(problem: Problem) -> Pair:
    """Who is compared by the question, which the backend has offered to answer; of one individual nothing differs."""
    question = problem.question
    assert isinstance(question, Pair | Demanded)
    return question.pair if isinstance(question, Demanded) else question


def widened(problem: Problem) -> bool:
    """Whether some case admits more than the question: then only a replay can tell."""
    rules = [model.rule for model in problem.models]
    enclosed = any(isinstance(rule, ByThreshold) and rule.low != rule.high for rule in rules)
    return enclosed or not exactly_linear(problem.model, pair_of(problem).sure)


def cases(problem: Problem) -> Cases:
    """All cases, in a fixed order; none where nothing is left to compare."""
    pair = pair_of(problem)
    start = whole_region(problem.domain, pair)
    if start.empty:
        return Cases((), ())
    return Cases(tuple(_ways(problem.model, pair)), tuple(_assignments(problem, pair, start)))


def in_parts(
    problem: Problem, pair: Pair, title: str, atoms: tuple[Atom, ...], condition: Predicate, first: int
) -> list[Case]:
    """The cases of one way to break a demand, numbered from ``first`` on; ``pair`` has the ``condition`` in it."""
    start = whole_region(problem.domain, pair)
    parts = [] if start.empty else _assignments(problem, pair, start)
    return [
        Case(title=title + groups, atoms=atoms, region=region, number=number, condition=condition)
        for number, (groups, region) in enumerate(parts, start=first)
    ]


def ways(model: Model, pair: Pair) -> Iterator[tuple[str, tuple[Atom, ...]]]:
    """The ways in which scores can break the demand: a title and the inequalities, one after another."""
    return ((way.title, way.atoms) for way in _ways(model, pair))


def comparable_ways(model: Model, pair: Pair) -> Iterator[tuple[str, tuple[Atom, ...]]]:
    """The ways in which a pair can count at all: the decisions that the model has to be sure of."""
    for outcomes in _outcomes(model, pair):
        atoms = _of_outcomes(model, pair, outcomes)
        if atoms is not None:
            yield _titled(model, outcomes), atoms


def refined(problem: Problem, case: Case, a: Point, b: Point) -> Case | None:
    """The case with conditions that (a, b) does not meet, where it meets the case's and the model is not sure.

    None where no such condition is left: the model is sure of both as far as linear conditions tell.
    """
    pair, model = pair_of(problem), problem.model
    if len(case.atoms) >= _MOST_ATOMS or not model.rational:
        return None
    scores = (exact_scores(model, a), exact_scores(model, b))
    found = []
    for sure in pair.sure:
        of_a = sure.who is Who.A
        outcome = case.outcomes[0 if of_a else 1]
        if outcome is not None:
            atom = tangent(model, outcome, sure, scores[0 if of_a else 1], of_a=of_a)
            if not atom.met(*scores):
                found.append(atom)
    return replace(case, atoms=(*case.atoms, *found)) if found else None


@dataclass(frozen=True, slots=True)
class _Way:
    """A title, inequalities, and the outcomes of a and b that they fix."""

    title: str
    atoms: tuple[Atom, ...]
    outcomes: tuple[int | None, int | None]


def _ways(model: Model, pair: Pair) -> Iterator[_Way]:
    both = not pair.symmetric
    if isinstance(pair.demand, ScoreGap):
        yield from _gaps(model, pair, pair.demand, both)
        return

    @cache
    def atoms(outcome: int, who: Who) -> tuple[Atom, ...] | None:
        """What has to hold of one whom the model decides so, and is sure enough of."""
        of_a = who is Who.A
        decision = decided(model.rule, outcome, model.score_count, of_a=of_a)
        sure = pair.sure_of(who)
        return None if decision is None else (*decision, *sure_of(model, outcome, sure, of_a=of_a))

    for first, second in product(range(len(model.outcomes)), repeat=2):
        if first != second and (both or first > second):
            a, b = atoms(first, Who.A), atoms(second, Who.B)
            if a is not None and b is not None:
                title = f"a: {model.outcomes[first]}, b: {model.outcomes[second]}"
                yield _Way(title, (*a, *b), (first, second))


def _gaps(model: Model, pair: Pair, demand: ScoreGap, both: bool) -> Iterator[_Way]:
    one, minus = (Fraction(1),), (Fraction(-1),)
    strict = demand.relation is Relation.LE
    relation = ">" if strict else ">="
    directions = [(f"score(a) - score(b) {relation} {demand.limit}", Atom(one, minus, -demand.limit, strict))]
    if both:
        directions.append((f"score(b) - score(a) {relation} {demand.limit}", Atom(minus, one, -demand.limit, strict)))
    for (title, gap), outcomes in product(directions, list(_outcomes(model, pair))):
        atoms = _of_outcomes(model, pair, outcomes)
        if atoms is not None:
            yield _Way("; ".join(filter(None, (title, _titled(model, outcomes)))), (gap, *atoms), outcomes)


def _outcomes(model: Model, pair: Pair) -> Iterator[tuple[int | None, int | None]]:
    """What can be decided of those whom the model has to be sure of; None of whom nothing is asked."""

    def of(who: Who) -> Sequence[int | None]:
        return range(len(model.outcomes)) if pair.sure_of(who) else (None,)

    return product(of(Who.A), of(Who.B))


def _of_outcomes(model: Model, pair: Pair, outcomes: tuple[int | None, int | None]) -> tuple[Atom, ...] | None:
    """The inequalities of these decisions and of being sure of them; None where the rule never decides so."""
    atoms: list[Atom] = []
    for who, outcome in zip((Who.A, Who.B), outcomes, strict=True):
        if outcome is None:
            continue
        of_a = who is Who.A
        decision = decided(model.rule, outcome, model.score_count, of_a=of_a)
        if decision is None:
            return None
        atoms += [*decision, *sure_of(model, outcome, pair.sure_of(who), of_a=of_a)]
    return tuple(atoms)


def _titled(model: Model, outcomes: tuple[int | None, int | None]) -> str:
    named = ((who, outcome) for who, outcome in zip("ab", outcomes, strict=True) if outcome is not None)
    return ", ".join(f"{who}: {model.outcomes[outcome]}" for who, outcome in named)


def _assignments(problem: Problem, pair: Pair, start: Region) -> Iterator[tuple[str, Region]]:
    """The regions of all comparable pairs of values of the differing attributes, or the whole region."""
    # What the target asks of one of the two leaves them different values.
    ours_left, theirs_left = ([sets[index] for index in pair.differ] for sets in (start.a, start.b))
    count = 1
    for values in (*ours_left, *theirs_left):
        count *= values.count if isinstance(values, Finite) else _FEW_PAIRS + 1
    if count > _FEW_PAIRS or not pair.differ:
        yield "", start
        return
    for ours, theirs in product(_every(ours_left), _every(theirs_left)):
        apart = [x != y for x, y in zip(ours, theirs, strict=True)]
        if all(apart) if pair.mode is Differ.EACH else any(apart):
            yield _described(problem, pair, ours, theirs), _fixed(pair, start, ours, theirs)


def _every(sets: Sequence[ValueSet]) -> list[tuple[int | Fraction, ...]]:
    """All assignments of finitely many values."""
    return list(product(*(values.values for values in sets if isinstance(values, Finite))))


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
