"""The strategy: draw, walk to the decision boundary, and climb along it.

Violations sit where a protected attribute carries a score across the threshold, that is near the
boundary. Three moves lead there, all in batches:

* *bisection*: between a granted and a refused individual, exchange attributes one after the other until
  the decision turns, then halve the last attribute's step: a point whose neighbour is decided otherwise;
* *descent*: change one attribute of every centre at random, keep what is nearer to a violation;
* *restart* of centres that no longer improve, from fresh draws and from the boundary.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.search.clusters import Clusters, Measured
from fairdsl.backends.search.evaluators import Evaluator
from fairdsl.backends.search.sampling import Sampler
from fairdsl.numerics.exchange import exchanged

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

_POPULATION = 512
_FRESH = 1024
#: Rounds without progress after which a centre is replaced.
_PATIENCE = 40
#: Halvings of a number at most.
_HALVINGS = 24


def climb(
    sampler: Sampler, clusters: Clusters, batch: int, draw: Callable[[int], FloatArray] | None = None
) -> Iterator[Measured]:
    """Measured clusters without end; those with distance 0 or less are candidates.

    ``batch`` is how many clusters are evaluated at once at most, ``draw`` where centres come from (None: from the
    sampler).
    """
    population = min(_POPULATION, max(16, batch))
    fresh = min(_FRESH, max(16, batch))
    while True:
        found = clusters.measure((draw or sampler.draw)(fresh))
        yield found
        if not len(found.distances):
            continue
        centres = found.members[:, 0, :]
        order = np.argsort(found.distances, kind="stable")[: population // 2]
        seeds = [centres[order]]
        boundary = _boundary(found, sampler, population // 2)
        if len(boundary):
            measured = clusters.measure(boundary)
            yield measured
            seeds.append(boundary)
        if clusters.free:
            yield from _descend(np.concatenate(seeds), sampler, clusters)


def _descend(centres: FloatArray, sampler: Sampler, clusters: Clusters) -> Iterator[Measured]:
    """Improve all centres by single-attribute changes until none improves any more."""
    rng, free = sampler.rng, clusters.free
    distances = clusters.measure(centres).distances
    idle = np.zeros(len(centres), dtype=np.int64)
    while len(centres):
        proposed = centres.copy()
        chosen = rng.integers(0, len(free), len(centres))
        for position, attribute in enumerate(free):
            rows = np.flatnonzero(chosen == position)
            column = sampler.columns[attribute]
            proposed[rows, attribute] = column.step(proposed[rows, attribute], rng)
        found = clusters.measure(proposed)
        yield found
        better = found.distances < distances
        taken = found.distances <= distances
        centres[taken], distances[taken] = proposed[taken], found.distances[taken]
        idle = np.where(better, 0, idle + 1)
        # A centre that reached a violation has done its work; others may wander elsewhere.
        staying = (distances > 0) & (idle < _PATIENCE)
        centres, distances, idle = centres[staying], distances[staying], idle[staying]


def _boundary(found: Measured, sampler: Sampler, count: int) -> FloatArray:
    """Points beside the decision boundary, between individuals that are decided differently."""
    members = found.members[found.valid]
    decisions = found.decisions[found.valid]
    outcomes, counts = np.unique(decisions, return_counts=True)
    if len(outcomes) < 2:
        return np.empty((0, members.shape[1]))
    rng = sampler.rng
    rare = outcomes[np.argmin(counts)]
    one = members[rng.choice(np.flatnonzero(decisions == rare), count)]
    other = members[rng.choice(np.flatnonzero(decisions != rare), count)]
    return bisect(one, other, lambda points: _is(found.evaluator, points, rare), sampler)


def _is(evaluator: Evaluator, points: FloatArray, outcome: int) -> NDArray[np.bool_]:
    decided = evaluator.approximate_decisions(evaluator.approximate(points))
    return np.asarray(decided == outcome, dtype=np.bool_)


def bisect(
    one: FloatArray, other: FloatArray, like_one: Callable[[FloatArray], NDArray[np.bool_]], sampler: Sampler
) -> FloatArray:
    """Both sides of the boundary between rows of ``one`` and of ``other``; only individuals are kept."""
    near, far, last = exchanged(one, other, like_one, sampler.rng)
    rows = np.arange(len(one))
    ordered = np.array([column.ordered for column in sampler.columns])[last]
    for _ in range(_HALVINGS):
        middle_values = (near[rows, last] + far[rows, last]) / 2
        point = near.copy()
        for attribute in np.unique(last[ordered]).tolist():
            mine = ordered & (last == attribute)
            point[mine, attribute] = sampler.columns[attribute].settle(middle_values[mine])
        moved = ordered & (point[rows, last] != near[rows, last]) & (point[rows, last] != far[rows, last])
        if not moved.any():
            break
        alike = like_one(point)
        near = np.where((moved & alike)[:, None], point, near)
        far = np.where((moved & ~alike)[:, None], point, far)
    both = np.concatenate([near, far])
    kept: FloatArray = both[sampler.inside(both)]
    return kept
