"""A network's layers in float64 on many rows at once, with a rigorous bound on the error.

Error analysis (Higham, Accuracy and Stability of Numerical Algorithms, chapter 3). With unit roundoff
u = 2**-53, a dot product of n terms computed in any order, blocked or with fused multiply-adds, satisfies
``|computed - true| <= gamma(n) * |w|.|h|``, gamma(n) = n u / (1 - n u), if nothing overflows; every
product may add one underflow of at most 2**-1074. For a layer ``z = W h + b`` whose input is known as
``|computed h - h| <= e`` and whose floats are within ``u |W|`` of the exact weights (0 where a weight *is*
its float, as float32 weights are), therefore

    ``|computed z - z| <= |W| e + local``,  ``local = c (|W| |h| + |b|) + tiny``,  c = gamma(n + 2) + 3 u

(the 3 u cover the weights' representation and second-order terms; where a weight that is not a float is too small
to be represented so, nothing is known), and a leaky unit, being 1-Lipschitz
for slopes in [0, 1], passes that error on and adds the rounding of one product. A curved unit scales it by
its greatest derivative (1/4 of sigmoid, 3/2 at most) and adds its own rounding: :mod:`fairdsl.numerics.curves`.
The bound consists of sums of non-negative terms, so its own rounding is a relative gamma(n + 16): the
factor ``outward``.

In wide and deep networks ``|W| e`` grows far faster than errors do. So a second bound is carried beside
it, on the error's Euclidean norm: ``E' <= s (||W||_2 E + ||local||_2)``, s the greatest derivative of the
layer's units; each bound limits the other. ``||W||_2`` comes from :mod:`fairdsl.numerics.spectral`.

If all weights, biases and inputs of a layer are multiples of a power of two q and ``|W||h| + |b|`` stays
below ``2**52 q``, then every partial sum in every order is a float64 number and the layer is computed
*exactly*, if it has no curved unit: models with small integer or dyadic weights have error 0, and ties at
the threshold stay ties.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.exact_array import ExactArray
from fairdsl.ir.model import Curve, Layer
from fairdsl.numerics.curves import CURVE_ERROR, STEEPNESS, bend, growing
from fairdsl.numerics.derived import Kept, derived
from fairdsl.numerics.leaves import Leaves
from fairdsl.numerics.products import product
from fairdsl.numerics.rounding import quantum_exponent
from fairdsl.numerics.spectral import spectral_norm

FloatArray = NDArray[np.float64]

_UNIT_ROUNDOFF = 2.0**-53
#: Covers the underflows of a layer's products and of the bound's own arithmetic, n of each.
_TINY = 1e-300
#: Beyond this a partial sum might overflow, which the analysis excludes.
_OVERFLOWS = 1e300
#: Floats below it are subnormal: as far apart as 2**-1074, however small they are.
_NORMAL = 2.0**-1022
#: Numbers in the widest activation of a chunk: about 2 MB, so that chunks stay in the cache; but of very wide
#: layers so many rows at least, for each chunk moves all weights through the cache.
_CHUNK, _LEAST_ROWS = 2**18, 640


class _PlainLayer:
    """A layer prepared for float64: its constants and what the error bound needs."""

    def __init__(self, layer: Layer) -> None:
        weight, slope = layer.weight.floats, layer.slope.floats
        terms = weight.shape[1]
        self.weight = weight.T
        self.bias = layer.bias.floats
        self.bias_magnitude = np.abs(self.bias)
        self.slope = slope
        self.linear = bool(np.all(layer.linear))
        self.rectifying = not slope.any() and layer.rational
        gamma = (terms + 2) * _UNIT_ROUNDOFF / (1 - (terms + 2) * _UNIT_ROUNDOFF)
        constants = (layer.weight, layer.bias, layer.slope)
        self.relative = np.inf if any(map(_vanishes, constants)) else gamma + 3 * _UNIT_ROUNDOFF
        self.outward = 1 + 4 * (terms + 16) * _UNIT_ROUNDOFF
        plain_slopes = layer.slope.is_float and bool(np.all((slope == 0) | (slope == 1)))
        #: Of one product with a slope that is neither 0 nor 1, and of that slope's float.
        self.slope_error = 0.0 if plain_slopes else 4 * _UNIT_ROUNDOFF
        self._constants = (layer.weight, layer.bias) if plain_slopes and layer.rational else ()
        codes = layer.curve_codes
        #: The units of each curve that bends.
        self.curved = [(curve, np.flatnonzero(codes == curve)) for curve in Curve if curve and curve in layer.curves]
        #: The greatest derivative of each unit, and of all; and the relative error of evaluating a curve.
        self.gain = STEEPNESS[codes]
        self.greatest_gain = float(self.gain.max(initial=0.0))
        self.curve_error = np.where(codes == Curve.LEAKY, 0.0, CURVE_ERROR)
        #: The latter by the argument's magnitude, where the curve grows with it; None where none does.
        self.growing_error = np.where(growing(codes), CURVE_ERROR, 0.0) if growing(codes).any() else None
        self._rounded = not layer.weight.is_float

    @cached_property
    def exponent(self) -> int | None:
        """All constants are multiples of 2**-exponent; None: some constant is not a float, or units bend."""
        # Looked at only while everything is exact so far: in wide networks it takes longer than the layer.
        exponents = [quantum_exponent(constants) for constants in self._constants]
        known = [exponent for exponent in exponents if exponent is not None]
        return max(known) if known and len(known) == len(exponents) else None

    @cached_property
    def norm(self) -> float:
        """An upper bound of the exact weight matrix's spectral norm."""
        norm = spectral_norm(self.weight)
        if self._rounded:
            norm += 2 * _UNIT_ROUNDOFF * float(np.sqrt((self.weight**2).sum()))
        return norm * (1 + 4 * _UNIT_ROUNDOFF)

    def apply(self, hidden: FloatArray) -> FloatArray:
        """The layer's outputs, rounded."""
        before = product(hidden, self.weight)
        before += self.bias
        return self.bent(before)

    def bent(self, before: FloatArray) -> FloatArray:
        """The outputs of pre-activations, which may be overwritten."""
        if self.linear:
            return before
        if self.rectifying:
            return np.maximum(before, 0.0, out=before)
        hidden = np.where(before > 0, before, before * self.slope)
        for curve, units in self.curved:
            hidden[:, units] = bend(before[:, units], curve)
        return hidden


