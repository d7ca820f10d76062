"""Folders of the user's own for what is kept between runs. Imports nothing of ours.

What lies there is believed, and of compiled kernels it is run. So a folder counts as private only if nobody else can
put anything into it: it is the user's and closed to all others, and others cannot change any folder on the way to it.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path


def cache_folder() -> Path:
    """Where everything lies that is kept between runs; it need not exist."""
    chosen = os.environ.get("LOCALAPPDATA") if os.name == "nt" else os.environ.get("XDG_CACHE_HOME")
    return (Path(chosen) if chosen else Path.home() / ".cache") / "fairdsl"


def is_private(file: Path) -> bool:
    """Whether a file lies in a folder below :func:`cache_folder` to which nobody else can write."""
    try:
        folder = file.resolve().parent
        below = cache_folder().resolve() in folder.parents
    except (OSError, RuntimeError):
        return False
    return below and hasattr(os, "getuid") and why_not_private(folder) is None


def private_folder(name: str, base: Path | None = None) -> Path | None:
    """The folder of that name below ``base`` (:func:`cache_folder`), made if need be, by its real path.

    None where it cannot be made or somebody else could write to it: :func:`why_not_private` says why.
    """
    try:
        folder = (base or cache_folder()) / name
        _make(folder)
        folder = folder.resolve(strict=True)
        return folder if why_not_private(folder) is None else None
    except (OSError, RuntimeError):
        return None


def why_not_private(folder: Path) -> str | None:
    """What is wrong with a folder that should be private, in words; None where nothing is."""
    try:
        folder = folder.resolve(strict=True)
        found = folder.stat()
        if not hasattr(os, "getuid"):
            return None
        if found.st_uid != os.getuid():
            return f"`{folder}` is another user's"
        if found.st_mode & 0o077:
            return f"`{folder}` is open to others (mode {stat.S_IMODE(found.st_mode):04o}, and 0700 is needed)"
        return next((why for why in map(_changed_by_others, folder.parents) if why is not None), None)
    except (OSError, RuntimeError) as problem:
        return f"`{folder}`: {getattr(problem, 'strerror', None) or problem}"


def _changed_by_others(folder: Path) -> str | None:
    """Whether somebody else could put another folder in the place of one that lies in it."""
    found = folder.stat()
    if found.st_uid not in (0, os.getuid()):
        return f"`{folder}`, which it lies in, is another user's"
    # In a folder as /tmp everybody may make files, but nobody may move those of others.
    if found.st_mode & 0o022 and not found.st_mode & stat.S_ISVTX:
        return f"`{folder}`, which it lies in, can be changed by others (mode {stat.S_IMODE(found.st_mode):04o})"
    return None


def _make(folder: Path) -> None:
    """Make it and what is missing on the way, for the user alone."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    for path in reversed(missing):
        path.mkdir(mode=0o700, exist_ok=True)


def make_room(folder: Path, most: int) -> None:
    """Drop the older half of what is kept in a folder, once that is ``most`` files or more."""
    entries = list(folder.iterdir())
    if len(entries) >= most:
        for entry in sorted(entries, key=lambda path: path.stat().st_mtime)[: len(entries) // 2]:
            entry.unlink(missing_ok=True)
