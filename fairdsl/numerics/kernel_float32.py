"""What a deployed float32 file makes of a Gaussian kernel machine, bounded: whom it decides as exact arithmetic does.

The file of a machine with 13,000 vectors decides some 2,000 pairs a second, and a search finds more than that. So
it is only run where rounding may matter. What is taken for granted of the runtime is how it computes
``sum_i c_i K(s_i, x) + rho > 0`` (onnxruntime's SVMClassifier, svmclassifier.cc and svmclassifier.h):

* the squared distance d as a sum of m squares of differences, in float32, in any order, with or without fused
  multiply-adds: all terms are positive, so its relative error is at most (m + 3) u, u = 2**-24; and 0 where
  all numbers are integers and their sums below 2**24;
* the exponent -gamma d with one rounding, and the exponential within 2 units in the last place, 4 u;
* each product c_i K in float32, and their sum, rho and the comparison in float64.

Hence with t = gamma d a term is off by at most ``|c_i| K u (a t + 7)``, K = exp(-t), a = m + 4 or 1, or, where it
underflows, by ``2**-124 |c_i|``, and the value by the sum of these. It is bounded twice: for everybody by the greatest
value of ``exp(-t) (a t + 7)``; and for one individual from ``S = sum_i |c_i| K``, terms up to a limit T having
``a t + 7 <= a T + 7`` and those beyond it together at most ``A exp(-T) (a T + 7)``, A = sum_i |c_i|. If the exact value
is farther from 0 than that, the file decides alike. Whoever relies on this runs the file on some of them all the same.
"""

from __future__ import annotations

from math import exp

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.model import ByThreshold, Deployed, Model, Readout
from fairdsl.ir.opaque import Kernel, KernelMachine
from fairdsl.numerics.evaluate import BatchEvaluator, Settled
from fairdsl.numerics.kernel_forward import KernelForward

__all__ = ["decided_alike"]

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

_SINGLE_ROUNDOFF = 2.0**-24
_UNDERFLOW = 2.0**-124
#: Roundings of a term beside those of its distance.
_ROUNDINGS = 7.0
#: Exponents up to which terms are taken as they are.
_LIMITS = (2.0, 5.0, 10.0, 20.0, 40.0)
#: Covers second-order terms of exponents that matter, and the rounding of the bounds themselves.
_OUTWARD = 1 + 2.0**-10
_MOST_VECTORS = 2**24


def decided_alike(evaluator: BatchEvaluator, points: FloatArray, settled: Settled) -> BoolArray:
    """Which of the points [n, attributes] the deployed file is known to decide as ``settled`` says."""
    model, nobody = evaluator.model, np.zeros(len(points), dtype=np.bool_)
    machine, kernel = model.opaque, evaluator.kernel
    if not isinstance(machine, KernelMachine) or kernel is None or not _is_bounded(model, machine):
        return nobody
    features = kernel.features(evaluator.read(points))
    if features is None or not np.array_equal(features.astype(np.float32), features):
        return nobody
    margins = np.abs(settled.scores[:, 0]) - settled.errors[:, 0] * _OUTWARD
    growth = 1.0 if _whole(machine, features) else len(features.T) + 4.0
    alike = margins > _for_everybody(kernel.sizes, growth)
    rows = np.flatnonzero(~alike & (margins > 0))
    if rows.size:
        alike[rows] = margins[rows] > _for_each(kernel, features[rows], growth)
    return alike


def _is_bounded(model: Model, machine: KernelMachine) -> bool:
    """Whether the file is the machine itself, and its label the sign of the machine's one value."""
    deployed, rule = model.deployed, model.rule
    if deployed is None or not _reads_features(deployed) or deployed.readout is not Readout.LABEL:
        return False
    if machine.kernel is not Kernel.RBF or len(machine.vectors.floats) > _MOST_VECTORS or len(model.layers) != 1:
        return False
    (layer,) = model.layers
    sign = layer.weight.shape == (1, 1) and abs(layer.weight.floats[0, 0]) == 1 and not layer.bias.floats.any()
    return sign and isinstance(rule, ByThreshold) and rule.low == rule.high == 0


def _reads_features(deployed: Deployed) -> bool:
    return deployed.plain and len(deployed.feeds) == 1 and deployed.feeds[0].dtype == "float32"


def _whole(machine: KernelMachine, features: FloatArray) -> bool:
    """Whether all squared distances are integers that float32 adds up without rounding."""
    vectors = machine.vectors.floats
    if not (np.array_equal(np.rint(vectors), vectors) and np.array_equal(np.rint(features), features)):
        return False
    largest = np.abs(vectors).max(axis=0, initial=0.0) + np.abs(features).max(axis=0, initial=0.0)
    return float((largest**2).sum()) < 2.0**24


def _for_everybody(sizes: float, growth: float) -> float:
    """A bound for every individual: exp(-t) (a t + b) is greatest at t = 1 - b / a, or at 0."""
    place = max(0.0, 1 - _ROUNDINGS / growth)
    return sizes * (_SINGLE_ROUNDOFF * exp(-place) * (growth * place + _ROUNDINGS) + _UNDERFLOW) * _OUTWARD


def _for_each(kernel: KernelForward, features: FloatArray, growth: float) -> FloatArray:
    """The bound for each individual, from the sum of the sizes of its terms."""
    terms = kernel.term_sizes(features)
    # Beyond T = 2 the function falls, wherever its greatest value is below that.
    bounds = [(terms + kernel.sizes * exp(-limit)) * (growth * limit + _ROUNDINGS) for limit in _LIMITS]
    least = np.min(bounds, axis=0)
    return np.asarray((least * _SINGLE_ROUNDOFF + kernel.sizes * _UNDERFLOW) * _OUTWARD, dtype=np.float64)
