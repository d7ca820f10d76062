"""The repair of ``examples/repair``: how much less its models discriminate, and what that costs."""

from __future__ import annotations

import time
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import fairdsl

__all__ = ["ESTIMATORS", "Repair", "repaired"]

EXAMPLE = Path(__file__).parents[2] / "examples" / "repair"
ESTIMATORS = ("tree", "forest", "network")


@dataclass(frozen=True, kw_only=True)
class Repair:
    """Before and after: rates over the domain as bounds, and accuracy on the rows that models are chosen by.

    ``rows`` and ``held_out`` are rate and accuracy on rows that neither trained nor chose the models.
    """

    rates: tuple[tuple[Fraction, Fraction], tuple[Fraction, Fraction]]
    accuracy: tuple[Fraction, Fraction]
    rows: tuple[Fraction, Fraction]
    held_out: tuple[Fraction, Fraction]
    reduction: Fraction | None
    verdict: str
    seconds: float
    #: The first model and what was trained in each round, kept or not: rows that were added, and the rate at most.
    rounds: tuple[tuple[int, Fraction], ...]

    @property
    def enough(self) -> bool:
        """Whether the rate fell by 95 % at least, for half a point of accuracy at most on the rows to choose by."""
        lost = self.accuracy[0] - self.accuracy[1]
        return self.reduction is not None and self.reduction >= Fraction(95, 100) and lost <= Fraction(5, 1000)


def repaired(estimator: str, seed: int, folder: Path, **options: Any) -> Repair:
    """Train, find, add, train again, by ``fairdsl.repair`` with its defaults but for these options."""
    began = time.process_time()
    found = fairdsl.repair(
        EXAMPLE / "census.fair",
        train=EXAMPLE / "census.csv",
        estimator=f"{EXAMPLE / 'estimators.py'}:{estimator}",
        output=folder / f"{estimator}-{seed}",
        seed=seed,
        **options,
    )
    first, best = found.rates
    before, after = found.compared.before, found.compared.after
    measured = [candidate.measured for candidate in (found.candidates[0], found.best)]
    old, new = (Fraction(one.rows.correct, one.rows.rows) for one in measured if one is not None)
    verdicts = () if found.report is None else tuple(item.judgement.value for item in found.report.properties)
    return Repair(
        rates=((first.low, first.high), (best.low, best.high)),
        accuracy=(old, new),
        rows=(Fraction(before.unfair, before.in_target), Fraction(after.unfair, after.in_target)),
        held_out=(Fraction(before.correct, before.rows), Fraction(after.correct, after.rows)),
        reduction=found.reduction,
        verdict=", ".join(verdicts),
        seconds=time.process_time() - began,
        rounds=tuple((one.added, one.measured.rate.high) for one in found.candidates if one.measured is not None),
    )
