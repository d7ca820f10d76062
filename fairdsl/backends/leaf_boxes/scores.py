"""What the leaves decide: of one tree each leaf by itself, of several trees the sum of their leaves.

Everything is exact. The numbers of a forest's leaves are whole numbers over one denominator, and so are the bounds of
what is below a node; for one score the threshold is compared with both ends, for several the highest is certain where
no other can reach it.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, lcm
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.leaf_boxes.graph import Graph
from fairdsl.ir.expr import Relation
from fairdsl.ir.model import ByThreshold, DecisionRule, Layer, Model
from fairdsl.numerics.exact import UNDECIDED, decide
from fairdsl.numerics.rounding import float_below

Integers = NDArray[np.int64]
#: int64 where all sums fit into it, otherwise Python's integers as objects.
Exact = NDArray[Any]

#: Below a node there are several decisions.
MIXED = -3
_FITS = 2**62


class Reading(Protocol):
    """What is known of the decisions below nodes."""

    @property
    def span(self) -> NDArray[np.float64]:
        """How far apart the decisions below each node may lie, in scores."""

    def decisions(self, nodes: Integers) -> Integers:
        """Of nodes [..., trees], one of each tree: the outcome below them, UNDECIDED, or MIXED if there are several."""


class Decides(Protocol):
    """What the leaves of a model stand for."""

    absent: Hashable

    def leaf(self, position: int) -> Hashable:
        """The meaning of the leaf at a position among the inputs; leaves that mean the same become one."""

    def read(self, graph: Graph) -> Reading:
        """The meanings of a graph's terminals as arrays."""


def decides_of(model: Model, trees: int) -> Decides:
    """How a model with so many trees among its inputs decides."""
    return _Single(model) if trees <= 1 else _Sum(model, trees)


@dataclass(frozen=True, slots=True)
class _Leaf:
    """A leaf and its outcome. Leaves are kept apart, since two that are open need not be decided alike."""

    outcome: int
    position: int


class _Single:
    """One tree: a leaf means an outcome."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._first, *self._rest = model.layers
        self.absent: Hashable = self._meaning(self._first.bias.exact.tolist(), -1)

    def leaf(self, position: int) -> Hashable:
        bias, column = self._first.bias.exact, self._first.weight.exact[:, position]
        return self._meaning([Fraction(b) + Fraction(w) for b, w in zip(bias, column, strict=True)], position)

    def read(self, graph: Graph) -> Reading:
        decided = np.full(len(graph), MIXED, dtype=np.int64)
        for meaning, node in graph.terminals.items():
            if isinstance(meaning, _Leaf):
                decided[node] = meaning.outcome
        return Outcomes(decided, np.ones(len(graph)))

    def _meaning(self, sums: Sequence[Fraction], position: int) -> _Leaf:
        signals = _bent(self._first, sums)
        for layer in self._rest:
            rows = zip(layer.weight.exact.tolist(), layer.bias.exact.tolist(), strict=True)
            signals = _bent(layer, [sum((w * x for w, x in zip(row, signals, strict=True)), b) for row, b in rows])
        outcome = decide(self._model.rule, tuple(signals))
        return _Leaf(UNDECIDED if outcome is None else outcome, position)


def _bent(layer: Layer, sums: Sequence[Fraction]) -> list[Fraction]:
    slopes = layer.slope.exact.tolist()
    return [z if z > 0 else Fraction(slope) * z for z, slope in zip(sums, slopes, strict=True)]


@dataclass(frozen=True, eq=False)
class Outcomes:
    """One tree: the outcome of each leaf, MIXED of nodes that test."""

    decided: Integers
    span: NDArray[np.float64]

    def decisions(self, nodes: Integers) -> Integers:
        """Of the one tree's nodes."""
        return np.asarray(self.decided[nodes[..., 0]])


