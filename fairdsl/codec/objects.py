"""Forms of dataclasses: an object with a key a field, and of unions of dataclasses, which have a key ``kind``.

A field that is None by default is left out where it is None. Fields that do not count for equality are not part of a
document. ``CALLED_ELSEWHERE`` of a class says what other programs call its keys, for a better hint.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, dataclass
from difflib import get_close_matches
from functools import cached_property
from keyword import iskeyword
from typing import Any

from fairdsl.codec.form import Form, JsonObject, Schemas
from fairdsl.codec.mistakes import Place
from fairdsl.codec.numbers import RATIO, Towards, ratio, rounded
from fairdsl.codec.scalars import ratio_of

#: The key that says of which class of a union an object is.
KIND = "kind"
#: So many keys a message lists at most.
_LISTED = 8


def tag_of(kind: type) -> str:
    """What stands in ``kind``: the class's name in small letters, ``numeric_gap`` of ``NumericGap``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", kind.__name__).lower()


@dataclass(frozen=True)
class Member:
    """A field. ``towards`` is how an exact number is rounded for its key; ``KEY_exact`` has it where that rounds."""

    field: Field[Any]
    form: Form
    towards: Towards | None = None
    #: Whether the keys of its value stand among those of the object itself.
    inline: bool = False

    @cached_property
    def name(self) -> str:
        """The key: the field's name; ``if_`` is the field of the key ``if``, which Python takes for itself."""
        bare = self.field.name.removesuffix("_")
        return bare if iskeyword(bare) else self.field.name

    @cached_property
    def exactly(self) -> str:
        """The key of the very number."""
        return f"{self.name}_exact"

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """Every key that the field may have."""
        if self.inline:
            assert isinstance(self.form, ObjectForm)
            return self.form.keys
        return (self.name,) if self.towards is None else (self.name, self.exactly)

    @cached_property
    def required(self) -> bool:
        """Whether it has to be there."""
        return self.field.default is MISSING and self.field.default_factory is MISSING

    def left_out(self, value: Any) -> bool:
        """Whether there is nothing to write: None, where that is what a missing key means."""
        return value is None and self.field.default is None

    def encode(self, value: Any) -> JsonObject:
        """The field's part of the object."""
        if self.inline:
            return dict(self.form.encode(value))
        if self.towards is None or value is None:
            return {self.name: self.form.encode(value)}
        number = rounded(value, self.towards)
        if number is not None and number.as_integer_ratio() == value.as_integer_ratio():
            return {self.name: number}
        return {self.name: number, self.exactly: ratio(value)}

    def decode(self, plain: Mapping[str, Any], place: Place) -> Any:
        """The field's value from the whole object."""
        if self.inline:
            return self.form.decode({key: plain[key] for key in self.keys if key in plain}, place)
        if self.towards is not None and isinstance(plain[self.name], str):
            raise place.at(self.name).misfit("is not a number")
        if self.towards is None or self.exactly not in plain:
            return self.form.decode(plain[self.name], place.at(self.name))
        value = ratio_of(plain[self.exactly], place.at(self.exactly))
        number = plain[self.name]
        if isinstance(number, bool | str) or number != rounded(value, self.towards):
            raise place.at(self.name).misfit(f"is not what `{self.exactly}` rounds to")
        return value

    def schema(self, schemas: Schemas, comment: str | None) -> JsonObject:
        """The schemas of its keys."""
        if self.towards is None:
            written = self.form.schema(schemas)
            return {self.name: {"description": comment} | written if comment else written}
        numbers: JsonObject = {"type": ["number", "null"]}
        exact = {"description": f"`{self.name}` as `p/q`, where a float has to round it."}
        return {
            self.name: ({"description": comment} if comment else {}) | numbers,
            self.exactly: exact | {"type": "string", "pattern": f"^{RATIO.pattern}$"},
        }


@dataclass(frozen=True, slots=True)
class Derived:
    """A property that documents have too, for their readers; it has to be what the fields come to."""

    name: str
    form: Form
    towards: Towards | None = None


