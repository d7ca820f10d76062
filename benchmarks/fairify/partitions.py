"""Questions partition by partition, beside Fairify's pace.

CPU seconds are those of this process and of all that it starts, for one whole ``fairdsl.check`` with Fairify's
partition size: reading spec and network counts, imports do not. This process has imported everything
before (a check of one partition); what a solver process imports is measured in one that does nothing else and taken
off once for each of them, but never more than they took.

``measured.csv`` holds what Fairify itself takes: partitions and CPU seconds of the whole process on one core, with
the solver versions of this project (snapshot 5100aa7, 100 s a query, Adult race).
"""

from __future__ import annotations

import csv
import json
import resource
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import fairdsl
from fairdsl.backends.smt import milp
from fairdsl.backends.smt.solvers import worker
from fairify.questions import Published, Question, published

__all__ = ["FIRST", "HEADER", "Effort", "Run", "held", "runs"]

HERE = Path(__file__).parent
#: How many partitions of a question are asked, if nothing else is said.
FIRST = 510
HEADER = (
    "| network | question | partitions | violated | holds | unknown | volume decided | decided by | wall s | cpu s "
    "| imports s | partitions / cpu s | Fairify | ratio | paper: SAT / UNSAT / UNK |\n"
    "| --- | --- | ---: | ---: | ---: | ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |"
)
#: What every solver process imports; z3, which only some of them need, is not taken off.
_IMPORTS = f"import {worker.__name__}, {milp.__name__}, highspy"


@dataclass(frozen=True, kw_only=True)
class Run:
    """The partitions of one question: verdicts, what decided them and what it took.

    ``total`` were to be asked; those without a verdict had no time left. ``volume`` is the share of all units that lie
    in decided partitions; ``imports`` is part of ``cpu``; ``pace`` is Fairify's, in partitions a CPU second, None where
    it was not measured.
    """

    question: Question
    total: int
    verdicts: Counter[str]
    by: Counter[str]
    volume: Fraction
    wall: float
    cpu: float
    imports: float
    pace: float | None
    paper: Published | None

    @property
    def asked(self) -> int:
        return self.verdicts.total()

    @property
    def own_pace(self) -> float:
        """Partitions a CPU second."""
        return self.asked / max(self.cpu - self.imports, 1e-9)

    @property
    def ratio(self) -> float | None:
        """Our pace over Fairify's."""
        return None if self.pace is None else self.own_pace / self.pace

    @property
    def contradicts(self) -> bool:
        """Whether the paper has all partitions, and has other numbers of them violated and proved than we have."""
        if self.paper is None or self.paper.coverage != 100 or self.verdicts["unknown"] or self.asked < self.total:
            return False
        return (self.verdicts["violated"], self.verdicts["holds"]) != (self.paper.sat, self.paper.unsat)

    def markdown(self) -> str:
        paper = "" if self.paper is None else f"{self.paper.sat} / {self.paper.unsat} / {self.paper.unknown}"
        columns = (
            self.question.network.stem,
            self.question.family,
            f"{self.asked:,}" if self.asked == self.total else f"{self.asked:,} of {self.total:,}",
            *(f"{self.verdicts[verdict]:,}" for verdict in ("violated", "holds", "unknown")),
            f"{float(self.volume):.2%}",
            ", ".join(f"{by} {count:,}" for by, count in self.by.most_common()),
            f"{self.wall:.2f}",
            f"{self.cpu:.2f}",
            f"{self.imports:.2f}",
            f"{self.own_pace:,.0f}",
            "" if self.pace is None else f"{self.pace:.2f}",
            "" if self.ratio is None else f"{self.ratio:,.0f}",
            paper,
        )
        return f"| {' | '.join(columns)} |"

    def record(self) -> dict[str, str | int | float]:
        return {
            "network": self.question.network.stem,
            "family": self.question.family,
            "partitions": self.total,
            "asked": self.asked,
            "violated": self.verdicts["violated"],
            "holds": self.verdicts["holds"],
            "unknown": self.verdicts["unknown"],
            "volume": float(self.volume),
            "by": "; ".join(f"{by} {count}" for by, count in self.by.most_common()),
            "wall_s": round(self.wall, 3),
            "cpu_s": round(self.cpu, 3),
            "imports_s": round(self.imports, 3),
            "ratio": "" if self.ratio is None else round(self.ratio, 1),
        }


