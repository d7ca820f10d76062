"""Verdicts and the logic of judging and joining them: pure data, no engines."""

from fairdsl.verdict.basis import Arithmetic, Basis, Source, Word
from fairdsl.verdict.deciders import ByDecider, Decider, DifferingRow
from fairdsl.verdict.estimate import Estimate
from fairdsl.verdict.judge import Judgement, combine, judge, share_value
from fairdsl.verdict.rates import Part, Rate
from fairdsl.verdict.undecided import worst
from fairdsl.verdict.verdict import (
    Among,
    Coverage,
    Ended,
    Estimated,
    Evidence,
    Fidelity,
    Holds,
    Reason,
    Refused,
    Region,
    Replay,
    Shares,
    Tally,
    Unknown,
    Value,
    Verdict,
    Violated,
    Within,
    Witness,
    is_vacuous,
)

__all__ = [
    "Among",
    "Arithmetic",
    "Basis",
    "ByDecider",
    "Coverage",
    "Decider",
    "DifferingRow",
    "Ended",
    "Estimate",
    "Estimated",
    "Evidence",
    "Fidelity",
    "Holds",
    "Judgement",
    "Part",
    "Rate",
    "Reason",
    "Refused",
    "Region",
    "Replay",
    "Shares",
    "Source",
    "Tally",
    "Unknown",
    "Value",
    "Verdict",
    "Violated",
    "Within",
    "Witness",
    "Word",
    "combine",
    "is_vacuous",
    "judge",
    "share_value",
    "worst",
]
