"""What an audit of predictions came to: the report of its spec, and what a reader wants of it first."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar

from fairdsl.auditing.spec import AGAINST, BY, SUBGROUPS, subgroup_metrics
from fairdsl.codec import Document
from fairdsl.diagnostics import DiagnosticError
from fairdsl.drafting.errors import would_overwrite
from fairdsl.ir.metric import ACCEPTANCE
from fairdsl.prelude import metric_named
from fairdsl.report.frames import Table, rate_name, to_frame
from fairdsl.report.model import DemandReport, Report
from fairdsl.report.words import group_words
from fairdsl.source.writing import write_file
from fairdsl.verdict import Interval, Named, Rate, Value


@dataclass(frozen=True, slots=True, kw_only=True)
class Subgroup:
    """Of all subgroups the one that is treated worst by one rate, and with which confidence.

    The intervals of all subgroups contain their rates at once, with the audit's confidence, so the one that was picked
    because it looks worst is not overstated.
    """

    #: Which rate it is: a lower one is worse.
    rate: str
    #: The conditions.
    group: Named
    #: The rate in its rows.
    value: Fraction
    #: How many rows it rests on.
    rows: int
    #: The interval for those whom the rows were drawn from.
    interval: Interval
    #: The best treated group of the same columns.
    best: Named
    #: Its rate in the rows.
    best_value: Fraction
    #: How far behind another group of the same columns it is at least, with that confidence; 0 where that is not sure.
    behind: Fraction


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Audited(Document):
    """An audit of predictions: which spec it is, what checking it gave, and who is treated worst."""

    SCHEMA: ClassVar[str] = "fairdsl.audited/1"

    #: The text of the spec: checking it with the rows beside it gives the same numbers.
    spec: str
    #: What checking it gave.
    report: Report
    #: How many rows there are.
    rows: int
    #: Of each rate of which a lower one is worse, the subgroup that is treated worst.
    worst: tuple[Subgroup, ...]
    #: Groups of few rows, with their number.
    small: tuple[str, ...]
    #: The table as the spec names it.
    data: str
    #: Which decision counts as favourable, and why, where nobody said so.
    favourable: str
    #: Which outcome counts as deserving; null without one.
    deserving: str | None = None
    #: Values of which cells differ in the blanks around them, which mean nothing, and how each is written.
    merged: tuple[str, ...] = ()
    #: The metrics that the page has; none: all of them, as the document has in any case.
    shown: tuple[str, ...] = ()
    #: Its content, where it is not a file yet.
    content: bytes | None = field(default=None, repr=False, compare=False)

    def write(self, path: str | PathLike[str]) -> None:
        """Write the spec, and the rows beside it where they are not a file yet; then ``fairdsl check`` takes both.

        Raises SpecError (E0671) where a file stands in the place of one of them.
        """
        place = Path(path)
        table = place.parent / Path(self.data).name if self.content is not None else Path(self.data)
        written = Path(os.path.relpath(table, place.parent)).as_posix()
        text = self.spec.replace(f'from "{Path(self.data).name}"', f'from "{written}"')
        files = {place: text} | ({} if self.content is None else {table: self.content})
        for file in files:
            if os.path.lexists(file):
                raise DiagnosticError(would_overwrite(str(file), "--spec FILE.fair", "write(PATH)"))
        for file, content in files.items():
            write_file(file, content, replace=False)

    def table(self, kind: str = "groups") -> Table:
        """The audit as columns: ``metrics`` or ``groups``, as :meth:`fairdsl.Report.table` has them."""
        table = self.report.table(kind)
        shown = [not name.startswith(SUBGROUPS) for name in table["property"]]
        return {name: [v for v, keep in zip(values, shown, strict=True) if keep] for name, values in table.items()}

    def to_frame(self, kind: str = "groups", *, library: str = "pandas") -> Any:
        """The same as a DataFrame of ``pandas`` or ``polars``; raises ImportError where that is not installed."""
        return to_frame(self.table(kind), library)

    def metric(self, name: str, across: str | tuple[str, ...] | None = None, *, privileged: bool = False) -> Interval:
        """One number by its name, or another library's for it; of several columns those that are named.

        Raises KeyError where the audit has no such number, with the reason if it was asked for and not found.
        """
        wanted = metric_named(name, privileged=privileged)
        names = (across,) if isinstance(across, str) else across
        why = ""
        for item in self.report.properties:
            own = item.clauses[0].removeprefix("across ").split(", ")
            if item.name.startswith(AGAINST if wanted.signed else BY) and names in (None, tuple(own)):
                for demand in item.demands:
                    if demand.metric == wanted.name and demand.value is not None:
                        return demand.value
                    why = f": {demand.detail}" if demand.metric == wanted.name and demand.detail else why
        raise KeyError(f"the audit has no number `{name}`{f' across {names}' if names else ''}{why}")

    def __str__(self) -> str:
        from fairdsl.auditing.words import page

        return page(self)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.report.audit}, {self.rows:,} rows>"

    def _repr_html_(self) -> str:
        from fairdsl.auditing.words import html_page

        return html_page(self)


def worst_of(report: Report) -> tuple[Subgroup, ...]:
    """The subgroups that are treated worst, from the report of an audit."""
    several = any(item.name.startswith(SUBGROUPS) for item in report.properties)
    found: dict[str, tuple[Fraction, Subgroup]] = {}
    for item in report.properties:
        if item.name.startswith(SUBGROUPS if several else BY):
            for demand in item.demands:
                for behind, subgroup in _subgroups(demand):
                    if subgroup.rate not in found or behind > found[subgroup.rate][0]:
                        found[subgroup.rate] = behind, subgroup
    return tuple(subgroup for _, subgroup in found.values())


def _subgroups(demand: DemandReport) -> Iterator[tuple[Fraction, Subgroup]]:
    """Every group but the best, and how far the end of its interval is below that of another group's: or above it."""
    if demand.metric not in subgroup_metrics() or not isinstance(demand.verdict, Value):
        return
    rated = [(rate, Interval(*rate.sampling)) for rate in demand.verdict.rates if rate.sampling and rate.rows]
    best = max((rate for rate, _ in rated), key=lambda rate: rate.number.low, default=None)
    for rate, interval in rated:
        if best is None or rate is best or interval.high is None:
            continue
        behind = max(other.low or Fraction(0) for each, other in rated if each is not rate) - interval.high
        yield (
            behind,
            Subgroup(
                rate=rate_name(metric_named(demand.metric), rate),
                group=rate.group,
                value=rate.number.low,
                rows=rate.rows or 0,
                interval=interval,
                best=best.group,
                best_value=best.number.low,
                behind=max(Fraction(0), behind),
            ),
        )


def small_groups(report: Report, few: int) -> tuple[str, ...]:
    """Groups that have fewer rows, by themselves: ``sex = f and race = c: 7 rows``."""
    found: dict[Named, Rate] = {}
    for item in report.properties:
        if item.name.startswith(BY):
            for demand in item.demands:
                everybody = metric_named(demand.metric).rate == ACCEPTANCE.rate
                if isinstance(demand.verdict, Value) and everybody:
                    found |= {rate.group: rate for rate in demand.verdict.rates if (rate.rows or 0) < few}
    return tuple(f"{group_words(group)}: {rate.rows} rows" for group, rate in found.items())
