"""The encoding for ``compile --to smtlib``: one script per question, with the whole model in it.

Nothing is folded, so that a second solver also checks what the procedure's bounds and folding decided.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Self

from fairdsl.backends.answer_files import check_earlier, signed, write_whole
from fairdsl.backends.contract import Observer, Offer, Refusal
from fairdsl.backends.encoding import Answer, Encoding, Lowered, Solving
from fairdsl.backends.smt.cases import widened
from fairdsl.backends.smt.engine import answer_of_z3, solver_name
from fairdsl.backends.smt.partition.grid import GridParts
from fairdsl.backends.smt.procedure import refusal
from fairdsl.backends.smt.recover import answer_text, pair_in, parse_answer, recovered
from fairdsl.backends.smt.script import part_in_words, whole_script
from fairdsl.backends.smt.terms import echo, echoed
from fairdsl.backends.solved import Asked, Solved, Status
from fairdsl.ir.domain import Point
from fairdsl.ir.problem import Problem
from fairdsl.source.reading import content_of
from fairdsl.verdict import Evidence, Fidelity, Verdict


class PairEncoding(Encoding):
    """What the formats have in common that ask about pairs: they are written partition by partition, too."""

    options = frozenset({"output", "resume", "seed"})

    def __init__(self, part: str = "") -> None:
        self._part = part

    def on_part(self, box: Mapping[str, str]) -> Self:
        """Files that say that they are about a partition."""
        return type(self)(part_in_words(box))

    def parts(self, problem: Problem, size: int) -> GridParts:
        """The partitions that `check` takes."""
        return GridParts(problem, size)


class SmtLib(PairEncoding):
    """SMT-LIB 2.6 in the logic QF_LIRA."""

    name = "smtlib"
    meaning: ClassVar[Mapping[str, str]] = MappingProxyType(
        {
            "holds": "every file is unsat",
            "violated": "some file is sat; its model is a pair, to be replayed on the original model",
        }
    )

    def offer(self, problem: Problem) -> Offer | Refusal:
        """Every question about pairs that has a yes or a no."""
        return refusal(problem) or Offer(method="SMT-LIB 2.6, QF_LIRA", decides=True)

    def lower(self, problem: Problem, asked: Asked) -> Lowered:
        """One file, named after the property. All that leads back is in the problem itself."""
        name, text = f"{problem.name}.{self.extension}", whole_script(problem, self._part)
        return Lowered(
            files={name: text.encode()},
            settled_by=((name,),),
            described={name: {"role": "question", "echo": echo(text)}},
        )

    def solve(self, path: Path, how: Solving, observer: Observer) -> Solved:
        """By z3, into ``NAME.smt2.answer``."""
        return solve_script(path, self.name, how, SMTLIB)

    def evidence(self, problem: Problem) -> Evidence:
        """What a verdict from answers rests on."""
        fidelity = Fidelity.WIDENS if widened(problem) else Fidelity.EXACT
        return Evidence(backend=self.name, method="answers of an external solver", fidelity=fidelity)

    def answer(self, output: str, about: Mapping[str, Any]) -> Answer:
        """A status alone on its line, and behind `sat` the values; of another script's output nothing."""
        if echoed(output) - {about.get("echo")}:
            return Answer(status="malformed", detail="it is the output for another script, as the first line says")
        return parse_answer(output)

    def recover(self, problem: Problem, lowered: Lowered, answers: Mapping[str, Answer]) -> Verdict:
        """All files unsat: holds. Sat: violated, once replayed. Anything else: unknown."""

        def pairs(_: str, answer: Answer) -> Iterator[tuple[Point, ...]]:
            pair = pair_in(problem, answer.values)
            if pair is not None:
                yield pair

        return recovered(problem, lowered, answers, pairs, self.evidence(problem))


# ---- answered by z3 ------------------------------------------------------------------------------
#
# Files about pairs, answered by z3 as another solver would print it, in a file beside them.


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
