"""Kernel machines in float64 on many rows at once, with a rigorous bound on the error.

``v_j(x) = sum_i c_ji K(s_i, f) + b_j`` of n vectors with m features. With ``f' = f - z`` and ``s' = s - z`` around a
centre z, the Gaussian kernel is ``exp(e_i)``, and its exponent is one scalar product of m + 2 terms,

    ``e_i = -gamma |f - s_i|^2 = (f', |f'|^2, 1) . (2 gamma s'_i, -gamma, -gamma |s'_i|^2)``,

so that a matrix product and one exponential a vector is all it takes. Cancellation is bounded, not avoided. Let u =
2**-53, F >= |f'|, S >= |s'_i|, and f be known within E (Euclidean norms). Then (Higham, chapter 3, as in
:mod:`fairdsl.numerics.forward`), the rounding of f', s', of the norms and of the products included,

    ``|computed e_i - e_i| <= eps = gamma ((2 m + 40) u (F + S)^2 + 3 E (F + S + E))``.

numpy's ``exp`` is within a factor 1 + 16 u (:mod:`fairdsl.numerics.curves`), and K <= 1, so with ``A_j = sum_i |c_ji|``
the sum, in whatever order it is added, is within

    ``A_j (exp(eps) (1 + 64 u) (1 + gamma(n + 8)) - 1 + tiny) + 4 u (|v_j| + |b_j|)``

of the exact one; ``tiny`` covers what underflows. Of a polynomial kernel ``t ** p`` and of tanh, ``t = gamma s.f + c``
is within ``eps = (m + 8) u T + |gamma| S E``, ``T = |gamma| F S + |c|``, the power within ``p (T + eps)^(p - 1) eps +
(p + 2) u (T + eps)^p``, and tanh, which is 1-Lipschitz, within ``eps + 24 u``.

*Rows that share most of their features.* Where rows differ in some features P only, ``exp(-gamma |f - s|^2)`` is the
product of a factor of the shared features and one of P. So the shared factor is computed once, and the other one joins
the coefficients, for each combination of values that P takes. The exponents of both parts err by no more than eps
together (the two norms of each side add up to those above, by Cauchy and Schwarz); the two products more are in 64 u.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike, NDArray

from fairdsl.ir.model import Model
from fairdsl.ir.opaque import Kernel, KernelMachine
from fairdsl.numerics.curves import CURVE_ERROR
from fairdsl.numerics.derived import Kept, derived
from fairdsl.numerics.forward import Forward, Read
from fairdsl.numerics.kernel_tiles import OUTWARD, ROWS, KernelTiles, Layout, norms
from fairdsl.numerics.leaves import Leaves

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

_UNIT_ROUNDOFF = 2.0**-53
_SINGLE_ROUNDOFF = 2.0**-24
_TINY = 1e-290
#: Sums of sizes come from float32 where exponents are off by no more than this, and vectors are no more.
_LOOSE, _MOST_VECTORS = 0.25, 2**20
#: Squared distances below which nothing in float32 overflows; and what products in it lose below its range.
_FAR, _VANISHING = 2.0**120, 2.0**-148
#: Covers second-order terms of rounding in float32.
_WIDENING = 1 + 2.0**-6
#: From so many vectors on, approximate scores come from float32.
_SINGLE = 1024
#: Combinations of values that rows which share the rest may take.
_VARIANTS = 64
#: Kinds of steps at most; and how far the factors of a step may go, so that no float32 overflows.
_STEPS, _STEEPEST = 64, 30.0
#: So many sums of kernel values take as long as the values themselves.
_SUMS_A_ROW = 30

_PREPARED: Kept[Model, KernelTiles] = {}


class KernelForward:
    """A kernel machine and the layers that read its values; rows of inputs are taken as exact numbers."""

    def __init__(self, model: Model, leaves: Leaves) -> None:
        machine = model.opaque
        if not isinstance(machine, KernelMachine):
            raise ValueError(f"`{model.name}` is not a kernel machine")
        self._features = Forward([machine.features], leaves)
        self._layers = Forward(model.layers)
        self._machine = derived(model, _prepared, _PREPARED)
        #: Rows that are best evaluated at once.
        self.chunk = 16 * ROWS

    @property
    def sizes(self) -> float:
        """An upper bound of the sum of the coefficients' sizes, of a machine with one value, as the file lists them."""
        return float(self._machine.all_sizes[0])

    def features(self, read: Read) -> FloatArray | None:
        """The features [n, m], where float64 has them exactly."""
        found, off = self._features.bounded(read, by_row=False)
        return None if off.any() else found

    def term_sizes(self, features: FloatArray) -> FloatArray:
        """Upper bounds [n] of ``sum_i |c_i| K(s_i, f)``, of a machine with one value and exact features.

        Vectors that come several times count as often as they come.
        """
        machine = self._machine
        centred = features - machine.centre
        near = float(norms(centred).max(initial=0.0))
        # All terms are positive: in float32 each is off by such a factor, the exponent by the analysis above for u.
        squared = (near + machine.farthest) ** 2
        exponent = machine.gamma * (2 * machine.width + 40) * _SINGLE_ROUNDOFF * squared
        single = exponent < _LOOSE and squared < _FAR and machine.count < _MOST_VECTORS
        dtype: DTypeLike = np.float32 if single else np.float64
        sums = machine.sums(centred, Layout.plain(machine.width, sizes=True), dtype)[:, 0, 0, 0]
        factor = np.exp(min(exponent, _LOOSE)) * (1 + (machine.count + 100) * _SINGLE_ROUNDOFF) * _WIDENING
        if dtype is np.float64:
            _, off = _kernel_error(machine, np.full(len(centred), near), np.zeros(len(centred)))
            return np.asarray(sums * OUTWARD + machine.all_sizes[0] * (off * OUTWARD + _TINY), dtype=np.float64)
        # The last terms are for what underflows in float32: kernel values, and their products with coefficients.
        lost = machine.all_sizes[0] * 2.0**-120 + machine.count * _VANISHING
        return np.asarray(sums * factor + lost, dtype=np.float64)

    def plain(self, read: Read) -> FloatArray:
        """The scores [n, k] without an error bound."""
        return self._layers.plain(Read.of(self._values(self._features.plain(read), self._cheapest)))

    def together(self, read: Read, size: int) -> FloatArray:
        """The scores of rows that come ``size`` by ``size``, those of each group alike but for some features."""
        features = self._features.plain(read)
        return self._layers.plain(Read.of(self._values(features, self._cheapest, _grouped(len(features), size))))

    def around(self, read: Read, size: int, centres: Read, owners: IntArray) -> FloatArray:
        """What :meth:`together` gives of groups that are a step in one feature from ``centres[owners]`` each.

        If they are not, or little is gained by it, the centres are left out of account.
        """
        machine, features = self._machine, self._features.plain(read)
        grouped = _grouped(len(features), size)
        with np.errstate(all="ignore"):
            shared = _shared(features - machine.centre, grouped) if machine.gaussian else None
            found = None if shared is None else self._stepped(features, shared, self._features.plain(centres), owners)
        if found is None:
            return self._layers.plain(Read.of(self._values(features, self._cheapest, grouped)))
        return self._layers.plain(Read.of(found + machine.offsets))

    def _stepped(
        self, features: FloatArray, shared: _Shared, centres: FloatArray, owners: IntArray
    ) -> FloatArray | None:
        """The values without the offsets of rows whose groups are a step from ``centres[owners]`` each."""
        machine = self._machine
        steps = _steps(features[np.ix_(shared.owners, shared.kept)], centres[np.ix_(owners, shared.kept)])
        if steps is None:
            return None
        needed, owned = np.unique(owners, return_inverse=True)
        used = centres[np.ix_(needed, shared.kept)] - machine.centre[shared.kept]
        reach = 2 * machine.gamma * max(abs(step) for _, step in steps.kinds)
        far = max(machine.farthest, float(np.abs(used).max(initial=0.0)))
        work = len(used) * (1 + len(steps.kinds) * len(shared.variants) / _SUMS_A_ROW)
        if not reach * far < _STEEPEST or work > len(owned):
            return None
        sums = machine.sums(used, Layout(shared.kept, shared.variants, steps.kinds), self._cheapest)
        along = used[owned, steps.features]
        factors = np.exp(-machine.gamma * (steps.lengths**2 + 2 * steps.lengths * along))
        group = shared.owned
        return np.asarray(
            sums[owned[group], steps.kind[group], shared.variant] * factors[group, None], dtype=np.float64
        )

    def bounded(self, read: Read, *, by_row: bool) -> tuple[FloatArray, FloatArray]:
        """The scores [n, k] and error bounds [n, k]; infinite or nan where nothing is known.

        The features' errors and those of the layers are bounded for all rows at once, or ``by_row``.
        """
        features, off = self._features.bounded(read, by_row=by_row)
        with np.errstate(all="ignore"):
            values = self._values(features, np.float64, *_paired(len(features)))
            errors = self._errors(features, off, values)
            return self._layers.bounded(Read.of(values), by_row=by_row, error=errors)

    @property
    def _cheapest(self) -> DTypeLike:
        return np.float32 if self._machine.count >= _SINGLE else np.float64

    def _values(self, features: FloatArray, dtype: DTypeLike, *owners: IntArray) -> FloatArray:
        """The machine's values [n, k]; ``owners`` [n] are rows with which rows may share most of their features."""
        machine = self._machine
        with np.errstate(all="ignore"):
            centred = features - machine.centre
            tried = (_shared(centred, rows) for rows in owners if machine.gaussian)
            shared = next((found for found in tried if found is not None), None)
            if shared is None:
                found = machine.sums(centred, Layout.plain(machine.width), dtype)[:, 0, 0]
            else:
                layout = Layout(shared.kept, shared.variants)
                found = machine.sums(centred[np.ix_(shared.owners, shared.kept)], layout, dtype)
                found = found[shared.owned, 0, shared.variant]
            return np.asarray(found + machine.offsets, dtype=np.float64)

    def _errors(self, features: FloatArray, off: FloatArray, values: FloatArray) -> FloatArray:
        """How far the computed values [n, k] may be from the exact ones."""
        machine = self._machine
        near, error = norms(features - machine.centre), norms(off)
        relative, absolute = _kernel_error(machine, near, error)
        adding = (machine.count + 8) * _UNIT_ROUNDOFF / (1 - (machine.count + 8) * _UNIT_ROUNDOFF)
        # Of numbers that are not floats the nearest ones are computed with.
        coarse = 4 * _UNIT_ROUNDOFF if machine.rounded else 0.0
        each = absolute + (relative + absolute) * (adding + coarse) * OUTWARD + _TINY
        rounding = 4 * _UNIT_ROUNDOFF * (np.abs(values) + np.abs(machine.offsets)) + _TINY
        found = (each[:, None] * machine.sizes + rounding) * OUTWARD
        return np.asarray(np.where(np.isfinite(values), found, np.inf), dtype=np.float64)


