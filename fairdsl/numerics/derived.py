"""What was derived from a layer, a model or a problem, kept for as long as that lives."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TypeVar

from fairdsl.ir.model import Layer, Model
from fairdsl.ir.problem import Problem

__all__ = ["derived"]

Source = TypeVar("Source", Layer, Model, Problem)
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
