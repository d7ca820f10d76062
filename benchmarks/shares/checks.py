"""Three checks of the shares, each against something that shares none of the refinement's arithmetic."""

from __future__ import annotations

import json
import math
import tempfile
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np

import fairdsl
from fairdsl.backends.intervals.estimate import Sample, sample_units
from fairdsl.clock import Deadline
from fairdsl.ir.domain import Category, Point
from fairdsl.ir.problem import Problem
from fairdsl.numerics.binomial import clopper_pearson
from fairdsl.verdict import Shares
from shares.measure import Reading
from shares.questions import ASKED, write_spec

__all__ = ["Check", "brute_force", "samples", "small_shares", "sums"]

_CONFIDENCE = 0.9999
#: Units of a small domain, and seconds for each of its two answers.
_UNITS, _TIMEOUT = 2**16, 60.0
#: Units drawn to find an unfair one, and seconds that any drawing may take.
_ANCHORS, _DRAWING = 50_000, 600.0


@dataclass(frozen=True, kw_only=True)
class Check:
    """Whether it is as it must be, and the figures that say so."""

    name: str
    passed: bool
    figures: str


def sums(reading: Reading) -> Check:
    """Three shares, computed one by one, none negative, sum to 1 as fractions."""
    parts = (reading.certified, reading.falsified, reading.undecided)
    total = sum(parts, Fraction(0))
    return Check(
        name="sum", passed=total == 1 and min(parts) >= 0, figures=f"certified + falsified + undecided = {total}"
    )


def samples(reading: Reading, problem: Problem, count: int, seed: int) -> Check:
    """What is certified and what is falsified are possible, given how many units of a sample are unfair."""
    sample = sample_units(problem, count, seed, Deadline.within(_DRAWING))
    drawn = sample.estimate
    if drawn is None:
        return Check(name="sample", passed=False, figures=f"nothing was drawn: {sample.why}")
    _, most_fair = clopper_pearson(drawn.sampled - drawn.unfair, drawn.sampled, _CONFIDENCE)
    _, most_unfair = clopper_pearson(drawn.unfair, drawn.sampled, _CONFIDENCE)
    return Check(
        name="sample",
        passed=drawn.sampled == count and reading.certified <= most_fair and reading.falsified <= most_unfair,
        figures=f"{drawn.unfair:,} of {drawn.sampled:,} unfair; certified {percent(reading.certified)} <= "
        f"{percent(most_fair)}, falsified {percent(reading.falsified)} <= {percent(most_unfair)}",
    )


def brute_force(network: Path, problem: Problem, boxes: int, seed: int) -> list[Check]:
    """Small domains around unfair units, where there are such: refined to the end and counted out."""
    rng = np.random.default_rng(seed)
    sample = sample_units(problem, _ANCHORS, seed, Deadline.within(_DRAWING))
    return [_counted_out(network, _target(network, problem, _anchor(problem, sample, rng), rng)) for _ in range(boxes)]


def _counted_out(network: Path, target: str) -> Check:
    with tempfile.TemporaryDirectory() as folder:
        spec = Path(folder) / "small.fair"
        write_spec(spec, network, target)
        refined, counted = small_shares(spec, "intervals"), small_shares(spec, "enumerate")
    assert counted.total is not None, "enumeration counts"
    # The bounds are rounded outward and the truth is whole: the whole numbers that they leave must be it.
    most = math.floor((1 - refined.certified) * counted.total)
    least = math.ceil(refined.falsified * counted.total)
    unfair = counted.falsified * counted.total
    return Check(
        name="brute force",
        passed=refined.total == counted.total and counted.undecided == 0 and least == most == unfair,
        figures=f"{unfair} of {counted.total:,} unfair, refined to {least} .. {most}; {target}",
    )


@fairdsl.reading(root="/")  # the spec lies in a folder of its own
def small_shares(spec: Path, backend: str) -> Shares:
    (checked,) = fairdsl.check(spec, backend=backend, timeout=_TIMEOUT, jobs=1).properties
    assert checked.shares is not None, "a fair share was asked for"
    return checked.shares


def _anchor(problem: Problem, sample: Sample, rng: np.random.Generator) -> Point:
    """An unfair individual, or anybody."""
    if sample.pairs:
        return sample.pairs[int(rng.integers(len(sample.pairs)))][0]
    columns = (attribute.values for attribute in problem.domain.attributes)
    return tuple(Fraction(values[int(rng.integers(len(values)))]) for values in columns if values is not None)


def _target(network: Path, problem: Problem, anchor: Point, rng: np.random.Generator) -> str:
    """Attributes in random order stay free, then one is cut to a range, and the rest are as the anchor's."""
    _, _, protected = ASKED[network.stem[:2]]
    room, clauses = _UNITS, []
    for index in rng.permutation(len(anchor)).tolist():
        attribute, value = problem.domain.attributes[index], anchor[index]
        if attribute.name == protected:
            continue
        values = attribute.values
        assert values is not None, "no attribute of the public networks is real"
        if len(values) <= room:
            room //= len(values)
        elif isinstance(attribute.type, Category):
            clauses.append(f"{attribute.name} = {json.dumps(attribute.show(value))}")
        else:
            low = min(int(value), values[-1] - room + 1)
            clauses.append(
                f"{attribute.name} in {low} .. {low + room - 1}" if room > 1 else f"{attribute.name} = {low}"
            )
            room = 1
    return " and ".join(clauses)


def percent(share: Fraction) -> str:
    return f"{float(share):.4%}"
