"""Networks in fixed point of any length on many rows at once: exact, or truncated with a rigorous bound.

Where float64 leaves a sign in doubt, scores are computed in integers. An activation is a sum of *limbs*,
``sum_k limb_k 2**(c k) 2**-Q``, the weights of a layer are a sum of *slices* of 24 bits,
``sum_j slice_j 2**(24 j) 2**-q``, slices and limbs being small integers: limbs below ``2**c`` with
``terms * 2**23 * 2**c <= 2**53``. Then every product of a matrix of limbs with a slice is computed without
any rounding by the matrix multiplication of float64, in whatever order it adds (the error-free splitting of
Ozaki, Ogita, Oishi and Rump, Numerical Algorithms 59, 2012, with one common exponent for each matrix instead
of one for each row). Compensated dot products (TwoSum, TwoProduct) need some twenty passes over the weights
for each point where this needs one matrix product for all points, limbs and slices.

Without truncation the scores are exact. With it the lowest limbs are dropped after each layer, which lowers
an activation by less than one unit of the lowest limb kept; units are 1-Lipschitz (slopes in [0, 1]), hence

    ``|computed h - h| <= e``,  ``e' = ||W||_inf e + 2**-Q``,

with the Q of what was kept. 120 bits leave enough for the factors ``||W||_inf`` of deep and wide networks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.exact_array import ExactArray
from fairdsl.ir.model import Layer
from fairdsl.numerics.derived import Kept, derived
from fairdsl.numerics.rounding import quantum_exponent

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

#: Bits of a slice; slices are balanced, so that their magnitude is at most half of 2**_SLICE.
_SLICE = 24
#: Constants that range over more bits are left to rational arithmetic.
_MOST_BITS = 8 * _SLICE
#: Of a limb; fewer make no sense, more would overflow where slopes are multiplied.
_LEAST_LIMB, _MOST_LIMB = 8, 24
#: Bits after the binary point of a slope: times a limb they stay below 2**63.
_SLOPE_BITS = 36
#: Bits that a truncated activation keeps at least, counted from the largest activation of the layer.
_KEPT = 120
#: Rows of constants that are split at once.
_BLOCK = 32
#: Products of a weight with an activation from which on matrices are faster than lists of integers.
_PAYS = 2**13
#: Numbers in the limbs of a chunk's activations, about.
_CHUNK = 2**21


@dataclass(frozen=True, slots=True)
class FixedScores:
    """``numerators[n][k] * 2**-exponent``, each within ``error`` of the exact score."""

    numerators: list[list[int]]
    exponent: int
    error: Fraction

    def rows(self) -> list[tuple[Fraction, ...]]:
        """The scores as fractions."""
        scale = Fraction(1, 2**self.exponent) if self.exponent >= 0 else Fraction(2**-self.exponent)
        return [tuple(value * scale for value in row) for row in self.numerators]


@dataclass(frozen=True, slots=True)
class _Sliced:
    """``sum_j slices[j] * 2**(bits j - exponent)``; the slices are integers."""

    slices: tuple[FloatArray, ...]
    exponent: int


class _FixedLayer:
    """A layer's constants in slices; ``fits`` is False where they range over too many bits."""

    def __init__(self, layer: Layer) -> None:
        self.terms = layer.weight.shape[1]
        self.width = layer.width
        self._magnitude = layer.weight.floats
        self.linear = layer.rational and bool(np.all(layer.linear))
        self.slopes, self.slope_bits = _slopes(layer.slope) if layer.rational else (None, 0)
        weight = _sliced(layer.weight) if self.slopes is not None else None
        bias = _sliced(layer.bias) if weight is not None else None
        self.fits = weight is not None and bias is not None
        self.weight, self.bias = weight or _Sliced((), 0), bias or _Sliced((), 0)

    @cached_property
    def norm(self) -> Fraction:
        """At least the largest absolute row sum of the weights, which are floats where the layer fits."""
        sums = np.abs(self._magnitude).sum(axis=1)
        # Numbers that fit in slices are far from overflow; what underflows in a sum of floats is exact.
        return Fraction(float(sums.max(initial=0.0))) * (1 + Fraction(self.terms + 1, 2**52))


@dataclass(slots=True)
class _Activations:
    """``sum_k limbs[k] * 2**(bits k - exponent)`` [limbs, n, units]: lower limbs in [0, 2**bits), the top signed."""

    limbs: IntArray
    exponent: int


