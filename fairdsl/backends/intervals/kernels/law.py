"""The law of a weighted sum over a box, and how much of the box can lie in a strip of it.

Every attribute but one is convolved on a grid (non-negative masses, so relative errors only); placing a
value on the grid is off by at most ``spread`` in all, which every reading adds outward. Masses that would
underflow are raised, and prove nothing about somebody (``_LEAST_MASS``). The one left out,
a contiguous number, is counted in closed form: at most so many of its values lie in a strip, and at most
``per_fibre`` of them where the score is strictly monotone in it.
"""

from __future__ import annotations

import math

from fairdsl.backends.intervals.kernels.extremes import greatest, least
from fairdsl.backends.intervals.kernels.layout import LATTICE, REAL, TABLE, Box, Floats, Law, Shape
from fairdsl.backends.intervals.kernels.vectors import add_multiple
from fairdsl.numerics.kernels.compiled import part

#: How many times as many cells as usual there are at most, where a strip is narrow.
FINEST = 4
_SPARE_CELLS = 24
#: Steps below it are lost in what is added for underflow anyway, and as quotients might be off by a cell.
_LEAST_STEP = 1e-290
#: Masses above zero are raised to the first one, for what underflows must not be mistaken for nobody. Those below the
#: second may be made of it, and prove nothing about somebody. The third is a share that somebody has at least.
_LEAST_MASS, _SURE_MASS, _LEAST_SHARE = 1e-200, 1e-180, 1e-270


@part
def measure_spans(shape: Shape, law: Law, box: Box, mean: Floats) -> None:
    """Least and greatest contribution of every attribute to ``mean @ x``."""
    for attribute in range(len(shape.kinds)):
        start = shape.first[attribute]
        stop = shape.first[attribute + 1]
        law.span_low[attribute] = least(box, mean, start, stop)
        law.span_high[attribute] = greatest(box, mean, start, stop)


@part
def width_of(shape: Shape, box: Box, attribute: int) -> float:
    """How many values a contiguous number has in the box (for reals: what length)."""
    start = shape.first[attribute]
    width = float(box.high[start] - box.low[start])
    return width + 1.0 if shape.kinds[attribute] == LATTICE else width


@part
def section_of(shape: Shape, law: Law, box: Box, form: Floats, attribute: int) -> tuple[float, float, bool, float]:
    """A form along a number: slope, how many values, whether they are real, least; (0, 1, False, 0) of none (-1)."""
    if attribute < 0:
        return 0.0, 1.0, False, 0.0
    real = shape.kinds[attribute] == REAL
    return abs(form[shape.first[attribute]]), width_of(shape, box, attribute), real, law.span_low[attribute]


@part
def _order(law: Law, left_out: int) -> tuple[int, float]:
    """The attributes that vary in the sum, narrowest first, and the sum of their ranges."""
    count = 0
    total = 0.0
    for attribute in range(len(law.span_low)):
        span = law.span_high[attribute] - law.span_low[attribute]
        if attribute == left_out or span <= 0.0:
            continue
        total += span
        place = count
        while place > 0:
            other = law.order[place - 1]
            if law.span_high[other] - law.span_low[other] <= span:
                break
            law.order[place] = other
            place -= 1
        law.order[place] = attribute
        count += 1
    return count, total


@part
def _place_table(
    box: Box, law: Law, mean: Floats, start: int, stop: int, low: float, step: float
) -> tuple[int, float, float]:
    """A table's own law on the grid; entries, least and greatest of what values are above their cells."""
    count = 0
    under, over = step, -step
    for i in range(start, stop):
        if box.high[i] > 0.0:
            value = mean[i] - low
            cell = math.floor(value / step + 0.5)
            under, over = min(under, value - cell * step), max(over, value - cell * step)
            law.shift[count] = cell
            law.weight[count] = 1.0
            count += 1
    for entry in range(count):
        law.weight[entry] /= count
    return count, under, over


@part
def _place_number(
    law: Law, slope: float, values: float, span: float, step: float, real: bool
) -> tuple[int, float, float]:
    """A contiguous number's own law on the grid; entries, least and greatest of what values are above their cells."""
    last_cell = math.floor(span / step + 0.5)
    if real:
        for cell in range(last_cell + 1):
            right = (cell + 0.5) * step if cell < last_cell else span
            law.shift[cell] = cell
            law.weight[cell] = max(0.0, right - max(0.0, (cell - 0.5) * step)) / span
        return last_cell + 1, -0.5 * step, 0.5 * step
    if values <= last_cell + 1:
        under, over = step, -step
        for v in range(int(values)):
            cell = math.floor(slope * v / step + 0.5)
            under, over = min(under, slope * v - cell * step), max(over, slope * v - cell * step)
            law.shift[v] = cell
            law.weight[v] = 1.0 / values
        return int(values), under, over
    taken = 0.0
    entries = 0
    for cell in range(last_cell + 1):
        up_to = values if cell == last_cell else min(values, math.floor((cell + 0.5) * step / slope) + 1.0)
        if up_to > taken:
            law.shift[entries] = cell
            law.weight[entries] = (up_to - taken) / values
            entries += 1
            taken = up_to
    return entries, -0.5 * step, 0.5 * step


