"""Random values of any type that the codec writes, and damaged documents: Hypothesis strategies from annotations."""

from __future__ import annotations

import copy
import types
import typing
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any, Literal

from hypothesis import strategies as st

from fairdsl.codec import KEYED
from fairdsl.source import SourceFile, Span

__all__ = ["damaged", "values_of"]

_TEXTS = st.one_of(
    st.sampled_from(["", "sex", "1/2", "25 .. 44", "größer", 'with "quotes" and \\', "a\nb", "-3/4", "kind"]),
    st.text(max_size=6),
).filter(lambda text: not any("\ud800" <= character <= "\udfff" for character in text))
_FRACTIONS = st.one_of(st.fractions(max_denominator=97), st.sampled_from([Fraction(10**400, 3), Fraction(1, 10**400)]))


def values_of(kind: Any, depth: int = 3) -> st.SearchStrategy[Any]:
    """Random values of a type, nested classes to a depth."""
    plain: dict[Any, st.SearchStrategy[Any]] = {
        type(None): st.none(),
        None: st.none(),
        bool: st.booleans(),
        int: st.integers(-(10**30), 10**30),
        float: st.floats(allow_nan=False, allow_infinity=False),
        str: _TEXTS,
        Fraction: _FRACTIONS,
        Path: _TEXTS.filter(bool).map(Path),
        Span: spans(),
    }
    if kind in plain:
        return plain[kind]
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Annotated:
        inner = values_of(args[0], depth)
        return inner.map(lambda pairs: tuple(dict(pairs).items())) if KEYED in args[1:] else inner
    if origin in (typing.Union, types.UnionType):
        return st.one_of([values_of(arm, depth) for arm in args])
    if origin is Literal:
        return st.sampled_from(args)
    if origin is tuple:
        if args[-1] is Ellipsis:
            return st.lists(values_of(args[0], depth), max_size=2 if depth > 0 else 0).map(tuple)
        return st.tuples(*(values_of(arg, depth) for arg in args))
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return st.dictionaries(values_of(args[0], depth), values_of(args[1], depth), max_size=2)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return st.sampled_from(list(kind))
    if hasattr(kind, "WRITTEN_AS"):
        return values_of(kind.WRITTEN_AS, depth).map(kind)
    assert is_dataclass(kind), kind
    return st.deferred(lambda: objects(kind, depth - 1))


def objects(kind: Any, depth: int = 3) -> st.SearchStrategy[Any]:
    """Random objects of a dataclass; those that it refuses itself are not tried again."""
    hints = typing.get_type_hints(kind, include_extras=True)
    known = {field.name: values_of(hints[field.name], depth) for field in fields(kind) if field.init and field.compare}
    return st.fixed_dictionaries(known).map(lambda found: _made(kind, found)).filter(lambda made: made is not None)


def _made(kind: Any, found: dict[str, Any]) -> Any:
    try:
        return kind(**found)
    except ValueError:
        return None


@st.composite
def spans(draw: st.DrawFn) -> Span:
    """A place in a small file."""
    text = draw(st.sampled_from(["", "domain D {}", "a\nbc\n\nd", "one\r\ntwo\r\n"]))
    start = draw(st.integers(0, len(text)))
    return Span(
        SourceFile(draw(st.sampled_from(["a.fair", "b.fair"])), text), start, draw(st.integers(start, len(text)))
    )


#: What is put in the place of something else.
_WRONG: tuple[Any, ...] = (
    None, True, 0, -1, 1.5, 10**40, 1e308, "", "x", "1/2", "1/0", "holds", [], {}, [1], {"kind": "x"}, {"text": "1/2"},
)  # fmt: skip


def damaged(document: Any, random: Random) -> Any:
    """A copy of plain JSON with one thing changed, removed, added, renamed or exchanged."""
    document = copy.deepcopy(document)
    places = list(_places(document))
    owner, key = random.choice(places)
    match random.randrange(6):
        case 0:
            del owner[key]
        case 1 if isinstance(owner, dict):
            owner[random.choice(["extra", "kind", "low_exact", key + "x"])] = copy.deepcopy(random.choice(_WRONG))
        case 2:
            other, at = random.choice(places)
            owner[key], other[at] = copy.deepcopy(other[at]), copy.deepcopy(owner[key])
        case 3 if isinstance(owner[key], str) and owner[key]:
            text = owner[key]
            at = random.randrange(len(text))
            owner[key] = text[:at] + random.choice(["", "0", "/", "Z", "\ud800"]) + text[at + 1 :]
        case 4 if isinstance(owner[key], int | float) and not isinstance(owner[key], bool):
            owner[key] = random.choice([-owner[key], owner[key] + 1, owner[key] / 3, str(owner[key])])
        case _:
            owner[key] = copy.deepcopy(random.choice(_WRONG))
    return document


def _places(document: Any) -> typing.Iterator[tuple[Any, Any]]:
    """Every key and position of a document, with what it is in."""
    members = document.items() if isinstance(document, dict) else enumerate(document)
    for key, value in list(members):
        yield document, key
        if isinstance(value, dict | list):
            yield from _places(value)
