"""The encoding for ``compile --to interval-job``: the lowered task as a file that is solved anywhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

from fairdsl.backends.contract import Observer, Offer, Refusal
from fairdsl.backends.encoding import Answer, Believing, Encoding, Lowered, Solving
from fairdsl.backends.intervals.axes import Axis
from fairdsl.backends.intervals.collect import collected
from fairdsl.backends.intervals.job import JobHead, SharedAttribute, pack_job
from fairdsl.backends.intervals.lowering import lower
from fairdsl.backends.intervals.roles import roles_of
from fairdsl.backends.intervals.solve import solve_job
from fairdsl.backends.solved import AnsweredDemand, Asked, Solved
from fairdsl.ir.domain import Domain
from fairdsl.ir.problem import Problem
from fairdsl.replay import compares_somebody
from fairdsl.verdict import Evidence, Reason, Unknown, Verdict

__all__ = ["IntervalJob"]


class IntervalJob(Encoding):
    """Jobs for ``fairdsl solve``; their results become a verdict by ``fairdsl recover``."""

    name = "interval-job"
    options = frozenset({"checkpoint", "intervals.scheduler", "jobs", "memory", "output", "resume", "shard"})
    meaning: ClassVar[Mapping[str, str]] = MappingProxyType(
        {
            "solved by": "fairdsl solve FILE, or in shards: fairdsl solve FILE --shard 1/2 and --shard 2/2",
            "recovered by": "fairdsl recover FOLDER, with the file and its results in it",
        }
    )

    def offer(self, problem: Problem) -> Offer | Refusal:
        """Whatever can be lowered to a task."""
        roles = roles_of(problem)
        return roles if isinstance(roles, Refusal) else Offer(method="an interval job", decides=True)

    def lower(self, problem: Problem, asked: Asked) -> Lowered:
        """One file, named after the property."""
        lowered = lower(problem)
        head = JobHead(
            asked=asked,
            quantity=problem.quantity,
            measure="counting" if lowered.counted else "volume",
            unit=problem.unit_in_words,
            factor=lowered.factor,
            vacuous=lowered.vacuous,
            # Whom z3 would look for cannot be looked for in a job: it has no conditions.
            unsure=lowered.unsure_beside(compares_somebody(problem)),
            attributes=tuple(_shared(axis, problem.domain) for axis in lowered.axes),
        )
        content = pack_job(lowered.task, head)
        name = f"{problem.name}.{self.extension}"
        return Lowered(files={name: content}, settled_by=((name,),), described={name: {"role": "job"}})

    def solve(self, path: Path, how: Solving, observer: Observer) -> Solved:
        """Refined as far as the budget goes, into ``NAME.result``."""
        return solve_job(path, self.name, how, observer)

    def results(self, paths: Sequence[Path], how: Believing) -> tuple[AnsweredDemand, ...]:
        """Results joined, by job."""
        return collected(paths, how)

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


def _shared(axis: Axis, domain: Domain) -> SharedAttribute:
    """What the positions of an axis mean, in the spec's words."""
    if axis.attribute is None:
        return SharedAttribute(name="the differing attributes together", positions=axis.size)
    attribute = domain.attributes[axis.attribute]
    if axis.values is not None:
        return SharedAttribute(
            name=attribute.name,
            positions=axis.size,
            values=tuple(attribute.show(axis.value(p)) for p in range(axis.size)),
        )
    return SharedAttribute(name=attribute.name, positions=axis.size, start=axis.start, step=axis.step, cells=axis.real)
