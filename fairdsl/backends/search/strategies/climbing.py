"""``climb``: descent of many centres towards a violation, and bisection onto the decision boundary.

The quick search of ``fairdsl check`` (:mod:`..climb`), without its end after a few counterexamples. It is for
violations so rare that no draw meets one.
"""

from __future__ import annotations

import numpy as np

from fairdsl.backends.search.climb import climb
from fairdsl.backends.search.clusters import Clusters
from fairdsl.backends.search.ground import Ground
from fairdsl.backends.search.strategy import Proposal, Proposing


def climbing(ground: Ground) -> Proposing:
    """Propose what the climb takes for violations."""
    clusters = Clusters(ground.problem, ground.sampler, [ground.evaluator])
    batch = max(16, ground.batch * ground.space.touches.shape[1] // clusters.size)
    draw = None if ground.given is None else ground.given.draw
    for measured in climb(ground.sampler, clusters, batch, draw):
        near = np.flatnonzero(measured.distances <= 0)
        found = ground.evaluate(measured.members[near])
        pairs = ground.pairs(found, ground.promising(found))
        yield Proposal("climb", ground.space.rows_of(pairs.a, pairs.b))
