"""The benchmark of group metrics: both ways give the rates that enumeration gives, and faults are found."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
Document = dict[str, Any]


@pytest.fixture
def group(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import group.answers
    import group.attributes
    import group.cases
    import group.learned
    import group.measure
    import group.recursion
    import group.sums

    return group


def enumerated(drawn: Any) -> list[Fraction]:
    """The rates of both groups: one assignment after the other."""
    reached, whole = [Fraction(0)] * 2, [Fraction(0)] * 2
    for values in product((0, 1), repeat=drawn.size):
        mass = Fraction(1)
        for place, value in enumerate(values):
            chance = drawn.chance(place, values)
            mass *= chance if value else 1 - chance
        whole[values[0]] += mass
        if sum(weight * value for weight, value in zip(drawn.weights, values, strict=True)) >= drawn.threshold:
            reached[values[0]] += mass
    return [part / all_of_it for part, all_of_it in zip(reached, whole, strict=True)]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("width", [0, 1, 2, 3])
def test_both_ways_give_the_enumerated_rates(group: Any, seed: int, width: int) -> None:
    drawn = group.sums.correlated(9, width, 5, seed) if width else group.sums.independent(9, 5, seed)
    wanted = enumerated(drawn)
    row = group.measure.measured(drawn, patience=10.0, times=1)
    assert row.passed
    assert row.exact
    assert [low for low, _ in row.rates] == wanted
    assert [group.recursion.rate(drawn, each, 10.0) for each in (0, 1)] == pytest.approx([float(p) for p in wanted])


@pytest.mark.parametrize("decay", [1.0, 0.6])
def test_learned_networks_have_edges_and_the_enumerated_rates(group: Any, decay: float) -> None:
    drawn = group.learned.learned(8, 0, decay=decay)
    assert drawn == group.learned.learned(8, 0, decay=decay)
    assert group.learned.edges_of(drawn) >= 5
    assert not drawn.parents[0]
    assert all(parent < place for place, above in enumerate(drawn.parents) for parent in above)
    assert all(drawn.weights)
    row = group.measure.measured(drawn, patience=10.0, times=1)
    assert row.passed
    assert [low for low, _ in row.rates] == enumerated(drawn)


@pytest.mark.parametrize("width", [1, 2, 4])
def test_drawn_networks_have_the_width_they_say(group: Any, width: int) -> None:
    drawn = group.sums.correlated(40, width, 5, 1)
    scopes = [{place, *above} for place, above in enumerate(drawn.parents)]
    for place in reversed(range(drawn.size)):
        touched = [scope for scope in scopes if place in scope]
        union = set().union(*touched)
        assert len(union) <= width + 1
        scopes = [scope for scope in scopes if place not in scope] + [union - {place}]
    assert max(len(above) for above in drawn.parents) == width


def test_the_recursion_gives_up(group: Any) -> None:
    drawn = group.sums.correlated(40, 2, 100, 0)
    with pytest.raises(group.recursion.GivenUpError):
        group.recursion.rate(drawn, 0, 0.0)


def test_a_row_fails_where_the_ways_differ_or_rates_are_wide(group: Any) -> None:
    row = group.measure.measured(group.sums.independent(9, 5, 0), patience=10.0, times=1)
    assert not replace(row, difference=1e-6).passed
    (low, high), other = row.rates
    assert not replace(row, rates=((low, high + Fraction(1, 10**6)), other)).passed


def test_a_drawn_sum_that_is_not_the_one_asked_is_noticed(group: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    honest: Callable[..., float] = group.measure.rate
    monkeypatch.setattr(
        group.measure,
        "rate",
        lambda asked, each, seconds: honest(replace(asked, threshold=asked.threshold + 1), each, seconds),
    )
    assert not group.measure.measured(group.sums.independent(9, 5, 0), patience=10.0, times=1).passed


def invented() -> Document:
    """Two bins of age, sex, and a network in which sex decides who is old; rates worked out by hand.

    ``young + 3 old - 2 sex >= 2``: taken for Booleans of their own, both ages at once count as 4.
    """
    return {
        "kind": "linear",
        "groups": {"blocks": [[3]]},
        "original": {"features": ["age", "sex"], "coef": [4.0, -2.0], "intercept": -2.0},
        "variables": [
            {"id": 1, "feature": "age", "test": [">=", 0.1, "<", 0.5], "weight_int": 1, "weight_float": 1.2, "p1": 0.6},
            {"id": 2, "feature": "age", "test": [">=", 0.5, "<=", 1.0], "weight_int": 3, "weight_float": 3, "p1": 0.4},
            {"id": 3, "feature": "sex", "test": [None, 1, "==", None], "weight_int": -2, "weight_float": -2, "p1": 0.5},
        ],
        "threshold_int": 2,
        "threshold_float": 2.0,
        "exclusive_blocks": {"discretised_bins": {"age": [1, 2]}, "one_hot": {}},
        "bayes_net": {"cpts": {"2": {"parents": [3], "p1": [{"given": [0], "p": 0.1}, {"given": [1], "p": 0.9}]}}},
        "reference_independent": [{"assignment": {"3": 0}, "p": 0.4}, {"assignment": {"3": 1}, "p": 0.24}],
        "reference_bayes_net": [{"assignment": {"3": 0}, "p": 0.1}, {"assignment": {"3": 1}, "p": 0.54}],
        "peer": {"Learn_S3P_independent": {"DI": 0.6}, "Learn_dependency_S3P_BN": {"DI": 0.1852}},
        "empirical_test_rates": {"columns": ["sex"], "groups": {"0": {"rate": 0.5}, "1": {"rate": 0.0}}},
    }


@pytest.fixture
def case(group: Any, tmp_path: Path) -> Any:
    (tmp_path / "invented.json").write_text(json.dumps(invented()), encoding="utf-8")
    (tmp_path / "tree.json").write_text(json.dumps({"kind": "decision_tree"}), encoding="utf-8")
    (found,) = group.cases.cases_in(tmp_path)
    return found


@pytest.mark.parametrize("network", [False, True])
def test_the_tool_s_own_question_is_reproduced(group: Any, case: Any, network: bool) -> None:
    row = group.answers.reproduced(case, network)
    assert row.passed
    assert row.groups == 2
    key = "reference_bayes_net" if network else "reference_independent"
    case.document[key][0]["p"] += 1e-6
    assert not group.answers.reproduced(case, network).passed


def test_exclusive_bins_by_the_engine_and_cell_by_cell(group: Any, case: Any) -> None:
    readings = group.attributes.Reading
    rows = {reading: list(group.answers.against_cells(case, reading)) for reading in readings}
    assert all(row.passed for found in rows.values() for row in found)
    counted = {reading: [row.counted for row in found] for reading, found in rows.items()}
    assert counted[readings.ROUNDED] == [(Fraction(2, 5), Fraction(2, 5)), (0, 0)]
    # Young is 4 * 0.1 to 4 * 0.5, old is 2 to 4: of the women all may be above 2, and the old are at least.
    assert counted[readings.RANGES] == [(Fraction(2, 5), 1), (0, Fraction(2, 5))]
    assert [(row.raw, row.empirical) for row in rows[readings.EXACT]] == [(0.4, 0.5), (0.24, 0.0)]
    assert not replace(rows[readings.EXACT][0], counted=(Fraction(1, 2), Fraction(1, 2))).passed
