"""Ctrl-C during a long share: the report with the shares so far, and nothing else is begun."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path
from select import select
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
#: Seconds for what must come: the kernels may have to be compiled first.
_PATIENCE = 300.0


def wait_for(words: bytes, terminal: int) -> None:
    """Read the terminal until the words were shown."""
    seen, until = b"", time.monotonic() + _PATIENCE
    while words not in seen:
        assert time.monotonic() < until, seen[-2000:]
        if select([terminal], [], [], 1.0)[0]:
            seen += os.read(terminal, 65536)


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    """The lending example with two shares and no threshold: nothing decides either of them before the Ctrl-C comes."""
    lending = ROOT / "examples" / "lending"
    text = (lending / "lending.fair").read_text(encoding="utf-8")
    assert "require fair_share >= 80%" in text
    copy = tmp_path / "lending.fair"
    copy.write_text(text.replace("require fair_share >= 80%", "measure fair_share"), encoding="utf-8")
    (tmp_path / "lending.onnx").write_bytes((lending / "lending.onnx").read_bytes())
    return copy


def interrupted(spec: Path, *options: str) -> list[dict[str, Any]]:
    """The properties of the report after a Ctrl-C in the middle of the first one."""
    ours, theirs = pty.openpty()
    arguments = ["check", str(spec), "--timeout", "600", "--json", *options]
    process = subprocess.Popen(
        [sys.executable, "-m", "fairdsl", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=theirs,
        cwd=ROOT,
        env=os.environ | {"TERM": "xterm", "COLUMNS": "200"},
    )
    try:
        wait_for(b"boxes", ours)
        process.send_signal(signal.SIGINT)
        began = time.monotonic()
        output, _ = process.communicate(timeout=_PATIENCE)
    finally:
        process.kill()
        os.close(theirs)
        os.close(ours)
    assert time.monotonic() - began < 30
    assert process.returncode == 130
    properties: list[dict[str, Any]] = json.loads(output)["properties"]
    return properties


def check_shares(measured: dict[str, Any]) -> None:
    """What is known of a share after the Ctrl-C is all there."""
    (demand,) = measured["demands"]
    assert demand["reason"] == "interrupted"
    shares = demand["verdict"]
    assert shares["estimate"]["sampled"] > 0
    assert 0 < shares["certified"] < 1
    assert shares["undecided"] > 0
    assert shares["regions"]
    assert shares["witnesses"]


def test_ctrl_c_reports_the_shares_so_far(spec: Path) -> None:
    (measured,) = interrupted(spec, "--property", "sex_and_age", "--jobs", "2")
    check_shares(measured)


@pytest.mark.slow
def test_after_ctrl_c_nothing_else_is_begun(spec: Path) -> None:
    first, second = interrupted(spec, "--jobs", "1")
    check_shares(first)
    assert [(each["judgement"], each["reason"]) for each in second["demands"]] == [("unknown", "interrupted")]
