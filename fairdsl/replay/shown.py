"""Witnesses among those who were met: some of them, far apart, replayed in both arithmetics."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fairdsl.clock import deadline_in_force
from fairdsl.ir.domain import Point
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Pair
from fairdsl.replay.demands import Exactly, breach
from fairdsl.replay.run import witness
from fairdsl.replay.spread import spread
from fairdsl.verdict import Breach, Witness

#: Pairs that are replayed, and witnesses that a verdict carries, at most.
_REPLAYS, _SHOWN = 40, 10


def replayed(problem: Problem, pairs: Sequence[tuple[Point, Point]]) -> tuple[tuple[Witness, ...], tuple[Breach, ...]]:
    """Who breaks the demand in both arithmetics, each pair at most once; a formula by the one or both it is about.

    They are as many as the deadline in force leaves time for.
    """
    if not pairs:
        return (), ()
    points = np.array([[float(value) for value in a] for a, _ in pairs], dtype=np.float64)
    witnesses: list[Witness] = []
    breaches: list[Breach] = []
    seen = set[frozenset[Point]]()
    exactly = None if isinstance(problem.question, Pair) else Exactly(problem)
    for index in spread(points, problem.domain, _REPLAYS):
        if deadline_in_force().passed:
            break
        if frozenset(pairs[index]) in seen:
            continue  # two rows of one unit may each be shown with the other
        seen.add(frozenset(pairs[index]))
        if exactly is not None:
            broken = breach(problem, dict(zip(problem.demanded.people, pairs[index], strict=False)), exactly)
            breaches += [broken] if broken is not None and broken.agrees else []
        else:
            both = (witness(problem, *ordered) for ordered in (pairs[index], pairs[index][::-1]))
            witnesses += [known for known in both if known is not None and known.replay.agrees][:1]
        if len(witnesses) + len(breaches) == _SHOWN:
            break
    return tuple(witnesses), tuple(breaches)
