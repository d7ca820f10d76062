"""Searching: many violating pairs of one property."""

from __future__ import annotations

from collections.abc import Mapping
from os import fspath
from typing import TYPE_CHECKING

from fairdsl.api.paths import AnyPath, by_name

if TYPE_CHECKING:
    from fairdsl.backends.contract import Observer
    from fairdsl.hunting import Found

__all__ = ["search"]


def search(
    spec: AnyPath,
    *,
    property: str | None = None,  # noqa: A002 - the word of the language
    models: Mapping[str, AnyPath] | None = None,
    count: int | None = 1000,
    timeout: float = 60.0,
    seed: int = 0,
    strategy: str = "portfolio",
    output: AnyPath | None = None,
    observer: Observer | None = None,
) -> Found:
    """Find pairs that violate a property about pairs, each counted once and each replayed.

    Finding few or none proves nothing; :func:`check` does.

    Args:
        spec: path of the ``.fair`` file.
        property: name of the property; not needed where the spec has one about pairs.
        models: files that replace those of the spec, by model name.
        count: how many to find; None goes on until nothing new is found.
        timeout: seconds to search at most. A search that ends by its time is not the same twice.
        seed: of every random choice; the same seed gives the same pairs.
        strategy: how to search (see docs/search.md).
        output: a ``.csv`` or ``.parquet`` file to write the pairs to; one that exists is replaced.
        observer: hears of progress.

    Returns:
        The pairs, and how they were found.

    Raises:
        SpecError: the spec or its files have mistakes, no one property about pairs is named, there is no such
            strategy, or the file cannot be written.
    """
    from fairdsl.backends.contract import Silent
    from fairdsl.hunting import search_spec

    if (count is not None and count < 1) or timeout <= 0 or seed < 0:
        raise ValueError("`count` and `timeout` are positive, `seed` is a number from 0")
    return search_spec(
        fspath(spec),
        property=property,
        models=by_name(models),
        count=count,
        timeout=timeout,
        seed=seed,
        strategy=strategy,
        output=None if output is None else fspath(output),
        observer=observer or Silent(),
    )
