"""Small tasks for the kernels, random and made by hand, and what is true of them by enumeration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.intervals.task import AttributeKind, Curve, Task
from tests.curve_floats import bent_floats

Floats = NDArray[np.float64]
#: A comparison: where its paths start, and the moves of each simplex.
Path = tuple[Sequence[float], Sequence[Sequence[Sequence[float]]]]

#: Rows of curved networks that are closer to zero are in doubt.
_ROUNDING = 1e-9

LATTICE, TABLE, REAL = AttributeKind.LATTICE, AttributeKind.TABLE, AttributeKind.REAL


def network(
    kinds: Sequence[AttributeKind],
    sizes: Sequence[int],
    layers: Sequence[tuple[Any, Any]],
    paths: Sequence[Path],
    **changes: Any,
) -> Task:
    """A task on the whole domain with the first path; all vertices of a path are compared.

    ``layers``: weights and biases; the first layer's biases are added to every origin. Units are ReLUs.
    """
    weights = tuple(np.array(weight, dtype=np.float64) for weight, _ in layers)
    biases = [np.array(bias, dtype=np.float64) for _, bias in layers]
    paths = [(np.asarray(origin, dtype=np.float64) + biases[0], simplices) for origin, simplices in paths]
    units = weights[0].shape[0]
    moves, simplex, groups, move_start, group_start = [], [], [], [0], [0]
    for origin, simplices in paths:
        for number, vertices in enumerate(simplices):
            moves += [np.asarray(move, dtype=np.float64) for move in vertices]
            simplex += [number] * len(vertices)
        corners = product(*([np.zeros(units), *map(np.asarray, vertices)] for vertices in simplices))
        groups += [origin + sum(corner, np.zeros(units)) for corner in corners]
        move_start.append(len(moves))
        group_start.append(len(groups))
    columns = [size if kind == TABLE else 1 for kind, size in zip(kinds, sizes, strict=True)]
    rows = len(weights[-1])
    pairs = {1: [(1, 0)], 3: [(0, 1), (0, 2), (1, 2)]}[rows]
    arrays: dict[str, Any] = {
        "kinds": np.array(kinds, dtype=np.int64),
        "sizes": np.array(sizes, dtype=np.int64),
        "first_coordinate": np.concatenate([[0], np.cumsum(columns)]).astype(np.int64),
        "weights": weights,
        "biases": tuple(biases[1:]),
        "slopes": tuple(np.zeros(len(weight)) for weight in weights[:-1]),
        "curves": tuple(np.zeros(len(weight), dtype=np.int64) for weight in weights[:-1]),
        "rivals": np.array(pairs, dtype=np.int64),
        "margin": np.zeros((rows, 2)),
        "strict": rows == 1,
        "origin": np.array([origin for origin, _ in paths]),
        "moves": np.array(moves).reshape(-1, units),
        "move_start": np.array(move_start, dtype=np.int64),
        "simplex": np.array(simplex, dtype=np.int64),
        "groups": np.array(groups).reshape(-1, units),
        "group_start": np.array(group_start, dtype=np.int64),
        "relaxed": False,
        "corners": np.ones(len(paths), dtype=np.bool_),
        "exact": True,
        "low": np.zeros((1, len(sizes)), dtype=np.int64),
        "high": np.array([sizes], dtype=np.int64) - 1,
        "comparison": np.zeros(1, dtype=np.int64),
        "component": np.zeros(1, dtype=np.int64),
        "decided": int(np.prod([int(size) for size in sizes])),
        "vacuous": 0,
        "undetermined": 0,
        "float32_error": None,
    }
    return Task(**(arrays | changes))


def random_task(seed: int, *, real: bool = False, curved: bool = False, whole: bool = False) -> Task:
    """A small task. Without ``curved`` or ``real``, weights are small integers or quarters: no operation rounds."""
    rng = np.random.default_rng(seed)
    kinds = [AttributeKind(int(kind)) for kind in rng.choice([LATTICE, LATTICE, TABLE], rng.integers(2, 5))]
    if real:
        kinds[-1] = REAL
    sizes = rng.integers(2, 6, len(kinds)).tolist()
    coordinates = sum(size if kind == TABLE else 1 for kind, size in zip(kinds, sizes, strict=True))
    rows = int(rng.choice([1, 1, 3]))
    widths = [coordinates, *rng.integers(1, 6, rng.integers(0, 4)).tolist(), rows]
    unit = 0.25 if rng.random() < 0.3 else 1.0
    layers = [
        (unit * rng.integers(-3, 4, (above, below)), unit * rng.integers(-4, 5, above))
        for below, above in pairwise(widths)
    ]
    if len(layers) == 1 and rows == 3:  # differences of scores must agree with each other
        score = np.array([[1, -1, 0], [1, 0, -1], [0, 1, -1]])
        layers = [(score @ layers[0][0], score @ layers[0][1])]
    elif rows == 3:
        scores = unit * rng.integers(-3, 4, (3, widths[-2]))
        layers[-1] = (np.array([[1, -1, 0], [1, 0, -1], [0, 1, -1]]) @ scores, np.zeros(3))
    shape = [[1], [2], [1, 1], [3], [1, 2]][int(rng.integers(5))]
    paths: list[Path] = [
        (
            unit * rng.integers(-4, 5, widths[1]),
            [unit * rng.integers(-4, 5, (moves, widths[1])) for moves in shape],
        )
        for _ in range(2)
    ]
    if len(layers) == 1 and rows == 3:
        paths = [(score @ origin, [moves @ score.T for moves in simplices]) for origin, simplices in paths]
    slopes = [rng.choice([0.0, 0.0, 0.25, 1.0], width) for width in widths[1:-1]]
    curves = [rng.choice([0, *map(int, Curve)], width) * curved for width in widths[1:-1]]
    changes: dict[str, Any] = {} if whole else _roots(rng, sizes)
    if rows == 1 and rng.random() < 0.3:
        changes["margin"] = np.array([[-0.25, 0.5]])
    if rng.random() < 0.5:
        changes["float32_error"] = np.full(rows, 0.25)
    return network(
        kinds,
        sizes,
        layers,
        paths,
        slopes=tuple(slopes),
        curves=tuple(np.asarray(curve, dtype=np.int64) for curve in curves),
        strict=rows == 1 and bool(rng.integers(2)),
        **changes,
    )


def _roots(rng: np.random.Generator, sizes: Sequence[int]) -> dict[str, Any]:
    """Two disjoint boxes of one component, or two components that share all units."""
    low, high = np.zeros((2, len(sizes)), dtype=np.int64), np.array([sizes, sizes], dtype=np.int64) - 1
    component = np.array([0, 1], dtype=np.int64)
    if rng.integers(2):
        component[1] = 0
        high[0, 0], low[1, 0] = 0, 1
    return {"low": low, "high": high, "comparison": np.array([0, 1], dtype=np.int64), "component": component}


def shared_part(task: Task, positions: Floats) -> Floats:
    """What positions of the shared attributes contribute to the first layer, [points, units]."""
    total = np.zeros((len(positions), task.weights[0].shape[0]))
    for attribute, kind in enumerate(task.kinds):
        columns = task.weights[0][:, task.first_coordinate[attribute] : task.first_coordinate[attribute + 1]].T
        values = positions[:, attribute]
        total += columns[values.astype(np.int64)] if kind == TABLE else values[:, None] * columns[0]
    return total


def pre_activations(task: Task, z: Floats) -> list[Floats]:
    """Those of every layer, the rows last, for those of the first: [points, units] each."""
    found = [z]
    for weight, bias, slope, curve in zip(task.weights[1:], task.biases, task.slopes, task.curves, strict=True):
        found.append(bent_floats(found[-1], slope, curve) @ weight.T + bias)
    return found


def path_points(task: Task, comparison: int, rng: np.random.Generator, count: int) -> Floats:
    """Random points of a comparison's path: weights of its moves, [count, moves]; vertices more often."""
    simplex = task.simplex[task.move_start[comparison] : task.move_start[comparison + 1]]
    found = np.zeros((count, len(simplex)))
    for number in np.unique(simplex):
        members = np.flatnonzero(simplex == number)
        weights = rng.dirichlet(np.full(len(members) + 1, 0.5), count)
        corner = rng.integers(2, size=count).astype(bool)
        weights[corner] = np.eye(len(members) + 1)[rng.integers(len(members) + 1, size=corner.sum())]
        found[:, members] = weights[:, :-1]
    return found


