"""Proofs of rates of groups: the number is the definition's, whatever the order; what is tampered with is rejected."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from click.testing import CliRunner
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

from fairdsl.backends.contract import Silent
from fairdsl.cli.app import cli
from fairdsl.clock import Deadline
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import GroupMetric
from fairdsl.proving import Proved, prove_spec
from fairdsl.proving.distributions import order_for
from fairdsl.proving.groups import rates_question_of
from fairdsl.proving.question import Unproved
from fairdsl_verify import RejectedError, command, masses, rates
from fairdsl_verify.command import check
from fairdsl_verify.groups import RatesQuestion
from fairdsl_verify.question import Condition
from fairdsl_verify.rates import Number, Rates
from tests.agreement.bank import groups_of_laws, groups_of_rows
from tests.agreement.group_truth import truth
from tests.proving.test_checker_review import chain_file
from tests.proving.test_tree_proofs import forest_file
from tests.rule_strategies import rule_models
from tests.strategies import models

ROOT = Path(__file__).parents[2]


def rates_of(problem: Problem, margin: Fraction | int = 0) -> tuple[Rates, RatesQuestion]:
    """What the checker makes of a problem whose model stands in the question, where scores are off by a margin."""
    question = RatesQuestion({**rates_question_of(problem), "claims": {"low": 0, "high": 0, "margin": str(margin)}})
    assert all(question.words())
    return Rates(question, b""), question


@st.composite
def questions(draw: st.DrawFn) -> Problem:
    """About groups, of models that have proofs."""
    problem = draw(st.one_of(groups_of_laws(), groups_of_rows()))
    model = draw(st.one_of(models(problem.domain, True, widths=(0,)), rule_models(problem.domain)))
    asked = problem.question
    assert isinstance(asked, GroupMetric)
    favourable = draw(st.integers(0, len(model.outcomes) - 1))
    return replace(problem, model=replace(model, favourable=favourable), question=replace(asked, influence=()))


def held(problem: Problem, rng: random.Random) -> None:
    """The number of the checker is that of the definition, by the order that was found and by any other."""
    try:
        found, question = rates_of(problem)
    except Unproved:
        assume(False)
    known = truth(problem).ends
    number: Number | None = None
    try:
        found.follow(order_for(found, Deadline.within(60)))
        number = found.number()
    except RejectedError as error:
        assume("has no row" not in str(error))  # where somebody comes to such cells there is no proof
    assert number == known
    if number is not None:
        columns = list(range(len(question.law.cells)))
        rng.shuffle(columns)
        found.follow([(column, masses.MOST_STATES) for column in columns])
        assert found.number() == known


@settings(max_examples=20)
@given(questions(), st.randoms(use_true_random=False))
def test_the_number_is_the_definitions(problem: Problem, rng: random.Random) -> None:
    held(problem, rng)


@pytest.mark.slow
@settings(max_examples=3000)
@given(questions(), st.randoms(use_true_random=False))
def test_thousands_of_numbers_are_the_definitions(problem: Problem, rng: random.Random) -> None:
    held(problem, rng)


SPEC = """fair 1
audit "rates"
domain Person {{
  age : integer 0 .. 9
  sex : category {{ f = 1, m = 3 }}
  job : category {{ clerk = 0, cook = 2, smith = 3 }}
  where age >= 1 or job != cook
}}
label good : boolean deserving yes
protected sex, job
model m : Person -> {{ no, yes }}
  from "{file}"
  reads age, sex, job
  yes when {when}
  favourable {favourable}
distribution by_hand over Person, good
  sex : table {{ f : 0.4, m : 0.6 }}
  job : table {{ clerk : 0.5, cook : 0.2, smith : 0.3 }} given sex = f
  job : table {{ clerk : 0.1, cook : 0.4, smith : 0.5 }} given sex = m
  age : uniform(0, 6) given job = clerk
  age : uniform(2, 9) given job = cook
  age : uniform(0, 9) given job = smith
  good : table {{ yes : 0.25, no : 0.75 }} given sex = f
  good : table {{ yes : 0.5, no : 0.5 }} given sex = m
