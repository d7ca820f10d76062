"""What New York City's Local Law 144 has published of a bias audit (6 RCNY 5-301 to 5-303), as Markdown.

Of each sex, each category of race/ethnicity and each intersection: how many people, the selection rate or the scoring
rate, and the impact ratio; how many people are of unknown category; dates and the source of the data, which somebody
has to state. What is not stated says so, in its place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from fairdsl.ir.domain import says_unknown
from fairdsl.ir.preset import FromPreset
from fairdsl.report.markdown import safe, table
from fairdsl.report.model import Report
from fairdsl.report.published.tables import NOT_STATED, Category, categories, headed, measured, percent, ratio
from fairdsl.report.words import cell, number
from fairdsl.verdict import Interval, Value


@dataclass(frozen=True, slots=True)
class _Audit:
    """One of the two audits that the rules know: of tools that select, and of tools that score."""

    heading: str
    #: The properties that say who was assessed, and the rates.
    everybody: FromPreset
    rates: FromPreset
    #: The rate's heading, and that of the people whom it counts.
    rate: str
    counted: str


def _audit_by(preset: str, rates: str, heading: str, counted: str) -> _Audit:
    everybody, each = (FromPreset(preset=preset, property=name) for name in ("everybody", rates))
    return _Audit(heading, everybody, each, f"{rates} rate", counted)


_AUDITS = (
    _audit_by("ll144", "selection", "Selection", "selected"),
    _audit_by("ll144_scores", "scoring", "Scores", "above the median"),
)


def ll144(report: Report, facts: Mapping[str, str]) -> str:
    """The summary of results. ValueError where the report has no audit by the preset."""
    audits = [audit for audit in _AUDITS if any(measured(report, audit.rates))]
    if not audits:
        line = "apply preset ll144 to MODEL across SEX, RACE under DISTRIBUTION"
        raise ValueError(f"the report has no such audit over rows of data; write `{line}` into the spec")
    lines = [*_head(report, facts), *(line for audit in audits for line in _audit(report, audit, facts))]
    return "\n".join([*lines, *_foot(report)])


def _head(report: Report, facts: Mapping[str, str]) -> Iterator[str]:
    yield f"## Bias audit under Local Law 144: {safe(report.audit or report.spec.path)}\n"
    said = {name: safe(facts[name]) if name in facts else NOT_STATED for name in ("tool", "audited", "distributed")}
    yield f"- Tool: {said['tool']}"
    yield f"- Date of the audit: {said['audited']}"
    yield f"- Distribution date: {said['distributed']}"
    yield f"- Source and explanation of the data: {safe(facts['data']) if 'data' in facts else NOT_STATED}"
    yield from (f"- Data file: {safe(file.path or '')}, sha256 `{file.sha256}`" for file in report.data)
    yield ""


def _audit(report: Report, audit: _Audit, facts: Mapping[str, str]) -> Iterator[str]:
    yield f"### {audit.heading}\n"
    for _, demand, everybody in measured(report, audit.everybody):
        yield from _everybody(everybody)
        if demand.median is not None:
            middle = number(Interval(demand.median, demand.median), False)
            yield f"The scoring rate is the share of people with a score above {middle}, the median of all.\n"
    left_out: list[Category] = []
    for item, _, value in measured(report, audit.rates):
        yield f"#### {safe(item.name)}\n"
        rows = categories(value, leave_out=True)
        heads = (*map(safe, headed(value)), "people", audit.counted, audit.rate, "impact ratio")
        yield from table(heads, [_row(row) for row in rows])
        left_out += [row for row in rows if row.small]
    if left_out:
        why = safe(facts["left_out"]) if "left_out" in facts else NOT_STATED
        names = "; ".join(f"{safe(', '.join(row.values))} ({row.people:,}, {percent(row.rate)})" for row in left_out)
        yield f"Left out of impact ratios, each below 2 % of those of known category: {names}. Justification: {why}\n"


def _row(row: Category) -> Sequence[str]:
    selected = "" if row.selected is None else f"{row.selected:,}"
    told = "left out" if row.small else ratio(row.ratio) or "none selected"
    return (*map(safe, row.values), f"{row.people:,}", selected, percent(row.rate), told)


def _everybody(value: Value) -> Iterator[str]:
    """How many people were assessed, and of how many an attribute is unknown."""
    people, unknown, each = 0, 0, dict.fromkeys(headed(value), 0)
    for rate in value.rates:
        rows = rate.rows or 0
        not_known = [name for name, found in rate.group.items() if says_unknown(cell(found))]
        people, unknown = people + rows, unknown + (rows if not_known else 0)
        for name in not_known:
            each[name] += rows
    yield f"{people:,} people were assessed.\n"
    parts = " and ".join(f"{count:,} of unknown {safe(name)}" for name, count in each.items())
    yield f"Not included in the calculations below, for a category is unknown: {unknown:,} people ({parts}).\n"
    if unknown:
        yield "Whoever is of unknown category in one attribute counts in the tables of the others alone.\n"


def _foot(report: Report) -> Iterator[str]:
    yield (
        "The impact ratio of a category is its rate over the greatest rate of the categories beside it. "
        "Local Law 144 sets no limit to it. Numbers are counted over all rows of the data.\n"
    )
    yield f"Made by fairdsl {safe(report.fairdsl)} of {safe(report.spec.path)}, sha256 `{report.spec.sha256}`.\n"
