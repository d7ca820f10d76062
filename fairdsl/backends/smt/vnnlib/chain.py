"""A model as a chain of ReLU layers in float64, with a bound for what storing it so changes.

Identity. A leaky unit ``h = max(z, 0) + slope * min(z, 0)`` is ``relu(z) - slope * relu(-z)``: a unit of slope 0
becomes one ReLU and every other unit two, with the weights of the next layer repeated and scaled. So ``Gemm`` and
``Relu`` alone express every piecewise-linear model.

Error. Every stored number is within a known slack of the exact one: 0 where float64 stores it, otherwise at
least its rounding error. Let h be the values of the exact network, h' those of the stored one (W', b'), both over
the reals, and e_k >= |z'_k - z_k|. Since ReLU is 1-Lipschitz::

    e_k   = |W'| e_(k-1) + slack(W) |h_(k-1)| + slack(b),        e_0 = 0
    |h_k| <= (|W'| + slack(W)) |h_(k-1)| + |b'| + slack(b)

These sums of non-negative numbers are computed in float64. A dot product of n terms and a few further additions
lose at most a factor (1 - 2^-53)^(n + 6), apart from underflow, so every result is multiplied by
1 + (n + 8) 2^-52 and raised by n + 8 times the least normal number. Where every slack is 0 nothing of this is
computed: the error is 0, on unbounded inputs too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.exact_array import ExactArray
from fairdsl.ir.model import Layer

FloatArray = NDArray[np.float64]
Row = Sequence[Fraction]

_LEAST = 2.0**-1022
_STEP = 2.0**-52


@dataclass(frozen=True, slots=True)
class Affine:
    """``weight @ x + bias`` in exact numbers; ``width`` inputs."""

    weight: Sequence[Row]
    bias: Row
    width: int

    def followed_by(self, rows: Sequence[Row], constants: Row) -> Affine:
        """``rows @ (this map) + constants``."""
        weight = [_mixed(row, self.weight, self.width) for row in rows]
        bias = [
            sum((factor * own for factor, own in zip(row, self.bias, strict=True) if factor), constant)
            for row, constant in zip(rows, constants, strict=True)
        ]
        return Affine(weight, bias, self.width)

    def stored(self) -> Stored:
        """The map in float64, each number rounded to nearest."""
        exact = np.array([list(row) for row in self.weight], dtype=object).reshape(len(self.bias), self.width)
        weight, bias = ExactArray.from_fractions(exact), ExactArray.from_fractions(list(self.bias))
        return Stored(weight.floats, bias.floats, _slack(weight), _slack(bias))


@dataclass(frozen=True)
class Stored:
    """An affine map in float64: weight [out, in], bias [out], and for each number a bound of its rounding."""

    weight: FloatArray
    bias: FloatArray
    weight_slack: FloatArray
    bias_slack: FloatArray

    @classmethod
    def of_rows(cls, rows: Sequence[Iterable[tuple[int, Fraction]]], constants: Row, width: int) -> Stored:
        """From rows of few entries, (column, number) each; ``width`` inputs, every number rounded to nearest."""
        weight, weight_slack = np.zeros((2, len(rows), width))
        bias, bias_slack = np.zeros((2, len(rows)))
        for at, (row, constant) in enumerate(zip(rows, constants, strict=True)):
            bias[at], bias_slack[at] = _rounded(constant)
            for column, number in row:
                weight[at, column], weight_slack[at, column] = _rounded(number)
        return cls(weight, bias, weight_slack, bias_slack)

    @property
    def exact(self) -> bool:
        """Whether nothing was rounded."""
        return not self.weight_slack.any() and not self.bias_slack.any()


@dataclass(frozen=True)
class Chain:
    """Affine maps with a ReLU between each and the next."""

    layers: tuple[Stored, ...]

    @cached_property
    def single(self) -> bool:
        """Whether float32 stores every number."""
        with np.errstate(over="ignore"):
            return all(
                np.array_equal(numbers.astype(np.float32).astype(np.float64), numbers)
                for layer in self.layers
                for numbers in (layer.weight, layer.bias)
            )

    @property
    def width(self) -> int:
        """How many inputs there are."""
        return int(self.layers[0].weight.shape[1])

    @property
    def arrays(self) -> tuple[tuple[FloatArray, FloatArray], ...]:
        """Weights and biases, layer by layer."""
        return tuple((layer.weight, layer.bias) for layer in self.layers)

    @cached_property
    def file(self) -> bytes:
        """The chain as an ONNX file, in float32 where that stores it exactly."""
        from fairdsl.models.onnx_written.chain import relu_chain

        return relu_chain(self.arrays, "fairdsl", single=self.single)

    def errors(self, greatest: FloatArray) -> FloatArray:
        """Bounds of ``|stored - exact|`` for each output, [out], where input i is at most ``greatest[i]`` in size.

        Infinite where rounded weights meet an unbounded input.
        """
        if all(layer.exact for layer in self.layers):
            return np.zeros(len(self.layers[-1].bias))
        size, error = greatest, np.zeros_like(greatest)
        for layer in self.layers:
            weight, slack = np.abs(layer.weight), layer.weight_slack
            error = _raised(_product(weight, error) + _product(slack, size) + layer.bias_slack, weight.shape[1])
            size = _raised(_product(weight + slack, size) + np.abs(layer.bias) + layer.bias_slack, weight.shape[1])
        return error


def beside(one: Chain, other: Chain) -> Chain:
    """Two chains of as many maps over the same inputs as one: the outputs of the first, then those of the second."""
    pairs = list(zip(one.layers, other.layers, strict=True))
    shared = Stored(*(np.concatenate(both) for both in zip(*map(_parts, pairs[0]), strict=True)))
    return Chain((shared, *(_apart(*both) for both in pairs[1:])))


def chained(first: Affine, layers: Sequence[Layer], last: Sequence[Row], constants: Row) -> Chain:
    """``first`` gives the sums z of the first layer, those of every copy one after another; the other layers
    follow, a block a copy; the outputs are ``last @ scores + constants`` with the scores of every copy.

    ``layers`` are the model's, the first one included for its slopes; the last one is linear.
    """
    if len(layers) == 1:
        return Chain((first.followed_by(last, constants).stored(),))
    copies = len(first.bias) // layers[0].width
    chain = [_split(first.stored(), layers[0], copies)]
    for before, layer in pairwise(layers[:-1]):
        chain.append(_split(_blocks(_read(layer, before), copies), layer, copies))
    scores = _exactly_read(layers[-1], layers[-2])
    nothing = [Fraction(0)] * scores.width
    side_by_side = [
        [number for other in range(copies) for number in (row if other == copy else nothing)]
        for copy in range(copies)
        for row in scores.weight
    ]
    both = Affine(side_by_side, [*scores.bias] * copies, copies * scores.width)
    return Chain((*chain, both.followed_by(last, constants).stored()))


def _split(map_: Stored, layer: Layer, copies: int) -> Stored:
    """The sums of a layer followed by the negated sums of its units of another slope than 0, copy by copy."""
    bent = np.flatnonzero(layer.slope.floats)
    rows = [copy * layer.width + np.arange(layer.width) for copy in range(copies)]
    order = np.concatenate([np.concatenate([own, own[bent]]) for own in rows])
    signs = np.tile(np.concatenate([np.ones(layer.width), -np.ones(len(bent))]), copies)
    return Stored(
        map_.weight[order] * signs[:, None], map_.bias[order] * signs, map_.weight_slack[order], map_.bias_slack[order]
    )


def _read(layer: Layer, before: Layer) -> Stored:
    """The layer as a map of the split outputs of the layer before it."""
    bent = np.flatnonzero(before.slope.floats)
    if layer.weight.is_float and np.isin(before.slope.floats, (0.0, 1.0)).all():
        weight = np.concatenate([layer.weight.floats, -layer.weight.floats[:, bent]], axis=1)
        return Stored(weight, layer.bias.floats, np.zeros_like(weight), _slack(layer.bias))
    return _exactly_read(layer, before).stored()


def _exactly_read(layer: Layer, before: Layer) -> Affine:
    """What :func:`_read` gives, in exact numbers."""
    bent = np.flatnonzero(before.slope.floats)
    weight = layer.weight.exact
    negated = -weight[:, bent] * before.slope.exact[bent]
    rows = np.concatenate([weight, negated], axis=1)
    return Affine(rows.tolist(), layer.bias.exact.tolist(), rows.shape[1])


def _parts(map_: Stored) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    return map_.weight, map_.bias, map_.weight_slack, map_.bias_slack


def _apart(one: Stored, other: Stored) -> Stored:
    """Both maps, each of its own inputs, one after the other."""
    return Stored(
        _diagonal(one.weight, other.weight),
        np.concatenate([one.bias, other.bias]),
        _diagonal(one.weight_slack, other.weight_slack),
        np.concatenate([one.bias_slack, other.bias_slack]),
    )


def _diagonal(one: FloatArray, other: FloatArray) -> FloatArray:
    joined: FloatArray = np.zeros((one.shape[0] + other.shape[0], one.shape[1] + other.shape[1]))
    joined[: one.shape[0], : one.shape[1]] = one
    joined[one.shape[0] :, one.shape[1] :] = other
    return joined


def _blocks(map_: Stored, copies: int) -> Stored:
    """The map of every copy, of that copy's inputs alone."""
    identity: FloatArray = np.eye(copies)
    return Stored(
        np.asarray(np.kron(identity, map_.weight), dtype=np.float64),
        np.tile(map_.bias, copies),
        np.asarray(np.kron(identity, map_.weight_slack), dtype=np.float64),
        np.tile(map_.bias_slack, copies),
    )


