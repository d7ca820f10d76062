"""The values that flow along the edges of a graph while it is read, and how handlers refuse a node."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.model import Curve
from fairdsl.models import exact
from fairdsl.models.basis import Affine, Basis, Unit, take
from fairdsl.models.onnx_import.file import RawNode

#: The type of a tensor of text.
TEXT = "string"


class UnreadableError(Exception):
    """Why a node cannot be read exactly; ``remedy`` says what would help."""

    def __init__(self, reason: str, remedy: str | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.remedy = remedy


@dataclass(frozen=True, slots=True, eq=False)
class Constant:
    """A value that no input influences: numbers (exact), integers, booleans or strings."""

    array: NDArray[Any]
    text: bool = False  # an object array of strings rather than of Fractions

    @property
    def shape(self) -> tuple[int, ...]:
        """The tensor's shape."""
        return self.array.shape

    @property
    def numbers(self) -> exact.Array:
        """The elements as an exact array."""
        if self.text:
            raise UnreadableError("it computes with text")
        if self.array.dtype == object:
            return self.array
        if self.array.dtype.kind in "iu" and self.array.size and np.abs(self.array).max() >= 2**53:
            return exact.from_rationals(self.array.astype(object))
        return self.array.astype(np.float64)

    @property
    def integers(self) -> list[int]:
        """The elements as Python integers, flattened."""
        if self.text or (self.array.dtype.kind == "f" and np.any(self.array != np.floor(self.array))):
            raise UnreadableError("it needs whole numbers where the file has others")
        return [int(v) for v in self.array.ravel().tolist()]


@dataclass(frozen=True, slots=True, eq=False)
class Logistic:
    """``1 / (1 + exp(-logits))``, elementwise.

    At the network's output the rule compares ``logits``; whoever computes with the probabilities takes
    ``units``, the curved units that stand for them (laid out only if somebody does).
    """

    logits: Affine
    units: Affine

    @classmethod
    def of(cls, logits: Affine, basis: Basis) -> Logistic:
        """The logistic function of ``logits``."""
        return cls(logits, basis.squash(logits, Curve.SIGMOID))

    @property
    def shape(self) -> tuple[int, ...]:
        """The tensor's shape."""
        return self.logits.shape


@dataclass(frozen=True, slots=True, eq=False)
class Probabilities:
    """Numbers that are probabilities themselves, as the votes of a forest; whoever computes takes the numbers."""

    shares: Affine

    @property
    def shape(self) -> tuple[int, ...]:
        """The tensor's shape."""
        return self.shares.shape


@dataclass(frozen=True, slots=True, eq=False)
class Softmaxed:
    """The softmax over all (three or more) elements."""

    logits: Affine

    @property
    def shape(self) -> tuple[int, ...]:
        """The tensor's shape."""
        return self.logits.shape


class Power(Enum):
    """What is on its way from scores to probabilities, element by element or in a tensor of one number."""

    EXP = "exp of each score"
    SUM = "the sum of exp of all scores"
    WHOLE_SUM = "the whole part of such a sum, which is 1 or more"
    ONE_MORE = "1 + exp of each score"
    LOG_SUM = "the logarithm of the sum of exp of all scores"
    LOG_SHARE = "each score less the logarithm of the sum"


@dataclass(frozen=True, slots=True, eq=False)
class Exponential:
    """A step of a logistic function or softmax that a file writes out; only whole ones are read."""

    power: Power
    scores: Affine
    shape: tuple[int, ...]

    def moved(self, positions: NDArray[np.int64]) -> Exponential:
        """The elements at these places."""
        if self.power is Power.LOG_SHARE and sorted(positions.flat) != list(range(self.scores.size)):
            raise UnreadableError("it takes some of the logarithms of a softmax")
        if self.power not in (Power.SUM, Power.WHOLE_SUM, Power.LOG_SUM):
            return Exponential(self.power, take(self.scores, positions), positions.shape)
        if positions.size != 1:
            raise UnreadableError("it repeats a sum of exponentials")
        return Exponential(self.power, self.scores, positions.shape)


@dataclass(frozen=True, slots=True, eq=False)
class Labelled:
    """The class whose score is highest, in a tensor of one element; ties go to the lowest index, or to the last.

    No label is there twice: what gives classes other labels goes through :mod:`fairdsl.models.onnx_import.labels`.
    ``dtype`` is the tensor's type, by numpy's name or :data:`TEXT`.
    """

    scores: Affine
    labels: tuple[int | str, ...]
    shape: tuple[int, ...]
    dtype: str = "int64"
    ties_last: bool = False

    def __post_init__(self) -> None:
        if len(set(self.labels)) != len(self.labels) or self.scores.size != len(self.labels):
            raise ValueError("a class has one label, and a label one class")


