"""From a task to the kernels' arrays: the flat network, its error bounds, and scratch space."""

from __future__ import annotations

import numpy as np

from fairdsl.backends.intervals.kernels.law import FINEST
from fairdsl.backends.intervals.kernels.layout import (
    TABLE,
    Box,
    Floats,
    Forms,
    Halves,
    Integers,
    Law,
    Layers,
    Net,
    Paths,
    Regions,
    Row,
    Scratch,
    Shape,
    Units,
    Work,
)
from fairdsl.backends.intervals.task import Curve, Task
from fairdsl.numerics.products import product

_UNIT_ROUNDOFF = 2.0**-53
_TINY = 1e-250


def net_of(task: Task) -> Net:
    """Flatten a task's network; tables lose their first column to the origin (ranges become narrower)."""
    first = task.weights[0].copy()
    origin = task.origin.copy()
    groups = task.groups.copy()
    for attribute in np.flatnonzero(task.kinds == TABLE):
        start, stop = task.first_coordinate[attribute : attribute + 2]
        base = first[:, start].copy()
        first[:, start:stop] -= base[:, None]
        origin += base
        groups += base
    weights = [first, *task.weights[1:]]
    widths = np.array([first.shape[1], *(matrix.shape[0] for matrix in weights)], dtype=np.int64)
    unit = np.concatenate([[0], np.cumsum(widths[1:])]).astype(np.int64)
    at = np.concatenate([[0], np.cumsum([matrix.size for matrix in weights])]).astype(np.int64)
    error, steep = _errors(task, first, origin)
    layers = Layers(
        widths=widths,
        weight=np.concatenate([matrix.ravel() for matrix in weights]),
        at=at,
        bias=np.concatenate([np.zeros(widths[1]), *task.biases]),
        unit=unit,
        slope=np.concatenate([*task.slopes, np.zeros(int(widths[-1]))]),
        curve=np.concatenate([*task.curves, np.zeros(int(widths[-1]))]).astype(np.int64),
        rivals=task.rivals.astype(np.int64),
        margin=task.margin,
        error=error,
        steep=steep,
        error32=np.full(int(widths[-1]), -1.0) if task.float32_error is None else task.float32_error,
    )
    paths = Paths(
        origin=origin,
        moves=np.ascontiguousarray(task.moves),
        move_start=task.move_start.astype(np.int64),
        simplex=task.simplex.astype(np.int64),
        groups=groups,
        group_start=task.group_start.astype(np.int64),
        corners=task.corners,
    )
    return Net(
        layers=layers,
        paths=paths,
        shape=Shape(task.kinds.astype(np.int64), task.sizes.astype(np.int64), task.first_coordinate.astype(np.int64)),
        forward_error=0.0 if _evaluates_exactly(task, first, groups) else float(error[-1]),
        strict=task.strict,
        plain=bool((task.kinds != TABLE).all() and _single_moves(task)),
        relaxed=task.relaxed,
    )


def _single_moves(task: Task) -> bool:
    """Whether every simplex is a segment."""
    return all(
        len(np.unique(task.simplex[a:b])) == b - a
        for a, b in zip(task.move_start[:-1], task.move_start[1:], strict=True)
    )


def _errors(task: Task, first: Floats, origin: Floats) -> tuple[Floats, Floats]:
    """Rounding error of affine forms by layer, and of slopes by coordinate.

    A coefficient is a sum of products along the network's paths (slopes of relaxations lie in [0, 1], of smooth
    units in [-1.5, 1.5]), an intercept at most doubles a unit's magnitude, of smooth ones four times: so the error is
    below gamma_N times the same sums over absolute values, N the number of operations along a path, in any order of
    summation. The constants leave room for the concretisation, for weights that are nearest floats and for the
    multipliers. What underflows, or is a float only because it must not be 0, is off by 2^-1074 at most before it is
    multiplied with the weights above: the constants that every layer adds are scaled by the same weights. Tables are
    measured as they were, too: near values far from zero lose digits when one is taken to the origin.
    """
    reach = np.where(task.kinds == TABLE, 1.0, task.sizes)[_owners(task)]
    moved = np.abs(task.moves).sum(axis=0) if len(task.moves) else np.zeros(first.shape[0])
    largest = np.abs(first) + np.abs(task.weights[0])
    magnitude = product(largest, reach) + np.abs(origin).max(axis=0) + np.abs(task.origin).max(axis=0) + moved
    # In every layer the constant covers products that underflow, as the 1 that is added to magnitudes does.
    columns = np.hstack([largest, np.abs(task.moves).T]) + _TINY
    operations = first.shape[1] + task.moves.shape[0] + 64 + sum(matrix.shape[1] + 8 for matrix in task.weights)
    gamma = 16.0 * operations * _UNIT_ROUNDOFF
    errors = [0.0, gamma * float(magnitude.max(initial=0.0))]
    for matrix, bias, curves in zip(task.weights[1:], task.biases, task.curves, strict=True):
        growth = np.where(curves > Curve.TANH, 2.0, 1.0)
        magnitude = product(np.abs(matrix), 2.0 * growth * magnitude + 1.0) + np.abs(bias)
        columns = product(np.abs(matrix), growth[:, None] * columns) + _TINY
        errors.append(gamma * float(magnitude.max()))
    # The floor covers what underflows.
    return np.maximum.accumulate(errors) + _TINY, gamma * columns.max(axis=0) + _TINY


