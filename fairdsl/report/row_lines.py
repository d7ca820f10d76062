"""What a text report says of numbers over rows that exact arithmetic and the deployed file decide differently."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from fairdsl.report.model import DemandReport, PropertyReport
from fairdsl.report.words import cell, in_percent, number
from fairdsl.verdict import Decider, DifferingRow

#: Rows that are listed at most.
_ROWS = 5

_WHO = {
    Decider.EXACT: "exact arithmetic",
    Decider.DEPLOYED: "the deployed file",
    Decider.ANSWERS: "the model's answers",
}


def row_lines(demand: DemandReport, item: PropertyReport) -> Iterator[tuple[str, str]]:
    """Headings and sentences: the number by everybody who decides, and rows that are not decided alike, a list once."""
    numbers = demand.by_decider
    if len(set(numbers.values())) > 1:
        percent = in_percent(demand)
        said = [
            f"{_WHO[by]} {'no number' if value is None else number(value, percent)}" for by, value in numbers.items()
        ]
        yield "decided by", ", ".join(said)
    first = next(other for other in item.demands if other.differing == demand.differing)
    if not demand.differing or first is not demand:
        return
    count = len(demand.differing)
    yield "differing", f"{count:,} row{' is' if count == 1 else 's are'} not judged alike"
    for row in demand.differing[:_ROWS]:
        yield "", _row(row, numbers)
    if count > _ROWS:
        yield "", f"and {count - _ROWS:,} more in the JSON report"


def _row(row: DifferingRow, deciders: Collection[Decider]) -> str:
    parts = []
    if Decider.EXACT in deciders:
        parts.append(f"{row.exact or 'open'} in exact arithmetic")
    if Decider.EXACT not in deciders or Decider.DEPLOYED in deciders:
        parts.append(f"{row.deployed} by the file" if row.deployed else "either by the file, as it is run (threads)")
    values = ", ".join(f"{name} = {cell(value)}" for name, value in row.values.items())
    return f"row {row.row:,}: {', '.join(parts)}; {values}"