def _mixed(factors: Row, rows: Sequence[Row], width: int) -> list[Fraction]:
    total = [Fraction(0)] * width
    for factor, row in zip(factors, rows, strict=True):
        if factor:
            total = [so_far + factor * number for so_far, number in zip(total, row, strict=True)]
    return total


def _rounded(number: Fraction) -> tuple[float, float]:
    """The nearest float64, and a bound of the distance: 0, or the spacing there, which is twice the worst."""
    near = float(number)
    return near, 0.0 if Fraction(near) == number else float(np.spacing(abs(near)))


def _slack(array: ExactArray) -> FloatArray:
    """A bound of each element's distance to its float64: 0, or the spacing there, which is twice the worst."""
    if array.fractions is None:
        return np.zeros(array.shape)
    rounded = [
        Fraction(near) != exact for near, exact in zip(array.floats.ravel().tolist(), array.exact.ravel(), strict=True)
    ]
    spacing: FloatArray = np.where(np.array(rounded).reshape(array.shape), np.spacing(np.abs(array.floats)), 0.0)
    return spacing


def _product(weight: FloatArray, size: FloatArray) -> FloatArray:
    """``weight @ size`` where 0 times infinity is 0."""
    unbounded = np.isinf(size)
    if not unbounded.any():
        return np.asarray(weight @ size)
    finite: FloatArray = weight[:, ~unbounded] @ size[~unbounded]
    return np.where(weight[:, unbounded].any(axis=1), np.inf, finite)