def _evaluates_exactly(task: Task, first: Floats, groups: Floats) -> bool:
    """Whether float64 evaluates the network without any rounding: few bits in weights, no curves or slopes.

    Every intermediate value is a multiple of the product of the layers' granularities, so it is exact as
    long as its magnitude is below 2^53 times that.
    """
    if (
        not task.exact
        or any(curves.any() for curves in task.curves)
        or any(((s != 0) & (s != 1)).any() for s in task.slopes)
    ):
        return False
    reach = np.where(task.kinds == TABLE, 1.0, task.sizes)[_owners(task)]
    unit = _granularity(task.weights[0], task.origin, task.groups)
    largest = np.abs(first) + np.abs(task.weights[0])
    magnitude = product(largest, reach) + np.abs(groups).max(axis=0) + np.abs(task.groups).max(axis=0)
    if unit == 0.0 or magnitude.max() >= 2.0**52 * unit:
        return False
    for matrix, bias in zip(task.weights[1:], task.biases, strict=True):
        fine = _granularity(matrix)
        unit = min(unit * fine, _granularity(bias)) if bias.any() else unit * fine
        magnitude = product(np.abs(matrix), magnitude) + np.abs(bias)
        if unit == 0.0 or magnitude.max() >= 2.0**52 * unit:
            return False
    return True


def _granularity(*arrays: Floats) -> float:
    """The largest power of two that divides every entry (1 where all are zero)."""
    values = np.concatenate([np.abs(array).ravel() for array in arrays])
    values = values[values > 0.0]
    if not len(values):
        return 1.0
    mantissas, exponents = np.frexp(values)
    integers = np.ldexp(mantissas, 53).astype(np.int64)
    lowest = np.log2((integers & -integers).astype(np.float64)) - 53 + exponents
    return float(2.0 ** lowest.min())


def _owners(task: Task) -> Integers:
    """Which attribute each shared coordinate belongs to."""
    return np.repeat(np.arange(len(task.kinds)), np.diff(task.first_coordinate)).astype(np.int64)


def work_for(net: Net, cells: int, regions: int) -> Work:
    """Scratch space for a network; laws have so many ``cells`` or finer ones, a box at most so many ``regions``."""
    layers, shape = net.layers, net.shape
    coordinates = int(layers.widths[0]) + int(np.diff(net.paths.move_start).max())
    widest = max(int(layers.widths.max()), coordinates)
    units = int(layers.unit[-1])
    cells *= FINEST
    entries = cells + int(shape.sizes[shape.kinds == TABLE].max(initial=0)) + 8
    return Work(
        box=Box(np.zeros(coordinates), np.ones(coordinates), np.full(coordinates, -1, dtype=np.int64)),
        units=Units(
            np.zeros(units, dtype=np.int8),
            np.zeros(units, dtype=np.int64),
            np.zeros(len(layers.widths), dtype=np.int64),
            *(np.zeros(units) for _ in range(10)),
        ),
        forms=Forms(np.zeros((2, widest, coordinates)), np.zeros((2, widest)), np.zeros((2, widest))),
        halves=Halves(np.zeros((units + 1, coordinates)), np.zeros(units + 1), np.zeros(units + 1, dtype=np.int64)),
        scratch=Scratch(
            trial=np.zeros(coordinates),
            point=np.zeros(coordinates),
            start=np.zeros(int(layers.widths[1])),
            back=np.zeros((len(layers.widths), widest)),
            influence=np.zeros((2, widest)),
            hidden=np.zeros((2, widest)),
            beaten=np.zeros(int(layers.rivals.max(initial=1)) + 1, dtype=np.int8),
            position=np.zeros(len(shape.kinds), dtype=np.int32),
            along=np.zeros((units, coordinates)),
            left=np.zeros((4, int(layers.widths[-1]))),
        ),
        row=Row(*(np.zeros(coordinates) for _ in range(3)), *(np.zeros(widest) for _ in range(4))),
        law=Law(
            mass=np.zeros((2, cells + 8)),
            shift=np.zeros(entries, dtype=np.int64),
            weight=np.zeros(entries),
            order=np.zeros(len(shape.kinds) + 1, dtype=np.int64),
            span_low=np.zeros(len(shape.kinds)),
            span_high=np.zeros(len(shape.kinds)),
        ),
        regions=Regions(
            phase=np.zeros((2 * regions + 2, units), dtype=np.int8),
            parent=np.zeros(2 * regions + 2, dtype=np.int64),
            share=np.zeros(2 * regions + 2),
            share32=np.zeros(2 * regions + 2),
            total=np.zeros(2 * regions + 2),
            half=np.zeros(2 * regions + 2, dtype=np.int64),
            split=np.zeros(2 * regions + 2, dtype=np.int64),
            cut=np.zeros(2 * regions + 2, dtype=np.int64),
            first=np.zeros(2 * regions + 2, dtype=np.int64),
        ),
        result=np.zeros(10),
    )
