"""Every format of a report: what a stranger's spec writes stays text, and programs find what they expect."""

from __future__ import annotations

import ast
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from samples import EVIDENCE, REPORT, demand

from fairdsl.diagnostics import Diagnostic, Label
from fairdsl.report.card import card_in
from fairdsl.report.formats import FORMATS, format_of
from fairdsl.report.html.markup import element
from fairdsl.report.model import ExitCode, HashedFile, PropertyReport, Report, SpecFile
from fairdsl.report.opinion import Opinion, Stand
from fairdsl.source import SourceFile, Span
from fairdsl.verdict import Holds, Judgement
from tests.modules import PACKAGE, files, tree_of

EVIL = '<script>alert(1)</script><img src=x onerror="y">&lt;\'"\n](http://x)|`x`\u202e::error::%0A'
VOID = {"meta", "br", "hr", "link", "col"}


class Elements(HTMLParser):
    """The elements of a page, each closed where it has to be, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.names: set[str] = set()
        self.attributes: set[tuple[str, str | None]] = set()
        self.text = ""
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.attributes |= set(attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def spoilt() -> Report:
    """The sample with markup wherever a spec can write something."""
    file = SourceFile(f"{EVIL}.fair", EVIL)
    span = Span(file, 0, 5)
    items = tuple(
        replace(
            item,
            name=f"{EVIL}{number}",
            sentence=EVIL,
            clauses=(EVIL, *item.clauses),
            demands=tuple(replace(one, text=EVIL, span=span) for one in item.demands),
            span=span,
        )
        for number, item in enumerate(REPORT.properties)
    )
    finding = Diagnostic(code="W0801", title="`x` is never used", primary=Label(span, EVIL), help=EVIL)
    return replace(
        REPORT,
        audit=EVIL,
        spec=SpecFile(path=EVIL, sha256="0" * 64),
        models=(HashedFile(name=EVIL, path=EVIL, sha256="1" * 64),),
        properties=items,
        diagnostics=(finding,),
    )


#: The formats that every report has; others are tables of certain audits.
RENDERINGS = [name for name in FORMATS if name not in ("ll144", "eeoc")]


def test_every_rendering_is_registered() -> None:
    """By their text, for a module that nobody registers is imported by nobody."""
    given = {"Sheet", "Report"}  # what a rendering is made of
    modules = {
        node.name
        for file in files()
        if file.is_relative_to(PACKAGE / "report")
        for node in tree_of(file).body
        if isinstance(node, ast.FunctionDef) and node.name == file.stem and node.args.args
        if isinstance(node.args.args[0].annotation, ast.Name) and node.args.args[0].annotation.id in given
    }
    left_out = modules - {(each.module or name).rpartition(".")[2] for name, each in FORMATS.items()}
    assert len(modules) >= 6
    assert not left_out, f"{left_out} of fairdsl/report: a line of FORMATS in fairdsl/report/formats.py is missing"


def test_every_format_is_in_the_page_of_reports() -> None:
    page = (PACKAGE.parent / "docs" / "reports.md").read_text("utf-8")
    rows = {
        each.name: f"| `{each.suffixes[0]}` |" if each.suffixes else f"| none; `--format {each.name}` |"
        for each in FORMATS.values()
    }
    missing = {name for name, row in rows.items() if f"\n{row}" not in page}
    assert not missing, f"the table of docs/reports.md has no row for {missing}"


@pytest.mark.parametrize("name", RENDERINGS)
def test_every_format_has_every_property(name: str) -> None:
    written = FORMATS[name].render(REPORT)
    looked_at = {Judgement.VIOLATED, Judgement.REFUSED, Judgement.UNKNOWN, Judgement.VACUOUS}
    for item in REPORT.properties:
        if name not in ("sarif", "github") or item.judgement in looked_at:
            assert item.name in written


def test_a_page_is_well_formed_and_asks_for_nothing() -> None:
    page = Elements(REPORT.rendered("html"))
    assert not page.names & {"script", "link", "img", "iframe", "object", "form", "base"}
    assert not {name for name, _ in page.attributes} & {"src", "style", "onclick", "onload"}
    assert all(value.startswith("#") for name, value in page.attributes if name == "href" and value)
    assert "url(http" not in page.text
    assert "@import" not in page.text


def test_a_spec_from_a_stranger_injects_nothing_into_a_page() -> None:
    plain, page = Elements(REPORT.rendered("html")), Elements(spoilt().rendered("html"))
    assert page.names <= plain.names | {"pre"}
    assert {name for name, _ in page.attributes} <= {name for name, _ in plain.attributes} | {"tabindex"}
    assert "<script>alert(1)</script>" in page.text  # as text
    assert "\u202e" not in page.text


def test_nor_into_a_notebook() -> None:
    shown = spoilt()._repr_html_()
    assert "<script" not in shown
    assert "onerror=&quot;" in shown or 'onerror="' not in shown


def test_attributes_are_escaped() -> None:
    assert element("p", title='"><script>') == '<p title="&quot;&gt;&lt;script&gt;"></p>'


def test_nor_into_markdown() -> None:
    written = spoilt().rendered("markdown")
    outside = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", re.sub(r"^(`{3,}).*?^\1$", "", written, flags=re.S | re.M))
    assert not re.search(r"(?<!\\)<(?!!)", outside)
    assert "\n](http" not in written


def test_nor_a_command_into_the_log_of_a_workflow() -> None:
    lines = spoilt().rendered("github").splitlines()
    assert all(re.match(r"::(error|warning|notice) [^\n]*?::", line) for line in lines)
    assert len(lines) == len(REPORT.rendered("github").splitlines())


def test_text_that_xml_cannot_hold_is_replaced() -> None:
    item = replace(REPORT.properties[0], name="a\x00b\ud800")
    ElementTree.fromstring(replace(REPORT, properties=(item,)).rendered("junit").encode())


def test_junit_never_passes_what_is_open() -> None:
    root = ElementTree.fromstring(REPORT.rendered("junit").encode())
    demands = [one for item in REPORT.properties for one in item.demands]
    [suite] = root
    assert (suite.get("tests"), len(suite)) == (str(len(demands)), len(demands))
    came = {Judgement.VIOLATED: "failure", Judgement.HOLDS: "system-out", Judgement.MEASURED: "system-out"}
    cases = {(case.get("classname"), case.get("name")): case for case in suite}
    for item in REPORT.properties:
        for one in item.demands:
            case = cases.get((item.name, one.text))
            if case is not None and not one.refusals:
                assert case[0].tag == came.get(one.judgement, "error"), (item.name, one.text)
    for kind in ("failure", "error"):
        assert suite.get(f"{kind}s") == str(len(suite.findall(f"testcase/{kind}")))


def results(report: Report) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(report.rendered("sarif"))["runs"][0]["results"]
    return found


def test_what_a_second_opinion_contradicts_passes_nowhere() -> None:
    against = Opinion(solver="cvc5", stand=Stand.CONTRADICTS, said="finds a violation, which replays")
    held = replace(demand(Holds(evidence=EVIDENCE)), opinions=(against,))
    item = PropertyReport(name="p", sentence="", clauses=(), demands=(held,))
    report = Report(fairdsl="1", spec=SpecFile(path="x.fair"), properties=(item,))
    assert report.exit_code is ExitCode.CONTRADICTED
    suite = ElementTree.fromstring(report.rendered("junit").encode())[0]
    assert (suite.get("errors"), suite[0][0].tag) == ("1", "error")
    assert [result["level"] for result in results(report)] == ["error"]
    for text in (suite[0][0].text, results(report)[0]["message"]["text"], report.rendered("github")):
        assert "cvc5: finds a violation" in (text or "")
    assert report.rendered("github").startswith("::error ")


def test_sarif_refers_to_its_own_rules_and_files() -> None:
    [run] = json.loads(spoilt().rendered("sarif"))["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert len(rules) == len(set(rules))
    assert all(rules[result["ruleIndex"]] == result["ruleId"] for result in run["results"])
    assert all(result["locations"] for result in run["results"])
    uris = [artifact["location"]["uri"] for artifact in run["artifacts"]]
    assert len(uris) == len(set(uris))
    assert all(re.fullmatch(r"[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=%-]*", uri) for uri in uris)


def test_what_holds_is_no_result_for_code_scanning() -> None:
    places = [result["locations"][0].get("logicalLocations") for result in results(REPORT)]
    names = {place[0]["name"] for place in places if place}
    assert names == {
        item.name
        for item in REPORT.properties
        if {one.judgement for one in item.demands} - {Judgement.HOLDS, Judgement.MEASURED}
    }


def test_fingerprints_stay_while_a_spec_is_edited_around_a_demand() -> None:
    """Places, numbers and the text's layout change; what is asked does not."""
    file = SourceFile("x.fair", "\n" * 40 + "require same decision")
    moved = tuple(
        replace(
            item,
            sentence=f"{item.sentence}, said otherwise",
            demands=tuple(
                replace(one, text=one.text.replace(" ", "  "), seconds=9.0, span=Span(file, 40, 47))
                for one in item.demands
            ),
        )
        for item in REPORT.properties
    )
    before, after = results(REPORT), results(replace(REPORT, properties=moved))
    assert [one["partialFingerprints"] for one in before] == [one["partialFingerprints"] for one in after]
    assert len({str(one["partialFingerprints"]) for one in before}) == len(before)
    assert before != after


