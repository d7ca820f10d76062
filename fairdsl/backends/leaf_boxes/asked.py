"""Questions of every kind about trees, lowered: who is compared beyond one box, and under which conditions.

What :mod:`.lowering` leaves out: distances and conditions on pairs, how sure the model is, gaps of scores, conditions
on several attributes at once. Conditions are no trees here but are looked at in three values (:mod:`.conditions`).
Where an attribute may differ by so much, it is cut so far from each test as well: then the parts that somebody can come
to are the same for everybody in a part.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from fairdsl.backends.contract import Refusal, only_pairs
from fairdsl.backends.leaf_boxes.cuts import Border, Cut, Test, test_of
from fairdsl.backends.leaf_boxes.lowering import (
    ComparedPeople,
    Lowered,
    compared_people,
    lowered,
    refusal_of_domain,
    refusal_of_trees,
    tests_of,
)
from fairdsl.ir.expr import TRUE, Compare, Predicate, Relation, Variable, Who, atoms, conjoin, rename, substitute
from fairdsl.ir.model import ByThreshold
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Pair, Quantity, ScoreGap
from fairdsl.numerics.derived import Kept, derived
from fairdsl.numerics.narrow import Finite, ValueSet, narrow

#: Cuts beside the tests: of attributes that conditions add up, shared and protected; of an unordered attribute in all.
_SHARED, _PROTECTED, _SINGLES = 1024, 128, 62
#: Values at most of an attribute that may differ by so much, if they have gaps.
_GAPS = 4096
_FOUND: Kept[Problem, tuple[Cut, ...]] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Who is compared, over attributes that are cut into parts; whatever the model is.

    ``each`` is asked of everybody. ``reach`` are, of attributes in which a partner may differ, the first and the last
    part that one in each part can come to.
    """

    pair: Pair
    each: Predicate
    cuts: tuple[Cut, ...]
    reach: Mapping[int, tuple[tuple[int, int], ...]]

    @property
    def both(self) -> Predicate:
        """What is asked of a pair; what the two have in common is `EACH`'s."""
        return _both(self.pair)

    @property
    def unit(self) -> Predicate:
        """What is asked of a unit's individual, where units are individuals."""
        one = self.pair.one_sided
        return conjoin(self.each, TRUE if one is None else rename(self.pair.pair_target, {one: Who.EACH}))

    @property
    def people(self) -> ComparedPeople:
        """The assignments of the protected attributes, and which of them are compared."""
        return compared_people(self.cuts, self.pair)


def refusal_of_any(problem: Problem) -> Refusal | None:
    """Why a share of a question about trees is not bounded at all, if it is not."""
    pair = problem.question
    if not isinstance(pair, Pair):
        return only_pairs(problem)
    if problem.quantity is Quantity.HOLDS:
        return Refusal(why="it proves no more than equal decisions of people who share a leaf's box", span=pair.span)
    return refusal_of_trees(problem) or _of_scores(problem, pair) or _of_values(problem, pair)


def _of_scores(problem: Problem, pair: Pair) -> Refusal | None:
    model = problem.model
    if isinstance(model.rule, ByThreshold):
        if model.rule.relation in (Relation.EQ, Relation.NE):
            return Refusal(why="the decision is not a half-line of the score", span=model.span)
    elif model.rule.slack:
        return Refusal(why="scores are only known roughly", span=model.span)
    if pair.sure and model.logits is None:
        return Refusal(why="the model's confidence needs its probabilities", span=pair.sure[0].span)
    if any(sure.model for sure in pair.sure):
        return Refusal(why="it asks for the confidence of another model", span=pair.sure[0].span)
    if _scored(pair) and len(model.layers) > 1:
        return Refusal(why="layers behind the tree", span=model.span)
    return None


def _of_values(problem: Problem, pair: Pair) -> Refusal | None:
    sets, added = narrow(problem.domain, pair.target), _added(problem, pair)
    for entry in pair.relax:
        values = sets[entry.attribute]
        listed = values.count is not None and values.count <= _SHARED
        if entry.by is not None and entry.attribute in added and not listed:
            # Within a part some are near enough and some are not, and the condition tells them apart.
            name = problem.domain.attributes[entry.attribute].name
            return Refusal(why=f"`{name}` may differ by so much, and a condition adds it to others", span=entry.span)
        if entry.by is not None and _gaps(values) and (values.count or 0) > _GAPS:
            why = f"`{problem.domain.attributes[entry.attribute].name}` has too many values with gaps between them"
            return Refusal(why=why, span=entry.span)
    return refusal_of_domain(problem, pair, _cuts, several=True)


def _scored(pair: Pair) -> bool:
    """Whether scores are compared, not decisions alone."""
    return bool(pair.sure) or isinstance(pair.demand, ScoreGap)


