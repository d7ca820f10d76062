"""How many different pairs a CPU second finds, and whether each of them is what it is said to be.

CPU seconds are those of this process from the closed problem to the replayed pairs (``effort.py``), the model loaded
and made ready by a first find, whose seconds are given beside. The pairs are
then looked at again by other code than the search's: they are read back from the CSV file of ``fairdsl.search``, run
through onnxruntime here, and evaluated one by one in exact arithmetic.
"""

from __future__ import annotations

import csv
import time
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import onnxruntime
from numpy.typing import NDArray

import fairdsl
from fairdsl.ir.domain import Point
from fairdsl.numerics.exact import decision
from falsifying.effort import searched
from falsifying.questions import Case

__all__ = ["Pace", "Peer", "Reviewed", "first_find", "pace_of", "peers", "reviewed"]

HERE = Path(__file__).parent.parent
#: Rows that a session is given at once.
_ROWS = 4096


@dataclass(frozen=True, kw_only=True)
class Peer:
    """Unique counterexamples a CPU second of Aequitas's own scripts, the best variant, and of its local phase alone."""

    best: float
    local: float


@cache
def peers() -> dict[str, Peer]:
    with (HERE / "aequitas.csv").open(encoding="utf-8", newline="") as file:
        return {row["model"]: Peer(best=float(row["best"]), local=float(row["local"])) for row in csv.DictReader(file)}


@dataclass(frozen=True, kw_only=True)
class Pace:
    """Searches for so many pairs, one a seed: CPU seconds of each, and what part of the units tried was found."""

    count: int
    seconds: tuple[float, ...]
    success: tuple[float, ...]
    complete: bool

    @property
    def rates(self) -> list[float]:
        """Pairs a CPU second, ascending."""
        return sorted(self.count / taken for taken in self.seconds)


def first_find(case: Case) -> float:
    """CPU seconds until the first pair: the model is made ready for many evaluations once, whatever is found then."""
    return searched(case.closed, "portfolio", 0, count=1)[1]


def pace_of(case: Case, count: int, seeds: Sequence[int]) -> Pace:
    """One search with the portfolio a seed."""
    seconds, success, complete = [], [], True
    for seed in seeds:
        found, taken = searched(case.closed, "portfolio", seed, count=count)
        complete &= len(found.pairs) == count
        seconds.append(taken)
        success.append(len(found.pairs) / max(1, found.tried))
    return Pace(count=count, seconds=tuple(seconds), success=tuple(success), complete=complete)


@dataclass(frozen=True, kw_only=True)
class Reviewed:
    """What became of the pairs of one search, read back from its file.

    ``units`` are different without the protected attribute, ``inside`` lie in the domain and differ as asked. Of
    ``rerun`` pairs the file decided ``parted`` differently, and of ``computed`` ones exact arithmetic did ``proved``.
    ``repeated``: a second search with the same seed wrote the same bytes.
    """

    pairs: int
    units: int
    inside: int
    rerun: int
    parted: int
    computed: int
    proved: int
    repeated: bool
    seconds: float

    @property
    def passed(self) -> bool:
        """Whether nothing is wrong with any pair looked at."""
        return (
            self.repeated
            and self.pairs == self.units == self.inside
            and self.rerun == self.parted
            and self.computed == self.proved
        )


def reviewed(case: Case, folder: Path, *, count: int, seed: int, rerun: int, computed: int) -> Reviewed:
    """Search twice with one seed, and look at ``rerun`` and ``computed`` of the pairs again, evenly from the file."""
    files = [folder / f"{case.name}-{attempt}.csv" for attempt in range(2)]
    began = time.process_time()
    for file in files:
        fairdsl.search(case.spec, count=count, seed=seed, output=file, timeout=600)
    seconds = (time.process_time() - began) / 2
    a, b = _read(files[0], case)
    protected = np.array([column.protected for column in case.columns])
    low, high = (np.array([getattr(column, end) for column in case.columns]) for end in ("low", "high"))
    inside = ((a >= low) & (a <= high) & (b >= low) & (b <= high)).all(axis=1)
    inside &= (a[:, ~protected] == b[:, ~protected]).all(axis=1) & (a[:, protected] != b[:, protected]).any(axis=1)
    first, second = _some(len(a), rerun), _some(len(a), computed)
    labels = [_labels(case.model, points[first]) for points in (a, b)]
    exact = [[decision(case.closed.model, _point(row)) for row in points[second].tolist()] for points in (a, b)]
    return Reviewed(
        pairs=len(a),
        units=len(np.unique(a[:, ~protected], axis=0)),
        inside=int(inside.sum()),
        rerun=len(first),
        parted=int((labels[0] != labels[1]).sum()),
        computed=len(second),
        proved=sum(None not in both and both[0] != both[1] for both in zip(*exact, strict=True)),
        repeated=files[0].read_bytes() == files[1].read_bytes(),
        seconds=seconds,
    )


def _read(file: Path, case: Case) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The individuals a and b, in the order of the model's columns."""
    with file.open(encoding="utf-8", newline="") as opened:
        rows = list(csv.DictReader(opened))
    people = []
    for who in ("", "b."):
        names = [f"{who}{column.name}" if column.protected else column.name for column in case.columns]
        people.append(np.array([[int(row[name]) for name in names] for row in rows], dtype=np.int64))
    return people[0], people[1]


def _some(count: int, wanted: int) -> NDArray[np.int64]:
    """Places evenly apart; all where no fewer are wanted."""
    return np.unique(np.linspace(0, count - 1, min(count, wanted)).astype(np.int64))


def _point(row: list[int]) -> Point:
    return tuple(Fraction(value) for value in row)


def _labels(model: Path, people: NDArray[np.int64]) -> NDArray[np.int64]:
    """The file's first output, in float32 as it is deployed."""
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    (entry,) = session.get_inputs()
    outputs = [
        session.run(None, {entry.name: people[start : start + _ROWS].astype(np.float32)})[0].ravel()
        for start in range(0, len(people), _ROWS)
    ]
    return np.concatenate(outputs)
