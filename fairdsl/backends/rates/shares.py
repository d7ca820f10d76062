"""Shares of people who are drawn from a distribution: the masses of those whose units are decided alike.

A fair share under a distribution is P[the unit of X is fair | X is in question], and a unit without further conditions
is fair where within each group of people who are compared all are decided alike: an event of one individual
(:mod:`fairdsl.metrics.alike`). Boxes enclose its mass as they do those of acceptance rates. Of trees and rules all
assignments of what differs are bounded beside each other, models that are only evaluated are asked about everybody, and
of networks those whom all copies grant and those whom none does are two events, half-spaces included.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from fairdsl.backends.contract import Answering, Budget, Facts, Observer, Refusal
from fairdsl.backends.rates.anytime import WEIGHED, Narrowing
from fairdsl.backends.rates.arithmetic import TangledError, distribution_of
from fairdsl.backends.rates.boxes import width_of
from fairdsl.backends.rates.gate import has_states, only_decides, refusal_of_people
from fairdsl.backends.rates.options import RatesOptions
from fairdsl.backends.rates.program import LargeError, sums_of
from fairdsl.backends.rates.tree_bounds import adds_trees
from fairdsl.backends.refining.refinement import State, Stepwise
from fairdsl.backends.refining.workers import refine_within
from fairdsl.backends.solved import Ending
from fairdsl.clock import UNITS, Deadline, now
from fairdsl.ir.exact_array import ExactArray
from fairdsl.ir.expr import FALSE, TRUE, Member, Not, Or, Relation, Variable, conjoin
from fairdsl.ir.feature import IndicatorInput
from fairdsl.ir.model import ByThreshold, Layer, Model
from fairdsl.ir.population import Network, Normal
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Differ, Individually, PairUnder, Quantity, SameDecision
from fairdsl.metrics.alike import Assignment, Fairly, Together, together
from fairdsl.metrics.estimated import sampled_share
from fairdsl.metrics.joint import Bounds, Key
from fairdsl.metrics.sampling import USUAL
from fairdsl.metrics.subject import Subject, looked_at, single_events, uniform_over, without_idle
from fairdsl.verdict import Evidence, Known, Reason, Shares, Unknown, Vacuous

__all__ = ["Share", "answering_share", "refusal_of_share", "shares_of"]

#: Assignments of what differs, inputs of all copies together, and products that a box may take.
_ASSIGNMENTS, _INPUTS, _WIDTH = 16, 1 << 10, 1 << 22
#: Where all who differ are compared, whoever is in an unfair unit is in a violation.
_QUANTITIES = (Quantity.FAIR_SHARE, Quantity.DISCRIMINATION_RATE, Quantity.AFFECTED_RATE)
#: Seconds between two looks at the share; of several processes until the first one, and each time twice as many.
_PAUSE, _FIRST_LOOK = 0.5, 4.0
#: The share of the domain has one part in so many of the time, and so many seconds at least.
_BESIDE, _LEAST = 4, 1.0


def refusal_of_share(problem: Problem) -> Refusal | None:
    """Why no share under the distribution is enclosed; None where one is."""
    question, network, model = problem.question, problem.population, problem.model
    if not isinstance(question, PairUnder | Individually) or problem.quantity not in _QUANTITIES:
        return Refusal(why="it answers metrics of groups, and shares of people under a distribution", other=True)
    if not isinstance(network, Network):
        return Refusal(why="it weighs individuals, and not the rows of a table", other=True)
    pair = question.pair
    if pair.relax or pair.pair_target != TRUE or pair.sure or not isinstance(pair.demand, SameDecision):
        why = "units are compared as wholes: no distances, no conditions on the two, same decision"
        return Refusal(why=why, span=pair.span)
    if isinstance(question, Individually) and pair.mode is Differ.EACH and len(pair.differ) > 1:
        return Refusal(why="a unit may be unfair to others than those who are in it", span=pair.span)
    if any(problem.domain.attributes[index].present is not None for index in pair.differ):
        return Refusal(why="values of what differs may be missing", span=pair.span)
    found = together(problem, pair, _ASSIGNMENTS)
    if isinstance(found, str):
        return Refusal(why=found, span=pair.span)
    everybody = Subject(network=network, model=without_idle(model), condition=problem.domain.where, keys=())
    if _is_bounded(everybody):
        return _of_network(shares_of(problem))
    if only_decides(model):
        return refusal_of_people(problem, [everybody]) or _of_network(shares_of(problem))
    return _of_copies(problem, found) or _of_network(shares_of(problem))


def _is_bounded(subject: Subject) -> bool:
    """Whether units of boxes are bounded as they are: of sums of trees and rules, whose scores fit."""
    if not has_states(subject.model) or not adds_trees(subject):
        return False
    try:
        sums_of(single_events(replace(subject, model=replace(subject.model, favourable=0, beside=frozenset())))[0])
    except LargeError:
        return False
    return True


def _of_copies(problem: Problem, found: list[Together]) -> Refusal | None:
    """Why the copies of a model are not folded into one."""
    model, rule = problem.model, problem.model.rule
    if not isinstance(rule, ByThreshold) or rule.relation in (Relation.EQ, Relation.NE):
        return Refusal(why="the decision is not a half-line of one score", span=model.span)
    if any(len(each.groups) > 1 for each in found):
        return Refusal(why="those over one unit are compared in several groups", span=problem.span)
    copies = max((len(group) for each in found for group in each.groups), default=1)
    if len(model.inputs) * copies > _INPUTS:
        return Refusal(why="there are too many leaves to be written out", span=model.span)
    return None


def _of_network(cases: list[_Case]) -> Refusal | None:
    """Why masses of boxes are not known."""
    for subject in (subject for case in cases for subject in case.subjects):
        columns = looked_at(subject)
        for factor in subject.network.factors:
            if factor.column in columns and any(isinstance(row, Normal) for row in factor.rows.values()):
                name = f"`{subject.network.columns[factor.column].name}` has a normal distribution"
                return Refusal(why=f"{name}, whose probabilities are irrational: write pieces `uniform(low, high)`")
        if (tangled := _tangled(subject)) is not None:
            return Refusal(why=str(tangled))
    return None


def _tangled(subject: Subject) -> TangledError | None:
    """What is wrong with weighing boxes of a subject, if it takes too large tables."""
    try:
        width = width_of(distribution_of(subject.network, looked_at(subject)), subject.keys)
    except TangledError as error:
        return error
    return TangledError(width) if width > _WIDTH else None


@dataclass(frozen=True, slots=True)
class _Case:
    """Individuals of alike units: the events, of which at most one happens, in which they are treated fairly.

    An event is that the model of a subject is favourable, or where there are ``groups`` that each is decided alike. Of
    those who are not compared the events say nothing.
    """

    compared: bool
    subjects: tuple[Subject, ...]
    groups: tuple[tuple[Assignment, ...], ...] = ()


def shares_of(problem: Problem, alike: Network | None = None) -> list[_Case]:
    """All individuals that are asked about, by whom they are compared with, of a problem that is not refused.

    Under ``alike``, by which all people are as frequent as each other, units are counted: each has as many over it.
    """
    question, network = problem.question, alike or problem.population
    assert isinstance(question, PairUnder | Individually), "checked by the offer"
    assert isinstance(network, Network), "checked by the offer"
    found = together(problem, question.pair, _ASSIGNMENTS)
    assert not isinstance(found, str), "checked by the offer"
    # Which outcome is favourable is no matter: it is only said because events of single models are of one.
    model = without_idle(replace(problem.model, favourable=0, beside=frozenset()))
    cases = []
    for each in found:
        condition = conjoin(each.condition, question.given) if alike is None else each.units
        subject = Subject(network=network, model=model, condition=condition, keys=())
        if not each.groups:
            cases.append(_Case(False, (_of_some_column(replace(subject, model=_constant(model))),)))
        elif only_decides(model) or _is_bounded(subject):
            cases.append(_Case(True, (_of_some_column(subject),), each.groups))
        else:
            fairly = Fairly.of(model, each.groups[0])
            both = (fairly.all_granted, fairly.none_granted)
            copies = tuple(_of_some_column(replace(subject, model=copy)) for copy in both)
            if any(map(_tangled, copies)):  # what differs ties the columns together that depend on it: take it apart
                copies = tuple(replace(copy, keys=question.pair.differ) for copy in copies)
            cases.append(_Case(True, copies))
    return cases


def _constant(model: Model) -> Model:
    """A model that reads nothing: of those who are not compared it is only asked how many there are."""
    nothing = Layer(
        weight=ExactArray.from_fractions([[Fraction(0)]]),
        bias=ExactArray.from_fractions([Fraction(1)]),
        slope=ExactArray.from_fractions([Fraction(1)]),
    )
    rule = ByThreshold(relation=Relation.GT, low=Fraction(0), high=Fraction(0), granted=0, otherwise=1)
    made = Model(name=model.name, outcomes=("yes", "no"), inputs=(IndicatorInput(FALSE),), layers=(nothing,), rule=rule)
    return replace(made, favourable=0)


def _of_some_column(subject: Subject) -> Subject:
    """The subject, whose boxes are ranges of columns: where nothing is read they are of the first one all the same."""
    if subject.read:
        return subject
    either = Member(variable=Variable(0), values=frozenset())
    return replace(subject, condition=conjoin(subject.condition, Or((either, Not(either)))))


@dataclass(frozen=True, slots=True)
class _Weighed:
    """A case with the boxes of its events."""

    case: _Case
    covers: tuple[Narrowing, ...]


class Share(Stepwise):
    """The share so far; under ``alike`` as :func:`shares_of` says."""

    work = WEIGHED

    def __init__(self, problem: Problem, alike: Network | None = None) -> None:
        super().__init__()
        self.task, self._problem = (problem, alike), problem
        #: What there was when boxes were lent out.
        self._lent: State = {}
        cases = shares_of(problem, alike)
        self._cases = [_Weighed(case, tuple(Narrowing(each, case.groups) for each in case.subjects)) for case in cases]
        #: Seconds of cutting so far.
        self.spent = 0.0

    @property
    def covers(self) -> Iterator[Narrowing]:
        """All that may narrow."""
        return (cover for case in self._cases for cover in case.covers)

    @property
    def finished(self) -> bool:
        """Whether nothing is left to be cut."""
        return all(cover.finished for cover in self.covers)

    @classmethod
    def resume(cls, task: tuple[Problem, Network | None], state: State, *, memory: int = 0) -> Share:
        """Go on from what :meth:`state`, or :meth:`fork`, returned; boxes have the room that they have."""
        found = cls(*task)
        for cover, known in zip(found.covers, state["known"], strict=True):
            cover.cover.take(known)
        return found

    def state(self) -> State:
        """Everything needed to go on."""
        return {"known": [each.cover.state() for each in self.covers]}

    def fork(self, parts: int) -> Sequence[State]:
        """States of so many that share out the open boxes."""
        self._lent = self.state()
        every = [each.cover.lent_out(parts) for each in self.covers]
        return [{"known": list(each)} for each in zip(*every, strict=True)]

    def join(self, states: Sequence[State]) -> None:
        """Take over what others found; may be called again with later states of the same parts."""
        for place, cover in enumerate(self.covers):
            cover.cover.take_back(self._lent["known"][place], [each["known"][place] for each in states])

    @property
    def nodes(self) -> int:
        """Boxes weighed so far."""
        return sum(cover.boxes for cover in self.covers)

    @property
    def units_a_node(self) -> float:
        """Times the effort of a box that is weighed, of those that take most."""
        return max(cover.cover.of_a_box for cover in self.covers)

    @property
    def seconds_a_node(self) -> float:
        """What a box may take."""
        return WEIGHED.units * self.units_a_node / UNITS

    @property
    def undecided(self) -> float:
        """The mass of those of whom nothing is known."""
        return float(self.known().undecided)

    def heaviest(self, limit: int) -> Sequence[float]:
        """What the boxes leave open of which most is open."""
        found: list[float] = np.concatenate([each.cover.heaviest(limit) for each in self.covers]).tolist()
        return sorted(found, reverse=True)[:limit]

    def step(self, most: int | None = None) -> int:
        """Cut boxes of each event once; how many were weighed."""
        before = self.nodes
        for each in self._waiting:
            each.cover.improve()
        return self.nodes - before

    @property
    def full(self) -> bool:
        """Whether there is no room for more boxes."""
        return not self.finished and not self._waiting

    @property
    def _waiting(self) -> list[Narrowing]:
        return [cover for cover in self.covers if not (cover.finished or cover.full)]

    def together(self, budget: Budget, seconds: float, observer: Observer) -> bool:
        """The same by several processes; whether there is anything to be cut, and room for it."""
        began, part = now(), replace(budget, deadline=min(budget.deadline, Deadline.within(seconds)))
        ending = refine_within(self, part, observer, scheduler=budget.options[RatesOptions].scheduler)
        self.spent += now() - began
        return ending is not Ending.STOPPED

    def improve(self, budget: Budget) -> bool:
        """A while of cutting, by turns; whether there is anything to be cut, and room for it."""
        began = now()
        while now() < began + _PAUSE and not budget.exhausted:
            if not self._waiting:
                return False
            for cover in self._waiting:
                cover.improve()
        self.spent += now() - began
        return True

    def known(self) -> Known:
        """Masses of people: at least so many are treated fairly, and unfairly."""
        fair = unfair = undecided = vacuous = Fraction(0)
        for case in self._cases:
            joints = [cover.joint() for cover in case.covers]
            totals = [_summed(joint.total) for joint in joints]
            whole = Bounds(low=max(each.low for each in totals), high=min(each.high for each in totals))
            if not case.case.compared:
                vacuous += whole.low
                continue
            events = [_summed(joint.favourable) for joint in joints]
            least, most = sum(each.low for each in events), sum(each.high for each in events)
            surely = max(Fraction(0), whole.low - most)
            fair, unfair = fair + least, unfair + surely
            undecided += max(Fraction(0), whole.high - least - surely)
        return Known(fair=fair, unfair=unfair, undecided=undecided, vacuous=vacuous)

    def verdict(self, reason: Reason | None, domain: Share | None) -> Shares | Vacuous | Unknown:
        """What is known by now, with the share of the domain beside it."""
        boxes = sum(cover.boxes for cover in self.covers)
        people = sum(cover.individuals for cover in self.covers)
        alone = f", and of {people:,} combinations of values one by one" if people else ""
        evidence = Evidence(backend="rates", method=f"probability bounds of {boxes:,} boxes{alone}")
        known = self.known()
        if not known.possible:
            return Vacuous(evidence=evidence)
        assert isinstance(self._problem.population, Network), "checked by the offer"
        sampling = sampled_share(self._problem.population, known)
        parts = known.parts()
        return Shares(
            certified=parts.certified,
            falsified=parts.falsified,
            undecided=parts.undecided,
            vacuous=parts.vacuous,
            measure="probability",
            unit=self._problem.unit_in_words,
            evidence=evidence,
            reason=reason if parts.undecided else None,
            sampling=sampling,
            confidence=None if sampling is None else USUAL,
            of_domain=None if domain is None else domain.known().ends,
        )


def _of_domain(problem: Problem) -> Share | None:
    """The share of the whole domain, each unit counted alike; None where nobody is as frequent as all others."""
    attributes = problem.domain.attributes
    if any(each.present is not None for each in attributes):
        return None
    try:
        return Share(problem, uniform_over(attributes))
    except ValueError:  # there is no end to the values
        return None


def _summed(by_key: Mapping[Key, Bounds]) -> Bounds:
    low, high = (sum((getattr(each, end) for each in by_key.values()), Fraction(0)) for end in ("low", "high"))
    return Bounds(low=low, high=min(Fraction(1), high))


def answering_share(problem: Problem, facts: Facts, budget: Budget, observer: Observer) -> Answering:
    """The share, exactly or between bounds that decide all that is asked; wider where a budget ends first.

    The share of the domain beside it has a part of the time.
    """
    share, domain = Share(problem), _of_domain(problem)
    alone, look = budget.jobs == 1 and budget.options[RatesOptions].scheduler is None, _FIRST_LOOK
    while not share.finished:
        if alone or share.spent < _PAUSE:
            going = share.improve(budget)
        else:
            going = share.together(budget, min(look, budget.remaining * _BESIDE / (_BESIDE + 1)), observer)
            look *= 2
        if share.finished:
            break
        if not going:
            return share.verdict(Reason.MEMORY_OUT, domain)
        while domain is not None and domain.spent * _BESIDE < share.spent:
            if budget.exhausted or not domain.improve(budget):
                break
        verdict = share.verdict(Reason.TIMEOUT, domain)
        facts.so_far = verdict
        if facts.decided_by(verdict):
            return replace(verdict, reason=Reason.INCOMPLETE) if isinstance(verdict, Shares) else verdict
        if isinstance(verdict, Shares):
            observer.progress("rates", None, f"{float(verdict.undecided):.4g} undecided")
        if budget.exhausted:
            budget = yield verdict
    facts.so_far = share.verdict(Reason.INCOMPLETE, domain)
    if domain is not None:
        until = now() + max(_LEAST, share.spent / _BESIDE) - domain.spent
        while now() < until and not budget.exhausted and domain.improve(budget):
            pass
    return share.verdict(Reason.INCOMPLETE, domain)
