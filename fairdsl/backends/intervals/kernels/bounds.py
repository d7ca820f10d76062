"""Affine bounds of a node: exact forms as long as all phases are fixed, relaxed ones above.

``compose`` goes up while every unit is fixed: pre-activations are then affine functions of the inputs, and
units fixed by a split contribute exact half-spaces. The first layer with open units is the *frontier*.
``relax`` bounds the layers above by backward substitution (CROWN) down to the frontier's exact forms, and by
intervals from layer to layer; the better of both counts.
"""

from __future__ import annotations

from math import inf

from fairdsl.backends.intervals.kernels.extremes import INFEASIBLE, greatest, least, least_within
from fairdsl.backends.intervals.kernels.layout import (
    OFF,
    OFF_BY_SPLIT,
    ON,
    ON_BY_SPLIT,
    OPEN,
    Box,
    Floats,
    Forms,
    Halves,
    Layers,
    Net,
    Paths,
    Units,
    Work,
)
from fairdsl.backends.intervals.kernels.ranges import (
    adds_up,
    is_dead,
    list_live,
    range_of_unit,
    ranges_at_frontier,
    values_of_layer,
)
from fairdsl.backends.intervals.kernels.rows import row_least
from fairdsl.backends.intervals.kernels.units import lines_of
from fairdsl.backends.intervals.kernels.vectors import add_multiple
from fairdsl.numerics.kernels.compiled import part


@part
def _first_layer(layers: Layers, paths: Paths, forms: Forms, start: Floats, first_move: int, count: int) -> None:
    shared = layers.widths[0]
    for p in range(layers.widths[1]):
        forms.offset[0, p] = start[p]
        reach = 0.0
        for i in range(shared):
            forms.form[0, p, i] = layers.weight[p * shared + i]
        for i in range(shared, count):
            move = paths.moves[first_move + i - shared, p]
            forms.form[0, p, i] = move
            if move != 0.0:
                reach = 1.0
        forms.reach[0, p] = reach


@part
def _fix_by_range(
    layers: Layers,
    units: Units,
    forms: Forms,
    box: Box,
    halves: Halves,
    layer: int,
    side: int,
    count: int,
    in_force: int,
) -> int:
    """Fix units of an exact layer by their range over the box, collect half-spaces; -1: nothing is left."""
    first = layers.unit[layer - 1]
    error = layers.error[layer]
    for p in range(layers.widths[layer]):
        unit = first + p
        phase = units.phase[unit]
        if phase in (ON, OFF):
            continue
        form = forms.form[side, p]
        offset = forms.offset[side, p]
        low = offset + least(box, form, 0, count) - error
        high = offset + greatest(box, form, 0, count) + error
        units.below[unit] = low
        units.above[unit] = high
        if layers.curve[unit] != 0:
            continue
        if phase == OPEN:
            if low >= 0.0:
                units.phase[unit] = ON
            elif high <= 0.0:
                units.phase[unit] = OFF
            continue
        sign = 1.0 if phase == ON_BY_SPLIT else -1.0
        if (high if sign > 0.0 else -low) < 0.0:
            return -1
        if (low if sign > 0.0 else -high) >= 0.0:
            units.phase[unit] = ON if sign > 0.0 else OFF
            continue
        for i in range(count):
            halves.form[in_force, i] = sign * form[i]
        halves.offset[in_force] = sign * offset
        halves.unit[in_force] = unit
        in_force += 1
    return in_force


@part
def _tighten(layers: Layers, units: Units, unit: int, low: float, high: float) -> bool:
    """Take over a unit's bounds; whether it stays open, between two lines."""
    units.below[unit] = low
    units.above[unit] = high
    slope = layers.slope[unit]
    curve = layers.curve[unit]
    if curve == 0 and low >= 0.0:
        units.phase[unit] = ON
        return False
    if curve == 0 and high <= 0.0:
        units.phase[unit] = OFF
        return False
    below_slope, below_offset, above_slope, above_offset = lines_of(low, high, slope, curve)
    units.below_slope[unit], units.below_offset[unit] = below_slope, below_offset
    units.above_slope[unit], units.above_offset[unit] = above_slope, above_offset
    return True


@part
def _fix_within(
    layers: Layers,
    units: Units,
    forms: Forms,
    box: Box,
    halves: Halves,
    trial: Floats,
    layer: int,
    side: int,
    count: int,
    in_force: int,
    plain: bool,
) -> int:
    """Tighten and fix the open units of an exact layer with the half-spaces; how many stay open, or -1."""
    still_open = 0
    first = layers.unit[layer - 1]
    error = layers.error[layer]
    for p in range(layers.widths[layer]):
        unit = first + p
        if units.phase[unit] != OPEN:
            continue
        if in_force == 0:
            still_open += _tighten(layers, units, unit, units.below[unit], units.above[unit])
            continue
        for i in range(count):
            trial[i] = forms.form[side, p, i]
        low = least_within(box, halves, in_force, trial, forms.offset[side, p], count, error, plain)
        for i in range(count):
            trial[i] = -forms.form[side, p, i]
        high = -least_within(box, halves, in_force, trial, -forms.offset[side, p], count, error, plain)
        if low >= INFEASIBLE or high <= -INFEASIBLE:
            return -1
        low = max(low - error, units.below[unit])
        high = min(high + error, units.above[unit])
        still_open += _tighten(layers, units, unit, low, high)
    return still_open