def _raised(sums: FloatArray, terms: int) -> FloatArray:
    return np.asarray(sums * (1.0 + (terms + 8) * _STEP) + (terms + 8) * _LEAST)


# ---- in numbers that float32 stores --------------------------------------------------------------
#
# The same network in numbers that float32 stores, for many verifiers read no others.
#
# A product network adds and subtracts numbers of the model, so of a float32 model too it may have some of more than 24
# bits. Such a number n is the sum of ``hi``, the float32 next to it, and ``lo``, the float32 next to n - hi, where that
# is all of it. Then
#
# * a bias n is the bias hi and the weight lo of a number that is always 1: an input, and behind it one unit a layer,
#   for ``relu(1) = 1``;
# * a weight n of a unit is the weight hi of it and the weight lo of a second unit that computes the same.
#
# So the function is the same, with whatever bounds hold for it. A weight of an input has no second unit to go to. Where
# that or a number of more digits still stands in the way, all numbers are rounded to float32 if it
# changes no output by more than 1/1000; a number's slack then grows by what it was rounded by, an exact difference,
# which is multiplied by 1 + 2^-50 together with the slack before, since their sum is rounded.

#: Outputs are scores and their differences, of the size of 1; more than this would be felt.
_MOST = 1e-3
_RAISED = 1.0 + 2.0**-50