class ObjectForm(Form):
    """A dataclass as an object; ``tagged`` with its ``kind`` where it is one of a union."""

    kinds = frozenset({"object"})

    def __init__(self, kind: type, members: Sequence[Member], derived: Sequence[Derived], *, tagged: bool) -> None:
        """The form of the class ``kind`` with these fields and properties."""
        self.kind, self.tagged = kind, tagged
        self._members, self._derived = tuple(members), tuple(derived)
        known = [key for member in members for key in member.keys]
        known += [key for one in derived for key in ((one.name, f"{one.name}_exact") if one.towards else (one.name,))]
        self.keys: tuple[str, ...] = (*([KIND] if tagged else []), *known)
        if len(set(self.keys)) < len(self.keys):
            raise TypeError(f"{kind.__name__} has two fields of one key")

    def takes(self, value: Any) -> bool:
        return isinstance(value, self.kind)

    def encode(self, value: Any) -> JsonObject:
        written: JsonObject = {KIND: tag_of(self.kind)} if self.tagged else {}
        for member in self._members:
            one = getattr(value, member.field.name)
            if not member.left_out(one):
                written |= member.encode(one)
        return written | self._of_derived(value)

    def _of_derived(self, value: Any) -> JsonObject:
        """The properties that have a value."""
        written: JsonObject = {}
        for one in self._derived:
            found = getattr(value, one.name)
            if found is not None:
                written[one.name] = one.form.encode(found) if one.towards is None else rounded(found, one.towards)
        return written

    def decode(self, plain: Any, place: Place) -> Any:
        if not isinstance(plain, dict):
            raise place.misfit("is not an object")
        for key in plain:
            if key not in self.keys:
                raise place.at(key).unread(f"is not a key that is read here; {self._instead(key)}")
        found = {
            member.field.name: member.decode(plain, place)
            for member in self._members
            if self._is_there(member, plain, place)
        }
        try:
            value = self.kind(**found)
        except (ValueError, ZeroDivisionError) as error:
            raise place.misfit(f"does not fit together: {error}") from error
        self._check_derived(value, plain, place)
        return value

    def _instead(self, key: str) -> str:
        """The key that was meant, as far as that can be told; else those that there are."""
        called: Mapping[str, str] = getattr(self.kind, "CALLED_ELSEWHERE", {})
        meant = called.get(key.casefold())
        near = [meant] if meant in self.keys else get_close_matches(key, self.keys, 1)
        listed = ", ".join(f"`{one}`" for one in self.keys[:_LISTED])
        more = ", ..." if len(self.keys) > _LISTED else ""
        return f"did you mean `{near[0]}`?" if near else f"there are {listed}{more}" if listed else "there is none"

    def _is_there(self, member: Member, plain: Mapping[str, Any], place: Place) -> bool:
        if member.name in plain and not member.inline:
            return True
        if any(key in plain for key in member.keys):
            if not member.inline:
                raise place.at(member.name).misfit("is missing")
            return True
        if member.required and not member.inline:
            raise place.at(member.name).misfit("is missing")
        return member.required

    def _check_derived(self, value: Any, plain: Mapping[str, Any], place: Place) -> None:
        """What a document says of its own contents is what they come to."""
        try:
            written = self._of_derived(value)
        except (ValueError, ArithmeticError, LookupError) as error:
            raise place.misfit(f"does not fit together: {error}") from error
        for one in self._derived:
            said, is_ = plain.get(one.name), written.get(one.name)
            if type(said) is not type(is_) or said != is_:
                raise place.at(one.name).misfit("is not what the rest of it comes to")

    def schema(self, schemas: Schemas) -> JsonObject:
        return schemas.refer(self.kind, lambda: self.object_schema(schemas), tagged=self.tagged)

    def object_schema(self, schemas: Schemas) -> JsonObject:
        """The schema itself, without a reference."""
        comments = schemas.comments(self.kind)
        keys: JsonObject = {KIND: {"const": tag_of(self.kind)}} if self.tagged else {}
        required = [KIND] if self.tagged else []
        for member in self._members:
            if member.inline:
                assert isinstance(member.form, ObjectForm)
                inner = member.form.object_schema(schemas)
                keys |= inner["properties"]
                required += inner.get("required", []) if member.required else []
                continue
            keys |= member.schema(schemas, comments.get(member.field.name))
            required += [member.name] if member.required else []
        for one in self._derived:
            numbers: JsonObject = {"type": ["number", "null"]}
            comment = {"description": comments[one.name]} if one.name in comments else {}
            keys[one.name] = comment | (one.form.schema(schemas) if one.towards is None else numbers)
        written: JsonObject = {"type": "object"}
        if "" in comments:
            written = {"description": comments[""]} | written
        return written | {"required": required, "additionalProperties": False, "properties": keys}


class TaggedForm(Form):
    """One of several dataclasses, told apart by ``kind``."""

    kinds = frozenset({"object"})

    def __init__(self, arms: Sequence[ObjectForm]) -> None:
        """One of ``arms``, all of them tagged."""
        self._arms = {tag_of(arm.kind): arm for arm in arms}

    def takes(self, value: Any) -> bool:
        return any(arm.takes(value) for arm in self._arms.values())

    def encode(self, value: Any) -> JsonObject:
        return next(arm for arm in self._arms.values() if type(value) is arm.kind).encode(value)

    def decode(self, plain: Any, place: Place) -> Any:
        if not isinstance(plain, dict):
            raise place.misfit("is not an object")
        if KIND not in plain:
            raise place.at(KIND).misfit("is missing")
        kind = plain[KIND]
        if not isinstance(kind, str) or kind not in self._arms:
            raise place.at(KIND).misfit(f"is not one of {', '.join(self._arms)}")
        return self._arms[kind].decode(plain, place)

    def schema(self, schemas: Schemas) -> JsonObject:
        return {"anyOf": [arm.schema(schemas) for arm in self._arms.values()]}
