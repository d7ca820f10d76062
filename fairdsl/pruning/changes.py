"""On how many individuals a pruned network decides as the model that it was cut from."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.domain import Domain
from fairdsl.ir.expr import TRUE, Predicate
from fairdsl.ir.model import Model
from fairdsl.numerics.evaluate import BatchEvaluator, Points
from fairdsl.numerics.narrow import ValueSet
from fairdsl.pruning.draws import draw, is_uniform


def _exactly(model: Model, individuals: Points) -> NDArray[np.int64]:
    """In exact arithmetic, by the outcome's position."""
    return BatchEvaluator(model).settled(individuals).decisions


def decided_differently(
    domain: Domain,
    sets: Sequence[ValueSet],
    before: Model,
    after: Model,
    points: int,
    seed: int,
    target: Predicate = TRUE,
    *,
    decide: Callable[[Model, Points], NDArray[np.int64]] = _exactly,
) -> tuple[int, int]:
    """How many individuals were drawn uniformly from the sets, and how many of them the models decide differently.

    ``decide`` says by what, as by the files (``decided`` of :mod:`fairdsl.models.evaluators`); else it is exact.
    They are others than those that a profile of the same seed draws, which would flatter the pruning. Nobody is drawn
    where no distribution is uniform, for a real attribute is unbounded.
    """
    if not is_uniform(sets):
        return 0, 0
    other = int(np.random.SeedSequence(seed).spawn(1)[0].generate_state(1)[0])
    drawn = draw(domain, sets, points, np.random.default_rng(other), target)
    return len(drawn), int(np.count_nonzero(decide(before, drawn) != decide(after, drawn)))
