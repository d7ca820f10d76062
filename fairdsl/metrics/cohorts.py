"""Cohorts: the conditional probabilities that a metric compares, from joint probabilities.

A *cohort* is a group under a condition: all of a group, those of a group with one value of the label, or those of
a group that the model favours. Its *rate* is Pr[hit | cohort], by conditioning (docs/semantics.md, section 4):

=================== =============================== =================================
metric              cohort                          hit
=================== =============================== =================================
rates, parity, ...  group a                         favourable
equalized odds, ... group a and label y             favourable
predictive parity   group a and favourable          the label's deserving value
=================== =============================== =================================

A rate is ``hits / (hits + misses)``, or ``hits / all``, whichever the engine knows. With hits in [h, H] and all
in [d, D] it lies in [h / D, min(1, H / d)]; with misses in [m, M] in [h / (h + M), H / (H + m)], since it rises with
hits and falls with misses.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from fairdsl.ir.population import Population, label_column
from fairdsl.ir.question import GroupMetric
from fairdsl.metrics.intervals import Defined
from fairdsl.metrics.joint import LABELLED, NOTHING, Bounds, Counted, Joint, Key, cells_of, columns_of, key_at, key_of

__all__ = ["Assignment", "Cohort", "Hits", "cohorts_of", "pooled"]

#: Values of columns, by the columns' positions.
Assignment = tuple[tuple[int, Fraction], ...]

_NOBODY = Counted(rows=0, least=0, most=0)
_ALL_LABELS = frozenset({"equalized_odds", "average_odds_difference"})


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

    ``stratum`` are the values of ``given_each``, ``label`` the label's value that it is restricted to. ``hits`` and
    ``misses`` (or ``whole``) are joint probabilities, ``of_group`` is that of the group in its stratum, ``rows`` the
    rows of data in the group and ``counted`` those in the cohort (None: there are no data).
    """

    group: Assignment
    stratum: Assignment
    label: Assignment
    hits: tuple[Fraction, Fraction]
    whole: tuple[Fraction, Fraction] | None
    misses: tuple[Fraction, Fraction]
    of_group: tuple[Fraction, Fraction]
    rows: int | None = None
    counted: Hits | None = None

    @cached_property
    def mass(self) -> tuple[Fraction, Fraction]:
        """The probability of the cohort itself: of what its rate is a part of."""
        low, high = self.whole or (self.hits[0] + self.misses[0], self.hits[1] + self.misses[1])
        return low, min(Fraction(1), high)

    @cached_property
    def defined(self) -> Defined:
        """Whether anybody is in the cohort."""
        low, high = self.mass
        if high == 0:
            return Defined.NO
        return Defined.YES if low > 0 else Defined.PERHAPS

    @cached_property
    def rate(self) -> Bounds:
        """Pr[hit | cohort]; anything between 0 and 1 where nobody may be in it."""
        if self.defined is not Defined.YES:
            return Bounds(low=Fraction(0), high=Fraction(1))
        (low, high), (fewest, most) = self.hits, self.misses
        if self.whole is None:
            return Bounds(low=low / (low + most) if low else low, high=high / (high + fewest) if high else high)
        return Bounds(low=low / self.whole[1], high=min(Fraction(1), high / self.whole[0]))


def cohorts_of(question: GroupMetric, joint: Joint, population: Population) -> list[Cohort]:
    """All cohorts of a metric: stratum by stratum, in each by the label's values, then by groups."""
    columns = columns_of(question, population)
    label = label_column(population)
    labelled = question.metric in LABELLED
    conditions: list[Fraction | None] = [None]
    if labelled:
        conditions = [*_labels(question, population, label)]
    reader = _Reader(question=question, joint=joint, columns=columns)
    return [
        reader.cohort(group, stratum, value, everybody)
        for stratum in _assignments(question.given_each, population)
        for value in conditions
        for group in _assignments(question.across, population)
        if _agree(group, stratum)
        for everybody in [_keys(columns, group, stratum, label if labelled else None, population)]
    ]


def _labels(question: GroupMetric, population: Population, label: int | None) -> list[Fraction]:
    """The values of the label that the metric conditions on."""
    if label is None or label in question.across + question.given_each:
        raise ValueError(f"{question.metric} needs a label that defines no groups")
    values = [key_of(cell) for cell in cells_of(population, label)]
    if question.metric in _ALL_LABELS:
        return values
    deserving = None if question.deserving is None else key_at(population, label, question.deserving)
    if deserving is None:
        raise ValueError(f"{question.metric} is about a value of the label, and the question names none of them")
    return [deserving]


