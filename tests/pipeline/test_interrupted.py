"""Whoever ends a run gets the report on what is known: demands that are open are unknown, with the bounds there are."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import jsonschema
import pytest

import fairdsl
import fairdsl.pipeline as pipeline
from fairdsl.backends.enumerate import Enumerate
from fairdsl.clock.errors import not_in_time
from fairdsl.codec import plain, schema
from fairdsl.diagnostics import DiagnosticError
from fairdsl.report.model import ExitCode, Report
from fairdsl.report.stopped import Stopped
from fairdsl.report.text import render
from fairdsl.verdict import Interval, Reason

SPEC = """\
domain P { sex : category { f, m }  age : integer 18 .. 30 }
protected sex
model m : P -> { no, ok }
  score = age - 20
  ok when score > 0
  favourable ok
distribution everybody over P
  uniform
property pairs { compare a, b : P  differ in sex  measure fair_share  require same decision }
property groups { across sex under everybody  measure acceptance_rate }
"""


SOMEWHERE = Interval(Fraction(0), Fraction(1))


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    path = tmp_path / "spec.fair"
    path.write_text(SPEC, encoding="utf-8")
    return path


def raising(error: BaseException) -> Callable[..., object]:
    def fail(*_: object, **__: object) -> object:
        raise error

    return fail


def test_what_was_answered_stands_and_nothing_else_is_asked(spec: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Enumerate, "answer", raising(KeyboardInterrupt()))
    report = fairdsl.check(spec)
    share, same = report.properties[0].demands
    assert (share.reason, share.value) == (Reason.INTERRUPTED, SOMEWHERE)
    assert (same.reason, same.detail) == (Reason.INTERRUPTED, "its turn had not come yet")
    assert report.properties[1].demands[0].reason is Reason.INTERRUPTED
    assert (report.ended, report.exit_code) == (Stopped.INTERRUPTED, ExitCode.INTERRUPTED)


@pytest.mark.parametrize(
    ("error", "reason", "code"),
    [
        (KeyboardInterrupt(), Reason.INTERRUPTED, ExitCode.INTERRUPTED),
        (DiagnosticError(not_in_time("reading models and data", "")), Reason.TIMEOUT, ExitCode.UNKNOWN),
    ],
)
def test_before_anything_was_asked_all_is_unknown(
    spec: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException, reason: Reason, code: ExitCode
) -> None:
    monkeypatch.setattr(pipeline, "elaborate", raising(error))
    report = fairdsl.check(spec)
    demands = [demand for item in report.properties for demand in item.demands]
    assert [demand.reason for demand in demands] == [reason] * 3
    assert [demand.value for demand in demands] == [SOMEWHERE, None, None]
    assert all(demand.backend is None and demand.basis is None for demand in demands)
    assert report.exit_code is code
    assert "exact" not in render(report)
    jsonschema.Draft202012Validator(schema(Report)).validate(plain(report))


def test_mistakes_are_no_want_of_time(spec: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from fairdsl.data.errors import file_not_read

    monkeypatch.setattr(pipeline, "elaborate", raising(DiagnosticError(file_not_read("x.csv", "gone", None, ""))))
    with pytest.raises(DiagnosticError, match="E0530"):
        fairdsl.check(spec)
