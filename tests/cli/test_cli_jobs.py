"""``fairdsl solve`` and ``fairdsl recover``: options reach the API, shares and reports reach the streams."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import fairdsl
from fairdsl.cli.app import cli
from fairdsl.solver_files.solve import SolvedFile

ROOT = Path(__file__).parents[2]


def run(*arguments: object) -> Result:
    return CliRunner().invoke(cli, [str(argument) for argument in arguments])


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, Any]:
    """What ``fairdsl.solve`` is called with."""
    heard: dict[str, Any] = {}

    def solve(path: str, **options: Any) -> None:
        heard.update(path=path, **options)
        raise KeyboardInterrupt

    monkeypatch.setattr(fairdsl, "solve", solve)
    monkeypatch.chdir(tmp_path)
    Path("a.job").write_bytes(b"")
    return heard


def test_defaults(asked: dict[str, Any]) -> None:
    assert run("solve", "a.job").exit_code == 130
    del asked["observer"]
    assert asked == {
        "path": "a.job",
        "shard": 1,
        "shards": 1,
        "resume": False,
        "timeout": 60.0,
        "jobs": None,
        "memory": 2 << 30,
        "options": {},
        "checkpoint": 5.0,
        "output": None,
    }


def test_options_reach_the_api(asked: dict[str, Any]) -> None:
    run(
        "solve", "a.job", "--shard", "2/8", "--resume", "--timeout", 5, "--jobs", 2, "--memory", "500MB",
        "--set", "intervals.scheduler=tcp://host:8786", "--checkpoint", 1, "-o", "x.result",
    )  # fmt: skip
    del asked["observer"]
    assert asked == {
        "path": "a.job",
        "shard": 2,
        "shards": 8,
        "resume": True,
        "timeout": 5.0,
        "jobs": 2,
        "memory": 500_000_000,
        "options": {"intervals": {"scheduler": "tcp://host:8786"}},
        "checkpoint": 1.0,
        "output": "x.result",
    }


@pytest.mark.parametrize("shard", ["0/2", "3/2", "2", "1/0", "a/b", "-1/2", "1/2/3"])
def test_shards_that_there_are_not(asked: dict[str, Any], shard: str) -> None:
    result = run("solve", "a.job", f"--shard={shard}")
    assert result.exit_code == 2
    assert "write for example --shard 1/4" in " ".join(result.stderr.split())
    assert not asked


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("jobs")
    fairdsl.compile(ROOT / "examples" / "hiring" / "hiring.fair", to="interval-job", directory=folder)
    return folder


def test_from_job_to_report(jobs: Path) -> None:
    job = jobs / "good_tests.job"
    first = run("solve", job, "--shard", "1/2", "--jobs", 1)
    assert (first.exit_code, first.stderr) == (0, "")
    assert "shard 1 of 2" in first.stdout
    assert "certified" in first.stdout
    assert str(jobs / "good_tests.1-of-2.result") in first.stdout
    second = run("solve", job, "--shard", "2/2", "--jobs", 1, "--json")
    written = json.loads(second.stdout)
    assert written["schema"] == "fairdsl.solved/2"
    found = written["found"]
    assert (found["shard"], found["shards"], found["ending"]) == (2, 2, "finished")
    assert found["standing"]["certified"] + found["standing"]["falsified"] <= 1
    assert SolvedFile.from_json(second.stdout).to_json() == second.stdout
    report = run("recover", jobs)
    assert "good_tests" in report.stdout
    assert "2 of 2 shards joined" in " ".join(report.stdout.split())
    as_json = json.loads(run("recover", jobs, "--json").stdout)
    assert as_json["schema"] == "fairdsl.report/2"
    assert {item["name"] for item in as_json["properties"]} >= {"good_tests"}
    assert report.exit_code == run("recover", jobs, "--json").exit_code


def test_what_is_wrong_is_said_as_text_and_as_json(jobs: Path) -> None:
    for command in (("solve", ROOT / "README.md"), ("recover", ROOT / "README.md")):
        result = run(*command)
        assert (result.exit_code, result.stdout) == (2, "")
        assert "error[E0607]" in result.stderr
        result = run(*command, "--json")
        assert (result.exit_code, result.stderr) == (2, "")
        assert json.loads(result.stdout)["diagnostics"][0]["code"] == "E0607"
