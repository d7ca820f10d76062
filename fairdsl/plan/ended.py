"""Demands whose run somebody ended: what is known of them is kept, and the reason says who ended it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from fairdsl.ir.question import Quantity
from fairdsl.verdict import Ended, Evidence, Reason, Refused, Shares, Unknown, Value, Verdict

__all__ = ["as_interrupted", "is_interrupted", "unanswered"]

#: What work says that was left no time, and work that looks no further; here both mean that it was ended.
_CUT_SHORT = (Reason.TIMEOUT, Reason.INCOMPLETE)


def unanswered(quantity: Quantity, reason: Reason, detail: str, *, backend: str = "", method: str = "") -> Unknown:
    """The verdict on a demand of which nothing is known: a share lies between 0 and 1 all the same."""
    share = quantity in (Quantity.FAIR_SHARE, Quantity.DISCRIMINATION_RATE)
    low, high = (Fraction(0), Fraction(1)) if share else (None, None)
    evidence = Evidence(backend=backend, method=method)
    return Unknown(reason=reason, detail=detail, evidence=evidence, low=low, high=high)


def as_interrupted(verdict: Verdict) -> Verdict:
    """The verdict of work that wound down because somebody asked for the end, and not for want of time."""
    if isinstance(verdict, Unknown | Shares | Value) and verdict.reason in _CUT_SHORT:
        verdict = replace(verdict, reason=Reason.INTERRUPTED)
    if isinstance(verdict, Refused):
        return verdict
    coverage = verdict.evidence.coverage
    if coverage is not None and coverage.ended is Ended.TIMEOUT:
        coverage = replace(coverage, ended=Ended.INTERRUPTED)
        verdict = replace(verdict, evidence=replace(verdict.evidence, coverage=coverage))
    return verdict


def is_interrupted(verdict: Verdict) -> bool:
    """Whether somebody ended it, and what is said is what was known by then."""
    if isinstance(verdict, Shares | Unknown | Value) and verdict.reason is Reason.INTERRUPTED:
        return True
    coverage = None if isinstance(verdict, Refused) else verdict.evidence.coverage
    return coverage is not None and coverage.ended is Ended.INTERRUPTED
