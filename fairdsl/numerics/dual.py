"""Upper bounds of networks by Lagrangian duality: any multipliers give a valid bound.

Setting. On a *leaf* one or several copies of a network read variables v that lie in a box (some of them are
functions of one value out of a table), every pre-activation z lies in its interval [l, u], and inequalities
``rows @ v <= limits`` hold. Bounded is a mixture of targets ``rows . scores + constant``, with weights >= 0.

Theorem (weak duality; Wong and Kolter, ICML 2018; with intervals cut at zero it contains beta-CROWN, Wang et
al., NeurIPS 2021). Let h = f(z) be a leaky unit whose output has the coefficient y in what is to be bounded.
For *every* real number g

    y h  =  g z + (y f(z) - g z)  <=  g z + max over z in [l, u] of (y f(z) - g z),

and the greatest value of this piecewise linear function is at l, at u, or at its break 0. Replacing units
layer by layer from the scores down to the inputs gives an affine function of v, to which ``m (limit - row v)``
with m >= 0 may be added for every inequality. Its greatest value over the box and the tables bounds the
mixture on the leaf. Where the mixture and the inequalities are conditions that must all hold (>= 0), a bound
below zero proves that nobody on the leaf meets them; so does the bound zero where a condition that counts is
strict. The multipliers g, m and the weights decide how tight the bound is, never whether it is one: they may
come from a linear program that was solved with tolerances.

Error analysis (the notation of ``numerics/bounds.py``). The multipliers are floats and count as exact: the
error lies in the coefficients ``y = g @ weight`` alone. A coefficient that is wrong by d moves the bound by at
most d times the size of what it multiplies, and |f(z)| <= |z| <= max(|l|, |u|). So each layer adds
``summation_error(n)`` times the sum of |g| |weight| max(|l|, |u|), and each sum of terms its
``summation_error(n)`` times the sum of their sizes. Stored numbers differ from the exact ones by a relative error
of at most 2^-53, which ``summation_error`` covers, or by 2^-1074 where they are subnormal; constants and limits
are rounded upwards by the caller. ``TINY``, times the sizes of what is multiplied, covers underflow and subnormal
numbers. Sums of sizes may overflow: they stay infinite or undefined, and so does the bound, which then says
nothing and becomes infinite.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairdsl.numerics.bounds import TINY, FloatLayer, LayerBounds, summation_error
from fairdsl.numerics.products import product

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.intp]

#: Multipliers below this count as zero, stored numbers other than zero at least as that: so no product of
#: the two vanishes, and a variable with the coefficient zero is one that nothing reads.
_SMALLEST, _SMALLEST_STORED = 2.0**-400, 2.0**-600


@dataclass(frozen=True, slots=True)
class Chain:
    """A copy of a network on many leaves.

    ``bounds`` enclose the pre-activations of every layer, the scores included: [leaves, width]. An empty
    interval (low > high) says that nobody is on the leaf. ``inputs`` is where each input stands among the
    variables. The last layer is linear (slope 1).
    """

    layers: tuple[FloatLayer, ...]
    bounds: tuple[LayerBounds, ...]
    inputs: IntArray


@dataclass(frozen=True, slots=True)
class Table:
    """Variables that are functions of one value: ``values`` is [values, columns], one row taken at a time.

    ``allowed`` is [leaves, values]: which rows are left on which leaf.
    """

    columns: IntArray
    values: FloatArray
    allowed: BoolArray


@dataclass(frozen=True, slots=True)
class Space:
    """Where the variables lie: boxes [leaves, variables], tables, and ``rows @ v <= limits`` on every leaf.

    ``rows`` is [rows, variables]; ``allowed`` is [leaves, rows] and says on which leaf a row holds.
    """

    low: FloatArray
    high: FloatArray
    tables: tuple[Table, ...]
    rows: FloatArray
    limits: FloatArray
    allowed: BoolArray


@dataclass(frozen=True, slots=True)
class Targets:
    """What is mixed: ``sum over chains of rows[chain] @ scores + constants``; rows are [targets, scores]."""

    rows: tuple[FloatArray, ...]
    constants: FloatArray


@dataclass(frozen=True, slots=True)
class Multipliers:
    """What the bound is computed with, for each leaf; nothing here needs to be right.

    ``targets`` [leaves, targets] and ``rows`` [leaves, rows] count where they are positive. ``units`` has
    for each chain and each layer but the last the gradients g, [leaves, width]; what is not finite there is
    chosen here.
    """

    targets: FloatArray
    rows: FloatArray
    units: tuple[tuple[FloatArray, ...], ...]


def upper_bounds(chains: Sequence[Chain], targets: Targets, space: Space, multipliers: Multipliers) -> FloatArray:
    """An upper bound of the mixture plus the weighted slack of the rows, for each leaf: [leaves].

    -inf where an interval or a table is empty, inf where nothing is known.
    """
    weights = _counted(multipliers.targets)
    slack = np.where(space.allowed, _counted(multipliers.rows), 0.0)
    total = _Total(len(weights))
    with np.errstate(all="ignore"):
        total.add(weights * targets.constants)
        total.add(slack * space.limits)
        affine = _Affine(
            -product(slack, space.rows), product(slack, _sizes(space.rows)), slack.sum(axis=1), len(space.rows)
        )
        for chain, rows, proposed in zip(chains, targets.rows, multipliers.units, strict=True):
            affine = affine.plus(_to_inputs(chain, _Affine.of(weights, rows), proposed, total), chain.inputs)
        _concretise(space, affine, total)
    value = np.where(np.isfinite(total.value), total.value, np.inf)
    return np.where(_nobody(chains, space), -np.inf, value)


class _Total:
    """Running sums of terms for each leaf: ``value`` is at least the exact sum."""

    def __init__(self, leaves: int) -> None:
        self.value: FloatArray = np.zeros(leaves)

    def add(self, terms: FloatArray) -> None:
        """Add terms [leaves, n], each of which may be too small by a few units in its last place."""
        sizes = np.abs(terms).sum(axis=1)
        self.enlarge(summation_error(terms.shape[1]) * sizes + TINY * (terms.shape[1] + 1) * (sizes > 0))
        self._plus(terms.sum(axis=1))

    def enlarge(self, error: FloatArray) -> None:
        """Add an error [leaves], which is >= 0."""
        self._plus(error)

    def _plus(self, other: FloatArray) -> None:
        # Two additions, each with a relative error of 2^-53.
        self.value = self.value + other + 2.0**-50 * (np.abs(self.value) + np.abs(other))


@dataclass(frozen=True, slots=True)
class _Affine:
    """Coefficients [leaves, n] that are sums of ``summands`` products: the sums of the products' sizes, and
    ``scale``, the sum of the sizes of the floats that were multiplied with stored numbers, [leaves]."""

    coefficients: FloatArray
    sizes: FloatArray
    scale: FloatArray
    summands: int

    @classmethod
    def of(cls, factors: FloatArray, matrix: FloatArray) -> _Affine:
        """``factors @ matrix``."""
        return cls(
            product(factors, matrix), product(np.abs(factors), _sizes(matrix)), np.abs(factors).sum(axis=1), len(matrix)
        )

    def plus(self, other: _Affine, columns: IntArray) -> _Affine:
        """The sum, the other's coefficients being those of the given columns."""
        coefficients, sizes = self.coefficients.copy(), self.sizes.copy()
        # No product with a matrix of zeros and ones: there an infinite size would make all others undefined.
        for place, column in enumerate(columns.tolist()):
            coefficients[:, column] += other.coefficients[:, place]
            sizes[:, column] += other.sizes[:, place]
        return _Affine(
            coefficients,
            sizes,
            self.scale + other.scale,
            self.summands + other.summands * len(columns),
        )

    def error(self, reach: FloatArray) -> FloatArray:
        """How far the rounded coefficients move the sum where each is multiplied by at most ``reach``."""
        products = np.where(self.sizes == 0, 0.0, self.sizes * reach).sum(axis=1)
        known = np.where(np.isfinite(reach), reach, 0.0).sum(axis=1)
        underflow = TINY * (1.0 + self.scale) * (1.0 + known) * (self.summands + 1)
        error: FloatArray = summation_error(self.summands + reach.shape[1]) * products
        return error + np.where(self.scale > 0, underflow, 0.0)


