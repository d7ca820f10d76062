"""What a verdict comes to: its number held against the threshold, and why it is unknown. Numbers are never guessed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import assert_never

from fairdsl.ir.enclosure import Enclosure
from fairdsl.ir.metric import Comparison
from fairdsl.ir.question import Quantity, Threshold
from fairdsl.verdict import (
    Draw,
    Estimated,
    Fidelity,
    Holds,
    Interval,
    Judgement,
    Reason,
    Refused,
    Shares,
    Unknown,
    Vacuous,
    Value,
    Verdict,
    Violated,
    judge,
    judged,
    share_value,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What a demand came to."""

    judgement: Judgement
    #: The number that was judged or measured.
    value: Interval | None = None
    reason: Reason | None = None
    #: More on the reason, in a sentence.
    detail: str | None = None


#: A share of which nothing is known.
_ANY = Enclosure(low=Fraction(0), high=Fraction(1))


def estimated_with(verdict: Verdict) -> Fraction | None:
    """The confidence of the estimate that a number is; None where it is proved, or is none."""
    match verdict:
        case Estimated(estimate=estimate):
            return estimate.confidence
        case Value(draw=Draw(), confidence=confidence):
            return confidence
    return None


def judged_demand(
    verdict: Verdict, comparison: Comparison | None, quantity: Quantity, threshold: Threshold | None
) -> Judged:
    """What a demand comes to by its verdict.

    ``comparison`` is how a metric of groups compares rates. ``threshold`` is None for a measure, and for demands that
    compare no number (``require same decision``): then a share or value is *measured*, and any other verdict is taken
    as it is.
    """
    match verdict:
        case Refused():
            return Judged(judgement=Judgement.REFUSED)
        case Holds():
            return Judged(judgement=Judgement.HOLDS)
        case Vacuous():
            return Judged(judgement=Judgement.VACUOUS, detail="it would hold of any model")
        case Violated():
            return Judged(judgement=Judgement.VIOLATED)
        case Unknown():
            # Its bounds are reported as bounds and never judged.
            bounds = None if verdict.low is verdict.high is None else Interval(verdict.low, verdict.high)
            return Judged(judgement=Judgement.UNKNOWN, value=bounds, reason=verdict.reason, detail=verdict.detail)
        case Shares():
            share = share_value(verdict.share, quantity)
            narrows = verdict.evidence.fidelity is Fidelity.NARROWS
            return _number(share, threshold, verdict.reason, nothing_known=narrows or share == _ANY)
        case Estimated():
            return _estimated(verdict, quantity, threshold)
        case Value() if quantity is Quantity.MAX_SCORE_GAP:
            detail = None if verdict.reason is None else _GAP_BETWEEN.get(verdict.reason)
            value = Interval(*verdict.number)
            return Judged(judgement=Judgement.MEASURED, value=value, reason=verdict.reason, detail=detail)
        case Value() if quantity is Quantity.REDRAW_DISAGREEMENT:
            return _number(verdict.number, threshold, verdict.reason, nothing_known=False)
        case Value():
            return _metric(verdict, comparison, threshold)
        case _:
            assert_never(verdict)


def _number(number: Enclosure, threshold: Threshold | None, reason: Reason | None, *, nothing_known: bool) -> Judged:
    """A number, judged where the spec gives a threshold.

    ``reason`` says why the number is only an interval. A share of which nothing at all is known is no
    measurement; nor is one bound of a share that nobody tried to count.
    """
    value = Interval(*number)
    if threshold is not None:
        judgement = judge(number, threshold.relation, threshold.limit)
    else:
        judgement = Judgement.UNKNOWN if nothing_known else Judgement.MEASURED
    if number.exact or judgement in (Judgement.HOLDS, Judgement.VIOLATED):
        return Judged(judgement=Judgement.MEASURED if threshold is None else judgement, value=value)
    return Judged(judgement=judgement, value=value, reason=reason or Reason.INCOMPLETE, detail=_BETWEEN.get(reason))


#: What lies between the bounds, by the reason for it.
_BETWEEN = {
    Reason.NUMERIC_GAP: "exact arithmetic and the deployed float32 file disagree on what lies between the bounds",
    Reason.TIMEOUT: "the time ended before everybody was evaluated",
    Reason.EFFORT: "the effort was spent before everybody was evaluated",
    Reason.INTERRUPTED: "the run was interrupted before everybody was evaluated",
    None: "the bounds that were proved leave room on both sides of the threshold",
}


#: Why it is not known exactly how far the worst two are apart.
_GAP_BETWEEN = {
    Reason.TIMEOUT: "the time ended before the bounds met",
    Reason.EFFORT: "the effort was spent before the bounds met",
    Reason.INTERRUPTED: "the run was interrupted before the bounds met",
    Reason.MEMORY_OUT: "the memory was used up before the bounds met",
    Reason.INCOMPLETE: "scores are known between bounds only",
}


