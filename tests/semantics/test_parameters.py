"""``let`` and ``for each``: what stands by name means what stands in its place, and every slip is said at its place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path

import pytest

import fairdsl
from fairdsl.diagnostics import DiagnosticError, Reporter
from fairdsl.ir.question import GroupMetric, Pair
from fairdsl.semantics import CheckedSpec, expand
from fairdsl.semantics.check import check_spec
from fairdsl.semantics.load import load
from fairdsl.semantics.walk import walk
from fairdsl.source import SourceFile
from fairdsl.syntax import tree

SPEC = """\
let limit = 80%
let least = 10

domain Applicant {
  sex  : category { f, m }
  race : category { x, y, z }
  site : category { north, "far south" }
  age  : integer 18 .. 30
}

protected sex, race

model approve : Applicant -> { no, yes }
  score = age - 3 * (sex = f) - 2 * (race = z)
  yes when score > least
  favourable yes

distribution people over Applicant
  empirical from "people.csv"

property shares {
  compare a, b : Applicant
  differ in sex
  require fair_share >= limit
}
"""
OVER = "  across sex\n  under people\n  require impact_ratio >= limit\n"


def checked(text: str, given: Mapping[str, str] | None = None) -> tuple[CheckedSpec, list[str]]:
    reporter = Reporter()
    loaded = load(SourceFile("spec.fair", text), reporter)
    assert loaded is not None
    spec = check_spec(loaded, reporter, given)
    # What this or that test does not use is of no interest.
    about = [f for f in reporter if f.code != "W0801" or "parameter" in f.title]
    return spec, [finding.code for finding in about]


def findings(text: str, given: Mapping[str, str] | None = None) -> list[str]:
    return checked(text, given)[1]


def test_a_name_means_its_number() -> None:
    written = SPEC.replace("let limit = 80%\nlet least = 10\n", "").replace("limit", "80%").replace("> least", "> 10")
    (named,), (plain,) = checked(SPEC)[0].properties, checked(written)[0].properties
    assert [(d.text, d.threshold, d.question) for d in named.demands] == [
        (d.text, d.threshold, d.question) for d in plain.demands
    ]
    assert [clause for clause in named.clauses if clause not in plain.clauses] == ["limit = 80%", "least = 10"]


@pytest.mark.parametrize(
    ("place", "before", "after"),
    [
        ("a range", "integer 18 .. 30", "integer youngest .. 30"),
        ("a code", "{ x, y, z }", "{ x = youngest, y = 3, z = 4 }"),
        ("bins", "18 .. 30", "18 .. 30 bins at 20, 2n"),
        ("a relaxation", "differ in sex", "differ in sex within youngest in age"),
        ("a confidence", "fair_share >= limit", "fair_share >= limit with confidence sure"),
        ("a list", "differ in sex", "differ in sex among age in { youngest, 20 .. older, 29 }"),
        ("a sum", "differ in sex", "differ in sex among 2 * age - youngest < older + 30"),
    ],
)
def test_numbers_stand_by_name_wherever_numbers_do(place: str, before: str, after: str) -> None:
    more = "let youngest = 19\nlet older = 28\nlet sure = 95%\nlet twenty_two = 22\n"
    numbers = {"youngest": "19", "older": "28", "sure": "95%", "2n": "22"}
    named = SPEC.replace(before, after.replace("2n", "twenty_two"))
    plain = after
    for name, number in numbers.items():
        plain = plain.replace(name, number)
    assert "youngest" not in plain
    questions = [
        [demand.question for each in checked(text)[0].properties for demand in each.demands]
        for text in (more + named, SPEC.replace(before, plain))
    ]
    assert questions[0] == questions[1] != [], place


def test_another_number_is_given_for_one_run(tmp_path: Path) -> None:
    for text, value in (("75%", Fraction(3, 4)), ("0.9", Fraction(9, 10))):
        spec, codes = checked(SPEC, {"limit": text})
        threshold = spec.properties[0].demands[0].threshold
        assert threshold is not None
        assert (threshold.limit, threshold.text, codes) == (value, text, [])
    assert findings(SPEC, {"limits": "75%"}) == ["E0215"]
    assert findings(SPEC, {"limit": "most"}) == ["E0215"]
    path = tmp_path / "spec.fair"
    path.write_text(SPEC, encoding="utf-8")
    report = fairdsl.check(path, let={"least": 20, "limit": 0.5})
    assert [(each.name, each.text) for each in report.parameters] == [("limit", "0.5"), ("least", "20")]
    # Units differ in which a woman alone is refused.
    assert fairdsl.check(path, let={"least": 20, "limit": "0.77"}).properties[0].judgement.value == "violated"
    assert fairdsl.check(path, let={"least": 20, "limit": "0.76"}).properties[0].judgement.value == "holds"
    with pytest.raises(DiagnosticError, match="E0215"):
        fairdsl.explain(path, let={"lest": 3})


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        (SPEC + "let limit = 3\n", ["E0201"]),
        (SPEC + "let unused = 3\n", ["W0801"]),
        (SPEC.replace("let limit = 80%", "let limit = 80"), ["E0303"]),
        (SPEC.replace("18 .. 30", "18 .. oldest"), ["E0202"]),
        (SPEC.replace("limit", "age"), ["E0201"]),
        (SPEC.replace("limit", "north"), ["E0201"]),
        (SPEC.replace("limit", "yes"), ["E0201"]),
        (SPEC.replace("limit", "rows"), ["E0216"]),
        (SPEC.replace("limit", "impact_ratio"), ["E0216"]),
        (SPEC + f"property p {{\n  for each t in {{ 1, 1 }}\n{OVER}  among age > t\n}}\n", ["E0201"]),
        (SPEC + f"property p {{\n  for each t in {{ 1, 2 }}\n{OVER}}}\n", ["E0413"]),
        (SPEC + f"property p {{\n  for each sex in {{ 1, 2 }}\n{OVER}}}\n", ["E0201"]),
        (SPEC + f"property p {{\n  for each t in city\n{OVER}  among site = t\n}}\n", ["E0203"]),
        (SPEC + f"property p {{\n  for each t in {{ 3 }}\n{OVER}  among t = north\n}}\n", ["E0203"]),
        (SPEC + "property p {\n  for each G in { sex, site }\n" + OVER.replace("sex", "G") + "}\n", ["E0207"]),
        (SPEC + "property p {\n  for each G in { (sex, race) }\n  compare a, b : Applicant\n  differ in any sex, race\n"
         "  within 2 in G\n  require fair_share >= limit\n}\n", ["E0307"]),
        (SPEC.replace("18 .. 30", "18 .. least").replace("= 10", "= 20")
         + f"property p {{\n  for each least in {{ 20, 22 }}\n{OVER}}}\n", ["E0413"]),
        (SPEC + f"property p {{\n{OVER}  excluding groups below 2 of rows\n}}\n", ["E0308", "E0413"]),
    ],
)  # fmt: skip
def test_slips_are_said_once(text: str, codes: list[str]) -> None:
    assert set(findings(text)) <= set(codes)
    assert set(findings(text)) & set(codes)
    assert len(findings(text)) == len(set(findings(text)))


def test_a_finding_about_a_number_says_what_its_name_is() -> None:
    reporter = Reporter()
    loaded = load(SourceFile("spec.fair", SPEC.replace("let limit = 80%", "let limit = 80")), reporter)
    assert loaded is not None
    check_spec(loaded, reporter)
    (finding,) = (each for each in reporter if each.code == "E0303")
    assert [label.text for label in finding.secondary] == ["`limit` is 80"]


def test_a_property_for_each_value() -> None:
    clauses = (
        "  for each G in { sex, race, (sex, race) }\n  for each place in site\n  across G\n  under people\n"
        "  among site = place\n  require impact_ratio >= limit\n"
    )
    spec, codes = checked(SPEC + f"property gap {{\n{clauses}}}\n")
    assert codes == []
    assert [each.name for each in spec.properties[1:]] == [
        f"gap[{group}, {place}]" for group in ("sex", "race", "(sex, race)") for place in ("north", '"far south"')
    ]
    questions = [each.demands[0].question for each in spec.properties[1:]]
    assert [q.across for q in questions if isinstance(q, GroupMetric)] == [(0,), (0,), (1,), (1,), (0, 1), (0, 1)]
    written = (
        clauses[clauses.index("  across") :].replace("across G", "across race").replace("= place", '= "far south"')
    )
    alone = checked(SPEC + f"property gap {{\n{written}}}\n")[0].properties[1]
    assert spec.properties[4].demands == alone.demands
    assert [each.name for each in spec.restricted_to(["gap"]).properties] == [each.name for each in spec.properties[1:]]
    assert [each.name for each in spec.restricted_to(["gap[race, north]"]).properties] == ["gap[race, north]"]


def test_a_parameter_goes_through_its_numbers_in_models_and_targets(tmp_path: Path) -> None:
    goes_through = "condition older = age > least\n\nproperty shares {\n  for each least in { 18, 20, 29 }"
    swept = SPEC.replace("property shares {", goes_through).replace("differ in sex", "differ in sex\n  among older")
    spec, codes = checked(swept)
    assert codes == []
    assert [each.model for each in spec.properties] == [f"approve[least = {least}]" for least in (18, 20, 29)]
    path = tmp_path / "spec.fair"
    path.write_text(swept, encoding="utf-8")
    report = fairdsl.check(path)
    for found, least in zip(report.properties, (18, 20, 29), strict=True):
        units = [(race, age) for race in "xyz" for age in range(18, 31) if age > least]
        fair = [not age - 3 - 2 * (race == "z") <= least < age - 2 * (race == "z") for race, age in units]
        shares = found.demands[0].value
        assert shares is not None
        assert (shares.low, shares.high) == (Fraction(sum(fair), len(fair)),) * 2
    assert all(isinstance(each.demands[0].question, Pair) for each in spec.properties)


def test_a_part_of_the_rows_is_a_number_of_rows(tmp_path: Path) -> None:
    rows = ["x"] * 90 + ["y"] * 8 + ["z"] * 2
    table = "sex,race,site,age\n" + "".join(f"f,{race},north,25\n" for race in rows)
    (tmp_path / "people.csv").write_text(table, encoding="utf-8")
    for part, left_out in (("2%", 0), ("3%", 1), ("8%", 1), ("8.1%", 2)):
        text = SPEC.replace("uniform", 'empirical from "people.csv"') + (
            f"property p {{\n  across race\n  under people\n  excluding groups below {part} of rows\n"
            "  measure acceptance_rate\n}\n"
        )
        (tmp_path / "spec.fair").write_text(text, encoding="utf-8")
        verdict = fairdsl.check(tmp_path / "spec.fair", properties=["p"]).properties[0].demands[0].verdict
        assert len(verdict.excluded) == left_out


def test_formulas_are_about_the_model_with_the_number_of_their_property(tmp_path: Path) -> None:
    strict = "model strict : Applicant -> { no, yes }\n  score = age\n  yes when score > 23\n\nproperty agrees {\n"
    text = SPEC.replace("property shares {", strict + "  for each least in { 18, 22 }").replace(
        "  compare a, b : Applicant\n  differ in sex\n  require fair_share >= limit",
        "  compare a : Applicant\n  require share(approve(a) = strict(a)) >= limit",
    )
    path = tmp_path / "spec.fair"
    path.write_text(text, encoding="utf-8")
    for found, least in zip(fairdsl.check(path).properties, (18, 22), strict=True):
        people = [(sex, race, age) for sex in "fm" for race in "xyz" for age in range(18, 31)]
        alike = [(age - 3 * (sex == "f") - 2 * (race == "z") > least) == (age > 23) for sex, race, age in people]
        share = found.demands[0].value
        assert share is not None
        assert (share.low, share.high) == (Fraction(sum(alike), len(alike)),) * 2


def test_many_properties_are_read_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    visited = 0

    def counted(node: object) -> Iterator[tree.Node]:
        nonlocal visited
        for part in walk(node):
            visited += 1
            yield part

    monkeypatch.setattr(expand, "walk", counted)

    def visits(properties: int) -> int:
        nonlocal visited
        visited = 0
        each = "property p{} {{ for each A in {{ x, y }} compare a, b : P differ in A require same decision }}\n"
        declared = "domain P { x : boolean y : boolean }\nmodel m : P -> { no, ok }\n  ok when x\n  favourable ok\n"
        checked(declared + "".join(map(each.format, range(properties))))
        return visited

    assert visits(40) < 5 * visits(10)
