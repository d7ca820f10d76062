"""How the caller says a thing: by an option of a command, or by an argument in Python."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_COMMAND: ContextVar[bool] = ContextVar("on a command line", default=False)


@contextmanager
def on_a_command_line() -> Iterator[None]:
    """Within it findings speak of options."""
    token = _COMMAND.set(True)
    try:
        yield
    finally:
        _COMMAND.reset(token)


def said(option: str, argument: str) -> str:
    """The words for whoever called: ``option`` on a command line, else ``argument``."""
    return option if _COMMAND.get() else argument
