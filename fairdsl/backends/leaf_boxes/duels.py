"""How sums over trees decide between any number of outcomes: by the signs of several numbers, their *duels*.

A threshold is one duel of two outcomes. Of several scores the highest decides, so each two of them are a duel, which
the lower index wins where they are equal. An outcome may be decided if it may win all of its duels. Numbers are whole
ones over a denominator; where their sums would not fit into 64 bits they are rounded outward to fewer digits, and a tie
that this hides stays open.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.leaf_boxes.graph import TERMINAL
from fairdsl.backends.leaf_boxes.kernels.records import Duels, Leaves
from fairdsl.backends.leaf_boxes.leaf_sets import leaves_of, merged
from fairdsl.backends.leaf_boxes.lowering import Lowered
from fairdsl.backends.leaf_boxes.scores import Outcomes, Reading, Sums, sides_of
from fairdsl.backends.leaf_boxes.sizes import Sizes
from fairdsl.backends.leaf_boxes.unfolding import TooManyError, trees_of
from fairdsl.codec import Exact
from fairdsl.ir.model import ByThreshold, DecisionRule, Logits, Model
from fairdsl.ir.question import ScoreGap, Sure
from fairdsl.numerics.confidence import sure_rows
from fairdsl.numerics.exact import UNDECIDED

Integers = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
Truths = NDArray[np.int8]

#: Bits that a sum may have, with its limits.
_BITS = 61
_UNIT = 2.0**-52


@dataclass(frozen=True, slots=True)
class Range:
    """Numbers [..., numbers] between two ends; of sums, what is ``common`` to all assignments is part of them."""

    low: Integers
    high: Integers

    def at(self, index: Any) -> Range:
        """Some of them."""
        return Range(self.low[index], self.high[index])


@dataclass(frozen=True, slots=True, kw_only=True)
class Scoring:
    """What sums over trees decide, and with which confidence: all that is left of a model beside its trees."""

    #: How many outcomes there are.
    outcomes: int
    #: How scores decide.
    rule: DecisionRule
    #: How they give probabilities, if they do.
    logits: Logits | None = None
    #: The outcome that wins each duel where its sum is at least `above`.
    first: tuple[int, ...]
    #: The one that wins it where its sum is at most `below`.
    second: tuple[int, ...]
    #: Up to where sums are below for sure.
    below: tuple[int, ...]
    #: From where on they are above.
    above: tuple[int, ...]
    #: What each sum leaves out, in units of the score.
    offset: tuple[Exact, ...]
    #: A sum is `2**shift / denominator` times as much in units of the score.
    denominator: int
    #: So many digits were rounded away, outward.
    shift: int


@dataclass(frozen=True, kw_only=True, eq=False)
class Numbered:
    """Trees as one graph (:class:`.task.Task`), and what each terminal adds to each sum at least and at most, [nodes,
    duels]. ``roots`` are [assignments, trees].
    """

    axis: Integers
    passing: Integers
    yes: Integers
    no: Integers
    roots: Integers
    low: Integers
    high: Integers


@dataclass(frozen=True, eq=False, kw_only=True)
class Contest:
    """The numbers of a model's leaves, and what they decide."""

    duels: Duels
    leaves: Leaves
    scoring: Scoring

    @property
    def rule(self) -> DecisionRule:
        """How scores decide."""
        return self.scoring.rule

    @property
    def logits(self) -> Logits | None:
        """How they give probabilities."""
        return self.scoring.logits

    @property
    def unit(self) -> Fraction:
        """What one unit of sums is in units of the score."""
        return Fraction(1 << self.scoring.shift, self.scoring.denominator)

    @property
    def exact(self) -> bool:
        """Whether no number was rounded."""
        return not self.scoring.shift

    def possible(self, sums: Range) -> Integers:
        """The outcomes that may be decided, as bits, [...] of sums [..., numbers]."""
        found = np.zeros(sums.low.shape[:-1], dtype=np.int64)
        scoring = self.scoring
        for outcome in range(scoring.outcomes):
            may = np.ones(found.shape, dtype=np.bool_)
            for duel, (first, second) in enumerate(zip(scoring.first, scoring.second, strict=True)):
                if outcome == first:
                    may &= sums.high[..., duel] > scoring.below[duel]
                elif outcome == second:
                    may &= sums.low[..., duel] < scoring.above[duel]
            found |= may.astype(np.int64) << outcome
        return found

    def sure(self, sums: Range, possible: Integers, wanted: Sequence[Sure]) -> Truths:
        """Whether the model is as sure as is asked: 1, -1, or 0 where that is open, [...]."""
        shape = possible.shape
        ends = Range(sums.low.reshape(-1, sums.low.shape[-1]), sums.high.reshape(-1, sums.high.shape[-1]))
        mask = possible.reshape(-1)
        single = (mask & (mask - 1)) == 0
        decisions = np.where(single, np.log2(np.maximum(mask, 1)).astype(np.int64), UNDECIDED)
        middle, error = self._scores(ends)
        if isinstance(self.rule, ByThreshold):
            scores, errors = middle[:, :1], error[:, :1]
        else:  # what matters of scores is how far they are from that of the decision
            count = self.scoring.outcomes
            scores, errors = (np.zeros((len(mask), count)) for _ in range(2))
            for duel, (first, second) in enumerate(zip(self.scoring.first, self.scoring.second, strict=True)):
                for other, outcome, sign in ((first, second, 1.0), (second, first, -1.0)):
                    rows = decisions == outcome
                    scores[rows, other], errors[rows, other] = sign * middle[rows, duel], error[rows, duel]
        found = sure_rows(self, scores, errors, decisions, wanted)
        return np.where(found == 1, 1, np.where(found == 0, -1, 0)).astype(np.int8).reshape(shape)

    def _scores(self, ends: Range) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The numbers in units of the score, and how far they may be from it, [n, numbers]."""
        unit = float(self.unit)
        offset = np.array([float(each) for each in self.scoring.offset])
        low, high = ends.low.astype(np.float64) * unit + offset, ends.high.astype(np.float64) * unit + offset
        size = np.maximum(np.abs(low), np.abs(high)) + np.abs(offset)
        return (low + high) / 2, (high - low) / 2 + 16 * _UNIT * size + 1e-300

    def gap_limits(self, demand: ScoreGap) -> tuple[int, int]:
        """The first number is kept where the difference of two sums is at most it, and broken from the second on."""
        limit, shift = demand.limit * self.scoring.denominator, self.scoring.shift
        whole = limit.numerator // limit.denominator
        kept = whole - 1 if demand.relation.value == "<" and whole == limit else whole
        return kept >> shift, -(-(kept + 1) >> shift)

    def points(self, sums: Range) -> BoolArray:
        """Where every number is known, [...]."""
        return np.asarray((sums.low == sums.high).all(axis=-1), dtype=np.bool_)


def numbered_of(lowered: Lowered, sizes: Sizes) -> tuple[Numbered, Scoring]:
    """The trees of a question, and what their sums decide."""
    model, graph = lowered.problem.model, lowered.graph
    numbers = _numbers(model, lowered.decides.read(graph))
    roots = np.array([row[:-1] for row in lowered.roots], dtype=np.int64)
    terminals = (sizes.axis == TERMINAL)[:, None]
    lows, highs = (np.where(terminals, each, 0) for each in (numbers.low, numbers.high))
    largest: list[int] = np.maximum(np.abs(lows), np.abs(highs)).max(axis=1).tolist()
    for node in np.flatnonzero(sizes.axis != TERMINAL).tolist():  # those that follow stand before it
        largest[node] = max(largest[graph.yes[node]], largest[graph.no[node]])
    size = sum(max(largest[root] for root in tree) for tree in roots.T.tolist())
    size += max(max(abs(a), abs(b)) for a, b in zip(numbers.below, numbers.above, strict=True))
    shift = max(0, (2 * size).bit_length() - _BITS)
    numbered = Numbered(
        axis=sizes.axis,
        passing=sizes.passing,
        yes=np.array(graph.yes, dtype=np.int64),
        no=np.array(graph.no, dtype=np.int64),
        roots=roots,
        low=(lows >> shift).astype(np.int64),
        high=(-(-highs >> shift)).astype(np.int64),
    )
    return numbered, Scoring(
        outcomes=len(model.outcomes),
        rule=model.rule,
        logits=model.logits,
        first=numbers.first,
        second=numbers.second,
        below=tuple(each >> shift for each in numbers.below),
        above=tuple(-(-each >> shift) for each in numbers.above),
        offset=numbers.offset,
        denominator=numbers.denominator,
        shift=shift,
    )


def contest_of(numbered: Numbered, scoring: Scoring, sizes: Sizes) -> Contest | None:
    """The contest of such trees; None where they need too much room."""
    low, high, roots = numbered.low, numbered.high, numbered.roots
    try:
        trees = trees_of(sizes, numbered.yes, numbered.no, roots)
    except TooManyError:
        return None
    standing = [t.valued(np.concatenate([low[t.value], high[t.value]], axis=1)) for t in trees]
    standing = merged(standing, sizes.ordered)
    count = low.shape[1]
    table = np.concatenate([tree.value for tree in standing])
    begins = np.cumsum([0, *(len(tree) for tree in standing)])
    numbers = [t.valued(np.arange(a, a + len(t), dtype=np.int64)) for a, t in zip(begins, standing, strict=False)]
    leaves = leaves_of(numbers, sizes.ordered, [len(each) for each in sizes.parts])
    if leaves is None:
        return None
    longest = max((len(each) for each in sizes.parts), default=0)
    sums = np.zeros((len(sizes.axes), longest + 1))
    for axis, each in enumerate(sizes.sums):
        sums[axis, : len(each)] = each.astype(np.float64)
        sums[axis, len(each) :] = sums[axis, len(each) - 1]
    return Contest(
        duels=Duels(
            ordered=sizes.ordered,
            low=np.ascontiguousarray(table[leaves.value, :count]),
            high=np.ascontiguousarray(table[leaves.value, count:]),
            sums=sums,
        ),
        leaves=leaves,
        scoring=scoring,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Numbers:
    """Of each node [nodes, numbers], as Python's integers, and how they decide."""

    low: NDArray[Any]
    high: NDArray[Any]
    first: tuple[int, ...]
    second: tuple[int, ...]
    below: tuple[int, ...]
    above: tuple[int, ...]
    offset: tuple[Fraction, ...]
    denominator: int