def _sizes(stored: FloatArray) -> FloatArray:
    """The sizes of stored numbers; no number but zero is so small that a product with it vanishes."""
    return np.where(stored == 0, 0.0, np.maximum(np.abs(stored), _SMALLEST_STORED))


def _counted(weights: FloatArray) -> FloatArray:
    """Weights that count: what is not a positive number is none."""
    return np.where(np.isfinite(weights) & (weights > _SMALLEST), weights, 0.0)


def _to_inputs(chain: Chain, scores: _Affine, proposed: Sequence[FloatArray], total: _Total) -> _Affine:
    """The coefficients of the chain's inputs; all constants met on the way go to the total."""
    current = scores
    last = len(chain.layers) - 1
    for depth in reversed(range(len(chain.layers))):
        layer = chain.layers[depth]
        units = _Units.of(layer, chain.bounds[depth])
        total.enlarge(current.error(units.size))
        wanted = np.full_like(current.coefficients, np.nan) if depth == last else proposed[depth]
        gradients = units.gradients(current.coefficients, wanted)
        total.add(units.gap(current.coefficients, gradients))
        total.add(gradients * layer.bias)
        total.enlarge(TINY * product(np.abs(gradients), layer.bias != 0))  # a bias may be subnormal
        current = _Affine.of(gradients, layer.weight)
    return current


