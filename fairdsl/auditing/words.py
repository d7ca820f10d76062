"""An audit of predictions in words, and as a page of a notebook."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING

from fairdsl.auditing.spec import SUBGROUPS
from fairdsl.diagnostics.style import display_width
from fairdsl.ir.metric import Comparison
from fairdsl.ir.numbers import shown
from fairdsl.ir.question import metric_words
from fairdsl.prelude import metric_named
from fairdsl.report.group_table import group_table, left_out
from fairdsl.report.model import DemandReport, PropertyReport
from fairdsl.report.text import table_lines
from fairdsl.report.words import between, group_words, in_percent, number
from fairdsl.verdict import Interval, Judgement, Value

if TYPE_CHECKING:
    from fairdsl.auditing.audited import Audited, Subgroup

__all__ = ["html_page", "page"]

_WIDTH = 100
#: Groups that are named at most.
_LISTED = 6


def page(audited: Audited) -> str:
    """The audit for people: of each column its groups and numbers, then who is treated worst."""
    return "\n".join(_lines(audited))


def _lines(audited: Audited) -> Iterator[str]:
    yield f"{audited.report.audit}: {audited.rows:,} rows"
    for item in audited.report.properties:
        if not item.name.startswith(SUBGROUPS):
            yield from ("", f"{_heading(item)}", *(f"    {line}" for line in _property(item)))
    if audited.worst:
        yield from ("", "treated worst, of all subgroups at once")
        yield from (f"    {line}" for subgroup in audited.worst for line in _worst(subgroup))
    if audited.small:
        more = len(audited.small) - _LISTED
        yield from ("", "few rows: their rates say little of anybody else")
        yield from (f"    {line}" for line in audited.small[:_LISTED])
        yield from [f"    and {more} more"] if more > 0 else []


def _heading(item: PropertyReport) -> str:
    clauses = [
        clause for clause in item.clauses if clause.startswith(("across ", "privileged ", "among ", "for each "))
    ]
    return ", ".join(clauses)


def _property(item: PropertyReport) -> Iterator[str]:
    groups = next((each.groups for each in item.demands if each.groups is not None), None)
    if groups is not None:
        yield from table_lines(group_table(groups), _WIDTH)
        if groups.excluded:
            yield f"left out: {left_out(groups)}"
    rows = [_number(demand) for demand in item.demands]
    widths = [max((display_width(row[place]) for row in rows), default=0) for place in range(2)]
    for name, value, interval in rows:
        yield f"{name:<{widths[0]}}  {value:<{widths[1]}}  {interval}".rstrip()


def _number(demand: DemandReport) -> tuple[str, str, str]:
    """The metric, its number, and the interval."""
    words, groups, percent = metric_words(demand.metric), demand.groups, in_percent(demand)
    if demand.judgement is Judgement.REFUSED:
        return words, "not asked", "; ".join(finding.title for finding in demand.refusals)
    if demand.value is None or groups is None or not groups.defined:
        return words, "no number", demand.detail or ""
    value = _group_named(demand, groups) or number(demand.value, percent)
    if groups.sampling is None or groups.confidence is None:
        return words, value, ""
    return words, value, f"{shown(groups.confidence, percent=True)} {number(Interval(*groups.sampling), percent)}"


def _group_named(demand: DemandReport, groups: Value) -> str:
    """The group that is the answer, of a metric that names one."""
    comparison = metric_named(demand.metric).comparison
    places = {Comparison.MOST: groups.most, Comparison.LEAST: groups.least}.get(comparison, ())
    return " or ".join(group_words(groups.rates[place].group) for place in places)


def _worst(subgroup: Subgroup) -> Iterator[str]:
    value, best = shown(subgroup.value, percent=True), shown(subgroup.best_value, percent=True)
    yield f"{metric_words(subgroup.rate)}: {group_words(subgroup.group)}, {value} of {subgroup.rows:,} rows"
    yield f"    {between(subgroup.interval)} in the population; {group_words(subgroup.best)} has {best}"
    if subgroup.behind:
        yield f"    behind by {shown(subgroup.behind, percent=True)} at least, in the population as well"
    else:
        yield "    that may be chance: the intervals of all groups of these columns meet"


def html_page(audited: Audited) -> str:
    """The same in a notebook."""
    return f"<pre>{escape(page(audited))}</pre>"
