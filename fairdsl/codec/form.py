"""How values of one type stand in a document: what each form writes, reads and says of itself in a schema."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from fairdsl.codec.mistakes import Place

JsonObject = dict[str, Any]


@dataclass(slots=True)
class Schemas:
    """The schemas of the dataclasses that a schema refers to, by name; ``comments`` describes fields of a class."""

    comments: Callable[[type], dict[str, str]]
    definitions: dict[str, JsonObject] = field(default_factory=dict)
    #: Whose they are, with or without a tag: two classes of one name are kept apart.
    owners: dict[tuple[type, bool], str] = field(default_factory=dict)

    def refer(self, kind: type, build: Callable[[], JsonObject], *, tagged: bool = False) -> JsonObject:
        """A reference to the schema of a class, which is built once; classes may refer to themselves."""
        owner = (kind, tagged)
        if owner not in self.owners:
            plain = kind.__name__.strip("_")
            same = sum(taken.rstrip("0123456789") == plain for taken in self.owners.values())
            name = f"{plain}{same + 1}" if same else plain
            self.owners[owner] = name
            self.definitions[name] = build()
        return {"$ref": f"#/$defs/{self.owners[owner]}"}


class Form(ABC):
    """How values of one type are written. A form knows which kinds of JSON it writes, so that unions can be told
    apart."""

    #: Of ``null``, ``boolean``, ``integer``, ``number``, ``string``, ``array`` and ``object``.
    kinds: frozenset[str]

    @abstractmethod
    def takes(self, value: Any) -> bool:
        """Whether the value is of this form's type."""

    @abstractmethod
    def encode(self, value: Any) -> Any:
        """The value as plain JSON."""

    @abstractmethod
    def decode(self, plain: Any, place: Place) -> Any:
        """The value that stands at ``place``; raises MisfitError."""

    @abstractmethod
    def schema(self, schemas: Schemas) -> JsonObject:
        """What a JSON Schema says of it."""


def kind_of(plain: Any) -> str:
    """Which kind of JSON a plain value is; ``integer`` where it has no point."""
    match plain:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case str():
            return "string"
        case list():
            return "array"
        case dict():
            return "object"
        case _:
            return "number"
