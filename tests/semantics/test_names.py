"""Names: whatever a spec refers to is declared, once, and a slip of the hand is recognised."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_specs import PEOPLE, assert_found_as_marked, checked, each, findings, groups, only_property, pairs

from fairdsl.diagnostics import Edit

MODEL = """\
model approve : Applicant -> { reject, grant }
  score = age - 30
  grant when score > 0
"""

TWICE = {
    "attribute": """
domain Applicant {
  sex : boolean
  age : integer 18 .. 90
  sex : category { female, male } # error: E0201
}
""",
    "domain": """
domain Applicant { age : integer 18 .. 90 }
domain Applicant { age : integer 18 .. 60 } # error: E0201
""",
    "label": """
label repaid : boolean
label repaid : category { yes, no } # error: E0201
""",
    "label with the name of an attribute": """
domain Applicant { repaid : boolean }
label repaid : boolean # error: E0201
""",
    "model": f"""
domain Applicant {{ age : integer 18 .. 90 }}
{MODEL}
{MODEL.replace("{ reject, grant }", "{ reject, grant } # error: E0201")}
""",
    "outcome": """
domain Applicant { age : integer 18 .. 90 }
model approve : Applicant -> { reject, grant, reject } # error: E0201
  score = age - 30
  grant when score > 0
""",
    "graph": """
domain Applicant { age : integer 18 .. 90 income : real }
graph causes { age -> income }
graph causes { age -> income } # error: E0201
""",
    "distribution": """
domain Applicant { age : integer 18 .. 90 }
distribution people over Applicant uniform
distribution people over Applicant uniform # error: E0201
""",
    "target": """
domain Applicant { age : integer 18 .. 90 }
condition seniors = age >= 60
condition seniors = age >= 65 # error: E0201
""",
    "target with the name of an attribute": """
domain Applicant { age : integer 18 .. 90 senior : boolean }
condition senior = age >= 60 # error: E0201
""",
    "protected attribute": """
domain Applicant { age : integer 18 .. 90 }
protected age
protected age # error: E0201
""",
    "property": """
use "people.fair"
property p { compare a, b : Applicant differ in sex require same decision }
property p { compare a, b : Applicant differ in race require same decision } # error: E0201
""",
    "clause": pairs("  differ in race # error: E0201"),
    "compared individual": pairs("").replace("a, b : Applicant", "a, a : Applicant # error: E0201"),
    "differing attribute": pairs("", differ="differ in any sex, sex # error: E0201"),
    "attribute of the groups": groups("  measure impact_ratio", across="across sex, sex # error: E0201"),
    "value of a law": """
domain Applicant { job : category { clerk, nurse } }
distribution people over Applicant
  job : table { clerk : 0.5, clerk : 0.5 } # error: E0201
""",
    "truth value of a law": """
domain Applicant { old : boolean }
distribution people over Applicant
  old : table { true : 0.5, yes : 0.5 } # error: E0201
""",
    "law": """
domain Applicant { age : integer 18 .. 90 old : boolean }
distribution people over Applicant
  age : uniform(18, 90)
  old : bernoulli(0.5)
  old : bernoulli(0.6) given age >= 60 # error: E0201
""",
}


#: What is said of the place of the first.
FIRST = ("first declared here", "first named here", "first written here", "an attribute of this name")


@each(TWICE)
def test_a_name_is_declared_once(text: str, tmp_path: Path) -> None:
    (finding,) = assert_found_as_marked(text, tmp_path)
    assert finding.secondary[0].text in FIRST


def test_the_same_name_may_stand_for_things_of_different_kinds(tmp_path: Path) -> None:
    checked(PEOPLE.replace("people over", "approve over") + "condition approve = age >= 60\n", tmp_path)


UNDECLARED = {
    "domain of a model": """
model approve : Applicant -> { reject, grant } # error: E0202
  score = 1
  grant when score > 0
""",
    "domain of a target": """
domain Applicant { age : integer 18 .. 90 }
condition seniors over Applicants = age >= 60 # error: E0202
""",
    "domain of a comparison": pairs("").replace(": Applicant", ": Applicants # error: E0202"),
    "individual": pairs("  among c.age >= 60 # error: E0202"),
    "individual outside a comparison": """
