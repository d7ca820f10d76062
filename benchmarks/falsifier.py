"""Finding violating pairs of shared classifiers: how fast, how steered, how rare, beside Aequitas and exact counts.

    python benchmarks/falsifier.py rates MODELS         # pairs a CPU second, every pair looked at again
    python benchmarks/falsifier.py published MODELS     # Aequitas's three strategies for the same number of steps
    python benchmarks/falsifier.py planted              # one violation in a million: evaluations until the first find
    python benchmarks/falsifier.py exact MODELS         # rates: exact counts, and intervals of samples
    python benchmarks/falsifier.py repair               # models trained again: rates and accuracy, before and after

MODELS is a folder with ``domain.json`` and the models that it names (``falsifying/questions.py`` says what is read).
``aequitas.csv`` holds what Aequitas's own scripts find on the same models. Ends with 1 if something that was looked at
again is wrong, if a search with one seed is not the same twice, if a sample and a count contradict each other, or if
``check`` says that a planted network is fair, or if the repaired tree does not discriminate 95 % less.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path

from falsifying.cells import count_cells, ends, header, number, percent, points, span, word
from falsifying.counts import KNOWN, Counted, counted, estimated, sampled
from falsifying.first_find import STRATEGIES, WANTED, checked, firsts
from falsifying.pace import first_find, pace_of, peers, reviewed
from falsifying.planted import PLANTS
from falsifying.questions import Case, cases_in
from falsifying.repairs import ESTIMATORS, repaired
from falsifying.spread import mean_of, variance_parts
from falsifying.walks import PUBLISHED, VARIANTS, Walked, guided, walked

import fairdsl

#: Pairs of a model with kernels that are evaluated exactly again, a fifth of a second each; of others it is all.
COSTLY = 50
#: What fairdsl does with as many evaluations.
OURS = ("uniform", "neighbours", "portfolio")


def readable(cases: Iterable[Case]) -> list[Case]:
    """Those that fairdsl reads; says which it does not."""
    listed = list(cases)
    for case in listed:
        if case.problem is None:
            print(f"{case.name} is left out, {case.refused}", file=sys.stderr)
    return [case for case in listed if case.problem is not None]


def rates(cases: Sequence[Case], arguments: argparse.Namespace, folder: Path) -> bool:
    """The pace of the portfolio, then what looking again comes to; whether nothing is wrong."""
    fine, seeds = True, range(arguments.seeds)
    print(f"Pairs a CPU second, the least and the most of {arguments.seeds} seeds\n")
    titles = ("pairs", "cpu s", "pairs / cpu s", "found of tried", "Aequitas", "ratio", "its local phase", "ratio")
    print(header("model, first find", *titles))
    for case in cases:
        ready = first_find(case)
        for count in arguments.count:
            pace = pace_of(case, count, seeds)
            fine &= pace.complete
            low, high = pace.rates[0], pace.rates[-1]
            cells = [f"{case.name}, {ready:.2f} s | {count:,} | {span(min(pace.seconds), max(pace.seconds), '.2f')}"]
            cells += [span(low, high, ",.0f"), span(min(pace.success), max(pace.success), ".1%")]
            peer = peers().get(case.name)
            for theirs in () if peer is None else (peer.best, peer.local):
                cells += [f"{theirs:g}", span(low / theirs, high / theirs, ",.0f")]
            print(f"| {' | '.join(cells)} |", flush=True)
    return looked_at_again(cases, arguments.count[0], folder) and fine


def looked_at_again(cases: Sequence[Case], count: int, folder: Path) -> bool:
    """The file of a search with seed 0 of each model; whether every pair in it is what it is said to be."""
    fine = True
    print("\nLooked at again: the file of a search with seed 0\n")
    titles = ("pairs", "different", "inside", "decided apart by onnxruntime", "exactly", "the same twice", "cpu s")
    print(header("model", *titles))
    for case in cases:
        exactly = COSTLY if getattr(case.closed.model, "opaque", None) is not None else count
        found = reviewed(case, folder, count=count, seed=0, rerun=count, computed=exactly)
        fine &= found.passed
        print(
            f"| {case.name} | {found.pairs:,} | {found.units:,} | {found.inside:,} "
            f"| {found.parted:,} of {found.rerun:,} | {found.proved:,} of {found.computed:,} "
            f"| {word(found.repeated)} | {found.seconds:.2f} |",
            flush=True,
        )
    return fine


def published(cases: Sequence[Case], arguments: argparse.Namespace) -> bool:
    """Every variant of the walks on every model, and whether the published order is seen."""
    seeds = range(arguments.seeds)
    print(f"Success of {arguments.steps:,} steps, {arguments.seeds} seeds, with 95 % intervals\n")
    titles = (
        "found of tried",
        "in local phases",
        "more than `random`, points",
        "starts",
        "steps down",
        "attributes",
    )
    print(header("model, strategy", *titles))
    for case in cases:
        walks = walked(case.closed, list(VARIANTS), seeds, arguments.steps)
        for name, group in walks.items():
            print(f"| {case.name}, {name} | {line(group, walks['random'])} |", flush=True)
        for name in OURS:
            success = mean_of([guided(case.closed, name, seed, arguments.steps) for seed in seeds])
            print(f"| {case.name}, fairdsl's {name} | {percent(success)} |  |  |  |  |  |", flush=True)
        print(f"{case.name}: {order(walks)}", file=sys.stderr)
    return True


def line(group: Sequence[Walked], base: Sequence[Walked]) -> str:
    """The cells of one variant."""
    more = [one.success - other.success for one, other in zip(group, base, strict=True)]
    steered = [one.steered for one in group if one.steered is not None]
    down = attribute = ""
    if steered:
        down = span(min(one.down[0] for one in steered), max(one.down[1] for one in steered), ".2f")
        attribute = span(min(one.attribute[0] for one in steered), max(one.attribute[1] for one in steered), ".2f")
    starts = span(min(one.starts for one in group), max(one.starts for one in group), ",.0f")
    cells = (
        percent(mean_of([one.success for one in group])),
        percent(mean_of([one.local for one in group])),
        "" if group is base else points(mean_of(more)),
        starts,
        down,
        attribute,
    )
    return " | ".join(cells)


def order(walks: dict[str, list[Walked]]) -> str:
    """Whether random < semi-directed < fully-directed is seen, and where the variance lies."""
    rows = [[one.success for one in walks[name]] for name in PUBLISHED]
    gains = [mean_of([later - former for former, later in zip(*both, strict=True)]) for both in pairwise(rows)]
    seen = "open"
    if all(gain.low > 0 for gain in gains):
        seen = "seen"
    elif any(gain.high < 0 for gain in gains):
        seen = "contradicted"
    by_strategy, by_seed = variance_parts(rows)
    variance = f"of the variance {by_strategy:.0%} between strategies, {by_seed:.0%} between seeds"
    return f"random < semi < fully: {seen}; semi {points(gains[0])}, fully {points(gains[1])} points; {variance}"


def plants(arguments: argparse.Namespace, folder: Path) -> bool:
    """Evaluations until the first find, then what `check` says; whether it never says that a network is fair."""
    fine = True
    print(f"Individuals evaluated until the first find, {arguments.seeds} networks, {arguments.most:,} at most\n")
    print(header("planted, strategy", "found", f"within {WANTED:,}", "median", "most", "cpu s"))
    for row in firsts(arguments.plants, STRATEGIES, arguments.seeds, arguments.most, folder):
        print(
            f"| {row.kind}, {row.strategy} | {row.found} of {len(row.evaluations)} | {row.in_time} "
            f"| {number(row.middle, arguments.most)} | {number(row.longest, arguments.most)} | {row.seconds:.1f} |",
            flush=True,
        )
    print("\nWhat `check` says of the first network\n")
    print(header("planted", "verdict", "by", "s"))
    for kind in arguments.plants:
        said = checked(kind, folder, arguments.patience)
        fine &= said.verdict != "holds"
        print(f"| {kind} | {said.verdict} | {said.backend} | {said.seconds:.1f} |", flush=True)
    return fine


def exact(cases: Sequence[Case], arguments: argparse.Namespace, folder: Path) -> bool:
    """Counts and samples, side by side; whether none contradicts another."""
    fine = True
    print("Counted by leaf boxes\n")
    print(header("model", "unfair units", "of", "share", "known", "cpu s"))
    counts: dict[str, Counted] = {}
    for case in cases:
        count = counts[case.name] = counted(case, folder, arguments.patience)
        known = KNOWN.get(case.name)
        fine &= known is None or not count.contradicts(known)
        shown = "" if known is None else f"{known[0]:,}"
        print(f"| {case.name} | {count_cells(count)} | {shown} | {count.seconds:.2f} |", flush=True)
    print(f"\nSampled: {arguments.size:,} units, and as many as {arguments.within} either way needs\n")
    print(header("model", "rate, 95 %", "cpu s", "agrees with the count", "with others", "enough", "units", "cpu s"))
    for case in cases:
        whole, exactly = sampled(case, arguments.size, 0, folder), counts[case.name]
        agrees = None if exactly.low is None or exactly.unfair is None else whole.agrees(exactly.low)
        others = None if case.counted is None else whole.meets(case.counted)
        close = estimated(case, arguments.within, 0, folder)
        fine &= agrees is not False and others is not False and close is not None
        enough = " |  | " if close is None else f"{ends(close.low, close.high)} | {close.size:,} | {close.seconds:.2f}"
        print(
            f"| {case.name} | {whole.unfair / whole.size:.4%} {ends(whole.low, whole.high)} | {whole.seconds:.2f} "
            f"| {word(agrees)} | {word(others)} | {enough} |",
            flush=True,
        )
    return fine


def repairs(arguments: argparse.Namespace, folder: Path) -> bool:
    """Each estimator of the example; whether the tree's rate falls by 95 % and its accuracy by half a point at most."""
    fine = True
    print("Repaired: `examples/repair`, before and after; held out are rows that neither trained nor chose a model\n")
    titles = ("domain", "less by", "accuracy", "held out: rate", "held out: accuracy", "`check` says", "cpu s")
    print(header("estimator, seed", *titles))
    for estimator in arguments.estimators:
        for seed in range(arguments.seeds):
            row = repaired(estimator, seed, folder)
            fine &= row.enough or estimator != "tree"
            less = "" if row.reduction is None else f"{float(row.reduction):.2%}"
            domain = " to ".join(f"{float(low):.3%}" if low == high else ends(low, high) for low, high in row.rates)
            pairs = (row.accuracy, row.rows, row.held_out)
            shares = (" to ".join(f"{float(share):.2%}" for share in pair) for pair in pairs)
            cells = (domain, less, *shares, row.verdict, f"{row.seconds:.1f}")
            print(f"| {estimator}, {seed} | {' | '.join(cells)} |", flush=True)
    return fine


