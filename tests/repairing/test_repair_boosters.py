"""Boosters become the files that their libraries save: a stand-in for XGBoost's estimator, with its file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fairdsl
from fairdsl.repairing.estimators import factory_of
from fairdsl.repairing.exporting import exported
from fairdsl.repairing.subject import Rows, subject_of
from fairdsl.semantics import front_end
from tests.dataframes.test_frameworks import ANSWERS, SPEC, XGBOOST, Booster, Wrapped

LABELS = np.array(ANSWERS["xgboost_categories.ubj"]["labels"])


class XGBClassifier(Wrapped):
    """Decides about the rows of the file's answers as the library did."""

    def __init__(self, turned: bool = False) -> None:
        super().__init__(Booster(XGBOOST))
        self.turned = turned

    def fit(self, features: Any, classes: Any) -> None:
        """What it learnt is known."""

    def predict(self, features: Any) -> Any:
        assert len(features) == len(LABELS)
        return 1 - LABELS if self.turned else LABELS


def read(folder: Path, name: str) -> Any:
    path = folder / "spec.fair"
    asked = "property blind { compare a, b : Person differ in sex require same decision }"
    text = SPEC.replace('from "approve.json"', f"from {name}") + f"label paid : boolean deserving yes\n{asked}\n"
    path.write_text(text)
    return subject_of(front_end(str(path))[0], str(path), "blind")


def rows_of(subject: Any, folder: Path) -> Rows:
    decided = zip(ANSWERS["rows"], LABELS, strict=True)
    lines = (f"{income},{job},{age},{sex},{label}" for (job, sex, age, income), label in decided)
    (folder / "rows.csv").write_text("income,job,age,sex,paid\n" + "\n".join(lines))
    rows: Rows = subject.rows(str(folder / "rows.csv"))[0]
    return rows


@pytest.mark.parametrize("name", ['"approve.ubj"', 'xgboost "approve.model"'])
def test_a_booster_is_written_as_its_library_saves_it(tmp_path: Path, name: str) -> None:
    subject = read(tmp_path, name)
    estimator, path = XGBClassifier(), tmp_path / subject.file_name
    found = exported(factory_of(XGBClassifier), estimator, subject, path, rows_of(subject, tmp_path))
    assert path.read_bytes() == XGBOOST
    assert found.differing == 0
    with pytest.raises(fairdsl.SpecError, match="100 of 100 rows otherwise"):
        exported(factory_of(XGBClassifier), XGBClassifier(turned=True), subject, path, rows_of(subject, tmp_path))


def test_a_spec_that_reads_another_format_is_told_so(tmp_path: Path) -> None:
    subject = read(tmp_path, '"approve.onnx"')
    with pytest.raises(fairdsl.SpecError, match="`XGBClassifier` is saved as its library") as problem:
        exported(
            factory_of(XGBClassifier), XGBClassifier(), subject, tmp_path / "approve.onnx", rows_of(subject, tmp_path)
        )
    assert 'from xgboost "NAME.ubj"' in str(problem.value)
