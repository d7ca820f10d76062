"""Shares of two shared networks under a Bayesian network learned from rows of all their attributes, and what draws say.

    python benchmarks/learned_shares.py NETWORKS GERMAN BANK [--seconds 60] [--samples 1000000] [--jobs]

NETWORKS is the folder of GC-3.onnx and BM-6.onnx (in folders of their own, or not), GERMAN the file `german.data`
and BANK `bank-additional.csv`, both of UCI as they are. Rows are coded as the networks were trained; the domain leaves
out who has no known property, and the training whoever has an unknown value. The clock counts this process, from the
closed problem to the share: learning, imports and the compilation of kernels come before. People are drawn from
the factors of the distribution, and decided by onnxruntime alone, with either value of what differs. Ends with 1
if the share that draws find does not lie, by four standard deviations, between the bounds, or these are more than five
points apart. With `--jobs` a population job of each without bins is solved in two shards instead, each ended after half
of its time and gone on with, and recovered; the clock then counts solving and recovering.
"""

from __future__ import annotations

import argparse
import csv
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from math import sqrt
from pathlib import Path

import numpy as np
import onnxruntime
from numpy.typing import NDArray

import fairdsl
from fairdsl.backends.contract import Budget
from fairdsl.backends.rates.shares import Share
from fairdsl.elaborate import elaborate
from fairdsl.ir.population import Network
from fairdsl.ir.problem import Problem
from fairdsl.semantics import front_end

SPECS = Path(__file__).parents[1] / "specs"
#: People that are drawn at once; the widest share that counts as known.
_AT_ONCE, _WIDEST = 100_000, 0.05
#: The columns of german.data, and the groups that the training made of codes.
_GERMAN = [
    "status", "month", "credit_history", "purpose", "credit_amount", "savings", "employment",
    "investment_as_income_percentage", "personal_status", "other_debtors", "residence_since", "property", "age",
    "installment_plans", "housing", "number_of_credits", "skill_level", "people_liable_for", "telephone",
    "foreign_worker", "credit",
]  # fmt: skip
_GROUPS = {
    "status": {"A11": 1, "A12": 1, "A13": 0, "A14": 2},
    "credit_history": {"A30": 1, "A31": 1, "A32": 1, "A33": 0, "A34": 2},
    "savings": {"A61": 1, "A62": 1, "A63": 0, "A64": 0, "A65": 2},
    "employment": {"A71": 2, "A72": 0, "A73": 0, "A74": 1, "A75": 1},
}
_WOMEN = ("A92", "A95")

Rows = Sequence[Mapping[str, object]]


def ranked(rows: Rows, name: str) -> dict[object, int]:
    """The codes of a column's texts: their ranks."""
    return {text: rank for rank, text in enumerate(sorted({str(row[name]) for row in rows}))}


def german(path: Path) -> Iterator[dict[str, object]]:
    """The rows of German Credit, coded."""
    rows = [dict(zip(_GERMAN, line.split(), strict=True)) for line in path.read_text().splitlines()]
    codes = _GROUPS | {
        name: ranked(rows, name) for name in _GERMAN if name not in _GROUPS and str(rows[0][name]).startswith("A")
    }
    for row in rows:
        coded: dict[str, object] = {name: codes[name][row[name]] if name in codes else row[name] for name in _GERMAN}
        if coded["property"] != 3:  # it is not known
            yield coded | {"age": int(int(row["age"]) >= 26), "sex": int(row["personal_status"] not in _WOMEN)}


def bank(path: Path) -> Iterator[dict[str, object]]:
    """The rows of Bank Marketing without unknown values, with months and days as their ranks."""
    with path.open() as file:
        rows = [row for row in csv.DictReader(file, delimiter=";") if "unknown" not in row.values()]
    months, days = ranked(rows, "month"), ranked(rows, "day_of_week")
    for row in rows:
        coded = {"month": months[row["month"]], "day_of_week": days[row["day_of_week"]]}
        rounded = {"emp.var.rate": round(float(row["emp.var.rate"])), "age": int(int(row["age"]) >= 25)}
        yield row | coded | rounded


#: The network, its specs, how its rows are read, and what is put into bins.
CASES = (
    ("GC-3", "german", german, None),
    ("BM-6", "bank", bank, None),
    ("GC-3", "german", german, "credit_amount : integer 0 .. 20000"),
)


def problem_of(folder: Path, network: Path, specs: str, rows: list[dict[str, object]], bins: str | None) -> Problem:
    """The share of the base question of a spec, under a network learned from rows."""
    domain = (SPECS / f"{specs}.fair").read_text()
    assert bins is None or bins in domain
    (folder / f"{specs}.fair").write_text(
        domain if bins is None else domain.replace(bins, f"{bins} bins by quantiles 8")
    )
    base = (SPECS / f"{specs}-base.fair").read_text()
    name = base.split(" -> ")[0].split(" : ")[1]
    learned = f'\ndistribution people over {name}\n  learn bayesian_network\n  from "rows.csv"\n\nproperty '
    text = base.replace("\nproperty ", learned, 1).replace(
        "require same decision", "under people\n  measure fair_share"
    )
    text = text.replace(f"{network.stem[:2]}-1.onnx", network.name)
    (folder / network.name).write_bytes(network.read_bytes())
    spec = folder / "share.fair"
    spec.write_text(text)
    with (folder / "rows.csv").open("w", newline="") as file:
        table = csv.DictWriter(file, rows[0].keys())
        table.writeheader()
        table.writerows(rows)
    checked, findings = front_end(str(spec))
    assert checked is not None, findings
    (found,) = (each.problem for each in elaborate(checked, {}).demands)
    return found


