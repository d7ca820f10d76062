"""SIGINT and SIGTERM at any moment: one whole document with what is known, and an exit code that says who ended it."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cli.signalled import Ended, Running, written

_CODES = {signal.SIGINT: (130, "interrupted"), signal.SIGTERM: (143, "terminated")}


@pytest.fixture
def spec(tmp_path: Path) -> str:
    return str(written(tmp_path))


def document(ended: Ended) -> dict[str, Any]:
    found = json.loads(ended.stdout)
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize("number", [pytest.param(signal.SIGINT, marks=pytest.mark.slow), signal.SIGTERM])
def test_what_is_known_is_reported_and_the_rest_is_unknown(spec: str, number: signal.Signals) -> None:
    code, word = _CODES[number]
    running = Running("check", spec, "--json", "--timeout", "600")
    running.until("individuals")
    running.send(number)
    ended = running.ended()
    report = document(ended)
    assert ended.code == code
    assert ended.seconds < 15
    assert report["ended"] == word
    assert {item["name"]: item["judgement"] for item in report["properties"]} == {
        "slow": "unknown",
        "both": "measured",
        "quick": "measured",
    }
    assert report["properties"][0]["demands"][0]["verdict"]["reason"] == "interrupted"
    assert len(report["models"]) == 2


@pytest.mark.slow
def test_too_much_memory_ends_with_what_is_known(spec: str) -> None:
    """The black box takes all the time there is, and what the other demands come to stands.

    On a busy machine the least limit may be passed before the spec is read, and then there is no property to speak of.
    """
    for limit in (64, 80, 96):
        running = Running("--memory-limit", str(limit << 20), "check", spec, "--json", "--timeout", "60")
        ended = running.ended()
        report = document(ended)
        assert ended.code == 75
        assert ended.seconds < 15
        assert report["ended"] == "out of memory"
        if report.get("properties"):
            break
    assert report["properties"][0]["judgement"] == "unknown"


@pytest.mark.parametrize("seed", range(3))
def test_a_signal_at_any_moment_leaves_one_document(spec: str, seed: int) -> None:
    number = (signal.SIGINT, signal.SIGTERM)[seed % 2]
    running = Running("check", spec, "--json", "--timeout", "600")
    time.sleep((0.15, 0.7, 1.6)[seed])
    running.send(number)
    if not running.ends_within(20.0):  # Python itself can lose a signal while it imports the package
        running.send(number)
    ended = running.ended()
    # Python had not started the program; of what ends a class while the package is imported 3.11 makes another error.
    not_yet = ("Fatal Python error: init", "Could not import runpy module", "Error calling __set_name__")
    if ended.code == -number or any(said in ended.stderr for said in not_yet):
        assert ended.stdout == ""
        return
    code, word = _CODES[number]
    assert ended.code == code
    found = document(ended)
    assert found["ended"] == word
    for item in found.get("properties", ()):
        for demand in item["demands"]:
            assert demand["judgement"] == "measured" or demand["verdict"]["reason"] == "interrupted"


def test_a_signal_that_is_ignored_stays_so(spec: str) -> None:
    """As shells have SIGINT for jobs in the background."""
    running = Running("check", spec, "--json", "--timeout", "600", ignoring=[signal.SIGINT])
    running.until("individuals")
    running.send(signal.SIGINT)
    time.sleep(0.5)
    assert running.process.poll() is None
    running.send(signal.SIGTERM)
    assert running.ended().code == 143


def test_sigterm_keeps_the_pairs_of_a_search(tmp_path: Path) -> None:
    spec, output = tmp_path / "spec.fair", tmp_path / "pairs.csv"
    spec.write_text(_PAIRS, encoding="utf-8")
    running = Running("search", str(spec), "--count", "100000000", "--timeout", "600", "--json", "-o", str(output))
    running.until("pairs, ")
    running.send(signal.SIGTERM)
    ended = running.ended()
    assert ended.code == 143
    found = document(ended)
    assert found["ending"] == "interrupted"
    assert len(output.read_text(encoding="utf-8").splitlines()) == 1 + found["count"] > 1


#: A billion units, all of them unfair.
_PAIRS = """\
domain Applicant { male : boolean  age : integer 0 .. 999999999 }
protected male
model rule : Applicant -> { reject, grant }
  score = 2 * male - 1
  grant when score > 0
property pairs { compare a, b : Applicant  differ in male  require same decision }
"""
