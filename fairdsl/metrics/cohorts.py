"""Cohorts: the conditional probabilities that a metric compares, from joint probabilities.

A *cohort* is a group under a condition: all of a group, those of a group with one value of the label, or those of
a group whom the model decides about in one way. Its *rate* is Pr[hit | cohort], by conditioning (docs/semantics.md,
section 4). Both are read off the metric's :class:`~fairdsl.ir.metric.Rate`: which of the four cells of decision and
label are hits, and which are misses.

A rate is ``hits / all`` where the distribution alone says who is in the cohort, and ``hits / (hits + misses)`` where
the model does. With hits in [h, H] and all in [d, D] it lies in [h / D, min(1, H / d)]; with misses in [m, M] in
[h / (h + M), H / (H + m)], since it rises with hits and falls with misses.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce
from itertools import product
from operator import add

from fairdsl.ir.population import Population, label_column
from fairdsl.ir.question import GroupMetric
from fairdsl.metrics.intervals import Defined
from fairdsl.metrics.joint import (
    NOTHING,
    Bounds,
    Counted,
    Enclosure,
    Joint,
    Key,
    at_most_one,
    cells_of,
    columns_of,
    in_order,
    key_of,
)
from fairdsl.metrics.rate_cells import Cells, Condition, conditions_of
from fairdsl.metrics.scored import Scored

#: Values of columns, by the columns' positions.
Assignment = tuple[tuple[int, Fraction], ...]

#: What the rates of a comparison are conditioned on: the label's value, and the decision (True: the favourable one).
Case = tuple[Assignment, bool | None]

#: Where the keys of a group stand, by the value of the label; by None where there is none.
_Places = Mapping[Fraction | None, int]
_ZERO, _ONE = Fraction(0), Fraction(1)
_NOBODY = Counted(rows=0, least=0, most=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hits:
    """Rows that are certainly in a cohort, and its hits and misses, between two numbers each."""

    rows: int = 0
    hits: tuple[int, int] = (0, 0)
    misses: tuple[int, int] = (0, 0)

    def __add__(self, other: Hits) -> Hits:
        return Hits(
            rows=self.rows + other.rows,
            hits=(self.hits[0] + other.hits[0], self.hits[1] + other.hits[1]),
            misses=(self.misses[0] + other.misses[0], self.misses[1] + other.misses[1]),
        )


@dataclass(frozen=True, kw_only=True)
class Cohort:
    """A group under a condition, and what is known of its rate.

    ``stratum`` are the values of ``given_each``, ``label`` the label's value that it is restricted to (none, too, where
    that is any other than one of many), ``decision`` the decision where the metric is taken for both. ``hits`` and
    ``whole``, or ``misses`` where the model decides who is in the cohort, are joint probabilities, ``of_group`` is
    that of the group in its stratum, ``rows`` the rows of data in the group and ``counted`` those in the cohort (None:
    there are no data).
    """

    group: Assignment
    stratum: Assignment
    label: Assignment
    decision: bool | None
    hits: Enclosure
    whole: Enclosure | None
    misses: Enclosure
    of_group: Enclosure
    rows: int | None = None
    counted: Hits | None = None
    #: Of a mean, what it is a mean of: the sum, as hits are one of people; it may be any number.
    mean: bool = False
    #: Of a mean, the scores of the people who were drawn, if any were.
    scored: Scored | None = None

    @property
    def case(self) -> Case:
        """What it is compared under with other groups."""
        return self.label, self.decision

    @cached_property
    def mass(self) -> Enclosure:
        """The probability of the cohort itself: of what its rate is a part of."""
        return _at_most_one(self.whole or _added([self.hits, self.misses]))

    @cached_property
    def defined(self) -> Defined:
        """Whether anybody is in the cohort."""
        low, high = self.mass
        if not high.numerator:
            return Defined.NO
        return Defined.YES if low.numerator else Defined.PERHAPS

    @cached_property
    def rate(self) -> Enclosure:
        """Pr[hit | cohort], or the mean; anything between 0 and 1 where nobody may be in it."""
        if self.mean and self.defined is Defined.YES and self.whole is not None:
            quotients = [end / whole for end in self.hits for whole in self.whole]
            return Enclosure(low=min(quotients), high=max(quotients))
        if self.defined is not Defined.YES:
            return Bounds(low=_ZERO, high=_ONE)
        (low, high), (fewest, most) = self.hits, self.misses
        if self.whole is None:
            return Bounds(low=low / (low + most) if low else low, high=high / (high + fewest) if high else high)
        if low is high and self.whole.low is self.whole.high:
            return Bounds.exactly(at_most_one(low / self.whole.low))
        return Bounds(low=low / self.whole.high, high=at_most_one(high / self.whole.low))


def cohorts_of(question: GroupMetric, joint: Joint, population: Population) -> list[Cohort]:
    """All cohorts of a metric: stratum by stratum, in each case by case, then by groups."""
    label = label_column(population) if question.metric.rate.reads_label else None
    numbers = {
        column: [key_of(cell) for cell in cells_of(population, column)] for column in columns_of(question, population)
    }
    keys = list(product(*numbers.values()))
    ends = zip(in_order(joint.favourable, keys), in_order(joint.total, keys), strict=True)
    reader = _Reader(
        joint=joint,
        keys=keys,
        known=[_Known(some, every) for some, every in ends],
        label=label,
        mean=question.metric.rate.is_mean,
    )
    conditions = conditions_of(question, population)
    return [
        reader.cohort(group, stratum, condition, everybody)
        for stratum, groups in _strata(question, numbers, label)
        for condition in conditions
        for group, everybody in groups
    ]


def _strata(
    question: GroupMetric, numbers: dict[int, list[Fraction]], label: int | None
) -> Iterator[tuple[Assignment, list[tuple[Assignment, _Places]]]]:
    """Every stratum with its groups, and where the keys of each stand; ``numbers`` are those of the keys' columns."""
    at = {column: place for place, column in enumerate(numbers)}
    given, across = ([at[column] for column in some] for some in (question.given_each, question.across))
    labels = [None] if label is None else numbers[label]
    found: dict[tuple[int, ...], dict[tuple[int, ...], list[int]]] = {}
    for place, cells in enumerate(product(*[range(len(values)) for values in numbers.values()])):
        groups = found.setdefault(tuple([cells[n] for n in given]), {})
        groups.setdefault(tuple([cells[n] for n in across]), []).append(place)  # the label's value changes fastest

    def assigned(columns: Sequence[int], cells: Sequence[int]) -> Assignment:
        return tuple([(column, numbers[column][cell]) for column, cell in zip(columns, cells, strict=True)])

    for stratum, groups in sorted(found.items()):
        inside: list[tuple[Assignment, _Places]] = []
        for group, places in groups.items():
            inside.append((assigned(question.across, group), dict(zip(labels, places, strict=True))))
        yield assigned(question.given_each, stratum), inside


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reader:
    """Reads cohorts off a joint."""

    joint: Joint
    keys: Sequence[Key]
    #: What the joint says of each key.
    known: Sequence[_Known]
    label: int | None
    mean: bool

    def cohort(
        self,
        group: Assignment,
        stratum: Assignment,
        condition: Condition,
        everybody: _Places,
    ) -> Cohort:
        """The cohort under a condition; ``everybody`` are the keys of the whole group."""
        known = {value: self.known[place] for value, place in everybody.items()}
        whole = None if condition.whole is None else _probability(condition.whole, known)
        scored: list[Scored] = []
        if self.mean:
            averaged = [self.keys[everybody[value]] for value, met in condition.hits.items() if met]
            scored = [self.joint.scored[key] for key in averaged if key in self.joint.scored]
            hits = _added([self.joint.sums.get(key, NOTHING) for key in averaged])
        else:
            hits = _probability(condition.hits, known)
        return Cohort(
            group=group,
            stratum=stratum,
            label=() if condition.label is None or self.label is None else ((self.label, condition.label),),
            decision=condition.decision,
            hits=hits,
            whole=whole,
            misses=_probability(condition.misses, known) if whole is None else NOTHING,
            of_group=_sum([each.total for each in known.values()]),
            rows=self._rows(everybody),
            counted=None if self.mean else self._counted(condition, everybody),
            mean=self.mean,
            scored=reduce(add, scored) if scored else None,
        )

    def _rows(self, everybody: _Places) -> int | None:
        counts = self.joint.counts
        return sum(counts.get(self.keys[at], _NOBODY).rows for at in everybody.values()) if counts else None

    def _counted(self, condition: Condition, everybody: _Places) -> Hits | None:
        if not self.joint.counts:
            return None
        (fewest, most), (least, greatest) = (
            self._rows_of(part, everybody) for part in (condition.hits, condition.misses)
        )
        certain = fewest + least if condition.whole is None else self._rows_of(condition.whole, everybody)[0]
        return Hits(rows=certain, hits=(fewest, most), misses=(least, greatest))

    def _rows_of(self, part: Cells, everybody: _Places) -> tuple[int, int]:
        """The fewest and the most rows of such decisions."""
        fewest = most = 0
        for value, decisions in part.items():
            counted = self.joint.counts.get(self.keys[everybody[value]], _NOBODY)
            if decisions == {True}:
                fewest, most = fewest + counted.least, most + counted.most
            elif True in decisions:
                fewest, most = fewest + counted.rows, most + counted.rows
            elif decisions:
                fewest, most = fewest + counted.rows - counted.most, most + counted.rows - counted.least
        return fewest, most


