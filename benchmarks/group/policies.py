"""Trees and lists of rules over drawn laws: how the answer's time grows with groups, depth and rules.

The law has protected Booleans; each has an attribute of its own that depends on it, and there are attributes that
depend on nothing. These attributes have eight values. A tree is full: each test cuts at random what the way to it
leaves of an attribute, so that every leaf is somebody's. A list's rules are conjunctions of two comparisons of
different attributes. Half of the leaves, and of the rules, accept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from fairdsl.backends.contract import Budget, Facts, Procedure, Refusal, Silent
from fairdsl.backends.ssat.options import SsatOptions
from fairdsl.ir.domain import Attribute, Boolean, Domain, Integer
from fairdsl.ir.expr import TRUE, And, Compare, Linear, Not, Predicate, Relation, Variable
from fairdsl.ir.feature import IndicatorInput
from fairdsl.ir.model import ByThreshold, Model, linear_layer
from fairdsl.ir.population import Cell, Factor, Network
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import GroupMetric, Quantity
from fairdsl.prelude import metric_named
from fairdsl.verdict import Value, Verdict
from group.measure import least
from group.sums import FALSE_AND_TRUE

__all__ = ["Timed", "listed", "timed", "tree"]

VALUES = 8
#: Attributes that depend on nothing.
OTHERS = 8
_HALF = Fraction(1, 2)

#: Inclusive ends of what is left of each attribute.
Box = dict[int, tuple[int, int]]


@dataclass(frozen=True, kw_only=True)
class Timed:
    """The exact value and the CPU seconds of an answer; None where there is none, with the reason."""

    value: Fraction | None
    seconds: float | None
    why: str = ""


def timed(backend: Callable[[], Procedure], problem: Problem, patience: float, groups: str | None = None) -> Timed:
    """The metric by a backend that gets ``patience`` seconds, from the closed problem on, with its offer."""

    def answered() -> Verdict | Refusal:
        procedure, budget = backend(), Budget.of(patience, SsatOptions(groups=groups))
        offer = procedure.offer(problem)
        return offer if isinstance(offer, Refusal) else procedure.answer(problem, Facts(), budget, Silent())

    found, seconds = least(answered, 3)
    if isinstance(found, Refusal):
        return Timed(value=None, seconds=None, why="refused")
    if isinstance(found, Value) and found.low == found.high:
        return Timed(value=found.low, seconds=seconds)
    return Timed(value=None, seconds=None, why=f"none in {patience:g}")


def tree(depth: int, protected: int, seed: int) -> Problem:
    """The disparate impact of a full tree of this depth, across so many protected Booleans."""
    random = np.random.default_rng([seed, depth, protected])
    readable = list(range(protected, 2 * protected + OTHERS))
    whole: Box = dict.fromkeys(readable, (0, VALUES - 1))
    leaves = [And(path) for path in _paths(depth, whole, (), random)]
    return _problem(protected, leaves, _half(len(leaves), random), random)


def listed(rules: int, protected: int, seed: int) -> Problem:
    """The disparate impact of a list of so many rules; whom none is about is refused."""
    random = np.random.default_rng([seed, rules, protected, 1])
    readable = np.arange(protected, 2 * protected + OTHERS)
    leaves: list[Predicate] = []
    passed: tuple[Predicate, ...] = ()
    for _ in range(rules):
        columns = random.choice(readable, size=2, replace=False).tolist()
        rule = And(
            tuple(_at_most(column, int(random.integers(VALUES - 1)), random.random() < 0.5) for column in columns)
        )
        leaves.append(And((*passed, rule)))
        passed = (*passed, Not(rule))
    return _problem(protected, [*leaves, And(passed)], [*_half(rules, random), False], random)


def _half(count: int, random: np.random.Generator) -> list[bool]:
    accepted = np.arange(count) < (count + 1) // 2
    return [bool(each) for each in random.permutation(accepted)]


def _at_most(column: int, value: int, holds: bool = True) -> Predicate:
    """``column <= value``, or that it is greater."""
    left = Linear.of({Variable(column): Fraction(1)}, Fraction(-value))
    return Compare(left=left, relation=Relation.LE if holds else Relation.GT)


def _paths(
    depth: int, box: Box, passed: tuple[Predicate, ...], random: np.random.Generator
) -> Iterator[tuple[Predicate, ...]]:
    if not depth:
        yield passed
        return
    column = int(random.choice([column for column, (low, high) in box.items() if low < high]))
    low, high = box[column]
    cut = int(random.integers(low, high))
    for holds, ends in ((True, (low, cut)), (False, (cut + 1, high))):
        yield from _paths(depth - 1, {**box, column: ends}, (*passed, _at_most(column, cut, holds)), random)


def _law(protected: int, random: np.random.Generator) -> Network:
    """Protected Booleans, an attribute that depends on each, and the others."""

    def row(size: int) -> tuple[Fraction, ...]:
        parts = random.integers(50, 950, size)
        return tuple(Fraction(int(part), int(parts.sum())) for part in parts)

    values = tuple(Cell(low=Fraction(value), high=Fraction(value)) for value in range(VALUES))
    factors = [Factor(column=place, parents=(), rows={(): row(2)}) for place in range(protected)]
    for place in range(protected):
        rows = {(value,): row(VALUES) for value in (0, 1)}
        factors.append(Factor(column=protected + place, parents=(place,), rows=rows))
    for place in range(2 * protected, 2 * protected + OTHERS):
        factors.append(Factor(column=place, parents=(), rows={(): row(VALUES)}))
    columns = [Attribute(name=f"g{place}", type=Boolean()) for place in range(protected)]
    columns += [
        Attribute(name=f"x{place}", type=Integer(low=0, high=VALUES - 1)) for place in range(len(factors) - protected)
    ]
    cells = (*(FALSE_AND_TRUE,) * protected, *(values,) * (len(factors) - protected))
    return Network(name="drawn", columns=tuple(columns), cells=cells, factors=tuple(factors), causal=True)


def _problem(
    protected: int, leaves: Sequence[Predicate], accepted: Sequence[bool], random: np.random.Generator
) -> Problem:
    law = _law(protected, random)
    model = Model(
        name="policy",
        outcomes=("no", "yes"),
        inputs=tuple(IndicatorInput(leaf) for leaf in leaves),
        layers=(linear_layer([[Fraction(each) for each in accepted]], [Fraction(0)]),),
        rule=ByThreshold(relation=Relation.GT, low=_HALF, high=_HALF, granted=1, otherwise=0),
        favourable=1,
        groups=(tuple(range(len(leaves))),),
    )
    return Problem(
        name="policy",
        domain=Domain(name="Drawn", attributes=law.columns, where=TRUE),
        model=model,
        question=GroupMetric(metric=metric_named("impact_ratio"), across=tuple(range(protected)), population="drawn"),
        quantity=Quantity.METRIC,
        population=law,
    )
