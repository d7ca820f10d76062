"""Nothing in the package goes by a metric's name: what a metric is stands in its object alone.

A module that compares with a name, or has a table by names, is a second description of the metric, which the next
metric would be left out of, silently.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from fairdsl.prelude import known_metrics
from tests.modules import PACKAGE, nodes_of

REGISTRY = "prelude/registry.py"
#: Words that are names of metrics, and stand for something else.
ALLOWED = {
    ("ir/question.py", "most_favoured"),  # the baseline of a path-specific gap, as it is written in a spec
    ("ir/question.py", "fair_share"),  # the quantities that are asked of a question about pairs
    ("ir/question.py", "discrimination_rate"),
    ("ir/question.py", "max_score_gap"),
    ("ir/question.py", "affected_rate"),
    ("ir/question.py", "redraw_disagreement"),
}


def literals(path: Path, names: set[str]) -> Iterator[str]:
    for node in nodes_of(path, *names):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def found_in(package: Path) -> set[tuple[str, str]]:
    names = set(known_metrics())
    return {
        (path.relative_to(package).as_posix(), text)
        for path in package.rglob("*.py")
        if path.relative_to(package).as_posix() != REGISTRY
        for text in literals(path, names)
        if text in names
    }


def test_no_module_goes_by_the_name_of_a_metric() -> None:
    assert found_in(PACKAGE) == ALLOWED


def test_a_module_that_does_is_found(tmp_path: Path) -> None:
    (tmp_path / "planted.py").write_text('GAPS = {"odds_gap": 0}\n')
    assert found_in(tmp_path) == {("planted.py", "odds_gap")}
