"""Rates of groups: a published tool's problems, and how the engines' time grows beside others'.

    python benchmarks/group_fairness.py cases FOLDER       # linear problems in JSON: reproduced, and cell by cell
    python benchmarks/group_fairness.py pace               # independent variables: the recursion and the engine
    python benchmarks/group_fairness.py networks           # correlated variables by induced width
    python benchmarks/group_fairness.py learned            # networks learned from rows: enumeration and the engine
    python benchmarks/group_fairness.py growth             # by variables, and by the size of weights
    python benchmarks/group_fairness.py trees FOLDER       # trees in JSON and worked examples by satisfiability
    python benchmarks/group_fairness.py random-instances   # every short prefix: the solver and the definition
    python benchmarks/group_fairness.py ssat-growth        # by groups, depth of a tree, and rules of a list
    python benchmarks/group_fairness.py commands [FOLDER]  # `fairdsl check` of trees, votes, rules and networks
    python benchmarks/group_fairness.py checks [FOLDER]    # the short ones in one process, where nothing starts

FOLDER holds for `commands` the network GC-3.onnx of Fairify, for `checks` specs that are asked as well, and for the
others the problems, each with its variables, their frequencies, the rule and the tool's own rates (``group/cases.py``
and ``group/trees.py`` say what is read). Drawn problems come from ``--seed`` (0). ``--patience`` (30) is how many
seconds the recursion gets for each of two groups, and each way in `ssat-growth`. With ``--before CHECKOUT`` the version
there runs `commands` by turns with this one. Seconds are CPU seconds. Ends with 1 if two ways disagree, or a command
takes too long, or longer than before.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterable, Iterator
from fractions import Fraction
from pathlib import Path

from group.answers import against_cells, reproduced
from group.attributes import Reading
from group.cases import Case, cases_in
from group.commands import BESIDE_HEADER, COMMANDS_HEADER, by_turns, checked, checks, commands, ran
from group.formulas import grown, of_people, policies, raw
from group.learned import edges_of, learned
from group.measure import Measured, measured
from group.policies import Timed
from group.prefixes import compared
from group.sums import Sum, correlated, independent
from group.trees import tree_cases_in
from group.worked import worked_examples

PACE = (50, 100, 200, 400, 1200)
HEAVIEST = 100
NETWORK = 30
SMALL_NETWORK = 16
WIDTHS = (1, 2, 3, 4, 5, 6)
LEARNED = (20, 25, 30)
#: Each weight up to so many times the one before it: alike, or few heavy ones, as classifiers often have.
DECAYS = (1.0, 0.8)
SIZES = (50, 100, 200, 400, 800, 1600)
WEIGHTS = (1, 10, 100, 1_000, 10_000, 100_000)
GROWTH_SIZE = 50
#: How many times as long as before a command may take on a machine with others at work.
NOISE = 1.15
#: What a check may take that has nothing to count.
START = 0.1


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
                f"| {row.impact_ratio:.6f} | {row.published:.6f} | {row.furthest:.1e} |",
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


def compared_sums(found: Iterable[tuple[str, Sum]], patience: float) -> bool:
    """One line a drawn problem; whether the two ways agree."""
    fine = True
    titles = ("engine: cpu s", "of it the rates", "rates", "recursion: cpu s", "ratio", "to the rates", "difference")
    print(header("variables", *titles))
    for name, drawn in found:
        row = measured(drawn, patience=patience)
        fine &= row.passed
        seconds = f"{row.seconds:.5f} | {row.alone:.5f}"
        print(f"| {name} | {seconds} | {kind(row)} | {plain(row, patience)} |", flush=True)
    return fine


def kind(row: Measured) -> str:
    return "exact" if row.exact else f"within {max(float(high - low) for low, high in row.rates):.0e}"


def plain(row: Measured, patience: float) -> str:
    if row.plain is None or row.ratio is None or row.difference is None:
        return f"none in {patience:g} | over {patience / row.seconds:,.0f} | over {patience / row.alone:,.0f} | "
    return f"{row.plain:.4f} | {row.ratio:,.1f} | {row.plain / row.alone:,.1f} | {row.difference:.0e}"


def of_rows(seed: int) -> Iterator[tuple[str, Sum]]:
    """Learned networks by the number of variables, with weights of about one size and with few heavy ones."""
    for size in LEARNED:
        for decay in DECAYS:
            drawn = learned(size, seed, decay=decay, heaviest=HEAVIEST)
            yield f"{size}, {edges_of(drawn)} edges, {'weights alike' if decay == 1 else 'few heavy weights'}", drawn


def trees(folder: Path) -> bool:
    """The tool's own question, then the people's, then worked examples; whether everything agrees."""
    listed, fine = tree_cases_in(folder), True
    print("Each test a Boolean of its own, as the tool asks\n")
    titles = (
        "groups",
        "variables / clauses",
        "least",
        "most",
        "disparate impact",
        "the tool's",
        "cpu s",
        "the tool's s",
    )
    print(header("case", *titles, "furthest from the file's rates"))
    for row in map(raw, listed):
        fine &= row.passed
        print(
            f"| {row.case} | {row.groups} | {row.size[0]} / {row.size[1]} | {float(row.least):.6f} "
            f"| {float(row.most):.6f} | {row.impact_ratio:.6f} | {row.published:.7f} | {row.seconds:.4f} "
            f"| {row.published_seconds:.3f} | {row.furthest:.1e} |",
            flush=True,
        )
    print("\nThresholds of one attribute in order; every rate by the engine and cell by cell\n")
    print(header("case", "cells", "least", "most", "disparate impact", "cpu s", "the same fractions"))
    for found in map(of_people, listed):
        fine &= found.passed
        print(
            f"| {found.case} | {found.cells} | {float(found.least):.6f} | {float(found.most):.6f} "
            f"| {float(found.impact_ratio):.6f} | {found.seconds:.3f} | {'yes' if found.passed else 'no'} |",
            flush=True,
        )
    print("\nWorked examples\n")
    print(header("example", "least", "most", "the same fractions"))
    for path in sorted(folder.glob("worked*.json")):
        for example in worked_examples(path):
            fine &= example.passed
            low, high = (str(rate) for rate in example.found)
            print(f"| {example.name} | {low} | {high} | {'yes' if example.passed else 'no'} |", flush=True)
    return fine


def ssat_growth(seed: int, patience: float) -> bool:
    """One line a drawn policy; whether all that answer say the same."""
    fine = True
    titles = ("states: cpu s", "files, group by group: cpu s", "files of the extreme groups: cpu s")
    print(header("policy", *titles, "the faster files over the states"))
    for name, problem in policies(seed):
        row = grown(name, problem, patience)
        fine &= row.passed
        cells = " | ".join(way.why if way.seconds is None else f"{way.seconds:.4f}" for way in row.ways)
        faster = min(row.ways[1:], key=lambda way: patience if way.seconds is None else way.seconds)
        print(f"| {name} | {cells} | {over(faster, row.states, patience)} |", flush=True)
    return fine


def over(first: Timed, second: Timed, patience: float) -> str:
    """How many times as long the first way takes."""
    if second.seconds is None:
        return ""
    if first.seconds is None:
        return f"over {patience / second.seconds:,.0f}" if first.why.startswith("none") else first.why
    return f"{first.seconds / second.seconds:,.1f}"


def random_instances(seed: int) -> bool:
    """Whether the solver has the definition's value of every instance."""
    found = compared(seed)
    print(f"{found.instances:,} instances, one for each prefix, {found.between:,} with a value between 0 and 1;")
    print("every value the definition's" if found.wrong is None else f"another value for the prefix {found.wrong}")
    return found.wrong is None


