"""Whoever asks what a model of trees reads finds in the arrays what the leaves' predicates, one by one, say."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from test_ensembles import COLUMNS, QUICK, VALUES, opened
from tree_files import Tree, forests

from fairdsl.backends.intervals.network import FirstLayer, moving_reads
from fairdsl.backends.smt.milp.cuts import _truths
from fairdsl.backends.smt.milp.query import network_query
from fairdsl.backends.smt.region import Region, reads_only
from fairdsl.ir.ensemble import attributes_of, reading_copy, reads_of
from fairdsl.ir.expr import TRUE, variables
from fairdsl.ir.feature import IndicatorInput
from fairdsl.ir.model import Model
from fairdsl.metrics.subject import Subject, predicates_of
from fairdsl.numerics.bounds import float_layers
from fairdsl.numerics.exact import exact_inputs
from fairdsl.numerics.leaves import Leaves
from fairdsl.numerics.narrow import Finite, Interval, ValueSet
from fairdsl.numerics.space import input_boxes
from fairdsl.populations.cutting import cuts_by_model, cuts_in

WIDTH = len(COLUMNS)
FEW = settings(QUICK, max_examples=max(8, QUICK.max_examples // 4))


def listed(model: Model) -> Model:
    """The same model with its leaves listed one by one."""
    return replace(model, inputs=tuple(model.inputs), groups=tuple(tuple(group) for group in model.one_of))


def some_sets(data: st.DataObject, single: int | None = None) -> tuple[ValueSet, ...]:
    """Values that are left of each attribute: one of each but the first ``single`` where that is given."""
    found: list[ValueSet] = []
    for column, values in enumerate(VALUES):
        low, high = sorted(data.draw(st.lists(st.sampled_from(sorted(values)), min_size=2, max_size=2)))
        if single is not None and column != single:
            high = low
        inside = tuple(value for value in sorted(set(values)) if low <= value <= high)
        found.append(Interval(low, high) if column == 2 and low < high and single is None else Finite(inside))
    return tuple(found)


@FEW
@given(forest=forests(), scaled=st.booleans(), data=st.data())
def test_arrays_say_what_predicates_say(forest: list[Tree], scaled: bool, data: st.DataObject, tmp_path: Path) -> None:
    model = opened(forest, tmp_path, scaled)
    one_by_one = listed(model)
    reads = reads_of(model.inputs, WIDTH)
    assert [set(np.flatnonzero(row).tolist()) for row in reads] == [attributes_of(item) for item in model.inputs]
    assert np.array_equal(reads, reads_of(one_by_one.inputs, WIDTH))
    assert sorted(place for group in model.one_of for place in group) == sorted(
        place for group in one_by_one.one_of for place in group
    )
    assert model.indicators == one_by_one.indicators
    marked = data.draw(st.lists(st.booleans(), min_size=WIDTH, max_size=WIDTH))
    assert reads_only(model.inputs, marked).tolist() == [
        all(marked[attribute] for attribute in attributes_of(item)) for item in model.inputs
    ]
    for column in range(WIDTH):
        leaves = [item.predicate for item in one_by_one.inputs if isinstance(item, IndicatorInput)]
        assert cuts_by_model(model, column) == {cut for leaf in leaves for cut in cuts_in(leaf, column)}
        moved = reading_copy(model.inputs, column, WIDTH)
        point = tuple(data.draw(st.sampled_from(values)) for values in VALUES)
        other = data.draw(st.sampled_from(VALUES[column]))
        seen = tuple(other if place == column else value for place, value in enumerate(point))
        read = exact_inputs(replace(model, inputs=moved), (*point, other))
        assert read == exact_inputs(model, seen) == exact_inputs(one_by_one, seen)
        assert tuple(moved) == tuple(reading_copy(one_by_one.inputs, column, WIDTH))
    looked_at = {each.attribute for test in asked(model) for each in variables(test)}
    assert looked_at == {each.attribute for test in asked(one_by_one) for each in variables(test)}


def asked(model: Model) -> list:
    return predicates_of(Subject(network=None, model=model, condition=TRUE, keys=()))  # type: ignore[arg-type]


@FEW
@given(forest=forests(), scaled=st.booleans(), data=st.data())
def test_contributions_of_one_attribute(forest: list[Tree], scaled: bool, data: st.DataObject, tmp_path: Path) -> None:
    """Where a single attribute moves, the first layer's sums are constant and contribution."""
    model = opened(forest, tmp_path, scaled)
    moving = data.draw(st.integers(0, WIDTH - 1))
    sets = some_sets(data, moving)
    layer = model.layers[0]
    assert moving_reads(model, sets).sum(axis=1).max(initial=0) <= 1
    first = FirstLayer(model, layer, sets)
    values = list(sets[moving].values)
    scale = Fraction(1, first._denominator)
    for value, found in zip(values, first.contributions(moving, values), strict=True):
        point = tuple(value if column == moving else own.low for column, own in enumerate(sets))
        read = exact_inputs(model, point)
        sums = layer.weight.exact @ np.array(read, dtype=object) + layer.bias.exact
        others = [first.contributions(column, [own.low])[0] for column, own in enumerate(sets) if column != moving]
        total = first.bias + found + sum(others, start=np.zeros(layer.width, dtype=object))
        assert [scale * number for number in total] == list(sums)


@FEW
@given(forest=forests(), scaled=st.booleans(), data=st.data())
def test_programs_about_arrays(forest: list[Tree], scaled: bool, data: st.DataObject, tmp_path: Path) -> None:
    """Queries of linear programs are those of listed leaves, with the flags that a point's attributes give."""
    model = opened(forest, tmp_path, scaled)
    one_by_one = listed(model)
    shared = tuple(data.draw(st.lists(st.booleans(), min_size=WIDTH, max_size=WIDTH)))
    a, b = some_sets(data), some_sets(data)
    region = Region(a, tuple(x if same else y for x, y, same in zip(a, b, shared, strict=True)), shared)
    one, other = (network_query(float_layers(each), each.inputs, region, ("a", "b")) for each in (model, one_by_one))
    assert (one.attributes, one.indicators) == (other.attributes, other.indicators)
    assert all(np.array_equal(x, y) for x, y in zip(one.inputs, other.inputs, strict=True))
    assert np.array_equal(one.depends, other.depends)
    assert [(x.who, x.attribute, x.columns.tolist(), x.table.tolist()) for x in one.listings] == [
        (x.who, x.attribute, x.columns.tolist(), x.table.tolist()) for x in other.listings
    ]
    point = {
        owned: float(data.draw(st.sampled_from(VALUES[owned[1]]))) + data.draw(st.sampled_from([0.0, 0.25]))
        for owned in one.attributes
    }
    assert _truths(one, region, point).tolist() == _truths(other, region, point).tolist()
    low, high = input_boxes(model.inputs, Leaves.of(model), [region.a, region.b])
    for row, sets in enumerate((region.a, region.b)):
        for person in (tuple(own.low for own in sets), tuple(own.high for own in sets)):
            read = [float(value) for value in exact_inputs(one_by_one, person)]
            assert np.all((low[row] <= read) & (read <= high[row]))
