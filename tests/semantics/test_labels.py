"""A label is the true outcome: it is not an input, and a score that reads it is told so."""

from __future__ import annotations

from pathlib import Path

from marked_specs import findings

SPEC = """
domain Person {
  sex    : category { female, male }
  income : integer 0 .. 99
}
label repaid : boolean
protected sex
model approve : Person -> { reject, grant }
  score = income + 10 * repaid - 50
  grant when score > 0
property p { compare a, b : Person differ in sex require same decision }
"""


def test_a_score_that_reads_a_label_is_told_so(tmp_path: Path) -> None:
    (found,) = findings(SPEC, tmp_path)
    assert found.code == "E0203"
    assert found.primary is not None
    assert "label" in f"{found.title} {found.primary.text} {found.help} {found.why}"
