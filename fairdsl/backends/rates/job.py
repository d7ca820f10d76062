"""Population jobs: what questions about people of a distribution are as files (:mod:`fairdsl.backends.refining.jobs`).

A job has the distribution, the model and who is compared with whom, all of it exact, so that solving it needs neither
the spec nor another file. Docs: docs/jobs.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

from fairdsl.backends.rates.closed import (
    Closed,
    WrittenDistribution,
    WrittenPart,
    closed_from,
    written,
)
from fairdsl.backends.rates.options import RatesOptions
from fairdsl.backends.rates.refinement import Refinement
from fairdsl.backends.rates.warmup import KERNELS, kernels_for
from fairdsl.backends.rates.weighing import shares_in
from fairdsl.backends.refining.clock import advance_until
from fairdsl.backends.refining.container import Arrays, Kind, pack
from fairdsl.backends.refining.jobs import Job, Jobs, Joined
from fairdsl.backends.refining.recheck import Checked, Recheck
from fairdsl.backends.refining.refinement import State
from fairdsl.backends.refining.tasks import Head
from fairdsl.backends.refining.tasks import read_job as read_written
from fairdsl.backends.refining.written_models import WrittenModel
from fairdsl.backends.solved import Asked
from fairdsl.backends.warmup import Kernels
from fairdsl.codec import Document, Exact, plain
from fairdsl.ir.question import Quantity
from fairdsl.options import Options
from fairdsl.verdict import Evidence, Known, Reason

#: Boxes of the seed, for each shard; the same on every machine.
_SEED_BOXES = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class PopulationHead(Head, Document):
    """The header of a population job: a demand about people of a distribution, with all that it is about."""

    SCHEMA: ClassVar[str] = "fairdsl.population-job/1"

    #: What one unit of the shares is.
    unit: str
    #: Whom people are drawn from.
    distribution: WrittenDistribution
    #: What decides about them.
    model: WrittenModel
    #: The attributes that differ, by position.
    differ: tuple[int, ...]
    #: Who is asked about, by whom they are compared with.
    parts: tuple[WrittenPart, ...]
    #: Whether the share of the domain is bounded beside, each unit counted alike.
    beside: bool
    #: By how much probabilities may be off, with 95 % confidence, where they were counted in rows; null: not known.
    bound: Exact | None


POPULATION_JOB = Kind(words="population job", head=PopulationHead)


def pack_job(closed: Closed, *, asked: Asked, quantity: Quantity, unit: str) -> bytes:
    """The job's file; the same question gives the same bytes."""
    distribution, model, parts, arrays = written(closed)
    head = PopulationHead(
        asked=asked,
        quantity=quantity,
        unit=unit,
        distribution=distribution,
        model=model,
        differ=closed.people.differ,
        parts=parts,
        beside=closed.beside is not None,
        bound=closed.bound,
    )
    return pack(plain(head), arrays)


def read_job(path: Path) -> Job:
    """A job from its file. DiagnosticError for a file that is none, is newer, or is damaged."""
    return read_written(path, POPULATION_JOB, _closed)


def _closed(head: PopulationHead, arrays: Arrays) -> Closed:
    said = head.distribution, head.model, head.parts, head.differ
    return closed_from(*said, arrays, beside=head.beside, bound=head.bound)


class PopulationJobs(Jobs):
    """The jobs of shares under a distribution."""

    backend, solver = "rates", "the refinement of boxes of people"
    kind = POPULATION_JOB
    kernels: ClassVar[Kernels | None] = None

    def of(self, job: Job) -> Jobs:
        """Those of models with hidden units take kernels."""
        return self if kernels_for(job.task.people.model) is None else _OfUnits()

    def read(self, path: Path) -> Job:
        """A job from its file."""
        return read_job(path)

    def scheduler(self, options: Options) -> str | None:
        """The cluster that is set."""
        return options[RatesOptions].scheduler

    def begun(self, task: Closed, shards: int, memory: int) -> tuple[Refinement, list[State]]:
        """The seed, shared out; of one shard as soon as everybody was looked at."""
        whole = Refinement(task)
        if shards > 1:
            advance_until(whole, lambda: False, _SEED_BOXES * shards)
        return whole, list(whole.fork(shards))

    def joined(self, task: Closed, whole: Refinement, states: Sequence[State], memory: int) -> Refinement:
        """The parts in their places."""
        whole.join(states)
        return whole

    def resume(self, task: Closed, state: State, memory: int) -> Refinement:
        """A part, to go on with."""
        return Refinement.resume(task, state)

    def opened(
        self, task: Closed, roots: State, leaves: State, how: Recheck, memory: int
    ) -> tuple[Refinement, Checked]:
        """What a file keeps, to go on with."""
        try:
            return Refinement.opened(task, roots, leaves, how)
        except (KeyError, IndexError) as error:
            raise ValueError("an array is missing, or of another length") from error

    def stored(self, refinement: Refinement, roots: State) -> Mapping[str, Any]:
        """The trees of boxes and their claims."""
        return refinement.stored(roots)

    def falsified(self, refinement: Refinement) -> float:
        """The probability of those who are treated unfairly for sure."""
        return float(refinement.known().unfair)

    def result(
        self, job: Job, whole: Refinement, checked: Sequence[Checked], evidence: Evidence, open_for: Reason
    ) -> Joined:
        """The shares, that of the domain beside, and the sampling error."""
        wrong = sum((each.violating for each in checked), start=Fraction(0))
        wrong_beside = sum((each.beside for each in checked), start=Fraction(0))
        beside = whole.known_of_domain()
        shares = shares_in(
            _lowered(whole.known(), wrong),
            unit=job.head.unit,
            evidence=evidence,
            reason=open_for,
            bound=job.task.bound,
            of_domain=None if beside is None else _lowered(beside, wrong_beside).share,
        )
        return Joined(shares=shares, verdict=shares)


class _OfUnits(PopulationJobs):
    """Those of models with hidden units."""

    kernels = KERNELS


def _lowered(known: Known, wrong: Fraction) -> Known:
    """What is known where so much of all probabilities may be something else than files say."""
    if not wrong:
        return known
    fair, unfair, vacuous = (max(Fraction(0), each - wrong) for each in (known.fair, known.unfair, known.vacuous))
    possible = min(Fraction(1), known.possible + wrong)
    return Known(fair=fair, unfair=unfair, vacuous=vacuous, undecided=possible - fair - unfair)
