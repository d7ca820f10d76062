"""Metrics of groups with sampling error: two rates compared are known better than each of the two.

Of rows that are independent draws the hits of two cohorts are independent and binomial, given which rows belong to
whom. :mod:`fairdsl.numerics.two_proportions` bounds the difference and the quotient of the two rates. With tail d /
(2 M) each, for both directions of all M comparisons of a question, all bounds hold at once with probability 1 - d at
least (the union bound), and so does what they say of a gap or a ratio of several groups:

* max p - min p is at least each p_a - p_b, and equal to one of them;
* min p / max p is at most each p_a / p_b, and equal to one of them.

Decisions that stay open are taken as they widen the bound. Where they leave open who is in a cohort, and where there
are more comparisons than pay, the rates' own intervals are compared instead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations
from math import comb

from fairdsl.ir.metric import Comparison
from fairdsl.ir.question import GroupMetric
from fairdsl.metrics.cohorts import Cohort
from fairdsl.metrics.definitions import Compare, Rated, by_rates, compared
from fairdsl.metrics.intervals import Range, hull

__all__ = ["by_pairs"]

#: Comparisons for which pairs are bounded, at most: all pairs of six groups.
_MOST = 15
_Bound = Callable[[Cohort, Cohort], Fraction]


def by_pairs(question: GroupMetric, strata: Sequence[Sequence[Rated]], confidence: Fraction) -> Compare | None:
    """How to compare cohorts with sampling error, all those of the strata at once; None: by the rates' intervals.

    What is found contains the number under the distribution as well.
    """
    parts = [part for rated in strata for part in compared(question, rated)]
    pairs = sum(comb(len(part), 2) for part in parts)
    settled = all(_settled(cohort) for part in parts for cohort, _ in part)
    if not question.metric.compares or not settled or not 0 < pairs <= _MOST:
        return None
    return _Pairs(tail=float((1 - confidence) / (2 * pairs)) * _BELOW)


#: A little less than a float's rounding could add to a tail.
_BELOW = 1 - 1e-12


def _settled(cohort: Cohort) -> bool:
    """Whether it is known which rows are in the cohort."""
    counted = cohort.counted
    return counted is None or counted.hits[0] + counted.misses[1] == counted.rows == counted.hits[1] + counted.misses[0]


@dataclass(frozen=True, slots=True)
class _Pairs:
    """Compares cohorts by bounds for every two of them, each of which is missed with that probability."""

    tail: float

    def __call__(self, comparison: Comparison, rated: Sequence[Rated]) -> Range:
        """The number under the distribution, and that of the population but for the tails."""
        under = by_rates(comparison, [(cohort, cohort.rate) for cohort, _ in rated])
        return hull([under, self._sampled(comparison, [cohort for cohort, _ in rated])])

    def _sampled(self, comparison: Comparison, cohorts: Sequence[Cohort]) -> Range:
        match comparison:
            case Comparison.GAP:
                bounds = _of_all(self._difference, cohorts)
                return Range(low=max(Fraction(0), *bounds), high=-min(bounds))
            case Comparison.RATIO:
                bounds = _of_all(self._quotient, cohorts)
                return Range(low=min(Fraction(1), *bounds), high=1 / max(Fraction(1), *bounds))
            case Comparison.DIFFERENCE:
                others, privileged = cohorts
                return Range(low=self._difference(others, privileged), high=-self._difference(privileged, others))
            case Comparison.QUOTIENT:
                others, privileged = cohorts
                inverse = self._quotient(privileged, others)
                return Range(low=self._quotient(others, privileged), high=1 / inverse if inverse else None)
            case Comparison.EVERY | Comparison.MOST | Comparison.LEAST:
                raise ValueError("what compares no two rates has no pairs")

    def _difference(self, one: Cohort, other: Cohort) -> Fraction:
        return self._least(one, other, Fraction(-1))

    def _quotient(self, one: Cohort, other: Cohort) -> Fraction:
        return self._least(one, other, Fraction(0))

    def _least(self, one: Cohort, other: Cohort, nothing: Fraction) -> Fraction:
        """The bound where the one has as few hits as possible and the other as many; ``nothing`` where no row is."""
        from fairdsl.numerics.two_proportions import Counts, least_difference, least_quotient

        if one.counted is None or other.counted is None or not one.counted.rows or not other.counted.rows:
            return nothing
        few = Counts(one.counted.hits[0], one.counted.rows)
        many = Counts(other.counted.hits[1], other.counted.rows)
        return (least_difference if nothing else least_quotient)(few, many, self.tail)


def _of_all(bound: _Bound, cohorts: Sequence[Cohort]) -> list[Fraction]:
    return [bound(one, other) for one, other in permutations(cohorts, 2)]
