"""Models as declared: one source of a score, one decision rule, and features in the order they are read."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from marked_specs import assert_found_as_marked, checked, each, findings

from fairdsl.ir.declaration import (
    ByAnswer,
    FileSource,
    Highest,
    InlineScore,
    ModelDeclaration,
    WhenClass,
    WhenProbability,
    WhenScore,
)
from fairdsl.ir.expr import Relation, holds
from fairdsl.ir.feature import AttributeInput, Form, IndicatorInput

DOMAIN = """\
domain Applicant {
  job    : category { clerk = 2, nurse = 5 }
  age    : integer 0 .. 3
  income : real 0 .. 100
  old    : boolean
}
"""


def model(clauses: str, outcomes: str = "reject, grant") -> str:
    return f"{DOMAIN}model approve : Applicant -> {{ {outcomes} }}\n{clauses}\n"


def declared(clauses: str, folder: Path, outcomes: str = "reject, grant") -> ModelDeclaration:
    return checked(model(clauses, outcomes), folder).models["approve"].declaration


# ---- decisions -----------------------------------------------------------------------------------

RULES = {
    "grant when score > 0": (WhenScore, 1, Relation.GT, Fraction(0)),
    "grant when score >= 0": (WhenScore, 1, Relation.GE, Fraction(0)),
    "reject when score < 0.5": (WhenScore, 0, Relation.LT, Fraction(1, 2)),
    "grant when -1/2 <= score": (WhenScore, 1, Relation.GE, Fraction(-1, 2)),
    "grant when probability >= 50%": (WhenProbability, 1, Relation.GE, Fraction(1, 2)),
    "reject when probability < 0.1": (WhenProbability, 0, Relation.LT, Fraction(1, 10)),
}


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_keeps_its_strictness_and_its_exact_number(rule: str, tmp_path: Path) -> None:
    kind, outcome, relation, threshold = RULES[rule]
    decision = declared(f'  from "m.onnx"\n  {rule}', tmp_path).decision
    assert isinstance(decision, kind)
    assert (decision.outcome, decision.relation, decision.threshold) == (outcome, relation, threshold)


@pytest.mark.parametrize(("written", "label"), [("0", 0), ("1", 1), ("-1", -1), ('"good"', "good"), ('"1"', "1")])
def test_a_rule_by_class_as_the_file_calls_them(written: str, label: int | str, tmp_path: Path) -> None:
    for condition in (f"class = {written}", f"{written} = class"):
        decision = declared(f'  from "m.onnx"\n  grant when {condition}', tmp_path).decision
        assert isinstance(decision, WhenClass)
        assert [(each.outcome, each.label) for each in decision.classes] == [(1, label)]


def test_a_class_for_each_outcome(tmp_path: Path) -> None:
    lines = '  low when class = "L"\n  high when class = "H"'
    decision = declared(f'  from "m.onnx"\n{lines}', tmp_path, "low, middle, high").decision
    assert isinstance(decision, WhenClass)
    assert [(each.outcome, each.label) for each in decision.classes] == [(0, "L"), (2, "H")]


def test_the_probability_of_a_class(tmp_path: Path) -> None:
    for label, written in ((1, "1"), ("good", '"good"')):
        rule = f"grant when probability(class = {written}) >= 70%"
        decision = declared(f'  from "m.onnx"\n  {rule}', tmp_path).decision
        assert isinstance(decision, WhenProbability)
        assert (decision.label, decision.threshold) == (label, Fraction(7, 10))


def test_without_a_rule_the_labels_of_a_file_are_the_outcomes(tmp_path: Path) -> None:
    for source in ('"m.onnx"', 'onnx "m"', 'black_box "m.onnx"'):
        assert isinstance(declared(f"  from {source}", tmp_path).decision, ByAnswer)


@pytest.mark.parametrize("outcomes", ["reject, grant", "low, middle, high"])
def test_a_rule_by_the_highest_score(outcomes: str, tmp_path: Path) -> None:
    assert isinstance(declared('  from "m.onnx"\n  decide by highest score', tmp_path, outcomes).decision, Highest)


def test_the_favourable_outcome_is_optional(tmp_path: Path) -> None:
    clauses = '  from "m.onnx"\n  grant when score > 0'
    assert declared(clauses, tmp_path).favourable is None
    assert declared(f"{clauses}\n  favourable reject", tmp_path).favourable == 0


def test_a_rule_over_attributes_is_a_model_of_its_own(tmp_path: Path) -> None:
    declaration = declared("  grant when (age >= 2 and income > 50) or job = nurse", tmp_path)
    assert isinstance(declaration.source, InlineScore)
    ((indicator, factor),) = declaration.source.form.terms
    assert isinstance(indicator, IndicatorInput)
    assert factor == 1
    assert declaration.decision == WhenScore(
        outcome=1, relation=Relation.GT, threshold=Fraction(0), span=declaration.decision.span
    )
    for job, age, income in [(2, 2, 51), (2, 2, 50), (5, 0, 0), (2, 1, 100)]:
        person = (Fraction(job), Fraction(age), Fraction(income), Fraction(0))
        granted = holds(indicator.predicate, lambda variable, person=person: person[variable.attribute])
        assert granted == ((age >= 2 and income > 50) or job == 5)


# ---- where the score comes from ------------------------------------------------------------------


def test_a_file_with_its_format_and_digest(tmp_path: Path) -> None:
    source = declared(f'  from linear "m.txt" sha256 "{"AB" * 32}"\n  grant when score > 0', tmp_path).source
    assert isinstance(source, FileSource)
    assert (Path(source.path), source.format, source.sha256) == (tmp_path / "m.txt", "linear", "ab" * 32)


def test_a_formula_is_exact(tmp_path: Path) -> None:
    source = declared(
        "  score = 9.37 * income - (age + 2) / 4 + 3 * (job = nurse)\n  grant when score > 0", tmp_path
    ).source
    assert isinstance(source, InlineScore)
    terms = dict(source.form.terms)
    assert terms[AttributeInput(2)] == Fraction(937, 100)
    assert terms[AttributeInput(1)] == Fraction(-1, 4)
    assert source.form.constant == Fraction(-1, 2)
    assert [factor for item, factor in terms.items() if isinstance(item, IndicatorInput)] == [3]


def test_features_are_read_in_the_order_written(tmp_path: Path) -> None:
    declaration = declared(
        '  from "m.onnx"\n  reads age, one_hot(job), (income - 38.6) / 13.2, job, old, one_hot(old)\n'
        "  grant when score > 0",
        tmp_path,
    )
    assert declaration.reads is not None
    age, clerk, nurse, scaled, job, old, no, yes = declaration.reads
    assert age == Form.of(AttributeInput(1))
    assert job == Form.of(AttributeInput(0))
    assert old == Form.of(AttributeInput(3))
    assert scaled == Form(((AttributeInput(2), Fraction(10, 132)),), Fraction(-386, 132))
    assert [_codes(form) for form in (clerk, nurse, no, yes)] == [{2}, {5}, {0}, {1}]
    assert [span.text for span in declaration.reads_spans[:3]] == ["age", "one_hot(job)", "one_hot(job)"]


def _codes(form: Form) -> set[Fraction]:
    ((indicator, _),) = form.terms
    assert isinstance(indicator, IndicatorInput)
    return set(indicator.predicate.values)


def test_every_attribute_is_read_in_order_where_nothing_else_is_written(tmp_path: Path) -> None:
    assert declared('  from "m.onnx"\n  grant when score > 0', tmp_path).reads is None


# ---- what is missing, or too much ----------------------------------------------------------------

INCOMPLETE = {
    "no rule": DOMAIN + "model approve : Applicant -> { reject, grant } # error: E0412\n  score = age\n",
    "no score": model("  grant when score > 0 # error: E0412"),
    "nothing to be highest": DOMAIN
    + "model approve : Applicant -> { reject, grant } # error: E0412\n  decide by highest score\n",
    "one outcome": DOMAIN
    + 'model approve : Applicant -> { grant } # error: E0412\n  from "m.onnx"\n  grant when score > 0',
    "a file and a formula": model('  from "m.onnx"\n  score = age # error: E0412\n  grant when score > 0'),
    "two files": model('  from "m.onnx"\n  from "n.onnx" # error: E0412\n  grant when score > 0'),
    "two rules": model('  from "m.onnx"\n  grant when score > 0\n  reject when score <= 0 # error: E0412'),
    "two kinds of rules": model('  from "m.onnx"\n  grant when score > 0\n  decide by highest score # error: E0412'),
    "two favourable outcomes": model(
        '  from "m.onnx"\n  grant when score > 0\n  favourable grant\n  favourable reject # error: E0412'
    ),
    "two lists of features": model(
        '  from "m.onnx"\n  reads age\n  reads income # error: E0412\n  grant when score > 0'
    ),
    "features of a formula": model("  score = age\n  reads age # error: E0412\n  grant when score > 0"),
    "no favourable outcome": "domain Applicant { sex : boolean }\nprotected sex\n"
    "model approve : Applicant -> { reject, grant } # error: E0412\n  grant when sex\n"
    "distribution people over Applicant uniform\n"
    "property p { across sex under people require impact_ratio >= 80% measure least_favoured }",
}


@each(INCOMPLETE)
def test_a_model_says_everything_once(text: str, tmp_path: Path) -> None:
    assert_found_as_marked(text, tmp_path)


INDEFINITE = {
    "half a class": model('  from "m.onnx"\n  grant when class = 0.5 # error: E0415'),
    "a label without quotation marks": model('  from "m.onnx"\n  grant when class = good # error: E0415'),
    "a label for two outcomes": model(
        '  from "m.onnx"\n  grant when class = 1\n  reject when class = 1 # error: E0415'
    ),
    "two labels of one outcome": model(
        '  from "m.onnx"\n  grant when class = 1\n  grant when class = 2 # error: E0415'
    ),
    "a class of one of three": model('  from "m.onnx"\n  high when class = 1 # error: E0415', "low, middle, high"),
    "a score that is a text": model('  from "m.onnx"\n  grant when score > "high" # error: E0415'),
    "the probability of half a class": model(
        '  from "m.onnx"\n  grant when probability(class = 0.5) > 0.5 # error: E0415'
    ),
    "an order of classes": model('  from "m.onnx"\n  grant when class >= 1 # error: E0415'),
    "an exact score": model('  from "m.onnx"\n  grant when score = 1 # error: E0415'),
    "an exact probability": model('  from "m.onnx"\n  grant when probability != 0.5 # error: E0415'),
    "an attribute of a file's model": model('  from "m.onnx"\n  grant when income >= 3 # error: E0415'),
    "a moving threshold": model('  from "m.onnx"\n  grant when score > income # error: E0415'),
    "two conditions": model('  from "m.onnx"\n  grant when score > 0 and age >= 1 # error: E0415'),
    "three outcomes": model('  from "m.onnx"\n  high when score > 0 # error: E0415', "low, middle, high"),
    "three outcomes of a rule": model("  high when age >= 2 # error: E0415", "low, middle, high"),
    "the highest of one": model("  score = age\n  decide by highest score # error: E0415"),
}


@each(INDEFINITE)
def test_a_decision_rule_is_definite(text: str, tmp_path: Path) -> None:
    assert_found_as_marked(text, tmp_path)


# ---- attributes with the names of the model's own numbers ----------------------------------------


@pytest.mark.parametrize("name", ["score", "probability", "class"])
def test_an_attribute_with_the_name_of_a_number_is_qualified(name: str, tmp_path: Path) -> None:
    text = DOMAIN.replace("age ", name) + (
        f"model approve : Applicant -> {{ reject, grant }}\n  grant when Applicant.{name} >= 2 and old\n"
    )
    source = checked(text, tmp_path).models["approve"].declaration.source
    assert isinstance(source, InlineScore)


def test_unqualified_it_is_the_number(tmp_path: Path) -> None:
    text = model('  from "m.onnx"\n  grant when score > 0').replace("age ", "score")
    assert isinstance(checked(text, tmp_path).models["approve"].declaration.decision, WhenScore)


def test_a_lone_comparison_that_could_be_either_is_an_error_with_a_hint(tmp_path: Path) -> None:
    text = model("  grant when score > 2 # error: E0412").replace("age ", "score")
    (finding,) = assert_found_as_marked(text, tmp_path)
    assert "`Applicant.score`" in (finding.help or "")


def test_so_is_one_inside_a_rule(tmp_path: Path) -> None:
    text = model("  grant when old and score > 2 # error: E0415").replace("age ", "score")
    (finding,) = assert_found_as_marked(text, tmp_path)
    assert "`Applicant.score`" in (finding.help or "")


def test_the_missing_rule_is_written_out(tmp_path: Path) -> None:
    (finding,) = findings(model("  score = age"), tmp_path)
    assert "`grant when score > 0`" in (finding.help or "")


OF_TWO_MODELS = """
domain P {
  sex : category { female, male }
  n : integer 0 .. 9
}
protected sex
model old : P -> { no, yes }
  score = n - 5
  yes when score > 0
  favourable yes
model new : P -> { no, yes }
  score = m + 2 * (sex = female) - 5  # error: E0203
  yes when score > 0
  favourable yes
distribution everybody over P
  uniform
property of_groups {
  across sex
  under everybody
  measure acceptance_rate of old, acceptance_rate of new
}
property of_pairs {
  compare a, b : P
  differ in sex
  model old
  require same decision
  require new(a) = old(b)
}
"""


def test_of_what_is_demanded_of_a_broken_model_the_model_alone_is_said(tmp_path: Path) -> None:
    assert_found_as_marked(OF_TWO_MODELS, tmp_path)