class _Sum:
    """Several trees and one linear layer: a leaf means what it adds to each score."""

    def __init__(self, model: Model, trees: int) -> None:
        (layer,) = model.layers
        weights, under = layer.weight.scaled
        bias, beneath = layer.bias.scaled
        self._trees, self._rule, self._denominator = trees, model.rule, lcm(under, beneath)
        self._weights = weights * (self._denominator // under)
        self._bias = [int(number) * (self._denominator // beneath) for number in bias.tolist()]
        self.absent: Hashable = (0,) * len(self._bias)

    def leaf(self, position: int) -> Hashable:
        return tuple(int(weight) for weight in self._weights[:, position].tolist())

    def read(self, graph: Graph) -> Reading:
        low: list[tuple[int, ...]] = [(0,) * len(self._bias)] * len(graph)
        high = list(low)
        for meaning, node in graph.terminals.items():
            if isinstance(meaning, tuple):
                low[node] = high[node] = meaning
        for node, attribute in enumerate(graph.attributes):
            if attribute >= 0:
                yes, no = graph.yes[node], graph.no[node]
                low[node] = tuple(map(min, low[yes], low[no]))
                high[node] = tuple(map(max, high[yes], high[no]))
        largest = max(abs(number) for ends in (low, high) for row in ends for number in row)
        fits = self._trees * largest + max(map(abs, self._bias)) < _FITS
        kind = np.int64 if fits else object
        apart = [max(b - a for a, b in zip(*ends, strict=True)) for ends in zip(low, high, strict=True)]
        return Sums(
            low=np.array(low, dtype=kind),
            high=np.array(high, dtype=kind),
            bias=np.array(self._bias, dtype=kind),
            rule=self._rule,
            denominator=self._denominator,
            span=np.array([float_below(Fraction(wide, self._denominator)) for wide in apart], dtype=np.float64),
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class Sums:
    """One node of each tree: the decision is that of the sum of what they add, whole numbers over a denominator."""

    low: Exact
    high: Exact
    bias: Exact
    rule: DecisionRule
    denominator: int
    span: NDArray[np.float64]

    def decisions(self, nodes: Integers) -> Integers:
        """By the ends of the sums below them."""
        low, high = (ends[nodes].sum(axis=-2) + self.bias for ends in (self.low, self.high))
        if isinstance(self.rule, ByThreshold):
            return _against(self.rule, self.denominator, low[..., 0], high[..., 0])
        return _highest(low, high)

    def single(self) -> tuple[Integers, int, int, int] | None:
        """One number that decides, of two outcomes: what each node adds, up to where its sum is on the one side for
        sure, from where on the other one, and the denominator; None where there is none, or none of 64 bits.
        """
        if self.low.dtype != np.int64:
            return None
        if isinstance(self.rule, ByThreshold):
            below, above = sides_of(self.rule, self.denominator)
            values, bias = self.low[:, 0], int(self.bias[0])
        elif self.low.shape[1] == 2:  # the second outcome where its score is the higher one
            below, above = 0, 1
            values, bias = self.low[:, 1] - self.low[:, 0], int(self.bias[1]) - int(self.bias[0])
        else:
            return None
        below, above = below - bias, above - bias
        return (values, below, above, self.denominator) if max(abs(below), abs(above)) < _FITS else None


def _against(rule: ByThreshold, denominator: int, low: Exact, high: Exact) -> Integers:
    """The outcome where both ends are on the same side of the threshold."""
    below, above = sides_of(rule, denominator)
    found = np.full(low.shape, MIXED, dtype=np.int64)
    found[np.equal(low, high).astype(np.bool_)] = UNDECIDED
    found[np.greater_equal(low, above).astype(np.bool_)] = rule.above
    found[np.less_equal(high, below).astype(np.bool_)] = rule.below
    return found


def sides_of(rule: ByThreshold, denominator: int) -> tuple[int, int]:
    """Up to where a score, as a whole number over the denominator, is below the threshold, and from where on above."""
    below, above = floor(rule.low * denominator), ceil(rule.high * denominator)
    if rule.low == rule.high:
        # A score on the threshold lies above it for `>=` and `<`, and below it for `>` and `<=`.
        if rule.relation in (Relation.GE, Relation.LT):
            return above - 1, above
        return below, below + 1
    return below, above


def _highest(low: Exact, high: Exact) -> Integers:
    """The outcome whose score is the highest for sure; ties go to the lowest index."""
    found = np.full(low.shape[:-1], MIXED, dtype=np.int64)
    count = low.shape[-1]
    for outcome in range(count):
        sure = np.ones(found.shape, dtype=np.bool_)
        for other in range(count):
            if other != outcome:
                beats = np.greater if other < outcome else np.greater_equal
                sure &= beats(low[..., outcome], high[..., other]).astype(np.bool_)
        found[sure] = outcome
    return found