@dataclass(frozen=True, slots=True, eq=False)
class Read:
    """What the first layer reads of n individuals: ``numbers`` [n, others], and the position [n, trees] of the
    leaf that each reaches in each tree, whose indicator is 1 where those of the tree's other leaves are 0. The numbers
    are exact, or known within ``error`` [n, others].
    """

    numbers: FloatArray
    leaves: NDArray[np.int64]
    error: FloatArray | None = None

    @classmethod
    def of(cls, numbers: FloatArray) -> Read:
        """Numbers alone."""
        return cls(numbers, np.zeros((len(numbers), 0), dtype=np.int64))

    def at(self, rows: slice) -> Read:
        """Some of the individuals."""
        return Read(self.numbers[rows], self.leaves[rows], None if self.error is None else self.error[rows])


class _FirstLayer:
    """The first layer over numbers and leaves: leaves that are not reached are products with 0, and left out.

    The sum of the others errs by no more than the whole one may. In a tree one leaf at most is reached, so the
    largest of its weights bounds what the tree contributes to ``|W||h|``.
    """

    def __init__(self, layer: _PlainLayer, leaves: Leaves | None) -> None:
        self.layer = layer
        if leaves is None or not leaves.trees:
            self.weight, self.reach = layer.weight, np.zeros(layer.weight.shape[1])
            return
        self.weight = layer.weight[leaves.others]
        sizes = np.abs(layer.weight)
        self.reach = np.sum([sizes[list(group)].max(axis=0) for group in leaves.groups], axis=0)

    def before(self, read: Read) -> FloatArray:
        """The pre-activations, rounded."""
        before: FloatArray = product(read.numbers, self.weight)
        before += self.layer.bias
        for tree in range(read.leaves.shape[1]):
            before += self.layer.weight.take(read.leaves[:, tree], axis=0)
        return before


