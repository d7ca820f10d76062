"""Forest jobs: what questions about many trees are as files (:mod:`fairdsl.backends.refining.jobs`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import floor
from pathlib import Path
from typing import Any, ClassVar

from fairdsl.backends.leaf_boxes.answer import shares_of
from fairdsl.backends.leaf_boxes.forest import Forest, unfolded_of
from fairdsl.backends.leaf_boxes.kept import restored, stored
from fairdsl.backends.leaf_boxes.options import LeafBoxesOptions
from fairdsl.backends.leaf_boxes.recheck import check
from fairdsl.backends.leaf_boxes.refinement import KERNELS, Refinement
from fairdsl.backends.leaf_boxes.task import Task, check_task
from fairdsl.backends.refining.container import Kind
from fairdsl.backends.refining.jobs import Job, Jobs, Joined
from fairdsl.backends.refining.recheck import Checked, Recheck
from fairdsl.backends.refining.refinement import State
from fairdsl.backends.refining.tasks import pack_task, read_task
from fairdsl.backends.solved import Asked
from fairdsl.codec import Document
from fairdsl.ir.question import Quantity
from fairdsl.options import Options
from fairdsl.verdict import Evidence, Known, Reason, Vacuous

__all__ = ["FOREST_JOB", "ForestHead", "ForestJobs", "PartedAttribute", "pack_job", "read_job"]

#: Open boxes of the seed, for each shard; the same on every machine.
_SEED_BOXES = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class PartedAttribute:
    """An axis of the boxes: an attribute, cut into parts whose values no test tells apart."""

    #: Its name in the spec.
    name: str
    #: A value of each part.
    parts: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ForestHead(Document):
    """The header of a forest job: the demand that its task answers. The arrays beside it are the task's."""

    SCHEMA: ClassVar[str] = "fairdsl.forest-job/1"
    STAMPED: ClassVar[bool] = False

    #: The demand, in the spec's words.
    asked: Asked
    #: What it asks for.
    quantity: Quantity
    #: Whether units are counted, or have a volume.
    measure: str
    #: What one unit of the shares is.
    unit: str
    #: The axes of the boxes.
    attributes: tuple[PartedAttribute, ...]
    #: The task's numbers.
    numbers: Mapping[str, bool | int] = field(default_factory=dict)
    #: How many arrays follow as `NAME/0`, `NAME/1`, ...; of every other name one.
    lists: Mapping[str, int] = field(default_factory=dict)


FOREST_JOB = Kind(words="forest job", head=ForestHead)


def pack_job(task: Task, head: ForestHead) -> bytes:
    """The job's file, the header completed by the task; the same job gives the same bytes."""
    return pack_task(task, head)


def read_job(path: Path) -> Job:
    """A job from its file, its task the forest that is refined.

    DiagnosticError for a file that is none, is newer, or is damaged.
    """
    return read_task(path, FOREST_JOB, _forest)


def _forest(parts: Mapping[str, Any]) -> Forest:
    task = Task(**{"parts": (), **parts})
    check_task(task)
    if (forest := unfolded_of(task)) is None:
        raise ValueError("its trees are too large")
    return forest


class ForestJobs(Jobs):
    """The jobs of forests and boosters."""

    backend, solver = "leaf_boxes", "the refinement of boxes of trees"
    kind, kernels = FOREST_JOB, KERNELS

    def read(self, path: Path) -> Job:
        """A job from its file."""
        return read_job(path)

    def scheduler(self, options: Options) -> str | None:
        """The cluster that is set."""
        return options[LeafBoxesOptions].scheduler

    def begun(self, task: Forest, shards: int, memory: int) -> tuple[Refinement, list[State]]:
        """The seed, shared out; of one shard as soon as the whole box was looked at."""
        whole = Refinement.start(task, memory=memory, kept=True)
        whole.step(1)
        wanted = _SEED_BOXES * shards if shards > 1 else 0
        while not whole.finished and not whole.full and len(whole.heaviest(wanted)) < wanted:
            whole.step(1)
        return whole, list(whole.fork(shards))

    def joined(self, task: Forest, whole: Refinement, states: Sequence[State], memory: int) -> Refinement:
        """The parts in their places."""
        whole.join(states)
        return whole

    def resume(self, task: Forest, state: State, memory: int) -> Refinement:
        """A part, to go on with."""
        return Refinement.resume(task, state, memory=memory)

    def opened(
        self, task: Forest, roots: State, leaves: State, how: Recheck, memory: int
    ) -> tuple[Refinement, Checked]:
        """What a file keeps, to go on with."""
        state, nodes = restored(task.sizes, roots, leaves)
        checked = check(task, nodes, how, memory)
        return self.resume(task, state, memory), checked

    def stored(self, refinement: Refinement, roots: State) -> Mapping[str, Any]:
        """The tree of boxes and its claims."""
        return stored(refinement.task.sizes, roots, refinement.state())

    def evaluated(self, refinement: Refinement) -> int:
        """Boxes that were looked at."""
        return refinement.looked_at

    def falsified(self, refinement: Refinement) -> float:
        """The share that is treated unfairly for sure."""
        total = refinement.task.sizes.total
        return refinement.counts.unfair / total if total else 0.0

    def result(
        self, job: Job, whole: Refinement, checked: Sequence[Checked], evidence: Evidence, open_for: Reason
    ) -> Joined:
        """The shares."""
        counts, total = whole.counts, whole.task.sizes.total
        fair = max(0, floor(counts.fair - sum(each.violating for each in checked) * total))
        unfair = max(0, floor(counts.unfair - sum(each.falsified for each in checked) * total))
        vacuous = max(0, floor(counts.vacuous - sum(each.vacuous for each in checked) * total))
        known = Known(fair=fair, unfair=unfair, vacuous=vacuous, undecided=total - fair - unfair - vacuous)
        head = job.head
        if total and vacuous == total:
            nobody = Vacuous(evidence=evidence)
            return Joined(shares=nobody, verdict=nobody)
        shares = shares_of(
            known,
            measure=head.measure,
            unit=head.unit,
            evidence=evidence,
            open_for=open_for,
            settled=not known.undecided,
        )
        return Joined(shares=shares, verdict=shares)
