"""Cells of columns: every value lies in exactly one, and conditions do not change within them."""

from __future__ import annotations

from fractions import Fraction
from math import nextafter, ulp
from pathlib import Path

import numpy as np
import pytest
from declared import built, finding, network
from hypothesis import given
from hypothesis import strategies as st

from fairdsl.ir.domain import Attribute, Real
from fairdsl.ir.exact_rows import Scaled
from fairdsl.ir.expr import And, Not, Or, Predicate, Relation
from fairdsl.ir.feature import IndicatorInput
from fairdsl.ir.model import ByThreshold, Model, linear_layer
from fairdsl.ir.population import Cell, Inside
from fairdsl.numerics.cells import Cut, cells_between, place_of, places, points
from fairdsl.numerics.predicates import holds_for
from fairdsl.populations.conditions import decided
from fairdsl.populations.cutting import cuts_by_quantiles, cuts_in, show_cell, show_end
from tests.builders import BOOLEAN, integer, linear, member, real

REAL = Attribute(name="x", type=real())
numbers = st.fractions(-3, 3, max_denominator=4)
floats = st.floats(-4, 4, allow_nan=False)
cuts = st.sets(st.builds(Cut, numbers, st.booleans()), max_size=5)


@given(cuts=cuts, values=st.lists(st.integers(-3, 3), min_size=1))
def test_whole_numbers_lie_in_one_cell_each(cuts: set[Cut], values: list[int]) -> None:
    cells = cells_between(Fraction(-3), Fraction(3), cuts, Inside.UNKNOWN, whole=True)
    found = places(np.array(values, dtype=float), cells)
    for value, index in zip(values, found.tolist(), strict=True):
        assert [number for number, cell in enumerate(cells) if cell.contains(Fraction(value))] == [index]
    # Two numbers share a cell exactly where no cut separates them.
    for one in range(-3, 3):
        apart = places(np.array([one, one + 1.0]), cells)
        assert (apart[0] != apart[1]) == any(_separates(cut, one, one + 1) for cut in cuts)


def _separates(cut: Cut, one: Fraction | float, other: Fraction | float) -> bool:
    """Whether the lesser number lies to the left of the cut and the greater one to the right."""
    return (one < cut.at or (one == cut.at and cut.after)) and not (other < cut.at or (other == cut.at and cut.after))


@given(cuts=cuts, values=st.lists(floats, min_size=2, max_size=6))
def test_reals_lie_in_one_cell_each_and_cuts_separate_them(cuts: set[Cut], values: list[float]) -> None:
    cells = cells_between(None, None, cuts, Inside.UNKNOWN, whole=False)
    found = places(np.array(values), cells)
    for value, index in zip(values, found.tolist(), strict=True):
        assert [number for number, cell in enumerate(cells) if cell.contains(Fraction(value))] == [index]
    low, high = Fraction(min(values)), Fraction(max(values))
    apart = places(Scaled.of_fractions([low, high]), cells)
    assert (apart[0] != apart[1]) == any(_separates(cut, low, high) for cut in cuts)


def test_a_number_equal_to_an_edge_as_it_is_written() -> None:
    """0.3 and 0.7 are not float64: the nearest ones lie below and above them, and are other numbers."""
    for text in ("0.1", "0.3", "0.7"):
        edge, near = Fraction(text), Fraction(float(text))
        below = cells_between(Fraction(0), Fraction(1), [Cut(edge)], Inside.UNKNOWN, whole=False)
        after = cells_between(Fraction(0), Fraction(1), [Cut(edge, after=True)], Inside.UNKNOWN, whole=False)
        assert [place_of(edge, below), place_of(edge, after)] == [1, 0]
        assert places(np.array([float(text)]), below).tolist() == [int(near > edge)]
        assert places(np.array([float(text)]), after).tolist() == [int(near > edge)]


decimals = st.builds(Fraction, st.decimals(0, 1, places=2))
#: Decimals, the float64 nearest to them, and the neighbours of those: as near to each other as two cuts can be.
near = st.builds(
    lambda number, step: number if step is None else Fraction(float(number) + step * ulp(float(number))),
    decimals,
    st.sampled_from([None, -1, 0, 1]),
)


