"""Files with answers: whole at any moment, and never in the place of an earlier answer that nobody gave up."""

from __future__ import annotations

import re
from math import isfinite
from pathlib import Path

from fairdsl.backends.errors import cannot_write, nothing_to_resume, result_exists
from fairdsl.diagnostics import DiagnosticError
from fairdsl.source.json_text import read_json
from fairdsl.source.writing import write_file

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
        said = read_json(answer) if answer.startswith("{") else {}
    except ValueError:
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
    try:
        write_file(path, content)
    except OSError as error:
        raise DiagnosticError(cannot_write(str(path.parent), error)) from error
