"""The text of a document and its plain values, both ways. Mistakes are known by their line and column.

The standard library reads, which is fast; only where something is wrong the text is walked again for the place.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal, InvalidOperation
from hashlib import sha256
from typing import Any, NoReturn

from fairdsl.codec.mistakes import DEEPEST, MisfitError, Place
from fairdsl.codec.placed import NotReadError, PlacedList, PlacedObject, PlacedValue, read_placed
from fairdsl.source import SourceFile, Span
from fairdsl.source.json_text import TooDeepError, read_json


def text_of(plain: Any) -> str:
    """Plain values as the text of a document, with a line break at its end."""
    return json.dumps(plain, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def source_of(content: str | bytes, path: str = "") -> SourceFile:
    """The text of a document that was read from ``path``. MisfitError for bytes that are not UTF-8."""
    if isinstance(content, str):
        return SourceFile(path, content)
    try:
        return SourceFile(path, content.decode("utf-8-sig"), sha256(content).hexdigest())
    except UnicodeDecodeError as error:
        raise Place().misfit(f"is not text in UTF-8: byte {error.start + 1} is not a part of it") from error


def plain_of(content: str | bytes | SourceFile, *, decimals: bool = False) -> Any:
    """The plain values of a document's text. MisfitError for what is not JSON, and for keys that are given twice.

    With ``decimals`` a number is the decimal that is written (``0.1`` is 1/10), else the float nearest to it.
    """
    file = content if isinstance(content, SourceFile) else source_of(content)
    try:
        return read_json(
            file.text, object_pairs_hook=_unique, parse_constant=_not_json, parse_float=_decimal if decimals else None
        )
    except (_TwiceError, ValueError) as error:
        raise _unread(file, error) from error


def located(misfit: MisfitError, file: SourceFile) -> MisfitError:
    """The same mistake with its place in the text that the values are from."""
    if misfit.span is not None:
        return misfit
    try:
        span = _span_of(misfit, read_placed(file, DEEPEST))
    except NotReadError as error:
        span = error.span
    return type(misfit)(misfit.place, misfit.what, span)


@contextmanager
def placing(file: SourceFile) -> Iterator[None]:
    """Mistakes that are found inside, in values of this text, have their place in it."""
    try:
        yield
    except MisfitError as misfit:
        raise located(misfit, file) from misfit


def _span_of(misfit: MisfitError, value: PlacedValue) -> Span:
    *owner, last = misfit.place.steps or (None,)
    if misfit.of_key and isinstance(within := standing_at(value, owner), PlacedObject):
        return next(key.span for key, _ in within.entries if key.value == last)
    return standing_at(value, misfit.place.steps).span


class _TwiceError(Exception):
    """An object has a key twice."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _TwiceError
    return found


def _decimal(text: str) -> Decimal:
    """The decimal that is written; ValueError for an exponent beyond those that decimals have."""
    try:
        return Decimal(text)
    except InvalidOperation as error:
        raise ValueError("the exponent is too great") from error


def _not_json(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _unread(file: SourceFile, error: Exception) -> MisfitError:
    """Why the text was not read, with the place of it."""
    if isinstance(error, json.JSONDecodeError):
        said = f"is not JSON: {error.msg[:1].lower()}{error.msg[1:]}"
        what = "nests too deep" if isinstance(error, TooDeepError) else said
        return MisfitError(Place(), what, Span(file, error.pos, min(error.pos + 1, len(file.text))))
    if isinstance(error, _TwiceError):
        try:
            twice = _given_twice(read_placed(file, DEEPEST), Place())
        except (NotReadError, MisfitError):
            twice = None
        return twice or Place().misfit("has an object with a key that is given twice")
    if "not JSON" in str(error):
        return Place().misfit(f"is not JSON: {str(error).partition(' ')[0]} is not a number of it")
    # Python reads no whole number of thousands of digits, and what fairdsl writes has none.
    return located(Place().misfit("has a number with too many digits"), file)


def _given_twice(value: PlacedValue, place: Place) -> MisfitError | None:
    """The first key that an object has twice, in the order of the text."""
    match value:
        case PlacedObject(entries=entries):
            met = set()
            for key, entry in entries:
                if key.value in met:
                    return MisfitError(place.at(key.value), "is given twice", key.span)
                met.add(key.value)
                found = _given_twice(entry, place.at(key.value))
                if found is not None:
                    return found
        case PlacedList(items=items):
            return next((one for n, item in enumerate(items) if (one := _given_twice(item, place.at(n)))), None)
    return None


def standing_at(value: PlacedValue, steps: Sequence[str | int | None]) -> PlacedValue:
    """What stands at the end of a path; where a member is missing, what it is missing in."""
    for step in steps:
        match value, step:
            case PlacedObject(entries=entries), str(key):
                inner = next((entry for name, entry in entries if name.value == key), None)
            case PlacedList(items=items), int(number) if number < len(items):
                inner = items[number]
            case _:
                inner = None
        if inner is None:
            return value
        value = inner
    return value
