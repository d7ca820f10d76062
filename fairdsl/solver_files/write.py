"""The questions of a spec as solver files, with a manifest that says what each answer means."""

from __future__ import annotations

import itertools
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fairdsl.backends.encoding import Asked, ByParts, Encoding, encoding_of
from fairdsl.diagnostics import Diagnostic, DiagnosticError
from fairdsl.elaborate import Elaborated, elaborate
from fairdsl.ir.problem import Problem
from fairdsl.options import Options
from fairdsl.plan import errors
from fairdsl.plan.choices import check_format, check_properties
from fairdsl.plan.expressible import expressible
from fairdsl.report.hashes import hashed_models
from fairdsl.report.model import HashedFile
from fairdsl.semantics import CheckedSpec, front_end
from fairdsl.solver_files.folder import Folder
from fairdsl.solver_files.manifest import MANIFEST, Cut, Manifest, ModelFile, Part, Question, SpecFile, written

__all__ = ["Compiled", "Partitioning", "compile_spec"]

#: More are not written unless a number is asked for: nobody meant that many files.
_MOST_PARTITIONS = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Partitioning:
    """Questions are cut into chunks of at most ``size`` values of each attribute; of these partitions the first
    so many are written (None: all), in the order that ``seed`` determines.
    """

    size: int
    first: int | None = None
    seed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiled:
    """The files that were written, and what the format cannot express.

    ``questions`` are the demands that the files ask, ``refused`` the requirements that they cannot; ``left_out``
    says in a line each which measures are not in the files and why.
    """

    files: tuple[Path, ...]
    manifest: Path
    questions: tuple[Question, ...]
    refused: tuple[Diagnostic, ...]
    left_out: tuple[str, ...]


def compile_spec(
    path: str,
    form: str,
    directory: str,
    models: Mapping[str, str],
    partitioning: Partitioning | None = None,
    *,
    data: Mapping[str, str] | None = None,
    options: Options | None = None,
    properties: Sequence[str] = (),
) -> Compiled:
    """Write every question that ``form`` expresses into ``directory``, in place of an earlier run's files.

    Files in ``models`` and ``data`` replace those of models and distributions, by name. ``options`` are those of
    backends; only the ``properties`` are asked, where some are named. Raises DiagnosticError for mistakes in the spec,
    its files or the names of format and properties, for a ``partitioning`` of files that have none, and for options
    that such files do not depend on.
    """
    check_format(form)
    encoding = encoding_of(form)
    options = options or Options()
    for section in options.sections:
        section.ready()
    unread = [path for section in options.sections for path in section.given if path not in encoding.reads]
    if unread:
        why = f"such files do not depend on {', '.join(f'`{path}`' for path in unread)}: leave it out"
        raise DiagnosticError(errors.format_refuses(form, why, None))
    encoding = encoding.under(options)
    if partitioning is not None and not isinstance(encoding, ByParts):
        raise DiagnosticError(errors.format_refuses(form, "such a file is refined as a whole, not by partitions", None))
    spec, _ = front_end(path)
    check_properties(properties, spec)
    spec = spec.restricted_to(properties)
    elaborated = elaborate(spec, models, data=data)
    hashed = hashed_models(spec, elaborated.models, models)
    by_name = {file.name: file for file in hashed}
    questions: list[Question] = []
    refused: list[tuple[Elaborated, Diagnostic]] = []
    taken: set[str] = set()
    with Folder(Path(directory)) as folder:
        for item in elaborated.demands:
            problem = expressible(item, encoding)
            if isinstance(problem, Diagnostic):
                refused.append((item, problem))
                continue
            asked = _asked(spec, path, item, by_name[item.property.model])
            problem = _named_apart(problem, taken)
            taken.add(problem.name)
            parts, cut = _parts(problem, encoding, asked, partitioning, folder)
            questions.append(_question(item, problem, encoding, parts, cut))
        manifest = Manifest(
            format=form,
            spec=SpecFile(path=_from(directory, path), sha256=spec.source.sha256),
            models=tuple(
                ModelFile(name=file.name, path=file.path and _from(directory, file.path), sha256=file.sha256)
                for file in hashed
            ),
            questions=tuple(questions),
            files=folder.files,
            refused=tuple(_refusal(item, why) for item, why in refused),
        )
        folder.publish(written(manifest))
    return Compiled(
        files=tuple(folder.path / name for name in folder.files),
        manifest=folder.path / MANIFEST,
        questions=manifest.questions,
        refused=tuple(why for item, why in refused if item.demand.required),
        left_out=tuple(
            f"`{item.demand.text}` of `{item.property.name}` is not among the files: {why.title}"
            for item, why in refused
            if not item.demand.required
        ),
    )


