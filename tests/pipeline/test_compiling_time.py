"""What a backend does once on a machine counts against no demand's time."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

import fairdsl
from fairdsl.backends import warmup as compiling
from fairdsl.backends.intervals import warmup

LENDING = Path(__file__).parents[2] / "examples" / "lending" / "lending.fair"


@pytest.mark.slow
def test_all_demands_keep_their_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(warmup, "_use_all", lambda: time.sleep(4.0))
    report = fairdsl.check(LENDING, timeout=6.0, jobs=1)
    first, second = (entry.demands[0] for entry in report.properties)
    for demand in (first, second):
        assert demand.shares is not None
        assert demand.shares.certified > 0
        assert demand.seconds < 6.0
    assert any("4 s for compiling the kernels" in note for note in first.notes)
    assert not any("compiling" in note for note in second.notes)
