"""Verdicts and the logic of judging and joining them: pure data, no engines."""

from fairdsl.verdict.basis import Arithmetic, Basis, Source, Word
from fairdsl.verdict.breach import Breach, Failed, Given, Person
from fairdsl.verdict.claims import Claim, Sampled
from fairdsl.verdict.deciders import ByDecider, Decider, DifferingRow
from fairdsl.verdict.estimate import Estimate
from fairdsl.verdict.evidence import Coverage, Ended, Evidence, Fidelity, Reason, Tally
from fairdsl.verdict.judge import Judgement, combine, judge, share_value
from fairdsl.verdict.judged import judged
from fairdsl.verdict.named import Cell, Individual, Interval, Named, Restriction, cell_of
from fairdsl.verdict.parts import Known, Parts
from fairdsl.verdict.rates import Draw, Drawn, Part, Rate
from fairdsl.verdict.undecided import worst
from fairdsl.verdict.verdict import (
    Among,
    Estimated,
    Holds,
    Moment,
    Refused,
    Region,
    Replay,
    Shares,
    Unknown,
    Vacuous,
    Value,
    Verdict,
    Violated,
    Within,
    Witness,
    held,
)

__all__ = [
    "Among",
    "Arithmetic",
    "Basis",
    "Breach",
    "ByDecider",
    "Cell",
    "Claim",
    "Coverage",
    "Decider",
    "DifferingRow",
    "Draw",
    "Drawn",
    "Ended",
    "Estimate",
    "Estimated",
    "Evidence",
    "Failed",
    "Fidelity",
    "Given",
    "Holds",
    "Individual",
    "Interval",
    "Judgement",
    "Known",
    "Moment",
    "Named",
    "Part",
    "Parts",
    "Person",
    "Rate",
    "Reason",
    "Refused",
    "Region",
    "Replay",
    "Restriction",
    "Sampled",
    "Shares",
    "Source",
    "Tally",
    "Unknown",
    "Vacuous",
    "Value",
    "Verdict",
    "Violated",
    "Within",
    "Witness",
    "Word",
    "cell_of",
    "combine",
    "held",
    "judge",
    "judged",
    "share_value",
    "worst",
]
