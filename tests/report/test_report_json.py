"""The JSON report: its schema, its numbers, its stable order."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from samples import REPORT

import fairdsl.report
from fairdsl.report.json import report_to_json, write
from fairdsl.report.model import Report

F = Fraction

SCHEMA = json.loads((Path(fairdsl.report.__file__).parent / "report.schema.json").read_text(encoding="utf-8"))


def valid(written: Any) -> None:
    jsonschema.validate(written, SCHEMA, cls=jsonschema.Draft202012Validator)


def properties() -> dict[str, Any]:
    return {item["name"]: item for item in report_to_json(REPORT)["properties"]}


def test_the_schema_is_one_and_reports_are_valid() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    valid(json.loads(write(REPORT)))
    valid(report_to_json(Report(version="0", path="x.fair", sha256=None)))


@pytest.mark.parametrize(
    "spoil",
    [
        lambda report: report.update(extra=1),
        lambda report: report.pop("seed"),
        lambda report: report["properties"][0]["witnesses"][0].update(replayed=False),
        lambda report: report["properties"][0]["demands"][0].update(backend=None),
        lambda report: report["properties"][6]["demands"][0].pop("reason"),
        lambda report: report["properties"][8]["demands"][0].pop("value"),
        lambda report: report["properties"][2]["demands"][1]["value"].update(exact="0.8"),
        lambda report: report["properties"][4]["shares"]["regions"][0].update(share=12.5),
        lambda report: report["properties"][4]["shares"]["regions"][0]["restricted"]["month"].pop("high"),
        lambda report: report["properties"][4]["shares"]["float32"].pop("exact"),
        lambda report: report["properties"][4]["demands"][0]["estimate"].pop("confidence"),
        lambda report: report["spec"].update(sha256="ab"),
    ],
)
def test_the_schema_is_strict(spoil: Any) -> None:
    report = json.loads(write(REPORT))
    spoil(report)
    with pytest.raises(jsonschema.ValidationError):
        valid(report)


def test_the_order_of_keys_is_fixed() -> None:
    report = report_to_json(REPORT)
    assert list(report) == [
        "schema", "fairdsl", "audit", "spec", "models", "data", "seed", "properties", "diagnostics",
    ]  # fmt: skip
    assert list(report["properties"][2]) == [
        "name", "sentence", "verdict", "clauses", "demands", "shares", "witnesses",
    ]  # fmt: skip
    assert list(report["properties"][2]["demands"][1]) == [
        "text", "metric", "verdict", "value", "threshold", "arithmetic", "fidelity", "backend", "method", "seconds",
        "basis",
    ]  # fmt: skip
    assert write(REPORT) == write(REPORT)


def test_numbers_are_rounded_outward_and_rationals_exact() -> None:
    demand = properties()["both"]["demands"][1]
    assert demand["value"]["exact"] == "4/5"
    assert F(demand["value"]["low"]) < F(4, 5) < F(demand["value"]["high"])
    assert demand["threshold"] == {"relation": ">=", "limit": 0.95, "exact": "19/20", "text": "95%"}
    straddled = properties()["straddled"]["demands"][0]["value"]
    assert "exact" not in straddled
    assert F(straddled["low"]) <= F(94, 100)
    assert F(straddled["high"]) >= F(29, 30)


def test_shares() -> None:
    written = properties()["both"]["shares"]
    assert written["exact"] == {"certified": "4/5", "falsified": "1/5", "undecided": "0/1", "vacuous": "1/30"}
    assert F(written["certified"]) <= F(4, 5)
    assert F(written["falsified"]) <= F(1, 5)
    assert (written["undecided"], written["total"]) == (0, 30)


def test_witnesses() -> None:
    [witness] = properties()["sex_decides"]["witnesses"]
    assert witness["a"] == {"status": "some", "month": 12, "income": "1/3", "sex": "f", "foreign": True}
    assert (witness["decision_a"], witness["decision_b"], witness["replayed"]) == ("grant", "reject", True)
    assert (witness["scores_a"], witness["scores_b"]) == ([1.25], ["-1/3"])
    gap = properties()["gap"]
    assert gap["witnesses"] == []
    assert [pair["replayed"] for pair in gap["disagreements"]] == [False]


def test_every_witness_names_the_demands_that_it_was_found_for() -> None:
    written = properties()["twice"]["witnesses"]
    assert [(pair["b"]["month"], pair["demands"]) for pair in written] == [(14, [0]), (13, [0]), (15, [1])]


def test_what_stands_beside_the_shares() -> None:
    partly = properties()["partly"]
    float32 = partly["shares"]["float32"]
    assert float32["exact"] == "87/100"
    assert F(float32["certified"]) <= F(87, 100)
    estimate = partly["demands"][0]["estimate"]
    assert (estimate["value"], estimate["confidence"], estimate["sampled"]) == (0.966, 0.95, 100_000)
    assert F(estimate["low"]) <= F(9648, 10000)
    assert F(estimate["high"]) >= F(9672, 10000)
    first, second, whole = partly["shares"]["regions"]
    assert first == {
        "restricted": {"month": {"low": 17, "high": 25}, "status": {"values": ["none", "some"]}},
        "share": 0.125,
        "falsified": 0.012,
        "undecided": 0.083,
    }
    assert second["restricted"]["foreign"] == {"values": [True]}
    assert second["restricted"]["income"] == {"low": "1/3", "high": 3.5}
    assert whole["restricted"] == {}
    assert "estimate" not in properties()["straddled"]["demands"][0]
    assert not {"regions", "float32"} & set(properties()["straddled"]["shares"])


def test_unknown_and_refused_say_why() -> None:
    late, refused = properties()["late"]["demands"][0], properties()["refused"]["demands"][0]
    assert (late["reason"], late["detail"]) == ("timeout", "3 of 8 parts are proved")
    assert (refused["reason"], refused["detail"]) == ("E0601", "no backend can answer `disparate_impact`")
    assert refused["backend"] is None
    # The reasons in full are among the diagnostics, after those of the spec.
    assert [finding["code"] for finding in report_to_json(REPORT)["diagnostics"]] == ["W0801", "E0601"]
