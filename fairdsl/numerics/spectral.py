"""A rigorous upper bound of a matrix's spectral norm, in float64.

For a symmetric positive semi-definite A, ``||A||_2 ** k = ||A**k||_2 <= ||A**k||_F``, which is tight up to
a factor ``n ** (1 / 2k)``. With A = W'W and k = 8 this bounds ``||W||_2 = sqrt(||A||_2)`` within a quarter
for a thousand columns, and within much less for a few. A product of floats differs from the true one by
at most ``gamma(n) |X||Y|`` elementwise, hence by ``gamma(n) ||X||_F ||Y||_F`` in either norm; this is
added at every squaring.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

__all__ = ["spectral_norm"]

_UNIT_ROUNDOFF = 2.0**-53
#: Squarings of small matrices, and of large ones, where each costs as much as evaluating thousands of rows.
_SQUARINGS, _SQUARINGS_LARGE, _LARGE = 3, 1, 512


def spectral_norm(matrix: NDArray[np.float64]) -> float:
    """At least ``||matrix||_2``; infinite where the computation overflows."""
    if not matrix.size:
        return 0.0
    narrow = matrix if matrix.shape[0] >= matrix.shape[1] else matrix.T
    largest = float(np.abs(narrow).max())
    if largest == 0.0 or not math.isfinite(largest):
        return largest
    # A power of two, so that scaling is exact up to underflow, which the term 1e-250 covers.
    scale = math.ldexp(1.0, min(1000, -math.frexp(largest)[1]))
    scaled = narrow * scale
    terms = max(narrow.shape)
    gamma = 2 * (terms + 4) * _UNIT_ROUNDOFF
    square = _symmetric(scaled.T @ scaled)
    errors = [gamma * _frobenius(scaled) ** 2 + 1e-250]
    for _ in range(_SQUARINGS if len(square) < _LARGE else _SQUARINGS_LARGE):
        errors.append(gamma * _frobenius(square) ** 2 + 1e-250)
        square = _symmetric(square @ square)
    # ||A_{i+1} computed|| bounds ||A_i squared|| up to its error; unwind the squarings.
    bound = _frobenius(square)
    for error in reversed(errors):  # the last one, of W'W, turns ||W'W|| into ||W||
        bound = math.sqrt(bound + error) * (1 + 4 * _UNIT_ROUNDOFF)
    return bound / scale * (1 + 4 * _UNIT_ROUNDOFF)


def _symmetric(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """``||A||**2 = ||A**2||`` needs symmetry, which a rounded product may lack; the mean errs no more."""
    return np.asarray((matrix + matrix.T) / 2, dtype=np.float64)


def _frobenius(matrix: NDArray[np.float64]) -> float:
    """The Frobenius norm, rounded up."""
    return float(np.sqrt(np.square(matrix).sum())) * (1 + 2 * (matrix.size + 4) * _UNIT_ROUNDOFF) + 1e-250