class FixedPoint:
    """The layers of one model, in integers."""

    def __init__(self, layers: Sequence[Layer]) -> None:
        self._layers = [derived(layer, _FixedLayer, _PREPARED) for layer in layers]
        terms = max([1, *(layer.terms for layer in self._layers)])
        #: terms * 2**(bits + _SLICE - 1) <= 2**53, so that no partial sum is ever rounded.
        self._bits = min(_MOST_LIMB, 54 - _SLICE - (terms - 1).bit_length())
        #: Whether the model can be computed this way at all.
        self.fits = self._bits >= _LEAST_LIMB and all(layer.fits for layer in self._layers)
        widest = max([terms, *(layer.width for layer in self._layers)])
        #: Rows that are best evaluated at once.
        self.chunk = max(1, _CHUNK // (16 * widest))
        self._weights = sum(layer.terms * layer.width for layer in self._layers)

    def pays(self, rows: int) -> bool:
        """Whether so many rows are faster here, all at once, than one by one in rational arithmetic."""
        return self.fits and self._weights * rows >= _PAYS

    def scores(self, inputs: FloatArray, *, truncated: bool) -> FixedScores | None:
        """The scores of a few rows of inputs (floats taken as exact); None where they do not fit."""
        read = _split(inputs, self._bits) if self.fits else None
        if read is None:
            return None
        limbs = np.array(read.slices or (np.zeros_like(inputs),)).astype(np.int64)
        hidden, error = _Activations(limbs, read.exponent), Fraction(0)
        keeps = -(-_KEPT // self._bits) + 1 if truncated else None
        for layer in self._layers:
            hidden = self._bent(layer, self._affine(layer, hidden))
            dropped = self._shortened(hidden, keeps)
            error = layer.norm * error if error else error
            if dropped:
                error += Fraction(2) ** -hidden.exponent
        return FixedScores(self._whole(hidden.limbs), hidden.exponent, error)

    def _affine(self, layer: _FixedLayer, hidden: _Activations) -> _Activations:
        """``weight @ hidden + bias``, carried but not yet trimmed."""
        count, rows, terms = hidden.limbs.shape
        flat = hidden.limbs.reshape(count * rows, terms).astype(np.float64)
        product_exponent = hidden.exponent + layer.weight.exponent
        exponent = max(product_exponent, layer.bias.exponent)
        parts: list[tuple[int, IntArray]] = []
        for position, piece in enumerate(layer.weight.slices):
            product = (flat @ piece.T).reshape(count, rows, layer.width).astype(np.int64)
            parts.append((exponent - product_exponent + _SLICE * position, _carried(product, self._bits)))
        for position, piece in enumerate(layer.bias.slices):
            parts.append((exponent - layer.bias.exponent + _SLICE * position, piece.astype(np.int64)[None, None, :]))
        return _Activations(_carried(self._sum(parts, (rows, layer.width)), self._bits), exponent)

    def _sum(self, parts: list[tuple[int, IntArray]], shape: tuple[int, int]) -> IntArray:
        """The sum of numbers in limbs, each shifted to the left by some bits."""
        length = max([1, *(shift // self._bits + len(limbs) for shift, limbs in parts)])
        total = np.zeros((length, *shape), dtype=np.int64)
        for shift, limbs in parts:
            # Carried limbs and slices are at most 2**24, shifted by less than 24 bits: thousands fit in 63 bits.
            offset, rest = divmod(shift, self._bits)
            total[offset : offset + len(limbs)] += limbs << rest
        return total

    def _bent(self, layer: _FixedLayer, before: _Activations) -> _Activations:
        """The units' outputs."""
        if layer.linear or layer.slopes is None:
            return before
        negative = before.limbs[-1] < 0
        if not layer.slopes.any():
            before.limbs *= ~negative
            return before
        factors = np.where(negative, layer.slopes, np.int64(1) << layer.slope_bits)
        return _Activations(_carried(before.limbs * factors, self._bits), before.exponent + layer.slope_bits)

    def _shortened(self, hidden: _Activations, keeps: int | None) -> bool:
        """Drop empty limbs at both ends, then the lowest until ``keeps`` are left; whether anything was lost."""
        limbs = hidden.limbs
        while len(limbs) > 1 and bool(np.all((limbs[-1] == 0) | (limbs[-1] == -1))):
            limbs[-2] += limbs[-1] << self._bits  # now in [-2**bits, 2**bits)
            limbs = limbs[:-1]
        empty = 0
        while empty < len(limbs) - 1 and not limbs[empty].any():
            empty += 1
        dropped = max(0, len(limbs) - empty - keeps) if keeps is not None else 0
        hidden.limbs = limbs[empty + dropped :]
        hidden.exponent -= self._bits * (empty + dropped)
        return dropped > 0

    def _whole(self, limbs: IntArray) -> list[list[int]]:
        """The integers that limbs [k, n, units] stand for."""
        rows = [[0] * limbs.shape[2] for _ in range(limbs.shape[1])]
        for part in limbs[::-1].tolist():
            rows = [
                [(value << self._bits) + limb for value, limb in zip(row, more, strict=True)]
                for row, more in zip(rows, part, strict=True)
            ]
        return rows


_PREPARED: Kept[Layer, _FixedLayer] = {}


def _carried(limbs: IntArray, bits: int) -> IntArray:
    """The same numbers with all limbs but the last, signed one in [0, 2**bits); the last is -1, 0 or small."""
    extra = -(-63 // bits)
    out = np.empty((len(limbs) + extra, *limbs.shape[1:]), dtype=np.int64)
    mask = np.int64((1 << bits) - 1)
    carry = np.zeros(limbs.shape[1:], dtype=np.int64)
    for position in range(len(out) - 1):
        if position < len(limbs):
            carry += limbs[position]
        np.bitwise_and(carry, mask, out=out[position])
        carry >>= bits  # rounds down, as the mask takes the remainder of that
    out[-1] = carry
    return out


def _slopes(slope: ExactArray) -> tuple[IntArray | None, int]:
    """Slopes as integers over a power of two; None where they are none, or too fine."""
    exponent = quantum_exponent(slope)
    if exponent is None or exponent > _SLOPE_BITS:
        return None, 0
    return np.ldexp(slope.floats, exponent).astype(np.int64), exponent


def _sliced(array: ExactArray) -> _Sliced | None:
    """The constants in slices; None where some are not floats or they range over too many bits."""
    return _split(array.floats, _SLICE) if array.is_float else None


def _split(values: FloatArray, bits: int) -> _Sliced | None:
    """Floats as sums of integers of at most half 2**bits, times powers of 2**bits, over one power of two."""
    least, largest, digits = np.inf, 0.0, 0
    # Block by block, since most of the time goes into moving millions of weights through the memory.
    for start in range(0, len(values), _BLOCK):
        low, high, length = _extent(values[start : start + _BLOCK])
        least, largest, digits = min(least, low), max(largest, high), max(digits, length)
    if not np.isfinite(largest):
        return None
    # A float is a multiple of its last digit's unit; no float64 is finer than 2**-1074.
    exponent = min(1074, digits - int(np.frexp(least)[1])) if digits else 0
    length = exponent + int(np.frexp(largest)[1])
    if length > _MOST_BITS:
        return None
    slices = np.empty((-(-(length + 1) // bits) if largest else 0, *values.shape))
    for start in range(0, len(values), _BLOCK):
        block = slice(start, start + _BLOCK)
        # Every step is exact: scaling by powers of two, rint, and differences of multiples of one unit that
        # are not larger than what they are taken from. The last carry is 0, for half 2**length is a bit more.
        rest = np.ldexp(values[block], exponent)
        for piece in slices[:, block]:
            carry = np.rint(rest * 2.0**-bits)
            np.subtract(rest, carry * 2.0**bits, out=piece)
            rest = carry
    return _Sliced(tuple(slices), exponent)


def _extent(values: FloatArray) -> tuple[float, float, int]:
    """The least positive and the largest magnitude, and the binary digits of each float; 0: all are integers."""
    magnitudes = np.abs(values)
    largest = float(magnitudes.max(initial=0.0))
    whole = bool(np.all(np.rint(values) == values))
    with np.errstate(over="ignore"):
        digits = 0 if whole else 24 if bool(np.all(values.astype(np.float32) == values)) else 53
    magnitudes[magnitudes == 0] = np.inf
    return float(magnitudes.min(initial=np.inf)), largest, digits
