"""How fair a random sample of units is: an estimate with an interval beside what is proved, never a proof."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from fairdsl.backends.contract import Refusal
from fairdsl.backends.units import Judged, Units, units_of
from fairdsl.clock import Deadline, Work, now, spend
from fairdsl.ir.domain import Point
from fairdsl.ir.enclosure import Enclosure
from fairdsl.ir.problem import Problem
from fairdsl.numerics.binomial import clopper_pearson
from fairdsl.verdict import Estimate

_CONFIDENCE = Fraction(95, 100)
#: What is counted where effort is given.
_UNITS = Work("units drawn", 5)
#: Candidates of a batch at most. The first is one, and every batch doubles, so that a slow model is noticed in time.
_LARGEST = 2**15
#: Violating pairs that are kept at most.
_PAIRS = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """What was drawn: the estimate, or None and why; pairs that broke the demand, not replayed yet.

    One pair for each unfair unit that was met, the first of them at most: they are spread over the domain as
    the violations are.
    """

    estimate: Estimate | None
    pairs: tuple[tuple[Point, Point], ...] = ()
    why: str = ""


def sample_units(problem: Problem, count: int, seed: int, deadline: Deadline) -> Sample:
    """Judge ``count`` units, uniform over domain and target; fewer where the time is up before.

    Candidates are uniform over what the constraints leave of each attribute, and those in which nobody is compared
    are rejected. Real attributes are drawn as floats, so the estimate is by volume there. The same seed gives
    the same units, as many of them as the time allows.
    """
    units = units_of(problem)
    if isinstance(units, Refusal):
        return Sample(estimate=None, why=units.why)
    tally = _Tally()
    if not units.empty:
        tally.fill(units, count, np.random.default_rng(seed), deadline)
    if not tally.sampled:
        return Sample(estimate=None, why="no unit in question was drawn in time")
    # A unit in doubt counts as unfair below and as fair above.
    low, _ = clopper_pearson(tally.sampled - tally.unfair - tally.doubtful, tally.sampled, float(_CONFIDENCE))
    _, high = clopper_pearson(tally.sampled - tally.unfair, tally.sampled, float(_CONFIDENCE))
    interval = Enclosure(low=low, high=high)
    estimate = Estimate(sampled=tally.sampled, unfair=tally.unfair, interval=interval, confidence=_CONFIDENCE)
    return Sample(estimate=estimate, pairs=tuple(tally.pairs))


class _Tally:
    """What was counted so far."""

    def __init__(self) -> None:
        self.sampled = self.unfair = self.doubtful = 0
        self.pairs: list[tuple[Point, Point]] = []

    def fill(self, units: Units, count: int, rng: np.random.Generator, deadline: Deadline) -> None:
        """Draw until there are enough, or another batch would not end in time."""
        batch, spent = 1, 0.0
        while self.sampled < count and not deadline.later(-2 * spent).passed:
            started = now()
            self._add(units.judge(units.draw(batch, rng)), count - self.sampled)
            spend(_UNITS, batch)
            spent, batch = now() - started, min(2 * batch, _LARGEST)

    def _add(self, judged: Judged, wanted: int) -> None:
        rows = np.flatnonzero(judged.in_question)[:wanted]
        self.sampled += len(rows)
        self.doubtful += int(judged.doubtful[rows].sum())
        met = int(judged.unfair[rows].sum())
        self.unfair += met
        # The pairs stand in the order of the unfair units, so those of the counted units come first.
        room = min(met, _PAIRS - len(self.pairs))
        self.pairs.extend(zip(judged.a.at(slice(room)).points(), judged.b.at(slice(room)).points(), strict=True))