@dataclass(frozen=True, kw_only=True)
class Effort:
    """What one check may take; ``query`` are seconds for one partition's solvers, None for fairdsl's own limit."""

    timeout: float
    query: float | None
    seed: int
    jobs: int
    #: Partitions of a question, in seeded order, where there are more.
    first: int = FIRST


def runs(questions: Sequence[Question], effort: Effort, folder: Path) -> Iterator[Run]:
    """Each question's partitions, their verdicts in a file of the folder as well."""
    printed, paces = published(), measured()
    for question in questions:
        ledger = ledger_of(question, folder)
        ledger.unlink(missing_ok=True)
        ask(question, first=1, effort=effort, ledger=ledger)
        ledger.unlink()
        before, children, started = cpu_seconds(), children_seconds(), time.monotonic()
        ask(question, first=effort.first, effort=effort, ledger=ledger)
        wall, cpu, of_children = time.monotonic() - started, cpu_seconds() - before, children_seconds() - children
        lines = list(lines_of(ledger))
        yield Run(
            question=question,
            total=total_of(ledger),
            verdicts=Counter(line["verdict"] for line in lines),
            by=Counter(line["by"] for line in lines if line["verdict"] != "unknown"),
            volume=sum((Fraction(line["volume"]) for line in lines if line["verdict"] != "unknown"), Fraction(0)),
            wall=wall,
            cpu=cpu,
            imports=min(of_children, effort.jobs * import_seconds()) if of_children else 0.0,
            pace=paces.get(question.printed_as),
            paper=printed.get(question.printed_as),
        )


def ask(question: Question, *, first: int, effort: Effort, ledger: Path) -> None:
    """One check, partition by partition, violated or not."""
    fairdsl.check(
        question.spec,
        models={question.model: question.network},
        timeout=effort.timeout,
        seed=effort.seed,
        jobs=effort.jobs,
        options={
            "smt": {"query_timeout": effort.query},
            "partition": fairdsl.Partition(size=question.size, first=first, keep_going=True, ledger=str(ledger)),
        },
    )


def held(questions: Sequence[Question], folder: Path) -> Mapping[Question, list[int]]:
    """The partitions that hold, by question, from the ledgers in the folder; without a ledger there are none."""
    return {
        question: [
            int(line["partition"]) for line in lines_of(ledger_of(question, folder)) if line["verdict"] == "holds"
        ]
        for question in questions
        if ledger_of(question, folder).is_file()
    }


def ledger_of(question: Question, folder: Path) -> Path:
    return folder / f"{question.network.stem}-{question.family}.jsonl"


def lines_of(ledger: Path) -> Iterator[dict[str, Any]]:
    """The verdicts in a ledger; what it says about the run is left out."""
    with ledger.open(encoding="utf-8") as file:
        for line in map(json.loads, file):
            if "partition" in line:
                yield line


def total_of(ledger: Path) -> int:
    """How many partitions were to be asked, as the ledger's first line has it."""
    with ledger.open(encoding="utf-8") as file:
        return int(json.loads(next(file))["partitions"])


def measured() -> dict[tuple[str, str], float]:
    """Fairify's partitions a CPU second, by family and network."""
    with (HERE / "measured.csv").open(encoding="utf-8", newline="") as file:
        return {("base", row["network"]): int(row["partitions"]) / float(row["cpu_s"]) for row in csv.DictReader(file)}


def cpu_seconds() -> float:
    """Of this process, all its threads, and the processes that it has started and that have ended."""
    return time.process_time() + children_seconds()


def children_seconds() -> float:
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return ended.ru_utime + ended.ru_stime


@cache
def import_seconds() -> float:
    """CPU seconds for what one solver process imports, the start of Python included; the least of three."""
    found = []
    for _ in range(3):
        before = children_seconds()
        subprocess.run([sys.executable, "-c", _IMPORTS], check=True)
        found.append(children_seconds() - before)
    return min(found)
