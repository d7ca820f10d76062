"""A folder with all that is needed to repeat a failure of ours."""

from __future__ import annotations

import platform
import shlex
import shutil
import sys
import tempfile
import traceback
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

_PACKAGES = ("fairdsl", "click", "lark", "numpy", "onnx", "onnxruntime", "rich", "z3-solver")


def leave_reproducer(arguments: Sequence[str], error: BaseException) -> Path:
    """Write command, specs, trace and versions into a new folder for temporary files.

    Models and data are left out: they may be large or private.
    """
    folder = Path(tempfile.mkdtemp(prefix="fairdsl-bug-"))
    (folder / "command.txt").write_text(f"fairdsl {shlex.join(arguments)}\n", encoding="utf-8")
    trace = "".join(traceback.format_exception(error))
    (folder / "traceback.txt").write_text(trace, encoding="utf-8")
    (folder / "versions.txt").write_text("\n".join(_versions()) + "\n", encoding="utf-8")
    for argument in arguments:
        path = Path(argument)
        if path.suffix == ".fair" and path.is_file():
            shutil.copy(path, folder / path.name)
    return folder


def _versions() -> list[str]:
    lines = [f"python {sys.version.split()[0]} on {platform.platform()}"]
    for package in _PACKAGES:
        try:
            lines.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            lines.append(f"{package} is not installed")
    return lines