domain Applicant {
  age : integer 18 .. 90
  where a.age >= 20 # error: E0202
}
""",
    "model": pairs("  model approves # error: E0202"),
    "called model": pairs("", require="require approves(a) = approves(b) # error: E0202"),
    "population of groups": groups("  measure impact_ratio", under="under persons # error: E0202"),
    "population of pairs": pairs("  under persons # error: E0202"),
    "what a distribution ranges over": """
domain Applicant { age : integer 18 .. 90 }
distribution people over Persons uniform # error: E0202
""",
    "node of a graph": """
domain Applicant { age : integer 18 .. 90 }
graph causes { age -> income } # error: E0202
""",
    "target": """
use "people.fair"
condition seniors = age >= 60
property p {
  compare a, b : Applicant
  differ in sex
  among senior # error: E0202
  require same decision
}
""",
}


@each(UNDECLARED)
def test_what_is_referred_to_is_declared(text: str, tmp_path: Path) -> None:
    assert_found_as_marked(text, tmp_path)


UNKNOWN_ATTRIBUTES = {
    "differ": pairs("", differ="differ in sx # error: E0203"),
    "relax": pairs("  within 5 in hour # error: E0203"),
    "target": pairs("  among ages >= 30 # error: E0203"),
    "target with an owner": pairs("  among a.ages >= 30 # error: E0203"),
    "membership": pairs("  among edukation in { bachelors, doctorate } # error: E0203"),
    "comparison with a value": pairs("  among edukation = bachelors # error: E0203"),
    "both sides": pairs("  among ages >= hour + 1 # error: E0203, E0203"),
    "inside abs": pairs("  among abs(ages - hours) <= 3 # error: E0203"),
    "bare name": pairs("  among citizens # error: E0203"),
    "across": groups("  measure impact_ratio", across="across sx # error: E0203"),
    "given": groups("  among ages >= 30 # error: E0203\n  measure impact_ratio"),
    "influence": groups("  measure influence of ages on impact_ratio # error: E0203"),
    "constraint": """
domain Applicant {
  age : integer 18 .. 90
  where income >= 3 # error: E0203
}
""",
    "named target": """
domain Applicant { age : integer 18 .. 90 }
condition rich = income >= 3 # error: E0203
""",
    "formula": """
domain Applicant { age : integer 18 .. 90 }
model approve : Applicant -> { reject, grant }
  score = age - income # error: E0203
  grant when score > 0
""",
    "rule": """
domain Applicant { age : integer 18 .. 90 }
model approve : Applicant -> { reject, grant }
  grant when income >= 30 # error: E0203
""",
    "reads": """
domain Applicant { age : integer 18 .. 90 }
model approve : Applicant -> { reject, grant }
  from "approve.onnx"
  reads age, one_hot(job), income / 2 # error: E0203, E0203
  grant when score > 0
""",
    "law": """
domain Applicant { age : integer 18 .. 90 }
distribution people over Applicant
  age : uniform(18, 90)
  income : bernoulli(0.5) # error: E0203
""",
    "condition of a law": """
domain Applicant { age : integer 18 .. 90 }
distribution people over Applicant
  age : uniform(18, 90) given income > 3 # error: E0203
