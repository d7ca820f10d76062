"""Rates as the deployed file has them: how far its float32 rounding may move what exact arithmetic says.

The file decides as the model does about everybody whose score is further than d from the threshold
(:mod:`fairdsl.models.float32.decision`). So its rates lie between those of the model with the threshold d higher and d
lower: the same question with a threshold of which only two ends are known. Of several scores, each of which may be off
by a number of its own, it is the same with the lead of one over another.

Along paths, and without an influence, the file is fed people whom nobody has to be: a column's copy takes any value of
its range. So d is taken over the ranges of the columns, without conditions that tie them to each other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial

from fairdsl.backends.contract import (
    Answering,
    Budget,
    Capability,
    Cost,
    Facts,
    Observer,
    Offer,
    Refusal,
    at_once,
)
from fairdsl.backends.groups import question_of
from fairdsl.backends.rates.anytime import refined
from fairdsl.backends.rates.arithmetic import TangledError
from fairdsl.backends.rates.deployed_influences import influences_near
from fairdsl.backends.rates.diagram import OpenError
from fairdsl.backends.rates.enclosing import BACKEND, Asked, nothing
from fairdsl.backends.rates.engine import LAST, TooManyError
from fairdsl.backends.rates.formulas import Formula
from fairdsl.backends.rates.gate import refusal_of
from fairdsl.backends.rates.joints import Joints, joints_of, set_to
from fairdsl.backends.rates.linear.task import OutOfTimeError
from fairdsl.backends.rates.program import LargeError
from fairdsl.backends.rates.shares import answering_share, refusal_of_share
from fairdsl.backends.rates.warmup import kernels_for
from fairdsl.backends.warmup import Kernels
from fairdsl.clock import Deadline, now, until
from fairdsl.ir.demand import Demanded
from fairdsl.ir.enclosure import Enclosure
from fairdsl.ir.expr import TRUE
from fairdsl.ir.model import ByHighest, ByThreshold, DecisionRule
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import MOST_FAVOURED, GroupMetric, Individually, PairUnder
from fairdsl.metrics.hull import hull_of
from fairdsl.metrics.joint import Key
from fairdsl.metrics.value import PRECISE, most_favoured_groups
from fairdsl.numerics.narrow import ValueSet, narrow
from fairdsl.replay import rows_counted
from fairdsl.verdict import Arithmetic, ByDecider, Decider, Evidence, Reason, Refused, Unknown, Value, Verdict

#: What the file's analysis takes for each weight and each leaf, and the share of the time that it may take.
_SECONDS_A_NUMBER, _SHARE = 1e-6, 0.1
#: Seconds that the second computation may take, or as often as long as the first.
_LEAST, _TIMES = 1.0, 2.0

#: A little further than the room: no score is taken to lie on a threshold that is known between two ends only.
_BEYOND = 1 + Fraction(1, 1024)

Answer = Callable[[Problem, Budget], Verdict]


def with_deployed(problem: Problem, exact: Value, spent: float, budget: Budget, answer: Answer) -> Value:
    """The number, with what the deployed file makes of it beside, where that is known and not the same.

    ``answer`` took ``spent`` seconds for the number.
    """
    if not exact.defined or exact.reason is not None:
        return exact
    room = _room(problem, budget.remaining)
    if room is None:
        return exact
    deployed = replace(exact, evidence=_true_of_the_file(exact))
    if not any(room):
        return deployed
    if any(
        rate.number.high - rate.number.low > PRECISE for rate in exact.rates
    ):  # rounding is small beside what is open
        return exact
    about = replace(problem, model=replace(problem.model, rule=_widened(problem.model.rule, room)), threshold=None)
    deadline = min(budget.deadline, Deadline.within(max(_LEAST, _TIMES * spent)))
    wide: Verdict | None = None
    with until(deadline):
        wide = answer(about, replace(budget, deadline=deadline))
    if not isinstance(wide, Value) or not wide.defined:
        return exact
    if _numbers(wide) == _numbers(exact):
        return deployed
    ends = wide.number
    if isinstance(about.model.rule, ByThreshold):
        with until(deadline):
            ends = influences_near(problem, about.model.rule, replace(budget, deadline=deadline)) or ends
    both = ((Decider.EXACT, exact.number), (Decider.DEPLOYED, ends))
    return replace(exact, by_decider=tuple(ByDecider(by=by, number=number) for by, number in both))


def _widened(rule: DecisionRule, room: Sequence[Fraction]) -> DecisionRule:
    """The rule with scores that are off by at most so much, one number a score."""
    if isinstance(rule, ByHighest):
        return replace(rule, slack=tuple(room))
    beyond = max(room) * _BEYOND
    return replace(rule, low=rule.low - beyond, high=rule.high + beyond)


def _numbers(value: Value) -> list[Enclosure]:
    """What is said of the number, its parts and its rates."""
    return [value.number, *(part.number for part in value.parts), *(rate.number for rate in value.rates)]


def _true_of_the_file(value: Value) -> Evidence:
    return replace(value.evidence, basis=replace(value.evidence.basis, arithmetic=Arithmetic.DEPLOYED))


def _room(problem: Problem, seconds: float) -> tuple[Fraction, ...] | None:
    """How far each score may be off for the file to decide as the model does; None where it is not known."""
    model, question = problem.model, question_of(problem)
    if model.deployed is None or model.opaque is not None:
        return None
    if question.metric.rate.decides is not None:  # the file decides something else
        return None
    size = sum(layer.weight.floats.size for layer in model.layers) + len(model.inputs)
    if size * _SECONDS_A_NUMBER > seconds * _SHARE:
        return None
    # Importing the reader of files is for those that have one.
    from fairdsl.models.float32.decision import analysis_of, slack

    file = analysis_of(model, _fed(problem, question))
    found = None if file is None else slack(file)
    return None if found is None else found.decision


def _fed(problem: Problem, question: GroupMetric) -> tuple[ValueSet, ...]:
    """What the file may be fed, attribute by attribute."""
    free = narrow(replace(problem.domain, where=TRUE), TRUE)
    if question.metric.rate.along_paths:
        return tuple(free)
    inside = narrow(problem.domain, question.given)
    return tuple(free[at] if at in question.influence else values for at, values in enumerate(inside))


# --------------------------------------------------------------------------------------------------
# The procedure: the joints that a question needs, and the metric that is folded from them.


class Rates:
    """Answers metrics of groups under a distribution: by weighted sums, by states, or by boxes that narrow."""

    name = BACKEND
    about = Capability(
        questions=(
            "metrics of groups: across, under, among, for each, label, excluding, privileged, influence, allow",
            "shares of people under a distribution: same decision, of any or each attribute, where, among",
            "shares of individuals about whom a formula is true, over decisions or a score compared with one number",
        ),
        quantities=("every metric of groups",),
        models=(
            "one linear score of attributes and indicators",
            "trees, forests and votes",
            "rules and lists",
            "sums of these",
            "piecewise-linear networks",
            "every model that can be evaluated, where there are at most 2^22 people to decide",
        ),
    )

    def __init__(self) -> None:
        self._known: tuple[tuple[object, ...], Joints | Refusal] | None = None
        self._formula: tuple[Problem, Formula | Refusal] | None = None

    def _joints(self, problem: Problem) -> Joints | Refusal:
        """How the problem's joints are computed, with the states that were counted; whatever its threshold is."""
        known = None if self._known is None else self._known[0]
        about = (problem.model, problem.population, problem.question, problem.domain)
        if known is None or any(one is not other for one, other in zip(known, about, strict=True)):
            self._known = about, joints_of(problem)
        assert self._known is not None, "set above"
        return self._known[1]

    def _of_formula(self, problem: Problem) -> Formula | Refusal:
        """The rates that a share of a formula is made of, with the states that were counted."""
        if self._formula is None or self._formula[0] is not problem:
            self._formula = problem, Formula.of(problem)
        return self._formula[1]

    def preparation(self, problem: Problem) -> Kernels | None:
        """Compile, or load, what bounds boxes of hidden units."""
        return kernels_for(problem.model)

    def offer(self, problem: Problem) -> Offer | Refusal:
        """What a little work counts is counted, and kept for the answer."""
        if isinstance(problem.question, Demanded):
            found = self._of_formula(problem)
            return found if isinstance(found, Refusal) else found.offer
        if not isinstance(problem.question, GroupMetric):
            method = "probability-bound branch and bound: of people who are decided alike whatever differs"
            return refusal_of_share(problem) or Offer(method=method, decides=True)
        joints = refusal_of(problem) or self._joints(problem)
        if isinstance(joints, Refusal):
            return joints
        if joints.uncounted is None:
            return Offer(method=joints.in_words(LAST), decides=True, fits=joints.fits, cost=Cost.COUNT)
        how = (
            "probability-bound branch and bound" if joints.boxed else "probabilities of states, if they can be counted"
        )
        return Offer(method=f"{how}: {joints.uncounted}", decides=True, fits=joints.fits)

    def answer(self, problem: Problem, facts: Facts, budget: Budget, observer: Observer) -> Verdict:
        """The metric, exactly or as an interval that decides the threshold; wider when the budget ends first."""
        return at_once(self.answering(problem, facts, budget, observer))

    def answering(self, problem: Problem, facts: Facts, budget: Budget, observer: Observer) -> Answering:
        """The same by budgets: boxes that are weighed stay so."""
        if (kernels := kernels_for(problem.model)) is not None:
            budget = yield from kernels.awaited(problem, BACKEND, budget, observer)
        if isinstance(problem.question, PairUnder | Individually):
            return (yield from answering_share(problem, facts, budget, observer))
        if isinstance(problem.question, Demanded):
            formula = self._of_formula(problem)
            if isinstance(formula, Refusal):
                raise ValueError("rates were asked for of a question that is refused")
            return (yield from formula.answering(facts, budget, observer))
        began = now()
        found = yield from self._exactly(problem, facts, budget, observer)
        if not isinstance(found, Value) or problem.model.deployed is None:
            return found
        spent = now() - began
        return with_deployed(problem, found, spent, budget, lambda about, limit: _once(about, limit, observer))

    def _exactly(self, problem: Problem, facts: Facts, budget: Budget, observer: Observer) -> Answering:
        joints = self._joints(problem)
        if isinstance(joints, Refusal) or problem.population is None:
            raise ValueError("rates were asked for of a question that is refused")
        try:
            if joints.boxed:
                counting = None if joints.ways is None else partial(_counted, problem, joints, facts, budget, observer)
                return (yield from refined(problem, joints.subjects, facts, budget, observer, counting))
            return _answered(problem, joints, facts, budget, observer)
        except (OpenError, TangledError, LargeError, TooManyError) as error:
            return nothing(Reason.MEMORY_OUT, str(error))
        except OutOfTimeError:
            return nothing(Reason.TIMEOUT)


