"""What a metric and its interval would be with more or fewer rows, if all rates stayed as they are in those at hand.

Rows and favoured rows of every key are multiplied and rounded, and the intervals are those of such rows
(:mod:`fairdsl.metrics.value`). They are about frequencies of rows, whatever distribution was estimated from them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from math import ceil

from fairdsl.ir.population import Population
from fairdsl.ir.question import GroupMetric
from fairdsl.metrics.joint import Bounds, Counted, Joint, Key
from fairdsl.metrics.value import value_of
from fairdsl.verdict import Evidence, Refused, Value

#: Times as many rows as there are.
SIZES = tuple(Fraction(2) ** power for power in range(-3, 3))
_EVIDENCE = Evidence(backend="", method="")


def at_size(
    question: GroupMetric, population: Population, counts: Mapping[Key, Counted], times: Fraction
) -> Value | Refused:
    """The metric of the ``counts``, with its interval for so many times the rows; groups are left out by those."""
    excluding = question.excluding
    if excluding is not None and excluding.rows is not None and question.excluding_below is not None:
        question = replace(question, excluding=replace(excluding, rows=max(1, ceil(excluding.rows * times))))
    whole = max(1, sum(count.rows for count in counts.values()))
    joint = Joint(
        favourable={
            key: Bounds(low=Fraction(count.least, whole), high=Fraction(count.most, whole))
            for key, count in counts.items()
        },
        total={key: Bounds.exactly(Fraction(count.rows, whole)) for key, count in counts.items()},
        counts={key: _times(count, times) for key, count in counts.items()},
    )
    return value_of(question, joint, population, _EVIDENCE)


def _times(count: Counted, times: Fraction) -> Counted:
    """Rounding rises with what is rounded, so the favoured stay a part of the rows."""
    rows, least, most = (round(number * times) for number in (count.rows, count.least, count.most))
    return Counted(rows=rows, least=least, most=most)
