"""Forest jobs: what questions about many trees are as files (:mod:`fairdsl.backends.refining.jobs`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import floor
from pathlib import Path
from typing import Any, ClassVar

from fairdsl.backends.leaf_boxes import kept, pair_results
from fairdsl.backends.leaf_boxes.answer import shares_of
from fairdsl.backends.leaf_boxes.duels import Numbered
from fairdsl.backends.leaf_boxes.forest import Forest, unfolded_of
from fairdsl.backends.leaf_boxes.judging import Question
from fairdsl.backends.leaf_boxes.options import LeafBoxesOptions
from fairdsl.backends.leaf_boxes.pair_task import PairsAsked, question_in
from fairdsl.backends.leaf_boxes.pairings import Pairings
from fairdsl.backends.leaf_boxes.recheck import check
from fairdsl.backends.leaf_boxes.refinement import KERNELS, Refinement
from fairdsl.backends.leaf_boxes.task import Task, check_task
from fairdsl.backends.refining.container import Kind
from fairdsl.backends.refining.jobs import Job, Jobs, Joined
from fairdsl.backends.refining.recheck import Checked, Recheck
from fairdsl.backends.refining.refinement import State
from fairdsl.backends.refining.tasks import TaskHead, pack_task, read_task
from fairdsl.codec import Document
from fairdsl.options import Options
from fairdsl.verdict import Evidence, Known, Reason, Vacuous

Refined = Refinement | Pairings

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
class ForestHead(TaskHead, Document):
    """The header of a forest job."""

    SCHEMA: ClassVar[str] = "fairdsl.forest-job/2"

    #: The axes of the boxes.
    attributes: tuple[PartedAttribute, ...]
    #: Who is compared, where more decides than one score of all who differ.
    pairs: PairsAsked | None = None


FOREST_JOB = Kind(words="forest job", head=ForestHead)


def pack_job(task: Task | Numbered, head: ForestHead) -> bytes:
    """The job's file, the header completed by the task; the same job gives the same bytes."""
    return pack_task(task, head)


def read_job(path: Path) -> Job:
    """A job from its file, its task the forest or the question that is refined.

    DiagnosticError for a file that is none, is newer, or is damaged.
    """
    return read_task(path, FOREST_JOB, _task)


def _task(parts: Mapping[str, Any], head: ForestHead) -> Forest | Question:
    if head.pairs is not None:
        return question_in(Numbered(**parts), head.pairs)
    task = Task(**{"parts": (), **parts})
    check_task(task)
    if (forest := unfolded_of(task)) is None:
        raise ValueError("its trees are too large")
    return forest


def _refined_by(task: Forest | Question) -> type[Refinement] | type[Pairings]:
    return Pairings if isinstance(task, Question) else Refinement


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

    def begun(self, task: Any, shards: int, memory: int) -> tuple[Refined, list[State]]:
        """The seed, shared out; of one shard as soon as the whole box was looked at."""
        whole = _refined_by(task).start(task, memory=memory, kept=True)
        whole.step(1)
        wanted = _SEED_BOXES * shards if shards > 1 else 0
        while not whole.finished and not whole.full and len(whole.heaviest(wanted)) < wanted:
            whole.step(1)
        return whole, list(whole.fork(shards))

    def joined(self, task: Any, whole: Refined, states: Sequence[State], memory: int) -> Refined:
        """The parts in their places."""
        whole.join(states)
        return whole

    def resume(self, task: Any, state: State, memory: int) -> Refined:
        """A part, to go on with."""
        return _refined_by(task).resume(task, state, memory=memory)

    def opened(self, task: Any, roots: State, leaves: State, how: Recheck, memory: int) -> tuple[Refined, Checked]:
        """What a file keeps, to go on with."""
        if isinstance(task, Question):
            state, claims = pair_results.restored(task, roots, leaves)
            pairings = Pairings.resume(task, state, memory=memory)
            return pairings, pair_results.check(task, claims, how, pairings.size)
        state, nodes = kept.restored(task.sizes, roots, leaves)
        checked = check(task, nodes, how, memory)
        return self.resume(task, state, memory), checked

    def stored(self, refinement: Refined, roots: State) -> Mapping[str, Any]:
        """The tree of boxes and its claims."""
        if isinstance(refinement, Pairings):
            return pair_results.stored(roots, refinement.state())
        return kept.stored(refinement.task.sizes, roots, refinement.state())

    def evaluated(self, refinement: Refined) -> int:
        """Boxes that were looked at."""
        return refinement.looked_at

    def falsified(self, refinement: Refined) -> float:
        """The share that is treated unfairly for sure."""
        return refinement.counts.unfair / refinement.size if refinement.size else 0.0

    def result(
        self, job: Job, whole: Refined, checked: Sequence[Checked], evidence: Evidence, open_for: Reason
    ) -> Joined:
        """The shares."""
        counts, total = whole.counts, whole.size
        fair = max(0, floor(counts.fair - sum(each.violating for each in checked) * total))
        unfair = max(0, floor(counts.unfair - sum(each.falsified for each in checked) * total))
        vacuous = max(0, floor(counts.vacuous - sum(each.vacuous for each in checked) * total))
        asked = total - max(0, floor(whole.absent - sum(each.absent for each in checked) * total))
        known = Known(fair=fair, unfair=unfair, vacuous=vacuous, undecided=asked - fair - unfair - vacuous)
        head = job.head
        if total and vacuous == asked and (asked or not counts.paired):
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
