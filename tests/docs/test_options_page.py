"""Pages that say what can be set are those that the declarations and the functions make; `--accept` rewrites them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import fairdsl
from fairdsl.options import Run, declared
from fairdsl.options.page import page
from fairdsl.plan.registry import sections

DOCS = Path(__file__).parents[2] / "docs"
FUNCTIONS = {
    name: function
    for name in fairdsl.__all__
    if inspect.isfunction(function := getattr(fairdsl, name)) and not inspect.isclass(function)
}
_ROW = re.compile(r"^\| `(\w+)\([^`]*\)` \|", re.MULTILINE)


def signature(name: str, function: Callable[..., object]) -> str:
    """A function with the names of what it takes."""
    words, keywords = [], False
    for parameter in inspect.signature(function).parameters.values():
        starred = parameter.kind is inspect.Parameter.VAR_POSITIONAL
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY and not keywords:
            words.append("*")
        keywords = keywords or starred or parameter.kind is inspect.Parameter.KEYWORD_ONLY
        words.append(f"*{parameter.name}" if starred else parameter.name)
    return f"{name}({', '.join(words)})"


def test_the_page_of_options(as_expected: Callable[[Path, str], None]) -> None:
    as_expected(DOCS / "options.md", page(sections().values()))


def test_the_signatures_on_the_page_of_the_python_api(as_expected: Callable[[Path, str], None]) -> None:
    text = (DOCS / "python.md").read_text(encoding="utf-8")
    assert sorted(_ROW.findall(text)) == sorted(FUNCTIONS), "every public function has one row"
    right = _ROW.sub(lambda row: f"| `{signature(row[1], FUNCTIONS[row[1]])}` |", text)
    as_expected(DOCS / "python.md", right)


@pytest.mark.parametrize("name", [name for name, function in FUNCTIONS.items() if "Args:" in (function.__doc__ or "")])
def test_every_parameter_is_explained(name: str) -> None:
    explained = re.findall(r"^ {8}(\w+):", (FUNCTIONS[name].__doc__ or "").split("Args:")[1], re.MULTILINE)
    assert explained[: len(parameters := list(inspect.signature(FUNCTIONS[name]).parameters))] == parameters


def test_the_keywords_of_check_are_the_options_of_a_run() -> None:
    parameters = inspect.signature(fairdsl.check).parameters
    assert {each.name: each.default for each in declared(Run)} == {
        each.name: parameters[each.name].default for each in declared(Run)
    }
