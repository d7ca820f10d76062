"""The sheet that all formats of a report are made from."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction

from samples import REPORT, at_least, demand, share_demand, shares, witness

from fairdsl.ir.enclosure import Enclosure
from fairdsl.ir.metric import Comparison
from fairdsl.ir.question import Quantity
from fairdsl.report.asked import Asked
from fairdsl.report.group_table import group_table, required_rate
from fairdsl.report.layout import sheet_of
from fairdsl.report.sentences import plain
from fairdsl.report.standing import Standing, standings
from fairdsl.verdict import (
    Arithmetic,
    Basis,
    Breach,
    Evidence,
    Given,
    Holds,
    Named,
    Person,
    Rate,
    Value,
    Violated,
    Word,
)

F = Fraction


def holds(**basis: object) -> Holds:
    return Holds(evidence=Evidence(backend="smt", method="bounds", basis=Basis(**basis)))  # type: ignore[arg-type]


def rates(*bounds: tuple[F, F]) -> Value:
    found = tuple(
        Rate(group=Named({"sex": str(number)}), number=Enclosure(low=low, high=high), mass=Enclosure.exactly(F(1, 2)))
        for number, (low, high) in enumerate(bounds)
    )
    return Value(number=Enclosure(low=F(0), high=F(1)), evidence=Evidence(backend="rates", method=""), rates=found)


def test_every_property_and_demand_has_its_place_in_the_sheet() -> None:
    sheet = sheet_of(REPORT)
    assert [item.name for item in sheet.properties] == [item.name for item in REPORT.properties]
    assert sum(count for count, _ in sheet.counts) == len(REPORT.properties)


def test_what_is_proved_is_not_what_is_assumed() -> None:
    assert standings(demand(holds())) == (Standing.PROVED,)
    assert standings(demand(holds(word=Word.SOLVER))) == (Standing.PROVED, Standing.ASSUMED)
    assert standings(demand(holds(word=Word.FILES))) == (Standing.CLAIMED,)
    assert standings(demand(holds(arithmetic=Arithmetic.ESTIMATE))) == (Standing.ESTIMATED,)
    assert standings(demand(holds(distribution="people"))) == (Standing.PROVED, Standing.ASSUMED)


def test_shares_are_counted_where_nothing_is_left_open_and_proved_else() -> None:
    counted = share_demand(shares(F(3, 4), F(1, 4), total=8), None)
    assert standings(counted) == (Standing.COUNTED,)
    assert standings(share_demand(shares(F(3, 4), F(1, 8), total=8), None)) == (Standing.PROVED,)


def test_a_threshold_is_said_in_words() -> None:
    value = Value(number=Enclosure.exactly(F(1, 2)), evidence=Evidence(backend="rates", method=""))
    found = demand(value, metric="impact_ratio", quantity=Quantity.METRIC, threshold=at_least("80%"))
    assert plain(found) == "The impact ratio is 50%, but at least 80% is required."


def test_impact_ratios_are_over_the_greatest_rate_whoever_has_it() -> None:
    table = group_table(rates((F(1, 4), F(1, 4)), (F(1, 2), F(1, 2))))
    [column] = [column for column in table.columns if column.name == "impact ratio"]
    assert [entry.ends for entry in column.entries] == [Enclosure.exactly(F(1, 2)), Enclosure.exactly(F(1))]


def test_impact_ratios_of_bounds_enclose_every_value_between_them() -> None:
    bounds = ((F(1, 5), F(2, 5)), (F(3, 10), F(1, 2)), (F(1, 10), F(9, 20)))
    table = group_table(rates(*bounds))
    [column] = [column for column in table.columns if column.name == "impact ratio"]
    steps = [[low, (low + high) / 2, high] for low, high in bounds]
    for choice in ((a, b, c) for a in steps[0] for b in steps[1] for c in steps[2]):
        for rate, entry in zip(choice, column.entries, strict=True):
            assert entry.ends is not None
            assert entry.ends.low <= rate / max(choice) <= entry.ends.high


def test_the_command_that_makes_a_report_again() -> None:
    asked = Asked(timeout=30.0, properties=("a b",), models=(("m", "x.onnx"),), settings=(("smt.threads", "2"),))
    assert asked.command("s.fair", 3) == (
        "fairdsl check s.fair --property 'a b' --model m=x.onnx --set smt.threads=2 --seed 3 --timeout 30"
    )


def test_one_individual_who_breaks_a_formula_is_not_said_to_be_two() -> None:
    given = Given(model="new", individual="a", decision="reject")
    breach = Breach(individuals=(Person(name="a", values=witness().a),), given=(given,), failed=(), exact=True)
    found = demand(
        Violated(witnesses=(), evidence=Evidence(backend="search", method="", basis=Basis()), breaches=(breach,)),
        text="require new(a) = grant",
        metric="demand",
    )
    assert plain(found) == "`new(a) = grant` is broken: to `a`, who is shown, `new` gives `reject`."
    item = replace(REPORT.properties[0], demands=(found,))
    report = replace(REPORT, properties=(item,))
    page = report.rendered("html")
    assert "An individual who breaks it." in page
    assert "An individual shows it" in page
    assert not re.search("(?i)two individuals", page)
    assert '<th scope="col">b</th>' not in page
    assert "| witness | a |\n" in report.rendered("markdown")


def test_the_rate_that_a_threshold_comes_to_is_the_one_at_which_the_number_meets_it() -> None:
    value = rates((F(1, 4), F(1, 4)), (F(1, 2), F(1, 2)))
    for comparison, limit in ((Comparison.RATIO, F(4, 5)), (Comparison.GAP, F(1, 10))):
        least = required_rate(value, comparison, limit)
        assert least is not None
        number = least / F(1, 2) if comparison is Comparison.RATIO else F(1, 2) - least
        assert number == limit
    assert required_rate(value, Comparison.LEAST, F(1, 3)) == F(1, 3)
    assert required_rate(value, Comparison.DIFFERENCE, F(1, 10)) is None
    assert required_rate(value, Comparison.RATIO, None) is None
    assert required_rate(rates((F(1, 4), F(1, 3)), (F(1, 2), F(1, 2))), Comparison.RATIO, F(4, 5)) is None


def test_a_page_draws_shares_in_short_and_says_once_what_two_lines_rest_on() -> None:
    found = share_demand(shares(F(3, 4), F(1, 4), total=8), None)
    item = replace(REPORT.properties[0], demands=(found, replace(found, text="measure discrimination_rate")))
    page = replace(REPORT, properties=(item,)).rendered("html")
    in_short = page[page.index("In short") : page.index('id="p1"')]
    assert "certified 75%" in in_short
    assert page.count("Rests on the same.") == 1