def _numbers(model: Model, reading: Reading) -> _Numbers:
    pairs = list(combinations(range(len(model.outcomes)), 2))
    one, other = [i for i, _ in pairs], [j for _, j in pairs]
    if isinstance(reading, Outcomes):  # who is decided wins all duels, and others meet in a draw
        decided = reading.decided.astype(object)[:, None]
        low = (decided == one).astype(object) - (decided == other).astype(object)
        high = np.where(decided == UNDECIDED, 1, low)
        low = np.where(decided == UNDECIDED, -1, low)
        limits = (-1,) * len(pairs), (1,) * len(pairs)
        return _Numbers(
            low=low,
            high=high,
            first=tuple(one),
            second=tuple(other),
            below=limits[0],
            above=limits[1],
            offset=(Fraction(0),) * len(pairs),
            denominator=1,
        )
    assert isinstance(reading, Sums), "one tree or several"
    table, bias, under = reading.low.astype(object), [int(each) for each in reading.bias], reading.denominator
    rule = model.rule
    if isinstance(rule, ByThreshold):
        below, above = sides_of(rule, under)
        return _Numbers(
            low=table[:, :1],
            high=table[:, :1],
            first=(rule.above,),
            second=(rule.below,),
            below=(below - bias[0],),
            above=(above - bias[0],),
            offset=(Fraction(bias[0], under),),
            denominator=under,
        )
    leads = table[:, one] - table[:, other]
    ahead = [bias[i] - bias[j] for i, j in pairs]
    return _Numbers(
        low=leads,
        high=leads,
        first=tuple(one),
        second=tuple(other),
        below=tuple(-each - 1 for each in ahead),
        above=tuple(-each for each in ahead),
        offset=tuple(Fraction(each, under) for each in ahead),
        denominator=under,
    )
