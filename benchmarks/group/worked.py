"""Worked examples of papers, with their exact values: a few Booleans, a sum or a formula over them, and the groups.

Asked as specs, of satisfiability alone. Examples over normal laws are left out: their values are not fractions.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from fairdsl.backends.contract import Budget, Facts, Silent
from fairdsl.backends.ssat import Ssat
from fairdsl.elaborate import elaborate
from fairdsl.semantics import front_end
from fairdsl.verdict import Value
from group.cases import Document, decimal, write_law

__all__ = ["Example", "answers_of", "worked_examples"]

#: The group of examples that have none: all rates are the same.
_NOBODY = "Z"


@dataclass(frozen=True, kw_only=True)
class Example:
    """``wanted`` and ``found`` are the least and the greatest rate of the groups."""

    name: str
    wanted: tuple[Fraction, Fraction]
    found: tuple[Fraction, Fraction]

    @property
    def passed(self) -> bool:
        return self.found == self.wanted


def worked_examples(path: Path) -> Iterator[Example]:
    """Those over Booleans, answered."""
    for case in json.loads(path.read_text(encoding="utf-8"))["cases"]:
        if case["kind"] in ("cnf", "linear", "linear+bn"):
            with tempfile.TemporaryDirectory() as folder:
                rates = answers_of(_spec(case, Path(folder)), "acceptance_rate")[0].rates
            found = (min(rate.low for rate in rates), max(rate.high for rate in rates))
            yield Example(name=case["id"], wanted=_wanted(case["exact"]), found=found)


def answers_of(spec: Path, *metrics: str, seconds: float = 600.0) -> list[Value]:
    """What satisfiability answers to the demands about these metrics, in this order; ValueError if it does not."""
    checked, _ = front_end(str(spec))
    found: dict[str, Value] = {}
    for demand in elaborate(checked, {}).demands:
        assert demand.problem is not None, "a metric of one population has a problem"
        value = Ssat().answer(demand.problem, Facts(), Budget.of(seconds), Silent())
        if not isinstance(value, Value):
            raise ValueError(f"no rates: {value}")
        found[demand.problem.question.metric.name] = value
    return [found[metric] for metric in metrics]


def _wanted(exact: str | Mapping[str, str]) -> tuple[Fraction, Fraction]:
    if isinstance(exact, str):
        return Fraction(exact), Fraction(exact)
    rates = [Fraction(text) for key, text in exact.items() if "=" in key or key in ("max", "min")]
    return min(rates), max(rates)


def _spec(case: Document, folder: Path) -> Path:
    groups = case.get("sensitive", [_NOBODY])
    tables = {name: {(): Fraction(1, 2)} for name in groups}
    tables |= {name: {(): Fraction(chance)} for name, chance in case.get("p", {}).items()}
    parents: dict[str, str] = {}
    for name, table in case.get("cpt", {}).items():
        (parents[name],) = {key.partition("=")[0] for key in table}
        tables[name] = {(key.partition("=")[2],): Fraction(chance) for key, chance in table.items()}
    laws = [
        {
            "of": name,
            "given": [parents[name]] if name in parents else [],
            "rows": [{"where": [int(each) for each in key], "law": [str(1 - p), str(p)]} for key, p in table.items()],
        }
        for name, table in tables.items()
    ]
    write_law(folder, [{"name": name, "cells": ["false", "true"]} for name in tables], laws)
    spec = folder / "example.fair"
    text = _SPEC.format(
        title=case["id"],
        domain="\n".join(f"  {name} : boolean" for name in tables),
        across=", ".join(groups),
        rule=f"yes when {case['cnf']}" if "cnf" in case else _sum(case["rule"]),
    )
    spec.write_text(text, encoding="utf-8")
    return spec


def _sum(rule: str) -> str:
    """``P + 2*Q >= 2`` with Booleans as numbers."""
    left, _, limit = rule.partition(">=")
    terms = re.findall(r"([+-]?)(?:(\d+)\*)?([A-Z])", left.replace(" ", ""))
    written = [f"{sign or '+'} {weight or 1} * ({name} = yes)" for sign, weight, name in terms if weight != "0"]
    return f"score = 0 {' '.join(written)}\n  yes when score >= {decimal(int(limit))}"


_SPEC = """fair 1
audit "{title}"

domain Person {{
{domain}
}}

protected {across}

model rule : Person -> {{ no, yes }}
  {rule}
  favourable yes

distribution law over Person
  from "law.json"

property rates {{
  across   {across}
  under    law
  measure  acceptance_rate
}}
"""
