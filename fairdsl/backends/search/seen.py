"""A set of rows that grows by batches: what was tried before, found by binary search, never confused.

Where the columns are finite and the product of their sizes fits into 64 bits, a row is one number in mixed radix:
the position of each value in its column, weighed by the sizes of the columns before it. Different rows have
different numbers. Elsewhere the key is the row itself, its bytes compared as they stand; so there are no collisions
in either case.

Keys are kept in sorted runs of falling length, and two runs are merged as soon as the later one is half as long as
the one before (O'Neil, Cheng, Gawlick and O'Neil, *The log-structured merge-tree*, 1996): a batch costs a binary
search in a few runs, and a key is merged a logarithmic number of times.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.search.sampling import Column

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
#: Numbers in mixed radix (uint64), or the bytes of rows (void).
KeyArray = NDArray[Any]


class Keys:
    """One key a row; rows [n, columns] are equal exactly if their keys are."""

    def __init__(self, columns: Sequence[Column]) -> None:
        sizes = [column.count for column in columns]
        self._columns = columns
        self._weights: NDArray[np.uint64] | None = None
        if all(size is not None for size in sizes):
            known = [size for size in sizes if size is not None]
            if prod(known) < 2**64:
                weights = [prod(known[:position]) for position in range(len(known))]
                self._weights = np.array(weights, dtype=np.uint64)

    @property
    def packed(self) -> bool:
        """Whether a key is one number."""
        return self._weights is not None

    def of(self, rows: FloatArray) -> KeyArray:
        """The keys of rows, [n]."""
        if self._weights is None:
            # Adding 0 makes 0 of -0, which is the same number in other bytes.
            plain = np.ascontiguousarray(rows + 0.0)
            width = max(1, plain.shape[1])
            return plain.view(np.dtype((np.void, 8 * width))).reshape(-1)
        total = np.zeros(len(rows), dtype=np.uint64)
        for position, column in enumerate(self._columns):
            total += column.places(rows[:, position]).astype(np.uint64) * self._weights[position]
        return total


class Seen:
    """A set of keys."""

    def __init__(self) -> None:
        self._runs: list[KeyArray] = []

    def __len__(self) -> int:
        return sum(len(run) for run in self._runs)

    def contains(self, keys: KeyArray) -> BoolArray:
        """Which keys are in the set, [n]."""
        order = np.argsort(keys)
        known = self._contains_sorted(keys[order])
        found = np.empty(len(keys), dtype=np.bool_)
        found[order] = known
        return found

    def new(self, keys: KeyArray) -> NDArray[np.int64]:
        """The positions of keys that are not in the set, each key once, in the order in which they came."""
        distinct, first = np.unique(keys, return_index=True)
        return np.sort(first[~self._contains_sorted(distinct)])

    def add(self, keys: KeyArray) -> None:
        """Enter keys that are not in the set, each once."""
        if not len(keys):
            return
        run = np.sort(keys)
        while self._runs and len(self._runs[-1]) <= 2 * len(run):
            run = np.sort(np.concatenate([self._runs.pop(), run]), kind="stable")
        self._runs.append(run)

    def _contains_sorted(self, keys: KeyArray) -> BoolArray:
        found = np.zeros(len(keys), dtype=np.bool_)
        for run in self._runs:
            places = np.minimum(np.searchsorted(run, keys), len(run) - 1)
            found |= run[places] == keys
        return found