@given(
    cuts=st.sets(st.builds(Cut, near, st.booleans()), max_size=6),
    ends=st.tuples(decimals, decimals).map(sorted),
    values=st.lists(near, min_size=1, max_size=8),
)
def test_every_number_that_occurs_lies_in_one_cell_and_cuts_separate_them(
    cuts: set[Cut], ends: list[Fraction], values: list[Fraction]
) -> None:
    rows = [value for value in values if ends[0] <= value <= ends[1]] or [ends[0]]
    column = Scaled.of_fractions(rows)
    cells = cells_between(*ends, cuts, Inside.UNKNOWN, whole=False, occurring=column)
    assert all(cell.low <= cell.high for cell in cells)
    found = places(column, cells).tolist()
    for value, index in zip(rows, found, strict=True):
        assert [number for number, cell in enumerate(cells) if cell.contains(value)] == [index]
    # A number written in a spec is taken like one in a row, and one row like many.
    assert found == [place_of(value, cells) for value in rows]
    for one, first in zip(rows, found, strict=True):
        for other, second in zip(rows, found, strict=True):
            assert (first < second) == any(_separates(cut, one, other) for cut in cuts)


def test_no_cell_no_place() -> None:
    cells = cells_between(Fraction("0.1"), Fraction("0.3"), [Cut(Fraction("0.2"))], Inside.UNKNOWN, whole=False)
    outside = [0.0, nextafter(0.1, 0), 7.0]
    assert places(np.array(outside), cells).tolist() == [-1] * 3
    assert [place_of(Fraction(text), cells) for text in ("0.1", "0.2", "0.3", "0.31")] == [0, 1, 1, None]
    assert places(np.array([5.0, 0.0, 3.0]), points([3, 0])).tolist() == [-1, 1, 0]


@given(values=st.lists(st.integers(0, 9), min_size=1, max_size=30), count=st.integers(2, 5))
def test_quantiles(values: list[int], count: int) -> None:
    edges = sorted(cut.at for cut in cuts_by_quantiles(np.array(values, dtype=float), count))
    assert len(edges) <= count - 1
    assert bool(edges) == (len(set(values)) > 1)
    assert all(min(values) < edge <= max(values) for edge in edges)
    if len(set(values)) == len(values):
        # Without ties bins differ by one row, but for those that share the least value.
        sizes = np.bincount(np.searchsorted(edges, values, side="right"))
        assert sizes.max() <= -(-len(values) // count) + 1


def test_quantiles_of_what_is_mostly_zero() -> None:
    assert cuts_by_quantiles(np.array([0, 0, 0, 0, 0, 0, 0, 5, 7]), 4) == {Cut(Fraction(5))}


atoms = st.one_of(
    st.builds(
        lambda column, factor, relation, right: linear({column: factor}, relation.value, right),
        st.integers(0, 1),
        st.sampled_from([-2, 1]),
        st.sampled_from(Relation),
        numbers,
    ),
    st.builds(lambda values: member(0, *values), st.lists(st.integers(-3, 3), max_size=3)),
)
predicates = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.builds(Not, inner),
        st.builds(lambda *parts: And(parts), inner, inner),
        st.builds(lambda *parts: Or(parts), inner, inner),
    ),
    max_leaves=4,
)


@given(predicate=predicates)
def test_conditions_are_decided_on_the_cells_that_they_cut(predicate: Predicate) -> None:
    """Column 0 is whole, column 1 a real under a uniform law: its cells count without their ends."""
    whole, length = Attribute(name="k", type=integer(-3, 3)), Attribute(name="x", type=real(-3, 3))
    low, high = Fraction(-3), Fraction(3)
    ks = cells_between(low, high, cuts_in(predicate, 0), Inside.UNIFORM, whole=True)
    xs = cells_between(low, high, cuts_in(predicate, 1), Inside.UNIFORM, whole=False)
    for k in ks:
        for x in xs:
            middle = (x.low + x.high) / 2
            truths = {
                holds_for(predicate, (value, middle)) for value in map(Fraction, range(int(k.low), int(k.high) + 1))
            }
            assert decided(predicate, {0: (whole, k), 1: (length, x)}) in truths
            assert len(truths) == 1


