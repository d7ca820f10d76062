"""Questions about pairs: what they come to, and those that would not mean what they seem to."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from marked_specs import PEOPLE, assert_found_as_marked, checked, each, findings, groups, only_property, pairs

from fairdsl.ir.expr import Relation
from fairdsl.ir.question import Differ, Quantity, SameDecision, ScoreGap

# ---- what is right -------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["any", "each"])
def test_the_mode_is_the_one_that_is_written(mode: str, tmp_path: Path) -> None:
    question = only_property(pairs("", differ=f"differ in {mode} race, sex"), tmp_path).demands[0].question
    assert question.mode is Differ(mode)
    assert question.differ == (1, 0)


def test_one_attribute_needs_no_mode(tmp_path: Path) -> None:
    (written, left_out) = (
        only_property(pairs("", differ=differ), tmp_path).demands[0].question
        for differ in ("differ in any sex", "differ in sex")
    )
    assert written == left_out


def test_relaxations_by_a_number_and_freely(tmp_path: Path) -> None:
    text = pairs("  within 2.5 in income\n  regardless of education\n  regardless of hours\n  regardless of citizen")
    relax = only_property(text, tmp_path).demands[0].question.relax
    assert [(relaxation.attribute, relaxation.by) for relaxation in relax] == [
        (5, Fraction(5, 2)),
        (2, None),
        (4, None),
        (6, None),
    ]


SAME = ["same decision", "approve(a) = approve(b)", "approve(b) = approve(a)"]


@pytest.mark.parametrize("demand", SAME)
def test_the_same_decision_in_its_forms(demand: str, tmp_path: Path) -> None:
    (found,) = only_property(pairs("", require=f"require {demand}"), tmp_path).demands
    assert found.question.demand == SameDecision()
    assert (found.quantity, found.threshold, found.required) == (Quantity.HOLDS, None, True)


GAPS = {
    "abs(score(a) - score(b)) <= 0.1": Relation.LE,
    "abs(score(b) - score(a)) < 0.1": Relation.LT,
    "0.1 >= abs(score(a) - score(b))": Relation.LE,
    "10% > abs(score(a) - score(b))": Relation.LT,
}


@pytest.mark.parametrize("demand", GAPS)
def test_a_bounded_gap_of_scores(demand: str, tmp_path: Path) -> None:
    (found,) = only_property(pairs("", require=f"require {demand}"), tmp_path).demands
    assert found.question.demand == ScoreGap(relation=GAPS[demand], limit=Fraction(1, 10))


def test_every_line_is_a_demand_of_its_own(tmp_path: Path) -> None:
    text = pairs("  require fair_share >= 95%\n  measure fair_share, discrimination_rate")
    demands = only_property(text, tmp_path).demands
    assert [(demand.text, demand.required, demand.quantity) for demand in demands] == [
        ("require fair_share >= 95%", True, Quantity.FAIR_SHARE),
        ("measure fair_share", False, Quantity.FAIR_SHARE),
        ("measure discrimination_rate", False, Quantity.DISCRIMINATION_RATE),
        ("require same decision", True, Quantity.HOLDS),
    ]


def test_every_clause_in_force_is_listed_also_the_implicit_ones(tmp_path: Path) -> None:
    """Trap 2: a "relaxed" query shipped with no relaxation, and nobody could see it."""
    text = pairs("  within 5 in age\n  among hours >= 10 and a.income <= 50", differ="differ in any sex, race")
    found = only_property(text, tmp_path)
    assert found.clauses == (
        "compare a, b : Applicant",
        "differ in any sex, race",
        "within 5 in age",
        "held equal: education, hours, income, citizen",
        "among (both individuals): hours >= 10",
        "among (ordered pair): a.income <= 50",
    )
    assert found.sentence == (
        "Any two individuals of `Applicant` with hours >= 10 that differ in at least one of `sex`, `race`, are within "
        "5 in `age` and are equal in everything else, where a.income <= 50, get the same decision from `approve`."
    )
    assert "|a.age - b.age| <= 5" in found.formula


def test_a_clause_that_no_backend_treats_is_kept_for_the_refusal(tmp_path: Path) -> None:
    demands = only_property(pairs("  under people"), tmp_path).demands
    assert any(span.text == "under people" for demand in demands for span in demand.beyond)


def test_a_proof_is_sure_enough_for_any_confidence(tmp_path: Path) -> None:
    demands = only_property(pairs("  require same decision with confidence 95%"), tmp_path).demands
    assert Fraction(95, 100) in [demand.certain for demand in demands]
    assert not any(demand.beyond for demand in demands)


# ---- what is not ---------------------------------------------------------------------------------

INCOMPLETE = {
    "neither pairs nor groups": "property p { # error: E0406\n  require same decision\n}",
    "nothing demanded": "property p { # error: E0406\n  compare a, b : Applicant\n  differ in sex\n}",
    "nothing that differs": "property p {\n  compare a, b : Applicant # error: E0406\n  require same decision\n}",
    "nobody under whom": "property p { # error: E0406\n  across sex\n  measure impact_ratio\n}",
}


@each(INCOMPLETE)
def test_a_property_says_all_that_its_question_needs(text: str, tmp_path: Path) -> None:
    assert_found_as_marked(f'use "people.fair"\n{text}\n', tmp_path)


def test_a_property_needs_a_model(tmp_path: Path) -> None:
    text = """\
