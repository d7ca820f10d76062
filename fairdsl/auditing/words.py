"""An audit of predictions in words, and as a page of a notebook."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from html import escape
from typing import TYPE_CHECKING

from fairdsl.auditing.spec import BY, SUBGROUPS
from fairdsl.diagnostics.style import display_width
from fairdsl.diagnostics.surface import said
from fairdsl.ir.metric import ACCEPTANCE, Comparison
from fairdsl.ir.numbers import Towards, shown
from fairdsl.ir.question import metric_words
from fairdsl.prelude import metric_named
from fairdsl.report.group_table import group_table, left_out
from fairdsl.report.model import DemandReport, PropertyReport
from fairdsl.report.text import table_lines
from fairdsl.report.words import between, group_words, in_percent, number
from fairdsl.verdict import Interval, Judgement, Value

if TYPE_CHECKING:
    from fairdsl.auditing.audited import Audited, Subgroup

_WIDTH = 100
#: What the first lines hold the ratio of rates against: the rule of 29 CFR 1607.4(D).
_FOUR_FIFTHS = Fraction(4, 5)
#: Groups that are named at most.
_LISTED = 6


def page(audited: Audited) -> str:
    """The audit for people: what counts, what it comes to, then each column's groups and numbers, and the worst."""
    return "\n".join(_lines(audited))


def _lines(audited: Audited) -> Iterator[str]:
    yield f"{audited.report.audit}: {audited.rows:,} rows"
    yield f"favourable: {audited.favourable}"
    if audited.deserving is not None:
        yield f"deserving: {audited.deserving}"
    yield from _conclusions(audited.report.properties)
    kept = 0
    for item in audited.report.properties:
        if not item.name.startswith(SUBGROUPS):
            named = [demand for demand in item.demands if not audited.shown or demand.metric in audited.shown]
            chosen = named or list(item.demands)
            kept = max(kept, len(item.demands) - len(chosen))
            yield from ("", f"{_heading(item)}", *(f"    {line}" for line in _property(item, chosen)))
    if kept:
        every = said("--metrics all", 'metrics="all"')
        yield from ("", f"{kept} more number{'s' * (kept > 1)} of each: `{every}`")
    if audited.worst:
        yield from ("", "treated worst, of all subgroups at once")
        yield from (f"    {line}" for subgroup in audited.worst for line in _worst(subgroup))
    yield from _few("few rows: their rates say little of anybody else", audited.small)
    yield from _few("counted as one value, as blanks around a cell mean nothing", audited.merged)


def _few(heading: str, lines: Sequence[str]) -> Iterator[str]:
    """A list below its heading, if there is anything in it."""
    more = len(lines) - _LISTED
    yield from ("", heading) if lines else ()
    yield from (f"    {line}" for line in lines[:_LISTED])
    yield from [f"    and {more} more"] if more > 0 else []


def _conclusions(properties: Sequence[PropertyReport]) -> Iterator[str]:
    """For each column by itself: who is favoured least and most, and how the four-fifths rule stands."""
    for item in properties:
        name = item.clauses[0].removeprefix("across ")
        for demand in item.demands if item.name.startswith(BY) and "," not in name else ():
            groups, ratio, metric = demand.groups, demand.value, metric_named(demand.metric)
            if metric.comparison is not Comparison.RATIO or metric.rate != ACCEPTANCE.rate:
                continue
            if groups is None or not groups.defined or ratio is None or ratio.exact is None:
                continue
            least, most = (groups.rates[place[0]] for place in (groups.least, groups.most))
            rates = [f"{each.group[name]} {shown(each.number.low, percent=True)}" for each in (least, most)]
            said_of = "all alike" if least.number.low == most.number.low else " against ".join(rates)
            yield f"by {name}: {said_of}; {_four_fifths(ratio.exact, groups)}"


def _four_fifths(ratio: Fraction, groups: Value) -> str:
    """The ratio beside four fifths, and whether that is so for those whom the rows were drawn from."""
    below = ratio < _FOUR_FIFTHS
    words = f"the ratio {shown(ratio)} is {'below' if below else 'not below'} four fifths"
    if groups.sampling is None:
        return words
    low, high = groups.sampling
    sure = high < _FOUR_FIFTHS if below else low >= _FOUR_FIFTHS
    return f"{words}, in the population {'as well' if sure else 'it may be' if not below else 'it may not be'}"


def _heading(item: PropertyReport) -> str:
    clauses = [
        clause for clause in item.clauses if clause.startswith(("across ", "privileged ", "among ", "for each "))
    ]
    return ", ".join(clauses)


def _property(item: PropertyReport, chosen: Sequence[DemandReport]) -> Iterator[str]:
    groups = next((each.groups for each in item.demands if each.groups is not None), None)
    if groups is not None:
        yield from table_lines(group_table(groups), _WIDTH)
        if groups.excluded:
            yield f"left out: {left_out(groups)}"
    rows = [_number(demand) for demand in chosen]
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
        behind = shown(subgroup.behind, percent=True, towards=Towards.DOWN)
        yield f"    behind by {behind} at least, in the population as well"
    else:
        yield "    that may be chance: the intervals of all groups of these columns meet"


def html_page(audited: Audited) -> str:
    """The same in a notebook."""
    return f"<pre>{escape(page(audited))}</pre>"
