"""SMT-LIB scripts, answered as another solver would print it, in a file beside the script."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fairdsl.backends.answer_files import check_earlier, write_whole
from fairdsl.backends.contract import Budget
from fairdsl.backends.encoding import Answer, Solved, Solving
from fairdsl.backends.smt.echo import echo, echoed
from fairdsl.backends.smt.engine import answer_of_z3, solver_name
from fairdsl.backends.smt.recover import answer_text, parse_answer
from fairdsl.verdict import Reason

__all__ = ["SolvedScript", "solve_script"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SolvedScript(Solved):
    """What the embedded solver said about a script."""

    #: ``sat``, ``unsat``, ``unknown`` or ``crashed``.
    status: str
    #: Why, where it decides nothing.
    detail: str
    #: The solver's name and version, or that an earlier run had the answer.
    solver: str

    @property
    def heading(self) -> tuple[str, str, str]:
        """The script and its status."""
        return str(self.file), self.status, self.detail

    @property
    def lines(self) -> Sequence[tuple[str, str | Reason]]:
        """Who said it, and where it is written."""
        return ("solved by", f"{self.solver} in {self.seconds:.1f} s"), ("answer", str(self.answer))

    def to_json(self) -> dict[str, Any]:
        """The same as data."""
        return {
            "script": str(self.file),
            "answer": str(self.answer),
            "status": self.status,
            "detail": self.detail,
            "solver": self.solver,
            "seconds": round(self.seconds, 3),
        }


def solve_script(path: Path, how: Solving) -> SolvedScript:
    """Answer a script and write the answer as solvers print it: the status, and behind `sat` the values.

    Where an earlier answer to this script is resumed and decides, it stands.
    """
    target = how.output or path.with_name(f"{path.name}.answer")
    text = path.read_text(encoding="utf-8")
    mark = echo(text)
    check_earlier(target, resume=how.resume)
    if how.resume:
        said = target.read_text(encoding="utf-8", errors="replace")
        earlier = parse_answer(said)
        if echoed(said) <= {mark} and earlier.status in ("sat", "unsat"):
            return _solved(path, target, replace(earlier, detail=""), 0.0, "an earlier run")
    found, seconds = timed_answer(text, how.budget)
    write_whole(target, (("" if mark is None else f"{mark}\n") + answer_text(found)).encode())
    return _solved(path, target, found, seconds, solver_name())


def timed_answer(text: str, budget: Budget) -> tuple[Answer, float]:
    """The embedded solver's answer to a text, and the seconds that it took."""
    began = time.monotonic()
    found = answer_of_z3(text, budget)
    return found, time.monotonic() - began


def _solved(path: Path, target: Path, found: Answer, seconds: float, solver: str) -> SolvedScript:
    return SolvedScript(
        file=path, answer=target, status=found.status, detail=found.detail, seconds=seconds, solver=solver
    )
