"""Whether the arrays of a task fit together: kernels follow its numbers without looking, so a file's are looked at."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.intervals.remainders import unfit
from fairdsl.backends.intervals.task import AttributeKind, Curve, Task


def check_task(task: Task) -> None:
    """ValueError that names a field with another type, shape or range than :class:`~.task.Task` says."""
    for name in ("strict", "relaxed", "exact"):
        _demand(type(getattr(task, name)) is bool, name)
    for name in ("decided", "vacuous", "undetermined"):
        count = getattr(task, name)
        _demand(type(count) is int and count >= 0, name)
    for name in ("weights", "biases", "slopes", "curves"):
        _demand(type(getattr(task, name)) is tuple, name)
    _check_layers(task)
    _check_attributes(task)
    _check_paths(task)
    _check_roots(task)
    _demand(type(task.remainders) is tuple, "remainders")
    if task.remainders:
        _demand(len(task.remainders) == len(task.rounded), "remainders")
        _demand(not any(map(unfit, task.rounded, task.remainders)), "remainders")


def _check_layers(task: Task) -> None:
    weights = task.weights
    _demand(bool(weights), "weights")
    for number, matrix in enumerate(weights):
        _floats(matrix, "weights", (None, weights[number - 1].shape[0] if number else None))
        _demand(matrix.shape[0] > 0, "weights")
    hidden, rows = [matrix.shape[0] for matrix in weights[:-1]], weights[-1].shape[0]
    for name in ("biases", "slopes", "curves"):
        _demand(len(getattr(task, name)) == len(hidden), name)
    for width, bias in zip([*hidden[1:], rows], task.biases, strict=False):
        _floats(bias, "biases", (width,))
    for width, slope, curve in zip(hidden, task.slopes, task.curves, strict=True):
        _floats(slope, "slopes", (width,), 0, 1)
        _integers(curve, "curves", (width,), 0, max(Curve))
    _integers(task.rivals, "rivals", (rows, 2), 0, rows)
    _floats(task.margin, "margin", (rows, 2))
    _demand(bool((task.margin[:, 0] <= task.margin[:, 1]).all()), "margin")
    if task.float32_error is not None:
        _floats(task.float32_error, "float32_error", (rows,), 0)


def _check_attributes(task: Task) -> None:
    _integers(task.kinds, "kinds", (None,), 0, max(AttributeKind))
    attributes = len(task.kinds)
    _integers(task.sizes, "sizes", (attributes,), 0)  # 0: nobody has a value, and there is no root
    coordinates = task.weights[0].shape[1]
    _starts(task.first_coordinate, "first_coordinate", attributes, coordinates)
    columns = np.where(task.kinds == AttributeKind.TABLE, task.sizes, 1)
    _demand(np.array_equal(np.diff(task.first_coordinate), columns), "first_coordinate")


def _check_paths(task: Task) -> None:
    units = task.weights[0].shape[0]
    _floats(task.origin, "origin", (None, units))
    comparisons = len(task.origin)
    _floats(task.moves, "moves", (None, units))
    _starts(task.move_start, "move_start", comparisons, len(task.moves))
    _integers(task.simplex, "simplex", (len(task.moves),), 0, max(len(task.moves) - 1, 0))
    _floats(task.groups, "groups", (None, units))
    _starts(task.group_start, "group_start", comparisons, len(task.groups))
    _array(task.corners, "corners", np.bool_, (comparisons,))


def _check_roots(task: Task) -> None:
    attributes = len(task.kinds)
    _integers(task.low, "low", (None, attributes), 0)
    roots = len(task.low)
    _integers(task.high, "high", (roots, attributes), 0)
    _demand(bool((task.low <= task.high).all()), "low")
    _demand(bool((task.high < task.sizes).all()), "high")
    _integers(task.comparison, "comparison", (roots,), 0, len(task.origin) - 1)
    _integers(task.component, "component", (roots,), 0, max(roots - 1, 0))


def _starts(array: NDArray[np.generic], name: str, parts: int, total: int) -> None:
    """Where parts of something begin, and where the last one ends."""
    _integers(array, name, (parts + 1,), 0, total)
    ends = array.tolist()
    _demand(ends[0] == 0 and ends[-1] == total and all(a <= b for a, b in pairwise(ends)), name)


def _floats(
    array: NDArray[np.generic], name: str, shape: tuple[int | None, ...], low: float | None = None, high: float = np.inf
) -> None:
    _array(array, name, np.float64, shape)
    _demand(not np.isnan(array).any(), name)
    _within(array, name, -np.inf if low is None else low, high)


def _integers(
    array: NDArray[np.generic], name: str, shape: tuple[int | None, ...], low: int, high: int = 2**62
) -> None:
    _array(array, name, np.int64, shape)
    _within(array, name, low, high)


def _within(array: NDArray[np.generic], name: str, low: float, high: float) -> None:
    _demand(bool(((array >= low) & (array <= high)).all()), name)  # type: ignore[operator]


def _array(array: NDArray[np.generic], name: str, kind: type[np.generic], shape: tuple[int | None, ...]) -> None:
    """An array of that type and shape; None: of any length."""
    _demand(isinstance(array, np.ndarray) and array.dtype == np.dtype(kind), name)
    _demand(array.ndim == len(shape), name)
    _demand(all(is_ == said for is_, said in zip(array.shape, shape, strict=True) if said is not None), name)


def _demand(fits: bool, name: str) -> None:
    if not fits:
        raise ValueError(f"`{name}` of its task is not what the rest of it needs")
