"""Values of attributes in the spec's words: what verdicts say of individuals and groups, wherever they are read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from fairdsl.codec import Lower, Upper
from fairdsl.ir.domain import MISSING, Attribute, Boolean, Category, Domain, Integer, Point, Real

#: A value of an attribute in the spec's words: a category's name, a truth value, an integer or a real.
Cell = str | bool | int | Fraction


@dataclass(frozen=True, slots=True)
class Interval:
    """A number known to lie in [low, high]; None where nothing is known on that side."""

    #: Never above the number; None where nothing is known.
    low: Lower | None
    #: Never below it; None where nothing is known.
    high: Upper | None

    def __post_init__(self) -> None:
        if self.low is not None and self.high is not None and self.low > self.high:
            raise ValueError("an interval has its ends the wrong way round")

    @property
    def exact(self) -> Fraction | None:
        """The number itself where the ends meet."""
        return self.low if self.low == self.high else None


#: The values of an attribute within a region: a run of numbers with both its ends, or a list.
Restriction = Interval | tuple[Cell, ...]


class Named(Mapping[str, Cell]):
    """Values by the names of their attributes, in order; equal to any mapping with the same ones."""

    #: How documents have it.
    WRITTEN_AS = Mapping[str, Cell]
    __slots__ = ("_values",)

    def __init__(self, values: Mapping[str, Cell] | None = None) -> None:
        """``values`` by name; none for everybody."""
        self._values = dict(values or {})

    @property
    def unwrapped(self) -> Mapping[str, Cell]:
        """The same as a plain dictionary."""
        return self._values

    def __getitem__(self, name: str) -> Cell:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __hash__(self) -> int:
        return hash(frozenset(self._values.items()))

    def __eq__(self, other: object) -> bool:
        # A truth value is not a number, although Python has True equal to 1.
        if not isinstance(other, Mapping) or len(other) != len(self):
            return False
        return all(
            name in other and other[name] == value and isinstance(other[name], bool) == isinstance(value, bool)
            for name, value in self._values.items()
        )

    def __or__(self, other: Mapping[str, Cell]) -> Named:
        return Named({**self._values, **other})

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._values!r})"


class Individual(Named):
    """Somebody, every attribute by name. ``point`` has the numbers behind it, empty where it was read back."""

    __slots__ = ("point",)

    def __init__(self, values: Mapping[str, Cell] | None = None, point: Point = ()) -> None:
        """``values`` by the attributes' names."""
        super().__init__(values)
        self.point = point

    @classmethod
    def of(cls, domain: Domain, point: Point) -> Individual:
        """The individual of a domain with these numbers."""
        named = {one.name: cell_of(one, value) for one, value in zip(domain.attributes, point, strict=True)}
        return cls(named, point)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._values, self.point)


def cell_of(attribute: Attribute, value: Fraction) -> Cell:
    """The value as the spec would write it."""
    if value == attribute.missing:
        return MISSING
    match attribute.type:
        case Boolean():
            return bool(value)
        case Integer():
            return int(value)
        case Category():
            return attribute.show(value)
        case Real():
            return value
