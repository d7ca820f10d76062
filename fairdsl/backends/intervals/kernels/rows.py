"""What a row of a layer is at least and at most on a node's region: backward substitution (CROWN).

A unit that is open lies above every line through the origin with a slope between its own two, so a bound may take the
one that suits it: ``steps`` go up the gradient of the bound in these slopes (alpha-CROWN, Xu et al., ICLR 2021). Any
slopes are sound, so only the bounds themselves are rounded outward.
"""

from __future__ import annotations

from math import inf

from fairdsl.backends.intervals.kernels.extremes import INFEASIBLE, least_within, minimiser
from fairdsl.backends.intervals.kernels.layout import (
    OFF,
    OFF_BY_SPLIT,
    OPEN,
    FloatRows,
    Floats,
    Forms,
    Layers,
    Net,
    Units,
    Work,
)
from fairdsl.backends.intervals.kernels.ranges import adds_up, within_ranges
from fairdsl.backends.intervals.kernels.units import slope_below
from fairdsl.backends.intervals.kernels.vectors import add_multiple
from fairdsl.numerics.kernels.compiled import part

#: How far the first step goes, of the way to the end of a unit's range; each next one goes this part of it.
_FIRST_STEP, _NEXT_STEP = 1.0, 0.7


@part
def _line(units: Units, unit: int, under: bool) -> tuple[float, float]:
    """Slope and intercept of the line under an open unit, or of that above it."""
    if under:
        return units.below_slope[unit], units.below_offset[unit]
    return units.above_slope[unit], units.above_offset[unit]


@part
def _substitute(
    layers: Layers, units: Units, back: FloatRows, top: int, frontier: int, lower: bool, offset: float, record: bool
) -> tuple[float, float, int]:
    """Backward substitution of ``back[top]`` (coefficients on layer ``top``'s values) to the frontier.

    Leaves the coefficients on the frontier's pre-activations in ``back[frontier]``; returns the constant, and the
    best bound on the way there, by what the values of a layer can be, with no line below it, and which layer that is.
    """
    ranged = adds_up(layers, frontier)
    best = -inf if lower else inf
    stop = 0
    for layer in range(top, frontier - 1, -1):
        below = layers.widths[layer - 1]
        first = layers.unit[layer - 1]
        if ranged and layer < top:
            middle, radius = within_ranges(layers, units, back[layer], layer)
            bound = offset + middle + (-radius if lower else radius)
            if (bound > best) if lower else (bound < best):
                best = bound
                stop = layer
        if layer > frontier:
            for q in range(below):
                back[layer - 1, q] = 0.0
        for k in range(units.lives[layer]):
            p = units.live[first + k]
            factor = back[layer, p]
            unit = first + p
            units.pull[unit] = factor
            if factor == 0.0:
                continue
            phase = units.phase[unit]
            if phase == OPEN:
                if record:
                    # What fixing the unit could gain: the lines' distance at zero, weighted.
                    units.gap[unit] += abs(factor) * abs(units.above_offset[unit])
                slope, intercept = _line(units, unit, (factor > 0.0) == lower)
                offset += factor * intercept
                factor *= slope
            elif phase in (OFF, OFF_BY_SPLIT):
                factor *= layers.slope[unit]
            back[layer, p] = factor
            if layer > frontier and factor != 0.0:
                offset += factor * layers.bias[unit]
                add_multiple(back[layer - 1], layers.weight[layers.at[layer - 1] + p * below :], factor, below)
    return offset, best, stop


@part
def row_bound(
    layers: Layers,
    units: Units,
    forms: Forms,
    back: FloatRows,
    target: Floats,
    layer: int,
    r: int,
    frontier: int,
    side: int,
    lower: bool,
    record: bool,
    count: int,
) -> tuple[float, float, int]:
    """An affine bound of row r of a layer from the frontier up: coefficients in ``target``, the constant returned.

    And a bound by a constant, from what the values of the units of a layer in between can be, and that layer.
    """
    if layer == frontier:
        for i in range(count):
            target[i] = forms.form[side, r, i]
        return forms.offset[side, r], (-inf if lower else inf), 0
    below = layers.widths[layer - 1]
    row = layers.at[layer - 1] + r * below
    for q in range(below):
        back[layer - 1, q] = layers.weight[row + q]
    bias = layers.bias[layers.unit[layer - 1] + r]
    offset, best, stop = _substitute(layers, units, back, layer - 1, frontier, lower, bias, record)
    for i in range(count):
        target[i] = 0.0
    first = layers.unit[frontier - 1]
    for k in range(units.lives[frontier]):
        p = units.live[first + k]
        factor = back[frontier, p]
        if factor != 0.0:
            offset += factor * forms.offset[side, p]
            add_multiple(target, forms.form[side, p], factor, count)
    return offset, best, stop


