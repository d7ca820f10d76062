"""Questions of every kind about trees as parts of a file: arrays of the model's trees, and who is compared in words.

    question --written--> (Numbered, PairsAsked) --read--> an equal question

Values of attributes are not kept, only the parts into which they fall: no test and no condition tells those of a part
apart, or else it stays open there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import prod

import numpy as np

from fairdsl.backends.leaf_boxes.asked import Asked
from fairdsl.backends.leaf_boxes.cuts import Cut, Part, test_of
from fairdsl.backends.leaf_boxes.duels import Numbered, Scoring, contest_of
from fairdsl.backends.leaf_boxes.judging import Question
from fairdsl.backends.leaf_boxes.sizes import Sizes, axes_of
from fairdsl.backends.leaf_boxes.task import FITS, SETS, check_graph, demand
from fairdsl.codec import Exact
from fairdsl.ir.expr import Predicate, Who, atoms, fold, variables
from fairdsl.ir.model import ByHighest, ByThreshold
from fairdsl.ir.question import Pair

#: Combinations of parts of the protected attributes, and conditions in conditions, at most.
_PEOPLE, _DEEP = 4096, 24
#: Digits that are rounded away at most.
_ROUNDED = 2**16


@dataclass(frozen=True, slots=True, kw_only=True)
class ValuesBetween:
    """Values of an attribute that are one part of its axis."""

    #: Where they begin.
    low: Exact
    #: Where they end.
    high: Exact
    #: Whether the first number is not one of them.
    open_low: bool = False
    #: Whether the last one is not.
    open_high: bool = False
    #: How many they are, or how long that is.
    size: Exact
    #: One of them.
    one: Exact


@dataclass(frozen=True, slots=True, kw_only=True)
class AttributeParts:
    """An attribute, cut into parts in ascending order."""

    #: Whether every test is of a limit, not of single values.
    ordered: bool
    #: The parts.
    parts: tuple[ValuesBetween, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReachedParts:
    """Where partners may be along an attribute in which they may differ."""

    #: Which attribute.
    attribute: int
    #: Of each part the first one, and the last one, that somebody in it is compared with.
    ends: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairsAsked:
    """Who is compared, under which conditions, and what sums over trees decide. Attributes are numbered."""

    #: Who is compared and what is demanded of them.
    pair: Pair
    #: What is asked of everybody.
    each: Predicate
    #: All attributes.
    cuts: tuple[AttributeParts, ...]
    #: Those in which partners may differ, beside the protected ones.
    reach: tuple[ReachedParts, ...]
    #: What the sums decide.
    scoring: Scoring


def pairs_asked(asked: Asked, scoring: Scoring) -> PairsAsked:
    """What a file says of a question."""
    return PairsAsked(
        pair=asked.pair,
        each=asked.each,
        cuts=tuple(
            AttributeParts(ordered=cut.ordered, parts=tuple(_written(part) for part in cut.parts)) for cut in asked.cuts
        ),
        reach=tuple(ReachedParts(attribute=at, ends=ends) for at, ends in asked.reach.items()),
        scoring=scoring,
    )


def _written(part: Part) -> ValuesBetween:
    (low, behind), (high, closed) = part.low, part.high
    assert not isinstance(low, float), "unbounded attributes have no share"
    assert not isinstance(high, float), "unbounded attributes have no share"
    return ValuesBetween(
        low=Fraction(low),
        high=Fraction(high),
        open_low=behind > 0,
        open_high=closed == 0,
        size=part.weight,
        one=part.speaker,
    )


def question_in(numbered: Numbered, said: PairsAsked) -> Question:
    """The question; ValueError where its parts do not fit together: refining follows them without looking."""
    _check_pair(said)
    cuts = tuple(_cut(each) for each in said.cuts)
    demand(len(axes_of(cuts, said.pair.differ)) <= SETS, "it has too many axes")
    sizes = Sizes.of_parts(cuts, said.pair.differ, numbered.axis, numbered.passing)
    people = prod(len(cuts[at].parts) for at in said.pair.differ)
    demand(people <= _PEOPLE, "too many people are compared")
    check_graph(numbered, [len(each) for each in sizes.parts], sizes.ordered, people)
    _check_conditions(said, cuts)
    _check_reach(said, cuts)
    _check_scoring(numbered, said.scoring)
    reach = {each.attribute: each.ends for each in said.reach}
    asked = Asked(pair=said.pair, each=said.each, cuts=cuts, reach=reach)
    contest = contest_of(numbered, said.scoring, sizes)
    if contest is None:
        raise ValueError("its trees are too large")
    return Question(asked, contest, sizes)


def _cut(said: AttributeParts) -> Cut:
    parts = [
        Part(
            values=None,
            low=(each.low, int(each.open_low)),
            high=(each.high, int(not each.open_high)),
            weight=each.size,
            speaker=each.one,
        )
        for each in said.parts
    ]
    demand(bool(parts) and all(one.high <= other.low for one, other in pairwise(parts)), "parts are not in order")
    for part in parts:
        speaks = part.low <= (part.speaker, 0) and (part.speaker, 1) <= part.high
        demand(part.low < part.high and part.weight >= 0 and speaks, "a part is empty")
    demand(said.ordered or len(parts) <= SETS, "too many parts for a set")
    return Cut(parts, ordered=said.ordered)


def _check_pair(said: PairsAsked) -> None:
    pair, count = said.pair, len(said.cuts)
    apart = [*pair.differ, *(entry.attribute for entry in pair.relax)]
    demand(len(set(apart)) == len(apart) and all(0 <= at < count for at in apart), "an attribute is not there")
    demand(bool(pair.differ), "nobody differs")


def _check_conditions(said: PairsAsked, cuts: Sequence[Cut]) -> None:
    pair = said.pair
    for predicate, whose in ((said.each, {Who.EACH}), (pair.target, {Who.EACH}), (pair.pair_target, {Who.A, Who.B})):
        demand(_depth(predicate) <= _DEEP, "its conditions are nested too deeply")
        for variable in variables(predicate):
            demand(0 <= variable.attribute < len(cuts) and variable.who in whose, "a condition is about nobody")
        for atom in atoms(predicate):
            found = test_of(atom)
            single = found is not None and found[1].border is None
            demand(not single or not cuts[found[0]].ordered, "single values are parts")  # type: ignore[index]
    demand(all(sure.who in (Who.A, Who.B) and 0 < sure.level < 1 for sure in pair.sure), "a confidence of nobody")
    demand(not pair.sure or said.scoring.logits is not None, "a confidence without probabilities")


def _depth(predicate: Predicate) -> int:
    def deeper(parts: list[int]) -> int:
        return 1 + max(parts, default=0)

    return fold(predicate, lambda atom: 0, deeper, deeper, lambda part: part + 1)


def _check_reach(said: PairsAsked, cuts: Sequence[Cut]) -> None:
    relaxed = [entry.attribute for entry in said.pair.relax]
    demand(sorted(relaxed) == sorted(each.attribute for each in said.reach), "partners are somewhere else")
    for each in said.reach:
        count = len(cuts[each.attribute].parts)
        demand(len(each.ends) == count, "partners of a part are missing")
        demand(all(0 <= a <= here <= b < count for here, (a, b) in enumerate(each.ends)), "partners are nowhere")


def _check_scoring(numbered: Numbered, scoring: Scoring) -> None:
    duels, outcomes = len(scoring.first), range(scoring.outcomes)
    columns = (scoring.second, scoring.below, scoring.above, scoring.offset)
    demand(1 < len(outcomes) <= SETS and all(len(each) == duels for each in columns) and duels > 0, "duels differ")
    demand(all(each in outcomes for each in (*scoring.first, *scoring.second)), "an outcome is not there")
    demand(scoring.denominator > 0 and 0 <= scoring.shift < _ROUNDED, "scores have no unit")
    match scoring.rule:
        case ByThreshold(granted=granted, otherwise=otherwise):
            demand({granted, otherwise} <= set(outcomes), "an outcome is not there")
        case ByHighest(slack=slack):
            demand(not slack, "scores are only known roughly")
    demand(scoring.logits is None or scoring.logits.scale > 0, "probabilities without a scale")
    low, high, nodes = numbered.low, numbered.high, len(numbered.axis)
    demand(low.shape == high.shape == (nodes, duels) and low.dtype == high.dtype == np.int64, "numbers are missing")
    demand(bool((low <= high).all()), "numbers end before they begin")
    largest = max(abs(int(low.min(initial=0))), abs(int(high.max(initial=0))))
    limits = max(max(abs(a), abs(b)) for a, b in zip(scoring.below, scoring.above, strict=True))
    demand(2 * (numbered.roots.shape[1] * largest + limits) < FITS, "scores are too large")
    demand(all(a < b for a, b in zip(scoring.below, scoring.above, strict=True)), "scores on both sides of the limits")