def _parts(
    problem: Problem, encoding: Encoding, asked: Asked, partitioning: Partitioning | None, folder: Folder
) -> tuple[tuple[Part, ...], Cut | None]:
    """The parts of a question, whose files are written as they are made, and how it is cut."""
    if partitioning is None:
        lowered = encoding.lower(problem, asked)
        folder.add(lowered)
        part = Part(settled_by=lowered.settled_by, quantities=lowered.quantities, combined=lowered.combined)
        return (part,), None
    assert isinstance(encoding, ByParts), "others are refused"
    grid = encoding.parts(problem, partitioning.size)
    if partitioning.first is None and grid.count > _MOST_PARTITIONS:
        raise DiagnosticError(errors.too_many_partitions(problem.name, grid.count, _MOST_PARTITIONS))
    parts = []
    for index in itertools.islice(grid.order(partitioning.seed), partitioning.first):
        inside = replace(grid.problem(index), name=f"{problem.name}.p{index:07d}")
        box = grid.words(index)
        lowered = encoding.on_part(box).lower(inside, asked)
        folder.add(lowered)
        parts.append(
            Part(
                settled_by=lowered.settled_by,
                partition=index,
                box=box,
                volume=str(grid.volume(index)),
            )
        )
    return tuple(parts), Cut(size=partitioning.size, count=grid.count, seed=partitioning.seed)


def _question(
    item: Elaborated, problem: Problem, encoding: Encoding, parts: tuple[Part, ...], cut: Cut | None
) -> Question:
    return Question(
        property=item.property.name,
        number=1 + item.property.demands.index(item.demand),
        demand=item.demand.text,
        fidelity=encoding.evidence(problem).fidelity.value,
        verdict=encoding.meaning if cut is None else _of_parts(encoding.meaning, len(parts), cut.count),
        clauses=tuple(item.property.clauses),
        formula=item.property.formula,
        parts=parts,
        partitions=cut,
    )


def _of_parts(meaning: Mapping[str, str], written: int, count: int) -> Mapping[str, str]:
    """What answers mean where a question is cut: it holds only if it holds on every partition."""
    holds = f"{meaning['holds']}, in each of all {count:,} partitions"
    if written < count:
        holds += f"; here are the files of {written:,} of them, which prove nothing about the others"
    return {**meaning, "holds": holds}


def _refusal(item: Elaborated, why: Diagnostic) -> dict[str, str]:
    return {"property": item.property.name, "demand": item.demand.text, "code": why.code, "title": why.title}


def _named_apart(problem: Problem, taken: Collection[str]) -> Problem:
    """Files are named after the property; a second question of one property gets a number behind it."""
    names = itertools.chain([problem.name], (f"{problem.name}-{number}" for number in itertools.count(2)))
    return replace(problem, name=next(name for name in names if name not in taken))


def _from(directory: str, path: str) -> str:
    """The path as it is written from inside the folder, with slashes; the bare name on another drive."""
    try:
        return Path(os.path.relpath(path, directory)).as_posix()
    except ValueError:
        return os.path.basename(path)


def _asked(spec: CheckedSpec, path: str, item: Elaborated, model: HashedFile) -> Asked:
    """The demand in the spec's words; files are named without their folders, which are this machine's."""
    return Asked(
        spec=os.path.basename(path),
        spec_sha256=spec.source.sha256,
        title=spec.title,
        model=model.name,
        model_path=None if model.path is None else os.path.basename(model.path),
        model_sha256=model.sha256,
        property=item.property.name,
        sentence=item.property.title or item.property.sentence,
        clauses=item.property.clauses,
        formula=item.property.formula,
        demand=item.demand.text,
        metric=item.demand.metric,
        threshold=item.demand.threshold,
        required=item.demand.required,
    )