@part
def law_without(
    shape: Shape, law: Law, box: Box, mean: Floats, left_out: int, cells: int
) -> tuple[int, int, float, float, float]:
    """The law of ``mean @ x`` over the box without one attribute (-1: with all); spans must be measured.

    Returns (which half of ``law.mass``, last cell, step, spread, least value): cell j stands for sums within
    ``spread`` of ``least + j * step``.
    """
    varying, total = _order(law, left_out)
    # Rounding adds at most half a cell an attribute, and at most doubles: the last cell stays within ``cells``.
    step = total / max(cells // 2, min(cells - _SPARE_CELLS, cells - varying // 2))
    if not step > _LEAST_STEP:
        step = 1.0
    lowest = 0.0
    for attribute in range(len(shape.kinds)):
        if attribute != left_out:
            lowest += law.span_low[attribute]
    side = 0
    law.mass[0, 0] = 1.0
    top = 0
    spread = 1e-12 * (abs(lowest) + total)
    for place in range(varying):
        attribute = law.order[place]
        span = law.span_high[attribute] - law.span_low[attribute]
        if span < 0.01 * step:
            spread += span
            continue
        start = shape.first[attribute]
        if shape.kinds[attribute] == TABLE:
            stop = shape.first[attribute + 1]
            entries, under, over = _place_table(box, law, mean, start, stop, law.span_low[attribute], step)
        else:
            values = width_of(shape, box, attribute)
            real = shape.kinds[attribute] == REAL
            entries, under, over = _place_number(law, abs(mean[start]), values, span, step, real)
        lowest += 0.5 * (under + over)
        spread += 0.5 * (over - under) * (1.0 + 1e-9)
        last = 0
        for k in range(entries):
            last = max(last, law.shift[k])
        other = 1 - side
        for j in range(top + last + 1):
            law.mass[other, j] = 0.0
        for k in range(entries):
            add_multiple(law.mass[other, law.shift[k] :], law.mass[side], law.weight[k], top + 1)
        side = other
        top += last
        for j in range(top + 1):
            if 0.0 < law.mass[side, j] < _LEAST_MASS:
                law.mass[side, j] = _LEAST_MASS
    return side, top, step, spread, lowest


@part
def _values_up_to(position: float, width: float, real: bool) -> float:
    """How many of a contiguous number's values are at most ``position`` (for reals: what length)."""
    if real:
        return min(max(position, 0.0), width)
    if position >= width - 1.0:  # also where it is beyond any integer
        return width
    return 0.0 if position < 0.0 else math.floor(position) + 1.0


@part
def _values_below(position: float, width: float, real: bool) -> float:
    """How many values are less than ``position``."""
    if real:
        return min(max(position, 0.0), width)
    if position > width - 1.0:
        return width
    return 0.0 if position <= 0.0 else float(math.ceil(position))


@part
def _cells_between(first: float, last: float, top: int) -> tuple[int, int]:
    """The cells from ``first`` to ``last`` as a range; both may be far beyond any integer."""
    if first > top or last < 0.0:
        return 0, 0
    start = math.floor(first) if first > 0.0 else 0
    stop = math.ceil(last) if last < top else top
    return start, stop + 1


@part
def mass_touching(
    masses: Floats,
    top: int,
    step: float,
    slope: float,
    width: float,
    real: bool,
    low: float,
    high: float,
    per_fibre: float,
) -> float:
    """At most this share has its sum in [low, high], with at most ``per_fibre`` values a fibre.

    ``masses`` is the law of all but one number, which adds ``slope`` times 0, 1, .. (``width`` values; 1 and
    slope 0 where none was left out); ``low`` and ``high`` count from the least sum, outward by the spread.
    """
    if not low <= high:
        return 0.0 if low > high else 1.0  # where a bound overflowed to no number, all may be in it
    mass = 0.0
    start, stop = _cells_between((low - slope * width) / step, high / step, top)
    whole = high - slope * width  # from sums up to it on all values are at most high
    for j in range(start, stop):
        at = j * step
        if slope > 0.0:
            count = width
            if at > whole:
                count = _values_up_to((high - at) / slope * (1.0 + 1e-12) + 1e-12, width, real)
            if at < low:
                count -= _values_below((low - at) / slope * (1.0 - 1e-12) - 1e-12, width, real)
        else:
            count = width if low <= at <= high else 0.0
        if count > 0.0 and masses[j] > 0.0:
            mass += max(masses[j] * min(count, per_fibre), _LEAST_SHARE)
    return min(1.0, mass / width * (1.0 + 1e-9))


@part
def mass_inside(
    masses: Floats, top: int, step: float, slope: float, width: float, real: bool, low: float, high: float
) -> float:
    """At least this share has its sum in the open interval (low, high), inward by the spread."""
    if not low < high:
        return 0.0
    mass = 0.0
    start, stop = _cells_between((low - slope * width) / step, high / step, top)
    for j in range(start, stop):
        if masses[j] < _SURE_MASS:
            continue
        at = j * step
        if slope > 0.0:
            reached = _values_below((high - at) / slope * (1.0 - 1e-12) - 1e-12, width, real)
            count = reached - _values_up_to((low - at) / slope * (1.0 + 1e-12) + 1e-12, width, real)
        else:
            count = width if low < at < high else 0.0
        if count > 0.0:
            mass += masses[j] * count
    return max(0.0, mass / width * (1.0 - 1e-9))
