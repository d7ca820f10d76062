"""Forms of several values: lists, tuples, mappings, and unions that are told apart by the kind of JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fairdsl.codec.form import Form, JsonObject, Schemas, kind_of
from fairdsl.codec.mistakes import Place
from fairdsl.codec.numbers import RATIO
from fairdsl.codec.scalars import ChoiceForm, FractionForm, IntegerForm, TextForm


def _list(plain: Any, place: Place) -> list[Any]:
    if not isinstance(plain, list):
        raise place.misfit("is not a list")
    return plain


def _object(plain: Any, place: Place) -> dict[str, Any]:
    if not isinstance(plain, dict):
        raise place.misfit("is not an object")
    return plain


class ListForm(Form):
    """Any number of items of one form; ``make`` makes the value of them."""

    kinds = frozenset({"array"})

    def __init__(self, item: Form, make: Callable[[list[Any]], Any] = tuple, *, filled: bool = False) -> None:
        """Lists of ``item``; ``filled``: of one at least."""
        self._item, self._make, self._filled = item, make, filled

    def filled(self) -> ListForm:
        """The form of lists that are not empty."""
        return ListForm(self._item, self._make, filled=True)

    def takes(self, value: Any) -> bool:
        return isinstance(value, tuple | list | set | frozenset)

    def encode(self, value: Any) -> Any:
        if self._filled and not value:
            raise ValueError("a list that has one item at least is empty")
        ordered = sorted(value) if isinstance(value, set | frozenset) else value
        return [self._item.encode(item) for item in ordered]

    def decode(self, plain: Any, place: Place) -> Any:
        items = _list(plain, place)
        if self._filled and not items:
            raise place.misfit("is empty")
        return self._make([self._item.decode(item, place.at(number)) for number, item in enumerate(items)])

    def schema(self, schemas: Schemas) -> JsonObject:
        written = {"type": "array", "items": self._item.schema(schemas)}
        return written | {"minItems": 1} if self._filled else written


class TupleForm(Form):
    """So many items, each of its own form."""

    kinds = frozenset({"array"})

    def __init__(self, items: Sequence[Form]) -> None:
        """Lists of just these ``items``."""
        self._items = tuple(items)

    def takes(self, value: Any) -> bool:
        return isinstance(value, tuple) and len(value) == len(self._items)

    def encode(self, value: Any) -> Any:
        return [form.encode(item) for form, item in zip(self._items, value, strict=True)]

    def decode(self, plain: Any, place: Place) -> Any:
        items = _list(plain, place)
        if len(items) != len(self._items):
            raise place.misfit(f"has {len(items)} items, not {len(self._items)}")
        return tuple(form.decode(items[n], place.at(n)) for n, form in enumerate(self._items))

    def schema(self, schemas: Schemas) -> JsonObject:
        items, count = [item.schema(schemas) for item in self._items], len(self._items)
        return {"type": "array", "prefixItems": items, "items": False, "minItems": count}


class MappingForm(Form):
    """Values by text, or by members of an enumeration."""

    kinds = frozenset({"object"})

    def __init__(self, key: TextForm | ChoiceForm, value: Form) -> None:
        """Objects with such keys and values."""
        self._key, self._value = key, value

    def takes(self, value: Any) -> bool:
        return isinstance(value, Mapping)

    def encode(self, value: Any) -> Any:
        return {self._key.encode(key): self._value.encode(one) for key, one in value.items()}

    def decode(self, plain: Any, place: Place) -> Any:
        found = {}
        for key, one in _object(plain, place).items():
            at = place.at(key)
            found[self._key.decode(key, at)] = self._value.decode(one, at)
        return found

    def schema(self, schemas: Schemas) -> JsonObject:
        written = {"type": "object", "additionalProperties": self._value.schema(schemas)}
        return written | {"propertyNames": self._key.schema(schemas)} if isinstance(self._key, ChoiceForm) else written


class PairsForm(Form):
    """A tuple of pairs that stands for a mapping (marked with ``KEYED``), and is written as one."""

    kinds = frozenset({"object"})

    def __init__(self, mapping: MappingForm) -> None:
        """Written as ``mapping``."""
        self._mapping = mapping

    def takes(self, value: Any) -> bool:
        return isinstance(value, tuple)

    def encode(self, value: Any) -> Any:
        if len(dict(value)) < len(value):
            raise ValueError("a key is there twice")
        return self._mapping.encode(dict(value))

    def decode(self, plain: Any, place: Place) -> Any:
        return tuple(self._mapping.decode(plain, place).items())

    def schema(self, schemas: Schemas) -> JsonObject:
        return self._mapping.schema(schemas)


class WrappedForm(Form):
    """A class around one value: it is written as that value is."""

    def __init__(self, kind: type, inner: Form, unwrap: Callable[[Any], Any]) -> None:
        """``kind`` makes the class of the value that ``unwrap`` gives back."""
        self._kind, self._inner, self._unwrap = kind, inner, unwrap
        self.kinds = inner.kinds

    def takes(self, value: Any) -> bool:
        return isinstance(value, self._kind)

    def encode(self, value: Any) -> Any:
        return self._inner.encode(self._unwrap(value))

    def decode(self, plain: Any, place: Place) -> Any:
        return self._kind(self._inner.decode(plain, place))

    def schema(self, schemas: Schemas) -> JsonObject:
        return self._inner.schema(schemas)


class UnionForm(Form):
    """One of several forms, told apart by the kind of JSON that each writes.

    Exact numbers beside integers have a point, and beside text whatever text looks like ``p/q`` is
    ``{"text": "1/2"}``. TypeError where two forms cannot be told apart.
    """

    def __init__(self, arms: Sequence[Form]) -> None:
        """One of ``arms``."""
        self._numbers = any(isinstance(arm, FractionForm) for arm in arms)
        self._text = next((arm for arm in arms if isinstance(arm, TextForm)), None) if self._numbers else None
        if self._numbers and any(isinstance(arm, IntegerForm) for arm in arms):
            arms = [FractionForm(whole=False) if isinstance(arm, FractionForm) else arm for arm in arms]
        self._arms = tuple(arms)
        self._by_kind: dict[str, Form] = {}
        for arm in self._arms:
            for kind in arm.kinds:
                self._enter(kind, arm)
        self.kinds = frozenset(self._by_kind)

    def _enter(self, kind: str, arm: Form) -> None:
        """Integers go to the form of whole numbers, text to that of text."""
        taken = self._by_kind.get(kind)
        if taken is not None and not isinstance(arm, FractionForm) and not isinstance(taken, FractionForm):
            raise TypeError(f"{type(taken).__name__} and {type(arm).__name__} are both written as {kind}")
        if taken is None or isinstance(taken, FractionForm):
            self._by_kind[kind] = arm

    def takes(self, value: Any) -> bool:
        return any(arm.takes(value) for arm in self._arms)

    def encode(self, value: Any) -> Any:
        if self._text is not None and isinstance(value, str) and RATIO.fullmatch(value):
            return {"text": value}
        for arm in self._arms:
            if arm.takes(value):
                return arm.encode(value)
        raise TypeError(f"{type(value).__name__} is none of the types of the union")

    def decode(self, plain: Any, place: Place) -> Any:
        if self._text is not None:
            if isinstance(plain, str) and RATIO.fullmatch(plain):
                return FractionForm().decode(plain, place)
            if isinstance(plain, dict) and list(plain) == ["text"]:
                return self._text.decode(plain["text"], place.at("text"))
        arm = self._by_kind.get(kind_of(plain))
        if arm is None:
            raise place.misfit(f"is not {' or '.join(_NAMES[kind] for kind in _NAMES if kind in self.kinds)}")
        return arm.decode(plain, place)

    def schema(self, schemas: Schemas) -> JsonObject:
        written = [arm.schema(schemas) for arm in self._arms]
        if self._text is not None:
            text = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}}}
            written.append(text | {"additionalProperties": False})
        return {"anyOf": written}


_NAMES = {
    "string": "text",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}
