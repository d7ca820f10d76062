"""Support vector machines: kernels between the features and stored vectors, and the sum of what they weigh.

With u the unit roundoff of float32, m features and n vectors, what is taken for granted of the runtime:

* a squared distance is a sum of squares of differences, in any order: relative error (m + 3) u, and where the features
  are off by e, the distance is off by at most the length of e;
* an exponential, a power and a tanh have a relative error of a few units in the last place (``curves``);
* a classifier multiplies in float32 and sums in float64; a regressor may do all of it in float32.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairdsl.models.float32.arithmetic import as_float32, negated
from fairdsl.models.float32.call import ML, Call, Handlers
from fairdsl.models.float32.choosing import above, flat
from fairdsl.models.float32.curves import EXP_RELATIVE, TANH_LEAST, TANH_RELATIVE
from fairdsl.models.float32.heads import labels_of
from fairdsl.models.float32.moving import side_by_side
from fairdsl.models.float32.precision import OUTWARD, finite_error, gamma, precision_of
from fairdsl.models.float32.products import linear
from fairdsl.models.float32.values import NoBoundError, Rounded, Value, constant, moved

Floats = NDArray[np.float64]
_SINGLE, _DOUBLE = precision_of("float32"), precision_of("float64")
#: Kernel values below this may be flushed.
_VANISHING = 2.0**-124
_HIGHEST_DEGREE = 16
#: Roundings of a power beside those of its factors.
_POWER = 4.0


@dataclass(frozen=True, slots=True, eq=False)
class _Machine:
    vectors: Floats
    coefficients: Floats
    rho: float
    kernel: str
    gamma: float
    coef0: float
    degree: float


def _machine(call: Call, count: int, width: int) -> _Machine:
    vectors, coefficients, rho = (call.numbers(name) for name in ("support_vectors", "coefficients", "rho"))
    if coefficients.size != count or vectors.size != count * width or rho.size != 1:
        raise NoBoundError("its numbers do not fit its features")
    parameters = call.numbers("kernel_params").tolist() or [0.0, 0.0, 0.0]
    if len(parameters) != 3:
        raise NoBoundError("its kernel has not three parameters")
    kernel = call.attribute("kernel_type", "LINEAR")
    return _Machine(vectors.reshape(count, width), coefficients, float(rho[0]), kernel, *parameters)


def _kernel(machine: _Machine, value: Rounded) -> Rounded:
    """The kernel values [individuals, vectors]."""
    if machine.kernel == "RBF":
        return _gaussian(machine, value)
    rows = Rounded(value.low[:, None, :], value.high[:, None, :], value.error[:, None, :])
    if value.low is value.high:
        rows = Rounded(rows.low, rows.low, rows.error)
    product = flat(linear(rows, constant(machine.vectors.T.astype(np.float32)), None))
    if machine.kernel == "LINEAR":
        return product
    inner = _affine(product, machine.gamma, machine.coef0)
    if machine.kernel == "SIGMOID":
        return _tanh(inner)
    if machine.kernel == "POLY" and machine.degree == int(machine.degree) and 1 <= machine.degree <= _HIGHEST_DEGREE:
        return _power(inner, int(machine.degree))
    raise NoBoundError(f"its kernel is {machine.kernel}")


def _affine(value: Rounded, factor: float, offset: float) -> Rounded:
    """``factor x + offset``."""
    ends = value.low * factor + offset, value.high * factor + offset
    size = value.magnitude * abs(factor) + abs(offset)
    slack = size * 2.0**-50 + 2.0**-1000
    carried = value.error * abs(factor)
    error = (carried + gamma(3, _SINGLE) * (size + carried) + 4 * _SINGLE.least) * OUTWARD
    error = finite_error(error, size + carried, _SINGLE)
    return Rounded(np.minimum(*ends) - slack, np.maximum(*ends) + slack, error)


def _tanh(value: Rounded) -> Rounded:
    low, high = np.tanh(value.low) - 2.0**-48, np.tanh(value.high) + 2.0**-48
    error = (np.minimum(value.error, 2.0) + TANH_RELATIVE + TANH_LEAST) * OUTWARD
    return Rounded(low, high, np.where(np.isfinite(value.error), error, np.inf))


def _power(value: Rounded, degree: int) -> Rounded:
    ends = value.low**degree, value.high**degree
    low, high = np.minimum(*ends), np.maximum(*ends)
    if degree % 2 == 0:
        low = np.where((value.low < 0) & (value.high > 0), 0.0, low)
    size = value.magnitude + value.error
    most = size**degree * (1 + 2.0**-40)
    slack = most * 2.0**-44 + 2.0**-1000
    carried = degree * size ** (degree - 1) * value.error
    error = carried + gamma(degree + _POWER, _SINGLE) * most + degree * np.maximum(size, 1.0) ** degree * 2.0**-149
    return Rounded(low - slack, high + slack, finite_error(error * OUTWARD, most, _SINGLE))


def _gaussian(machine: _Machine, value: Rounded) -> Rounded:
    """``exp(-gamma |x - v|^2)``."""
    if machine.gamma < 0:
        raise NoBoundError("its kernel grows with the distance")
    near, far = _distances(machine.vectors, value)
    width = machine.vectors.shape[1]
    off = np.sqrt((value.error**2).sum(axis=1, keepdims=True)) * OUTWARD
    moved_by = 2 * np.sqrt(far) * off + off**2
    error = moved_by + gamma(width + 3, _SINGLE) * (far + moved_by) * 1.01 + 4 * width * _SINGLE.least
    exponent = machine.gamma * (error + _SINGLE.roundoff * 2 * (far + error))
    low, high = np.exp(-machine.gamma * far) * (1 - 2.0**-40), np.exp(-machine.gamma * near) * (1 + 2.0**-40)
    # x exp(-x) is what an error of the exponent relative to it makes of the value; at most high times its growth.
    relative = np.expm1(exponent) + EXP_RELATIVE * 2
    each = np.exp(-machine.gamma * near) * relative * (1 + 2.0**-30)
    own = np.where(np.isfinite(each), np.minimum(each, 1.01), 1.01) + _VANISHING
    known = far + error < _SINGLE.largest / 4
    return Rounded(np.maximum(low - 2.0**-1000, 0.0), high + 2.0**-1000, np.where(known, own * OUTWARD, np.inf))


def _distances(vectors: Floats, value: Rounded) -> tuple[Floats, Floats]:
    """Enclosures of the squared distances [individuals, vectors]."""
    near, far = np.zeros((len(value.low), len(vectors))), np.zeros((len(value.low), len(vectors)))
    points = value.low is value.high
    for feature in range(vectors.shape[1]):
        below = value.low[:, feature, None] - vectors[:, feature]
        if points:
            far += below**2
            continue
        beyond = value.high[:, feature, None] - vectors[:, feature]
        near += np.maximum(np.maximum(below, -beyond), 0.0) ** 2
        far += np.maximum(np.abs(below), np.abs(beyond)) ** 2
    near = far.copy() if points else near
    slack = 2.0**-52 * (vectors.shape[1] + 4)
    return np.maximum(near * (1 - slack) - 2.0**-1000, 0.0), far * (1 + slack) + 2.0**-1000


def _value(machine: _Machine, features: Rounded, *, double: bool) -> Rounded:
    """``sum of coefficients K + rho`` in a tensor [1, 1]; ``double``: summed in float64."""
    kernel = _kernel(machine, features)
    rows = Rounded(kernel.low[:, None, :], kernel.high[:, None, :], kernel.error[:, None, :])
    column = constant(machine.coefficients.astype(np.float32)[:, None])
    rho = constant(np.array([[np.float32(machine.rho)]]))
    if not double:
        return linear(rows, column, rho, extra=1.0)
    exact = Rounded(rows.low, rows.high, rows.error, "float64")
    total = linear(exact, column, rho)
    sizes = (np.maximum(np.abs(kernel.low), np.abs(kernel.high)) + kernel.error) @ np.abs(machine.coefficients)
    shape = total.error.shape
    rounded = gamma(2, _SINGLE) * sizes.reshape(shape) + len(machine.coefficients) * _SINGLE.least * 2
    last = _SINGLE.roundoff * (total.magnitude + total.error + rounded) + _SINGLE.least
    error = (total.error + rounded + last) * OUTWARD
    size = (sizes.reshape(shape) + abs(machine.rho)) * OUTWARD
    return Rounded(total.low, total.high, finite_error(error, size, _SINGLE))


def _svm_classifier(call: Call) -> list[Value]:
    """The first of two labels where the value is positive; scores are the value's negative and the value."""
    labels = labels_of(call)
    per_class = [int(count) for count in call.attribute("vectors_per_class", None) or ()]
    if len(labels) != 2 or len(per_class) != 2 or not sum(per_class):
        raise NoBoundError("it does not choose between two labels by support vectors")
    features = flat(as_float32(call.rounded(0)))
    machine = _machine(call, sum(per_class), features.size)
    if (machine.coefficients >= 0).all():
        raise NoBoundError("all its coefficients are positive, of which runtimes make labels of their own")
    value = _value(machine, features, double=True)
    label = above(negated(value), labels, ties_last=True)
    if call.numbers("prob_a").size or call.attribute("post_transform", "NONE") != "NONE":
        return [label]
    return [label, side_by_side([negated(value), value], 1)]


def _svm_regressor(call: Call) -> list[Value]:
    if call.attribute("one_class", 0) or call.attribute("post_transform", "NONE") != "NONE":
        raise NoBoundError("its value is transformed")
    features = flat(as_float32(call.rounded(0)))
    count = int(call.attribute("n_supports", 0))
    if count:
        return [_value(_machine(call, count, features.size), features, double=False)]
    coefficients, rho = call.numbers("coefficients"), call.numbers("rho")
    if coefficients.size != features.size or rho.size != 1:
        raise NoBoundError("its coefficients do not fit its features")
    row = moved(features, lambda positions: positions.reshape(1, -1))
    assert isinstance(row, Rounded)
    bias = constant(rho.astype(np.float32).reshape(1, 1))
    return [linear(row, constant(coefficients.astype(np.float32)[:, None]), bias, extra=1.0)]


HANDLERS: Handlers = {
    (ML, "SVMClassifier"): _svm_classifier,
    (ML, "SVMRegressor"): _svm_regressor,
}
