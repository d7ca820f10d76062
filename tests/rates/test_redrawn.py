"""Those who are drawn again, by boxes: against counting everybody, and the reference value."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fairdsl
from fairdsl.backends.contract import Budget, Facts, Offer, Silent
from fairdsl.backends.enumerate import Enumerate
from fairdsl.backends.rates import Rates
from fairdsl.ir.expr import TRUE
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Individually, Quantity
from fairdsl.verdict import Vacuous, Value
from tests.drawing import examples
from tests.rates.test_population_shares import R1, shares


def drawn_again(asks: Problem, *, everybody: bool) -> Problem:
    """The same people, with conditions on who is asked about or without any."""
    pair = replace(asks.demanded.pair, relax=(), target=TRUE if everybody else asks.demanded.pair.target)
    domain = replace(asks.domain, where=TRUE) if everybody else asks.domain
    question = Individually(pair=pair, given=asks.given)
    return replace(asks, domain=domain, question=question, quantity=Quantity.REDRAW_DISAGREEMENT)


def test_boxes_come_to_what_counting_does() -> None:
    counted: Counter[str] = Counter()

    @given(asks=st.builds(drawn_again, shares(), everybody=st.booleans()))
    @settings(max_examples=examples(1.5))
    def agree(asks: Problem) -> None:
        if not isinstance(Rates().offer(asks), Offer):
            return
        exact = Enumerate().answer(asks, Facts(), Budget.of(20), Silent())
        found = Rates().answer(asks, Facts(), Budget.of(0.3), Silent())
        if isinstance(exact, Vacuous):
            assert isinstance(found, Vacuous)
            return
        assert isinstance(exact, Value)
        assert isinstance(found, Value)
        assert found.low <= exact.high
        assert exact.low <= found.high
        if found.reason is None and exact.reason is None:
            assert (found.low, found.high) == (exact.low, exact.high)
            counted["exact"] += 1
        counted["apart"] += found.low > 0
        counted["several"] += len(asks.demanded.pair.differ) > 1

    agree()
    assert counted["apart"]
    assert counted["exact"]
    assert counted["several"]


@pytest.mark.parametrize("seconds", [0.0, 0.05])
def test_bounds_at_any_time(seconds: float) -> None:
    @given(asks=st.builds(drawn_again, shares(), everybody=st.just(True)))
    @settings(max_examples=examples(0.2))
    def enclosed(asks: Problem) -> None:
        if not isinstance(Rates().offer(asks), Offer):
            return
        exact = Enumerate().answer(asks, Facts(), Budget.of(20), Silent())
        found = Rates().answer(asks, Facts(), Budget.of(seconds), Silent())
        if isinstance(exact, Value) and isinstance(found, Value):
            assert found.low <= exact.low
            assert exact.high <= found.high

    enclosed()


def test_the_reference_value(tmp_path: Path) -> None:
    text = R1.replace("WHERE", "").replace("CLAUSE", "").replace("measure fair_share", "measure redraw_disagreement")
    (tmp_path / "s.fair").write_text(text)
    (demand,) = fairdsl.check(tmp_path / "s.fair", backend="rates").properties[0].demands
    assert isinstance(demand.verdict, Value)
    assert demand.verdict.low == demand.verdict.high == Fraction(47, 460)


LABELLED = """
domain D {
  sex : category { f, m }
  job : integer 0 .. 2
  senior : boolean
}
protected sex
label good : boolean
model m : D -> { no, yes }
  score = 2 * job + 3 * (sex = f) - 2 * (senior = yes)
  yes when score > 2
distribution people over D, good
WRITTEN
property p {
  compare a, b : D
  differ in sex
  under people
  require same decision
  measure redraw_disagreement
}
"""
#: A label that causes what differs, that follows from it, that stands between it and what is shared, or apart.
GRAPHS = [
    "good|senior sex|good job|good senior",
    "senior job sex|job good|sex,job",
    "sex good|sex job|good,senior senior|good",
    "job good|job senior sex|senior",
]


@pytest.mark.parametrize("graph", GRAPHS)
def test_the_two_need_not_share_the_label(tmp_path: Path, graph: str) -> None:
    values = {"sex": ["f", "m"], "job": ["0", "1", "2"], "senior": ["no", "yes"], "good": ["no", "yes"]}
    written = []
    for number, node in enumerate(graph.split()):
        column, _, of = node.partition("|")
        parents = of.split(",") if of else []
        for case, given_values in enumerate(product(*(values[each] for each in parents))):
            first = Fraction(3 + 4 * ((case + number) % 3), 20)
            shares = [first, *[(1 - first) / (len(values[column]) - 1)] * (len(values[column]) - 1)]
            table = ", ".join(f"{value} : {float(share)}" for value, share in zip(values[column], shares, strict=True))
            where = " and ".join(f"{each} = {value}" for each, value in zip(parents, given_values, strict=True))
            written.append(f"  {column} : table {{ {table} }}" + (f" given {where}" if where else ""))
    path = tmp_path / "s.fair"
    path.write_text(LABELLED.replace("WRITTEN", "\n".join(written)))
    by_boxes, counted = (
        fairdsl.check(path, backend=backend).properties[0].demands[1].value for backend in ("rates", "enumerate")
    )
    assert by_boxes is not None
    assert by_boxes == counted
    assert by_boxes.low == by_boxes.high > 0


def test_nobody_is_drawn_again_whose_bins_alone_are_known(tmp_path: Path) -> None:
    """All women have 1 and all men 2, in one bin: given the number nobody of the other sex is drawn."""
    (tmp_path / "rows.csv").write_text("sex,job,senior,good\n" + "f,1,no,yes\nm,2,no,no\n" * 3)
    text = LABELLED.replace("job : integer 0 .. 2", "job : integer 0 .. 2 bins at 1")
    (tmp_path / "s.fair").write_text(text.replace("WRITTEN", '  independent\n  from "rows.csv"'))
    demand = fairdsl.check(tmp_path / "s.fair").properties[0].demands[1]
    assert [(each.code, "may depend on what differs" in (each.why or "")) for each in demand.refusals] == [
        ("E0601", True)
    ]