@given(predicate=predicates, k=st.integers(-3, 3), x=numbers)
def test_what_is_decided_on_a_range_is_true_in_all_of_it(predicate: Predicate, k: int, x: Fraction) -> None:
    whole, length = Attribute(name="k", type=integer(-3, 3)), Attribute(name="x", type=Real(low=None, high=None))
    ks = Cell(low=Fraction(k), high=Fraction(3), inside=Inside.UNKNOWN if k < 3 else Inside.POINT)
    xs = Cell(low=x, high=x + 1, open=True, inside=Inside.UNKNOWN)
    truth = decided(predicate, {0: (whole, ks), 1: (length, xs)})
    for value in range(k, 4):
        for part in (0, 1, 2, 3):
            holds = holds_for(predicate, (Fraction(value), x + Fraction(part, 4)))
            assert truth is None or truth == holds


def test_conditions_over_several_columns() -> None:
    columns = {
        0: (Attribute(name="k", type=integer(0, 9)), Cell(low=Fraction(2), high=Fraction(4), inside=Inside.UNKNOWN))
    }
    columns[1] = (REAL, Cell(low=None, high=Fraction(1), open=True, inside=Inside.UNKNOWN))
    assert decided(linear({0: 1, 1: -1}, ">", 1), columns) is True
    assert decided(linear({0: 1, 1: -1}, ">", 2), columns) is None
    assert decided(linear({0: 1, 1: 1}, ">=", 5), columns) is False
    assert decided(linear({0: 1, 1: 1}, "=", 5), columns) is False
    assert decided(linear({1: 1}, "!=", 1), columns) is True


# ---- in specs ------------------------------------------------------------------------------------

PERSON = (
    "domain Person {\n  member : boolean\n  x : real 0 .. 1\n  k : integer 0 .. 9\n  big : integer 0 .. 100000\n}\n"
)
COUNTED = 'distribution law over Person\n  independent\n  from "people.csv"\n'


def write(folder: Path) -> None:
    (folder / "people.csv").write_text("member,x,k,big\nyes,0.3,1,7\nno,0.29,2,99999\nyes,0.9,9,7\nno,0,0,12\n")


def rule(*predicates: Predicate) -> Model:
    """A model that reads only whether conditions hold."""
    return Model(
        name="rule",
        outcomes=("no", "yes"),
        inputs=tuple(IndicatorInput(predicate) for predicate in predicates),
        layers=(linear_layer([[Fraction(1)] * len(predicates)], [Fraction(0)]),),
        rule=ByThreshold(relation=Relation.GT, low=Fraction(0), high=Fraction(0), granted=1, otherwise=0),
        favourable=1,
    )


def test_cells_of_counted_columns(tmp_path: Path) -> None:
    write(tmp_path)
    binned = PERSON.replace("0 .. 1\n", "0 .. 1   bins at 0.3, 0.5\n")
    law = network(binned + COUNTED, tmp_path)
    assert [show_cell(cell, law.columns[1]) for cell in law.cells[1]] == ["[0, 0.3)", "[0.3, 0.5)", "[0.5, 1]"]
    assert law.factor_of(1).rows[()] == (Fraction(1, 2), Fraction(1, 4), Fraction(1, 4))
    assert all(cell.inside is Inside.UNKNOWN for cell in law.cells[1])
    assert [cell.low for cell in law.cells[2]] == list(range(10))
    # Of many values only those that occur are cells.
    assert [cell.low for cell in law.cells[3]] == [7, 12, 99999]
    assert law.factor_of(3).rows[()] == (Fraction(1, 2), Fraction(1, 4), Fraction(1, 4))


def test_real_attributes_of_rows_need_bins(tmp_path: Path) -> None:
    write(tmp_path)
    code, marked = finding(PERSON + COUNTED, tmp_path)
    assert (code, marked) == ("E0570", "law")
    _, (only,) = built(PERSON + COUNTED, tmp_path)
    assert "bins at" in only.help
    assert only.secondary[0].span.text == "x"


def test_bins_by_quantiles(tmp_path: Path) -> None:
    write(tmp_path)
    text = PERSON.replace("0 .. 1\n", "0 .. 1   bins by quantiles 2\n")
    law = network(text + COUNTED, tmp_path)
    assert law.factor_of(1).rows[()] == (Fraction(1, 2), Fraction(1, 2))
    assert law.cells[1][1].low == Fraction("0.3")
    alike = network(text + "distribution law over Person\n  uniform\n", tmp_path)
    assert [(cell.low, cell.high) for cell in alike.cells[1]] == [(0, Fraction(1, 2)), (Fraction(1, 2), 1)]


