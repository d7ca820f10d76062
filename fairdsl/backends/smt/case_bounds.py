"""Deciding regions by bounds alone, and the bounds that the solver's scripts use.

A case needs each of its atoms to hold somewhere in the region, and any two of them together. For weights
u, v >= 0 (not both zero) the two can only hold together where u * first + v * second >= 0 (> 0 where the
weighted ones include a strict one). So one upper bound below zero settles the region. The upper bounds
are lines over the inputs; an input that both individuals share is one variable, so that what the two
copies of the model have in common cancels. Of a tree a's and b's leaf are chosen together, among those pairs that
two individuals who share these attributes can reach.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, groupby
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.smt.cases import Atom, Case
from fairdsl.backends.smt.region import Region, reads_only
from fairdsl.clock import look
from fairdsl.ir.feature import AttributeInput, Input
from fairdsl.ir.model import Model
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Relaxation
from fairdsl.numerics.bounds import (
    LayerBounds,
    Lines,
    float_layers,
    greatest,
    outward,
    preactivation_bounds,
    spend_on_bounds,
    upper_lines,
)
from fairdsl.numerics.choices import choices_of, pair_choices
from fairdsl.numerics.differences import difference_bounds
from fairdsl.numerics.leaves import Leaves
from fairdsl.numerics.narrow import ValueSet
from fairdsl.numerics.products import product
from fairdsl.numerics.space import input_boxes

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

#: The value sets of one individual of a region.
Product = tuple[ValueSet, ...]

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


class Sides:
    """The individuals of regions, bounded one by one: regions have few different ones, however many they are."""

    def __init__(self, model: Model, regions: Sequence[Region]) -> None:
        # The same region comes in many cases, so that few are looked at closely.
        distinct = {id(region): region for region in regions}.values()
        products = list(dict.fromkeys(sets for region in distinct for sets in (region.a, region.b)))
        self._place = {sets: place for place, sets in enumerate(products)}
        self._layers = float_layers(model)
        #: Bounds [sides, inputs] of what the model reads.
        self.lower, self.upper = input_boxes(model.inputs, Leaves.of(model), products)
        spend_on_bounds(self._layers, len(self.lower))
        self._found = preactivation_bounds(self._layers, self.lower, self.upper, choices_of(model))

    def places(self, products: Sequence[Product]) -> IntArray:
        """Which sides these are, [regions]."""
        return np.array([self._place[sets] for sets in products], dtype=np.int64)

    def layers_at(self, place: int) -> tuple[tuple[FloatArray, FloatArray], ...]:
        """The layers' pre-activations of one side."""
        return tuple((bounds.low[place], bounds.high[place]) for bounds in self._found)

    def apart(self, ours: IntArray, theirs: IntArray, low: FloatArray, high: FloatArray) -> LayerBounds:
        """How far the scores of pairs of sides are apart where their inputs are from ``low`` to ``high``."""
        a, b = ([LayerBounds(found.low[at], found.high[at]) for found in self._found] for at in (ours, theirs))
        return difference_bounds(self._layers, a, b, low, high)

    def upper_lines(self, places: IntArray, rows: FloatArray) -> Lines:
        """Lines above ``rows @ scores`` for each of the places."""
        used, back = np.unique(places, return_inverse=True)
        found = [LayerBounds(bounds.low[used], bounds.high[used]) for bounds in self._found]
        lines = upper_lines(self._layers, found, self.lower[used], self.upper[used], rows)
        return Lines(lines.coefficients[back], lines.constants[back])


