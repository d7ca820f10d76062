"""Each compared assignment by itself, where the path is what bounds are loose for.

Bounds that hold wherever on the path have lines that are apart by what the path varies a unit, however small the box
is. So the box is bounded again without a path, once for each compared assignment. Units of whom all these rows are
surely above 0, or all surely below, are treated alike, and nobody is in both sets. By the union bound the first lacks
no more than the assignments' shares that are not surely above 0 together. For more than two outcomes: two that differ
are those of a row that is not of one sign.

Where the row has one direction along every segment of the path, whatever the unit, it is least at one end of the path
and greatest at the other: these two stand for all, be they individuals who are compared or not.
"""

from __future__ import annotations

from fairdsl.backends.intervals.kernels.bounds import compose, relax
from fairdsl.backends.intervals.kernels.layout import OPEN, Box, Floats, Net, Work
from fairdsl.backends.intervals.kernels.node import (
    ANALYSES,
    FALSIFIED,
    FRONTIER,
    VIOLATING,
    VIOLATING32,
    ends,
    not_beyond,
    on_corners,
)
from fairdsl.backends.intervals.kernels.vectors import add_multiple, copy_into
from fairdsl.numerics.kernels.compiled import part

#: So many assignments at most: nobody looks at the clock in the meantime.
_MOST = 64


@part
def _ends_suffice(net: Net, work: Work, count: int) -> bool:
    """Whether the only row has one direction along every coordinate of the path, which is made of segments."""
    row, shared = work.row, net.layers.widths[0]
    for i in range(shared, count):
        if work.box.group[i] >= 0 or row.slope_low[i] < 0.0 < row.slope_high[i]:
            return False
    return bool(net.layers.widths[len(net.layers.widths) - 1] == 1)


@part
def _spread(box: Box, along: Floats, start: int, stop: int) -> float:
    """How much a form with these magnitudes varies on a part of the coordinates, about."""
    total = 0.0
    group = -1
    widest = 0.0
    for i in range(start, stop):
        if box.group[i] < 0:
            total += along[i] * (box.high[i] - box.low[i])
            continue
        if box.group[i] != group:
            total += widest
            group = box.group[i]
            widest = 0.0
        if box.high[i] > 0.0:
            widest = max(widest, along[i])
    return total + widest


@part
def analyses_of_groups(net: Net, work: Work, comparison: int) -> int:
    """How many analyses bound everybody: of two ends of the path, or of all compared assignments; 0 where none do."""
    paths = net.paths
    moves = paths.move_start[comparison + 1] - paths.move_start[comparison]
    if _ends_suffice(net, work, net.layers.widths[0] + moves):
        return 2
    groups = int(paths.group_start[comparison + 1] - paths.group_start[comparison])
    return 0 if net.relaxed or groups > _MOST else groups


@part
def worth_it(net: Net, work: Work, comparison: int) -> bool:
    """Whether :func:`bound_groups` seems to decide more of the box that was just analysed than halving it.

    To halve a box takes two analyses, so it is worth half as many as the path's part of what open units vary by exceeds
    the box's. Units have the gaps that :func:`~.split.choose_split` found.
    """
    layers, units, paths = net.layers, work.units, net.paths
    frontier, last = int(work.result[FRONTIER]), len(layers.widths) - 1
    if frontier in (0, last) or work.result[VIOLATING] <= work.result[FALSIFIED]:
        return False
    shared = layers.widths[0]
    count = shared + paths.move_start[comparison + 1] - paths.move_start[comparison]
    by_path = by_box = 0.0
    for layer in range(frontier, last):
        first = layers.unit[layer - 1]
        for k in range(units.lives[layer]):
            unit = first + units.live[first + k]
            if units.phase[unit] == OPEN:
                by_path += units.gap[unit] * _spread(work.box, work.scratch.along[unit], shared, count)
                by_box += units.gap[unit] * _spread(work.box, work.scratch.along[unit], 0, shared)
    analyses = analyses_of_groups(net, work, comparison)
    return analyses > 0 and 2.0 * by_path > analyses * by_box