def on_path(task: Task, comparison: int, weights: Floats) -> Floats:
    """What points of a path contribute to the first layer."""
    part = slice(task.move_start[comparison], task.move_start[comparison + 1])
    return task.origin[comparison] + weights @ task.moves[part]


def units_of(low: Sequence[int], high: Sequence[int]) -> Floats:
    """All positions of a box, [units, attributes]."""
    return np.array(list(product(*(range(a, b + 1) for a, b in zip(low, high, strict=True)))), dtype=np.float64)


def outcomes(task: Task, rows: Floats) -> NDArray[np.int64]:
    """The decision on each [points, rows]."""
    if rows.shape[1] == 1:
        return ((rows[:, 0] > 0) | ((rows[:, 0] == 0) & (not task.strict))).astype(np.int64)
    beaten = np.zeros((len(rows), int(task.rivals.max()) + 1), dtype=bool)
    for r, (first, second) in enumerate(task.rivals.tolist()):
        beaten[rows[:, r] < 0, first] = True
        beaten[rows[:, r] >= 0, second] = True
    clear = (np.abs(rows) >= _ROUNDING).all(axis=1)
    assert (beaten[clear].sum(axis=1) == beaten.shape[1] - 1).all(), "rows must be differences of scores"
    return beaten.argmin(axis=1).astype(np.int64)


