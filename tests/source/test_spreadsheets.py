"""Texts that spreadsheets take for formulas are defused where that is asked for, and numbers stay numbers."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import fairdsl
from fairdsl.cli.app import cli
from fairdsl.source.spreadsheets import cell, csv_of

FORMULAS = ("=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\tx", "\rx", '="a"', "-")
PLAIN = ("", "a", "a=b", "-1.5", "+2", "-1e3", "1/3", "-1/3", "' x", " =a")

SPEC = """
domain Person {
  job : category { "=1+1", "-2+3", clerk }
  age : integer -1 .. 1
  sex : boolean
}
protected sex
model m : Person -> { no_, yes_ }
  score = sex = yes
  yes_ when score > 0
property same {
  compare a, b : Person
  differ in sex
  require same decision
}
"""


@pytest.mark.parametrize("text", FORMULAS)
def test_a_formula_is_defused_where_that_is_asked_for(text: str) -> None:
    assert cell(text) == text
    with fairdsl.writing(defuse_formulas=True):
        assert cell(text) == f"'{text}"
    assert cell(text) == text


@pytest.mark.parametrize("text", PLAIN)
def test_other_texts_and_numbers_stay(text: str) -> None:
    with fairdsl.writing(defuse_formulas=True):
        assert cell(text) == text


def test_a_table_is_read_back_as_it_was() -> None:
    rows = [["a", *FORMULAS], ["b", *(f"{text}," for text in FORMULAS)], ["c", *range(len(FORMULAS))]]
    assert list(csv.reader(io.StringIO(csv_of(rows), newline=""))) == [[str(each) for each in row] for row in rows]


@pytest.mark.parametrize("defused", [False, True])
def test_the_pairs_that_a_search_writes(defused: bool, tmp_path: Path) -> None:
    (tmp_path / "spec.fair").write_text(SPEC)
    words = ["--defuse-formulas"] if defused else []
    words += ["search", str(tmp_path / "spec.fair"), "--count", "20", "-o", str(tmp_path / "pairs.csv")]
    assert CliRunner().invoke(cli, words).exit_code == 1
    with (tmp_path / "pairs.csv").open(newline="") as file:
        cells = np.array(list(csv.reader(file)), dtype=object)[1:].ravel().tolist()
    assert ("'=1+1" in cells, "=1+1" in cells) == (defused, not defused)
    assert "-1" in cells
    assert "'-1" not in cells
