"""What fairdsl answers to the specs written for the cases, and how the answers compare."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from fairdsl.elaborate import elaborate
from fairdsl.ir.domain import Attribute, Category
from fairdsl.semantics import front_end
from fairdsl.verdict.named import Cell
from group.attributes import Reading, attributes_of
from group.cases import Case, raw_spec
from group.measure import CLOSE, answered

__all__ = ["CellRow", "Reproduced", "against_cells", "rates_of", "reproduced"]

Rates = dict[tuple[int, ...], tuple[Fraction, Fraction]]


@dataclass(frozen=True, kw_only=True)
class Reproduced:
    """The rates of one file as the tool asks for them, beside the file's own."""

    case: str
    network: bool
    groups: int
    furthest: float
    impact_ratio: float
    published: float

    @property
    def passed(self) -> bool:
        return self.furthest <= CLOSE


@dataclass(frozen=True, kw_only=True)
class CellRow:
    """One group of one file in one reading: the engine, brute force, the tool's question, the data."""

    case: str
    reading: Reading
    group: str
    rate: tuple[Fraction, Fraction]
    counted: tuple[Fraction, Fraction]
    raw: float | None
    empirical: float | None

    @property
    def passed(self) -> bool:
        return all(abs(ours - theirs) <= CLOSE for ours, theirs in zip(self.rate, self.counted, strict=True))


def rates_of(spec: Path) -> Rates:
    """The rate of every group, as bounds, by the values of ``across``; raises ValueError where there is no answer."""
    checked, _ = front_end(str(spec))
    (demand,) = elaborate(checked, {}).demands
    assert demand.problem is not None, "a metric of one population has a problem"
    rates = answered(demand.problem).rates
    columns = {column.name: column for column in demand.problem.population.columns}
    return {
        tuple(_code(columns[name], cell) for name, cell in rate.group.items()): (rate.low, rate.high) for rate in rates
    }


def _code(column: Attribute, cell: Cell) -> int:
    """The value that the model is given."""
    if isinstance(column.type, Category):
        return next(value.code for value in column.type.values if value.name == cell)
    return int(cell)


def reproduced(case: Case, network: bool) -> Reproduced:
    """The file's rates are those of groups with one value of a block; the others are left aside."""
    with tempfile.TemporaryDirectory() as folder:
        found = rates_of(raw_spec(case, Path(folder), network))
    reference = case.reference(network)
    furthest = max(abs(float(end) - rate) for group, rate in reference.items() for end in found[group])
    lows, highs = ([found[group][side] for group in reference] for side in (0, 1))
    told = case.document["peer"]["Learn_dependency_S3P_BN" if network else "Learn_S3P_independent"]
    return Reproduced(
        case=case.name,
        network=network,
        groups=len(reference),
        furthest=furthest,
        impact_ratio=float(min(lows) / max(highs)),
        published=told["DI"],
    )


def _empirical(case: Case) -> dict[tuple[int, ...], float]:
    """Rates in the tool's test data by the values of its columns."""
    told = case.document["empirical_test_rates"]
    rows = {key: json.loads(key.replace("True", "1").replace("False", "0")) for key in told["groups"]}
    return {tuple(row) if isinstance(row, list) else (row,): told["groups"][key]["rate"] for key, row in rows.items()}


def against_cells(case: Case, reading: Reading) -> Iterator[CellRow]:
    """Every group that there is: attributes with exclusive values, by the engine and cell by cell."""
    attributes = attributes_of(case, reading)
    with tempfile.TemporaryDirectory() as folder:
        found = rates_of(attributes.spec(Path(folder)))
    columns = case.document["empirical_test_rates"]["columns"]
    by_variable = {variable["id"]: variable["feature"] for variable in case.variables}
    sensitive = [by_variable[number] for number in case.sensitive]
    raw = {attributes.cell_of(sensitive, group): rate for group, rate in case.reference(False).items()}
    empirical = {attributes.cell_of(columns, row): rate for row, rate in _empirical(case).items()}
    for group, counted in attributes.brute_force().items():
        yield CellRow(
            case=case.name,
            reading=reading,
            group=attributes.group(group),
            rate=found[group],
            counted=counted,
            raw=raw.get(group),
            empirical=empirical.get(group),
        )
