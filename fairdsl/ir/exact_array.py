"""Arrays of exact rationals, with the floats next to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from hashlib import sha256
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
#: numpy's object arrays: elements are Python ``int`` or ``Fraction``.
ObjectArray = NDArray[Any]


def nearest_floats(numbers: Sequence[Fraction | int]) -> tuple[list[float], bool]:
    """The float64 nearest to each number, and whether all of them are the numbers themselves; OverflowError."""
    # What `float` and `==` of fractions come to, without their detours: a forest has hundreds of thousands of numbers.
    floats = [number.numerator / number.denominator for number in numbers]
    same = all(
        value.as_integer_ratio() == (number.numerator, number.denominator)
        for value, number in zip(floats, numbers, strict=True)
    )
    return floats, same


@dataclass(frozen=True, eq=False)
class ExactArray:
    """An array of exact rationals with its nearest float64 values; equal by content.

    ``fractions`` is None when every element *is* its float64 value (the usual case: float32 weights).
    """

    floats: FloatArray
    fractions: ObjectArray | None = None

    @classmethod
    def from_floats(cls, values: Any) -> ExactArray:
        """Take stored floats (any width) exactly as they are; they must be finite."""
        floats = np.array(values, dtype=np.float64)
        floats.setflags(write=False)
        return cls(floats)

    @classmethod
    def from_fractions(cls, values: Any) -> ExactArray:
        """Take rationals (nested sequences or an object array of Fraction/int)."""
        exact = np.array(values, dtype=object)
        nearest, representable = nearest_floats(exact.ravel().tolist())
        floats = np.array(nearest, dtype=np.float64).reshape(exact.shape)
        floats.setflags(write=False)
        return cls(floats, None if representable else exact)

    @classmethod
    def joined(cls, vectors: Sequence[ExactArray]) -> ExactArray:
        """Vectors one after the other."""
        floats = np.concatenate([np.zeros(0), *(vector.floats for vector in vectors)])
        if all(vector.is_float for vector in vectors):
            return cls.from_floats(floats)
        return cls(floats, np.concatenate([vector.exact for vector in vectors]))

    @property
    def shape(self) -> tuple[int, ...]:
        """The array's shape."""
        return self.floats.shape

    @property
    def is_float(self) -> bool:
        """Whether every element is exactly its float64 value."""
        return self.fractions is None

    @cached_property
    def nonzero(self) -> NDArray[np.bool_]:
        """Which elements are not zero: the nearest float of a tiny one may be."""
        source = self.floats if self.fractions is None else self.fractions
        return np.asarray(source != 0, dtype=np.bool_)

    @cached_property
    def exact(self) -> ObjectArray:
        """The elements as an object array of Fractions."""
        if self.fractions is not None:
            return self.fractions
        out = np.empty(self.floats.shape, dtype=object)
        out.ravel()[:] = [Fraction(v) for v in self.floats.ravel().tolist()]
        return out

    @cached_property
    def scaled(self) -> tuple[ObjectArray, int]:
        """Python integers and one positive common denominator: ``exact == integers / denominator``."""
        # Ratios of plain ints: building a Fraction for each of a network's weights would take seconds.
        source = self.floats if self.fractions is None else self.fractions
        ratios = [value.as_integer_ratio() for value in source.ravel().tolist()]
        denominator = lcm(*{ratio[1] for ratio in ratios}) if ratios else 1
        out = np.empty(self.shape, dtype=object)
        out.ravel()[:] = [numerator * (denominator // under) for numerator, under in ratios]
        return out, denominator

    def at(self, place: int) -> Fraction:
        """One element of a vector."""
        return Fraction(float(self.floats[place]) if self.fractions is None else self.fractions[place])

    @cached_property
    def digest(self) -> str:
        """A hash of shape and content."""
        content = self.floats.tobytes() if self.fractions is None else repr(self.exact.tolist()).encode()
        return sha256(repr(self.shape).encode() + content).hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ExactArray) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return f"ExactArray(shape={self.shape}, digest={self.digest[:8]})"
