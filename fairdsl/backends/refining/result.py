"""Results: how far a job, or a shard of it, got. A checkpoint is a result that something goes on from.

A shard i of n refines part i of the fork of a *seed*: the first nodes of the refinement, a number that n alone
decides. Whoever reads a result makes the seed again. The result keeps the digest of its part, so that it is read only
where the same part comes out: where two machines round differently their trees differ, and the parts might overlap.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from math import inf
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.answer_files import write_whole
from fairdsl.backends.errors import cannot_write
from fairdsl.backends.refining import errors
from fairdsl.backends.refining.container import SEAM, Kind, pack, unpack_grown
from fairdsl.backends.refining.records import assembled
from fairdsl.codec import Document, plain
from fairdsl.diagnostics import DiagnosticError
from fairdsl.source.writing import append, appended

#: A job is shared out into so many parts at most.
MOST_SHARDS = 100_000
State = Mapping[str, NDArray[np.generic]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """How far a refinement got."""

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
        numbers = (self.seconds, self.undecided, self.falsified)
        if not (0 <= self.nodes < 2**60 and all(0 <= one < inf for one in numbers)):
            raise ValueError("a number counts or measures nothing")


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress(Reached, Document):
    """The header of a record that is appended to a result. The arrays beside it are what it adds to the tree."""

    SCHEMA: ClassVar[str] = "fairdsl.interval-record/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Result(Reached, Document):
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

    def __post_init__(self) -> None:
        Reached.__post_init__(self)
        if not 1 <= self.shard <= self.shards <= MOST_SHARDS:
            raise ValueError("there is no such shard")


RESULT = Kind(words="interval result", head=Result)
RECORD = Kind(words="record of an interval result", head=Progress)


def result_name(job: Path, shard: int, shards: int) -> Path:
    """Beside the job, and no other shard's."""
    suffix = ".result" if shards == 1 else f".{shard}-of-{shards}.result"
    return job.with_name(job.stem + suffix)


def write_result(path: Path, result: Result) -> None:
    """Replace the file as a whole."""
    write_whole(path, pack(plain(result), result.leaves, compressed=True))


@contextmanager
def growing(path: Path, result: Result) -> Iterator[Callable[[Progress, State], None]]:
    """Write a result, and append what is added to it in the block.

    Whenever the run is killed the file holds what was written, and each record as a whole or not at all. It is held
    open, so that records stay with what they belong to where somebody puts another file in its place. DiagnosticError
    (E0605) where the system does not let us.
    """
    write_result(path, result)
    try:
        with appended(path, new=False) as file:
            yield lambda progress, added: append(file, SEAM + pack(plain(progress), added, compressed=True))
    except OSError as error:
        raise DiagnosticError(cannot_write(str(path.parent), error)) from error


def read_result(path: Path) -> Result:
    """A result from its file. DiagnosticError for a file that is none, is newer, or is damaged."""
    content, *records = unpack_grown(RESULT, RECORD, path)
    head: Result = content.head
    last: Reached = [content, *records][-1].head
    reached = {each.name: getattr(last, each.name) for each in fields(Reached)}
    try:
        leaves = assembled([content.arrays, *(record.arrays for record in records)])
    except ValueError as error:
        raise DiagnosticError(errors.damaged(str(path), f"of a record, {error}")) from error
    return replace(head, leaves=leaves, **reached)
