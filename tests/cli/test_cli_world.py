"""Where the world fails: exit codes of processes whose disk, memory, pipe or reader is gone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.signalled import Running

_SPEC = """\
domain Applicant { male : boolean  age : integer 0 .. 999999999 }
protected male
model rule : Applicant -> { reject, grant }
  score = 2 * male - 1
  grant when score > 0
property pairs { compare a, b : Applicant  differ in male  require same decision }
"""


@pytest.fixture
def spec(tmp_path: Path) -> str:
    path = tmp_path / "spec.fair"
    path.write_text(_SPEC, encoding="utf-8")
    return str(path)


def shell(line: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """What a shell makes of the line, in which `$fairdsl` is the command and `$1` the first argument."""
    command = ["bash", "-c", line, "bash", *arguments]
    environment = os.environ | {"fairdsl": f"{sys.executable} -B -m fairdsl"}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no device that is full")
def test_output_that_cannot_be_written(spec: str) -> None:
    ended = shell("$fairdsl check $1 > /dev/full", spec)
    assert ended.returncode == 74
    assert "cannot write to standard output: no space left on device" in ended.stderr


def test_a_reader_who_went_away(spec: str) -> None:
    ended = shell("$fairdsl check $1 | true; echo ${PIPESTATUS[0]}", spec)
    assert ended.stdout == "141\n"
    assert ended.stderr == ""


def test_a_disk_that_is_full_and_a_folder_that_cannot_be_written(spec: str, tmp_path: Path) -> None:
    """The limit on the size of files stands for the disk's."""
    line = "ulimit -f 1; trap '' XFSZ; $fairdsl search $1 --count 100 --timeout 20 -o $2"
    output = tmp_path / "pairs.csv"
    output.write_text("before\n")
    ended = shell(line, spec, str(output))
    assert (ended.returncode, "E0629" in ended.stderr) == (74, True), ended.stderr
    assert sorted(os.listdir(tmp_path)) == ["pairs.csv", "spec.fair"]
    assert output.read_text() == "before\n"
    ended = shell("ulimit -f 1; trap '' XFSZ; $fairdsl check $1 --report $2", spec, str(tmp_path / "report.html"))
    assert (ended.returncode, "report.html`: File too large" in ended.stderr) == (74, True), ended.stderr
    assert sorted(os.listdir(tmp_path)) == ["pairs.csv", "spec.fair"]
    ended = shell("$fairdsl search $1 --count 5 -o /proc/pairs.csv", spec)
    assert (ended.returncode, "/proc" in ended.stderr) == (2, True), ended.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="addresses are not limited elsewhere")
@pytest.mark.parametrize("limit", [60_000, 150_000, 200_000])
def test_memory_that_is_not_enough_is_no_verdict(spec: str, limit: int) -> None:
    """OpenBLAS ends a process with 1, the exit code of what is violated."""
    ended = shell(f"ulimit -v {limit}; $fairdsl check $1", spec)
    if ended.returncode == 1:
        assert "pairs   VIOLATED" in ended.stdout, ended.stderr
    else:
        assert ended.returncode == 75
        assert "there was not enough memory" in ended.stderr
        assert "VIOLATED" not in ended.stdout


def test_an_interrupted_search_writes_what_it_found(spec: str, tmp_path: Path) -> None:
    output = tmp_path / "pairs.csv"
    running = Running("search", spec, "--count", "100000000", "--timeout", "600", "-o", str(output))
    running.until("pairs, ")
    running.send(signal.SIGINT)
    assert running.ended().code == 130
    assert len(output.read_text(encoding="utf-8").splitlines()) > 1


@pytest.mark.slow
def test_a_job_in_the_background_ignores_what_its_shell_ignores(spec: str, tmp_path: Path) -> None:
    begun = "set +m; $fairdsl search $1 --count 20000 -o $2 & "
    interrupted = "while sleep 0.2; kill -INT $! 2>/dev/null; do :; done; wait $!"
    ended = shell(begun + interrupted, spec, str(tmp_path / "pairs.csv"))
    assert ended.returncode == 1, ended.stderr
    assert len((tmp_path / "pairs.csv").read_text(encoding="utf-8").splitlines()) == 20_001
