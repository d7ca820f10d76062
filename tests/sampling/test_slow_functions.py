"""Functions that are too slow for the time there is: what was judged by then is said, and soon."""

from __future__ import annotations

from pathlib import Path
from time import monotonic, sleep
from typing import Any

import numpy as np

import fairdsl
from fairdsl.verdict import Judgement

SPEC = """\
domain Applicant {{ sex : category {{ female, male }}  income : integer 0 .. 999999 }}
protected sex
model approve : Applicant -> {{ reject, grant }}
  from callable
  grant when score > 1
{rows}
property rate {{
  compare a, b : Applicant
  differ in sex
  {under}
  measure discrimination_rate {within}
}}
"""


def checked(tmp_path: Path, milliseconds: int, **parts: str) -> tuple[fairdsl.Report, float]:
    """The report on a function that takes so long an individual, in two seconds, and the seconds that it took."""

    def slow(people: dict[str, Any]) -> Any:
        sleep(0.001 * milliseconds * len(people["income"]))
        return np.where((people["sex"] == "female") & (people["income"] % 2 == 0), 0.0, 2.0)

    path = tmp_path / "audit.fair"
    path.write_text(SPEC.format(**parts))
    began = monotonic()
    report = fairdsl.check(path, callables={"approve": slow}, timeout=2)
    return report, monotonic() - began


def test_an_estimate_ends_with_the_time(tmp_path: Path) -> None:
    """The first look needs 2,048 individuals, and ten seconds."""
    report, seconds = checked(tmp_path, 5, rows="", under="", within="within 0.1% with confidence 95%")
    assert report.properties[0].judgement is Judgement.UNKNOWN
    assert seconds < 5


def test_rows_that_were_judged_are_kept(tmp_path: Path) -> None:
    """3,000 rows of two people each take six seconds."""
    table = "".join(f"female,{income}\n" for income in range(3000))
    (tmp_path / "rows.csv").write_text(f"sex,income\n{table}")
    rows = 'distribution cohort over Applicant\n  empirical from "rows.csv"'
    report, seconds = checked(tmp_path, 1, rows=rows, under="under cohort", within="")
    (demand,) = report.properties[0].demands
    assert demand.backend == "rows"
    assert demand.value is not None
    assert 0 < demand.value.low < demand.value.high < 1  # fair ones and unfair ones were judged, and not the rest
    assert seconds < 5