def _kernel_error(machine: KernelTiles, near: FloatArray, error: FloatArray) -> tuple[FloatArray, FloatArray]:
    """For rows of norm ``near``, known within ``error``: how large a kernel value may be, and how far off."""
    far, u, terms = machine.farthest, _UNIT_ROUNDOFF, machine.width
    if machine.gaussian:
        reach = near + far
        # Vectors that are not floats are off by u |s| each, which (F + S)^2 covers as it does the centring.
        exponent = (2 * terms + 40) * u * reach**2 + 3 * error * (reach + error)
        grown = np.exp(np.minimum(machine.gamma * exponent * OUTWARD, 700.0)) * (1 + 80 * u)
        off = np.expm1(np.minimum(machine.gamma * exponent * OUTWARD, 700.0)) * (1 + 80 * u) + 80 * u
        return np.where(machine.gamma * exponent < 700.0, grown, np.inf), off
    size = abs(machine.gamma)
    largest = size * (near + error) * far + abs(machine.coef0)
    argument = ((terms + 8) * u * largest + size * far * error) * OUTWARD
    if machine.kernel is Kernel.SIGMOID:
        return np.ones_like(largest), argument + CURVE_ERROR
    power = machine.degree
    within = (largest + argument) * OUTWARD
    off = power * within ** (power - 1) * argument + (power + 2) * u * within**power
    return within**power * OUTWARD, off * OUTWARD


