"""The arithmetic of kernel machines: kernel values of many rows with all vectors, tile by tile, and their sums.

A tile is some rows by some vectors, half a megabyte, so that its kernel values stay in the cache while they are
computed by one matrix product and one function, and summed by a second product. They are never kept.

Rows may share the expensive part with the Gaussian kernel, whose values are products over the features:

* *variants*: rows that have the same values of the ``kept`` features and others of the rest share the kernel of the
  kept ones; the factor of the rest joins the coefficients, once for each combination of values;
* *steps*: ``|x + d e_j - s|^2 = |x - s|^2 + d^2 + 2 d x_j - 2 d s_j``, so a row that is one step d in feature j away
  from another one shares its kernel values; the factor ``exp(2 gamma d s_j)`` joins the coefficients, and the rest of
  it is one number a row.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum

import numpy as np
from numpy.typing import DTypeLike, NDArray

from fairdsl.ir.opaque import Kernel, KernelMachine
from fairdsl.numerics.products import product

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
Floating = NDArray[np.floating]

#: Grown bounds are multiplied by this, for their own rounding.
OUTWARD = 1 + 2.0**-40
#: Rows and vectors of a tile, and multiplications of a matrix product: for more BLAS libraries start threads, which
#: wait for each other longer than these products take.
ROWS, _VECTORS, _PRODUCT = 256, 256, 2**19
#: Layouts whose tiles are kept.
_KEPT = 8


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """What is summed: ``kept`` [features], ``variants`` [v, other features], and ``steps``, pairs of a kept feature's
    position among the kept ones and a difference. ``sizes``: the sizes of the terms.
    """

    kept: BoolArray
    variants: FloatArray
    steps: tuple[tuple[int, float], ...] = ((0, 0.0),)
    sizes: bool = False

    @classmethod
    def plain(cls, width: int, *, sizes: bool = False) -> Layout:
        """Rows that share nothing."""
        return cls(np.ones(width, dtype=np.bool_), np.zeros((1, 0)), sizes=sizes)

    def key(self, dtype: DTypeLike) -> bytes:
        """Equal for layouts with the same tiles."""
        steps = np.array(self.steps).tobytes()
        return b"|".join((self.kept.tobytes(), self.variants.tobytes(), steps, repr((self.sizes, dtype)).encode()))


@dataclass(frozen=True, slots=True, eq=False)
class _Tile:
    """Some vectors: the columns of the scalar products [terms, vectors], and the coefficients [vectors, sums]."""

    columns: Floating
    weights: Floating


class KernelTiles:
    """A machine prepared for floats: vectors around a centre, sizes, and the tiles of recent layouts."""

    def __init__(self, machine: KernelMachine) -> None:
        vectors, coefficients, weights = _merged(machine.vectors.floats, machine.coefficients.floats.T)
        self.kernel, self.gamma, self.coef0, self.degree = machine.kernel, machine.gamma, machine.coef0, machine.degree
        self.count, self.width = vectors.shape
        self.gaussian = self.kernel is Kernel.RBF
        centred = self.gaussian and self.count > 0
        self.centre = np.rint(vectors.mean(axis=0)) if centred else np.zeros(self.width)
        self.vectors = vectors - self.centre
        self.coefficients = coefficients
        #: Of each vector the size of its coefficients; of one that comes several times the sum of them, rounded up.
        self.term_sizes = weights
        self.all_sizes = weights.sum(axis=0) * OUTWARD
        self.offsets = machine.offsets.floats
        #: The sums of the coefficients' sizes, and the greatest norm of a centred vector, both rounded up.
        self.sizes = np.abs(self.coefficients).sum(axis=0) * OUTWARD
        self.farthest = float(norms(self.vectors).max(initial=0.0))
        #: Whether some constant is not a float.
        self.rounded = not (machine.coefficients.is_float and machine.vectors.is_float and machine.offsets.is_float)
        self._tiles: dict[bytes, list[_Tile]] = {}

    def sums(self, features: FloatArray, layout: Layout, dtype: DTypeLike) -> FloatArray:
        """The sums [n, steps, variants, values] over all vectors, of centred ``features`` [n, kept]."""
        tiles = self._prepared(layout, dtype)
        shape = (len(layout.steps), len(layout.variants), len(self.offsets))
        found = np.zeros((len(features), int(np.prod(shape))))
        most = max(8, min(ROWS, _PRODUCT // (_VECTORS * max(features.shape[1] + 2, found.shape[1]))))
        buffer = np.empty((most, _VECTORS), dtype=dtype)
        for start in range(0, len(features), most):
            rows = self._rows(features[start : start + most]).astype(dtype)
            total = found[start : start + most]
            for tile in tiles:
                count = tile.columns.shape[1]
                arguments = buffer[: len(rows)] if count == _VECTORS else np.empty((len(rows), count), dtype=dtype)
                np.matmul(rows, tile.columns, out=arguments)
                total += product(self._bent(arguments), tile.weights)
        return found.reshape(len(features), *shape)

    def _prepared(self, layout: Layout, dtype: DTypeLike) -> list[_Tile]:
        key = layout.key(dtype)
        if key not in self._tiles:
            while len(self._tiles) >= _KEPT:
                del self._tiles[next(iter(self._tiles))]
            columns, weights = self._columns(self.vectors[:, layout.kept]), self._weights(layout)
            self._tiles[key] = [
                _Tile(
                    np.ascontiguousarray(columns[:, start : start + _VECTORS], dtype=dtype),
                    np.ascontiguousarray(weights[start : start + _VECTORS], dtype=dtype),
                )
                for start in range(0, self.count, _VECTORS)
            ]
        return self._tiles[key]

    def _columns(self, vectors: FloatArray) -> FloatArray:
        if self.gaussian:
            squares = -self.gamma * (vectors**2).sum(axis=1)
            return np.vstack([2 * self.gamma * vectors.T, np.full(len(vectors), -self.gamma), squares])
        return np.vstack([self.gamma * vectors.T, np.full(len(vectors), self.coef0)])

    def _weights(self, layout: Layout) -> FloatArray:
        """The coefficients times the factors of steps and variants, [vectors, steps * variants * values]."""
        others, kept = self.vectors[:, ~layout.kept], self.vectors[:, layout.kept]
        squares = ((others[:, None, :] - layout.variants[None, :, :]) ** 2).sum(axis=2)
        coefficients = self.term_sizes if layout.sizes else self.coefficients
        weights = coefficients[:, None, :] * np.exp(-self.gamma * squares)[:, :, None]
        if layout.steps != ((0, 0.0),):
            steps = [np.exp(2 * self.gamma * step * kept[:, feature]) for feature, step in layout.steps]
            weights = np.stack(steps, axis=1)[:, :, None, None] * weights[:, None]
        return np.asarray(weights.reshape(self.count, -1), dtype=np.float64)

    def _rows(self, features: FloatArray) -> FloatArray:
        """What the scalar products have of centred features."""
        ones = np.ones((len(features), 1))
        if self.gaussian:
            return np.hstack([features, (features**2).sum(axis=1, keepdims=True), ones])
        return np.hstack([features, ones])

    def _bent(self, arguments: Floating) -> Floating:
        """The kernel's function of each argument, which is overwritten."""
        if self.gaussian:
            np.exp(arguments, out=arguments)
            return arguments
        if self.kernel is Kernel.SIGMOID:
            np.tanh(arguments, out=arguments)
            return arguments
        power = arguments.copy()
        for _ in range(self.degree - 1):
            power *= arguments
        return power


