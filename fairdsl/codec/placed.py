"""JSON documents whose every value knows its place, so that what is said of one can point at it.

The text is read by the standard library first, which says what is not JSON (RFC 8259). What it takes is walked
once more for the places; the walk relies on the text being right.
"""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass
from typing import TypeAlias

from fairdsl.source import SourceFile, Span
from fairdsl.source.json_text import TooDeepError, read_json
from fairdsl.source.numbers import too_long

#: Lists and objects that may stand inside one another; documents that people write need three.
_DEEPEST = 20

#: Digits of a number at most: Python makes no whole number of more.
_LONGEST = sys.int_info.default_max_str_digits

_SPACE = re.compile(r"[ \t\r\n]*")
_SCALAR = re.compile(r"[^\s,\]}]+")
_CHARACTER = re.compile(
    r"\\u(?P<high>[dD][89abAB][0-9a-fA-F]{2})\\u(?P<low>[dD][c-fC-F][0-9a-fA-F]{2})"
    r"|\\(?:u(?P<code>[0-9a-fA-F]{4})|(?P<escape>.))|.",
    re.DOTALL,
)
_PLAIN = re.compile(r'[^"\\\ud800-\udfff]+')
_SURROGATES = range(0xD800, 0xE000)
_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


class NotReadError(ValueError):
    """The text is not JSON, nests deeper than any document here does, or has a number of too many digits.

    ``span`` is where that shows.
    """

    def __init__(self, reason: str, span: Span) -> None:
        super().__init__(reason)
        self.span = span


@dataclass(frozen=True, slots=True)
class PlacedText:
    """A string: ``span`` has its quotes, ``offsets`` the place of each character (of an escape its last one)."""

    value: str
    span: Span
    offsets: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PlacedList:
    """``[...]``."""

    items: tuple[PlacedValue, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class PlacedObject:
    """``{...}``; the keys in their order, repeated ones too."""

    entries: tuple[tuple[PlacedText, PlacedValue], ...]
    span: Span


@dataclass(frozen=True, slots=True)
class PlainValue:
    """A number, ``true``, ``false`` or ``null``, as it is written."""

    text: str
    span: Span


PlacedValue: TypeAlias = PlacedText | PlacedList | PlacedObject | PlainValue


def read_placed(source: SourceFile, deepest: int = _DEEPEST) -> PlacedValue:
    """The document, with lists in lists to a depth of ``deepest``; raises NotReadError."""
    try:
        read_json(source.text, parse_int=str, parse_float=str)
    except json.JSONDecodeError as problem:
        start = min(problem.pos, max(len(source.text) - 1, 0))
        place = Span(source, start, min(start + 1, len(source.text)))
        said = f"it is not JSON: {problem.msg[:1].lower()}{problem.msg[1:]}"
        deep = isinstance(problem, TooDeepError)
        raise NotReadError("its lists nest too deep" if deep else said, place) from problem
    return _Walk(source, deepest).value(_past_space(source.text, 0), 0)[0]


def _past_space(text: str, start: int) -> int:
    match = _SPACE.match(text, start)
    return match.end() if match is not None else start


@dataclass(frozen=True, slots=True)
class _Walk:
    source: SourceFile
    deepest: int

    def value(self, start: int, depth: int) -> tuple[PlacedValue, int]:
        """The value that begins at ``start``, and the place behind it."""
        if depth > self.deepest:
            raise NotReadError("its lists nest too deep", self._span(start, start + 1))
        match self.source.text[start]:
            case '"':
                text = self._text(start)
                return text, text.span.end
            case "[":
                return self._list(start, depth)
            case "{":
                return self._object(start, depth)
        scalar = _SCALAR.match(self.source.text, start)
        assert scalar is not None
        place = self._span(start, scalar.end())
        if too_long(scalar.group(), _LONGEST):
            raise NotReadError("a number has too many digits", place)
        return PlainValue(scalar.group(), place), scalar.end()

    def _list(self, start: int, depth: int) -> tuple[PlacedList, int]:
        items: list[PlacedValue] = []
        here = self._past(start + 1)
        while self.source.text[here] != "]":
            item, here = self.value(here, depth + 1)
            items.append(item)
            here = self._past_comma(here)
        return PlacedList(tuple(items), self._span(start, here + 1)), here + 1

    def _object(self, start: int, depth: int) -> tuple[PlacedObject, int]:
        entries: list[tuple[PlacedText, PlacedValue]] = []
        here = self._past(start + 1)
        while self.source.text[here] != "}":
            key = self._text(here)
            colon = self._past(key.span.end)
            value, here = self.value(self._past(colon + 1), depth + 1)
            entries.append((key, value))
            here = self._past_comma(here)
        return PlacedObject(tuple(entries), self._span(start, here + 1)), here + 1

    def _text(self, start: int) -> PlacedText:
        text = self.source.text
        characters: list[str] = []
        offsets: list[int] = []
        here = start + 1
        while text[here] != '"':
            if plain := _PLAIN.match(text, here):
                characters.append(plain.group())
                offsets.extend(range(here, plain.end()))
                here = plain.end()
                continue
            match = _CHARACTER.match(text, here)
            assert match is not None
            characters.append(_meant(match))
            if ord(characters[-1]) in _SURROGATES:
                raise NotReadError("half a surrogate pair represents no character", self._span(here, match.end()))
            offsets.append(match.end() - 1)
            here = match.end()
        return PlacedText("".join(characters), self._span(start, here + 1), tuple(offsets))

    def _past(self, start: int) -> int:
        return _past_space(self.source.text, start)

    def _past_comma(self, start: int) -> int:
        here = self._past(start)
        return self._past(here + 1) if self.source.text[here] == "," else here

    def _span(self, start: int, end: int) -> Span:
        return Span(self.source, start, end)


def _meant(match: re.Match[str]) -> str:
    """The character that is written."""
    if match["high"]:
        return bytes.fromhex(match["high"] + match["low"]).decode("utf-16-be")
    if match["code"]:
        return chr(int(match["code"], 16))
    return _ESCAPES.get(match["escape"], match["escape"]) if match["escape"] else match.group()
