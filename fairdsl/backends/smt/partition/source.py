"""Where partitions come from: a grid in some order, or halves of what is not decided yet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from heapq import heappop, heappush
from itertools import islice
from typing import Protocol

import numpy as np

from fairdsl.backends.smt.bound_filters.bounding import BoundFilter
from fairdsl.backends.smt.bound_filters.boxes import Box, Boxes, has_unit_of
from fairdsl.backends.smt.cases import pair_of
from fairdsl.backends.smt.options import Order, Partition
from fairdsl.backends.smt.partition.grid import Grid, share_of
from fairdsl.backends.smt.partition.ledger import Ledger
from fairdsl.ir.problem import Problem
from fairdsl.numerics.narrow import Interval, ValueSet
from fairdsl.numerics.space import halved
from fairdsl.verdict import Witness

#: Partitions that are bounded and sampled together; few at first, so that an early violation ends a run early.
_FIRST, _BLOCK = 32, 512
#: Boxes of at least this volume are halved: undecided ones before solvers see them, violated ones to find
#: out how much of them is not.
_COARSE_UNDECIDED, _COARSE_VIOLATED = Fraction(1, 256), Fraction(1, 1024)
#: Intervals of reals are not halved below this share of the whole.
_FINEST = Fraction(1, 1 << 40)


@dataclass(frozen=True, slots=True)
class Block:
    """Some partitions: their names in the ledger and their boxes."""

    keys: tuple[str, ...]
    boxes: Boxes


class Source(Protocol):
    """Partitions, and what to do with those that are not settled at once."""

    #: How many there will be; None where that is not known beforehand.
    total: int | None

    def blocks(self) -> Iterator[Block]:
        """All partitions, a block at a time; ends when there are none at the moment."""

    def refine(self, key: str, box: Box, *, violated: bool) -> bool:
        """Take the partition apart instead of settling it as it is; False to settle it."""

    def take_apart(self, key: str, box: Box) -> bool:
        """Take an unknown partition apart; False where that is not done."""

    @property
    def waiting(self) -> bool:
        """Whether there are partitions that no block has had yet."""

    def remember(self, key: str, found: Witness) -> None:
        """The partition was taken apart, and this violation lies in it."""

    def found_in(self, key: str) -> Witness | None:
        """A violation that is known to lie in the partition, from the whole that it is a part of."""

    def rest(self) -> Iterator[tuple[str, Box, Witness]]:
        """Partitions that had no turn and are known to be violated."""


class Gridded:
    """The partitions of a grid, each once."""

    def __init__(self, grid: Grid, request: Partition, seed: int) -> None:
        self._grid, self._order, self._seed = grid, request.order, seed
        self.total: int | None = grid.count if request.first is None else min(grid.count, request.first)
        self._next = 0
        self._largest = grid.by_volume()

    def blocks(self) -> Iterator[Block]:
        """Consecutive places of the order."""
        total = self.total or 0
        while self._next < total:
            stop = min(total, self._next + (_BLOCK if self._next else _FIRST))
            match self._order:
                case Order.SEEDED:
                    indices: Sequence[int] = self._grid.placed(self._next, stop, self._seed)
                case Order.LARGEST:
                    indices = list(islice(self._largest, stop - self._next))
                case Order.GRID:
                    indices = range(self._next, stop)
            self._next = stop
            yield Block(tuple(map(str, indices)), self._grid.boxes(indices))

    def refine(self, key: str, box: Box, *, violated: bool) -> bool:
        """A grid's partitions stay as they are."""
        return False

    def take_apart(self, key: str, box: Box) -> bool:
        """A grid's partitions stay as they are."""
        return False

    @property
    def waiting(self) -> bool:
        """Whether some are left."""
        return self._next < (self.total or 0)

    def remember(self, key: str, found: Witness) -> None:
        """Never: nothing is taken apart."""
        raise AssertionError("partitions of a grid are not taken apart")

    def found_in(self, key: str) -> Witness | None:
        """Every partition is a whole of its own."""
        return None

    def rest(self) -> Iterator[tuple[str, Box, Witness]]:
        """None: what had no turn is not known."""
        return iter(())


class Adaptive:
    """Halves of the whole domain, the largest first: boxes shrink where they are not decided.

    A box is named by the way to it: ``r`` is the whole, each further digit says which half. The ledger knows on
    which attribute each was halved, so a later run takes the same way without searching for it.
    """

    def __init__(self, problem: Problem, sets: Box, bound_filter: BoundFilter, ledger: Ledger) -> None:
        self.total: int | None = None
        self._differ = pair_of(problem).differ
        self._sets, self._filter, self._ledger = sets, bound_filter, ledger
        self._open: list[tuple[Fraction, str, Box]] = []
        self._found: dict[str, Witness] = {}
        self._push("r", sets)

    def blocks(self) -> Iterator[Block]:
        """The largest open boxes."""
        while self._open:
            taken = [heappop(self._open) for _ in range(min(len(self._open), _FIRST))]
            pending = []
            for _, key, box in taken:
                attribute = self._ledger.splits.get(key)
                if attribute is None or halved(box[attribute]) is None:
                    pending.append((key, box))
                else:
                    self._halve(key, box, attribute)
            if pending:
                yield Block(tuple(key for key, _ in pending), Boxes.of([box for _, box in pending]))

    def refine(self, key: str, box: Box, *, violated: bool) -> bool:
        """Halve it while it is large."""
        coarse = _COARSE_VIOLATED if violated else _COARSE_UNDECIDED
        return share_of(box, self._sets) >= coarse and self.take_apart(key, box)

    def take_apart(self, key: str, box: Box) -> bool:
        """Halve it on the attribute that lets bounds settle most; False where nothing can be cut."""
        ways = [
            (attribute, halves)
            for attribute, values in enumerate(box)
            if attribute not in self._differ
            and (halves := halved(values)) is not None
            and not (isinstance(values, Interval) and share_of((values,), (self._sets[attribute],)) < _FINEST)
        ]
        if not ways:
            return False
        both = [_replaced(box, attribute, half) for attribute, halves in ways for half in halves]
        holds, undecided = self._filter.settled(Boxes.of(both))
        left = np.where(holds, 0, 1 + undecided).reshape(-1, 2).sum(axis=1)
        attribute, _ = ways[int(np.argmin(left))]
        self._ledger.split(key, attribute)
        self._halve(key, box, attribute)
        return True

    @property
    def waiting(self) -> bool:
        """Whether some are left."""
        return bool(self._open)

    def remember(self, key: str, found: Witness) -> None:
        """The half that the violation lies in is violated."""
        for _, other, box in self._open:
            if other[:-1] == key and has_unit_of(box, found.a.point, self._differ):
                self._found[other] = found

    def found_in(self, key: str) -> Witness | None:
        """A violation that is known to lie in the box."""
        return self._found.get(key)

    def rest(self) -> Iterator[tuple[str, Box, Witness]]:
        """Open boxes with a known violation."""
        for _, key, box in sorted(self._open):
            if key in self._found:
                yield key, box, self._found[key]

    def _halve(self, key: str, box: Box, attribute: int) -> None:
        halves = halved(box[attribute])
        assert halves is not None, "what was halved before can be halved again"
        for digit, half in enumerate(halves):
            self._push(f"{key}{digit}", _replaced(box, attribute, half))

    def _push(self, key: str, box: Box) -> None:
        heappush(self._open, (-share_of(box, self._sets), key, box))


def _replaced(box: Box, attribute: int, values: ValueSet) -> Box:
    return (*box[:attribute], values, *box[attribute + 1 :])
