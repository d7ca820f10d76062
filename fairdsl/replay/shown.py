"""Witnesses among the pairs that were met: some of them, far apart, replayed in both arithmetics."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fairdsl.ir.domain import Point
from fairdsl.ir.problem import Problem
from fairdsl.replay.run import witness
from fairdsl.replay.spread import spread
from fairdsl.verdict import Witness

__all__ = ["replayed"]

#: Pairs that are replayed, and witnesses that a verdict carries, at most.
_REPLAYS, _SHOWN = 40, 10


def replayed(problem: Problem, pairs: Sequence[tuple[Point, Point]]) -> tuple[Witness, ...]:
    """Witnesses that break the demand in both arithmetics, each pair at most once."""
    if not pairs:
        return ()
    points = np.array([[float(value) for value in a] for a, _ in pairs], dtype=np.float64)
    found = []
    seen = set[frozenset[Point]]()
    for index in spread(points, problem.domain, _REPLAYS):
        if frozenset(pairs[index]) in seen:
            continue  # two rows of one unit may each be shown with the other
        seen.add(frozenset(pairs[index]))
        for ordered in (pairs[index], pairs[index][::-1]):
            known = witness(problem, *ordered)
            if known is not None and known.replay.agrees:
                found.append(known)
                break
        if len(found) == _SHOWN:
            break
    return tuple(found)
