"""The encoding for ``compile --to smtlib``: one script per question, with the whole model in it.

Nothing is folded, so that a second solver also checks what the procedure's bounds and folding decided.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Self

from fairdsl.backends.contract import Observer, Offer, Refusal
from fairdsl.backends.encoding import Answer, Encoding, Lowered, Solving
from fairdsl.backends.smt.cases import widened
from fairdsl.backends.smt.echo import echo, echoed
from fairdsl.backends.smt.partition.grid import GridParts
from fairdsl.backends.smt.procedure import refusal
from fairdsl.backends.smt.recover import pair_in, parse_answer, recovered
from fairdsl.backends.smt.script import part_in_words, whole_script
from fairdsl.backends.smt.solve import SMTLIB, solve_script
from fairdsl.backends.solved import Asked, Solved
from fairdsl.ir.domain import Point
from fairdsl.ir.problem import Problem
from fairdsl.verdict import Evidence, Fidelity, Verdict

__all__ = ["PairEncoding", "SmtLib"]


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
