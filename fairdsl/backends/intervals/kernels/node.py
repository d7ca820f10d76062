"""One node: what share of its box can be treated unfairly, and what share surely is.

The units of a node are those of its box; the node answers for every violating unit whose path to a partner
has its zero (for more than two outcomes: its tie at the top) in the node's region. Let ``mean`` be the
average of the lower and the upper affine bound of a row. On the region ``mean @ x + l <= row <= mean @ x + u``,
so a zero needs ``-u <= mean @ x <= -l``, the path's part included, and a value that ``mean`` has on the region: a
*strip* of the shared coordinates. Of a whole box nobody is above zero by the lower bound and below it by the upper
one, so what both leave is 1 less their two shares. Where the score is monotone in a number with slope at least s, two
zeros of one fibre are at most ``max |d row / d path| / s`` apart, hence the bound per fibre.
"""

from __future__ import annotations

import math

from fairdsl.backends.intervals.kernels.bounds import compose, relax
from fairdsl.backends.intervals.kernels.extremes import INFEASIBLE, greatest, least, least_within
from fairdsl.backends.intervals.kernels.fibres import choose_fibres, slopes_of_row
from fairdsl.backends.intervals.kernels.law import (
    FINEST,
    law_without,
    mass_inside,
    mass_touching,
    measure_spans,
    section_of,
)
from fairdsl.backends.intervals.kernels.layout import Box, Net, Work
from fairdsl.backends.intervals.kernels.ranges import adds_up, interval_of_row
from fairdsl.backends.intervals.kernels.rows import row_least
from fairdsl.backends.intervals.kernels.vectors import copy_into
from fairdsl.numerics.kernels.compiled import part

#: Entries of ``work.result``: shares of the box, the frontier layer, half-spaces in force, constants of a row's affine
#: bounds, how near they are to a decision, as a part of their width, how many analyses the work is worth, and the unit
#: whose half-space alone bounds the first share (-1: none does).
VIOLATING, FALSIFIED, VIOLATING32, FRONTIER, IN_FORCE, LOWER_OFFSET, UPPER_OFFSET, NEAR, ANALYSES, HALF = range(10)
#: Boxes nearer than this are bounded again, by so many steps of each row's slopes. Of AC-7's boxes nearer than a
#: twentieth they decide one in seven, of those beyond a tenth none.
_NEAR, _STEPS = 0.05, 3
#: A half-space is measured where a normal distribution says that it holds less than this part of the share.
_WORTH = 0.9


@part
def analyse(net: Net, work: Work, comparison: int, cells: int) -> None:
    """Fill ``work.result`` for the node in ``work.box`` and ``work.units``."""
    first_move = net.paths.move_start[comparison]
    count = net.layers.widths[0] + net.paths.move_start[comparison + 1] - first_move
    work.result[:] = 0.0
    work.result[ANALYSES] = 1.0
    work.result[NEAR] = 1.0
    copy_into(work.scratch.start, net.paths.origin[comparison])
    frontier, side, in_force = compose(net, work, first_move, count)
    work.result[FRONTIER] = frontier
    work.result[IN_FORCE] = in_force
    if frontier == 0:
        return
    work.units.gap[:] = 0.0
    corners = on_corners(net, work.box, comparison)
    if not relax(net, work, frontier, side, count, in_force, 0):
        return
    _shares(net, work, frontier, side, count, in_force, first_move, corners, cells, 0)
    if work.result[VIOLATING] > 0.0 and work.result[NEAR] < _NEAR and adds_up(net.layers, frontier):
        violating, falsified, violating32 = work.result[VIOLATING], work.result[FALSIFIED], work.result[VIOLATING32]
        work.result[:FRONTIER] = 0.0
        work.result[ANALYSES] = 1.0 + 2.0 * _STEPS
        work.units.gap[:] = 0.0
        if relax(net, work, frontier, side, count, in_force, _STEPS):
            _shares(net, work, frontier, side, count, in_force, first_move, corners, cells, _STEPS)
        work.result[VIOLATING] = min(violating, work.result[VIOLATING])
        work.result[FALSIFIED] = max(falsified, work.result[FALSIFIED])
        work.result[VIOLATING32] = max(work.result[VIOLATING], min(violating32, work.result[VIOLATING32]))


