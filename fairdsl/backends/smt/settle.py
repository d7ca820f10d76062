"""Settling regions by bounds alone, and the bounds that the solver's scripts use.

A case needs each of its atoms to hold somewhere in the region, and any two of them together. For weights
u, v >= 0 (not both zero) the two can only hold together where u * first + v * second >= 0 (> 0 where the
weighted ones include a strict one). So one upper bound below zero settles the region. The upper bounds
are lines over the inputs; an input that both individuals share is one variable, so that what the two
copies of the model have in common cancels. Of a tree a's and b's leaf are chosen together, among those pairs that
two individuals who share these attributes can reach.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.smt.cases import Atom, Case
from fairdsl.backends.smt.region import Region, input_boxes, reads_only
from fairdsl.clock import look
from fairdsl.ir.model import Model
from fairdsl.ir.problem import Problem
from fairdsl.numerics.bounds import (
    FloatLayer,
    LayerBounds,
    Lines,
    float_layers,
    greatest,
    outward,
    preactivation_bounds,
    upper_lines,
)
from fairdsl.numerics.choices import choices_of, pair_choices
from fairdsl.numerics.leaves import Leaves

__all__ = ["Bounded", "Bounder", "bounded_cases"]

FloatArray = NDArray[np.float64]

#: So many units of all regions of a batch together are bounded between two looks at the clock.
_NUMBERS = 1 << 17
#: Whole weights of pairs of atoms, beside each atom alone.
_WEIGHTS = ((1.0, 1.0), (1.0, 3.0), (3.0, 1.0))


@dataclass(frozen=True, slots=True)
class Bounded:
    """A region with its bounds: ``a`` and ``b`` are the layers' pre-activations, [width] each side.

    ``reach`` is how far the case may be met at most, in the least of all upper bounds.
    """

    region: Region
    settled: bool
    reach: float
    a: tuple[tuple[FloatArray, FloatArray], ...]
    b: tuple[tuple[FloatArray, FloatArray], ...]

    @property
    def undecided(self) -> int:
        """How many units of both copies the bounds leave on either side of zero."""
        layers = (*self.a[:-1], *self.b[:-1])
        return sum(int(((low < 0) & (high > 0)).sum()) for low, high in layers)


class Bounder:
    """Bounds the regions of one case, many at a time."""

    def __init__(self, model: Model, case: Case) -> None:
        self._model = model
        self._choices, self._pair_choices = choices_of(model), pair_choices(model, case.region.shared)
        self._layers: tuple[FloatLayer, ...] = float_layers(model)
        self._shared = reads_only(model.inputs, case.region.shared)
        self._rows = (_rows([atom.a for atom in case.atoms]), _rows([atom.b for atom in case.atoms]))
        self._constants = np.array([outward(atom.constant, atom.constant)[1] for atom in case.atoms])
        self._mixtures = _mixtures(case.atoms)

    def bound(self, regions: Sequence[Region]) -> list[Bounded]:
        """The regions' bounds, in order."""
        products = [sets for region in regions for sets in (region.a, region.b)]
        lower, upper = input_boxes(self._model.inputs, Leaves.of(self._model), products)
        found = preactivation_bounds(self._layers, lower, upper, self._choices)
        tops = self._tops(found, lower, upper)
        strict = np.array([mixture.strict for mixture in self._mixtures])
        settled = ((tops < 0) | ((tops <= 0) & strict)).any(axis=1)
        return [
            Bounded(region, bool(settled[i]), float(tops[i].min()), _pick(found, 2 * i), _pick(found, 2 * i + 1))
            for i, region in enumerate(regions)
        ]

    def _tops(self, found: Sequence[LayerBounds], lower: FloatArray, upper: FloatArray) -> FloatArray:
        """An upper bound of every mixture in every region."""
        ours, theirs = (
            upper_lines(self._layers, [_every_second(f, k) for f in found], lower[k::2], upper[k::2], rows)
            for k, rows in enumerate(self._rows)
        )
        weights = np.array([mixture.weights for mixture in self._mixtures])
        low, high = np.hstack([lower[0::2], lower[1::2]]), np.hstack([upper[0::2], upper[1::2]])
        with np.errstate(all="ignore"):
            constants = ours.constants + theirs.constants + self._constants
            joined = np.concatenate(
                [
                    ours.coefficients + np.where(self._shared, theirs.coefficients, 0.0),
                    np.where(self._shared, 0.0, theirs.coefficients),
                ],
                axis=-1,
            )
            mixed = Lines(weights @ joined, _weighted(weights, constants))
            # A sum of at most four numbers and two products, each rounded, on what they multiply; a
            # coefficient that two copies cancelled counts with the size that it had before.
            sizes = np.concatenate([np.abs(ours.coefficients), np.abs(theirs.coefficients)], axis=-1)
            reach = np.where(np.isfinite(low) & np.isfinite(high), np.maximum(np.abs(low), np.abs(high)), 0.0)
            size = (sizes @ reach[:, :, None])[..., 0] + np.abs(constants)
            size = size + np.abs(self._constants) + np.abs(ours.constants) + np.abs(theirs.constants)
            error = 2.0**-48 * _weighted(weights, size) + 2.0**-1000 * (size > 0).any(axis=1)[:, None]
        tops = greatest(mixed, low, high, self._pair_choices) + error
        return np.where(np.isfinite(tops), tops, np.inf)