def _once(problem: Problem, budget: Budget, observer: Observer) -> Verdict:
    """What exact arithmetic says of a problem that nobody else asks about."""
    other = Rates()
    if isinstance(other._joints(problem), Refusal):
        return nothing(Reason.INCOMPLETE)
    return at_once(other._exactly(problem, Facts(), budget, observer))


def _counted(
    problem: Problem, joints: Joints, facts: Facts, budget: Budget, observer: Observer
) -> Value | Refused | Unknown:
    """What counting states with more work comes to, beside boxes that are cut."""
    try:
        return _answered(problem, joints, facts, budget, observer)
    except TooManyError as error:
        return nothing(Reason.MEMORY_OUT, str(error))


def _answered(
    problem: Problem, joints: Joints, facts: Facts, budget: Budget, observer: Observer
) -> Value | Refused | Unknown:
    question, population = question_of(problem), problem.population
    assert population is not None, "checked by the caller"
    observer.progress(BACKEND, None, "counting states")
    observer.progress(BACKEND, None, joints.in_words(LAST))
    counts = rows_counted(question, population, problem.model)
    asked = Asked(
        question=question, threshold=problem.threshold, population=population, counts=counts, enough=facts.decided_by
    )
    if question.baseline == MOST_FAVOURED:
        return _from_most_favoured(asked, joints, budget, observer)
    return asked.answer([joints.enclosing(subject, budget, observer) for subject in joints.subjects])


def _from_most_favoured(asked: Asked, joints: Joints, budget: Budget, observer: Observer) -> Value | Refused | Unknown:
    """The gap whose baseline is the most favoured group: of each group that may be it, and all of them together."""
    (own,) = joints.subjects
    favoured = joints.enclosing(own, budget, observer)
    baselines: tuple[Key, ...] = ()
    while len(baselines) != 1 and favoured.improve():
        assert favoured.joint is not None, "an improvement is one"
        baselines = most_favoured_groups(asked.question, favoured.joint, asked.population)
    values: list[Value] = []
    for baseline in baselines:
        subjects = set_to(own, asked.question, baseline)
        found = asked.answer([joints.enclosing(subject, budget, observer) for subject in subjects])
        if not isinstance(found, Value):
            return found
        values.append(found)
    return hull_of(values) if values else nothing(Reason.MEMORY_OUT)
