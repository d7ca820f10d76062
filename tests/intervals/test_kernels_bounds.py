"""What a node knows about its region, against points of it: forms, phases, slopes, zeros and shares."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdsl.backends.intervals.kernels.layout import (
    LATTICE,
    OFF,
    OFF_BY_SPLIT,
    ON,
    ON_BY_SPLIT,
    OPEN,
    TABLE,
    Net,
    Work,
)
from fairdsl.backends.intervals.kernels.node import FALSIFIED, VIOLATING, VIOLATING32
from fairdsl.backends.intervals.kernels.pack import net_of, work_for
from fairdsl.backends.intervals.refine import Refinement
from fairdsl.backends.intervals.task import Curve, Task
from tests.drawing import examples
from tests.intervals.called_parts import (
    analyse,
    analyses_of_groups,
    bound_groups,
    choose_fibres,
    compose,
    load_slot,
    measure_spans,
    relax,
    row_bound,
    row_least,
    slopes_of_row,
)
from tests.intervals.kernel_tasks import (
    network,
    on_path,
    path_points,
    pre_activations,
    random_task,
    shared_part,
    unfair,
    units_of,
)

some = settings(deadline=None, max_examples=examples(0.5))
seeds = st.integers(0, 2**32 - 1)
_CELLS = 64
_PATHS = 60
#: Comparison 0, of the type that kernels give it: they are not compiled anew for a plain int.
FIRST = np.int32(0)


@dataclass
class Node:
    """A box of a task's comparison 0 with some units' phases fixed by splits, and points of its region.

    ``inputs`` are coordinates as the kernels have them, ``layers`` all pre-activations, ``unit`` the number of
    each point's unit.
    """

    task: Task
    net: Net
    work: Work
    count: int
    positions: Any
    inputs: Any
    layers: list[Any]
    unit: Any


def node_of(seed: int, *, curved: bool = False, splits: bool = True) -> Node:
    rng = np.random.default_rng(seed)
    task = random_task(seed, curved=curved, whole=True)
    net = net_of(task)
    work = work_for(net, _CELLS, 4)
    tree = Refinement.start(task)._tree
    low = np.array([rng.integers(size) for size in task.sizes])
    high = np.array([rng.integers(a, size) for a, size in zip(low, task.sizes, strict=True)])
    tree.low[0], tree.high[0] = low, high
    load_slot(net, work, tree, 0)
    positions = units_of(low.tolist(), high.tolist())
    weights = path_points(task, 0, rng, _PATHS)
    shared = shared_part(task, positions)
    z = (shared[:, None, :] + on_path(task, 0, weights)[None, :, :]).reshape(-1, shared.shape[1])
    layers = pre_activations(task, z)
    inside = np.ones(len(z), dtype=bool)
    if splits and len(layers) > 1 and rng.random() < 0.7:
        for p in range(len(task.slopes[0])):
            if task.curves[0][p] == 0 and work.units.phase[p] == OPEN and rng.random() < 0.4:
                on = bool(rng.integers(2))
                work.units.phase[p] = ON_BY_SPLIT if on else OFF_BY_SPLIT
                inside &= layers[0][:, p] >= 0 if on else layers[0][:, p] <= 0
    inputs = np.concatenate(
        [np.repeat(coordinates(task, positions), len(weights), 0), np.tile(weights, (len(positions), 1))], 1
    )
    unit = np.repeat(np.arange(len(positions)), len(weights))
    return Node(
        task, net, work, inputs.shape[1], positions, inputs[inside], [part[inside] for part in layers], unit[inside]
    )


def coordinates(task: Task, positions: Any) -> Any:
    """Positions as coordinates: the position, or an indicator each."""
    parts = []
    for attribute, kind in enumerate(task.kinds):
        column = positions[:, attribute]
        parts.append(column[:, None] == np.arange(task.sizes[attribute]) if kind == TABLE else column[:, None])
    return np.concatenate(parts, axis=1).astype(float)


def bounded(node: Node, steps: int = 0) -> tuple[int, int] | None:
    """Frontier and side once all bounds are there; None where the kernels find the region empty."""
    net, work = node.net, node.work
    work.scratch.start[:] = net.paths.origin[0]
    frontier, side, in_force = compose(net, work, 0, node.count)
    if frontier == 0 or not relax(net, work, frontier, side, node.count, in_force, 0):
        return None
    if steps and not relax(net, work, frontier, side, node.count, in_force, steps):
        return None
    return frontier, side


@some
@given(seeds, st.booleans(), st.sampled_from([0, 1, 4]))
def test_rows_and_units_are_enclosed(seed: int, curved: bool, steps: int) -> None:
    node = node_of(seed, curved=curved)
    found = bounded(node, steps)
    if found is None:
        assert not len(node.inputs), "a region with points in it is not empty"
        return
    frontier, side = found
    net, work = node.net, node.work
    last = len(net.layers.widths) - 1
    for layer in range(1, last):
        for p in range(net.layers.widths[layer]):
            unit, values = net.layers.unit[layer - 1] + p, node.layers[layer - 1][:, p]
            phase = work.units.phase[unit]
            if net.layers.curve[unit] == 0 and phase in (ON, ON_BY_SPLIT) and net.layers.slope[unit] != 1:
                assert (values >= -1e-9).all()
            elif phase in (OFF, OFF_BY_SPLIT):
                assert (values <= 1e-9).all()
            dead = phase in (OFF, OFF_BY_SPLIT) and net.layers.slope[unit] == 0
            if phase == OPEN or (layer >= frontier and frontier + 2 < last and not dead):  # ranges rest on fixed ones
                assert (work.units.below[unit] - 1e-9 <= values).all()
                assert (values <= work.units.above[unit] + 1e-9).all()
    form = np.zeros(node.count)
    error = net.layers.error[last]
    for r in range(net.layers.widths[last]):
        for lower in (True, False):
            offset, between, _ = row_bound(
                net.layers,
                work.units,
                work.forms,
                work.scratch.back,
                form,
                last,
                r,
                frontier,
                side,
                lower,
                True,
                node.count,
            )
            gap = (node.layers[-1][:, r] - node.inputs @ form - offset) * (1 if lower else -1)
            assert (gap >= -error - 1e-12).all()
            assert ((node.layers[-1][:, r] - between) * (1 if lower else -1) >= -error - 1e-12).all()


@some
@given(seeds, st.floats(0.1, 1.0))
def test_steps_keep_bounds_of_deep_rows(seed: int, part: float) -> None:
    """Against 10,000 points of a box of a network in which relaxations add up."""
    rng = np.random.default_rng(seed)
    widths = [5, 7, 6, 6, 5, 1]
    layers = [(rng.normal(size=(b, a)) / np.sqrt(a), rng.normal(size=b)) for a, b in pairwise(widths)]
    task = network([LATTICE] * 5, [9] * 5, layers, [(np.zeros(7), [rng.normal(size=(1, 7))])], exact=False)
    net, tree = net_of(task), Refinement.start(task)._tree
    tree.low[0] = rng.integers(0, 5, 5)
    tree.high[0] = np.minimum(tree.low[0] + np.ceil(4 * part), 8)
    positions = rng.integers(tree.low[0], tree.high[0] + 1, size=(10_000, 5))
    weights = path_points(task, 0, rng, 10_000)[rng.integers(10_000, size=10_000)]
    layers_of = pre_activations(task, shared_part(task, positions.astype(float)) + on_path(task, 0, weights))
    rows = layers_of[-1][:, 0]
    known: list[tuple[Any, Any]] = []
    for steps in (0, 3):
        work = work_for(net, _CELLS, 4)
        load_slot(net, work, tree, 0)
        node = Node(task, net, work, 6, positions, rows, layers_of, rows)
        found = bounded(node, steps)
        assert found is not None
        frontier, side = found
        bounds = [row_least(net, work, 5, 0, frontier, side, lower, False, 6, 0, steps) for lower in (True, False)]
        assert bounds[0] - net.layers.error[5] <= rows.min()
        assert rows.max() <= -bounds[1] + net.layers.error[5]
        above = slice(net.layers.unit[frontier], net.layers.unit[4])
        known.append((work.units.below[above].copy(), work.units.above[above].copy()))
    assert (known[1][0] >= known[0][0]).all(), "what is known of units is kept"
    assert (known[1][1] <= known[0][1]).all()


@some
@given(seeds, st.booleans())
def test_slopes_and_zeros_of_fibres(seed: int, curved: bool) -> None:
    node = node_of(seed, curved=curved)
    found = bounded(node)
    if found is None or len(node.inputs) < 2:
        return
    frontier, side = found
    net, work, task = node.net, node.work, node.task
    box = work.box
    shared = int(net.layers.widths[0])
    rng = np.random.default_rng(seed)
    for r in range(net.layers.widths[-1]):
        reach = slopes_of_row(net.layers, work.units, work.forms, work.row, r, frontier, side, node.count, 0)
        low, high = work.row.slope_low[: node.count], work.row.slope_high[: node.count]
        values = node.layers[-1][:, r]
        one, other = rng.integers(len(values), size=(2, 400))
        # The region is convex: differences are integrals of the gradient along a segment in it.
        step, rise = node.inputs[one] - node.inputs[other], values[one] - values[other]
        most = (np.where(step > 0, high, low) * step).sum(axis=1)
        least = (np.where(step > 0, low, high) * step).sum(axis=1)
        assert ((least - 1e-9 <= rise) & (rise <= most + 1e-9)).all()
        if reach == 0.0:
            same = node.unit[one] == node.unit[other]
            assert (rise[same] == 0.0).all()
        work.row.mean[:] = 0.5 * (work.row.slope_low[: node.count] + work.row.slope_high[: node.count])
        measure_spans(net.shape, work.law, box, work.row.mean)
        widest, sparsest, wide, sparse = choose_fibres(net.shape, work.law, box, work.row, shared, node.count)
        both = both_signs(node, r)
        for attribute, zeros in ((widest, wide), (sparsest, sparse)):
            if attribute >= 0:
                assert task.kinds[attribute] == LATTICE
                others = np.delete(node.positions, attribute, axis=1)[both]
                _, met = np.unique(others, axis=0, return_counts=True)
                assert met.max(initial=0) <= zeros


def both_signs(node: Node, r: int) -> Any:
    """Units that have points of both signs in the region, strictly; it is convex, so a zero between them."""
    values = node.layers[-1][:, r]
    least, most = np.full(len(node.positions), np.inf), np.full(len(node.positions), -np.inf)
    np.minimum.at(least, node.unit, values)
    np.maximum.at(most, node.unit, values)
    return (least < -1e-9) & (most > 1e-9)


@some
@given(seeds, st.booleans())
def test_shares_of_regions(seed: int, curved: bool) -> None:
    node = node_of(seed, curved=curved)
    task, result = node.task, node.work.result
    if task.margin.any() or len(task.rivals) > 1:
        return
    analyse(node.net, node.work, FIRST, _CELLS)
    assert both_signs(node, 0).mean() <= result[VIOLATING]
    if task.float32_error is not None:
        near = np.zeros(len(node.positions), dtype=bool)
        near[node.unit[np.abs(node.layers[-1][:, 0]) <= task.float32_error[0]]] = True
        assert near.mean() <= result[VIOLATING32]


@some
@given(seeds, st.booleans())
def test_shares_of_boxes(seed: int, curved: bool) -> None:
    node = node_of(seed, curved=curved, splits=False)
    analyse(node.net, node.work, FIRST, _CELLS)
    result = node.work.result
    for added in np.unique(node.task.margin[0]):
        units = unfair(node.task, node.positions, 0, float(added))
        assert units.surely.mean() <= result[VIOLATING]
        assert result[FALSIFIED] <= units.maybe.mean()
        assert node.task.float32_error is None or units.maybe32.mean() <= result[VIOLATING32]


@some
@given(seeds, st.booleans())
def test_shares_by_each_group(seed: int, curved: bool) -> None:
    """Also where the path's ends stand for all who are compared; phases stay those of the whole path."""
    node = node_of(seed, curved=curved, splits=False)
    net, work = node.net, node.work
    analyse(net, work, FIRST, _CELLS)
    result, before = work.result, work.result.copy()
    if result[VIOLATING] <= result[FALSIFIED] or not analyses_of_groups(net, work, FIRST):
        return
    phases = work.units.phase.copy()
    bound_groups(net, work, FIRST, _CELLS)
    assert (work.units.phase == phases).all()
    assert result[VIOLATING] <= before[VIOLATING]
    assert result[FALSIFIED] >= before[FALSIFIED]
    for added in np.unique(node.task.margin[0]):
        units = unfair(node.task, node.positions, 0, float(added))
        assert units.surely.mean() <= result[VIOLATING]
        assert result[FALSIFIED] <= units.maybe.mean()
        assert node.task.float32_error is None or units.maybe32.mean() <= result[VIOLATING32]


