"""How often the hidden units of a network are active, over random individuals.

A leaky unit ``h = max(z, 0) + slope * min(z, 0)`` with slope below 1 is *active* where z > 0. The profile is
a count over a sample in plain float64: it says what to look at, and proves nothing. A unit that was never
active in ten thousand individuals may still be what decides about one of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.domain import Domain
from fairdsl.ir.expr import TRUE, Predicate
from fairdsl.ir.model import Curve, Layer, Model
from fairdsl.numerics.curves import bend
from fairdsl.numerics.evaluate import BatchEvaluator
from fairdsl.numerics.narrow import ValueSet
from fairdsl.pruning.draws import draw

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

#: Units of a model: by the layer's position in ``Model.layers``, the units' positions in the layer, ascending.
Units = Mapping[int, tuple[int, ...]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LayerProfile:
    """The profiled units of one hidden layer: leaky ones of slope below 1.

    ``units`` are their positions in the layer, [k]; ``active`` [k] counts the individuals with z > 0;
    ``mean`` [k] is the units' mean output; ``rectifying`` [k] says which have slope 0.
    """

    layer: int
    units: IntArray
    active: IntArray
    mean: FloatArray
    rectifying: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Profile:
    """The hidden layers of a model, profiled on ``points`` individuals."""

    points: int
    layers: tuple[LayerProfile, ...]


def profile(
    model: Model, domain: Domain, sets: Sequence[ValueSet], points: int, seed: int, target: Predicate = TRUE
) -> Profile:
    """Count activations over random individuals of the sets, the domain's ``where`` and the ``target``.

    At most ``points`` individuals: fewer where the predicates leave little of the sets. The same seed gives
    the same individuals.
    """
    individuals = draw(domain, sets, points, np.random.default_rng(seed), target)
    evaluator = BatchEvaluator(model)
    tallies = [_Tally(number, layer) for number, layer in enumerate(model.layers[:-1])]
    for start in range(0, len(individuals), evaluator.chunk):
        hidden = evaluator.inputs(individuals[start : start + evaluator.chunk])
        for tally in tallies:
            hidden = tally.add(hidden)
    return Profile(points=len(individuals), layers=tuple(tally.profile(len(individuals)) for tally in tallies))


def candidates(found: Profile, tolerance: Fraction) -> dict[int, tuple[int, ...]]:
    """The ReLU units that were active for at most the share ``tolerance`` of the individuals.

    Only units of slope 0: a leaky unit that is never active still passes on ``slope * z``. Of a layer that
    would lose all its units the most active one stays (of several the first), for a layer of no units is
    none that files can hold. Nothing was seen, so nothing is a candidate, where no individual was drawn.
    """
    chosen: dict[int, tuple[int, ...]] = {}
    for layer in found.layers if found.points else ():
        seldom = layer.rectifying & (layer.active <= float(tolerance * found.points))
        if seldom.all() and seldom.size:
            seldom = seldom.copy()
            seldom[np.lexsort((-layer.mean, -layer.active))[0]] = False
        if seldom.any():
            chosen[layer.layer] = tuple(layer.units[seldom].tolist())
    return chosen


def least_active(found: Profile) -> Fraction | None:
    """The share of the individuals for which the least active ReLU unit is active; None where none were drawn."""
    counts = [int(layer.active[layer.rectifying].min()) for layer in found.layers if layer.rectifying.any()]
    return Fraction(min(counts), found.points) if counts and found.points else None


class _Tally:
    """Sums over the individuals seen so far, for one layer."""

    def __init__(self, number: int, layer: Layer) -> None:
        self._number, self._layer = number, layer
        leaky = np.equal(layer.curve_codes, Curve.LEAKY)
        self._units = np.flatnonzero(leaky & (layer.slope.floats < 1.0))
        self._active = np.zeros(len(self._units), dtype=np.int64)
        self._total = np.zeros(len(self._units))

    def add(self, inputs: FloatArray) -> FloatArray:
        """Count a batch [n, in]; the result is what the layer makes of it, [n, out]."""
        layer = self._layer
        with np.errstate(all="ignore"):
            before = inputs @ layer.weight.floats.T + layer.bias.floats
            hidden = np.where(before > 0, before, before * layer.slope.floats)
            for curve in set(layer.curves) - {Curve.LEAKY}:
                bent = np.flatnonzero(layer.curve_codes == curve)
                hidden[:, bent] = bend(before[:, bent], curve)
            self._active += (before[:, self._units] > 0).sum(axis=0)
            self._total += hidden[:, self._units].sum(axis=0)
        return hidden

    def profile(self, points: int) -> LayerProfile:
        """What was counted over ``points`` individuals."""
        return LayerProfile(
            layer=self._number,
            units=self._units,
            active=self._active,
            mean=self._total / max(points, 1),
            rectifying=self._layer.slope.floats[self._units] == 0.0,
        )
