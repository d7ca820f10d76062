"""What did not change is not checked again, and whatever decides counts as a change."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import fairdsl
from fairdsl.cli import kept
from fairdsl.cli.app import cli

SPEC = """\
domain Applicant {
  age : integer 18 .. 75
  sex : boolean
}
protected sex
model approve : Applicant -> { reject, grant }
  from "model.json"
  grant when score > 0
property sex_never_decides {
  compare a, b : Applicant
  differ  in sex
  require same decision
}
"""
MODEL = {"features": ["age", "sex"], "coefficients": [1, 4], "intercept": -30}


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How often engines were asked; a folder with a spec and a model, and a cache of its own."""
    counted: list[int] = []
    asked: Callable[..., Any] = fairdsl.check

    def check(*arguments: Any, **options: Any) -> Any:
        counted.append(1)
        return asked(*arguments, **options)

    home = tmp_path / "cache"
    home.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_CACHE_HOME", str(home))
    monkeypatch.delenv("FAIRDSL_NO_CACHE")
    monkeypatch.setattr(fairdsl, "check", check)
    monkeypatch.setattr(kept, "_SETTLED", 0)  # the files are as new as the run
    folder = tmp_path / "audit"
    folder.mkdir()
    monkeypatch.chdir(folder)
    Path("x.fair").write_text(SPEC, encoding="utf-8")
    Path("model.json").write_text(json.dumps(MODEL), encoding="utf-8")
    return counted


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["check", "x.fair", *arguments])


def test_what_did_not_change_is_said_again(runs: list[int]) -> None:
    first, second = run("--report", "a.json"), run("--report", "b.json")
    assert len(runs) == 1, first.output
    assert (first.exit_code, first.stdout) == (second.exit_code, second.stdout)
    assert "nothing that decides has changed since this was checked; `--no-cache` checks again" in second.stderr
    assert Path("a.json").read_bytes() == Path("b.json").read_bytes()
    assert fairdsl.read_report("a.json") == fairdsl.read_report("b.json")


OTHERWISE = [("--no-cache",), ("--seed", "1"), ("--timeout", "59"), ("--set", "smt.query_timeout=5")]


@pytest.mark.parametrize("options", OTHERWISE)
def test_what_is_asked_otherwise_is_asked(runs: list[int], options: tuple[str, ...]) -> None:
    run()
    run(*options)
    assert len(runs) == 2


@pytest.mark.parametrize("file", ["x.fair", "model.json"])
def test_a_file_that_changed_is_read_again(runs: list[int], file: str) -> None:
    run()
    before = os.stat(file)
    text = Path(file).read_text(encoding="utf-8")
    Path(file).write_text(text.replace("30", "40") if file == "model.json" else f"{text}# more\n", encoding="utf-8")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))  # a time that lies is not believed
    run()
    assert len(runs) == 2


def test_a_model_in_place_of_the_specs(runs: list[int]) -> None:
    run()
    Path("other.json").write_text(json.dumps(MODEL | {"coefficients": [1, 0]}), encoding="utf-8")
    assert [run("--model", "approve=other.json").exit_code for _ in range(2)] == [0, 0]
    assert len(runs) == 2


def test_a_file_that_may_have_changed_while_it_was_read_keeps_nothing(
    runs: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept, "_SETTLED", 1 << 62)
    run()
    run()
    assert len(runs) == 2


def test_what_is_unknown_is_asked_again(runs: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "_CERTAIN", frozenset())
    run()
    run()
    assert len(runs) == 2


def test_the_word_of_another_packages_engine_is_asked_again(runs: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "_of_other_packages", lambda: {"search"})
    run()
    run()
    assert len(runs) == 2


def test_other_sources_of_this_package_are_asked(runs: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    run()
    monkeypatch.setattr(kept, "_sources", lambda: "others")
    run()
    assert len(runs) == 2


@pytest.mark.parametrize("kind", ["prelude_files", "preset_files"])
def test_other_metrics_and_presets_of_the_language_are_asked(
    runs: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    metrics = tmp_path / "metrics.fair"
    metrics.write_text("metric wanted = gap(rate(favourable))\n", encoding="utf-8")
    monkeypatch.setattr(kept, kind, lambda: [metrics])
    run()
    metrics.write_text("metric wanted = ratio(rate(favourable))\n", encoding="utf-8")
    run()
    assert len(runs) == 2


def test_what_lies_where_others_can_write_is_not_believed(runs: list[int], tmp_path: Path) -> None:
    run()
    (tmp_path / "cache" / "fairdsl" / "reports").chmod(0o777)
    run()
    assert len(runs) == 2


def test_a_damaged_entry_is_none(runs: list[int], tmp_path: Path) -> None:
    run()
    [entry] = (tmp_path / "cache" / "fairdsl" / "reports").iterdir()
    entry.write_text(entry.read_text().replace('"violated"', '"holds"'))
    assert run().exit_code == 1
    assert len(runs) == 2