@part
def row_least(
    net: Net,
    work: Work,
    layer: int,
    r: int,
    frontier: int,
    side: int,
    lower: bool,
    record: bool,
    count: int,
    in_force: int,
    steps: int,
) -> float:
    """What row r of a layer is at least on the region or, unless ``lower``, what its negation is.

    Without the rounding error; INFEASIBLE where nothing is left of the region. Leaves the affine bound in ``work.row``
    (``lower`` or ``upper``), its constant in ``work.result``.
    """
    layers, units, forms, scratch = net.layers, work.units, work.forms, work.scratch
    target = work.row.lower if lower else work.row.upper
    best = -INFEASIBLE
    step = _FIRST_STEP
    enough = layers.error[layer]
    if layer == len(layers.widths) - 1:
        enough += max(layers.error32[r], 0.0) + max(-layers.margin[r, 0], layers.margin[r, 1])
    if steps > 0:
        _reset(layers, units, frontier, layer)
    for attempt in range(steps + 1):
        offset, between, stop = row_bound(
            layers, units, forms, scratch.back, target, layer, r, frontier, side, lower, record, count
        )
        work.result[5 if lower else 6] = offset
        sign = 1.0 if lower else -1.0
        for i in range(count):
            scratch.trial[i] = sign * target[i]
        bound = least_within(
            work.box, work.halves, in_force, scratch.trial, sign * offset, count, layers.error[layer], net.plain
        )
        if bound >= INFEASIBLE:
            return bound
        if sign * between > bound:
            bound = sign * between
        else:
            stop = 0
        best = max(best, bound)
        if attempt == steps or layer == frontier or best > enough:
            break
        _step(layers, units, work, layer, frontier, side, stop, lower, step, count)
        step *= _NEXT_STEP
        record = False
    return best


@part
def _reset(layers: Layers, units: Units, frontier: int, layer: int) -> None:
    """Slopes as they are before any step: every row begins there, for what suited another may not suit it."""
    for unit in range(layers.unit[frontier - 1], layers.unit[layer - 1]):
        if units.phase[unit] == OPEN and layers.curve[unit] == 0:
            units.below_slope[unit] = slope_below(units.below[unit], units.above[unit], layers.slope[unit])


@part
def _step(
    layers: Layers,
    units: Units,
    work: Work,
    layer: int,
    frontier: int,
    side: int,
    stop: int,
    lower: bool,
    step: float,
    count: int,
) -> None:
    """Move the slopes of lower lines up the gradient of the bound that was just taken.

    By the envelope theorem the bound grows with a slope as fast as the unit's input where the bound is attained (of
    the form in ``work.scratch.trial``, or by the values of layer ``stop``), carried up through the lines in use.
    """
    here, above = work.scratch.hidden[0], work.scratch.hidden[1]
    start = frontier
    if stop > 0:
        start = stop + 1
        first = layers.unit[stop - 1]
        for p in range(layers.widths[stop]):
            far = units.radius[first + p] if (units.pull[first + p] > 0.0) == lower else -units.radius[first + p]
            here[p] = units.middle[first + p] - far
    else:
        minimiser(work.box, work.scratch.trial, work.scratch.point, count)
    for k in range(start, layer):
        first = layers.unit[k - 1]
        below = layers.unit[k - 2] if k > frontier else 0
        for p in range(layers.widths[k]):
            above[p] = 0.0
        for at in range(units.lives[k]):
            p = units.live[first + at]
            if units.pull[first + p] == 0.0:
                continue
            if k == frontier:
                z = work.forms.offset[side, p]
                for i in range(count):
                    z += work.forms.form[side, p, i] * work.scratch.point[i]
            else:
                z = layers.bias[first + p]
                row = layers.at[k - 1] + p * layers.widths[k - 1]
                for nth in range(units.lives[k - 1]):
                    q = units.live[below + nth]
                    z += layers.weight[row + q] * here[q]
            above[p] = _carried(layers, units, first + p, z, lower, step)
        for p in range(layers.widths[k]):
            here[p] = above[p]


@part
def _carried(layers: Layers, units: Units, unit: int, z: float, lower: bool, step: float) -> float:
    """A unit's value on the line in use at z; the line below it is moved, in proportion to where in its range z is."""
    phase = units.phase[unit]
    if phase != OPEN:
        return z * layers.slope[unit] if phase in (OFF, OFF_BY_SPLIT) else z
    under = (units.pull[unit] > 0.0) == lower
    slope, intercept = _line(units, unit, under)
    if under and layers.curve[unit] == 0:
        away = z / (units.above[unit] if z > 0.0 else -units.below[unit])
        least = layers.slope[unit]
        units.below_slope[unit] = min(max(units.below_slope[unit] + step * (1.0 - least) * away, least), 1.0)
    return slope * z + intercept
