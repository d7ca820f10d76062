"""Rates as the deployed file has them: how far its float32 rounding may move what exact arithmetic says.

The file decides as the model does about everybody whose score is further than d from the threshold
(:mod:`fairdsl.models.float32.decision`). So its rates lie between those of the model with the threshold d higher and d
lower: the same question with a threshold of which only two ends are known.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from fairdsl.backends.contract import Budget
from fairdsl.backends.groups import question_of
from fairdsl.clock import Deadline, until
from fairdsl.ir.model import ByThreshold
from fairdsl.ir.problem import Problem
from fairdsl.metrics.value import PRECISE
from fairdsl.numerics.narrow import narrow
from fairdsl.verdict import Arithmetic, ByDecider, Decider, Evidence, Value, Verdict

__all__ = ["with_deployed"]

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
    if not room:
        return deployed
    if any(rate.high - rate.low > PRECISE for rate in exact.rates):  # rounding is small beside what is open
        return exact
    rule = problem.model.rule
    assert isinstance(rule, ByThreshold), "others have no room"
    beyond = room * _BEYOND
    wider = replace(rule, low=rule.low - beyond, high=rule.high + beyond)
    about = replace(problem, model=replace(problem.model, rule=wider), threshold=None)
    deadline = min(budget.deadline, Deadline.within(max(_LEAST, _TIMES * spent)))
    wide: Verdict | None = None
    with until(deadline):
        wide = answer(about, replace(budget, deadline=deadline))
    if not isinstance(wide, Value) or not wide.defined:
        return exact
    if _numbers(wide) == _numbers(exact):
        return deployed
    both = ((Decider.EXACT, exact), (Decider.DEPLOYED, wide))
    return replace(exact, by_decider=tuple(ByDecider(by=by, low=each.low, high=each.high) for by, each in both))


def _numbers(value: Value) -> list[tuple[Fraction, Fraction]]:
    """What is said of the number, its parts and its rates."""
    whole = (value.low, value.high)
    return [whole, *((part.low, part.high) for part in value.parts), *((rate.low, rate.high) for rate in value.rates)]


def _true_of_the_file(value: Value) -> Evidence:
    return replace(value.evidence, basis=replace(value.evidence.basis, arithmetic=Arithmetic.DEPLOYED))


def _room(problem: Problem, seconds: float) -> Fraction | None:
    """How far a score may be from the threshold for the file to decide otherwise; None where it is not known."""
    model, question = problem.model, question_of(problem)
    if model.deployed is None or model.opaque is not None or question.influence or question.metric.rate.along_paths:
        return None
    if question.metric.rate.decides is not None:  # the file decides something else
        return None
    size = sum(layer.weight.floats.size for layer in model.layers) + len(model.inputs)
    if size * _SECONDS_A_NUMBER > seconds * _SHARE:
        return None
    # Importing the reader of files is for those that have one.
    from fairdsl.models.float32.decision import analysis_of, slack

    file = analysis_of(model, narrow(problem.domain, question.given))
    found = None if file is None else slack(file)
    if found is None or (any(found.decision) and not isinstance(model.rule, ByThreshold)):
        return None
    return max(found.decision)
