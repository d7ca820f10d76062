"""Declaring options: a field of a section says all that there is to say of one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, ClassVar, Self, TypeVar, cast

from fairdsl.diagnostics import Diagnostic, DiagnosticError
from fairdsl.options import errors
from fairdsl.options.kinds import Kind

_Value = TypeVar("_Value")
_KEY = "fairdsl.option"


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """An option as it was declared, for whoever offers, reads or lists it."""

    #: Name of its section, ``run`` for what concerns all engines.
    section: str
    #: Name of the field.
    name: str
    #: What values it takes.
    kind: Kind[Any]
    #: The value where none is set; None where that depends, and ``unset`` says on what.
    default: Any
    #: What it does, in one sentence or two.
    help: str
    #: What happens where nothing is set, in words, where the default does not say it; empty where ``help`` does.
    unset: str | None
    #: Its own flag on the command line; None where it is set by ``--set``.
    flag: str | None

    @property
    def path(self) -> str:
        """``section.name``, or the name alone of what concerns all engines."""
        return self.name if self.section == "run" else f"{self.section}.{self.name}"

    @property
    def without(self) -> str:
        """The default, in words."""
        return self.kind.show(self.default) if self.unset is None else self.unset

    def described(self, default: object = None) -> str:
        """What it does, and what holds where it is not set; a command may have another ``default``."""
        without = self.without if default is None else self.kind.show(default)
        return f"{self.help}  [default: {without}]" if without else self.help

    def read(self, value: object) -> Any:
        """The value that a text or Python object stands for. Raises DiagnosticError for one that is not of the kind."""
        if value is None and self.default is None:
            return None
        try:
            return self.kind.read(value)
        except (ValueError, KeyError, ArithmeticError):
            raise DiagnosticError(errors.wrong_value(self.path, self.kind, value)) from None


def option(
    default: _Value,
    help: str,  # noqa: A002 - the word of command lines
    kind: Kind[_Value],
    *,
    unset: str | None = None,
    flag: str | None = None,
) -> _Value:
    """Declare a field of a section; the arguments are those of :class:`Declared`."""
    return field(default=default, metadata={_KEY: (help, kind, unset, flag)})


class Section:
    """The base of all sections: dataclasses, frozen and with keywords only, whose fields are :func:`option`.

    Values are read when a section is made, so that texts and Python's own values are checked by one rule.
    """

    #: The name in front of the dot.
    section: ClassVar[str]

    def __post_init__(self) -> None:
        """Read every value. Raises DiagnosticError with whatever is wrong."""
        found = list[Diagnostic]()
        for each in declared(type(self)):
            value = getattr(self, each.name)
            # What is the default needs no reading.
            if value is each.default or (type(value) is type(each.default) and value == each.default):
                continue
            try:
                object.__setattr__(self, each.name, each.read(value))
            except DiagnosticError as error:
                found.extend(error.diagnostics)
        found = found or list(self.inconsistent())
        if found:
            raise DiagnosticError(*found)

    @property
    def given(self) -> tuple[str, ...]:
        """The paths of the options that are set: by name, or to something else than their default."""
        named: frozenset[str] = getattr(self, "_named", frozenset())
        own = declared(type(self))
        return tuple(each.path for each in own if each.name in named or getattr(self, each.name) != each.default)

    @classmethod
    def naming(cls, values: Mapping[str, Any]) -> Self:
        """The section with these values, which counts each of them as set, also to its default."""
        section = cls(**values)
        object.__setattr__(section, "_named", frozenset(values))
        return section

    def inconsistent(self) -> tuple[Diagnostic, ...]:
        """What is wrong with values that are right each by itself."""
        return ()

    def ready(self) -> None:
        """Look for what the values name on this machine. Raises DiagnosticError where it is not here."""


_DECLARED: dict[type[Any], tuple[Declared, ...]] = {}


def declared(section: type[Section]) -> tuple[Declared, ...]:
    """The options of a section, in the order of its fields; read off it once."""
    if section in _DECLARED:
        return _DECLARED[section]
    found = []
    for each in fields(cast(Any, section)):
        help_, kind, unset, flag = each.metadata[_KEY]
        assert each.default is not MISSING, "every option has a default"
        found.append(
            Declared(
                section=section.section,
                name=each.name,
                kind=kind,
                default=each.default,
                help=help_,
                unset=unset,
                flag=flag,
            )
        )
    return _DECLARED.setdefault(section, tuple(found))