def norms(rows: FloatArray) -> FloatArray:
    """Upper bounds of the rows' Euclidean norms, [n]; scaled, so that squares neither overflow nor vanish."""
    largest = np.abs(rows).max(axis=1, initial=0.0)
    scale = np.where(largest > 0, largest, 1.0)
    return np.asarray(np.sqrt(((rows / scale[:, None]) ** 2).sum(axis=1)) * largest * OUTWARD, dtype=np.float64)


def _merged(vectors: FloatArray, coefficients: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Vectors [n, m] and coefficients [n, values] without repeated vectors, where floats have the sums exactly.

    The third are the sizes of the coefficients: whoever adds up repeated vectors one by one rounds each of them.
    """
    sizes = np.abs(coefficients)
    distinct, where = np.unique(vectors, axis=0, return_inverse=True)
    if len(distinct) == len(vectors):
        return vectors, coefficients, sizes
    where = where.reshape(-1)
    sums, added = np.zeros((2, len(distinct), coefficients.shape[1]))
    np.add.at(sums, where, coefficients)
    np.add.at(added, where, sizes)
    order = np.argsort(where, kind="stable")
    groups = np.split(coefficients[order], np.cumsum(np.bincount(where))[:-1])
    exact = all(
        fsum((*column.tolist(), -total)) == 0.0
        for group, totals in zip(groups, sums.tolist(), strict=True)
        if len(group) > 1
        for column, total in zip(group.T, totals, strict=True)
    )
    return (distinct, sums, added * OUTWARD) if exact else (vectors, coefficients, sizes)
