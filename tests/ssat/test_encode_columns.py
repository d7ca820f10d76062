"""Sets of places of a column in order encoding, one by one."""

from __future__ import annotations

from fractions import Fraction
from itertools import chain, combinations

import pytest

from fairdsl.backends.ssat.gates import FALSE, TRUE, Column, Gates, in_places, runs
from fairdsl.ir.domain import Attribute
from tests.builders import integer
from tests.ssat.extensions import at_value, column_of, extensions, truth


def test_every_set_of_places_of_a_small_column() -> None:
    gates = Gates()
    column = column_of(gates, Attribute(name="x", type=integer(0, 4)))
    sets = list(chain.from_iterable(combinations(range(5), size) for size in range(6)))
    literals = {places: in_places(gates, column.below, sum(1 << place for place in places)) for places in sets}
    for place in range(5):
        (model,) = extensions(gates, at_value(column, Fraction(place)))
        for places, literal in literals.items():
            assert truth(model, literal) == (place in places), (place, places)
    assert literals[()] == FALSE
    assert literals[(0, 1, 2, 3, 4)] == TRUE
    # A run at an end is an order literal, one in the middle a gate; a set and its complement share theirs.
    assert literals[(0, 1)] == column.below[1]
    assert literals[(3, 4)] == -column.below[2]
    assert all(literals[tuple(sorted({0, 1, 2, 3, 4} - set(places)))] == -literals[places] for places in sets)


def test_trap_23_thresholds_on_one_column_exclude_each_other() -> None:
    gates = Gates()
    column = column_of(gates, Attribute(name="x", type=integer(0, 9)))
    at_most_3, above_5 = in_places(gates, column.below, 0b1111), in_places(gates, column.below, 0b1111 << 6)
    assert {abs(at_most_3), abs(above_5)} <= set(column.below)
    gates.require(at_most_3)
    gates.require(above_5)
    assert extensions(gates, []) == []


def test_runs_of_places() -> None:
    assert list(runs(0)) == []
    assert list(runs(0b1)) == [(0, 0)]
    assert list(runs(0b1101110)) == [(1, 3), (5, 6)]
    assert list(runs((1 << 200) - 1)) == [(0, 199)]


def test_columns_that_make_no_sense_are_refused() -> None:
    gates = Gates()
    one, two = Fraction(1), Fraction(2)
    with pytest.raises(ValueError, match="ascend"):
        Column((two, one), (True, True), (gates.choice("x"),))
    with pytest.raises(ValueError, match="order literal"):
        Column((one, two), (True, True), ())
