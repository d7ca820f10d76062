"""The parser's tables: built from the grammar once, then kept in the user's own cache folder.

Building them takes about 150 ms, half of what `fairdsl fmt` may take in all; reading them back takes 20.
The cache is only ever a copy: a missing, foreign or damaged file means that the tables are built anew.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import lark
from lark import Lark

from fairdsl.private_folder import cache_folder
from fairdsl.resources import grammar_file
from fairdsl.syntax.lexer import SoftKeywordLexer

__all__ = ["grammar"]

_OPTIONS: dict[str, Any] = {
    "parser": "lalr",
    "propagate_positions": True,
    "maybe_placeholders": False,
    "start": ["start", "lone_condition"],
}


@cache
def grammar() -> Lark:
    """The parser of `.fair` files (`start`) and of conditions by themselves (`lone_condition`)."""
    text = grammar_file("fair.lark").read_text(encoding="utf-8")
    file = _cache_file(text)
    if file is not None:
        # Whatever is wrong with a cached copy, the grammar itself is still at hand.
        with contextlib.suppress(Exception), file.open("rb") as stream:
            return Lark.load(stream)
    built = Lark(text, lexer=SoftKeywordLexer, **_OPTIONS)
    if file is not None:
        with contextlib.suppress(OSError):
            _store(built, file)
    return built


def _cache_file(text: str) -> Path | None:
    """Where the tables of this grammar lie; None where the folder is not safely the user's own."""
    try:
        folder = cache_folder()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if hasattr(os, "getuid") and folder.stat().st_uid != os.getuid():
            return None
    except (OSError, RuntimeError):
        return None
    key = "\n".join((text, str(_OPTIONS), lark.__version__, sys.version))
    return folder / f"grammar-{hashlib.sha256(key.encode()).hexdigest()[:24]}.tables"


def _store(built: Lark, file: Path) -> None:
    """Write the copy in one step, so that no other process ever reads half of it."""
    handle, name = tempfile.mkstemp(dir=file.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            built.save(stream)
        os.replace(name, file)
    except BaseException:
        os.unlink(name)
        raise
