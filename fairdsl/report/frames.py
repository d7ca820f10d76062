"""A report as tables: columns of plain values, for DataFrames of any library."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from fractions import Fraction
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

from fairdsl.ir.metric import ACCEPTANCE, Metric
from fairdsl.ir.question import influence_of
from fairdsl.ir.rate import Averaged, Each, Event, Fact, Negated
from fairdsl.prelude import metrics, registered
from fairdsl.verdict import Cell, Rate, Value

if TYPE_CHECKING:
    from fairdsl.report.model import DemandReport, Report

#: Values by the names of columns, all of one length.
Table = dict[str, list[Any]]


class ViolationError(Exception):
    """A report in which a property is violated; ``report`` is that report."""

    def __init__(self, report: Report) -> None:
        """The message names the properties that do not hold."""
        from fairdsl.verdict import Judgement

        bad = (Judgement.VIOLATED, Judgement.REFUSED, Judgement.UNKNOWN, Judgement.VACUOUS)
        found = (f"{item.name}: {item.judgement.value}" for item in report.properties if item.judgement in bad)
        super().__init__("; ".join(found))
        self.report = report


class Tabled:
    """What has tables: a report."""

    __slots__ = ()

    def table(self, kind: str = "groups") -> Table:
        """Its ``groups``, ``metrics``, ``pairs`` or ``regions`` as columns of plain values, all of one length.

        Raises ValueError for another ``kind``.
        """
        return table_of(cast("Report", self), kind)

    def to_frame(self, kind: str = "groups", *, library: str = "pandas") -> Any:
        """The same as a DataFrame of ``pandas`` or ``polars``; raises ImportError where that is not installed."""
        return to_frame(self.table(kind), library)

    def raise_for_violation(self) -> None:
        """Raise :class:`ViolationError` where a property is violated; what is unknown or refused is named beside it."""
        from fairdsl.verdict import Judgement

        report = cast("Report", self)
        if any(item.judgement is Judgement.VIOLATED for item in report.properties):
            raise ViolationError(report)


@cache
def _names() -> Mapping[tuple[Event | Averaged, Event | None], str]:
    """What rates are called: as the metrics that compare them, without the comparison's word.

    Ratios come first, for they are called by their rates: `true_positive_rate_ratio`, beside `opportunity_gap`.
    """
    found: dict[tuple[Event | Averaged, Event | None], str] = {}
    for metric in sorted(metrics(), key=lambda each: (not each.is_span, not each.name.endswith("_ratio"))):
        stem, _, word = metric.name.rpartition("_")
        given = metric.rate.given
        if not isinstance(given, Each) and not metric.rate.along_paths and (metric.is_span or word in _COMPARED):
            found.setdefault((metric.rate.event, given), metric.name if metric.is_span else stem)
    return MappingProxyType(found)


#: How the names of metrics end that compare a rate.
_COMPARED = ("gap", "ratio", "difference")


def rate_name(metric: Metric, rate: Rate) -> str:
    """What one of a metric's rates is called: ``true_positive_rate``; else as a spec would define it."""
    given = metric.rate.given
    if given is Each.DECISION:
        favourable = rate.given.get("model decision") == "favourable"
        given = Fact.FAVOURABLE if favourable else Negated(Fact.FAVOURABLE)
    elif given is Each.LABEL:  # its value stands beside it
        given = ACCEPTANCE.rate.given
    known = None if isinstance(given, Each) else _names().get((metric.rate.event, given))
    name = known or metric.definition
    return f"{name} along paths" if metric.rate.along_paths else name


def table_of(report: Report, kind: str) -> Table:
    """One of the tables of a report; ValueError for another ``kind``."""
    if kind not in KINDS:
        raise ValueError(f"there is no table {kind!r}; a report has {', '.join(map(repr, KINDS))}")
    rows = list(KINDS[kind](report))
    names = list(dict.fromkeys(name for row in rows for name in row))
    return {name: [row.get(name) for row in rows] for name in names}


