"""``compile``: the questions of a spec as solver files, with a manifest that says what each answer means."""

from __future__ import annotations

import glob
import itertools
import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from fairdsl.backends.contract import Asked, Encoding, Grouping, Lowered
from fairdsl.backends.errors import cannot_write, result_exists
from fairdsl.diagnostics import Diagnostic, DiagnosticError
from fairdsl.elaborate import Elaborated, elaborate
from fairdsl.ir.problem import Problem
from fairdsl.plan import errors
from fairdsl.plan.choices import check_format
from fairdsl.plan.expressible import expressible
from fairdsl.plan.registry import encodings
from fairdsl.report.hashes import hashed_models
from fairdsl.report.manifest import MANIFEST, Cut, Manifest, Part, Question, answer_names, box_in_words, written
from fairdsl.report.model import HashedFile
from fairdsl.resources import version
from fairdsl.semantics import CheckedSpec, front_end

__all__ = ["Compiled", "Partitioning", "compile_spec"]


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
    groups: str | None = None,
) -> Compiled:
    """Write every question that ``form`` expresses into ``directory``, file by file.

    Files in ``models`` and ``data`` replace those of models and distributions, by name. ``groups`` is how groups are
    asked about (`enumerate`, `learn`). Raises DiagnosticError for mistakes in the spec, its files or the name of the
    format, for a ``partitioning`` of files that have none, and for ``groups`` where there is no such choice.
    """
    check_format(form)
    encoding = encodings()[form]
    if groups is not None:
        if not isinstance(encoding, Grouping):
            why = "it asks about groups in one way, or not at all: leave out `--groups`"
            raise DiagnosticError(errors.format_refuses(form, why, None))
        encoding = encoding.grouping(groups)
    if partitioning is not None and not encoding.partitions:
        raise DiagnosticError(errors.format_refuses(form, "such a file is refined as a whole, not by partitions", None))
    spec, _ = front_end(path)
    elaborated = elaborate(spec, models, data=data)
    hashed = hashed_models(spec, elaborated.models, models)
    by_name = {file.name: file for file in hashed}
    writer = _Writer(Path(directory))
    questions: list[Question] = []
    refused: list[tuple[Elaborated, Diagnostic]] = []
    taken: set[str] = set()
    for item in elaborated.demands:
        problem = expressible(item, encoding)
        if isinstance(problem, Diagnostic):
            refused.append((item, problem))
            continue
        asked = _asked(spec, path, item, by_name[item.property.model])
        problem = _named_apart(problem, taken)
        taken.add(problem.name)
        questions.append(_question(item, problem, encoding, _parts(problem, encoding, asked, partitioning, writer)))
    manifest = Manifest(
        version=version(),
        format=form,
        spec=HashedFile(name="spec", path=_from(directory, path), sha256=spec.source.sha256),
        models=tuple(replace(file, path=file.path and _from(directory, file.path)) for file in hashed),
        questions=tuple(questions),
        files=writer.files,
        refused=tuple(_refusal(item, why) for item, why in refused),
    )
    writer.write(MANIFEST, written(manifest))
    return Compiled(
        files=tuple(writer.folder / name for name in writer.files),
        manifest=writer.folder / MANIFEST,
        questions=manifest.questions,
        refused=tuple(why for item, why in refused if item.demand.required),
        left_out=tuple(
            f"`{item.demand.text}` of `{item.property.name}` is not among the files: {why.title}"
            for item, why in refused
            if not item.demand.required
        ),
    )


class _Writer:
    """Writes files as they come, and keeps what the manifest says about each."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files: dict[str, Mapping[str, Any]] = {}

    def add(self, lowered: Lowered) -> None:
        """The files of one question or partition; what earlier ones share with it is there already."""
        for name, content in lowered.files.items():
            if name in self.files:
                assert self.files[name]["sha256"] == sha256(content).hexdigest(), "a name is that of one question"
            else:
                self._keep_apart(name, content)
                self.write(name, content)
                self.files[name] = {**lowered.described.get(name, {}), "sha256": sha256(content).hexdigest()}

    def _keep_apart(self, name: str, content: bytes) -> None:
        """No file takes the place of another one that has answers: they would be taken for answers to it."""
        earlier = self.folder / name
        answers = [self.folder / answer for answer in answer_names(name)]
        answers += list(self.folder.glob(f"{glob.escape(earlier.stem)}*.result")) if earlier.suffix == ".job" else []
        found = next((path for path in answers if path.exists()), None)
        if found is not None and (not earlier.exists() or earlier.read_bytes() != content):
            raise DiagnosticError(result_exists(str(found), "-o DIR", answers=name))

    def write(self, name: str, content: bytes) -> None:
        """Write the file in full under another name first, so that no half-written file is ever read."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            partial = self.folder / f".{name}.partial"
            partial.write_bytes(content)
            partial.replace(self.folder / name)
        except OSError as error:
            raise DiagnosticError(cannot_write(str(self.folder), error.strerror or str(error))) from error


def _parts(
    problem: Problem, encoding: Encoding, asked: Asked, partitioning: Partitioning | None, writer: _Writer
) -> tuple[tuple[Part, ...], Cut | None]:
    """The parts of a question, whose files are written as they are made, and how it is cut."""
    if partitioning is None:
        lowered = encoding.lower(problem, asked)
        writer.add(lowered)
        part = Part(settled_by=lowered.settled_by, quantities=lowered.quantities, combined=lowered.combined)
        return (part,), None
    from fairdsl.backends.smt.partition.grid import Grid, restricted

    grid = Grid.of(problem, partitioning.size)
    parts = []
    for index in itertools.islice(grid.order(partitioning.seed), partitioning.first):
        inside = replace(restricted(problem, grid.box(index)), name=f"{problem.name}.p{index:07d}")
        lowered = encoding.lower(inside, asked)
        writer.add(lowered)
        parts.append(
            Part(
                settled_by=lowered.settled_by,
                partition=index,
                box=box_in_words(problem.domain, grid, index),
                volume=grid.volume(index),
            )
        )
    return tuple(parts), Cut(size=partitioning.size, count=grid.count, seed=partitioning.seed)


def _question(
    item: Elaborated, problem: Problem, encoding: Encoding, parts: tuple[tuple[Part, ...], Cut | None]
) -> Question:
    return Question(
        property=item.property.name,
        number=1 + item.property.demands.index(item.demand),
        demand=item.demand.text,
        fidelity=encoding.evidence(problem).fidelity.value,
        verdict=encoding.meaning,
        clauses=tuple(item.property.clauses),
        formula=item.property.formula,
        parts=parts[0],
        cut=parts[1],
    )


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