@part
def on_corners(net: Net, box: Box, comparison: int) -> bool:
    """Whether all vertices of the box's path are individuals who are compared, and the box alone has these units."""
    shared = net.layers.widths[0]
    whole = net.paths.corners[comparison]
    for i in range(shared, shared + net.paths.move_start[comparison + 1] - net.paths.move_start[comparison]):
        whole = whole and box.low[i] == 0.0 and box.high[i] == 1.0  # what is cut off is not, and shares the units
    return bool(whole)


@part
def _shares(
    net: Net,
    work: Work,
    frontier: int,
    side: int,
    count: int,
    in_force: int,
    first_move: int,
    corners: bool,
    cells: int,
    steps: int,
) -> None:
    """The rows' shares together; a pair of outcomes of which one is beaten by a third decides nothing.

    ``corners``: individuals at the path's vertices are compared, so both signs there are a violation.
    """
    rows = net.layers.widths[len(net.layers.widths) - 1]
    deployed = net.layers.error32[0] >= 0.0
    beaten = work.scratch.beaten
    violating32 = 0.0
    if rows > 1:
        beaten[:] = 0
        for r in range(rows):
            low, high = ends(net, work, r, frontier, side, count, in_force, steps)
            if low > 0.0:
                beaten[net.layers.rivals[r, 1]] = 1
            elif high < 0.0:
                beaten[net.layers.rivals[r, 0]] = 1
            if deployed and (0.0 < low <= net.layers.error32[r] or -net.layers.error32[r] <= high < 0.0):
                violating32 = 1.0
    violating = 0.0
    for r in range(rows):
        if rows > 1 and (beaten[net.layers.rivals[r, 0]] or beaten[net.layers.rivals[r, 1]]):
            continue
        at_most, at_least, at_most32 = _row_shares(
            net, work, r, frontier, side, count, in_force, first_move, cells, steps
        )
        violating += at_most
        violating32 += at_most32
        if rows == 1 and in_force == 0 and corners:
            work.result[FALSIFIED] = at_least
    inside = 1.0
    work.result[HALF] = -1.0
    if in_force > 0 and max(violating, violating32) > 0.0:
        inside, chosen = _inside_halves(net, work, in_force, min(1.0, max(violating, violating32)), count, cells)
        if inside < violating:
            work.result[HALF] = work.halves.unit[chosen]
    work.result[VIOLATING] = min(inside, violating)
    work.result[VIOLATING32] = min(inside, max(violating, violating32))


@part
def ends(
    net: Net, work: Work, r: int, frontier: int, side: int, count: int, in_force: int, steps: int
) -> tuple[float, float]:
    """Least and greatest value of a row on the region, outward; low > high: the region is empty.

    Leaves the row's affine bounds in ``work.row`` with their constants in its last two results.
    """
    layers = net.layers
    last = len(layers.widths) - 1
    error = layers.error[last]
    low = row_least(net, work, last, r, frontier, side, True, True, count, in_force, steps)
    high = -row_least(net, work, last, r, frontier, side, False, True, count, in_force, steps)
    if low >= INFEASIBLE or high <= -INFEASIBLE:
        return 1.0, 0.0
    if adds_up(layers, frontier):
        least_value, greatest_value = interval_of_row(layers, work.units, last, r)
        low = max(low, least_value)
        high = min(high, greatest_value)
    if low < 0.0 < high:
        work.result[NEAR] = min(work.result[NEAR], min(-low, high) / (high - low))
    return low - error + layers.margin[r, 0], high + error + layers.margin[r, 1]


