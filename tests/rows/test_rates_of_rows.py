"""Metrics of groups over the rows of a table: by hand, and of forests whose votes tie, against onnxruntime itself."""

from __future__ import annotations

import csv
import random
from fractions import Fraction
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest

import fairdsl
from fairdsl.backends.contract import Budget, Facts, Refusal, Silent
from fairdsl.backends.rows import OverRows
from fairdsl.codec import plain
from fairdsl.ir.domain import Attribute, Domain, Integer
from fairdsl.ir.exact_rows import ExactRows
from fairdsl.ir.expr import Compare, Linear, Member, Relation, Variable
from fairdsl.ir.model import Model
from fairdsl.ir.population import Rows, Sample
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import GroupMetric, Quantity
from fairdsl.prelude import metric_named
from fairdsl.report.model import Interval
from fairdsl.report.text import render
from fairdsl.verdict import Judgement, Reason, Value
from tests.models.tree_files import Branch, Leaf, Tree, regressor, sums, tree_file
from tests.subset_sum.laws import booleans, linear

F = Fraction
ZERO, ONE = F(0), F(1)


def rows_of(values: list[list[float]], columns: tuple[Attribute, ...], has_label: bool = False) -> Rows:
    sample = Sample(path="rows.csv", sha256="", values=ExactRows.of_floats(values))
    return Rows(name="rows", columns=columns, sample=sample, has_label=has_label)


def about_rows(rows: Rows, model: Model, *across: int, metric: str = "parity_gap", **clauses: object) -> Problem:
    attributes = rows.columns[:-1] if rows.has_label else rows.columns
    found = metric_named(metric, privileged="privileged" in clauses)
    return Problem(
        name="p",
        domain=Domain(
            name="People",
            attributes=attributes,
            where=Member(variable=Variable(0), values=frozenset({ZERO, ONE})),
        ),
        model=model,
        question=GroupMetric(metric=found, across=across, population="rows", **clauses),  # type: ignore[arg-type]
        quantity=Quantity.METRIC,
        population=rows,
    )


def value(problem: Problem) -> Value:
    found = OverRows().answer(problem, Facts(), Budget.of(20.0), Silent())
    assert isinstance(found, Value), found
    return found


def test_rows_are_counted() -> None:
    columns = (*booleans("A"), Attribute(name="n", type=Integer(low=0, high=4)))
    table = [[0, 0], [0, 3], [0, 4], [1, 3], [1, 2]]
    found = value(about_rows(rows_of(table, columns), linear([0, 1], 3), 0))
    assert found.low == found.high == F(2, 3) - F(1, 2)
    assert [(rate.low, rate.rows) for rate in found.rates] == [(F(2, 3), 3), (F(1, 2), 2)]
    only = Compare(left=Linear.of({Variable(1): ONE}, F(-3)), relation=Relation.LE)
    within = value(about_rows(rows_of(table, columns), linear([0, 1], 3), 0, given=only))
    assert within.low == 0
    # Read with every value of n alike, 2 of 5 pass in both groups.
    changed = value(about_rows(rows_of(table, columns), linear([0, 1], 3), 0, influence=(1,)))
    assert changed.low == changed.high == F(2, 3) - F(1, 2)
    paths = OverRows().offer(about_rows(rows_of(table, columns), linear([0, 1], 3), 0, metric="path_specific_gap"))
    assert isinstance(paths, Refusal)
    assert "need a graph" in paths.why


def test_labels_of_rows() -> None:
    columns = (*booleans("A", "X"), *booleans("Y"))
    table = [[0, 1, 1], [0, 0, 1], [0, 1, 0], [1, 1, 1], [1, 0, 0], [1, 0, 0]]
    problem = about_rows(rows_of(table, columns, has_label=True), linear([0, 1], 1), 0, metric="odds_gap")
    found = value(problem)
    # Label 1: 1/2 against 1; label 0: 1 against 0. One rule, two laws.
    assert found.low == found.high == 1


# ---- votes that tie --------------------------------------------------------------------------------

SPEC = """
domain Applicant {
  sex  : category { female, male }
  age  : integer 0 .. 9
  debt : integer 0 .. 9
}
protected sex
distribution rows over Applicant
  empirical from "rows.csv"
model m : Applicant -> { no, yes }
  from "m.onnx"
  yes when score > 0.5
  favourable yes
property groups {
  across sex
  under rows
  measure parity_gap, acceptance_rate
  require parity_gap <= LIMIT
}
property units {
  compare a, b : Applicant
  differ in sex
  under rows
  measure discrimination_rate
}
"""

Row = tuple[int, int, int]


def voters(rng: random.Random) -> list[Tree]:
    """A forest of an even number of trees, whose votes are such parts of 1 as float32 rounds, and often tie."""
    count = 2 * rng.randint(20, 60)
    vote = float(np.float32(1 / count))

    def stump() -> Tree:
        yes, no = Leaf(((0, vote),)), Leaf(((0, rng.choice((0.0, 0.0, vote / 2))),))
        sides = (yes, no) if rng.random() < 0.5 else (no, yes)
        return Branch("BRANCH_LEQ", rng.randrange(3), rng.randrange(9) + 0.5, *sides)

    return [stump() for _ in range(count)]