""",
}


@each(UNKNOWN_ATTRIBUTES)
def test_an_attribute_that_nobody_declared_is_never_skipped(text: str, tmp_path: Path) -> None:
    assert_found_as_marked(text, tmp_path)


def test_a_protected_attribute_that_does_not_exist_is_an_error(tmp_path: Path) -> None:
    """Trap 1: such an attribute was skipped, and the audit passed on the other one."""
    text = pairs("", differ="differ in any sex, marital_status # error: E0203")
    text = text.replace("\n\n", "\nprotected marital_status # error: E0203\n", 1)
    found = assert_found_as_marked(text, tmp_path)
    assert "audit would pass on the others" in (found[0].why or "")
    assert found[0].secondary[0].text == "7 attributes are declared here"


def test_a_near_miss_among_protected_attributes_is_recognised(tmp_path: Path) -> None:
    """Trap 1: the slip that the skipping hid was a misspelt name."""
    spec = 'use "people.fair"\nprotected educaton # error: E0203\n'
    (finding,) = assert_found_as_marked(spec, tmp_path)
    assert finding.help == "did you mean `education`?"
    assert finding.fix == Edit(finding.primary.span, "education")


def test_nothing_is_said_about_names_when_there_is_no_domain(tmp_path: Path) -> None:
    assert_found_as_marked("protected sex, age\n", tmp_path)


VALUES = {
    "equality": pairs("  among education = master # error: E0204"),
    "inequality": pairs("  among education != master # error: E0204"),
    "list": pairs("  among education in { bachelors, master, phd } # error: E0204, E0204"),
    "quoted": pairs('  among race = "two and more" # error: E0204'),
    "truth": pairs("  among citizen = maybe # error: E0204"),
    "of one individual": pairs("  among a.education = master # error: E0204"),
    "law": """
domain Applicant { job : category { clerk, nurse } }
distribution people over Applicant
  job : table { clerk : 0.5, doctor : 0.5 } # error: E0204
""",
    "baseline": groups(
        "  allow sex -> income -> approve # error: E0416\n  baseline sex = man # error: E0204\n"
        "  measure path_specific_gap # error: E0405"
    ),
}


@each(VALUES)
def test_a_category_is_compared_with_its_own_values(text: str, tmp_path: Path) -> None:
    assert_found_as_marked(text, tmp_path)


def test_a_misspelt_value_is_recognised(tmp_path: Path) -> None:
    (finding,) = assert_found_as_marked(pairs("  among education = bachelor # error: E0204"), tmp_path)
    assert finding.help == "did you mean `bachelors`?"
    assert finding.secondary[0].span.text == "education"


def test_without_a_near_miss_the_values_are_listed(tmp_path: Path) -> None:
    (finding,) = findings(pairs("  among education = x"), tmp_path)
    assert finding.help == "its values are `school`, `bachelors` and `doctorate`"


OUTCOMES = {
    "rule": """
domain Applicant { age : integer 18 .. 90 }
model approve : Applicant -> { reject, grant }
  score = age - 30
  approved when score > 0 # error: E0205
""",
    "favourable": """
use "people.fair"
model screen : Applicant -> { low, high }
  score = age - 30
  high when score > 0
  favourable hgh # error: E0205
property p {
  model screen
  across sex
  under people
  measure impact_ratio
}
""",
}


@each(OUTCOMES)
def test_a_rule_grants_an_outcome_of_the_model(text: str, tmp_path: Path) -> None:
    assert_found_as_marked(text, tmp_path)


METRICS = {
    "measured of groups": groups("  measure disparate_impct # error: E0206"),
    "required of groups": groups("  require disparate_impct >= 80% # error: E0206"),
    "measured of pairs": pairs("  measure fairshare # error: E0206"),
    "required of pairs": pairs("  require fairshare >= 95% # error: E0206"),
    "influenced": groups("  measure influence of age on impact # error: E0206"),
}


@each(METRICS)
def test_a_metric_has_a_known_name(text: str, tmp_path: Path) -> None:
    assert_found_as_marked(text, tmp_path)


def test_a_misspelt_metric_is_recognised(tmp_path: Path) -> None:
    (finding,) = findings(groups("  measure impact_rato"), tmp_path)
    assert finding.help == "did you mean `impact_ratio`?"


UNPROTECTED = {
    "several": groups("  measure impact_ratio", across="across age, education # error: E0207, E0207"),
    "across": groups("  measure impact_ratio", across="across sex, education # error: E0207"),
}


@each(UNPROTECTED)
def test_what_is_compared_is_declared_protected(text: str, tmp_path: Path) -> None:
    assert_found_as_marked(text, tmp_path)


SEVERAL = """\
domain Applicant { sex : boolean age : integer 18 .. 90 }
domain Tenant { sex : boolean rent : real 0 .. 5000 }
protected sex
model approve : Applicant -> { reject, grant }
  score = age - 30
  grant when score > 0
