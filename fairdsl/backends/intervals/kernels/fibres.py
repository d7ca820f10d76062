"""Slopes of a row over a node's region, and how many zeros a fibre can have."""

from __future__ import annotations

import math

from fairdsl.backends.intervals.kernels.extremes import INFEASIBLE
from fairdsl.backends.intervals.kernels.law import width_of
from fairdsl.backends.intervals.kernels.layout import (
    LATTICE,
    OFF,
    OFF_BY_SPLIT,
    OPEN,
    TABLE,
    Box,
    Forms,
    Law,
    Layers,
    Row,
    Shape,
    Units,
)
from fairdsl.backends.intervals.kernels.units import derivative_range
from fairdsl.backends.intervals.kernels.vectors import add_interval
from fairdsl.numerics.kernels.compiled import part

_LEAST_LENGTH = 1e-200


@part
def slopes_of_row(
    layers: Layers,
    units: Units,
    forms: Forms,
    row: Row,
    r: int,
    frontier: int,
    side: int,
    count: int,
    first_move: int,
) -> float:
    """Intervals of row r's gradient over the region into ``row.slope_low/high``; whether a path enters, else 0.

    Intervals are carried as middle and radius, whose products need no case distinction. Where all
    the slopes behind them are 0, paths may still enter: sums cancel and products underflow in float64.
    """
    last = len(layers.widths) - 1
    middle, radius = row.slope_low, row.slope_high
    next_middle, next_radius = row.next_low, row.next_high
    if frontier == last:
        for i in range(count):
            middle[i] = forms.form[side, r, i]
            radius[i] = 0.0
        _to_ends(layers, row, count, first_move)
        return float(forms.reach[side, r])
    top = layers.widths[last - 1]
    for q in range(top):
        middle[q] = layers.weight[layers.at[last - 1] + r * top + q]
        radius[q] = 0.0
    reach = 0.0
    for layer in range(last - 1, frontier - 1, -1):
        at_frontier = layer == frontier
        below = count if at_frontier else layers.widths[layer - 1]
        for q in range(below):
            next_middle[q] = 0.0
            next_radius[q] = 0.0
        for p in range(layers.widths[layer]):
            unit = layers.unit[layer - 1] + p
            low, high = _through(layers, units, unit, middle[p] - radius[p], middle[p] + radius[p])
            if low == 0.0 and high == 0.0:
                continue
            if at_frontier:
                reach = max(reach, forms.reach[side, p])
                weights = forms.form[side, p]
            else:
                weights = layers.weight[layers.at[layer - 1] + p * below :]
            add_interval(next_middle, next_radius, weights, 0.5 * (low + high), 0.5 * (high - low), below)
        for q in range(below):
            middle[q] = next_middle[q]
            radius[q] = next_radius[q]
    _to_ends(layers, row, count, first_move)
    return reach if reach > 0.0 else _entered(layers, units, forms, row, r, frontier, side)


@part
def _entered(layers: Layers, units: Units, forms: Forms, row: Row, r: int, frontier: int, side: int) -> float:
    """1 where some path enters row r by the network's structure, with no sum that could cancel; otherwise 0."""
    here, above = row.next_low, row.next_high
    for p in range(layers.widths[frontier]):
        here[p] = forms.reach[side, p]
    for layer in range(frontier, len(layers.widths) - 1):
        below = layers.widths[layer]
        for q in range(layers.widths[layer + 1]):
            above[q] = 0.0
            for p in range(below):
                unit = layers.unit[layer - 1] + p
                blocked = units.phase[unit] in (OFF, OFF_BY_SPLIT) and layers.slope[unit] == 0.0
                if not blocked and layers.weight[layers.at[layer] + q * below + p] != 0.0:
                    above[q] = max(above[q], here[p])
        here, above = above, here
    return float(here[r])


@part
def _through(layers: Layers, units: Units, unit: int, low: float, high: float) -> tuple[float, float]:
    """A slope's interval behind a unit."""
    phase = units.phase[unit]
    if phase == OPEN:
        least, most = derivative_range(units.below[unit], units.above[unit], layers.slope[unit], layers.curve[unit])
        # A derivative may be negative.
        falling, rising = min(low * most, high * least), max(low * least, high * most)
        return min(falling, min(low * least, high * most)), max(rising, max(low * most, high * least))
    if phase in (OFF, OFF_BY_SPLIT):
        return low * layers.slope[unit], high * layers.slope[unit]
    return low, high


@part
def _to_ends(layers: Layers, row: Row, count: int, first_move: int) -> None:
    """From middle and radius to ends, with the slopes' rounding error."""
    shared = layers.widths[0]
    for i in range(count):
        steep = layers.steep[i] if i < shared else layers.steep[first_move + i]
        middle = row.slope_low[i]
        radius = row.slope_high[i] + steep
        row.slope_low[i] = middle - radius
        row.slope_high[i] = middle + radius


@part
def _path_variation(box: Box, row: Row, shared: int, count: int) -> float:
    """How much a row can vary along the path: the diameter of each simplex under the slopes' intervals."""
    total = 0.0
    group = -1
    lowest = 0.0
    highest = 0.0
    for i in range(shared, count):
        if box.group[i] < 0:
            total += max(-row.slope_low[i], row.slope_high[i]) * (box.high[i] - box.low[i])
            continue
        if box.group[i] != group:
            total += highest - lowest
            group = box.group[i]
            lowest = 0.0
            highest = 0.0
        lowest = min(lowest, row.slope_low[i])
        highest = max(highest, row.slope_high[i])
    return total + highest - lowest


@part
def choose_fibres(shape: Shape, law: Law, box: Box, row: Row, shared: int, count: int) -> tuple[int, int, float, float]:
    """(the number with the widest span, the one with the smallest share of zeros a fibre, zeros of both)."""
    path = _path_variation(box, row, shared, count)
    widest = -1
    sparsest = -1
    span = -1.0
    least_share = 1.0
    wide_zeros = INFEASIBLE
    sparse_zeros = INFEASIBLE
    for attribute in range(len(shape.kinds)):
        if shape.kinds[attribute] == TABLE:
            continue
        i = shape.first[attribute]
        if box.high[i] <= box.low[i]:
            continue
        width = width_of(shape, box, attribute)
        slope = max(row.slope_low[i], -row.slope_high[i])
        zeros = INFEASIBLE
        if slope > 0.0:
            apart = path / slope * (1.0 + 1e-9)
            if apart < width:
                # Where the quotient underflows there is still a point of the reals left.
                zeros = math.floor(apart) + 1.0 if shape.kinds[attribute] == LATTICE else max(apart, _LEAST_LENGTH)
            if zeros / width < least_share:
                least_share = zeros / width
                sparsest = attribute
                sparse_zeros = zeros
        if law.span_high[attribute] - law.span_low[attribute] > span:
            span = law.span_high[attribute] - law.span_low[attribute]
            widest = attribute
            wide_zeros = zeros
    return widest, sparsest, wide_zeros, sparse_zeros
