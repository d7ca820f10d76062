"""How findings of every phase name files and lists: short enough for a title."""

from __future__ import annotations

from collections.abc import Sequence

#: Characters that a path may have in a title before its folders are dropped.
_ROOM = 40


def short_path(path: str) -> str:
    """The path, or only the end of the file's name where the path would make a title too long."""
    return path if len(path) <= _ROOM else path.replace("\\", "/").rsplit("/", 1)[-1][-_ROOM:]


def listed(names: Sequence[str], most: int) -> str:
    """`a`, `b` and, of more names than ``most``, how many are left out."""
    shown = ", ".join(f"`{name}`" for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
