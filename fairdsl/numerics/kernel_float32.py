"""What a deployed float32 file makes of a Gaussian kernel machine, bounded: whom it decides as exact arithmetic does.

The file of a machine with 13,000 vectors decides some 2,000 pairs a second, and a search finds more than that. So
it is only run where rounding may matter. What is taken for granted of the runtime is how it computes
``sum_i c_i K(s_i, x) + rho > 0`` (onnxruntime's SVMClassifier, svmclassifier.cc and svmclassifier.h):

* the squared distance d as a sum of m squares of differences, in float32, in any order, with or without fused
  multiply-adds: all terms are positive, so its relative error is at most (m + 3) u, u = 2**-24, beside m 2**-150 for
  squares that underflow; and 0 where all numbers are integers and their sums below 2**24. It does not overflow if
  d < 2**126;
* the exponent -gamma d with one rounding, and the exponential within 2 units in the last place, 4 u;
* each product c_i K in float32, and their sum, rho and the comparison in float64.

Hence with t = gamma d a term is off by at most ``|c_i| K (exp(a t u) - 1 + 7 u)``, K = exp(-t), a = m + 4 or 1, and,
for what underflows, by ``|c_i| (2**-124 + gamma m 2**-149) + 2**-149``, and the value by the sum of these. Vectors that
come twice are two terms. The sum is bounded twice: for everybody by the greatest value of ``exp(-t) (a t + 7)``,
second-order terms being below 2**-11 of it for a u < 2**-12; and for one individual from ``S = sum_i |c_i| K``, terms
up to a limit T having ``exp(a T u) - 1 + 7 u`` at most and those beyond it together at most ``A exp(-T)`` times that,
A = sum_i |c_i|, since the product falls beyond T = 2. If the exact value is farther from 0 than that, the file decides
alike. Whoever relies on this runs the file on some of them all the same.
"""

from __future__ import annotations

from math import exp, expm1

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.model import ByThreshold, Deployed, Model, Readout
from fairdsl.ir.opaque import Kernel, KernelMachine
from fairdsl.numerics.evaluate import BatchEvaluator, Settled
from fairdsl.numerics.kernel_forward import KernelForward

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

_SINGLE_ROUNDOFF = 2.0**-24
#: What underflows: of a kernel value, of a squared distance for each feature, and of a term.
_UNDERFLOW, _VANISHING = 2.0**-124, 2.0**-149
#: Roundings of a term beside those of its distance.
_ROUNDINGS = 7.0
#: Exponents up to which terms are taken as they are.
_LIMITS = (2.0, 5.0, 10.0, 20.0, 40.0)
#: Covers second-order terms of exponents that matter, and the rounding of the bounds themselves.
_OUTWARD = 1 + 2.0**-10
_MOST_VECTORS, _MOST_FEATURES = 2**24, 2**11
#: Squared distances below this do not overflow.
_FAR = 2.0**126


def decided_alike(evaluator: BatchEvaluator, points: FloatArray, settled: Settled) -> BoolArray:
    """Which of the points [n, attributes] the deployed file is known to decide as ``settled`` says."""
    model, nobody = evaluator.model, np.zeros(len(points), dtype=np.bool_)
    machine, kernel = model.opaque, evaluator.kernel
    if not isinstance(machine, KernelMachine) or kernel is None or not _is_bounded(model, machine):
        return nobody
    features = kernel.features(evaluator.read(points))
    if features is None or not np.array_equal(features.astype(np.float32), features):
        return nobody
    farthest = _farthest(machine, features)
    if not farthest < _FAR:
        return nobody
    margins = np.abs(settled.scores[:, 0]) - settled.errors[:, 0] * _OUTWARD - _lost(machine, kernel.sizes)
    growth = 1.0 if farthest < 2.0**24 and _whole(machine, features) else len(features.T) + 4.0
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
    count, width = machine.vectors.shape
    if machine.kernel is not Kernel.RBF or count > _MOST_VECTORS or width > _MOST_FEATURES or len(model.layers) != 1:
        return False
    (layer,) = model.layers
    sign = layer.weight.shape == (1, 1) and abs(layer.weight.floats[0, 0]) == 1 and not layer.bias.floats.any()
    return sign and isinstance(rule, ByThreshold) and rule.low == rule.high == 0


def _reads_features(deployed: Deployed) -> bool:
    return deployed.plain and len(deployed.feeds) == 1 and deployed.feeds[0].dtype == "float32"


def _farthest(machine: KernelMachine, features: FloatArray) -> float:
    """An upper bound of all squared distances, but for its own rounding."""
    largest = np.abs(machine.vectors.floats).max(axis=0, initial=0.0) + np.abs(features).max(axis=0, initial=0.0)
    with np.errstate(over="ignore"):
        return float((largest**2).sum())


def _whole(machine: KernelMachine, features: FloatArray) -> bool:
    """Whether vectors and features are integers, whose squared distances float32 adds up without rounding."""
    vectors = machine.vectors.floats
    return np.array_equal(np.rint(vectors), vectors) and np.array_equal(np.rint(features), features)


def _lost(machine: KernelMachine, sizes: float) -> float:
    """A bound of what the value loses by underflow."""
    count, width = machine.vectors.shape
    return (sizes * (_UNDERFLOW + machine.gamma * width * _VANISHING) + count * _VANISHING) * _OUTWARD


def _for_everybody(sizes: float, growth: float) -> float:
    """A bound for every individual: exp(-t) (a t + b) is greatest at t = 1 - b / a, or at 0."""
    place = max(0.0, 1 - _ROUNDINGS / growth)
    return sizes * _SINGLE_ROUNDOFF * exp(-place) * (growth * place + _ROUNDINGS) * _OUTWARD


def _for_each(kernel: KernelForward, features: FloatArray, growth: float) -> FloatArray:
    """The bound for each individual, from the sum of the sizes of its terms."""
    terms = kernel.term_sizes(features)
    bounds = [
        (terms + kernel.sizes * exp(-limit))
        * (expm1(growth * limit * _SINGLE_ROUNDOFF) + _ROUNDINGS * _SINGLE_ROUNDOFF)
        for limit in _LIMITS
    ]
    return np.asarray(np.min(bounds, axis=0) * _OUTWARD, dtype=np.float64)
