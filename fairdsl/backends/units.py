"""Units drawn at random and judged by definition: what an estimate counts. Docs: docs/semantics.md, section 3.

Without relaxations a unit is an assignment of the attributes that do not differ; it is unfair if two of the
people over it are compared and decided differently. That is the same as a component of compared people with
two decisions, since somewhere along the way between the two the decision changes. With relaxations a unit
is an individual, unfair if somebody whom it is compared with is decided differently.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.contract import Refusal
from fairdsl.ir.exact_rows import ExactRows
from fairdsl.ir.expr import TRUE, Compare, Linear, Relation, Variable, Who, conjoin
from fairdsl.ir.model import Model
from fairdsl.ir.opaque import BlackBox
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Differ, Pair, SameDecision
from fairdsl.models.black_box import BlackBoxEvaluator
from fairdsl.models.evaluators import evaluator_of
from fairdsl.numerics.evaluate import Points, Settled
from fairdsl.numerics.grid import Grid
from fairdsl.numerics.narrow import Finite, ValueSet, narrow
from fairdsl.numerics.predicates import mask
from fairdsl.numerics.rounding import float_above, float_below

__all__ = ["Judged", "Units", "settling", "units_of"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

#: People over one unit at most, and where all pairs of them must be visited.
_PEOPLE, _PAIRED = 4096, 128
#: People and pairs looked at together.
_AT_ONCE = 2**18
_ABSENT = -2
_NOTHING = Fraction(0)


@dataclass(frozen=True, slots=True)
class Judged:
    """Units judged: there is somebody in it; unfair for sure; neither fair nor unfair for sure; nobody is compared.

    The share is of those that are ``present`` and not ``alone``.

    ``a`` and ``b`` [unfair, attributes] are two people of every unfair unit that are decided differently.
    """

    present: BoolArray
    unfair: BoolArray
    doubtful: BoolArray
    alone: BoolArray
    a: ExactRows
    b: ExactRows

    @property
    def in_question(self) -> BoolArray:
        """The units that a share is of."""
        return self.present & ~self.alone


def units_of(problem: Problem, *, drawn: bool = True) -> Units | Refusal:
    """The units of a question, or why they cannot be judged one by one, or (``drawn``) not drawn at random."""
    pair = problem.question
    if not isinstance(pair, Pair) or not isinstance(pair.demand, SameDecision):
        return Refusal(why="only questions about equal decisions are sampled", span=pair.span, other=True)
    sets = narrow(problem.domain, pair.target)
    partners = [*pair.differ, *(relaxation.attribute for relaxation in pair.relax)]
    for index, (attribute, values) in enumerate(zip(problem.domain.attributes, sets, strict=True)):
        if not drawn and index not in partners:
            continue
        if isinstance(values, Finite) and not Grid.representable(values):
            return Refusal(why=f"`{attribute.name}` has values that no float is", span=attribute.span)
        if drawn and not isinstance(values, Finite) and (values.low is None or values.high is None):
            return Refusal(
                why=f"`{attribute.name}` is unbounded, so no sample of it is uniform",
                span=attribute.span,
                instead=f"write bounds, as in `{attribute.name} : real 0 .. 100`",
            )
    people = 1
    for index in partners:
        count = sets[index].count
        if count is None:
            name = problem.domain.attributes[index].name
            return Refusal(why=f"`{name}` is real, so not all who are compared can be listed", span=pair.span)
        people *= count
    units = Units(problem, pair, sets)
    if people > (_PEOPLE if units.connected or pair.of_individuals else _PAIRED):
        return Refusal(why=f"{people:,} people are compared over one unit, too many to list", span=pair.span)
    return units


def settling(model: Model) -> Callable[[Points], Settled]:
    """Decisions of people, [n, attributes]; of a file that is only run by its answers about each of them alone."""
    evaluator = evaluator_of(model)
    if isinstance(evaluator, BlackBoxEvaluator) and model.deployed is not None:
        return evaluator.settled_alone
    return evaluator.settled


class Units:
    """Draws and judges the units of one question; made by :func:`units_of`."""

    def __init__(self, problem: Problem, pair: Pair, sets: tuple[ValueSet, ...]) -> None:
        self._pair, self._sets = pair, sets
        self._wanted = conjoin(problem.domain.where, pair.target)
        self._counted = conjoin(problem.domain.where, pair.unit_target)
        self._individuals, self._one = pair.of_individuals, pair.one_sided
        settled = settling(problem.model)
        self._decide: Callable[[ExactRows], Integers] = lambda people: settled(people).decisions
        asked = isinstance(problem.model.opaque, BlackBox)
        #: How they are judged, in words for reports.
        self.how = "each judged by the model's own answers" if asked else "each judged exactly"
        self._free = [*pair.differ, *(relaxation.attribute for relaxation in pair.relax)]
        #: Whether all people over a unit are compared with each other.
        self.connected = (
            not pair.relax and pair.pair_target == TRUE and (pair.mode is Differ.ANY or len(pair.differ) == 1)
        )

    def decided_by(self, decide: Callable[[ExactRows], Integers]) -> Units:
        """The same units, of which somebody else decides the people, [n, attributes] to [n]."""
        units = copy(self)
        units._decide = decide
        return units

    @property
    def empty(self) -> bool:
        """Whether nobody is in the target, as far as the ranges show."""
        return any(values.count == 0 for values in self._sets)

    @cached_property
    def _people(self) -> Floats:
        """[people, free attributes]: all values of the attributes in which compared people may differ."""
        listed = [self._listed(index) for index in self._free]
        return np.array(list(product(*listed)), dtype=np.float64).reshape(-1, len(self._free))

    def _listed(self, index: int) -> list[float]:
        values = self._sets[index]
        return [float(value) for value in values.values] if isinstance(values, Finite) else []

    @cached_property
    def pairs(self) -> Integers:
        """[pairs, 2]: who may be compared with whom; where individuals are counted 0 is the individual itself."""
        if self._individuals:
            count = prod(values.count or 0 for values in (self._sets[index] for index in self._free))
            return np.column_stack([np.zeros(count, dtype=np.int64), np.arange(1, count + 1)])
        apart = self._people[:, None, :] != self._people[None, :, :]
        comparable = apart.all(axis=2) if self._pair.mode is Differ.EACH else apart.any(axis=2)
        return np.argwhere(np.triu(comparable)).astype(np.int64)

    def draw(self, count: int, rng: np.random.Generator) -> Floats:
        """Candidates [count, attributes], uniform over the ranges; in differing attributes the first value."""
        columns = []
        for index, values in enumerate(self._sets):
            if not self._individuals and index in self._pair.differ:
                columns.append(np.full(count, self._listed(index)[0]))
            elif isinstance(values, Finite) and isinstance(listed := values.values, range) and listed.step == 1:
                columns.append(rng.integers(listed[0], listed[-1] + 1, count).astype(np.float64))
            elif isinstance(values, Finite):
                columns.append(np.array(self._listed(index))[rng.integers(0, values.count, count)])
            else:
                assert values.low is not None
                assert values.high is not None
                low, high = float_above(values.low), float_below(values.high)
                columns.append(np.clip(low + (high - low) * rng.random(count), low, high))
        return np.column_stack(columns)

    def judge(self, units: Points) -> Judged:
        """Whether there is anybody in each unit, and whether it is treated unfairly."""
        units = ExactRows.of(units)
        step = max(1, _AT_ONCE // (len(self._people) if self.connected else len(self._people) + len(self.pairs)))
        parts = [self._judged(units.at(slice(start, start + step))) for start in range(0, max(len(units), 1), step)]
        present, unfair, doubtful, alone = (
            np.concatenate([getattr(part, name) for part in parts]) for name in Judged.__slots__[:4]
        )
        a, b = (ExactRows.joined([getattr(part, name) for part in parts]) for name in Judged.__slots__[4:])
        return Judged(present, unfair, doubtful, alone, a, b)

    def _judged(self, units: ExactRows) -> Judged:
        people, count = self._over(units), len(units)
        size = len(self._people) + self._individuals
        valid = mask(self._wanted, {Who.EACH: people}).reshape(count, size)
        present = np.asarray(valid[:, 0] if self._individuals else valid.any(axis=1), dtype=np.bool_)
        if self._one is not None:
            present &= mask(self._counted, {Who.EACH: units})
        valid &= present[:, None]
        decisions = np.full((count, size), _ABSENT, dtype=np.int64)
        if valid.all():  # nobody to leave out, and nothing to copy
            decisions[:] = self._decide(people).reshape(count, size)
        else:
            decisions[valid] = self._decide(people.at(valid.reshape(-1)))
        if self.connected:
            alone = valid.sum(axis=1) <= 1
            unfair, doubtful, first, second = _all_alike(decisions, valid)
        else:
            compared = self._compared(people, valid)
            alone = ~_any(compared)
            unfair, doubtful, first, second = self._pairs_alike(decisions, compared)
        rows = np.flatnonzero(unfair)
        doubtful &= ~unfair
        a, b = (people.at(rows * size + which[rows]) for which in (first, second))
        return Judged(present, unfair, doubtful, present & alone, a, b)

    def _over(self, units: ExactRows) -> ExactRows:
        """[units * people, attributes]: everybody over each unit in turn; of individuals the first is the unit."""
        count = len(units)
        others = units.at(np.repeat(np.arange(count), len(self._people)))
        others = others.replaced(self._free, np.tile(self._people, (count, 1)))
        if not self._individuals:
            return others
        both = ExactRows.joined([units, others])
        behind = count + np.arange(len(others)).reshape(count, -1)
        return both.at(np.column_stack([np.arange(count), behind]).reshape(-1))

    def _compared(self, people: ExactRows, valid: BoolArray) -> BoolArray:
        """[units, pairs]: which pairs are admissible."""
        first, second = self.pairs.T
        compared = valid[:, first] & valid[:, second]
        if self._individuals:
            compared &= self._near(people, len(valid))
        if self._pair.pair_target != TRUE and self._one is None:
            rows, columns = np.nonzero(compared)
            start, target = rows * valid.shape[1], self._pair.pair_target
            one, other = people.at(start + first[columns]), people.at(start + second[columns])
            compared[rows, columns] = mask(target, {Who.A: one, Who.B: other}) | mask(
                target, {Who.A: other, Who.B: one}
            )
        return np.asarray(compared, dtype=np.bool_)

    def _pairs_alike(self, decisions: Integers, compared: BoolArray) -> tuple[BoolArray, BoolArray, Integers, Integers]:
        """Judge pair by pair."""
        first, second = self.pairs.T
        known = (decisions[:, first] >= 0) & (decisions[:, second] >= 0)
        violating = compared & known & (decisions[:, first] != decisions[:, second])
        if not len(first):  # an attribute with one value cannot differ
            nobody, nowhere = np.zeros(len(decisions), dtype=np.bool_), np.zeros(len(decisions), dtype=np.int64)
            return nobody, nobody.copy(), nowhere, nowhere
        place = np.argmax(violating, axis=1)
        return _any(violating), _any(compared & ~known), first[place], second[place]

    def _near(self, people: ExactRows, count: int) -> BoolArray:
        """[units, partners]: who differs and lies within the relaxations of the individual itself."""
        places = np.arange(len(people)).reshape(count, -1)
        there = people.at(places[:, 1:].reshape(-1))
        here = people.at(np.repeat(places[:, 0], places.shape[1] - 1))
        both = {Who.A: here, Who.B: there}
        apart = [mask(_gap(index, Relation.NE), both) for index in self._pair.differ]
        near = np.all(apart, axis=0) if self._pair.mode is Differ.EACH else np.any(apart, axis=0)
        for relaxation in self._pair.relax:
            if relaxation.by is not None:
                near &= mask(_gap(relaxation.attribute, Relation.LE, relaxation.by), both)
                near &= mask(_gap(relaxation.attribute, Relation.GE, -relaxation.by), both)
        return np.asarray(near, dtype=np.bool_).reshape(count, -1)


def _gap(attribute: int, relation: Relation, by: Fraction = _NOTHING) -> Compare:
    """``a - b RELATION by`` of an attribute."""
    terms = {Variable(attribute, Who.A): Fraction(1), Variable(attribute, Who.B): Fraction(-1)}
    return Compare(left=Linear.of(terms, -by), relation=relation)


def _all_alike(decisions: Integers, valid: BoolArray) -> tuple[BoolArray, BoolArray, Integers, Integers]:
    """Judge units in which everybody is compared with everybody."""
    known = decisions >= 0
    highest = np.where(known, decisions, _ABSENT)
    lowest = np.where(known, decisions, np.iinfo(np.int64).max)
    first, second = np.argmax(highest, axis=1), np.argmin(lowest, axis=1)
    rows = np.arange(len(decisions))
    unfair = _any(known) & (highest[rows, first] != lowest[rows, second])
    doubtful = _any(valid & ~known) & (valid.sum(axis=1) > 1)
    return unfair, doubtful, first, second


def _any(marks: BoolArray) -> BoolArray:
    """In which rows there is a mark."""
    return np.asarray(marks.any(axis=1), dtype=np.bool_)