def bounded_cases(problem: Problem, asked: Sequence[Case]) -> list[tuple[Case, Bounded]]:
    """The cases with the bounds of their regions, in order, many at a time; it looks at the clock in between."""
    # Cases with the same conditions share their atoms and differ in their regions alone.
    together: dict[tuple[Atom, ...], list[int]] = {}
    for place, case in enumerate(asked):
        together.setdefault(case.atoms, []).append(place)
    units = sum(layer.width for layer in problem.model.layers)
    most = max(1, _NUMBERS // max(1, units))
    found: dict[int, Bounded] = {}
    for places in together.values():
        bounder = Bounder(problem.model, asked[places[0]])
        for start in range(0, len(places), most):
            look()
            some = places[start : start + most]
            found |= zip(some, bounder.bound([asked[place].region for place in some]), strict=True)
    return [(case, found[place]) for place, case in enumerate(asked)]


@dataclass(frozen=True, slots=True)
class _Mixture:
    weights: tuple[float, ...]
    strict: bool


def _mixtures(atoms: Sequence[Atom]) -> list[_Mixture]:
    count = len(atoms)
    found = [_Mixture(tuple(float(k == i) for k in range(count)), atom.strict) for i, atom in enumerate(atoms)]
    for (i, first), (j, second) in combinations(enumerate(atoms), 2):
        for u, v in _WEIGHTS:
            weights = tuple(u if k == i else v if k == j else 0.0 for k in range(count))
            found.append(_Mixture(weights, first.strict or second.strict))
    return found


def _weighted(weights: FloatArray, values: FloatArray) -> FloatArray:
    """``weights @ values`` for each region, where nothing times infinity is nothing."""
    safe = np.where(np.isfinite(values), values, 0.0)
    loose = (~np.isfinite(values)).astype(np.float64) @ (weights != 0).T > 0
    return np.where(loose, np.inf, safe @ weights.T)


def _rows(rows: Sequence[Sequence[Fraction]]) -> FloatArray:
    """The atoms' coefficients, which are short numbers: float64 holds them exactly."""
    return np.array([[float(value) for value in row] for row in rows])


def _every_second(bounds: LayerBounds, start: int) -> LayerBounds:
    return LayerBounds(bounds.low[start::2], bounds.high[start::2])


def _pick(found: Sequence[LayerBounds], box: int) -> tuple[tuple[FloatArray, FloatArray], ...]:
    return tuple((bounds.low[box], bounds.high[box]) for bounds in found)
