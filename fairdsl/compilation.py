"""``compile``: the questions of a spec as solver files, with a manifest that says what each answer means."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fairdsl.backends.contract import Asked, Encoding, Refusal
from fairdsl.diagnostics import Diagnostic, DiagnosticError
from fairdsl.elaborate import Elaborated, elaborate
from fairdsl.ir.problem import Problem
from fairdsl.plan import errors, plan_of
from fairdsl.plan.choices import check_format
from fairdsl.plan.registry import encodings
from fairdsl.report.hashes import hashed_models
from fairdsl.report.model import HashedFile
from fairdsl.resources import version
from fairdsl.semantics import CheckedSpec, front_end
from fairdsl.verdict import Refused

__all__ = ["Compiled", "compile_spec"]

MANIFEST_SCHEMA = "fairdsl.manifest/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiled:
    """The files that were written, and what the format cannot express.

    ``refused`` are the requirements among it; ``left_out`` says in a line each which measures are not in
    the files and why.
    """

    files: tuple[Path, ...]
    manifest: Path
    refused: tuple[Diagnostic, ...]
    left_out: tuple[str, ...]


def compile_spec(path: str, form: str, directory: str, models: Mapping[str, str]) -> Compiled:
    """Write every question that ``form`` expresses into ``directory``.

    Raises DiagnosticError for mistakes in the spec, its files or the name of the format.
    """
    check_format(form)
    encoding = encodings()[form]
    spec, _ = front_end(path)
    elaborated = elaborate(spec, models)
    hashed = hashed_models(spec, elaborated.models, models)
    by_name = {file.name: file for file in hashed}
    contents: dict[str, bytes] = {}
    entries: list[dict[str, Any]] = []
    refused: list[tuple[Elaborated, Diagnostic]] = []
    for item in elaborated.demands:
        problem = _expressible(item, encoding, form)
        if isinstance(problem, Diagnostic):
            refused.append((item, problem))
            continue
        asked = _asked(spec, path, item, by_name[item.property.model])
        lowered = encoding.lower(_named_apart(problem, contents), asked)
        contents |= lowered.files
        entries.append(_entry(item, tuple(lowered.files), encoding))
    manifest = {
        "schema": MANIFEST_SCHEMA,
        "fairdsl": version(),
        "format": form,
        "spec": {"path": os.path.basename(path), "sha256": spec.source.sha256},
        "models": [{"name": file.name, "sha256": file.sha256} for file in hashed],
        "questions": entries,
        "refused": [
            {"property": item.property.name, "demand": item.demand.text, "code": why.code, "title": why.title}
            for item, why in refused
        ],
    }
    contents["manifest.json"] = (json.dumps(manifest, indent=2, ensure_ascii=False) + "\n").encode()
    folder = Path(directory)
    _write(folder, contents)
    return Compiled(
        files=tuple(folder / name for name in contents if name != "manifest.json"),
        manifest=folder / "manifest.json",
        refused=tuple(why for item, why in refused if item.demand.required),
        left_out=tuple(
            f"`{item.demand.text}` of `{item.property.name}` is not among the files: {why.title}"
            for item, why in refused
            if not item.demand.required
        ),
    )


def _expressible(item: Elaborated, encoding: Encoding, form: str) -> Problem | Diagnostic:
    """The problem, or why the format cannot express it."""
    plan = plan_of(item)
    if isinstance(plan, Refused) and (item.problem is None or item.refusal is not None or item.demand.beyond):
        return plan.diagnostics[0]
    assert item.problem is not None, "questions about pairs have a problem"
    offer = encoding.offer(item.problem)
    if isinstance(offer, Refusal):
        return errors.format_refuses(form, offer.why, item.demand.span)
    return item.problem


def _named_apart(problem: Problem, written: Mapping[str, bytes]) -> Problem:
    """Files are named after the property; a second question of one property gets a number behind it."""
    taken = {name.split(".")[0] for name in written}
    names = itertools.chain([problem.name], (f"{problem.name}-{number}" for number in itertools.count(2)))
    return replace(problem, name=next(name for name in names if name not in taken))


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


def _entry(item: Elaborated, files: tuple[str, ...], encoding: Encoding) -> dict[str, Any]:
    return {
        "property": item.property.name,
        "demand": item.demand.text,
        "files": list(files),
        "verdict": dict(encoding.meaning),
        "clauses": list(item.property.clauses),
        "formula": item.property.formula,
    }


def _write(directory: Path, contents: Mapping[str, bytes]) -> None:
    """Write each file in full under another name first, so that no half-written file is ever read."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for name, content in contents.items():
            partial = directory / f".{name}.partial"
            partial.write_bytes(content)
            partial.replace(directory / name)
    except OSError as error:
        raise DiagnosticError(errors.cannot_write(str(directory), error.strerror or str(error))) from error
