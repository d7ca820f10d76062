"""Pruned units: every bound holds at every point, and a unit is decided by what feeds it, not by itself."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdsl.backends.smt.case_bounds import Bounder
from fairdsl.backends.smt.cases import cases
from fairdsl.backends.smt.milp.decide import settle_case
from fairdsl.backends.smt.milp.prune import tightened
from fairdsl.ir.model import Model
from fairdsl.numerics.bounds import float_layers, preactivation_bounds
from fairdsl.numerics.leaves import Leaves
from fairdsl.numerics.narrow import Finite, Interval, ValueSet
from fairdsl.numerics.space import input_boxes
from tests.builders import BOOLEAN, domain, integer, layer, model, problem
from tests.drawing import examples
from tests.numerics.test_bounds import exact_preactivations
from tests.oracle import truth


def bounds_of(network: Model, sets: tuple[ValueSet, ...]):
    low, high = input_boxes(network.inputs, Leaves.of(network), [sets])
    found = preactivation_bounds(float_layers(network), low, high)
    return tuple((layer_bounds.low[0], layer_bounds.high[0]) for layer_bounds in found)


def random_network(rng: np.random.Generator) -> Model:
    def rows(outputs: int, inputs: int) -> list[list[Fraction]]:
        return [[Fraction(int(v), 4) for v in row] for row in rng.integers(-8, 9, (outputs, inputs))]

    def biases(count: int) -> list[Fraction]:
        return [Fraction(int(v), 2) for v in rng.integers(-4, 5, count)]

    slopes = rng.choice(["0", "0", "1/10"], 3)
    return model(
        layer(rows(3, 2), biases(3), slopes[0]),
        layer(rows(3, 3), biases(3), slopes[1]),
        layer(rows(2, 3), biases(2), slopes[2]),
        layer(rows(1, 2), biases(1), 1),
        attributes=2,
    )


@settings(max_examples=examples(0.8))
@given(st.integers(0, 2**32 - 1))
def test_every_point_keeps_the_new_bounds(seed: int) -> None:
    network = random_network(np.random.default_rng(seed))
    sets = (Finite(range(-2, 3)), Finite((-3, 0, 1, 5)))
    before = bounds_of(network, sets)
    result = tightened(network, sets, before, seconds=10.0)
    for point in product(*(values.values for values in sets)):
        for z, (low, high) in zip(exact_preactivations(network, list(map(Fraction, point))), result, strict=True):
            assert all(Fraction(float(a)) <= v <= Fraction(float(b)) for a, v, b in zip(low, z, high, strict=True))
    for (low, high), (new_low, new_high) in zip(before, result, strict=True):
        assert (new_low >= low).all()
        assert (new_high <= high).all()


def test_units_are_decided_that_bounds_leave_open() -> None:
    """2 relu(x) - x + 1/4 = |x| + 1/4 is positive, and no single line below the relu shows it."""
    network = model(
        layer([[1], [-1]], [0, 5]),
        layer([[2, 1], [-2, -1]], ["-19/4", "19/4"]),
        layer([[1, 1]], [0], 1),
        attributes=1,
    )
    sets = (Interval(Fraction(-1), Fraction(2)),)
    low, high = bounds_of(network, sets)[1]
    assert ((low < 0) & (high > 0)).all()
    result = tightened(network, sets, bounds_of(network, sets), seconds=10.0)
    assert 0.2 < result[1][0][0] <= 0.25
    assert -0.25 <= result[1][1][1] < -0.2


#: Trap 12. The second layer's first unit is relu(x + y - 5): its inputs reach 5 each, its own value reaches 5.
#: Bounded by its own layer's outputs (at most 5 and 0) it seems dead; in truth it decides.
TRAP = model(
    layer([[1, 0, 0], [0, 1, 0]], [0, 0]),
    layer([[1, 1], [-1, -1]], [-5, 0]),
    layer([[1, 1]], ["-1/2"], 1),
    attributes=3,
)


def test_a_layer_is_bounded_by_the_layer_before_it() -> None:
    sets = (Finite(range(6)), Finite(range(6)), Finite((0, 1)))
    result = tightened(TRAP, sets, bounds_of(TRAP, sets), seconds=10.0)
    low, high = result[1]
    own_outputs = np.maximum(high, 0.0)
    assert own_outputs.sum() - 5 <= 1e-9, "by its own layer's outputs the unit would be dead"
    assert high[0] >= 5
    assert low[0] <= -5


def test_the_pair_that_wrong_pruning_loses_is_found() -> None:
    people = domain(x=integer(0, 5), y=integer(0, 5), sex=BOOLEAN)
    network = model(
        layer([[1, 0, 1], [0, 1, 1]], [0, 0]),
        layer([[1, 1], [-1, -1]], [-5, 0]),
        layer([[1, 1]], ["-1/2"], 1),
        attributes=3,
    )
    asked = problem(people, network, 2)
    assert truth(asked).violations
    answers = []
    for case in cases(asked):
        (bounded,) = Bounder(network, case).bound([case.region])
        answers.append(settle_case(asked, case, bounded, seconds=10.0))
    assert any(answer.status == "candidate" for answer in answers)
    assert all((a.a, a.b) in truth(asked).violations for a in answers if a.status == "candidate")


def test_no_time_changes_nothing() -> None:
    sets = (Finite(range(6)), Finite(range(6)), Finite((0, 1)))
    before = bounds_of(TRAP, sets)
    result = tightened(TRAP, sets, before, seconds=0.0)
    assert all((a == c).all() and (b == d).all() for (a, b), (c, d) in zip(before, result, strict=True))
