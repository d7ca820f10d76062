"""A rigorous upper bound of a matrix's spectral norm, in float64.

For a symmetric positive semi-definite A, ``||A||_2 ** k = ||A**k||_2 <= ||A**k||_F``, which is tight up to
a factor ``n ** (1 / 2k)``. With A = W'W and k = 8 this bounds ``||W||_2 = sqrt(||A||_2)`` within a quarter
for a thousand columns, and within much less for a few. A product of floats differs from the true one by
at most ``gamma(n) |X||Y|`` elementwise, hence by ``gamma(n) ||X||_F ||Y||_F`` in either norm; this is
added at every squaring.

Large matrices are squared in float32, at half the cost: a norm needs two digits, and the bound above says
what is lost.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.numerics.products import product

FloatArray = NDArray[Any]

_UNIT_ROUNDOFF, _UNIT_ROUNDOFF_SINGLE = 2.0**-53, 2.0**-24
#: Covers what underflows in the products of matrices with elements up to 1, in float64 and in float32.
_UNDERFLOW, _UNDERFLOW_SINGLE = 1e-250, 1e-25
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
    large = scaled.shape[1] >= _LARGE and scaled.shape[0] < 2**20  # gamma(n) stays far below 1
    if not large:
        return _bound(scaled, _SQUARINGS, _UNIT_ROUNDOFF, _UNDERFLOW) / scale * (1 + 4 * _UNIT_ROUNDOFF)
    bound = _bound(scaled.astype(np.float32), _SQUARINGS_LARGE, _UNIT_ROUNDOFF_SINGLE, _UNDERFLOW_SINGLE)
    # What rounding the elements to float32 changes, in the Frobenius norm.
    bound += 2 * _UNIT_ROUNDOFF_SINGLE * _frobenius(scaled) + _UNDERFLOW_SINGLE
    return bound / scale * (1 + 4 * _UNIT_ROUNDOFF)


def _bound(matrix: FloatArray, squarings: int, roundoff: float, underflow: float) -> float:
    """At least the norm of a matrix with elements up to 1, whose products are rounded with ``roundoff``."""
    gamma = 2 * (max(matrix.shape) + 4) * roundoff
    square = _symmetric(product(matrix.T, matrix))
    errors = [gamma * _frobenius(matrix) ** 2 + underflow]
    for _ in range(squarings):
        errors.append(gamma * _frobenius(square) ** 2 + underflow)
        square = _symmetric(product(square, square))
    # ||A_{i+1} computed|| bounds ||A_i squared|| up to its error; unwind the squarings.
    bound = _frobenius(square)
    for error in reversed(errors):  # the last one, of W'W, turns ||W'W|| into ||W||
        bound = math.sqrt(bound + error) * (1 + 4 * _UNIT_ROUNDOFF)
    return bound


def _symmetric(matrix: FloatArray) -> FloatArray:
    """``||A||**2 = ||A**2||`` needs symmetry, which a rounded product may lack; the mean errs no more."""
    mean: FloatArray = (matrix + matrix.T) / 2
    return mean


def _frobenius(matrix: FloatArray) -> float:
    """The Frobenius norm, rounded up."""
    return (
        float(np.sqrt(np.square(matrix, dtype=np.float64).sum())) * (1 + 2 * (matrix.size + 4) * _UNIT_ROUNDOFF)
        + 1e-250
    )
