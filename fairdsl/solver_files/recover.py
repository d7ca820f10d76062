"""Answers to solver files become the report that ``check`` would give.

    spec, models, data --derived--> questions --held against--> manifest and files
    answers --encoding.recover--> a verdict a part --_joined--> verdicts --gather--> report

Only answers are believed, and the verdict says whose. The questions, the files and what settles them are derived again;
a folder that asks something else is refused. Of partitions the property holds only if every one of them does.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from hashlib import sha256
from pathlib import Path

from fairdsl.backends.contract import Budget
from fairdsl.backends.encoding import ByParts, Encoding, Parts, Standalone, encoding_of
from fairdsl.backends.errors import nothing_to_recover
from fairdsl.backends.formats import FORMATS, format_of
from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.problem import Problem
from fairdsl.options import Run, options_of, split_settings
from fairdsl.plan.registry import sections
from fairdsl.replay import shortened
from fairdsl.report.gather import Gathering
from fairdsl.report.model import Recovered, Report
from fairdsl.solver_files import errors
from fairdsl.solver_files.answers import Output, answer_to, outputs_of
from fairdsl.solver_files.manifest import MANIFEST, Manifest, Part, Question, read_manifest, refusal
from fairdsl.solver_files.questions import Asking, Derivation, Derived, Partitioning, derived, encoding_under
from fairdsl.solver_files.report import report_of
from fairdsl.verdict import (
    Arithmetic,
    Claim,
    Coverage,
    Evidence,
    Holds,
    Reason,
    Refused,
    Tally,
    Unknown,
    Verdict,
    Violated,
    Word,
    worst,
)

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
    """The report on the solver files in a folder, from the answers to them; what they ask is derived again."""
    manifest = read_manifest(folder / MANIFEST)
    if manifest.format not in FORMATS:
        what = f"it is about files of the format `{manifest.format}`, which this fairdsl does not write"
        raise DiagnosticError(errors.unreadable_manifest(str(folder / MANIFEST), what))
    path = _spec_path(folder, manifest) if spec is None else spec
    derivation = _derived_again(folder, manifest, path, models, data)
    asking = [name for name, about in manifest.files.items() if about.get("role") != "network"]
    recovering = _Recovering(folder, manifest, outputs_of(folder, asking, answers))
    gathering = Gathering(
        derivation.spec, derivation.elaborated, derivation.warnings, path=path, models=models, data=data
    )
    for one, question in zip(derivation.askings, manifest.questions, strict=True):
        gathering.add(one.item, recovering.verdict(one, question))
    recovering.nothing_else()
    for item, why in derivation.refused:
        if item.demand.required:
            gathering.add(item, Refused(diagnostics=(why,)))
    named = Recovered(folder=str(folder), spec_named=spec is not None, properties=manifest.properties)
    return replace(gathering.report(), recovered=named)


_AGAIN = "write the files again with `fairdsl compile`, and solve them"


def _derived_again(
    folder: Path, manifest: Manifest, path: str, models: Mapping[str, str], data: Mapping[str, str]
) -> Derivation:
    """What the spec asks, and asked when the files were written; DiagnosticError where the folder is about another."""
    where = str(folder / MANIFEST)
    try:
        set_ = options_of(
            Run(), split_settings(f"{one}={value}" for one, value in manifest.options.items()), sections()
        )
        encoding = encoding_under(manifest.format, set_)
        derivation = derived(path, encoding, models, data, manifest.properties, _cut(manifest))
    except DiagnosticError as error:
        _same_spec(path, sha256(Path(path).read_bytes()).hexdigest(), manifest)
        if all(found.code in _ABOUT_THE_FOLDER for found in error.diagnostics):
            raise DiagnosticError(errors.unreadable_manifest(where, error.diagnostics[0].title)) from error
        raise
    _same_spec(path, derivation.spec.source.sha256, manifest)
    expected = {file.name: file.sha256 for file in manifest.models}
    for file in derivation.models:
        if expected.get(file.name) != file.sha256:
            what = f"the model `{file.name}` is another file than the one that the solver files are about"
            help_ = f"give the file as it was with `--model {file.name}=PATH`, or write the solver files again"
            raise DiagnosticError(errors.outdated(file.path or file.name, what, help_))
    asks = [(one.item.property.name, one.item.demand.text) for one in derivation.askings]
    said = [(question.property, question.demand) for question in manifest.questions]
    if asks != said:
        what = _of_lists([f"`{demand}` of `{name}`" for name, demand in asks], [f"`{d}` of `{n}`" for n, d in said])
        raise DiagnosticError(errors.other_questions(where, what))
    if [refusal(item, why) for item, why in derivation.refused] != [dict(one) for one in manifest.refused]:
        raise DiagnosticError(errors.other_questions(where, "its `refused` are not what the format cannot express"))
    return derivation


def _same_spec(path: str, digest: str, manifest: Manifest) -> None:
    if digest != manifest.spec.sha256:
        raise DiagnosticError(errors.outdated(path, "the spec has changed since the files were written", _AGAIN))


#: What is wrong with options and names that the folder gives, which the user of `recover` did not write.
_ABOUT_THE_FOLDER = ("E0601", "E0602", "E0603", "E0604", "E0660", "E0661", "E0662")


def _of_lists(derived_: Sequence[str], said: Sequence[str]) -> str:
    """The first thing in which two lists differ."""
    for ours, theirs in zip(derived_, said, strict=False):
        if ours != theirs:
            return f"it has {theirs} where the spec has {ours}"
    if len(said) < len(derived_):
        return f"it lacks {derived_[len(said)]}"
    return f"it has {said[len(derived_)]}, which the spec does not ask in this format"


def _cut(manifest: Manifest) -> Partitioning | None:
    """How the folder says that questions are cut, all of them alike."""
    cuts = {(one.partitions.size, one.partitions.seed) for one in manifest.questions if one.partitions is not None}
    if not cuts:
        return None
    (size, seed), *others = cuts
    if others or any(one.partitions is None for one in manifest.questions) or size < 1:
        raise DiagnosticError(errors.unreadable_manifest(MANIFEST, "its questions are cut in different ways"))
    # A grid of fewer partitions has files for all of them.
    return Partitioning(size=size, first=max(len(one.parts) for one in manifest.questions), seed=seed)


def _spec_path(folder: Path, manifest: Manifest) -> str:
    """The spec where the manifest says it is, or beside the manifest."""
    written = manifest.spec.path
    for path in (folder / written, folder / Path(written).name):
        if path.is_file():
            return os.path.normpath(path)
    help_ = "name the spec: `fairdsl recover SPEC DIR`"
    raise DiagnosticError(errors.outdated(str(folder / written), "there is no such spec", help_))


#: Seconds to look for somebody to compare before a proof is reported as it is.
_SECONDS_FOR_ANYBODY = 5.0
#: Seconds of which a small part may go into short decimals for the pairs.
_SECONDS_FOR_PAIRS = 20.0


@dataclass(frozen=True)
class _Recovering:
    """Verdicts of questions from the answers to their files, which are held against what is derived."""

    folder: Path
    manifest: Manifest
    outputs: Mapping[str, Sequence[Output]]
    #: The digests of the files that were derived so far.
    _derived: dict[str, str] = field(default_factory=dict)

    def verdict(self, asking: Asking, question: Question) -> Verdict:
        """What a demand came to."""
        parts: list[Part] = []
        found: list[tuple[Part, Verdict, tuple[Claim, ...]]] = []
        for one in asking.parts():
            self._hold_against(one.lowered.files)
            parts.append(one.part)
            found.append((one.part, *self._part(asking.encoding, one)))
        asked = asking.question(parts)
        if asked != question:
            what = f"of `{question.demand}` in `{question.property}`, {_differing(asked, question)}"
            raise DiagnosticError(errors.other_questions(str(self.folder / MANIFEST), what))
        grid = asking.grid
        if grid is None:
            ((_, verdict, claims),) = found
        else:
            evidence = asking.encoding.evidence(asking.problem)
            verdict = _joined(grid, asked, evidence, {_number(part): one for part, one, _ in found})
            claims = tuple(claim for _, _, all_of in found for claim in all_of)
        if isinstance(verdict, Holds) and isinstance(asking.encoding, ByParts):
            vacuous = asking.encoding.compares_nobody(asking.problem, Budget.of(_SECONDS_FOR_ANYBODY))
            verdict = Holds(evidence=replace(verdict.evidence, vacuous=vacuous))
        else:
            verdict = shortened(verdict, asking.problem, _SECONDS_FOR_PAIRS)
        return _on_their_word(verdict, asking.problem, claims)

    def nothing_else(self) -> None:
        """DiagnosticError where the folder speaks of files that nothing asks for."""
        other = next((name for name in self.manifest.files if name not in self._derived), None)
        if other is not None:
            what = f"it speaks of `{other}`, which the spec does not need"
            raise DiagnosticError(errors.other_questions(str(self.folder / MANIFEST), what))

    def _part(self, encoding: Encoding, one: Derived) -> tuple[Verdict, tuple[Claim, ...]]:
        """The verdict on a part, and what it believes."""
        read = {
            name: answer_to(self.outputs[name], one.lowered.described.get(name, {}), encoding)
            for name in one.lowered.files
            if name in self.outputs
        }
        answers = {name: answer for name, (answer, _) in read.items()}
        return (
            encoding.recover(one.problem, one.lowered, answers),
            tuple(claim for _, claims in read.values() for claim in claims),
        )

    def _hold_against(self, files: Mapping[str, bytes]) -> None:
        """DiagnosticError where the manifest, or what lies in the folder, is not what is derived."""
        for name, content in files.items():
            digest = sha256(content).hexdigest()
            if self._derived.setdefault(name, digest) != self.manifest.files.get(name, {}).get("sha256"):
                what = f"its `{name}` is not the file that the spec, its models and its data come to"
                raise DiagnosticError(errors.other_questions(str(self.folder / MANIFEST), what))
            path = self.folder / name
            try:
                changed = sha256(path.read_bytes()).hexdigest() != digest
            except OSError as error:
                what = "the solver file is missing"
                raise DiagnosticError(errors.outdated(str(path), what, "copy it beside the manifest")) from error
            if changed:
                what = "the solver file has changed since it was written"
                raise DiagnosticError(errors.outdated(str(path), what, _AGAIN))


def _differing(ours: Question, theirs: Question) -> str:
    """The first thing that a manifest says of a question otherwise."""
    names = ("number", "fidelity", "verdict", "clauses", "formula", "partitions")
    other = next((name for name in names if getattr(ours, name) != getattr(theirs, name)), None)
    if other is not None:
        return f"its `{other}` is not what the spec comes to"
    if len(ours.parts) != len(theirs.parts):
        return f"it has {len(theirs.parts):,} parts and not {len(ours.parts):,}"
    place, keys = next(
        (number, [name for name in Part.__dataclass_fields__ if getattr(one, name) != getattr(other, name)])
        for number, (one, other) in enumerate(zip(ours.parts, theirs.parts, strict=True), start=1)
        if one != other
    )
    return f"`{keys[0]}` of part {place:,} is not what the spec comes to"


def _number(part: Part) -> int:
    assert part.partition is not None, "a part of a question that is cut has a number"
    return part.partition


def _on_their_word(verdict: Verdict, problem: Problem, claims: Sequence[Claim]) -> Verdict:
    """The verdict with what it rests on: a pair was replayed here; whatever else was answered is somebody's word."""
    if isinstance(verdict, Refused):
        return verdict
    basis = verdict.evidence.basis.about(problem)
    match verdict:
        case Violated(witnesses=pairs):
            both = bool(pairs) and all(pair.replay.float32 for pair in pairs)
            basis = replace(basis, arithmetic=Arithmetic.DEPLOYED if both else Arithmetic.EXACT, word=Word.OWN)
        case Unknown():
            basis = replace(basis, word=Word.FILES)
        case _ if claims:
            basis = replace(basis, arithmetic=Arithmetic.CLAIMED, word=Word.FILES, claims=tuple(claims))
    return replace(verdict, evidence=replace(verdict.evidence, basis=basis))


def _joined(grid: Parts, question: Question, evidence: Evidence, verdicts: Mapping[int, Verdict]) -> Verdict:
    """The verdict on all partitions: their tallies are in the evidence."""
    assert question.partitions is not None
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
