"""The network without some of its units: another model, marked as such in its type and its name.

Removing a unit makes its output 0 everywhere: its row of the layer's weights goes, and its column of the
next layer's. All other weights stay what they were, exactly. The pruned network computes what the original
does wherever the removed units are not active, and anything elsewhere; so what is proved of one says nothing
about the other, and every pair that is found on one has to be replayed on the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.exact_array import ExactArray
from fairdsl.ir.model import Layer, Model
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Pair
from fairdsl.numerics.narrow import ValueSet
from fairdsl.pruning.profile import Units, candidates, profile


@dataclass(frozen=True, kw_only=True)
class PrunedModel(Model):
    """A model some of whose units were removed; never the model that the spec is about.

    ``removed`` pairs layers of the original with the units that they lost. There is no deployed file to replay on:
    the original's is the one that decides about people.
    """

    # Pairs and no mapping, for models are keys of caches.
    removed: tuple[tuple[int, tuple[int, ...]], ...]

    @property
    def units(self) -> Units:
        """The removed units by layer."""
        return dict(self.removed)

    @property
    def count(self) -> int:
        """How many units are gone."""
        return sum(len(positions) for _, positions in self.removed)


def remove(model: Model, units: Units) -> PrunedModel:
    """The model whose ``units`` are always 0 and therefore gone; named ``NAME (pruned)``.

    Raises ValueError for units that are not hidden ones of slope 0, and where a layer would lose all of them.
    """
    changed = {
        "name": f"{model.name} (pruned)",
        "layers": removed_layers(model.layers, units),
        "deployed": None,
        "sha256": None,
    }
    kept = {one.name: getattr(model, one.name) for one in fields(Model)}
    removed = tuple((layer, tuple(units[layer])) for layer in sorted(units) if units[layer])
    return PrunedModel(**(kept | changed), removed=removed)


def prune_on(
    problem: Problem, box: Sequence[ValueSet], tolerance: Fraction, points: int, seed: int
) -> PrunedModel | None:
    """The problem's network without the units that are seldom active in ``box``; None where there are none.

    ``box`` has a value set for each attribute; ``points`` individuals are drawn from it, the domain and the target.
    That no pair in the box is found on the result, or left in doubt, proves nothing of the original.
    """
    target = {"target": problem.question.target} if isinstance(problem.question, Pair) else {}
    units = candidates(profile(problem.model, problem.domain, box, points, seed, **target), tolerance)
    return remove(problem.model, units) if units else None


def removed_layers(layers: Sequence[Layer], units: Units) -> tuple[Layer, ...]:
    """The layers without the rows of the units, and without the columns that read them."""
    _check(layers, units)
    slim: list[Layer] = []
    read = np.arange(layers[0].weight.shape[1])
    for number, layer in enumerate(layers):
        kept = np.setdiff1d(np.arange(layer.width), np.array(units.get(number, ()), dtype=np.int64))
        untouched = len(kept) == layer.width and len(read) == layer.weight.shape[1]
        slim.append(layer if untouched else _part(layer, kept, read))
        read = kept
    return tuple(slim)


def silenced_layers(layers: Sequence[Layer], units: Units) -> tuple[Layer, ...]:
    """The layers in which the units are still there, with weights and bias 0."""
    _check(layers, units)
    return tuple(_silenced(layer, units[number]) if units.get(number) else layer for number, layer in enumerate(layers))


def _check(layers: Sequence[Layer], units: Units) -> None:
    for number, positions in units.items():
        if not 0 <= number < len(layers) - 1:
            raise ValueError(f"layer {number} is not a hidden layer")
        layer = layers[number]
        if not all(0 <= unit < layer.width for unit in positions):
            raise ValueError(f"layer {number} has the units 0 to {layer.width - 1}")
        if any(layer.slope.floats[unit] != 0 or layer.curve_codes[unit] for unit in positions):
            raise ValueError(f"only units that are 0 where they are not active can be removed from layer {number}")
        if len(set(positions)) == layer.width:
            raise ValueError(f"layer {number} would have no units left")


def _part(layer: Layer, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> Layer:
    return replace(
        layer,
        weight=_cut(layer.weight, np.ix_(rows, columns)),
        bias=_cut(layer.bias, (rows,)),
        slope=_cut(layer.slope, (rows,)),
        curves=tuple(layer.curves[row] for row in rows.tolist()) if layer.curves else (),
    )


def _cut(array: ExactArray, where: tuple[NDArray[np.int64], ...]) -> ExactArray:
    """The elements of a sub-array, exactly as they are."""
    if array.is_float:
        return ExactArray.from_floats(array.floats[where])
    return ExactArray.from_fractions(array.exact[where])


def _silenced(layer: Layer, units: Sequence[int]) -> Layer:
    weight, bias = (_zeroed(array, units) for array in (layer.weight, layer.bias))
    return replace(layer, weight=weight, bias=bias)


def _zeroed(array: ExactArray, rows: Sequence[int]) -> ExactArray:
    if array.is_float:
        floats = array.floats.copy()
        floats[list(rows)] = 0.0
        return ExactArray.from_floats(floats)
    exact = array.exact.copy()
    exact[list(rows)] = Fraction(0)
    return ExactArray.from_fractions(exact)