def _estimated(verdict: Estimated, quantity: Quantity, threshold: Threshold | None) -> Judged:
    """An estimate that was asked for: its interval is what a threshold is held against, with its confidence."""
    share = share_value(verdict.estimate.interval, quantity)
    if threshold is None:
        short = None if verdict.reason is None else _SHORT_OF_PRECISION.get(verdict.reason)
        return Judged(judgement=Judgement.MEASURED, value=Interval(*share), reason=verdict.reason, detail=short)
    found = _number(share, threshold, verdict.reason, nothing_known=False)
    if found.judgement is not Judgement.UNKNOWN:
        return found
    return replace(found, detail="the interval of the sample leaves room on both sides of the threshold")


#: Why an estimate is not as close as it was asked to be.
_SHORT_OF_PRECISION = {
    Reason.EFFORT: "the effort was spent before enough units were drawn for the precision that was asked for",
    Reason.TIMEOUT: "the time ended before enough units were drawn for the precision that was asked for",
    Reason.INCOMPLETE: "some decisions stayed open, and the interval allows for both",
}


def _metric(value: Value, comparison: Comparison | None, threshold: Threshold | None) -> Judged:
    """A metric of groups, judged where the spec gives a threshold. What is not a number is not shown as one."""
    number = _known(value)
    if value.reason is Reason.NOBODY:
        return Judged(judgement=Judgement.VACUOUS, detail="nobody is in question, whatever the model decides")
    if threshold is not None:
        judgement = judged(value, threshold)
    else:
        judgement = Judgement.UNKNOWN if _nothing_known(value) else Judgement.MEASURED
    # A measured interval is its own explanation, unless the engine had to stop early.
    reason = value.reason if judgement is Judgement.MEASURED else value.reason or Reason.INCOMPLETE
    if reason is Reason.NUMERIC_GAP and _left_by_sampling(value, threshold):
        reason = Reason.INCOMPLETE
    if judgement in (Judgement.HOLDS, Judgement.VIOLATED) or reason is None:
        return Judged(judgement=judgement, value=number)
    return Judged(judgement=judgement, value=number, reason=reason, detail=_detail(value, comparison, threshold))


def _known(value: Value) -> Interval | None:
    """The bounds of a number that there is; where people were drawn, what they and the draw have in common."""
    if value.draw is not None:
        return None if value.sampling is None else Interval(*value.sampling)
    return Interval(*value.number) if value.defined else None


def _left_by_sampling(value: Value, threshold: Threshold | None) -> bool:
    """Whether the number itself decides the threshold, and only the sampling error leaves room."""
    if threshold is None or value.confidence is None or not value.defined:
        return False
    return judge(value.number, threshold.relation, threshold.limit) is not Judgement.UNKNOWN


def _nothing_known(value: Value) -> bool:
    """Whether there is no number, or nothing is known of any."""
    if value.drawn is not None or any(part.drawn is not None for part in value.parts):
        return False
    numbers = [part.number for part in value.parts] or [value.number]
    return not value.defined or all(number == _ANY for number in numbers)


def _detail(value: Value, comparison: Comparison | None, threshold: Threshold | None) -> str:
    """Why it is not known any better."""
    if value.draw is not None:
        return _short_of_draws(value)
    if value.reason is Reason.UNDEFINED:
        return "" if threshold is None else "no threshold is met or missed by what is not a number"
    if threshold is not None and value.confidence is not None:
        if value.sampling is None:
            return "there is no interval for the sampling error, which the demand asks for"
        if _left_by_sampling(value, threshold):
            from fairdsl.metrics import rows_to_decide

            rows = None if comparison is None else rows_to_decide(value, comparison, threshold)
            many = "" if rows is None else f", about {rows:,} behind each rate if the rates stay as they are"
            return f"the rows leave room on both sides of the threshold; more of them may decide it{many}"
    if value.reason is Reason.NUMERIC_GAP:
        return "the number lies between the one that exact arithmetic has of these rows and that of the deployed file"
    if value.reason is Reason.TIMEOUT:
        return "the time ended before the probabilities were known more precisely"
    if value.reason is Reason.EFFORT:
        return "the effort was spent before the probabilities were known more precisely"
    if value.reason is Reason.INTERRUPTED:
        return "the run was interrupted before the probabilities were known more precisely"
    if not value.defined:
        return "the probabilities are known between bounds, and for some numbers between them there is no such metric"
    return "the probabilities are known between bounds" + (" on both sides of the threshold" if threshold else "")


def _short_of_draws(value: Value) -> str:
    """Why people who were drawn do not say what was asked for."""
    if value.sampling is None:
        return "nobody of some group was drawn, or nobody to compare, and no bounds are proved"
    match value.reason:
        case Reason.TIMEOUT:
            return "the time ended before enough people were drawn"
        case Reason.EFFORT:
            return "the effort was spent before enough people were drawn"
        case Reason.INTERRUPTED:
            return "the run was interrupted before enough people were drawn"
        case None:
            return "the interval is as narrow as was asked for, and leaves room on both sides of the threshold"
        case _:
            return "as many people were drawn as are drawn at most; decisions that stay open are allowed for both ways"
