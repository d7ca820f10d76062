"""Paths as callers give them."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike, fspath

__all__ = ["AnyPath", "by_name"]

#: What a path may be.
AnyPath = str | PathLike[str]


def by_name(files: Mapping[str, AnyPath] | None) -> dict[str, str]:
    """Files by the name of a model or of a distribution, as strings."""
    return {name: fspath(path) for name, path in (files or {}).items()}
