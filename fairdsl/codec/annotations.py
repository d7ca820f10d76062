"""From a type's annotations to its form. What cannot be written so that it can be read back is a TypeError."""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from fractions import Fraction
from functools import cache
from pathlib import Path, PurePath
from typing import Annotated, Any, Literal

from fairdsl.codec.containers import ListForm, MappingForm, PairsForm, TupleForm, UnionForm, WrappedForm
from fairdsl.codec.form import Form, JsonObject, Schemas
from fairdsl.codec.mistakes import Place
from fairdsl.codec.numbers import Towards
from fairdsl.codec.objects import Derived, Member, ObjectForm, TaggedForm
from fairdsl.codec.places import SpanForm
from fairdsl.codec.scalars import (
    BooleanForm,
    ChoiceForm,
    ExactForm,
    FloatForm,
    FractionForm,
    IntegerForm,
    NullForm,
    PathForm,
    PlainForm,
    TextForm,
)
from fairdsl.source import Span


class Marker(Enum):
    """How a field is written, in its annotation: ``Annotated[Span, INLINE]``."""

    #: The keys of the value stand among those of the object itself; none of them where it is None by default.
    INLINE = "inline"
    #: A tuple of pairs is written as an object, the first of each pair its key.
    KEYED = "keyed"
    #: An exact number is text, ``3/10``, or a whole number; one with a point, which programs round, is refused.
    EXACT = "exact"
    #: A list has one item at least.
    FILLED = "filled"


INLINE, KEYED, FILLED = Marker.INLINE, Marker.KEYED, Marker.FILLED
#: Exact numbers that are never rounded: whole, or texts such as ``3/10``.
Exact = Annotated[Fraction, Marker.EXACT]
#: Exact numbers that are bounds: what documents have for them is rounded down, or up.
Lower = Annotated[Fraction, Towards.DOWN]
Upper = Annotated[Fraction, Towards.UP]

_PLAIN: dict[Any, type[Form]] = {
    None: NullForm,
    type(None): NullForm,
    bool: BooleanForm,
    int: IntegerForm,
    float: FloatForm,
    str: TextForm,
    Fraction: FractionForm,
    Path: PathForm,
    PurePath: PathForm,
    Span: SpanForm,
    Any: PlainForm,
    object: PlainForm,
}


def form_of(kind: Any) -> Form:
    """The form of a type: a dataclass, an enumeration, or what can stand in an annotation of a field."""
    return _form_of(kind)


@cache
def _form_of(kind: Any) -> Form:
    if kind in _PLAIN:
        return _PLAIN[kind]()
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Annotated:
        return _marked(args[0], args[1:])
    if origin in (typing.Union, types.UnionType):
        return _union(args)
    if origin is Literal:
        return ChoiceForm({value: value for value in args})
    if origin is not None:
        return _container(kind, origin, args)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return ChoiceForm.of(kind)
    if isinstance(kind, type) and hasattr(kind, "WRITTEN_AS"):
        return WrappedForm(kind, form_of(kind.WRITTEN_AS), lambda value: value.unwrapped)
    if isinstance(kind, type) and is_dataclass(kind):
        return _Lazy(kind)
    raise TypeError(f"{kind} cannot be written in a document")


def _marked(kind: Any, marks: Sequence[Any]) -> Form:
    """A type with markers that do not depend on the field it is of."""
    if Marker.EXACT in marks:
        return ExactForm()
    form = form_of(kind)
    if FILLED in marks:
        assert isinstance(form, ListForm)
        return form.filled()
    if KEYED not in marks:
        return form
    pair = typing.get_args(kind)[0]
    key, value = (form_of(part) for part in typing.get_args(pair))
    assert isinstance(key, TextForm | ChoiceForm)
    return PairsForm(MappingForm(key, value))


def _container(kind: Any, origin: Any, args: Sequence[Any]) -> Form:
    if origin is tuple:
        return ListForm(form_of(args[0])) if args[-1] is Ellipsis else TupleForm([form_of(arg) for arg in args])
    if isinstance(origin, type) and issubclass(origin, Mapping):
        key = form_of(args[0])
        if isinstance(key, TextForm | ChoiceForm):
            return MappingForm(key, form_of(args[1]))
    elif isinstance(origin, type) and issubclass(origin, frozenset):
        return ListForm(form_of(args[0]), frozenset)
    elif isinstance(origin, type) and issubclass(origin, Sequence):
        return ListForm(form_of(args[0]), list if origin is list else tuple)
    raise TypeError(f"{kind} cannot be written in a document")