@pytest.mark.parametrize("moves", [[[2.0]], [[2.0], [-1.0]]])
@pytest.mark.parametrize("bias", [0.125, -0.25])
def test_groups_decide_what_no_box_of_a_path_does(moves: list[list[float]], bias: float) -> None:
    """Of boxes of one unit, GELU at x / 8 - 4 and further along the path: its lines are apart by what the path adds.

    With 0.125 added it is above 0 everywhere, and falls as well as rises. Of three assignments none is between others.
    """
    gelu = (np.array([int(Curve.GELU)]),)
    layers = [([[0.125]], [-4.0]), ([[1.0]], [bias])]
    task = network([LATTICE], [64], layers, [(np.zeros(1), [moves])], curves=gelu)
    net, tree = net_of(task), Refinement.start(task)._tree
    left = np.zeros((2, 64))
    for x in range(64):
        work = work_for(net, _CELLS, 4)
        tree.low[0, 0] = tree.high[0, 0] = x
        load_slot(net, work, tree, 0)
        analyse(net, work, FIRST, _CELLS)
        left[:, x] = work.result[VIOLATING] - work.result[FALSIFIED]
        if left[0, x] > 0.0:
            bound_groups(net, work, FIRST, _CELLS)
            left[1, x] = work.result[VIOLATING] - work.result[FALSIFIED]
        units = unfair(task, np.array([[float(x)]]), 0)
        assert work.result[FALSIFIED] <= units.surely[0] == units.maybe[0] <= work.result[VIOLATING]
    assert left[0].sum() >= 3
    assert left[1].sum() < 1e-6


