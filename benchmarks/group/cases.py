"""Linear problems in JSON: what a file says, and its question asked as the tool that wrote it asks.

A file has ``variables``: tests on features (``age >= 0.1 and age < 0.3``, ``embarked = S``), each with its frequency,
a weight and a role; the rule is ``sum(weights of variables that are true) >= threshold``. The tool takes every
variable for a Boolean of its own, so that somebody may have two ages or none. ``raw_spec`` asks that very question;
``attributes.py`` the one about people.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

__all__ = ["Case", "Document", "cases_in", "decimal", "raw_spec", "write_law", "write_spec"]

Document = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Case:
    """One file; ``document`` is its JSON."""

    name: str
    document: Document

    @property
    def variables(self) -> list[Document]:
        found: list[Document] = self.document["variables"]
        return found

    @property
    def sensitive(self) -> list[int]:
        return [abs(number) for block in self.document["groups"]["blocks"] for number in block]

    def reference(self, network: bool) -> dict[tuple[int, ...], float]:
        """The file's own rates by the values of the sensitive variables."""
        listed = self.document["reference_bayes_net" if network else "reference_independent"]
        return {tuple(row["assignment"][str(each)] for each in self.sensitive): row["p"] for row in listed}


def cases_in(folder: Path) -> list[Case]:
    """The linear problems of a folder, by name."""
    read = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))}
    return [Case(name=name, document=document) for name, document in read.items() if document.get("kind") == "linear"]


def decimal(number: float) -> Fraction:
    """The decimal as it is written in the file."""
    return Fraction(repr(number))


def raw_spec(case: Case, folder: Path, network: bool) -> Path:
    """Writes the question as the tool asks it, independent or under the file's network: spec, model, law."""
    names = [f"v{variable['id']}" for variable in case.variables]
    model = {
        "features": names,
        "coefficients": [variable["weight_int"] for variable in case.variables],
        "intercept": -case.document["threshold_int"],
    }
    (folder / "model.json").write_text(json.dumps(model), encoding="utf-8")
    cpts = case.document["bayes_net"]["cpts"] if network else {}
    laws = []
    for variable, name in zip(case.variables, names, strict=True):
        cpt = cpts.get(str(variable["id"]), {"parents": [], "p1": [{"given": [], "p": variable["p1"]}]})
        rows = [_row(row["given"], decimal(row["p"])) for row in cpt["p1"]]
        laws.append({"of": name, "given": [f"v{parent}" for parent in cpt["parents"]], "rows": rows})
    columns = [{"name": name, "cells": ["false", "true"]} for name in names]
    write_law(folder, columns, laws)
    domain = "\n".join(f"  {name} : boolean" for name in names)
    return write_spec(folder, case.name, domain, [f"v{number}" for number in case.sensitive], 'from "model.json"')


def _row(given: Sequence[int], chance: Fraction) -> Document:
    return {"where": list(given), "law": [str(1 - chance), str(chance)]}


def write_law(folder: Path, columns: list[Document], laws: list[Document]) -> None:
    document = {
        "schema": "fairdsl.population/2",
        "fairdsl": "benchmark",
        "name": "law",
        "causal": False,
        "how": "frequencies of the file",
        "settings": {},
        "columns": columns,
        "laws": laws,
    }
    (folder / "law.json").write_text(json.dumps(document), encoding="utf-8")


def write_spec(folder: Path, title: str, domain: str, across: Sequence[str], score: str) -> Path:
    spec = folder / "case.fair"
    spec.write_text(
        f"""fair 1
audit "{title}"

domain Person {{
{domain}
}}

protected {", ".join(across)}

model rule : Person -> {{ no, yes }}
  {score}
  yes when score >= 0
  favourable yes

distribution law over Person
  from "law.json"

property rates {{
  across   {", ".join(across)}
  under    law
  excluding groups of probability 0
  measure  acceptance_rate
}}
""",
        encoding="utf-8",
    )
    return spec
