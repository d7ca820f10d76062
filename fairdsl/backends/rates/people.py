"""People of a distribution by whom they are compared with, and the events in which they are treated fairly."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from fairdsl.backends.rates.gate import has_states, only_decides, tangled
from fairdsl.backends.rates.program import LargeError, sums_of
from fairdsl.backends.rates.tree_bounds import adds_trees
from fairdsl.ir.exact_array import ExactArray
from fairdsl.ir.expr import FALSE, Member, Not, Or, Predicate, Relation, Variable, conjoin
from fairdsl.ir.feature import IndicatorInput
from fairdsl.ir.model import ByThreshold, Layer, Model
from fairdsl.ir.population import Network
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Individually, PairUnder
from fairdsl.metrics.alike import Assignment, Fairly, together
from fairdsl.metrics.subject import Subject, single_events, uniform_over, without_idle

#: Assignments of what differs.
ASSIGNMENTS = 16


def is_bounded(subject: Subject) -> bool:
    """Whether units of boxes are bounded as they are: of sums of trees and rules, whose scores fit."""
    if not has_states(subject.model) or not adds_trees(subject):
        return False
    try:
        sums_of(single_events(replace(subject, model=replace(subject.model, favourable=0, beside=frozenset())))[0])
    except LargeError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class Case:
    """Individuals of alike units: the events, of which at most one happens, in which they are treated fairly.

    An event is that the model of a subject is favourable, or where there are ``groups`` that each is decided alike. Of
    those who are not compared the events say nothing.
    """

    compared: bool
    subjects: tuple[Subject, ...]
    groups: tuple[tuple[Assignment, ...], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class People:
    """All individuals that are asked about, by conditions, with the groups of the units of each."""

    network: Network
    model: Model
    parts: tuple[tuple[Predicate, tuple[tuple[Assignment, ...], ...]], ...]
    differ: tuple[int, ...]

    @property
    def cases(self) -> list[Case]:
        """The events in which they are treated fairly."""
        cases = []
        for condition, groups in self.parts:
            subject = Subject(network=self.network, model=self.model, condition=condition, keys=())
            cases.append(case_of(subject, groups, self.differ) if groups else nobody_compared(subject))
        return cases


def people_of(problem: Problem, alike: Network | None = None) -> People:
    """Those whom a problem is about that is not refused.

    Under ``alike``, by which all people are as frequent as each other, units are counted: each has as many over it.
    """
    question, network = problem.question, alike or problem.population
    assert isinstance(question, PairUnder | Individually), "checked by the offer"
    assert isinstance(network, Network), "checked by the offer"
    found = together(problem, question.pair, ASSIGNMENTS)
    assert not isinstance(found, str), "checked by the offer"
    # Which outcome is favourable is no matter: it is only said because events of single models are of one.
    model = without_idle(replace(problem.model, favourable=0, beside=frozenset()))
    conditions = (conjoin(each.condition, question.given) if alike is None else each.units for each in found)
    parts = tuple(zip(conditions, (each.groups for each in found), strict=True))
    return People(network=network, model=model, parts=parts, differ=question.pair.differ)


def domain_of(problem: Problem) -> People | None:
    """All of the domain, each unit counted alike; None where nobody is as frequent as all others."""
    attributes = problem.domain.attributes
    if any(each.present is not None for each in attributes):
        return None
    try:
        return people_of(problem, uniform_over(attributes))
    except ValueError:  # there is no end to the values
        return None


def case_of(subject: Subject, groups: tuple[tuple[Assignment, ...], ...], differ: tuple[int, ...]) -> Case:
    """Those of a subject whose groups are decided alike, by bounds of the model's own or as copies of a network."""
    if only_decides(subject.model) or is_bounded(subject):
        return Case(True, (_of_some_column(subject),), groups)
    fairly = Fairly.of(subject.model, groups[0])
    both = (fairly.all_granted, fairly.none_granted)
    copies = tuple(_of_some_column(replace(subject, model=copy)) for copy in both)
    if any(map(tangled, copies)):  # what differs ties the columns together that depend on it: take it apart
        copies = tuple(replace(copy, keys=differ) for copy in copies)
    return Case(True, copies)


def nobody_compared(subject: Subject) -> Case:
    """Those of a subject, of whom it is only asked how many there are."""
    return Case(False, (_of_some_column(replace(subject, model=_constant(subject.model))),))


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
