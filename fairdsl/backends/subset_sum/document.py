"""JSON documents read strictly: every value is checked where it stands, and what nobody reads is a mistake.

Numbers are whole, or text with an exact one (``"3/10"``, ``"0.3"``); a JSON number with a point is read by other
programs as the nearest float64, so it is no exact number and is refused.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NoReturn

from fairdsl.source.json_text import read_json

__all__ = ["MalformedError", "Node", "document_of", "exact"]

_NUMBER = re.compile(r"-?[0-9]{1,4000}(\.[0-9]{1,4000}|/[0-9]{1,4000})?")


class MalformedError(Exception):
    """Something at ``place`` of the document (the document itself where it is empty) that cannot be read."""

    def __init__(self, place: str, what: str) -> None:
        super().__init__(place, what)
        self.place = place
        self.what = what


@dataclass(frozen=True, slots=True)
class Node:
    """A value of the document and its place, as ``laws[0].columns``."""

    value: Any
    place: str

    def refuse(self, what: str) -> NoReturn:
        """There is a mistake here."""
        raise MalformedError(self.place, what)

    def fields(self, required: Collection[str], optional: Collection[str] = ()) -> dict[str, Node]:
        """The members of an object, by name; null counts as left out."""
        if not isinstance(self.value, dict):
            self.refuse("an object belongs here")
        for name in self.value:
            if name not in required and name not in optional:
                self.refuse(f"`{name}` is nothing that is read here")
        found = {name: self._member(name) for name, value in self.value.items() if value is not None}
        for name in required:
            if name not in found:
                self.refuse(f"`{name}` is missing")
        return found

    def _member(self, name: str) -> Node:
        return Node(self.value[name], f"{self.place}.{name}" if self.place else name)

    def items(self) -> list[Node]:
        """The members of an array."""
        if not isinstance(self.value, list):
            self.refuse("an array belongs here")
        return [Node(value, f"{self.place}[{number}]") for number, value in enumerate(self.value)]

    def number(self) -> Fraction:
        """An exact number."""
        if isinstance(self.value, int) and not isinstance(self.value, bool):
            return Fraction(self.value)
        if not isinstance(self.value, str) or not _NUMBER.fullmatch(self.value):
            self.refuse('an exact number belongs here: a whole one, or text as "3/10"')
        try:
            return Fraction(self.value)
        except ZeroDivisionError:
            self.refuse("the denominator is 0")

    def numbers(self) -> tuple[Fraction, ...]:
        """An array of exact numbers."""
        return tuple(item.number() for item in self.items())

    def bounded(self) -> Fraction | None:
        """An exact number, or null."""
        return None if self.value is None else self.number()

    def count(self) -> int:
        """A whole number from 0."""
        if not isinstance(self.value, int) or isinstance(self.value, bool) or self.value < 0:
            self.refuse("a whole number from 0 belongs here")
        return self.value

    def text(self) -> str:
        """Text."""
        if not isinstance(self.value, str):
            self.refuse("text belongs here")
        return self.value

    def texts(self) -> tuple[str, ...]:
        """An array of text."""
        return tuple(item.text() for item in self.items())

    def flag(self) -> bool:
        """true or false."""
        if not isinstance(self.value, bool):
            self.refuse("true or false belongs here")
        return self.value


def document_of(content: bytes) -> Node:
    """The document. MalformedError where it is no JSON, or an object has one name twice."""
    try:
        return Node(read_json(content, object_pairs_hook=_distinct), "")
    except ValueError as error:
        raise MalformedError("", "it is no JSON document") from error


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(name for name, _ in pairs if sum(name == other for other, _ in pairs) > 1)
        raise MalformedError("", f"an object has `{twice}` twice")
    return found


def exact(value: Fraction) -> str:
    """A number as it is written: ``3/10``, or ``3``."""
    return str(value)
