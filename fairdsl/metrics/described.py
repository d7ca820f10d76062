"""What a metric is and needs, as `explain` says it and the language's page lists it."""

from __future__ import annotations

from collections.abc import Iterator

from fairdsl.ir.metric import Alias, Metric
from fairdsl.prelude import PAIR_METRICS, Named, metrics


def needs_of(metric: Named) -> tuple[str, ...]:
    """What a property must say for it to mean something, line by line."""
    if not isinstance(metric, Metric):
        own = () if metric.is_share else ("a model with one score",)
        return ("`compare a, b : DOMAIN` and `differ in ATTRIBUTES`", *own)
    return ("`across ATTRIBUTES` and `under DISTRIBUTION`", *_own_needs(metric))


def _own_needs(metric: Metric) -> Iterator[str]:
    if metric.rate.about_deserving:
        yield "a label with `deserving`"
    elif metric.rate.reads_label:
        yield "a label" + (" with two values" if metric.needs_two_labels else "")
    if metric.signed:
        yield "`privileged GROUP`"
    if metric.rate.along_paths:
        yield "`allow PATH`, `baseline GROUP` and a written graph"


def other_names(metric: Named) -> tuple[str, ...]:
    """The names of other libraries for it."""
    return tuple(alias.name for alias in metric.aliases) if isinstance(metric, Metric) else ()


def metric_table() -> str:
    """What the metrics are and need, as a table in Markdown for the page about the language."""
    rows = ["| metric | is | needs | also known as |", "| --- | --- | --- | --- |"]
    for share in PAIR_METRICS.values():
        meaning, needs = share.meaning.replace("|", "\\|"), "pairs" if share.is_share else "pairs, one score"
        rows.append(f"| `{share.name}` | {meaning} | {needs} | |")
    for metric in metrics():
        needs = "; ".join(_own_needs(metric))
        also = ", ".join(map(_other_name, metric.aliases))
        rows.append(_row(f"`{metric.name}`", metric.in_words().replace("|", "\\|"), needs, also))
    return "\n".join(rows) + "\n"


def definition_table() -> str:
    """The expressions and formulas of all metrics of groups, as a table in Markdown for the page about semantics."""
    rows = ["| metric | is defined as | of rates p | at best |", "| --- | --- | --- | --- |"]
    for metric in metrics():
        ideal = "" if metric.ideal is None else str(metric.ideal)
        rows.append(_row(f"`{metric.name}`", f"`{metric.definition}`", metric.formula(), ideal))
    return "\n".join(rows) + "\n"


def _other_name(alias: Alias) -> str:
    return f"`{alias.name}`" + (f" ({alias.library.value})" if alias.library else "")


def _row(*cells: str) -> str:
    return "".join(f"| {cell} " if cell else "| " for cell in cells) + "|"
