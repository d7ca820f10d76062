"""Results: how far a job, or a shard of it, got. A checkpoint is a result that something goes on from.

A shard i of n refines part i of the fork of a *seed*: the first nodes of the refinement, a number that n alone
decides. Whoever reads a result makes the seed again. The result keeps the digest of its part, so that it is read only
where the same part comes out: where two machines round differently their trees differ, and the parts might overlap.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import inf
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.answer_files import write_whole
from fairdsl.backends.intervals.container import Kind, pack, unpack
from fairdsl.codec import Document, plain

__all__ = ["RESULT", "Result", "read_result", "result_name", "write_result"]

#: A job is shared out into so many parts at most.
MOST_SHARDS = 100_000
State = Mapping[str, NDArray[np.generic]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result(Document):
    """The header of a result: how far a shard of a job got. The arrays beside it are the tree of splits."""

    SCHEMA: ClassVar[str] = "fairdsl.interval-result/4"

    #: The sha256 of the job.
    job: str
    #: Which shard of it, from 1.
    shard: int
    #: Of how many.
    shards: int
    #: The digest of the state that this shard began with.
    part: str
    #: The tree of splits below that state, with its claims (:mod:`~.leaves`).
    leaves: State = field(default_factory=dict, compare=False, repr=False)
    #: Boxes that were evaluated.
    nodes: int
    #: How long it took.
    seconds: float
    #: Whether nothing is left to refine.
    finished: bool
    #: Undecided units of the part, for people; what counts is the tree.
    undecided: float
    #: Units of it that are treated unfairly, likewise.
    falsified: float

    def __post_init__(self) -> None:
        if not 1 <= self.shard <= self.shards <= MOST_SHARDS:
            raise ValueError("there is no such shard")
        if not (
            0 <= self.nodes < 2**60 and all(0 <= one < inf for one in (self.seconds, self.undecided, self.falsified))
        ):
            raise ValueError("a number counts or measures nothing")


RESULT = Kind(words="interval result", head=Result)


def result_name(job: Path, shard: int, shards: int) -> Path:
    """Beside the job, and no other shard's."""
    suffix = ".result" if shards == 1 else f".{shard}-of-{shards}.result"
    return job.with_name(job.stem + suffix)


def write_result(path: Path, result: Result) -> None:
    """Replace the file as a whole."""
    write_whole(path, pack(plain(result), result.leaves, compressed=True))


def read_result(path: Path) -> Result:
    """A result from its file. DiagnosticError for a file that is none, is newer, or is damaged."""
    content = unpack(RESULT, path)
    head: Result = content.head
    return replace(head, leaves=content.arrays)
