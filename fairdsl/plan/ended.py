"""Demands whose run somebody ended: what is known of them is kept, and the reason says who ended it."""

from __future__ import annotations

from dataclasses import replace

from fairdsl.verdict import (
    Ended,
    Estimated,
    Holds,
    Reason,
    Refused,
    Shares,
    Unknown,
    Vacuous,
    Value,
    Verdict,
    Violated,
)

#: What work says that was left no time, and work that looks no further; here both mean that it was ended.
_CUT_SHORT = (Reason.TIMEOUT, Reason.INCOMPLETE)

_Answered = Holds | Vacuous | Violated | Unknown | Shares | Estimated | Value


def as_interrupted(verdict: Verdict) -> Verdict:
    """The verdict of work that wound down because somebody asked for the end, and not for want of time."""
    if isinstance(verdict, Refused | Estimated):
        return verdict
    return _ended(verdict, _CUT_SHORT, Reason.INTERRUPTED, Ended.INTERRUPTED)


def as_out_of_effort(verdict: Verdict) -> Verdict:
    """The verdict of work that ended when its effort was spent: to engines that is time."""
    return verdict if isinstance(verdict, Refused) else _ended(verdict, (Reason.TIMEOUT,), Reason.EFFORT, Ended.EFFORT)


def _ended(verdict: _Answered, cut: tuple[Reason, ...], reason: Reason, ended: Ended) -> Verdict:
    """With another reason in place of these, and another end of partitions in place of the time's."""
    if isinstance(verdict, Unknown | Shares | Value | Estimated) and verdict.reason in cut:
        verdict = replace(verdict, reason=reason)
    coverage = verdict.evidence.coverage
    if coverage is None or coverage.ended is not Ended.TIMEOUT:
        return verdict
    return replace(verdict, evidence=replace(verdict.evidence, coverage=replace(coverage, ended=ended)))


def is_interrupted(verdict: Verdict) -> bool:
    """Whether somebody ended it, and what is said is what was known by then."""
    if isinstance(verdict, Shares | Unknown | Value) and verdict.reason is Reason.INTERRUPTED:
        return True
    coverage = None if isinstance(verdict, Refused) else verdict.evidence.coverage
    return coverage is not None and coverage.ended is Ended.INTERRUPTED
