"""The layout of lists of rules, and the words that may mean something else."""

from __future__ import annotations

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


def test_outcomes_and_conditions_stand_in_columns() -> None:
    assert laid_out("first detain when priors>3 then release when age >= 45 # of age\notherwise   release\n") == (
        "  first     detain  when priors > 3\n  then      release when age >= 45  # of age\n  otherwise release\n"
    )


def test_comments_keep_their_place_and_long_conditions_are_broken_behind_when() -> None:
    text = laid_out(
        "first detain when priors > 3\n# the young\nthen detain when age < 25 and (charge = felony or charge = "
        "misdemeanour) and priors in { 1, 2, 3 } and income <= 20000\notherwise release"
    )
    assert text == (
        "  first     detain when priors > 3\n"
        "  # the young\n"
        "  then      detain when age < 25\n"
        "                        and (charge = felony or charge = misdemeanour)\n"
        "                        and priors in { 1, 2, 3 }\n"
        "                        and income <= 20000\n"
        "  otherwise release\n"
    )


def test_an_outcome_called_when_gets_parentheses() -> None:
    text = laid_out("first when when age > 3\notherwise when")
    assert text == "  first     when when (age > 3)\n  otherwise when\n"
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
