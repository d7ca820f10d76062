"""SMT-LIB scripts, answered as a whole: what another solver would print, in a file beside the script."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from fairdsl.backends.contract import Budget
from fairdsl.backends.errors import nothing_to_resume, result_exists
from fairdsl.diagnostics import DiagnosticError
from fairdsl.solving.files import write_whole

__all__ = ["Answered", "solve_script"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """What the embedded solver said about a script: ``sat``, ``unsat``, ``unknown`` or ``crashed``, and why.

    ``answer`` is the file with its answer, ``solver`` its name and version.
    """

    script: Path
    answer: Path
    status: str
    detail: str
    seconds: float
    solver: str


def solve_script(path: Path, *, resume: bool, budget: Budget, output: Path | None) -> Answered:
    """Answer a script and write the answer as solvers print it: the status, and behind `sat` the values.

    With ``resume`` an earlier answer that decides stands. Raises DiagnosticError for an earlier answer
    without ``resume``, for ``resume`` without one, and where nothing can be written.
    """
    from fairdsl.backends.smt.echo import echo, echoed
    from fairdsl.backends.smt.engine import answer_of_z3, solver_name
    from fairdsl.backends.smt.recover import answer_text, parse_answer

    target = output if output is not None else path.with_name(f"{path.name}.answer")
    text = path.read_text(encoding="utf-8")
    mark = echo(text)
    if resume and not target.exists():
        raise DiagnosticError(nothing_to_resume(str(target)))
    if target.exists():
        if not resume:
            raise DiagnosticError(result_exists(str(target)))
        said = target.read_text(encoding="utf-8", errors="replace")
        earlier = parse_answer(said)
        if echoed(said) <= {mark} and earlier.status in ("sat", "unsat"):
            return Answered(
                script=path, answer=target, status=earlier.status, detail="", seconds=0.0, solver="an earlier run"
            )
    began = time.monotonic()
    found = answer_of_z3(text, budget)
    write_whole(target, ("" if mark is None else f"{mark}\n") + answer_text(found))
    return Answered(
        script=path,
        answer=target,
        status=found.status,
        detail=found.detail,
        seconds=time.monotonic() - began,
        solver=solver_name(),
    )
