"""Cells that are ranges: uniform ones against their values, unknown ones against any law, reals against areas."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fairdsl.ir.domain import Attribute, Boolean, Integer, Real
from fairdsl.ir.expr import TRUE, And, Compare, Linear, Or, Predicate, Relation, Variable, Who
from fairdsl.ir.feature import AttributeInput, IndicatorInput
from fairdsl.ir.population import Cell, Factor, Inside, Network, Normal
from fairdsl.ir.problem import Problem
from tests import oracle
from tests.drawing import examples
from tests.strategies import COMPARISONS, RATIONAL, SMALL, predicates
from tests.subset_sum.laws import (
    asked,
    bernoulli,
    encloses,
    factor,
    favourable,
    joint_of,
    linear,
    masses,
    network,
    rates,
)

F = Fraction
ZERO, ONE = F(0), F(1)
RELAXED = settings(max_examples=examples(1), deadline=None, suppress_health_check=[HealthCheck.too_slow])


def at_least(column: int, limit: object) -> Compare:
    return Compare(left=Linear.of({Variable(column): ONE}, -F(str(limit))), relation=Relation.GE)


@st.composite
def ranges(draw: st.DrawFn) -> Problem:
    """Two or three columns of whole numbers in cells of several values, one of them a parent of the next."""
    count = draw(st.integers(2, 3))
    columns, cells, factors = [], [], []
    for place in range(count):
        low, sizes = draw(st.integers(-3, 2)), draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
        starts = [low + sum(sizes[:k]) for k in range(len(sizes) + 1)]
        columns.append(Attribute(name=f"x{place}", type=Integer(low=low, high=starts[-1] - 1)))
        inside = [
            Inside.POINT if size == 1 else draw(st.sampled_from([Inside.UNIFORM, Inside.UNKNOWN])) for size in sizes
        ]
        cells.append(
            tuple(
                Cell(low=F(a), high=F(b - 1), inside=how) for a, b, how in zip(starts, starts[1:], inside, strict=False)
            )
        )
        parents = (place - 1,) if place and draw(st.booleans()) else ()
        weights = {
            key: draw(st.lists(st.integers(1, 5), min_size=len(sizes), max_size=len(sizes)))
            for key in product(*(range(len(cells[parent])) for parent in parents))
        }
        rows = {key: tuple(F(w, sum(row)) for w in row) for key, row in weights.items()}
        factors.append(Factor(column=place, parents=parents, rows=rows))
    law = Network(name="law", columns=tuple(columns), cells=tuple(cells), factors=tuple(factors))
    inputs: list[AttributeInput | IndicatorInput] = [AttributeInput(place) for place in range(count)]
    inputs += [IndicatorInput(draw(predicates(law.columns))) for _ in range(draw(st.integers(0, 2)))]
    number = draw(st.sampled_from([SMALL, RATIONAL]))
    model = linear([draw(number) for _ in inputs], draw(SMALL), draw(COMPARISONS), inputs=inputs)
    condition = draw(st.one_of(st.just(TRUE), predicates(law.columns)))
    return asked(law, model, draw(st.integers(0, count - 1)), given=condition)


def truth_inside(problem: Problem, chosen: dict[tuple[int, ...], list[int]]) -> tuple[dict, dict]:
    """The joint where, within unknown cells, the value depends on the cells of everybody as ``chosen`` says."""
    law, question = problem.population, problem.question
    part: dict = {}
    total: dict = {}
    for cells, mass in masses(law).items():
        inside = []
        for column, place in enumerate(cells):
            cell = law.cells[column][place]
            values = [F(v) for v in range(int(cell.low), int(cell.high) + 1)]
            if cell.inside is Inside.UNKNOWN:
                values = [values[chosen[cells][column] % len(values)]]
            inside.append(values)
        key = tuple(law.cells[column][cells[column]].low for column in question.across)
        part.setdefault(key, ZERO), total.setdefault(key, ZERO)
        share = mass
        for values in inside:
            share /= len(values)
        for point in product(*inside):
            if oracle.true_for(question.given, {Who.EACH: point}):
                total[key] += share
                part[key] += share if favourable(problem.model, point) else 0
    return part, total


@RELAXED
@given(ranges(), st.data())
def test_whatever_lies_inside_unknown_cells(problem: Problem, data: st.DataObject) -> None:
    law = problem.population
    joint = joint_of(problem).joint
    every = list(masses(law))
    for _ in range(3):
        picks = data.draw(st.lists(st.integers(0, 11), min_size=3 * len(every), max_size=3 * len(every)))
        chosen = {cells: picks[3 * k : 3 * k + 3] for k, cells in enumerate(every)}
        part, total = truth_inside(problem, chosen)
        assert all(encloses(joint.favourable[key], part[key]) for key in part)
        assert all(encloses(joint.total[key], total[key]) for key in total)
    if all(cell.inside is not Inside.UNKNOWN for cells in law.cells for cell in cells):
        assert all(bounds.exact for bounds in (*joint.favourable.values(), *joint.total.values()))


def of_reals(count: int, *, normal: Normal | None = None, low: object = 0, high: object = 1) -> Network:
    """A group, and reals that are uniform on an interval (or normal)."""
    ends = (None, None) if normal is not None and not normal.truncated else (F(low), F(high))
    columns = [Attribute(name="A", type=Boolean())]
    columns += [Attribute(name=f"u{k}", type=Real(low=ends[0], high=ends[1])) for k in range(count)]
    inside = Inside.UNIFORM if normal is None else Inside.UNKNOWN
    whole = (Cell(low=ends[0], high=ends[1], inside=inside),)
    cells = [(Cell(low=ZERO, high=ZERO), Cell(low=ONE, high=ONE)), *([whole] * count)]
    row = (ONE,) if normal is None else normal
    factors = [factor(0, bernoulli(0.5)), *(factor(k + 1, {(): row}) for k in range(count))]
    return network(tuple(columns), factors, cells)


def only(problem: Problem, steps: int = 3) -> tuple[Fraction, Fraction]:
    found = rates(problem, steps=steps)
    assert len(set(found.values())) == 1
    return found[(ZERO,)]


@pytest.mark.parametrize("relation", [Relation.GE, Relation.GT, Relation.LT, Relation.LE])
def test_one_uniform_real_is_exact(relation: Relation) -> None:
    low, high = only(asked(of_reals(1), linear([0, F(-3)], F(-1), relation), 0))
    share = F(1, 3) if relation in (Relation.GE, Relation.GT) else F(2, 3)
    assert low == high == share


def test_a_uniform_real_with_an_indicator_and_a_condition() -> None:
    """u + [u >= 1/2] >= 5/4 where u >= 1/8: u in [1/2, 1] out of [1/8, 1]."""
    model = linear(
        [0, 1, 1], F(5, 4), inputs=[AttributeInput(0), AttributeInput(1), IndicatorInput(at_least(1, "0.5"))]
    )
    low, high = only(asked(of_reals(1), model, 0, given=at_least(1, F(1, 8))))
    assert low == high == F(4, 7)


def test_two_uniform_reals_are_a_triangle() -> None:
    low, high = only(asked(of_reals(2), linear([0, 1, 1], F(3, 2)), 0), steps=4)
    assert low <= F(1, 8) <= high
    assert high - low < F(1, 500)


def test_a_comparison_of_two_reals() -> None:
    """[u0 + u1 >= 3/2] as an indicator, and as a condition on the law."""
    both = Compare(left=Linear.of({Variable(1): ONE, Variable(2): ONE}, F(-3, 2)), relation=Relation.GE)
    law = of_reals(2)
    low, high = only(asked(law, linear([1], 1, inputs=[IndicatorInput(both)]), 0), steps=2)
    assert low <= F(1, 8) <= high
    assert high - low < F(1, 20)
    low, high = only(
        asked(law, linear([0, 1], F(3, 4)), 0, given=both), steps=1
    )  # the part of the triangle with u0 >= 3/4
    assert low <= F(3, 4) <= high


def phi(z: float) -> float:
    from math import erfc, sqrt

    return erfc(-z / sqrt(2)) / 2


def test_a_truncated_normal() -> None:
    law = of_reals(1, normal=Normal(mean=F(1, 2), sd=F(1, 2), truncated=True))
    low, high = only(asked(law, linear([0, 2], 1), 0))
    assert low <= F(1, 2) <= high
    assert high - low < F(1, 10**25)
    low, high = only(asked(law, linear([0, -2], F(-1, 2)), 0))
    expected = (phi(-0.5) - phi(-1)) / (phi(1) - phi(-1))
    assert abs(float(low) - expected) < 1e-14
    assert high - low < F(1, 10**25)


def test_normals_with_a_condition_are_cut_into_parts() -> None:
    """x + y >= 0 where x >= 0 and y <= 1 for standard normals: two conditions, so that one column is cut."""
    law = of_reals(2, normal=Normal(mean=ZERO, sd=ONE))
    condition: Predicate = And(
        (at_least(1, 0), Compare(left=Linear.of({Variable(2): ONE}, F(-1)), relation=Relation.LE))
    )
    low, high = only(asked(law, linear([0, 1, 1], 0), 0, given=condition), steps=4)
    # Pr[x >= 0, x + y >= 0] = 3/8; beyond y = 1 everybody with x >= 0 passes.
    expected = (0.375 - 0.5 * (1 - phi(1))) / (0.5 * phi(1))
    assert float(low) <= expected <= float(high)
    assert high - low < F(1, 50)


def test_a_rule_on_normals() -> None:
    """Justicia's example: fitness >= 0.61 ? income >= 0.29 : income >= 0.69, as one indicator of two columns."""
    columns = tuple(
        Attribute(name=n, type=t) for n, t in (("A", Boolean()), *((n, Real(low=None, high=None)) for n in "IF"))
    )
    whole = (Cell(low=None, high=None, inside=Inside.UNKNOWN),)

    def rows(first: str, second: str) -> dict[tuple[int, ...], Normal]:
        return {(1,): Normal(mean=F(first), sd=F(1, 10)), (0,): Normal(mean=F(second), sd=F(1, 10))}

    law = network(
        columns,
        [factor(0, bernoulli(0.5)), factor(1, rows("0.6", "0.4"), (0,)), factor(2, rows("0.3", "0.7"), (0,))],
        [(Cell(low=ZERO, high=ZERO), Cell(low=ONE, high=ONE)), whole, whole],
    )
    fit = at_least(2, "0.61")
    unfit = Compare(left=fit.left, relation=Relation.LT)
    rule = Or((And((fit, at_least(1, "0.29"))), And((unfit, at_least(1, "0.69")))))
    found = rates(asked(law, linear([1], 1, inputs=[IndicatorInput(rule)]), 0))
    for key, expected in ((ONE, "0.184848695135"), (ZERO, "0.705587947720")):
        low, high = found[(key,)]
        assert abs(low - F(expected)) < F(1, 10**11)
        assert high - low < F(1, 10**20)