def to_frame(table: Table, library: str) -> Any:
    """The table as a DataFrame of a library that makes one of a dictionary: pandas, or polars."""
    if library not in ("pandas", "polars"):
        raise ValueError(f"`library` is 'pandas' or 'polars', not {library!r}; `table()` gives columns for any other")
    from importlib import import_module

    try:
        made: Any = import_module(library)
    except ImportError as problem:
        raise ImportError(
            f"{library} is not installed: `pip install {library}`, or take the columns of `table()`"
        ) from problem
    return made.DataFrame(table)


def _demands(report: Report) -> Iterator[tuple[dict[str, Any], DemandReport]]:
    for item in report.properties:
        for demand in item.demands:
            yield {"property": item.name, "metric": demand.metric}, demand


def _metrics(report: Report) -> Iterator[dict[str, Any]]:
    for head, demand in _demands(report):
        value, sampling = demand.value, None if demand.groups is None else demand.groups.sampling
        yield {
            **head,
            "demand": demand.text,
            "judgement": demand.judgement.value,
            "value": None if value is None or value.exact is None else float(value.exact),
            "low": _number(None if value is None else value.low),
            "high": _number(None if value is None else value.high),
            "sampling_low": _number(None if sampling is None else sampling.low),
            "sampling_high": _number(None if sampling is None else sampling.high),
            "backend": demand.backend,
        }


#: What the table of groups has beside attributes.
_OF_RATES = ("property", "metric", "rate", "value", "low", "high", "rows", "sampling_low", "sampling_high")


def _groups(report: Report) -> Iterator[dict[str, Any]]:
    for head, demand in _demands(report):
        metric = registered(demand.metric)
        if not isinstance(demand.verdict, Value) or influence_of(demand.metric) is not None:
            continue
        for rate in demand.verdict.rates:
            yield {
                **head,
                "rate": rate_name(metric, rate) if isinstance(metric, Metric) else demand.metric,
                **_cells(rate.group | rate.given, _OF_RATES),
                "value": float(rate.number.low) if rate.number.exact else None,
                "low": float(rate.number.low),
                "high": float(rate.number.high),
                "rows": rate.rows,
                "sampling_low": _number(None if rate.sampling is None else rate.sampling.low),
                "sampling_high": _number(None if rate.sampling is None else rate.sampling.high),
            }


def _pairs(report: Report) -> Iterator[dict[str, Any]]:
    for item in report.properties:
        for number, pair in enumerate(item.witnesses):
            for who, individual, decision in (
                ("a", pair.a, pair.replay.decision_a),
                ("b", pair.b, pair.replay.decision_b),
            ):
                head = {"property": item.name, "pair": number, "individual": who, "decision": decision}
                yield head | _cells(individual, head)


def _regions(report: Report) -> Iterator[dict[str, Any]]:
    """Where it fails: how much of all units each part is, and what of all fails and is open in it."""
    from fairdsl.report.words import region  # which reads reports

    for item in report.properties:
        for part in () if item.shares is None else item.shares.regions:
            yield {
                "property": item.name,
                "where": region(part),
                "share": float(part.share),
                "falsified": float(part.falsified),
                "undecided": float(part.undecided),
            }


#: The tables, by what they are about.
KINDS = MappingProxyType({"metrics": _metrics, "groups": _groups, "pairs": _pairs, "regions": _regions})


def _number(value: Fraction | None) -> float | None:
    return None if value is None else float(value)


def _cells(values: Mapping[str, Cell], columns: Container[str]) -> dict[str, Any]:
    """Values by attributes, of which one that is called like one of the table's own ``columns`` says what it is."""
    return {f"{name} (attribute)" if name in columns else name: _cell(value) for name, value in values.items()}


def _cell(value: Cell) -> str | bool | int | float:
    return float(value) if isinstance(value, Fraction) else value
