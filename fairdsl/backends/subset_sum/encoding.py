"""The encoding for ``compile --to subset-sum``: the engine's lowered tasks as files that stand alone."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

from fairdsl.backends.contract import Observer, Offer, Refusal
from fairdsl.backends.encoding import Answer, Encoding, Lowered, Solving
from fairdsl.backends.solved import Asked, Solved
from fairdsl.backends.subset_sum.instance import Instance, instance_of
from fairdsl.backends.subset_sum.instance_file import pack_instance
from fairdsl.backends.subset_sum.offer import offer
from fairdsl.backends.subset_sum.solve import solve_instance
from fairdsl.ir.problem import Problem
from fairdsl.verdict import Evidence, Reason, Unknown, Verdict

__all__ = ["SubsetSumInstance"]


class SubsetSumInstance(Encoding):
    """Instances for ``fairdsl solve``, or for any other solver that counts weighted subset sums."""

    name = "subset-sum"
    options = frozenset({"memory", "output"})
    meaning: ClassVar[Mapping[str, str]] = MappingProxyType(
        {"solved by": "fairdsl solve FILE, which prints the value's report"}
    )

    def offer(self, problem: Problem) -> Offer | Refusal:
        """What the engine answers, as far as its task is finite and exact."""
        found = offer(problem)
        if isinstance(found, Refusal):
            return found
        instance = instance_of(problem, None)
        if isinstance(instance, Refusal):
            return instance
        return Offer(method="weighted subset sums", decides=True)

    def lower(self, problem: Problem, asked: Asked) -> Lowered:
        """One file, named after the property."""
        instance = instance_of(problem, asked)
        if not isinstance(instance, Instance):
            raise ValueError("an instance was asked for of a problem that has none")
        name = f"{problem.name}.{self.extension}"
        return Lowered(
            files={name: pack_instance(instance)}, settled_by=((name,),), described={name: {"role": "instance"}}
        )

    def solve(self, path: Path, how: Solving, observer: Observer) -> Solved:
        """By the engine that `check` uses."""
        return solve_instance(path, self.name, how, observer)

    def evidence(self, problem: Problem) -> Evidence:
        """What a verdict rests on where nothing was solved."""
        return Evidence(backend=self.name, method="no instance was solved")

    def answer(self, output: str, about: Mapping[str, Any]) -> Answer:
        """Reports, never words."""
        return Answer(status="malformed", detail=_SOLVE)

    def recover(self, problem: Problem, lowered: Lowered, answers: Mapping[str, Answer]) -> Verdict:
        """``fairdsl solve`` reports on an instance by itself, so there is nothing to recover."""
        return Unknown(reason=Reason.INCOMPLETE, detail=_SOLVE, evidence=self.evidence(problem))


_SOLVE = "`fairdsl solve FILE` reports on an instance"
