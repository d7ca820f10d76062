"""The question, negated and split into cases that are settled one by one.

Definition. The property holds iff no admissible pair (a, b) breaks the demand. A pair breaks it iff scores
and values satisfy one of the *ways* to break it (:mod:`~fairdsl.backends.smt.ways`): decisions that are not as
demanded, sums of scores beyond a limit. A decision is a conjunction of linear inequalities over the scores; outcomes of
ByHighest beat those of a lower index strictly, because ties go to the lowest index. A threshold that is known only to
lie in [low, high] is widened: granted means that it is met for some value in there, and so does refused. What is asked
of how sure the model is, is necessary only: of a pair that a solver finds only a replay tells whether it counts, and
:func:`refined` excludes one that does not.

Each case is further split by the values of the differing attributes where these are few. All values
take part, not only the extremes.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import accumulate, product
from typing import overload

from fairdsl.backends.smt.atoms import Atom, Surely, exactly_linear
from fairdsl.backends.smt.region import Region, whole_region
from fairdsl.backends.smt.ways import Way, breaking
from fairdsl.ir.demand import Chance, Demanded
from fairdsl.ir.domain import Point
from fairdsl.ir.expr import TRUE, Predicate, conjoin
from fairdsl.ir.model import ByThreshold
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Differ, Pair
from fairdsl.numerics.exact import exact_scores
from fairdsl.numerics.narrow import Finite, ValueSet

__all__ = ["Atom", "Case", "Cases", "asked_by", "cases", "pair_of", "parts_of", "refined", "widened"]

#: The regions that a way is asked about, and what their differing attributes are.
Parts = tuple[tuple[str, Region], ...]

#: More ordered pairs of assignments than this stay symbolic; splitting then takes them apart.
_FEW_PAIRS = 100

#: A case gets no more conditions than this.
_MOST_ATOMS = 200


@dataclass(frozen=True, slots=True)
class Case:
    """One way to break the demand: inequalities over the scores, and the pairs it looks at.

    ``sure`` says of which decisions models are how sure, for which the inequalities are necessary. ``number`` is the
    case's place among those of the question, ``condition`` what the attributes meet beside what the question asks.
    """

    title: str
    atoms: tuple[Atom, ...]
    region: Region
    sure: tuple[Surely, ...] = ()
    number: int = 0
    condition: Predicate = TRUE


@dataclass(frozen=True, slots=True)
class Cases(Sequence[Case]):
    """All cases of a question, in a fixed order: every way with every part. Each is made when it is asked for.

    They are about the model of ``problem``, which gives all that the demand names.
    """

    problem: Problem
    ways: tuple[tuple[Way, Parts], ...]
    _ends: tuple[int, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_ends", tuple(accumulate(len(parts) for _, parts in self.ways)))

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    @overload
    def __getitem__(self, place: int) -> Case: ...

    @overload
    def __getitem__(self, place: slice) -> list[Case]: ...

    def __getitem__(self, place: int | slice) -> Case | list[Case]:
        if isinstance(place, slice):
            return [self[each] for each in range(len(self))[place]]
        number = range(len(self))[place]
        at = bisect_right(self._ends, number)
        way, parts = self.ways[at]
        groups, region = parts[number - self._ends[at]]
        return Case(way.title + groups, way.atoms, region, way.sure, number, way.condition)


def pair_of(problem: Problem) -> Pair:
    """Who is compared by the question, which the backend has offered to answer; of one individual nothing differs."""
    question = problem.question
    assert isinstance(question, Pair | Demanded)
    return question.pair if isinstance(question, Demanded) else question


def widened(problem: Problem) -> bool:
    """Whether some case admits more than the question: then only a replay can tell."""
    rules = [model.rule for model in problem.models]
    enclosed = any(isinstance(rule, ByThreshold) and rule.low != rule.high for rule in rules)
    chances = any(isinstance(term, Chance) for term in problem.demanded.terms)
    return enclosed or chances or not exactly_linear(problem.model, pair_of(problem).sure)


def cases(problem: Problem) -> Cases:
    """All cases, in a fixed order; none where nothing is left to compare. Raises UnsplitError."""
    together, ways = breaking(problem)
    known: dict[Predicate, Parts] = {}
    for way in ways:
        if way.condition not in known:
            pair = _restricted(pair_of(problem), way.condition)
            start = whole_region(problem.domain, pair)
            known[way.condition] = () if start.empty else tuple(parts_of(problem, pair, start))
    return Cases(together, tuple((way, known[way.condition]) for way in ways))


def asked_by(problem: Problem, case: Case) -> Pair:
    """Who is compared in a case."""
    return _restricted(pair_of(problem), case.condition)


def _restricted(pair: Pair, condition: Predicate) -> Pair:
    if not pair.differ:
        return replace(pair, target=conjoin(pair.target, condition))
    return replace(pair, pair_target=conjoin(pair.pair_target, condition))


def refined(problem: Problem, case: Case, a: Point, b: Point) -> Case | None:
    """The case with conditions that (a, b) does not meet, where it meets the case's and the model is not sure.

    None where no such condition is left: the model is sure of both as far as linear conditions tell.
    """
    if len(case.atoms) >= _MOST_ATOMS or not problem.model.rational:
        return None
    scores = (exact_scores(problem.model, a), exact_scores(problem.model, b))
    found = [atom for atom in (sure.cut(*scores) for sure in case.sure) if not atom.met(*scores)]
    return replace(case, atoms=(*case.atoms, *found)) if found else None


def parts_of(problem: Problem, pair: Pair, start: Region) -> Iterator[tuple[str, Region]]:
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
