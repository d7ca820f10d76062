"""Where to cut a box next: the attribute that contributes most to the open units' relaxation gaps.

That is influence x gap x range, once as if nothing that reaches a unit cancelled out, as for ranges, and once by what
affine bounds say: of the gap that each unit adds to the rows, the part of its own variation that is the attribute's.
Neither is enough in deep networks, so their geometric mean counts. Where partners are relaxed, the segments of the path
are candidates too.
"""

from __future__ import annotations

import math

from fairdsl.backends.intervals.kernels.layout import (
    LATTICE,
    OFF,
    OFF_BY_SPLIT,
    OPEN,
    TABLE,
    Floats,
    Layers,
    Net,
    Units,
    Work,
)
from fairdsl.backends.intervals.kernels.node import FRONTIER, on_corners
from fairdsl.backends.intervals.kernels.units import derivative_range
from fairdsl.backends.intervals.kernels.vectors import add_magnitudes, add_multiple
from fairdsl.numerics.kernels.compiled import part

#: Split codes: attributes from 0, path moves behind them; NOTHING cannot be split.
NOTHING = -1


@part
def _influences(layers: Layers, units: Units, value: Floats) -> None:
    """Gap caused by each coordinate, per unit of the coordinate, into ``value[0]``.

    Down once: how much each unit can move a row (absolute weights), hence each open unit's gap per unit of its
    input, into ``units.gap``. Down again, carrying those gaps to the inputs.
    """
    last = len(layers.widths) - 1
    top = layers.widths[last - 1]
    for q in range(top):
        value[0, q] = 0.0
        for r in range(layers.widths[last]):
            value[0, q] = max(value[0, q], abs(layers.weight[layers.at[last - 1] + r * top + q]))
    for layer in range(last - 1, 0, -1):
        _pass_down(layers, units, value, layer, True)
    for q in range(top):
        value[0, q] = 0.0
    for layer in range(last - 1, 0, -1):
        _pass_down(layers, units, value, layer, False)


@part
def _pass_down(layers: Layers, units: Units, value: Floats, layer: int, record: bool) -> None:
    """One layer down; ``record`` stores gaps, otherwise they are added on the way."""
    below = layers.widths[layer - 1]
    for q in range(below):
        value[1, q] = 0.0
    for p in range(layers.widths[layer]):
        unit = layers.unit[layer - 1] + p
        phase = units.phase[unit]
        amount = value[0, p]
        if phase in (OFF, OFF_BY_SPLIT):
            amount *= layers.slope[unit]
        elif phase == OPEN:
            low = units.below[unit]
            high = units.above[unit]
            least, most = derivative_range(low, high, layers.slope[unit], layers.curve[unit])
            chord = most
            gap = most - least
            if layers.curve[unit] == 0 and high > low:
                chord = (high - layers.slope[unit] * low) / (high - low)
                gap = high * (1.0 - chord) / (high - low)
            if record:
                units.gap[unit] = amount * gap
            amount *= chord
            if not record:
                amount += units.gap[unit]
        if amount == 0.0:
            continue
        add_magnitudes(value[1], layers.weight[layers.at[layer - 1] + p * below :], amount, below)
    for q in range(below):
        value[0, q] = value[1, q]


@part
def _explained(net: Net, work: Work, value: Floats) -> None:
    """Gap of the rows that each shared coordinate explains by affine bounds of open units, per unit of it."""
    layers, units, box, along = net.layers, work.units, work.box, work.scratch.along
    shared = layers.widths[0]
    for i in range(shared):
        value[i] = 0.0
    for layer in range(int(work.result[FRONTIER]), len(layers.widths) - 1):
        first = layers.unit[layer - 1]
        for k in range(units.lives[layer]):
            unit = first + units.live[first + k]
            if units.phase[unit] != OPEN or units.gap[unit] == 0.0:
                continue
            spread = 0.0
            for i in range(shared):
                spread += along[unit, i] * (box.high[i] - box.low[i])
            if spread > 0.0:
                add_multiple(value, along[unit], units.gap[unit] / spread, shared)


@part
def choose_split(net: Net, work: Work, comparison: int) -> int:
    """The code of the attribute (or, where partners are relaxed, the move) to cut the analysed box by."""
    shape, box, mean = net.shape, work.box, work.row.mean
    influence, explained = work.scratch.influence, work.scratch.trial
    _explained(net, work, explained)
    _influences(net.layers, work.units, influence)
    best = -1.0
    chosen = NOTHING
    for attribute in range(len(shape.kinds)):
        start = shape.first[attribute]
        if shape.kinds[attribute] == TABLE:
            allowed = 0
            harm = 0.0
            for i in range(start, shape.first[attribute + 1]):
                if box.high[i] > 0.0:
                    allowed += 1
                    harm = max(harm, math.sqrt(influence[0, i] * explained[i]))
            if allowed < 2:
                continue
        else:
            width = box.high[start] - box.low[start]
            if width <= 0.0 or (shape.kinds[attribute] != LATTICE and width < 2.0):
                continue
            harm = math.sqrt(influence[0, start] * explained[start]) * width
        if harm == 0.0:
            # Nothing is relaxed along it: what is left is where the boundary is; cut across that.
            span = work.law.span_high[attribute] - work.law.span_low[attribute]
            harm = 1e-30 * (1.0 + span)
        if harm > best:
            best = harm
            chosen = attribute
    if net.relaxed:
        return _relaxed_move(net, work, mean, comparison, best, chosen)
    return chosen


@part
def _relaxed_move(net: Net, work: Work, mean: Floats, comparison: int, best: float, chosen: int) -> int:
    """A segment of the path, where splitting one is worth more than ``best``."""
    first = net.paths.move_start[comparison]
    # Where the path's ends decide, the box's units do: cut along the path alone nobody is surely unfair any more.
    along = 0.0 if on_corners(net, work.box, comparison) else 0.5
    for move in range(first, net.paths.move_start[comparison + 1]):
        i = net.layers.widths[0] + move - first
        width = work.box.high[i] - work.box.low[i]
        if work.box.group[i] >= 0 or width < 1e-3:
            continue
        harm = along * abs(mean[i]) * width
        for p in range(net.layers.widths[1]):
            harm += work.units.gap[p] * abs(net.paths.moves[move, p]) * width
        if harm > best:
            best = harm
            chosen = len(net.shape.kinds) + move
    return chosen