domain Applicant { sex : boolean }
protected sex
property p { # error: E0406
  compare a, b : Applicant
  differ in sex
  require same decision
}
"""
    assert_found_as_marked(text, tmp_path)


def test_two_attributes_need_any_or_all(tmp_path: Path) -> None:
    """Trap 3: two protected attributes had to differ both, and pairs that differ in one were not looked at."""
    (finding,) = assert_found_as_marked(pairs("", differ="differ in sex, race # error: E0407"), tmp_path)
    assert finding.help == "write `differ in any sex, race` or `differ in each sex, race`"


FIXED = {
    "by a value": pairs("  among sex = male", differ="differ in sex # error: E0408"),
    "by exclusion": pairs("  among sex != male", differ="differ in sex # error: E0408"),
    "by a list": pairs("  among race in { black }", differ="differ in race # error: E0408"),
    "under any": pairs("  among sex = male", differ="differ in any race, sex # error: E0408"),
    "under all": pairs("  among sex = male", differ="differ in each race, sex # error: E0408"),
    "by truth": pairs("  among citizen", differ="differ in citizen # error: E0408"),
    "by a named target": 'use "people.fair"\ncondition men = sex = male\n'
    + pairs("  among men", differ="differ in sex # error: E0408").replace('use "people.fair"\n', ""),
    "a number by a range": pairs("  among age in 30 .. 30", differ="differ in age # error: E0408").replace(
        "\n\n", "\nprotected age\n\n", 1
    ),
}


@each(FIXED)
def test_a_target_does_not_fix_what_must_differ(text: str, tmp_path: Path) -> None:
    (finding,) = assert_found_as_marked(text, tmp_path)
    assert finding.secondary[0].text.startswith("leaves only")


def test_nor_does_the_domain(tmp_path: Path) -> None:
    text = PEOPLE.replace("citizen   : boolean\n", "citizen   : boolean\n  where sex = female\n") + (
        "property p {\n  compare a, b : Applicant\n  differ in sex # error: E0408\n  require same decision\n}\n"
    )
    assert_found_as_marked(text, tmp_path)


@pytest.mark.parametrize("mode", ["any", "each"])
def test_an_attribute_with_one_value_cannot_differ(mode: str, tmp_path: Path) -> None:
    text = f"""\
domain Applicant {{ sex : category {{ female }} race : category {{ white, black }} age : integer 18 .. 90 }}
protected sex, race
model approve : Applicant -> {{ reject, grant }}
  score = age - 30
  grant when score > 0
