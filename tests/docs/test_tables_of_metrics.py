"""The tables of metrics in the documentation are those of the registry. ``pytest --accept`` rewrites them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fairdsl.metrics.described import definition_table, metric_table

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize(
    ("page", "name", "table"),
    [("language.md", "the metrics", metric_table), ("semantics.md", "the definitions", definition_table)],
)
def test_a_table_of_metrics_is_the_registrys(
    page: str, name: str, table: Callable[[], str], request: pytest.FixtureRequest
) -> None:
    path = DOCS / page
    text = path.read_text(encoding="utf-8")
    before, start, rest = text.partition(f"<!-- {name} -->\n")
    _, end, after = rest.partition(f"<!-- end of {name} -->\n")
    assert start, page
    assert end, page
    wanted = before + start + table() + end + after
    if request.config.getoption("--accept"):
        path.write_text(wanted, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == wanted, "`pytest --accept tests/docs` rewrites it"
