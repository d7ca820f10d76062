"""Files about pairs, answered by z3 as another solver would print it, in a file beside them."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from fairdsl.backends.answer_files import check_earlier, signed, write_whole
from fairdsl.backends.encoding import Answer, Solving
from fairdsl.backends.smt.echo import echo, echoed
from fairdsl.backends.smt.engine import answer_of_z3, solver_name
from fairdsl.backends.smt.recover import answer_text, parse_answer
from fairdsl.backends.solved import Solved, Status
from fairdsl.source.reading import content_of

__all__ = ["SMTLIB", "Dialect", "solve_script"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """How files of a format are given to z3, and its answers written and read."""

    #: A file -> the script that z3 is given; DiagnosticError for a file that is not of the format.
    script: Callable[[Path], str]
    #: A script and z3's answer -> the text of the answer's file.
    printed: Callable[[str, Answer], str]
    #: A script and such a text -> the answer to the script.
    read: Callable[[str, str], Answer]


def solve_script(path: Path, form: str, how: Solving, dialect: Dialect) -> Solved:
    """Answer a file as another solver would, into ``NAME.answer``.

    Where an earlier answer to this script is resumed and decides, it stands.
    """
    target = how.output or path.with_name(f"{path.name}.answer")
    text = dialect.script(path)
    check_earlier(target, resume=how.resume)
    if how.resume:
        earlier = dialect.read(text, content_of(target).decode("utf-8", "replace"))
        if earlier.status in ("sat", "unsat"):
            return _solved(path, form, target, replace(earlier, detail=""), 0.0, "an earlier run")
    began = time.monotonic()
    found = answer_of_z3(text, how.budget)
    seconds = time.monotonic() - began
    write_whole(target, signed(dialect.printed(text, found), solver_name(), seconds).encode())
    return _solved(path, form, target, found, seconds, solver_name())


def _printed(text: str, found: Answer) -> str:
    """What z3 would print for the script: its mark, the status, and behind `sat` the values."""
    mark = echo(text)
    return ("" if mark is None else f"{mark}\n") + answer_text(found)


def _read(text: str, said: str) -> Answer:
    """An answer to this script; one to another is none."""
    return parse_answer(said) if echoed(said) <= {echo(text)} else Answer(status="malformed")


#: SMT-LIB scripts are given to z3 as they are.
SMTLIB = Dialect(script=lambda path: content_of(path).decode("utf-8", "replace"), printed=_printed, read=_read)


def _solved(path: Path, form: str, target: Path, found: Answer, seconds: float, solver: str) -> Solved:
    said = Status(status=found.status, detail=found.detail)
    return Solved(format=form, file=path, solver=solver, seconds=seconds, found=said, answer=target)
