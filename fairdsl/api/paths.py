"""Paths and functions as callers give them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from os import PathLike, fspath
from typing import Any

from fairdsl.source.numbers import decimal_text

#: What a path may be.
AnyPath = str | PathLike[str]

#: Names; one may stand alone.
Names = str | Sequence[str]

#: A number, and numbers by the name of a parameter; a text is written as in a spec, `75%`, and a float means what it is
#: written as.
Number = str | float | Fraction
Numbers = Mapping[str, Number]


def path_of(given: object, what: str) -> str:
    """A path as a string; SpecError (E0682) for anything else, which is ``what``."""
    if isinstance(given, str | PathLike):
        return fspath(given)
    from fairdsl.dataframes.errors import not_usable
    from fairdsl.diagnostics import DiagnosticError

    raise DiagnosticError(
        not_usable(what, f"it is of the type `{type(given).__name__}`", "write a file, and give its path")
    )


def names_of(given: Names | None) -> tuple[str, ...]:
    """Names as a caller gives them: several, one alone, or none."""
    return (given,) if isinstance(given, str) else () if given is None else tuple(given)


def numbers(given: Numbers | None) -> dict[str, str]:
    """Numbers of parameters as a spec writes them; ValueError for a fraction that has no decimal."""
    return {name: each if isinstance(each, str) else decimal_text(each) for name, each in (given or {}).items()}


def by_name(files: Mapping[str, AnyPath] | None) -> dict[str, str]:
    """Files by the name of a model or of a distribution, as strings."""
    return {name: fspath(path) for name, path in (files or {}).items()}


def functions(
    callables: Mapping[str, Callable[[Any], Any]] | None, models: Mapping[str, AnyPath] | None
) -> dict[str, Callable[[Any], Any]]:
    """Functions by the name of a model.

    TypeError for what cannot be called, ValueError for a model that is given a file as well.
    """
    given = dict(callables or {})
    for name, function in given.items():
        if not callable(function):
            raise TypeError(f"callables[{name!r}] is not a function")
        if name in (models or {}):
            raise ValueError(f"both `models` and `callables` name {name!r}")
    return given
