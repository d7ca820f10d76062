"""``influence of age, (hours, income) on METRIC``: what a metric owes to a set of attributes, one question a set.

The influence is the metric's value less its value where these attributes are drawn uniformly from their declared
values, or from a range that is stated (``influence of hours in 0 .. 80 on METRIC``), independent of everything;
docs/semantics.md section 4.
"""

from __future__ import annotations

from collections.abc import Sequence

from fairdsl.diagnostics import Reporter
from fairdsl.ir.domain import Attribute, Domain, Integer, Real, show_number
from fairdsl.ir.population import Normal
from fairdsl.ir.question import DrawnFrom, influence_name
from fairdsl.semantics import errors
from fairdsl.semantics.checked import ColumnDistribution
from fairdsl.semantics.conditions.bins import whole_number
from fairdsl.semantics.conditions.scope import attribute_index
from fairdsl.semantics.ranges import beside_normals
from fairdsl.source import Span
from fairdsl.syntax import tree

#: A set of columns, and the ranges that are stated of some of them.
Drawn = tuple[tuple[int, ...], tuple[DrawnFrom, ...]]


def in_words(drawn: Drawn, domain: Domain) -> str:
    """The set as it is written."""
    columns, stated = drawn
    ranges = {each.column: f" in {show_number(each.low)} .. {show_number(each.high)}" for each in stated}
    names = ", ".join(f"{domain.attributes[index].name}{ranges.get(index, '')}" for index in columns)
    return f"({names})" if len(columns) > 1 else names


def influence_on(drawn: Drawn, domain: Domain, metric: str) -> str:
    """The question's name, in the spec's words."""
    return influence_name(in_words(drawn, domain), metric)


def check_influence(
    influence: tree.Influence,
    across: Sequence[int],
    domain: Domain,
    distributions: Sequence[ColumnDistribution],
    reporter: Reporter,
) -> tuple[Drawn, ...]:
    """Each set; what is wrong with its columns, or with the influence on such a metric, is reported.

    ``distributions`` are those of the population that are written by hand.
    """
    return tuple(_columns(subset, across, domain, distributions, reporter) for subset in influence.subsets)


def _columns(
    items: Sequence[tree.Name | tree.DrawnFrom],
    across: Sequence[int],
    domain: Domain,
    distributions: Sequence[ColumnDistribution],
    reporter: Reporter,
) -> Drawn:
    spans: dict[int, Span] = {}
    stated: list[DrawnFrom] = []
    for item in items:
        name, within = (item, None) if isinstance(item, tree.Name) else (item.name, item.within)
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
        elif within is None:
            _check_uniform(attribute, name.span, reporter)
        elif _is_range_of(within, attribute.known, reporter):
            low, high = within.low.value, within.high.value
            stated.append(DrawnFrom(column=index, low=low, high=high))
            normals = [each.shape for each in distributions if each.column == index and isinstance(each.shape, Normal)]
            reporter.extend(beside_normals("this range", within.span, low, high, normals))
        spans.setdefault(index, name.span)
    return tuple(spans), tuple(stated)


def _check_uniform(attribute: Attribute, span: Span, reporter: Reporter) -> None:
    if attribute.gap:
        reporter.report(errors.no_distribution_of_missing(attribute.name, span))
    if None in attribute.bounds:
        reporter.report(
            errors.not_comparable(
                f"`{attribute.name}` is unbounded, so it cannot be drawn uniformly",
                span,
                "an influence compares the metric with its value where the attribute is uniform over its values",
                f"say the range that it is drawn from: `influence of {attribute.name} in 0 .. 100 on ...`",
            )
        )


def _is_range_of(within: tree.ValueRange, attribute: Attribute, reporter: Reporter) -> bool:
    """Whether the attribute can be uniform on the range; what speaks against it is reported."""
    low, high = within.low, within.high
    if not isinstance(attribute.type, Integer | Real):
        what, why = f"`{attribute.name}` is not a number", "a range is of numbers; all of its values are drawn alike"
        reporter.report(errors.not_comparable(what, within.span, why, "leave the range out"))
        return False
    if isinstance(attribute.type, Integer):
        what = f"an end of the range of the integer `{attribute.name}`"
        unfit = [number for number in (low, high) if not whole_number(number, what, reporter, or_real=False)]
        if unfit:
            return False
    if low.value > high.value:
        reporter.report(errors.reversed_range(low.text, high.text, within.span))
        return False
    outside = [number for number in (low, high) if not attribute.contains(number.value)]
    for number in outside:
        known = " .. ".join("" if bound is None else show_number(bound) for bound in attribute.bounds)
        reporter.report(errors.unknown_value(number.text, number.span, attribute.name, (known,), attribute.span))
    return not outside