@fairdsl.reading(root="/")  # the spec lies in a folder of its own
def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=("rates", "published", "planted", "exact", "repair"))
    parser.add_argument("models", nargs="?", type=Path, help="folder of domain.json and the models")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="only these models")
    parser.add_argument("--seeds", type=int, help="how many seeds, from 0 (3 for rates and repair, else 10)")
    parser.add_argument(
        "--count", type=int, nargs="+", default=[10_000, 100_000], help="pairs of the searches for `rates`"
    )
    parser.add_argument("--steps", type=int, default=20_000, help="of each walk, for `published`")
    parser.add_argument("--plants", nargs="+", choices=tuple(PLANTS), default=list(PLANTS), help="for `planted`")
    parser.add_argument("--most", type=int, default=2_000_000, help="evaluations of a search at most, for `planted`")
    parser.add_argument("--patience", type=float, default=60.0, help="seconds of each proof or count")
    parser.add_argument("--estimators", nargs="+", choices=ESTIMATORS, default=["tree"], help="for `repair`")
    parser.add_argument("--size", type=int, default=1_000_000, help="of the samples for `exact`")
    parser.add_argument("--within", default="0.1%", help="distance of the estimates for `exact`")
    arguments = parser.parse_args()
    arguments.seeds = arguments.seeds or (3 if arguments.part in ("rates", "repair") else 10)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        cases: list[Case] = []
        if arguments.part in ("rates", "published", "exact"):
            if arguments.models is None or not (arguments.models / "domain.json").exists():
                parser.error(f"`{arguments.part}` needs a folder with domain.json")
            cases = readable(cases_in(arguments.models, folder, arguments.only))
        match arguments.part:
            case "rates":
                fine = rates(cases, arguments, folder)
            case "published":
                fine = published(cases, arguments)
            case "planted":
                fine = plants(arguments, folder)
            case "repair":
                fine = repairs(arguments, folder)
            case _:
                fine = exact(cases, arguments, folder)
    if not fine:
        print("something is not what it is said to be", file=sys.stderr)
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