property parity {{ across sex under by_hand among age <= 7 measure parity_gap }}
property ratio {{ across sex under by_hand require impact_ratio >= 80% }}
property deserving {{ across sex under by_hand for each job measure opportunity_gap }}
property chosen {{ across sex under by_hand measure predictive_gap }}
"""
Decide = Callable[[Sequence[int]], bool]


def person_masses() -> dict[tuple[int, int, int, bool], Fraction]:
    """Everybody of the distribution, as the spec has it."""
    jobs = {1: {0: "1/2", 2: "1/5", 3: "3/10"}, 3: {0: "1/10", 2: "2/5", 3: "1/2"}}
    ages = {0: range(7), 2: range(2, 10), 3: range(10)}
    return {
        (age, sex, job, good): Fraction(2 if sex == 1 else 3, 5)
        * Fraction(jobs[sex][job])
        / len(ages[job])
        * (Fraction(1, 4) if sex == 1 and good else Fraction(3, 4) if sex == 1 else Fraction(1, 2))
        for sex in (1, 3)
        for job in (0, 2, 3)
        for age in ages[job]
        for good in (True, False)
        if age >= 1 or job != 2
    }


def by_definition(of: str, favoured: Decide) -> Fraction | None:
    """The metric of a property, everybody counted one by one."""

    def part(hit: Callable[[tuple[int, int, int, bool]], bool], among: Callable[..., bool]) -> Fraction | None:
        whole = sum(mass for one, mass in person_masses().items() if among(one))
        return sum(mass for one, mass in person_masses().items() if among(one) and hit(one)) / whole if whole else None

    numbers = []
    for job in (0, 2, 3) if of == "deserving" else (None,):
        rates = []
        for sex in (1, 3):
            own = lambda one, sex=sex, job=job: one[1] == sex and job in (None, one[2])  # noqa: E731
            match of:
                case "parity":
                    rates.append(part(favoured, lambda one, own=own: own(one) and one[0] <= 7))
                case "ratio":
                    rates.append(part(favoured, own))
                case "deserving":
                    rates.append(part(favoured, lambda one, own=own: own(one) and one[3]))
                case "chosen":
                    rates.append(part(lambda one: one[3], lambda one, own=own: own(one) and favoured(one)))
        if None in rates:
            return None
        low, high = min(rates), max(rates)
        if of == "ratio":
            return low / high if high else None
        numbers.append(high - low)
    return max(numbers)


def prove(folder: Path, **words: str) -> tuple[Proved, ...]:
    (folder / "p.fair").write_text(SPEC.format(**words))
    given_ = {"models": {}, "data": {}, "seconds": 60, "observer": Silent()}
    return prove_spec(str(folder / "p.fair"), str(folder), **given_)  # type: ignore[arg-type]


def model_file(rng: random.Random, folder: Path) -> tuple[dict[str, str], Decide]:
    """A random ensemble, or a linear model of a network's file or of a JSON document; how it is read, and decides."""
    kind = rng.choice(("trees", "trees", "network", "json"))
    if kind == "trees":
        when, decide = forest_file(rng, folder / "m.onnx")
        return {"when": when, "file": "m.onnx"}, decide
    relation = rng.choice(("<", "<=", ">", ">="))
    weights, bias = [rng.randint(-8, 8) / 4 for _ in range(3)], rng.randint(-16, 16) / 4
    if kind == "json":
        (folder / "m.json").write_text(json.dumps({"coefficients": weights, "intercept": bias}))
    else:
        tensors = [("w", [weights]), ("b", [bias])]
        made = [numpy_helper.from_array(np.array(values, dtype=np.float32), name) for name, values in tensors]
        ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, ["N", w]) for n, w in (("x", 3), ("y", 1))]
        nodes = [helper.make_node("Gemm", ["x", "w", "b"], ["y"], transB=1)]
        graph = helper.make_graph(nodes, "g", ends[:1], ends[1:], made)
        made_of = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        onnx.save(made_of, folder / "m.onnx")

    def decide(person: Sequence[int]) -> bool:
        score = Fraction(bias) + sum(Fraction(w) * value for w, value in zip(weights, person[:3], strict=True))
        compared = {"<": score < 0, "<=": score <= 0, ">": score > 0, ">=": score >= 0}
        return compared[relation]

    return {"when": f"score {relation} 0", "file": "m.json" if kind == "json" else "m.onnx"}, decide


def held_in_files(folder: Path, seed: int) -> list[tuple[Proved, Fraction]]:
    folder.mkdir()
    rng = random.Random(seed)
    words, decide = model_file(rng, folder)
    favourable, found = rng.choice(("yes", "no")), []
    for each in prove(folder, **words, favourable=favourable):
        known = by_definition(each.property, lambda one: decide(one[:3]) is (favourable == "yes"))
        if known is None:
            assert each.proof is None, seed
            continue
        assert each.proof is not None, (seed, each.said)
        checked = check(Path(each.proof.path), folder / words["file"])
        assert checked.follows
        assert checked.number == (known, known), (seed, each.property)
        found.append((each, known))
    return found


@pytest.mark.parametrize("seed", range(4))
def test_the_models_file_is_what_decides(tmp_path: Path, seed: int) -> None:
    held_in_files(tmp_path / "one", seed)