@dataclass(frozen=True, slots=True, eq=False)
class Text:
    """Text that the individual has: for each element a number, and which text stands for each of its values."""

    codes: Affine
    texts: tuple[Mapping[int, str], ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """The tensor's shape."""
        return self.codes.shape

    def moved(self, positions: NDArray[np.int64]) -> Text:
        """The elements at these places."""
        texts = tuple(self.texts[place] for place in positions.reshape(-1).tolist())
        return Text(take(self.codes, positions), texts)


@dataclass(frozen=True, slots=True, eq=False)
class Tabulated:
    """Functions of one number of the individual each, which has few values (``Basis.few``).

    ``units`` says which number, None of a constant; ``columns`` what the element is at each value of it, in float64,
    NaN where the file has NaN. ``numbers`` are the same as affine forms; None where some element is not a number.
    """

    shape: tuple[int, ...]
    units: tuple[Unit | None, ...]
    columns: tuple[NDArray[np.float64], ...]
    numbers: Affine | None

    def moved(self, positions: NDArray[np.int64]) -> Tabulated:
        """The elements at these places."""
        places = positions.reshape(-1).tolist()
        units = tuple(self.units[place] for place in places)
        columns = tuple(self.columns[place] for place in places)
        numbers = None if self.numbers is None else take(self.numbers, positions)
        return Tabulated(positions.shape, units, columns, numbers)


@dataclass(frozen=True, slots=True, eq=False)
class Unread:
    """An output of a node that is not read, and why: the file is refused only if something computes with it."""

    reason: str
    shape: tuple[int, ...]


Value = Affine | Constant | Logistic | Probabilities | Softmaxed | Exponential | Labelled | Tabulated | Text | Unread


@dataclass(slots=True)
class NodeCall:
    """A node with the values of its inputs; None where an optional input is left out.

    ``whole``: whether the first of them is a tensor of integers, with which the runtime computes in integers.
    """

    node: RawNode
    inputs: list[Value | None]
    basis: Basis
    whole: bool = False
    rounded: list[str] = field(default_factory=list)

    def attribute(self, name: str, default: Any) -> Any:
        """An attribute's value."""
        return self.node.attributes.get(name, default)

    def number(self, name: str, default: float) -> float:
        """A float attribute; where it is left out, its default as the file would hold it, which is in float32."""
        return float(self.attribute(name, np.float32(default)))

    def optional(self, position: int) -> Value | None:
        """An input that may be missing."""
        return self.inputs[position] if position < len(self.inputs) else None

    def value(self, position: int) -> Value:
        """An input that must be there."""
        value = self.optional(position)
        if value is None:
            raise UnreadableError(f"input {position + 1} is missing")
        return value

    def constant(self, position: int, what: str) -> Constant:
        """An input that must not depend on the individual."""
        value = self.value(position)
        if not isinstance(value, Constant):
            raise UnreadableError(f"{what} depends on the individual")
        return value

    def affine(self, position: int) -> Affine:
        """An input as exact affine forms; constants are lifted."""
        return as_affine(self.value(position))

    def integer_list(self, attribute: str, position: int) -> list[int] | None:
        """A list that older opsets hold as an attribute and newer ones as a constant input."""
        value = self.optional(position)
        if value is not None:
            return self.constant(position, f"`{attribute}`").integers
        listed = self.attribute(attribute, None)
        return None if listed is None else [int(v) for v in listed]


Handler = Callable[[NodeCall], Value]
Handlers = Mapping[tuple[str, str], Handler]


def as_affine(value: Value) -> Affine:
    """The value as affine forms over units; raises UnreadableError for what is none."""
    match value:
        case Affine():
            return value
        case Constant():
            return Affine.constant(value.numbers)
        case Logistic(units=units):
            return units
        case Probabilities(shares):
            return shares
        case Softmaxed():
            raise UnreadableError(
                "it computes with the probabilities of a softmax, which no layer of units has",
                "a softmax over three or more scores is read at the network's output only",
            )
        case Labelled():
            raise UnreadableError("it computes with the class that an ArgMax chose")
        case Exponential():
            raise UnreadableError("it computes with an exponential function outside of a logistic function or softmax")
        case Tabulated(numbers=numbers):
            if numbers is None:
                raise UnreadableError("it computes with a power or logarithm that some people have none of")
            return numbers
        case Text():
            raise UnreadableError("it computes with text")
        case Unread(reason):
            raise UnreadableError(reason)


def rearrange(value: Value, move: Callable[[NDArray[np.int64]], NDArray[np.int64]]) -> Value:
    """Apply an index-like operator, given as what it does to an array of flat positions."""
    positions = move(np.arange(prod(value.shape), dtype=np.int64).reshape(value.shape))
    match value:
        case Affine():
            return take(value, positions)
        case Constant(array, text):
            return Constant(array.reshape(-1)[positions], text)
        case Logistic(logits, units):
            return Logistic(take(logits, positions), take(units, positions))
        case Probabilities(shares):
            return Probabilities(take(shares, positions))
        case Softmaxed(logits):
            if not np.array_equal(np.sort(positions.reshape(-1)), np.arange(logits.size)):
                raise UnreadableError("it takes some of the probabilities of a softmax")
            return Softmaxed(take(logits, positions))
        case Labelled(scores, labels, _, dtype, ties_last):
            if positions.size != 1:
                raise UnreadableError("it repeats the class that an ArgMax chose")
            return Labelled(scores, labels, positions.shape, dtype, ties_last)
        case Exponential() | Tabulated() | Text():
            return value.moved(positions)
        case Unread(reason):
            return Unread(reason, positions.shape)
