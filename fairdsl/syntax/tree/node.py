"""What all nodes are: data with a place in the text, and the words that everything is made of."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import FrozenInstanceError, dataclass, field, fields
from enum import Enum
from fractions import Fraction
from typing import ClassVar, TypeVar, dataclass_transform

from fairdsl.source import Span

T = TypeVar("T")
#: The words of a form before anything else: `within <by>`, `[?begins first][!begins then] <outcome>`.
_LEADING = re.compile(r"(?:\[[?!]\w+ \w+\])+|\w+")


class About(Enum):
    """Which properties a clause may stand in."""

    PAIRS = "pairs"
    INDIVIDUALS = "one individual, or pairs"
    GROUPS = "groups"
    BOTH = "both"


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """How a node is written, and where it may stand.

    ``text`` has ``<field>`` for what a field holds (several with commas, or with what stands behind the name in
    ``<names ->>``), ``[...]`` for what is written where all the fields in it hold something, and ``[?flag ...]`` and
    ``[!flag ...]`` for what is written where a field is true, and where it is not. ``body`` is the field whose nodes
    stand between braces behind it. ``example`` has a line for each word that the node may begin with. A clause with
    ``once`` stands once in a property.
    """

    text: str = ""
    body: str = ""
    example: str = ""
    once: bool = False
    about: About = About.BOTH

    @property
    def first_words(self) -> tuple[str, ...]:
        """The words that the node begins with; none where it begins with a name."""
        leading = _LEADING.match(self.text)
        return tuple(re.findall(r"\w+(?=\]|$)", leading.group())) if leading else ()


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field,))
def node(
    text: str = "", *, body: str = "", example: str = "", once: bool = False, about: About = About.BOTH
) -> Callable[[type[T]], type[T]]:
    """A dataclass that takes equality, representation and immutability from :class:`Node`, with its form.

    The parser's rule for it is called as the class, and its annotations say what is taken of what was read
    (``fairdsl/syntax/build.py``). Generating equality anew for each of the seventy classes would be a third of the
    time of ``fairdsl fmt``.
    """

    def made(cls: type[T]) -> type[T]:
        cls.FORM = Form(text=text, body=body, example=example, once=once, about=about)  # type: ignore[attr-defined]
        return dataclass(slots=True, kw_only=True, eq=False, repr=False)(cls)

    return made


@node()
class Node:
    """What all nodes share: the place in the text, and equality by class and content."""

    FORM: ClassVar[Form]
    span: Span = field(compare=False, repr=False)

    def _content(self) -> tuple[object, ...]:
        return tuple(getattr(self, entry.name) for entry in fields(self) if entry.compare)

    def __eq__(self, other: object) -> bool:
        return self._content() == other._content() if isinstance(other, Node) and type(other) is type(self) else False

    def __setattr__(self, name: str, value: object) -> None:
        """Each field is written once, by the constructor."""
        if hasattr(self, name):
            raise FrozenInstanceError(f"cannot assign to `{name}`")
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        raise FrozenInstanceError(f"cannot delete `{name}`")

    def __hash__(self) -> int:
        return hash((type(self), self._content()))

    def __repr__(self) -> str:
        shown = (f"{entry.name}={getattr(self, entry.name)!r}" for entry in fields(self) if entry.repr)
        return f"{type(self).__name__}({', '.join(shown)})"


@node()
class Name(Node):
    """An identifier, or a quoted name (only values of a category may be quoted)."""

    text: str
    quoted: bool = False


@node()
class Number(Node):
    """An exact number; ``0.8`` and ``80%`` are both 4/5. ``text`` keeps sign, digits and percent sign."""

    value: Fraction
    text: str
    percent: bool = False


@node()
class NamedNumber(Number):
    """``limit`` or ``-limit``, where a number may stand; the front end puts the parameter's number in its place.

    Until then ``value`` is 0 and says nothing; ``text`` is as written.
    """

    name: Name


@node()
class Text(Node):
    """A string literal, without its quotes."""

    value: str
