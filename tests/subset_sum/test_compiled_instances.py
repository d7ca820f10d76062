"""Instances written by hand, written again in the formats of solvers: the answers are those of listing everybody."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import fairdsl
from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.expr import Relation
from tests.drawing import examples
from tests.subset_sum.test_instances_by_hand import by_hand, put

F = Fraction
Document = dict[str, Any]
#: Names that a file cannot have, and two that become one.
NAMES = ("a/b", "a b", "c", "label\n")


@st.composite
def documents(draw: st.DrawFn) -> Document:
    """Columns of some cells that depend on earlier ones, with groups of cells, indicators and conditions."""
    sizes = draw(st.lists(st.integers(2, 3), min_size=3, max_size=4))
    labelled = len(sizes) == 4 and draw(st.booleans())
    numbers = st.sampled_from([F(-2), F(0), F(1), F(5, 2), F(1, 3)])
    columns: list[Document] = []
    factors: list[Document] = []
    for place, size in enumerate(sizes):
        columns.append({"name": NAMES[place], "cells": size})
        if not (labelled and place == 3):
            columns[-1]["adds"] = [str(draw(numbers)) for _ in range(size)]
        given_ = draw(st.lists(st.sampled_from(range(place)), unique=True, max_size=1)) if place else []
        table = [draw(shares(size)) for _ in range(prod(sizes[each] for each in given_))]
        factors.append(
            {
                "column": NAMES[place],
                "given": [NAMES[each] for each in given_],
                "probabilities": [str(p) for row in table for p in row],
            }
        )
    groups = [0, *([1] if draw(st.booleans()) else [])]
    population: Document = {"columns": []}
    for place in (*groups, *([3] if labelled else [])):
        keys = [draw(st.integers(0, 2)) for _ in range(sizes[place])] if place != 3 else list(range(sizes[place]))
        columns[place]["key"] = keys
        kind = {"kind": "integer", "low": 0, "high": 2}
        population["columns"].append({"name": NAMES[place], "type": kind, "cells": [0, 1, 2]})
    question: Document = {"metric": draw(st.sampled_from(["parity_gap", "most_favoured", "least_favoured"]))}
    if labelled:
        population["label"] = True
        question = {"metric": "opportunity_gap", "deserving": draw(st.integers(0, 1))}
    question["excluding"] = {"rows": None}  # groups that nobody is of
    question["across"] = [NAMES[each] for each in groups]
    distribution: Document = {"columns": columns, "factors": factors, "constant": str(draw(numbers))}
    pair = (0, 2)
    count = sizes[0] * sizes[2]
    if draw(st.booleans()):
        weights = [str(draw(numbers)) for _ in range(count)]
        distribution["indicators"] = [{"columns": [NAMES[each] for each in pair], "values": weights}]
    if draw(st.booleans()):
        met = draw(st.lists(st.integers(0, 1), min_size=count, max_size=count))
        distribution["conditions"] = [{"columns": [NAMES[each] for each in pair], "values": met}]
    return {
        "schema": "fairdsl.subset-sum/2",
        "question": question,
        "population": population,
        "event": {
            "relation": draw(st.sampled_from([">=", ">", "=", "!="])),
            "threshold": str(draw(st.sampled_from([F(0), F(1), F(7, 2), F(1, 3)]))),
        },
        "distributions": [distribution],
    }


def shares(size: int) -> st.SearchStrategy[list[Fraction]]:
    weights = st.lists(st.integers(0, 3), min_size=size, max_size=size).filter(any)
    return weights.map(lambda found: [F(each, sum(found)) for each in found])


def rates(document: Document) -> list[Fraction]:
    """The rates of all groups that somebody is of, by listing everybody."""
    (law,) = document["distributions"]
    names = [column["name"] for column in law["columns"]]
    sizes = {column["name"]: column["cells"] for column in law["columns"]}
    keys = {column["name"]: column.get("key") for column in law["columns"]}
    all_of: dict[tuple[int, ...], Fraction] = {}
    favoured: dict[tuple[int, ...], Fraction] = {}

    def entry(table: Document, of: list[str], cells: dict[str, int], key: str) -> Fraction:
        at = 0
        for name in of:
            at = at * sizes[name] + cells[name]
        return F(table[key][at])

    for drawn in product(*(range(sizes[name]) for name in names)):
        cells = dict(zip(names, drawn, strict=True))
        mass = F(1)
        for factor in law["factors"]:
            mass *= entry(factor, [*factor["given"], factor["column"]], cells, "probabilities")
        for condition in law.get("conditions", []):
            mass *= entry(condition, condition["columns"], cells, "values")
        if document["population"].get("label") and cells[names[3]] != document["question"]["deserving"]:
            continue
        if not mass:
            continue
        score = F(law["constant"]) + sum(
            (F(column["adds"][cells[column["name"]]]) for column in law["columns"] if "adds" in column), F(0)
        )
        for table in law.get("indicators", []):
            score += entry(table, table["columns"], cells, "values")
        group = tuple(keys[name][cells[name]] for name in document["question"]["across"])
        all_of[group] = all_of.get(group, F(0)) + mass
        event = document["event"]
        if Relation(event["relation"]).compares(score, F(event["threshold"])):
            favoured[group] = favoured.get(group, F(0)) + mass
    return [favoured.get(group, F(0)) / mass for group, mass in all_of.items()]


@given(document=documents(), form=st.sampled_from(["sdimacs", "mcc", "dimacs", "subset-sum"]), data=st.data())
@settings(
    max_examples=examples(1.5),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
def test_files_of_every_format_come_to_the_rates_of_everybody(
    tmp_path: Path, document: Document, form: str, data: st.DataObject
) -> None:
    folder = tmp_path / str(len(list(tmp_path.iterdir())))
    learn = form == "sdimacs" and data.draw(st.booleans())
    options = {"ssat": {"groups": "learn" if learn else "enumerate"}} if form == "sdimacs" else None
    instance = put(document, tmp_path)
    found = fairdsl.compile(instance, to=form, directory=folder, options=options)
    for path in found.files:
        fairdsl.solve(path, output=f"{path}.answer") if form == "subset-sum" else answer(path)
    (item,) = fairdsl.recover(folder).properties
    known = rates(document)
    value = item.demands[0].value
    metric = document["question"]["metric"]
    if len(known) < 2:  # there is nobody to compare with
        solved = fairdsl.solve(instance).found.verdict
        assert (None if value is None else value.low) == (solved.low if solved.defined else None)
        return
    expected = {"most_favoured": max(known), "least_favoured": min(known)}.get(metric, max(known) - min(known))
    assert value is not None
    assert value.low == value.high == expected


def answer(path: Path) -> None:
    path.with_name(f"{path.name}.answer").write_text(fairdsl.solve(path).to_json(), encoding="utf-8")


def test_quantified_columns_are_the_outermost_block(tmp_path: Path) -> None:
    document = by_hand([3, -2, 4, 2], 5, ">=")
    document["question"] = {"metric": "most_favoured", "across": ["item 0", "item 1"]}
    document["population"] = {
        "columns": [{"name": f"item {each}", "type": {"kind": "boolean"}, "cells": [0, 1]} for each in (0, 1)]
    }
    for column in document["distributions"][0]["columns"][:2]:
        column["key"] = [0, 1]
    path = put(document, tmp_path)
    compiled = fairdsl.compile(path, to="sdimacs", directory=tmp_path / "out", options={"ssat": {"groups": "learn"}})
    (most,) = (file for file in compiled.files if file.name.endswith(".most.sdimacs"))
    lines = [line for line in most.read_text(encoding="utf-8").splitlines() if line[:1] in "er"]
    assert lines[0].startswith("e ")
    assert any(line.startswith("r ") for line in lines[1:])


def test_what_no_other_format_says_is_refused_with_its_reason(tmp_path: Path) -> None:
    normal = by_hand([1], 0, ">=")
    normal["distributions"][0]["normal"] = {"columns": ["n"], "distributions": [{"mean": 0, "variance": 1}]}
    parts = by_hand([1], 0, ">=")
    parts["distributions"][0]["columns"][0]["adds"][1] = [{"low": 0, "high": 2}]
    partly = by_hand([1], 0, ">=")
    partly["distributions"][0]["conditions"] = [{"columns": ["item 0"], "values": ["1/2", 1]}]
    for document, why in ((normal, "normal columns"), (parts, "a cell has parts"), (partly, "is met by a part")):
        with pytest.raises(DiagnosticError, match="E0603") as refused:
            fairdsl.compile(put(document, tmp_path), to="sdimacs", directory=tmp_path / "out")
        assert why in refused.value.diagnostics[0].notes[0]
        assert "fairdsl solve hand.json" in refused.value.diagnostics[0].notes[0]
    with pytest.raises(DiagnosticError, match="no models, data or parameters"):
        fairdsl.compile(put(by_hand([1], 0), tmp_path), to="mcc", directory=tmp_path / "out", let={"limit": 1})
    (tmp_path / "other.json").write_text(json.dumps({"schema": "fairdsl.report/1"}), encoding="utf-8")
    with pytest.raises(DiagnosticError, match="E0617"):
        fairdsl.compile(tmp_path / "other.json", to="mcc", directory=tmp_path / "out")