def runs(path: Path, rows: list[Row]) -> list[set[bool]]:
    """What the file says of every row: alone and among all others, in one thread and in two."""
    distinct, where = np.unique(np.array(rows, dtype=np.float32), axis=0, return_inverse=True)
    found: list[set[bool]] = [set() for _ in distinct]
    for threads in (1, 2):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        for batch in (1, len(distinct)):
            parts = [distinct[start : start + batch] for start in range(0, len(distinct), batch)]
            scores = np.concatenate([session.run(["y"], {"x": part})[0].ravel() for part in parts])
            for answers, score in zip(found, scores.tolist(), strict=True):
                answers.add(score > np.float32(0.5))
    return [found[place] for place in where.ravel()]


def gap(rates: list[tuple[F, F]]) -> tuple[F, F]:
    """Of two groups, whose rates lie between two numbers each."""
    (low, high), (other_low, other_high) = rates
    return max(F(0), low - other_high, other_low - high), max(high - other_low, other_high - low)


def rated(rows: list[Row], sure: list[bool], possible: list[bool]) -> list[tuple[F, F]]:
    found = []
    for sex in (0, 1):
        of_group = [place for place, row in enumerate(rows) if row[0] == sex]
        found.append(tuple(F(sum(marks[place] for place in of_group), len(of_group)) for marks in (sure, possible)))
    return found  # type: ignore[return-value]


def ends(interval: Interval | None) -> tuple[F, F]:
    assert interval is not None
    assert interval.low is not None
    assert interval.high is not None
    return interval.low, interval.high


@pytest.mark.parametrize("seed", [0, 2, 5, 7])
def test_rates_are_those_of_the_file_as_well(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    forest = voters(rng)
    onnx.save(tree_file([regressor(forest)], outputs=("y",)), tmp_path / "m.onnx")
    everybody = [(sex, age, debt) for sex in (0, 1) for age in range(10) for debt in range(10)]
    # Rows whose votes tie, as far as there are any, among others; some of them twice.
    tied = [row for row in everybody if abs(sums(forest, [F(value) for value in row], 1)[0] - F(1, 2)) < F(1, 10**5)]
    table = [rng.choice(everybody) for _ in range(60)] + rng.sample(tied, min(12, len(tied))) + [(0, 1, 2), (1, 2, 3)]
    rng.shuffle(table)
    with (tmp_path / "rows.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["sex", "age", "debt"])
        writer.writerows([("female", "male")[sex], age, debt] for sex, age, debt in table)
    exactly = [sums(forest, [F(value) for value in row], 1)[0] > F(1, 2) for row in table]
    filed = runs(tmp_path / "m.onnx", table)
    sure, possible = [said == {True} for said in filed], [True in said for said in filed]
    exact, deployed = gap(rated(table, exactly, exactly)), gap(rated(table, sure, possible))
    low, high = min(exact[0], deployed[0]), max(exact[1], deployed[1])
    limit = (low + high) / 2
    (tmp_path / "spec.fair").write_text(SPEC.replace("LIMIT", f"{float(limit):.12f}"))
    report = fairdsl.check(tmp_path / "spec.fair")
    groups, units = report.properties
    parity, rates, required = groups.demands
    assert ends(parity.value) == (low, high)
    assert {by.value: ends(found) for by, found in parity.by_decider.items()} == {"exact": exact, "deployed": deployed}
    marked = [n + 1 for n in range(len(table)) if filed[n] != {exactly[n]}]
    assert [row.row for row in parity.differing] == marked
    for row in parity.differing:
        said = {row.exact, row.deployed} - {None}
        place = row.row - 1
        assert row.values == {
            "sex": ("female", "male")[table[place][0]],
            "age": table[place][1],
            "debt": table[place][2],
        }
        assert said <= {"yes" if found else "no" for found in filed[place] | {exactly[place]}}
    if high - low > F(1, 10**6):
        assert required.judgement is Judgement.UNKNOWN
        assert required.reason is Reason.NUMERIC_GAP
        text = render(report)
        assert "exact arithmetic" in text
        assert f"row {marked[0]}: " in text
    assert rates.value is not None
    # A unit of a row has somebody of either sex; what the file says of them is asked alone and together as well.
    people = [(sex, age, debt) for _, age, debt in table for sex in (0, 1)]
    truly = [sums(forest, [F(value) for value in person], 1)[0] > F(1, 2) for person in people]
    answers = runs(tmp_path / "m.onnx", people)
    pairs = [(answers[n], answers[n + 1]) for n in range(0, len(people), 2)]
    unfair = sum(truly[n] != truly[n + 1] for n in range(0, len(people), 2))
    certain = sum(not a & b for a, b in pairs)
    perhaps = sum(len(a | b) > 1 for a, b in pairs)
    found = ends(units.demands[0].value)
    assert found == (F(min(unfair, certain), len(table)), F(max(unfair, perhaps), len(table)))
    assert plain(report)["properties"][0]["demands"][0]["verdict"]["by_decider"]
