"""The encoding of questions as jobs, whatever is refined: files for ``fairdsl solve`` and ``fairdsl recover``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

from fairdsl.backends.contract import Observer, Refusal
from fairdsl.backends.encoding import Answer, Believing, Encoding, Lowered, Solving
from fairdsl.backends.refining.collect import collected
from fairdsl.backends.refining.jobs import Jobs
from fairdsl.backends.refining.solve import solve_job
from fairdsl.backends.solved import AnsweredDemand, Solved
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Individually, PairUnder
from fairdsl.verdict import Evidence, Reason, Unknown, Verdict


def refusal_of_people(problem: Problem) -> Refusal | None:
    """Why jobs about units that are counted alike are not about people who are drawn; None where nobody is."""
    if not isinstance(problem.question, PairUnder | Individually) or problem.population is None:
        return None
    return Refusal(why="shares of people of a distribution are files of `--to population-job`", other=True)


class JobEncoding(Encoding):
    """Jobs for ``fairdsl solve``; their results become a verdict by ``fairdsl recover``."""

    jobs: ClassVar[Jobs]
    options = frozenset({"checkpoint", "jobs", "memory", "output", "resume", "shard"})
    meaning: ClassVar[Mapping[str, str]] = MappingProxyType(
        {
            "solved by": "fairdsl solve FILE, or in shards: fairdsl solve FILE --shard 1/2 and --shard 2/2",
            "recovered by": "fairdsl recover FOLDER, with the file and its results in it",
        }
    )

    def one_file(self, problem: Problem, content: bytes) -> Lowered:
        """One file, named after the property."""
        name = f"{problem.name}.{self.extension}"
        return Lowered(files={name: content}, settled_by=((name,),), described={name: {"role": "job"}})

    def solve(self, path: Path, how: Solving, observer: Observer) -> Solved:
        """Refined as far as the budget goes, into ``NAME.result``."""
        return solve_job(self.jobs, path, self.name, how, observer)

    def results(self, paths: Sequence[Path], how: Believing) -> tuple[AnsweredDemand, ...]:
        """Results joined, by job."""
        return collected(self.jobs, paths, how)

    def evidence(self, problem: Problem) -> Evidence:
        """What a verdict rests on where no result was joined."""
        return Evidence(backend=self.name, method="no result was joined")

    def answer(self, output: str, about: Mapping[str, Any]) -> Answer:
        """Results are files, never words."""
        return Answer(status="malformed", detail="`fairdsl recover` joins results")

    def recover(self, problem: Problem, lowered: Lowered, answers: Mapping[str, Answer]) -> Verdict:
        """Results are files with shares, not answers in words: ``fairdsl recover`` joins them."""
        detail = "`fairdsl recover` joins results"
        return Unknown(reason=Reason.INCOMPLETE, detail=detail, evidence=self.evidence(problem))
