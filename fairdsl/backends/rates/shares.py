"""Shares of people who are drawn from a distribution: the masses of those whose units are decided alike.

A fair share under a distribution is P[the unit of X is fair | X is in question], and a unit without further conditions
is fair where within each group of people who are compared all are decided alike: an event of one individual
(:mod:`fairdsl.metrics.alike`). Boxes enclose its mass as they do those of acceptance rates. Of trees and rules all
assignments of what differs are bounded beside each other, models that are only evaluated are asked about everybody, and
of networks those whom all copies grant and those whom none does are two events, half-spaces included.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from fairdsl.backends.contract import Answering, Budget, Facts, Observer, Refusal
from fairdsl.backends.rates.gate import only_decides, refusal_of_people, unweighed
from fairdsl.backends.rates.options import RatesOptions
from fairdsl.backends.rates.people import ASSIGNMENTS, Case, domain_of, is_bounded, people_of
from fairdsl.backends.rates.redrawn import redrawn_of
from fairdsl.backends.rates.weighing import Weighed, Weighing, shares_in, summed
from fairdsl.backends.refining.refinement import State
from fairdsl.backends.refining.workers import refine_within
from fairdsl.backends.solved import Ending
from fairdsl.clock import Deadline, now
from fairdsl.ir.enclosure import Enclosure
from fairdsl.ir.expr import TRUE, Relation
from fairdsl.ir.model import ByThreshold
from fairdsl.ir.population import Network
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Differ, Individually, PairUnder, Quantity, SameDecision
from fairdsl.metrics.alike import Together, together
from fairdsl.metrics.estimated import sampling_bound
from fairdsl.metrics.subject import Subject, without_idle
from fairdsl.verdict import Evidence, Reason, Shares, Unknown, Vacuous, Value

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
    if pair.pair_target != TRUE or pair.sure or not isinstance(pair.demand, SameDecision):
        return Refusal(why="units are compared as wholes: no conditions on the two, same decision", span=pair.span)
    if pair.relax and isinstance(question, Individually):
        return Refusal(why="with distances a unit is an individual: ask for its discrimination rate", span=pair.span)
    if isinstance(question, Individually) and pair.mode is Differ.EACH and len(pair.differ) > 1:
        return Refusal(why="a unit may be unfair to others than those who are in it", span=pair.span)
    apart = (*pair.differ, *(each.attribute for each in pair.relax))
    if any(problem.domain.attributes[index].present is not None for index in apart):
        return Refusal(why="values of what differs may be missing", span=pair.span)
    found = together(problem, pair, ASSIGNMENTS)
    if isinstance(found, str):
        return Refusal(why=found, span=pair.span)
    everybody = Subject(network=network, model=without_idle(model), condition=problem.domain.where, keys=())
    if is_bounded(everybody):
        return _of_network(people_of(problem).cases)
    if only_decides(model):
        return refusal_of_people(problem, [everybody]) or _of_network(people_of(problem).cases)
    return _of_copies(problem, found) or _of_network(people_of(problem).cases)


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


class Share(Weighing):
    """The share so far; under ``alike`` as :func:`people_of` says."""

    def __init__(self, problem: Problem, alike: Network | None = None) -> None:
        self.task, self._problem = (problem, alike), problem
        self._again = problem.quantity is Quantity.REDRAW_DISAGREEMENT and alike is None
        cases = redrawn_of(problem) if self._again else people_of(problem, alike).cases
        assert not isinstance(cases, Refusal), "checked by the offer"
        super().__init__(Weighed.of(cases))
        assert isinstance(problem.population, Network), "checked by the offer"
        self._bound = None if self._again else sampling_bound(problem.population)
        #: Seconds of cutting so far.
        self.spent = 0.0

    @classmethod
    def resume(cls, task: tuple[Problem, Network | None], state: State, *, memory: int = 0) -> Share:
        """Go on from what :meth:`state`, or :meth:`fork`, returned; boxes have the room that they have."""
        found = cls(*task)
        found.take(state)
        return found

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
            if not self.waiting:
                return False
            for cover in self.waiting:
                cover.improve()
        self.spent += now() - began
        return True

    def _apart(self) -> Value | Vacuous:
        """How probable it is that whoever is drawn and whoever is drawn again are decided apart."""
        evidence, (drawn, *cases) = self._evidence, self.cases
        ((whole),) = (summed(each.joint().total) for each in drawn.covers)
        if not whole.high:
            return Vacuous(evidence=evidence)
        least = most = Fraction(0)
        for case in cases:
            joints = [cover.joint() for cover in case.covers]
            totals, alike = ([summed(getattr(each, of)) for each in joints] for of in ("total", "favourable"))
            least += max(Fraction(0), max(each.low for each in totals) - sum(each.high for each in alike))
            most += max(Fraction(0), min(each.high for each in totals) - sum(each.low for each in alike))
        high = min(Fraction(1), most / whole.low) if whole.low else Fraction(1)
        return Value(number=Enclosure(low=least / whole.high, high=high), evidence=evidence)

    @property
    def _evidence(self) -> Evidence:
        people = sum(cover.individuals for cover in self.covers)
        alone = f", and of {people:,} combinations of values one by one" if people else ""
        return Evidence(backend="rates", method=f"probability bounds of {self.nodes:,} boxes{alone}")

    def verdict(self, reason: Reason | None, domain: Share | None) -> Shares | Value | Vacuous | Unknown:
        """What is known by now, with the share of the domain beside it."""
        if self._again:
            apart = self._apart()
            open_ = isinstance(apart, Value) and not apart.number.exact
            return replace(apart, reason=reason) if isinstance(apart, Value) and open_ else apart
        return shares_in(
            self.known(),
            unit=self._problem.unit_in_words,
            evidence=self._evidence,
            reason=reason,
            bound=self._bound,
            of_domain=None if domain is None else domain.known().share,
        )


def _of_domain(problem: Problem) -> Share | None:
    """The share of the whole domain, each unit counted alike; None where nobody is as frequent as all others."""
    people = domain_of(problem)
    return None if people is None else Share(problem, people.network)


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