def test_bins_by_the_model_are_its_thresholds(tmp_path: Path) -> None:
    write(tmp_path)
    text = PERSON.replace("0 .. 1\n", "0 .. 1   bins by model\n").replace("0 .. 9\n", "0 .. 9   bins by model\n")
    model = rule(linear({1: 1}, "<=", Fraction(1, 4)), linear({2: -1}, ">", Fraction(-11, 2)), linear({1: 1}, "<", 2))
    law = network(text + COUNTED, tmp_path, model)
    assert [(cell.low, cell.high) for cell in law.cells[2]] == [(0, 5), (6, 9)]
    assert law.cells[1] == (
        Cell(low=Fraction(0), high=Fraction(1, 4), inside=Inside.UNKNOWN),
        Cell(low=Fraction(nextafter(0.25, 1)), high=Fraction(1), inside=Inside.UNKNOWN),
    )
    assert finding(text + COUNTED, tmp_path, rule(linear({1: 1}, "<=", Fraction(1, 4))))[0] == "E0570"
    assert {found.code for found in built(text + COUNTED, tmp_path)[1]} == {"E0570"}


def test_bins_of_a_population_of_rows(tmp_path: Path) -> None:
    write(tmp_path)
    text = PERSON.replace("0 .. 1\n", "0 .. 1   bins by quantiles 2\n").replace("0 .. 9\n", "0 .. 9   bins by model\n")
    text += 'distribution law over Person\n  empirical from "people.csv"\n'
    rows, _ = built(text, tmp_path, rule(linear({2: 1}, "<=", 5)))
    assert rows.columns[1].bins == (Fraction("0.3"),)
    assert rows.columns[2].bins == (6,)
    assert all(attribute.bins_by is None for attribute in rows.columns)
    assert finding(text, tmp_path)[0] == "E0570"


def test_uniform_laws(tmp_path: Path) -> None:
    law = network(PERSON + "distribution law over Person\n  uniform\n", tmp_path)
    assert law.factor_of(0).rows[()] == (Fraction(1, 2), Fraction(1, 2))
    assert law.cells[1] == (Cell(low=Fraction(0), high=Fraction(1), inside=Inside.UNIFORM),)
    assert len(law.cells[2]) == 10
    assert law.cells[3] == (Cell(low=Fraction(0), high=Fraction(100000), inside=Inside.UNIFORM),)
    endless = PERSON.replace("real 0 .. 1", "real") + "distribution law over Person\n  uniform\n"
    assert finding(endless, tmp_path) == ("E0570", "law")


@pytest.mark.parametrize(
    ("cell", "attribute", "text"),
    [
        (Cell(low=Fraction(1), high=Fraction(1)), Attribute(name="b", type=BOOLEAN), "true"),
        (
            Cell(low=Fraction(1), high=Fraction(4), inside=Inside.UNKNOWN),
            Attribute(name="k", type=integer(0, 9)),
            "1 .. 4",
        ),
        (Cell(low=None, high=Fraction(1, 3), open=True, inside=Inside.UNKNOWN), REAL, "(-inf, 1/3)"),
        (Cell(low=Fraction(-1), high=None, inside=Inside.UNKNOWN), REAL, "[-1, inf)"),
    ],
)
def test_cells_in_words(cell: Cell, attribute: Attribute, text: str) -> None:
    assert show_cell(cell, attribute) == text


def test_ends_of_bins_can_be_read() -> None:
    """A threshold of float32, and the float64 after it: the shortest decimals of both; 1/3 is not a float64."""
    threshold = Fraction(float(np.float32(39.3)))
    first, second = cells_between(
        Fraction(0), Fraction(1000, 3), [Cut(threshold, after=True)], Inside.UNKNOWN, whole=False
    )
    shown = [show_cell(cell, REAL, show_end) for cell in (first, second)]
    assert shown == ["[0, 39.29999923706055]", "[39.299999237060554, 1000/3]"]
    assert Fraction(float("39.29999923706055")) == first.high
    assert Fraction(float("39.299999237060554")) == second.low
    assert show_cell(first, REAL) == "[0, 10302259/262144]"
