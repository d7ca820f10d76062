"""Answers to solver files become the report that ``check`` would give.

    manifest --sources--> problems --files--> answers --encoding.recover--> a verdict a part --_joined--> verdicts
        --gather--> report

The spec and its models are read again, and must be those that the files were written from; the solver files must
be the ones that were written. Of partitions the property holds only if every one of them does.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from hashlib import sha256
from pathlib import Path

from fairdsl.backends.contract import Budget
from fairdsl.backends.encoding import Answer, ByParts, Encoding, Lowered, Parts, Standalone, encoding_of
from fairdsl.backends.errors import nothing_to_recover
from fairdsl.backends.formats import FORMATS, format_of
from fairdsl.diagnostics import Diagnostic, DiagnosticError
from fairdsl.elaborate import Elaborated, elaborate
from fairdsl.ir.problem import Problem
from fairdsl.plan.expressible import expressible
from fairdsl.replay import shortened
from fairdsl.report.gather import Gathering
from fairdsl.report.hashes import hashed_models
from fairdsl.report.model import HashedFile, Report
from fairdsl.semantics import front_end
from fairdsl.solver_files import errors
from fairdsl.solver_files.answers import answers_of
from fairdsl.solver_files.manifest import MANIFEST, Manifest, Part, Question, read_manifest
from fairdsl.solver_files.report import report_of
from fairdsl.verdict import Coverage, Evidence, Holds, Reason, Refused, Tally, Unknown, Verdict, Violated, Word, worst

__all__ = ["recover_files"]


def recover_files(
    paths: Sequence[Path],
    *,
    answers: Sequence[Path] = (),
    spec: str | None = None,
    models: Mapping[str, str],
    data: Mapping[str, str],
    memory: int,
) -> Report:
    """The report on solver files: on those of a folder, or on files that state their demands, wherever they lie.

    ``answers`` are files with answers (by default those in the folder), ``spec`` is the spec's path where it is
    not the manifest's, ``models`` and ``data`` are files that replaced the spec's. Raises DiagnosticError
    where manifest, spec, models, files and answers do not belong together, ValueError for options of a folder where
    files are given.
    """
    folder = paths[0] if len(paths) == 1 and paths[0].is_dir() else None
    if folder is not None and _by_manifest(folder):
        return _recover_answers(folder, answers=answers, spec=spec, models=models, data=data)
    if answers or spec is not None or models or data:
        if folder is not None:
            raise DiagnosticError(nothing_to_recover([str(folder)], "the folder has no manifest of solver files"))
        raise ValueError("`answers`, `spec`, `models` and `data` belong to one folder of solver files")
    return report_of(_standalone(paths).results(paths, memory))


def _by_manifest(folder: Path) -> bool:
    """Whether only the folder's manifest says what its files ask."""
    try:
        content = json.loads((folder / MANIFEST).read_bytes())
    except (OSError, ValueError, RecursionError):
        content = None
    form = content.get("format") if isinstance(content, dict) else None
    if form in FORMATS:
        return not isinstance(encoding_of(form), Standalone)
    files = (path for path in folder.iterdir() if path.name != MANIFEST)
    return (folder / MANIFEST).is_file() and not any(_states_its_demand(path) for path in files)


def _states_its_demand(file: Path) -> bool:
    form = format_of(file) if file.is_file() else None
    return form is not None and isinstance(encoding_of(form), Standalone)


def _standalone(paths: Sequence[Path]) -> Standalone:
    """The encoding whose files these are, or the first of those whose files state their demands."""
    files = [file for path in paths for file in (sorted(path.iterdir()) if path.is_dir() else [path])]
    named = [form for file in files if file.is_file() and (form := format_of(file)) is not None]
    encodings = (encoding_of(form) for form in dict.fromkeys([*named, *FORMATS]))
    return next(encoding for encoding in encodings if isinstance(encoding, Standalone))