@dataclass(frozen=True, slots=True)
class _Shared:
    """Rows that share the ``kept`` features with their owner; the others take the values of one of ``variants``.

    ``owners`` are rows, each once; row i has the kept features of ``owners[owned[i]]``.
    """

    kept: BoolArray
    variants: FloatArray
    owners: IntArray
    owned: IntArray
    variant: IntArray


@dataclass(frozen=True, slots=True)
class _Steps:
    """Rows that are a step from others: in which feature and how far, and which of all ``kinds`` of steps it is."""

    features: IntArray
    lengths: FloatArray
    kind: IntArray
    kinds: tuple[tuple[int, float], ...]


def _steps(rows: FloatArray, centres: FloatArray) -> _Steps | None:
    """The steps from the centres to the rows; None where some are none, or there are too many kinds."""
    moved = rows - centres
    if ((moved != 0).sum(axis=1) > 1).any():
        return None
    features = np.argmax(np.abs(moved), axis=1)
    # Equal steps of features that are scaled differ in the last digits.
    lengths = np.take_along_axis(moved, features[:, None], axis=1)[:, 0].astype(np.float32).astype(np.float64)
    kinds, kind = np.unique(features + 1j * lengths, return_inverse=True)
    if len(kinds) > _STEPS:
        return None
    listed = tuple((int(feature), step) for feature, step in zip(kinds.real.tolist(), kinds.imag.tolist(), strict=True))
    return _Steps(features, lengths, kind.reshape(-1), listed)


