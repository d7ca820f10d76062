"""What is said to write where a cell, or a column, is not what the spec declares."""

from __future__ import annotations

from pathlib import Path

import pytest

from fairdsl.data.table import read_table
from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.domain import Attribute, Boolean, Category, CategoryValue, Domain, Integer, Type
from fairdsl.ir.expr import TRUE
from tests.builders import integer, real

JOB = Category(values=(CategoryValue(name="clerk", code=0), CategoryValue(name="head nurse", code=1)))
CODED = Category(values=(CategoryValue(name="clerk", code=4), CategoryValue(name="nurse", code=5)), coded=True)


def remedy(kind: Type, cells: str, folder: Path, *, header: str = "job", label: bool = False) -> str:
    """The help about a table of these cells."""
    (folder / "people.csv").write_text("\n".join([header, *cells.split("|")]) + "\n", encoding="utf-8")
    attribute = Attribute(name="job", type=kind)
    inside = () if label else (attribute,)
    people = Domain(name="P", attributes=inside, where=TRUE)
    with pytest.raises(DiagnosticError) as caught:
        read_table(str(folder / "people.csv"), people, attribute if label else None)
    (finding,) = caught.value.diagnostics
    return finding.help or ""


@pytest.mark.parametrize(
    ("kind", "cells", "said"),
    [
        (JOB, "clerk|cook", 'declare `job : category { clerk, "head nurse", cook }`'),
        (JOB, "clerk|a|b|c|d|e", "widen the domain"),
        (CODED, "clerk|cook", "widen the domain"),  # whoever adds a value has to add its code
        (Boolean(), "approved|denied", "declare `job : category { approved, denied }`"),
        (Boolean(), "1|2", 'declare `job : category { "2", ... }`'),
        (integer(0, 1), "True|False", "declare `job : boolean`"),
        (integer(18, 90), "17|40|95", "declare `job : integer 17 .. 95`"),
        (integer(18, 90), "20.5", "declare `job : real 18 .. 90`"),
        (real("1/2", 3), "3.25", "declare `job : real 0.5 .. 3.25`"),
        (integer(18, 90), "40|?|NA", "leave these cells empty, and write `job : ... or missing`"),
        (integer(18, 90), "40|old", "widen the domain"),
    ],
)
def test_cells(kind: Type, cells: str, said: str, tmp_path: Path) -> None:
    assert said in remedy(kind, cells, tmp_path)


def test_a_label_has_no_gaps(tmp_path: Path) -> None:
    assert "declare `job : category" in remedy(Boolean(), "yes|?", tmp_path, label=True)


@pytest.mark.parametrize(
    ("header", "cells", "said"),
    [
        (
            "job_clerk,job_nurse",
            "0,1",
            "join `job_clerk`, `job_nurse` into one column `job` with the names of the values",
        ),
        ("jobs", "1", "did you mean `jobs`?"),
        ("job_title", "1", 'give the attribute the file\'s name with `column "..."`'),
    ],
)
def test_columns(header: str, cells: str, said: str, tmp_path: Path) -> None:
    assert said in remedy(Integer(low=0, high=1), cells, tmp_path, header=header)