def test_a_box_counts_for_what_two_half_spaces_leave_of_it() -> None:
    """Of x + max(y - 5, 0) - 3 with a path of length 4: at x > 3 all are granted; a slab around the mean holds more."""
    layers = [([[1, 0], [0, 1]], [0, -5]), ([[1, 1]], [-3])]
    task = network([LATTICE] * 2, [11, 11], layers, [(np.zeros(2), [[[4, 0]]])])
    net, tree = net_of(task), Refinement.start(task)._tree
    work = work_for(net, _CELLS, 4)
    load_slot(net, work, tree, 0)
    analyse(net, work, FIRST, _CELLS)
    units = unfair(task, units_of([0, 0], [10, 10]), 0, 0.0)
    assert units.surely.sum() == 30
    assert 30 / 121 <= work.result[VIOLATING] <= 44 / 121 + 1e-6


def test_a_region_counts_for_no_more_than_what_its_half_space_leaves() -> None:
    """Of a tent over x >= 90, at h = x - 90 it is h - 2 max(h - 4.5, 0) - 3: whose bounds meet 0 on 18 of 100 units."""
    layers = [([[1]], [-90]), ([[1], [1]], [0, -4.5]), ([[1, -2]], [-3])]
    task = network([LATTICE], [100], layers, [(np.zeros(1), [[[0.25]]])])
    net, tree = net_of(task), Refinement.start(task)._tree
    work = work_for(net, _CELLS, 4)
    load_slot(net, work, tree, 0)
    work.units.phase[0] = ON_BY_SPLIT
    analyse(net, work, FIRST, _CELLS)
    assert 2 / 100 <= work.result[VIOLATING] <= 0.11 + 1e-6