def drawn(law: Network, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """The cells of so many people, [people, columns], column by column."""
    cells = np.zeros((count, len(law.columns)), dtype=np.int64)
    known: set[int] = set()
    left = list(law.factors)
    while left:
        factor = next(each for each in left if known.issuperset(each.parents))
        left.remove(factor)
        known.add(factor.column)
        keys, which = np.unique(cells[:, list(factor.parents)], axis=0, return_inverse=True)
        where = rng.random(count)
        for number, key in enumerate(keys.tolist()):
            row = factor.rows[tuple(key)]
            assert isinstance(row, tuple), "it was counted"
            own = np.flatnonzero(which.reshape(-1) == number)
            upto = np.cumsum([float(chance) for chance in row])
            cells[own, factor.column] = np.minimum(np.searchsorted(upto, where[own], side="right"), len(row) - 1)
    return cells


def unfair_of_draws(problem: Problem, network: Path, count: int) -> float:
    """The share of people drawn whose unit is decided in two ways by the file."""
    law, rng, unfair = problem.population, np.random.default_rng(0), 0
    assert isinstance(law, Network)
    (differs,) = problem.demanded.pair.differ
    session = onnxruntime.InferenceSession(str(network), providers=["CPUExecutionProvider"])
    (given,) = session.get_inputs()
    values = [np.array([float(cell.low or 0) for cell in cells], dtype=np.float32) for cells in law.cells]
    reads = [str(problem.domain.attributes[item.attribute].name) for item in problem.model.inputs]  # type: ignore[union-attr]
    at = {attribute.name: column for column, attribute in enumerate(law.columns)}
    for start in range(0, count, _AT_ONCE):
        cells = drawn(law, min(_AT_ONCE, count - start), rng)
        decided = []
        for value in range(len(values[differs])):
            cells[:, differs] = value
            people = np.stack([values[at[name]][cells[:, at[name]]] for name in reads], axis=1)
            decided.append(np.asarray(session.run(None, {given.name: people})[0]).reshape(len(cells)) > 0)
        unfair += int((np.array(decided) != decided[0]).any(axis=0).sum())
    return unfair / count


def checked(problem: Problem, seconds: float) -> tuple[float, float, int]:
    """The bounds that one process comes to in so many seconds, and how many boxes it took."""
    start, share = time.process_time(), Share(problem)
    while not share.finished and time.process_time() - start < seconds:
        share.improve(Budget.of(1000))
    known = share.known().parts()
    return float(known.certified), 1 - float(known.falsified), share.nodes


def by_jobs(folder: Path, seconds: float) -> tuple[float, float, int]:
    """The bounds that two shards come to, each stopped and gone on with, and how many boxes they took."""
    out = folder / "jobs"
    fairdsl.compile(folder / "share.fair", to="population-job", directory=out)
    (job,) = out.glob("*.job")
    solved = [
        fairdsl.solve(job, shard=shard, shards=2, resume=resume, timeout=seconds / 4, jobs=1)
        for shard in (1, 2)
        for resume in (False, True)
    ]
    report = fairdsl.recover(out)
    (found,) = (demand.shares for item in report.properties for demand in item.demands)
    return float(found.certified), 1 - float(found.falsified), solved[1].found.nodes + solved[3].found.nodes


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("networks", "german", "bank"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--samples", type=int, default=1_000_000)
    parser.add_argument("--jobs", action="store_true")
    asked = parser.parse_args()
    wrong = 0
    print("| network | differs | bins | certified share | points | cpu s | boxes | drawn |")
    print("| --- | --- | --- |" + " ---: |" * 5)
    for name, specs, read, bins in [case for case in CASES if not (asked.jobs and case[3])]:
        (network,) = asked.networks.rglob(f"{name}.onnx")
        with tempfile.TemporaryDirectory() as folder:
            problem = problem_of(Path(folder), network, specs, list(read(getattr(asked, specs))), bins)
            start = time.process_time()
            low, high, boxes = by_jobs(Path(folder), asked.seconds) if asked.jobs else checked(problem, asked.seconds)
            seconds = time.process_time() - start
        found = ""
        if bins is None:
            unfair = unfair_of_draws(problem, network, asked.samples)
            off = 4 * sqrt(unfair * (1 - unfair) / asked.samples)
            found = f"{1 - unfair:.3%} +- {off / 2:.3%} ({asked.samples:,})"
            wrong += not (low - off <= 1 - unfair <= high + off and high - low <= _WIDEST)
        differs = problem.domain.attributes[problem.demanded.pair.differ[0]].name
        cut = "" if bins is None else f"`{bins.split(' ')[0]}`, 8 quantiles"
        between = f"{low:.3%} to {high:.3%} | {high - low:.2%}"
        print(f"| {name} | {differs} | {cut} | {between} | {seconds:.1f} | {boxes:,} | {found} |", flush=True)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