def _union(args: Sequence[Any]) -> Form:
    """A union: dataclasses by their tags, all others by the kind of JSON."""
    classes = [arg for arg in args if isinstance(arg, type) and is_dataclass(arg) and arg is not Span]
    others: list[Form] = [form_of(arg) for arg in args if arg not in classes]
    if len(classes) > 1:
        others.append(_LazyUnion(tuple(classes)))
    else:
        others += [form_of(one) for one in classes]
    return others[0] if len(others) == 1 else UnionForm(others)


def _object_form(kind: type, *, tagged: bool) -> ObjectForm:
    hints = typing.get_type_hints(kind, include_extras=True)
    members = [_member(field, hints[field.name]) for field in fields(kind) if field.init and field.compare]
    derived = []
    for name in getattr(kind, "ALSO_WRITTEN", ()):
        returned = typing.get_type_hints(getattr(kind, name).fget, include_extras=True)["return"]
        derived.append(Derived(name, form_of(_without_none(returned)), _towards(returned)))
    return ObjectForm(kind, members, derived, tagged=tagged)


def _member(field: Any, hint: Any) -> Member:
    marks = typing.get_args(hint)[1:] if typing.get_origin(hint) is typing.Annotated else ()
    bare = typing.get_args(hint)[0] if marks else hint
    if INLINE in marks:
        inner = form_of(_without_none(bare))
        return Member(field, inner.real if isinstance(inner, _Lazy) else inner, inline=True)
    return Member(field, form_of(hint), _towards(hint))


def _towards(hint: Any) -> Towards | None:
    """How an exact number of a field is rounded; None where the field is not a single exact number."""
    if typing.get_origin(hint) is typing.Annotated:
        bare, *marks = typing.get_args(hint)
        if Marker.EXACT in marks:
            return None
        return next((mark for mark in marks if isinstance(mark, Towards)), _towards(bare))
    if hint is Fraction:
        return Towards.NEAREST
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        arms = [arm for arm in typing.get_args(hint) if arm is not type(None)]
        return _towards(arms[0]) if len(arms) == 1 else None
    return None


def _without_none(hint: Any) -> Any:
    """A property that is None is left out."""
    arms = [arm for arm in typing.get_args(hint) if arm is not type(None)]
    is_union = typing.get_origin(hint) in (typing.Union, types.UnionType)
    return typing.Union[tuple(arms)] if is_union and len(arms) < len(typing.get_args(hint)) else hint  # noqa: UP007


class _Lazy(Form):
    """A dataclass whose form is built when it is first needed, for a class may hold values of its own type."""

    kinds = frozenset({"object"})

    def __init__(self, kind: type) -> None:
        self._kind = kind

    @property
    def real(self) -> ObjectForm:
        """The form itself."""
        return _built(self._kind, False)

    def takes(self, value: Any) -> bool:
        return isinstance(value, self._kind)

    def encode(self, value: Any) -> Any:
        return self.real.encode(value)

    def decode(self, plain: Any, place: Place) -> Any:
        return self.real.decode(plain, place)

    def schema(self, schemas: Schemas) -> JsonObject:
        return self.real.schema(schemas)


class _LazyUnion(Form):
    """The same of a union of dataclasses."""

    kinds = frozenset({"object"})

    def __init__(self, classes: tuple[type, ...]) -> None:
        self._classes = classes

    @property
    def _real(self) -> TaggedForm:
        return TaggedForm([_built(kind, True) for kind in self._classes])

    def takes(self, value: Any) -> bool:
        return isinstance(value, self._classes)

    def encode(self, value: Any) -> Any:
        return self._real.encode(value)

    def decode(self, plain: Any, place: Place) -> Any:
        return self._real.decode(plain, place)

    def schema(self, schemas: Schemas) -> JsonObject:
        return self._real.schema(schemas)


@cache
def _built(kind: type, tagged: bool) -> ObjectForm:
    return _object_form(kind, tagged=tagged)
