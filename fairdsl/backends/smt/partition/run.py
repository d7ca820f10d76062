"""A run over partitions: read this file first.

    source --block--> bounds --left--> sampling --left--> (halves | solvers --unknown--> pruned network)

Bounds and sampling treat hundreds of partitions at once; what they leave waits for the solver processes, the
partitions with the fewest undecided units first. Every verdict goes into the ledger as it falls.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.contract import Budget, Observer, Partition
from fairdsl.backends.smt.cases import pair_of
from fairdsl.backends.smt.partition.grid import Box, restricted, share_of
from fairdsl.backends.smt.partition.heuristic import Heuristic, Pruned
from fairdsl.backends.smt.partition.ledger import Ledger
from fairdsl.backends.smt.partition.record import Record
from fairdsl.backends.smt.partition.source import Block, Source
from fairdsl.backends.smt.sieves.bounding import Sieve
from fairdsl.backends.smt.sieves.sampling import Sampler
from fairdsl.backends.smt.solvers.chain import Chained, Limits, Status
from fairdsl.backends.smt.solvers.pool import Solvers
from fairdsl.backends.smt.solvers.worker import Task
from fairdsl.ir.domain import Point
from fairdsl.ir.problem import Problem
from fairdsl.replay import witness
from fairdsl.verdict import Reason, Tally, Witness

__all__ = ["QUERY_SECONDS", "Outcome", "Run"]

#: Units drawn in each partition, and rounds: a few in all, more where those find nothing.
_LIGHT, _THOROUGH = (16, 1), (64, 24)
#: Partitions that are drawn in together: many for the speed of arrays, few so that verdicts are soon on record.
_DRAWN = 128
#: Violations that are kept for the report.
_WITNESSES = 64
#: Seconds that a query about a partition takes at most, where nothing else is said.
QUERY_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class _Hard:
    """A partition that bounds and sampling leave."""

    key: str
    box: Box
    undecided: int


@dataclass(slots=True)
class Outcome:
    """What came of it so far."""

    tallies: dict[Status, Tally] = field(default_factory=lambda: dict.fromkeys(Status, Tally()))
    pruned_only: Tally = field(default_factory=Tally)
    by: Counter[str] = field(default_factory=Counter)
    witnesses: list[Witness] = field(default_factory=list)
    gaps: list[Witness] = field(default_factory=list)
    reasons: list[tuple[Reason, str]] = field(default_factory=list)
    undecided_units: int = 0
    units: int = 0
    complete: bool = False
    interrupted: bool = False

    def count(self, status: Status, volume: Fraction, by: str, undecided: int, units: int) -> None:
        """Add a partition."""
        self.tallies[status] += Tally(count=1, volume=volume)
        if status is not Status.UNKNOWN:
            self.by[by] += 1
        self.undecided_units += undecided
        self.units += units


class Run:
    """One question, partition by partition."""

    def __init__(
        self,
        problem: Problem,
        source: Source,
        sieve: Sieve,
        sets: Box,
        ledger: Ledger,
        pool: Solvers,
        budget: Budget,
        observer: Observer,
    ) -> None:
        assert budget.tactics.partition is not None, "partitions were asked for"
        self._problem, self._source, self._sieve, self._sets = problem, source, sieve, sets
        self._ledger, self._pool, self._budget, self._observer = ledger, pool, budget, observer
        self._request: Partition = budget.tactics.partition
        self._sampler = Sampler(problem, sets, budget.seed)
        self._heuristic = Heuristic.of(problem, self._request, budget.seed)
        self._hard: list[tuple[int, int, _Hard]] = []
        self._solving: dict[str, tuple[_Hard, Pruned | None, float]] = {}
        self._numbered = 0
        self._kept: set[frozenset[Point]] = set()
        self.outcome = Outcome()

    def run(self) -> Outcome:
        """Until every partition has its verdict, a violation ends it, or the time is up; Ctrl-C keeps what there is."""
        try:
            while not self._over() and (self._source.waiting or self._hard or self._solving):
                for block in self._source.blocks():
                    self._quickly(block)
                    self._solve(wait=False)
                    if self._over():
                        break
                else:
                    self._solve(wait=True)
            self.outcome.complete = not (self._source.waiting or self._hard or self._solving)
        except KeyboardInterrupt:
            self.outcome.interrupted = True
        finally:
            self._pool.close()
        for key, box, found in self._source.rest():
            # It had no turn of its own, but the whole that it is a part of had, and this is where it is violated.
            self._record(key, box, Status.VIOLATED, "sampling", None, 0.0, found=found)
        return self.outcome

    def _over(self) -> bool:
        found = self.outcome.tallies[Status.VIOLATED].count > 0 and not self._request.keep_going
        return found or self._budget.exhausted

    def _quickly(self, block: Block) -> None:
        """Settle by bounds, then by sampling; the rest is halved or waits for a solver."""
        started = time.process_time()
        fresh = np.array([place for place in self._without_earlier(block).tolist() if not self._known(block, place)])
        if not fresh.size:
            return
        holds, undecided = self._sieve.settled(block.boxes.subset(fresh))
        each = (time.process_time() - started) / fresh.size
        for place, units in zip(fresh[holds].tolist(), undecided[holds].tolist(), strict=True):
            self._record(block.keys[place], block.boxes.box(place), Status.HOLDS, "bounds", units, each)
        units_of = dict(zip(fresh[~holds].tolist(), undecided[~holds].tolist(), strict=True))
        for place in self._sampled(block, list(units_of), units_of):
            key, box, units = block.keys[place], block.boxes.box(place), units_of[place]
            if not self._source.refine(key, box, violated=False):
                self._numbered += 1
                heappush(self._hard, (units, self._numbered, _Hard(key, box, units)))

    def _known(self, block: Block, place: int) -> bool:
        """Whether the partition is known to be violated, from the whole that it is a part of."""
        found = self._source.found_in(block.keys[place])
        if found is not None:
            self._violated(block.keys[place], block.boxes.box(place), None, 0.0, found)
        return found is not None

    def _without_earlier(self, block: Block) -> NDArray[np.int64]:
        """The places of partitions that no earlier run decided; the others are counted."""
        fresh = []
        for place, key in enumerate(block.keys):
            earlier = self._ledger.earlier.get(key)
            if earlier is not None and earlier.status is Status.VIOLATED:
                pair = None if earlier.pair is None else self._violation(block.boxes.box(place), *earlier.pair)
                if pair is None:
                    earlier = None  # it says a violation that is none: ask again
                else:
                    self._keep(pair)
            if earlier is None:
                fresh.append(place)
            else:
                volume = share_of(block.boxes.box(place), self._sets)
                self.outcome.count(earlier.status, volume, earlier.by, earlier.undecided, self._sieve.units)
        return np.array(fresh, dtype=np.int64)

    def _sampled(self, block: Block, left: list[int], undecided: Mapping[int, int]) -> list[int]:
        """Draw in the partitions at these places; those in which no violation was found, the others are recorded."""
        for units, rounds in (_LIGHT, _THOROUGH):
            remaining: list[int] = []
            for start in range(0, len(left), _DRAWN):
                places = left[start : start + _DRAWN]
                started = time.process_time()
                found = {} if self._budget.exhausted else self._violations(block, places, units, rounds)
                each = (time.process_time() - started) / len(places)
                for place, violation in found.items():
                    self._violated(block.keys[place], block.boxes.box(place), undecided[place], each, violation)
                remaining += [place for place in places if place not in found]
            left = remaining
        return left

    def _violations(self, block: Block, places: list[int], units: int, rounds: int) -> dict[int, Witness]:
        """Violations among individuals that are drawn, by the place of their partition, each replayed."""
        found: dict[int, Witness] = {}
        for suspect in self._sampler.suspects(block.boxes.subset(np.array(places, dtype=np.int64)), units, rounds):
            place = places[suspect.place]
            if place not in found:
                pair = self._violation(block.boxes.box(place), *suspect.pair)
                if pair is not None:
                    found[place] = pair
        return found

    def _violated(self, key: str, box: Box, undecided: int | None, seconds: float, violation: Witness) -> None:
        """Record it, or find out which halves of the partition are violated, where that is asked for."""
        if self._request.keep_going and self._source.refine(key, box, violated=True):
            self._source.remember(key, violation)  # the half that has it may not have its turn in time
            return
        self._record(key, box, Status.VIOLATED, "sampling", undecided, seconds, found=violation)

    def _violation(self, box: Box, a: Point, b: Point) -> Witness | None:
        """The pair, if its unit lies in the box and it replays as a violation in both arithmetics."""
        differ = pair_of(self._problem).differ
        if not all(index in differ or values.contains(a[index]) for index, values in enumerate(box)):
            return None  # where floats lie further apart than the box is wide, a draw may leave it
        pair = witness(self._problem, a, b)
        return pair if pair is not None and pair.replay.agrees else None

    def _solve(self, *, wait: bool) -> None:
        """Give waiting partitions to idle processes and take in their verdicts; with ``wait`` until one came."""
        while self._hard and not self._pool.full:
            _, _, hard = heappop(self._hard)
            self._start(hard, None, 0.0)
        if not self._solving:
            return
        until = self._budget.deadline if wait else time.monotonic()
        for key, verdict, seconds in self._pool.finished(until):
            hard, pruned, before = self._solving.pop(str(key))
            self._solved(hard, pruned, verdict, before + seconds)

    def _start(self, hard: _Hard, pruned: Pruned | None, before: float) -> None:
        self._solving[hard.key] = (hard, pruned, before)
        seconds = min(self._budget.tactics.query_seconds or QUERY_SECONDS, self._budget.remaining)
        limits = Limits(
            seconds=seconds,
            seed=self._budget.seed,
            trust_milp=self._budget.tactics.trust_milp,
            units=self._request.units,
        )
        question = pair_of(restricted(self._problem, hard.box))
        self._pool.start(hard.key, Task(question, limits, None if pruned is None else pruned.model))

    def _solved(self, hard: _Hard, pruned: Pruned | None, verdict: Chained, seconds: float) -> None:
        """A solver's verdict on a partition, or on what pruning left of its network."""
        if pruned is not None:
            self._solved_pruned(hard, pruned, verdict, seconds)
            return
        undecided = hard.undecided if verdict.undecided is None else verdict.undecided
        if verdict.status is Status.UNKNOWN and not self._budget.exhausted:
            if self._source.part(hard.key, hard.box):
                return
            smaller = None if self._heuristic is None else self._heuristic.prune(hard.box)
            if smaller is not None:
                self._start(hard, smaller, seconds)
                return
        self._record(hard.key, hard.box, verdict.status, verdict.by, undecided, seconds, verdict, verdict.witness)

    def _solved_pruned(self, hard: _Hard, pruned: Pruned, verdict: Chained, seconds: float) -> None:
        """What holds of a pruned network proves nothing; a violation of it may be one of the model."""
        suspect = verdict.witness
        pair = None if suspect is None else self._violation(hard.box, suspect.a, suspect.b)
        if pair is not None:
            self._record(hard.key, hard.box, Status.VIOLATED, "pruned network", hard.undecided, seconds, found=pair)
            return
        detail = "it is not decided, neither of the model nor of a pruned network"
        if verdict.status is Status.HOLDS:
            detail = f"it holds of the network without {pruned.removed} of its units, which is another network"
        said = Chained(status=Status.UNKNOWN, by="pruned network", reason=Reason.INCOMPLETE, detail=detail)
        removed = pruned.units if verdict.status is Status.HOLDS else None
        self._record(hard.key, hard.box, Status.UNKNOWN, said.by, hard.undecided, seconds, said, pruned=removed)

    def _record(
        self,
        key: str,
        box: Box,
        status: Status,
        by: str,
        undecided: int | None,
        seconds: float,
        said: Chained | None = None,
        found: Witness | None = None,
        pruned: Mapping[int, tuple[int, ...]] | None = None,
    ) -> None:
        """Count the partition, write it down, and tell; without ``undecided`` its units were not looked at."""
        record = Record(
            key=key,
            box=box,
            volume=share_of(box, self._sets),
            status=status,
            by=by,
            units=0 if undecided is None else self._sieve.units,
            undecided=undecided or 0,
            seconds=seconds,
            witness=found,
            gap=None if said is None else said.gap,
            reason=None if said is None else said.reason,
            detail="" if said is None else said.detail,
            pruned=pruned,
        )
        self._ledger.add(record)
        self.outcome.count(status, record.volume, by, record.undecided, record.units)
        if found is not None:
            self._keep(found)
        if record.gap is not None:
            self.outcome.gaps.append(record.gap)
        if record.reason is not None and record.gap is None:
            self.outcome.reasons.append((record.reason, record.detail))
        if pruned is not None:
            self.outcome.pruned_only += Tally(count=1, volume=record.volume)
        self._tell()

    def _keep(self, found: Witness) -> None:
        """Violations once each: with a relaxed partner two partitions may have the same, seen from either side."""
        pair = frozenset((found.a, found.b))
        if len(self._kept) < _WITNESSES and pair not in self._kept:
            self._kept.add(pair)
            self.outcome.witnesses.append(found)

    def _tell(self) -> None:
        counts = {status: tally.count for status, tally in self.outcome.tallies.items()}
        total, done = self._source.total, sum(counts.values())
        volume = sum((tally.volume for tally in self.outcome.tallies.values()), start=Fraction(0))
        fraction = float(volume) if total is None else done / max(1, total)
        self._observer.progress("partitions", fraction, _told(counts.items()))


def _told(counts: Iterable[tuple[Status, int]]) -> str:
    words = {Status.HOLDS: "hold", Status.VIOLATED: "violated", Status.UNKNOWN: "unknown"}
    return ", ".join(f"{count} {words[status]}" for status, count in counts)