def test_another_demand_has_another_fingerprint() -> None:
    unknown = next(item for item in REPORT.properties if item.judgement is Judgement.UNKNOWN)
    other = replace(unknown, demands=tuple(replace(one, text=f"{one.text} + 1") for one in unknown.demands))
    first, second = (results(replace(REPORT, properties=(item,))) for item in (unknown, other))
    assert first[0]["partialFingerprints"] != second[0]["partialFingerprints"]


def test_a_card_keeps_what_stands_around_the_report() -> None:
    text = "# Model\n<!-- fairdsl -->\nold\n<!-- /fairdsl -->\nend\n"
    assert card_in(text, "new\n") == "# Model\n<!-- fairdsl -->\nnew\n<!-- /fairdsl -->\nend\n"
    assert card_in("<!-- /fairdsl --><!-- fairdsl -->", "") is None


def test_formats_go_by_the_ends_of_names(tmp_path: Path) -> None:
    for name, one in FORMATS.items():
        for suffix in one.suffixes:
            assert format_of(f"a/b{suffix.upper()}") is FORMATS[name]
    assert format_of("report.pdf") is None
    REPORT.save(tmp_path / "x.json")
    assert Report.from_json((tmp_path / "x.json").read_text()) == REPORT
    with pytest.raises(ValueError, match=r"ends like no format"):
        REPORT.save(tmp_path / "x.pdf")


def test_a_report_without_properties_is_a_page_as_well() -> None:
    empty = Report(fairdsl="1", spec=SpecFile(path="x.fair"))
    for one in map(FORMATS.__getitem__, RENDERINGS):
        one.render(empty)
    held = PropertyReport(name="p", sentence="", clauses=(), demands=(demand(Holds(evidence=EVIDENCE)),))
    Elements(replace(empty, properties=(held,)).rendered("html"))
