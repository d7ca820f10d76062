"""Answers to solver files become the report that ``check`` would give.

    spec, models, data --derived--> questions --held against--> manifest and files
    answers --encoding.recover--> a verdict a part --_joined--> verdicts --gather--> report

Only answers are believed, and the verdict says whose. The questions, the files and what settles them are derived again;
a folder that asks something else is refused. Of partitions the property holds only if every one of them does.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from fairdsl.backends.encoding import Believing, Encoding, Standalone, encoding_of
from fairdsl.backends.errors import nothing_to_recover, other_questions
from fairdsl.backends.formats import FORMATS, format_of, formats
from fairdsl.diagnostics import DiagnosticError
from fairdsl.options import Run, options_of, split_settings
from fairdsl.plan.registry import sections
from fairdsl.report.gather import Gathering
from fairdsl.report.hashes import spec_file
from fairdsl.report.model import Recovered, Report
from fairdsl.solver_files import errors
from fairdsl.solver_files.answers import outputs_of
from fairdsl.solver_files.manifest import MANIFEST, Manifest, read_manifest, refusal
from fairdsl.solver_files.questions import Derivation, Partitioning, derived, encoding_under
from fairdsl.solver_files.recovering import AGAIN, Recovering
from fairdsl.solver_files.report import report_of
from fairdsl.source.json_text import read_json
from fairdsl.source.reading import content_of
from fairdsl.source.writing import files_in
from fairdsl.verdict import Refused


def recover_files(
    paths: Sequence[Path],
    *,
    answers: Sequence[Path] = (),
    spec: str | None = None,
    models: Mapping[str, str],
    let: Mapping[str, str],
    data: Mapping[str, str],
    believing: Believing,
) -> Report:
    """The report on solver files: on those of a folder, or on files that state their demands, wherever they lie.

    ``answers`` are files with answers (by default those in the folder), ``spec`` is the spec's path where it is
    not the manifest's, ``models`` and ``data`` are files that replaced the spec's, ``let`` numbers that replaced those
    of its parameters. Raises DiagnosticError where manifest, spec, models, files and answers do not belong
    together, ValueError for options of a folder where files are given.
    """
    folder = paths[0] if len(paths) == 1 and paths[0].is_dir() else None
    if folder is not None and _by_manifest(folder):
        return _recover_answers(folder, answers=answers, spec=spec, models=models, let=let, data=data)
    asked = None
    if folder is not None and (folder / MANIFEST).is_file():
        manifest = read_manifest(folder / MANIFEST)
        spec_path = _spec_path(folder, manifest) if spec is None else spec
        asked = _derived_again(folder, manifest, spec_path, models, let, data)
        recovering = Recovering(folder, manifest, {})
        for one, question in zip(asked.askings, manifest.questions, strict=True):
            recovering.held_against(one, question)
        recovering.nothing_else()
    elif spec is not None:
        asked = derived(spec, _encoding_of_files(paths), models, data, let=let)
    if answers or (asked is None and (models or let or data)):
        if folder is not None:
            raise DiagnosticError(nothing_to_recover([str(folder)], "the folder has no manifest of solver files"))
        raise ValueError("`answers` belong to one folder of solver files, `models` and `data` to a spec")
    if asked is None:
        return report_of(_standalone(paths).results(paths, believing))
    files = [content for one in asked.askings for part in one.parts() for content in part.lowered.files.values()]
    believing = replace(believing, derived=frozenset(sha256(content).hexdigest() for content in files))
    return _of_spec(
        report_of(_standalone(paths).results(paths, believing)), asked, paths[0], spec_named=spec is not None
    )


def _of_spec(report: Report, asked: Derivation, place: Path, *, spec_named: bool) -> Report:
    """The report on files that state their demands, which are those of this spec."""
    found = {item.name for item in report.properties}
    part = tuple(one.name for one in asked.spec.properties if one.name in found)
    every = len(part) == len(asked.spec.properties) and not asked.properties
    named = Recovered(folder=str(place), spec_named=spec_named, properties=() if every else part)
    return replace(report, spec=spec_file(asked.spec, asked.path), recovered=named)


def _by_manifest(folder: Path) -> bool:
    """Whether only the folder's manifest says what its files ask."""
    try:
        content = read_json(content_of(folder / MANIFEST))
    except (OSError, ValueError):
        content = None
    form = content.get("format") if isinstance(content, dict) else None
    if isinstance(form, str) and form in formats():
        return not isinstance(encoding_of(form), Standalone)
    files = (path for path in files_in(folder) if path.name != MANIFEST)
    return (folder / MANIFEST).is_file() and not any(_states_its_demand(path) for path in files)