def test_a_region_counts_for_no_more_than_the_half_space_that_holds_least() -> None:
    """Of max(y - 50, 0) + max(x - 90, 0) / 100 - 25, to which the path adds 100: three quarters by y, a tenth by x."""
    layers = [([[1, 0], [0, 1]], [-90, -50]), ([[0.01, 1]], [-25])]
    task = network([LATTICE] * 2, [100, 100], layers, [(np.zeros(2), [[[0, 100]]])])
    net, tree = net_of(task), Refinement.start(task)._tree
    work = work_for(net, _CELLS, 4)
    load_slot(net, work, tree, 0)
    work.units.phase[0] = ON_BY_SPLIT
    analyse(net, work, FIRST, _CELLS)
    assert 0.075 <= work.result[VIOLATING] <= 0.1 + 1e-6


def test_one_unit_of_very_many_is_not_lost_between_two_half_spaces() -> None:
    """At x = 0 and y <= 5 only is x_1 + .. + x_200 + max(y - 5, 0) - 1/2 with a path of length 1 of both signs."""
    count, cells = 200, 1024
    layers = [([[1] * count + [0], [0] * count + [1]], [0, -5]), ([[1, 1]], [-0.5])]
    task = network([LATTICE] * (count + 1), [2] * count + [11], layers, [(np.zeros(2), [[[1, 0]]])])
    net, tree = net_of(task), Refinement.start(task)._tree
    work = work_for(net, cells, 4)
    load_slot(net, work, tree, 0)
    analyse(net, work, FIRST, cells)
    assert 2.0**-count * 6 / 11 <= work.result[VIOLATING] < 1e-20
