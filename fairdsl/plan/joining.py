"""What several engines know of one demand, taken together: both are right, so the number lies in both enclosures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from fairdsl.ir.enclosure import Enclosure
from fairdsl.verdict import (
    Estimated,
    Evidence,
    Holds,
    Reason,
    Refused,
    Shares,
    Unknown,
    Vacuous,
    Value,
    Verdict,
    Violated,
    Witness,
    worst,
)

#: What no other engine, and no time, would change: it is about the model or the question.
_FINAL = (Reason.NUMERIC_GAP, Reason.CONTRADICTION, Reason.INTERRUPTED, Reason.UNDEFINED)
#: Why an enclosure of rates could be closer; of another one that is so of the question.
_WANTING = (Reason.TIMEOUT, Reason.MEMORY_OUT)


def is_final(verdict: Verdict) -> bool:
    """Whether asking on would add nothing."""
    match verdict:
        case Unknown(reason=reason):
            return reason in _FINAL
        case Shares(undecided=undecided, reason=reason):
            return not undecided or reason in _FINAL
        case Estimated(reason=reason):
            return reason is None
        case Value(reason=reason):
            return reason not in _WANTING
    return True


def known_part(verdict: Verdict) -> float:
    """How much of the answer is known, from 0 to 1."""
    match verdict:
        case Shares():
            return float(1 - verdict.undecided)
        case Value(defined=True, rates=(), number=number) if number.high > 1:  # how far apart scores are, on no scale
            return float(number.low / number.high)
        case Value(defined=True, number=number):
            return max(0.0, float(1 - (number.high - number.low)))
    return 0.0


def contradiction(one: Verdict, other: Verdict) -> str | None:
    """Why not both of two verdicts on one demand can be true; None where they can."""
    match one, other:
        case (Holds(), Violated()) | (Violated(), Holds()):
            return "one proves what the other has a violation of"
        case (Vacuous(), Violated()) | (Violated(), Vacuous()):
            return "one has a violation where the other proves that nobody is compared"
        case Shares(), Shares():
            if one.share.common(other.share) is None:
                return "their shares have no number in common"
        case Value(), Value():
            return next((why for why, known, found in numbers_of(one, other) if known.common(found) is None), None)
    return None


def numbers_of(one: Value, other: Value) -> Iterator[tuple[str, Enclosure, Enclosure]]:
    """The numbers that two values both know, with what they are: the value where it is one, and the rates of groups."""
    if one.defined and other.defined:
        yield "their intervals have no number in common", one.number, other.number
    rates = {(rate.group, rate.given): rate.number for rate in other.rates}
    for rate in one.rates:
        known = rates.get((rate.group, rate.given))
        if known is not None:
            yield "their rates of a group have no number in common", rate.number, known


def contradicted(evidence: Evidence, name: str, why: str) -> Unknown:
    """What is left where the engine of this evidence and the one of this name cannot both be right."""
    return Unknown(
        reason=Reason.CONTRADICTION,
        detail=f"`{evidence.backend}` and `{name}` contradict each other: {why}; please report it",
        evidence=evidence,
    )


def joined(one: Verdict, other: Verdict) -> Verdict:
    """The verdict of who was asked first and that of another engine; Unknown where one of them must be wrong."""
    against = contradiction(one, other)
    if against is not None:
        assert not isinstance(one, Refused), "who refuses says nothing"
        assert not isinstance(other, Refused), "who refuses says nothing"
        return contradicted(one.evidence, other.evidence.backend, against)
    match one, other:
        case Unknown(), Unknown():
            return worst((one, other))
        case _, Refused():
            return one
        case ((Refused() | Unknown()), _):
            return other
        case _, Unknown():
            return one
        case Shares(), Shares():
            return _of_shares(one, other)
        case Value(), Value():
            return _of_values(one, other)
        case Estimated(), Shares():  # an estimate is what was asked for, where one decides at all
            return one
    return other


def _of_shares(one: Shares, other: Shares) -> Shares:
    """The closer one, with the better of both bounds."""
    best, beside = (other, one) if other.undecided < one.undecided else (one, other)
    certified, falsified = max(one.certified, other.certified), max(one.falsified, other.falsified)
    known = (best.float32_certified, beside.float32_certified)
    in_float32 = [each for each in known if each is not None]
    closer = (certified, falsified) != (best.certified, best.falsified)
    return replace(
        best,
        certified=certified,
        falsified=falsified,
        undecided=1 - certified - falsified,
        vacuous=max(one.vacuous, other.vacuous),
        float32_certified=max(in_float32) if in_float32 else None,
        witnesses=_both(best.witnesses, beside.witnesses),
        estimate=best.estimate or beside.estimate,
        sampling=best.sampling or beside.sampling,
        confidence=best.confidence or beside.confidence,
        of_domain=best.of_domain or beside.of_domain,
        regions=best.regions or beside.regions,
        total=best.total if best.total is not None else beside.total,
        reason=best.reason if certified + falsified < 1 else None,
        evidence=_beside(best.evidence, beside.evidence) if closer else best.evidence,
    )


def _of_values(one: Value, other: Value) -> Value:
    """The closer one, between the better of both bounds. Its rates are its own, for they fit its number."""
    if not (one.defined and other.defined):
        return one if one.defined else other
    best, beside = (other, one) if _width(other) < _width(one) else (one, other)
    number = one.number.common(other.number)
    assert number is not None, "they contradict each other"
    if number == best.number:
        return best
    shown = beside.witnesses if beside.number.low > best.number.low else best.witnesses
    reason = None if number.exact else best.reason
    evidence = _beside(best.evidence, beside.evidence)
    return replace(best, number=number, evidence=evidence, witnesses=shown, reason=reason)


def _width(value: Value) -> Fraction:
    return value.number.high - value.number.low


def _beside(evidence: Evidence, other: Evidence) -> Evidence:
    return replace(evidence, notes=(*evidence.notes, f"within the bounds of `{other.backend}`, too: {other.method}"))


def _both(one: tuple[Witness, ...], other: tuple[Witness, ...]) -> tuple[Witness, ...]:
    """All pairs, each once."""
    met = {frozenset((each.a.point, each.b.point)) for each in one}
    return (*one, *(each for each in other if frozenset((each.a.point, each.b.point)) not in met))
