"""Lists of rules as declared: their order, what stands beside them, and rules that never decide."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from marked_specs import assert_found_as_marked, checked, findings

from fairdsl.diagnostics import Reporter
from fairdsl.ir.declaration import ByRules, FileSource, RuleList
from fairdsl.ir.domain import Domain
from fairdsl.ir.expr import Compare, Linear, Predicate, Relation, Variable, Who
from fairdsl.semantics.models.rules import report_unreached
from tests import builders
from tests.oracle import true_for, values_of
from tests.rule_strategies import listed
from tests.strategies import COMPARISONS, domains, predicates

DOMAIN = """\
domain Defendant {
  charge : category { felony, other }
  age    : integer 18 .. 90
  priors : integer 0 .. 3000
  income : real
  old    : boolean
}
label repeated : boolean
"""


def model(clauses: str, outcomes: str = "release, detain") -> str:
    return f"{DOMAIN}model triage : Defendant -> {{ {outcomes} }}\n{clauses}\n"


def test_a_list_as_declared(tmp_path: Path) -> None:
    text = "  first detain when priors > 3\n  then low when age >= 45\n  otherwise release\n  favourable release"
    declaration = checked(model(text, "release, detain, low"), tmp_path).models["triage"].declaration
    source = declaration.source
    assert isinstance(source, RuleList)
    assert isinstance(declaration.decision, ByRules)
    assert ([rule.outcome for rule in source.rules], source.otherwise, declaration.favourable) == ([1, 2], 0, 0)
    assert source.rules[1].span.text == "then low when age >= 45"
    assert source.sha256 is None
    over_three = Linear.of({Variable(2): Fraction(1)}, Fraction(-3))
    assert source.rules[0].condition == Compare(left=over_three, relation=Relation.GT)


def test_an_attribute_may_have_the_name_of_a_number_of_models(tmp_path: Path) -> None:
    text = "domain D { score : integer 0 .. 9 }\nmodel m : D -> { a, b }\n  first a when score > 3\n  otherwise b"
    assert isinstance(checked(text, tmp_path).models["m"].declaration.source, RuleList)


@pytest.mark.parametrize(
    "clauses",
    [
        "  then detain when priors > 3  # error: E0212\n  otherwise release",
        "  first detain when priors > 3\n  first release when age > 45  # error: E0212\n  otherwise release",
        "  first detain when priors > 3\n  otherwise release\n  otherwise release  # error: E0212",
        "  first detain when priors > 3\n  otherwise release\n  then release when age > 45  # error: E0212",
        "  otherwise release  # error: E0212\n  first detain when priors > 3  # error: E0212",
        "  first detain when priors > 3  # error: E0213",
        "  first detain when priors > 3\n  then release when age > 45  # error: E0213",
        '  from "x.onnx"  # error: E0214\n  first detain when priors > 3\n  otherwise release',
        "  score = priors - 3  # error: E0214\n  first detain when priors > 3\n  otherwise release",
        "  first detain when priors > 3\n  otherwise release\n  detain when age > 3  # error: E0214",
        "  first detain when priors > 3\n  otherwise release\n  decide by highest score  # error: E0214",
        "  first detain when priors > 3\n  otherwise release\n  reads age  # error: E0214",
        '  from rules "x.json"\n  detain when score > 0  # error: E0214',
        '  from rules "x.json"\n  decide by highest score  # error: E0214',
        '  from rules "x.json"\n  reads age  # error: E0214',
        "  first detained when priors > 3  # error: E0205\n  otherwise release",
        "  first detain when priors > 3\n  otherwise released  # error: E0205",
        "  first detain when prior > 3  # error: E0203\n  otherwise release",
        "  first detain when score > 3  # error: E0203\n  otherwise release",
        "  first detain when repeated  # error: E0203\n  otherwise release",
        "  first detain when charge = felon  # error: E0204\n  otherwise release",
        "  first detain when age  # error: E0307\n  otherwise release",
        "  then detain when prior > 3  # error: E0203, E0212\n  otherwise release",
    ],
)
def test_what_makes_no_list(clauses: str, tmp_path: Path) -> None:
    assert_found_as_marked(model(clauses), tmp_path)


def test_nothing_is_said_of_absence_where_a_rule_could_not_be_read(tmp_path: Path) -> None:
    text = model("  first detain priors > 3\n  then release when age > 45\n  otherwise release")
    assert [found.code for found in findings(text, tmp_path)] == ["E0107"]


def test_a_document_needs_no_decision_rule(tmp_path: Path) -> None:
    for source, word in (('rules "x.txt"', "rules"), ('"x.json"', None)):
        declaration = checked(model(f"  from {source}"), tmp_path).models["triage"].declaration
        assert isinstance(declaration.source, FileSource)
        assert declaration.source.format == word
        assert isinstance(declaration.decision, ByRules)
    assert [found.code for found in findings(model('  from linear "x.json"'), tmp_path)] == ["E0412"]


# ---- rules that never decide -------------------------------------------------------------------


@pytest.mark.parametrize(
    "clauses",
    [
        "  then detain when age >= 60 and charge = felony  # warning: W0810",
        "  then detain when age in 50 .. 60  # warning: W0810",
        "  then detain when age > 90  # warning: W0810",
        "  then detain when age > 50 or age = 45  # warning: W0810",
        "  then detain when charge = other  # warning: W0810",
        "  then detain when not charge = felony and income > 3  # warning: W0810",
        "  then detain when income < 1 and priors > 3  # warning: W0810",
        "  then detain when priors > 2001  # warning: W0810",
        "  then detain when 2 * income + priors <= 9 and age < 20  # warning: W0810",
        "  then detain when age >= 44 and charge = felony",
        "  then detain when income <= 1",
        "  then detain when income >= 1",
        "  then detain when priors > 1999",
        "  then detain when priors > 2001 or age < 20",
        "  then detain when age + priors > 5000",
    ],
)
def test_rules_that_come_too_late(clauses: str, tmp_path: Path) -> None:
    earlier = (
        "  first release when age >= 45\n"
        "  then release when charge = other and age > 20\n"
        "  then detain when charge = other\n"
        "  then release when income < 1\n"
        "  then detain when priors > 2000\n"
        "  then release when 2 * income + priors <= 9\n"
    )
    assert_found_as_marked(model(f"{earlier}{clauses}\n  otherwise release"), tmp_path)


def test_the_rules_that_decide_before_are_shown(tmp_path: Path) -> None:
    clauses = (
        "  first release when age >= 60\n  then detain when age < 30\n"
        "  then release when age in 25 .. 70\n  then detain when age > 20\n  otherwise release"
    )
    (found,) = findings(model(clauses), tmp_path)
    assert found.primary is not None
    assert found.primary.span.text == "then detain when age > 20"
    assert [label.span.text for label in found.secondary] == [
        "first release when age >= 60",
        "then detain when age < 30",
        "then release when age in 25 .. 70",
    ]


def unreached(rules: list[Predicate], people: Domain) -> int:
    reporter = Reporter()
    report_unreached(listed([(rule, 0) for rule in rules], 1).rules, people, reporter)
    return len(list(reporter))


@st.composite
def about_one(draw: st.DrawFn, people: Domain) -> Predicate:
    index = draw(st.integers(0, len(people.attributes) - 1))
    left = Linear.of({Variable(index): Fraction(draw(st.sampled_from([1, -2])))}, Fraction(draw(st.integers(-4, 6))))
    return Compare(left=left, relation=draw(COMPARISONS))


@given(domains(), st.data())
def test_only_rules_that_never_decide_are_reported(people: Domain, data: st.DataObject) -> None:
    """Each warning is true: of whoever is in the domain, an earlier rule or none fits."""
    one = st.one_of(about_one(people), predicates(people.attributes))
    rules = data.draw(st.lists(one, min_size=1, max_size=5))
    for number in range(len(rules)):
        warned = unreached(rules[: number + 1], people) > unreached(rules[:number], people)
        if warned:
            for point in product(*(values_of(attribute.type) for attribute in people.attributes)):
                each = {Who.EACH: point}
                if true_for(people.where, each) and true_for(rules[number], each):
                    assert any(true_for(earlier, each) for earlier in rules[:number])


@given(st.lists(st.tuples(COMPARISONS, st.integers(-8, 20)), min_size=1, max_size=6), st.booleans())
def test_of_one_attribute_every_such_rule_is_reported(tests: list[tuple[Relation, int]], whole: bool) -> None:
    """Of conditions about one attribute alone the answer is complete; reals are tried at borders and between."""
    kind = builders.integer(0, 12) if whole else builders.real(0, 12)
    people = builders.domain(x=kind)
    rules = [builders.linear({0: 2}, relation.value, border) for relation, border in tests]
    places = [Fraction(n, 4) for n in range(49) if not whole or n % 4 == 0]
    expected = 0
    for number, rule in enumerate(rules):
        left = [x for x in places if true_for(rule, {Who.EACH: (x,)})]
        late = [x for x in left if any(true_for(earlier, {Who.EACH: (x,)}) for earlier in rules[:number])]
        expected += left == late
    assert unreached(rules, people) == expected
