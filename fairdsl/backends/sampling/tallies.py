"""What is counted of people who were drawn, by key: how many are favoured, or what their scores add up to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.sampling.people import Crowd
from fairdsl.ir.domain import Attribute
from fairdsl.ir.exact_rows import ExactRows
from fairdsl.ir.feature import AttributeInput
from fairdsl.ir.model import Model
from fairdsl.ir.opaque import Access
from fairdsl.metrics.drawn import Seen
from fairdsl.metrics.joint import Counted, Key
from fairdsl.metrics.scored import ROOTS, UNITS, Scored
from fairdsl.models.evaluators import settling
from fairdsl.numerics.bounds import float_layers, outward, preactivation_bounds
from fairdsl.numerics.choices import choices_of
from fairdsl.numerics.evaluate import BatchEvaluator
from fairdsl.numerics.exact import UNDECIDED

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class Tally(Protocol):
    """Sums over the people of each of some keys."""

    def add(self, crowd: Crowd, kept: Integers, places: Integers, reads: Sequence[int]) -> None:
        """Those of a crowd who are in question, by the places of their keys; the model reads these columns."""

    def found(self, keys: Sequence[Key]) -> Seen:
        """What there is of each of the keys, in their order."""


class Favoured:
    """How many there are, and how many of them are favoured at least and at most."""

    def __init__(self, model: Model, keys: int) -> None:
        self._settled, self._favours = settling(model), model.favours
        self._counts = np.zeros((3, keys), dtype=np.int64)

    def found(self, keys: Sequence[Key]) -> Mapping[Key, Counted]:
        """How many there are of each of the keys."""
        both = zip(keys, self._counts.T.tolist(), strict=True)
        return {key: Counted(rows=rows, least=least, most=most) for key, (rows, least, most) in both}

    def add(self, crowd: Crowd, kept: Integers, places: Integers, reads: Sequence[int]) -> None:
        """Who is lost may be favoured or not, and so may be whose values within open cells matter."""
        certain, possible = np.ones(len(kept), dtype=np.bool_), np.zeros(len(kept), dtype=np.bool_)
        for values in crowd.values:
            distinct, which = values.at(kept).keep(reads).distinct()  # each individual is asked about once
            decisions = self._settled(distinct).decisions[which]
            favoured = self._favours(decisions)
            certain &= favoured
            possible |= favoured | (decisions == UNDECIDED)
        lost = crowd.lost[kept]
        for row, counted in enumerate((np.ones(len(kept), dtype=np.bool_), certain & ~lost, possible | lost)):
            self._counts[row] += np.bincount(places[counted], minlength=self._counts.shape[1])


class Scores:
    """How many there are, and the sums of their scores, each of which lies in the span."""

    def __init__(self, model: Model, keys: int, span: tuple[Fraction, Fraction]) -> None:
        self._evaluator, self._span = BatchEvaluator(model), span
        self._sums: list[list[int]] = [[0, 0, 0, 0] for _ in range(keys)]

    def found(self, keys: Sequence[Key]) -> Mapping[Key, Scored]:
        """What the scores of each of the keys add up to."""
        return {
            key: Scored(span=self._span, people=people, least=least, most=most, squares=squares)
            for key, (people, least, most, squares) in zip(keys, self._sums, strict=True)
        }

    def add(self, crowd: Crowd, kept: Integers, places: Integers, reads: Sequence[int]) -> None:
        """Values within open cells may be any of those that are tried."""
        least, most = np.full(len(kept), UNITS, dtype=np.int64), np.zeros(len(kept), dtype=np.int64)
        for values in crowd.values:
            low, high = self._in_units(values.at(kept).keep(reads))
            least, most = np.minimum(least, low), np.maximum(most, high)
        rows = np.zeros((4, len(self._sums)), dtype=np.int64)
        for row, numbers in zip(
            rows, (np.ones_like(least), least, most, (most // (UNITS // ROOTS) + 1) ** 2), strict=True
        ):
            np.add.at(row, places, numbers)
        for sums, more in zip(self._sums, rows.T.tolist(), strict=True):
            sums[:] = [one + other for one, other in zip(sums, more, strict=True)]

    def _in_units(self, people: ExactRows) -> tuple[Integers, Integers]:
        """How far scores are above the least one, in whole units below and above."""
        scores, errors = (array[:, 0] for array in self._evaluator.scores(people))
        low, high = self._span
        if low == high:
            return np.zeros(len(people), dtype=np.int64), np.zeros(len(people), dtype=np.int64)
        unit = UNITS / float(high - low)
        # Three roundings of numbers of at most that size, and the whole unit that both ends are moved beside.
        slack = (errors + (np.abs(scores) + abs(float(low))) * 2.0**-50) * (unit * (1 + 2.0**-40)) + 1
        place = (scores - float(low)) * unit
        ends = np.floor(place - slack), np.ceil(place + slack)
        below, above = (
            np.clip(np.nan_to_num(end, nan=other), 0, UNITS) for end, other in zip(ends, (0, UNITS), strict=True)
        )
        return below.astype(np.int64), above.astype(np.int64)


def span_of_scores(model: Model, attributes: Sequence[Attribute]) -> tuple[Fraction, Fraction] | None:
    """The least and the greatest score of people with such attributes, or what is beyond; None: nothing bounds it."""
    if model.access is not Access.LAYERS or not model.rational or model.score_count != 1:
        return None
    both = [
        outward(*attributes[item.attribute].bounds) if isinstance(item, AttributeInput) else (0.0, 1.0)
        for item in model.inputs
    ]
    low, high = np.array(both, dtype=np.float64).reshape(-1, 2).T[:, None, :]
    last = preactivation_bounds(float_layers(model), low, high, choices_of(model))[-1]
    ends = float(last.low[0, 0]), float(last.high[0, 0])
    return (Fraction(ends[0]), Fraction(ends[1])) if np.isfinite(ends).all() else None