@dataclass(frozen=True, slots=True)
class _Known:
    """Pr[favourable, key] and Pr[key] of one key."""

    favourable: Bounds
    total: Bounds

    def of(self, decisions: frozenset[bool]) -> Enclosure:
        """Pr[one of the decisions, key]."""
        if True in decisions:
            return self.total if False in decisions else self.favourable
        return self.total.without(self.favourable)


def _probability(part: Cells, known: Mapping[Fraction | None, _Known]) -> Enclosure:
    """Pr[a part of the decisions and labels]."""
    return _sum([known[value].of(decisions) for value, decisions in part.items() if decisions])


def _sum(found: Sequence[Enclosure]) -> Enclosure:
    """The probability of any of several things; it is at most 1, whatever the upper bounds add up to."""
    if len(found) == 1:
        return found[0]
    return _at_most_one(_added(found))


def _at_most_one(found: Enclosure) -> Enclosure:
    return Enclosure(low=found.low, high=at_most_one(found.high))


def pooled(cohorts: list[Cohort]) -> Cohort:
    """Several groups as one, as AIF360 takes everybody outside the privileged group."""
    first = cohorts[0]
    wholes = [cohort.whole for cohort in cohorts if cohort.whole is not None]
    counted = [cohort.counted for cohort in cohorts if cohort.counted is not None]
    scored = [cohort.scored for cohort in cohorts if cohort.scored is not None]
    return Cohort(
        group=(),
        stratum=first.stratum,
        label=first.label,
        decision=first.decision,
        hits=_added([cohort.hits for cohort in cohorts]),
        whole=_added(wholes) if wholes else None,
        misses=_added([cohort.misses for cohort in cohorts]),
        of_group=_added([cohort.of_group for cohort in cohorts]),
        rows=sum(cohort.rows for cohort in cohorts if cohort.rows is not None) if counted else None,
        counted=sum(counted, Hits()) if counted else None,
        mean=first.mean,
        scored=reduce(add, scored) if scored else None,
    )


def _added(pairs: Sequence[Enclosure]) -> Enclosure:
    return Enclosure(low=sum((each.low for each in pairs), _ZERO), high=sum((each.high for each in pairs), _ZERO))
