"""The manifest of solver files: what each file asks, and what leads its answer back to the spec.

A document ``fairdsl.manifest/2`` (docs/solver-files.md describes it key by key). Its ``sha256`` is of everything
else in it, as JSON with sorted keys: a manifest that was cut off or changed is refused. It proves no origin.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import Any

from fairdsl.diagnostics import DiagnosticError
from fairdsl.report.model import HashedFile
from fairdsl.solver_files import errors

__all__ = [
    "ANSWER_ENDINGS",
    "MANIFEST",
    "Cut",
    "Manifest",
    "Part",
    "Question",
    "answer_names",
    "files_named",
    "read_manifest",
    "written",
]

#: The file's name in its folder.
MANIFEST = "manifest.json"
#: What answers are called behind the name of their file.
ANSWER_ENDINGS = (".answer", ".out", ".txt")
_SCHEMA = "fairdsl.manifest/2"
_FAMILY = "fairdsl.manifest/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A question, or a partition of it: `unsat` for every file of one list of ``settled_by`` settles it.

    ``partition`` is its number, ``box`` its values in the spec's words by attribute, ``volume`` its share of all
    units; None and empty where the question is not cut. Where answers are numbers, ``quantities`` says what they are,
    ``combined`` what they make together; both are empty otherwise.
    """

    settled_by: tuple[tuple[str, ...], ...]
    partition: int | None = None
    box: Mapping[str, str] = field(default_factory=dict)
    volume: Fraction | None = None
    quantities: tuple[Mapping[str, Any], ...] = ()
    combined: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """How a question is cut: attributes of more than ``size`` values into chunks of ``size``, ``count`` partitions
    in all, of which the first ones in the order of ``seed`` are written.
    """

    size: int
    count: int
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One demand: the ``number``-th of its property, from 1.

    ``fidelity`` says what the files ask compared with the demand, ``verdict`` in words what answers mean.
    """

    property: str
    number: int
    demand: str
    fidelity: str
    verdict: Mapping[str, str]
    clauses: tuple[str, ...]
    formula: str
    parts: tuple[Part, ...]
    cut: Cut | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """Everything that is said about a folder of solver files; ``files`` describes each by name, with its sha256.

    Paths are relative to the folder. ``refused`` are the demands that the format cannot express.
    """

    version: str
    format: str
    spec: HashedFile
    models: tuple[HashedFile, ...]
    questions: tuple[Question, ...]
    files: Mapping[str, Mapping[str, Any]]
    refused: tuple[Mapping[str, str], ...] = ()


def written(manifest: Manifest) -> bytes:
    """The document."""
    content = {
        "schema": _SCHEMA,
        "fairdsl": manifest.version,
        "format": manifest.format,
        "spec": {"path": manifest.spec.path, "sha256": manifest.spec.sha256},
        "models": [{"name": one.name, "path": one.path, "sha256": one.sha256} for one in manifest.models],
        "questions": [_question(one) for one in manifest.questions],
        "files": dict(manifest.files),
        "refused": list(manifest.refused),
    }
    return (json.dumps(content | {"sha256": _digest(content)}, indent=2, ensure_ascii=False) + "\n").encode()


def files_named(path: Path) -> tuple[str, ...] | None:
    """The files that a manifest, of whatever version, speaks of; None of a file that does not claim to be one."""
    try:
        content = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    schema = content.get("schema") if isinstance(content, dict) else None
    if not isinstance(schema, str) or not schema.startswith(_FAMILY):
        return None
    files = content.get("files")
    return tuple(map(str, files)) if isinstance(files, dict) else ()


def read_manifest(path: Path) -> Manifest:
    """The manifest in a file; DiagnosticError where it is damaged or of another version."""
    try:
        content = json.loads(path.read_bytes())
    except OSError as error:
        raise DiagnosticError(errors.unreadable_manifest(str(path), error.strerror or str(error))) from error
    except (ValueError, RecursionError) as error:
        raise DiagnosticError(errors.unreadable_manifest(str(path), "it is no JSON document")) from error
    if not isinstance(content, dict):
        raise DiagnosticError(errors.unreadable_manifest(str(path), "it is no JSON object"))
    schema = content.get("schema")
    if schema != _SCHEMA:
        if isinstance(schema, str) and schema.startswith(_FAMILY):
            raise DiagnosticError(
                errors.unreadable_manifest(str(path), f"it follows `{schema}`; this fairdsl reads `{_SCHEMA}`")
            )
        raise DiagnosticError(errors.unreadable_manifest(str(path), f"its schema is not `{_SCHEMA}`"))
    if content.pop("sha256", None) != _digest(content):
        raise DiagnosticError(errors.unreadable_manifest(str(path), "its sha256 is that of another content"))
    try:
        return _read(content)
    except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError) as error:
        raise DiagnosticError(errors.unreadable_manifest(str(path), "something is missing in it")) from error


def _digest(content: Mapping[str, Any]) -> str:
    return sha256(json.dumps(content, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def _question(question: Question) -> dict[str, Any]:
    cut = question.cut
    return {
        "property": question.property,
        "number": question.number,
        "demand": question.demand,
        "fidelity": question.fidelity,
        "verdict": dict(question.verdict),
        "clauses": list(question.clauses),
        "formula": question.formula,
        **({} if cut is None else {"partitions": {"size": cut.size, "count": cut.count, "seed": cut.seed}}),
        "parts": [_part(part) for part in question.parts],
    }


def _part(part: Part) -> dict[str, Any]:
    settled_by: dict[str, Any] = {"settled_by": [list(files) for files in part.settled_by]}
    if part.combined:
        settled_by |= {"quantities": list(part.quantities), "combined": dict(part.combined)}
    if part.partition is None:
        return settled_by
    return {"partition": part.partition, "volume": str(part.volume), "box": dict(part.box)} | settled_by


def _read(content: Mapping[str, Any]) -> Manifest:
    spec = content["spec"]
    return Manifest(
        version=str(content["fairdsl"]),
        format=str(content["format"]),
        spec=HashedFile(name="spec", path=str(spec["path"]), sha256=str(spec["sha256"])),
        models=tuple(
            HashedFile(name=str(one["name"]), path=one["path"], sha256=one["sha256"]) for one in content["models"]
        ),
        questions=tuple(_read_question(one) for one in content["questions"]),
        files={str(name): dict(about) for name, about in content["files"].items()},
        refused=tuple(dict(one) for one in content["refused"]),
    )


def _read_question(content: Mapping[str, Any]) -> Question:
    cut = content.get("partitions")
    return Question(
        property=str(content["property"]),
        number=int(content["number"]),
        demand=str(content["demand"]),
        fidelity=str(content["fidelity"]),
        verdict=dict(content["verdict"]),
        clauses=tuple(content["clauses"]),
        formula=str(content["formula"]),
        cut=None if cut is None else Cut(size=int(cut["size"]), count=int(cut["count"]), seed=int(cut["seed"])),
        parts=tuple(_read_part(part) for part in content["parts"]),
    )


def _read_part(content: Mapping[str, Any]) -> Part:
    settled_by: Sequence[Sequence[str]] = content["settled_by"]
    partition = content.get("partition")
    return Part(
        settled_by=tuple(tuple(str(name) for name in files) for files in settled_by),
        partition=None if partition is None else int(partition),
        box=dict(content.get("box", {})),
        volume=Fraction(content["volume"]) if "volume" in content else None,
        quantities=tuple(dict(one) for one in content.get("quantities", ())),
        combined=dict(content.get("combined", {})),
    )


def answer_names(name: str) -> Iterator[str]:
    """What an answer to the file may be called."""
    for stem in (name, name.rpartition(".")[0]):
        yield from (stem + ending for ending in ANSWER_ENDINGS)
