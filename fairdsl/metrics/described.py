"""What a metric is and needs, as `explain` says it and the language's page lists it."""

from __future__ import annotations

from collections.abc import Iterator

from fairdsl.ir.metric import Metric
from fairdsl.ir.metric_registry import METRICS, SHARES, Named

__all__ = ["metric_table", "needs_of", "other_names"]


def needs_of(metric: Named) -> tuple[str, ...]:
    """What a property must say for it to mean something, line by line."""
    if not isinstance(metric, Metric):
        return ("compare a, b : DOMAIN and differ in ATTRIBUTES",)
    return ("across ATTRIBUTES and under DISTRIBUTION", *_own_needs(metric))


def _own_needs(metric: Metric) -> Iterator[str]:
    if metric.rate.about_deserving:
        yield "a label in the spec with the value that is `deserving`"
    elif metric.rate.reads_label:
        yield "a label in the spec" + (" with two values" if metric.needs_two_labels else "")
    if metric.signed:
        yield "privileged GROUP"
    if metric.rate.along_paths:
        yield "allow PATH, baseline GROUP and a written graph"


def other_names(metric: Named) -> tuple[str, ...]:
    """The names of other libraries for it."""
    return tuple(alias.name for alias in metric.aliases) if isinstance(metric, Metric) else ()


def metric_table() -> str:
    """All metrics, as a table in Markdown."""
    rows = ["| metric | is | defined as | needs | also |", "| --- | --- | --- | --- | --- |"]
    for share in SHARES.values():
        rows.append(f"| `{share.name}` | {_cell(share.meaning)} | | pairs: `compare`, `differ` | |")
    for metric in METRICS:
        also = ", ".join(f"`{alias.name}` ({alias.library.value})" for alias in metric.aliases)
        needs = "; ".join(_own_needs(metric))
        meaning = _cell(metric.in_words())
        rows.append(f"| `{metric.name}` | {meaning} | `{metric.definition}` | {_cell(needs)} | {also} |")
    return "\n".join(rows) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
