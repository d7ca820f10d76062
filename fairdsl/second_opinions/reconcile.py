"""A verdict and what a solver's answers come to: whether both can be true."""

from __future__ import annotations

from collections.abc import Iterable

from fairdsl.backends.encoding import Answer
from fairdsl.plan import opinion_in_words
from fairdsl.plan.joining import contradiction
from fairdsl.report.opinion import Stand
from fairdsl.verdict import (
    Estimated,
    Fidelity,
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

__all__ = ["reconciled"]


def reconciled(first: Verdict, second: Verdict, answers: Iterable[Answer]) -> tuple[Stand, str]:
    """What the second verdict, which the ``answers`` came to, is to the first one, and how a report says it.

    Pairs in the second one were replayed. A file that asks the very question leaves no room for `sat` where it was
    proved that nobody breaks the demand, even where the pair at hand does not.
    """
    against = contradiction(first, second)
    if against is not None:
        return Stand.CONTRADICTS, _against(first, second) or against
    if isinstance(first, Holds | Vacuous) and isinstance(second, Unknown):
        if second.reason is Reason.NUMERIC_GAP and (second.witnesses or second.breaches):
            return Stand.CONTRADICTS, "it found somebody who breaks in exact arithmetic what was proved there"
        if second.evidence.fidelity is Fidelity.EXACT and any(one.status == "sat" for one in answers):
            why = "what it names breaks nothing when replayed"
            return Stand.CONTRADICTS, f"it says sat where it was proved that nobody breaks the demand; {why}"
    if isinstance(second, Refused | Unknown):
        return Stand.OPEN, _open(second)
    if isinstance(first, Refused | Unknown):
        return Stand.DECIDES, f"{_alone(second)}, where the verdict is open"
    return _beside(first, second)


def _beside(first: Verdict, second: Verdict) -> tuple[Stand, str]:
    match first, second:
        case (Holds() | Vacuous(), Holds() | Vacuous()):
            return Stand.AGREES, "proves it, too"
        case Violated(), Violated():
            return Stand.AGREES, "finds a violation, too, which replays"
        case (Value(), Value()) | (Shares(), Shares()):
            nothing = isinstance(first, Value) and isinstance(second, Value) and first.defined and not second.defined
            return Stand.OPEN if nothing else Stand.AGREES, opinion_in_words(first, second)
        case Estimated(), Value() if second.defined:
            return Stand.DECIDES, f"{_alone(second)}, where the verdict is an estimate"
    return Stand.OPEN, "it answers another question than the verdict"


def _against(first: Verdict, second: Verdict) -> str | None:
    match first, second:
        case Violated(), (Holds() | Vacuous()):
            return "it says unsat, where somebody was found who breaks the demand when replayed on the model"
        case ((Holds() | Vacuous()), Violated()):
            return "it found somebody who breaks, replayed on the model, what was proved of everybody"
    return None


def _alone(second: Verdict) -> str:
    match second:
        case Holds() | Vacuous():
            return "says that it holds"
        case Violated():
            return "finds a violation, which replays"
        case Value(low=low, high=high):
            return f"comes to {float(low):.6g}" + ("" if low == high else f" .. {float(high):.6g}")
    return "comes to a number"


def _open(second: Refused | Unknown) -> str:
    if isinstance(second, Refused):
        return f"no verdict: {second.diagnostics[0].title}"
    return f"no verdict: {second.detail or second.reason.value}"
