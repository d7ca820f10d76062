"""Metrics of people who were drawn from a distribution, beside what is proved of it: docs/semantics.md, section 5.

Of n people who are drawn independently the hits of a cohort are binomial with the cohort's rate, given how many of them
belong to it. So the intervals are those of rows (:mod:`fairdsl.metrics.sampling`), and of means of scores those of
:mod:`fairdsl.metrics.scored`; but rows are about the population behind a distribution, and draws about the distribution
itself. An enclosure and an interval of draws are about the same number, which lies in what they have in common.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from fairdsl.ir.enclosure import Enclosure
from fairdsl.ir.metric import ACCEPTANCE
from fairdsl.ir.population import Population
from fairdsl.ir.question import GroupMetric, Precision, Threshold
from fairdsl.metrics.cohorts import cohorts_of
from fairdsl.metrics.counts import rows_of
from fairdsl.metrics.hull import hull_of
from fairdsl.metrics.intervals import least_of, most_of
from fairdsl.metrics.joint import Bounds, Counted, Joint, Key
from fairdsl.metrics.reading import Listed, read
from fairdsl.metrics.scored import Scored
from fairdsl.metrics.value import value_of_draws
from fairdsl.metrics.words import Names
from fairdsl.verdict import Draw, Drawn, Judgement, Part, Rate, Value, judged

#: People who were drawn, by key.
Seen = Mapping[Key, Counted] | Mapping[Key, Scored]

_ZERO, _ONE = Fraction(0), Fraction(1)
_ANY = Bounds(low=_ZERO, high=_ONE)


def settled(value: Value, precision: Precision, threshold: Threshold | None) -> bool:
    """Whether an enclosure, or what it has in common with a draw, says what is asked for."""
    if threshold is not None and judged(value, threshold) is not Judgement.UNKNOWN:
        return True
    parts = value.parts or (value,)
    if precision.within is None:
        return False
    return all(_near(part, precision.within) for part in parts)


def _near(part: Value | Part, within: Fraction) -> bool:
    """Whether both ends are as near as they have to be to the middle of an enclosure, or to the estimate of a draw."""
    if part.defined and part.number.high - part.number.low <= 2 * within:
        return True
    if part.drawn is None or part.sampling is None:
        return False
    (low, high), (least, most) = part.drawn.interval, part.drawn.estimate
    return high - least <= within and most - low <= within


def hopeless(value: Value, precision: Precision) -> bool:
    """Whether decisions that stay open leave more open than was asked for, however many people are drawn."""
    drawn = [part.drawn for part in value.parts or (value,) if part.drawn is not None]
    within = precision.within
    return within is not None and any(one.estimate.high - one.estimate.low > 2 * within for one in drawn)


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """What draws say beside an enclosure; of a number that nobody encloses (None) they alone say something."""

    question: GroupMetric
    population: Population
    enclosure: Value | None

    def read(self, seen: Sequence[Sequence[Seen]], draw: Draw, each: Fraction, confidence: Fraction) -> Value:
        """The number by the people of each distribution that is asked about: itself, and that without influence.

        ``seen`` are those of every baseline that may be meant, one where there is no choice. ``each`` is the confidence
        of the intervals of one of them, ``confidence`` that of all that are ever read.
        """
        found = hull_of([self._of_one(counts, each) for counts in seen])
        spans = (people.span for people in seen[0][0].values() if isinstance(people, Scored))
        span = next((Enclosure(low=low, high=high) for low, high in spans), _ANY)
        return self._joined(found, draw, confidence, span)

    def _of_one(self, counts: Sequence[Seen], each: Fraction) -> Value:
        # The people of one distribution are missed with half of the probability each.
        own = 1 - (1 - each) / len(counts)
        joints = [_joint(people) for people in counts]
        return value_of_draws(
            replace(self.question, confidence=own),
            joints[0],
            self.population,
            without=joints[1] if len(joints) > 1 else None,
            left_out=self._left_out(joints[0]),
        )

    def most_favoured(self, seen: Seen, confidence: Fraction) -> set[Key]:
        """The groups that may be favoured most, by the intervals of people as they are."""
        question = replace(
            self.question,
            metric=ACCEPTANCE,
            allowed=frozenset(),
            baseline=None,
            influence=(),
            excluding=None,
            confidence=confidence,
        )
        reading = read(question, _joint(seen), self.population)
        assert reading.wide is not None, "there is a confidence"
        found: set[Key] = set()
        for stratum in reading.strata:
            places = [place for place, cohort in enumerate(reading.kept) if cohort.stratum == stratum.at]
            most = most_of([reading.wide[place] for place in places])
            found |= {tuple(value for _, value in reading.kept[places[at]].group) for at in most}
        return found

    def _left_out(self, joint: Joint) -> set[Listed]:
        """The cohorts that the enclosure left out, or those of few rows."""
        question, excluding = self.question, self.question.excluding
        if excluding is None:
            return set()
        names = Names(self.population)
        rows = Joint(favourable={}, total={}, counts=rows_of(question, self.population))
        counted = cohorts_of(question, rows, self.population)
        return {
            (cohort.group, cohort.stratum, cohort.case)
            for cohort, few in zip(cohorts_of(question, joint, self.population), counted, strict=True)
            if (excluding.rows is not None and few.rows is not None and few.rows < excluding.rows)
            or (
                self.enclosure is not None
                and names(cohort.group + cohort.stratum + cohort.label) in self.enclosure.excluded
            )
        }

    def _joined(self, found: Value, draw: Draw, confidence: Fraction, span: Enclosure) -> Value:
        base = _unknown(found, span) if self.enclosure is None else self.enclosure
        drawn, by_group = {part.at: part for part in found.parts}, {(r.group, r.given): r for r in found.rates}
        rates = tuple(_rate(rate, by_group.get((rate.group, rate.given))) for rate in base.rates)
        most, least = _favoured(rates) if base.most or base.least else ((), ())
        own = _drawn(found)
        return replace(
            base,
            rates=rates,
            most=most,
            least=least,
            parts=tuple(_part(part, drawn.get(part.at)) for part in base.parts),
            drawn=own,
            sampling=_common(base.number if base.defined else None, own),
            confidence=confidence,
            draw=draw,
            warnings=base.warnings,
        )


def _joint(seen: Seen) -> Joint:
    """The shares of people who were drawn, or the sums of their scores."""
    counts = {key: people for key, people in seen.items() if isinstance(people, Counted)}
    scored = {key: people for key, people in seen.items() if isinstance(people, Scored)}
    people = {key: each.rows for key, each in counts.items()} | {key: each.people for key, each in scored.items()}
    whole = max(1, sum(people.values()))
    return Joint(
        favourable={
            key: Bounds(low=Fraction(each.least, whole), high=Fraction(each.most, whole))
            for key, each in counts.items()
        },
        total={key: Bounds.exactly(Fraction(count, whole)) for key, count in people.items()},
        counts=counts,
        sums={
            key: Enclosure(low=each.estimate.low / whole, high=each.estimate.high / whole)
            for key, each in scored.items()
        },
        scored=scored,
        drawn=True,
    )


def _unknown(found: Value, span: Enclosure) -> Value:
    """What is enclosed where nobody encloses anything, but that rates lie within their span."""
    return replace(
        found,
        number=_ANY,
        rates=tuple(replace(rate, number=span, mass=_ANY, rows=None, empirical=None) for rate in found.rates),
        parts=tuple(replace(part, number=_ANY, defined=False) for part in found.parts),
        defined=False,
        reason=None,
    )


def _rate(rate: Rate, found: Rate | None) -> Rate:
    own = None
    if found is not None and found.sampling is not None:
        own = Drawn(estimate=found.number, interval=found.sampling)
    return replace(rate, drawn=own, sampling=_common(rate.number, own))


def _part(part: Part, found: Part | None) -> Part:
    own = None if found is None else _drawn(found)
    return replace(part, drawn=own, sampling=_common(part.number if part.defined else None, own))


def _drawn(found: Value | Part) -> Drawn | None:
    """What the draws say of a number; None where they leave open whether there is one."""
    if not found.defined or found.sampling is None:
        return None
    return Drawn(estimate=found.number, interval=found.sampling)


def _common(enclosed: Enclosure | None, drawn: Drawn | None) -> Enclosure | None:
    """What an enclosure and an interval of draws have in common; the enclosure where they have nothing."""
    if enclosed is None or drawn is None:
        return enclosed if drawn is None else drawn.interval
    return enclosed.common(drawn.interval) or enclosed


def _favoured(rates: Sequence[Rate]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The places of the rates that may be the greatest, and the least, of those that are given the same."""
    most: list[int] = []
    least: list[int] = []
    by_given: dict[tuple[tuple[str, object], ...], list[int]] = {}
    for place, rate in enumerate(rates):
        by_given.setdefault(tuple(rate.given.items()), []).append(place)
    for places in by_given.values():
        ends = [rates[place].sampling or rates[place].number for place in places]
        bounds = [Bounds(low=low, high=high) for low, high in ends]
        most += [places[at] for at in most_of(bounds)]
        least += [places[at] for at in least_of(bounds)]
    return tuple(most), tuple(least)
