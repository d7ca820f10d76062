"""Units drawn at random and judged by definition: what an estimate counts. Docs: docs/semantics.md, section 3.

Without relaxations a unit is an assignment of the attributes that do not differ; it is unfair if two of the people over
it break the demand. With relaxations, and where conditions name one of the two alone, a unit is an individual, unfair
if it and somebody whom it is compared with break the demand. Of a demand about one individual it is the individual.

Every tuple of a unit is judged (:mod:`.demands`). Where everybody over a unit is compared with everybody and the same
decision is required, it is enough to look for two decisions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.contract import Refusal
from fairdsl.backends.demands import Judge, Measured
from fairdsl.ir.demand import Demanded
from fairdsl.ir.exact_rows import ExactRows
from fairdsl.ir.expr import TRUE, Compare, Linear, Relation, Variable, Who, conjoin
from fairdsl.ir.opaque import BlackBox
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Differ, Pair, SameDecision
from fairdsl.models.evaluators import settling
from fairdsl.numerics.evaluate import Points
from fairdsl.numerics.grid import Grid
from fairdsl.numerics.narrow import Finite, ValueSet, narrow
from fairdsl.numerics.predicates import mask
from fairdsl.numerics.rounding import float_above, float_below
from fairdsl.replay import deciders_of
from fairdsl.verdict import Decider

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
    """Units judged: there is somebody in it; unfair for sure; neither fair nor unfair for sure; nobody is asked about.

    The share is of those that are ``present`` and not ``alone``.

    ``a`` and ``b`` [unfair, attributes] are two people of every unfair unit that break the demand; alike where it is
    about one.
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
    if not isinstance(problem.question, Pair | Demanded):
        return Refusal(why="only questions about individuals are sampled", span=problem.span, other=True)
    asked = problem.demanded.outright
    pair = asked.pair
    if asked.several:
        return Refusal(why="it judges units of one individual or of two who are compared", span=asked.span)
    if asked.sure != TRUE:  # two decisions are not all that counts then
        problem = replace(problem, question=asked)
    sets = narrow(problem.domain, pair.target)
    partners = [] if asked.alone else [*pair.differ, *(relaxation.attribute for relaxation in pair.relax)]
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
            return Refusal(
                why=f"`{name}` is real, so not all who are compared can be listed",
                span=pair.span,
                instead=f"declare `{name}` as `integer`, or let those who are compared be equal in it",
            )
        people *= count
    units = Units(problem, asked, sets)
    if people > (_PEOPLE if units.connected or asked.of_individuals else _PAIRED):
        return Refusal(why=f"{people:,} people are compared over one unit, too many to list", span=pair.span)
    return units


