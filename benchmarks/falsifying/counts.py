"""Rates of discrimination: exactly by leaf boxes, and estimated by samples that have to contain what is exact."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType

import fairdsl
from fairdsl.backends.contract import Refusal
from fairdsl.backends.sampling.draw import Sample
from fairdsl.backends.units import units_of
from fairdsl.ir.problem import Problem
from fairdsl.numerics.binomial import clopper_pearson
from falsifying.questions import Case, asked, write_spec

__all__ = ["KNOWN", "Counted", "Estimated", "Sampled", "counted", "estimated", "sampled", "sampled_of"]

#: Unfair units of all, counted by intersecting the tree's leaf boxes in another program.
KNOWN: Mapping[str, tuple[int, int]] = MappingProxyType({"dt": (13_928_314_373_601, 2_167_603_200_000_000)})
#: Of the intervals that are shown, and of those that a contradiction is read off.
CONFIDENCE, CERTAIN = 0.95, 0.9999


@dataclass(frozen=True, kw_only=True)
class Counted:
    """What leaf boxes say: unfair units of all, or bounds where the time ended; ``why``: they say nothing."""

    low: Fraction | None
    high: Fraction | None
    total: int | None
    seconds: float
    why: str = ""

    @property
    def unfair(self) -> int | None:
        """How many units exactly; None where it is not known."""
        if self.low is None or self.low != self.high or self.total is None:
            return None
        return int(self.low * self.total)

    def contradicts(self, known: tuple[int, int]) -> bool:
        """Whether it rules out what another program counted."""
        if self.low is None or self.high is None:
            return False
        return not self.low <= Fraction(*known) <= self.high


def counted(case: Case, folder: Path, timeout: float) -> Counted:
    """The exact share of a model of trees, in CPU seconds from the spec to the report."""
    spec = _spec(case, folder, "measure discrimination_rate")
    began = time.process_time()
    report = fairdsl.check(spec, backend="leaf_boxes", timeout=timeout)
    seconds = time.process_time() - began
    (demand,) = report.properties[0].demands
    if demand.shares is None:
        why = demand.refusals[0].notes[0] if demand.refusals and demand.refusals[0].notes else demand.judgement.value
        return Counted(low=None, high=None, total=None, seconds=seconds, why=why)
    shares = demand.shares
    return Counted(low=shares.falsified, high=shares.falsified + shares.undecided, total=shares.total, seconds=seconds)


@dataclass(frozen=True, kw_only=True)
class Sampled:
    """Uniform units, each judged exactly, with Clopper and Pearson's interval."""

    size: int
    unfair: int
    doubtful: int
    low: Fraction
    high: Fraction
    seconds: float

    def agrees(self, rate: Fraction) -> bool:
        """Whether the interval of 99.99 % contains the rate."""
        low, high = _interval(self.unfair, self.doubtful, self.size, CERTAIN)
        return low <= rate <= high

    def meets(self, other: tuple[int, int]) -> bool:
        """Whether it has a number in common with that of so many hits of so many draws, both with 99.99 %."""
        low, high = _interval(self.unfair, self.doubtful, self.size, CERTAIN)
        least, most = clopper_pearson(*other, CERTAIN)
        return low <= most and least <= high


def sampled(case: Case, size: int, seed: int, folder: Path) -> Sampled:
    """So many units, in CPU seconds from the closed problem to the interval."""
    return sampled_of(asked(_spec(case, folder, "measure discrimination_rate")), size, seed)


def sampled_of(problem: Problem, size: int, seed: int) -> Sampled:
    """The same of a closed problem that asks for a share."""
    began = time.process_time()
    units = units_of(problem)
    if isinstance(units, Refusal):
        raise ValueError(units.why)
    sample = Sample(units, seed)
    while sample.size < size:
        sample.grow(size - sample.size)
    low, high = _interval(sample.unfair, sample.doubtful, sample.size, CONFIDENCE)
    seconds = time.process_time() - began
    return Sampled(
        size=sample.size, unfair=sample.unfair, doubtful=sample.doubtful, low=low, high=high, seconds=seconds
    )


def _interval(unfair: int, doubtful: int, size: int, confidence: float) -> tuple[Fraction, Fraction]:
    low, _ = clopper_pearson(unfair, size, confidence)
    _, high = clopper_pearson(unfair + doubtful, size, confidence)
    return low, high


@dataclass(frozen=True, kw_only=True)
class Estimated:
    """What a spec gets that asks for an estimate: the size of the sample follows from the precision."""

    size: int
    value: Fraction
    low: Fraction
    high: Fraction
    seconds: float


def estimated(case: Case, within: str, seed: int, folder: Path) -> Estimated | None:
    """The rate within a distance, as ``0.1%``; None where no estimate was given."""
    spec = _spec(case, folder, f"measure discrimination_rate within {within}")
    began = time.process_time()
    (demand,) = fairdsl.check(spec, backend="sampling", seed=seed, timeout=600).properties[0].demands
    seconds = time.process_time() - began
    if demand.estimate is None:
        return None
    found = demand.estimate
    low, high = found.interval
    return Estimated(size=found.sampled, value=found.value, low=low, high=high, seconds=seconds)


def _spec(case: Case, folder: Path, demands: str) -> Path:
    spec = folder / f"{case.name}-rate.fair"
    write_spec(spec, case.model, case.columns, case.high_when, demands)
    return spec
