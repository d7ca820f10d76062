"""A folder of the user's own for what is kept between runs. Imports nothing of ours."""

from __future__ import annotations

import os
import stat
from pathlib import Path

__all__ = ["cache_folder", "is_private", "private_folder"]


def cache_folder() -> Path:
    """Where everything lies that is kept between runs; it need not exist."""
    chosen = os.environ.get("LOCALAPPDATA") if os.name == "nt" else os.environ.get("XDG_CACHE_HOME")
    return (Path(chosen) if chosen else Path.home() / ".cache") / "fairdsl"


def is_private(file: Path) -> bool:
    """Whether a file lies in a folder below it that is the user's own, and that nobody else may write or read."""
    try:
        folder = file.resolve().parent
        found = folder.lstat()
    except (OSError, RuntimeError):
        return False
    if not hasattr(os, "getuid") or cache_folder().resolve() not in folder.parents:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077


def private_folder(name: str) -> Path | None:
    """A folder below it, made if need be; None where it is not the user's own or others may read or write it."""
    try:
        folder = cache_folder() / name
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.lstat()
    except (OSError, RuntimeError):
        return None
    if not stat.S_ISDIR(found.st_mode):
        return None
    if hasattr(os, "getuid") and (found.st_uid != os.getuid() or found.st_mode & 0o077):
        return None
    return folder
