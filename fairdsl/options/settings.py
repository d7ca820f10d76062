"""The options of one run: what was set, read and checked, and the defaults of everything else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from fairdsl.diagnostics import Diagnostic, DiagnosticError
from fairdsl.options import errors
from fairdsl.options.declare import Section, declared
from fairdsl.options.run import Run

_Section = TypeVar("_Section", bound=Section)

#: What is set, by section: values by name, or a whole section.
Given = Mapping[str, Mapping[str, Any] | Section]


@dataclass(frozen=True, slots=True)
class Options:
    """Everything that can be set for a run; an engine reads its section by ``options[ItsSection]``."""

    #: What concerns all engines.
    run: Run = field(default_factory=Run)
    #: The sections in which something is set; of all others the defaults hold.
    sections: tuple[Section, ...] = ()

    def __getitem__(self, kind: type[_Section]) -> _Section:
        """The section of this kind, as it was set."""
        return next((section for section in self.sections if isinstance(section, kind)), None) or kind()


def options_of(run: Run, given: Given | None, known: Mapping[str, type[Section]]) -> Options:
    """What is set, with the sections that there are. Raises DiagnosticError with every mistake in it."""
    sections, wrong = list[Section](), list[Diagnostic]()
    for name, values in (given or {}).items():
        try:
            sections.append(_section(name, values, known))
        except DiagnosticError as error:
            wrong.extend(error.diagnostics)
    if wrong:
        raise DiagnosticError(*wrong)
    return Options(run, tuple(sections))


def _section(name: str, values: Mapping[str, Any] | Section, known: Mapping[str, type[Section]]) -> Section:
    """One section, of the names that it has."""
    kind = _kind(name, values, known)
    if isinstance(values, Section):
        if not isinstance(values, kind):
            raise DiagnosticError(errors.other_section(name, kind.__name__, values))
        return values
    return kind.naming(values)


def own_settings(texts: Iterable[str], section: type[Section]) -> dict[str, str]:
    """What is set of the one section that a command has, by name. Raises DiagnosticError for names of others."""
    given = split_settings(texts)
    for name, values in given.items():
        _kind(name, values, {section.section: section})
    return given.get(section.section, {})


def _kind(name: str, values: Mapping[str, Any] | Section, known: Mapping[str, type[Section]]) -> type[Section]:
    """The section of this name, which has all that is set in it."""
    kind = known.get(name)
    all_sections: tuple[type[Section], ...] = (Run, *known.values())
    every = [each for section in all_sections for each in declared(section)]
    if kind is None:
        first = None if isinstance(values, Section) else next(iter(values), None)
        raise DiagnosticError(errors.no_such_section(name, first, every))
    names = [each.name for each in declared(kind)]
    given = () if isinstance(values, Section) else values
    unknown = [errors.no_such_option(name, each, every) for each in given if each not in names]
    if unknown:
        raise DiagnosticError(*unknown)
    return kind


def split_settings(texts: Iterable[str]) -> dict[str, dict[str, str]]:
    """``section.name=value`` each, by section and name. Raises DiagnosticError for what is written otherwise."""
    found: dict[str, dict[str, str]] = {}
    wrong = list[Diagnostic]()
    for text in texts:
        path, equals, value = text.partition("=")
        section, dot, name = path.strip().partition(".")
        if not dot:  # whoever knows all sections says which one is meant
            section, name = "", section
        if not (equals and name):
            wrong.append(errors.not_a_setting(text))
        elif name in found.setdefault(section, {}):
            wrong.append(errors.set_twice(path.strip()))
        else:
            found[section][name] = value
    if wrong:
        raise DiagnosticError(*wrong)
    return found
