"""``when confidence(a) >= 0.9``: what it comes to in the question, in words, and where it says nothing."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from marked_specs import assert_found_as_marked, each, findings, only_property, pairs

from fairdsl.ir.expr import Relation, Who
from fairdsl.ir.question import Pair, Sure
from fairdsl.source import SourceFile
from fairdsl.syntax.format import format_spec
from fairdsl.syntax.parse import parse

RULED = """\
domain Applicant {{ sex : boolean age : integer 18 .. 90 }}
protected sex
model approve : Applicant -> {}
  from "approve.onnx"
  {}
property p {{
  compare a, b : Applicant
  differ in sex
  when confidence(a) {}
  require same decision
}}
"""

CLAUSES = {
    "when confidence(a) >= 0.9": (Sure(who=Who.A, relation=Relation.GE, level=Fraction(9, 10)),),
    "when confidence(b) > 99%": (Sure(who=Who.B, relation=Relation.GT, level=Fraction(99, 100)),),
    "when confidence(b) >= 0.9\n  when confidence(a) >= 0.9": (
        Sure(who=Who.B, relation=Relation.GE, level=Fraction(9, 10)),
        Sure(who=Who.A, relation=Relation.GE, level=Fraction(9, 10)),
    ),
}


@pytest.mark.parametrize("text", CLAUSES)
def test_the_question_asks_what_is_written(text: str, tmp_path: Path) -> None:
    (demand,) = only_property(pairs(f"  {text}"), tmp_path).demands
    assert isinstance(demand.question, Pair)
    assert demand.question.sure == CLAUSES[text]
    assert demand.beyond == ()
    # Two levels make an ordered question of it, unless they are the same.
    assert demand.question.symmetric is (len(CLAUSES[text]) == 2)


def test_the_clause_is_listed_said_and_written_as_a_formula(tmp_path: Path) -> None:
    found = only_property(pairs("  when confidence(a) >= 90%\n  when confidence(b) > 0.55"), tmp_path)
    assert found.clauses[-2:] == ("when confidence(a) >= 0.9", "when confidence(b) > 0.55")
    assert (
        "where `approve` gives `a` its decision with a probability of at least 0.9 and `b` its decision with a "
        "probability of more than 0.55, get the same decision" in found.sentence
    )
    assert "confidence(a) >= 0.9 and confidence(b) > 0.55 => " in found.formula
    both = only_property(
        pairs("  when confidence(a) >= 90%\n  when confidence(b) >= 0.9\n  among a.age > 20"), tmp_path
    )
    assert (
        "where a.age > 20, where `approve` gives each of the two its decision with a probability of at least 0.9, get"
        in both.sentence
    )


WRONG = {
    "another relation": "when confidence(a) <= 0.9 # error: E0414",
    "of nobody": "when confidence(c) >= 0.9 # error: E0414",
    "of two at once": "when confidence(a) >= 0.9 and confidence(b) >= 0.9 # error: E0414",
    "of the difference": "when confidence(a) - confidence(b) >= 0.1 # error: E0414",
    "a percentage without its sign": "when confidence(a) >= 90 # error: E0303",
    "never met": "when confidence(a) >= 100% # error: E0303",
    "never above one": "when confidence(a) > 1 # error: E0303",
    "always met": "when confidence(a) >= 0 # error: E0303",
    "always above zero": "when confidence(a) > 0% # error: E0303",
    "twice": "when confidence(a) >= 0.9\n  when confidence(a) >= 0.8 # error: E0201",
}


@each({name: pairs(f"  {text}") for name, text in WRONG.items()})
def test_a_clause_says_something_about_one_of_the_two(text: str, tmp_path: Path) -> None:
    """Trap 2: a clause that restricts nothing, or everything, looks like one that does."""
    assert_found_as_marked(text, tmp_path)


RULES = {
    "two classes": ("{ reject, grant }", "grant when class = 1", "1/2"),
    "three scores": ("{ reject, wait, grant }", "decide by highest score", "1/3"),
    "a probability": ("{ reject, grant }", "grant when probability >= 30%", "3/10"),
    "a high probability": ("{ reject, grant }", "grant when probability >= 80%", "1/5"),
}


@pytest.mark.parametrize(("outcomes", "rule", "least"), list(RULES.values()), ids=list(RULES))
def test_a_level_that_every_decision_has_is_none(outcomes: str, rule: str, least: str, tmp_path: Path) -> None:
    """Trap 2: a clause that restricts nothing."""

    def codes(condition: str) -> list[str]:
        return [finding.code for finding in findings(RULED.format(outcomes, rule, condition), tmp_path)]

    below, above = (Fraction(least) + step for step in (Fraction(-1, 1000), Fraction(1, 1000)))
    assert codes(f">= {float(below)}") == codes(f"> {float(below)}") == ["E0303"]
    assert codes(f">= {float(above)}") == []
    if "/3" not in least:
        assert codes(f">= {float(Fraction(least))}") == ["E0303"]
        assert codes(f"> {float(Fraction(least))}") == []


def test_formatting_keeps_the_clause() -> None:
    text = pairs("  when confidence( a )>=90%")
    formatted = format_spec(parse(SourceFile("spec.fair", text)).spec)
    assert "when confidence(a) >= 90%" in formatted
    assert format_spec(parse(SourceFile("spec.fair", formatted)).spec) == formatted
