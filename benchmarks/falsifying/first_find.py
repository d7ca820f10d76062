"""How many evaluations it takes to find the first pair of a planted network, and what ``check`` says of it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from wide_network import save

import fairdsl
from falsifying.effort import searched
from falsifying.planted import COLUMNS, planted
from falsifying.questions import asked, write_spec

__all__ = ["STRATEGIES", "WANTED", "Checked", "Firsts", "checked", "firsts", "plant"]

STRATEGIES = ("gradient", "zero-order", "climb", "portfolio", "uniform")
#: A tenth of the uniform draws that meet one unit in a million with 99.9 %: ln(1000) millions.
WANTED = 690_000


@dataclass(frozen=True, kw_only=True)
class Firsts:
    """Individuals that each search evaluated until its first pair was replayed; None where it found none."""

    kind: str
    strategy: str
    evaluations: tuple[int | None, ...]
    most: int
    seconds: float

    @property
    def found(self) -> int:
        return sum(each is not None for each in self.evaluations)

    @property
    def in_time(self) -> int:
        """How many were done with a tenth of what uniform draws need."""
        return sum(each is not None and each <= WANTED for each in self.evaluations)

    @property
    def middle(self) -> float | None:
        """The median; None where it is beyond the most that was tried."""
        value = median([self.most + 1 if each is None else each for each in self.evaluations])
        return value if value <= self.most else None

    @property
    def longest(self) -> int | None:
        known = [each for each in self.evaluations if each is not None]
        return max(known) if len(known) == len(self.evaluations) else None


@dataclass(frozen=True, kw_only=True)
class Checked:
    """What ``check`` says of a network."""

    kind: str
    verdict: str
    backend: str
    seconds: float


def plant(kind: str, seed: int, folder: Path) -> Path:
    """Write a network and its spec; the path of the spec."""
    network, spec = folder / f"{kind}-{seed}.onnx", folder / f"{kind}-{seed}.fair"
    save(planted(kind, seed), network)
    write_spec(spec, network, COLUMNS, "score > 0")
    return spec


def firsts(kinds: Sequence[str], strategies: Sequence[str], seeds: int, most: int, folder: Path) -> Iterator[Firsts]:
    """Each strategy on each kind of network; the network is another one with every seed."""
    for kind in kinds:
        problems = [asked(plant(kind, seed, folder)) for seed in range(seeds)]
        for strategy in strategies:
            taken, seconds = [], 0.0
            for seed, problem in enumerate(problems):
                found, cpu = searched(problem, strategy, seed, count=1, most=most)
                # The last batch may end beyond the most.
                taken.append(found.evaluated if len(found.pairs) and found.evaluated <= most else None)
                seconds += cpu
            yield Firsts(kind=kind, strategy=strategy, evaluations=tuple(taken), most=most, seconds=seconds)


def checked(kind: str, folder: Path, timeout: float) -> Checked:
    """The verdict on the network of seed 0, all stages in order."""
    began = time.monotonic()
    report = fairdsl.check(plant(kind, 0, folder), timeout=timeout)
    ((demand,),) = [item.demands for item in report.properties]
    return Checked(
        kind=kind,
        verdict=demand.judgement.value,
        backend=demand.backend or "",
        seconds=time.monotonic() - began,
    )
