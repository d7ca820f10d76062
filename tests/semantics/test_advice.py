"""What is said leads to what was meant: mistakes of people who write their first spec."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from marked_specs import assert_found_as_marked, checked, each, findings, groups, only_property, pairs

from fairdsl.diagnostics import Diagnostic
from fairdsl.ir.expr import TRUE

PERSON = "domain Person { job : category { clerk, nurse } age : integer 18 .. 90 income : real 0 .. 100 }\n"
MODEL = "model approve : Person -> { no, yes }\n"
RULE = "  yes when score > 0\n"


def scored(formula: str) -> str:
    return f"{PERSON}{MODEL}  score = {formula}\n{RULE}"


def reading(features: str) -> str:
    return f'{PERSON}{MODEL}  from "m.onnx"\n  reads {features}\n{RULE}'


def said(finding: Diagnostic) -> str:
    """Everything that is read of a finding."""
    labels = [label.text for label in (finding.primary, *finding.secondary) if label]
    return "\n".join((finding.title, *labels, finding.why or "", finding.help or ""))


ADVICE: dict[str, tuple[str, tuple[str, ...]]] = {
    "a parity without an end": (
        groups("  require demographic_parity <= 5% # error: E0206"),
        ("`parity_gap <= ...`", "`demographic_parity_difference`"),
    ),
    "the odds of another library": (groups("  measure equal_odds # error: E0206"), ("`odds_gap`",)),
    "a single rate": (groups("  measure tpr # error: E0206"), ("`opportunity_gap`",)),
    "a weighed one-hot code": (
        reading("2 * one_hot(job) # error: E0307"),
        ("`one_hot(job)` is one number for each value", "stand alone"),
    ),
    "a one-hot code in a score": (scored("2 * one_hot(job) # error: E0211"), ("`2 * (job = nurse)`",)),
    "a logarithm in a score": (scored("log(income) # error: E0211"), ("scores are linear", "`log(income)`")),
    "a maximum in a score": (scored("max(age, income) # error: E0211"), ("scores are linear",)),
    "a logarithm that is read": (reading("age, log(income) # error: E0211"), ("what is read is linear",)),
    "a comparison without parentheses": (
        scored("2 * job = nurse + income # error: E0302"),
        ("in parentheses: `(job = nurse)`",),
    ),
    "a weighed category in a target": (
        f"{scored('income')}protected job\nproperty p {{ compare a, b : Person differ in job\n"
        "  among 2 * job = nurse + income # error: E0302\n  require same decision }\n",
        ("`job` is a category",),
    ),
    "two lines of differing attributes": (
        pairs("  differ in race # error: E0201"),
        ("`differ in any sex, race`", "written again"),
    ),
    "two lines of attributes that all differ": (
        pairs("  differ in each race, citizen # error: E0201"),
        ("`differ in each sex, race, citizen`",),
    ),
    "the same line twice": (pairs("  differ in sex # error: E0201"), ("remove one of them",)),
    "two lines of groups": (
        groups("  across race # error: E0201\n  measure impact_ratio"),
        ("`across sex, race`",),
    ),
    "an attribute that differs twice": (
        pairs("", differ="differ in any sex, sex # error: E0201"),
        ("is named twice", "remove one of them"),
    ),
    "a protected attribute twice": (f"{scored('income')}protected job, job # error: E0201\n", ("is named twice",)),
    "an outcome twice": (
        f"{PERSON}model approve : Person -> {{ yes, yes }} # error: E0201\n  score = age\n{RULE}",
        ("is named twice",),
    ),
    "a rule on score and attribute": (
        f"{PERSON}{MODEL}  score = income\n  yes when score > 0 and age > 20 # error: E0415\n",
        ("is one comparison", "`yes when score > 0`"),
    ),
    "a rule on something else": (
        f"{PERSON}{MODEL}  score = income\n  yes when age > 20 # error: E0415\n",
        ("neither `score`",),
    ),
    "a condition after when": (pairs("  when age > 20 # error: E0413"), ("`among age > 20`", "confidence(a)")),
    "values of a pair": (pairs("  for each age # error: E0413"), ("at equal values of age",)),
    "a name for a condition": (
        groups("  among age # error: E0307\n  measure impact_ratio"),
        ("`among age = ...`", "`for each age`"),
    ),
    "a code of the next value's position": (
        "domain Person { job : category { clerk = 1, nurse } } # error: E0305",
        ("`nurse` has no code, so it takes its position 1",),
    ),
    "a written code on an earlier position": (
        "domain Person { job : category { clerk, nurse = 0 } } # error: E0305",
        ("`clerk` has no code, so it takes its position 0",),
    ),
    "one written code": (
        "domain Person { job : category { x = 3, y, z } } # warning: W0807",
        ("`y` is 1, `z` is 2", "write the codes of `y` and `z`"),
    ),
    "a feature read twice": (reading("age, job, age # warning: W0806"), ("`age` is read twice",)),
    "a one-hot code read twice": (reading("one_hot(job), age, one_hot(job) # warning: W0806"), ("is read twice",)),
    "a probability of one": (
        f"{PERSON}{MODEL}  score = income\n  yes when probability >= 1 # error: E0303\n",
        ("never 1 itself",),
    ),
    "two metrics in a line": (
        groups("  require impact_ratio >= 80% and parity_gap <= 5% # error: E0414"),
        ("`require impact_ratio >= 80%` and `require parity_gap <= 5%`", "a line each"),
    ),
    "groups of nobody": (
        groups("  require impact_ratio >= 80%", under="").replace("property p {", "property p { # error: E0406"),
        ("write `under people`",),
    ),
    "a number compared with missing": (
        "domain Person { income : real 0 .. 100 or missing\n  where income != missing # error: E0302\n}",
        ("`income is missing`, or `not income is missing`",),
    ),
    "a distribution of several that may be missing": (
        "domain Person { income : real 0 .. 9 or missing debt : real 0 .. 9 or missing }\n"
        "distribution d over Person uniform # error: E0302\n",
        ("`income` and `debt` may be missing",),
    ),
    "a label in a target": (pairs("  among age > 20 and repaid # error: E0203"), ("is a label", "true outcome")),
}


@pytest.mark.parametrize(("text", "words"), list(ADVICE.values()), ids=list(ADVICE))
def test_what_was_meant_is_named(text: str, words: tuple[str, ...], tmp_path: Path) -> None:
    (finding,) = assert_found_as_marked(text, tmp_path)
    assert [word for word in words if word not in said(finding)] == []


def test_a_code_that_is_no_whole_number_has_nothing_to_do_with_reals(tmp_path: Path) -> None:
    text = "domain Person { job : category { clerk = 1.5 } } # error: E0308"
    (finding,) = assert_found_as_marked(text, tmp_path)
    assert finding.help == "write a whole number"


def test_fully_written_and_fully_unwritten_codes_are_fine(tmp_path: Path) -> None:
    checked("domain Person { a : category { x, y, z } b : category { x = 3, y = 4 } }", tmp_path)


def test_different_features_of_one_attribute_are_fine(tmp_path: Path) -> None:
    checked(reading("age, 2 * age, age >= 30, job, one_hot(job), 1, 1"), tmp_path)


# ---- numbers that no float tells apart -----------------------------------------------------------

HUGE = {
    "bound of an integer": "domain Person { age : integer 0 .. 9223372036854775807 } # error: E0308",
    "both bounds": "domain Person { age : integer -9007199254740993 .. 9007199254740993 } # error: E0308, E0308",
    "code": "domain Person { job : category { clerk = 0, nurse = 9007199254740993 } } # error: E0308",
    "bin": "domain Person { income : real bins at 10, 9007199254740993 } # error: E0308",
    "bound of a real": f"domain Person {{ income : real 0 .. 1{'0' * 301} }} # error: E0308",
}


@each(HUGE)
def test_numbers_beyond_what_a_model_reads_are_refused(text: str, tmp_path: Path) -> None:
    assert_found_as_marked(text, tmp_path)


def test_huge_codes_of_a_category_are_refused_each(tmp_path: Path) -> None:
    text = "domain Person { job : category { a = 99999999999999999999, b = 99999999999999999998 } }"
    assert {finding.code for finding in findings(text, tmp_path)} == {"E0305", "E0308"}


def test_the_largest_whole_number_is_read(tmp_path: Path) -> None:
    checked("domain Person { age : integer -9007199254740992 .. 9007199254740992 }", tmp_path)


# ---- what the ranges decide ----------------------------------------------------------------------


def test_the_domain_is_named_where_it_leaves_one_value(tmp_path: Path) -> None:
    text = f"""{PERSON.replace("income", "where job = nurse income")}
