"""The JSON report: what is written, that it is read back, its numbers, its stable order."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import jsonschema
import pytest
from samples import REPORT

from fairdsl.codec import plain, schema
from fairdsl.report.model import Report, SpecFile

F = Fraction

SCHEMA = schema(Report)
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def valid(written: Any) -> None:
    VALIDATOR.validate(written)


def properties() -> dict[str, Any]:
    return {item["name"]: item for item in plain(REPORT)["properties"]}


def partly(report: Any) -> Any:
    return report["properties"][4]["demands"][0]["verdict"]


def test_the_schema_is_one_and_reports_are_valid() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    valid(json.loads(REPORT.to_json()))
    valid(plain(Report(fairdsl="0", spec=SpecFile(path="x.fair"))))


def test_reports_are_read_back() -> None:
    again = Report.from_json(REPORT.to_json())
    assert again == REPORT
    assert again.to_json() == REPORT.to_json()


@pytest.mark.parametrize(
    "spoil",
    [
        lambda report: report.update(extra=1),
        lambda report: report.pop("spec"),
        lambda report: report["properties"][0]["demands"][0]["verdict"]["witnesses"][0].pop("replay"),
        lambda report: report["properties"][0]["demands"][0]["verdict"]["evidence"].update(backend=None),
        lambda report: report["properties"][2]["demands"][1]["verdict"].update(certified_exact="0.8"),
        lambda report: partly(report)["regions"][0].update(share="12.5"),
        lambda report: partly(report)["regions"][0]["restricted"]["month"].pop("high"),
        lambda report: partly(report)["estimate"].pop("confidence"),
        lambda report: partly(report).update(kind="share"),
        lambda report: report["spec"].update(sha256=5),
    ],
)
def test_the_schema_is_strict(spoil: Any) -> None:
    report = json.loads(REPORT.to_json())
    spoil(report)
    with pytest.raises(jsonschema.ValidationError):
        valid(report)


def test_the_order_of_keys_is_fixed() -> None:
    report = plain(REPORT)
    assert list(report) == [
        "schema", "fairdsl", "audit", "spec", "models", "data", "domains", "populations", "parameters", "seed",
        "properties", "diagnostics", "exit_code",
    ]  # fmt: skip
    assert list(report["properties"][2]) == ["name", "sentence", "clauses", "demands", "judgement"]
    assert list(report["properties"][2]["demands"][1]) == [
        "text", "metric", "quantity", "verdict", "threshold", "seconds", "judgement", "value",
    ]  # fmt: skip


def test_numbers_are_rounded_outward_and_rationals_exact() -> None:
    demand = properties()["both"]["demands"][1]
    assert (demand["value"]["low_exact"], demand["value"]["high_exact"]) == ("4/5", "4/5")
    assert F(demand["value"]["low"]) < F(4, 5) < F(demand["value"]["high"])
    assert demand["threshold"] == {"relation": ">=", "limit": 0.95, "limit_exact": "19/20", "text": "95%"}
    straddled = properties()["straddled"]["demands"][0]["value"]
    assert F(straddled["low"]) <= F(94, 100)
    assert F(straddled["high"]) >= F(29, 30)


def test_shares() -> None:
    written = properties()["both"]["demands"][1]["verdict"]
    exact = [written.get(f"{name}_exact", written[name]) for name in ("certified", "falsified", "undecided", "vacuous")]
    assert exact == ["4/5", "1/5", 0, "1/31"]
    assert F(written["certified"]) <= F(4, 5)
    assert F(written["falsified"]) <= F(1, 5)
    assert (written["kind"], written["total"]) == ("shares", 30)


def test_witnesses() -> None:
    [witness] = properties()["sex_decides"]["demands"][0]["verdict"]["witnesses"]
    assert witness["a"] == {"status": "some", "month": 12, "income": "1/3", "sex": "f", "foreign": True}
    replay = witness["replay"]
    assert (replay["decision_a"], replay["decision_b"], replay["agrees"]) == ("grant", "reject", True)
    assert (replay["scores_a"], replay["scores_b"]) == ([1.25], ["-1/3"])
    gap = properties()["gap"]["demands"][0]["verdict"]
    assert (gap["kind"], [pair["replay"]["agrees"] for pair in gap["witnesses"]]) == ("unknown", [False])


def test_what_stands_beside_the_shares() -> None:
    partly = properties()["partly"]["demands"][0]["verdict"]
    assert partly["float32_certified_exact"] == "87/100"
    assert F(partly["float32_certified"]) <= F(87, 100)
    estimate = partly["estimate"]
    assert (estimate["value"], estimate["confidence"], estimate["sampled"]) == (0.966, 0.95, 100_000)
    assert F(estimate["low"]) <= F(9648, 10000)
    assert F(estimate["high"]) >= F(9672, 10000)
    first, second, whole = partly["regions"]
    assert first["restricted"] == {"month": {"low": 17, "high": 25}, "status": ["none", "some"]}
    assert (first["share"], first["falsified"], first["undecided"]) == (0.125, 0.012, 0.083)
    assert second["restricted"]["foreign"] == [True]
    assert second["restricted"]["income"]["low_exact"] == "1/3"
    assert whole["restricted"] == {}
    assert "estimate" not in properties()["straddled"]["demands"][0]["verdict"]


def test_unknown_and_refused_say_why() -> None:
    late, refused = properties()["late"]["demands"][0], properties()["refused"]["demands"][0]
    assert (late["reason"], late["detail"]) == ("timeout", "3 of 8 parts are proved")
    assert [finding["code"] for finding in refused["verdict"]["diagnostics"]] == ["E0601"]
    assert (refused["verdict"]["kind"], refused["judgement"]) == ("refused", "refused")
    assert [finding["code"] for finding in plain(REPORT)["diagnostics"]] == ["W0801"]
