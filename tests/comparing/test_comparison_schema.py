"""Comparisons as JSON against the schema that ships beside their writer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner
from reports import F, demand, group, interval, report, saved

import fairdsl
import fairdsl.comparing
from fairdsl.cli.app import cli
from fairdsl.comparing.json import comparison_to_json
from fairdsl.report.model import Interval, PartReport, Report
from fairdsl.verdict import Judgement

SCHEMA = json.loads((Path(fairdsl.comparing.__file__).parent / "comparison.schema.json").read_text(encoding="utf-8"))


def valid(written: Any) -> None:
    jsonschema.validate(written, SCHEMA, cls=jsonschema.Draft202012Validator)


def rich(*rates: Any, value: Any, wide: Any, found: Judgement, data: str = "ab") -> Report:
    """Every kind of number that a report may have."""
    return report(
        demand("require disparate_impact >= 80%", found, value, *rates, sampling=wide),
        demand("measure acceptance_rate", Judgement.MEASURED, Interval(F(1, 3), F(2, 3)), *rates),
        demand(
            "measure statistical_parity",
            Judgement.MEASURED,
            interval(F(1, 3)),
            *rates,
            parts=(PartReport(at={"age": F(1, 3)}, value=None), PartReport(at={"age": "3 .. 4"}, value=value)),
        ),
        demand("require same_decision", Judgement.UNKNOWN),
        data=data,
    )


BEFORE = rich(
    group("f", interval(F(1, 3)), mark="+"),
    group("m", interval(F(1, 4)), mark="-"),
    value=interval(F(3, 4)),
    wide=interval(F(1, 2), F(1)),
    found=Judgement.VIOLATED,
)
AFTER = rich(
    group("f", interval(F(1, 5), F(1, 4)), mark="-"),
    group(True, interval(F(1, 2)), mark="+"),
    value=Interval(F(4, 5), None),
    wide=None,
    found=Judgement.HOLDS,
    data="cd",
)


def compare(folder: Path, *options: str) -> Any:
    names = [saved(folder, "before.json", BEFORE), saved(folder, "after.json", AFTER)]
    return json.loads(CliRunner().invoke(cli, ["compare", *names, "--json", *options]).stdout)


@pytest.mark.parametrize("options", [(), ("--tolerance", "5%")])
def test_comparisons_are_valid(options: tuple[str, ...], tmp_path: Path) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    written = compare(tmp_path, *options)
    valid(written)
    assert written["properties"][0]["demands"][2]["parts"][0]["at"] == {"age": "1/3"}
    assert written["properties"][0]["demands"][0]["favoured"]["most"] == {"before": "sex = f", "after": "sex = true"}


def test_what_cannot_be_compared_is_valid_too(tmp_path: Path) -> None:
    name = saved(tmp_path, "before.json", BEFORE)
    (tmp_path / "no.json").write_text("{}", encoding="utf-8")
    written = json.loads(CliRunner().invoke(cli, ["compare", name, str(tmp_path / "no.json"), "--json"]).stdout)
    valid(written)
    assert written["diagnostics"]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda written: written.update(extra=1),
        lambda written: written.pop("tolerance"),
        lambda written: written.update(exit_code=2),
        lambda written: written["properties"][0].update(course="sideways"),
        lambda written: written["properties"][0]["demands"][0]["value"].pop("movement"),
        lambda written: written["properties"][0]["demands"][0]["value"]["before"].update(exact="0.75"),
        lambda written: written["properties"][0]["demands"][0]["groups"][0].pop("at"),
        lambda written: written["properties"][0]["demands"][2]["parts"][0]["at"].update(age=None),
        lambda written: written["data"][0]["before"].update(sha256="ab"),
        lambda written: written["diagnostics"].append({}),
    ],
)
def test_the_schema_of_comparisons_is_strict(spoil: Any, tmp_path: Path) -> None:
    written = compare(tmp_path)
    spoil(written)
    with pytest.raises(jsonschema.ValidationError):
        valid(written)


def test_in_memory_and_from_files_alike(tmp_path: Path) -> None:
    names = [saved(tmp_path, "before.json", BEFORE), saved(tmp_path, "after.json", AFTER)]
    of_files = comparison_to_json(fairdsl.compare(*names))
    of_reports = comparison_to_json(fairdsl.compare(BEFORE, AFTER))
    for side in ("before", "after"):
        of_files.pop(side)
        of_reports.pop(side)
    assert of_files == of_reports
