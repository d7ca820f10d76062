"""Answers to solver files become the report that ``check`` would give.

    manifest --sources--> problems --files--> answers --encoding.recover--> a verdict a part --_joined--> report

The spec and its models are read again, and must be those that the files were written from; the solver files must
be the ones that were written. Of partitions the property holds only if every one of them does.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from hashlib import sha256
from pathlib import Path

from fairdsl.backends.contract import Answer, Budget, Encoding, Lowered
from fairdsl.backends.smt.partition.grid import Grid
from fairdsl.backends.smt.recover import worst
from fairdsl.backends.smt.vacuity import compares_nobody
from fairdsl.diagnostics import Diagnostic, DiagnosticError
from fairdsl.elaborate import Elaborated, Elaboration, elaborate
from fairdsl.ir.problem import Problem
from fairdsl.plan.errors import nobody_compared
from fairdsl.plan.expressible import expressible
from fairdsl.plan.registry import encodings
from fairdsl.recovering.answers import answers_of
from fairdsl.report import errors
from fairdsl.report.build import demand_report
from fairdsl.report.hashes import hashed_data, hashed_models
from fairdsl.report.manifest import MANIFEST, Manifest, Part, Question, box_in_words, read_manifest
from fairdsl.report.model import DemandReport, HashedFile, PropertyReport, Report
from fairdsl.resources import version
from fairdsl.semantics import CheckedSpec, front_end
from fairdsl.verdict import Coverage, Evidence, Holds, Reason, Refused, Tally, Unknown, Verdict, Violated, is_vacuous

__all__ = ["recover_answers", "solver_folder"]


def solver_folder(path: Path) -> bool:
    """Whether the folder has a manifest of solver files, whose answers are words rather than results of jobs."""
    try:
        content = json.loads((path / MANIFEST).read_bytes())
    except (OSError, ValueError, RecursionError):
        return (path / MANIFEST).is_file() and not any(path.glob("*.job"))
    return not isinstance(content, dict) or content.get("format") != "interval-job"


def recover_answers(
    folder: Path,
    *,
    answers: Sequence[Path],
    spec: str | None,
    models: Mapping[str, str],
    data: Mapping[str, str] | None = None,
) -> Report:
    """The report on the solver files in a folder, from the answers to them.

    ``answers`` are files with answers (by default those in the folder), ``spec`` is the spec's path where it is
    not the manifest's, ``models`` and ``data`` are files that replaced the spec's. Raises DiagnosticError where
    manifest, spec, models, files and answers do not belong together.
    """
    manifest = read_manifest(folder / MANIFEST)
    encoding = encodings().get(manifest.format)
    if encoding is None:
        what = f"it is about files of the format `{manifest.format}`, which this fairdsl does not write"
        raise DiagnosticError(errors.unreadable_manifest(str(folder / MANIFEST), what))
    _unchanged_files(folder, manifest)
    path = _spec_path(folder, manifest) if spec is None else spec
    checked, warnings = front_end(path)
    if checked.source.sha256 != manifest.spec.sha256:
        raise DiagnosticError(errors.outdated(path, "the spec has changed since the files were written", _AGAIN))
    elaborated = elaborate(checked, models, data=data)
    hashed = hashed_models(checked, elaborated.models, models)
    _unchanged_models(manifest, hashed)
    asking = {name: about for name, about in manifest.files.items() if about.get("role") != "network"}
    recovering = _Recovering(manifest, encoding, answers_of(folder, asking, answers, encoding))
    return _report(path, checked, elaborated, (hashed, hashed_data(checked, data)), warnings, recovering)


_AGAIN = "write the files again with `fairdsl compile`, and solve them"


def _spec_path(folder: Path, manifest: Manifest) -> str:
    """The spec where the manifest says it is, or beside the manifest."""
    written = manifest.spec.path or ""
    for path in (folder / written, folder / Path(written).name):
        if path.is_file():
            return os.path.normpath(path)
    help_ = "name the spec with `--spec SPEC`"
    raise DiagnosticError(errors.outdated(str(folder / written), "there is no such spec", help_))


def _unchanged_files(folder: Path, manifest: Manifest) -> None:
    for name, about in manifest.files.items():
        try:
            digest = sha256((folder / Path(name).name).read_bytes()).hexdigest()
        except OSError as error:
            what = "the solver file is missing"
            raise DiagnosticError(errors.outdated(str(folder / name), what, "copy it beside the manifest")) from error
        if digest != about.get("sha256"):
            what = "the solver file has changed since it was written"
            raise DiagnosticError(errors.outdated(str(folder / name), what, _AGAIN))


def _unchanged_models(manifest: Manifest, hashed: Sequence[HashedFile]) -> None:
    expected = {file.name: file.sha256 for file in manifest.models}
    for file in hashed:
        if expected.get(file.name) != file.sha256:
            what = f"the model `{file.name}` is another file than the one that the solver files are about"
            help_ = f"give the file as it was with `--model {file.name}=PATH`, or write the solver files again"
            raise DiagnosticError(errors.outdated(file.path or file.name, what, help_))


#: Seconds to look for somebody to compare before a proof is reported as it is.
_SECONDS_FOR_ANYBODY = 5.0


@dataclass(frozen=True)
class _Recovering:
    """Verdicts of questions from the answers to their files."""

    manifest: Manifest
    encoding: Encoding
    answers: Mapping[str, Answer]

    def verdict(self, item: Elaborated) -> Verdict | None:
        """What a demand came to; None for a measure that the files do not ask."""
        problem = expressible(item, self.encoding)
        if isinstance(problem, Diagnostic):
            return Refused(diagnostics=(problem,)) if item.demand.required else None
        question = self._question(item)
        evidence = self.encoding.evidence(problem)
        if question is None:
            return Unknown(reason=Reason.INCOMPLETE, detail="no solver file asks this", evidence=evidence)
        verdict = self._joined(problem, question, evidence) if question.cut else self._part(problem, question.parts[0])
        if isinstance(verdict, Holds):
            about = () if problem.model.deployed is None else ("about exact arithmetic, not about float32 rounding",)
            notes = (*verdict.evidence.notes, *about)
            vacuous = compares_nobody(problem, Budget.of(_SECONDS_FOR_ANYBODY))
            return Holds(evidence=replace(verdict.evidence, notes=notes, vacuous=vacuous))
        return verdict

    def _question(self, item: Elaborated) -> Question | None:
        number = 1 + item.property.demands.index(item.demand)
        return next(
            (one for one in self.manifest.questions if (one.property, one.number) == (item.property.name, number)),
            None,
        )

    def _part(self, problem: Problem, part: Part) -> Verdict:
        lowered = Lowered(
            files={}, settled_by=part.settled_by, described=self.manifest.files, quantities=part.quantities
        )
        return self.encoding.recover(problem, lowered, self.answers)

    def _joined(self, problem: Problem, question: Question, evidence: Evidence) -> Verdict:
        """The verdict on all partitions: their tallies are in the evidence."""
        assert question.cut is not None
        grid = Grid.of(problem, question.cut.size)
        verdicts: dict[int, Verdict] = {}
        for part in question.parts:
            index = part.partition
            if index is None or not 0 <= index < grid.count or part.box != box_in_words(problem.domain, grid, index):
                what = f"this fairdsl cuts `{question.property}` into other partitions"
                raise DiagnosticError(errors.outdated(MANIFEST, what, _AGAIN))
            verdicts[index] = self._part(problem, part)
        evidence = replace(evidence, coverage=_coverage(grid, question.cut.size, verdicts))
        violations = [verdict for verdict in verdicts.values() if isinstance(verdict, Violated)]
        if violations:
            return replace(violations[0], evidence=evidence)
        undecided = [verdict for verdict in verdicts.values() if isinstance(verdict, Unknown)]
        if undecided:
            return replace(worst(undecided), evidence=evidence)
        if len(verdicts) < grid.count:
            detail = f"{grid.count - len(verdicts):,} of {grid.count:,} partitions have no file"
            return Unknown(reason=Reason.INCOMPLETE, detail=detail, evidence=evidence)
        return Holds(evidence=evidence)


def _coverage(grid: Grid, size: int, verdicts: Mapping[int, Verdict]) -> Coverage:
    """How many partitions came to what, and which share of all units lies in them."""

    def tally(kind: type[Verdict]) -> Tally:
        found = [index for index, verdict in verdicts.items() if isinstance(verdict, kind)]
        return Tally(count=len(found), volume=sum(map(grid.volume, found), Fraction(0)))

    return Coverage(size=size, total=grid.count, holds=tally(Holds), violated=tally(Violated), unknown=tally(Unknown))


def _report(
    path: str,
    spec: CheckedSpec,
    elaborated: Elaboration,
    hashed: tuple[tuple[HashedFile, ...], tuple[HashedFile, ...]],
    warnings: Sequence[Diagnostic],
    recovering: _Recovering,
) -> Report:
    """The report; ``hashed`` are the models and the data."""
    findings = [*warnings, *elaborated.warnings]
    demands: dict[str, list[DemandReport]] = {}
    for item in elaborated.demands:
        verdict = recovering.verdict(item)
        if verdict is None:
            continue
        if is_vacuous(verdict):
            findings.append(nobody_compared(item.property.name, item.property.span))
        demands.setdefault(item.property.name, []).append(_demand(item, verdict))
    return Report(
        version=version(),
        path=path,
        sha256=spec.source.sha256,
        title=spec.title,
        models=hashed[0],
        data=hashed[1],
        properties=tuple(
            PropertyReport(
                name=checked.name,
                sentence=checked.title or checked.sentence,
                clauses=checked.clauses,
                demands=tuple(demands[checked.name]),
            )
            for checked in spec.properties
            if checked.name in demands
        ),
        diagnostics=tuple(dict.fromkeys(findings)),
    )


def _demand(item: Elaborated, verdict: Verdict) -> DemandReport:
    return demand_report(
        text=item.demand.text,
        metric=item.demand.metric,
        quantity=item.demand.quantity,
        threshold=item.demand.threshold,
        verdict=verdict,
        domain=item.property.domain,
        outcomes=item.outcomes,
        seconds=0.0,
        population=item.problem.population,
    )