@pytest.mark.slow
def test_other_models_files(tmp_path: Path) -> None:
    for seed in range(4, 150):
        held_in_files(tmp_path / str(seed), seed)


def proofs_of(folder: Path, seed: int) -> tuple[tuple[Proved, Fraction], Path]:
    proved = held_in_files(folder / "proved", seed)
    return proved[0], next(path for name in ("m.onnx", "m.json") if (path := folder / "proved" / name).exists())


def _put_before(self: masses.Formulas, formula: int, place: int, at: int) -> int:
    return PUT(self, formula, place, max(0, at - 1))


def _strict(self: masses.Formulas, tables: Any, constant: int, trees: Any, *, zero: bool) -> int:
    return SUM(self, tables, constant, trees, zero=not zero)


def _forgotten(self: masses.Elimination, event: int, among: int, *others: Any) -> Any:
    return MASSES(self, event, 1, *others)


def _one_row(self: masses.Law, data: Any, attributes: Any) -> None:
    LAW(self, data, attributes)
    for table in self.tables:
        first = next(iter(table))[:-1]
        table.update({key: table[(*first, key[-1])] for key in table})


PUT, SUM = masses.Formulas.put, masses.Formulas.sum
MASSES, LAW = masses.Elimination.masses, masses.Law.__init__
#: Faults of an engine, which goes by the checker's own functions: with one in them it claims what does not follow.
FAULTS: dict[str, tuple[object, str, Any]] = {
    "a value is taken for the one before it": (masses.Formulas, "put", _put_before),
    "zero is on the other side": (masses.Formulas, "sum", _strict),
    "conditions are forgotten": (masses.Elimination, "masses", _forgotten),
    "parents do not matter": (masses.Law, "__init__", _one_row),
    "everybody meets each condition": (masses.Formulas, "of", lambda self, condition: 1),
    "the decision is turned": (rates, "event_of", lambda *given: rates._denied(EVENT(*given), given[1])),
}
EVENT = rates.event_of


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_what_a_faulty_engine_proves_is_rejected(fault: str, tmp_path: Path) -> None:
    owner, name, wrong = FAULTS[fault]
    for seed in range(60):
        folder = tmp_path / str(seed)
        folder.mkdir()
        words, decide = model_file(random.Random(seed), folder)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(owner, name, wrong)
            found = prove(folder, **words, favourable="yes")
        for each in found:
            if each.proof is not None:
                known = by_definition(each.property, lambda one, decide=decide: decide(one[:3]))
                try:
                    checked = check(Path(each.proof.path), folder / words["file"])
                except RejectedError:
                    return
                assert known is not None
                assert checked.number == (known, known)
                if not checked.follows:
                    return
    raise AssertionError("no proof was rejected")


def test_a_distribution_that_loses_somebody_is_rejected() -> None:
    """A row that is missing, or reached by nobody; one that is none; a circle."""
    read = {"name": "x", "type": "integer", "low": 0, "high": 1}
    attribute = masses.Attribute(read)
    half: dict[str, Any] = {"cells": [[0, 0, "point"], [1, 1, "point"]], "parents": [], "rows": [[[], ["1/2", "1/2"]]]}
    for change, why in (
        ({"rows": [[[], ["1/2", "1/3"]]]}, "together 1"),
        ({"rows": [[[], ["3/2", "-1/2"]]]}, "below 0"),
        ({"rows": [[[], [0, 1]], [[], [1, 0]]]}, "two rows"),
        ({"parents": [0]}, "circle"),
        ({"parents": [2]}, "there is not"),
        ({"cells": [[0, 1, "point"], [1, 1, "point"]]}, "single value"),
        ({"cells": [[0, 1, "uniform"], [1, 1, "point"]]}, "in two of them"),
        ({"cells": [[0, 2, "uniform"], [1, 1, "point"]]}, "is none"),
    ):
        with pytest.raises(RejectedError, match=why):
            masses.Law([{**half, **change}], [attribute])
    child = {**half, "parents": [0], "rows": [[[0], [0, 1]]]}
    law = masses.Law([half, child], [attribute, attribute])
    found, scale = masses.Elimination(law, masses.Formulas([attribute] * 2)).masses(1, 1, [], [(1, 9), (0, 9)])
    assert found[()][1] * 2 == scale


