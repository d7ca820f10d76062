"""The one door through which files are written. Imports nothing of ours.

A file is written beside its place, under a name that nobody knows before, and put there in one step when it is on the
disk: whoever reads it, and whenever the machine stops, it is the old one or the new one. A link is replaced and never
followed. What is appended to (a ledger, line by line) is a regular file of its own, too. What the system has against it
is an OSError.
"""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import FileIO
from math import inf
from pathlib import Path
from tempfile import mkdtemp
from time import monotonic
from typing import BinaryIO

#: Flushes are so many times as far apart as one of them takes.
_BETWEEN = 20
#: What says that the disk failed, and not that the user named a place that cannot be.
_DISK = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG})


def write_file(path: str | Path, content: bytes | str, *, replace: bool = True, flushed: bool = True) -> None:
    """The whole file; FileExistsError where there is one and it must not be replaced. Texts are UTF-8.

    What is not ``flushed`` to the disk may be lost or damaged where the machine stops.
    """
    with draft(path, replace=replace, flushed=flushed) as file:
        file.write(content.encode() if isinstance(content, str) else content)


@contextmanager
def draft(path: str | Path, *, replace: bool = True, flushed: bool = True) -> Iterator[BinaryIO]:
    """A file that takes its place at the end of the block, and is nothing where that raises.

    It gets the mode of the file that it replaces. Its ``name`` is where it lies meanwhile, with the same ending.
    """
    target = Path(path)
    partial = target.with_name(f".{target.stem}.{secrets.token_hex(8)}.partial{target.suffix}")
    try:
        with open(partial, "xb", opener=_not_through_links) as file:
            _take_mode(target, file)
            yield file
            file.flush()
            if flushed:
                os.fsync(file.fileno())
        _put(partial, target, replace)
    except BaseException as error:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename is None:  # a disk that is full names no file
            error.filename = str(path)
        raise
    if flushed:
        _flush(target.parent)


@contextmanager
def new_folder(path: str | Path) -> Iterator[Path]:
    """A folder that takes the place of ``path``, where nothing or an empty folder is, at the end of the block.

    There is all of it then, and nothing of it where the block raises.
    """
    target = Path(path)
    partial = Path(mkdtemp(prefix=f".{target.name}.", suffix=".partial", dir=target.absolute().parent))
    try:
        yield partial
        partial.chmod(0o755)  # a temporary folder is its owner's alone
        with suppress(FileNotFoundError):
            target.rmdir()
        partial.rename(target)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    _flush(target.absolute().parent)


def files_in(folder: Path) -> list[Path]:
    """What a folder holds, in order, but for what a killed run left of a file that it was writing."""
    return sorted(path for path in folder.iterdir() if not (path.name.startswith(".") and ".partial" in path.name))


class Appended(FileIO):
    """A file that grows, unbuffered, so that what is written stays when the process is killed.

    It is on the disk as well, where a power cut leaves it, when the file is closed, and meanwhile as often as flushing
    takes no more than a twentieth of the time.
    """

    _flushed, _took = -inf, 0.0

    def flush_at_times(self) -> None:
        """Flush to the disk, unless that was a moment ago."""
        began = monotonic()
        if began - self._flushed >= _BETWEEN * self._took:
            os.fsync(self.fileno())
            self._flushed = monotonic()
            self._took = self._flushed - began

    def close(self) -> None:
        """Flush to the disk and close; an OSError closes, too."""
        try:
            if not self.closed:
                os.fsync(self.fileno())
        finally:
            super().close()


def appended(path: str | Path, *, new: bool) -> Appended:
    """A file to append to: a ``new`` one, or one that is there; FileNotFoundError or FileExistsError."""
    file = Appended(path, "x" if new else "r+", opener=_not_through_links)
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError(errno.EINVAL, "it is not a regular file", str(path))
    file.seek(0, os.SEEK_END)
    return file


def append(file: Appended, content: bytes) -> None:
    """Write all of it."""
    left = memoryview(content)
    while left:
        left = left[file.write(left) :]
    file.flush_at_times()


def disk_failed(error: OSError) -> bool:
    """Whether the disk failed, or is full: not that the place is one where nothing can be written."""
    return error.errno in _DISK


def _not_through_links(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0), 0o666)


def _take_mode(target: Path, file: BinaryIO) -> None:
    with suppress(OSError):
        found = target.lstat()
        if stat.S_ISREG(found.st_mode):
            os.chmod(file.fileno() if os.chmod in os.supports_fd else file.name, stat.S_IMODE(found.st_mode))


def _put(partial: Path, target: Path, replace: bool) -> None:
    if replace:
        os.replace(partial, target)
        return
    try:
        os.link(partial, target)  # which replaces nothing
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        if os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target)) from None
        os.rename(partial, target)
    else:
        partial.unlink()


def _flush(folder: Path) -> None:
    """A rename is on the disk once its folder is; some systems cannot flush folders."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