def _recover_answers(
    folder: Path,
    *,
    answers: Sequence[Path],
    spec: str | None,
    models: Mapping[str, str],
    data: Mapping[str, str],
) -> Report:
    """The report on the solver files in a folder, from the answers to them; spec and models are read again."""
    manifest = read_manifest(folder / MANIFEST)
    if manifest.format not in FORMATS:
        what = f"it is about files of the format `{manifest.format}`, which this fairdsl does not write"
        raise DiagnosticError(errors.unreadable_manifest(str(folder / MANIFEST), what))
    encoding = encoding_of(manifest.format)
    _unchanged_files(folder, manifest)
    path = _spec_path(folder, manifest) if spec is None else spec
    checked, warnings = front_end(path)
    if checked.source.sha256 != manifest.spec.sha256:
        raise DiagnosticError(errors.outdated(path, "the spec has changed since the files were written", _AGAIN))
    checked = checked.restricted_to(_properties(manifest))
    elaborated = elaborate(checked, models, data=data)
    _unchanged_models(manifest, hashed_models(checked, elaborated.models, models))
    asking = {name: about for name, about in manifest.files.items() if about.get("role") != "network"}
    recovering = _Recovering(manifest, encoding, answers_of(folder, asking, answers, encoding))
    gathering = Gathering(checked, elaborated, warnings, path=path, models=models, data=data)
    for item in elaborated.demands:
        verdict = recovering.verdict(item)
        if verdict is not None:
            gathering.add(item, _by_others(verdict, item.problem))
    return gathering.report()


def _by_others(verdict: Verdict, problem: Problem) -> Verdict:
    """The verdict, which says that others ran the solvers: it is no use to offer them options of `check`."""
    if isinstance(verdict, Refused):
        return verdict
    basis = replace(verdict.evidence.basis, word=Word.FILES).about(problem)
    return replace(verdict, evidence=replace(verdict.evidence, basis=basis))


_AGAIN = "write the files again with `fairdsl compile`, and solve them"


def _properties(manifest: Manifest) -> frozenset[str]:
    """The properties that were asked for: each has a question, or a demand that the format cannot express."""
    refused = (str(one.get("property")) for one in manifest.refused)
    return frozenset((*(one.property for one in manifest.questions), *refused))


def _spec_path(folder: Path, manifest: Manifest) -> str:
    """The spec where the manifest says it is, or beside the manifest."""
    written = manifest.spec.path
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
#: Seconds of which a small part may go into short decimals for the pairs.
_SECONDS_FOR_PAIRS = 20.0


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
        verdict = (
            self._joined(problem, question, evidence) if question.partitions else self._part(problem, question.parts[0])
        )
        if isinstance(verdict, Holds) and isinstance(self.encoding, ByParts):
            vacuous = self.encoding.compares_nobody(problem, Budget.of(_SECONDS_FOR_ANYBODY))
            return Holds(evidence=replace(verdict.evidence, vacuous=vacuous))
        return shortened(verdict, problem, _SECONDS_FOR_PAIRS)

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
        assert question.partitions is not None
        if not isinstance(self.encoding, ByParts):
            what = f"files of the format `{self.manifest.format}` are not cut into partitions"
            raise DiagnosticError(errors.unreadable_manifest(MANIFEST, what))
        grid = self.encoding.parts(problem, question.partitions.size)
        verdicts: dict[int, Verdict] = {}
        for part in question.parts:
            index = part.partition
            if index is None or not 0 <= index < grid.count or part.box != grid.words(index):
                what = f"this fairdsl cuts `{question.property}` into other partitions"
                raise DiagnosticError(errors.outdated(MANIFEST, what, _AGAIN))
            # A pair beside the point that a solver found says something about this part only if it lies in it.
            verdicts[index] = self._part(grid.problem(index), part)
        evidence = replace(evidence, coverage=_coverage(grid, question.partitions.size, verdicts))
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


def _coverage(grid: Parts, size: int, verdicts: Mapping[int, Verdict]) -> Coverage:
    """How many partitions came to what, which share of all units lies in them, and why some are unknown."""

    def tally(kind: type[Verdict]) -> Tally:
        found = [index for index, verdict in verdicts.items() if isinstance(verdict, kind)]
        return Tally(count=len(found), volume=sum(map(grid.volume, found), Fraction(0)))

    reasons = Counter(verdict.reason for verdict in verdicts.values() if isinstance(verdict, Unknown))
    return Coverage(
        size=size,
        total=grid.count,
        holds=tally(Holds),
        violated=tally(Violated),
        unknown=tally(Unknown),
        reasons=tuple(reasons.most_common()),
    )
