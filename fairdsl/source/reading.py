"""The one door through which files are read. Imports nothing of ours.

Only regular files are opened, each once, and what was opened is what is looked at: no device, no pipe that nobody
writes to, nothing without end. What the user names, on the command line or in Python, is the user's own word. A path
that stands in a *file* is the word of whoever wrote the file: it is a :class:`NamedPath`, and has to lead, by its real
path, to a file within a root. That is what :func:`reading` says, or else the repository of the file that the user
named, or else its folder. All that is wrong is an OSError whose ``strerror`` says in words why.

What a Python caller gives in place of a file (a text, rows, a model) is a file in memory: within :func:`holding` it is
read under its path like any other.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from types import MappingProxyType
from typing import BinaryIO

#: Bytes that a file may have where nothing else is said.
LARGEST = 1 << 30
_PART = 1 << 20


class NamedPath(str):
    """A path that stands in a file, and the folder that it may not leave."""

    root: str

    def __new__(cls, path: str, root: str) -> NamedPath:
        """The path, and the real path of the folder."""
        made = super().__new__(cls, path)
        made.root = root
        return made

    def __reduce__(self) -> tuple[type[NamedPath], tuple[str, str]]:
        return NamedPath, (str(self), self.root)


@dataclass(frozen=True, slots=True)
class _Rules:
    root: str | None = None
    largest: int = LARGEST


@dataclass(frozen=True, slots=True)
class Noted:
    """A file that was opened: its path as it was given, and what tells whether it is still the same."""

    path: str
    stamp: tuple[int, ...]
    #: When, in nanoseconds.
    at: int


_DEFAULT = _Rules()
_RULES: ContextVar[_Rules] = ContextVar("rules of reading", default=_DEFAULT)
_NOTHING: Mapping[str, bytes] = MappingProxyType({})
_HELD: ContextVar[Mapping[str, bytes]] = ContextVar("files in memory", default=_NOTHING)


@contextmanager
def reading(*, root: str | os.PathLike[str] | None = None, largest: int | None = None) -> Iterator[None]:
    """Within it files that a file names must lie in the folder ``root``, and no file has more than ``largest`` bytes.

    What is None stays as it is.
    """
    before = _RULES.get()
    chosen = before.root if root is None else os.path.realpath(root)
    token = _RULES.set(_Rules(chosen, before.largest if largest is None else largest))
    try:
        yield
    finally:
        _RULES.reset(token)


#: Who notes what is opened, in all threads of the process.
_NOTING: list[list[Noted]] = []


@contextmanager
def noting() -> Iterator[list[Noted]]:
    """Within it every file that is opened here is noted."""
    notes: list[Noted] = []
    _NOTING.append(notes)
    try:
        yield notes
    finally:
        _NOTING.remove(notes)


def stamp_of(found: os.stat_result) -> tuple[int, ...]:
    """What changes where the content of a file does, or another file takes its place."""
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


@contextmanager
def holding(files: Mapping[str, bytes]) -> Iterator[None]:
    """Within it each path of ``files`` is that content, whatever lies there, beside what was held before."""
    token = _HELD.set({**_HELD.get(), **files})
    try:
        yield
    finally:
        _HELD.reset(token)


def largest() -> int:
    """Bytes that a file may have here, and what is packed in it once it is unpacked."""
    return _RULES.get().largest


def named_in(file: str, written: str) -> NamedPath:
    """The path ``written`` in ``file``, which counts from its folder and may not leave the root of ``file``."""
    path = os.path.normpath(os.path.join(os.path.dirname(file), written))
    return NamedPath(path, file.root if isinstance(file, NamedPath) else root_of(file))


def root_of(file: str) -> str:
    """The folder that paths in a file which the user named may not leave, by its real path."""
    chosen = _RULES.get().root
    if chosen is not None:
        return chosen
    folder = Path(os.path.realpath(file)).parent
    repository = next((each for each in (folder, *folder.parents) if (each / ".git").exists()), folder)
    return str(repository)


def content_of(path: str | Path) -> bytes:
    """The content of a file."""
    held = _HELD.get().get(str(path))
    if held is not None:
        return held
    most = largest()
    with _opened(path) as file:
        parts = [file.read(os.fstat(file.fileno()).st_size + 1)]
        while parts[-1] and sum(map(len, parts)) <= most:  # of files as in /proc nobody knows the size before
            parts.append(file.read(_PART))
    content = b"".join(parts) if any(parts[1:]) else parts[0]
    if len(content) > most:
        raise _too_large(path, "more")
    return content


def opened(path: str | Path) -> AbstractContextManager[BinaryIO]:
    """The file, opened for reading, whose size is within the limit."""
    held = _HELD.get().get(str(path))
    return _opened(path) if held is None else BytesIO(held)


@contextmanager
def _opened(path: str | Path) -> Iterator[BinaryIO]:
    """A block of the file: the alarm cuts none between opening and what closes it (:mod:`fairdsl.clock.deadline`)."""
    descriptor = os.open(_regular(path), os.O_RDONLY | _flag("O_NONBLOCK") | _flag("O_NOFOLLOW") | _flag("O_BINARY"))
    try:
        found = os.fstat(descriptor)
        _check_kind(path, found.st_mode)
        if isinstance(path, NamedPath):
            _check_root(path, _real_path(descriptor, path))
        if found.st_size > largest():
            raise _too_large(path, f"{found.st_size:,}")
        for notes in _NOTING:
            notes.append(Noted(str(path), stamp_of(found), time.time_ns()))
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            yield file
    finally:
        os.close(descriptor)


def _regular(path: str | Path) -> str:
    """The real path, once it is known to be a regular file's: opening others may wait, or do something."""
    real = os.path.realpath(path)
    try:
        if isinstance(path, NamedPath):
            _check_root(path, real)
        _check_kind(path, os.stat(real).st_mode)
    except OSError as problem:
        problem.filename = str(path)
        raise
    return real


def _real_path(descriptor: int, path: str) -> str:
    """The real path of what was opened: on Linux of this very file, whoever moves folders meanwhile."""
    own = f"/proc/self/fd/{descriptor}"
    return os.path.realpath(own if os.path.exists(own) else path)


def _check_kind(path: str | Path, mode: int) -> None:
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "it is a folder", str(path))
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "it is not a regular file", str(path))


def _check_root(path: NamedPath, real: str) -> None:
    if not Path(real).is_relative_to(path.root):
        other = "`fairdsl --root DIR COMMAND` names another"
        reason = f"it lies outside of `{path.root}`, which paths in files must not leave; {other}"
        raise PermissionError(errno.EPERM, reason, str(path))


def _too_large(path: str | Path, size: str) -> OSError:
    reason = f"it has {size} bytes, and at most {largest():,} are read; `--largest-file BYTES` allows more"
    return OSError(errno.EFBIG, reason, str(path))


def _flag(name: str) -> int:
    return getattr(os, name, 0)
