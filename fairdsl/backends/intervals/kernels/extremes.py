"""The least value of an affine form over a box, and over a box cut by half-spaces.

The second is bounded by Lagrange duality: for any multipliers beta >= 0,
``min {q x : x in box, C x + c >= 0} >= min {(q - beta C) x - beta c : x in box}``. So the multipliers may
come from any search; here each half-space gets one exact line search, newest first.
"""

from __future__ import annotations

from fairdsl.backends.intervals.kernels.layout import Box, Floats, Halves
from fairdsl.numerics.kernels.compiled import part

#: What :func:`least_within` returns where no point satisfies the half-spaces.
INFEASIBLE = 1e300
_BISECTIONS = 14


@part
def least(box: Box, form: Floats, start: int, stop: int) -> float:
    """The least value of the part ``start:stop`` of ``form @ x``; groups must not be cut."""
    value = 0.0
    group = -1
    best = 0.0
    for i in range(start, stop):
        if box.group[i] < 0:
            value += form[i] * (box.low[i] if form[i] > 0.0 else box.high[i])
            continue
        if box.group[i] != group:
            value += best
            group = box.group[i]
            best = 0.0 if group % 2 == 1 else INFEASIBLE
        if box.high[i] > 0.0 and form[i] < best:
            best = form[i]
    return value + best


@part
def greatest(box: Box, form: Floats, start: int, stop: int) -> float:
    """The greatest value of the part ``start:stop`` of ``form @ x``; groups must not be cut."""
    value = 0.0
    group = -1
    best = 0.0
    for i in range(start, stop):
        if box.group[i] < 0:
            value += form[i] * (box.high[i] if form[i] > 0.0 else box.low[i])
            continue
        if box.group[i] != group:
            value += best
            group = box.group[i]
            best = 0.0 if group % 2 == 1 else -INFEASIBLE
        if box.high[i] > 0.0 and form[i] > best:
            best = form[i]
    return value + best


@part
def minimiser(box: Box, form: Floats, point: Floats, count: int) -> None:
    """A point of the box where ``form @ x`` is least."""
    group = -1
    best = 0.0
    chosen = -1
    for i in range(count):
        if box.group[i] < 0:
            point[i] = box.low[i] if form[i] > 0.0 else box.high[i]
            continue
        point[i] = 0.0
        if box.group[i] != group:
            group = box.group[i]
            best = 0.0 if group % 2 == 1 else INFEASIBLE
            chosen = -1
        if box.high[i] > 0.0 and form[i] < best:
            best = form[i]
            if chosen >= 0:
                point[chosen] = 0.0
            chosen = i
            point[i] = 1.0


@part
def _slope_at(box: Box, form: Floats, half: Floats, beta: float, count: int) -> float:
    """``half @ x`` at a minimiser x of ``(form - beta half) @ x``."""
    value = 0.0
    group = -1
    best = 0.0
    chosen = 0.0
    for i in range(count):
        coefficient = form[i] - beta * half[i]
        if box.group[i] < 0:
            value += half[i] * (box.low[i] if coefficient > 0.0 else box.high[i])
            continue
        if box.group[i] != group:
            value += chosen
            group = box.group[i]
            best = 0.0 if group % 2 == 1 else INFEASIBLE
            chosen = 0.0
        if box.high[i] > 0.0 and coefficient < best:
            best = coefficient
            chosen = half[i]
    return value + chosen


@part
def _by_breakpoints(box: Box, form: Floats, half: Floats, offset: float, count: int) -> float:
    """The multiplier where the concave dual is greatest; 0: none is needed, negative: it grows for ever."""
    deficit = -offset
    for i in range(count):
        at_low = form[i] > 0.0 or (form[i] == 0.0 and half[i] < 0.0)
        deficit -= half[i] * (box.low[i] if at_low else box.high[i])
    last = 0.0
    while deficit > 0.0:
        nearest = INFEASIBLE
        for i in range(count):
            if half[i] != 0.0:
                ratio = form[i] / half[i]
                if last < ratio < nearest:
                    nearest = ratio
        if nearest >= INFEASIBLE:
            return -1.0
        for i in range(count):
            if half[i] != 0.0 and form[i] / half[i] == nearest:
                deficit -= abs(half[i]) * (box.high[i] - box.low[i])
        last = nearest
    return last


@part
def _by_bisection(box: Box, form: Floats, half: Floats, offset: float, count: int) -> float:
    """The same where breakpoints are those of lower envelopes (tables, simplices): close is good enough."""
    if _slope_at(box, form, half, 0.0, count) + offset >= 0.0:
        return 0.0
    largest_form = 0.0
    largest_half = 0.0
    for i in range(count):
        largest_form = max(largest_form, abs(form[i]))
        largest_half = max(largest_half, abs(half[i]))
    if largest_half == 0.0:
        return -1.0
    low = 0.0
    high = (largest_form / largest_half + 1e-300) * 1e-3
    for _ in range(40):
        if _slope_at(box, form, half, high, count) + offset >= 0.0:
            break
        low = high
        high *= 2.0
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        if _slope_at(box, form, half, middle, count) + offset >= 0.0:
            high = middle
        else:
            low = middle
    return high


@part
def least_within(
    box: Box, halves: Halves, in_force: int, form: Floats, offset: float, count: int, error: float, plain: bool
) -> float:
    """A lower bound of ``form @ x + offset`` over the box cut by the first ``in_force`` half-spaces.

    ``form`` is overwritten. ``error`` bounds the rounding error of a half-space's form. INFEASIBLE where the
    half-spaces leave nothing of the box.
    """
    spent = 0.0
    for age in range(in_force):
        j = in_force - 1 - age
        half = halves.form[j]
        if plain:
            beta = _by_breakpoints(box, form, half, halves.offset[j], count)
        else:
            beta = _by_bisection(box, form, half, halves.offset[j], count)
        if beta == 0.0:
            continue
        if beta < 0.0 or not plain:
            if greatest(box, half, 0, count) + halves.offset[j] < -2.0 * error:
                return INFEASIBLE
            if beta < 0.0:
                continue
        for i in range(count):
            form[i] -= beta * half[i]
        offset -= beta * halves.offset[j]
        spent += beta * 2.0 * error
    return offset + least(box, form, 0, count) - spent
