"""``influence of age, (hours, income) on METRIC``: what a metric owes to a set of attributes, one question a set.

The influence is the metric's value less its value where these attributes are drawn uniformly from their declared
values, independent of everything; docs/semantics.md section 4.
"""

from __future__ import annotations

from collections.abc import Sequence

from fairdsl.diagnostics import Reporter
from fairdsl.ir.domain import Attribute, Domain
from fairdsl.ir.metric import Metric
from fairdsl.semantics import errors
from fairdsl.semantics.scope import attribute_index
from fairdsl.source import Span
from fairdsl.syntax import tree

__all__ = ["check_influence", "in_words", "influence_on"]


def in_words(columns: Sequence[int], domain: Domain) -> str:
    """The set as it is written."""
    names = ", ".join(domain.attributes[index].name for index in columns)
    return f"({names})" if len(columns) > 1 else names


def influence_on(columns: Sequence[int], domain: Domain, metric: str) -> str:
    """The question's name, in the spec's words."""
    return f"influence of {in_words(columns, domain)} on {metric}"


def check_influence(
    influence: tree.Influence, metric: Metric, across: Sequence[int], domain: Domain, reporter: Reporter
) -> tuple[tuple[int, ...], ...]:
    """The columns of each set; what is wrong with them, or with the influence on such a metric, is reported."""
    return tuple(_columns(subset, across, domain, reporter) for subset in influence.subsets)


def _columns(names: Sequence[tree.Name], across: Sequence[int], domain: Domain, reporter: Reporter) -> tuple[int, ...]:
    spans: dict[int, Span] = {}
    for name in names:
        index = attribute_index(name, domain, reporter)
        if index is None:
            continue
        attribute = domain.attributes[index]
        if index in spans:
            reporter.report(errors.declared_twice("attribute", name.text, name.span, spans[index], word="named"))
        elif index in across:
            why = "each group fixes it, so there is nothing to draw"
            help_text = f"take `{name.text}` out of the influence, or out of `across`"
            reporter.report(errors.clause_out_of_place(f"influence of {name.text}", name.span, why, help_text))
        else:
            _check_uniform(attribute, name.span, reporter)
        spans.setdefault(index, name.span)
    return tuple(spans)


def _check_uniform(attribute: Attribute, span: Span, reporter: Reporter) -> None:
    if attribute.gap:
        reporter.report(errors.no_law_of_missing(attribute.name, span))
    if None in attribute.bounds:
        reporter.report(
            errors.not_comparable(
                f"`{attribute.name}` is unbounded, so it cannot be drawn uniformly",
                span,
                "an influence compares the metric with its value where the attribute is uniform over its values",
                f"declare its range, as in `{attribute.name} : real 0 .. 100`, and write `truncated` behind normal "
                f"distributions, as in `{attribute.name} : normal(50, 10) truncated`: what lies outside is cut off, "
                "and the rest is scaled up",
            )
        )
