"""``fairdsl check --partition``: options, the report in text and JSON, and Ctrl-C."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner, Result

from fairdsl.cli.app import cli
from fairdsl.report.coverage import partition_lines
from fairdsl.verdict import Coverage, Ended, Tally

ROOT = Path(__file__).parents[2]
HIRING = str(ROOT / "examples" / "hiring" / "hiring.fair")
CREDIT = str(ROOT / "examples" / "credit" / "credit.fair")
SCHEMA = json.loads((ROOT / "fairdsl" / "schemas" / "report.schema.json").read_text())


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["check", *arguments])


def test_the_report_says_number_and_volume() -> None:
    result = run(HIRING, "--partition", "2", "--set", "partition.keep_going=yes", "--property", "good_tests")
    assert result.exit_code == 0, result.output
    assert "6 asked, 100% of them decided; at most 2 values of an attribute" in result.output
    assert "hold              6      100% of the volume" in result.output


def test_shares_of_grids_without_end_are_not_written_in_full() -> None:
    """They were fractions of sixty digits."""
    share = Fraction(5, 10**30)
    few = Coverage(
        size=1,
        total=10**30,
        holds=Tally(count=5, volume=share),
        violated=Tally(),
        unknown=Tally(),
        ended=Ended.FIRST,
    )
    _, holds, _, _, rest = partition_lines(few)
    assert holds.split()[2] == "<0.00001%"
    assert ">99.99999% of the volume" in rest


def test_the_json_report_fits_its_schema(tmp_path: Path) -> None:
    ledger = tmp_path / "verdicts.jsonl"
    settings = ["--set", "partition.keep_going=yes", "--set", f"partition.ledger={ledger}"]
    options = ["--partition", "2", *settings, "--property", "gender_never_decides"]
    result = run(HIRING, *options, "--json")
    assert result.exit_code == 1
    written = json.loads(result.stdout)
    jsonschema.Draft202012Validator(SCHEMA).validate(written)
    same, share = written["properties"][0]["demands"]
    coverage = same["verdict"]["evidence"]["coverage"]
    assert coverage["holds"] == {"count": 6, "volume": 0.6, "volume_exact": "3/5"}
    assert coverage["violated"]["volume_exact"] == "2/5"
    # A share is counted as ever.
    assert "coverage" not in share["verdict"]["evidence"]
    assert (share["value"]["low_exact"], share["value"]["high_exact"]) == ("4/5", "4/5")
    assert len(ledger.read_text().splitlines()) == 1 + 9


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--set", "partition.keep_going=yes"], "add `--partition SIZE`"),
        (["--set", "partition.resume=yes", "--partition", "2"], "says nothing without `partition.ledger`"),
        (["--partition", "few"], "takes a number of values from 1, or `adaptive`, not `few`"),
        (["--partition", "0"], "a number of values from 1"),
        (["--partition", "adaptive", "--set", "partition.first=3"], "leave out `partition.first`"),
        (["--partition", "2", "--set", "partition.profile=10"], "add `partition.tolerance=SHARE`"),
        (["--partition", "2", "--set", "partition.tolerance=2"], "takes a share from 0 to 100%, not `2`"),
        (["--partition", "2", "--set", "partition.tolerance=some"], "write for example `1%`"),
        (["--partition", "2", "--backend", "enumerate"], "answered by `smt`"),
        (["--partition", "2", "--set", "smt.query_memory=little"], "takes a size of at least 64MiB, not `little`"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: list[str], says: str) -> None:
    result = run(HIRING, *options)
    assert result.exit_code == 2
    assert says in " ".join(result.output.split())


def test_the_plan_says_who_answers() -> None:
    result = run(HIRING, "--partition", "2", "--explain-plan")
    assert result.exit_code == 0
    assert "1. smt: " in result.output
    assert "`--partition` was asked for" in result.output


def test_ctrl_c_reports_what_was_decided_until_then(tmp_path: Path) -> None:
    ledger = tmp_path / "verdicts.jsonl"
    # A share comes after it: it is not begun any more.
    settings = ["--set", "partition.keep_going=yes", "--set", f"partition.ledger={ledger}"]
    options = ["--property", "sex_never_decides", "--partition", "2", *settings]
    process = subprocess.Popen(
        [sys.executable, "-m", "fairdsl", "check", CREDIT, *options, "--timeout", "600", "--json"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=os.environ,
    )
    try:
        until = time.monotonic() + 60
        while not (ledger.exists() and ledger.read_text().count("\n") > 3):
            assert time.monotonic() < until
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode == 130
    (demand, *_) = json.loads(output)["properties"][0]["demands"]
    partitions = demand["verdict"]["evidence"]["coverage"]
    assert partitions["ended"] == "interrupted"
    told = sum(partitions[verdict]["count"] for verdict in ("holds", "violated", "unknown"))
    assert told == len(ledger.read_text().splitlines()) - 1
