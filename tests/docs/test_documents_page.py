"""``docs/documents.md`` lists every document with every field: ``pytest --accept tests/docs`` writes it."""

from __future__ import annotations

import typing
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Any

from fairdsl.codec import INLINE, Document, comments_of
from fairdsl.source import Span
from tests.codec.documents import DOCUMENTS, file_of

PAGE = Path(__file__).parents[2] / "docs" / "documents.md"
HEAD = """\
# Documents

What commands write with `--json`, functions of the [Python API](python.md) return, and files hold. Every document has
a `schema` with its number, and `fairdsl`, the version that wrote it. Fields are keys, and what is `None` by default
is left out where it is `None`. Exact numbers (`Fraction`) are JSON numbers, with `KEY_exact` as `p/q` beside them
wherever that rounds (`Lower` and `Upper`: down and up); `Exact` is always text. One class of several has a key
`kind`, the class's name in small letters. *(derived)* stands with whatever follows from the rest; it is checked when
it is read. The keys of what is *(inline)* stand in place of the field's own. `Class.from_json(text)` gives the object
back, and says with path, line and column what does not fit.

This page is made from the classes.
"""


def sections(kind: type[Document]) -> Iterator[str]:
    yield f"## {title(kind)}"
    yield f"`{kind.SCHEMA}` (`{kind.__module__}.{kind.__name__}`, schema `fairdsl/schemas/{file_of(kind)}`)"
    yield comments_of(kind)[""]
    yield table(kind)


def table(kind: type) -> str:
    rows = [f"| `{name}` | {written(hint)} | {comments_of(kind).get(name, '')} |" for name, hint in members(kind)]
    return "\n".join(["| field | type | |", "| --- | --- | --- |", *rows])


def members(kind: type) -> Iterator[tuple[str, Any]]:
    hints = typing.get_type_hints(kind, include_extras=True)
    yield from ((one.name, hints[one.name]) for one in fields(kind) if one.init and one.compare)  # type: ignore[arg-type]
    for name in getattr(kind, "ALSO_WRITTEN", ()):
        yield name, ("(derived)", typing.get_type_hints(getattr(kind, name).fget, include_extras=True)["return"])


def written(hint: Any) -> str:
    if isinstance(hint, tuple):
        return f"{written(hint[1])} *{hint[0]}*"
    arms = [arm for arm in typing.get_args(hint) if arm is not NoneType] if is_union(hint) else [hint]
    words = " or ".join(one(arm) for arm in arms)
    return words + (" or `None`" if is_union(hint) and NoneType in typing.get_args(hint) else "")


def is_union(hint: Any) -> bool:
    return typing.get_origin(hint) in (typing.Union, UnionType)


def one(hint: Any) -> str:
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        return "`Exact`" if "Marker.EXACT" in str(args) else written(args[0]) + " *(inline)*" * (INLINE in args)
    if isinstance(hint, type) and is_dataclass(hint) and hint is not Span:
        return linked(hint)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return linked(hint)
    if origin is typing.Literal:
        return " or ".join(f"`{arg!r}`" for arg in args)
    if origin is tuple:
        return f"list of {written(args[0])}" if args[-1] is Ellipsis else f"({', '.join(written(arg) for arg in args)})"
    if origin is not None:
        return f"mapping to {written(args[-1])}"
    return f"`{getattr(hint, '__name__', str(hint))}`"


def parts(kind: type, met: set[type]) -> None:
    """The classes and enumerations that a class's fields are of, and theirs."""
    for _, hint in members(kind):
        for found in classes(hint[1] if isinstance(hint, tuple) else hint):
            if found not in met:
                met.add(found)
                if is_dataclass(found):
                    parts(found, met)


@cache
def everything() -> frozenset[type]:
    """All documents, and all that they are made of."""
    met: set[type] = set(DOCUMENTS)
    for kind in DOCUMENTS:
        parts(kind, met)
    return frozenset(met)


def title(kind: type) -> str:
    """The name of a class, with its package where several have it."""
    alike = [other for other in everything() if other.__name__ == kind.__name__]
    return kind.__name__ if len(alike) == 1 else f"{kind.__name__} of {kind.__module__.split('.')[-2]}"


def linked(kind: type) -> str:
    return f"[`{kind.__name__}`](#{title(kind).lower().replace(' ', '-')})"


def classes(hint: Any) -> Iterator[type]:
    if isinstance(hint, type) and hint is not Span and (is_dataclass(hint) or issubclass(hint, Enum)):
        yield hint
    for inner in typing.get_args(hint):
        yield from classes(inner)


def enumeration(kind: type[Enum]) -> str:
    return ", ".join(f"`{member.value}`" for member in kind)


def page() -> str:
    text = [HEAD, *(part for kind in DOCUMENTS for part in sections(kind)), "# Parts of documents"]
    for kind in sorted(everything() - set(DOCUMENTS), key=title):
        text += [f"## {title(kind)}", comments_of(kind).get("", "")]
        text.append(enumeration(kind) if issubclass(kind, Enum) else table(kind))
    return "\n\n".join(part.rstrip() for part in text if part) + "\n"


def test_no_two_classes_share_a_title() -> None:
    assert len({title(kind) for kind in everything()}) == len(everything())


def test_the_page_is_what_the_classes_say(as_expected: Callable[[Path, str], None]) -> None:
    as_expected(PAGE, page())


def test_every_field_of_a_document_is_described() -> None:
    bare = sorted(
        f"{title(part)}.{field}"
        for part in everything()
        if is_dataclass(part)
        for field, _ in members(part)
        if field not in comments_of(part)
    )
    assert bare == []
