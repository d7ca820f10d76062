"""Profiles against a count by definition, and which units they offer for removal."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from fairdsl.ir.expr import TRUE
from fairdsl.ir.model import Layer
from fairdsl.numerics.narrow import Finite, Interval, narrow
from fairdsl.pruning.draws import draw, is_uniform
from fairdsl.pruning.profile import LayerProfile, Profile, candidates, profile
from tests.builders import BOOLEAN, category, domain, integer, layer, linear, model, real

PEOPLE = domain(a=integer(0, 9), b=category(1, 4, 7), c=BOOLEAN)
NETWORK = model(
    layer([[1, 0, 0], [-1, 0, 0], [1, -1, 2]], [-5, 0, 1]),
    layer([[1, 1, -1], [0, 0, 1]], [0, 3], slope=Fraction(1, 2)),
    layer([[1, -1]], [0], slope=1),
    attributes=3,
)


def counted_by_definition(layers: tuple[Layer, ...], rows: list[list[Fraction]]) -> list[list[int]]:
    """How many of the rows make z > 0, for every unit of every hidden layer, in rational arithmetic."""
    counts = [[0] * one.width for one in layers[:-1]]
    for row in rows:
        values = row
        for number, one in enumerate(layers[:-1]):
            before = [
                sum(w * v for w, v in zip(ws, values, strict=True)) + b
                for ws, b in zip(one.weight.exact, one.bias.exact, strict=True)
            ]
            counts[number] = [count + (z > 0) for count, z in zip(counts[number], before, strict=True)]
            values = [z if z > 0 else z * s for z, s in zip(before, one.slope.exact, strict=True)]
    return counts


def test_counts_are_those_of_the_definition() -> None:
    sets = narrow(PEOPLE)
    found = profile(NETWORK, PEOPLE, sets, 400, seed=3)
    individuals = draw(PEOPLE, sets, 400, np.random.default_rng(3))
    rows = [[Fraction(value) for value in row] for row in individuals.tolist()]
    assert found.points == 400
    assert [one.active.tolist() for one in found.layers] == counted_by_definition(NETWORK.layers, rows)
    assert [one.rectifying.tolist() for one in found.layers] == [[True] * 3, [False] * 2]
    assert found.layers[0].mean[1] == 0.0  # -a is never active


def test_units_that_do_not_bend_are_no_part_of_it() -> None:
    passing = layer([[1, 0, 0], [0, 0, 1]], [0, 0], slope=1)
    found = profile(model(passing, layer([[1, 1]], [0], 1), attributes=3), PEOPLE, narrow(PEOPLE), 10, seed=0)
    assert found.layers[0].units.tolist() == []
    assert candidates(found, Fraction(1)) == {}


def of_layer(active: list[int], mean: list[float] | None = None, rectifying: bool = True) -> Profile:
    count = len(active)
    one = LayerProfile(
        layer=0,
        units=np.arange(count),
        active=np.array(active),
        mean=np.array(mean or [0.0] * count),
        rectifying=np.full(count, rectifying),
    )
    return Profile(points=100, layers=(one,))


@pytest.mark.parametrize(
    ("tolerance", "chosen"), [("0", {0: (1,)}), ("1/100", {0: (1, 2)}), ("1/101", {0: (1,)}), ("1/2", {0: (0, 1, 2)})]
)
def test_the_tolerance_is_a_share_of_individuals(tolerance: str, chosen: dict[int, tuple[int, ...]]) -> None:
    assert candidates(of_layer([50, 0, 1, 51]), Fraction(tolerance)) == chosen


def test_of_a_layer_the_most_active_unit_stays() -> None:
    assert candidates(of_layer([0, 1, 1], [0.0, 0.1, 0.2]), Fraction(1)) == {0: (0, 1)}
    assert candidates(of_layer([0]), Fraction(1)) == {}


def test_leaky_units_and_profiles_of_nobody_offer_nothing() -> None:
    assert candidates(of_layer([0, 0], rectifying=False), Fraction(1)) == {}
    assert candidates(Profile(points=0, layers=of_layer([0, 9]).layers), Fraction(1)) == {}


def test_individuals_are_those_of_the_sets_and_the_predicates() -> None:
    people = domain(where=linear({0: 1, 1: 1}, "<=", 5), a=integer(0, 9), b=integer(0, 9))
    sets = (Finite(range(0, 10, 3)), Finite((Fraction(1, 2), 2, 4)))
    drawn = draw(people, sets, 3000, np.random.default_rng(0), linear({0: 1}, ">=", 1))
    assert len(drawn) == 3000
    found, counts = np.unique(drawn, axis=0, return_counts=True)
    # Exactly the points that are left, each about as often as the others (five standard deviations).
    assert found.tolist() == [[3.0, 0.5], [3.0, 2.0]]
    assert abs(counts[0] - 1500) < 5 * np.sqrt(3000) / 2


def test_what_nobody_satisfies_gives_nobody() -> None:
    people = domain(a=integer(0, 9))
    assert draw(people, (Finite(()),), 10, np.random.default_rng(0)).shape == (0, 1)
    assert draw(people, narrow(people), 10, np.random.default_rng(0), linear({0: 1}, ">", 9)).shape == (0, 1)


def test_reals_stay_within_their_bounds() -> None:
    people = domain(a=real(), b=real("1/10", "1/5"), c=real(3), d=real(None, -2))
    sets = narrow(people)
    drawn = draw(people, sets, 500, np.random.default_rng(1))
    for column, values in enumerate(sets):
        assert isinstance(values, Interval)
        assert all(values.contains(Fraction(value)) for value in drawn[:, column].tolist())
    assert [is_uniform((values,)) for values in sets] == [False, True, False, False]
    assert people.where == TRUE
