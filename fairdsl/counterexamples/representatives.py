"""A few pairs that stand for all that were found, each with a part of the domain around it.

One after the other (sequential covering): the counterexamples that are not covered yet are clustered (:mod:`.medoids`);
around the medoids of the largest clusters boxes are grown in which nearly everything violates
(:mod:`fairdsl.backends.search.growth`) and which do not meet the boxes before; the one that holds the most
counterexamples is taken. What is said of a box does not rest on how it was found:

* of trees the share of its units that violate is counted exactly, by the leaves (:mod:`fairdsl.backends.leaf_boxes`);
* of a small box every unit is tried;
* of others a sample of its own gives an interval (:mod:`fairdsl.backends.search.shares`). The intervals of all boxes
  together have the confidence of 95 %: of k boxes each one gets 1 - 0.05 / k (Bonferroni).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.contract import Budget, Facts, Observer, Offer, Silent
from fairdsl.backends.leaf_boxes import LeafBoxes
from fairdsl.backends.search import Box, Ground, Judged, Share, Span, evaluator_of, grown, share_of
from fairdsl.counterexamples.medoids import Metric, middles
from fairdsl.ir.expr import TRUE, Compare, Linear, Member, Predicate, Relation, Variable, Who, conjoin
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Pair, Quantity
from fairdsl.numerics.narrow import Finite, narrow
from fairdsl.plan.gate import without_layers
from fairdsl.verdict import Among, Shares, Within

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

#: The probability that all intervals contain their shares, and the seconds for each of three steps of a box.
CONFIDENCE, _SECONDS = 0.95, 10.0
#: Boxes of which the one that holds the most counterexamples is taken.
_COMPARED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Stand:
    """The find in row ``pair``, the results in its box [n], and what is known of the box.

    ``sides`` leave out attributes of which all values are in it; the other fields as in :class:`Representative`.
    """

    pair: int
    inside: BoolArray
    sides: tuple[Within | Among, ...]
    individuals: int | None
    bounded: bool
    low: Fraction | None
    high: Fraction | None
    units: int
    how: str
    confidence: float | None


def representatives(
    problem: Problem, pair: Pair, pairs: Judged, count: int, seed: int, observer: Observer
) -> list[Stand]:
    """At most ``count`` of them, fewer where their boxes hold all results. For questions without relaxations."""
    ground = Ground(problem, pair, evaluator_of(problem.model), Budget.of(np.inf, seed=seed))
    rows = ground.space.rows_of(pairs.a, pairs.b)
    columns = ground.space.columns
    ordered = np.array([column.ordered for column in columns], dtype=np.bool_)
    lengths = np.array([column.high - column.low for column in columns])
    metric = Metric(np.where(np.isfinite(lengths), lengths, np.ptp(rows, axis=0) if len(rows) else 1.0), ordered)
    left, boxes, found = np.arange(len(rows)), list[Box](), list[Stand]()
    while left.size and len(found) < count:
        observer.progress("representatives", len(found) / count, f"{len(left):,} pairs are not covered")
        # At least as many clusters as there are boxes to compare.
        middles_left = middles(rows[left], max(_COMPARED, count - len(found)), metric)[:_COMPARED]
        budget = Budget.of(_SECONDS, seed=seed)
        grown_boxes = [grown(ground, rows[left[middle]].tolist(), boxes, budget) for middle in middles_left]
        covered = [int(box.contains(rows[left]).sum()) for box in grown_boxes]
        best = int(np.argmax(covered))
        chosen, box = int(left[middles_left[best]]), grown_boxes[best]
        boxes.append(box)
        inside = box.contains(rows)
        found.append(_stand(ground, box, chosen, inside, 1 - (1 - CONFIDENCE) / count))
        left = left[~inside[left]]
    return found


def _stand(ground: Ground, box: Box, chosen: int, inside: BoolArray, confidence: float) -> Stand:
    problem, pair, sampler = ground.problem, ground.pair, ground.sampler
    restricted = list(_restrictions(ground, box))
    units = box.count(ground.space.columns)
    over = [sampler.columns[index].count for index in pair.differ]
    stand = Stand(
        pair=chosen,
        inside=inside,
        sides=tuple(side for _, side in restricted),
        individuals=None if units is None or None in over else units * prod(size for size in over if size is not None),
        bounded=conjoin(problem.domain.where, pair.target) != TRUE,
        low=None,
        high=None,
        units=0,
        how="sample",
        confidence=None,
    )
    exact = _by_leaves(problem, pair, [_as_predicate(side) for _, side in restricted])
    if exact is not None:
        how, low, high = "leaf boxes", exact.falsified, exact.falsified + exact.undecided
        return replace(stand, low=low, high=high, units=exact.total or 0, how=how)
    share = share_of(ground, box, confidence, Budget.of(_SECONDS, seed=0))
    return stand if share is None else _with_share(stand, share)


def _with_share(stand: Stand, share: Share) -> Stand:
    how = "counted" if share.confidence is None else "sample"
    return replace(stand, low=share.low, high=share.high, units=share.units, how=how, confidence=share.confidence)


def _restrictions(ground: Ground, box: Box) -> Iterator[tuple[int, Within | Among]]:
    """The sides that leave something out, of what domain and target leave of the attribute."""
    sets = narrow(ground.problem.domain, ground.pair.target)
    for attribute, side, column in zip(ground.space.attributes.tolist(), box.sides, ground.space.columns, strict=True):
        if isinstance(side, Span):
            if column.single or side.low > column.low or side.high < column.high:
                yield attribute, Within(attribute=attribute, low=Fraction(side.low), high=Fraction(side.high))
        else:
            values = sets[attribute]
            assert isinstance(values, Finite), "what has no order is finite"
            if column.single or len(side.chosen) < values.count:
                yield attribute, Among(attribute=attribute, values=tuple(Fraction(value) for value in side.chosen))


def _as_predicate(side: Within | Among) -> Predicate:
    variable = Variable(side.attribute, Who.EACH)
    if isinstance(side, Among):
        return Member(variable=variable, values=frozenset(side.values))
    above = Compare(left=Linear.of({variable: Fraction(1)}, -side.low), relation=Relation.GE)
    below = Compare(left=Linear.of({variable: Fraction(1)}, -side.high), relation=Relation.LE)
    return conjoin(above, below)


def _by_leaves(problem: Problem, pair: Pair, sides: Sequence[Predicate]) -> Shares | None:
    """The exact share of a box, of trees; None where the model is none, or the time ended first."""
    backend = LeafBoxes()
    question = replace(pair, target=conjoin(pair.target, *sides))
    boxed = replace(problem, question=question, quantity=Quantity.FAIR_SHARE, population=None)
    if without_layers(problem.model) is not None or not isinstance(backend.offer(boxed), Offer):
        return None
    answer = backend.answer(boxed, Facts(), Budget.of(_SECONDS, seed=0), Silent())
    return answer if isinstance(answer, Shares) and answer.reason is None else None