property p {{
  compare a, b : Applicant
  differ in {mode} race, sex # error: E0410
  require same decision
}}
"""
    (finding,) = assert_found_as_marked(text, tmp_path)
    assert ("no pair exists" in (finding.why or "")) == (mode == "each")


RELAXED_WRONGLY = {
    "and differing": pairs("  regardless of sex # error: E0411"),
    "twice": pairs("  within 5 in age\n  within 10 in age # error: E0411"),
    "by a number and freely": pairs("  regardless of age\n  within 10 in age # error: E0411"),
}


@each(RELAXED_WRONGLY)
def test_an_attribute_is_relaxed_once_and_does_not_differ(text: str, tmp_path: Path) -> None:
    assert_found_as_marked(text, tmp_path)


ALL_BUT_SEX = "race, age, hours, income, education, citizen"
FOREIGN = {
    "across beside compare": pairs("  across sex # error: E0413"),
    "for each about pairs": pairs("  for each age # error: E0413"),
    "nothing left to be equal": pairs("  regardless of " + ALL_BUT_SEX + "\n  otherwise equal # error: E0413"),
    "unequal behind otherwise equal": pairs("  otherwise equal # error: E0413\n  within 5 in age"),
    "excluding about pairs": pairs("  excluding groups below 30 rows # error: E0413"),
    "privileged about pairs": pairs("  privileged sex = male # error: E0413"),
    "an interval of no estimate": pairs("  measure fair_share with confidence 95% # error: E0413"),
    "within about groups": groups("  within 5 in age # error: E0413\n  measure impact_ratio"),
    "differ about groups": groups("  differ in sex # error: E0413\n  measure impact_ratio"),
    "otherwise equal about groups": groups("  otherwise equal # error: E0413\n  measure impact_ratio"),
    "regardless about groups": groups("  regardless of age # error: E0413\n  measure impact_ratio"),
    "when about groups": groups("  when confidence(a) >= 0.9 # error: E0413\n  measure impact_ratio"),
    "metric of groups about pairs": pairs("  measure impact_ratio # error: E0413"),
    "required metric of groups about pairs": pairs("  require odds_gap <= 5% # error: E0413"),
    "influence about pairs": pairs("  measure influence of age on impact_ratio # error: E0413"),
    "metric of pairs about groups": groups("  measure fair_share # error: E0413"),
    "unread privileged group": groups("  privileged sex = male # error: E0413\n  measure parity_gap"),
    "unread baseline": groups("  baseline sex = male # error: E0413\n  measure parity_gap"),
}


@each(FOREIGN)
def test_clauses_stand_in_properties_of_their_kind(text: str, tmp_path: Path) -> None:
    assert_found_as_marked(text, tmp_path)


UNDECIDED = {
    "one decision": pairs("", require="require approve(a) = approve(a) # error: E0414"),
    "a gap of nothing": pairs("", require="require abs(score(a) - score(a)) <= 1 # error: E0414"),
    "a metric without a number": pairs("", require="require fair_share # error: E0414"),
    "two demands in one": pairs("", require="require fair_share >= 95% and discrimination_rate <= 5% # error: E0414"),
    "a condition on attributes": pairs("", require="require a.age = b.age # error: E0414"),
    "doubt instead of confidence": pairs("  when confidence(a) <= 0.9 # error: E0414"),
    "confidence of a stranger": pairs("  when confidence(c) >= 0.9 # error: E0414"),
    "same decision of groups": groups("  require same decision # error: E0414"),
    "a metric of groups without a number": groups("  require impact_ratio # error: E0414"),
    "an influence without a number": groups("  require influence of age on impact_ratio <= age # error: E0414"),
}


@each(UNDECIDED)
def test_a_demand_can_be_decided(text: str, tmp_path: Path) -> None:
    assert_found_as_marked(text, tmp_path)


# ---- smells --------------------------------------------------------------------------------------

SAYING_NOTHING = {
    "nothing allowed": pairs("  within 0 in age # warning: W0803"),
    "nothing allowed between whole numbers": pairs("  within 0.5 in age # warning: W0803"),
    "everything allowed": pairs("  within 73 in age # warning: W0803"),
    "everything allowed of a real": pairs("  within 101 in income # warning: W0803"),
}


@each(SAYING_NOTHING)
def test_a_relaxation_says_something(text: str, tmp_path: Path) -> None:
    """Trap 2: a relaxation that relaxed nothing looked like one that did."""
    assert_found_as_marked(text, tmp_path)


@pytest.mark.parametrize("relaxation", ["1 in age", "72 in age", "0.5 in income", "100 in income"])
def test_a_relaxation_within_the_range_does(relaxation: str, tmp_path: Path) -> None:
    only_property(pairs(f"  within {relaxation}"), tmp_path)


UNUSED = """\
domain Applicant { sex : boolean race : boolean age : integer 18 .. 90 }
domain Tenant { rent : real 0 .. 5000 } # warning: W0801
protected sex, race # warning: W0801
label repaid : boolean # warning: W0801
model approve : Applicant -> { reject, grant }
  score = age - 30
  grant when score > 0
