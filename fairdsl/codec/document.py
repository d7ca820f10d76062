"""Documents: dataclasses that are files of their own, with a schema's name at their head.

``encode`` and ``decode`` are the way from an object to a text and back; ``schema`` says what such texts look like.
"""

from __future__ import annotations

import json
from dataclasses import fields
from hashlib import sha256
from typing import Any, ClassVar, Self, TypeVar

from fairdsl.codec.annotations import form_of
from fairdsl.codec.comments import comments_of
from fairdsl.codec.form import JsonObject, Schemas
from fairdsl.codec.mistakes import MisfitError, Place
from fairdsl.codec.text import placing, plain_of, source_of, text_of
from fairdsl.resources import version
from fairdsl.source import SourceFile

_T = TypeVar("_T")
#: The keys of every document's head: the name of its schema, and the version of fairdsl that wrote it.
_SCHEMA, _VERSION = "schema", "fairdsl"
#: The key of the digest of everything else.
_SEAL = "sha256"


class Document:
    """A dataclass that is a document of its own. Its fields are the keys, and ``SCHEMA`` stands at its head."""

    __slots__ = ()

    #: The name of the schema and its number, ``fairdsl.report/2``. More keys keep the number; it grows where a key is
    #: renamed or left out, or means something else.
    SCHEMA: ClassVar[str]
    #: Whether the head has the version that wrote it. Files that are written again to see whether they are the same,
    #: and files that people write, have none.
    STAMPED: ClassVar[bool] = True
    #: Whether it has a head at all. A line of a larger file has none.
    HEADED: ClassVar[bool] = True

    def to_json(self) -> str:
        """The document as JSON, ending in a line break; :meth:`from_json` gives an equal object back."""
        return encode(self)

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """The object that a document holds. MisfitError says what does not fit, and where."""
        return decode(cls, text)


class Sealed(Document):
    """A document that ends with the ``sha256`` of everything else in it, as JSON with sorted keys.

    One that was cut off or changed is refused. That proves no origin.
    """

    __slots__ = ()

    @property
    def by_hand(self) -> bool:
        """Whether it may stand without the digest, as people write it."""
        return False


class AlteredError(MisfitError):
    """The content of a sealed document is not what its digest says."""


def encode(value: Any) -> str:
    """A dataclass, or what a field can be, as JSON. Exact numbers stay exact, and equal values give the same text."""
    return text_of(plain(value))


def plain(value: Any) -> Any:
    """The same before it is text: dictionaries, lists, texts and numbers."""
    written = form_of(type(value)).encode(value)
    if not isinstance(value, Document):
        return written
    content = _head(type(value)) | written if value.HEADED else written
    return content | {_SEAL: _digest(content)} if isinstance(value, Sealed) else content


def decode(kind: type[_T], text: str | bytes | SourceFile, *, decimals: bool = False) -> _T:
    """The value of type ``kind`` that a text holds: whatever :func:`encode` wrote gives an equal one back.

    Every key has to be known, and there once. With ``decimals`` a number is the decimal that is written, not the float
    nearest to it. MisfitError names what does not fit, and where it stands.
    """
    file = text if isinstance(text, SourceFile) else source_of(text)
    value = plain_of(file, decimals=decimals)
    with placing(file):
        return from_plain(kind, value)


def from_plain(kind: type[_T], value: Any) -> _T:
    """The same from plain values, which have no lines: MisfitError names the path alone."""
    seal = None
    if isinstance(kind, type) and issubclass(kind, Sealed) and isinstance(value, dict):
        seal = value.get(_SEAL)
        value = {key: one for key, one in value.items() if key != _SEAL}
        digest = _digest(value)
    if isinstance(kind, type) and issubclass(kind, Document):
        value = _behind_head(kind, value)
    found: _T = form_of(kind).decode(value, Place())
    if isinstance(found, Sealed) and seal != digest:
        if seal is not None:
            raise AlteredError(Place((_SEAL,)), "is that of another content")
        if not found.by_hand:
            raise Place((_SEAL,)).misfit("is missing")
    return found


def _digest(content: JsonObject) -> str:
    """Of everything but the digest itself."""
    return sha256(json.dumps(content, sort_keys=True, ensure_ascii=False).encode("utf-8", "surrogatepass")).hexdigest()


def _head(kind: type[Document]) -> JsonObject:
    """Schema and version; a document that knows which version made it has the version as a field."""
    return {_SCHEMA: kind.SCHEMA} if _knows_version(kind) else {_SCHEMA: kind.SCHEMA, _VERSION: version()}


def _knows_version(kind: type[Document]) -> bool:
    return not kind.STAMPED or any(field.name == _VERSION for field in fields(kind))  # type: ignore[arg-type]


def _behind_head(kind: type[Document], value: Any) -> JsonObject:
    """A document's contents, if it follows the schema that is expected."""
    if not isinstance(value, dict):
        raise Place().misfit("is not an object")
    if not kind.HEADED:
        return value
    found = value.get(_SCHEMA)
    if found != kind.SCHEMA:
        family = kind.SCHEMA.partition("/")[0] + "/"
        if isinstance(found, str) and found.startswith(family):
            raise Place().at(_SCHEMA).misfit(f"is `{found}`; this fairdsl reads `{kind.SCHEMA}`")
        raise Place().at(_SCHEMA).misfit(f"is not `{kind.SCHEMA}`")
    head = (_SCHEMA,) if _knows_version(kind) else (_SCHEMA, _VERSION)
    for key in head:
        form_of(str).decode(value.get(key), Place().at(key))
    return {key: one for key, one in value.items() if key not in head}


def schema(kind: type) -> JsonObject:
    """The JSON Schema of a type's documents, with what its docstrings and comments say."""
    schemas = Schemas(comments_of)
    written = form_of(kind).schema(schemas)
    if isinstance(kind, type) and issubclass(kind, Document):
        root = schemas.definitions.pop(schemas.owners[kind, False])
        head: JsonObject = {_SCHEMA: {"const": kind.SCHEMA}} if kind.HEADED else {}
        if kind.HEADED and not _knows_version(kind):
            head[_VERSION] = {"description": "The version of fairdsl that wrote it.", "type": "string"}
        root["required"] = [*head, *root["required"]]
        root["properties"] = head | root["properties"]
        if issubclass(kind, Sealed):
            digest = "The digest of everything else, as JSON with sorted keys."
            root["properties"] |= {_SEAL: {"description": digest, "type": "string"}}
            root["required"] += [_SEAL] if kind.by_hand is Sealed.by_hand else []
        written = {"$id": kind.SCHEMA} | root
    whole = {"$schema": "https://json-schema.org/draft/2020-12/schema"} | written
    return whole | {"$defs": schemas.definitions} if schemas.definitions else whole
