"""``apply preset``: the same questions as the properties of its file, written by hand for this model."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fairdsl.diagnostics import Diagnostic, Reporter
from fairdsl.ir.preset import FromPreset
from fairdsl.prelude.presets import preset_names, preset_text
from fairdsl.semantics import CheckedSpec
from fairdsl.semantics.check import check_spec
from fairdsl.semantics.load import load
from fairdsl.source import SourceFile
from fairdsl.syntax.format import format_spec
from fairdsl.syntax.parse import parse

SPEC = """\
domain Applicant {
  sex  : category { f, m, unknown }
  race : category { x, y, z }
  age  : integer 18 .. 30
}

label repaid : boolean deserving yes

protected sex, race

model approve : Applicant -> { no, yes }
  score = age - 3 * (sex = f) - 2 * (race = z)
  yes when score > 20
  favourable yes

distribution people over Applicant, repaid
  empirical from "people.csv"

"""
FOUR_FIFTHS = """\
property four_fifths_impact[WHICH] "No group is selected at less than four fifths of the greatest rate" {
  across ACROSS
  under people
  AMONG
  excluding groups below 2% of rows
  require impact_ratio >= 80%
}
"""


def checked(text: str) -> tuple[CheckedSpec, list[Diagnostic]]:
    reporter = Reporter()
    loaded = load(SourceFile("spec.fair", text), reporter)
    assert loaded is not None
    return check_spec(loaded, reporter), list(reporter)


def said(text: str) -> list[tuple[str, str]]:
    """Codes and titles."""
    return [(finding.code, finding.title) for finding in checked(text)[1]]


def by_hand() -> Iterator[str]:
    for place, (across, among) in enumerate(
        (("sex", "among sex != unknown"), ("race", ""), ("sex, race", "among sex != unknown"))
    ):
        written = FOUR_FIFTHS.replace("ACROSS", across).replace("AMONG", among)
        yield written.replace("impact[WHICH]", f"impact_{place}")


def test_its_questions_are_those_of_the_properties_written_by_hand() -> None:
    applied, findings = checked(SPEC + "apply preset four_fifths to approve across sex, race under people\n")
    written, _ = checked(SPEC + "\n".join(by_hand()))
    assert not findings
    assert [each.name for each in applied.properties] == [
        *("four_fifths_impact[sex]", "four_fifths_impact[race]", "four_fifths_impact[(sex, race)]")
    ]
    ours, theirs = (
        [(demand.text, demand.question, demand.threshold) for each in spec.properties for demand in each.demands]
        for spec in (applied, written)
    )
    assert ours == theirs
    assert {each.span.text for each in applied.properties if each.span} == {
        "apply preset four_fifths to approve across sex, race under people"
    }


@pytest.mark.parametrize("name", preset_names())
def test_every_preset_can_be_applied_and_says_what_it_is_and_is_not(name: str) -> None:
    spec, findings = checked(SPEC + f"apply preset {name} to approve across sex, race under people\n")
    assert not [finding for finding in findings if finding.code != "W0801"]
    assert spec.properties
    assert all(each.name.startswith(f"{name}_") for each in spec.properties)
    text = preset_text(name)
    for part in ("## What it is: ", "## Source: ", "## What it is not: "):
        assert part in text
    tree = parse(SourceFile("preset.fair", text)).spec
    assert tree is not None
    assert format_spec(tree) == text


def test_known_are_those_who_have_a_value_that_is_one() -> None:
    spec = SPEC.replace("race : category { x, y, z }", 'race : category { x, y, z, "not stated" } or missing')
    found, _ = checked(spec + "apply preset four_fifths to approve across sex, race under people\n")
    among = [[clause for clause in each.clauses if clause.startswith("among")] for each in found.properties]
    of_sex, of_race = ["among sex != unknown"], ["among not race is missing", 'among race != "not stated"']
    assert among == [of_sex, of_race, of_sex + of_race]


def test_names_tell_models_and_populations_apart() -> None:
    other = 'distribution others over Applicant, repaid\n  empirical from "others.csv"\n\n'
    lines = [f"apply preset individual to approve across race under {name}\n" for name in ("people", "others")]
    spec, findings = checked(SPEC + other + "\n".join(lines))
    assert [each.name for each in spec.properties] == ["individual_alike_people", "individual_alike_others"]
    assert not [finding for finding in findings if finding.code != "W0801"]


@pytest.mark.parametrize(
    ("line", "code", "title"),
    [
        ("preset four_fifth to approve across sex under people", "E0202", "no preset is called `four_fifth`"),
        ("preset individual to aprove across sex under people", "E0202", "no model is called `aprove`"),
        ("preset individual to approve across six under people", "E0203", "`six` is not an attribute"),
        ("preset individual to approve across sex under folk", "E0202", "no distribution is called `folk`"),
        ("preset individual to approve across sex, race, age, a, b, c, d under people", "E0308", "at most 6"),
        ("preset individual to approve across sex", "E0115", "`under` is missing"),
    ],
)
def test_every_slip_is_said_at_the_line(line: str, code: str, title: str) -> None:
    reporter = Reporter()
    loaded = load(SourceFile("spec.fair", SPEC + f"apply {line}\n"), reporter)
    if loaded is not None:
        check_spec(loaded, reporter)
    found = [f for f in reporter if f.code[0] == "E"]
    assert [(f.code, title in f.title + (f.help or "")) for f in found] == [(code, True)], [
        (f.code, f.title, f.help) for f in found
    ]
    # Of a name that nothing has, at the name; of what is missing or too much, somewhere in the line.
    assert all(f.primary is not None and "apply" in f.primary.span.file.line(f.primary.span.first.line) for f in found)
    assert all(f.primary and f"`{f.primary.span.text}`" in f.title for f in found if code in {"E0202", "E0203"})


def test_a_property_says_from_which_preset_it_comes() -> None:
    own = FOUR_FIFTHS.replace("impact[WHICH]", "impact_of_ours").replace("ACROSS", "race").replace("AMONG", "")
    spec, _ = checked(SPEC + own + "\napply preset four_fifths to approve across sex under people\n")
    origin = FromPreset(preset="four_fifths", property="impact")
    assert [(each.name, each.preset) for each in spec.properties] == [
        ("four_fifths_impact_of_ours", None),
        ("four_fifths_impact[sex]", origin),
    ]
