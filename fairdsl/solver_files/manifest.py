"""The manifest of solver files: what each file asks, and what leads its answer back to the spec.

A document ``fairdsl.manifest/2`` (docs/solver-files.md describes it key by key). Its ``sha256`` is of everything
else in it, as JSON with sorted keys: a manifest that was cut off or changed is refused. It proves no origin.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from fairdsl.codec import MisfitError, Sealed
from fairdsl.diagnostics import DiagnosticError
from fairdsl.elaborate import Elaborated
from fairdsl.plan.negotiate import Inexpressible
from fairdsl.solver_files import errors
from fairdsl.source.json_text import read_json
from fairdsl.source.reading import content_of

#: The file's name in its folder.
MANIFEST = "manifest.json"
#: What answers are called behind the name of their file.
ANSWER_ENDINGS = (".answer", ".out", ".txt")
_FAMILY = "fairdsl.manifest/"


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecFile:
    """The spec that the files were written from."""

    #: Its path from the folder.
    path: str
    #: Its digest.
    sha256: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFile:
    """A model that the files are about."""

    #: What the spec calls it.
    name: str
    #: Its path from the folder; null, as the digest is, of a model written in the spec.
    path: str | None
    #: Its digest.
    sha256: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A question, or a partition of it."""

    #: Its number, where the question is cut.
    partition: int | None = None
    #: Its share of all units, as a fraction.
    volume: str | None = None
    #: Its values in the spec's words, by attribute.
    box: Mapping[str, str] | None = None
    #: `unsat` for every file of one of these lists decides it.
    settled_by: tuple[tuple[str, ...], ...]
    #: Where answers are numbers: what they are.
    quantities: tuple[Mapping[str, Any], ...] = ()
    #: Where answers are numbers: what they make together.
    combined: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """How a question is cut into partitions."""

    #: Attributes of more values are cut into chunks of so many.
    size: int
    #: How many partitions there are in all.
    count: int
    #: Of the order in which the first ones are written.
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One demand."""

    #: The property that it is of.
    property: str
    #: Which demand of its property it is, from 1.
    number: int
    #: The demand as it is written.
    demand: str
    #: What the files ask compared with the demand.
    fidelity: str
    #: In words, what answers mean.
    verdict: Mapping[str, str]
    #: What is in force.
    clauses: tuple[str, ...]
    #: The property as a formula.
    formula: str
    #: How it is cut, where it is.
    partitions: Cut | None = None
    #: The question itself, or the partitions that have files.
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest(Sealed):
    """Everything that is said about a folder of solver files."""

    SCHEMA: ClassVar[str] = "fairdsl.manifest/2"

    #: The format's name, as `--to` takes it.
    format: str
    #: What was set of the options that the files depend on, by path, as the command line writes it.
    options: Mapping[str, str] = field(default_factory=dict)
    #: The properties that the files are about, where not all were asked for.
    properties: tuple[str, ...] = ()
    #: The spec.
    spec: SpecFile
    #: Every model that a question is about.
    models: tuple[ModelFile, ...]
    #: The demands that the files ask.
    questions: tuple[Question, ...]
    #: What is said of each file by its name, with its sha256.
    files: Mapping[str, Mapping[str, Any]]
    #: The demands that the format cannot express.
    refused: tuple[Mapping[str, str], ...]

    def __post_init__(self) -> None:
        outside = next((name for name in self.files if not _lies_in_the_folder(name)), None)
        if outside is not None:
            raise ValueError(f"`{outside}` is not the name of a file in the folder")


def _lies_in_the_folder(name: str) -> bool:
    """Whether it is a name by itself, on any system: no path, however it is written."""
    return name not in ("", ".", "..") and not set(name) & set("/\\\0")


def refusal(item: Elaborated, refused: Inexpressible) -> dict[str, str]:
    """What is said of a demand that the format cannot express."""
    why = refused.why
    return {"property": item.property.name, "demand": item.demand.text, "code": why.code, "title": why.title}


def files_named(path: Path) -> tuple[str, ...] | None:
    """The files that a manifest, of whatever version, speaks of; None of a file that does not claim to be one."""
    try:
        content = read_json(content_of(path))
    except (OSError, ValueError):
        return None
    schema = content.get("schema") if isinstance(content, dict) else None
    if not isinstance(schema, str) or not schema.startswith(_FAMILY):
        return None
    files = content.get("files")
    return tuple(map(str, files)) if isinstance(files, dict) else ()


def read_manifest(path: Path) -> Manifest:
    """The manifest in a file; DiagnosticError, with the place, where it is damaged or of another version."""
    try:
        return Manifest.from_json(content_of(path))
    except OSError as error:
        raise DiagnosticError(errors.unreadable_manifest(str(path), error.strerror or str(error))) from error
    except MisfitError as error:
        raise DiagnosticError(errors.unreadable_manifest(str(path), str(error))) from error


def answer_names(name: str) -> Iterator[str]:
    """What an answer to the file may be called."""
    for stem in (name, name.rpartition(".")[0]):
        yield from (stem + ending for ending in ANSWER_ENDINGS)
