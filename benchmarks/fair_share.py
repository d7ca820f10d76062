"""Fair shares of the public networks, beside what FairQuant leaves undecided in the same CPU time.

    python benchmarks/fair_share.py NETWORKS [--seconds S | --fairquant-times] [--only AC-1 ...] [--jobs N]
        [--csv FILE] [--sums] [--samples [1000000]] [--brute-force [3]]
    python benchmarks/fair_share.py NETWORKS --growth [1 3 10 30 100] [--only AC-1 ...]
    python benchmarks/fair_share.py NETWORKS --two-processes [20] [--only AC-1 ...]

NETWORKS is a folder that holds GC-1.onnx and the others, at any depth; ``fairquant.csv`` holds FairQuant's
figures. Protected: Adult sex, Bank age (corrected domain), German age. A network gets FairQuant's own CPU
seconds, at least 5, or S for all. Ends with 1 if a check fails. What counts as CPU time: ``shares/measure.py``.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from shares.checks import Check, brute_force, samples, sums
from shares.growth import DEPTHS, WIDTHS, against_two, growth_of, pace_of
from shares.measure import Reading, read_at, refined_by, warm
from shares.questions import Peer, ask, networks_in, peers

#: FairQuant's shorter runs are too short to tell methods from start-up.
LEAST_SECONDS = 5.0
MARKS = [1.0, 3.0, 10.0, 30.0, 100.0]
#: CPU seconds for the pace of each drawn network.
PACE_SECONDS = 3.0
HALF, QUARTER = Fraction(1, 2), Fraction(1, 4)


@dataclass(frozen=True, kw_only=True)
class Row:
    """One network: FairQuant's figures and ours."""

    network: str
    peer: Peer
    ours: Reading

    @property
    def ratio(self) -> Fraction:
        """Of what is left undecided, ours to FairQuant's."""
        return self.ours.undecided / self.peer.undecided

    def markdown(self) -> str:
        ours, ratio = self.ours, f"{float(self.ratio):.3f}"
        if self.ratio <= HALF:
            ratio = f"**{ratio}**"
        if self.ratio <= QUARTER:
            ratio = f"{ratio} <= 1/4"
        return (
            f"| {self.network} | {percent(self.peer.undecided)} | {self.peer.cpu:.2f} | {percent(ours.certified)} | "
            f"{percent(ours.falsified)} | {percent(ours.undecided)} | {ours.cpu:.2f} | {ours.nodes:,} | {ratio} |"
        )

    def record(self) -> dict[str, str | int | float]:
        return {
            "network": self.network,
            "fairquant_undecided": float(self.peer.undecided),
            "fairquant_cpu_s": self.peer.cpu,
            "certified": float(self.ours.certified),
            "falsified": float(self.ours.falsified),
            "undecided": float(self.ours.undecided),
            "cpu_s": round(self.ours.cpu, 3),
            "wall_s": round(self.ours.wall, 3),
            "nodes": self.ours.nodes,
            "ratio": float(self.ratio),
        }


def percent(share: Fraction) -> str:
    return f"{float(share):.2%}"


def header(*titles: str) -> str:
    return f"| {' | '.join(titles)} |\n| --- {'| ---: ' * (len(titles) - 1)}|"


def compared(networks: Sequence[Path], arguments: argparse.Namespace, failed: list[Check]) -> Iterator[Row]:
    """Prints each row as it comes, and below it the checks that were asked for."""
    known = peers()
    print(
        header(
            "network", "FairQuant undecided", "cpu s", "certified", "falsified", "undecided", "cpu s", "nodes", "ratio"
        )
    )
    for network in networks:
        peer = known.get(network.stem)
        if peer is None:
            print(f"{network.stem}: not in fairquant.csv, left out", file=sys.stderr)
            continue
        problem = ask(network)
        warm(problem)
        seconds = arguments.seconds or max(LEAST_SECONDS, peer.cpu)
        if arguments.jobs == 1:
            (ours,) = read_at(problem, [seconds])
        else:
            ours = refined_by(problem, arguments.jobs, seconds / arguments.jobs)
        row = Row(network=network.stem, peer=peer, ours=ours)
        print(row.markdown(), flush=True)
        yield row
        checks = [sums(ours)] if arguments.sums else []
        if arguments.samples:
            checks.append(samples(ours, problem, arguments.samples, arguments.seed))
        if arguments.brute_force:
            checks += brute_force(network, problem, arguments.brute_force, arguments.seed)
        for check in checks:
            print(f"{network.stem} {check.name} {'ok' if check.passed else 'FAILED'}: {check.figures}", file=sys.stderr)
        failed += [check for check in checks if not check.passed]


