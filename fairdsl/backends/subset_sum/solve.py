"""Subset-sum instances, answered as a whole: the verdict that ``check`` would give on the instance's demand."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fairdsl.backends.contract import Observer
from fairdsl.backends.encoding import AnsweredDemand, Asked, Solved, Solving
from fairdsl.backends.subset_sum.instance import Instance, answered
from fairdsl.backends.subset_sum.instance_file import read_instance
from fairdsl.ir.question import Quantity
from fairdsl.verdict import Reason, Refused, Unknown, Value

__all__ = ["SolvedInstance", "solve_instance"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SolvedInstance(Solved):
    """The verdict on an instance's demand."""

    instance: Instance
    verdict: Value | Refused | Unknown

    @property
    def demand(self) -> AnsweredDemand:
        """What a report on it says; an instance written by hand is its own spec."""
        return AnsweredDemand(
            asked=self.instance.asked or _by_hand(self.file, self.instance),
            quantity=Quantity.METRIC,
            verdict=self.verdict,
            seconds=self.seconds,
            population=self.instance.population,
        )

    @property
    def heading(self) -> tuple[str, str, str]:
        """The file and its demand; what came out is in the report."""
        return str(self.file), self.demand.asked.demand, ""

    @property
    def lines(self) -> Sequence[tuple[str, str | Reason]]:
        """Nothing beside the report."""
        return ()

    def plain(self) -> dict[str, Any]:
        """Nothing beside the report."""
        return {}


def solve_instance(path: Path, how: Solving, observer: Observer) -> SolvedInstance:
    """Answer an instance; DiagnosticError for a file that is not one."""
    instance = read_instance(path)
    began = time.monotonic()
    verdict = _under(answered(instance, how.budget, observer), instance)
    return SolvedInstance(file=path, answer=None, instance=instance, verdict=verdict, seconds=time.monotonic() - began)


def _under(verdict: Value | Refused | Unknown, instance: Instance) -> Value | Refused | Unknown:
    """The verdict with the distribution that it is taken under, which is all that an instance knows of its basis."""
    if isinstance(verdict, Refused):
        return verdict
    basis = verdict.evidence.basis.under(instance.population)
    return replace(verdict, evidence=replace(verdict.evidence, basis=basis))


def _by_hand(path: Path, instance: Instance) -> Asked:
    """The demand of an instance that no spec was compiled to."""
    threshold, metric = instance.threshold, instance.question.metric.name
    limit = "" if threshold is None else f" {threshold.relation.value} {threshold.text}"
    return Asked(
        spec=path.name,
        spec_sha256="",
        title=None,
        model="",
        model_path=None,
        model_sha256=None,
        property=path.stem,
        sentence=f"The metric `{metric}` of a distribution written by hand.",
        clauses=(),
        formula="",
        demand=f"{'measure' if threshold is None else 'require'} {metric}{limit}",
        metric=metric,
        threshold=threshold,
        required=threshold is not None,
    )