def ask_of(problem: Problem, pair: Pair) -> Asked:
    """The question, which is not refused and has value sets that are not empty."""
    cuts = _cuts(problem)
    each = conjoin(problem.domain.where, pair.target)
    sets = narrow(problem.domain, pair.target)
    coarse = _coarse(problem, sets)
    reach = {}
    for entry in pair.relax:
        at, fine = entry.attribute, cuts[entry.attribute]
        whole = tuple((0, len(fine.parts) - 1) for _ in fine.parts)
        reach[at] = whole if entry.by is None else tuple(_reached(coarse[at], fine, entry.by))
    return Asked(pair=pair, each=each, cuts=cuts, reach=reach)


def graph_of(problem: Problem, pair: Pair) -> Lowered:
    """The graph of the question's model, over the same parts."""
    return lowered(problem, pair, _cuts(problem), TRUE, scores=_scored(pair))


def _both(pair: Pair) -> Predicate:
    """What is asked of a pair; attributes in which the two are equal are those of either."""
    apart = {*pair.differ, *(entry.attribute for entry in pair.relax)}

    def of(variable: Variable) -> Variable:
        return variable if variable.attribute in apart else Variable(variable.attribute, Who.EACH)

    return substitute(pair.pair_target, of)


def _cuts(problem: Problem) -> tuple[Cut, ...]:
    return derived(problem, _cut, _FOUND)


def _cut(problem: Problem) -> tuple[Cut, ...]:
    pair = problem.question
    assert isinstance(pair, Pair), "other questions are refused"
    cuts = list(_coarse(problem, narrow(problem.domain, pair.target)))
    tests = _tests(problem, pair, len(cuts))
    for entry in pair.relax:
        at, values = entry.attribute, narrow(problem.domain, pair.target)[entry.attribute]
        if entry.by is not None and len(cuts[at].parts) > 1:
            known = [end for part in cuts[at].parts for end in (part.low, part.high)]
            cuts[at] = Cut.of(values, tests[at], {*known, *_moved(known, entry.by)})
    return tuple(cuts)


def _tests(problem: Problem, pair: Pair, attributes: int) -> list[set[Test]]:
    conditions = [conjoin(problem.domain.where, pair.target), _both(pair)]
    return tests_of(problem.model, conditions, attributes)


def _coarse(problem: Problem, sets: Sequence[ValueSet]) -> tuple[Cut, ...]:
    """Cut where a test may change its answer, and where conditions on several attributes are looked at."""
    pair = problem.question
    assert isinstance(pair, Pair), "other questions are refused"
    tests = _tests(problem, pair, len(sets))
    added = _added(problem, pair)
    spaced = {entry.attribute for entry in pair.relax if entry.by is not None}
    found = []
    for at, (values, wanted) in enumerate(zip(sets, tests, strict=True)):
        beside: set[Border] = set()
        if at in spaced and _gaps(values):
            beside = set(_between(values, values.count or 1))
        elif at in added:
            beside = set(_between(values, _PROTECTED if at in pair.differ else _SHARED))
        cut = Cut.of(values, wanted, beside)
        if not cut.ordered and len(cut.parts) > _SINGLES and at not in spaced:
            cut = Cut.of(values, wanted)
        found.append(cut)
    return tuple(found)


def _added(problem: Problem, pair: Pair) -> set[int]:
    """The attributes in conditions on several at once."""
    return {
        variable.attribute
        for predicate in (problem.domain.where, pair.target, _both(pair))
        for atom in atoms(predicate)
        if isinstance(atom, Compare) and test_of(atom) is None
        for variable, _ in atom.left.terms
    }


def _gaps(values: ValueSet) -> bool:
    """Whether some numbers between the ends are missing."""
    return isinstance(values, Finite) and not (isinstance(values.values, range) and abs(values.values.step) == 1)


def _between(values: ValueSet, most: int) -> Iterator[Border]:
    """Evenly spaced borders, so many at most."""
    if isinstance(values, Finite):
        step = max(1, -(-len(values.values) // most))
        yield from ((value, 0) for value in values.values[::step])
    elif values.low is not None and values.high is not None:
        step_of = (values.high - values.low) / most
        yield from ((values.low + step_of * number, 0) for number in range(1, most))


def _moved(borders: Sequence[Border], by: Fraction) -> Iterator[Border]:
    for number, side in borders:
        if not isinstance(number, float):
            yield from ((number - by, side), (number + by, side))


def _reached(coarse: Cut, fine: Cut, by: Fraction) -> Iterator[tuple[int, int]]:
    """Of each part the first and the last that have somebody within the distance of those in it."""
    lows, highs = [part.low for part in coarse.parts], [part.high for part in coarse.parts]
    starts = [part.low for part in fine.parts]
    for part in fine.parts:
        first = bisect_right(highs, (part.speaker - by, 0))
        last = bisect_left(lows, (part.speaker + by, 1)) - 1
        behind = bisect_left(starts, lows[last + 1]) if last + 1 < len(lows) else len(starts)
        yield bisect_left(starts, lows[first]), behind - 1
