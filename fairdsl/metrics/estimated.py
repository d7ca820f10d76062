"""Intervals for rates from the tables of a distribution counted in rows: :mod:`fairdsl.metrics.tables` by cohort.

They rest on the distribution's structure, as the frequency of favoured rows does not; but they are all that is known of
a distribution along paths and of one without the influence of some columns, of which nobody has rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from fairdsl.ir.enclosure import Enclosure
from fairdsl.ir.expr import variables
from fairdsl.ir.population import Network, Population, label_column
from fairdsl.ir.question import GroupMetric
from fairdsl.metrics.cohorts import Cohort
from fairdsl.metrics.joint import Bounds, columns_of
from fairdsl.metrics.sampling import USUAL
from fairdsl.metrics.tables import Tables, share_of, tables_of
from fairdsl.numerics.cells import place_of
from fairdsl.verdict import Known

_ZERO, _ONE = Fraction(0), Fraction(1)


def estimated(
    question: GroupMetric, cohorts: Sequence[Cohort], population: Population, confidence: Fraction
) -> tuple[Bounds, ...] | None:
    """For every cohort an interval that contains its rate in the population, all of them with this probability.

    Each contains the rate under the distribution. None where no bound is known: of distributions from no rows, or along
    paths from a baseline that the rows would have to choose.
    """
    if not isinstance(population, Network):
        return None
    tables = tables_of(population, label=_reads_label(question, population))
    if tables is None:
        return None
    about = _About(question=question, network=population, tables=tables, miss=1 - confidence)
    found = about.along_paths(cohorts) if question.metric.rate.along_paths else about.within_groups(cohorts)
    return None if None in found else tuple(bounds for bounds in found if bounds is not None)


def _reads_label(question: GroupMetric, network: Network) -> bool:
    label = label_column(network)
    read = {*columns_of(question, network), *(variable.attribute for variable in variables(question.given))}
    return label is not None and label in read


@dataclass(frozen=True, slots=True, kw_only=True)
class _About:
    """A question about a distribution from rows; ``miss`` is the probability of missing any rate."""

    question: GroupMetric
    network: Network
    tables: Tables
    miss: Fraction

    def along_paths(self, cohorts: Sequence[Cohort]) -> list[Bounds | None]:
        """The columns of a group are set, and read as the baseline along the allowed edges."""
        baseline = self.question.baseline
        if not isinstance(baseline, tuple):
            return [None]
        at = dict(zip(self.question.across, baseline, strict=True))
        read = {
            (parent, child): self._cell(parent, at[parent])
            for parent, child in self.question.allowed
            if child is not None and parent in at
        }
        found = []
        for cohort in cohorts:
            fixed = {column: self._cell(column, value) for column, value in cohort.group}
            bound = self.tables.bound(fixed, miss=self.miss, events=self._events(cohorts), read=read)
            found.append(None if bound is None else _rate(cohort, bound, _ONE))
        return found

    def within_groups(self, cohorts: Sequence[Cohort]) -> list[Bounds | None]:
        """As many columns of a cohort as are closed are fixed; the others are a condition."""
        fixed = [self._closed(dict(cohort.group + cohort.stratum + cohort.label)) for cohort in cohorts]
        joined = all(self.tables.joined(columns) for columns in {tuple(each) for each in fixed})
        events = self._events(cohorts)
        found: list[Bounds | None] = []
        for cohort, cells in zip(cohorts, fixed, strict=True):
            share = share_of(self.tables, cells)
            if share is None:
                found.append(Bounds(low=_ZERO, high=_ONE))
                continue
            if joined:
                bound: Fraction | None = self.tables.bound_of_joined(cells, miss=self.miss, events=events)
            else:
                bound = self.tables.bound(cells, miss=self.miss, events=events)
            found.append(None if bound is None else _rate(cohort, bound, share))
        return found

    def _events(self, cohorts: Sequence[Cohort]) -> int:
        """Hits and misses of each cohort, and the same under the distribution without influence."""
        return 2 * len(cohorts) * (2 if self.question.influence else 1)

    def _closed(self, values: dict[int, Fraction]) -> dict[int, int]:
        """The cells of the largest part of the columns that have no parents but each other."""
        columns = sorted(values)
        while not self.tables.closed(columns):
            columns = [column for column in columns if all(p in columns for p in self.tables.parents[column])]
        return {column: self._cell(column, values[column]) for column in columns}

    def _cell(self, column: int, value: Fraction) -> int:
        place = place_of(value, self.network.cells[column])
        if place is None:
            raise ValueError(f"`{self.network.columns[column].name}` has no cell of {value}")
        return place


def _rate(cohort: Cohort, bound: Fraction, share: Fraction) -> Bounds:
    """The rate of a cohort, whose frequencies are those among ``share`` of all."""
    fewest, most = (end / share for end in cohort.hits)
    if cohort.whole is None:
        least, highest = (end / share for end in cohort.misses)
    else:
        least, highest = cohort.whole.low / share - most, cohort.whole.high / share - fewest
    return _quotient(Enclosure(low=fewest, high=most), Enclosure(low=least, high=highest), bound)


def _quotient(hits: Enclosure, misses: Enclosure, bound: Fraction) -> Bounds:
    """h / (h + m), with the frequencies of hits and misses within ``bound``."""
    low, high = max(_ZERO, hits.low - bound), hits.high + bound
    few, many = max(_ZERO, misses.low - bound), misses.high + bound
    return Bounds(low=low / (low + many) if low else _ZERO, high=min(_ONE, high / (high + few)) if high else _ZERO)


def sampling_bound(network: Network, confidence: Fraction = USUAL) -> Fraction | None:
    """By how much the probabilities of being treated fairly, and unfairly, may be off in the population that the rows
    of a distribution were drawn from, its structure taken to be right.

    None where the distribution was not counted in rows, or no bound is known.
    """
    tables = tables_of(network, label=False)
    if tables is None:
        return None
    miss = 1 - confidence
    joined = tables.bound_of_joined({}, miss=miss, events=2) if tables.joined(()) else None
    return tables.bound({}, miss=miss, events=2) if joined is None else joined


def share_within(bound: Fraction, known: Known) -> Enclosure:
    """An interval that contains the fair share in the population, of which ``known`` probabilities are off by so much
    at most.
    """
    fair, unfair, open_ = Fraction(known.fair), Fraction(known.unfair), Fraction(known.undecided + known.unsure)
    return _quotient(Enclosure(low=fair, high=fair + open_), Enclosure(low=unfair, high=unfair + open_), bound)


def sampled_share(network: Network, known: Known, confidence: Fraction = USUAL) -> Enclosure | None:
    """The same of ``known`` probabilities under a distribution; None where no bound of its sampling error is known."""
    bound = sampling_bound(network, confidence)
    return None if bound is None else share_within(bound, known)
