"""The tables that an audit has to publish: categories of people with their numbers, as rows of the data have them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor

from fairdsl.ir.preset import FromPreset
from fairdsl.report.group_table import impact_ratios
from fairdsl.report.model import DemandReport, PropertyReport, Report
from fairdsl.report.words import cell
from fairdsl.verdict import Interval, Rate, Value

#: What represents what nobody has said.
NOT_STATED = "**not stated**"
#: Categories of a smaller part of the people may be left out of impact ratios.
_SMALL = Fraction(2, 100)


@dataclass(frozen=True, slots=True)
class Category:
    """People of one group: their values, how many they are, which part of them is counted, and the impact ratio."""

    values: tuple[str, ...]
    people: int
    rate: Interval
    #: The rate over the greatest one; None where the category is left out, or nobody is selected.
    ratio: Interval | None
    #: Whether it is so small that it may be left out.
    small: bool

    @property
    def selected(self) -> int | None:
        """How many are counted; None where that is open."""
        return None if self.rate.exact is None else int(self.rate.exact * self.people)


def measured(report: Report, *origins: FromPreset) -> Iterator[tuple[PropertyReport, DemandReport, Value]]:
    """The demands about groups of rows of the properties that come from presets."""
    for item in report.properties:
        for demand in item.demands if item.preset in origins else ():
            if isinstance(demand.verdict, Value) and demand.verdict.rates:
                yield item, demand, demand.verdict


def categories(value: Value, *, leave_out: bool) -> tuple[Category, ...]:
    """Every group of rows; with ``leave_out`` those below 2 % have no impact ratio, and no other is over their rate."""
    rates = [rate for rate in value.rates if rate.rows and rate.empirical is not None]
    people = sum(rate.rows or 0 for rate in rates)
    small = [leave_out and (rate.rows or 0) < _SMALL * people for rate in rates]
    kept = [_in_rows(rate) for rate, without in zip(rates, small, strict=True) if not without]
    ratios = iter(impact_ratios(kept))
    return tuple(
        Category(
            values=tuple(cell(each) for each in rate.group.values()),
            people=rate.rows or 0,
            rate=Interval(*(rate.empirical or (None, None))),
            ratio=None if without else next(ratios),
            small=without,
        )
        for rate, without in zip(rates, small, strict=True)
    )


def _in_rows(rate: Rate) -> Rate:
    """The rate as the rows have it, whatever a distribution that was learned of them says."""
    return replace(rate, number=rate.empirical or rate.number)


def headed(value: Value) -> tuple[str, ...]:
    """The attributes that make the groups."""
    return tuple(value.rates[0].group)


def percent(value: Interval | None) -> str:
    """``48.0%``, or both ends of what is open."""
    return _ends(value, lambda thousandths: f"{thousandths / 10:.1f}%")


def ratio(value: Interval | None) -> str:
    """``0.979``, or both ends of what is open."""
    return _ends(value, lambda thousandths: f"{thousandths / 1000:.3f}")


def _ends(value: Interval | None, written: Callable[[int], str]) -> str:
    """In thousandths: a number to the nearest one, bounds outward."""
    if value is None or value.low is None or value.high is None:
        return ""
    if value.low == value.high:
        return written(round(value.low * 1000))
    return f"{written(floor(value.low * 1000))} to {written(ceil(value.high * 1000))}"


def stated(facts: Mapping[str, str], name: str, safe: Callable[[str], str]) -> str:
    """What somebody said of the audit that no data say."""
    return safe(facts[name]) if name in facts else NOT_STATED
