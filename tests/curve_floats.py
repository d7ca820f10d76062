"""What curved units compute, in plain floats: for tests that compare within a tolerance."""

from __future__ import annotations

from math import erf, exp, expm1, log1p, tanh
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.model import Curve


def logistic(z: float) -> float:
    return 1 / (1 + exp(-max(min(z, 700.0), -700.0)))


FUNCTIONS = {
    Curve.SIGMOID: logistic,
    Curve.TANH: tanh,
    Curve.SOFTPLUS: lambda z: max(z, 0.0) + log1p(exp(-abs(z))),
    Curve.ELU: lambda z: z if z > 0 else expm1(z),
    Curve.ERF: erf,
    Curve.SILU: lambda z: z * logistic(z),
    Curve.GELU: lambda z: z * (1 + erf(z)) / 2,
    Curve.GELU_TANH: lambda z: z * (1 + tanh(0.7978845608028654 * (z + 0.044715 * z**3))) / 2,
    Curve.HARD_SWISH: lambda z: z * min(max(z + 3, 0), 6) / 6,
    Curve.LOG1P: lambda z: log1p(max(z, 0.0)),
}


def bent_floats(z: NDArray[np.float64], slope: Any, curve: NDArray[np.int64]) -> NDArray[np.float64]:
    """Units' values, [..., units]."""
    found = np.where(z > 0, z, z * slope)
    for code in set(curve.tolist()) - {0}:
        chosen = curve == code
        function = np.vectorize(FUNCTIONS[Curve(code)], otypes=[np.float64])
        found[..., chosen] = function(z[..., chosen]) if z[..., chosen].size else z[..., chosen]
    return found
