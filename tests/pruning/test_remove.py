"""Pruned models against the definition: the removed units are 0, everything else is as it was."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdsl.ir.domain import Domain
from fairdsl.ir.model import Curve, Layer, Model
from fairdsl.numerics.narrow import narrow
from fairdsl.pruning.remove import PrunedModel, prune_on, remove, removed_layers, silenced_layers
from tests.builders import BOOLEAN, domain, integer, layer, linear, model, problem
from tests.oracle import bent, truth
from tests.strategies import domains, layers


def outputs(stack: tuple[Layer, ...], values: list[Fraction], zero: dict[int, tuple[int, ...]]) -> list[Fraction]:
    """The scores by the definition of a layer, with the outputs of the units ``zero`` replaced by 0."""
    for number, one in enumerate(stack):
        units = zip(one.weight.exact, one.bias.exact, one.slope.exact, one.curve_codes, strict=True)
        values = [
            Fraction(0)
            if unit in zero.get(number, ())
            else bent(Curve(curve), slope, sum((w * v for w, v in zip(ws, values, strict=True)), Fraction(bias)))
            for unit, (ws, bias, slope, curve) in enumerate(units)
        ]
    return values


@st.composite
def cuts(draw: st.DrawFn) -> tuple[tuple[Layer, ...], dict[int, tuple[int, ...]], list[Fraction]]:
    """Layers, some of their ReLU units (never all of a layer), and an input."""
    widths = draw(st.lists(st.integers(1, 4), min_size=2, max_size=4))
    stack = [draw(layers(ins, outs, False)) for ins, outs in pairwise(widths)]
    stack.append(draw(layers(widths[-1], draw(st.integers(1, 2)), True)))
    units = {}
    for number, one in enumerate(stack[:-1]):
        able = [unit for unit in range(one.width) if one.slope.exact[unit] == 0][: one.width - 1]
        units[number] = tuple(sorted(draw(st.sets(st.sampled_from(able))))) if able else ()
    values = [Fraction(draw(st.integers(-5, 5)), draw(st.integers(1, 3))) for _ in range(widths[0])]
    return tuple(stack), units, values


@given(cuts())
def test_a_removed_unit_is_zero(cut: tuple[tuple[Layer, ...], dict[int, tuple[int, ...]], list[Fraction]]) -> None:
    stack, units, values = cut
    wanted = outputs(stack, values, units)
    assert outputs(removed_layers(stack, units), values, {}) == wanted
    assert outputs(silenced_layers(stack, units), values, {}) == wanted
    slim = removed_layers(stack, units)
    assert [one.width for one in slim] == [one.width - len(units.get(n, ())) for n, one in enumerate(stack)]


@pytest.mark.parametrize(
    ("units", "why"),
    [
        ({1: (0,)}, "not a hidden layer"),
        ({0: (3,)}, "units 0 to 2"),
        ({0: (2,)}, "not active"),
        ({0: (0, 1, 2)}, "not active"),
    ],
)
def test_only_hidden_units_that_can_be_zero_are_removed(units: dict[int, tuple[int, ...]], why: str) -> None:
    mixed = Layer(
        weight=layer([[1], [1], [1]], [0, 0, 0]).weight,
        bias=layer([[1], [1], [1]], [0, 0, 0]).bias,
        slope=layer([[0], [0], [1]], [0, 0, 1]).bias,
    )
    with pytest.raises(ValueError, match=why):
        remove(model(mixed, layer([[1, 1, 1]], [0], 1), attributes=1), units)


def test_a_layer_keeps_a_unit() -> None:
    with pytest.raises(ValueError, match="no units left"):
        remove(model(layer([[1], [2]], [0, 0]), layer([[1, 1]], [0], 1), attributes=1), {0: (0, 1)})


def test_a_pruned_model_says_that_it_is_one() -> None:
    original = model(layer([[1], [2]], [0, 0]), layer([[1, 1]], [0], 1), attributes=1)
    pruned = remove(original, {0: (1,)})
    assert isinstance(pruned, PrunedModel)
    assert (pruned.name, pruned.deployed, pruned.sha256) == ("m (pruned)", None, None)
    assert (pruned.units, pruned.count) == ({0: (1,)}, 1)
    assert hash(pruned) != hash(original)  # models are keys of caches
    assert pruned != original


#: Refused only at b = 99 and a true: one individual of two hundred makes the second unit active.
PEOPLE = domain(a=BOOLEAN, b=integer(0, 99))
PLANTED = model(layer([[0, 1], [1, 1]], [1, -99]), layer([[1, -2000]], [0], 1), attributes=2)


def test_trap_12_a_pruned_network_is_fair_and_the_original_is_not() -> None:
    """The heuristic removes the very unit that discriminates: its verdict is about another model, and typed so."""
    question = problem(PEOPLE, PLANTED, 0)
    pruned = prune_on(question, narrow(PEOPLE), Fraction(1, 100), points=500, seed=0)
    assert isinstance(pruned, PrunedModel)
    assert pruned.units == {0: (1,)}
    assert not truth(question).holds
    assert truth(replace(question, model=pruned)).holds
    assert pruned.name == "m (pruned)"


def test_on_a_partition_where_the_unit_works_it_stays() -> None:
    question = problem(PEOPLE, PLANTED, 0)
    box = narrow(PEOPLE, linear({1: 1}, ">=", 99))
    assert prune_on(question, box, Fraction(1, 100), points=500, seed=0) is None


def test_the_target_is_part_of_the_partition() -> None:
    question = problem(PEOPLE, PLANTED, 0, target=linear({1: 1}, ">=", 99))
    assert prune_on(question, narrow(PEOPLE), Fraction(1, 100), points=500, seed=0) is None


@given(domains(), st.data())
def test_pruning_on_nobody_changes_nothing(people: Domain, data: st.DataObject) -> None:
    count = len(people.attributes)
    hidden = data.draw(layers(count, 3, False))
    rule: Model = model(hidden, layer([[1, 1, 1]], [0], 1), attributes=count)
    empty = narrow(people, linear({0: 0}, "<", 0))
    assert prune_on(problem(people, rule, 0), empty, Fraction(1), points=20, seed=0) is None
