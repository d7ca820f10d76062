"""Verdicts and the logic of judging and joining them: pure data, no engines."""

from fairdsl.verdict.judge import Judgement, combine, judge, share_value
from fairdsl.verdict.verdict import (
    Evidence,
    Fidelity,
    Holds,
    Reason,
    Refused,
    Replay,
    Shares,
    Unknown,
    Value,
    Verdict,
    Violated,
    Witness,
    is_vacuous,
)

__all__ = [
    "Evidence",
    "Fidelity",
    "Holds",
    "Judgement",
    "Reason",
    "Refused",
    "Replay",
    "Shares",
    "Unknown",
    "Value",
    "Verdict",
    "Violated",
    "Witness",
    "combine",
    "is_vacuous",
    "judge",
    "share_value",
]
