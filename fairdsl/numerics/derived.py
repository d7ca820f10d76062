"""What was derived from a layer, kept for as long as the layer lives."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TypeVar

from fairdsl.ir.model import Layer

__all__ = ["derived"]

Derived = TypeVar("Derived")


def derived(layer: Layer, make: Callable[[Layer], Derived], kept: dict[int, Derived]) -> Derived:
    """``make(layer)``, computed once; it must not refer to the layer itself.

    Layers are told apart by identity: hashing millions of weights takes longer than most derivations.
    """
    key = id(layer)
    if key not in kept:
        kept[key] = make(layer)
        weakref.finalize(layer, kept.pop, key, None)
    return kept[key]
