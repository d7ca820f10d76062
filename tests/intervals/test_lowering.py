"""Lowering against the definition: a task, counted by brute force, says what the oracle says."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings

from fairdsl.backends.contract import Refusal
from fairdsl.backends.intervals.lowering import Lowered, lower
from fairdsl.backends.intervals.network import FirstLayer, decision_of
from fairdsl.backends.intervals.roles import roles_of
from fairdsl.backends.intervals.task import AttributeKind
from fairdsl.ir.expr import And, Not, Relation, Who
from fairdsl.ir.feature import IndicatorInput
from fairdsl.ir.model import ByThreshold, Model
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Differ, Quantity, Relaxation
from tests.builders import BOOLEAN, category, domain, integer, layer, linear, member, model, problem, real, score
from tests.drawing import examples
from tests.intervals.task_oracle import Unit, contributions, count, groups_of, support, units_of
from tests.oracle import Truth, truth
from tests.strategies import problems


@settings(deadline=None, max_examples=examples(2.5))
@given(problems(quantity=Quantity.FAIR_SHARE))
def test_a_task_is_about_what_the_definition_is_about(problem: Problem) -> None:
    if isinstance(roles_of(problem), Refusal):
        return
    lowered, expected = lower(problem), truth(problem)
    _counts_what_the_definition_counts(lowered, expected)
    _paths_cover_everybody_who_is_compared(lowered, expected)


def _counts_what_the_definition_counts(lowered: Lowered, expected: Truth) -> None:
    task, factor = lowered.task, lowered.factor
    assert task.undetermined == 0
    assert task.total * factor == expected.total + expected.vacuous
    sure = task.total - lowered.vacuous - lowered.unsure
    assert sure * factor <= expected.total <= (sure + lowered.unsure) * factor
    found = count(task)
    unfair = expected.total - expected.fair
    if not lowered.problem.question.relax:
        assert lowered.unsure == 0
        assert len(found.violating) * factor == unfair
        assert lowered.vacuous * factor == expected.vacuous
        return
    assert lowered.vacuous * factor <= expected.vacuous
    if task.relaxed:
        # Only paths cover all partners; what the groups show is surely unfair.
        assert len(found.violating) * factor <= unfair
    else:
        assert len(found.violating) * factor == unfair


def _paths_cover_everybody_who_is_compared(lowered: Lowered, expected: Truth) -> None:
    partners = _partners(lowered, expected.violations)
    first = _first_layer(lowered)
    rng = np.random.default_rng(1)
    left = {(unit, a, b) for unit, pairs in partners.items() for a, b in pairs}
    for root, comparison in enumerate(lowered.task.comparison.tolist()):
        groups = groups_of(lowered.task, comparison)
        for unit in units_of(lowered.task, root):
            shared = contributions(lowered.task, unit)
            reached = [group + shared for group in groups]
            for a, b in partners.get(unit, ()):
                if lowered.task.relaxed or _within(lowered, comparison, a):
                    reached += [_pre_activations(first, point) for point in (a, b)]
                    left.discard((unit, a, b))
            for direction in rng.standard_normal((8, len(shared))):
                low, high = support(lowered.task, comparison, direction)
                base = float(shared @ direction)
                assert all(low - 1e-9 <= float(z @ direction) - base <= high + 1e-9 for z in reached)
    assert not left, "somebody who is treated unfairly is in no root, or in none with the partner"


def _partners(lowered: Lowered, violations) -> dict[Unit, list]:
    """The violations that each unit must account for."""
    found: dict[Unit, list] = {}
    for a, b in violations:
        for one, other in ((a, b), (b, a)):
            asked = lowered.problem.question
            if asked.one_sided is not None and one is not (a if asked.one_sided is Who.A else b):
                continue
            if asked.of_individuals or one is a:
                found.setdefault(_unit(lowered, one), []).append((one, other))
    return found


def _unit(lowered: Lowered, point) -> Unit:
    chosen = {index: point[index] for index in lowered.roles.pair.differ}
    positions = []
    for axis in lowered.axes:
        values = range(axis.size)
        if axis.attribute is not None:
            positions.append(next(p for p in values if axis.value(p) == point[axis.attribute]))
        elif axis.size == 1:
            positions.append(0)
        else:
            positions.append(next(p for p in values if lowered.assignments.values_of(p) == chosen))
    return tuple(positions)


def _within(lowered: Lowered, comparison: int, point) -> bool:
    chosen = {index: point[index] for index in lowered.roles.pair.differ}
    return any(lowered.assignments.values_of(m) == chosen for m in lowered.members[comparison])


def _first_layer(lowered: Lowered) -> FirstLayer:
    model = lowered.problem.model
    layers = (*model.layers[:-1], decision_of(model).layer)
    return FirstLayer(model, layers[0], lowered.roles.sets)


def _pre_activations(first: FirstLayer, point) -> np.ndarray:
    """Of the first layer, by the definition of contributions."""
    total = first.bias
    for index, value in enumerate(point):
        total = total + first.contributions(index, [value])[0]
    return first.floats(total)


@pytest.mark.slow
def test_the_random_problems_cover_every_kind_of_task() -> None:
    met: Counter[str] = Counter()

    @settings(deadline=None, max_examples=300, database=None, derandomize=True)
    @given(problems(quantity=Quantity.FAIR_SHARE))
    def run(problem: Problem) -> None:
        roles = roles_of(problem)
        if isinstance(roles, Refusal):
            met[f"refused: {roles.why}"] += 1
            return
        task = lower(problem).task
        met["relaxed"] += task.relaxed
        met["several components"] += bool(task.component.any())
        met["several roots"] += len(task.low) > 1
        met["vacuous"] += task.vacuous > 0
        met["ordered"] += not roles.symmetric
        met["table"] += bool((task.kinds == 1).any())
        met["several rows"] += len(task.rivals) > 1
        met["simplex"] += len(set(task.simplex.tolist())) < len(task.simplex)

    run()
    for kind in (
        "relaxed",
        "several components",
        "several roots",
        "vacuous",
        "ordered",
        "table",
        "several rows",
        "simplex",
    ):
        assert met[kind] >= 3, met


PEOPLE = domain(amount=integer(0, 100), job=category(3, 9, 1), age=integer(18, 60), rate=real(0, 2), sex=BOOLEAN)


def shares_of(*weights: object, **clauses: object) -> Lowered:
    return lower(problem(PEOPLE, score(weights, -40), 4, quantity=Quantity.FAIR_SHARE, **clauses))


def test_kinds_of_axes() -> None:
    asked = shares_of(1, 1, 1, 1, 1, target=And((member(2, 20, 30, 41), linear({0: 1}, ">=", 50))))
    assert [axis.attribute for axis in asked.axes] == [0, 1, 2, 3]
    assert asked.task.kinds.tolist() == [AttributeKind.LATTICE, AttributeKind.TABLE, *[AttributeKind.TABLE, 2]]
    assert asked.task.sizes.tolist() == [51, 3, 3, 2**20]
    assert asked.task.weights[0].tolist() == [[1.0, 1.0, 3.0, 9.0, 20.0, 30.0, 41.0, 2.0 / 2**20]]
    assert asked.task.origin.tolist() == [[10.0]]
    assert not asked.counted


def test_what_nobody_reads_only_counts() -> None:
    asked = shares_of(1, 0, 0, 0, 1)
    assert [axis.attribute for axis in asked.axes] == [0]
    assert asked.factor == 3 * 43
    mentioned = shares_of(1, 0, 0, 0, 1, target=linear({0: 1, 2: -1}, ">"))
    assert [axis.attribute for axis in mentioned.axes] == [0, 2]
    assert mentioned.factor == 3
    assert mentioned.task.decided == sum(amount > age for amount in range(101) for age in range(18, 61))


def test_nobody_to_compare_and_nothing_to_tell_apart() -> None:
    alone = lower(problem(domain(x=integer(0, 3), sex=category(5)), score([1, 1]), 1, quantity=Quantity.FAIR_SHARE))
    assert (alone.task.vacuous, alone.vacuous, alone.task.decided, len(alone.task.low)) == (4, 4, 0, 0)
    alike = shares_of(1, 0, 0, 0, 0)
    assert (alike.task.vacuous, alike.vacuous, alike.task.decided) == (101, 0, 0)
    nobody = shares_of(1, 0, 0, 0, 1, target=And((linear({0: 1}, "<", 0),)))
    assert nobody.task.total == 0


def test_all_values_of_a_protected_attribute_are_vertices() -> None:
    """Trap: only the smallest and largest value of a protected attribute were compared."""
    peak = model(layer([[1, 0], [1, 0]], [0, -1]), layer([[1, -2]], ["-1/2"], 1), attributes=2)
    asked = lower(problem(domain(age=integer(0, 2), income=integer(0, 3)), peak, 0, quantity=Quantity.FAIR_SHARE))
    assert asked.task.groups.tolist() == [[0.0, -1.0], [1.0, 0.0], [2.0, 1.0]]
    assert asked.task.moves.tolist() == [[2.0, 2.0]]
    indicators = Model(
        name="m",
        outcomes=("no", "yes"),
        inputs=tuple(IndicatorInput(member(0, value)) for value in range(3)),
        layers=(layer([[0, 5, 0]], [-1], 1),),
        rule=score([1]).rule,
    )
    binned = lower(problem(domain(age=integer(0, 2), x=BOOLEAN), indicators, 0, quantity=Quantity.FAIR_SHARE))
    assert binned.task.moves.tolist() == [[5.0]]
    assert binned.task.groups.ravel().tolist() == [-1.0, 4.0, -1.0]


def test_components_of_what_is_compared() -> None:
    """Only what a condition on the pair lets be compared goes together, whichever of the two comes first."""
    people = domain(age=integer(0, 4), x=integer(0, 9))
    apart = linear({0: 1}, ">=", 3, who=Who.A)
    young = linear({0: 1}, "<=", 1, who=Who.B)
    asked = problem(people, score([1, 1]), 0, pair_target=And((apart, young)), quantity=Quantity.FAIR_SHARE)
    assert lower(asked).members == ((0, 1, 3, 4),)
    two = domain(age=BOOLEAN, sex=BOOLEAN, x=integer(0, 9))
    every = lower(problem(two, score([1, 2, 1]), 0, 1, mode=Differ.EACH, quantity=Quantity.FAIR_SHARE))
    assert every.members == ((0, 3), (1, 2))
    assert every.task.component.tolist() == [0, 1]
    assert (every.task.decided, every.task.total) == (10, 10)


def test_relaxed_paths() -> None:
    by = (Relaxation(attribute=0, by=Fraction(5, 2)), Relaxation(attribute=3, by=Fraction(1, 4)))
    asked = shares_of(2, 1, 0, 8, 1, relax=(*by, Relaxation(attribute=1, by=None)))
    task = asked.task
    assert task.relaxed
    # amount moves by 2 in whole numbers, rate by a quarter; job takes all of its codes from 1 to 9.
    assert sorted(task.moves.ravel().tolist()) == [1.0, 4.0, 8.0, 8.0]
    assert task.origin.tolist() == [[-40.0 - 4.0 - 2.0 + 1.0]]
    assert [axis.attribute for axis in asked.axes] == [0, 3]
    # Individuals are counted: three jobs, 43 ages, two sexes.
    assert asked.factor == 3 * 43 * 2


def test_a_threshold_that_is_no_number_becomes_a_margin() -> None:
    low, high = Fraction(1, 3) - Fraction(1, 2**100), Fraction(1, 3)
    rule = ByThreshold(relation=Relation.GE, low=low, high=high, granted=1, otherwise=0)
    asked = lower(
        problem(PEOPLE, replace(score([1, 0, 0, 0, 1]), rule=rule), 4, quantity=Quantity.FAIR_SHARE),
    )
    middle = (low + high) / 2
    (below, above) = (Fraction(end) for end in asked.task.margin[0].tolist())
    assert below <= middle - high < middle - low <= above
    assert above - below < Fraction(1, 2**99)


def test_a_leaf_of_a_tree_is_called_one() -> None:
    """Each test of the tree reads one attribute, and the leaves more than one."""
    first, second = linear({0: 1}, ">", 20), linear({1: 1}, ">", 2)
    leaves = (And((first, second)), And((first, Not(second))), Not(first))
    inputs = tuple(IndicatorInput(leaf) for leaf in leaves)
    model = replace(score([1, 0, 0]), inputs=inputs, groups=((0, 1, 2),))
    people = domain(x=integer(0, 40), y=integer(0, 4), s=BOOLEAN)
    for tree, why in ((model, "a leaf of its tree"), (replace(model, groups=()), "the model reads a condition")):
        refused = roles_of(problem(people, tree, 2))
        assert isinstance(refused, Refusal)
        assert refused.why.startswith(why)
        assert refused.why.endswith("on several attributes at once")


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        (problem(PEOPLE, score([1, 0, 0, 0, 1], relation="="), 4), "half-line"),
        (problem(domain(x=real(), s=BOOLEAN), score([1, 1]), 1), "unbounded"),
        (problem(domain(x=real(0), s=BOOLEAN), score([0, 1]), 1, quantity=Quantity.FAIR_SHARE), "unbounded"),
        (problem(domain(x=integer(0, 2**40), s=BOOLEAN), score([1, 1]), 1), "2^31"),
        (problem(PEOPLE, score([10**200, 0, 0, 0, 1]), 4), "floating-point"),
        (problem(PEOPLE, score([Fraction(1, 10**300), 0, 0, 0, 1]), 4), "floating-point"),
        (problem(domain(x=integer(0, 5000), s=BOOLEAN), score([1, 1]), 0, 1, mode=Differ.EACH), "one by one"),
        (problem(PEOPLE, score([1, 0, 0, 0, 1]), 0, 4, pair_target=linear({2: 1}, ">", 20, who=Who.A)), "pairs"),
    ],
)
def test_what_is_refused_is_refused_with_its_reason(asked: Problem, reason: str) -> None:
    refused = roles_of(asked)
    assert isinstance(refused, Refusal)
    assert reason in refused.why
