"""Operators that are straight but for a bend: they round nothing, or once where a slope multiplies.

All of them increase, or are 1-Lipschitz, so the runtime's values lie between those of the ends of its argument's
values, and no farther from the exact one than its argument.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from fairdsl.models.float32.arithmetic import plus, times
from fairdsl.models.float32.call import Call, Handlers
from fairdsl.models.float32.precision import OUTWARD
from fairdsl.models.float32.values import Rounded, Value, aligned, common_type, constant

Floats = NDArray[np.float64]


def increasing(value: Rounded, function: Callable[[Floats], Floats]) -> Rounded:
    """A selection that increases and is 1-Lipschitz, as a maximum with something is."""
    low = function(value.low)
    high = low if value.low is value.high else function(value.high)
    if not value.error.any():
        return Rounded(low, high, np.broadcast_to(value.error, low.shape).copy(), value.dtype)
    least, most = (function(end) for end in value.reach)
    with np.errstate(invalid="ignore"):
        apart = np.maximum(most - low, high - least) * OUTWARD
    apart = np.where(np.isnan(apart), np.inf, apart)
    # An infinite error says that nothing is known, not even that the argument is a number.
    error = np.where(np.isinf(value.error), np.inf, np.minimum(value.error, apart))
    return Rounded(low, high, error, value.dtype)


def _relu(call: Call) -> list[Value]:
    return [increasing(call.rounded(0), lambda x: np.maximum(x, 0.0))]


def _leaky_relu(call: Call) -> list[Value]:
    slope = np.asarray(np.float32(call.attribute("alpha", 0.01)))
    return [_bent(call.rounded(0), constant(slope))]


def _prelu(call: Call) -> list[Value]:
    return [_bent(call.rounded(0), call.rounded(1))]


def _bent(value: Rounded, slope: Rounded) -> Rounded:
    """``x`` where it is positive, else ``slope * x``."""
    value, slope = aligned(value, slope)
    below = times(increasing(value, lambda x: np.minimum(x, 0.0)), slope)
    above = increasing(value, lambda x: np.maximum(x, 0.0))
    steepest = np.maximum(1.0, slope.magnitude + slope.error)
    # The part on the other side of zero is 0, and counts only where both sides can be.
    positive, negative = value.low > 0, value.high <= 0
    low = np.where(positive, above.low, np.where(negative, below.low, np.minimum(below.low, above.low)))
    high = np.where(positive, above.high, np.where(negative, below.high, np.maximum(below.high, above.high)))
    least, most = value.reach
    # On one side for certain: its own error; else a change of side changes the value no faster than the steeper slope.
    with np.errstate(invalid="ignore"):
        across = (value.error * steepest + below.error) * OUTWARD
    error = np.where(
        least >= 0, value.error, np.where(most < 0, below.error, np.where(np.isnan(across), np.inf, across))
    )
    return Rounded(low, high, error, value.dtype)


def _clip(call: Call) -> list[Value]:
    """``min(max(x, low), high)``."""
    value = call.rounded(0)
    low, high = _limit(call, "min", 1), _limit(call, "max", 2)

    def clipped(x: Floats) -> Floats:
        x = x if low is None else np.maximum(x, low)
        return x if high is None else np.minimum(x, high)

    return [increasing(value, clipped)]


def _limit(call: Call, attribute: str, position: int) -> float | None:
    if call.optional(position) is not None:
        return float(call.stored(position).reshape(-1)[0])
    given = call.attribute(attribute, None)
    return None if given is None else float(given)


def _hard_sigmoid(call: Call) -> list[Value]:
    """``alpha x + beta`` between 0 and 1."""
    alpha, beta = (np.asarray(np.float32(call.attribute(*named))) for named in (("alpha", 0.2), ("beta", 0.5)))
    inner = plus(times(call.rounded(0), constant(alpha)), constant(beta))
    return [increasing(inner, lambda x: np.clip(x, 0.0, 1.0))]


def _abs(call: Call) -> list[Value]:
    value = call.rounded(0)
    if value.low is value.high:
        low = high = np.abs(value.low)
    else:
        low = np.maximum(np.maximum(value.low, -value.high), 0.0)
        high = value.magnitude
    return [Rounded(low, high, value.error, value.dtype)]


def _chosen(choose: Callable[[Floats, Floats], Floats]) -> Callable[[Call], Sequence[Value]]:
    def handler(call: Call) -> list[Value]:
        found = call.rounded(0)
        for position in range(1, len(call.inputs)):
            found, other = aligned(found, call.rounded(position))
            found = _either(found, other, choose)
        return [found]

    return handler


def _either(left: Rounded, right: Rounded, choose: Callable[[Floats, Floats], Floats]) -> Rounded:
    """The greater or the lesser of two: no farther off than the worse of them, nor than what is chosen for certain."""
    low = choose(left.low, right.low)
    point = left.low is left.high and right.low is right.high
    high = low if point else choose(left.high, right.high)
    (a, b), (c, d) = left.reach, right.reach
    worse = np.maximum(left.error, right.error)
    # One that is chosen whatever happens leaves the other's error out of it.
    picks_left = (choose(a, d) == a) & (choose(b, c) == b) & (choose(a, c) == a) & (choose(b, d) == b)
    picks_left &= (a > d) | (b < c)
    picks_right = ((c > b) | (d < a)) & (choose(c, b) == c) & (choose(d, a) == d) & (choose(c, a) == c)
    error = np.where(picks_left, left.error, np.where(picks_right, right.error, worse))
    return Rounded(low, high, error, common_type(left, right))


HANDLERS: Handlers = {
    ("", "Relu"): _relu,
    ("", "LeakyRelu"): _leaky_relu,
    ("", "PRelu"): _prelu,
    ("", "Clip"): _clip,
    ("", "HardSigmoid"): _hard_sigmoid,
    ("", "Abs"): _abs,
    ("", "Max"): _chosen(np.maximum),
    ("", "Min"): _chosen(np.minimum),
}
