"""Operators that bend smoothly, number by number: softplus, erf, and the relatives of ELU, SiLU and GELU."""

from __future__ import annotations

from math import sqrt

import numpy as np

from fairdsl.ir.model import Curve
from fairdsl.models import exact
from fairdsl.models.basis import Affine
from fairdsl.models.onnx_import.arithmetic import plus, times
from fairdsl.models.onnx_import.values import Handlers, NodeCall, UnreadableError, Value

#: The two halves of SELU, as the operator has them where the file does not say.
_SELU_ALPHA, _SELU_GAMMA = 1.67326319217681884765625, 1.05070102214813232421875


def _softplus(call: NodeCall) -> Value:
    return call.basis.squash(call.affine(0), Curve.SOFTPLUS)


def _erf(call: NodeCall) -> Value:
    return call.basis.squash(call.affine(0), Curve.ERF)


def _elu(call: NodeCall) -> Value:
    return _bent_below(call, call.affine(0), call.number("alpha", 1.0))


def _selu(call: NodeCall) -> Value:
    bent = _bent_below(call, call.affine(0), call.number("alpha", _SELU_ALPHA))
    return times(bent, np.array([call.number("gamma", _SELU_GAMMA)]))


def _bent_below(call: NodeCall, value: Affine, alpha: float) -> Affine:
    """``alpha (exp(z) - 1)`` below 0: that of alpha 1, and what the straight part has too much or too little."""
    bent = times(call.basis.squash(value, Curve.ELU), np.array([alpha]))
    if alpha == 1:
        return bent
    rest = exact.add(np.ones(1), np.array([-alpha]))
    return plus(call, bent, times(call.basis.relu(value), rest))


def _celu(call: NodeCall) -> Value:
    """``alpha`` times ELU of ``z / alpha``."""
    alpha = np.array([call.number("alpha", 1.0)])
    if alpha[0] <= 0:
        raise UnreadableError("its `alpha` is not above 0")
    inner = times(call.affine(0), exact.reciprocal(alpha))
    return times(call.basis.squash(inner, Curve.ELU), alpha)


def _gelu(call: NodeCall) -> Value:
    """Of ``z / sqrt(2)``, by the float64 next to it; the approximation by tanh has constants of its own."""
    call.rounded.append(call.node.where)
    value = call.affine(0)
    approximation = call.attribute("approximate", "none")
    if approximation == "tanh":
        return call.basis.squash(value, Curve.GELU_TANH)
    if approximation != "none":
        raise UnreadableError(f"its `approximate` is `{approximation}`")
    return _scaled(call, value, sqrt(0.5), Curve.GELU)


def _swish(call: NodeCall) -> Value:
    value, alpha = call.affine(0), call.number("alpha", 1.0)
    if alpha == 0:
        return times(value, np.array([0.5]))
    return _scaled(call, value, alpha, Curve.SILU)


def _hard_swish(call: NodeCall) -> Value:
    return call.basis.squash(call.affine(0), Curve.HARD_SWISH)


def _scaled(call: NodeCall, value: Affine, factor: float, curve: Curve) -> Affine:
    """``curve(factor z) / factor``."""
    factors = np.array([factor])
    return times(call.basis.squash(times(value, factors), curve), exact.reciprocal(factors))


HANDLERS: Handlers = {
    ("", "Softplus"): _softplus,
    ("", "Erf"): _erf,
    ("", "Elu"): _elu,
    ("", "Selu"): _selu,
    ("", "Celu"): _celu,
    ("", "Gelu"): _gelu,
    ("", "Swish"): _swish,
    ("", "HardSwish"): _hard_swish,
}