def whole_commands(networks: Path | None, before: Path | None) -> bool:
    """One line a command; whether each is as fast as is wanted, or as before."""
    fine, start = True, 0.0
    print(header(*(COMMANDS_HEADER if before is None else BESIDE_HEADER)))
    with tempfile.TemporaryDirectory() as folder:
        for command in commands(Path(folder), networks):
            if before is None:
                found = ran(command)
                start = start or found.seconds
                fine &= found.seconds - start <= command.wanted
                print(f"| {command.name} | {found.seconds:.2f} | {command.wanted:g} | {found.cells} |", flush=True)
                continue
            old, found = by_turns(command, before)
            ratio = found.seconds / old.seconds
            fine &= ratio <= NOISE
            print(
                f"| {command.name} | {old.seconds:.2f} | {found.seconds:.2f} | {ratio:.2f} | {found.cells} |",
                flush=True,
            )
    return fine


def short_checks(specs: Path | None) -> bool:
    """One line a short command, without its start; whether each is as fast as is wanted."""
    fine = True
    print(header(*COMMANDS_HEADER))
    with tempfile.TemporaryDirectory() as folder:
        for command in checks(Path(folder), specs):
            found = checked(command)
            fine &= found.seconds <= (command.wanted or START)
            print(f"| {command.name} | {found.seconds:.3f} | {command.wanted:g} | {found.cells} |", flush=True)
    return fine


def sums(part: str, seed: int, patience: float) -> bool:
    """The parts about weighted sums."""
    match part:
        case "pace":
            return compared_sums(((f"{size}", independent(size, HEAVIEST, seed)) for size in PACE), patience)
        case "networks":
            drawn = [(size, width) for size in (SMALL_NETWORK, NETWORK) for width in WIDTHS]
            return compared_sums(
                ((f"{size}, width {width}", correlated(size, width, HEAVIEST, seed)) for size, width in drawn), patience
            )
        case "learned":
            return compared_sums(of_rows(seed), patience)
        case _:
            by_size = [(f"{size}, weights up to {HEAVIEST}", independent(size, HEAVIEST, seed)) for size in SIZES]
            by_weight = [
                (f"{GROWTH_SIZE}, weights up to {heaviest:,}", independent(GROWTH_SIZE, heaviest, seed))
                for heaviest in WEIGHTS
            ]
            return compared_sums([*by_size, *by_weight], patience)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parts = (
        "cases",
        "pace",
        "networks",
        "learned",
        "growth",
        "trees",
        "random-instances",
        "ssat-growth",
        "commands",
        "checks",
    )
    parser.add_argument("part", choices=parts)
    parser.add_argument("folder", nargs="?", type=Path, help="of problems, networks or specs; see above")
    parser.add_argument("--before", type=Path, help="a checkout of an older version, for `commands`")
    parser.add_argument("--seed", type=int, default=0, help="of the drawn problems")
    parser.add_argument("--patience", type=float, default=30.0, help="seconds for the recursion, or each way")
    arguments = parser.parse_args()
    part, folder, seed = arguments.part, arguments.folder, arguments.seed
    match part:
        case "cases" | "trees":
            if folder is None or not (cases_in(folder) if part == "cases" else tree_cases_in(folder)):
                parser.error(f"`{part}` needs a folder with {'linear problems' if part == 'cases' else 'trees'}")
            fine = cases(cases_in(folder)) if part == "cases" else trees(folder)
        case "commands":
            fine = whole_commands(folder, arguments.before)
        case "checks":
            fine = short_checks(folder)
        case "random-instances":
            fine = random_instances(seed)
        case "ssat-growth":
            fine = ssat_growth(seed, arguments.patience)
        case _:
            fine = sums(part, seed, arguments.patience)
    if not fine:
        print("two ways disagree, or rates are not known closely or quickly", file=sys.stderr)
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
