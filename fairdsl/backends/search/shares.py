"""Which share of a box's units violate: counted where there are few, otherwise an interval from a uniform sample.

A unit is an assignment of the attributes that do not differ such that somebody in domain and target has it
(docs/semantics.md, section 3); it violates if a pair over it does, in exact arithmetic and in the deployed float32 file
where there is one. Decisions of all its people are proved; a unit that is neither found to violate nor proved not to
counts as undecided: as one that does not below, as one that does above. The interval of a sample is Clopper and
Pearson's, so it contains the share with at least the probability that it states.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.contract import Budget
from fairdsl.backends.search.boxes import Box
from fairdsl.backends.search.ground import DOUBT, Ground, Measurement
from fairdsl.backends.search.judge import Judge, Status
from fairdsl.ir.question import ScoreGap
from fairdsl.numerics.binomial import clopper_pearson
from fairdsl.numerics.rounding import float_below

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]

#: Units of a box up to which all of them are tried, units of a sample, candidates drawn for one at most.
_LISTED, _SAMPLED, _DRAWN = 4096, 2048, 2**16
#: Units that are judged between two looks at the clock.
_AT_ONCE = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """The share of a box's units that violate lies in [low, high].

    ``units`` were tried, ``violating`` of them found to violate. ``confidence`` is None where all units of the box were
    tried: then ``low`` and ``high`` are proved, as far as the time allowed.
    """

    low: Fraction
    high: Fraction
    units: int
    violating: int
    confidence: float | None


def share_of(ground: Ground, box: Box, confidence: float, budget: Budget) -> Share | None:
    """The share of a question without relaxations; None where nobody is there, or the time ended first."""
    held = box.count(ground.space.columns)
    judged = _Judged(ground, budget)
    return (_counted if held is not None and held <= _LISTED else _sampled)(ground, box, judged, confidence, budget)


def _counted(ground: Ground, box: Box, judged: _Judged, _: float, budget: Budget) -> Share | None:
    """Every unit of the box."""
    rows = box.some(ground.space.columns, _LISTED, ground.rng)
    for start in range(0, len(rows), _AT_ONCE):
        if budget.exhausted:
            return None
        judged.add(rows[start : start + _AT_ONCE])
    if not judged.present:
        return None
    low, high = Fraction(judged.violating, judged.present), Fraction(judged.possible, judged.present)
    return Share(low=low, high=high, units=judged.present, violating=judged.violating, confidence=None)


def _sampled(ground: Ground, box: Box, judged: _Judged, confidence: float, budget: Budget) -> Share | None:
    """A sample, in batches whose size does not depend on what violates."""
    tried = 0
    while judged.present < _SAMPLED and tried < _DRAWN and not budget.exhausted:
        judged.add(box.draw(ground.space.columns, _AT_ONCE, ground.rng))
        tried += _AT_ONCE
    if not judged.present:
        return None
    low, _ = clopper_pearson(judged.violating, judged.present, confidence)
    _, high = clopper_pearson(judged.possible, judged.present, confidence)
    return Share(low=low, high=high, units=judged.present, violating=judged.violating, confidence=confidence)


class _Judged:
    """Units judged so far: how many there are, are found to violate, and may violate."""

    def __init__(self, ground: Ground, budget: Budget) -> None:
        self._ground, self._budget = ground, budget
        self._judge = Judge(ground.problem, ground.pair, ground.evaluator)
        self.present = self.violating = self.possible = 0

    def add(self, rows: FloatArray) -> None:
        """Judge further units."""
        measured = self._settled(rows)
        present = measured.valid.any(axis=1)
        judged, owners = self._judge.best_of(self._ground.pairs(measured, np.flatnonzero(present)), self._budget)
        found = np.zeros(len(rows), dtype=np.bool_)
        found[owners[judged.status == Status.FOUND]] = True
        possible = found | self._open(measured) | self._budget.exhausted
        possible[owners[judged.status == Status.GAP]] = True
        self.present += int(present.sum())
        self.violating += int((found & present).sum())
        self.possible += int((possible & present).sum())

    def _settled(self, rows: FloatArray) -> Measurement:
        """As :meth:`Ground.measure`, with every decision proved."""
        measured = self._ground.measure(rows)
        count, size, width = measured.members.shape
        settled = self._ground.evaluator.settled(measured.members.reshape(-1, width))
        decisions = settled.decisions.reshape(count, size)
        if not settled.scores.shape[1]:  # of a black box that answers with outcomes alone
            return replace(measured, decisions=decisions)
        scores = settled.scores.reshape(measured.scores.shape)
        self._errors = settled.errors.reshape(measured.scores.shape)
        return Measurement(measured.members, measured.valid, scores, decisions, measured.margins, measured.wavering)

    def _open(self, measured: Measurement) -> BoolArray:
        """Units of which it is not proved that no pair that is left out of the replay violates."""
        several = np.asarray(measured.valid.sum(axis=1) > 1, dtype=np.bool_)
        pair = self._ground.pair
        if not self._ground.space.complete:
            return several  # not everybody was tried
        if isinstance(pair.demand, ScoreGap):
            # Left out are gaps of less than the limit by a part of it; errors have to be smaller than that.
            first = np.abs(measured.scores[:, :, 0])
            errors = np.where(measured.valid, self._errors[:, :, 0] + 2.0**-50 * first, 0.0).max(axis=1)
            limit = float_below(pair.demand.limit)
            proved = 2 * errors < DOUBT / 2 * limit
            return np.asarray(several & (bool(pair.sure) | ((limit > 0) & ~proved)), dtype=np.bool_)
        found = (measured.valid & (measured.decisions < 0)).any(axis=1)
        if pair.sure:  # sifted in float64: whoever is decided differently may be sure enough
            most = np.where(measured.valid, measured.decisions, -1).max(axis=1)
            found |= (measured.valid & (measured.decisions != most[:, None])).any(axis=1)
        return several & np.asarray(found, dtype=np.bool_)
