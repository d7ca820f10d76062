"""What was derived from a layer or a model, kept for as long as that lives."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TypeVar

from fairdsl.ir.model import Layer, Model

__all__ = ["derived"]

Source = TypeVar("Source", Layer, Model)
Derived = TypeVar("Derived")


def derived(source: Source, make: Callable[[Source], Derived], kept: dict[int, Derived]) -> Derived:
    """``make(source)``, computed once; it must not refer to the source itself.

    Sources are told apart by identity: hashing millions of weights takes longer than most derivations.
    """
    key = id(source)
    if key not in kept:
        kept[key] = make(source)
        weakref.finalize(source, kept.pop, key, None)
    return kept[key]
