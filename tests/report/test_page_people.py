"""Whom a report is about: what is listed of domains and populations, and how they are drawn."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from samples import REPORT, demand, share_demand, shares

from fairdsl.elaborate import build_populations
from fairdsl.ir.enclosure import Enclosure
from fairdsl.ir.question import Quantity, influence_name, influence_of
from fairdsl.report.gather import domains, populations
from fairdsl.report.html.network import drawn_network
from fairdsl.report.people import (
    AttributeKind,
    EdgesFrom,
    ListedAttribute,
    ListedDomain,
    ListedPopulation,
)
from fairdsl.semantics import front_end
from fairdsl.verdict import Evidence, Interval, Region, Value

F = Fraction
MONTHS = ListedAttribute(name="month", kind=AttributeKind.INTEGER, values=Interval(F(0), F(9)))
STATUS = ListedAttribute(name="status", kind=AttributeKind.CATEGORY, values=("a", "b", "c", "d"), protected=True)
INCOME = ListedAttribute(name="income", kind=AttributeKind.REAL, values=Interval(F(0), F(2)))


EXAMPLE = Path(__file__).parents[2] / "examples" / "recidivism" / "recidivism.fair"


def test_domains_and_populations_are_those_of_the_spec() -> None:
    spec, _ = front_end(str(EXAMPLE))
    built, _ = build_populations(spec, {})
    [domain] = domains(spec)
    assert [one.name for one in domain.attributes if one.protected] == ["race", "sex", "age"]
    assert domain.attributes[4].values == Interval(F(0), F(20))
    found = {one.name: one for one in populations(spec, [each for _, each in built])}
    assert {name: one.edges_from for name, one in found.items()} == {
        "in_groups": EdgesFrom.GIVEN,
        "learned": EdgesFrom.FOUND,
        "alone": EdgesFrom.NONE,
        "written": EdgesFrom.WRITTEN,
    }
    assert ("race", "priors") in found["in_groups"].edges
    assert found["written"].rows == 900
    assert found["written"].label == "rearrested"


def test_parts_of_an_axis() -> None:
    assert MONTHS.parts(None) == ((0, 1),)
    assert MONTHS.parts(Interval(F(3), F(3))) == ((F(3, 10), F(4, 10)),)
    assert MONTHS.parts(Interval(None, F(4))) == ((0, F(1, 2)),)
    assert INCOME.parts(Interval(F(1, 2), F(1))) == ((F(1, 4), F(1, 2)),)
    assert STATUS.parts(("d", "b")) == ((F(1, 4), F(1, 2)), (F(3, 4), 1))


@given(st.sets(st.tuples(st.integers(0, 7), st.integers(0, 7)).filter(lambda edge: edge[0] < edge[1]), min_size=1))
def test_a_drawn_network_has_every_edge_and_no_column_upon_another(pairs: set[tuple[int, int]]) -> None:
    edges = [("c" * (a + 1), "c" * (b + 1)) for a, b in sorted(pairs)]
    drawn = drawn_network(edges, {}, "words")
    boxes = [
        tuple(map(float, re.findall(r' (?:x|y|width|height)="([-\d.]+)"', rect)))
        for rect in re.findall(r"<rect[^>]*>", drawn)
    ]
    assert len(boxes) == len({name for edge in edges for name in edge})
    for x, y, width, height in boxes:
        others = [(x2, w2) for x2, y2, w2, _ in boxes if y2 == y and x2 != x]
        assert all(x2 + w2 <= x or x + width <= x2 for x2, w2 in others)
        assert x >= 0
        assert height > 0
    ways = re.findall(r'<path d="M[-\d.]+,([-\d.]+) [^"]*?,([-\d.]+)"', drawn)
    assert len(ways) == len(edges)
    assert all(float(begins) < float(ends) for begins, ends in ways)  # every arrow leads down


def test_a_page_draws_whom_it_is_about() -> None:
    people = ListedPopulation(
        name="people",
        domain="D",
        how="the edges of the graph g",
        columns=("month", "status", "sick", "income"),
        label="sick",
        edges_from=EdgesFrom.WRITTEN,
        edges=(("status", "sick"),),
    )
    page = replace(
        REPORT, domains=(ListedDomain(name="D", attributes=(MONTHS, STATUS)),), populations=(people,)
    ).rendered("html")
    assert 'class="node is-protected"' in page
    assert 'class="node is-label"' in page
    assert "Independent of all others: month, income." in page
    assert "as causes" in page


def test_regions_of_one_or_two_attributes_are_a_map_and_of_more_are_strips() -> None:
    where = {"month": Interval(F(0), F(4)), "status": ("b",), "income": Interval(F(0), F(1))}
    listed = (ListedDomain(name="D", attributes=(MONTHS, STATUS, INCOME)),)
    for count in (1, 2, 3):
        region = Region(
            restricted=dict(list(where.items())[:count]), share=F(1, 8), falsified=F(1, 16), undecided=F(1, 16)
        )
        found = share_demand(replace(shares(F(3, 4), F(1, 8)), regions=(region,)), None)
        item = replace(REPORT.properties[0], demands=(found,))
        page = replace(REPORT, domains=listed, properties=(item,)).rendered("html")
        assert ('class="map"' in page) is (count < 3)
        assert ('<th scope="col">status</th>' in page) is (count == 3)
        plain = replace(REPORT, domains=listed * 2, properties=(item,)).rendered("html")
        assert 'class="map"' not in plain  # two domains have such attributes: nobody knows whose region it is


def test_influences_stand_beside_each_other() -> None:
    name = influence_name("(work, age)", "parity_gap")
    assert influence_of(name) == ("(work, age)", "parity_gap")
    assert influence_of("parity_gap") is None
    value = Value(number=Enclosure(low=F(-1, 4), high=F(-1, 8)), evidence=Evidence(backend="rates", method=""))
    found = demand(value, text=f"measure {name}", metric=name, quantity=Quantity.METRIC)
    page = replace(REPORT, properties=(replace(REPORT.properties[0], demands=(found,)),)).rendered("html")
    assert '<th scope="row">(work, age)</th><td>parity gap</td>' in page
    assert "M120.0,1 V17" in page  # zero is at the right end, everything lies below it
