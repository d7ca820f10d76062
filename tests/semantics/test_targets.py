"""Conditions: whom they bind, what sets and ranges hold, and what they come to exactly."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest
from marked_specs import assert_found_as_marked, each, findings, only_property, pairs

from fairdsl.ir.domain import Domain, Point
from fairdsl.ir.expr import Predicate, holds
from fairdsl.ir.question import Pair
from fairdsl.numerics.predicates import holds_for, holds_for_pair

SMALL = """\
domain Applicant {
  sex     : category { female, male }
  race    : category { white = 1, black = 4, "two or more" = 7 }
  age     : integer 0 .. 5
  hours   : integer -2 .. 2
  citizen : boolean
}
protected sex
model approve : Applicant -> { reject, grant }
  score = age
  grant when score > 0
"""


def question_of(target: str, folder: Path) -> tuple[Pair, Domain]:
    spec = f"""{SMALL}
property p {{
  compare a, b : Applicant
  differ in sex
  regardless of age
  regardless of race
  regardless of hours
  regardless of citizen
  among {target}
  require same decision
}}
"""
    found = only_property(spec, folder)
    question = found.demands[0].question
    assert isinstance(question, Pair)
    return question, found.domain


def everybody(domain: Domain) -> list[dict[str, Fraction]]:
    names = [attribute.name for attribute in domain.attributes]
    values = [[Fraction(value) for value in attribute.values or ()] for attribute in domain.attributes]
    return [dict(zip(names, point, strict=True)) for point in product(*values)]


# Each target in the language and, for one individual, in Python: codes of race are 1, 4 and 7.
EACH = {
    "age >= 3": lambda x: x["age"] >= 3,
    "3 <= age": lambda x: x["age"] >= 3,
    "age > 2.5": lambda x: x["age"] > 2,
    "age = 3": lambda x: x["age"] == 3,
    "age != 3": lambda x: x["age"] != 3,
    "2 * hours + age <= 3": lambda x: 2 * x["hours"] + x["age"] <= 3,
    "-hours > age - 3": lambda x: -x["hours"] > x["age"] - 3,
    "(age - hours) / 2 < 1": lambda x: x["age"] - x["hours"] < 2,
    "race = black": lambda x: x["race"] == 4,
    'race = "two or more"': lambda x: x["race"] == 7,
    "race != white": lambda x: x["race"] != 1,
    "white = race": lambda x: x["race"] == 1,
    'race in { white, "two or more" }': lambda x: x["race"] in (1, 7),
    "not race in { white }": lambda x: x["race"] != 1,
    "age in { 0, 2 .. 3, 5 }": lambda x: x["age"] in (0, 2, 3, 5),
    "age in 2 .. 3": lambda x: 2 <= x["age"] <= 3,
    "hours + 1 in { 0, 2 }": lambda x: x["hours"] in (-1, 1),
    "citizen": lambda x: x["citizen"] == 1,
    "not citizen": lambda x: x["citizen"] == 0,
    "citizen = yes": lambda x: x["citizen"] == 1,
    "citizen = true": lambda x: x["citizen"] == 1,
    "citizen = 1": lambda x: x["citizen"] == 1,
    "citizen = no": lambda x: x["citizen"] == 0,
    "citizen = false": lambda x: x["citizen"] == 0,
    "citizen = 0": lambda x: x["citizen"] == 0,
    "citizen != yes": lambda x: x["citizen"] == 0,
    "citizen in { no }": lambda x: x["citizen"] == 0,
    "abs(hours) <= 1": lambda x: abs(x["hours"]) <= 1,
    "abs(hours) < 2": lambda x: abs(x["hours"]) < 2,
    "abs(hours) >= 1": lambda x: abs(x["hours"]) >= 1,
    "abs(hours) > 1": lambda x: abs(x["hours"]) > 1,
    "abs(hours) = 1": lambda x: abs(x["hours"]) == 1,
    "abs(hours) != 1": lambda x: abs(x["hours"]) != 1,
    "1 >= abs(hours - age)": lambda x: abs(x["hours"] - x["age"]) <= 1,
    "abs(hours) = age - 1": lambda x: abs(x["hours"]) == x["age"] - 1,
    "abs(hours) != age - 1": lambda x: abs(x["hours"]) != x["age"] - 1,
    "age >= 3 and race = white or not citizen": lambda x: (x["age"] >= 3 and x["race"] == 1) or not x["citizen"],
    "age >= 3 and (race = white or not citizen)": lambda x: x["age"] >= 3 and (x["race"] == 1 or not x["citizen"]),
    "not (age >= 3 or race = white)": lambda x: x["age"] < 3 and x["race"] != 1,
}


@pytest.mark.parametrize("target", EACH)
def test_a_condition_means_what_it_says(target: str, tmp_path: Path) -> None:
    question, domain = question_of(target, tmp_path)
    people = everybody(domain)
    wanted = [bool(EACH[target](person)) for person in people]
    assert [holds_for(question.target, tuple(person.values())) for person in people] == wanted
    assert True in wanted
    assert False in wanted


def test_unqualified_names_bind_both(tmp_path: Path) -> None:
    question, _ = question_of("age >= 3", tmp_path)
    assert question.symmetric
    assert question.target.span.text == "age >= 3"


# For the ordered pair: whom each name speaks of.
ORDERED = {
    "a.age <= 3": lambda a, b: a["age"] <= 3,
    "b.citizen": lambda a, b: b["citizen"] == 1,
    "a.age < b.age": lambda a, b: a["age"] < b["age"],
    "a.race = b.race": lambda a, b: a["race"] == b["race"],
    "a.race != b.race": lambda a, b: a["race"] != b["race"],
    "a.race in { white, black }": lambda a, b: a["race"] in (1, 4),
    "abs(a.hours - b.hours) >= 2": lambda a, b: abs(a["hours"] - b["hours"]) >= 2,
    # Unqualified names beside qualified ones stand for either individual in turn.
    "a.age <= hours + 3": lambda a, b: a["age"] <= a["hours"] + 3 and a["age"] <= b["hours"] + 3,
    "a.age >= age": lambda a, b: a["age"] >= b["age"],
    "a.age <= 3 or citizen": lambda a, b: a["age"] <= 3 or (a["citizen"] and b["citizen"]),
    "a.age <= 3 and citizen": lambda a, b: a["age"] <= 3 and a["citizen"] and b["citizen"],
}


@pytest.mark.parametrize("target", ORDERED)
def test_a_condition_on_one_of_the_two_orders_the_pair(target: str, tmp_path: Path) -> None:
    question, domain = question_of(target, tmp_path)
    assert not question.symmetric
    people = everybody(domain)[::7]
    for one, two in product(people, people):
        a, b = tuple(one.values()), tuple(two.values())
        assert _admits(question, a, b) == bool(ORDERED[target](one, two))


def _admits(question: Pair, a: Point, b: Point) -> bool:
    each = all(holds_for(question.target, person) for person in (a, b))
    return each and holds_for_pair(question.pair_target, a, b)


def test_each_part_of_a_conjunction_binds_whom_it_names(tmp_path: Path) -> None:
    question, domain = question_of("age >= 2 and a.hours > b.hours", tmp_path)
    assert _names(question.target, domain) == {"age"}
    assert _names(question.pair_target, domain) == {"hours"}


def _names(predicate: Predicate, domain: Domain) -> set[str]:
    from fairdsl.ir.expr import variables

    return {domain.attributes[variable.attribute].name for variable in variables(predicate)}


def test_several_targets_mean_and(tmp_path: Path) -> None:
    question, domain = question_of("age >= 2\n  among age <= 3\n  among citizen", tmp_path)
    ages = {person["age"] for person in everybody(domain) if holds_for(question.target, tuple(person.values()))}
    assert ages == {2, 3}
    assert _names(question.target, domain) == {"age", "citizen"}


def test_both_individuals_obey_the_domain(tmp_path: Path) -> None:
    text = SMALL.replace(
        "citizen : boolean\n", "citizen : boolean\n  where age >= 2 or not citizen\n  where hours <= age\n"
    )
    found = only_property(
        text + "property p { compare a, b : Applicant differ in sex require same decision }", tmp_path
    )
    allowed = [p for p in everybody(found.domain) if holds(found.domain.where, _reading(found.domain, p))]
    assert len(allowed) < len(everybody(found.domain))
    assert all((p["age"] >= 2 or not p["citizen"]) and p["hours"] <= p["age"] for p in allowed)
    assert "domain constraint: (age >= 2 or citizen != yes) and hours <= age" in found.clauses


def _reading(domain: Domain, person: dict[str, Fraction]):
    return lambda variable: person[domain.attributes[variable.attribute].name]


# ---- named targets -------------------------------------------------------------------------------


NAMED = """
condition old over Applicant = age >= 3
condition idle = hours <= 0
"""


@pytest.mark.parametrize("written", ["old and not idle", "not (idle or not old)", "a.hours < 2 and (old and not idle)"])
def test_a_named_target_stands_for_its_condition(written: str, tmp_path: Path) -> None:
    text = f"""{SMALL}{NAMED}
