"""A place in a JSON document, and what has to stand there: whatever does not fit is named by its place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite
from typing import Any

from fairdsl.ir.numbers import read_ratio

__all__ = ["Cursor", "MisfitError"]

_RATIO = re.compile(r"-?[0-9]+/[1-9][0-9]*")


class MisfitError(Exception):
    """What stands somewhere is not what belongs there; the message says where and what."""


@dataclass(frozen=True, slots=True)
class Cursor:
    """A value and its place, as ``properties[0].name``; the document itself has an empty place."""

    value: Any
    place: str = ""

    def misfit(self, what: str) -> MisfitError:
        """The error that this value is not ``what``."""
        return MisfitError(f"`{self.place}` is no {what}" if self.place else f"it is no {what}")

    def key(self, name: str) -> Cursor:
        """The value of a key that has to be there."""
        found = self.find(name)
        if found is None:
            raise MisfitError(f"`{self.place}.{name}` is missing" if self.place else f"`{name}` is missing")
        return found

    def find(self, name: str) -> Cursor | None:
        """The value of a key, or None where there is none."""
        if not isinstance(self.value, dict):
            raise self.misfit("object")
        if name not in self.value:
            return None
        return Cursor(self.value[name], f"{self.place}.{name}" if self.place else name)

    def items(self) -> Iterator[Cursor]:
        """The items of a list."""
        if not isinstance(self.value, list):
            raise self.misfit("list")
        for number, item in enumerate(self.value):
            yield Cursor(item, f"{self.place}[{number}]")

    def entries(self) -> Iterator[tuple[str, Cursor]]:
        """The keys of an object and their values."""
        if not isinstance(self.value, dict):
            raise self.misfit("object")
        for name in self.value:
            yield name, self.key(name)

    def text(self) -> str:
        """A string."""
        if not isinstance(self.value, str):
            raise self.misfit("text")
        return self.value

    def text_or_null(self) -> str | None:
        """A string or null."""
        return None if self.value is None else self.text()

    def whole(self) -> int:
        """An integer; true and false are none."""
        if not isinstance(self.value, int) or isinstance(self.value, bool):
            raise self.misfit("integer")
        return self.value

    def number(self) -> Fraction:
        """The very number that a float stands for, as a fraction."""
        if isinstance(self.value, bool) or not isinstance(self.value, int | float) or not isfinite(self.value):
            raise self.misfit("number")
        return Fraction(self.value)

    def ratio(self) -> Fraction:
        """A number as ``p/q``."""
        if not isinstance(self.value, str) or not _RATIO.fullmatch(self.value):
            raise self.misfit("fraction `p/q`")
        return read_ratio(self.value)
