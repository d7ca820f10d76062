"""Dataclasses whose methods are made when they are first called.

Python compiles up to eight methods of each dataclass from their texts when the class is made. A short command makes
hundreds of classes and uses a few of them, so these texts were more than a fourth of its time. The methods are
Python's own; only when they are compiled is another moment, and only for classes of this package, in its own process.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from functools import wraps
from inspect import signature
from typing import Any

__all__ = ["make_methods_when_called"]

#: What Python makes a method by; later versions than 3.12 compile all methods of a class at once, and have none.
_MAKER = "_create_fn"
_PARAMETERS = ("name", "args", "body", "globals", "locals", "return_type")
_PACKAGE = __name__.partition(".")[0]


def make_methods_when_called() -> None:
    """From now on, where Python makes methods in the way that is known."""
    make = vars(dataclasses).get(_MAKER)
    if make is not None and tuple(signature(make).parameters) == _PARAMETERS:
        vars(dataclasses)[_MAKER] = _later(make)


def _later(make: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(make)
    def made_later(name: str, *what: Any, globals: Mapping[str, Any] | None = None, **more: Any) -> Any:  # noqa: A002
        module = "" if globals is None else str(globals.get("__name__"))
        if module.partition(".")[0] != _PACKAGE:
            return make(name, *what, globals=globals, **more)
        method: Any = None

        def first(self: Any, *given: Any, **named: Any) -> Any:
            nonlocal method
            if method is None:
                method = make(name, *what, globals=globals, **more)
                method.__qualname__ = first.__qualname__
            for kind in type(self).__mro__:
                if vars(kind).get(name) is first:
                    setattr(kind, name, method)
            return method(self, *given, **named)

        first.__name__ = name
        return first

    return made_later
