"""A document with everything that a field can be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from fairdsl.codec import INLINE, KEYED, Document, Towards
from fairdsl.source import Span


class Colour(Enum):
    RED = "red"
    GREEN = "green"


@dataclass(frozen=True, slots=True)
class Bounds:
    """A number between two others."""

    #: Never above it,
    #: nor rounded up.
    low: Annotated[Fraction | None, Towards.DOWN]
    high: Annotated[Fraction | None, Towards.UP] = None

    def __post_init__(self) -> None:
        if self.low is not None and self.high is not None and self.low > self.high:
            raise ValueError("its ends are the wrong way round")


@dataclass(frozen=True, slots=True)
class Leaf:
    bounds: Bounds | None


@dataclass(frozen=True, slots=True)
class Branch:
    below: tuple[Tree, ...] = ()


Tree = Leaf | Branch


@dataclass(frozen=True, slots=True)
class Label:
    span: Annotated[Span, INLINE]
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample(Document):
    """All of it."""

    SCHEMA: ClassVar[str] = "fairdsl.sample/3"
    ALSO_WRITTEN: ClassVar[tuple[str, ...]] = ("size", "half")

    cells: Mapping[str, str | bool | int | Fraction]
    colour: Colour
    by_colour: Annotated[tuple[tuple[Colour, int], ...], KEYED] = ()
    tree: Tree | None = None
    share: Fraction = Fraction(1, 3)
    exact: tuple[Fraction, ...] = ()
    pair: tuple[bool, float] = (False, 0.5)
    labels: tuple[Label, ...] = ()
    mode: Literal["fast", "slow"] | None = None
    path: Path | None = None
    either: Bounds | tuple[int, ...] | str = ""
    named: Mapping[Colour, Bounds | None] = field(default_factory=dict)
    #: Not part of what the document says.
    seen: Any = field(default=None, compare=False)

    @property
    def size(self) -> int:
        """How many cells."""
        return len(self.cells)

    @property
    def half(self) -> Fraction | None:
        """Half of the share."""
        return self.share / 2 if self.share else None
