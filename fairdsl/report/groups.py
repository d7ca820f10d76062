"""Values of metrics as reports: groups by the names of their columns, and numbers judged against thresholds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from fairdsl.ir.domain import Attribute
from fairdsl.ir.metric import Metric
from fairdsl.ir.metric_registry import registered
from fairdsl.ir.population import Population
from fairdsl.metrics import judged, range_words, rows_to_decide
from fairdsl.report.cells import cell_of
from fairdsl.report.model import Cell, DemandReport, GroupReport, GroupsReport, Interval, PartReport
from fairdsl.report.rows import by_decider
from fairdsl.verdict import Judgement, Part, Rate, Reason, Value, judge

__all__ = ["groups_report", "judged_value"]

_Assignment = Sequence[tuple[int, Fraction]]


def groups_report(value: Value, columns: Sequence[Attribute], population: Population | None) -> GroupsReport | None:
    """The groups of a value; None where it has none. Without the population ranges go by a number in them."""
    if not value.rates and not value.excluded:
        return None
    names = _Names(columns, population)
    return GroupsReport(
        groups=tuple(
            _group(rate, names, most=place in value.most, least=place in value.least)
            for place, rate in enumerate(value.rates)
        ),
        excluded=tuple(names.of(group) for group in value.excluded),
        parts=tuple(_part(part, names) for part in value.parts if not _is_rate(part, value)),
        sampling=_interval(value.sampling),
        confidence=value.confidence,
    )


class _Names:
    """Assignments of columns by name."""

    def __init__(self, columns: Sequence[Attribute], population: Population | None) -> None:
        self._columns = columns
        self._population = population

    def of(self, assignment: _Assignment) -> dict[str, Cell]:
        """The values by the columns' names; a range in words."""
        return {self._columns[column].name: self._cell(column, value) for column, value in assignment}

    def _cell(self, column: int, value: Fraction) -> Cell:
        words = None if self._population is None else range_words(column, value, self._population)
        return cell_of(self._columns[column], value) if words is None else words


def _group(rate: Rate, names: _Names, *, most: bool, least: bool) -> GroupReport:
    return GroupReport(
        group=names.of(rate.group),
        given=names.of(rate.given) | _decision(rate),
        rate=Interval(rate.low, rate.high),
        mass=Interval(*rate.mass),
        rows=rate.rows,
        empirical=_interval(rate.empirical),
        sampling=_interval(rate.sampling),
        most=most,
        least=least,
        by_decider=by_decider(rate.by_decider),
    )


def _decision(rate: Rate) -> dict[str, Cell]:
    """The decision that is given; its name has a space, which no attribute's has."""
    return {} if rate.decision is None else {"model decision": "favourable" if rate.decision else "unfavourable"}


def _is_rate(part: Part, value: Value) -> bool:
    """Whether a part is a group's rate, which stands among the groups."""
    return any(part.at == (*rate.group, *rate.given) for rate in value.rates)


def _part(part: Part, names: _Names) -> PartReport:
    return PartReport(
        at=names.of(part.at),
        value=Interval(part.low, part.high) if part.defined else None,
        sampling=_interval(part.sampling) if part.defined else None,
    )


def _interval(ends: tuple[Fraction, Fraction] | None) -> Interval | None:
    return None if ends is None else Interval(*ends)


def judged_value(demand: DemandReport, value: Value) -> DemandReport:
    """The demand with its number, judged where the spec gives a threshold. What is no number is not shown as one."""
    if value.defined:
        demand = replace(demand, value=Interval(value.low, value.high))
    if demand.threshold is not None:
        judgement = judged(value, demand.threshold)
    else:
        judgement = Judgement.UNKNOWN if _nothing_known(value) else Judgement.MEASURED
    demand = replace(demand, judgement=judgement)
    # A measured interval is its own explanation, unless the engine had to stop early.
    reason = value.reason if judgement is Judgement.MEASURED else value.reason or Reason.INCOMPLETE
    if reason is Reason.NUMERIC_GAP and _left_by_sampling(demand, value):
        reason = Reason.INCOMPLETE
    if judgement in (Judgement.HOLDS, Judgement.VIOLATED) or reason is None:
        return demand
    return replace(demand, reason=reason, detail=_detail(demand, value))


def _left_by_sampling(demand: DemandReport, value: Value) -> bool:
    """Whether the number itself decides the threshold, and only the sampling error leaves room."""
    threshold = demand.threshold
    if threshold is None or value.confidence is None or not value.defined:
        return False
    return judge(value.low, value.high, threshold.relation, threshold.limit) is not Judgement.UNKNOWN


def _nothing_known(value: Value) -> bool:
    """Whether there is no number, or nothing is known of any."""
    numbers = [(part.low, part.high) for part in value.parts] or [(value.low, value.high)]
    return not value.defined or all(low == 0 and high == 1 for low, high in numbers)


def _detail(demand: DemandReport, value: Value) -> str:
    """Why it is not known any better."""
    threshold = demand.threshold
    if value.reason is Reason.UNDEFINED:
        return "" if threshold is None else "no threshold is met or missed by what is no number"
    if threshold is not None and value.confidence is not None:
        if value.sampling is None:
            return "there is no interval for the sampling error, which the demand asks for"
        if _left_by_sampling(demand, value):
            metric = registered(demand.metric)
            rows = rows_to_decide(value, metric, threshold) if isinstance(metric, Metric) else None
            many = "" if rows is None else f", about {rows:,} behind each rate if the rates stay as they are"
            return f"the rows leave room on both sides of the threshold; more of them may decide it{many}"
    if value.reason is Reason.NUMERIC_GAP:
        return "the number lies between the one that exact arithmetic has of these rows and that of the deployed file"
    if value.reason is Reason.TIMEOUT:
        return "the time ended before the probabilities were known more precisely"
    if value.reason is Reason.INTERRUPTED:
        return "the run was interrupted before the probabilities were known more precisely"
    if not value.defined:
        return "the probabilities are known between bounds, and for some numbers between them there is no such metric"
    return "the probabilities are known between bounds" + (" on both sides of the threshold" if threshold else "")