def test_a_uniform_cell_is_all_of_its_values() -> None:
    """As if each were a cell by itself; of a cell of which only the mass is known nobody may ask for more."""
    attribute = masses.Attribute({"name": "x", "type": "integer", "low": 0, "high": 9})
    cells = [[0, 3, "uniform"], [4, 4, "point"], [5, 9, "uniform"]]
    rough: dict[str, Any] = {"cells": cells, "parents": [], "rows": [[[], ["1/2", "1/6", "1/3"]]]}
    single = ["1/8", "1/8", "1/8", "1/8", "1/6", *["1/15"] * 5]
    points = [[at, at, "point"] for at in range(10)]
    fine: dict[str, Any] = {"cells": points, "parents": [], "rows": [[[], single]]}
    found = []
    for data in (rough, fine):
        formulas = masses.Formulas([attribute])
        above = formulas.of(Condition(["<=", [["x", -1]], 3], [attribute]))
        even = formulas.of(Condition(["in", "x", [0, 2, 4, 6, 8]], [attribute]))
        made, scale = masses.Elimination(masses.Law([data], [attribute]), formulas).masses(above, even, [], [(0, 9)])
        found.append([Fraction(mass, scale) for mass in made[()]])
    assert found[0] == found[1] == [Fraction(1, 4), Fraction(1, 6) + Fraction(2, 15)]
    unknown = {**rough, "cells": [[0, 3, "unknown"], *cells[1:]]}
    with pytest.raises(RejectedError, match="only the mass"):
        masses.Elimination(masses.Law([unknown], [attribute]), formulas).masses(above, 1, [], [(0, 9)])


@pytest.mark.slow
def test_the_examples_rates_are_proved(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every rate of the examples that is about no sampling error."""
    for name, model, count in (("recidivism", "recidivism.onnx", 11), ("admissions", "admit.json", 10)):
        folder = ROOT / "examples" / name
        given_ = {"models": {}, "data": {}, "seconds": 120, "observer": Silent()}
        found = prove_spec(str(folder / f"{name}.fair"), str(tmp_path / name), **given_)  # type: ignore[arg-type]
        assert sum(each.proof is not None and each.proof.verified for each in found) == count
        assert command.main([str(tmp_path / name), "--model", str(folder / model)]) == 0
        assert capsys.readouterr().out.count("VERIFIED") == count


def test_a_proof_of_a_metric_can_be_demanded(tmp_path: Path) -> None:
    words, decide = model_file(random.Random(0), tmp_path)  # JSON, which has no float32
    spec, report = tmp_path / "p.fair", tmp_path / "report.json"
    known = by_definition("parity", lambda one: decide(one[:3]))
    assert known is not None
    for limit in ("99%", "0.01%"):
        text = SPEC.replace("measure parity_gap", f"require parity_gap <= {limit}")
        spec.write_text(text.format(**words, favourable="yes"))
        given_ = ["check", str(spec), "--property", "parity", "--proof", str(tmp_path / "proofs"), "--require-proof"]
        done = CliRunner().invoke(cli, [*given_, "--report", str(report)])
        assert done.exit_code == (known > Fraction(limit[:-1]) / 100), done.output
        found = json.loads(report.read_text())["properties"][0]["demands"][0]["proof"]
        assert found["verified"]
        assert Fraction(found.get("low_exact", found["low"])) == known
    nodes = [
        helper.make_node("Gemm", ["x", "w"], ["z"], transB=1),
        helper.make_node("Relu", ["z"], ["h"]),
        helper.make_node("Gemm", ["h", "v"], ["y"], transB=1),
    ]
    hidden = chain_file(nodes, {"w": [[1, 0, 0], [0, 1, 1]], "v": [[1, -1]]}, width=3)
    onnx.save(hidden, tmp_path / "m.onnx")
    spec.write_text(SPEC.format(file="m.onnx", when="score > 0", favourable="yes"))
    done = CliRunner().invoke(cli, given_)
    assert done.exit_code == 3
    assert "no proof: the model has hidden units" in done.stderr


def test_what_is_said_of_the_file_is_not_shown_by_a_rate_in_exact_arithmetic(tmp_path: Path) -> None:
    """Of those up to 7 no score is within what float32 comes to, which `check` knows; of all ages that is more."""
    spec = tmp_path / "p.fair"
    text = SPEC.replace("measure parity_gap", "require parity_gap <= 40%").replace("0 .. 9", "0 .. 6000")
    nodes = [helper.make_node("Gemm", ["x", "w", "b"], ["y"], transB=1)]
    onnx.save(chain_file(nodes, {"w": [[0.1, 0.2, 0.0]], "b": [-0.49995]}, width=3), tmp_path / "m.onnx")
    spec.write_text(text.format(file="m.onnx", when="score > 0", favourable="yes"))
    given_ = ["check", str(spec), "--property", "parity", "--proof", str(tmp_path / "proofs"), "--require-proof"]
    done = CliRunner().invoke(cli, given_)
    assert done.exit_code == 3, done.output
    assert "parity, require parity_gap <= 40%: the verdict is about the deployed file's arithmetic too" in done.stderr
