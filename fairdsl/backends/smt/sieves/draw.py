"""Random values of an attribute, for many rows that each take them from a set of their own."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from fairdsl.numerics.narrow import Finite, ValueSet
from fairdsl.numerics.rounding import float_above, float_below

__all__ = ["Draw"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


class Draw:
    """Random values of an attribute that takes a set of its own in every row: ``sets[code]``."""

    def __init__(self, sets: Sequence[ValueSet]) -> None:
        self._whole = isinstance(sets[0], Finite)
        self._low = np.array([-np.inf if one.low is None else float_above(one.low) for one in sets])
        self._high = np.array([np.inf if one.high is None else float_below(one.high) for one in sets])
        self._counts = np.array([one.count if isinstance(one, Finite) else 0 for one in sets], dtype=np.int64)
        self._table: FloatArray | None = None
        if any(isinstance(one, Finite) and not isinstance(one.values, range) for one in sets):
            self._table = np.zeros((len(sets), int(self._counts.max())))
            for row, one in enumerate(sets):
                assert isinstance(one, Finite)
                self._table[row, : one.count] = [float(value) for value in one.values]

    def values(self, codes: IntArray, rng: np.random.Generator) -> FloatArray:
        """Uniform values; over many magnitudes where an interval has no end."""
        if self._whole:
            return self._at(codes, rng.integers(0, np.maximum(self._counts[codes], 1)))
        low, high = self._low[codes], self._high[codes]
        bounded = np.isfinite(low) & np.isfinite(high)
        start = np.where(np.isfinite(low), low, np.where(np.isfinite(high), high, 0.0))
        with np.errstate(invalid="ignore"):
            inside = low + (high - low) * rng.random(len(codes))
        anywhere = start + rng.standard_normal(len(codes)) * 10.0 ** rng.uniform(-2, 5, len(codes))
        return self._representable(np.where(bounded, inside, anywhere), low, high)

    def moved(self, values: FloatArray, codes: IntArray, rng: np.random.Generator) -> FloatArray:
        """A step at some scale, or for half of the rows a fresh value."""
        fresh = self.values(codes, rng)
        if self._table is not None:
            return fresh
        low, high = self._low[codes], self._high[codes]
        span = np.where(np.isfinite(high - low), high - low, 1e4)
        scale = np.exp(rng.random(len(values)) * np.log(np.maximum(span, 2.0)))
        stepped = values + rng.choice((-1.0, 1.0), len(values)) * (np.rint(scale) if self._whole else scale)
        stepped = np.clip(stepped, low, high) if self._whole else self._representable(stepped, low, high)
        ends = np.where(rng.random(len(values)) < 0.5, low, high)
        chosen = np.where(rng.random(len(values)) < 0.5, stepped, fresh)
        return np.where((rng.random(len(values)) < 0.1) & np.isfinite(ends), ends, chosen)

    def near(self, values: FloatArray, by: Fraction | None, rng: np.random.Generator) -> FloatArray:
        """Values at most ``by`` away, mostly at the ends of what is allowed; any where ``by`` is None."""
        codes = np.zeros(len(values), dtype=np.int64)
        if by is None or self._table is not None:
            return self.values(codes, rng)
        reach = float_below(by)
        step = (
            reach
            * rng.choice((-1.0, 1.0), len(values))
            * np.where(rng.random(len(values)) < 0.7, 1.0, rng.random(len(values)))
        )
        low, high = np.maximum(self._low[0], values - reach), np.minimum(self._high[0], values + reach)
        if self._whole:
            return np.clip(np.trunc(values + step), np.ceil(low), np.floor(high))
        return self._representable(values + step, low, high)

    def _at(self, codes: IntArray, places: IntArray) -> FloatArray:
        if self._table is not None:
            return np.asarray(self._table[codes, places], dtype=np.float64)
        return np.asarray(self._low[codes] + places, dtype=np.float64)

    @staticmethod
    def _representable(values: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
        """float32 numbers where one lies within the ends, since deployed files read no others."""
        single = values.astype(np.float32).astype(np.float64)
        return np.where((single >= low) & (single <= high), single, np.clip(values, low, high))
