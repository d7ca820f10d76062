"""The text of a document and its plain values, both ways. Mistakes are known by their line and column.

The standard library reads, which is fast; only where something is wrong the text is walked again for the place.
"""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any, NoReturn

from fairdsl.codec.mistakes import DEEPEST, MisfitError, Place
from fairdsl.codec.placed import NotReadError, PlacedList, PlacedObject, PlacedValue, read_placed
from fairdsl.source import Position, SourceFile

__all__ = ["located", "plain_of", "text_of"]


def text_of(plain: Any) -> str:
    """Plain values as the text of a document, with a line break at its end."""
    return json.dumps(plain, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def plain_of(text: str | bytes, *, decimals: bool = False) -> Any:
    """The plain values of a document's text. MisfitError for what is not JSON, and for keys that are given twice.

    With ``decimals`` a number is the decimal that is written (``0.1`` is 1/10), else the float nearest to it.
    """
    try:
        read = text.decode("utf-8-sig") if isinstance(text, bytes) else text
    except UnicodeDecodeError as error:
        raise Place().misfit(f"is not text in UTF-8: byte {error.start + 1} is no part of it") from error
    try:
        return json.loads(
            read, object_pairs_hook=_unique, parse_constant=_not_json, parse_float=Decimal if decimals else None
        )
    except (_TwiceError, ValueError, RecursionError) as error:
        raise _unread(read, error) from error


def located(misfit: MisfitError, text: str | bytes) -> MisfitError:
    """The same mistake with its line and column in the text that the values are from."""
    read = text.decode("utf-8-sig") if isinstance(text, bytes) else text
    try:
        value = read_placed(SourceFile("", read), DEEPEST)
    except NotReadError as error:
        return MisfitError(misfit.place, misfit.what, error.span.first)
    return MisfitError(misfit.place, misfit.what, _found(value, misfit.place.steps))


class _TwiceError(Exception):
    """An object has a key twice."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _TwiceError
    return found


def _not_json(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _unread(text: str, error: Exception) -> MisfitError:
    """Why the text was not read, with the place of it."""
    if isinstance(error, json.JSONDecodeError):
        what = f"is not JSON: {error.msg[:1].lower()}{error.msg[1:]}"
        return MisfitError(Place(), what, Position(error.lineno, error.colno))
    if isinstance(error, _TwiceError):
        try:
            twice = _given_twice(read_placed(SourceFile("", text), DEEPEST), Place())
        except (NotReadError, MisfitError):
            twice = None
        return twice or Place().misfit("has an object with a key that is given twice")
    if isinstance(error, RecursionError):
        return Place().misfit("nests too deep")
    if "not JSON" in str(error):
        return Place().misfit(f"is not JSON: {str(error).partition(' ')[0]} is not a number of it")
    # Python reads no whole number of thousands of digits, and what fairdsl writes has none.
    return Place().misfit("has a number with too many digits")


def _given_twice(value: PlacedValue, place: Place) -> MisfitError | None:
    """The first key that an object has twice, in the order of the text."""
    match value:
        case PlacedObject(entries=entries):
            met = set()
            for key, entry in entries:
                if key.value in met:
                    return MisfitError(place.at(key.value), "is given twice", key.span.first)
                met.add(key.value)
                found = _given_twice(entry, place.at(key.value))
                if found is not None:
                    return found
        case PlacedList(items=items):
            return next((one for n, item in enumerate(items) if (one := _given_twice(item, place.at(n)))), None)
    return None


def _found(value: PlacedValue, steps: tuple[str | int, ...]) -> Position:
    """Where the value of a path begins; of a member that is missing, where the object begins."""
    if not steps:
        return value.span.first
    match value, steps[0]:
        case PlacedObject(entries=entries), str(key):
            inner = next((entry for name, entry in entries if name.value == key), None)
        case PlacedList(items=items), int(number) if number < len(items):
            inner = items[number]
        case _:
            inner = None
    return value.span.first if inner is None else _found(inner, steps[1:])
