"""A whole spec, and its text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from fairdsl.builder.words import Number, name, number, quoted
from fairdsl.dataframes.errors import not_usable
from fairdsl.diagnostics import DiagnosticError


class Part(Protocol):
    """Something that a spec says."""

    def lines(self) -> Iterator[str]:
        """As the language writes it."""


@dataclass(frozen=True)
class Written:
    """Anything else, as the language writes it: ``Written("condition senior = age >= 60")``."""

    text: str

    def lines(self) -> Iterator[str]:
        """As the language writes it."""
        yield from str(self.text).splitlines()


@dataclass(frozen=True)
class Spec:
    """A spec of its parts, in order. ``print(spec)`` shows the text, and ``fairdsl.check(spec)`` checks it."""

    parts: Iterable[Part]
    #: What is audited, for readers.
    title: str | None = None
    #: Numbers by name, which conditions and demands may use: ``{"limit": "80%"}``.
    let: Mapping[str, Number] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The text in the canonical layout; SpecError where a part cannot be written, or is not read as one."""
        from fairdsl.source import SourceFile
        from fairdsl.syntax.format import format_spec
        from fairdsl.syntax.parse import parse

        found = parse(SourceFile("built.fair", "\n".join(self._lines()) + "\n"))
        if found.spec is None or not found.complete:
            raise DiagnosticError(*found.diagnostics)
        return format_spec(found.spec)

    def __str__(self) -> str:
        return self.text

    def _lines(self) -> Iterator[str]:
        yield "fair 1"
        if self.title is not None:
            yield f"audit {quoted(self.title, 'the title')}"
        for called, given in self.let.items():
            yield f"let {name(called, 'a number')} = {number(given, f'`{called}`')}"
        for part in self.parts:
            if not callable(getattr(part, "lines", None)):
                help_text = "give a Domain, Protected, Label, Model, Rows, Pairs, Groups, ... or a Written text"
                raise DiagnosticError(not_usable("a part of the spec", f"{part!r} is none", help_text))
            yield from part.lines()
