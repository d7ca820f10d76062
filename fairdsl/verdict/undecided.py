"""Several unknown verdicts on parts of one question: the reason that tells most."""

from __future__ import annotations

from collections.abc import Iterable

from fairdsl.verdict.evidence import Reason
from fairdsl.verdict.verdict import Unknown

_WORST = (
    Reason.NUMERIC_GAP,
    Reason.REPLAY_FAILED,
    Reason.MALFORMED,
    Reason.ENGINE_CRASHED,
    Reason.MEMORY_OUT,
    Reason.TIMEOUT,
    Reason.EFFORT,
    Reason.INCOMPLETE,
)


def worst(undecided: Iterable[Unknown]) -> Unknown:
    """The one whose reason tells most: what points at a fault comes before what more time would mend."""
    return min(undecided, key=lambda verdict: _WORST.index(verdict.reason) if verdict.reason in _WORST else len(_WORST))