protected job
{MODEL}  score = income
{RULE}
property p {{
  compare a, b : Person
  differ in job # error: E0408
  among age > 30
  require same decision
}}
"""
    (finding,) = assert_found_as_marked(text, tmp_path)
    assert finding.help is not None
    assert "domain's `where`" in finding.help
    assert "obey the domain" in said(finding)
    assert [label.span.text for label in finding.secondary] == ["job = nurse"]


@pytest.mark.parametrize(
    ("condition", "title"),
    [
        ("not (income < -1)", "this condition behind `not` is true of nobody"),
        ("income >= -1", "this condition is true of everybody"),
        ("age >= 30 or not (income >= 0)", "this condition behind `not` is true of everybody"),
    ],
)
def test_a_constant_condition_is_called_what_it_is(condition: str, title: str, tmp_path: Path) -> None:
    (finding,) = assert_found_as_marked(pairs(f"  among {condition} # warning: W0802"), tmp_path)
    assert finding.title == title


def test_only_constraints_that_somebody_wrote_are_shown(tmp_path: Path) -> None:
    text = """
domain Client {
  income : real 0 .. 250 or missing
  age : integer 18 .. 90
  sex : category { female, male }
}
protected sex
model approve : Client -> { reject, grant }
  grant when income > 40
property p {
  compare a, b : Client
  differ in sex
  among not income is missing
  require same decision
}
"""
    found = only_property(text, tmp_path)
    assert found.domain.where != TRUE
    assert not [clause for clause in found.clauses if clause.startswith("domain constraint")]
    assert "among (both individuals): not income is missing" in found.clauses
    ruled = only_property(text.replace("male }\n}", "male }\n  where age >= 20\n}"), tmp_path)
    assert "domain constraint: age >= 20" in ruled.clauses


def test_the_code_of_those_who_lack_a_number_is_nobodys_value(tmp_path: Path) -> None:
    text = """
domain Client { hours : integer 0 .. 80 or missing  sex : category { female, male } }
model approve : Client -> { reject, grant }
  grant when hours > 40
property p {
  compare a, b : Client
  differ in hours
  among a.hours > 90 or a.sex = male # warning: W0802
  require same decision
}
"""
    (finding,) = assert_found_as_marked(text, tmp_path)
    assert finding.primary is not None
    assert finding.primary.text == "`hours` is a whole number from 0 to 80 or missing"


def test_what_is_left_of_an_attribute_is_said_once(tmp_path: Path) -> None:
    (finding,) = assert_found_as_marked(pairs("  among a.income < income # error: E0409"), tmp_path)
    assert finding.primary is not None
    assert finding.primary.text.count("`income`") <= 1


def test_a_rule_about_confidence_is_still_one(tmp_path: Path) -> None:
    (demand,) = only_property(pairs("  when confidence(a) >= 0.9"), tmp_path).demands
    assert [(sure.who.value, sure.level) for sure in demand.question.sure] == [("a", Fraction(9, 10))]