class Bounder:
    """Bounds the regions of one case, many at a time."""

    def __init__(self, model: Model, case: Case, relax: Sequence[Relaxation] = ()) -> None:
        """``relax`` says of which numbers the two are how near; the bounds of a region are sound without."""
        self._model = model
        self._near = _near(model.inputs, relax)
        self._pair_choices = pair_choices(model, case.region.shared)
        self._shared = reads_only(model.inputs, case.region.shared)
        self._rows = (_rows([atom.a for atom in case.atoms]), _rows([atom.b for atom in case.atoms]))
        self._constants = np.array([outward(atom.constant, atom.constant)[1] for atom in case.atoms])
        self._mixtures = _mixtures(case.atoms)
        #: Atoms about a difference of the two, whose scores have no trees to be chosen in.
        self._differences = [
            place
            for place, atom in enumerate(case.atoms)
            if not self._pair_choices and atom.a == tuple(-factor for factor in atom.b)
        ]

    def bound(self, regions: Sequence[Region]) -> list[Bounded]:
        """The regions' bounds, in order."""
        return self.bound_on(Sides(self._model, regions), regions)

    def bound_on(self, sides: Sides, regions: Sequence[Region]) -> list[Bounded]:
        """The same where the individuals are bounded already: ``sides`` are those of these regions, and maybe more."""
        places = (sides.places([region.a for region in regions]), sides.places([region.b for region in regions]))
        tops = self._tops(sides, *places)
        strict = np.array([mixture.strict for mixture in self._mixtures])
        settled = ((tops < 0) | ((tops <= 0) & strict)).any(axis=1)
        a, b = ([sides.layers_at(place) for place in of.tolist()] for of in places)
        return [Bounded(region, bool(settled[i]), float(tops[i].min()), a[i], b[i]) for i, region in enumerate(regions)]

    def _tops(self, sides: Sides, ours_at: IntArray, theirs_at: IntArray) -> FloatArray:
        """An upper bound of every mixture in every region, of which these are the two sides."""
        ours, theirs = (sides.upper_lines(of, rows) for of, rows in zip((ours_at, theirs_at), self._rows, strict=True))
        weights = np.array([mixture.weights for mixture in self._mixtures])
        low = np.hstack([sides.lower[ours_at], sides.lower[theirs_at]])
        high = np.hstack([sides.upper[ours_at], sides.upper[theirs_at]])
        with np.errstate(all="ignore"):
            constants = ours.constants + theirs.constants + self._constants
            joined = np.concatenate(
                [
                    ours.coefficients + np.where(self._shared, theirs.coefficients, 0.0),
                    np.where(self._shared, 0.0, theirs.coefficients),
                ],
                axis=-1,
            )
            mixed = Lines(product(weights, joined), _weighted(weights, constants))
            # A sum of at most four numbers and two products, each rounded, on what they multiply; a
            # coefficient that two copies cancelled counts with the size that it had before.
            sizes = np.concatenate([np.abs(ours.coefficients), np.abs(theirs.coefficients)], axis=-1)
            reach = np.where(np.isfinite(low) & np.isfinite(high), np.maximum(np.abs(low), np.abs(high)), 0.0)
            size = product(sizes, reach[:, :, None])[..., 0] + np.abs(constants)
            size = size + np.abs(self._constants) + np.abs(ours.constants) + np.abs(theirs.constants)
            error = 2.0**-48 * _weighted(weights, size) + 2.0**-1000 * (size > 0).any(axis=1)[:, None]
        tops = greatest(mixed, low, high, self._pair_choices) + error
        if self._near.inputs.size:
            tops = np.nextafter(tops - self._saved(mixed.coefficients, low, high), np.inf)
        if self._differences:
            at = self._differences  # each atom alone comes before the mixtures of two
            tops[:, at] = np.fmin(tops[:, at], self._apart(sides, ours_at, theirs_at))
        return np.where(np.isfinite(tops), tops, np.inf)

    def _apart(self, sides: Sides, ours_at: IntArray, theirs_at: IntArray) -> FloatArray:
        """Upper bounds of the atoms about differences, [regions, such atoms]."""
        ours, theirs = ((sides.lower[at], sides.upper[at]) for at in (ours_at, theirs_at))
        with np.errstate(all="ignore"):
            low = np.where(self._shared, 0.0, np.nextafter(ours[0] - theirs[1], -np.inf))
            high = np.where(self._shared, 0.0, np.nextafter(ours[1] - theirs[0], np.inf))
            low[:, self._near.inputs] = np.maximum(low[:, self._near.inputs], -self._near.by)
            high[:, self._near.inputs] = np.minimum(high[:, self._near.inputs], self._near.by)
            found = sides.apart(ours_at, theirs_at, low, high)
            rows = self._rows[0][self._differences]
            ends = np.where(rows > 0, found.high[:, None] * rows, np.where(rows < 0, found.low[:, None] * rows, 0.0))
            value = ends.sum(axis=-1) + self._constants[self._differences]
            size = np.abs(ends).sum(axis=-1) + np.abs(self._constants[self._differences])
            return np.asarray(value + 2.0**-48 * len(rows[0]) * size, dtype=np.float64)

    def _saved(self, coefficients: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
        """How much less than the greatest sum over two intervals ``u x + v y`` is at most where x and y are near.

        With ``abs(x - y) <= by`` it is at most ``(u + v) x + abs(v) by``, and so with x and y changed. What is returned
        is rounded down: of sums of a few numbers, each with its size.
        """
        near, width = self._near, low.shape[1] // 2
        u, v = coefficients[..., near.inputs], coefficients[..., near.inputs + width]
        ends = [(low[:, None, at], high[:, None, at]) for at in (near.inputs, near.inputs + width)]
        with np.errstate(all="ignore"):

            def most(factor: FloatArray, side: tuple[FloatArray, FloatArray]) -> FloatArray:
                return np.where(factor > 0, factor * side[1], factor * side[0])

            apart = most(u, ends[0]) + most(v, ends[1])
            nearer = np.minimum(most(u + v, ends[0]) + np.abs(v) * near.by, most(u + v, ends[1]) + np.abs(u) * near.by)
            reach = np.maximum.reduce([np.abs(end) for side in ends for end in side]) + near.by
            saved = apart - nearer - 2.0**-49 * (np.abs(u) + np.abs(v)) * reach
        found: FloatArray = np.where(np.isfinite(saved), np.maximum(saved, 0.0), 0.0).sum(axis=-1)
        return np.nextafter(found * (1 - 2.0**-40), 0.0)


class _Near(NamedTuple):
    """Inputs that are an attribute, and how far those of the two are apart at most."""

    inputs: IntArray
    by: FloatArray


def _near(inputs: Sequence[Input], relax: Sequence[Relaxation]) -> _Near:
    distances = {entry.attribute: outward(entry.by, entry.by)[1] for entry in relax if entry.by is not None}
    found = [
        (place, distances[item.attribute])
        for place, item in enumerate(inputs)
        if isinstance(item, AttributeInput) and item.attribute in distances
    ]
    places, by = zip(*found, strict=True) if found else ((), ())
    return _Near(np.array(places, dtype=np.int64), np.array(by, dtype=np.float64))


class CaseBounds:
    """Cases with the bounds of their regions, many at a time, and none before somebody asks for them."""

    def __init__(self, problem: Problem, asked: Sequence[Case]) -> None:
        self._model, self._asked = problem.model, asked
        self._most = max(1, _NUMBERS // max(1, sum(layer.width for layer in self._model.layers)))
        self._known: list[tuple[Case, Bounded]] = []

    def __len__(self) -> int:
        return len(self._asked)

    def batches(self, first: int = 0) -> Iterator[list[tuple[Case, Bounded]]]:
        """All from the ``first`` on in order, bounded batch by batch; it looks at the clock in between."""
        for start in range(first, len(self._asked), self._most):
            if start == len(self._known):
                look()
                self._known += self._bounded(self._asked[start : start + self._most])
            yield self._known[start : start + self._most]

    def exceed(self, units: int) -> bool:
        """Whether those left open have more undecided units than this; it bounds no more of them than it has to."""
        left = units
        for batch in self.batches():
            left -= sum(bounded.undecided for _, bounded in batch if not bounded.settled)
            if left < 0:
                return True
        return False

    def _bounded(self, asked: Sequence[Case]) -> list[tuple[Case, Bounded]]:
        sides = Sides(self._model, [case.region for case in asked])
        found: list[tuple[Case, Bounded]] = []
        # Cases of the same way to break the demand follow one another; they share their atoms.
        for _, group in groupby(asked, lambda case: id(case.atoms)):
            alike = list(group)
            bounded = Bounder(self._model, alike[0]).bound_on(sides, [case.region for case in alike])
            found += zip(alike, bounded, strict=True)
        return found


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
    loose = product((~np.isfinite(values)).astype(np.float64), (weights != 0).T) > 0
    return np.where(loose, np.inf, product(safe, weights.T))


def _rows(rows: Sequence[Sequence[Fraction]]) -> FloatArray:
    """The atoms' coefficients, which are short numbers: float64 holds them exactly."""
    return np.array([[float(value) for value in row] for row in rows])
