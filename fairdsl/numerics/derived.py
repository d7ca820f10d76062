"""What was derived from a layer, a model or a problem, kept for as long as that lives."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TypeAlias, TypeVar

from fairdsl.ir.model import Layer, Model
from fairdsl.ir.problem import Problem

Source = TypeVar("Source", Layer, Model, Problem)
Derived = TypeVar("Derived")

#: What was derived from which source, by the source's identity.
Kept: TypeAlias = dict[int, tuple["weakref.ref[Source]", Derived]]


def derived(source: Source, make: Callable[[Source], Derived], kept: Kept[Source, Derived]) -> Derived:
    """``make(source)``, computed once; it must not refer to the source itself.

    Sources are told apart by identity: hashing millions of weights takes longer than most derivations. An identity is
    given away anew once nobody has its object any more, so what is kept knows whose it is: an alarm may have cut what
    forgets it.
    """
    key = id(source)
    known = kept.get(key)
    if known is None or known[0]() is not source:
        known = kept[key] = weakref.ref(source, lambda _: kept.pop(key, None)), make(source)
    return known[1]
