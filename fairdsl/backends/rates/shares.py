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
from fairdsl.backends.rates.gate import only_decides, refusal_of_people, unweighed
from fairdsl.backends.rates.options import RatesOptions
from fairdsl.backends.rates.people import ASSIGNMENTS, Case, is_bounded, shares_of
from fairdsl.backends.rates.redrawn import redrawn_of
from fairdsl.backends.refining.refinement import State, Stepwise
from fairdsl.backends.refining.workers import refine_within
from fairdsl.backends.solved import Ending
from fairdsl.clock import UNITS, Deadline, now
from fairdsl.ir.expr import TRUE, Relation
from fairdsl.ir.model import ByThreshold
from fairdsl.ir.population import Network
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Differ, Individually, PairUnder, Quantity, SameDecision
from fairdsl.metrics.alike import Together, together
from fairdsl.metrics.estimated import sampled_share
from fairdsl.metrics.joint import Bounds, Key
from fairdsl.metrics.sampling import USUAL
from fairdsl.metrics.subject import Subject, uniform_over, without_idle
from fairdsl.verdict import Evidence, Known, Reason, Shares, Unknown, Vacuous, Value

__all__ = ["Share", "answering_share", "refusal_of_share"]

#: Inputs of all copies together.
_INPUTS = 1 << 10
#: Where all who differ are compared, whoever is in an unfair unit is in a violation.
_QUANTITIES = (Quantity.FAIR_SHARE, Quantity.DISCRIMINATION_RATE, Quantity.AFFECTED_RATE)
#: Seconds between two looks at the share; of several processes until the first one, and each time twice as many.
_PAUSE, _FIRST_LOOK = 0.5, 4.0
#: The share of the domain has one part in so many of the time, and so many seconds at least.
_BESIDE, _LEAST = 4, 1.0


def refusal_of_share(problem: Problem) -> Refusal | None:
    """Why no share under the distribution is enclosed; None where one is."""
    question, network, model = problem.question, problem.population, problem.model
    if isinstance(question, Individually) and problem.quantity is Quantity.REDRAW_DISAGREEMENT:
        return _of_redrawn(problem)
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
    found = together(problem, pair, ASSIGNMENTS)
    if isinstance(found, str):
        return Refusal(why=found, span=pair.span)
    everybody = Subject(network=network, model=without_idle(model), condition=problem.domain.where, keys=())
    if is_bounded(everybody):
        return _of_network(shares_of(problem))
    if only_decides(model):
        return refusal_of_people(problem, [everybody]) or _of_network(shares_of(problem))
    return _of_copies(problem, found) or _of_network(shares_of(problem))


def _of_redrawn(problem: Problem) -> Refusal | None:
    """Why nobody is drawn again whose boxes are weighed."""
    network, model = problem.population, problem.model
    if not isinstance(network, Network):
        return Refusal(why="it weighs individuals, and not the rows of a table", other=True)
    everybody = Subject(network=network, model=without_idle(model), condition=problem.domain.where, keys=())
    bounded = is_bounded(everybody)
    if not bounded and not only_decides(model) and (copied := _of_copies(problem, [])) is not None:
        return copied
    cases = redrawn_of(problem)
    if isinstance(cases, Refusal):
        return cases
    people = [subject for case in cases for subject in case.subjects]
    return (None if bounded or not only_decides(model) else refusal_of_people(problem, people)) or _of_network(cases)


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


def _of_network(cases: list[Case]) -> Refusal | None:
    """Why masses of boxes are not known."""
    refusals = (unweighed(subject) for case in cases for subject in case.subjects)
    return next((refusal for refusal in refusals if refusal is not None), None)


@dataclass(frozen=True, slots=True)
class _Weighed:
    """A case with the boxes of its events."""

    case: Case
    covers: tuple[Narrowing, ...]


class Share(Stepwise):
    """The share so far; under ``alike`` as :func:`shares_of` says."""

    work = WEIGHED

    def __init__(self, problem: Problem, alike: Network | None = None) -> None:
        super().__init__()
        self.task, self._problem = (problem, alike), problem
        #: What there was when boxes were lent out.
        self._lent: State = {}
        self._again = problem.quantity is Quantity.REDRAW_DISAGREEMENT and alike is None
        cases = redrawn_of(problem) if self._again else shares_of(problem, alike)
        assert not isinstance(cases, Refusal), "checked by the offer"
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

    def _apart(self) -> Value | Vacuous:
        """How probable it is that whoever is drawn and whoever is drawn again are decided apart."""
        evidence, (drawn, *cases) = self._evidence, self._cases
        ((whole),) = (_summed(each.joint().total) for each in drawn.covers)
        if not whole.high:
            return Vacuous(evidence=evidence)
        least = most = Fraction(0)
        for case in cases:
            joints = [cover.joint() for cover in case.covers]
            totals, alike = ([_summed(getattr(each, of)) for each in joints] for of in ("total", "favourable"))
            least += max(Fraction(0), max(each.low for each in totals) - sum(each.high for each in alike))
            most += max(Fraction(0), min(each.high for each in totals) - sum(each.low for each in alike))
        high = min(Fraction(1), most / whole.low) if whole.low else Fraction(1)
        return Value(low=least / whole.high, high=high, evidence=evidence)

    @property
    def _evidence(self) -> Evidence:
        people = sum(cover.individuals for cover in self.covers)
        alone = f", and of {people:,} combinations of values one by one" if people else ""
        return Evidence(backend="rates", method=f"probability bounds of {self.nodes:,} boxes{alone}")

    def verdict(self, reason: Reason | None, domain: Share | None) -> Shares | Value | Vacuous | Unknown:
        """What is known by now, with the share of the domain beside it."""
        if self._again:
            apart = self._apart()
            open_ = isinstance(apart, Value) and apart.low < apart.high
            return replace(apart, reason=reason) if isinstance(apart, Value) and open_ else apart
        evidence, known = self._evidence, self.known()
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
    share = Share(problem)
    domain = None if problem.quantity is Quantity.REDRAW_DISAGREEMENT else _of_domain(problem)
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
            return replace(verdict, reason=Reason.INCOMPLETE) if isinstance(verdict, Shares | Value) else verdict
        observer.progress("rates", None, f"{share.undecided:.4g} undecided")
        if budget.exhausted:
            budget = yield verdict
    facts.so_far = share.verdict(Reason.INCOMPLETE, domain)
    if domain is not None:
        until = now() + max(_LEAST, share.spent / _BESIDE) - domain.spent
        while now() < until and not budget.exhausted and domain.improve(budget):
            pass
    return share.verdict(Reason.INCOMPLETE, domain)
