"""Random individuals of a product of value sets.

Every attribute is drawn by itself, and points that the predicates exclude are drawn again. Where all sets
are bounded the individuals are therefore uniform over what is left: by number for finite sets, by volume for
reals (of which only float64 numbers are drawn). Unbounded reals are drawn over many magnitudes, which is a
distribution like any other and not uniform over anything.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.domain import Domain
from fairdsl.ir.expr import TRUE, Predicate, Who, conjoin
from fairdsl.numerics.narrow import Finite, Interval, ValueSet
from fairdsl.numerics.predicates import mask
from fairdsl.numerics.rounding import float_above, float_below

FloatArray = NDArray[np.float64]

#: Rounds of drawing before too few individuals are accepted as all there are.
_ROUNDS = 7
#: A round draws at most this many points.
_LARGEST = 1 << 17


def draw(
    domain: Domain, sets: Sequence[ValueSet], count: int, rng: np.random.Generator, target: Predicate = TRUE
) -> FloatArray:
    """At most ``count`` individuals [n, attributes] of the sets, the domain's ``where`` and the ``target``.

    Fewer, perhaps none, where the predicates leave little of the sets.
    """
    wanted = conjoin(domain.where, target)
    kept = np.empty((0, len(sets)))
    if any(values.count == 0 for values in sets):
        return kept
    batch = count
    for _ in range(_ROUNDS):
        points = np.column_stack([_column(values, batch, rng) for values in sets])
        if wanted != TRUE:
            points = points[mask(wanted, {Who.EACH: points})]
        kept = np.concatenate([kept, points])
        if len(kept) >= count:
            break
        batch = min(2 * batch, _LARGEST)
    return kept[:count]


def is_uniform(sets: Sequence[ValueSet]) -> bool:
    """Whether individuals of these sets are drawn uniformly."""
    return all(isinstance(values, Finite) or None not in (values.low, values.high) for values in sets)


def _column(values: ValueSet, count: int, rng: np.random.Generator) -> FloatArray:
    match values:
        case Finite(values=range() as whole):
            # Drawn as positions, for a range is not listed and steps may be wider than one.
            places = rng.integers(0, len(whole), count)
            return np.asarray(whole.start + whole.step * places, dtype=np.float64)
        case Finite(values=listed):
            numbers = np.array([float(value) for value in listed], dtype=np.float64)
            return numbers[rng.integers(0, len(numbers), count)]
        case Interval(low=low, high=high) if low is not None and high is not None:
            least, most = float_above(low), float_below(high)
            share = rng.random(count)
            # In two products, so that the width of a wide interval does not overflow.
            return np.asarray(np.clip(least * (1 - share) + most * share, least, most), dtype=np.float64)
        case Interval(low=low, high=high):
            magnitudes = np.abs(rng.standard_normal(count)) * 10.0 ** rng.uniform(-2, 5, count)
            if low is not None:
                return float_above(low) + magnitudes
            if high is not None:
                return float_below(high) - magnitudes
            return np.asarray(magnitudes * rng.choice((-1.0, 1.0), count), dtype=np.float64)
