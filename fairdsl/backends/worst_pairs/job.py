"""Gap jobs: how far apart the worst two are, as files (:mod:`fairdsl.backends.refining.jobs`).

A job has the model and who is compared, all of it exact, so pairs are replayed on it as on the model itself. Which
engine refines it follows from the question: boxes of trees' leaves, or regions of pairs. Docs: docs/jobs.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

from fairdsl.backends.contract import Refusal
from fairdsl.backends.leaf_boxes.options import LeafBoxesOptions
from fairdsl.backends.leaf_boxes.refinement import KERNELS
from fairdsl.backends.leaf_boxes.worst import Widest, refusal_of_widest
from fairdsl.backends.refining.clock import advance_until
from fairdsl.backends.refining.container import Kind, pack
from fairdsl.backends.refining.farthest import Farthest
from fairdsl.backends.refining.jobs import Job, Jobs, Joined
from fairdsl.backends.refining.recheck import Checked, Recheck
from fairdsl.backends.refining.refinement import State
from fairdsl.backends.refining.regions import Asked
from fairdsl.backends.refining.tasks import Head
from fairdsl.backends.refining.tasks import read_job as read_written
from fairdsl.backends.refining.written_models import WrittenModel, demand, model_from, written_model
from fairdsl.backends.smt.options import SmtOptions
from fairdsl.backends.smt.procedure import refusal
from fairdsl.backends.smt.worst import FarthestPairs
from fairdsl.backends.solved import Asked as Demand
from fairdsl.backends.warmup import Kernels
from fairdsl.backends.worst import Worst
from fairdsl.codec import Document, plain
from fairdsl.ir.domain import Attribute, Domain
from fairdsl.ir.expr import Predicate, Who, variables
from fairdsl.ir.model import Logits
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Pair, Quantity, WorstPair
from fairdsl.options import Options
from fairdsl.verdict import Evidence, Reason, Sampled

#: Regions of the seed, for each shard; the same on every machine.
_SEED_REGIONS = 512


class Engine(Enum):
    """Who refines it."""

    TREES = "leaf_boxes"
    PAIRS = "smt"


@dataclass(frozen=True, slots=True, kw_only=True)
class GapHead(Head, Document):
    """The header of a gap job: a demand about the largest gap of scores, with all that it is about."""

    SCHEMA: ClassVar[str] = "fairdsl.gap-job/1"

    #: Who refines it.
    engine: Engine
    #: All attributes.
    attributes: tuple[Attribute, ...]
    #: What everybody meets.
    where: Predicate
    #: Who is compared.
    pair: Pair
    #: The model; the arrays beside are its layers and trees.
    model: WrittenModel
    #: How its score gives a probability; null: it does not.
    logits: Logits | None


GAP_JOB = Kind(words="gap job", head=GapHead)


def engine_of(problem: Problem) -> Engine | Refusal:
    """Who refines the question, or why nobody does."""
    if refusal_of_widest(problem) is None and Widest.fits(Asked.of(problem)):
        return Engine.TREES
    found = refusal(problem, numbers=True)
    return Engine.PAIRS if found is None else found


def pack_job(problem: Problem, asked: Demand) -> bytes:
    """The job's file; the same question gives the same bytes."""
    engine, (said, arrays) = engine_of(problem), written_model(problem.model)
    assert isinstance(engine, Engine), "others are refused"
    assert isinstance(problem.question, WorstPair), "others are refused"
    head = GapHead(
        asked=asked,
        quantity=problem.quantity,
        engine=engine,
        attributes=tuple(replace(each, column=None, bins=(), bins_by=None) for each in problem.domain.attributes),
        where=problem.domain.where,
        pair=problem.question.pair,
        model=said,
        logits=problem.model.logits,
    )
    return pack(plain(head), arrays)


def read_job(path: Path) -> Job:
    """A job from its file. DiagnosticError for a file that is none, is newer, or is damaged."""
    return read_written(path, GAP_JOB, lambda head, arrays: Asked(_problem(head, arrays)))


