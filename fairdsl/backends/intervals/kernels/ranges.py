"""Ranges of units from layer to layer, as if the units below were independent.

They have no lines whose gaps add up, so in deep networks they soon are narrower than what affine forms say.
"""

from __future__ import annotations

from fairdsl.backends.intervals.kernels.extremes import greatest, least
from fairdsl.backends.intervals.kernels.layout import (
    OFF,
    OFF_BY_SPLIT,
    ON,
    OPEN,
    Box,
    Floats,
    Forms,
    Layers,
    Units,
)
from fairdsl.numerics.kernels.compiled import part


@part
def adds_up(layers: Layers, frontier: int) -> bool:
    """Whether relaxations add up: two hidden layers or more lie above the frontier. Below that ranges win nothing."""
    return frontier + 2 < len(layers.widths) - 1


@part
def list_live(layers: Layers, units: Units, layer: int) -> None:
    """Note which units of a layer are not surely 0, open ones first."""
    first = layers.unit[layer - 1]
    count = 0
    for fixed in range(2):
        for p in range(layers.widths[layer]):
            phase = units.phase[first + p]
            if (phase != OPEN) == fixed and not is_dead(layers, units, first + p):
                units.live[first + count] = p
                count += 1
    units.lives[layer] = count


@part
def is_dead(layers: Layers, units: Units, unit: int) -> bool:
    """Whether a unit is surely 0."""
    return units.phase[unit] in (OFF, OFF_BY_SPLIT) and layers.slope[unit] == 0.0


@part
def ranges_at_frontier(
    layers: Layers, units: Units, forms: Forms, box: Box, frontier: int, side: int, count: int
) -> None:
    """Ranges of the frontier's units that were fixed before, which nobody has measured on this box."""
    first = layers.unit[frontier - 1]
    error = layers.error[frontier]
    for p in range(layers.widths[frontier]):
        if units.phase[first + p] in (ON, OFF) and not is_dead(layers, units, first + p):
            form = forms.form[side, p]
            units.below[first + p] = forms.offset[side, p] + least(box, form, 0, count) - error
            units.above[first + p] = forms.offset[side, p] + greatest(box, form, 0, count) + error


@part
def values_of_layer(layers: Layers, units: Units, layer: int) -> None:
    """Middle and radius of the values of a layer's live units, from the bounds of their pre-activations."""
    first = layers.unit[layer - 1]
    for k in range(units.lives[layer]):
        unit = first + units.live[first + k]
        phase = units.phase[unit]
        slope = layers.slope[unit]
        low = units.below[unit]
        high = units.above[unit]
        if phase == OPEN:
            k = units.below_slope[unit]
            lowest = min(k * low, k * high) + units.below_offset[unit]
            k = units.above_slope[unit]
            high = max(k * low, k * high) + units.above_offset[unit]
            # The line below is under the curve at its end as well, where a unit that rises is least.
            low = max(lowest, slope * low) if layers.curve[unit] == 0 and slope >= 0.0 else lowest
        elif slope != 1.0:
            if phase in (OFF, OFF_BY_SPLIT):
                low = slope * min(low, 0.0)
                high = slope * min(high, 0.0)
            else:
                low = max(low, 0.0)
                high = max(high, 0.0)
        units.middle[unit] = 0.5 * low + 0.5 * high
        units.radius[unit] = 0.5 * high - 0.5 * low


@part
def within_ranges(layers: Layers, units: Units, coefficients: Floats, layer: int) -> tuple[float, float]:
    """Middle and radius of a sum over the values of a layer's units, as if independent."""
    middle = 0.0
    radius = 0.0
    first = layers.unit[layer - 1]
    for k in range(units.lives[layer]):
        q = units.live[first + k]
        middle += coefficients[q] * units.middle[first + q]
        radius += abs(coefficients[q]) * units.radius[first + q]
    return middle, radius


@part
def interval_of_row(layers: Layers, units: Units, layer: int, r: int) -> tuple[float, float]:
    """The range of row r of a layer, whose units below it have these values, without the rounding error."""
    below = layers.widths[layer - 1]
    row = layers.weight[layers.at[layer - 1] + r * below :]
    middle, radius = within_ranges(layers, units, row, layer - 1)
    middle += layers.bias[layers.unit[layer - 1] + r]
    return middle - radius, middle + radius


@part
def range_of_unit(
    layers: Layers, units: Units, layer: int, r: int, ranged: bool, low: float, high: float
) -> tuple[float, float]:
    """The same of a hidden unit, outward and within what is known, which is noted; nothing new without such values."""
    if not ranged:
        return low, high
    unit = layers.unit[layer - 1] + r
    least_value, greatest_value = interval_of_row(layers, units, layer, r)
    units.below[unit] = max(low, least_value - layers.error[layer])
    units.above[unit] = min(high, greatest_value + layers.error[layer])
    return units.below[unit], units.above[unit]