def summary(rows: Sequence[Row]) -> str:
    below = sum(row.ratio < 1 for row in rows)
    half, quarter = (sum(row.ratio <= most for row in rows) for most in (HALF, QUARTER))
    mean = sum((row.ours.undecided for row in rows), Fraction(0)) / len(rows)
    theirs = sum((row.peer.undecided for row in rows), Fraction(0)) / len(rows)
    return (
        f"below FairQuant on {below} of {len(rows)}, at most half on {half}, at most a quarter on {quarter}; "
        f"mean undecided {percent(mean)} (FairQuant {percent(theirs)})"
    )


def table(networks: Sequence[Path], arguments: argparse.Namespace) -> int:
    failed: list[Check] = []
    rows = list(compared(networks, arguments, failed))
    if rows:
        print(f"\n{summary(rows)}")
    if arguments.csv and rows:
        with Path(arguments.csv).open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0].record()), lineterminator="\n")
            writer.writeheader()
            writer.writerows(row.record() for row in rows)
    if failed:
        print(f"{len(failed)} checks failed", file=sys.stderr)
    return 1 if failed else 0


def growth(networks: Sequence[Path], marks: Sequence[float], seed: int) -> None:
    print("Undecided after so many CPU seconds\n")
    print(header("network", *(f"{mark:g} s" for mark in marks), "nodes/s"))
    for network in networks:
        readings = growth_of(ask(network), marks)
        shares = " | ".join(percent(reading.undecided) for reading in readings)
        print(f"| {network.stem} | {shares} | {pace(readings[-1])} |", flush=True)
    print("\nNodes per CPU second of networks drawn over the Adult domain\n")
    print(header("hidden layers", *(f"of {width}" for width in WIDTHS)))
    seconds = min(PACE_SECONDS, marks[-1])
    for layers in DEPTHS:
        paces = " | ".join(pace(pace_of(layers, width, seed, seconds)) for width in WIDTHS)
        print(f"| {layers} | {paces} |", flush=True)


def pace(reading: Reading) -> str:
    return f"{reading.nodes / max(reading.cpu, 1e-9):,.0f}"


def two_processes(networks: Sequence[Path], seconds: float) -> None:
    print("Wall time to the same certified share\n")
    print(header("network", "certified", "two processes: s", "cpu s", "one process: s", "cpu s", "ratio"))
    for network in networks:
        two, one = against_two(ask(network), seconds)
        ratio = f"{one.wall / two.wall:.2f}"
        reached = ratio if one.certified >= two.certified else f"over {ratio}"
        print(
            f"| {network.stem} | {percent(two.certified)} | {two.wall:.2f} | {two.cpu:.2f} | {one.wall:.2f} "
            f"| {one.cpu:.2f} | {reached} |",
            flush=True,
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("networks", help="folder of the networks")
    times = parser.add_mutually_exclusive_group()
    times.add_argument("--seconds", type=float, help="CPU seconds for each network")
    times.add_argument("--fairquant-times", action="store_true", help="FairQuant's CPU seconds, at least 5 (default)")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="only these networks")
    parser.add_argument("--jobs", type=int, default=1, help="processes that share the CPU seconds")
    parser.add_argument("--csv", metavar="FILE", help="where to write the table")
    parser.add_argument("--seed", type=int, default=0, help="of samples, small domains and drawn networks")
    parser.add_argument("--sums", action="store_true", help="check that the shares sum to 1")
    parser.add_argument("--samples", type=int, nargs="?", const=10**6, metavar="N", help="check against N random units")
    parser.add_argument(
        "--brute-force", type=int, nargs="?", const=3, metavar="N", help="check N small domains of each network"
    )
    parser.add_argument(
        "--growth", type=float, nargs="*", metavar="S", help="shares after S CPU seconds each, and pace"
    )
    parser.add_argument(
        "--two-processes",
        type=float,
        nargs="?",
        const=20.0,
        metavar="S",
        help="what a second process gains in S seconds",
    )
    arguments = parser.parse_args()
    networks = networks_in(Path(arguments.networks), arguments.only)
    if not networks:
        parser.error(f"no networks to measure in {arguments.networks}")
    if arguments.growth is not None:
        growth(networks, sorted(arguments.growth) or MARKS, arguments.seed)
    if arguments.two_processes:
        two_processes(networks, arguments.two_processes)
    if arguments.growth is not None or arguments.two_processes:
        return 0
    return table(networks, arguments)


if __name__ == "__main__":
    sys.exit(main())
