"""Cutting a box by the signs of units until its bounds are tight: branch and bound within one node.

Units are cut layer by layer: the half-spaces are then exact, and fixing the first layers makes the later
ones exact and often stable, while the relaxation gap of the last layers is mostly inherited. A zero of the
row lies in one of a region's two parts, so a region's share is at most the sum of theirs; it is also at
most what its own bounds say. Both are kept, since cutting can lose (the parts' strips are measured on the
whole box).
"""

from __future__ import annotations

from fairdsl.backends.intervals.kernels.layout import (
    OFF_BY_SPLIT,
    ON_BY_SPLIT,
    OPEN,
    IntegerRows,
    Layers,
    Net,
    Regions,
    Units,
    Work,
)
from fairdsl.backends.intervals.kernels.node import (
    ANALYSES,
    FALSIFIED,
    FRONTIER,
    HALF,
    IN_FORCE,
    VIOLATING,
    VIOLATING32,
    analyse,
)
from fairdsl.backends.intervals.kernels.slots import Tree, load_slot
from fairdsl.backends.intervals.kernels.vectors import copy_into
from fairdsl.numerics.kernels.compiled import exact, part

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
    regions.half[region] = int(work.result[HALF])
    regions.first[region] = -1
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
def _cut(net: Net, work: Work, comparison: int, limit: int, least: float, cells: int) -> tuple[int, int]:
    """Cut the box that was just analysed while a part leaves so much of it; how many regions are made, and analyses.

    At most ``limit`` regions are not cut. Leaves the phases in ``work.units`` as they were, which hold on the whole
    box; those that were made by the last cut have the last numbers.
    """
    regions = work.regions
    _note(net, work, 0)
    whole = len(regions.share) - 1
    copy_into(regions.phase[whole], regions.phase[0])
    count = 1
    analyses = 0
    while count + 1 < 2 * limit:
        chosen = _heaviest(regions, count)
        if chosen < 0 or regions.share[chosen] < least:
            break
        unit = regions.split[chosen]
        regions.split[chosen] = -1
        regions.cut[chosen] = unit
        regions.first[chosen] = count
        for phase in (ON_BY_SPLIT, OFF_BY_SPLIT):
            regions.parent[count] = chosen
            copy_into(work.units.phase, regions.phase[chosen])
            work.units.phase[unit] = phase
            analyse(net, work, comparison, cells)
            analyses += int(work.result[ANALYSES])
            _note(net, work, count)
            count += 1
    copy_into(work.units.phase, regions.phase[whole])
    return count, analyses


@part
def cut_into_regions(net: Net, work: Work, comparison: int, limit: int, cells: int) -> int:
    """Sharpen the shares of the box that was just analysed by at most so many regions; how many analyses that took."""
    regions, falsified = work.regions, work.result[FALSIFIED]
    count, analyses = _cut(net, work, comparison, limit, 0.0, cells)
    work.result[VIOLATING] = _total(regions, regions.share, count)
    work.result[VIOLATING32] = max(work.result[VIOLATING], _total(regions, regions.share32, count))
    work.result[FALSIFIED] = falsified
    return analyses


@exact
def regions_of_boxes(
    net: Net,
    work: Work,
    tree: Tree,
    low: IntegerRows,
    high: IntegerRows,
    least: float,
    cells: int,
    first: IntegerRows,
    unit: IntegerRows,
    half: IntegerRows,
) -> None:
    """How boxes are best cut into regions, if one more has to leave so much less (``least``) of its box.

    Boxes [boxes, attributes] are of the root in slot 0. Of each region [boxes, regions], of which the box is the first:
    ``first`` of its parts (where the unit is at least 0) or -1, by which ``unit`` it is cut, and which unit's
    half-space bounds it best alone, or -1.
    """
    regions, limit = work.regions, (first.shape[1] + 1) // 2
    for box in range(len(low)):
        for attribute in range(low.shape[1]):
            tree.low[0, attribute] = low[box, attribute]
            tree.high[0, attribute] = high[box, attribute]
        load_slot(net, work, tree, 0)
        analyse(net, work, tree.comparison[0], cells)
        count, _ = _cut(net, work, tree.comparison[0], limit, least, cells)
        for step in range(count):
            region = count - 1 - step
            parts, best = regions.first[region], regions.share[region]
            if parts >= 0:
                together = regions.total[parts] + regions.total[parts + 1] + least
                if together < best:
                    first[box, region], best = parts, together
            regions.total[region] = best
            unit[box, region] = regions.cut[region]
            half[box, region] = regions.half[region]
