"""The tables of `docs/models.md` name nothing that no test trains or reads."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
PAGE = (TESTS.parent / "docs" / "models.md").read_text(encoding="utf-8")


def named(heading: str) -> set[str]:
    """The classes and operators in the first two columns of the tables below a heading, up to the next of its kind."""
    section = PAGE[PAGE.index(heading) :].partition("\n## ")[0]
    rows = [line.split("|")[1:3] for line in section.splitlines() if line.startswith("| ")]
    return set(
        re.findall(r"`([A-Z]\w*[a-z]\w*)\*?`", " ".join("".join(row[: 1 + ("Networks" in heading)]) for row in rows))
    )


@pytest.mark.parametrize("heading", ["## scikit-learn, exported by skl2onnx", "## Networks"])
def test_every_row_of_the_tables_has_a_test(heading: str) -> None:
    folders = ("models", "missing", "dataframes")
    tests = "\n".join(path.read_text(encoding="utf-8") for name in folders for path in (TESTS / name).rglob("*.py"))
    untested = {name for name in named(heading) if not re.search(rf"\b{name}", tests)}
    assert len(named(heading)) > 20
    assert untested <= {"GaussianProcessClassifier", "TunedThresholdClassifierCV"}, "neither becomes a file"