def test_many_whole_numbers_in_closed_form() -> None:
    columns = (Attribute(name="A", type=Boolean()), Attribute(name="n", type=Integer(low=0, high=10**6 - 1)))
    cells = [
        (Cell(low=ZERO, high=ZERO), Cell(low=ONE, high=ONE)),
        (Cell(low=ZERO, high=F(10**6 - 1), inside=Inside.UNIFORM),),
    ]
    law = network(columns, [factor(0, bernoulli(0.5)), factor(1, (ONE,))], cells)
    for relation, count in ((Relation.GE, 250_000), (Relation.GT, 249_999), (Relation.LT, 750_000)):
        found = rates(asked(law, linear([0, 1], 750_000, relation), 0))
        assert set(found.values()) == {(F(count, 10**6),) * 2}
    found = rates(asked(law, linear([F(1, 2), -1], F(-1, 2), relation=Relation.GE), 0))
    assert found == {(ZERO,): (F(1, 10**6),) * 2, (ONE,): (F(2, 10**6),) * 2}


def test_an_unknown_cell_without_end_beside_an_indicator() -> None:
    """The model reads the bin, not the number: nothing is open."""
    columns = (Attribute(name="A", type=Boolean()), Attribute(name="x", type=Real(low=None, high=None)))
    bins = (
        Cell(low=None, high=F(25), open=True, inside=Inside.UNKNOWN),
        Cell(low=F(25), high=None, inside=Inside.UNKNOWN),
    )
    law = network(
        columns,
        [factor(0, bernoulli(0.5)), factor(1, {(0,): bernoulli(0.25), (1,): bernoulli(0.5)}, (0,))],
        [(Cell(low=ZERO, high=ZERO), Cell(low=ONE, high=ONE)), bins],
    )
    model = linear([1], 1, inputs=[IndicatorInput(at_least(1, 25))])
    assert rates(asked(law, model, 0)) == {(ZERO,): (F(1, 4),) * 2, (ONE,): (F(1, 2),) * 2}
    within = replace(asked(law, model, 0), model=linear([1], 1, inputs=[IndicatorInput(at_least(1, 30))]))
    assert rates(within) == {(ZERO,): (ZERO, F(1, 4)), (ONE,): (ZERO, F(1, 2))}
