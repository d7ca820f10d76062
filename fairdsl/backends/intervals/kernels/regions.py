"""Cutting a box by the signs of units until its bounds are tight: branch and bound within one node.

Units are cut layer by layer: the half-spaces are then exact, and fixing the first layers makes the later
ones exact and often stable, while the relaxation gap of the last layers is mostly inherited. A zero of the
row lies in one of a region's two parts, so a region's share is at most the sum of theirs; it is also at
most what its own bounds say. Both are kept, since cutting can lose (the parts' strips are measured on the
whole box).
"""

from __future__ import annotations

from fairdsl.backends.intervals.kernels.layout import OFF_BY_SPLIT, ON_BY_SPLIT, OPEN, Layers, Net, Regions, Units, Work
from fairdsl.backends.intervals.kernels.node import (
    ANALYSES,
    FALSIFIED,
    FRONTIER,
    IN_FORCE,
    VIOLATING,
    VIOLATING32,
    analyse,
)
from fairdsl.backends.intervals.kernels.vectors import copy_into
from fairdsl.numerics.kernels.compiled import part

_MOST_HALVES = 24


@part
def _next_cut(layers: Layers, units: Units, frontier: int) -> int:
    """The frontier's open unit whose relaxation costs most; -1: none, the row is exact on the region."""
    if frontier == 0 or frontier == len(layers.widths) - 1:
        return -1
    best = -1.0
    chosen = -1
    for p in range(layers.widths[frontier]):
        unit = layers.unit[frontier - 1] + p
        if units.phase[unit] == OPEN and layers.curve[unit] == 0 and units.gap[unit] > best:
            best = units.gap[unit]
            chosen = unit
    return chosen


@part
def _note(net: Net, work: Work, region: int) -> None:
    """Take over what :func:`analyse` found about a region."""
    regions = work.regions
    regions.share[region] = work.result[VIOLATING]
    regions.share32[region] = work.result[VIOLATING32]
    copy_into(regions.phase[region], work.units.phase)
    regions.split[region] = -1
    if work.result[VIOLATING] > 0.0 and work.result[IN_FORCE] < _MOST_HALVES:
        regions.split[region] = _next_cut(net.layers, work.units, int(work.result[FRONTIER]))


@part
def _heaviest(regions: Regions, count: int) -> int:
    chosen = -1
    for region in range(count):
        if regions.split[region] >= 0 and (chosen < 0 or regions.share[region] > regions.share[chosen]):
            chosen = region
    return chosen


@part
def _total(regions: Regions, share, count: int) -> float:  # type: ignore[no-untyped-def]
    """The whole box's share: each region's own or its parts' together, the less."""
    for region in range(count):
        regions.total[region] = -1.0
    for step in range(count - 1):
        region = count - 1 - step
        value = share[region]
        if regions.total[region] >= 0.0:
            value = min(value, regions.total[region])
        parent = regions.parent[region]
        regions.total[parent] = max(regions.total[parent], 0.0) + value
    return float(min(share[0], regions.total[0]) if count > 1 else share[0])


@part
def cut_into_regions(net: Net, work: Work, comparison: int, limit: int, cells: int) -> int:
    """Sharpen the shares of the box that was just analysed; returns how many analyses that took.

    At most ``limit`` regions. Leaves the phases in ``work.units`` as they were, which hold on the whole box.
    """
    regions = work.regions
    falsified = work.result[FALSIFIED]
    _note(net, work, 0)
    whole = len(regions.share) - 1
    copy_into(regions.phase[whole], regions.phase[0])
    count = 1
    analyses = 0
    while count + 1 < 2 * limit:
        chosen = _heaviest(regions, count)
        if chosen < 0:
            break
        unit = regions.split[chosen]
        regions.split[chosen] = -1
        for phase in (ON_BY_SPLIT, OFF_BY_SPLIT):
            regions.parent[count] = chosen
            copy_into(work.units.phase, regions.phase[chosen])
            work.units.phase[unit] = phase
            analyse(net, work, comparison, cells)
            analyses += int(work.result[ANALYSES])
            _note(net, work, count)
            count += 1
    work.result[VIOLATING] = _total(regions, regions.share, count)
    work.result[VIOLATING32] = max(work.result[VIOLATING], _total(regions, regions.share32, count))
    work.result[FALSIFIED] = falsified
    copy_into(work.units.phase, regions.phase[whole])
    return analyses
