"""What is known of a tensor: where its exact values lie, and how far off the runtime may be, for many individuals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.models.float32.directed import Ends
from fairdsl.models.float32.precision import Precision, carried_and_rounded, precision_of

Floats = NDArray[np.float64]
Positions = NDArray[np.int64]


class NoBoundError(Exception):
    """Why nothing is known of what a node computes."""


@dataclass(frozen=True, slots=True, eq=False)
class Logits:
    """The scores behind probabilities that a tensor holds, each score in the place of its probability.

    The probabilities are the logistic function of the scores, or, ``joint``, their softmax over all elements. Given the
    scores that the runtime has, what it computes differs by at most ``slip`` from the function itself.
    """

    scores: Rounded
    slip: float
    joint: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """What a label is chosen by: the highest of ``scores`` [individuals, classes] has its class in ``labels``.

    The runtime chooses a class for certain whose exact score exceeds each other one by more than both errors and
    ``gap``.
    """

    scores: Rounded
    labels: tuple[int | str, ...]
    gap: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Rounded:
    """A tensor [individuals, ...]: ``low`` and ``high`` enclose the exact values (real arithmetic on stored numbers).

    What the runtime computes differs from the exact value by at most ``error``; infinite where no bound is known. A
    tensor with one individual is the same for all of them. ``texts``: the numbers are positions of these texts.
    """

    low: Floats
    high: Floats
    error: Floats
    dtype: str = "float32"
    texts: tuple[str, ...] = ()
    logits: Logits | None = None
    choice: Choice | None = None

    @property
    def ends(self) -> Ends:
        """The enclosure; the same array twice where it is a point everywhere."""
        return self.low, self.high

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one individual's tensor."""
        return self.low.shape[1:]

    @property
    def size(self) -> int:
        """How many numbers an individual has."""
        return prod(self.shape)

    @property
    def magnitude(self) -> Floats:
        """An upper bound of the exact values' magnitude."""
        return np.abs(self.low) if self.low is self.high else np.maximum(np.abs(self.low), np.abs(self.high))

    @property
    def reach(self) -> Ends:
        """Where the values of the runtime lie."""
        low, high = self.low - self.error, self.high + self.error
        # Where there is an error, adding it was rounded.
        low = np.where(self.error > 0, np.nextafter(low, -np.inf), low)
        high = np.where(self.error > 0, np.nextafter(high, np.inf), high)
        return np.where(np.isnan(low), -np.inf, low), np.where(np.isnan(high), np.inf, high)

    @property
    def precision(self) -> Precision:
        """How finely the runtime stores the tensor."""
        return precision_of(self.dtype)


#: A stored tensor as it lies in the file, or what depends on the individual (or was computed).
Value = NDArray[Any] | Rounded


def told_apart(texts: Sequence[str]) -> tuple[Floats, tuple[str, ...]]:
    """Texts as positions among the different ones of them."""
    different = tuple(dict.fromkeys(texts))
    return np.array([different.index(text) for text in texts], dtype=np.float64), different


def constant(array: NDArray[Any]) -> Rounded:
    """A stored tensor of numbers, for everybody."""
    if array.dtype == object:
        raise NoBoundError("it computes with text")
    exact = array.astype(np.float64)[None]
    low = high = exact
    if array.dtype.kind in "iu" and array.size and np.abs(exact).max() >= 2.0**53:
        low, high = np.nextafter(exact, -np.inf), np.nextafter(exact, np.inf)
    return Rounded(low, high, np.zeros(exact.shape), array.dtype.name)


def of_file(value: Value) -> Rounded:
    """The value with its bounds."""
    return value if isinstance(value, Rounded) else constant(value)


def rounded_to(ends: Ends, carried: Floats, dtype: str) -> Rounded:
    """What one correctly rounded operation makes of operands whose errors change the exact result by ``carried``."""
    low, high = ends
    error = carried_and_rounded(low, high, carried, precision_of(dtype))
    return Rounded(low, high, error, dtype)


def common_type(*values: Rounded) -> str:
    """The type of an operator's operands: the coarsest, for stored numbers of half precision are read as float32."""
    return max(values, key=lambda value: value.precision.roundoff).dtype


def moved(value: Value, move: Callable[[Positions], Positions]) -> Value:
    """Apply an operator that only moves elements, given as what it does to an array of flat positions."""
    shape = value.shape
    positions = move(np.arange(prod(shape), dtype=np.int64).reshape(shape))
    if not isinstance(value, Rounded):
        return np.asarray(value.reshape(-1)[positions])
    return _taken(value, positions)


def _taken(value: Rounded, positions: Positions) -> Rounded:
    flat, size = positions.reshape(-1), prod(value.shape)
    same = flat.size == size and bool((flat == np.arange(size)).all())
    whole = same or (flat.size == size and bool((np.sort(flat) == np.arange(size)).all()))

    def take(array: Floats) -> Floats:
        rows = array.reshape(len(array), size)
        return (rows if same else rows[:, flat]).reshape(len(array), *positions.shape)

    low = take(value.low)
    high = low if value.low is value.high else take(value.high)
    logits = value.logits
    if logits is not None:
        kept = not logits.joint or whole
        logits = replace(logits, scores=_taken(logits.scores, positions)) if kept else None
    choice = value.choice if same and size == 1 else None
    return replace(value, low=low, high=high, error=take(value.error), logits=logits, choice=choice)


def aligned(*values: Rounded) -> tuple[Rounded, ...]:
    """The values with as many axes each, so that numpy broadcasts individuals with individuals."""
    rank = max(len(value.shape) for value in values)
    return tuple(_padded(value, rank) for value in values)


def _padded(value: Rounded, rank: int) -> Rounded:
    missing = rank - len(value.shape)
    if not missing:
        return value
    shape = (len(value.low), *(1,) * missing, *value.shape)
    low = value.low.reshape(shape)
    high = low if value.low is value.high else value.high.reshape(shape)
    return replace(value, low=low, high=high, error=value.error.reshape(shape), logits=None, choice=None)