def _states_its_demand(file: Path) -> bool:
    form = format_of(file) if file.is_file() else None
    return form is not None and isinstance(encoding_of(form), Standalone)


def _standalone(paths: Sequence[Path]) -> Standalone:
    """The encoding whose files these are, or the first of those whose files state their demands."""
    found = _encoding_of_files(paths)
    assert isinstance(found, Standalone), "it was looked for"
    return found


def _encoding_of_files(paths: Sequence[Path]) -> Encoding:
    """The same, as what writes the files."""
    files = [file for path in paths for file in (files_in(path) if path.is_dir() else [path])]
    named = [form for file in files if file.is_file() and (form := format_of(file)) is not None]
    encodings = (encoding_of(form) for form in dict.fromkeys([*named, *FORMATS]))
    return next(encoding for encoding in encodings if isinstance(encoding, Standalone))


def _recover_answers(
    folder: Path,
    *,
    answers: Sequence[Path],
    spec: str | None,
    models: Mapping[str, str],
    let: Mapping[str, str],
    data: Mapping[str, str],
) -> Report:
    """The report on the solver files in a folder, from the answers to them; what they ask is derived again."""
    manifest = read_manifest(folder / MANIFEST)
    path = _spec_path(folder, manifest) if spec is None else spec
    derivation = _derived_again(folder, manifest, path, models, let, data)
    asking = [name for name, about in manifest.files.items() if about.get("role") != "network"]
    recovering = Recovering(folder, manifest, outputs_of(folder, asking, answers))
    gathering = Gathering(
        derivation.spec, derivation.elaborated, derivation.warnings, path=path, models=models, data=data
    )
    for one, question in zip(derivation.askings, manifest.questions, strict=True):
        gathering.add(one.item, recovering.verdict(one, question))
    recovering.nothing_else()
    for item, why in derivation.refused:
        if item.demand.required:
            gathering.add(item, Refused(diagnostics=(why.why,)))
    named = Recovered(folder=str(folder), spec_named=spec is not None, properties=manifest.properties)
    return replace(gathering.report(), recovered=named)


def _derived_again(
    folder: Path,
    manifest: Manifest,
    path: str,
    models: Mapping[str, str],
    let: Mapping[str, str],
    data: Mapping[str, str],
) -> Derivation:
    """What the spec asks, and asked when the files were written; DiagnosticError where the folder is about another."""
    where = str(folder / MANIFEST)
    if manifest.format not in formats():
        what = f"it is about files of the format `{manifest.format}`, which this fairdsl does not write"
        raise DiagnosticError(errors.unreadable_manifest(where, what))
    try:
        set_ = options_of(
            Run(), split_settings(f"{one}={value}" for one, value in manifest.options.items()), sections()
        )
        encoding = encoding_under(manifest.format, set_)
        derivation = derived(path, encoding, models, data, manifest.properties, _cut(manifest), let)
    except DiagnosticError as error:
        _same_spec(path, sha256(content_of(path)).hexdigest(), manifest)
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
        raise DiagnosticError(other_questions(where, what))
    if [refusal(item, why) for item, why in derivation.refused] != [dict(one) for one in manifest.refused]:
        raise DiagnosticError(other_questions(where, "its `refused` are not what the format cannot express"))
    return derivation


def _same_spec(path: str, digest: str, manifest: Manifest) -> None:
    if digest != manifest.spec.sha256:
        raise DiagnosticError(errors.outdated(path, "the spec has changed since the files were written", AGAIN))


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