@part
def _row_shares(
    net: Net,
    work: Work,
    r: int,
    frontier: int,
    side: int,
    count: int,
    in_force: int,
    first_move: int,
    cells: int,
    steps: int,
) -> tuple[float, float, float]:
    """Shares of the box that row r leaves: violating at most, at least, and at most in float32."""
    layers = net.layers
    low, high = ends(net, work, r, frontier, side, count, in_force, steps)
    error32 = layers.error32[r]
    if low > high or low > max(error32, 0.0) or high < -max(error32, 0.0):
        return 0.0, 0.0, 0.0
    row = work.row
    reach = slopes_of_row(layers, work.units, work.forms, row, r, frontier, side, count, first_move)
    if reach == 0.0 and error32 < 0.0:
        return 0.0, 0.0, 0.0
    trial = work.scratch.trial
    error = layers.error[len(layers.widths) - 1]
    for i in range(count):
        row.mean[i] = 0.5 * (row.lower[i] + row.upper[i])
        trial[i] = row.lower[i] - row.mean[i]
    below = least_within(work.box, work.halves, in_force, trial, work.result[LOWER_OFFSET], count, error, net.plain)
    for i in range(count):
        trial[i] = row.mean[i] - row.upper[i]
    above = -least_within(work.box, work.halves, in_force, trial, -work.result[UPPER_OFFSET], count, error, net.plain)
    if below >= INFEASIBLE or above <= -INFEASIBLE:
        return 0.0, 0.0, 0.0
    below += layers.margin[r, 0] - error
    above += layers.margin[r, 1] + error
    cells = _cells_for(net, work, above - below, cells)
    # Where ``mean`` of a zero can be: within both bounds, and where the half-spaces leave any of the box.
    lowest, highest = -above, -below
    if in_force > 0:
        for i in range(count):
            trial[i] = row.mean[i]
        lowest = max(lowest, least_within(work.box, work.halves, in_force, trial, 0.0, count, error, net.plain) - error)
        for i in range(count):
            trial[i] = -row.mean[i]
        negated = least_within(work.box, work.halves, in_force, trial, 0.0, count, error, net.plain)
        highest = min(highest, error - negated)
    decided = low > 0.0 or high < 0.0 or reach == 0.0
    between = between32 = 1.0
    halved = in_force == 0 and frontier < len(layers.widths) - 1
    if halved:
        between, between32 = _between_bounds(net, work, r, error, error32, decided, count, cells)
    return _read_strips(
        net, work, below, above, lowest, highest, error32, decided, count, cells, halved, between, between32
    )


@part
def _cells_for(net: Net, work: Work, width: float, cells: int) -> int:
    """More cells where the strip is narrow: placing attributes on them, half of a cell each, is to move no more."""
    shared, finest = net.layers.widths[0], FINEST * cells
    reach = greatest(work.box, work.row.mean, 0, shared) - least(work.box, work.row.mean, 0, shared)
    while cells < finest and 0.5 * len(net.shape.kinds) * reach > width * cells:
        cells *= 2
    return cells


@part
def _between_bounds(
    net: Net, work: Work, r: int, error: float, error32: float, decided: bool, count: int, cells: int
) -> tuple[float, float]:
    """At most these shares of the box lie between the row's two bounds: not surely above 0 nor surely below it.

    Wherever on the path; in the second, not by more than float32's error. The greater of the two that the bounds leave
    is 1, and the other stays as it is, however small; or it is outward by far more than the difference is rounded.
    """
    fewest = fewest32 = 1.0
    most = most32 = 0.0
    for over in range(2):
        share, share32 = not_beyond(net, work, r, over, error, error32, decided, count, cells)
        fewest, most = min(fewest, share), max(most, share)
        fewest32, most32 = min(fewest32, share32), max(most32, share32)
    return max(fewest - (1.0 - most), 0.0), max(fewest32 - (1.0 - most32), 0.0)


@part
def not_beyond(
    net: Net, work: Work, r: int, over: int, error: float, error32: float, decided: bool, count: int, cells: int
) -> tuple[float, float]:
    """At most these shares of the box are not above 0 (``over``: below it) wherever on the path by the row's bound."""
    box, trial = work.box, work.scratch.trial
    shared = net.layers.widths[0]
    sign = -1.0 if over else 1.0
    form = work.row.upper if over else work.row.lower
    for i in range(count):
        trial[i] = sign * form[i]
    offset = sign * (work.result[UPPER_OFFSET if over else LOWER_OFFSET] + net.layers.margin[r, over]) - error
    offset += least(box, trial, shared, count)
    beyond = offset + greatest(box, trial, 0, shared)
    if beyond > (max(error32, 0.0) if decided else 0.0):
        return _not_above(net, work, offset, error32, count, cells)
    return 1.0, 1.0


@part
def _not_above(net: Net, work: Work, offset: float, error32: float, count: int, cells: int) -> tuple[float, float]:
    """At most these shares of the box have the form on trial plus ``offset`` at most 0, and at most float32's error."""
    shape, law, box, trial = net.shape, work.law, work.box, work.scratch.trial
    measure_spans(shape, law, box, trial)
    left_out, _, _, _ = choose_fibres(shape, law, box, work.row, net.layers.widths[0], count)
    side, top, step, spread, lowest = law_without(shape, law, box, trial, left_out, cells)
    slope, width, real, start = section_of(shape, law, box, trial, left_out)
    high = spread - offset - lowest - start
    share = mass_touching(law.mass[side], top, step, slope, width, real, -INFEASIBLE, high, INFEASIBLE)
    if error32 < 0.0:
        return share, share
    high += error32
    return share, mass_touching(law.mass[side], top, step, slope, width, real, -INFEASIBLE, high, INFEASIBLE)


