"""Results that stand for many others: the middles of clusters.

Centres are chosen one after the other, each as far as can be from those before it (Gonzalez, *Clustering to minimize
the maximum intercluster distance*, Theoretical Computer Science 38, 1985); every point goes to its nearest centre; a
cluster's centre becomes its medoid, the member with the smallest sum of distances to the others, and points are
assigned anew (k-medoids; Kaufman and Rousseeuw, *Finding Groups in Data*, 1990). Of large clusters a part of the
members is looked at, chosen by their places and not at random, so the same points give the same medoid.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]

#: Points that are clustered at most, members of which a medoid is the best, and rounds of assigning anew.
_POINTS, _MEMBERS, _ROUNDS = 10_000, 256, 2


class Metric:
    """The mean over coordinates of a number's distance as a part of its length, and of a name's 0 or 1."""

    def __init__(self, lengths: FloatArray, ordered: BoolArray) -> None:
        self._lengths, self._ordered = np.where(lengths > 0, lengths, 1.0), ordered

    def __call__(self, points: FloatArray, other: FloatArray) -> FloatArray:
        """The distances of points [n, w] and one [w], or as many."""
        if not points.shape[-1]:  # everything differs, and nothing is shared
            return np.zeros(len(points))
        apart = np.abs(points - other)
        found: FloatArray = np.where(self._ordered, apart / self._lengths, apart > 0).mean(axis=-1)
        return found


def middles(points: FloatArray, clusters: int, metric: Metric) -> list[int]:
    """The rows that are the medoids of at most so many clusters, of the largest first; ValueError without points."""
    if not len(points):
        raise ValueError("there is nothing to cluster")
    chosen = _some(np.arange(len(points)), _POINTS)
    some = points[chosen]
    centres = _far_apart(some, clusters, metric)
    owners = _assigned(some, centres, metric)
    for _ in range(_ROUNDS):
        members = [np.flatnonzero(owners == place) for place in range(len(centres))]
        centres = np.array([_medoid(some, mine, metric) for mine in members if mine.size], dtype=np.int64)
        owners = _assigned(some, centres, metric)
    sizes = np.bincount(owners, minlength=len(centres))
    return [int(row) for row in chosen[centres[np.argsort(-sizes, kind="stable")]].tolist()]


def _some(rows: IntArray, most: int) -> IntArray:
    """At most so many of the rows, evenly spaced."""
    return rows if len(rows) <= most else rows[np.linspace(0, len(rows) - 1, most).astype(np.int64)]


def _far_apart(points: FloatArray, count: int, metric: Metric) -> IntArray:
    centres = [_medoid(points, np.arange(len(points)), metric)]
    nearest = metric(points, points[centres[0]])
    while len(centres) < count and nearest.max() > 0:
        centres.append(int(np.argmax(nearest)))
        nearest = np.minimum(nearest, metric(points, points[centres[-1]]))
    return np.array(centres, dtype=np.int64)


def _assigned(points: FloatArray, centres: IntArray, metric: Metric) -> IntArray:
    distances = np.stack([metric(points, points[centre]) for centre in centres.tolist()])
    return np.asarray(np.argmin(distances, axis=0), dtype=np.int64)


def _medoid(points: FloatArray, members: IntArray, metric: Metric) -> int:
    some = _some(members, _MEMBERS)
    sums = np.array([metric(points[some], points[member]).sum() for member in some.tolist()])
    return int(some[np.argmin(sums)])