def in_float32(chain: Chain) -> Chain | None:
    """The chain in float32 numbers, with one more input, the last one, which is 1; None where they do not suffice.

    The numbers' own slack is not carried over: whoever needs a bound takes it of the chain itself.
    """
    layers = [(layer.weight, layer.bias) for layer in chain.layers]
    for at, (before, after) in enumerate(pairwise(layers)):
        layers[at : at + 2] = _doubled(before, after)
    parts = [_with_one(weight, bias, last=at == len(layers) - 1) for at, (weight, bias) in enumerate(layers)]
    found = Chain(tuple(Stored(*both, *map(np.zeros_like, both)) for both in parts))
    # What is left over is checked as a whole: hi and lo are float32, but need not be all of a number.
    complete = all(_complete(numbers) for layer in layers for numbers in layer) and _fits(layers[0][0])
    return found if complete and found.single else None


def rounded(chain: Chain, reach: FloatArray) -> Chain | None:
    """The chain with its numbers rounded to float32 and the slack that this is; None where it changes too much.

    ``reach`` is how large in size the inputs can be.
    """
    found = Chain(tuple(_in_single(layer) for layer in chain.layers))
    finite = all(np.isfinite(layer.weight).all() and np.isfinite(layer.bias).all() for layer in found.layers)
    return found if finite and (found.errors(reach) <= _MOST).all() else None


def _in_single(map_: Stored) -> Stored:
    weight, weight_rest = _high_low(map_.weight, as_is=True)
    bias, bias_rest = _high_low(map_.bias, as_is=True)
    return Stored(
        weight,
        bias,
        (map_.weight_slack + np.abs(weight_rest)) * _RAISED,
        (map_.bias_slack + np.abs(bias_rest)) * _RAISED,
    )


def _high_low(numbers: FloatArray, *, as_is: bool = False) -> tuple[FloatArray, FloatArray]:
    """hi, and lo or (``as_is``) all that is left over.

    The difference is exact: rounding to fewer bits leaves over a number of no more bits than there were.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        high = numbers.astype(np.float32).astype(np.float64)
        rest: FloatArray = numbers - high
        return high, rest if as_is else rest.astype(np.float32).astype(np.float64)


def _complete(numbers: FloatArray) -> bool:
    high, low = _high_low(numbers)
    with np.errstate(invalid="ignore"):
        return bool(np.array_equal(numbers - high, low))


def _fits(numbers: FloatArray) -> bool:
    return not _high_low(numbers)[1].any()


def _doubled(
    before: tuple[FloatArray, FloatArray], after: tuple[FloatArray, FloatArray]
) -> tuple[tuple[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]:
    """Two layers, units of the first one twice where weights of the second one need that."""
    high, low = _high_low(after[0])
    twice = np.flatnonzero(low.any(axis=0))
    if not len(twice) or not _complete(after[0]):
        return before, after
    return (
        (np.concatenate([before[0], before[0][twice]]), np.concatenate([before[1], before[1][twice]])),
        (np.concatenate([high, low[:, twice]], axis=1), after[1]),
    )


def _with_one(weight: FloatArray, bias: FloatArray, *, last: bool) -> tuple[FloatArray, FloatArray]:
    """A layer that reads the 1 behind its inputs, and passes it on unless it is the last one."""
    high, low = _high_low(bias)
    weight = np.concatenate([weight, low[:, None]], axis=1)
    if last:
        return weight, high
    passing: FloatArray = np.zeros((1, weight.shape[1]))
    passing[0, -1] = 1.0
    return np.concatenate([weight, passing]), np.concatenate([high, np.zeros(1)])
