"""What a property says reaches the report, `explain`, and every rendering that shows all of it."""

from __future__ import annotations

from dataclasses import Field, fields, replace
from pathlib import Path
from typing import Any, get_type_hints

import pytest
from samples import REPORT

from fairdsl import explanation
from fairdsl.cli.explain import _print_spec
from fairdsl.report.explained import ExplainedProperty, Explanation
from fairdsl.report.gather import not_read
from fairdsl.report.model import PropertyReport
from fairdsl.semantics import CheckedProperty, front_end

SPEC = Path(__file__).parents[2] / "examples" / "hiring" / "hiring.fair"
#: What a report, or an explanation, has of a checked property under another name, and what it has no need of.
ELSEWHERE = {
    "title": "`sentence`, where the spec has one",
    "sentences": "`sentence`",
    "formulas": "`formula` of an explanation",
    "demands": "`sentence` and `formula` of an explanation, one for each",
    "model": "the clauses, where there are several",
    "domain": "`Report.domains`",
    "span": "no place in an explanation, which is not about mistakes",
    "preset": "no place in an explanation: the property stands there in full",
}
#: Kinds of texts, and how a marker is one.
TEXTS: dict[Any, Any] = {str: str, str | None: str, tuple[str, ...]: lambda text: (text, f"{text}2")}


def marks(kind: type, taken: tuple[str, ...] = ()) -> dict[str, Any]:
    """A marker for every field of a class that holds text, as its value: a word that stands nowhere else."""
    hints = get_type_hints(kind)
    names = [each.name for each in fields(kind) if hints[each.name] in TEXTS and each.name not in taken]
    return {name: TEXTS[hints[name]](f"Mark{name.replace('_', '')}") for name in names}


def lost(marked: dict[str, Any], text: str) -> list[str]:
    return [
        name
        for name, value in marked.items()
        for each in ((value,) if isinstance(value, str) else value)
        if each not in text
    ]


def marked_property() -> CheckedProperty:
    spec, _ = front_end(str(SPEC))
    return replace(spec.properties[0], **marks(CheckedProperty, ("model",)))


@pytest.mark.parametrize("name", ["text", "markdown", "html", "json"])
def test_every_text_of_a_property_is_in_every_rendering(name: str) -> None:
    marked = marks(PropertyReport)
    assert len(marked) >= 3
    item = replace(REPORT.properties[0], **marked)
    omitted = lost(marked, replace(REPORT, properties=(item,)).rendered(name))
    assert not omitted, (
        f"{omitted} of PropertyReport: not shown as {name}; its field in fairdsl/report/model.py says "
        "`below` which heading, and text.py, markdown.py and page.py beside it show all of `stated`"
    )


def test_every_text_of_a_property_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    marked = marks(ExplainedProperty)
    assert len(marked) >= 4
    _print_spec(Explanation(properties=(ExplainedProperty(**marked),)))
    omitted = lost(marked, capsys.readouterr().out)
    assert not omitted, (
        f"{omitted} of ExplainedProperty: fairdsl/report/explained.py does not say `below` which heading"
    )


def omissions(checked: CheckedProperty, told: object, kind: type, where: str) -> list[str]:
    """What ``told`` does not have of a checked property, and where it is to be written."""
    has = {each.name for each in fields(kind)}

    def missing(each: Field[Any]) -> str | None:
        if each.name in has:
            alike = each.name == "demands" or getattr(told, each.name) == getattr(checked, each.name)
            return None if alike else f"`{each.name}` is not handed on by {where}"
        said = each.name in ELSEWHERE
        return None if said else f"`{each.name}` is no field of {kind.__name__}; or say in ELSEWHERE here what has it"

    return [found for each in fields(CheckedProperty) if (found := missing(each)) is not None]


def test_a_report_has_all_of_a_checked_property() -> None:
    checked = marked_property()
    spec, _ = front_end(str(SPEC))
    report = not_read(replace(spec, properties=(checked,)), (), path="x.fair", seed=0)
    [item] = report.properties
    where = "`_property_report` of fairdsl/report/gather.py"
    assert omissions(checked, item, PropertyReport, where) == []


def test_an_explanation_has_all_of_a_checked_property(monkeypatch: pytest.MonkeyPatch) -> None:
    checked = marked_property()
    spec, _ = front_end(str(SPEC))
    spec = replace(spec, properties=(checked,), models={})
    monkeypatch.setattr(explanation, "front_end", lambda *_: (spec, ()))
    [item] = explanation.explain_spec("x.fair").properties
    assert omissions(checked, item, ExplainedProperty, "`explain_spec` of fairdsl/explanation.py") == []
