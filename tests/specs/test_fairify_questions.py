"""``specs/fairify`` asks what the paper's tables ask, in the numbers that the networks read.

The table below is Biswas and Rajan, *Fairify: Fairness Verification of Neural Networks*, ICSE 2023: protected
attributes, relaxations (its ``<`` on whole numbers as ``<=``) and targets, as codes of the networks' inputs;
the sizes of partitions and how many there are come from Fairify's algorithm 1 and its scripts' ranges.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

import pytest

import fairdsl
from fairdsl.backends.smt.partition.grid import Grid
from fairdsl.ir.declaration import WhenScore
from fairdsl.ir.domain import Domain
from fairdsl.ir.expr import TRUE, Relation, Who
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Pair, Quantity, SameDecision
from fairdsl.numerics.narrow import narrow
from fairdsl.semantics import front_end
from tests.builders import score
from tests.oracle import true_for

FAIRIFY = Path(__file__).parents[2] / "specs" / "fairify"

#: The inputs in the order of the networks: name, least and greatest code.
INPUTS = {
    "german": "status 0 2, month 0 80, credit_history 0 2, purpose 0 9, credit_amount 0 20000, savings 0 2, "
    "employment 0 2, investment_as_income_percentage 1 4, other_debtors 0 2, residence_since 1 4, property 0 2, "
    "age 0 1, installment_plans 0 2, housing 0 2, number_of_credits 1 4, skill_level 0 3, people_liable_for 1 2, "
    "telephone 0 1, foreign_worker 0 1, sex 0 1",
    "bank": "age 0 1, job 0 10, marital 0 2, education 0 6, default 0 1, housing 0 1, loan 0 1, contact 0 1, "
    "month 0 11, day_of_week 0 6, duration 0 5000, emp_var_rate -3 1, campaign 1 50, pdays 0 999, previous 0 7, "
    "poutcome 0 2",
    "adult": "age 10 100, workclass 0 6, education 0 15, education_num 1 16, marital_status 0 6, occupation 0 13, "
    "relationship 0 5, race 0 4, sex 0 1, capital_gain 0 19, capital_loss 0 19, hours_per_week 1 100, "
    "native_country 0 40",
}


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One question: None as a relaxation is one without a limit; ``strict`` leaves out scores of exactly 0."""

    differ: str
    size: int
    partitions: int
    strict: bool = False
    relax: dict[str, int | None] = field(default_factory=dict)
    target: dict[str, Iterable[int]] = field(default_factory=dict)


ASKED = {
    "base-german": Asked(differ="sex", size=100, partitions=201),
    "base-bank": Asked(differ="age", size=100, partitions=510),
    "base-adult": Asked(differ="race", size=10, partitions=16_000),
    "base-adult-sex": Asked(differ="sex", size=10, partitions=16_000),
    "strict-german": Asked(differ="sex", size=100, partitions=201, strict=True),
    "strict-bank": Asked(differ="age", size=100, partitions=510, strict=True),
    "strict-adult": Asked(differ="race", size=10, partitions=16_000, strict=True),
    "stress-german": Asked(differ="sex", size=10, partitions=18_009),
    "stress-bank": Asked(differ="age", size=10, partitions=1_002_000),
    "stress-adult": Asked(differ="race", size=6, partitions=3_290_112),
    "relaxed-1-german": Asked(differ="sex", relax={"credit_amount": 99}, size=10, partitions=18_009),
    "relaxed-2-german": Asked(differ="sex", relax={"foreign_worker": None}, size=10, partitions=18_009),
    "relaxed-1-bank": Asked(differ="age", relax={"duration": 4}, size=10, partitions=1_002_000),
    "relaxed-2-bank": Asked(differ="age", relax={"job": None}, size=10, partitions=1_002_000),
    "relaxed-1-adult": Asked(differ="race", relax={"age": 4}, size=6, partitions=3_290_112),
    "relaxed-2-adult": Asked(differ="race", relax={"marital_status": None}, size=6, partitions=3_290_112),
    "targeted-1-german": Asked(differ="sex", target={"number_of_credits": [2]}, size=10, partitions=18_009),
    "targeted-2-german": Asked(
        differ="sex", target={"purpose": [7], "foreign_worker": [0]}, size=10, partitions=18_009
    ),
    "targeted-1-bank": Asked(differ="age", target={"loan": [1], "job": [2]}, size=10, partitions=501_000),
    "targeted-2-bank": Asked(differ="age", target={"poutcome": [2]}, size=10, partitions=1_002_000),
    "targeted-1-adult": Asked(differ="race", target={"age": range(30, 36)}, size=6, partitions=205_632),
    "targeted-2-adult": Asked(differ="race", target={"education": [9, 10]}, size=6, partitions=1_096_704),
}