@dataclass(frozen=True)
class Units:
    """Which units are treated unfairly: surely, possibly (curves are evaluated in float64), and so in float32."""

    surely: Any
    maybe: Any
    maybe32: Any


def unfair(task: Task, positions: Floats, comparison: int, added: float = 0.0) -> Units:
    """By evaluating every compared assignment; ``added`` is the margin's value."""
    shared = shared_part(task, positions)
    curved = any(curve.any() for curve in task.curves)
    error = np.zeros(len(task.rivals)) if task.float32_error is None else task.float32_error
    decided, known, near = [], [], []
    for group in task.groups[task.group_start[comparison] : task.group_start[comparison + 1]]:
        rows = pre_activations(task, shared + group)[-1] + added
        decided.append(outcomes(task, rows))
        known.append((np.abs(rows) >= _ROUNDING * curved).all(axis=1))
        near.append((np.abs(rows) <= error).any(axis=1) & (len(task.rivals) == 1))
    each, sure = np.array(decided), np.array(known)
    first, last = np.where(sure, each, 9).min(axis=0), np.where(sure, each, -1).max(axis=0)
    maybe = (each != each[0]).any(axis=0) | ~sure.all(axis=0)
    return Units(surely=first < last, maybe=maybe, maybe32=maybe & (first < last) | np.any(near, axis=0))


def counted(task: Task, added: float = 0.0) -> tuple[int, int, int]:
    """Units of the roots, as :class:`Units` tells them apart."""
    found: tuple[set[Any], set[Any], set[Any]] = (set(), set(), set())
    for low, high, comparison in zip(task.low, task.high, task.comparison.tolist(), strict=True):
        positions = units_of(low, high)
        units = unfair(task, positions, comparison, added)
        for which, chosen in zip(found, (units.surely, units.maybe, units.maybe32), strict=True):
            which |= set(map(tuple, positions[chosen].tolist()))
    return len(found[0]), len(found[1]), len(found[2])
