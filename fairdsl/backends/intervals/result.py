"""Results: how far a job, or a shard of it, got. A checkpoint is a result that something goes on from.

A shard i of n refines part i of the fork of a *seed*: the first nodes of the refinement, a number that n alone
decides. Whoever reads a result makes the seed again. The result keeps the digest of its part, so that it is read only
where the same part comes out: where two machines round differently their trees differ, and the parts might overlap.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.answer_files import write_whole
from fairdsl.backends.intervals import errors
from fairdsl.backends.intervals.container import Kind, pack, unpack
from fairdsl.diagnostics import DiagnosticError

__all__ = ["RESULT", "Result", "read_result", "result_name", "write_result"]

#: A job is shared out into so many parts at most.
MOST_SHARDS = 100_000
RESULT = Kind(words="interval result", schema="fairdsl.interval-result/2")

State = Mapping[str, NDArray[np.generic]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The state of part ``shard`` of ``shards`` (from 1) of the job with that sha256.

    ``part`` is the digest of the state that this shard began with, ``leaves`` the tree of splits below it, with its
    claims (:mod:`~.leaves`). ``undecided`` and ``falsified`` are units of the part, for people; what counts is the
    tree.
    """

    job: str
    shard: int
    shards: int
    part: str
    leaves: State
    nodes: int
    seconds: float
    finished: bool
    undecided: float
    falsified: float


def result_name(job: Path, shard: int, shards: int) -> Path:
    """Beside the job, and no other shard's."""
    suffix = ".result" if shards == 1 else f".{shard}-of-{shards}.result"
    return job.with_name(job.stem + suffix)


def write_result(path: Path, result: Result, version: str) -> None:
    """Replace the file as a whole."""
    header = {
        "fairdsl": version,
        "job": result.job,
        "shard": [result.shard, result.shards],
        "part": result.part,
        "nodes": result.nodes,
        "seconds": round(result.seconds, 3),
        "finished": result.finished,
        "units": {"undecided": result.undecided, "falsified": result.falsified},
    }
    write_whole(path, pack(RESULT, header, result.leaves, compressed=True))


def read_result(path: Path) -> Result:
    """A result from its file. DiagnosticError for a file that is none, is newer, or is damaged."""
    content = unpack(RESULT, path)
    header: Mapping[str, Any] = content.header
    try:
        shard, shards = map(_count, header["shard"])
        if not 1 <= shard <= shards <= MOST_SHARDS:
            raise ValueError(header["shard"])
        return Result(
            job=str(header["job"]),
            shard=shard,
            shards=shards,
            part=str(header["part"]),
            leaves=content.arrays,
            nodes=_count(header["nodes"]),
            seconds=_amount(header["seconds"]),
            finished=bool(header["finished"]),
            undecided=_amount(header["units"]["undecided"]),
            falsified=_amount(header["units"]["falsified"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise DiagnosticError(errors.damaged(str(path), "a part of it is missing")) from error


def _count(said: object) -> int:
    """A whole number that counts something; ValueError for another."""
    if type(said) is not int or not 0 <= said < 2**60:
        raise ValueError(said)
    return said


def _amount(said: object) -> float:
    """A number that measures something; ValueError for another."""
    if not isinstance(said, int | float) or not 0 <= said < inf:
        raise ValueError(said)
    return float(said)