@part
def _start_at(net: Net, work: Work, comparison: int, number: int, at_ends: bool) -> None:
    """What an assignment contributes to the first layer, or the end of the path where the row is least or greatest."""
    box, row, start = work.box, work.row, work.scratch.start
    if not at_ends:
        copy_into(start, net.paths.groups[net.paths.group_start[comparison] + number])
        return
    copy_into(start, net.paths.origin[comparison])
    first = net.paths.move_start[comparison]
    for move in range(first, net.paths.move_start[comparison + 1]):
        i = net.layers.widths[0] + move - first
        place = box.high[i] if (row.slope_low[i] >= 0.0) == (number == 1) else box.low[i]
        add_multiple(start, net.paths.moves[move], place, net.layers.widths[1])


@part
def _bounded(net: Net, work: Work) -> tuple[int, int]:
    """Bound the box's units from ``work.scratch.start``: frontier (0: nothing is left) and side."""
    shared = net.layers.widths[0]
    frontier, side, in_force = compose(net, work, 0, shared)
    if frontier == 0 or not relax(net, work, frontier, side, shared, in_force, 0):
        return 0, 0
    return frontier, side


@part
def _left(net: Net, work: Work, r: int, over: int, beyond: bool, beyond32: bool, cells: int) -> tuple[float, float]:
    """At most these shares of the box are not above 0 (``over``: below it) by row r: none where all are known to be."""
    if beyond32:
        return 0.0, 0.0
    error = net.layers.error[len(net.layers.widths) - 1]
    share, share32 = not_beyond(net, work, r, over, error, net.layers.error32[r], beyond, net.layers.widths[0], cells)
    return (0.0 if beyond else share), share32


@part
def bound_groups(net: Net, work: Work, comparison: int, cells: int) -> None:
    """Sharpen the shares in ``work.result``, and leave the phases in ``work.units`` as they are on the whole path.

    Only where :func:`analyses_of_groups` says that it can be done.
    """
    layers, left = net.layers, work.scratch.left
    shared, last = layers.widths[0], len(layers.widths) - 1
    rows = layers.widths[last]
    moves = net.paths.move_start[comparison + 1] - net.paths.move_start[comparison]
    at_ends, analyses = _ends_suffice(net, work, shared + moves), analyses_of_groups(net, work, comparison)
    kept = work.regions.phase[len(work.regions.share) - 1]
    copy_into(kept, work.units.phase)
    left[:] = 0.0
    fewest_above = fewest_below = 1.0
    known = True
    for number in range(analyses):
        _start_at(net, work, comparison, number, at_ends)
        frontier, side = _bounded(net, work)
        known = known and frontier > 0
        for r in range(rows if known else 0):
            if rows > 1 and (work.scratch.beaten[layers.rivals[r, 0]] or work.scratch.beaten[layers.rivals[r, 1]]):
                continue
            low, high = ends(net, work, r, frontier, side, shared, 0, 0)
            error32 = max(layers.error32[r], 0.0)
            above, above32 = _left(net, work, r, 0, low > 0.0, low > error32, cells)
            below, below32 = _left(net, work, r, 1, high < 0.0, high < -error32, cells)
            fewest_above = min(fewest_above, above)
            fewest_below = min(fewest_below, below)
            if not (at_ends and number == 1):
                left[0, r] += above
                left[2, r] += above32
            if not (at_ends and number == 0):
                left[1, r] += below
                left[3, r] += below32
        copy_into(work.units.phase, kept)
    work.result[ANALYSES] += analyses
    if not known:
        return
    violating = violating32 = 0.0
    for r in range(rows):
        violating += max(min(left[0, r], 1.0) + min(left[1, r], 1.0) - 1.0, 0.0)
        violating32 += max(min(left[2, r], 1.0) + min(left[3, r], 1.0) - 1.0, 0.0)
    work.result[VIOLATING] = min(work.result[VIOLATING], violating)
    if rows == 1:
        # Above 0 for one and below it for another; what the shares are rounded outward is more than the difference is.
        if not at_ends or on_corners(net, work.box, comparison):
            work.result[FALSIFIED] = max(work.result[FALSIFIED], 1.0 - fewest_above - fewest_below)
        work.result[VIOLATING32] = min(work.result[VIOLATING32], violating32)
    work.result[VIOLATING32] = max(work.result[VIOLATING], work.result[VIOLATING32])
