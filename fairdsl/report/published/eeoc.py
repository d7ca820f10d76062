"""Adverse impact with its significance, as Markdown: each group beside the one that is selected most."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from fairdsl.ir.preset import FromPreset
from fairdsl.numerics.fisher import Selected, fisher_p, standard_deviations
from fairdsl.report.markdown import safe, table
from fairdsl.report.model import Report
from fairdsl.report.published.tables import Category, categories, headed, measured, percent, ratio

_IMPACT = FromPreset(preset="eeoc", property="impact")


def eeoc(report: Report, _: Mapping[str, str]) -> str:
    """The tables. ValueError where the report has no audit by the preset."""
    lines: list[str] = []
    for item, demand, value in measured(report, _IMPACT):
        rows = categories(value, leave_out=False)
        heads = (*map(safe, headed(value)), "people", "selected", "rate", "impact ratio")
        lines.append(f"### {safe(item.name)}: {demand.judgement.value}\n")
        lines += table((*heads, "standard deviations", "Fisher's exact p"), list(_rows(rows)))
    if not lines:
        line = "apply preset eeoc to MODEL across GROUP under DISTRIBUTION"
        raise ValueError(f"the report has no such audit over rows of data; write `{line}` into the spec")
    about = "Each group is compared with the one of the greatest rate; 2 standard deviations are taken for significant."
    return "\n".join([f"## Adverse impact: {safe(report.audit or report.spec.path)}\n", *lines, about, ""])


def _rows(rows: Sequence[Category]) -> Iterator[Sequence[str]]:
    most = max(rows, key=lambda row: row.rate.low or 0)
    for row in rows:
        tests = ("open", "open")
        if row.selected is not None and most.selected is not None:
            one, other = Selected(row.selected, row.people), Selected(most.selected, most.people)
            tests = (f"{standard_deviations(one, other):.2f}", f"{fisher_p(one, other):.4f}")
        selected = "" if row.selected is None else f"{row.selected:,}"
        numbers = (f"{row.people:,}", selected, percent(row.rate), ratio(row.ratio))
        yield (*map(safe, row.values), *numbers, *(("", "") if row is most else tests))