class Forward:
    """The layers of one model."""

    def __init__(self, layers: Sequence[Layer], leaves: Leaves | None = None) -> None:
        self._layers = [derived(layer, _PlainLayer, _PREPARED) for layer in layers]
        self._first = _FirstLayer(self._layers[0], leaves)
        trees = leaves.trees if leaves is not None else 0
        first = (len(self._first.weight) + 4 * trees, layers[0].width)
        widest = max(max(shape) for shape in (first, *(layer.weight.shape for layer in self._layers[1:])))
        #: Rows that are best evaluated at once.
        self.chunk = max(_LEAST_ROWS, min(16384, _CHUNK // max(1, widest)))

    def plain(self, read: Read) -> FloatArray:
        """The outputs [n, k] without an error bound."""
        with np.errstate(all="ignore"):
            hidden = self._layers[0].bent(self._first.before(read))
            for layer in self._layers[1:]:
                hidden = layer.apply(hidden)
        return hidden

    def bounded(self, read: Read, *, by_row: bool, error: FloatArray | None = None) -> tuple[FloatArray, FloatArray]:
        """The outputs [n, k] and error bounds [n, k]; infinite or nan where nothing is known.

        One bound for all rows, from their largest activations, costs next to nothing; ``by_row`` takes
        one for each row, at somewhat more than twice the cost of the outputs. What is read is exact, or known
        within ``error`` [n, inputs].
        """
        hidden = read.numbers
        if not len(hidden):
            return self.plain(read), self.plain(read)
        error = read.error if error is None else error
        exact = error is None
        error = np.zeros((1, hidden.shape[1])) if error is None else error
        norm = _euclidean(error) * (1 + (error.shape[1] + 16) * _UNIT_ROUNDOFF) if not exact else np.zeros((1, 1))
        # The activations are multiples of 2**-exponent; None as soon as exactness is lost.
        exponent: int | None = 0 if exact and bool(np.all(np.floor(hidden) == hidden)) else None
        with np.errstate(all="ignore"):
            for depth, layer in enumerate(self._layers):
                reach = np.abs(hidden) if by_row else _largest(hidden)
                # Taken again every time: it costs less than keeping a second matrix in memory does.
                magnitude = np.abs(layer.weight if depth else self._first.weight)
                total = product(reach, magnitude) + layer.bias_magnitude
                total = total if depth else total + self._first.reach
                exponent = _still_exact(exponent, layer, float(total.max(initial=0.0)))
                hidden = layer.apply(hidden) if depth else layer.bent(self._first.before(read))
                if exponent is not None:
                    error = np.zeros((1, hidden.shape[1]))
                    continue
                error, norm = _propagate(layer, magnitude, total, error, norm)
        return hidden, np.broadcast_to(error, hidden.shape)


_PREPARED: Kept[Layer, _PlainLayer] = {}


def _vanishes(constants: ExactArray) -> bool:
    """Whether some number is so small that its float is not within a relative rounding error of it."""
    if constants.is_float:
        return False
    return bool(((np.abs(constants.floats) < _NORMAL) & (constants.exact != 0)).any())


def _largest(hidden: FloatArray) -> FloatArray:
    """The largest magnitude in each column, as one row."""
    largest = np.maximum(hidden.max(axis=0, keepdims=True), -hidden.min(axis=0, keepdims=True))
    return np.asarray(largest, dtype=np.float64)


def _propagate(
    layer: _PlainLayer, magnitude: FloatArray, total: FloatArray, error: FloatArray, norm: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The error after a layer, elementwise and as a Euclidean norm; ``magnitude`` is |W|, ``total`` |W||h| + |b|."""
    # |output| <= |z| <= total, and slopes are at most 1; curved outputs are at most 1, or 1 + |z|.
    local = (layer.relative + layer.slope_error) * total * layer.outward + _TINY
    local = (local * layer.gain + layer.curve_error) * layer.outward
    if layer.growing_error is not None:
        local = (local + layer.growing_error * total) * layer.outward
    error = (product(error, magnitude) * layer.gain + local) * layer.outward
    error = np.where(total < _OVERFLOWS, error, np.inf)
    widening = 1 + (error.shape[1] + 16) * _UNIT_ROUNDOFF
    norm = (layer.greatest_gain * layer.norm * norm + _euclidean(local)) * widening
    norm = np.minimum(norm, _euclidean(error) * widening)
    norm = np.where((total < _OVERFLOWS).all(axis=1, keepdims=True), norm, np.inf)
    return np.minimum(error, norm), norm


def _euclidean(rows: FloatArray) -> FloatArray:
    """Each row's norm; scaled, so that squares neither overflow nor vanish."""
    largest = rows.max(axis=1, keepdims=True, initial=_TINY)
    norm = np.sqrt(((rows / largest) ** 2).sum(axis=1, keepdims=True)) * largest
    return np.asarray(np.where(np.isfinite(largest), norm, np.inf), dtype=np.float64)


def _still_exact(exponent: int | None, layer: _PlainLayer, reach: float) -> int | None:
    """The exponent of the layer's outputs if it is computed without any rounding; otherwise None.

    ``reach`` bounds |W||h| + |b| but was itself rounded: below 2**52 quanta it stays below 2**53.
    """
    if exponent is None or layer.exponent is None:
        return None
    # Products of multiples of 2**-i and 2**-j are multiples of 2**-(i + j), as is the bias.
    outputs = exponent + layer.exponent
    return outputs if outputs < 900 and reach < 2.0 ** (52 - outputs) else None
