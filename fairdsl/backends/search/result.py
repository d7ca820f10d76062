"""What a search came to, and why it ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.search.judge import Judged

__all__ = ["Ending", "Near", "SearchResult"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


class Ending(Enum):
    """Why a search ended."""

    COUNT = "count"  # as many as were asked for
    TIME = "time"
    EFFORT = "effort"  # the effort that was given is spent
    EXHAUSTED = "exhausted"  # every unit was tried
    SATURATED = "saturated"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True)
class Near:
    """Of each pair the distance from the nearest given row, and the row (:mod:`..nearness`)."""

    distances: FloatArray  # [n]
    rows: IntArray  # [n]

    @classmethod
    def joined(cls, parts: Sequence[Near]) -> Near:
        """Several batches as one."""
        distances = [np.empty(0), *(part.distances for part in parts)]
        rows = [np.empty(0, dtype=np.int64), *(part.rows for part in parts)]
        return cls(np.concatenate(distances), np.concatenate(rows))


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """What a search came to.

    ``pairs`` are all found, each unit once; ``by`` are indices into ``strategies``. ``gaps`` are units whose pairs
    violate in one arithmetic only, and ``gap`` one of them. ``tried`` candidates were evaluated, ``evaluated``
    individuals. For decisions in replays the deployed file was run on ``ran`` individuals, and not on ``bounded``
    ones, of whom a bound of its arithmetic says what it decides. ``sample``: candidates of the last uniform sample, 0
    where none was drawn. ``near`` says how far the pairs are from the rows that were given, if some were.
    """

    pairs: Judged
    near: Near | None
    by: NDArray[np.int8]
    strategies: tuple[str, ...]
    ending: Ending
    gaps: int
    gap: Judged | None
    tried: int
    evaluated: int
    ran: int
    bounded: int
    sample: int
    frontier: int

    @property
    def by_strategy(self) -> Mapping[str, int]:
        """How many counterexamples each strategy made."""
        counts = Counter(self.by.tolist())
        return {name: counts[index] for index, name in enumerate(self.strategies) if counts[index]}
