"""What a task says, by brute force over its positions: the definition that refinement must meet."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from itertools import product

import numpy as np

from fairdsl.backends.intervals.task import AttributeKind, Task
from tests.curve_floats import bent_floats

#: Rows of the small models of the tests are zero or far from it; decimals are rounded, ties are not lost.
_ZERO = 1e-9

Unit = tuple[int, ...]


@dataclass
class Counted:
    """Units by their positions: those in roots, and those of them whose groups decide differently."""

    units: set[Unit] = field(default_factory=set)
    violating: set[Unit] = field(default_factory=set)


def contributions(task: Task, unit: Unit) -> np.ndarray:
    """What the shared attributes contribute to the first layer."""
    total = np.zeros(task.weights[0].shape[0])
    for attribute, position in enumerate(unit):
        start = task.first_coordinate[attribute]
        if task.kinds[attribute] == AttributeKind.TABLE:
            total += task.weights[0][:, start + position]
        else:
            total += task.weights[0][:, start] * position
    return total


def rows(task: Task, z: np.ndarray) -> np.ndarray:
    """The rows for pre-activations of the first layer."""
    for matrix, bias, slope, curve in zip(task.weights[1:], task.biases, task.slopes, task.curves, strict=True):
        z = matrix @ bent_floats(z, slope, curve) + bias
    return np.where(np.abs(z) < _ZERO, 0.0, z)


def outcome(task: Task, z: np.ndarray) -> int:
    """The outcome that no row speaks against; ties go to the first rival, unless the comparison is strict."""
    found = rows(task, z)
    assert (np.abs(task.margin) < 1e-30).all(), "the oracle knows rational thresholds only"
    beaten = set()
    for (first, second), value in zip(task.rivals.tolist(), found, strict=True):
        wins = value > 0 or (value == 0 and not task.strict)
        beaten.add(second if wins else first)
    (left,) = {int(index) for index in task.rivals.ravel()} - beaten
    return left


def groups_of(task: Task, comparison: int) -> np.ndarray:
    """What each compared assignment contributes."""
    return task.groups[task.group_start[comparison] : task.group_start[comparison + 1]]


def support(task: Task, comparison: int, direction: np.ndarray) -> tuple[float, float]:
    """The least and the greatest value of a linear form on a comparison's path."""
    low = high = float(task.origin[comparison] @ direction)
    part = slice(task.move_start[comparison], task.move_start[comparison + 1])
    reached = defaultdict(lambda: [0.0])
    for number, move in zip(task.simplex[part].tolist(), task.moves[part], strict=True):
        reached[number].append(float(move @ direction))
    for values in reached.values():
        low, high = low + min(values), high + max(values)
    return low, high


def units_of(task: Task, root: int) -> list[Unit]:
    """All units of a root."""
    return list(product(*(range(a, b + 1) for a, b in zip(task.low[root], task.high[root], strict=True))))


def count(task: Task) -> Counted:
    """Every unit of every root; roots of one component are disjoint."""
    found = Counted()
    met: set[tuple[int, Unit]] = set()
    for root, (comparison, component) in enumerate(zip(task.comparison, task.component, strict=True)):
        for unit in units_of(task, root):
            assert (int(component), unit) not in met, "roots of one component overlap"
            met.add((int(component), unit))
            found.units.add(unit)
            shared = contributions(task, unit)
            if len({outcome(task, shared + group) for group in groups_of(task, comparison)}) > 1:
                found.violating.add(unit)
    assert len(found.units) == task.decided
    return found
