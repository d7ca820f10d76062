"""A Dask scheduler that is not there, says nothing or goes away: commands end, say why, and keep what they have."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

import fairdsl
from fairdsl.backends.refining.result import read_result
from fairdsl.cli.app import cli
from tests.intervals.bisection import SlowBisection
from tests.intervals.test_solve import LARGE, job_file, process, solve, use, wait_for_more

distributed = pytest.importorskip("distributed")

SPEC = """\
domain A { sex : category { female, male }  age : integer 18 .. 90 }
protected sex
model m : A -> { no, yes }
  score = 3 * age - 80 + 7 * (sex = male)
  yes when score > 0
property s { compare a, b : A  differ in sex  measure fair_share }
"""


@pytest.fixture(params=["closed", "mute", "nonsense"])
def address(request: pytest.FixtureRequest) -> Iterator[str]:
    """A port that nobody listens at, one at which nobody says a word, and no address."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        place = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        if request.param == "closed":
            server.close()
        yield "nonsense" if request.param == "nonsense" else place


@pytest.mark.parametrize("command", ["check", "solve"])
def test_a_scheduler_that_is_not_there(
    address: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fairdsl.backends.refining.cluster._PATIENCE", 0.5)
    (tmp_path / "s.fair").write_text(SPEC, encoding="utf-8")
    words = ["check", "s.fair", "--backend", "intervals"]
    if command == "solve":
        fairdsl.compile(tmp_path / "s.fair", to="interval-job", directory=tmp_path / "jobs")
        words = ["solve", "jobs/s.job"]
    monkeypatch.chdir(tmp_path)
    ended = CliRunner().invoke(cli, [*words, "--set", f"intervals.scheduler={address}"])
    assert ended.exit_code == 2
    assert f"error[E0614]: no Dask cluster can be used at `{address}`" in ended.stderr
    assert ("it is not an address" if address == "nonsense" else "nobody answers there") in ended.stderr
    assert not list(tmp_path.rglob("*.result"))


@pytest.mark.slow
def test_a_scheduler_that_goes_away_midway(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was certified until then is in the result, and a run on this machine goes on from it."""
    path = job_file(tmp_path, LARGE)
    cluster = distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs="CRITICAL"
    )
    with cluster:
        at = f"intervals.scheduler={cluster.scheduler_address}"
        run = process("solve", path, "--timeout", 300, "--checkpoint", 0.2, "--set", at)
        wait_for_more(tmp_path / "p.result", 0)
    stdout, stderr = run.communicate(timeout=120)
    assert run.returncode == 0, stderr.decode()
    assert b"the processes went away; `--resume` goes on" in stdout
    assert b"Traceback" not in stderr
    left = read_result(tmp_path / "p.result")
    assert not left.finished
    before = SlowBisection.resume(LARGE, left.leaves).bounds()
    assert before.falsified > 0
    use(monkeypatch, SlowBisection)
    assert solve(path, resume=True, timeout=0.5).found.nodes > left.nodes
