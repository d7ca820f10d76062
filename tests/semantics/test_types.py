"""Types: ranges, codes, thresholds and conditions that fit what they are about."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from marked_specs import assert_found_as_marked, checked, each, findings, groups, only_property, pairs

from fairdsl.diagnostics import Edit
from fairdsl.ir.domain import Boolean, Category, CategoryValue, Integer, Real
from fairdsl.semantics import front_end

MODEL = "model approve : Applicant -> { reject, grant }\n"
AGE = "domain Applicant { age : integer 18 .. 90 }\n"


def domain(members: str) -> str:
    return f"domain Applicant {{\n{members}\n}}\n"


# ---- what is right -------------------------------------------------------------------------------


def test_a_category_counts_from_zero_where_no_code_is_written(tmp_path: Path) -> None:
    text = domain('  job : category { clerk, nurse = 5, "night shift" } # warning: W0807')
    (found,) = assert_found_as_marked(text, tmp_path)
    assert found.primary is not None
    assert found.primary.text == "by position `clerk` is 0, `night shift` is 2"
    spec = front_end(str(tmp_path / "spec.fair"))[0]
    (job,) = spec.domains["Applicant"].attributes
    assert job.type == Category(
        values=(
            CategoryValue(name="clerk", code=0),
            CategoryValue(name="nurse", code=5),
            CategoryValue(name="night shift", code=2),
        )
    )
    assert job.values == (0, 5, 2)


def test_ranges_include_both_ends_and_are_exact(tmp_path: Path) -> None:
    text = domain("  age : integer -3 .. 90\n  rate : real 0.1 .. 33%\n  free : real\n  old : boolean")
    types = [attribute.type for attribute in checked(text, tmp_path).domains["Applicant"].attributes]
    assert types == [
        Integer(low=-3, high=90),
        Real(low=Fraction(1, 10), high=Fraction(33, 100)),
        Real(low=None, high=None),
        Boolean(),
    ]


def test_an_attribute_keeps_its_column_and_bins(tmp_path: Path) -> None:
    text = domain('  age : integer 18 .. 90 column "Age in years" bins at 25, 45')
    (age,) = checked(text, tmp_path).domains["Applicant"].attributes
    assert (age.column, age.bins) == ("Age in years", (25, 45))


@pytest.mark.parametrize("written", ["0.8", "80%", "80.0%"])
def test_a_threshold_is_the_exact_fraction(written: str, tmp_path: Path) -> None:
    (demand,) = only_property(pairs("", require=f"require fair_share >= {written}"), tmp_path).demands
    assert demand.threshold.limit == Fraction(4, 5)
    assert demand.threshold.text == written


def test_a_mirrored_threshold_is_turned(tmp_path: Path) -> None:
    (demand,) = only_property(pairs("", require="require 95% <= fair_share"), tmp_path).demands
    assert demand.threshold.relation.value == ">="


# ---- what is not ---------------------------------------------------------------------------------

BACKWARDS = {
    "integer": domain("  age : integer 90 .. 18 # error: E0301"),
    "real": domain("  income : real 1.5 .. -1 # error: E0301"),
    "membership": pairs("  among age in 60 .. 30 # error: E0301"),
    "element": pairs("  among age in { 20, 60 .. 30 } # error: E0301"),
    "law": domain("  income : real") + "distribution d over Applicant\n  income : uniform(3, 1) # error: E0301\n",
}


@each(BACKWARDS)
def test_a_range_runs_upwards(text: str, tmp_path: Path) -> None:
    assert_found_as_marked(text, tmp_path)


def test_a_reversed_range_is_mended_by_turning_it(tmp_path: Path) -> None:
    (finding,) = findings(domain("  age : integer 90 .. 18"), tmp_path)
    assert finding.fix == Edit(finding.primary.span, "18 .. 90")


def test_a_mistake_in_a_type_says_nothing_about_the_uses_of_the_attribute(tmp_path: Path) -> None:
    text = """
domain Applicant {
  sex : boolean
  age : integer 90 .. 18 # error: E0301
  job : category { clerk, nurse, clerk } # error: E0305
  where age >= 20 or job = clerk
}
protected sex
model approve : Applicant -> { reject, grant }
  score = age - 30
  grant when score > 0
