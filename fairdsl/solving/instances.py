"""Subset-sum instances, answered as a whole: the report that ``check`` would give on the instance's demand."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path

from fairdsl.backends.contract import Budget, Observer
from fairdsl.backends.intervals.errors import not_of_its_kind
from fairdsl.backends.subset_sum.instance import Instance, answered
from fairdsl.backends.subset_sum.instance_file import read_instance
from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.domain import Domain
from fairdsl.ir.expr import TRUE
from fairdsl.ir.question import Quantity
from fairdsl.report.build import demand_report
from fairdsl.report.json import write
from fairdsl.report.manifest import files_named
from fairdsl.report.model import HashedFile, PropertyReport, Report
from fairdsl.resources import version
from fairdsl.solving.files import write_whole
from fairdsl.verdict import Refused, Unknown, Value

__all__ = ["SolvedInstance", "solve_instance"]


#: The solver files that `fairdsl solve` takes.
_SOLVED = (".smt2", ".sdimacs", ".json", ".job")


@dataclass(frozen=True, slots=True, kw_only=True)
class SolvedInstance:
    """The report on an instance's demand, and the verdict that it was made from; ``output``: where it was written."""

    instance: Path
    report: Report
    verdict: Value | Refused | Unknown
    output: Path | None


def solve_instance(path: Path, *, budget: Budget, output: Path | None, observer: Observer) -> SolvedInstance:
    """Answer an instance, and write the report as JSON where an ``output`` is given.

    Raises DiagnosticError for a file that is no instance, for a manifest too (E0607), and where nothing can be written.
    """
    _no_manifest(path)
    instance = read_instance(path)
    began = time.monotonic()
    verdict = _under(answered(instance, budget, observer), instance)
    report = _report(path, instance, verdict, time.monotonic() - began)
    if output is not None:
        write_whole(output, write(report))
    return SolvedInstance(instance=path, report=report, verdict=verdict, output=output)


def _no_manifest(path: Path) -> None:
    """DiagnosticError for the manifest of a folder of solver files, which ends in `.json`, too."""
    named = files_named(path)
    if named is None:
        return
    ours = next((path.with_name(name) for name in named if name.endswith(_SOLVED)), None)
    instead = "fairdsl solves none of the files that it names; give them to a solver of their format"
    if ours is not None:
        instead = f"give the files that it names, one by one: `fairdsl solve {ours}`"
    what = "it is the manifest of a folder of solver files, and says what each of them asks"
    raise DiagnosticError(not_of_its_kind(str(path), "file to solve", what, instead))


def _under(verdict: Value | Refused | Unknown, instance: Instance) -> Value | Refused | Unknown:
    """The verdict with the distribution that it is taken under, which is all that an instance knows of its basis."""
    if isinstance(verdict, Refused):
        return verdict
    basis = verdict.evidence.basis.under(instance.population)
    return replace(verdict, evidence=replace(verdict.evidence, basis=basis))


def _report(path: Path, instance: Instance, verdict: Value | Refused | Unknown, seconds: float) -> Report:
    """The report on one demand; an instance written by hand is its own spec."""
    asked, threshold, metric = instance.asked, instance.threshold, instance.question.metric
    limit = "" if threshold is None else f" {threshold.relation.value} {threshold.text}"
    verb = "measure" if threshold is None else "require"
    demand = demand_report(
        text=f"{verb} {metric}{limit}" if asked is None else asked.demand,
        metric=metric if asked is None else asked.metric,
        quantity=Quantity.METRIC,
        threshold=threshold,
        verdict=verdict,
        domain=Domain(name="", attributes=instance.population.columns, where=TRUE),
        outcomes=(),
        seconds=seconds,
        population=instance.population,
    )
    data = instance.population.sample
    return Report(
        version=version(),
        path=path.name if asked is None else asked.spec,
        sha256=None if asked is None else asked.spec_sha256,
        title=None if asked is None else asked.title,
        models=()
        if asked is None
        else (HashedFile(name=asked.model, path=asked.model_path, sha256=asked.model_sha256),),
        data=() if data is None else (HashedFile(name=instance.population.name, path=data.path, sha256=data.sha256),),
        properties=(
            PropertyReport(
                name=path.stem if asked is None else asked.property,
                sentence=f"The metric `{metric}` of a law written by hand." if asked is None else asked.sentence,
                clauses=() if asked is None else asked.clauses,
                demands=(demand,),
            ),
        ),
        diagnostics=verdict.warnings if isinstance(verdict, Value) else (),
    )
