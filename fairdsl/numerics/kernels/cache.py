"""Where the kernels' machine code is kept between runs.

numba keeps it in files that it unpickles, so whoever can write them runs code as the user. Hence nothing is kept, and
nothing read, but in a folder that nobody else can write to (:mod:`fairdsl.private_folder`). The folder is that of one
state of all kernels together: numba keeps machine code by the file of the compiled function alone, so a caller would
keep the old code of a callee that changed in another file.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import FunctionCache, IndexDataCacheFile

from fairdsl.private_folder import private_folder, why_not_private

_LOCK = "index.lock"


@cache
def _kernels() -> str:
    """What the machine code depends on, as a digest: numba tells copies of a file at other places apart."""
    digest = sha256(f"{numba.__version__} {sys.version_info[:3]} {Path(__file__).resolve()}".encode())
    for source in sorted(Path(__file__).parents[2].glob("**/kernels/*.py")):
        digest.update(source.read_bytes())
    return digest.hexdigest()


def _place() -> tuple[Path, str]:
    base = os.environ.get("NUMBA_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "fairdsl", f"kernels-{_kernels()[:16]}"


def cache_folder() -> Path | None:
    """Where the machine code of these very kernels is kept; None where no such folder is safely the user's own."""
    base, name = _place()
    folder = private_folder(name, base)
    return folder if folder is not None and os.access(folder, os.W_OK | os.X_OK) else None


def why_no_cache() -> str:
    """Why :func:`cache_folder` is None, in words."""
    base, name = _place()
    return why_not_private(base / name) or f"`{base / name}` cannot be written to"


class KernelCache(FunctionCache):
    """numba's cache of one function, for several processes at once, for disks that are full and files that are torn.

    Entries are numbered by an index; two processes that number at once would name one file for two signatures. So
    whoever saves is alone. What cannot be read is compiled, and what cannot be kept is not.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        """Of a function for which ``numba.config.CACHE_DIR`` is :func:`cache_folder` at the moment."""
        super().__init__(function)  # type: ignore[no-untyped-call]
        # The folder stands for the sources; by numba's own stamp, a time, an index would begin anew beside old files.
        self._cache_file = IndexDataCacheFile(
            cache_path=self._cache_path, filename_base=self._impl.filename_base, source_stamp=_kernels()
        )

    def load_overload(self, sig: object, target_context: object) -> Any:
        """The machine code for a signature; None where there is none that can be read."""
        try:
            with self._alone():
                return super().load_overload(sig, target_context)  # type: ignore[no-untyped-call]
        except Exception:  # what unpickling and LLVM raise for torn files has no common kind
            return None

    def save_overload(self, sig: object, data: object) -> None:
        """Keep it, where there is room."""
        with suppress(OSError), self._alone():
            try:
                self._save(sig, data)
            except OSError:
                raise
            except Exception:  # the index is torn: what it numbered is nobody's any more
                for path in Path(self._cache_path).glob(f"{self._impl.filename_base}.*"):
                    path.unlink()
                self._save(sig, data)

    def _save(self, sig: object, data: object) -> None:
        super().save_overload(sig, data)  # type: ignore[no-untyped-call]

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """The only process at the files, where the system has such locks."""
        try:
            import fcntl
        except ImportError:
            yield
            return
        folder = Path(self._cache_path)
        folder.mkdir(mode=0o700, exist_ok=True)
        with (folder / _LOCK).open("ab") as file:
            with suppress(OSError):  # some network folders have no locks
                fcntl.flock(file, fcntl.LOCK_EX)
            yield
