"""How often intervals for rates from rows contain the truth, and how wide they are: simulated samples.

    python benchmarks/interval_coverage.py differences  # two groups: guaranteed bounds beside approximate ones
    python benchmarks/interval_coverage.py gaps  # four groups, the greatest rate less the least: beside bootstrap

Tables in Markdown, as docs/sampling.md has them. Samples come from ``--seed`` (0); ``--draws`` (400) of each line, a
fifth of them from 3,000 rows on and of four groups; ``--rows 30 80`` of these sizes only. Ends with 1 if a guaranteed
interval covers its number less often than it says, by more than three standard deviations of the simulation.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt

import numpy as np
from intervals_of_rates import bootstrap_gap, miettinen_nurminen, newcombe

from fairdsl.numerics.binomial import clopper_pearson
from fairdsl.numerics.two_proportions import Counts, least_difference

LEVELS = (0.5, 0.9, 0.95, 0.99)
#: Rows of the two groups, and their rates.
SIZES = ((30, 30), (80, 80), (80, 30), (300, 300), (3000, 3000))
ROWS = (30, 80, 300, 3000)
RATES = ((0.5, 0.5), (0.3, 0.1), (0.02, 0.05))
#: Rates of four groups.
FOUR = ((0.3, 0.3, 0.3, 0.3), (0.5, 0.4, 0.4, 0.2))
_MANY = 3000

Ends = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Line:
    """How many of so many intervals contain the truth, of each method, and the methods' mean widths."""

    level: float
    draws: int
    covered: tuple[int, ...]
    widths: tuple[float, ...]

    @property
    def kept(self) -> bool:
        """Whether the first method, which guarantees its level, covers as often as it says, but for the simulation."""
        return self.covered[0] / self.draws >= self.level - 3 * sqrt(self.level * (1 - self.level) / self.draws)


def guaranteed(x: Counts, y: Counts, tail: float) -> Ends:
    """Bounds for the difference of two rates, each missed with that probability."""
    return float(least_difference(x, y, tail)), -float(least_difference(y, x, tail))


def boxes(x: Counts, y: Counts, level: float) -> Ends:
    """From Clopper and Pearson's intervals of the two, which together have the level."""
    each = 1 - (1 - level) / 2
    (a, b), (c, d) = (clopper_pearson(of.hits, of.trials, each) for of in (x, y))
    return float(a - d), float(b - c)


def differences(draws: int, seed: int, rows: Collection[int] = ROWS) -> Iterator[tuple[str, Line]]:
    """Two groups of each size with each pair of rates."""
    random = np.random.default_rng(seed)
    for (m, n), (p, q) in ((sizes, rates) for sizes in SIZES if max(sizes) in rows for rates in RATES):
        count = draws if max(m, n) < _MANY else max(1, draws // 5)
        samples = np.column_stack([random.binomial(m, p, count), random.binomial(n, q, count)]).tolist()
        for level in LEVELS:
            known: dict[tuple[int, int], tuple[Ends, ...]] = {}
            for x, y in {(x, y) for x, y in samples}:
                one, other = Counts(x, m), Counts(y, n)
                known[x, y] = (
                    guaranteed(one, other, (1 - level) / 2),
                    boxes(one, other, level),
                    miettinen_nurminen(x, m, y, n, level),
                    newcombe(x, m, y, n, level),
                )
            found = np.array([known[x, y] for x, y in samples])
            yield f"{m} and {n} | {p:g}, {q:g}", _line(level, found, p - q)


def gaps(draws: int, seed: int) -> Iterator[tuple[str, Line]]:
    """Four groups of equal size."""
    random = np.random.default_rng(seed)
    for n, rates in ((n, rates) for n in (80,) for rates in FOUR):
        count = max(1, draws // 5)
        samples = random.binomial(n, rates, (count, len(rates))).tolist()
        for level in (0.95,):
            found = np.array([
                (_gap(sample, n, level), bootstrap_gap(sample, n, level, random)) for sample in samples
            ])  # fmt: skip
            yield f"{n} each | {', '.join(map(str, rates))}", _line(level, found, max(rates) - min(rates))


def _gap(hits: list[int], n: int, level: float) -> Ends:
    """As ``fairdsl.metrics.paired`` has it: all bounds of two at once."""
    each = [Counts(x, n) for x in hits]
    tail = (1 - level) / (len(each) * (len(each) - 1))
    bounds = [float(least_difference(a, b, tail)) for a in each for b in each if a is not b]
    return max(0.0, *bounds), -min(bounds)


def _line(level: float, found: np.ndarray, truth: float) -> Line:
    """``found`` are intervals, [sample, method, end]."""
    low, high = found[..., 0], found[..., 1]
    covered = (low <= truth + 1e-12) & (truth - 1e-12 <= high)
    return Line(level, len(found), tuple(covered.sum(axis=0).tolist()), tuple((high - low).mean(axis=0).tolist()))


HEADS = {
    "differences": ("Buehler's (guaranteed)", "two of Clopper and Pearson's", "Miettinen and Nurminen's", "Newcombe's"),
    "gaps": ("all pairs (guaranteed)", "percentile bootstrap"),
}


def main() -> int:
    """Print one table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=sorted(HEADS))
    parser.add_argument("--draws", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rows", type=int, nargs="+", default=ROWS, help="of the larger of two groups")
    args = parser.parse_args()
    heads = HEADS[args.part]
    print("| rows | rates | level | " + " | ".join(f"{head}: covers, width" for head in heads) + " |")
    print("| --- | --- | --- |" + " --- |" * len(heads))
    kept = True
    lines = gaps(args.draws, args.seed) if args.part == "gaps" else differences(args.draws, args.seed, args.rows)
    for name, line in lines:
        cells = (
            f"{float(Fraction(hits, line.draws)):.1%}, {width:.3f}"
            for hits, width in zip(line.covered, line.widths, strict=True)
        )
        print(f"| {name} | {line.level:.0%} | " + " | ".join(cells) + " |", flush=True)
        kept &= line.kept
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
