"""The metrics themselves: which rates each compares, and how numbers of several strata become one.

docs/semantics.md, section 4. A *stratum* is one value of the attributes of ``given``. Within it, cohorts of one value
of the label are compared with each other only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from fairdsl.ir.question import GroupMetric
from fairdsl.metrics.cohorts import Assignment, Cohort, pooled
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
from fairdsl.metrics.joint import Bounds

__all__ = [
    "Rated",
    "by_label",
    "comparable",
    "compares_two",
    "favoured",
    "number_of",
    "signed",
    "with_pools",
    "worst_of",
]

#: A cohort with what is known of its rate: its own enclosure, or one that covers sampling error as well.
Rated = tuple[Cohort, Bounds]

#: What stands for a number of which there is none.
_NONE = Range(low=Fraction(0), high=None, defined=Defined.NO)


def signed(question: GroupMetric) -> bool:
    """Whether it is one of AIF360's metrics, which compare everybody else with the privileged group."""
    return question.privileged is not None and question.metric in _SIGNED


_SIGNED: Mapping[str, Callable[[Bounds, Bounds], Range]] = {
    "disparate_impact": quotient,
    "statistical_parity_difference": difference,
    "average_odds_difference": difference,
}


def _most(rates: Sequence[Bounds]) -> Range:
    """The greatest rate."""
    return Range(low=max(rate.low for rate in rates), high=max(rate.high for rate in rates))


def _least(rates: Sequence[Bounds]) -> Range:
    """The least rate."""
    return Range(low=min(rate.low for rate in rates), high=min(rate.high for rate in rates))


_COMPARES: Mapping[str, Callable[[Sequence[Bounds]], Range]] = {
    "statistical_parity": gap,
    "disparate_impact": ratio,
    "equalized_odds": gap,
    "equal_opportunity": gap,
    "predictive_parity": gap,
    "path_specific_gap": gap,
    "acceptance_rate": extremes,
    "most_favoured": _most,
    "least_favoured": _least,
}
_ALONE = frozenset({"acceptance_rate", "most_favoured", "least_favoured"})


def compares_two(question: GroupMetric) -> bool:
    """Whether the metric needs two groups to mean anything."""
    return question.metric not in _ALONE


def by_label(rated: Sequence[Rated]) -> list[list[Rated]]:
    """The cohorts of one stratum by the label's value."""
    found: dict[Assignment, list[Rated]] = {}
    for cohort, rate in rated:
        found.setdefault(cohort.label, []).append((cohort, rate))
    return list(found.values())


def with_pools(question: GroupMetric, cohorts: Sequence[Cohort]) -> list[Cohort]:
    """Of AIF360's metrics, everybody outside the privileged group as one cohort more a stratum and label."""
    if not signed(question):
        return []
    others: dict[tuple[Assignment, Assignment], list[Cohort]] = {}
    for cohort in cohorts:
        if not _is_privileged(question, cohort):
            others.setdefault((cohort.stratum, cohort.label), []).append(cohort)
    return [pooled(found) for found in others.values()]


def _is_privileged(question: GroupMetric, cohort: Cohort) -> bool:
    return bool(cohort.group) and tuple(value for _, value in cohort.group) == question.privileged


def comparable(question: GroupMetric, rated: Sequence[Rated]) -> bool:
    """Whether enough groups are left in a stratum; ``rated`` as for :func:`number_of`."""
    if signed(question):
        sides = [{bool(cohort.group) for cohort, _ in part} for part in by_label(_compared(question, rated))]
        return bool(sides) and all(len(both) == 2 for both in sides)
    return any(len(part) >= _needed(question) for part in by_label(rated))


def _needed(question: GroupMetric) -> int:
    return 2 if compares_two(question) else 1


def number_of(question: GroupMetric, rated: Sequence[Rated]) -> Range:
    """The metric of one stratum. ``rated`` are its cohorts, behind them those of :func:`with_pools`.

    It is undefined where it is not :func:`comparable` or a quotient of zeros, and, perhaps, where nobody may be in a
    cohort. At a label's value that leaves fewer than two groups there is nothing to compare.
    """
    if not comparable(question, rated):
        return _NONE
    if signed(question):
        return _signed(question, rated)
    compare = _COMPARES[question.metric]
    parts = [part for part in by_label(rated) if len(part) >= _needed(question)]
    return _doubted(greatest([compare([rate for _, rate in part]) for part in parts]), rated)


def _compared(question: GroupMetric, rated: Sequence[Rated]) -> list[Rated]:
    """Of AIF360's metrics, the privileged group and everybody else as one."""
    return [item for item in rated if not item[0].group or _is_privileged(question, item[0])]


def _signed(question: GroupMetric, rated: Sequence[Rated]) -> Range:
    """Everybody else against the privileged group, at each value of the label; of several, the mean."""
    compare = _SIGNED[question.metric]
    found = []
    for part in by_label(_compared(question, rated)):
        rates = {bool(cohort.group): rate for cohort, rate in part}
        found.append(compare(rates[False], rates[True]))
    return _doubted(mean(found), _compared(question, rated))


def _doubted(number: Range, rated: Sequence[Rated]) -> Range:
    """The number, perhaps undefined where a cohort is perhaps empty."""
    if number.defined is Defined.NO or all(cohort.defined is Defined.YES for cohort, _ in rated):
        return number
    return Range(low=number.low, high=number.high, defined=Defined.PERHAPS)


def worst_of(question: GroupMetric, numbers: Sequence[Range]) -> Range:
    """What several strata come to: the greatest gap, the smallest ratio, and of anything else all of it.

    Of signed numbers and rates, what is worst depends on the threshold, which each of them has to meet.
    """
    if not numbers:
        return _NONE
    if signed(question) or not compares_two(question):
        return hull(numbers)
    return smallest(numbers) if question.metric == "disparate_impact" else greatest(numbers)


def favoured(rates: Sequence[tuple[int, Bounds]]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Of rates at some places, the places of those that may be the greatest, and of those that may be the least."""
    places, bounds = [place for place, _ in rates], [rate for _, rate in rates]
    return tuple(places[n] for n in most_of(bounds)), tuple(places[n] for n in least_of(bounds))
