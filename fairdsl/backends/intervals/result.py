"""Results: how far a job, or a shard of it, got. A checkpoint is a result that something goes on from.

A shard i of n refines part i of the fork of a *seed*: the first nodes of the refinement, a number that n alone
decides. The result keeps the seed, and the digest of its part, so that the shards are joined only if they
were parts of one tree: where two machines round differently their trees differ, and the parts might overlap.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.answer_files import write_whole
from fairdsl.backends.intervals import errors
from fairdsl.backends.intervals.container import Kind, pack, unpack
from fairdsl.diagnostics import DiagnosticError

__all__ = ["RESULT", "Result", "read_result", "result_name", "write_result"]

RESULT = Kind(words="interval result", schema="fairdsl.interval-result/1")

State = Mapping[str, NDArray[np.generic]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The state of part ``shard`` of ``shards`` (from 1) of the job with that sha256.

    ``seed`` is the state that was forked (empty for a job that is not shared out) after ``seed_nodes``
    nodes, ``part`` the digest of the part that this shard began with. ``undecided`` and ``falsified`` are
    units of the part, for people; what counts is the state.
    """

    job: str
    shard: int
    shards: int
    seed_nodes: int
    seed: State
    part: str
    state: State
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
        "seed_nodes": result.seed_nodes,
        "part": result.part,
        "nodes": result.nodes,
        "seconds": round(result.seconds, 3),
        "finished": result.finished,
        "units": {"undecided": result.undecided, "falsified": result.falsified},
    }
    arrays = {f"seed/{name}": array for name, array in result.seed.items()}
    arrays |= {f"state/{name}": array for name, array in result.state.items()}
    write_whole(path, pack(RESULT, header, arrays))


def read_result(path: Path) -> Result:
    """A result from its file. DiagnosticError for a file that is none, is newer, or is damaged."""
    content = unpack(RESULT, path)
    header: Mapping[str, Any] = content.header
    try:
        shard, shards = header["shard"]
        return Result(
            job=header["job"],
            shard=shard,
            shards=shards,
            seed_nodes=header["seed_nodes"],
            seed=_below("seed/", content.arrays),
            part=header["part"],
            state=_below("state/", content.arrays),
            nodes=header["nodes"],
            seconds=header["seconds"],
            finished=header["finished"],
            undecided=header["units"]["undecided"],
            falsified=header["units"]["falsified"],
        )
    except (KeyError, TypeError, ValueError) as error:
        raise DiagnosticError(errors.damaged(str(path), "a part of it is missing")) from error


def _below(prefix: str, arrays: State) -> dict[str, NDArray[np.generic]]:
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
