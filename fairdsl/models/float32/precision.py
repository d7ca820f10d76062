"""How finely a runtime stores numbers, and what a correctly rounded operation loses.

With u the unit roundoff, an operation on numbers of a type gives the number of the type that is nearest to the
result: at most half a unit in the last place away, or half the least subnormal number, or infinity.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

#: Covers the float64 rounding of bounds themselves.
OUTWARD = 1.0 + 2.0**-40
#: Whole numbers up to this size are float64 numbers.
_WHOLE = 2.0**53


@dataclass(frozen=True, slots=True)
class Precision:
    """``roundoff`` u, half the least positive number, the largest finite one; whole numbers have roundoff 0."""

    name: str
    roundoff: float
    least: float
    largest: float

    @property
    def whole(self) -> bool:
        """Whether the type holds whole numbers, which are computed exactly."""
        return self.roundoff == 0


_FLOATS = {
    "float16": Precision("float16", 2.0**-11, 2.0**-25, 65504.0),
    "float32": Precision("float32", 2.0**-24, 2.0**-150, float(np.finfo(np.float32).max)),
    "float64": Precision("float64", 2.0**-53, 2.0**-1074, float(np.finfo(np.float64).max)),
}


def precision_of(dtype: str) -> Precision:
    """The precision of a type by its name in numpy."""
    if dtype in _FLOATS:
        return _FLOATS[dtype]
    largest = 1.0 if dtype == "bool" else min(_WHOLE, float(np.iinfo(dtype).max)) if _is_integer(dtype) else 0.0
    return Precision(dtype, 0.0, 0.0, largest)


def _is_integer(dtype: str) -> bool:
    return np.dtype(dtype).kind in "iu"


def gamma(terms: NDArray[np.float64] | float, precision: Precision) -> Floats:
    """What ``terms`` roundings one after another can make of a number, relative to it (Higham, Lemma 3.1)."""
    grown = np.asarray(terms, dtype=np.float64) * precision.roundoff
    with np.errstate(divide="ignore"):
        return np.where(grown < 0.5, grown / (1 - grown) * OUTWARD, np.inf)


def carried_and_rounded(low: Floats, high: Floats, carried: Floats, precision: Precision) -> Floats:
    """The error of a correctly rounded result in [low, high] whose operands' errors amount to ``carried``."""
    with np.errstate(all="ignore"):
        size = np.maximum(np.abs(low), np.abs(high)) + carried
        if precision.whole:
            return finite_error(carried, size, precision)
        half = np.maximum(precision.roundoff * np.ldexp(1.0, np.frexp(size * OUTWARD)[1] - 1), precision.least)
        error = (carried + half) * OUTWARD
        point = (low == high) & (carried == 0)
        if point.any():
            stored = low.astype(precision.name).astype(np.float64)
            error = np.where(point, np.abs(low - stored), error)
    return finite_error(error, size, precision)


def finite_error(error: Floats, size: Floats, precision: Precision) -> Floats:
    """The error, infinite where a number of that size may overflow or nothing is known."""
    with np.errstate(invalid="ignore"):
        known = size + error <= precision.largest
    return np.where(known, error, np.inf)
