"""Shares of those about whom a formula is true, as rates: by the model's outcomes, each with its condition.

Put an outcome in the place of the decision, and a formula about one individual is a condition on attributes. So the
mass of those it is true of is a sum over outcomes of Pr[the outcome, its condition], and each of these is computed as
rates of groups are, of one group that everybody is in; outcomes with the same condition are one event. Where a score is
compared with one number, the comparison is the decision. Without a distribution each individual counts alike, which is
the uniform distribution over the domain.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import prod

import numpy as np

from fairdsl.backends.contract import Answering, Budget, Cost, Facts, Observer, Offer, Refusal, at_once
from fairdsl.backends.rates.anytime import Narrowing
from fairdsl.backends.rates.arithmetic import TangledError
from fairdsl.backends.rates.diagram import OpenError
from fairdsl.backends.rates.enclosing import BACKEND, Enclosing, nothing
from fairdsl.backends.rates.engine import LAST, TooManyError
from fairdsl.backends.rates.gate import has_states, only_decides
from fairdsl.backends.rates.joints import Joints, joints_of
from fairdsl.backends.rates.linear.task import OutOfTimeError
from fairdsl.backends.rates.program import LargeError
from fairdsl.backends.units import units_of
from fairdsl.clock import now
from fairdsl.ir.demand import Decision, Demanded, Score
from fairdsl.ir.enclosure import Enclosure
from fairdsl.ir.expr import FALSE, Compare, Member, Not, Predicate, Relation, Variable, conjoin, mapped, variables
from fairdsl.ir.metric import ACCEPTANCE
from fairdsl.ir.model import ByThreshold, Model
from fairdsl.ir.population import Network
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import GroupMetric, Quantity
from fairdsl.metrics.estimated import sampled_share
from fairdsl.metrics.joint import Bounds
from fairdsl.metrics.sampling import USUAL
from fairdsl.metrics.subject import uniform_over, weighed_by, without_idle
from fairdsl.numerics.restrict import restrict
from fairdsl.replay import replayed
from fairdsl.verdict import Breach, Evidence, Known, Reason, Shares, Unknown, Vacuous, Verdict

_ZERO = Fraction(0)
#: Seconds between two looks at boxes.
_PAUSE = 0.5
#: People that are drawn, so that some can be shown of whom the formula is false.
_DRAWN = 1 << 10


@dataclass(frozen=True, slots=True)
class _Mass:
    """The mass of those who meet a condition, and whom the model decides for some outcomes: an event of a source.

    ``favoured`` says whether it is those that the source's model favours, or the others; None: both.
    """

    source: int
    favoured: bool | None


@dataclass(slots=True)
class _Sources:
    """Rates to be computed, each once: of which outcomes, given which condition."""

    outcomes: int
    known: dict[tuple[frozenset[int], Predicate], int] = field(default_factory=dict)

    def masses(self, conditions: Mapping[int, Predicate]) -> list[_Mass]:
        """The masses that make up an event, given by the condition that it has of each outcome."""
        together: dict[Predicate, set[int]] = {}
        for outcome, condition in conditions.items():
            if condition != FALSE:
                together.setdefault(condition, set()).add(outcome)
        return [self._mass(frozenset(outcomes), condition) for condition, outcomes in together.items()]

    def _mass(self, outcomes: frozenset[int], condition: Predicate) -> _Mass:
        if len(outcomes) == self.outcomes:
            same = [outcomes for outcomes, given in self.known if given == condition]
            return _Mass(self._at(same[0] if same else frozenset({0}), condition), None)
        others = frozenset(range(self.outcomes)) - outcomes
        fewer = len(outcomes) < len(others) or (outcomes, condition) in self.known
        return _Mass(self._at(outcomes if fewer else others, condition), fewer)

    def _at(self, outcomes: frozenset[int], condition: Predicate) -> int:
        return self.known.setdefault((outcomes, condition), len(self.known))


class Formula:
    """The share of those whom a formula is true of, of a problem that :meth:`of` lets pass."""

    def __init__(
        self, problem: Problem, joints: list[Joints], fair: list[_Mass], asked: list[_Mass], whole: list[_Mass]
    ):
        self._problem, self.joints = problem, joints
        self._fair, self._asked, self._whole = fair, asked, whole

    @classmethod
    def of(cls, problem: Problem) -> Formula | Refusal:
        """What has to be computed, or why it is no sum of rates."""
        asked = problem.question
        if not isinstance(asked, Demanded) or problem.quantity not in (
            Quantity.FAIR_SHARE,
            Quantity.DISCRIMINATION_RATE,
        ):
            return Refusal(why="it answers metrics of groups, and shares", other=True)
        asked = asked.outright
        if not asked.alone:
            return Refusal(why="of formulas it answers shares about one individual", span=asked.span)
        try:
            network = problem.population or _everybody(problem)
        except ValueError as error:
            return Refusal(why=str(error), span=problem.domain.span)
        if not isinstance(network, Network):
            return Refusal(why="it weighs individuals, and not the rows of a table", other=True)
        if len(problem.models) > 1:
            return Refusal(why="it treats one model at a time", span=asked.span)
        if only_decides(problem.model):
            return Refusal(why="nothing is known of the model but what it decides", span=problem.model.span)
        if any(each.present is not None for each in problem.domain.attributes):
            return Refusal(why="values may be missing", span=problem.domain.span)
        decided = _as_decision(problem, asked)
        if isinstance(decided, Refusal):
            return decided
        model, conditions = decided
        sources = _Sources(len(model.outcomes))
        premises = {at: conjoin(asked.pair.target, given) for at, (given, _) in conditions.items()}
        fair = sources.masses({at: conjoin(premises[at], formula) for at, (_, formula) in conditions.items()})
        everybody = sources.masses(dict.fromkeys(conditions, asked.pair.target))
        in_question = sources.masses(premises)
        joints = []
        for outcomes, condition in sources.known:
            found = joints_of(_rate(problem, model, outcomes, condition, network))
            if isinstance(found, Refusal):
                return found
            joints.append(found)
        return cls(problem, joints, fair, in_question, everybody)

    @property
    def offer(self) -> Offer:
        """How it is computed, exactly or by boxes."""
        if all(each.uncounted is None for each in self.joints):
            words = " and ".join(dict.fromkeys(each.in_words(LAST) for each in self.joints))
            return Offer(method=words, decides=True, fits=1, cost=Cost.COUNT)
        return Offer(method="probability-bound branch and bound", decides=True, fits=0)

    def answering(self, facts: Facts, budget: Budget, observer: Observer) -> Answering:
        """The share, exactly or between bounds that decide all that is asked; wider where a budget ends first."""
        try:
            sources = [_source(joints, budget, observer) for joints in self.joints]
        except (OpenError, TangledError, LargeError, TooManyError) as error:
            return nothing(Reason.MEMORY_OUT, str(error))
        while True:
            try:
                moved = [each for each in sources if each.improve()]
            except OutOfTimeError:
                return self.verdict(sources, Reason.TIMEOUT)
            except (OpenError, TangledError, LargeError, TooManyError) as error:
                return nothing(Reason.MEMORY_OUT, str(error))
            verdict = self.verdict(sources, Reason.TIMEOUT if moved else Reason.INCOMPLETE)
            facts.so_far = verdict
            if not moved:
                return self._shown(verdict, budget, observer)
            if facts.decided_by(verdict):
                enough = replace(verdict, reason=Reason.INCOMPLETE) if isinstance(verdict, Shares) else verdict
                return self._shown(enough, budget, observer)
            if budget.exhausted:
                budget = yield verdict

    def verdict(self, sources: list[_Source], reason: Reason) -> Shares | Vacuous | Unknown:
        """What is known by now."""
        known = self._known(sources)
        if known is None:
            return nothing(reason)
        notes = tuple(dict.fromkeys(note for each in sources for note in each.notes))
        evidence = Evidence(backend=BACKEND, method=_in_words(sources), notes=notes)
        if not known.possible:
            return Vacuous(evidence=evidence)
        parts, law = known.parts(), self._problem.population
        values = [attribute.values for attribute in self._problem.domain.attributes]
        counted = law is None and None not in values
        people = prod(len(each) for each in values if each is not None)
        sampling = sampled_share(law, known) if isinstance(law, Network) else None
        return Shares(
            certified=parts.certified,
            falsified=parts.falsified,
            undecided=parts.undecided,
            vacuous=parts.vacuous,
            measure="counting" if counted else "volume" if law is None else "probability",
            unit=self._problem.unit_in_words,
            evidence=evidence,
            total=int(known.possible * people) if counted and not parts.undecided else None,
            reason=reason if parts.undecided else None,
            sampling=sampling,
            confidence=None if sampling is None else USUAL,
        )

    def _shown(self, verdict: Verdict, budget: Budget, observer: Observer) -> Verdict:
        """With people of whom the formula is false; under a distribution, with the share of the domain if it counts."""
        if not isinstance(verdict, Shares):
            return verdict
        if self._problem.population is None:
            return replace(verdict, breaches=_examples(self._problem, budget.seed)) if verdict.falsified else verdict
        domain = Formula.of(replace(self._problem, population=None))
        if isinstance(domain, Refusal) or domain.offer.cost is not Cost.COUNT:
            return verdict
        found = at_once(domain.answering(Facts(), budget, observer))
        return replace(verdict, of_domain=found.share if isinstance(found, Shares) else None)

    def _known(self, sources: list[_Source]) -> Known | None:
        """Masses of people; None before something is known of all sources."""
        joints = [each.masses for each in sources]
        if None in joints:
            return None

        def summed(masses: list[_Mass]) -> Enclosure:
            ends = [_mass(*found, each.favoured) for each in masses if (found := joints[each.source]) is not None]
            return Enclosure(low=sum((each.low for each in ends), _ZERO), high=sum((each.high for each in ends), _ZERO))

        (fair, at_most), (least, asked) = summed(self._fair), summed(self._asked)
        unfair = max(_ZERO, least - at_most)
        undecided = max(_ZERO, asked - fair - unfair)
        vacuous = max(_ZERO, summed(self._whole).low - asked)
        return Known(fair=fair, unfair=unfair, undecided=undecided, vacuous=vacuous)


def _everybody(problem: Problem) -> Network:
    """Each individual as frequent as all others; ValueError where there is no end to them."""
    added = weighed_by(without_idle(problem.model)) if has_states(problem.model) else ()
    return uniform_over(problem.domain.attributes, added)


def _mass(favourable: Bounds, total: Bounds, favoured: bool | None) -> Bounds:
    """The mass of those who are favoured, or are not (None: of all)."""
    if favoured is None:
        return total
    return favourable if favoured else total.without(favourable)


def _rate(problem: Problem, model: Model, outcomes: frozenset[int], condition: Predicate, law: Network) -> Problem:
    """The rate of these outcomes among those who meet a condition, of everybody as one group."""
    first, *beside = sorted(outcomes)
    return replace(
        problem,
        model=replace(model, favourable=first, beside=frozenset(beside), deployed=None),
        question=GroupMetric(metric=ACCEPTANCE, across=(), population=law.name, given=condition),
        quantity=Quantity.METRIC,
        population=law,
        threshold=None,
        precision=None,
    )


# --------------------------------------------------------------------------------------------------
# What an outcome makes of a formula.


def _as_decision(problem: Problem, asked: Demanded) -> tuple[Model, dict[int, tuple[Predicate, Predicate]]] | Refusal:
    """The model whose outcomes decide the formula, and what premise and formula are, given each of them."""
    model, named = problem.model, {*variables(asked.premise), *variables(asked.formula)}
    terms = {variable: term for variable in named if (term := asked.term(variable)) is not None}
    ranks: dict[Variable, tuple[int, ...]] = {}
    parts = asked.premise, asked.formula
    for variable, term in terms.items():
        match term:
            case Decision():
                ranks[variable] = term.ranks
            case Score() if len(terms) == 1 and model.score_count == 1:
                compared = _compared(variable, parts)
                if isinstance(compared, str):
                    return Refusal(why=compared, span=asked.span)
                relation, limit, parts = compared
                rule = ByThreshold(relation=relation, low=limit, high=limit, granted=1, otherwise=0)
                model = replace(model, outcomes=("no", "yes"), rule=rule, logits=None)
                ranks[variable] = 0, 1
            case _:
                why = "of formulas it answers those of attributes and decisions, or of a score compared with one number"
                return Refusal(why=why, span=asked.span)
    outcomes = range(len(model.outcomes))
    return model, {outcome: _given(parts, ranks, outcome) for outcome in outcomes}


def _given(
    parts: tuple[Predicate, Predicate], ranks: Mapping[Variable, tuple[int, ...]], outcome: int
) -> tuple[Predicate, Predicate]:
    """Premise and formula where the decision is an outcome."""

    def number(variable: Variable) -> Fraction | None:
        return Fraction(ranks[variable][outcome]) if variable in ranks else None

    premise, formula = (restrict(part, number) for part in parts)
    return premise, formula


def _compared(
    score: Variable, parts: tuple[Predicate, Predicate]
) -> tuple[Relation, Fraction, tuple[Predicate, Predicate]] | str:
    """The one comparison of a score with a number, and the predicates with its truth in its place; else why not."""
    met: list[tuple[Relation, Fraction]] = []
    why = ""

    def replaced(atom: Compare | Member) -> Predicate:
        nonlocal why
        if score not in variables(atom):
            return atom
        if isinstance(atom, Member) or len(atom.left.terms) > 1:
            why = "a score is compared with more than a number"
            return atom
        ((_, weight),) = atom.left.terms
        relation = atom.relation if weight > 0 else atom.relation.mirrored
        limit = -atom.left.constant / weight
        if not met:
            met.append((relation, limit))
        true = Member(variable=score, values=frozenset({Fraction(1)}))
        if (relation, limit) == met[0]:
            return true
        if (relation.negated, limit) == met[0]:
            return Not(true)
        why = "a score is compared with several numbers"
        return atom

    first, second = (mapped(part, replaced) for part in parts)
    return why or (*met[0], (first, second))


# --------------------------------------------------------------------------------------------------
# The joint of one source, by boxes or by whatever its rate is computed by.


class _Source:
    """What is known of those who meet a condition, and of whom of them the model favours."""

    def __init__(self, of: Enclosing | Narrowing) -> None:
        self._of = of

    @property
    def masses(self) -> tuple[Bounds, Bounds] | None:
        """Of the favoured, and of all; None before the first step."""
        joint = self._of.joint() if isinstance(self._of, Narrowing) else self._of.joint
        return None if joint is None else (_one(joint.favourable), _one(joint.total))

    @property
    def in_words(self) -> str:
        """What is computed."""
        if isinstance(self._of, Narrowing):
            return f"probability bounds of {self._of.boxes:,} boxes"
        return self._of.in_words

    @property
    def rounded(self) -> bool:
        """Whether it was computed in float64."""
        return not isinstance(self._of, Narrowing) and not self._of.exact

    @property
    def notes(self) -> tuple[str, ...]:
        """Why it is an enclosure, where that is no matter of precision."""
        return self._of.notes

    def improve(self) -> bool:
        """A step, of boxes a while of them; False when there is nothing left to do."""
        if not isinstance(self._of, Narrowing):
            return self._of.improve()
        until = now() + _PAUSE
        while not (self._of.finished or self._of.full):
            self._of.improve()
            if now() > until:
                return True
        return False


def _source(joints: Joints, budget: Budget, observer: Observer) -> _Source:
    (subject,) = joints.subjects
    return _Source(Narrowing(subject) if joints.boxed else joints.enclosing(subject, budget, observer))


def _in_words(sources: Sequence[_Source]) -> str:
    """How a share is computed."""
    words = sources[0].in_words if len(sources) == 1 else f"probabilities of {len(sources)} events"
    how = "in float64 with a bound on the error" if any(each.rounded for each in sources) else "in exact arithmetic"
    return f"{words}, {how}"


def _examples(problem: Problem, seed: int) -> tuple[Breach, ...]:
    """Some of those whom the formula is false of, of some that are drawn."""
    units = units_of(problem)
    if isinstance(units, Refusal) or units.empty:
        return ()
    found = units.judge(units.draw(_DRAWN, np.random.default_rng(seed))).a
    return replayed(problem, [(point, point) for point in found.points()])[1]


def _one(by_key: Mapping[tuple[Fraction, ...], Bounds]) -> Bounds:
    """The one group that everybody is in; nobody where it is not listed."""
    return by_key.get((), Bounds.exactly(_ZERO))