model screen : Applicant -> { low, high } # warning: W0801
  score = age - 60
  high when score > 0
graph causes { sex -> age } # warning: W0801
distribution people over Applicant # warning: W0801
  uniform
condition seniors over Applicant = age >= 60 # warning: W0801
property p {
  model approve
  compare a, b : Applicant
  differ in sex
  among race = true
  require same decision
}
"""


def test_what_is_declared_and_never_used_is_said(tmp_path: Path) -> None:
    """Trap 2: what stood in the file and was not in force misled its readers."""
    found = assert_found_as_marked(UNUSED, tmp_path)
    assert {finding.title for finding in found} >= {
        "protected attribute `race` is never compared",
        "condition `seniors` is never used",
        "model `screen` is never used",
    }


def test_a_label_that_names_its_column_is_there_for_the_data(tmp_path: Path) -> None:
    """`fairdsl prune --data` reads it, and no property has to."""
    text = UNUSED.replace("boolean # warning: W0801\nmodel", 'boolean column "paid_back"\nmodel')
    assert text != UNUSED
    assert_found_as_marked(text, tmp_path)
    label = next(finding for finding in assert_found_as_marked(UNUSED, tmp_path) if "label" in finding.title)
    assert "`fairdsl prune --data`" in label.help
    assert "`column`" in label.help


def test_nothing_is_called_unused_beside_errors(tmp_path: Path) -> None:
    text = UNUSED.replace("# warning: W0801", "").replace("among race = true", "among rce = true # error: E0203")
    assert_found_as_marked(text, tmp_path)


def test_what_a_used_file_declares_may_stay_unused(tmp_path: Path) -> None:
    checked(pairs(""), tmp_path)


# ---- many findings -------------------------------------------------------------------------------


def test_one_run_shows_the_mistakes_of_all_properties_and_clauses(tmp_path: Path) -> None:
    text = """\
use "people.fair"

condition old = aeg >= 60 # error: E0203

property first "Everything is wrong here" {
  compare a, b : Applicant
  differ in sex, rase # error: E0407, E0203
  within 1 in education # error: E0306
  within -2 in hours # error: E0308
  among education = master and income >= fifty # error: E0204, E0203
  require fair_share >= 95 # error: E0303
}

property second {
  compare a, b : Applicant
  differ in sex
  for each age # error: E0413
  among citizen = maybe # error: E0204
}

property third {
  across sex
  under persons # error: E0202
  require disparate_impct >= 80% # error: E0206
}
""".replace("property second {", "property second { # error: E0406")
    assert_found_as_marked(text, tmp_path)


def test_a_good_property_beside_a_bad_one_costs_no_further_message(tmp_path: Path) -> None:
    good = "property good {\n  compare a, b : Applicant\n  differ in sex\n  require same decision\n}\n"
    assert_found_as_marked(pairs("  among wealth >= 3 # error: E0203") + good, tmp_path)


def test_a_model_with_a_mistake_says_nothing_about_its_properties(tmp_path: Path) -> None:
    text = """\
domain Applicant { sex : boolean age : integer 18 .. 90 }
protected sex
model approve : Applicant -> { reject, grant }
  score = age - income # error: E0203
  grant when score > 0
property p {
  compare a, b : Applicant
  differ in sex
  require approve(a) = approve(b)
}
property q {
  model approve
  across sex
  under people
  measure impact_ratio
}
"""
    assert_found_as_marked(text, tmp_path)


def test_a_domain_with_a_mistake_says_nothing_about_who_is_in_it(tmp_path: Path) -> None:
    text = """\
domain Applicant {
  age : integer 90 .. 18 # error: E0301
  where age in { 20, 200 } and wealth >= 3 # error: E0308, E0203
}
"""
    assert_found_as_marked(text, tmp_path)


def test_findings_come_in_the_order_of_reading(tmp_path: Path) -> None:
    text = pairs("  among ages >= 3") + "condition old = aeg >= 60\n"
    assert [finding.primary.span.text for finding in findings(text, tmp_path)] == ["ages", "aeg"]


def test_a_share_counts_what_the_property_demands(tmp_path: Path) -> None:
    text = pairs("  measure fair_share", require="require abs(score(a) - score(b)) <= 1")
    share, gap = only_property(text, tmp_path).demands
    assert share.question == gap.question
    assert share.quantity is Quantity.FAIR_SHARE
