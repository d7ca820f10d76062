"""One metric of groups less another one: each is answered by its own plan, and the two numbers are subtracted.

With the first in [l, h] and the second in [l', h'] their difference lies in [l - h', h - l'].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

from fairdsl.backends.contract import Budget, Capability, Facts, Observer, Offer, Refusal
from fairdsl.ir.enclosure import Enclosure
from fairdsl.ir.problem import MetricDifference, Problem
from fairdsl.ir.question import GroupMetric
from fairdsl.plan.execute import execute
from fairdsl.plan.negotiate import Plan
from fairdsl.verdict import (
    Arithmetic,
    Draw,
    Drawn,
    Evidence,
    Named,
    Part,
    Rate,
    Reason,
    Refused,
    Unknown,
    Value,
    Verdict,
)

#: What says in a table whose rates these are; it has a space, which no attribute's name has.
_WHOSE = "of metric"
_NOWHERE = "every group is left out of one of the two, so there is nothing to compare"


class Difference:
    """Subtracts what two plans find."""

    name = "difference"
    about = Capability(questions=("two metrics of groups",), quantities=("their difference",), models=("any two",))

    def __init__(self, first: Plan, second: Plan) -> None:
        self._plans = first, second

    def offer(self, problem: Problem) -> Offer | Refusal:
        """Ready where both plans are; it costs what the dearer one does."""
        if not isinstance(problem.question, MetricDifference):
            return Refusal(why="it subtracts metrics", other=True)
        methods = (f"`{plan.stages[-1].procedure.name}`: {plan.stages[-1].offer.method}" for plan in self._plans)
        return Offer(method="; less ".join(methods), decides=True, cost=max(plan.cost for plan in self._plans))

    def answer(self, problem: Problem, facts: Facts, budget: Budget, observer: Observer) -> Verdict:
        """The difference; unknown where one of the two is."""
        asked = problem.question
        assert isinstance(asked, MetricDifference), "difference was asked what it refuses"
        first, second = self._plans
        minuend = execute(first, asked.first, budget.share(2), observer)
        subtrahend = execute(second, asked.second, budget, observer)
        for verdict in (minuend, subtrahend):
            if isinstance(verdict, Refused | Unknown):
                return verdict
        assert isinstance(minuend, Value), "metrics of groups are values"
        assert isinstance(subtrahend, Value), "metrics of groups are values"
        names = (_named(asked.first), _named(asked.second))
        return _less(minuend, subtrahend, names)


def _named(problem: Problem) -> str:
    assert isinstance(problem.question, GroupMetric), "it is asked of two metrics"
    return f"{problem.question.metric.name} of {problem.model.name}"


def _less(one: Value, other: Value, names: tuple[str, str]) -> Value:
    draws = [value.draw for value in (one, other) if value.draw is not None]
    missed = sum(1 - value.confidence for value in (one, other) if value.confidence is not None)  # either may
    whole = _difference(_whole(one), _whole(other), drawn=bool(draws))
    number = one.number - other.number
    defined = one.defined and other.defined
    parts = _parts(one, other, drawn=bool(draws))
    evidence = _evidence(one.evidence, other.evidence, names)
    if not parts and (one.parts or other.parts):
        defined, evidence = False, replace(evidence, notes=(*evidence.notes, _NOWHERE))
    elif parts:  # each is held against the threshold, so the number is where any of them lies
        number = reduce(Enclosure.around, (part.number for part in parts))
    return Value(
        number=number,
        evidence=evidence,
        rates=tuple(_of(rate, name) for value, name in zip((one, other), names, strict=True) for rate in value.rates),
        excluded=tuple(dict.fromkeys((*one.excluded, *other.excluded))),
        sampling=whole.sampling,
        confidence=1 - missed if missed else None,
        parts=parts,
        drawn=whole.drawn,
        draw=_both_drawn(draws) if draws else None,
        defined=defined,
        reason=_reason(one, other, defined),
        warnings=(*one.warnings, *(each for each in other.warnings if each not in one.warnings)),
    )


def _reason(one: Value, other: Value, defined: bool) -> Reason | None:
    reasons = [value.reason for value in (one, other) if value.reason is not None]
    if Reason.NOBODY in reasons and reasons != [Reason.NOBODY, Reason.NOBODY]:
        return Reason.UNDEFINED
    if not defined:
        return Reason.UNDEFINED if Reason.UNDEFINED in reasons else next(iter(reasons), Reason.UNDEFINED)
    return next(iter(reasons), None)


def _of(rate: Rate, name: str) -> Rate:
    return replace(rate, given=rate.given | {_WHOSE: name})


def _both_drawn(draws: Sequence[Draw]) -> Draw:
    """All who were drawn; each of the two numbers was asked for with half of the distance."""
    within = draws[0].within
    return Draw(people=sum(draw.people for draw in draws), within=None if within is None else 2 * within)


def _parts(one: Value, other: Value, *, drawn: bool) -> tuple[Part, ...]:
    """The differences at the same places: of each group, of each value of `given`; what has one number has it at all.

    A group that is left out of one of the two is compared in neither.
    """
    if not (one.parts or other.parts):
        return ()
    return tuple(
        _difference(part, rest, drawn=drawn)
        for part in _places(one)
        for rest in _places(other)
        if _at_one_place(part.at, rest.at)
    )


def _places(value: Value) -> tuple[Part, ...]:
    return value.parts or (_whole(value),)


def _whole(value: Value) -> Part:
    return Part(at=Named(), number=value.number, sampling=value.sampling, drawn=value.drawn, defined=value.defined)


def _at_one_place(at: Named, other: Named) -> bool:
    return at.items() <= other.items() or other.items() <= at.items()


def _difference(part: Part, rest: Part, *, drawn: bool) -> Part:
    """The one less the other. ``drawn``: people were, of one at least; of the other its enclosure is taken then."""
    sampling, found = (part.sampling, rest.sampling), (part.drawn, rest.drawn)
    if drawn:
        sampling = _believed(part), _believed(rest)
        found = _drawn(part), _drawn(rest)
    own = None
    if found[0] is not None and found[1] is not None:
        estimate = found[0].estimate - found[1].estimate
        own = Drawn(estimate=estimate, interval=found[0].interval - found[1].interval)
    return Part(
        at=part.at if len(part.at) >= len(rest.at) else rest.at,
        number=part.number - rest.number,
        sampling=None if sampling[0] is None or sampling[1] is None else sampling[0] - sampling[1],
        drawn=own,
        defined=part.defined and rest.defined,
    )


def _believed(part: Part) -> Enclosure | None:
    return part.number if part.sampling is None and part.defined else part.sampling


def _drawn(part: Part) -> Drawn | None:
    if part.drawn is None and part.defined:
        return Drawn(estimate=part.number, interval=part.number)
    return part.drawn


_WEAKEST_FIRST = (Arithmetic.ESTIMATE, Arithmetic.APPROXIMATE, Arithmetic.ANSWERS, Arithmetic.EXACT)


def _evidence(one: Evidence, other: Evidence, names: tuple[str, str]) -> Evidence:
    """What both rest on; it is true of the file only where both are."""
    basis = one.basis
    if basis.arithmetic is not other.basis.arithmetic:
        asked = {basis.arithmetic, other.basis.arithmetic}
        weakest = next(each for each in _WEAKEST_FIRST if each in asked)
        basis = replace(basis, arithmetic=weakest)
    method = one.method if one.method == other.method else f"{names[0]}: {one.method}; {names[1]}: {other.method}"
    return replace(one, basis=basis, method=method, notes=tuple(dict.fromkeys((*one.notes, *other.notes))))