model let : Tenant -> { refuse, offer }
  score = 1000 - rent
  offer when score > 0
"""

WHICH = {
    "model": SEVERAL
    + "property p { # error: E0208\n  compare a, b : Tenant\n  differ in sex\n  require same decision\n}",
    "domain of a target": SEVERAL + "condition old = age >= 60 # error: E0208",
}


@each(WHICH)
def test_with_several_candidates_the_spec_says_which(text: str, tmp_path: Path) -> None:
    assert_found_as_marked(text, tmp_path)


PROPERTY = "compare a, b : Tenant\n  differ in sex\n"
NAMED = {
    "by a clause": f"property p {{\n  model let\n  {PROPERTY}  require same decision\n}}",
    "by a call": f"property p {{\n  {PROPERTY}  require let(a) = let(b)\n}}",
}


@pytest.mark.parametrize("text", NAMED.values(), ids=NAMED)
def test_a_property_names_its_model(text: str, tmp_path: Path) -> None:
    found = findings(SEVERAL + text, tmp_path)
    assert [finding.title for finding in found] == ["model `approve` is never used"]


def test_a_model_decides_about_its_own_domain(tmp_path: Path) -> None:
    clauses = "  model approve\n  compare a, b : Tenant # error: E0302\n  differ in sex\n  require same decision\n"
    text = SEVERAL + f"property p {{\n{clauses}}}\n"
    assert_found_as_marked(text, tmp_path)


def test_a_target_is_used_for_its_own_domain(tmp_path: Path) -> None:
    text = SEVERAL + (
        "condition all_rents over Tenant = rent >= 1\n"
        "property p {\n  model approve\n  compare a, b : Applicant\n  differ in sex\n"
        "  among all_rents # error: E0302\n  require same decision\n}"
    )
    assert_found_as_marked(text, tmp_path)


def test_a_population_is_used_for_its_own_domain(tmp_path: Path) -> None:
    text = SEVERAL.replace("grant when score > 0", "grant when score > 0\n  favourable grant") + (
        "distribution tenants over Tenant uniform\n"
        "property p {\n  model approve\n  across sex\n  under tenants # error: E0302\n  measure impact_ratio\n}"
    )
    assert_found_as_marked(text, tmp_path)


WORDS = {
    "function": pairs("  among log(age) >= 3 # error: E0211"),
    "function in a formula": """
domain Applicant { age : integer 18 .. 90 }
model approve : Applicant -> { reject, grant }
  score = exp(age) # error: E0211
  grant when score > 0
""",
    "function in reads": """
domain Applicant { age : integer 18 .. 90 }
model approve : Applicant -> { reject, grant }
  from "approve.onnx"
  reads onehot(age) # error: E0211
  grant when score > 0
""",
    "setting": """
domain Applicant { age : integer 18 .. 90 }
distribution people over Applicant
  learn bayesian_network
  from "people.csv"
  set max_parent = 2 # error: E0211
""",
    "structure": """
domain Applicant { age : integer 18 .. 90 }
distribution people over Applicant
  learn bayesian_net # error: E0211
  from "people.csv"
""",
    "law": """
domain Applicant { age : integer 18 .. 90 }
distribution people over Applicant
  age : poisson(3) # error: E0211
""",
}


@each(WORDS)
def test_a_word_from_a_fixed_list_is_on_it(text: str, tmp_path: Path) -> None:
    assert_found_as_marked(text, tmp_path)


@pytest.mark.parametrize("name", ["label", "target", "model", "set", "age", "relax", "score", "class", "probability"])
def test_an_attribute_may_have_any_name(name: str, tmp_path: Path) -> None:
    text = f"""\
domain Applicant {{ sex : boolean {name} : integer 0 .. 90 }}
protected sex
model approve : Applicant -> {{ reject, grant }}
  score = 2 * {name} - 60
  grant when score > 0
property p {{
  compare a, b : Applicant
  differ  in sex
  within 5 in {name}
  among {name} >= 10 and a.{name} <= 80
  require same decision
}}
"""
    (relaxation,) = only_property(text, tmp_path).demands[0].question.relax
    assert relaxation.attribute == 1
