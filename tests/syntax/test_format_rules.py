"""The layout of lists of rules, and the words that may mean something else."""

from __future__ import annotations

from difflib import ndiff

import pytest

from fairdsl.source import SourceFile
from fairdsl.syntax import tree
from fairdsl.syntax.format import format_spec
from fairdsl.syntax.parse import parse

HEADER = "model triage : Person -> { release, detain }\n"


def read(text: str) -> tree.Spec:
    result = parse(SourceFile("spec.fair", text))
    assert result.diagnostics == ()
    assert result.spec is not None
    return result.spec


def laid_out(clauses: str) -> str:
    text = format_spec(read(HEADER + clauses))
    assert format_spec(read(text)) == text
    assert text.startswith(HEADER)
    return text.removeprefix(HEADER)


def clauses_of(text: str) -> tuple[tree.ModelClause, ...]:
    (model,) = read(HEADER + text).items
    assert isinstance(model, tree.Model)
    return model.clauses


def test_nothing_is_aligned() -> None:
    assert laid_out("first detain when priors>3 then release when age >= 45 # of age\notherwise   release\n") == (
        "  first detain when priors > 3\n  then release when age >= 45  # of age\n  otherwise release\n"
    )


def test_comments_keep_their_place_and_long_conditions_are_broken_behind_when() -> None:
    text = laid_out(
        "first detain when priors > 3\n# the young\nthen detain when age < 25 and (charge = felony or charge = "
        "misdemeanour) and priors in { 1, 2, 3 } and income <= 20000\notherwise release"
    )
    assert text == (
        "  first detain when priors > 3\n"
        "  # the young\n"
        "  then detain when age < 25\n"
        "      and (charge = felony or charge = misdemeanour)\n"
        "      and priors in { 1, 2, 3 }\n"
        "      and income <= 20000\n"
        "  otherwise release\n"
    )


def test_an_outcome_called_when_gets_parentheses() -> None:
    text = laid_out("first when when age > 3\notherwise when")
    assert text == "  first when when (age > 3)\n  otherwise when\n"
    assert [type(clause) for clause in clauses_of(text)] == [tree.Rule, tree.Otherwise]


@pytest.mark.parametrize("word", ["first", "then", "otherwise"])
def test_an_outcome_may_be_called_as_a_rule_begins(word: str) -> None:
    (clause,) = clauses_of(f"  {word} when score > 0")
    assert isinstance(clause, tree.DecidesWhen)
    assert clause.outcome.text == word
    # An attribute called `when`: what follows it tells.
    (clause,) = clauses_of(f"  {word} when when > 3")
    assert isinstance(clause, tree.DecidesWhen)
    rule, end = clauses_of(f"  first {word} when {word} = 3\n  otherwise {word}")
    assert isinstance(rule, tree.Rule)
    assert isinstance(end, tree.Otherwise)
    assert rule.outcome.text == end.outcome.text == word


WHOLE = """\
domain Applicant {
  sex : category { female, male }
  age : integer 18 .. 90 bins at 25, 45
  where age >= 20
}

model approve : Applicant -> { reject, grant }
  first reject when age < 25
  otherwise grant
  favourable grant

distribution people over Applicant
  age : normal(40, 10) truncated
  sex : table { female : 0.5, male : 0.5 }

graph causes {
  sex -> age -> approve
}

property p "Alike" {
  compare a, b : Applicant
  differ in sex
  require same decision
}
"""
ONE_MORE = {
    "  where age >= 20": '  a_very_long_name_of_an_attribute : boolean column "A header"',
    "  otherwise grant": "  then reject when a_very_long_name_of_an_attribute",
    "  sex : table { female : 0.5, male : 0.5 }": "  a_very_long_name_of_an_attribute : bernoulli(0.3)",
    "  sex -> age -> approve": "  a_very_long_name_of_an_attribute -> age -> sex -> approve",
    "  require same decision": "  regardless of a_very_long_name_of_an_attribute",
}


@pytest.mark.parametrize("before", ONE_MORE)
def test_one_more_is_one_line_more(before: str) -> None:
    """So that the difference of two audits shows what changed and nothing else."""
    more = format_spec(read(WHOLE.replace(before, f"{ONE_MORE[before]} {before}")))
    changed = [line for line in ndiff(WHOLE.splitlines(), more.splitlines()) if line[0] in "+-"]
    assert format_spec(read(WHOLE)) == WHOLE
    assert changed == [f"+ {ONE_MORE[before]}"]
