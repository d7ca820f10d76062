"""`lint --files` opens every model once, however many properties speak of it."""

from importlib import import_module
from pathlib import Path

import pytest

import fairdsl

SPEC = """fair 1
domain Person {
  age : integer 0 .. 9
  sex : category { female, male }
}
protected sex
model first : Person -> { no, yes }
  score = 2 * age - 7 + (sex = male)
  yes when score > 0
model second : Person -> { no, yes }
  score = age - 3
  yes when score > 0
model third : Person -> { no, yes }
  score = age - 4
  yes when score > 0
property one {
  model first
  compare a, b : Person
  differ in sex
  require same decision
}
property two {
  model first
  compare a, b : Person
  differ in sex
  measure fair_share
}
property other {
  model second
  compare a, b : Person
  differ in sex
  require same decision
}
"""


def test_each_file_is_opened_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "audit.fair"
    path.write_text(SPEC, encoding="utf-8")
    module = import_module("fairdsl.elaborate.elaborate")
    opened: list[str] = []
    load = module.load_model

    def counting(declaration, *args, **keywords):  # type: ignore[no-untyped-def]
        opened.append(declaration.name)
        return load(declaration, *args, **keywords)

    monkeypatch.setattr(module, "load_model", counting)
    findings = fairdsl.lint(path, files=True)
    assert sorted(opened) == ["first", "second", "third"]
    assert [finding.code for finding in findings].count("W0805") == 1  # `second` does not read `sex`
