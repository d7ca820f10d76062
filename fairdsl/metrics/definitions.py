"""The metrics themselves: which rates each compares, and how numbers of several strata become one.

docs/semantics.md, section 4. A *stratum* is one value of the attributes of ``given``. Within it, cohorts of one value
of the label are compared with each other only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import assert_never

from fairdsl.ir.metric import Comparison, Fold
from fairdsl.ir.question import GroupMetric
from fairdsl.metrics.cohorts import Assignment, Case, Cohort, pooled
from fairdsl.metrics.intervals import (
    Defined,
    Range,
    difference,
    extremes,
    gap,
    greatest,
    hull,
    least_of,
    mean,
    most_of,
    quotient,
    ratio,
    smallest,
)
from fairdsl.metrics.joint import Enclosure

#: A cohort with what is known of its rate: its own enclosure, or one that covers sampling error as well.
Rated = tuple[Cohort, Enclosure]
#: One number of the rates of several cohorts.
Compare = Callable[[Comparison, Sequence[Rated]], Range]

#: What represents a number of which there is none.
NONE = Range(low=Fraction(0), high=None, defined=Defined.NO)


def by_rates(comparison: Comparison, rated: Sequence[Rated]) -> Range:
    """One number of rates, whatever they are within their bounds; of a signed metric of others and the privileged."""
    rates = [rate for _, rate in rated]
    match comparison:
        case Comparison.GAP:
            return gap(rates)
        case Comparison.RATIO:
            return ratio(rates)
        case Comparison.EVERY:
            return extremes(rates)
        case Comparison.MOST:
            return Range(low=max(rate.low for rate in rates), high=max(rate.high for rate in rates))
        case Comparison.LEAST:
            return Range(low=min(rate.low for rate in rates), high=min(rate.high for rate in rates))
        case Comparison.DIFFERENCE:
            return difference(*rates)
        case Comparison.QUOTIENT:
            return quotient(*rates)
    assert_never(comparison)


def _folded(fold: Fold, numbers: Sequence[Range]) -> Range:
    """One number out of several."""
    if len(numbers) == 1:
        return numbers[0]
    match fold:
        case Fold.SINGLE:
            raise ValueError("several numbers are folded")
        case Fold.GREATEST:
            return greatest(numbers)
        case Fold.SMALLEST:
            return smallest(numbers)
        case Fold.MEAN:
            return mean(numbers)
        case Fold.SPAN:
            return hull(numbers)
    assert_never(fold)


def by_case(rated: Sequence[Rated]) -> list[list[Rated]]:
    """The cohorts of one stratum by what their rates are conditioned on: the label's value, or the decision."""
    found: dict[Case, list[Rated]] = {}
    for cohort, rate in rated:
        found.setdefault(cohort.case, []).append((cohort, rate))
    return list(found.values())


def with_pools(question: GroupMetric, cohorts: Sequence[Cohort]) -> list[Cohort]:
    """Of AIF360's metrics, everybody outside the privileged group as one cohort more a stratum and case."""
    if not question.metric.signed:
        return []
    others: dict[tuple[Assignment, Case], list[Cohort]] = {}
    for cohort in cohorts:
        if not _is_privileged(question, cohort):
            others.setdefault((cohort.stratum, cohort.case), []).append(cohort)
    return [pooled(found) for found in others.values()]


def _is_privileged(question: GroupMetric, cohort: Cohort) -> bool:
    return bool(cohort.group) and tuple(value for _, value in cohort.group) == question.privileged


def _needed(question: GroupMetric) -> int:
    return 2 if question.metric.compares else 1


def compared(question: GroupMetric, rated: Sequence[Rated]) -> list[list[Rated]]:
    """The cohorts of one stratum that are compared with each other; of a signed metric others and the privileged."""
    if question.metric.signed:
        return [sorted(part, key=lambda item: bool(item[0].group)) for part in by_case(_sides(question, rated))]
    return [part for part in by_case(rated) if len(part) >= _needed(question)]


def number_of(question: GroupMetric, rated: Sequence[Rated], compare: Compare = by_rates) -> Range | None:
    """The metric of one stratum; None where too few groups are left to compare. ``rated`` are its cohorts, behind them
    those of :func:`with_pools`.

    It is undefined where it is a quotient of zeros, and, perhaps, where nobody may be in a cohort. At a label's value
    that leaves fewer than two groups there is nothing to compare.
    """
    metric = question.metric
    parts = compared(question, rated)
    if not parts or (metric.signed and any(len({bool(cohort.group) for cohort, _ in part}) < 2 for part in parts)):
        return None
    numbers = [compare(metric.comparison, part) for part in parts]
    return _doubted(_folded(metric.folded, numbers), _sides(question, rated) if metric.signed else rated)


def _sides(question: GroupMetric, rated: Sequence[Rated]) -> list[Rated]:
    """Of AIF360's metrics, the privileged group and everybody else as one."""
    return [item for item in rated if not item[0].group or _is_privileged(question, item[0])]


def _doubted(number: Range, rated: Sequence[Rated]) -> Range:
    """The number, perhaps undefined where a cohort is perhaps empty."""
    if number.defined is Defined.NO or all(cohort.defined is Defined.YES for cohort, _ in rated):
        return number
    return Range(low=number.low, high=number.high, defined=Defined.PERHAPS)


def worst_of(question: GroupMetric, numbers: Sequence[Range]) -> Range:
    """What several strata come to: the greatest gap, the smallest ratio, and of anything else all of it.

    Of signed numbers and rates, what is worst depends on the threshold, which each of them has to meet.
    """
    return _folded(question.metric.strata, numbers) if numbers else NONE


def favoured(rates: Sequence[tuple[int, Enclosure]]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Of rates at some places, the places of those that may be the greatest, and of those that may be the least."""
    places, bounds = [place for place, _ in rates], [rate for _, rate in rates]
    return tuple([places[n] for n in most_of(bounds)]), tuple([places[n] for n in least_of(bounds)])
