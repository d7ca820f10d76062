"""The same network in numbers that float32 stores, for many verifiers read no others.

A product network adds and subtracts numbers of the model, so of a float32 model too it may have some of more than 24
bits. Such a number n is the sum of ``hi``, the float32 next to it, and ``lo``, the float32 next to n - hi, where that
is all of it. Then

* a bias n is the bias hi and the weight lo of a number that is always 1: an input, and behind it one unit a layer,
  for ``relu(1) = 1``;
* a weight n of a unit is the weight hi of it and the weight lo of a second unit that computes the same.

So the function is the same, with whatever bounds hold for it. A weight of an input has no second unit to go to. Where
that or a number of more digits still stands in the way, all numbers are rounded to float32 if it
changes no output by more than 1/1000; a number's slack then grows by what it was rounded by, an exact difference,
which is multiplied by 1 + 2^-50 together with the slack before, since their sum is rounded.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.smt.vnnlib.chain import Chain, Stored

__all__ = ["in_float32", "rounded"]

FloatArray = NDArray[np.float64]

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
    found = Chain(tuple(_rounded(layer) for layer in chain.layers))
    finite = all(np.isfinite(layer.weight).all() and np.isfinite(layer.bias).all() for layer in found.layers)
    return found if finite and (found.errors(reach) <= _MOST).all() else None


def _rounded(map_: Stored) -> Stored:
    weight, weight_rest = _split(map_.weight, as_is=True)
    bias, bias_rest = _split(map_.bias, as_is=True)
    return Stored(
        weight,
        bias,
        (map_.weight_slack + np.abs(weight_rest)) * _RAISED,
        (map_.bias_slack + np.abs(bias_rest)) * _RAISED,
    )


def _split(numbers: FloatArray, *, as_is: bool = False) -> tuple[FloatArray, FloatArray]:
    """hi, and lo or (``as_is``) all that is left over.

    The difference is exact: rounding to fewer bits leaves over a number of no more bits than there were.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        high = numbers.astype(np.float32).astype(np.float64)
        rest: FloatArray = numbers - high
        return high, rest if as_is else rest.astype(np.float32).astype(np.float64)


def _complete(numbers: FloatArray) -> bool:
    high, low = _split(numbers)
    with np.errstate(invalid="ignore"):
        return bool(np.array_equal(numbers - high, low))


def _fits(numbers: FloatArray) -> bool:
    return not _split(numbers)[1].any()


def _doubled(
    before: tuple[FloatArray, FloatArray], after: tuple[FloatArray, FloatArray]
) -> tuple[tuple[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]:
    """Two layers, units of the first one twice where weights of the second one need that."""
    high, low = _split(after[0])
    twice = np.flatnonzero(low.any(axis=0))
    if not len(twice) or not _complete(after[0]):
        return before, after
    return (
        (np.concatenate([before[0], before[0][twice]]), np.concatenate([before[1], before[1][twice]])),
        (np.concatenate([high, low[:, twice]], axis=1), after[1]),
    )


def _with_one(weight: FloatArray, bias: FloatArray, *, last: bool) -> tuple[FloatArray, FloatArray]:
    """A layer that reads the 1 behind its inputs, and passes it on unless it is the last one."""
    high, low = _split(bias)
    weight = np.concatenate([weight, low[:, None]], axis=1)
    if last:
        return weight, high
    passing: FloatArray = np.zeros((1, weight.shape[1]))
    passing[0, -1] = 1.0
    return np.concatenate([weight, passing]), np.concatenate([high, np.zeros(1)])