class Units:
    """Draws and judges the units of one question; made by :func:`units_of`."""

    def __init__(self, problem: Problem, asked: Demanded, sets: tuple[ValueSet, ...]) -> None:
        pair = asked.pair
        self._asked, self._pair, self._sets, self._model = asked, pair, sets, problem.model
        self._wanted = conjoin(problem.domain.where, pair.target)
        #: What the individual of a unit meets, or somebody over it.
        self.counted = conjoin(problem.domain.where, asked.unit_target)
        self._individuals = asked.of_individuals
        #: How many attributes a unit's individual has.
        self.width = len(problem.domain.attributes)
        self._judge, self._files = Judge(problem), False
        self._decide: Callable[[ExactRows], Integers] | None = None
        #: Whether the demand is the same decision, of which decisions are enough to know.
        self._same = isinstance(problem.question, Pair) and isinstance(pair.demand, SameDecision)
        if self._same:
            settled = settling(problem.model)
            self._decide = lambda people: settled(people).decisions
        self._asks = all(isinstance(model.opaque, BlackBox) for model in problem.models)
        #: How they are judged, in words for reports.
        self.how = "each judged by the model's own answers" if self._asks else "each judged exactly"
        self._free = [] if asked.alone else [*pair.differ, *(relaxation.attribute for relaxation in pair.relax)]
        #: Whether all people over a unit are compared with each other, and two decisions are what makes it unfair.
        self.connected = (
            self._same
            and not pair.relax
            and pair.pair_target == TRUE
            and (pair.mode is Differ.ANY or len(pair.differ) == 1)
        )

    def by_decider(self) -> Mapping[Decider, Units]:
        """The same units, judged by everybody who can say what becomes of their people."""
        if self._same:
            return {by: self.decided_by(decide, by) for by, decide in deciders_of(self._model).items()}
        own = Decider.ANSWERS if self._asks else Decider.EXACT
        if not self._judge.has_files:
            return {own: self}
        filed = copy(self)
        filed._files = True
        return {own: self, Decider.DEPLOYED: filed}

    def decided_by(self, decide: Callable[[ExactRows], Integers], by: Decider = Decider.DEPLOYED) -> Units:
        """The same units, of which somebody else decides the people, [n, attributes] to [n]."""
        units = copy(self)
        units._decide, units._files = decide, by is not Decider.EXACT
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
    def _size(self) -> int:
        """How many people are looked at over a unit; of individuals the first is the individual itself."""
        return (
            1 if self._asked.alone else self._individuals + prod(self._sets[index].count or 0 for index in self._free)
        )

    @cached_property
    def _tuples(self) -> Mapping[Who, Integers]:
        """Who may be compared with whom over a unit, [tuples] each."""
        if self._asked.alone:
            return {Who.EACH: np.zeros(1, dtype=np.int64)}
        if self._individuals:
            others = np.arange(1, self._size)
            itself = np.zeros_like(others)
            both = {Who.A: [itself, others], Who.B: [others, itself]}
            kept = [place for place, who in enumerate((Who.A, Who.B)) if self._asked.one_sided in (None, who)]
            return {who: np.concatenate([parts[place] for place in kept]) for who, parts in both.items()}
        apart = self._people[:, None, :] != self._people[None, :, :]
        apart = apart[:, :, : len(self._pair.differ)]
        comparable = apart.all(axis=2) if self._pair.mode is Differ.EACH else apart.any(axis=2)
        first, second = np.nonzero(np.triu(comparable) if self._either_way else comparable)
        return {Who.A: first.astype(np.int64), Who.B: second.astype(np.int64)}

    @property
    def tuples_each(self) -> int:
        """How many tuples there are over one unit, compared or not."""
        return len(next(iter(self._tuples.values())))

    @property
    def _either_way(self) -> bool:
        """Whether two people are compared alike in either order."""
        return self._same and self._pair.pair_target == TRUE

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
        step = max(1, _AT_ONCE // (self._size + (0 if self.connected else len(next(iter(self._tuples.values()))))))
        parts = [self._judged(units.at(slice(start, start + step))) for start in range(0, max(len(units), 1), step)]
        present, unfair, doubtful, alone = (
            np.concatenate([getattr(part, name) for part in parts]) for name in Judged.__slots__[:4]
        )
        a, b = (ExactRows.joined([getattr(part, name) for part in parts]) for name in Judged.__slots__[4:])
        return Judged(present, unfair, doubtful, alone, a, b)

    def _judged(self, units: ExactRows) -> Judged:
        people, count, size = self._over(units), len(units), self._size
        valid = mask(self._wanted, {Who.EACH: people}).reshape(count, size)
        present = np.asarray(valid[:, 0] if self._individuals else valid.any(axis=1), dtype=np.bool_)
        if self.counted != self._wanted:
            present &= mask(self.counted, {Who.EACH: units})
        valid &= present[:, None]
        judged = self._alike(people, valid) if self.connected else self._by_tuples(people, valid)
        alone, unfair, doubtful, first, second = judged
        a, b = (people.at(np.flatnonzero(unfair) * size + which[unfair]) for which in (first, second))
        return Judged(present, unfair, doubtful & ~unfair, present & alone, a, b)

    def _over(self, units: ExactRows) -> ExactRows:
        """[units * people, attributes]: everybody over each unit in turn; of individuals the first is the unit."""
        if self._asked.alone:
            return units
        count = len(units)
        others = units.at(np.repeat(np.arange(count), len(self._people)))
        others = others.replaced(self._free, np.tile(self._people, (count, 1)))
        if not self._individuals:
            return others
        both = ExactRows.joined([units, others])
        behind = count + np.arange(len(others)).reshape(count, len(self._people))
        return both.at(np.column_stack([np.arange(count), behind]).reshape(-1))

    def _alike(self, people: ExactRows, valid: BoolArray) -> _Found:
        """Units in which everybody is compared with everybody."""
        assert self._decide is not None
        decisions = np.full(valid.shape, _ABSENT, dtype=np.int64)
        if valid.all():  # nobody to leave out, and nothing to copy
            decisions[:] = self._decide(people).reshape(valid.shape)
        else:
            decisions[valid] = self._decide(people.at(valid.reshape(-1)))
        known = decisions >= 0
        highest = np.where(known, decisions, _ABSENT)
        lowest = np.where(known, decisions, np.iinfo(np.int64).max)
        first, second = np.argmax(highest, axis=1), np.argmin(lowest, axis=1)
        rows, single = np.arange(len(decisions)), valid.sum(axis=1) <= 1
        unfair = _any(known) & (highest[rows, first] != lowest[rows, second])
        return single, unfair, _any(valid & ~known) & ~single, first, second

    def _by_tuples(self, people: ExactRows, valid: BoolArray) -> _Found:
        """Units whose tuples are judged one by one."""
        count, size = valid.shape
        places, compared = self._tuples, self._compared(people, valid)
        rows, columns = np.nonzero(compared)
        those = np.flatnonzero(valid)
        place = np.full(count * size, -1, dtype=np.int64)
        distinct, where = people.at(those).distinct()
        place[those] = where
        measured = self._measured(distinct)
        found = self._judge.judge(
            dict.fromkeys(places, measured),
            {who: place[rows * size + some[columns]] for who, some in places.items()},
            files=self._files,
        )
        asked, violating, open_ = (np.zeros(compared.shape, dtype=np.bool_) for _ in range(3))
        for marks, said in ((asked, found.asked), (violating, found.violating), (open_, found.undecided)):
            marks[rows, columns] = said
        if not compared.shape[1]:  # an attribute with one value cannot differ
            nobody, nowhere = np.zeros(count, dtype=np.bool_), np.zeros(count, dtype=np.int64)
            return ~nobody, nobody, nobody.copy(), nowhere, nowhere
        chosen = np.argmax(violating, axis=1)
        first, *others = (some[chosen] for some in places.values())
        return ~_any(asked | open_), _any(violating), _any(open_), first, others[0] if others else first

    def _measured(self, people: ExactRows) -> Measured:
        """What the models make of people, as whoever judges them has it."""
        if self._decide is not None:
            return Measured(people, (self._decide(people),), (), (None,) * people.width)
        found = self._judge.measure(people)
        return self._judge.as_deployed(people.floats, found) if self._files else found

    def _compared(self, people: ExactRows, valid: BoolArray) -> BoolArray:
        """[units, tuples]: which tuples are admissible."""
        if self._asked.alone:
            return valid
        places = list(self._tuples.values())
        compared = np.logical_and.reduce([valid[:, some] for some in places])
        size, target = valid.shape[1], self._pair.pair_target
        rows, columns = np.nonzero(compared)
        both = {who: people.at(rows * size + some[columns]) for who, some in zip((Who.A, Who.B), places, strict=True)}
        fits = mask(target, both)
        if self._individuals:
            apart = [mask(_gap(index, Relation.NE), both) for index in self._pair.differ]
            fits &= np.all(apart, axis=0) if self._pair.mode is Differ.EACH else np.any(apart, axis=0)
            for relaxation in self._pair.relax:
                if relaxation.by is not None:
                    fits &= mask(_gap(relaxation.attribute, Relation.LE, relaxation.by), both)
                    fits &= mask(_gap(relaxation.attribute, Relation.GE, -relaxation.by), both)
        compared[rows, columns] = fits
        return np.asarray(compared, dtype=np.bool_)


#: Nobody is asked about, unfair, in doubt [units], and two places of people that break the demand.
_Found = tuple[BoolArray, BoolArray, BoolArray, Integers, Integers]


def _gap(attribute: int, relation: Relation, by: Fraction = _NOTHING) -> Compare:
    """``a - b RELATION by`` of an attribute."""
    terms = {Variable(attribute, Who.A): Fraction(1), Variable(attribute, Who.B): Fraction(-1)}
    return Compare(left=Linear.of(terms, -by), relation=relation)


def _any(marks: BoolArray) -> BoolArray:
    """In which rows there is a mark."""
    return np.asarray(marks.any(axis=1), dtype=np.bool_)
