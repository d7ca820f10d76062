"""How many rows a metric needs for an error, and which error the rows at hand leave.

By Hoeffding's inequality (:mod:`fairdsl.metrics.sampling`) all M rates of a question are at once within e of their
frequencies with probability 1 - d if each rests on ln(2 M / d) / (2 e^2) rows. Before any row is read this is a
design; afterwards the intervals of a report are the narrower ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from math import ceil

from fairdsl.ir.metric import Comparison
from fairdsl.ir.population import Network, Population
from fairdsl.ir.question import GroupMetric, Threshold
from fairdsl.ir.rows_needed import AtHand, NoRows, RowsNeeded
from fairdsl.metrics.cohorts import Cohort, cohorts_of
from fairdsl.metrics.counts import rows_of
from fairdsl.metrics.definitions import with_pools
from fairdsl.metrics.joint import Joint
from fairdsl.metrics.reading import rests_on_tables
from fairdsl.metrics.sampling import half_width, rows_needed
from fairdsl.metrics.words import group_words
from fairdsl.verdict import Value


def needed(
    question: GroupMetric, population: Population, *, error: Fraction, confidence: Fraction
) -> RowsNeeded | NoRows:
    """What the question needs, or why that is not a number of rows."""
    if population.sample is None:
        return NoRows.WRITTEN
    if rests_on_tables(question):
        return NoRows.TABLES
    joint = Joint(favourable={}, total={}, counts=rows_of(question, population))
    cohorts = [cohort for cohort in cohorts_of(question, joint, population) if not _left_out(question, cohort)]
    pools = with_pools(question, cohorts)
    if not cohorts:
        return NoRows.NOBODY
    rates = len(cohorts) + len(pools)
    rows = rows_needed(error, confidence=confidence, rates=rates)
    at_hand = None if question.metric.rate.among_decided else _at_hand(cohorts, population, confidence, rates)
    return RowsNeeded(
        error=error,
        confidence=confidence,
        rates=rates,
        rows=rows,
        at_hand=at_hand,
        in_all=ceil(Fraction(rows * population.sample.rows, at_hand[0].rows)) if at_hand and at_hand[0].rows else None,
        law=population.name if isinstance(population, Network) else None,
    )


def rows_to_decide(value: Value, comparison: Comparison, threshold: Threshold) -> int | None:
    """About how many rows each cohort needs for a threshold to be decided, if the rates stay as they are.

    A gap g of two rates is certain to lie on its side of t once both are within abs(g - t) / 2, and a ratio
    of a and b once they are within abs(a - t b) / (1 + t). None for any other number, and one on the threshold itself.
    """
    counted = all(rate.rows is not None for rate in value.rates)  # along paths nobody has rows
    if value.confidence is None or value.parts or not value.number.exact or not value.rates or not counted:
        return None
    limit = threshold.limit
    most, least = max(rate.number.high for rate in value.rates), min(rate.number.low for rate in value.rates)
    if comparison is Comparison.GAP:
        error = abs(value.number.low - limit) / 2
    elif comparison is Comparison.RATIO and most and limit > 0 and least / most == value.number.low:
        error = abs(least - limit * most) / (1 + limit)
    else:
        return None
    return rows_needed(error, confidence=value.confidence, rates=len(value.rates)) if 0 < error < 1 else None


def _left_out(question: GroupMetric, cohort: Cohort) -> bool:
    """What `excluding` leaves out: too few rows, or none at all."""
    if question.excluding is None:
        return False
    return (cohort.rows or 0) < max(question.excluding.rows or 0, 1)


def _at_hand(cohorts: Sequence[Cohort], population: Population, confidence: Fraction, rates: int) -> tuple[AtHand, ...]:
    rows = Counter[str]()
    for cohort in cohorts:
        name = group_words(cohort.group + cohort.stratum + cohort.label, population)
        rows[name] += 0 if cohort.counted is None else cohort.counted.rows
    found = [
        AtHand(group=name, rows=count, error=half_width(count, confidence=confidence, rates=rates))
        for name, count in rows.items()
    ]
    return tuple(sorted(found, key=lambda each: each.rows))
