"""Subset-sum instances, answered as a whole: the verdict that ``check`` would give on the instance's demand."""

from __future__ import annotations

import time
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from fairdsl.backends.contract import Observer
from fairdsl.backends.encoding import Solving
from fairdsl.backends.solved import AnsweredDemand, Asked, AskedData, Solved
from fairdsl.backends.subset_sum.instance import Instance, answered
from fairdsl.backends.subset_sum.instance_read import read_instance
from fairdsl.ir.question import Quantity
from fairdsl.source.reading import content_of
from fairdsl.verdict import Refused, Unknown, Value

__all__ = ["in_words", "solve_instance"]


#: Who answers instances.
_SOLVER = "the engine of weighted subset sums"


def solve_instance(path: Path, form: str, how: Solving, observer: Observer) -> Solved:
    """Answer an instance; DiagnosticError for a file that is not one. An instance written by hand is its own spec."""
    instance, digest = read_instance(path), sha256(content_of(path)).hexdigest()
    began = time.monotonic()
    verdict = _under(answered(instance, how.budget, observer), instance)
    seconds = time.monotonic() - began
    population, sample = instance.population, instance.population.sample
    found = AnsweredDemand(
        asked=instance.asked or in_words(instance, path),
        quantity=Quantity.METRIC,
        verdict=verdict,
        seconds=seconds,
        data=None if sample is None else AskedData(name=population.name, path=sample.path, sha256=sample.sha256),
    )
    return Solved(format=form, file=path, solver=_SOLVER, seconds=seconds, found=found, sha256=digest)


def _under(verdict: Value | Refused | Unknown, instance: Instance) -> Value | Refused | Unknown:
    """The verdict with the distribution that it is taken under, which is all that an instance knows of its basis."""
    if isinstance(verdict, Refused):
        return verdict
    basis = verdict.evidence.basis.under(instance.population)
    return replace(verdict, evidence=replace(verdict.evidence, basis=basis))


def in_words(instance: Instance, path: Path) -> Asked:
    """The demand of an instance that no spec was compiled to, in the file at ``path``."""
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
