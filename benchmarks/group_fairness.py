"""Rates of groups by subset sums: a published tool's problems, and the published recursion beside the engine.

    python benchmarks/group_fairness.py cases FOLDER       # linear problems in JSON: reproduced, and cell by cell
    python benchmarks/group_fairness.py pace               # independent variables: the recursion and the engine
    python benchmarks/group_fairness.py networks           # correlated variables by induced width
    python benchmarks/group_fairness.py growth             # by variables, and by the size of weights

FOLDER holds the problems, each with its variables, their frequencies, the rule and the tool's own rates
(``group/cases.py`` says what is read). Drawn problems come from ``--seed`` (0). ``--patience`` (30) is how many seconds
the recursion gets for each of two groups. Seconds are CPU seconds. Ends with 1 if two ways disagree.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path

from group.answers import against_cells, reproduced
from group.attributes import Reading
from group.cases import Case, cases_in
from group.measure import Measured, measured
from group.sums import Sum, correlated, independent

PACE = (50, 100, 200, 400, 1200)
HEAVIEST = 100
NETWORK = 30
SMALL_NETWORK = 16
WIDTHS = (1, 2, 3, 4, 5, 6)
SIZES = (50, 100, 200, 400, 800, 1600)
WEIGHTS = (1, 10, 100, 1_000, 10_000, 100_000)
GROWTH_SIZE = 50


def header(*titles: str) -> str:
    return f"| {' | '.join(titles)} |\n| --- {'| ---: ' * (len(titles) - 1)}|"


def percent(bounds: tuple[Fraction, Fraction]) -> str:
    low, high = (f"{float(end):.2%}" for end in bounds)
    return low if low == high else f"{low} .. {high}"


def share(rate: float | None) -> str:
    return "" if rate is None else f"{rate:.2%}"


def cases(found: Iterable[Case]) -> bool:
    """The tool's own question, then the people's; whether everything agrees."""
    listed, fine = list(found), True
    print("Each variable a Boolean of its own, as the tool asks\n")
    print(header("case", "law", "groups", "disparate impact", "the tool's", "furthest from the file's rates"))
    for case in listed:
        for network in (False, True):
            row = reproduced(case, network)
            fine &= row.passed
            print(
                f"| {row.case} | {'network' if network else 'independent'} | {row.groups} "
                f"| {row.disparate_impact:.6f} | {row.published:.6f} | {row.furthest:.1e} |",
                flush=True,
            )
    print("\nValues of an attribute exclude each other; every figure by the engine and cell by cell\n")
    print(header("case", "group", "as the tool asks", *(reading.value for reading in Reading), "in the test data"))
    for case in listed:
        by_reading = [list(against_cells(case, reading)) for reading in Reading]
        for rows in zip(*by_reading, strict=True):
            fine &= all(row.passed for row in rows)
            first, rates = rows[0], " | ".join(percent(row.rate) for row in rows)
            print(
                f"| {case.name} | {first.group} | {share(first.raw)} | {rates} | {share(first.empirical)} |", flush=True
            )
    return fine


def compared(found: Iterable[tuple[str, Sum]], patience: float) -> bool:
    """One line a drawn problem; whether the two ways agree."""
    fine = True
    print(header("variables", "engine: cpu s", "rates", "recursion: cpu s", "ratio", "difference"))
    for name, drawn in found:
        row = measured(drawn, patience=patience)
        fine &= row.passed
        print(f"| {name} | {row.seconds:.4f} | {kind(row)} | {plain(row, patience)} |", flush=True)
    return fine


def kind(row: Measured) -> str:
    return "exact" if row.exact else f"within {max(float(high - low) for low, high in row.rates):.0e}"


def plain(row: Measured, patience: float) -> str:
    if row.plain is None or row.ratio is None or row.difference is None:
        return f"none in {patience:g} | over {patience / row.seconds:,.0f} | "
    return f"{row.plain:.4f} | {row.ratio:,.1f} | {row.difference:.0e}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=("cases", "pace", "networks", "growth"))
    parser.add_argument("folder", nargs="?", help="of the JSON problems, for `cases`")
    parser.add_argument("--seed", type=int, default=0, help="of the drawn problems")
    parser.add_argument("--patience", type=float, default=30.0, help="seconds of the recursion for each group")
    arguments = parser.parse_args()
    seed, patience = arguments.seed, arguments.patience
    match arguments.part:
        case "cases":
            found = cases_in(Path(arguments.folder)) if arguments.folder else []
            if not found:
                parser.error("`cases` needs a folder with linear problems")
            fine = cases(found)
        case "pace":
            fine = compared(((f"{size}", independent(size, HEAVIEST, seed)) for size in PACE), patience)
        case "networks":
            drawn = [(size, width) for size in (SMALL_NETWORK, NETWORK) for width in WIDTHS]
            fine = compared(
                ((f"{size}, width {width}", correlated(size, width, HEAVIEST, seed)) for size, width in drawn), patience
            )
        case _:
            by_size = [(f"{size}, weights up to {HEAVIEST}", independent(size, HEAVIEST, seed)) for size in SIZES]
            by_weight = [
                (f"{GROWTH_SIZE}, weights up to {heaviest:,}", independent(GROWTH_SIZE, heaviest, seed))
                for heaviest in WEIGHTS
            ]
            fine = compared([*by_size, *by_weight], patience)
    if not fine:
        print("two ways disagree, or rates are not known closely", file=sys.stderr)
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