property p {
  compare a, b : Applicant
  differ in sex
  within 5 in age
  among age >= 30 and a.job = clerk
  require same decision
}
"""
    assert_found_as_marked(text, tmp_path)


MISMATCHES = {
    "order on a category": pairs("  among education >= bachelors # error: E0302"),
    "order on a boolean": pairs("  among citizen > false # error: E0302"),
    "a range of a category": pairs("  among education in { 0 .. 2 } # error: E0302"),
    "a category with a number": pairs("  among race = 4 # error: E0302"),
    "a category in a list of numbers": pairs("  among race in { 1, 4 } # error: E0302, E0302"),
    "a category in a sum": pairs("  among race + age >= 30 # error: E0302"),
    "a boolean in a sum": pairs("  among 2 * citizen >= 1 # error: E0302"),
    "a boolean with two": pairs("  among citizen = 2 # error: E0302"),
    "two categories": pairs("  among education = race # error: E0302"),
    "a category with a sum": pairs("  among education = age + 1 # error: E0302"),
    "a category in a formula": AGE.replace("}", " job : category { clerk, nurse } }")
    + MODEL
    + "  score = 3 * job # error: E0302\n  grant when score > 0\n",
    "one-hot codes of a real": domain("  income : real")
    + MODEL
    + '  from "m.onnx"\n  reads one_hot(income) # error: E0302\n  grant when score > 0\n',
    "bins of a category": domain("  job : category { clerk, nurse } bins at 1 # error: E0302"),
    "groups of a real": groups("  measure impact_ratio", across="across income # error: E0207").replace(
        "# error: E0207", "# error: E0302"
    ),
}


@each(MISMATCHES)
def test_sides_of_a_comparison_belong_together(text: str, tmp_path: Path) -> None:
    text = text.replace('use "people.fair"', 'use "people.fair"\nprotected income') if "across income" in text else text
    assert_found_as_marked(text, tmp_path)


def test_a_code_is_answered_with_the_value_it_stands_for(tmp_path: Path) -> None:
    (finding,) = findings(pairs("  among race = 4"), tmp_path)
    assert finding.help == "write `black`"


THRESHOLDS = {
    "above all shares": pairs("", require="require fair_share >= 150% # error: E0303"),
    "negative": pairs("", require="require discrimination_rate <= -1% # error: E0303"),
    "percent sign forgotten": pairs("", require="require fair_share >= 95 # error: E0303"),
    "always met": pairs("", require="require fair_share >= 0% # error: E0303"),
    "always met from above": pairs("", require="require discrimination_rate <= 100% # error: E0303"),
    "never met": pairs("", require="require fair_share > 100% # error: E0303"),
    "of groups": groups("  require impact_ratio >= 80 # error: E0303"),
    "under another name": groups("  require demographic_parity_ratio >= 1.25 # error: E0303"),
    "confidence": groups("  require impact_ratio >= 80% with confidence 95 # error: E0303"),
    "confidence of the model": pairs("  when confidence(a) >= 90 # error: E0303"),
    "probability": AGE + MODEL + '  from "m.onnx"\n  grant when probability >= 50 # error: E0303\n',
    "probability that always grants": AGE + MODEL + '  from "m.onnx"\n  grant when probability >= 0 # error: E0303\n',
}


@each(THRESHOLDS)
def test_a_threshold_decides_something(text: str, tmp_path: Path) -> None:
    assert_found_as_marked(text, tmp_path)


def test_a_forgotten_percent_sign_is_supplied(tmp_path: Path) -> None:
    (finding,) = findings(pairs("", require="require fair_share >= 95"), tmp_path)
    assert finding.help == "did you mean `95%`?"
    assert finding.fix == Edit(finding.primary.span, "95%")


@pytest.mark.parametrize("written", ["150%", "-5%", "101"])
def test_no_percent_sign_is_supplied_where_none_would_help(written: str, tmp_path: Path) -> None:
    (finding,) = findings(pairs("", require=f"require fair_share >= {written}"), tmp_path)
    assert finding.fix is None


EXTREMES = ["fair_share >= 100%", "fair_share = 1", "discrimination_rate <= 0%", "discrimination_rate < 100%"]


@pytest.mark.parametrize("demand", EXTREMES)
def test_the_ends_themselves_can_be_required(demand: str, tmp_path: Path) -> None:
    only_property(pairs("", require=f"require {demand}"), tmp_path)


CURVED = {
    "product": pairs("  among age * hours >= 30 # error: E0304"),
    "division by an attribute": pairs("  among age / hours >= 30 # error: E0304"),
    "division by zero": pairs("  among age / 0 >= 30 # error: E0308"),
    "formula": domain("  age : integer 0 .. 9")
    + MODEL
    + "  score = age * age # error: E0304\n  grant when score > 0\n",
    "reads": domain("  age : integer 0 .. 9")
    + MODEL
    + '  from "m.onnx"\n  reads 1 / age # error: E0304\n  grant when score > 0\n',
}


@each(CURVED)
def test_expressions_are_linear(text: str, tmp_path: Path) -> None:
    assert_found_as_marked(text, tmp_path)


CLASHES = {
    "value listed twice": domain("  job : category { clerk, nurse, clerk } # error: E0305"),
    "code written twice": domain("  job : category { clerk = 3, nurse = 3 } # error: E0305"),
    "code of a position": domain("  job : category { clerk, nurse = 0 } # error: E0305"),
}


@each(CLASHES)
def test_values_and_codes_are_distinct(text: str, tmp_path: Path) -> None:
    (finding,) = assert_found_as_marked(text, tmp_path)
    assert finding.secondary[0].text == "the other one"


RELAXED_LABELS = {
    "category": pairs("  within 1 in education # error: E0306"),
    "boolean": pairs("  within 1 in citizen # error: E0306"),
}


@each(RELAXED_LABELS)
def test_a_category_has_no_distances(text: str, tmp_path: Path) -> None:
    (finding,) = assert_found_as_marked(text, tmp_path)
    assert "regardless of" in (finding.help or "")


KINDS = {
    "a number as a condition": pairs("  among 3 # error: E0307"),
    "a sum as a condition": pairs("  among age + 1 # error: E0307"),
    "a number's name as a condition": pairs("  among age # error: E0307"),
    "a category's name as a condition": pairs("  among not education # error: E0307"),
    "a condition as a number": pairs("  among (age > 30) + 1 >= 1 # error: E0307"),
    "a text as a number": pairs('  among age >= "30" # error: E0307'),
    "a word in a list of numbers": pairs("  among age in { 20, old } # error: E0307"),
    "abs in a sum": pairs("  among abs(age) + 1 >= 3 # error: E0307"),
    "abs on both sides": pairs("  among abs(age) >= abs(hours) # error: E0307"),
    "abs of two": pairs("  among abs(age, hours) >= 3 # error: E0307"),
    "one-hot codes of two": AGE
    + MODEL
    + '  from "m.onnx"\n  reads one_hot(age, age) # error: E0307\n  grant when score > 0\n',
    "a label as a domain": AGE + "label repaid : boolean\ndistribution d over repaid uniform # error: E0307\n",
}


@each(KINDS)
def test_conditions_and_numbers_stand_in_their_places(text: str, tmp_path: Path) -> None:
    assert_found_as_marked(text, tmp_path)


NUMBERS = {
    "fraction of an integer": domain("  age : integer 0.5 .. 90 # error: E0308"),
    "fractional code": domain("  job : category { clerk, nurse = 1.5 } # error: E0308"),
    "edges out of order": domain("  age : integer 18 .. 90 bins at 45, 25 # error: E0308"),
    "edge twice": domain("  age : integer 18 .. 90 bins at 25, 25 # error: E0308"),
    "edges without a whole number between": domain("  age : integer 18 .. 90 bins at 24.2, 24.8 # error: E0308"),
    "edge below the range": domain("  age : integer 18 .. 90 bins at 18, 45 # error: E0308"),
    "edge above the range": domain("  age : integer 18 .. 90 bins at 45, 91 # error: E0308"),
    "one quantile": domain("  age : integer 18 .. 90 bins by quantiles 1 # error: E0308"),
    "half a quantile": domain("  age : integer 18 .. 90 bins by quantiles 2.5 # error: E0308"),
    "negative relaxation": pairs("  within -5 in age # error: E0308"),
    "relaxation in percent": pairs("  within 5% in income # error: E0308"),
    "negative gap": pairs("", require="require abs(score(a) - score(b)) <= -1 # error: E0308"),
    "no rows": groups("  excluding groups below 0 rows # error: E0308\n  measure impact_ratio"),
    "listed number that nobody has": pairs("  among age in { 20, 120 } # error: E0308"),
    "listed fraction of an integer": pairs("  among age in { 20.5, 30 } # error: E0308"),
}


@each(NUMBERS)
def test_numbers_make_sense_where_they_stand(text: str, tmp_path: Path) -> None:
    assert_found_as_marked(text, tmp_path)


def test_a_bin_of_whole_numbers_begins_with_one(tmp_path: Path) -> None:
    """From 24.5 on is from 25 on, and no whole number is between two bins."""
    spec = checked(domain("  age : integer 18 .. 90 bins at 24.5, 45"), tmp_path)
    assert spec.domains["Applicant"].attributes[0].bins == (25, 45)


@pytest.mark.parametrize("bins", ["at 19, 90", "by quantiles 4", "by model"])
def test_bins_have_people_on_either_side(bins: str, tmp_path: Path) -> None:
    checked(domain(f"  age : integer 18 .. 90 bins {bins}"), tmp_path)


PEOPLE_OF_A_LAW = "  age : integer 18 .. 90\n  job : category { clerk, nurse }\n  old : boolean\n  income : real"
LAWS = {
    "sum below one": "  job : table { clerk : 0.2, nurse : 70% } # error: E0309",
    "a value left out": "  job : table { nurse : 1 } # error: E0309",
    "a truth left out": "  old : table { yes : 1 } # error: E0309",
    "no probability": "  job : table { clerk : -0.5, nurse : 1.5 } # error: E0309, E0309",
    "coin beyond one": "  old : bernoulli(1.2) # error: E0309",
    "too few numbers": "  income : normal(0) # error: E0309",
    "no deviation": "  income : normal(3, 0) # error: E0309",
    "normal of whole numbers": "  age : normal(40, 10) # error: E0309",
    "truncated normal of whole numbers": "  age : normal(40, 10) truncated # error: E0309",
    "truncated without ends": "  income : normal(3, 1) truncated # error: E0309",
    "truncated coin": "  old : bernoulli(0.5) truncated # error: E0309",
    "coin of a category": "  job : bernoulli(0.5) # error: E0309",
    "range of a category": "  job : uniform(0, 1) # error: E0309",
    "range beyond the values": "  age : uniform(10, 90) # error: E0309",
    "range of halves": "  age : uniform(18.5, 90) # error: E0309",
    "table of a real": "  income : table { 1 : 1 } # error: E0309",
    "code for a value": "  job : table { 0 : 0.5, 1 : 0.5 } # error: E0302, E0302",
    "number that nobody has": "  age : table { 17 : 0.5, 18 : 0.5 } # error: E0204",
    "value twice": "  old : table { yes : 0.5, true : 0.5 } # error: E0201",
    "of itself": "  age : uniform(18, 90) given age > 20 # error: E0309",
}


@each(LAWS)
def test_a_law_is_a_law(text: str, tmp_path: Path) -> None:
    others = {
        "age": "  age : uniform(18, 90)",
        "job": "  job : table { clerk : 0.5, nurse : 0.5 }",
        "old": "  old : bernoulli(0.5)",
        "income": "  income : normal(3, 1)",
    }
    others.pop(text.split()[0])
    clauses = "\n".join([text, *others.values()])
    assert_found_as_marked(f"{domain(PEOPLE_OF_A_LAW)}distribution d over Applicant\n{clauses}\n", tmp_path)


POPULATIONS = {
    "nothing said": "distribution d over Applicant # error: E0309",
    "nothing to learn from": "distribution d over Applicant # error: E0309\n  learn bayesian_network",
    "two kinds": "distribution d over Applicant # error: E0309\n  uniform\n  independent",
    "counts of nothing": "distribution d over Applicant # error: E0309\n  independent",
    "laws beside a word": "distribution d over Applicant # error: E0309\n  uniform\n  old : bernoulli(0.5)",
    "a file that is not read": 'distribution d over Applicant # error: E0309\n  uniform\n  from "people.csv"',
    "two files": 'distribution d over Applicant\n  learn bayesian_network\n  from "a.csv"\n'
    '  from "b.csv" # error: E0201',
    "two labels": "label x : boolean\nlabel y : boolean\ndistribution d over Applicant, x, y # error: E0309\n"
    '  empirical from "a.csv"',
    "groups of nothing": 'distribution d over Applicant\n  independent given sex # error: E0203\n  from "a.csv"',
    "an attribute without a law": "distribution d over Applicant # error: E0309\n  old : bernoulli(0.5)",
}


@each(POPULATIONS)
def test_a_population_is_one_law_of_everything(text: str, tmp_path: Path) -> None:
    assert_found_as_marked(domain("  old : boolean\n  age : integer 18 .. 90") + text, tmp_path)


GOOD_POPULATIONS = {
    "uniform": "uniform",
    "independent columns": 'independent from "people.csv"',
    "independent in each group": 'independent given old from "people.csv"',
    "empirical": 'empirical from "people.csv"',
    "network file": 'from "people.bif"',
    "learnt": 'learn bayesian_network from "people.csv" set score = bic set max_parents = 2 set seed = 7',
    "fitted to a graph": 'learn causes from "people.csv"',
    "laws": "old : bernoulli(30%) age : uniform(40, 90) given old = yes "
    "age : uniform(18, 40) given old = no income : normal(1, 0.1)",
}


@pytest.mark.parametrize("law", GOOD_POPULATIONS.values(), ids=GOOD_POPULATIONS)
def test_populations_of_all_kinds_are_understood(law: str, tmp_path: Path) -> None:
    people = domain("  old : boolean\n  age : integer 18 .. 90\n  income : real")
    spec = checked(
        f"{people}graph causes {{ old -> age -> income }}\ndistribution d over Applicant\n  {law}\n", tmp_path
    )
    assert spec.distributions["d"].domain.name == "Applicant"
