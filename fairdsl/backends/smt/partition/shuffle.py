"""A seeded order of the numbers below a count, of which any piece is computed without the rest.

A Feistel network over a hash is a permutation of the numbers below a power of four (Luby and Rackoff, *How to construct
pseudorandom permutations*, SIAM J. Comput. 17, 1988). Those that it sends to the count or beyond walk on
until they are below it (cycle walking), so the numbers below the count are permuted among themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import shake_256

import numpy as np
from numpy.typing import NDArray

__all__ = ["shuffled"]

#: Rounds of the permutation; with four, neighbours end up anywhere.
_ROUNDS = 4
#: Halves of numbers up to so many bits are permuted in arrays.
_HALF = 31


def shuffled(count: int, seed: int, start: int, stop: int) -> list[int]:
    """What stands at places ``start`` to ``stop`` of the seed's order of the numbers below ``count``."""
    half = max(1, (max(1, count - 1).bit_length() + 1) // 2)
    keys = np.random.default_rng(seed).integers(1, 2**62, _ROUNDS, dtype=np.uint64)
    if half > _HALF:
        return [_walked(place, count, half, keys.tolist()) for place in range(start, stop)]
    found = np.arange(start, stop, dtype=np.uint64)
    outside = np.arange(found.size)
    while outside.size:
        found[outside] = _feistel(found[outside], half, keys)
        outside = outside[found[outside] >= count]
    return [int(index) for index in found.tolist()]


def _walked(place: int, count: int, half: int, keys: Sequence[int]) -> int:
    """What the permutation makes of one place, in whole numbers of any size."""
    place = _wide_feistel(place, half, keys)
    while place >= count:
        place = _wide_feistel(place, half, keys)
    return place


def _feistel(numbers: NDArray[np.uint64], half: int, keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """A permutation of the numbers below 4**half: each round can be undone, since it keeps one half as it was."""
    mask, shift = np.uint64((1 << half) - 1), np.uint64(half)
    left, right = numbers >> shift, numbers & mask
    for key in keys:
        left, right = right, left ^ (_mixed(right, key) & mask)
    return (left << shift) | right


def _mixed(numbers: NDArray[np.uint64], key: np.uint64) -> NDArray[np.uint64]:
    """Bits of the number and the key stirred together (the finaliser of splitmix64)."""
    stirred = numbers + key
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        stirred = (stirred ^ (stirred >> np.uint64(shift))) * np.uint64(factor)
    return stirred ^ (stirred >> np.uint64(31))


def _wide_feistel(number: int, half: int, keys: Sequence[int]) -> int:
    """The same for whole numbers of any size, stirred by a hash."""
    left, right = number >> half, number & ((1 << half) - 1)
    for key in keys:
        stirred = shake_256(f"{key} {right}".encode()).digest(half // 8 + 1)
        left, right = right, left ^ (int.from_bytes(stirred, "big") & ((1 << half) - 1))
    return (left << half) | right
