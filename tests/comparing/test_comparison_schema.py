"""Comparisons as documents: what every kind of number and change comes to, and back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner
from reports import F, demand, group, interval, part, report, saved

import fairdsl
from fairdsl.cli.app import cli
from fairdsl.codec import plain, schema
from fairdsl.comparing import Comparison
from fairdsl.report.model import Report
from fairdsl.verdict import Interval, Judgement

VALIDATOR = jsonschema.Draft202012Validator(schema(Comparison))


def valid(written: Any) -> None:
    VALIDATOR.validate(written)


def rich(*rates: Any, value: Any, wide: Any, found: Judgement, data: str = "ab") -> Report:
    """Every kind of number that a report may have."""
    return report(
        demand("require impact_ratio >= 80%", found),
        demand("measure impact_ratio", Judgement.MEASURED, value, *rates, sampling=wide),
        demand("measure acceptance_rate", Judgement.MEASURED, Interval(F(1, 3), F(2, 3)), *rates),
        demand(
            "measure parity_gap",
            Judgement.MEASURED,
            interval(F(1, 3)),
            *rates,
            parts=(part({"age": F(1, 3)}, None), part({"age": "3 .. 4"}, value)),
        ),
        demand("require same_decision", Judgement.UNKNOWN, Interval(F(1, 3), None)),
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
    value=Interval(F(4, 5), F(2)),
    wide=None,
    found=Judgement.HOLDS,
    data="cd",
)


def compare(folder: Path, *options: str) -> Any:
    names = [saved(folder, "before.json", BEFORE), saved(folder, "after.json", AFTER)]
    return json.loads(CliRunner().invoke(cli, ["compare", *names, "--json", *options]).stdout)


@pytest.mark.parametrize("options", [(), ("--tolerance", "5%")])
def test_comparisons_are_valid(options: tuple[str, ...], tmp_path: Path) -> None:
    written = compare(tmp_path, *options)
    valid(written)
    demands = written["properties"][0]["demands"]
    assert demands[3]["parts"][0]["at"] == {"age": "1/3"}
    assert demands[1]["favoured"]["most"] == {"before": "sex = f", "after": "sex = true"}


@pytest.mark.parametrize(
    "spoil",
    [
        lambda written: written.update(extra=1),
        lambda written: written.pop("before"),
        lambda written: written.update(exit_code=7),
        lambda written: written["properties"][0].update(course="sideways"),
        lambda written: written["properties"][0]["demands"][1]["value"]["before"].update(low_exact="0.75"),
        lambda written: written["properties"][0]["demands"][1]["groups"][0].pop("at"),
        lambda written: written["properties"][0]["demands"][3]["parts"][0]["at"].update(age=None),
        lambda written: written["data"][0]["before"].update(sha256=5),
    ],
)
def test_the_schema_of_comparisons_is_strict(spoil: Any, tmp_path: Path) -> None:
    written = compare(tmp_path)
    spoil(written)
    with pytest.raises(jsonschema.ValidationError):
        valid(written)


@pytest.mark.parametrize("tolerance", [None, F(1, 20)])
def test_in_memory_and_from_files_alike(tolerance: Any, tmp_path: Path) -> None:
    names = [saved(tmp_path, "before.json", BEFORE), saved(tmp_path, "after.json", AFTER)]
    of_files, of_reports = (
        fairdsl.compare(*names, tolerance=tolerance),
        fairdsl.compare(BEFORE, AFTER, tolerance=tolerance),
    )
    assert (of_files.spec, of_files.data, of_files.properties) == (
        of_reports.spec,
        of_reports.data,
        of_reports.properties,
    )
    assert Comparison.from_json(of_files.to_json()) == of_files
    assert plain(of_files)["exit_code"] == of_files.exit_code.value
