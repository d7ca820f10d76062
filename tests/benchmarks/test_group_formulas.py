"""The benchmark of satisfiability: values are those worked out by hand or enumerated, and faults are found."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from itertools import islice, product
from math import prod
from pathlib import Path
from typing import Any

import pytest

from fairdsl.ir.expr import holds
from fairdsl.ir.population import Network
from fairdsl.ir.problem import Problem
from tests.ssat import brute

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
F = Fraction
Document = dict[str, Any]


@pytest.fixture
def group(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import group.formulas
    import group.policies
    import group.prefixes
    import group.trees
    import group.worked

    return group


def invented() -> Document:
    """Accepted are those below 0.3, and of the others men up to 0.7.

    As Booleans of their own: 0.2 + 0.8 * 0.5 of the men. In order: 0.2 + (0.5 - 0.2).
    """
    return {
        "kind": "decision_tree",
        "groups": {"blocks": [[-3], [-4, -5]]},
        "tree": {
            "feature": ["age", None, "sex", "age", None, None, None],
            "threshold": [0.3, -2.0, 0.5, 0.7, -2.0, -2.0, -2.0],
            "left": [1, -1, 3, 4, -1, -1, -1],
            "right": [2, -1, 6, 5, -1, -1, -1],
            "label": [0, 1, 0, 0, 1, 0, 0],
        },
        "variables": [
            {"id": 1, "feature": "age", "test": ["<=", 0.3], "p1": 0.2, "role": "chance"},
            {"id": 2, "feature": "age", "test": ["<=", 0.7], "p1": 0.5, "role": "chance"},
            {"id": 3, "feature": "sex", "test": ["<=", 0.5], "p1": 0.4, "role": "sensitive"},
            {"id": 4, "feature": "race_0", "test": ["<=", 0.5], "p1": 0.4, "role": "sensitive"},
            {"id": 5, "feature": "race_1", "test": ["<=", 0.5], "p1": 0.6, "role": "sensitive"},
        ],
        "cnf_positive": [[1, 3], [1, -3, 2]],
        "reference_independent": [
            {"literals": [-3, -4, 5], "p": 0.2},
            {"literals": [-3, 4, -5], "p": 0.2},
            {"literals": [3, -4, 5], "p": 0.6},
            {"literals": [3, 4, -5], "p": 0.6},
        ],
        "peer": {"Learn_ER_SSAT": {"DI": 1 / 3, "seconds": 0.2}},
    }


@pytest.fixture
def case(group: Any, tmp_path: Path) -> Any:
    (tmp_path / "invented.json").write_text(json.dumps(invented()), encoding="utf-8")
    (tmp_path / "linear.json").write_text(json.dumps({"kind": "linear"}), encoding="utf-8")
    (found,) = group.trees.tree_cases_in(tmp_path)
    return found


def test_a_tree_as_the_tool_asks(group: Any, case: Any) -> None:
    row = group.formulas.raw(case)
    assert (row.least, row.most) == (F(1, 5), F(3, 5))
    assert row.passed
    assert not replace(row, seconds=1.0).passed
    case.document["reference_independent"][0]["p"] += 1e-6
    assert not group.formulas.raw(case).passed


def test_the_file_s_clauses_are_what_is_asked(group: Any, case: Any) -> None:
    case.document["cnf_positive"][1] = [1, -3]
    assert not group.formulas.raw(case).passed


def test_a_tree_asked_of_people(group: Any, case: Any) -> None:
    people = group.trees.People(case=case)
    assert people.rates() == {(0, 0): F(1, 5), (0, 1): F(1, 5), (1, 0): F(1, 2), (1, 1): F(1, 2)}
    assert people.literals((0, 1)) == {-3, 4, -5}
    row = group.formulas.of_people(case)
    assert row.passed
    assert (row.cells, row.impact_ratio) == (12, F(2, 5))


def test_rates_that_differ_from_the_cells_are_noticed(group: Any, case: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = group.trees.People.rates
    monkeypatch.setattr(group.trees.People, "rates", lambda people: {**honest(people), (0, 1): F(1, 5) + F(1, 10**15)})
    assert not group.formulas.of_people(case).passed


def test_frequencies_rise_with_thresholds(group: Any, case: Any) -> None:
    case.document["variables"][1]["p1"] = 0.1
    with pytest.raises(ValueError, match="fall"):
        group.trees.People(case=case).rates()


def test_worked_examples(group: Any, tmp_path: Path) -> None:
    cases = [
        {"id": "sum", "kind": "linear", "rule": "2*A+B-C>=1", "sensitive": ["A"], "p": {"B": "0.5", "C": "0.5"}},
        {"id": "formula", "kind": "cnf", "cnf": "(not F or I)", "p": {"F": "0.5", "I": "0.5"}},
        {"id": "normal", "kind": "linear over Gaussians"},
    ]
    cases[0]["exact"], cases[1]["exact"] = {"A=1": "1", "A=0": "1/4", "SP": "3/4"}, "0.75"
    path = tmp_path / "worked.json"
    path.write_text(json.dumps({"cases": cases}), encoding="utf-8")
    found = list(group.worked.worked_examples(path))
    assert [example.name for example in found] == ["sum", "formula"]
    assert all(example.passed for example in found)
    assert found[0].found == (F(1, 4), F(1))
    assert not replace(found[0], wanted=(F(1, 4), F(1, 2))).passed


def test_every_prefix_once_and_the_definition(group: Any) -> None:
    found = list(group.prefixes.instances(0))
    words = {tuple(each.quantifier for each in asked.prefix) for asked in found}
    assert len(words) == len(found) == 1092
    for asked in islice(found, 0, None, 7):
        assert group.prefixes.value(asked) == brute.value(asked)


def test_a_solver_that_is_wrong_is_noticed(group: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = group.prefixes.Engine

    class Wrong:
        def __init__(self, asked: Any) -> None:
            self.asked = asked

        def solve(self) -> Any:
            first, *rest = self.asked.prefix
            flipped = type(first.quantifier).FORALL if first.quantifier.value == "e" else first.quantifier
            return honest(replace(self.asked, prefix=(replace(first, quantifier=flipped), *rest))).solve()

    monkeypatch.setattr(group.prefixes, "LONGEST", 3)
    assert group.prefixes.compared(0).wrong is None
    monkeypatch.setattr(group.prefixes, "Engine", Wrong)
    assert str(group.prefixes.compared(0).wrong).startswith("e")


def impact(problem: Problem) -> Fraction:
    """The disparate impact, one cell after the other; every cell has to reach one leaf."""
    law = problem.population
    assert isinstance(law, Network)
    (weights,) = problem.model.layers[0].weight.exact.tolist()
    part: dict[tuple[int, ...], Fraction] = {}
    whole: dict[tuple[int, ...], Fraction] = {}
    keys = len(problem.question.across)  # type: ignore[union-attr]
    for cell in product(*(range(len(cells)) for cells in law.cells)):
        mass = prod(
            (
                factor.rows[tuple(cell[parent] for parent in factor.parents)][cell[factor.column]]
                for factor in law.factors
            ),  # type: ignore[index]
            start=F(1),
        )
        reached = [
            weight
            for item, weight in zip(problem.model.inputs, weights, strict=True)
            if holds(item.predicate, lambda variable, at=cell: F(at[variable.attribute]))  # type: ignore[union-attr,misc]
        ]
        assert len(reached) == 1
        whole[cell[:keys]] = whole.get(cell[:keys], F(0)) + mass
        part[cell[:keys]] = part.get(cell[:keys], F(0)) + mass * reached[0]
    rates = [part[key] / mass for key, mass in whole.items()]
    return min(rates) / max(rates)


@pytest.mark.parametrize("drawn", ["tree", "listed"])
def test_drawn_policies_are_answered_with_the_enumerated_value(
    group: Any, drawn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(group.policies, "OTHERS", 1)
    monkeypatch.setattr(group.policies, "VALUES", 4)
    problem = getattr(group.policies, drawn)(3, 2, 0)
    row = group.formulas.grown("small", problem, 20.0)
    assert row.passed
    assert row.enumerated.value == row.learned.value == impact(problem)
    assert not replace(row, states=replace(row.states, value=F(1, 7))).passed
    assert replace(row, states=replace(row.states, value=None, seconds=None)).passed


def test_sizes_grow(group: Any) -> None:
    first = dict(islice(group.formulas.policies(0), 3))
    assert list(first) == ["2 groups, depth 4", "4 groups, depth 4", "16 groups, depth 4"]
    assert [len(problem.model.inputs) for problem in first.values()] == [16] * 3
