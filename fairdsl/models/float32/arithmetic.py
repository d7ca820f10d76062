"""Sums, products and quotients, element by element.

Each is correctly rounded, so errors of the operands propagate as calculus says and one rounding comes on top.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from fairdsl.models.float32 import directed
from fairdsl.models.float32.call import ML, Call, Handler, Handlers
from fairdsl.models.float32.precision import OUTWARD, finite_error, gamma
from fairdsl.models.float32.values import (
    Logits,
    NoBoundError,
    Rounded,
    Value,
    aligned,
    common_type,
    constant,
    rounded_to,
)


def plus(left: Rounded, right: Rounded) -> Rounded:
    """The sum."""
    left, right = aligned(left, right)
    return rounded_to(directed.total(left.ends, right.ends), _up(left.error + right.error), common_type(left, right))


def less(left: Rounded, right: Rounded) -> Rounded:
    """The difference."""
    left, right = aligned(left, right)
    ends = directed.difference(left.ends, right.ends)
    return rounded_to(ends, _up(left.error + right.error), common_type(left, right))


def times(left: Rounded, right: Rounded) -> Rounded:
    """The product."""
    left, right = aligned(left, right)
    with np.errstate(invalid="ignore"):
        carried = left.magnitude * right.error + right.magnitude * left.error + left.error * right.error
    carried = np.where(np.isnan(carried), np.inf, carried)
    return rounded_to(directed.product(left.ends, right.ends), _up(carried), common_type(left, right))


def divided(left: Rounded, divisor: Rounded) -> Rounded:
    """The quotient by numbers that the file holds."""
    left, divisor = aligned(left, divisor)
    if divisor.low is not divisor.high or divisor.error.any() or not divisor.low.all():
        raise NoBoundError("it divides by a number that may be 0 or is not stored")
    carried = _up(left.error / np.abs(divisor.low))
    return rounded_to(directed.quotient(left.ends, divisor.low), carried, common_type(left, divisor))


def _up(error: NDArray[np.float64]) -> NDArray[np.float64]:
    return error * OUTWARD


def _whole(call: Call, operation: Callable[..., NDArray[np.generic]]) -> Value | None:
    """Arithmetic of stored whole numbers (shapes and positions)."""
    left, right = call.value(0), call.value(1)
    if isinstance(left, Rounded) or isinstance(right, Rounded):
        return None
    if left.dtype.kind in "iu" and right.dtype.kind in "iu":
        return np.asarray(operation(left, right))
    return None


def _binary(exact: Callable[..., NDArray[np.generic]], bounded: Callable[[Rounded, Rounded], Rounded]) -> Handler:
    def handler(call: Call) -> list[Value]:
        whole = _whole(call, exact)
        return [bounded(_number(call, 0), _number(call, 1)) if whole is None else whole]

    return handler


def _number(call: Call, position: int) -> Rounded:
    value = call.rounded(position)
    if value.texts:
        raise NoBoundError("it computes with text")
    return value


def _truncated(left: NDArray[np.generic], right: NDArray[np.generic]) -> NDArray[np.generic]:
    return np.asarray(np.trunc(left / right), dtype=np.int64)  # type: ignore[operator]


def _sub(call: Call) -> list[Value]:
    whole = _whole(call, np.subtract)
    if whole is not None:
        return [whole]
    left, right = _number(call, 0), _number(call, 1)
    found = less(left, right)
    logits = right.logits
    one = left.low is left.high and bool((left.low == 1).all()) and not left.error.any()
    if one and logits is not None and not logits.joint and found.shape == right.shape:
        # 1 - p is the logistic function of the negated score.
        opposite = Logits(negated(logits.scores), logits.slip + found.precision.roundoff)
        found = Rounded(found.low, found.high, found.error, found.dtype, logits=opposite)
    return [found]


def _sum(call: Call) -> list[Value]:
    """A sum of several tensors, in any order: each term is rounded as often as there are additions."""
    parts = aligned(*(_number(call, position) for position in range(len(call.inputs))))
    found = parts[0]
    for part in parts[1:]:
        found = plus(found, part)
    if len(parts) > 2:
        carried = sum((part.error for part in parts[1:]), parts[0].error)
        size = sum((part.magnitude for part in parts[1:]), parts[0].magnitude) + carried
        error = (carried + gamma(len(parts) - 1, found.precision) * size) * OUTWARD
        found = Rounded(found.low, found.high, finite_error(error, size, found.precision), found.dtype)
    return [found]


def negated(value: Rounded) -> Rounded:
    """The negative, which is exact."""
    low = -value.high
    return Rounded(low, low if value.low is value.high else -value.low, value.error, value.dtype)


def _neg(call: Call) -> list[Value]:
    value = call.value(0)
    return [negated(_number(call, 0)) if isinstance(value, Rounded) or value.dtype.kind == "f" else -value]


def _div(call: Call) -> list[Value]:
    whole = _whole(call, _truncated)
    if whole is not None:
        return [whole]
    left, right = _number(call, 0), _number(call, 1)
    if left.precision.whole:
        raise NoBoundError("it divides whole numbers of the individual")
    return [divided(left, right)]


def _scaler(call: Call) -> list[Value]:
    """``(x - offset) * scale``, in float32 whatever comes in."""
    value = as_float32(_number(call, 0))
    for name, operation in (("offset", less), ("scale", times)):
        numbers = call.numbers(name)
        if numbers.size:
            value = operation(value, constant(numbers.astype(np.float32)))
    return [value]


def as_float32(value: Rounded) -> Rounded:
    """The number converted to float32, if it has another type."""
    return converted(value, "float32")


def converted(value: Rounded, dtype: str) -> Rounded:
    """The number as one of a type of floats; whole numbers that are not too large are among them."""
    if value.dtype == dtype:
        return value
    found = rounded_to(value.ends, value.error, dtype)
    if value.precision.whole:
        held = value.magnitude + value.error <= 1 / found.precision.roundoff
        found = Rounded(found.low, found.high, np.where(held, value.error, found.error), dtype)
    return found


HANDLERS: Handlers = {
    ("", "Add"): _binary(np.add, plus),
    ("", "Sub"): _sub,
    ("", "Mul"): _binary(np.multiply, times),
    ("", "Div"): _div,
    ("", "Sum"): _sum,
    ("", "Neg"): _neg,
    (ML, "Scaler"): _scaler,
}
