"""How often intervals for rates from rows contain the truth, and how wide they are: simulated samples.

    python benchmarks/interval_coverage.py differences  # two groups: guaranteed bounds beside approximate ones
    python benchmarks/interval_coverage.py gaps  # four groups, the greatest rate less the least: beside bootstrap
    python benchmarks/interval_coverage.py every  # two groups: all samples enumerated, whatever the rates are

Tables in Markdown, as docs/sampling.md has them. Samples come from ``--seed`` (0); ``--draws`` (400) of each line, a
fifth of them from 3,000 rows on and of four groups; ``--rows 30 80`` of these sizes only. Ends with 1 if a guaranteed
interval covers its number less often than it says, by more than three standard deviations of the simulation; without
any such room where all samples are enumerated.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import comb, sqrt

import numpy as np
from intervals_of_rates import bootstrap_gap, miettinen_nurminen, newcombe

from fairdsl.numerics.binomial import clopper_pearson
from fairdsl.numerics.two_proportions import Counts, least_difference

LEVELS = (0.5, 0.9, 0.95, 0.99)
#: Rows of the two groups, and their rates.
SIZES = ((30, 30), (80, 80), (80, 30), (300, 300), (3000, 3000))
ROWS = (30, 80, 300, 3000)
RATES = ((0.5, 0.5), (0.3, 0.1), (0.02, 0.05))
#: Rows of two groups of which all samples are enumerated, and how many rates are tried of each.
ENUMERATED = ((12, 9), (5, 25), (20, 20), (80, 80))
GRID = 201
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Enumerated:
    """Of all samples of two sizes: how often a guaranteed bound is missed at worst, how often the guaranteed intervals
    and Miettinen and Nurminen's cover at worst, and how many times as wide the former are."""

    level: float
    missed: float
    least: tuple[float, float]
    wider: tuple[float, ...]

    @property
    def kept(self) -> bool:
        """Whether no bound is missed more often than it says."""
        return self.missed <= (1 - self.level) / 2


def every(rows: Collection[int]) -> Iterator[tuple[str, Enumerated]]:
    """Two groups of each size; widths are means over all samples, weighted by their probabilities."""
    for m, n in (sizes for sizes in ENUMERATED if max(sizes) in rows or max(sizes) < min(ROWS)):
        samples = [[(x, y) for y in range(n + 1)] for x in range(m + 1)]
        for level in LEVELS:
            low, other = (_bounds(*sizes, (1 - level) / 2) for sizes in ((m, n), (n, m)))
            found = np.stack([low, -other.T], axis=-1)
            known = np.array([[miettinen_nurminen(x, m, y, n, level) for x, y in row] for row in samples])
            wide, narrow = (ends[..., 1] - ends[..., 0] for ends in (found, known))
            yield (
                f"{m} and {n}",
                Enumerated(
                    level=level,
                    missed=max(_missed(low), _missed(other)),
                    least=(_covered(found), _covered(known)),
                    wider=tuple([_mean(wide, p, q) / _mean(narrow, p, q) for p, q in RATES]),
                ),
            )


@lru_cache(maxsize=1)  # of two sizes that are the same
def _bounds(m: int, n: int, tail: float) -> np.ndarray:
    """The lower bound of every sample, [x, y]."""
    counts = [[(Counts(x, m), Counts(y, n)) for y in range(n + 1)] for x in range(m + 1)]
    return np.array([[float(least_difference(x, y, tail)) for x, y in row] for row in counts])


def _missed(bounds: np.ndarray) -> float:
    """How often a lower bound for p - q, [x, y], is above it at worst, for any p and q on a grid.

    With one q that is most where the difference is as great as some sample's bound, or a little less.
    """
    q = np.linspace(0.0, 1.0, GRID)
    others = _chances(bounds.shape[1] - 1, q)
    worst = 0.0
    for bound in np.unique(bounds):
        p = q + bound
        inside = (p > 0.0) & (p <= 1.0)
        likely = _chances(bounds.shape[0] - 1, p[inside]) @ (bounds >= bound)
        worst = max(worst, float((likely * others[inside]).sum(axis=1).max(initial=0.0)))
    return worst


def _covered(ends: np.ndarray) -> float:
    """How often intervals for p - q, [x, y, end], contain it at worst, for p and q on a grid."""
    grid = np.linspace(0.0, 1.0, GRID)
    ones, others = (_chances(size - 1, grid) for size in ends.shape[:2])
    least = 1.0
    for p, likely in zip(grid, ones, strict=True):
        for q, other in zip(grid, others, strict=True):
            inside = (ends[..., 0] <= p - q + 1e-12) & (p - q - 1e-12 <= ends[..., 1])
            least = min(least, float(likely @ inside @ other))
    return least


def _mean(widths: np.ndarray, p: float, q: float) -> float:
    one, other = (_chances(size - 1, np.array([at]))[0] for size, at in zip(widths.shape, (p, q), strict=True))
    return float(one @ widths @ other)


def _chances(trials: int, p: np.ndarray) -> np.ndarray:
    """The probability of every number of hits, for each p."""
    hits = np.arange(trials + 1)
    ways = np.array([float(comb(trials, count)) for count in hits])
    return np.asarray(ways * p[:, None] ** hits * (1 - p[:, None]) ** (trials - hits))


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
    """As ``fairdsl.metrics.reading`` has it: all bounds of two at once."""
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
OF_ALL = (
    "a bound is missed at most (and may be)",
    "Buehler's cover at least",
    "Miettinen and Nurminen's cover at least",
    f"how many times as wide, for rates of {'; '.join(f'{p:g}, {q:g}' for p, q in RATES)}",
)


def main() -> int:
    """Print one table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=[*sorted(HEADS), "every"])
    parser.add_argument("--draws", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rows", type=int, nargs="+", default=ROWS, help="of the larger of two groups")
    args = parser.parse_args()
    return enumerated(args.rows) if args.part == "every" else simulated(args.part, args.draws, args.seed, args.rows)


def enumerated(rows: Collection[int]) -> int:
    """The table of `every`."""
    print(f"| rows | level | {' | '.join(OF_ALL)} |\n| --- | --- |{' --- |' * len(OF_ALL)}")
    kept = True
    for name, line in every(rows):
        allowed, least = (1 - line.level) / 2, " | ".join(f"{share:.2%}" for share in line.least)
        wider = "; ".join(f"{times:.2f}" for times in line.wider)
        print(f"| {name} | {line.level:.0%} | {line.missed:.3%} ({allowed:.1%}) | {least} | {wider} |", flush=True)
        kept &= line.kept
    return 0 if kept else 1


def simulated(part: str, draws: int, seed: int, rows: Collection[int]) -> int:
    """The tables of samples that are drawn."""
    print("| rows | rates | level | " + " | ".join(f"{head}: covers, width" for head in HEADS[part]) + " |")
    print("| --- | --- | --- |" + " --- |" * len(HEADS[part]))
    kept = True
    for name, line in gaps(draws, seed) if part == "gaps" else differences(draws, seed, rows):
        cells = (
            f"{float(Fraction(hits, line.draws)):.1%}, {width:.3f}"
            for hits, width in zip(line.covered, line.widths, strict=True)
        )
        print(f"| {name} | {line.level:.0%} | " + " | ".join(cells) + " |", flush=True)
        kept &= line.kept
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