def _grouped(count: int, size: int) -> IntArray:
    """The first row of each row's group of ``size``."""
    rows = np.arange(count)
    return rows - rows % size


def _paired(count: int) -> tuple[IntArray, ...]:
    """The ways in which people who are compared may lie: two halves that are alike row by row, and row after row."""
    return (np.arange(count) % (count // 2), _grouped(count, 2)) if count and count % 2 == 0 else ()


def _shared(features: FloatArray, owners: IntArray) -> _Shared | None:
    """How the rows share features with their owners; None where nothing is gained by it."""
    distinct, owned = np.unique(owners, return_inverse=True)
    if len(distinct) == len(owners):
        return None
    kept = ~(features != features[owners]).any(axis=0)
    if not kept.any():
        return None
    variants, variant = _distinct(features[:, ~kept])
    if len(variants) > _VARIANTS or len(distinct) * (4 + len(variants)) > 5 * len(owners):
        return None
    return _Shared(kept, variants, distinct, owned.reshape(-1), variant)


def _distinct(rows: FloatArray) -> tuple[FloatArray, IntArray]:
    """The different rows, in order, and which of them each row is."""
    if not rows.shape[1]:
        return np.zeros((1, 0)), np.zeros(len(rows), dtype=np.int64)
    if rows.shape[1] == 1:
        single, where = np.unique(rows[:, 0], return_inverse=True)
        return single[:, None], where.reshape(-1)
    found, where = np.unique(rows, axis=0, return_inverse=True)
    return found, where.reshape(-1)


def _prepared(model: Model) -> KernelTiles:
    if not isinstance(model.opaque, KernelMachine):
        raise ValueError(f"`{model.name}` is not a kernel machine")
    return KernelTiles(model.opaque)