property p {{
  compare a, b : Applicant
  differ in sex
  among {written}
  require same decision
}}
"""
    found = only_property(text, tmp_path)
    domain = found.domain
    people = [p for p in everybody(domain) if holds_for(found.demands[0].question.target, tuple(p.values()))]
    assert {(p["age"], p["hours"]) for p in people} == {(a, h) for a in (3, 4, 5) for h in (1, 2)}


def test_a_word_is_the_value_of_the_attribute_it_is_compared_with(tmp_path: Path) -> None:
    """Even where an attribute has the same name."""
    text = """\
domain Applicant { sex : boolean female : boolean gender : category { female, male } }
protected sex
model approve : Applicant -> { reject, grant }
  score = 1 * female
  grant when score > 0
property p {
  compare a, b : Applicant
  differ in sex
  among gender = female
  require same decision
}
"""
    question = only_property(text, tmp_path).demands[0].question
    assert holds_for(question.target, (Fraction(0), Fraction(1), Fraction(0)))
    assert not holds_for(question.target, (Fraction(0), Fraction(1), Fraction(1)))


# ---- conditions that leave nobody, or everybody --------------------------------------------------

NOBODY = {
    "beyond the range": pairs("  among age > 90 # error: E0409"),
    "strictly at its end": pairs("  among age < 18 # error: E0409"),
    "a value between two integers": pairs("  among age = 30.5 # error: E0409"),
    "a sum out of reach": pairs("  among age + hours >= 171 # error: E0409"),
    "negated": pairs("  among not age >= 18 # error: E0409"),
    "every value taken out": pairs("  among not education in { school, bachelors, doctorate } # error: E0409"),
    "every alternative": pairs("  among age > 90 or hours > 80 # error: E0409"),
    "two clauses together": pairs("  among age >= 50 # error: E0409\n  among age <= 40"),
    "two lists together": pairs("  among education = school and education = doctorate # error: E0409"),
    "a number with itself": pairs("  among age < age # error: E0409"),
    "of one individual": pairs("  among a.age > 90 # error: E0409"),
    "an order of what is held equal": pairs("  among a.age < b.age # error: E0409"),
    "a difference of what is held equal": pairs("  among a.education != b.education # error: E0409"),
    "different values of what is held equal": pairs(
        "  among a.education = school and b.education = doctorate # error: E0409"
    ),
    "equality of what must differ": pairs("  among a.sex = b.sex # error: E0409"),
    "the same value of what must differ": pairs("  among a.sex = male and b.sex = male # error: E0409"),
    "the domain's constraint": "domain D {\n  age : integer 18 .. 90\n  where age > 90 # error: E0409\n}\n",
    "the domain's constraints together": (
        "domain D {\n  age : integer 18 .. 90\n  where age >= 50 # error: E0409\n  where age <= 40\n}\n"
    ),
}


@each(NOBODY)
def test_a_question_about_nobody_is_an_error(text: str, tmp_path: Path) -> None:
    assert_found_as_marked(text, tmp_path)


EVERYBODY = {
    "the whole range": pairs("  among age >= 18 # warning: W0802"),
    "a value between two integers": pairs("  among age != 30.5 # warning: W0802"),
    "negated": pairs("  among not age > 90 # warning: W0802"),
    "every value": pairs("  among sex in { female, male } # warning: W0802"),
    "both truth values": pairs("  among citizen in { yes, no } # warning: W0802"),
    "one of two alternatives": pairs("  among age >= 18 or hours > 20 # warning: W0802"),
    "a number with itself": pairs("  among age = age # warning: W0802"),
    "a part of it": pairs("  among hours > 20 and age >= 18 # warning: W0802"),
    "a part that is true of nobody": pairs("  among hours > 20 or age > 90 # warning: W0802"),
    "of one individual": pairs("  among a.age >= 18 # warning: W0802"),
    "equality of what is held equal": pairs("  among a.age = b.age # warning: W0802"),
    "difference of what must differ": pairs("  among a.age >= 30 and a.sex != b.sex"),
    "the domain's constraint": "domain D {\n  age : integer 18 .. 90\n  where age <= 90 # warning: W0802\n}\n",
}


@each(EVERYBODY)
def test_a_condition_true_of_everybody_is_said_to_be(text: str, tmp_path: Path) -> None:
    assert_found_as_marked(text, tmp_path)


def test_the_message_says_what_is_left_of_the_attribute(tmp_path: Path) -> None:
    (finding,) = findings(pairs("  among age > 95"), tmp_path)
    assert finding.title == "this condition excludes everybody"
    assert finding.primary.text == "`age` is a whole number from 18 to 90"


def test_constraints_of_the_domain_count_when_a_target_is_judged(tmp_path: Path) -> None:
    text = SMALL.replace("citizen : boolean\n", "citizen : boolean\n  where age >= 2\n") + (
        "property p {\n  compare a, b : Applicant\n  differ in sex\n  among age >= 1 # warning: W0802\n"
        "  require same decision\n}\n"
    )
    (finding,) = assert_found_as_marked(text, tmp_path)
    assert finding.primary.text == "`age` is a whole number from 2 to 5"
