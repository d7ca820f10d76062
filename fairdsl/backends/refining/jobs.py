"""What an engine says of its questions as files: jobs, their results, and what these come to.

One code path solves them (:mod:`.solve`), shares them out and joins them (:mod:`.recover`), and collects results
(:mod:`.collect`), whatever is refined.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from fairdsl.backends.refining.container import Kind
from fairdsl.backends.refining.recheck import Checked, Recheck
from fairdsl.backends.refining.refinement import Refining, State
from fairdsl.backends.warmup import Kernels
from fairdsl.options import Options
from fairdsl.verdict import Evidence, Holds, Reason, Shares, Unknown, Vacuous, Value


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A task, and what its answer will mean: the header of its file. ``sha256`` names it."""

    task: Any
    head: Any
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined:
    """What the results of a job's shards come to: shares or a number, and the verdict on the demand."""

    shares: Shares | Vacuous | Value | Unknown
    verdict: Holds | Vacuous | Unknown | Shares | Value


class Jobs(ABC):
    """The jobs of one engine."""

    #: The engine's name, and who answers its jobs.
    backend: ClassVar[str]
    solver: ClassVar[str]
    kind: ClassVar[Kind]
    #: What is compiled before; None where it is compiled when it is used.
    kernels: ClassVar[Kernels | None]

    @abstractmethod
    def read(self, path: Path) -> Job:
        """A job from its file. DiagnosticError for a file that is none, is newer, or is damaged."""

    def of(self, job: Job) -> Jobs:
        """Those of the engine that refines the job, where several have files of one format."""
        return self

    @abstractmethod
    def scheduler(self, options: Options) -> str | None:
        """The cluster that is set for this engine."""

    @abstractmethod
    def begun(self, task: Any, shards: int, memory: int) -> tuple[Any, list[State]]:
        """A refinement after the seed's nodes, and what each part of it begins with: the same on every machine."""

    @abstractmethod
    def joined(self, task: Any, whole: Any, states: Sequence[State], memory: int) -> Any:
        """The refinement with parts that were refined in their places."""

    @abstractmethod
    def resume(self, task: Any, state: State, memory: int) -> Refining:
        """A part, to go on with."""

    @abstractmethod
    def opened(self, task: Any, roots: State, leaves: State, how: Recheck, memory: int) -> tuple[Refining, Checked]:
        """Go on from what :meth:`stored` returned to whoever began with ``roots``, and what a check of it came to.

        ValueError where it is not a refinement of these roots, or claims what does not come out here.
        """

    @abstractmethod
    def stored(self, refinement: Any, roots: State) -> Mapping[str, Any]:
        """What a file keeps of a part that began with ``roots``."""

    def additions(self, refinement: Any, kept: State) -> Callable[[], Mapping[str, Any]] | None:
        """What a file lacks that holds ``kept`` and what was given before; None: all is written at each checkpoint."""
        return None

    def evaluated(self, refinement: Any) -> int:
        """Boxes that were evaluated so far."""
        return int(refinement.nodes)

    @abstractmethod
    def falsified(self, refinement: Any) -> float:
        """Units that are treated unfairly for sure."""

    @abstractmethod
    def result(self, job: Job, whole: Any, checked: Sequence[Checked], evidence: Evidence, open_for: Reason) -> Joined:
        """What a refinement says, less what may be wrong in files of which a sample was recomputed."""
