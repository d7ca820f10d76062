"""Paths and functions as callers give them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from os import PathLike, fspath
from typing import Any

__all__ = ["AnyPath", "by_name", "functions"]

#: What a path may be.
AnyPath = str | PathLike[str]


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
            raise TypeError(f"callables[{name!r}] is no function")
        if name in (models or {}):
            raise ValueError(f"both `models` and `callables` name {name!r}")
    return given
