"""The folder of solver files: all files of one run, or all of an earlier one.

What a run makes is collected in a folder of its own inside and moved when it is complete, the manifest last.
"""

from __future__ import annotations

import glob
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from fairdsl.backends.encoding import Lowered
from fairdsl.backends.errors import cannot_write, result_exists
from fairdsl.diagnostics import DiagnosticError
from fairdsl.solver_files.manifest import MANIFEST, answer_names, read_manifest
from fairdsl.source.reading import content_of
from fairdsl.source.writing import write_file


class Folder:
    """Collects files as they come, and keeps what the manifest says about each.

    They are written into a folder inside the target and moved by :meth:`publish`. Whatever ends a run before leaves
    the target as it was.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.files: dict[str, Mapping[str, Any]] = {}
        self._before = _files_of(path)
        self._made: list[Path] = []

    def __enter__(self) -> Folder:
        with _writing(self.path):
            self._made = [path for path in (self.path, *self.path.parents) if not path.exists()]
            self.path.mkdir(parents=True, exist_ok=True)
            self._partial = Path(tempfile.mkdtemp(prefix=".partial-", dir=self.path))
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        shutil.rmtree(self._partial, ignore_errors=True)
        if kind is not None:
            with suppress(OSError):
                for path in self._made:
                    path.rmdir()

    def add(self, lowered: Lowered) -> None:
        """The files of one question or partition; what earlier ones share with it is there already."""
        for name, content in lowered.files.items():
            digest = sha256(content).hexdigest()
            if name in self.files:
                assert self.files[name]["sha256"] == digest, "a name is that of one question"
                continue
            self._keep_apart(name, content)
            with _writing(self.path):
                write_file(self._partial / name, content)
            self.files[name] = {**lowered.described.get(name, {}), "sha256": digest}

    def publish(self, manifest: bytes, beside: Mapping[str, bytes]) -> None:
        """Put all files where they belong, the manifest last. Those of an earlier run that none is about any more go,
        unless they were changed; if they have answers nothing is done: nobody could read these any more. What stands
        ``beside`` the files asks nothing, and the manifest does not speak of it.
        """
        stale = [name for name in self._before if name not in self.files]
        for name in stale:
            self._keep_apart(name, None)
        with _writing(self.path):
            for name, content in {**beside, MANIFEST: manifest}.items():
                write_file(self._partial / name, content)
            for name in (*self.files, *beside, MANIFEST):
                (self._partial / name).replace(self.path / name)
            for name in stale:
                earlier = self.path / name
                if earlier.is_file() and sha256(content_of(earlier)).hexdigest() == self._before[name]:
                    earlier.unlink()

    def _keep_apart(self, name: str, content: bytes | None) -> None:
        """No file takes the place of another one that has answers: they would be taken for answers to it."""
        earlier = self.path / name
        answers = [self.path / answer for answer in answer_names(name)]
        answers += list(self.path.glob(f"{glob.escape(earlier.stem)}*.result")) if earlier.suffix == ".job" else []
        found = next((path for path in answers if path.exists()), None)
        if found is not None and (not earlier.exists() or content_of(earlier) != content):
            raise DiagnosticError(result_exists(str(found), "-o DIR", answers=name))


def _files_of(folder: Path) -> dict[str, str]:
    """The files that the folder's manifest speaks of, with their sha256; none where there is no readable one."""
    try:
        earlier = read_manifest(folder / MANIFEST)
    except DiagnosticError:
        return {}
    return {Path(name).name: str(about.get("sha256")) for name, about in earlier.files.items()}


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    """What the system has against writing, as a finding."""
    try:
        yield
    except OSError as error:
        raise DiagnosticError(cannot_write(str(folder), error)) from error
