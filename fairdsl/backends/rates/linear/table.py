"""Tables of masses by partial score: what variable elimination multiplies and sums.

An entry of a :class:`Table` is a polynomial in z with one mass for each value of the score so far, in whole units of
the scale; multiplying entries adds scores. Scores are kept as an ascending array, dense or with gaps, whichever is
shorter.

*Early cut-off.* Let the columns outside a table add between ``least`` and ``most``. A partial score p with
``p + least >= target`` is accepted whatever they are: its mass moves to ``settled``, which no score describes any more.
With ``p + most < target`` it is refused whatever they are, and dropped. In a product, accepted times anything is
accepted; accepted times refused does not occur, since one number would be at least and below the target.

*Error analysis.* All numbers are non-negative, so relative errors do not grow by cancellation: a sum or product of m
rounded operations lies within a factor ``(1 + u)^m`` of its value, u = 2**-53. ``rounds`` counts the operations on the
worst way into any entry, the conversion of a probability to float64 included; sums are taken in halves, so that n
numbers take log2(n) of them. With Python integers (object arrays, over ``denominator``) nothing is rounded.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.rates.linear.task import NOTHING, Span, TooLargeError, Window

IntArray = NDArray[np.int64]
Masses = NDArray[Any]

#: Scores with gaps are stored without them where the gaps make the array so many times longer.
_SPARSE = 4
_PLAIN = np.zeros(1, dtype=np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """``masses`` [cells of each axis ..., scores], ``settled`` [cells ...] or None.

    ``own`` is what its columns can add; ``rounds`` counts for the masses, ``settled_rounds`` for what is settled.
    """

    axes: tuple[int, ...]
    scores: IntArray
    masses: Masses
    settled: Masses | None = None
    own: Span = NOTHING
    rounds: int = 0
    settled_rounds: int = 0
    denominator: int = 1

    @property
    def plain(self) -> bool:
        """Whether it is a table of probabilities alone."""
        return self.settled is None and self.own == NOTHING

    def total(self) -> Masses:
        """The mass that is not refused, [cells ...], after log2(scores) + 1 more operations."""
        alive = halved_sum(self.masses)
        return alive if self.settled is None else alive + self.settled

    @classmethod
    def of_probabilities(cls, axes: tuple[int, ...], masses: Masses, rounds: int, denominator: int) -> Table:
        """A table that adds nothing to the score; ``masses`` [cells ...]."""
        return cls(axes=axes, scores=_PLAIN, masses=masses[..., None], rounds=rounds, denominator=denominator)


def halved_sum(masses: Masses) -> Masses:
    """The sum over the last axis, in at most ceil(log2(n)) additions a number."""
    while (count := masses.shape[-1]) > 1:
        half = count // 2
        folded = masses[..., :half] + masses[..., half : 2 * half]
        if count % 2:
            folded = np.concatenate([folded, masses[..., -1:]], axis=-1)
        masses = folded
    return masses[..., 0] if masses.shape[-1] else masses.sum(axis=-1)


def _halvings(count: int) -> int:
    return max(0, count - 1).bit_length()


def _settled_rounds(first: Table, second: Table) -> int:
    """Of one term of what is settled in a product: a sum of masses or what was settled, times the same."""

    def summed(table: Table) -> int:
        return max(table.rounds + _halvings(len(table.scores)), table.settled_rounds) + 1

    return summed(first) + summed(second) + 1


def suffix_sums(masses: Masses) -> Masses:
    """Sums from every place to the end, along the last axis, in ceil(log2(n)) additions each; 0 behind the end."""
    sums = np.concatenate([masses, masses[..., :1] * 0 if masses.shape[-1] else np.zeros_like(masses, shape=(1,))], -1)
    step = 1
    while step < masses.shape[-1]:
        sums[..., :-step] = sums[..., :-step] + sums[..., step:]
        step *= 2
    return sums


def _aligned(table: Table, axes: tuple[int, ...]) -> tuple[Masses, Masses | None]:
    """Masses and settled masses with an axis for each of ``axes``, of length 1 where the table has none."""
    if table.axes == axes:
        return table.masses, table.settled
    order = [table.axes.index(axis) for axis in axes if axis in table.axes]
    shape = [table.masses.shape[table.axes.index(axis)] if axis in table.axes else 1 for axis in axes]
    masses = table.masses.transpose([*order, len(order)]).reshape([*shape, table.masses.shape[-1]])
    settled = None if table.settled is None else table.settled.transpose(order).reshape(shape)
    return masses, settled


def multiplied(first: Table, second: Table, window: Window) -> Table:
    """The product over the axes of both."""
    return _combined(first, second, None, window)


def summed_out(first: Table, second: Table, column: int, window: Window) -> Table:
    """The product of two tables summed over a column that both have; the product itself is not stored."""
    return _combined(first, second, column, window)


def _combined(first: Table, second: Table, column: int | None, window: Window) -> Table:
    if len(first.scores) < len(second.scores):
        first, second = second, first
    axes = tuple(dict.fromkeys((*first.axes, *second.axes)))
    if column is not None:  # in front, so that slices over its cells are contiguous
        axes = (column, *(axis for axis in axes if axis != column))
    big, big_settled = _aligned(first, axes)
    small, small_settled = _aligned(second, axes)
    slices = range(big.shape[0]) if column is not None else (...,)
    own = first.own + second.own
    low, high = window.alive(own)
    kept = axes[1:] if column is not None else axes
    sizes = tuple(max(pair) for pair in zip(big.shape[:-1], small.shape[:-1], strict=True))
    shape = sizes if column is None else sizes[1:]
    if len(first.scores) * len(second.scores) > window.meter.entries:
        raise TooLargeError
    scores = _scores(first.scores, second.scores, low, high)
    if len(scores) * prod(shape) > window.meter.entries:
        raise TooLargeError
    masses = _zeros((*shape, len(scores)), big.dtype)
    settled = _Settled(shape, big.dtype)
    moves = [_Move.of(first.scores, score, scores, high) for score in second.scores.tolist()]
    for place in slices:
        window.meter.tick(masses.size * len(moves))
        for number, move in enumerate(moves):
            _add_moved(masses, settled, move, big[place], small[place][..., number, None])
        _add_settled(settled, (big[place], small[place]), _at((big_settled, small_settled), place))
    steps = len(second.scores) * (1 if column is None else big.shape[0])
    return Table(
        axes=kept,
        scores=scores,
        masses=masses,
        settled=settled.masses,
        own=own,
        rounds=first.rounds + second.rounds + 1 + steps,
        settled_rounds=_settled_rounds(first, second) + 3 * steps if settled.masses is not None else 0,
        denominator=first.denominator * second.denominator,
    )


def _zeros(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Masses:
    masses: Masses = np.zeros(shape, dtype=dtype)
    return masses


class _Settled:
    """A sum of accepted masses, made when there is one."""

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self.masses: Masses | None = None
        self._shape, self._dtype = shape, dtype

    def add(self, masses: Masses) -> None:
        if self.masses is None:
            self.masses = _zeros(self._shape, self._dtype)
        # Sums of object arrays without axes are plain integers.
        self.masses = np.asarray(self.masses + masses, dtype=self._dtype)


def _scores(first: IntArray, second: IntArray, low: int, high: int) -> IntArray:
    """All sums in [low, high), dense unless that is much longer."""
    if not len(first) or not len(second):
        return first[:0]
    low = max(low, int(first[0]) + int(second[0]))
    high = min(high, int(first[-1]) + int(second[-1]) + 1)
    if high <= low:
        return first[:0]
    if len(second) == 1 and len(first) <= high - low:
        moved: IntArray = first + second[0]
        return moved[(moved >= low) & (moved < high)]
    if high - low <= _SPARSE * len(first) * len(second):
        return np.arange(low, high, dtype=np.int64)
    sums: IntArray = np.unique((first[:, None] + second[None, :]).ravel())
    kept: IntArray = sums[(sums >= low) & (sums < high)]
    return kept


@dataclass(frozen=True, slots=True)
class _Move:
    """Where scores go when a number is added: those from ``start`` to before ``end`` to the places ``to``.

    Those before are refused, those behind accepted.
    """

    start: int
    end: int
    to: slice | IntArray

    @classmethod
    def of(cls, before: IntArray, added: int, after: IntArray, high: int) -> _Move:
        if not len(after) or not len(before):
            return cls(0, int(np.searchsorted(before, high - added)), slice(0, 0))
        if _gapless(before) and _gapless(after):
            origin, count = int(before[0]) + added, len(before)
            start = min(count, max(0, int(after[0]) - origin))
            end = max(start, min(count, high - origin))
            place = origin + start - int(after[0])
            return cls(start, end, slice(place, place + end - start))
        start, end = np.searchsorted(before, [int(after[0]) - added, high - added]).tolist()
        return cls(start, end, np.searchsorted(after, before[start:end] + added))


def _gapless(scores: IntArray) -> bool:
    return int(scores[-1]) - int(scores[0]) + 1 == len(scores)


def _add_moved(masses: Masses, settled: _Settled, move: _Move, big: Masses, factor: Masses) -> None:
    """Add ``factor * big`` to the masses, and to what is settled."""
    if not factor.any():
        return
    if move.end < big.shape[-1]:
        settled.add(halved_sum(big[..., move.end :]) * factor[..., 0])
    if move.start < move.end and masses.shape[-1]:
        masses[..., move.to] += big[..., move.start : move.end] * factor


def _at(pair: tuple[Masses | None, Masses | None], place: Any) -> tuple[Masses | None, Masses | None]:
    return tuple(None if part is None else part[place] for part in pair)  # type: ignore[return-value]


def _add_settled(settled: _Settled, alive: tuple[Masses, Masses], done: tuple[Masses | None, Masses | None]) -> None:
    """Accepted times anything, and anything times accepted."""
    (big, small), (big_done, small_done) = alive, done
    if big_done is not None:
        small_total = halved_sum(small) if small_done is None else halved_sum(small) + small_done
        settled.add(big_done * small_total)
    if small_done is not None:
        settled.add(halved_sum(big) * small_done)