@dataclass(frozen=True, slots=True)
class _Units:
    """The units of a layer: [l, u], the greatest size of z (infinite where unknown), slopes."""

    low: FloatArray
    high: FloatArray
    size: FloatArray
    slope: FloatArray

    @classmethod
    def of(cls, layer: FloatLayer, bounds: LayerBounds) -> _Units:
        size = np.maximum(np.abs(bounds.low), np.abs(bounds.high))
        known = np.isfinite(size)
        low, high = np.where(known, bounds.low, -1.0), np.where(known, bounds.high, 1.0)
        return cls(low, high, np.where(known, size, np.inf), layer.slope)

    def gradients(self, coefficients: FloatArray, proposed: FloatArray) -> FloatArray:
        """Exact where the unit is linear on its interval, else as proposed, else the usual relaxation.

        Where the interval ends at 0, that may be a condition of the leaf; then a proposal may also contain
        a multiple of z >= 0 (or z <= 0), which is kept.
        """
        low, high, slope = self.low, self.high, self.slope
        chord = np.clip((high - slope * low) / np.where(high > low, high - low, 1.0), slope, 1.0)
        usual = np.where(coefficients > 0, chord, np.where(high > -low, 1.0, slope)) * coefficients
        free = np.where(np.isfinite(proposed), proposed, usual)
        linear = np.where((low >= 0) | (slope == 1), coefficients, slope * coefficients)
        stable = (low >= 0) | (high <= 0) | (slope == 1)
        pays = np.where(low >= 0, (low == 0) & (free > linear), (high == 0) & (free < linear)) & np.isfinite(proposed)
        chosen = np.where(stable & ~pays, linear, free)
        return np.where(np.abs(chosen) > _SMALLEST, chosen, 0.0)

    def gap(self, coefficients: FloatArray, gradients: FloatArray) -> FloatArray:
        """max over z in [l, u] of ``coefficient f(z) - gradient z``, rounded upwards, [leaves, width]."""
        found = np.maximum(self._at(self.low, coefficients, gradients), self._at(self.high, coefficients, gradients))
        found = np.where((self.low <= 0) & (self.high >= 0), np.maximum(found, 0.0), found)
        used = (coefficients != 0) | (gradients != 0)
        return np.where(used & ~np.isfinite(self.size), np.inf, found)

    def _at(self, z: FloatArray, coefficients: FloatArray, gradients: FloatArray) -> FloatArray:
        """The value at one z, rounded upwards: a product with a slope, a difference, a product."""
        negative = z < 0
        bent = np.where(negative, self.slope * coefficients, coefficients)
        factor = bent - gradients
        rounded = negative & (self.slope != 0) & (self.slope != 1)
        size = np.abs(factor) + np.where(rounded, np.abs(bent), 0.0)
        touched = (size > 0) | (rounded & (coefficients != 0))
        error = 2.0**-50 * size * np.abs(z) + TINY * (1.0 + np.abs(z))
        value: FloatArray = factor * z + np.where(touched, error, 0.0)
        return value


def _concretise(space: Space, affine: _Affine, total: _Total) -> None:
    """Add the greatest value of ``coefficients @ v`` over the boxes and the tables."""
    total.enlarge(affine.error(np.maximum(np.abs(space.low), np.abs(space.high))))
    boxed = np.ones(affine.coefficients.shape[1], dtype=np.bool_)
    for table in space.tables:
        boxed[table.columns] = False
        total.add(_best(table, affine.coefficients[:, table.columns]))
    terms = np.maximum(affine.coefficients * space.low, affine.coefficients * space.high)
    total.add(np.where((affine.sizes == 0) | ~boxed, 0.0, terms))


def _best(table: Table, coefficients: FloatArray) -> FloatArray:
    """The greatest value of a table's allowed rows, rounded upwards, [leaves, 1]."""
    value = product(coefficients, table.values.T)
    size = product(np.abs(coefficients), np.abs(table.values.T))
    value = value + summation_error(coefficients.shape[1]) * size + TINY * (size > 0)
    best: FloatArray = np.where(table.allowed, value, -np.inf).max(axis=1, keepdims=True, initial=-np.inf)
    return best


def _nobody(chains: Sequence[Chain], space: Space) -> BoolArray:
    """Leaves with an empty interval or an empty table."""
    found = [(space.low > space.high).any(axis=1)]
    found += [~table.allowed.any(axis=1) for table in space.tables]
    found += [(bounds.low > bounds.high).any(axis=1) for chain in chains for bounds in chain.bounds]
    empty: BoolArray = np.logical_or.reduce(found)
    return empty
