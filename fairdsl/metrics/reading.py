"""A joint as a question reads it: cohorts, those that are left out, and the number of every stratum.

Metrics of groups with sampling error: two rates compared are known better than each of the two.

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

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations
from math import comb

from fairdsl.ir.metric import Comparison
from fairdsl.ir.population import Population
from fairdsl.ir.question import GroupMetric
from fairdsl.metrics.cohorts import Assignment, Case, Cohort, cohorts_of
from fairdsl.metrics.definitions import (
    NONE,
    Compare,
    Rated,
    by_rates,
    compared,
    favoured,
    number_of,
    with_pools,
    worst_of,
)
from fairdsl.metrics.estimated import estimated
from fairdsl.metrics.intervals import Defined, Range, hull
from fairdsl.metrics.joint import Enclosure, Joint
from fairdsl.metrics.sampling import sampled_rate

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


#: Which cohort: its group, stratum and case.
Listed = tuple[Assignment, Assignment, Case]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stratum:
    """One value of the attributes of ``given``: its number under the distribution, and with sampling error.

    It is not ``comparable`` where the question leaves out too many of its groups.
    """

    at: Assignment
    comparable: bool
    number: Range
    sampled: Range | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What a question makes of a joint. ``wide`` are the rates of ``kept`` with sampling error, where asked for.

    ``by_pairs``: the numbers of ``strata`` with sampling error are not those of ``wide``, but of bounds for two rates
    each.
    """

    question: GroupMetric
    cohorts: tuple[Cohort, ...]
    excluded: tuple[Cohort, ...]
    kept: tuple[Cohort, ...]
    wide: tuple[Enclosure, ...] | None
    by_pairs: bool
    strata: tuple[Stratum, ...]

    @property
    def about_nobody(self) -> bool:
        """Whether there is nobody to count, whatever the model decides."""
        if self.question.metric.rate.among_decided:
            return all(cohort.of_group.high == 0 for cohort in self.cohorts)
        return all(cohort.defined is Defined.NO for cohort in self.kept)

    @property
    def number(self) -> Range:
        """The metric: the worst stratum's, of those in which there is something to compare."""
        return worst_of(self.question, [stratum.number for stratum in self.compared])

    @property
    def compared(self) -> tuple[Stratum, ...]:
        """The strata with something to compare."""
        return tuple(stratum for stratum in self.strata if stratum.comparable)

    @property
    def sampled(self) -> Range | None:
        """The same with sampling error; None where it was not asked for or is not known."""
        found = [stratum.sampled for stratum in self.compared if stratum.sampled is not None]
        return worst_of(self.question, found) if found and len(found) == len(self.compared) else None

    @property
    def extremes(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The places in ``kept`` of those that may be favoured most, and least, where they are compared.

        Only shares of favourable decisions are a favour; of other rates there is neither, but where they are asked for.
        """
        most: list[int] = []
        least: list[int] = []
        metric = self.question.metric
        if not (metric.rate.is_favour or metric.names_groups):
            return (), ()
        for at in dict.fromkeys(cohort.stratum for cohort in self.kept):
            inside = [(place, cohort) for place, cohort in enumerate(self.kept) if cohort.stratum == at]
            for case in dict.fromkeys(cohort.case for _, cohort in inside):
                compared = [(place, cohort.rate) for place, cohort in inside if cohort.case == case]
                highest, lowest = favoured(compared)
                most.extend(highest)
                least.extend(lowest)
        return tuple(most), tuple(least)


def _left_out(question: GroupMetric, cohort: Cohort, beside: Collection[Listed]) -> bool:
    """Whether the question wants a cohort listed instead of counted."""
    if beside and (cohort.group, cohort.stratum, cohort.case) in beside:  # numbers take long to hash
        return True
    if question.excluding is None:
        return False
    if cohort.defined is Defined.NO:
        return True
    limit = question.excluding.rows
    return limit is not None and cohort.rows is not None and cohort.rows < limit


def read(
    question: GroupMetric, joint: Joint, population: Population, *, beside: Collection[Listed] = frozenset()
) -> Reading:
    """Read a joint; the question's values have to be keys already. Cohorts in ``beside`` are left out too."""
    cohorts = cohorts_of(question, joint, population)
    kept: list[Cohort] = []
    excluded: list[Cohort] = []
    for cohort in cohorts:
        (excluded if _left_out(question, cohort, beside) else kept).append(cohort)
    pools = with_pools(question, kept)
    everyone = [*kept, *pools]
    wide = _drawn(question, everyone) if joint.drawn else _widened(question, everyone, population)
    ats = dict.fromkeys(cohort.stratum for cohort in cohorts)
    inside = {at: [place for place, cohort in enumerate(everyone) if cohort.stratum == at] for at in ats}
    rated = {at: [(everyone[place], everyone[place].rate) for place in places] for at, places in inside.items()}
    compare: Compare = by_rates
    rows = population.sample is not None and not rests_on_tables(question)
    if question.confidence is not None and rows and not joint.drawn:  # more people are sooner drawn than compared
        compare = by_pairs(question, list(rated.values()), question.confidence) or by_rates
    return Reading(
        question=question,
        cohorts=tuple(cohorts),
        excluded=tuple(excluded),
        kept=tuple(kept),
        wide=None if wide is None else tuple(wide[: len(kept)]),
        by_pairs=compare is not by_rates,
        strata=tuple(
            _stratum(
                question, at, of_one, None if wide is None else [(everyone[n], wide[n]) for n in inside[at]], compare
            )
            for at, of_one in rated.items()
        ),
    )


def _stratum(
    question: GroupMetric, at: Assignment, rated: Sequence[Rated], wide: Sequence[Rated] | None, compare: Compare
) -> Stratum:
    number = number_of(question, rated)
    sampled = None if wide is None else number_of(question, wide, compare) or NONE
    return Stratum(at=at, comparable=number is not None, number=number or NONE, sampled=sampled)


def _drawn(question: GroupMetric, cohorts: Sequence[Cohort]) -> list[Enclosure] | None:
    """The rates of people who were drawn from the distribution itself: nothing else is joined with their intervals."""
    if question.confidence is None:
        return None
    return [_sampled(cohort, question.confidence, len(cohorts)) for cohort in cohorts]


def _widened(question: GroupMetric, cohorts: Sequence[Cohort], population: Population) -> list[Enclosure] | None:
    """The rates with sampling error; None where it was not asked for or no interval is known to cover it.

    A distribution that was written has none. The frequency in rows is not a rate of a path-specific distribution, nor
    of one without the influence of some columns: what is known of those comes from the tables of the distribution.
    """
    if question.confidence is None:
        return None
    rates = [cohort.rate for cohort in cohorts]
    if population.sample is None:
        return rates
    if rests_on_tables(question):
        found = estimated(question, cohorts, population, question.confidence)
        return None if found is None else [one.around(other) for one, other in zip(rates, found, strict=True)]
    return [
        rate.around(_sampled(cohort, question.confidence, len(cohorts)))
        for cohort, rate in zip(cohorts, rates, strict=True)
    ]


def rests_on_tables(question: GroupMetric) -> bool:
    """Whether the rows show no frequency of what is asked, so that sampling error is known by tables only."""
    return question.metric.rate.along_paths or bool(question.influence)


def _sampled(cohort: Cohort, confidence: Fraction, rates: int) -> Enclosure:
    if cohort.scored is not None:
        return cohort.scored.interval(1 - (1 - confidence) / rates)
    if cohort.counted is None:
        return Enclosure(low=Fraction(0), high=Fraction(1))
    return sampled_rate(cohort.counted, confidence=confidence, rates=rates)
