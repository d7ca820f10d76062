"""The questions of a spec as solver files, with a manifest that says what each answer means."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from fairdsl.codec import Document
from fairdsl.diagnostics import Diagnostic, DiagnosticError
from fairdsl.elaborate import Elaborated
from fairdsl.options import Options
from fairdsl.plan import errors
from fairdsl.plan.choices import check_format
from fairdsl.solver_files.folder import Folder
from fairdsl.solver_files.manifest import MANIFEST, Manifest, ModelFile, SpecFile, refusal
from fairdsl.solver_files.questions import Derivation, Partitioning, derived, encoding_under, what_is_set

#: More are not written unless a number is asked for: nobody meant that many files.
_MOST_PARTITIONS = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledQuestion:
    """A demand that the files ask."""

    #: The property that it is of.
    property: str
    #: The line as the spec writes it.
    demand: str
    #: How many parts of it were written; 1 where it is not cut.
    parts: int
    #: How many partitions it is cut into; None where it is not.
    partitions: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiled(Document):
    """The files that were written, and what the format cannot express."""

    SCHEMA: ClassVar[str] = "fairdsl.compiled/1"

    #: The format's name.
    format: str
    #: The manifest, which says what each file asks.
    manifest: Path
    #: All other files.
    files: tuple[Path, ...]
    #: The demands that they ask.
    questions: tuple[CompiledQuestion, ...]
    #: Which measures, and which requirements beside questions of the format's kind, are not in the files and why, in a
    #: line each.
    left_out: tuple[str, ...]
    #: The requirements of the format's kind that it cannot express; all of them where no question is written.
    diagnostics: tuple[Diagnostic, ...]
    #: Lists of the files, for programs that run solvers on all of them.
    lists: tuple[Path, ...] = ()


def compile_spec(
    path: str,
    form: str,
    directory: str,
    models: Mapping[str, str],
    partitioning: Partitioning | None = None,
    *,
    let: Mapping[str, str] | None = None,
    data: Mapping[str, str] | None = None,
    options: Options | None = None,
    properties: Sequence[str] = (),
    instance_timeout: int = 60,
) -> Compiled:
    """Write every question that ``form`` expresses into ``directory``, in place of an earlier run's files.

    Files in ``models`` and ``data`` replace those of models and distributions, by name. ``options`` are those of
    backends; only the ``properties`` are asked, where some are named; ``instance_timeout`` is for lists of instances.
    Raises DiagnosticError for mistakes in the spec,
    its files or the names of format and properties, for a ``partitioning`` of files that have none, and for options
    that such files do not depend on.
    """
    check_format(form)
    options = options or Options()
    encoding = encoding_under(form, options)
    derivation = derived(path, encoding, models, data, properties, partitioning, let)
    if partitioning is None or partitioning.first is None:
        _few_enough(derivation)
    with Folder(Path(directory)) as folder:
        questions = []
        for asking in derivation.askings:
            parts = []
            for one in asking.parts():
                folder.add(one.lowered)
                parts.append(one.part)
            questions.append(asking.question(parts))
        manifest = Manifest(
            format=form,
            options=what_is_set(options),
            properties=derivation.properties,
            spec=SpecFile(path=_from(directory, path), sha256=derivation.spec.source.sha256),
            models=tuple(
                ModelFile(name=file.name, path=file.path and _from(directory, file.path), sha256=file.sha256)
                for file in derivation.models
            ),
            questions=tuple(questions),
            files=folder.files,
            refused=tuple(refusal(item, why) for item, why in derivation.refused),
        )
        beside = encoding.beside(folder.files, instance_timeout)
        folder.publish(manifest.to_json().encode(), beside)
    missed = [(item, why) for item, why in derivation.refused if item.demand.required and not (why.other and questions)]
    return Compiled(
        format=form,
        manifest=folder.path / MANIFEST,
        files=tuple(folder.path / name for name in folder.files),
        lists=tuple(folder.path / name for name in beside),
        questions=tuple(
            CompiledQuestion(
                property=question.property,
                demand=question.demand,
                parts=len(question.parts),
                partitions=None if question.partitions is None else question.partitions.count,
            )
            for question in manifest.questions
        ),
        left_out=tuple(_left_out(item, why.why) for item, why in derivation.refused if (item, why) not in missed),
        diagnostics=tuple(why.why for _, why in missed),
    )


def _left_out(item: Elaborated, why: Diagnostic) -> str:
    """What is said of a demand that is not among the files."""
    what = f"`{' '.join(item.demand.text.split())}` of `{item.property.name}` is not among the files"
    return ": ".join(filter(None, (what, why.title, why.primary.text if why.primary else "")))


def _few_enough(derivation: Derivation) -> None:
    """DiagnosticError where a question has more partitions than anybody meant to write."""
    for asking in derivation.askings:
        grid = asking.grid
        if grid is not None and grid.count > _MOST_PARTITIONS:
            raise DiagnosticError(errors.too_many_partitions(asking.problem.name, grid.count, _MOST_PARTITIONS))


def _from(directory: str, path: str) -> str:
    """The path as it is written from inside the folder, with slashes; the bare name on another drive."""
    try:
        return Path(os.path.relpath(path, directory)).as_posix()
    except ValueError:
        return os.path.basename(path)
