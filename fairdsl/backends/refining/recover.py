"""From results back to one verdict: the seed is made and forked again, and every part replaced by what became of it.

Of a result its splits are taken, for they claim nothing. Its claims are recomputed, or sampled and the shares lowered.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from fairdsl.backends.refining import errors
from fairdsl.backends.refining.container import Arrays, digest
from fairdsl.backends.refining.jobs import Job, Jobs, Joined
from fairdsl.backends.refining.recheck import Checked, Recheck
from fairdsl.backends.refining.refinement import State
from fairdsl.backends.refining.result import Result, read_result
from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.question import Quantity
from fairdsl.source.reading import content_of
from fairdsl.verdict import Arithmetic, Basis, Claim, Evidence, Reason, Word


@dataclass(frozen=True, slots=True)
class Found:
    """A result and the file that it was read from."""

    path: Path
    result: Result
    #: The digest of the file's bytes.
    sha256: str


def read_found(path: Path) -> Found:
    """A result and where it lies. DiagnosticError for a file that is not one, is newer, or is damaged."""
    return Found(path, read_result(path), sha256(content_of(path)).hexdigest())


class Shards:
    """A job shared out: the seed, made again wherever it is needed, and what each part of it begins with."""

    def __init__(self, kind: Jobs, job: Job, shards: int, memory: int) -> None:
        self.kind, self._job, self._memory = kind, job, memory
        self._whole, self.roots = kind.begun(job.task, shards, memory)

    def joined(self, states: Mapping[int, State]) -> Any:
        """The whole refinement with the parts (from 1) that were refined in their places."""
        parts = [states.get(number, root) for number, root in enumerate(self.roots, start=1)]
        return self.kind.joined(self._job.task, self._whole, parts, self._memory)

    def opened(self, found: Found, how: Recheck) -> Part:
        """A result, held against the part that it began with and recomputed as far as ``how`` says.

        DiagnosticError where it is a refinement of something else, or claims what does not come out.
        """
        result = found.result
        roots = self.roots[result.shard - 1]
        if digest(arrays_of(roots)) != result.part:
            reason = "its part of the seed is not the one that comes out here"
            raise DiagnosticError(errors.unfitting_part(str(found.path), reason))
        try:
            refinement, checked = self.kind.opened(self._job.task, roots, result.leaves, how, self._memory)
        except ValueError as error:
            raise DiagnosticError(errors.refuted(str(found.path), str(error))) from error
        return Part(result=result, state=refinement.state(), checked=checked, file=found.path.name, sha256=found.sha256)


def usable(job: Job, found: Sequence[Found]) -> dict[int, Found]:
    """The best result of each shard. DiagnosticError where results cannot be parts of one refinement."""
    best: dict[int, Found] = {}
    for one in found:
        reason = _unlike(one.result, found[0].result, job)
        if reason is not None:
            raise DiagnosticError(errors.unfitting_part(str(one.path), reason.format(first=found[0].path)))
        before = best.get(one.result.shard)
        if before is None or one.result.undecided < before.result.undecided:
            best[one.result.shard] = one
    return best


def _unlike(result: Result, first: Result, job: Job) -> str | None:
    """Why a result cannot be joined with the first one."""
    if result.job != job.sha256:
        return "it is a result of another job"
    if result.shards != first.shards:
        return f"it is one of {result.shards} shards, `{{first}}` one of {first.shards}"
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What became of a shard: its state, and where that is taken from a file, how far it was recomputed."""

    result: Result
    state: State
    checked: Checked | None = None
    file: str = ""
    sha256: str = ""

    @property
    def claims(self) -> tuple[Claim, ...]:
        """What is believed of a file: nothing where all of it was recomputed."""
        if self.checked is None or not self.checked.sampled.wrong:
            return ()
        return (Claim(said="leaves", file=self.file, sha256=self.sha256, sampled=self.checked.sampled),)


def join_results(job: Job, shards: Shards, parts: Mapping[int, Part], claims: tuple[Claim, ...] = ()) -> Joined:
    """Join what became of shards, by their numbers; those that are missing count as undecided.

    ``claims``: what is believed beside the parts.
    """
    whole, kind = shards.joined({shard: part.state for shard, part in parts.items()}), shards.kind
    count = len(shards.roots)
    missing = [shard for shard in range(1, count + 1) if shard not in parts]
    finished = not missing and all(part.result.finished for part in parts.values())
    nodes = sum(part.result.nodes for part in parts.values())
    of = f"{len(parts)} of {count} shards joined, " if count > 1 else ""
    taken = (*claims, *(claim for part in parts.values() for claim in part.claims))
    evidence = Evidence(
        backend=kind.backend,
        method=f"{of}{nodes:,} boxes evaluated{_recomputed(parts)}",
        notes=(*_notes(count, missing), *_for_all(job, taken)),
        basis=Basis(word=Word.FILES, arithmetic=Arithmetic.CLAIMED, claims=taken) if taken else Basis(word=Word.OWN),
    )
    checked = [part.checked for part in parts.values() if part.checked is not None]
    return kind.result(job, whole, checked, evidence, Reason.INCOMPLETE if finished else Reason.TIMEOUT)


def arrays_of(state: State) -> Arrays:
    """Those that say what a part begins with."""
    return {name: each for name, each in state.items() if isinstance(each, np.ndarray) and each.dtype != object}


def _recomputed(parts: Mapping[int, Part]) -> str:
    """Of results that were read from files: how many of their claims were recomputed."""
    checked = [part.checked.sampled for part in parts.values() if part.checked is not None]
    if not checked or any(each.wrong for each in checked):
        return ""
    return f", all {sum(each.of for each in checked):,} leaves that decide recomputed"


def _for_all(job: Job, taken: Sequence[Claim]) -> tuple[str, ...]:
    if job.head.quantity is not Quantity.HOLDS or not any(claim.sampled for claim in taken):
        return ()
    return ("of a sample follows no proof: `fairdsl recover --recheck` recomputes everything",)


def _notes(shards: int, missing: Sequence[int]) -> tuple[str, ...]:
    if not missing:
        return ()
    listing = ", ".join(map(str, missing[:8])) + (", ..." if len(missing) > 8 else "")
    if len(missing) == 1:
        return (f"shard {listing} of {shards} is missing: its part counts as undecided",)
    return (f"shards {listing} of {shards} are missing: their parts count as undecided",)
