"""Proofs by what a model reads: right by definition, and given before anybody searches."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fairdsl
from fairdsl.backends.contract import Budget, Facts, Offer, Silent
from fairdsl.ir.alike import apart, computed_alike
from fairdsl.ir.ensemble import attributes_of
from fairdsl.ir.exact_array import ExactArray
from fairdsl.ir.expr import Relation
from fairdsl.ir.model import read_attributes
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Pair, Quantity, ScoreGap
from fairdsl.plan.negotiate import Structure
from fairdsl.verdict import Holds, Judgement, Vacuous
from tests.agreement.engines import about_somebody
from tests.builders import domain, integer, layer, model, problem, score
from tests.drawing import examples
from tests.models.tree_files import Branch, Leaf, regressor, tree_file
from tests.oracle import truth
from tests.strategies import problems
from tests.tree_strategies import tree_problems


def blind(drawn: Problem) -> Problem:
    """The problem of a model that gives no weight to whatever the two may differ in."""
    first = drawn.model.layers[0]
    assert isinstance(drawn.question, Pair)
    idle = [bool(attributes_of(item) & apart(drawn.question)) for item in drawn.model.inputs]
    rows = [
        [Fraction(0) if unread else w for w, unread in zip(row, idle, strict=True)]
        for row in first.weight.exact.tolist()
    ]
    seeing = replace(first, weight=ExactArray.from_fractions(rows))
    return replace(drawn, model=replace(drawn.model, layers=(seeing, *drawn.model.layers[1:])))


@settings(max_examples=examples(0.5))
@given(st.one_of(problems(quantity=Quantity.HOLDS), tree_problems(Quantity.HOLDS)), st.booleans())
def test_whoever_is_computed_alike_is_treated_alike(drawn: Problem, blinded: bool) -> None:
    asked = blind(drawn) if blinded else drawn
    assert isinstance(asked.question, Pair)
    offer = Structure().offer(asked)
    assert isinstance(offer, Offer) == computed_alike(asked)
    if not isinstance(offer, Offer):
        assert not blinded or isinstance(asked.question.demand, ScoreGap)  # a gap that has to be below 0
        return
    known = truth(asked)
    verdict = about_somebody(asked, Structure().answer(asked, Facts(), Budget.of(20.0), Silent()))
    assert isinstance(verdict, Holds if known.total else Vacuous)
    assert known.holds


def test_a_weight_of_zero_on_every_way_is_read_by_nobody() -> None:
    people = domain(age=integer(0, 3), debt=integer(0, 3))
    assert computed_alike(problem(people, score([1, 0]), 1))
    assert not computed_alike(problem(people, score([1, 0]), 0, 1))
    hidden = model(layer([[1, 0], [0, 1]], [0, 0]), layer([[1, 0]], [0], 1), attributes=2)
    assert read_attributes(hidden) == {0}
    assert computed_alike(problem(people, hidden, 1))


@pytest.mark.parametrize(("relation", "limit", "alike"), [("<=", 0, True), ("<", 0, False), ("<", 1, True)])
def test_two_equal_scores_meet_a_gap(relation: str, limit: int, alike: bool) -> None:
    people = domain(age=integer(0, 3), debt=integer(0, 3))
    demand = ScoreGap(relation=Relation(relation), limit=Fraction(limit))
    assert computed_alike(problem(people, score([1, 0]), 1, demand=demand)) is alike


SPEC = """fair 1
domain Person {
  age : integer 0 .. 9
  sex : category { F, M }
}
model m : Person -> { no, yes }
  yes when score > 3
  score = age
protected sex
property same {
  compare a, b : Person
  differ in sex
  require same decision
}
"""


def test_it_comes_before_every_search(tmp_path: Path) -> None:
    path = tmp_path / "spec.fair"
    path.write_text(SPEC)
    (found,) = fairdsl.check(str(path)).properties[0].demands
    assert isinstance(found.verdict, Holds)
    assert found.verdict.evidence.backend == "structure"
    (forced,) = fairdsl.check(str(path), backend="enumerate").properties[0].demands
    assert forced.verdict.evidence.backend == "enumerate"


@pytest.mark.parametrize(("border", "backend"), [(9, "structure"), (4, "search")])
def test_of_a_tree_what_somebody_reaches_counts(border: int, backend: str, tmp_path: Path) -> None:
    """Its test of the sex stands where ages are above the border: there is nobody above nine."""
    low, high = Leaf(((0, 0.0),)), Leaf(((0, 9.0),))
    asks_sex = Branch("BRANCH_LEQ", 1, 0.5, low, high)
    tree = Branch("BRANCH_LEQ", 0, float(border), Branch("BRANCH_LEQ", 0, 3.0, low, high), asks_sex)
    onnx.save(tree_file([regressor([tree])], outputs=("y",), width=2), str(tmp_path / "tree.onnx"))
    path = tmp_path / "spec.fair"
    path.write_text(SPEC.replace("  score = age\n", "").replace("  yes when", '  from "tree.onnx"\n  yes when'))
    (found,) = fairdsl.check(str(path)).properties[0].demands
    assert found.backend == backend
    assert (found.judgement is Judgement.HOLDS) == (backend == "structure")
