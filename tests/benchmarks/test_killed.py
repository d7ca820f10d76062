"""Runs that are killed at any moment: the script that kills them notices what is lost, and nothing is."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    yield import_module("killed")
    del sys.modules["killed"]


@pytest.mark.slow
def test_a_killed_run_is_gone_on_with(script: Any) -> None:
    kind = script.Partitions()
    kind.words = tuple("60" if word == "40" else word for word in kind.words)
    whole = script.unbroken(kind)
    assert whole.changes >= 2
    script.killed(kind, whole, random.Random(1), 1)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["partitions", "jobs", "forests", "pairs", "search", "repair"])
def test_many_moments(script: Any, name: str) -> None:
    assert script.main(["--moments", "12", name]) == 0


@pytest.mark.parametrize(
    ("name", "file", "before", "content"),
    [
        ("partitions", "ledger.jsonl", b'{"a": 1}\n', b'{"a": '),
        ("partitions", "ledger.jsonl", b"", b'{"a": \n'),
        ("jobs", "fair.result", 0, b"half"),
        ("pairs", "fair.result", 0, b"half"),
        ("search", "pairs.csv", 2, b"a,b\n1,2\n3"),
        ("search", "pairs.csv", 3, b"a,b\n1,2\n"),
        ("repair", "better/approve.json", False, b"{"),
    ],
)
def test_what_is_lost_is_noticed(
    script: Any, tmp_path: Path, name: str, file: str, before: Any, content: bytes
) -> None:
    path = tmp_path / file
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    with pytest.raises((script.BrokenError, ValueError)):
        script.KINDS[name]().known(tmp_path, before)