def _assignments(columns: tuple[int, ...], population: Population) -> Iterator[Assignment]:
    """All values of the columns, the last one's changing fastest."""
    if not columns:
        yield ()
        return
    for cell in cells_of(population, columns[0]):
        for rest in _assignments(columns[1:], population):
            yield ((columns[0], key_of(cell)), *rest)


def _agree(group: Assignment, stratum: Assignment) -> bool:
    """Whether both can be at once: a column may define groups and strata."""
    values = dict(group)
    return all(values.get(column, value) == value for column, value in stratum)


def _keys(
    columns: tuple[int, ...], group: Assignment, stratum: Assignment, label: int | None, population: Population
) -> dict[Fraction | None, Key]:
    """The key of the group in its stratum for every value of the label (for None where keys have no label)."""
    values = dict(stratum) | dict(group)
    fixed = tuple(values[column] for column in columns if column != label)
    if label is None:
        return {None: fixed}
    return {key_of(cell): (*fixed, key_of(cell)) for cell in cells_of(population, label)}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reader:
    """Reads cohorts off a joint."""

    question: GroupMetric
    joint: Joint
    columns: tuple[int, ...]

    def cohort(
        self, group: Assignment, stratum: Assignment, value: Fraction | None, everybody: Mapping[Fraction | None, Key]
    ) -> Cohort:
        """The cohort at a value of the label; ``everybody`` are the keys of the whole group, by that value."""
        own, others = everybody[value], [key for other, key in everybody.items() if other != value]
        totals, favourable = self.joint.total, self.joint.favourable
        predictive = self.question.metric == "predictive_parity"
        whole = totals.get(own, NOTHING)
        return Cohort(
            group=group,
            stratum=stratum,
            label=() if value is None or predictive else ((self.columns[-1], value),),
            hits=_sum(favourable, [own]),
            whole=None if predictive else (whole.low, whole.high),
            misses=_sum(favourable, others) if predictive else (Fraction(0), Fraction(0)),
            of_group=_sum(totals, everybody.values()),
            rows=self._rows(everybody.values()),
            counted=self._counted(own, others, predictive),
        )

    def _rows(self, keys: Iterable[Key]) -> int | None:
        counts = self.joint.counts
        return sum(counts.get(key, _NOBODY).rows for key in keys) if counts else None

    def _counted(self, own: Key, others: list[Key], predictive: bool) -> Hits | None:
        counts = self.joint.counts
        if not counts:
            return None
        mine = counts.get(own, _NOBODY)
        if not predictive:
            misses = (mine.rows - mine.most, mine.rows - mine.least)
            return Hits(rows=mine.rows, hits=(mine.least, mine.most), misses=misses)
        rest = [counts.get(key, _NOBODY) for key in others]
        least, most = sum(count.least for count in rest), sum(count.most for count in rest)
        return Hits(rows=mine.least + least, hits=(mine.least, mine.most), misses=(least, most))


def _sum(of: Mapping[Key, Bounds], keys: Iterable[Key]) -> tuple[Fraction, Fraction]:
    """The probability of any of several keys; it is at most 1, whatever the upper bounds add up to."""
    found = [of.get(key, NOTHING) for key in keys]
    if len(found) == 1:
        return found[0].low, found[0].high
    low, high = _added([(each.low, each.high) for each in found])
    return low, min(Fraction(1), high)


def pooled(cohorts: list[Cohort]) -> Cohort:
    """Several groups as one, as AIF360 takes everybody outside the privileged group."""
    first = cohorts[0]
    wholes = [cohort.whole for cohort in cohorts if cohort.whole is not None]
    counted = [cohort.counted for cohort in cohorts if cohort.counted is not None]
    return Cohort(
        group=(),
        stratum=first.stratum,
        label=first.label,
        hits=_added([cohort.hits for cohort in cohorts]),
        whole=_added(wholes) if wholes else None,
        misses=_added([cohort.misses for cohort in cohorts]),
        of_group=_added([cohort.of_group for cohort in cohorts]),
        rows=sum(cohort.rows for cohort in cohorts if cohort.rows is not None) if counted else None,
        counted=sum(counted, Hits()) if counted else None,
    )


def _added(pairs: list[tuple[Fraction, Fraction]]) -> tuple[Fraction, Fraction]:
    return sum((low for low, _ in pairs), Fraction(0)), sum((high for _, high in pairs), Fraction(0))
