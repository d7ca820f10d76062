"""Files with answers: whole at any moment, and never in the place of an earlier answer that nobody gave up."""

from __future__ import annotations

import json
import os
import re
from contextlib import suppress
from math import isfinite
from pathlib import Path

from fairdsl.backends.errors import cannot_write, nothing_to_resume, result_exists
from fairdsl.diagnostics import DiagnosticError

__all__ = ["check_earlier", "signed", "signer", "write_whole"]

#: The line in which an answer says who gave it; a comment in every format.
_SIGNED = re.compile(r"^; solved by ([^\n]{1,100}) in ([0-9]{1,9}(?:\.[0-9]{1,9})?) s$", re.MULTILINE)


def signed(answer: str, solver: str, seconds: float) -> str:
    """The answer with a last line that says who gave it, and how long that took."""
    return f"{answer}; solved by {solver} in {seconds:.3f} s\n"


def signer(answer: str) -> tuple[str | None, float | None]:
    """Who gave the answer and how long that took, as far as it says so.

    It does by a line of :func:`signed`, or as what ``solve`` writes as JSON.
    """
    line = _SIGNED.search(answer)
    if line is not None:
        return line[1], float(line[2])
    try:
        said = json.loads(answer) if answer.startswith("{") else {}
    except (ValueError, RecursionError):
        said = {}
    solver, seconds = (said.get("solver"), said.get("seconds")) if isinstance(said, dict) else (None, None)
    known = float(seconds) if isinstance(seconds, int | float) and isfinite(seconds) else None
    return (solver[:100] if isinstance(solver, str) else None), known


def check_earlier(target: Path, *, resume: bool) -> None:
    """DiagnosticError where there is nothing to resume (E0610), or an earlier answer in the way (E0611)."""
    if resume and not target.exists():
        raise DiagnosticError(nothing_to_resume(str(target)))
    if target.exists() and not resume:
        raise DiagnosticError(result_exists(str(target)))


def write_whole(path: Path, content: bytes) -> None:
    """Replace a file in one step: whoever reads it, and whenever the machine stops, it is old or new.

    DiagnosticError (E0605) where the system does not let us.
    """
    partial = path.with_name(f".{path.name}.partial")
    try:
        with partial.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
        _flush_folder(path.parent)
    except BaseException as error:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise DiagnosticError(cannot_write(str(path.parent), error.strerror or str(error))) from error
        raise


def _flush_folder(folder: Path) -> None:
    """A rename is on the disk once its folder is."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