def _problem(head: GapHead, arrays: Mapping[str, Any]) -> Problem:
    """The question; ValueError where its parts do not fit together: refining follows them without looking."""
    count, pair = len(head.attributes), head.pair
    apart = [*pair.differ, *(entry.attribute for entry in pair.relax)]
    demand(len(set(apart)) == len(apart) and all(0 <= at < count for at in apart), "an attribute is not there")
    demand(bool(pair.differ), "nobody differs")
    for predicate, whose in ((head.where, {Who.EACH}), (pair.target, {Who.EACH}), (pair.pair_target, {Who.A, Who.B})):
        about = all(0 <= each.attribute < count and each.who in whose for each in variables(predicate))
        demand(about, "a condition is about nobody")
    demand(all(sure.who in (Who.A, Who.B) and not sure.model for sure in pair.sure), "a confidence of nobody")
    model = replace(model_from(head.model, arrays, count), logits=head.logits)
    domain = Domain(name="", attributes=head.attributes, where=head.where)
    question = WorstPair(pair=pair)
    problem = Problem(
        name=head.asked.property, domain=domain, model=model, question=question, quantity=Quantity.MAX_SCORE_GAP
    )
    demand(engine_of(problem) is head.engine, "its engine does not bound such scores")
    return problem


class GapJobs(Jobs):
    """The jobs of the largest gap, of whichever engine."""

    backend, solver = "worst_pairs", "the refinement of the worst two"
    kind = GAP_JOB
    kernels: ClassVar[Kernels | None] = None
    #: What refines them.
    refined: ClassVar[type[Farthest]]

    def of(self, job: Job) -> Jobs:
        """Those of the engine that refines the job."""
        return _BY_ENGINE[job.head.engine]()

    def read(self, path: Path) -> Job:
        """A job from its file."""
        return read_job(path)

    def scheduler(self, options: Options) -> str | None:
        """The cluster that is set for the engine."""
        raise AssertionError("jobs are asked which engine refines them")

    def begun(self, task: Asked, shards: int, memory: int) -> tuple[Farthest, list[State]]:
        """All pairs, or the seed that is shared out."""
        whole = self.refined.start(task, memory=memory, kept=True)
        if shards > 1:
            advance_until(whole, lambda: False, _SEED_REGIONS * shards)
        return whole, list(whole.fork(shards))

    def joined(self, task: Asked, whole: Farthest, states: Sequence[State], memory: int) -> Farthest:
        """The parts in their places."""
        whole.join(states)
        return whole

    def resume(self, task: Asked, state: State, memory: int) -> Farthest:
        """A part, to go on with."""
        return self.refined.resume(task, state, memory=memory)

    def opened(self, task: Asked, roots: State, leaves: State, how: Recheck, memory: int) -> tuple[Farthest, Checked]:
        """What a file keeps, to go on with. All of it is computed again: a sample says nothing of a maximum."""
        found, count = self.refined.opened(task, roots, leaves, memory=memory)
        return found, Checked(sampled=Sampled(recomputed=count, of=count, wrong=Fraction(0), seed=None))

    def stored(self, refinement: Farthest, roots: State) -> Mapping[str, Any]:
        """How regions were cut, and the pair."""
        return refinement.stored(roots)

    def falsified(self, refinement: Farthest) -> float:
        """The gap of the pair that was met."""
        return float(refinement.worst.low)

    def result(
        self, job: Job, whole: Farthest, checked: Sequence[Checked], evidence: Evidence, open_for: Reason
    ) -> Joined:
        """The number, between the gap of a pair and a bound."""
        found = whole.verdict(Worst(job.task.problem), evidence, open_for)
        return Joined(shares=found, verdict=found)


class _TreeGaps(GapJobs):
    """Of trees."""

    backend, kernels, refined = Engine.TREES.value, KERNELS, Widest

    def scheduler(self, options: Options) -> str | None:
        return options[LeafBoxesOptions].scheduler


class _PairGaps(GapJobs):
    """Of networks and linear models, and of whatever else is a question about single pairs."""

    backend, refined = Engine.PAIRS.value, FarthestPairs

    def scheduler(self, options: Options) -> str | None:
        return options[SmtOptions].scheduler


_BY_ENGINE: Mapping[Engine, type[GapJobs]] = MappingProxyType({Engine.TREES: _TreeGaps, Engine.PAIRS: _PairGaps})
