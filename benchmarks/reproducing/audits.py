"""One `fairdsl check` of a classifier on a table: its rates of groups under each population that a paper compares."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import nan
from pathlib import Path

from group.measure import CLOSE

import fairdsl
from fairdsl.verdict import Value
from reproducing.classifiers import Classifier
from reproducing.tables import Table

__all__ = ["FREE", "NETWORK", "ROWS", "WITHIN", "Asked", "Measured", "checked", "measured"]

#: The rows themselves; each attribute by itself; by itself within each group; a network learned from the rows.
ROWS, FREE, WITHIN, NETWORK = "rows", "free", "within", "network"


@dataclass(frozen=True, kw_only=True)
class Asked:
    """Metrics across some columns under one population, with further lines of the property."""

    under: str
    across: Sequence[str]
    metrics: Sequence[str]
    further: str = ""


@dataclass(frozen=True, kw_only=True)
class Measured:
    """The values of each question's metrics, with the CPU seconds of the whole check."""

    values: tuple[Mapping[str, Value], ...]
    seconds: float

    def number(self, metric: str, question: int = 0) -> float:
        """The value, exact or within CLOSE; NaN where nobody is accepted; ValueError where it is less close."""
        value = self.values[question][metric]
        if not value.defined:
            return nan
        if value.high - value.low > CLOSE:
            raise ValueError(f"{metric} is not one number: {float(value.low)} .. {float(value.high)}")
        return float(value.low + value.high) / 2

    def rates(self, question: int = 0) -> dict[str, float]:
        """The acceptance rate of each group."""
        rates = self.values[question]["acceptance_rate"].rates
        return {", ".join(str(cell) for cell in rate.group.values()): float(rate.low) for rate in rates}


def checked(spec: str, folder: Path) -> tuple[dict[str, dict[str, Value]], float]:
    """Writes and checks a spec: by property and metric its value, and CPU seconds; ValueError if one has none."""
    path = folder / "audit.fair"
    path.write_text(spec, encoding="utf-8")
    start = time.process_time()
    report = fairdsl.check(str(path))
    seconds = time.process_time() - start
    found: dict[str, dict[str, Value]] = {}
    for each in report.properties:
        for demand in each.demands:
            if not isinstance(demand.verdict, Value):
                raise ValueError(f"{demand.text} has no value: {demand.verdict}")
            found.setdefault(each.name, {})[demand.text.removeprefix("measure ")] = demand.verdict
    return found, seconds


def measured(
    table: Table, classifier: Classifier, asked: Sequence[Asked], *, fitted: Table | None = None, graph: str = ""
) -> Measured:
    """All questions about one classifier; populations are those of ``fitted``, or of the table where there is none."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (fitted or table).write(folder / "rows.csv")
        found, seconds = checked(_spec(table, classifier, asked, graph), folder)
    return Measured(values=tuple(found[f"q{place}"] for place in range(len(asked))), seconds=seconds)


def _spec(table: Table, classifier: Classifier, asked: Sequence[Asked], graph: str) -> str:
    columns = []
    for name, cells in table.cells.items():
        listed = sorted(set(cells.tolist()))
        if isinstance(listed[0], str):
            columns.append(f"  {name} : category {{ {', '.join(f'{chr(34)}{each}{chr(34)}' for each in listed)} }}")
        else:
            columns.append(f"  {name} : integer {listed[0]} .. {max(listed[-1], listed[0] + 1)}")
    across = (name for each in asked for name in each.across)
    protected = ", ".join(dict.fromkeys([*table.shape.protected, *across]))
    laws = {
        ROWS: "distribution rows over Person, good\n  empirical",
        FREE: "distribution free over Person\n  independent",
        WITHIN: f"distribution within over Person\n  independent given {protected}",
        NETWORK: "distribution network over Person\n  learn " + ("paths" if graph else "bayesian_network"),
    }
    used = dict.fromkeys(each.under for each in asked)
    parts = ["fair 1", 'audit "A classifier of a paper"', "domain Person {", *columns, "}"]
    parts += ["label good : boolean deserving yes", f"protected {protected}"]
    parts += ["model m : Person -> { no, yes }", classifier.text.rstrip(), "  favourable yes", graph]
    parts += [f'{laws[under]}\n  from "rows.csv"' for under in used]
    for place, each in enumerate(asked):
        parts.append(f"property q{place} {{\n  across {', '.join(each.across)}\n  under {each.under}\n{each.further}")
        parts.append("  excluding groups of probability 0\n" + "".join(f"  measure {m}\n" for m in each.metrics) + "}")
    return "\n".join(parts) + "\n"
