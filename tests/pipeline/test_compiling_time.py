"""Kernels are compiled beside a command, within its time, and the next command has them."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

import pytest

import fairdsl
from fairdsl.backends.contract import Observer
from fairdsl.clock import Deadline
from fairdsl.verdict import Judgement

LENDING = Path(__file__).parents[2] / "examples" / "lending" / "lending.fair"


def checked(cache: Path, seconds: int) -> str:
    command = [sys.executable, "-m", "fairdsl", "check", str(LENDING), "--timeout", str(seconds), "--no-cache"]
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache)}
    began = time.monotonic()
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode in (0, 3), ended.stderr
    assert time.monotonic() - began < seconds + 5
    return ended.stdout


@pytest.mark.slow
def test_what_a_command_did_not_wait_for_is_there_for_the_next_one(tmp_path: Path) -> None:
    assert "still being compiled" in checked(tmp_path, 6)
    latest = time.monotonic() + 300
    while not list(tmp_path.glob("fairdsl/kernels-*/complete")):
        assert time.monotonic() < latest
        time.sleep(0.5)
    assert "boxes bounded" in checked(tmp_path, 15)


@dataclass
class NeverReady:
    """Work that is never done; remembers until when it was waited for."""

    waited: list[Deadline] = field(default_factory=list)

    def begin(self, observer: Observer) -> None: ...

    def ready(self, observer: Observer, by: Deadline) -> bool:
        self.waited.append(by)
        return False


def test_what_never_gets_ready_is_waited_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    never = NeverReady()
    monkeypatch.setattr(import_module("fairdsl.pipeline"), "preparations", lambda *_: [never])
    report = fairdsl.check(LENDING.parents[1] / "hiring" / "hiring.fair", timeout=20)
    assert [item.judgement for item in report.properties] == [Judgement.VIOLATED, Judgement.HOLDS]
    assert len(never.waited) > len(set(never.waited)) == 1