def question_of(name: str) -> tuple[Domain, Pair]:
    """The one demand of the spec's one property."""
    (asked,) = front_end(str(FAIRIFY / f"{name}.fair"))[0].properties
    (demand,) = asked.demands
    assert isinstance(demand.question, Pair)
    assert demand.quantity is Quantity.HOLDS
    return asked.domain, demand.question


def allowed(domain: Domain, pair: Pair) -> list[list[int]]:
    """Values of each attribute, the others somewhere in the target, that the target leaves."""
    somewhere = [values.low for values in narrow(domain, pair.target)]
    assert true_for(pair.target, {Who.EACH: tuple(somewhere)})
    found = []
    for index, attribute in enumerate(domain.attributes):
        points = {value: (*somewhere[:index], Fraction(value), *somewhere[index + 1 :]) for value in attribute.values}
        found.append([value for value, point in points.items() if true_for(pair.target, {Who.EACH: point})])
    return found


def test_every_question_of_the_paper_is_there() -> None:
    assert {file.stem for file in FAIRIFY.glob("*.fair")} == ASKED.keys() | {f"{name}-model" for name in INPUTS}


@pytest.mark.parametrize("data", INPUTS)
def test_inputs_have_the_published_order_and_ranges(data: str) -> None:
    domain, _ = question_of(f"base-{data}")
    described = [f"{one.name} {one.bounds[0]} {one.bounds[1]}" for one in domain.attributes]
    assert ", ".join(described) == INPUTS[data]
    assert all(one.size == one.bounds[1] - one.bounds[0] + 1 for one in domain.attributes), "no code is left out"
    assert domain.where == TRUE


@pytest.mark.parametrize("name", ASKED)
def test_the_clauses_in_force(name: str) -> None:
    expected, (domain, pair) = ASKED[name], question_of(name)
    assert pair.differ == (domain.index(expected.differ),)
    relaxed = {domain.attributes[one.attribute].name: one.by for one in pair.relax}
    assert relaxed == expected.relax
    left = {
        one.name: values
        for one, values in zip(domain.attributes, allowed(domain, pair), strict=True)
        if values != list(one.values)
    }
    assert left == {attribute: list(values) for attribute, values in expected.target.items()}
    assert pair.pair_target == TRUE
    assert pair.demand == SameDecision()


@pytest.mark.parametrize("name", [name for name, asked in ASKED.items() if not asked.strict])
def test_a_score_of_zero_is_a_refusal(name: str) -> None:
    spec, _ = front_end(str(FAIRIFY / f"{name}.fair"))
    (asked,) = spec.properties
    declared = spec.models[asked.model].declaration
    assert isinstance(declared.decision, WhenScore)
    assert (declared.decision.outcome, declared.decision.relation, declared.decision.threshold) == (1, Relation.GT, 0)
    assert declared.favourable == 1
    assert question_of(name)[1].sure == ()


@pytest.mark.parametrize("backend", ["smt", "enumerate", "search"])
@pytest.mark.parametrize(("low", "high"), [(0, 1), (-1, 0), (-1, 1)])
def test_a_strict_question_counts_opposite_signs_only(low: int, high: int, backend: str, tmp_path: Path) -> None:
    """A score that is one number for women and another for men; no other attribute is compared."""
    domain = "domain Applicant {\n  sex : category { female, male }\n}\n\nprotected sex\n"
    (tmp_path / "domain.fair").write_text(f"fair 1\n\n{domain}", encoding="utf-8")
    text = (FAIRIFY / "strict-german.fair").read_text(encoding="utf-8")
    score_line = f"score = {low} + {high - low} * (sex = male)"
    head, model = text.split('  from "GC-1.onnx"\n')
    decided = model[model.index("  good when") :]  # what stands before it is what the file reads
    spec = f"{head}  {score_line}\n{decided}".replace("../german.fair", "domain.fair")
    (tmp_path / "strict.fair").write_text(spec, encoding="utf-8")
    (found,) = fairdsl.check(tmp_path / "strict.fair", backend=backend).properties
    violated = low < 0 < high
    # Where no score is above 0, or none below, the strict question is about nobody.
    assert found.judgement.value == ("violated" if violated else "unknown" if backend == "search" else "vacuous")


@pytest.mark.parametrize("name", ASKED)
def test_partitions_are_those_of_fairify(name: str) -> None:
    expected, (domain, pair) = ASKED[name], question_of(name)
    model = score([1] * len(domain.attributes))
    problem = Problem(name=name, domain=domain, model=model, question=pair, quantity=Quantity.HOLDS)
    assert Grid.of(problem, expected.size).count == expected.partitions
    text = (FAIRIFY / f"{name}.fair").read_text(encoding="utf-8")
    assert f"--partition {expected.size}." in text
