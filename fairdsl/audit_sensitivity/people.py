"""The people by whom the size of a discriminator is measured: rows of data, or a crowd that is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.sampling import OpenInsideError, People
from fairdsl.ir.domain import Domain
from fairdsl.ir.expr import Who
from fairdsl.ir.model import Model
from fairdsl.ir.population import Network, Population
from fairdsl.metrics.subject import Subject
from fairdsl.numerics.narrow import narrow
from fairdsl.numerics.predicates import mask
from fairdsl.pruning.draws import draw

__all__ = ["Crowd", "crowd_of"]

#: How many people are drawn where there are no rows.
_DRAWN = 20_000


@dataclass(frozen=True, slots=True, eq=False)
class Crowd:
    """Individuals [people, attributes] of a domain, and in words who they are."""

    values: NDArray[np.float64]
    words: str


def crowd_of(domain: Domain, model: Model, populations: Sequence[Population], seed: int) -> Crowd:
    """The rows behind the first population over the domain that has some, or people drawn from the first one.

    Where there is none, or its distribution says too little to draw people, everybody of the domain is drawn alike.
    """
    own = [each for each in populations if each.columns[: len(domain.attributes)] == domain.attributes]
    for each in own:
        if each.sample is not None and each.sample.rows:
            rows = each.sample.values.floats[:, : len(domain.attributes)]
            rows = rows[mask(domain.where, {Who.EACH: rows})]
            return Crowd(rows, f"{len(rows):,} rows of `{each.name}`")
    rng = np.random.default_rng(seed)
    for each in own:
        if isinstance(each, Network):
            people = _drawn(each, domain, model, rng)
            if people is not None:
                return Crowd(people, f"{len(people):,} people drawn from `{each.name}`")
    people = draw(domain, narrow(domain), _DRAWN, rng)
    return Crowd(people, f"{len(people):,} people drawn from the whole of `{domain.name}`, all alike")


def _drawn(network: Network, domain: Domain, model: Model, rng: np.random.Generator) -> NDArray[np.float64] | None:
    everything = tuple(range(len(network.columns)))
    subject = Subject(network=network, model=model, condition=domain.where, keys=everything)
    try:
        crowd = People(subject, rng).draw(_DRAWN)
    except OpenInsideError:
        return None
    people = crowd.values[0].floats[~crowd.lost, : len(domain.attributes)]
    return np.asarray(people[mask(domain.where, {Who.EACH: people})])
