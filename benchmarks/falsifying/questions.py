"""The question about each shared classifier: does the protected attribute alone change what is decided?

A folder holds ``domain.json`` and the models that it names. Of the document are read ``attributes`` (``name``, ``min``,
``max`` and ``sensitive`` of each, whole numbers in the order of the model's columns), ``output.positive_label``, and
``models``: by name the ``file``, and ``discrimination_rate_uniform`` with ``k`` of ``n`` uniform draws that
somebody else counted, which is compared with and not used.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import fairdsl
from fairdsl.diagnostics import DiagnosticError
from fairdsl.elaborate import elaborate
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Pair
from fairdsl.semantics import front_end

__all__ = ["Case", "Column", "asked", "cases_in", "write_spec"]

SAME = "require same decision"


@dataclass(frozen=True, kw_only=True)
class Column:
    """An attribute of whole numbers."""

    name: str
    low: int
    high: int
    protected: bool = False


@dataclass(frozen=True, kw_only=True)
class Case:
    """A classifier and where its spec was written; ``counted``: unfair of so many uniform units, by somebody else.

    ``refused`` says why fairdsl does not read the model; then there is no problem.
    """

    name: str
    model: Path
    spec: Path
    columns: tuple[Column, ...]
    high_when: str
    problem: Problem | None
    counted: tuple[int, int] | None
    refused: str = ""

    @property
    def closed(self) -> Problem:
        """The problem; ValueError where there is none."""
        if self.problem is None:
            raise ValueError(f"{self.name} is not read: {self.refused}")
        return self.problem

    @property
    def pair(self) -> Pair:
        question = self.closed.question
        assert isinstance(question, Pair), "the spec asks about pairs"
        return question


def cases_in(folder: Path, specs: Path, only: Sequence[str] | None = None) -> list[Case]:
    """The models of the folder, their specs written into another one."""
    document = json.loads((folder / "domain.json").read_text(encoding="utf-8"))
    columns = tuple(
        Column(name=entry["name"], low=entry["min"], high=entry["max"], protected=entry["sensitive"])
        for entry in document["attributes"]
    )
    found = []
    for name, entry in document["models"].items():
        model = folder / entry["file"]
        if model.suffix == ".onnx" and model.exists() and (only is None or name in only):
            high_when = f"class = {document['output']['positive_label']}"
            found.append(_case(name, model, specs / f"{name}.fair", columns, high_when, entry))
    return found


def _case(
    name: str, model: Path, spec: Path, columns: tuple[Column, ...], high_when: str, entry: Mapping[str, Any]
) -> Case:
    write_spec(spec, model, columns, high_when)
    problem, refused = None, ""
    try:
        problem = asked(spec)
    except DiagnosticError as error:
        refused = f"{error.diagnostics[0].code}: {error.diagnostics[0].title}"
    rate = entry.get("discrimination_rate_uniform")
    return Case(
        name=name,
        model=model,
        spec=spec,
        columns=columns,
        high_when=high_when,
        problem=problem,
        counted=None if rate is None else (rate["k"], rate["n"]),
        refused=refused,
    )


def write_spec(file: Path, model: Path, columns: Sequence[Column], high_when: str, demands: str = SAME) -> None:
    """The question as a spec."""
    attributes = "\n".join(f"  {column.name} : integer {column.low} .. {column.high}" for column in columns)
    protected = ", ".join(column.name for column in columns if column.protected)
    file.write_text(
        f"""fair 1
audit "{model.stem}: does {protected} alone decide?"

domain Person {{
{attributes}
}}

protected {protected}

model decide : Person -> {{ low, high }}
  from "{model.resolve()}"
  high when {high_when}

property alone {{
  compare  a, b : Person
  differ   in {protected}
  {demands}
}}
""",
        encoding="utf-8",
    )


@fairdsl.reading(root="/")  # the spec lies in a folder of its own
def asked(spec: Path) -> Problem:
    """The closed problem of a spec with one demand."""
    checked, _ = front_end(str(spec))
    (demand,) = elaborate(checked, {}).demands
    if demand.refusal is not None:
        raise DiagnosticError(demand.refusal)
    assert demand.problem is not None, "pairs of one domain and one model have a problem"
    return demand.problem
