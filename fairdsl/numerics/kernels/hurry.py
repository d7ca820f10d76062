"""What numba does again and again while it compiles many functions, done once; and what nobody asks for, not at all."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from numba.core import base, errors, event
from numba.core.types.functions import BaseFunction
from numba.np import arrayobj

#: Whom locks tell that they are taken: each function that waits for others to be compiled measures how long they are.
_LOCKS = ("numba:compiler_lock", "numba:llvm_lock")
#: An operator of numba's own, or a method of its contexts.
_Step = Callable[..., Any]


@contextmanager
def compiling_much() -> Iterator[None]:
    """Within it numba remembers what does not change, and nothing collects garbage, of which there is none.

    What is compiled is the same.
    """
    places: list[tuple[Any, str, Callable[[_Step], _Step]]] = [
        (BaseFunction, "get_call_type", _typed_once),
        (base.BaseContext, "refresh", _after_imports),
        (base.BaseContext, "get_function", _plain_arrays),
        (base.BaseContext, "get_abi_sizeof", _by_text),
        (base, "_has_loc", cache),
        (arrayobj, "make_array", cache),
        (event, "start_event", _but_locks),
        (event, "end_event", _but_locks),
        (errors, "termcolor", lambda _: _Plain),
    ]
    usual = [getattr(owner, name) for owner, name, _ in places]
    collecting = gc.isenabled()
    gc.disable()
    for (owner, name, quicker), step in zip(places, usual, strict=True):
        setattr(owner, name, quicker(step))
    try:
        yield
    finally:
        for (owner, name, _), step in zip(places, usual, strict=True):
            setattr(owner, name, step)
        if collecting:
            gc.enable()


def _typed_once(look_up: _Step) -> _Step:
    """It tries all versions of `+` for each sum anew."""
    known: dict[object, Any] = {}

    def remembered(self: Any, context: Any, arguments: Any, named: Any) -> Any:
        key = self, tuple(arguments), tuple(sorted(named.items()))
        if key not in known:
            known[key] = look_up(self, context, arguments, named)
        return known[key]

    return remembered


def _after_imports(refresh: _Step) -> _Step:
    """It looks for new versions of functions whenever it finds none; there are some where a module was imported."""
    modules: dict[Any, int] = {}

    def where_there_may_be_new(self: Any) -> None:
        if modules.get(self) != len(sys.modules):
            refresh(self)
            modules[self] = len(sys.modules)

    return where_there_may_be_new


def _plain_arrays(look_up: _Step) -> _Step:
    """It asks for each array whether it is one of another kind."""

    def unless_that(self: Any, function: Any, *arguments: Any, **named: Any) -> Any:
        if function == "__array__":
            raise NotImplementedError  # as numba says of what it has no version of
        return look_up(self, function, *arguments, **named)

    return unless_that


def _by_text(size: _Step) -> _Step:
    """It makes and reads a module for the size of each variable."""
    known: dict[str, int] = {}

    def remembered(self: Any, kind: Any) -> int:
        key = str(kind)
        if key not in known:
            known[key] = size(self, kind)
        return known[key]

    return remembered


def _but_locks(tell: _Step) -> _Step:
    def unless_lock(kind: str, *arguments: Any, **named: Any) -> None:
        if kind not in _LOCKS:
            tell(kind, *arguments, **named)

    return unless_lock


class _Plain:
    """The look of messages, most of which nobody reads: they say why a version of `+` is not the right one."""

    @staticmethod
    def errmsg(message: str) -> str:
        """As it is; so are all others."""
        return message

    code = filename = indicate = highlight = reset = errmsg
