"""Instances: a file's answer equals what the engine says of the problem, and damaged files are refused."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import fairdsl
from fairdsl.backends.contract import Budget, Facts, Offer, Refusal, Silent
from fairdsl.backends.rates import Rates
from fairdsl.backends.subset_sum.encoding import SubsetSumInstance
from fairdsl.backends.subset_sum.instance import Instance, answered, instance_of
from fairdsl.backends.subset_sum.instance_file import pack_instance
from fairdsl.backends.subset_sum.instance_read import read_instance
from fairdsl.cli.app import cli
from fairdsl.codec import plain
from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.domain import Attribute, Integer, Real
from fairdsl.ir.exact_rows import ExactRows
from fairdsl.ir.expr import And, Compare, Linear, Relation, Variable
from fairdsl.ir.feature import AttributeInput, IndicatorInput
from fairdsl.ir.population import Cell, Factor, Inside, Network, Normal, Sample
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import MOST_FAVOURED, Excluding
from fairdsl.prelude import metric_named
from fairdsl.solver_files.solve import SolvedFile
from fairdsl.verdict import Refused, Value
from tests.codec.values import damaged
from tests.drawing import examples
from tests.rates.laws import random_laws
from tests.subset_sum.laws import asked, bernoulli, booleans, factor, linear, network, points, value
from tests.subset_sum.test_small_networks import problems

F = Fraction
RELAXED = settings(
    max_examples=examples(0.7),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


def written(problem: Problem, folder: Path) -> Path:
    instance = instance_of(problem, None)
    assert isinstance(instance, Instance), instance
    path = folder / "p.json"
    path.write_bytes(pack_instance(instance))
    return path


def solved(path: Path) -> tuple[Instance, Any]:
    instance = read_instance(path)
    return instance, answered(instance, Budget.of(20.0), Silent())


def same(problem: Problem, folder: Path) -> Instance:
    """The file's answer is that of `check` in every number and word; columns have other places.

    But where models are more than sums of columns, `check` goes by their states.
    """
    instance, found = solved(written(problem, folder))
    expected = Rates().answer(problem, Facts(), Budget.of(20.0), Silent())
    assert type(found) is type(expected)
    if isinstance(expected, Refused):
        assert [d.notes for d in found.diagnostics] == [d.notes for d in expected.diagnostics]
        return instance
    assert isinstance(expected, Value)
    # An instance has no rows behind the tables of a law, so it is silent on how near the law's own rates are to theirs.
    unknown = [note for note in expected.evidence.notes if "its own rates" in note]
    notes = tuple(note for note in expected.evidence.notes if note not in unknown)
    assert len(unknown) <= 1
    if "probabilities of" not in expected.evidence.method:
        assert found.evidence == replace(expected.evidence, notes=notes)
    for name in ("low", "high", "most", "least", "sampling", "confidence", "reason"):
        assert getattr(found, name) == getattr(expected, name), name
    assert [w.notes for w in found.warnings] == [w.notes for w in expected.warnings]
    population = problem.population
    assert population is not None
    assert (found.rates, found.parts, found.excluded) == (expected.rates, expected.parts, expected.excluded)
    return instance


def put(document: dict[str, Any], folder: Path) -> Path:
    path = folder / "hand.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


@RELAXED
@given(problems(), st.data())
def test_random_problems_answer_alike(tmp_path: Path, problem: Problem, data: st.DataObject) -> None:
    metric = data.draw(st.sampled_from(["parity_gap", "impact_ratio", "acceptance_rate", "most_favoured"]))
    question = replace(
        problem.question,
        metric=metric_named(metric),
        excluding=data.draw(st.sampled_from([None, Excluding(rows=None)])),
    )
    same(replace(problem, question=question), tmp_path)


@RELAXED
@given(problems(), st.data())
def test_random_influences_answer_alike(tmp_path: Path, problem: Problem, data: st.DataObject) -> None:
    columns = range(len(problem.domain.attributes))
    chosen = data.draw(st.lists(st.sampled_from(columns), min_size=1, max_size=2, unique=True))
    given_each = data.draw(st.lists(st.sampled_from(columns), max_size=1))
    question = replace(problem.question, influence=tuple(chosen), given_each=tuple(given_each))
    instance = same(replace(problem, question=question), tmp_path)
    assert len(instance.distributions) == 2


@RELAXED
@given(random_laws(6), st.data())
def test_metrics_of_labels_and_rows_answer_alike(tmp_path: Path, law: Network, data: st.DataObject) -> None:
    count = len(law.columns)
    label = law.cells[count - 1]
    metric = data.draw(st.sampled_from(["odds_gap", "opportunity_gap", "predictive_gap"]))
    rows = data.draw(
        st.lists(
            st.tuples(*(st.sampled_from([float(c.low or 0) for c in cells]) for cells in law.cells)),
            min_size=1,
            max_size=40,
        )
    )
    sample = Sample(path="rows.csv", sha256="0", values=ExactRows.of_floats(rows))
    law = replace(law, has_label=True, sample=sample if data.draw(st.booleans()) else None)
    limit = data.draw(st.integers(0, 4)) if law.sample is not None and data.draw(st.booleans()) else None
    problem = asked(
        law,
        linear([data.draw(st.integers(-3, 3)) for _ in range(count - 1)], data.draw(st.integers(-2, 2))),
        0,
        metric=metric,
        deserving=label[data.draw(st.integers(0, len(label) - 1))].low,
        confidence=data.draw(st.sampled_from([None, F(19, 20)])),
        excluding=None if limit is None else Excluding(rows=limit),
    )
    same(problem, tmp_path)


def chain() -> Network:
    """A -> B -> C with skewed chances."""
    return network(
        booleans("A", "B", "C"),
        [
            factor(0, bernoulli(F(2, 5))),
            factor(1, {(0,): bernoulli(F(1, 3)), (1,): bernoulli(F(3, 4))}, (0,)),
            factor(2, {(0,): bernoulli(F(1, 7)), (1,): bernoulli(F(5, 9))}, (1,)),
        ],
    )


@pytest.mark.parametrize(
    "allowed", [frozenset(), frozenset({(0, 1)}), frozenset({(0, None)}), frozenset({(0, 1), (0, None)})]
)
def test_gaps_along_paths(allowed: frozenset[tuple[int, int | None]], tmp_path: Path) -> None:
    problem = asked(
        replace(chain(), causal=True),
        linear([1, 2, 3], 3),
        0,
        metric="path_specific_gap",
        baseline=(F(0),),
        allowed=allowed,
    )
    same(problem, tmp_path)


def test_the_most_favoured_baseline_is_refused() -> None:
    problem = asked(chain(), linear([1, 2, 3], 3), 0, metric="path_specific_gap", baseline=MOST_FAVOURED)
    found = instance_of(problem, None)
    assert isinstance(found, Refusal)
    assert "baseline" in found.why


def test_cells_of_which_nothing_is_known_inside(tmp_path: Path) -> None:
    columns = (*booleans("A"), Attribute(name="age", type=Integer(low=0, high=9)))
    ages = (Cell(low=F(0), high=F(4), inside=Inside.UNKNOWN), Cell(low=F(5), high=F(9), inside=Inside.UNKNOWN))
    law = network(
        columns,
        [factor(0, bernoulli(F(1, 2))), factor(1, {(0,): (F(1, 4), F(3, 4)), (1,): (F(2, 3), F(1, 3))}, (0,))],
        cells=[points((0, 1)), ages],
    )
    old = Compare(relation=Relation.GE, left=Linear.of({Variable(1): F(1)}, F(-3)))
    instance = same(asked(law, linear([2, 1], 6), 0, given=old), tmp_path)
    assert instance.distributions[0].task.readings[1][0] != instance.distributions[0].task.readings[1][1]


def normal(sd: object) -> Network:
    columns = (*booleans("A"), Attribute(name="x", type=Real(low=None, high=None)), *booleans("B"))
    rows = {(0,): Normal(mean=F(1), sd=F(sd)), (1,): Normal(mean=F(-1, 3), sd=F(2))}  # type: ignore[arg-type]
    return network(
        columns,
        [factor(0, bernoulli(F(1, 3))), Factor(column=1, parents=(0,), rows=rows), factor(2, bernoulli(F(2, 7)))],
        cells=[points((0, 1)), (Cell(low=None, high=None, inside=Inside.UNKNOWN),), points((0, 1))],
    )


def test_normal_columns_that_enter_linearly(tmp_path: Path) -> None:
    path = written(asked(normal(F(3, 2)), linear([1, F(1, 2), 2], 1), 0), tmp_path)
    laws_ = json.loads(path.read_text())["distributions"][0]["normal"]["distributions"]
    assert laws_ == [
        {"cells": [0], "mean": "1/2", "variance": "9/16"},
        {"cells": [1], "mean": "-1/6", "variance": "1"},
    ]
    same(asked(normal(F(3, 2)), linear([1, F(1, 2), 2], 1), 0), tmp_path)


def test_a_normal_law_with_a_gap(tmp_path: Path) -> None:
    """Nobody lives where the law is not defined: that part counts neither as favourable nor at all."""
    law = normal(1)
    rows = {(0,): Normal(mean=F(0), sd=F(1))}
    law = replace(law, factors=(law.factors[0], replace(law.factors[1], rows=rows), law.factors[2]))
    problem = asked(law, linear([1, F(1, 2), 2], 0), 2, metric="acceptance_rate")
    instance = same(problem, tmp_path)
    assert instance.distributions[0].task.remainder is not None
    assert instance.distributions[0].task.remainder.conditioned


def test_a_threshold_that_is_no_rational_number(tmp_path: Path) -> None:
    problem = asked(chain(), linear([1, 2, 3], F(29, 10), high=F(31, 10)), 0)
    document = json.loads(written(problem, tmp_path).read_text(encoding="utf-8"))
    assert document["event"] == {"relation": ">=", "threshold": ["29/10", "31/10"]}
    instance = same(problem, tmp_path)
    assert (instance.event.low, instance.event.high) == (F(29, 10), F(31, 10))


def test_cells_that_lie_in_part_within_a_condition(tmp_path: Path) -> None:
    columns = (*booleans("A", "B"), Attribute(name="age", type=Integer(low=0, high=9)))
    ages = (Cell(low=F(0), high=F(4), inside=Inside.UNKNOWN), Cell(low=F(5), high=F(9), inside=Inside.UNKNOWN))
    law = network(
        columns,
        [factor(0, bernoulli(F(1, 2))), factor(1, bernoulli(F(1, 3))), factor(2, (F(1, 4), F(3, 4)))],
        cells=[points((0, 1)), points((0, 1)), ages],
    )
    older = Compare(relation=Relation.GE, left=Linear.of({Variable(1): F(-5), Variable(2): F(1)}, F(-3)))
    inputs = [AttributeInput(0), IndicatorInput(older)]
    problem = asked(law, linear([1, 2], 2, inputs=inputs), 0, metric="acceptance_rate", given=older)
    instance = same(problem, tmp_path)
    task = instance.distributions[0].task
    assert any(table.least != table.most for table in task.chances)
    assert any(clause.low != clause.high for clause in task.clauses)


def test_what_has_no_finite_exact_form_is_refused() -> None:
    reals = Attribute(name="x", type=Real(low=F(0), high=F(1)))
    uniform = (Cell(low=F(0), high=F(1), inside=Inside.UNIFORM),)
    columns = (*booleans("A"), reals, replace(reals, name="y"))
    law = network(
        columns,
        [factor(0, bernoulli(F(1, 2))), factor(1, (F(1),)), factor(2, (F(1),))],
        cells=[points((0, 1)), uniform, uniform],
    )
    one, two = linear([1, 1, 0], 1), linear([1, 1, 1], 1)
    positive = Compare(relation=Relation.GT, left=Linear.of({Variable(1): F(1)}, F(0)))
    reasons = []
    for problem in (asked(law, one, 0), asked(law, two, 0), asked(normal(1), linear([1, 0, 2], 1), 0, given=positive)):
        assert isinstance(Rates().offer(problem), Offer)
        found = SubsetSumInstance().offer(problem)
        assert isinstance(found, Refusal)
        reasons.append(found.why)
    assert len(set(reasons)) == 3


def test_a_condition_over_several_columns(tmp_path: Path) -> None:
    both = Compare(relation=Relation.GE, left=Linear.of({Variable(1): F(1), Variable(2): F(1)}, F(-1)))
    alone = Compare(relation=Relation.LE, left=Linear.of({Variable(0): F(1)}, F(-1)))
    instance = same(asked(chain(), linear([1, 2, 3], 3), 0, given=And((both, alone))), tmp_path)
    assert any(table.column is None for table in instance.distributions[0].task.chances)


def test_the_same_problem_gives_the_same_bytes() -> None:
    problem = asked(chain(), linear([F(1, 3), 2, 3], 3), 0)
    first, second = instance_of(problem, None), instance_of(problem, None)
    assert isinstance(first, Instance)
    assert isinstance(second, Instance)
    assert pack_instance(first) == pack_instance(second)


SPEC = Path(__file__).parents[1] / "golden" / "compile" / "subset-sum" / "spec.fair"


def groups_of(demand: dict[str, Any]) -> dict[str, Any]:
    """All but the time that it took and where it stands."""
    return {name: said for name, said in demand.items() if name not in {"seconds", "span"}}


def test_files_of_a_spec_say_what_check_says(tmp_path: Path) -> None:
    compiled = fairdsl.compile(SPEC, to="subset-sum", directory=tmp_path)
    assert [path.name for path in compiled.files] == ["four_fifths.json", "four_fifths-2.json"]
    assert [found.code for found in compiled.diagnostics] == ["E0603"]
    checked = plain(fairdsl.check(SPEC))["properties"][0]["demands"]
    exits = []
    for path, demand in zip(compiled.files, checked, strict=True):
        ran = CliRunner().invoke(cli, ["solve", str(path), "--json", "-o", str(tmp_path / "report.json")])
        solved = SolvedFile.from_json(ran.stdout)
        exits.append(ran.exit_code)
        assert groups_of(plain(solved.report)["properties"][0]["demands"][0]) == groups_of(demand)
        assert (tmp_path / "report.json").read_text(encoding="utf-8") == ran.stdout
    assert exits == [1, 0]


def placed_or_read(folder: Path, each: int) -> tuple[int, int]:
    """Of damaged instances, how many are refused with a place, and how many are read."""
    problem = asked(chain(), linear([1, 2, 3], F(29, 10), high=F(31, 10)), 0, given_each=(2,))
    documents = [
        json.loads(written(one, folder).read_text(encoding="utf-8"))
        for one in (problem, asked(normal(F(3, 2)), linear([1, F(1, 2), 2], 1), 0))
    ]
    refused = read = 0
    for document in documents:
        del document["sha256"]
        for seed in range(each):
            try:
                instance = read_instance(put(damaged(document, random.Random(seed)), folder))
            except DiagnosticError as error:
                (found,) = error.diagnostics
                assert found.code == "E0617"
                assert found.primary is not None, found
                refused += 1
            else:
                pack_instance(instance)
                read += 1
    return refused, read


def test_damaged_instances_end_in_a_place(tmp_path: Path) -> None:
    refused, read = placed_or_read(tmp_path, 60)
    assert refused > 60
    assert read > 0


@pytest.mark.slow
def test_many_damaged_instances_end_in_a_place(tmp_path: Path) -> None:
    refused, read = placed_or_read(tmp_path, 5_000)
    assert refused + read == 10_000


def test_what_it_was_made_from_needs_a_seal(tmp_path: Path) -> None:
    fairdsl.compile(SPEC, to="subset-sum", directory=tmp_path)
    document = json.loads((tmp_path / "four_fifths.json").read_text(encoding="utf-8"))
    del document["sha256"]
    with pytest.raises(DiagnosticError) as error:
        read_instance(put(document, tmp_path))
    label = error.value.diagnostics[0].primary
    assert label is not None
    assert label.text == "`sha256` is missing"
    del document["asked"]
    _, found = solved(put(document, tmp_path))
    assert found.low == found.high == F(1, 2)


def test_hundreds_of_columns_in_floats(tmp_path: Path) -> None:
    """Too many digits for exact masses: the bounds of float64 are the same to the last digit."""
    draw = random.Random(5)
    count = 150
    law = network(
        booleans("A", *(f"x{place}" for place in range(count))),
        [factor(place, bernoulli(F(draw.randint(1, 9999), 10**4))) for place in range(count + 1)],
    )
    weights = [F(draw.randint(-99, 99), draw.choice([1, 2, 4])) for _ in range(count + 1)]
    problem = asked(law, linear(weights, 7), 0)
    same(problem, tmp_path)
    assert not value(problem).exact


def test_a_changed_instance_is_refused(tmp_path: Path) -> None:
    path = written(asked(chain(), linear([1, 2, 3], 3), 0), tmp_path)
    text = path.read_text(encoding="utf-8")
    assert value(asked(chain(), linear([1, 2, 3], 3), 0)).exact
    changed = json.loads(text)
    changed["event"]["threshold"] = "4"
    with pytest.raises(DiagnosticError) as error:
        read_instance(put(changed, tmp_path))
    assert [found.code for found in error.value.diagnostics] == ["E0618"]
    del changed["sha256"]
    assert isinstance(solved(put(changed, tmp_path))[1], Value)
