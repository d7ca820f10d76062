"""What of a report rests on a solver's word: its queries, in files beside the proofs, so that another may be asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from fairdsl.diagnostics import DiagnosticError
from fairdsl.report.model import DemandReport, Report
from fairdsl.report.proof import Believed, QueryFile
from fairdsl.solver_files.manifest import Question, read_manifest
from fairdsl.solver_files.write import compile_spec
from fairdsl.source.reading import content_of
from fairdsl.verdict import Judgement, Word


def believing(
    report: Report, spec: str, folder: str, models: Mapping[str, str], let: Mapping[str, str], data: Mapping[str, str]
) -> Report:
    """The report with what is believed at the demands that hold by a solver's word and by no checked proof."""
    names = [item.name for item in report.properties if any(map(_is_believed, item.demands))]
    if not names:
        return report
    queries = Path(folder) / "queries"
    asked: Sequence[Question] = ()
    with suppress(DiagnosticError):  # what has no such query rests on the solver as well
        compiled = compile_spec(spec, "smtlib", str(queries), models, let=let, data=data, properties=tuple(names))
        asked = read_manifest(compiled.manifest).questions

    def of(name: str, demand: DemandReport) -> DemandReport:
        evidence = demand.evidence
        if evidence is None or not _is_believed(demand):
            return demand
        files = {
            file
            for question in asked
            if (question.property, question.demand) == (name, demand.text)
            for part in question.parts
            for several in part.settled_by
            for file in several
        }
        hashed = (
            QueryFile(path=str(queries / file), sha256=sha256(content_of(queries / file)).hexdigest())
            for file in sorted(files)
        )
        believed = Believed(solver=evidence.backend, method=evidence.method, queries=tuple(hashed))
        return replace(demand, believed=believed)

    properties = (
        replace(item, demands=tuple(of(item.name, demand) for demand in item.demands)) for item in report.properties
    )
    return replace(report, properties=tuple(properties))


def _is_believed(demand: DemandReport) -> bool:
    if demand.judgement is not Judgement.HOLDS or demand.basis is None or demand.basis.word is not Word.SOLVER:
        return False
    return demand.proof is None or not demand.proof.shows(demand.quantity, demand.threshold)