@part
def _next_forms(layers: Layers, units: Units, forms: Forms, layer: int, side: int, count: int) -> None:
    """The exact forms of the layer above one whose units are all fixed."""
    other = 1 - side
    below = layers.widths[layer]
    first = layers.unit[layer - 1]
    for r in range(layers.widths[layer + 1]):
        row = layers.at[layer] + r * below
        target = forms.form[other, r]
        for i in range(count):
            target[i] = 0.0
        offset = layers.bias[layers.unit[layer] + r]
        reach = 0.0
        for p in range(below):
            factor = layers.weight[row + p]
            off = units.phase[first + p] in (OFF, OFF_BY_SPLIT)
            if factor != 0.0 and not (off and layers.slope[first + p] == 0.0):
                reach = max(reach, forms.reach[side, p])
            if off:
                factor *= layers.slope[first + p]
            if factor != 0.0:
                offset += factor * forms.offset[side, p]
                add_multiple(target, forms.form[side, p], factor, count)
        forms.offset[other, r] = offset
        forms.reach[other, r] = reach


@part
def compose(net: Net, work: Work, first_move: int, count: int) -> tuple[int, int, int]:
    """(frontier layer, which half of the forms is its, half-spaces in force); frontier 0: nothing is left.

    The first layer is ``work.scratch.start`` and what the coordinates add, of paths the moves from ``first_move`` on.
    """
    layers, units, forms, box, halves, scratch = net.layers, work.units, work.forms, work.box, work.halves, work.scratch
    _first_layer(layers, net.paths, forms, scratch.start, first_move, count)
    last = len(layers.widths) - 1
    side = 0
    in_force = 0
    layer = 1
    while layer < last:
        in_force = _fix_by_range(layers, units, forms, box, halves, layer, side, count, in_force)
        if in_force < 0:
            return 0, 0, 0
        still_open = _fix_within(
            layers, units, forms, box, halves, scratch.trial, layer, side, count, in_force, net.plain
        )
        if still_open < 0:
            return 0, 0, 0
        if still_open > 0:
            break
        _next_forms(layers, units, forms, layer, side, count)
        side = 1 - side
        layer += 1
    return layer, side, in_force


@part
def _list_frontier(net: Net, work: Work, frontier: int, side: int, count: int) -> None:
    """What the layers above ask of the frontier: its live units, their values, along what open ones vary."""
    layers, units, forms = net.layers, work.units, work.forms
    list_live(layers, units, frontier)
    first = layers.unit[frontier - 1]
    for k in range(units.lives[frontier]):
        p = units.live[first + k]
        if units.phase[first + p] == OPEN:
            for i in range(count):
                work.scratch.along[first + p, i] = abs(forms.form[side, p, i])
    if adds_up(layers, frontier):
        ranges_at_frontier(layers, units, forms, work.box, frontier, side, count)
        values_of_layer(layers, units, frontier)


@part
def _bound_unit(
    net: Net,
    work: Work,
    layer: int,
    r: int,
    low: float,
    high: float,
    frontier: int,
    side: int,
    count: int,
    in_force: int,
    steps: int,
) -> bool:
    """Bound an open unit between ``low`` and ``high`` by affine forms; False: nothing is left of the node."""
    layers, units, row, error = net.layers, work.units, work.row, net.layers.error[layer]
    unit = layers.unit[layer - 1] + r
    bound = row_least(net, work, layer, r, frontier, side, True, False, count, in_force, steps)
    if bound >= INFEASIBLE:
        return False
    low = max(low, bound - error)
    if low >= 0.0 and layers.curve[unit] == 0:
        units.below[unit] = low
        units.phase[unit] = ON
        return True
    bound = row_least(net, work, layer, r, frontier, side, False, False, count, in_force, steps)
    if bound >= INFEASIBLE:
        return False
    high = min(high, error - bound)
    if low > high:
        return False
    _tighten(layers, units, unit, low, high)
    for i in range(count):
        work.scratch.along[unit, i] = 0.5 * (abs(row.lower[i]) + abs(row.upper[i]))
    return True


@part
def relax(net: Net, work: Work, frontier: int, side: int, count: int, in_force: int, steps: int) -> bool:
    """Bounds and phases of the hidden layers above the frontier; False: nothing is left of the node.

    A unit has the better of two bounds: the range of its sum, if the values of the units below were independent, and
    that of its affine forms, or of forms that end on the way down. The first one does not get worse from layer to
    layer where relaxations add up. With ``steps`` the bounds that are there are kept and sharpened, by so many steps
    of each row's slopes.
    """
    layers, units = net.layers, work.units
    last = len(layers.widths) - 1
    ranged = adds_up(layers, frontier)
    if steps == 0 and frontier < last:
        _list_frontier(net, work, frontier, side, count)
    for layer in range(frontier + 1, last):
        for r in range(layers.widths[layer]):
            unit = layers.unit[layer - 1] + r
            if is_dead(layers, units, unit):
                continue
            known_low, known_high = (units.below[unit], units.above[unit]) if steps else (-inf, inf)
            low, high = range_of_unit(layers, units, layer, r, ranged, known_low, known_high)
            if units.phase[unit] != OPEN:
                continue
            if layers.curve[unit] == 0 and (low >= 0.0 or high <= 0.0):
                units.phase[unit] = ON if low >= 0.0 else OFF
            elif not _bound_unit(net, work, layer, r, low, high, frontier, side, count, in_force, steps):
                return False
        list_live(layers, units, layer)
        if ranged:
            values_of_layer(layers, units, layer)
    return True
