"""Drawing and walking in many boxes at once: nothing leaves its box, and walks end at the boundary."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdsl.backends.smt.bound_filters.bounding import BoundFilter
from fairdsl.backends.smt.bound_filters.boxes import Boxes, Draw
from fairdsl.backends.smt.bound_filters.sampling import Sampler, neighbours
from fairdsl.backends.smt.partition.grid import Grid
from fairdsl.ir.question import Quantity, Relaxation
from fairdsl.numerics.narrow import Finite, Interval
from tests.builders import domain, integer, layer, model, problem, real, score
from tests.drawing import examples
from tests.oracle import truth
from tests.smt.partition_tools import violates
from tests.strategies import problems

SETS = (Finite(range(3, 9)), Finite(range(-4, -3)), Finite(range(100)))
GAPS = (Finite((1, 4, 9)), Finite((2,)))
REALS = (Interval(Fraction(1, 3), Fraction(2, 3)), Interval(Fraction(0), Fraction(10)))


@settings(max_examples=examples(0.35))
@given(st.sampled_from([SETS, GAPS, REALS]), st.integers(0, 2**32))
def test_draws_stay_in_their_sets(sets, seed: int) -> None:
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, len(sets), 200)
    draw = Draw(sets)
    drawn = draw.values(codes, rng)
    for values in (drawn, draw.moved(drawn, codes, rng)):
        assert all(sets[code].contains(Fraction(value)) for code, value in zip(codes, values.tolist(), strict=True))


@settings(max_examples=examples(0.35))
@given(st.integers(0, 2**32), st.fractions(0, 5))
def test_partners_are_near_and_in_the_domain(seed: int, by: Fraction) -> None:
    rng = np.random.default_rng(seed)
    for whole in (Finite(range(30)), Interval(Fraction(0), Fraction(29))):
        draw = Draw((whole,))
        own = draw.values(np.zeros(100, dtype=np.int64), rng)
        near = draw.near(own, by, rng)
        assert all(whole.contains(Fraction(value)) for value in near.tolist())
        assert (np.abs(near - own) <= float(by) + 1e-9).all()


def test_walks_end_on_both_sides_of_the_boundary() -> None:
    rng = np.random.default_rng(3)
    one, other = rng.integers(0, 50, (64, 5)).astype(float), rng.integers(51, 100, (64, 5)).astype(float)

    def low(points):
        return points.sum(axis=1) <= 251

    flags = np.ones(5, dtype=bool)
    near, far = neighbours(one, other, low, flags, flags, rng)
    assert low(near).all()
    assert not low(far).any()
    # Neighbours: one attribute is one step further, all others are the same.
    assert (np.abs(near - far).sum(axis=1) == 1).all()
    assert ((near >= one) & (far <= other)).all()


@settings(max_examples=examples(1))
@given(problems(Quantity.HOLDS, widths=(0, 2, 3)), st.integers(1, 3))
def test_what_bounds_settle_holds_and_suspects_lie_in_their_partition(drawn, size: int) -> None:
    grid = Grid.of(drawn, size)
    if not grid.count:
        return
    boxes = grid.boxes(np.arange(grid.count))
    known = truth(drawn).violations
    holds, undecided = BoundFilter(drawn, grid.sets).settled(boxes)
    for place in np.flatnonzero(holds).tolist():
        assert not violates(drawn, grid.box(place), known)
    assert (undecided >= 0).all()
    for suspect in Sampler(drawn, grid.sets, 0).suspects(boxes, 16, 3):
        unit, _ = suspect.pair
        units = [index for index in range(len(unit)) if index not in drawn.question.differ]
        assert all(grid.box(suspect.place)[index].contains(unit[index]) for index in units)


def test_a_needle_beside_the_boundary_is_found() -> None:
    # Treated differently only where 3 x + 5 y + 7 z is 1000 exactly: about one unit in a thousand.
    people = domain(x=integer(0, 99), y=integer(0, 99), z=integer(0, 99), g=integer(0, 1))
    asked = problem(people, score([3, 5, 7, 1], -1000), 3)
    grid = Grid.of(asked, 1000)
    found = Sampler(asked, grid.sets, 0).suspects(Boxes.of([grid.box(0)]), 32, 3)
    assert found
    a, _ = found[0].pair
    assert 3 * a[0] + 5 * a[1] + 7 * a[2] in (999, 1000)


def test_relaxed_partners_are_drawn_beyond_the_partition() -> None:
    people = domain(x=integer(0, 99), g=integer(0, 1))
    asked = problem(people, score([1, 0], "-99/2"), 1, relax=(Relaxation(attribute=0, by=Fraction(2)),))
    grid = Grid.of(asked, 50)
    places = {suspect.place for suspect in Sampler(asked, grid.sets, 0).suspects(grid.boxes(np.arange(2)), 64, 4)}
    assert places == {0, 1}


def test_units_that_some_side_leaves_undecided_are_counted() -> None:
    people = domain(x=integer(0, 9), g=integer(0, 1))
    net = model(layer([[1, -2], [1, 0]], [-5, 1]), layer([[1, 1]], [0], 1), attributes=2)
    grid = Grid.of(problem(people, net, 1), 5)
    _, undecided = BoundFilter(problem(people, net, 1), grid.sets).settled(grid.boxes(np.arange(2)))
    # x in 0..4: the first unit is never active; x in 5..9: with g = 1 it is undecided.
    assert undecided.tolist() == [0, 1]


def test_reals_are_drawn_as_float32_numbers() -> None:
    people = domain(x=real(0, "1/3"), g=integer(0, 1))
    asked = problem(people, score([1, "1/10"], "-1/5"), 1)
    found = Sampler(asked, Grid.of(asked, 1).sets, 0).suspects(Boxes.of([Grid.of(asked, 1).box(0)]), 64, 2)
    assert found
    assert all(float(np.float32(float(value))) == float(value) for suspect in found for value in suspect.pair[0])
