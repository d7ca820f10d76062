"""What the demands of a spec would come to with more or fewer rows, at the rates of those at hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from fairdsl.clock import Deadline
from fairdsl.elaborate import Elaborated, elaborate
from fairdsl.ir.population import Network
from fairdsl.ir.question import GroupMetric
from fairdsl.metrics import SIZES, at_size, counts_of
from fairdsl.metrics.reading import rests_on_tables
from fairdsl.replay import decisions_of_rows
from fairdsl.report.explained import AtSize, DemandSizes, NoSizes, SampleSizes
from fairdsl.semantics import CheckedSpec
from fairdsl.verdict import Refused, Value, judged


def demand_sizes(
    spec: CheckedSpec, models: Mapping[str, str], data: Mapping[str, str], confidence: Fraction, deadline: Deadline
) -> Mapping[str, tuple[DemandSizes, ...]]:
    """By property. ``confidence`` is that of demands that ask for none. Raises DiagnosticError and TimeIsUpError."""
    found: dict[str, tuple[DemandSizes, ...]] = {}
    for item in elaborate(spec, models, data=data).demands:
        one = DemandSizes(demand=item.demand.text, found=_sizes(item, confidence, deadline))
        found[item.property.name] = (*found.get(item.property.name, ()), one)
    return found


def _sizes(item: Elaborated, confidence: Fraction, deadline: Deadline) -> SampleSizes | NoSizes:
    problem = item.problem
    question, population, model = problem.question, problem.population, problem.model
    if not isinstance(question, GroupMetric) or population is None:
        return NoSizes.NO_RATES
    if population.sample is None:
        return NoSizes.WRITTEN
    if rests_on_tables(question):
        return NoSizes.TABLES
    if question.metric.rate.is_mean:
        return NoSizes.MEAN
    if item.refusal is not None or model.favourable is None:
        return NoSizes.REFUSED
    sure = question.confidence or confidence
    question = replace(question, confidence=sure)
    readings = decisions_of_rows(model, population, deadline).values()
    counts = counts_of(question, population, model, readings)
    values = [(times, at_size(question, population, counts, times)) for times in SIZES]
    at_hand = next(value for times, value in values if times == 1)
    if not isinstance(at_hand, Value):
        return NoSizes.REFUSED
    rows = sum(count.rows for count in counts.values())
    return SampleSizes(
        confidence=sure,
        low=at_hand.number.low if at_hand.defined else None,
        high=at_hand.number.high if at_hand.defined else None,
        sizes=tuple(_at(value, round(rows * times), item) for times, value in values),
        law=population.name if isinstance(population, Network) else None,
    )


def _at(value: Value | Refused, rows: int, item: Elaborated) -> AtSize:
    if isinstance(value, Refused):
        return AtSize(rows=rows)
    low, high = value.sampling or (None, None)
    threshold = item.demand.threshold
    return AtSize(rows=rows, low=low, high=high, verdict=None if threshold is None else judged(value, threshold))
