"""Instances written by hand: textbook counts, and mistakes that are told with their place."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import fairdsl
from fairdsl.backends.contract import Budget, Silent
from fairdsl.backends.subset_sum.instance import answered
from fairdsl.backends.subset_sum.instance_read import read_instance
from fairdsl.cli.app import cli
from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.expr import Relation
from fairdsl.verdict import Reason, Unknown, Value
from tests.drawing import examples

F = Fraction
RELAXED = settings(
    max_examples=examples(0.7),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


def solved(path: Path) -> Any:
    return answered(read_instance(path), Budget.of(20.0), Silent())


def by_hand(weights: list[int], target: int, relation: str = "=") -> dict[str, Any]:
    """Of all subsets, each alike, the share whose sum is the target."""
    names = [f"item {number}" for number in range(len(weights))]
    return {
        "schema": "fairdsl.subset-sum/2",
        "question": {"metric": "acceptance_rate"},
        "event": {"relation": relation, "threshold": target},
        "distributions": [
            {
                "columns": [{"name": n, "cells": 2, "adds": [0, w]} for n, w in zip(names, weights, strict=True)],
                "factors": [{"column": n, "probabilities": ["1/2", "0.5"]} for n in names],
            }
        ],
    }


def put(document: dict[str, Any], folder: Path) -> Path:
    path = folder / "hand.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def test_a_textbook_count_of_subset_sums(tmp_path: Path) -> None:
    """{3, 34, 4, 12, 5, 2}: 4 + 5 and 3 + 4 + 2 are 9, and no other of the 64 subsets is."""
    found = fairdsl.solve(put(by_hand([3, 34, 4, 12, 5, 2], 9), tmp_path)).found.verdict
    assert isinstance(found, Value)
    assert found.low == found.high == F(2, 64)


@pytest.mark.parametrize("relation", ["=", "!=", ">=", ">"])
@given(weights=st.lists(st.integers(-9, 9), min_size=1, max_size=7), target=st.integers(-12, 12))
@RELAXED
def test_counts_of_subset_sums(tmp_path: Path, relation: str, weights: list[int], target: int) -> None:
    sums = [sum(chosen) for chosen in product(*((0, weight) for weight in weights))]
    count = sum(Relation(relation).compares(F(one), F(target)) for one in sums)
    found = solved(put(by_hand(weights, target, relation), tmp_path))
    assert (found.low, found.high) == (F(count, len(sums)),) * 2


@pytest.mark.parametrize(("metric", "best"), [("most_favoured", max), ("least_favoured", min)])
@given(data=st.data())
@RELAXED
def test_quantified_columns_are_those_of_groups(
    tmp_path: Path, metric: str, best: Callable[[list[Fraction]], Fraction], data: st.DataObject
) -> None:
    """Existential with the largest rate, universal with the least; a random column may depend on the choice."""
    weights = data.draw(st.lists(st.integers(-5, 5), min_size=4, max_size=4))
    target = data.draw(st.integers(-6, 8))
    tenths = data.draw(st.lists(st.integers(0, 10), min_size=3, max_size=3))
    document = by_hand(weights, target, ">=")
    document["question"] = {"metric": metric, "across": ["item 0", "item 1"]}
    document["population"] = {
        "columns": [{"name": f"item {each}", "type": {"kind": "boolean"}, "cells": [0, 1]} for each in (0, 1)]
    }
    for column in document["distributions"][0]["columns"][:2]:
        column["key"] = [0, 1]
    likely = [F(number, 10) for number in tenths]
    table = [str(share) for each in likely[:2] for share in (1 - each, each)]
    document["distributions"][0]["factors"][2] = {"column": "item 2", "given": ["item 1"], "probabilities": table}
    factor(document, 3).update(probabilities=[str(1 - likely[2]), str(likely[2])])

    def rate(a: int, b: int) -> Fraction:
        return sum(
            (likely[b] if c else 1 - likely[b]) * (likely[2] if d else 1 - likely[2])
            for c, d in product((0, 1), repeat=2)
            if a * weights[0] + b * weights[1] + c * weights[2] + d * weights[3] >= target
        ) + F(0)

    found = solved(put(document, tmp_path))
    assert found.low == found.high == best([rate(a, b) for a, b in product((0, 1), repeat=2)])


def factor(document: dict[str, Any], number: int) -> dict[str, Any]:
    found: dict[str, Any] = document["distributions"][0]["factors"][number]
    return found


Change = Callable[[dict[str, Any]], object]
MISTAKES: dict[str, Change] = {
    "event": lambda d: d["event"].update(relation="<"),
    "event.threshold": lambda d: d["event"].pop("threshold"),
    "event.threshold ": lambda d: d["event"].update(threshold=0.5),
    "question.metric": lambda d: d["question"].update(metric="fairness"),
    "question.across[0]": lambda d: d["question"].update(across=["item 0"]),
    "question": lambda d: d["question"].update(metric="odds_gap"),
    "distributions": lambda d: d["distributions"].append(d["distributions"][0]),
    "distributions[0].weights": lambda d: d["distributions"][0].update(weights=[1]),
    "distributions[0].columns[1]": lambda d: d["distributions"][0]["factors"].pop(),
    "distributions[0].columns[1].name": lambda d: d["distributions"][0]["columns"][1].update(name="item 0"),
    "distributions[0].columns[0]": lambda d: d["distributions"][0]["columns"][0]["adds"].append(1),
    "distributions[0].factors[0].probabilities ": lambda d: d["distributions"][0]["factors"][0].update(
        probabilities=["1/2", "1/3"]
    ),
    "distributions[0].factors[0].probabilities": lambda d: d["distributions"][0]["factors"][0].update(
        probabilities=[1]
    ),
    "distributions[0].factors[1].column": lambda d: factor(d, 1).update(column="item 0"),
    "distributions[0].factors[1].probabilities[0]": lambda d: d["distributions"][0]["factors"][1].update(
        probabilities=["1/0", 1]
    ),
}


@pytest.mark.parametrize("place", MISTAKES)
def test_mistakes_are_told_with_their_place(place: str, tmp_path: Path) -> None:
    document = by_hand([1, 2], 2)
    MISTAKES[place](document)
    with pytest.raises(DiagnosticError) as error:
        read_instance(put(document, tmp_path))
    (found,) = error.value.diagnostics
    assert found.code == "E0617"
    assert found.primary is not None
    assert found.primary.text.startswith(f"`{place.strip()}` "), found.primary.text


def test_laws_that_go_round_in_a_circle(tmp_path: Path) -> None:
    document = by_hand([1, 2], 2)
    for one, other in ((0, 1), (1, 0)):
        document["distributions"][0]["factors"][one].update(given=[f"item {other}"], probabilities=["1/2"] * 4)
    with pytest.raises(DiagnosticError) as error:
        read_instance(put(document, tmp_path))
    label = error.value.diagnostics[0].primary
    assert label is not None
    assert label.text == "`distributions[0].factors` have a cyclic dependency"


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"{", b'{"schema": "fairdsl.subset-sum/1"}', b"\xff\xfe", b'{"a": 1, "a": 2}', b"[" * 100000],
)
def test_other_files_are_told_apart(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    path.write_bytes(content)
    with pytest.raises(DiagnosticError) as error:
        read_instance(path)
    assert [found.code for found in error.value.diagnostics] == ["E0617"]


def test_the_command_line(tmp_path: Path) -> None:
    path = str(put(by_hand([3, 34, 4, 12, 5, 2], 9), tmp_path))
    said = CliRunner().invoke(cli, ["solve", path])
    assert said.exit_code == 0
    assert "acceptance rate 3.12%" in said.stdout
    assert "hand" in said.stdout
    refused = CliRunner().invoke(cli, ["solve", path, "--shard", "1/2"])
    assert refused.exit_code == 2
    assert "--shard is about files of interval-job" in " ".join(refused.stderr.split())
    nowhere = CliRunner().invoke(cli, ["solve", path, "-o", str(tmp_path / "hand.json" / "r.json")])
    assert nowhere.exit_code == 2
    assert "E0605" in nowhere.stderr


def test_the_time_may_end(tmp_path: Path) -> None:
    instance = read_instance(put(by_hand([3, 5], 5), tmp_path))
    found = answered(instance, Budget.of(0.0), Silent())
    assert isinstance(found, Unknown)
    assert found.reason is Reason.TIMEOUT


@pytest.mark.parametrize(("place", "value"), [(0, F(1, 32)), (1, F(3, 5))])
def test_the_examples_of_the_documentation(tmp_path: Path, place: int, value: Fraction) -> None:
    text = (Path(__file__).parents[2] / "docs" / "subset-sum.md").read_text(encoding="utf-8")
    examples = re.findall(r"```json\n(.*?)```", text, re.DOTALL)
    assert len(examples) == 2
    found = solved(put(json.loads(examples[place]), tmp_path))
    assert found.low == found.high == value
