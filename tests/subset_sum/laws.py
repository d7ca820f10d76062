"""Small populations and questions, and the definition of their joint probabilities by enumeration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product

from fairdsl.backends.contract import Budget, Facts, Silent
from fairdsl.backends.rates import Rates
from fairdsl.backends.rates.linear.refinement import Refinement, sums_of
from fairdsl.backends.rates.linear.task import weighted_sum
from fairdsl.ir.domain import Attribute, Boolean, Domain
from fairdsl.ir.expr import TRUE, Predicate, Relation, Who
from fairdsl.ir.feature import AttributeInput, Input
from fairdsl.ir.model import ByThreshold, Model, linear_layer
from fairdsl.ir.population import Cell, Factor, Network, Row
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import GroupMetric, Quantity
from fairdsl.metrics.joint import Bounds, columns_of, key_of
from fairdsl.metrics.subject import Subject, subject_of
from fairdsl.prelude import metric_named
from fairdsl.verdict import Value
from tests import oracle

F = Fraction


def bernoulli(p: object) -> tuple[Fraction, Fraction]:
    chance = Fraction(str(p)) if isinstance(p, float) else Fraction(p)  # type: ignore[arg-type]
    return 1 - chance, chance


def points(values: Sequence[object]) -> tuple[Cell, ...]:
    return tuple(Cell(low=Fraction(v), high=Fraction(v)) for v in values)  # type: ignore[call-overload]


def booleans(*names: str) -> tuple[Attribute, ...]:
    return tuple(Attribute(name=name, type=Boolean()) for name in names)


def factor(column: int, rows: Mapping[tuple[int, ...], Row] | Row, parents: tuple[int, ...] = ()) -> Factor:
    return Factor(column=column, parents=parents, rows=rows if isinstance(rows, Mapping) else {(): rows})


def network(
    columns: tuple[Attribute, ...],
    factors: Sequence[Factor],
    cells: Sequence[tuple[Cell, ...]] | None = None,
    has_label: bool = False,
) -> Network:
    if cells is None:
        cells = [points(column.values or ()) for column in columns]
    return Network(name="law", columns=columns, cells=tuple(cells), factors=tuple(factors), has_label=has_label)


def linear(
    weights: Sequence[object],
    threshold: object,
    relation: Relation = Relation.GE,
    inputs: Sequence[Input] | None = None,
    bias: object = 0,
    high: object | None = None,
    favourable: int = 1,
) -> Model:
    inputs = [AttributeInput(place) for place in range(len(weights))] if inputs is None else inputs
    exact = [Fraction(str(w)) if isinstance(w, float) else Fraction(w) for w in weights]  # type: ignore[call-overload]
    low = Fraction(str(threshold))
    rule = ByThreshold(
        relation=relation, low=low, high=low if high is None else Fraction(str(high)), granted=1, otherwise=0
    )
    return Model(
        name="m",
        outcomes=("no", "yes"),
        inputs=tuple(inputs),
        layers=(linear_layer([exact], [Fraction(str(bias))]),),
        rule=rule,
        favourable=favourable,
    )


def asked(
    law: Network, model: Model, *across: int, where: Predicate = TRUE, metric: str = "", **clauses: object
) -> Problem:
    attributes = law.columns[:-1] if law.has_label else law.columns
    found = metric_named(metric or "parity_gap", privileged="privileged" in clauses)
    question = GroupMetric(
        metric=found,
        across=across,
        population=law.name,
        **clauses,  # type: ignore[arg-type]
    )
    return Problem(
        name="p",
        domain=Domain(name="People", attributes=attributes, where=where),
        model=model,
        question=question,
        quantity=Quantity.METRIC,
        population=law,
    )


def refinement(problem: Problem, subject: Subject | None = None, budget: Budget | None = None) -> Refinement:
    """As a weighted sum."""
    weighted = weighted_sum(subject or subject_of(problem))
    return Refinement.of(weighted, sums_of(weighted), budget or Budget.of(60.0), Silent())


def joint_of(problem: Problem, subject: Subject | None = None, steps: int = 3) -> Refinement:
    """Refined in so many steps at most."""
    found = refinement(problem, subject)
    for _ in range(steps):
        if not found.improve():
            break
    assert found.joint is not None
    return found


def rates(
    problem: Problem, subject: Subject | None = None, steps: int = 3
) -> dict[tuple[Fraction, ...], tuple[Fraction, Fraction]]:
    joint = joint_of(problem, subject, steps).joint
    return {
        key: (joint.favourable[key].low / whole.high, joint.favourable[key].high / whole.low)
        for key, whole in joint.total.items()
        if whole.low
    }


def value(problem: Problem, seconds: float = 20.0) -> Value:
    found = Rates().answer(problem, Facts(), Budget.of(seconds), Silent())
    assert isinstance(found, Value), found
    return found


def masses(law: Network) -> dict[tuple[int, ...], Fraction]:
    """The law, one assignment of cells after the other; a column without a factor has mass 1 everywhere."""
    found: dict[tuple[int, ...], Fraction] = {}
    for cells in product(*(range(len(column)) for column in law.cells)):
        mass = Fraction(1)
        for each in law.factors:
            row = each.rows.get(tuple(cells[parent] for parent in each.parents))
            mass *= 0 if row is None else row[cells[each.column]]  # type: ignore[index]
        found[cells] = mass
    return found


def favourable(model: Model, point: tuple[Fraction, ...]) -> bool:
    weights = model.layers[0].weight.exact[0].tolist()
    score = Fraction(model.layers[0].bias.exact[0])
    for item, weight in zip(model.inputs, weights, strict=True):
        if isinstance(item, AttributeInput):
            score += Fraction(weight) * point[item.attribute]
        elif oracle.true_for(item.predicate, {Who.EACH: point}):
            score += Fraction(weight)
    rule = model.rule
    assert isinstance(rule, ByThreshold)
    granted = oracle.RELATIONS[rule.relation.value](score, rule.low)
    return (rule.granted if granted else rule.otherwise) == model.favourable


def enumerated(problem: Problem) -> tuple[dict[tuple[Fraction, ...], Fraction], dict[tuple[Fraction, ...], Fraction]]:
    """Pr[favourable, key, given] and Pr[key, given], of single-valued cells."""
    law, question = problem.population, problem.question
    assert isinstance(law, Network)
    assert isinstance(question, GroupMetric)
    columns = columns_of(question, law)
    keys = product(*([key_of(cell) for cell in law.cells[column]] for column in columns))
    total = {key: Fraction(0) for key in keys}
    part = dict(total)
    for cells, mass in masses(law).items():
        point = tuple(law.cells[column][cell].low for column, cell in enumerate(cells))
        each = {Who.EACH: point}
        if not (oracle.true_for(problem.domain.where, each) and oracle.true_for(question.given, each)):
            continue
        key = tuple(point[column] for column in columns)
        total[key] += mass
        if favourable(problem.model, point):
            part[key] += mass
    return part, total


def encloses(bounds: Bounds, truth: Fraction) -> bool:
    return bounds.low <= truth <= bounds.high