@part
def _inside_halves(net: Net, work: Work, in_force: int, share: float, count: int, cells: int) -> tuple[float, int]:
    """At most this share of the box has any of its path in the half-space that seems to hold least of it; or 1.

    Which one that is, and whether it holds less than ``share``, is told by a normal distribution.
    """
    box, halves, shape, trial = work.box, work.halves, net.shape, work.scratch.trial
    shared = net.layers.widths[0]
    fewest = INFEASIBLE
    chosen = -1
    for j in range(in_force):
        half = halves.form[j]
        middle = halves.offset[j] + greatest(box, half, shared, count)
        variance = 0.0
        for attribute in range(len(shape.kinds)):
            low = least(box, half, shape.first[attribute], shape.first[attribute + 1])
            high = greatest(box, half, shape.first[attribute], shape.first[attribute + 1])
            middle += 0.5 * (low + high)
            variance += (high - low) ** 2 / 12.0
        if variance > 0.0 and middle < fewest * math.sqrt(variance):
            fewest = middle / math.sqrt(variance)
            chosen = j
    if chosen < 0 or fewest > 3.0 or 1.0 / (1.0 + math.exp(-1.7 * max(fewest, -100.0))) > _WORTH * share:
        return 1.0, -1
    for i in range(count):
        trial[i] = -halves.form[chosen, i]
    offset = least(box, trial, shared, count) - halves.offset[chosen] - net.layers.error[len(net.layers.widths) - 1]
    return _not_above(net, work, offset, -1.0, count, cells)[0], chosen


@part
def _read_strips(
    net: Net,
    work: Work,
    below: float,
    above: float,
    least_mean: float,
    greatest_mean: float,
    error32: float,
    decided: bool,
    count: int,
    cells: int,
    halved: bool,
    between: float,
    between32: float,
) -> tuple[float, float, float]:
    """Read three strips off the law of ``work.row.mean``: zeros, surely both signs, zeros within float32's error.

    The row minus ``mean`` lies between ``below`` and ``above``, and ``mean`` of a zero between the two that are named
    after it. Where the shares between its two bounds are known (``halved``), strips say more only by what a fibre can
    hold, and of who is surely unfair.
    """
    shape, law, box, mean = net.shape, work.law, work.box, work.row.mean
    shared = net.layers.widths[0]
    path_low = least(box, mean, shared, count)
    path_high = greatest(box, mean, shared, count)
    measure_spans(shape, law, box, mean)
    widest, sparsest, wide_fibres, sparse_fibres = choose_fibres(shape, law, box, work.row, shared, count)
    violating = 0.0 if decided else between
    falsified = 0.0
    violating32 = between32
    for attempt in range(2):
        left_out = widest if attempt == 0 else sparsest
        if attempt == 1 and (decided or sparsest < 0 or sparsest == widest or violating == 0.0):
            break
        if attempt == 0 and halved and wide_fibres >= INFEASIBLE and path_high - path_low <= above - below:
            continue
        side, top, step, spread, lowest = law_without(shape, law, box, mean, left_out, cells)
        masses = law.mass[side]
        slope, width, real, start = section_of(shape, law, box, mean, left_out)
        lowest += start
        low = least_mean - path_high - lowest - spread
        high = greatest_mean - path_low - lowest + spread
        if attempt == 1:
            sparse = mass_touching(masses, top, step, slope, width, real, low, high, sparse_fibres)
            violating = min(violating, sparse)
            break
        if not decided:
            wide = mass_touching(masses, top, step, slope, width, real, low, high, wide_fibres)
            violating = min(violating, wide)
            inner_low = -path_high - below - lowest + spread
            inner_high = -path_low - above - lowest - spread
            falsified = mass_inside(masses, top, step, slope, width, real, inner_low, inner_high)
        if error32 >= 0.0:
            wide = mass_touching(masses, top, step, slope, width, real, low - error32, high + error32, INFEASIBLE)
            violating32 = min(violating32, wide)
    return violating, falsified, max(violating, violating32 if error32 >= 0.0 else 0.0)
