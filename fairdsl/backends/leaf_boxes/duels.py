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

from fairdsl.backends.leaf_boxes.descent import Sizes
from fairdsl.backends.leaf_boxes.forest import TooManyError, trees_of
from fairdsl.backends.leaf_boxes.kernels.records import Duels, Leaves
from fairdsl.backends.leaf_boxes.leaf_sets import leaves_of, merged
from fairdsl.backends.leaf_boxes.lowering import Lowered
from fairdsl.backends.leaf_boxes.scores import Outcomes, Reading, Sums, sides_of, winners
from fairdsl.ir.model import ByThreshold, Model
from fairdsl.ir.question import ScoreGap, Sure
from fairdsl.numerics.confidence import sure_rows
from fairdsl.numerics.exact import UNDECIDED

__all__ = ["Contest", "Range", "contest_of"]

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


@dataclass(frozen=True, eq=False, kw_only=True)
class Contest:
    """The numbers of a model's leaves, and what they decide.

    Duel k is won by outcome ``first[k]`` where the sum is at least ``above[k]``, by ``second[k]`` where it is at most
    ``below[k]``. A sum is ``2**shift / denominator`` times as much in units of the score, less ``offset[k]``.
    """

    model: Model
    duels: Duels
    leaves: Leaves
    first: tuple[int, ...]
    second: tuple[int, ...]
    below: Integers
    above: Integers
    offset: tuple[Fraction, ...]
    denominator: int
    shift: int

    @property
    def exact(self) -> bool:
        """Whether no number was rounded."""
        return not self.shift

    def possible(self, sums: Range) -> Integers:
        """The outcomes that may be decided, as bits, [...] of sums [..., numbers]."""
        found = np.zeros(sums.low.shape[:-1], dtype=np.int64)
        for outcome in range(len(self.model.outcomes)):
            may = np.ones(found.shape, dtype=np.bool_)
            for duel, (first, second) in enumerate(zip(self.first, self.second, strict=True)):
                if outcome == first:
                    may &= sums.high[..., duel] > self.below[duel]
                elif outcome == second:
                    may &= sums.low[..., duel] < self.above[duel]
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
        if isinstance(self.model.rule, ByThreshold):
            scores, errors = middle[:, :1], error[:, :1]
        else:  # what matters of scores is how far they are from that of the decision
            count = len(self.model.outcomes)
            scores, errors = (np.zeros((len(mask), count)) for _ in range(2))
            for duel, (first, second) in enumerate(zip(self.first, self.second, strict=True)):
                for other, outcome, sign in ((first, second, 1.0), (second, first, -1.0)):
                    rows = decisions == outcome
                    scores[rows, other], errors[rows, other] = sign * middle[rows, duel], error[rows, duel]
        found = sure_rows(self.model, scores, errors, decisions, wanted)
        return np.where(found == 1, 1, np.where(found == 0, -1, 0)).astype(np.int8).reshape(shape)

    def _scores(self, ends: Range) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The numbers in units of the score, and how far they may be from it, [n, numbers]."""
        unit = float(Fraction(2**self.shift, self.denominator))
        offset = np.array([float(each) for each in self.offset])
        low, high = ends.low.astype(np.float64) * unit + offset, ends.high.astype(np.float64) * unit + offset
        size = np.maximum(np.abs(low), np.abs(high)) + np.abs(offset)
        return (low + high) / 2, (high - low) / 2 + 16 * _UNIT * size + 1e-300

    def gap_limits(self, demand: ScoreGap) -> tuple[int, int]:
        """The first number is kept where the difference of two sums is at most it, and broken from the second on."""
        limit = demand.limit * self.denominator
        whole = limit.numerator // limit.denominator
        kept = whole - 1 if demand.relation.value == "<" and whole == limit else whole
        return kept >> self.shift, -(-(kept + 1) >> self.shift)

    def points(self, sums: Range) -> BoolArray:
        """Where every number is known, [...]."""
        return np.asarray((sums.low == sums.high).all(axis=-1), dtype=np.bool_)


def contest_of(lowered: Lowered) -> Contest | None:
    """The numbers of a question's trees; None where they need too much room."""
    model, sizes = lowered.problem.model, Sizes.over(lowered)
    numbers = _numbers(model, lowered.decides.read(lowered.graph))
    try:
        trees = trees_of(lowered, sizes)
    except TooManyError:
        return None
    largest = [max(int(np.abs(numbers.low[t.value]).max()), int(np.abs(numbers.high[t.value]).max())) for t in trees]
    size = sum(largest) + max(max(abs(a), abs(b)) for a, b in zip(numbers.below, numbers.above, strict=True))
    shift = max(0, (2 * size).bit_length() - _BITS)
    low = (numbers.low >> shift).astype(np.int64)
    high = (-(-numbers.high >> shift)).astype(np.int64)
    standing = [t.valued(np.concatenate([low[t.value], high[t.value]], axis=1)) for t in trees]
    standing = merged(standing, sizes.ordered)
    table = np.concatenate([tree.value for tree in standing])
    begins = np.cumsum([0, *(len(tree) for tree in standing)])
    numbered = [t.valued(np.arange(a, a + len(t), dtype=np.int64)) for a, t in zip(begins, standing, strict=False)]
    leaves = leaves_of(numbered, sizes.ordered, [len(each) for each in sizes.parts])
    if leaves is None:
        return None
    count = len(numbers.first)
    longest = max((len(each) for each in sizes.parts), default=0)
    sums = np.zeros((len(sizes.axes), longest + 1))
    for axis, each in enumerate(sizes.sums):
        sums[axis, : len(each)] = each.astype(np.float64)
        sums[axis, len(each) :] = sums[axis, len(each) - 1]
    return Contest(
        model=model,
        duels=Duels(
            ordered=sizes.ordered,
            low=np.ascontiguousarray(table[leaves.value, :count]),
            high=np.ascontiguousarray(table[leaves.value, count:]),
            sums=sums,
        ),
        leaves=leaves,
        first=numbers.first,
        second=numbers.second,
        below=np.array([each >> shift for each in numbers.below], dtype=np.int64),
        above=np.array([-(-each >> shift) for each in numbers.above], dtype=np.int64),
        offset=numbers.offset,
        denominator=numbers.denominator,
        shift=shift,
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
        over, beneath = winners(rule)
        return _Numbers(
            low=table[:, :1],
            high=table[:, :1],
            first=(over,),
            second=(beneath,),
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
