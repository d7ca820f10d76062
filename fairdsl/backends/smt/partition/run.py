"""A run over partitions: read this file first.

    source --block--> (ledger | bounds) --left--> sampling --left--> (halves | solvers --unknown--> pruned network)

Bounds and sampling treat hundreds of partitions at once; what they leave waits for the solver processes, the
partitions with the fewest undecided units first. Every verdict goes into the ledger as it falls.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np

from fairdsl.backends.contract import Budget, Observer
from fairdsl.backends.smt.bound_filters.bounding import BoundFilter
from fairdsl.backends.smt.bound_filters.boxes import Box, has_unit_of
from fairdsl.backends.smt.bound_filters.sampling import Sampler
from fairdsl.backends.smt.cases import pair_of
from fairdsl.backends.smt.options import Partition, SmtOptions
from fairdsl.backends.smt.partition.grid import share_of
from fairdsl.backends.smt.partition.ledger import Earlier, Ledger
from fairdsl.backends.smt.partition.lines import Record
from fairdsl.backends.smt.partition.networks import Heuristic, Sound
from fairdsl.backends.smt.partition.queue import Part, Query, Queue
from fairdsl.backends.smt.partition.source import Block, Source
from fairdsl.backends.smt.recover import as_pair
from fairdsl.backends.smt.solvers.chain import Chained, Status
from fairdsl.backends.smt.solvers.pool import Solvers
from fairdsl.ir.domain import Point
from fairdsl.ir.problem import Problem
from fairdsl.pruning.parts import PartFile
from fairdsl.pruning.profile import Units
from fairdsl.pruning.remove import PrunedModel
from fairdsl.replay import witness
from fairdsl.verdict import Reason, Tally, Witness

#: Units drawn in each partition, and rounds: a few in all, more where those find nothing. Fewer, but some, where so
#: many individuals of each unit are compared that more than these would be evaluated: then a proof is sooner had.
_LIGHT, _THOROUGH = (16, 1), (64, 24)
_EVALUATED, _FEW = 1024, 8
#: Partitions that are bounded, and drawn in, together: many for the speed of arrays, few so that verdicts are soon on
#: record and the time is kept: on networks of 300 units bounds of one partition take a hundredth of a second.
_BOUNDED, _DRAWN = 64, 128
#: How ledgers name what decides: bounds of many partitions at once, those of one partition's pairs, and so on.
_BOUNDS, _PAIRS, _TRUSTED = "bounds", "bounds of pairs", "trusted milp"
#: Violations, and disagreements of two arithmetics, that are kept for the report.
_WITNESSES = 64
_WORDS = {Status.HOLDS: "hold", Status.VIOLATED: "violated", Status.UNKNOWN: "unknown"}


@dataclass(slots=True)
class Outcome:
    """Counts and volumes by verdict, and a few of the pairs.

    ``reasons`` counts why partitions are unknown, ``detail`` is the first one's. ``taken`` counts those that hold
    because the ledger of an earlier run says so, ``networks`` the pruned networks that were written,
    ``sound_networks`` those without units that are 0 in their partition.
    """

    tallies: dict[Status, Tally] = field(default_factory=lambda: dict.fromkeys(Status, Tally()))
    pruned_only: Tally = field(default_factory=Tally)
    by: Counter[str] = field(default_factory=Counter)
    witnesses: list[Witness] = field(default_factory=list)
    gaps: list[Witness] = field(default_factory=list)
    reasons: Counter[Reason] = field(default_factory=Counter)
    detail: str = ""
    networks: int = 0
    sound_networks: int = 0
    undecided_units: int = 0
    units: int = 0
    taken: int = 0
    complete: bool = False
    interrupted: bool = False
    _kept: set[frozenset[Point]] = field(default_factory=set)

    @property
    def volume(self) -> Fraction:
        """The share of all units in the partitions that were asked."""
        return sum((tally.volume for tally in self.tallies.values()), start=Fraction(0))

    @property
    def asked(self) -> int:
        """How many partitions were asked."""
        return sum(tally.count for tally in self.tallies.values())

    def add(self, record: Record) -> None:
        """Count a partition."""
        self.tallies[record.status] += Tally(count=1, volume=record.volume)
        if record.status is not Status.UNKNOWN:
            self.by[record.by] += 1
        self.undecided_units += record.undecided
        self.units += record.units
        if record.witness is not None:
            self._keep(record.witness)
        if record.pruned is not None:
            self.pruned_only += Tally(count=1, volume=record.volume)
        self.networks += record.network is not None
        self.sound_networks += record.sound is not None
        if record.reason is not None:
            self.detail = self.detail or record.detail
            self.reasons[record.reason] += 1
        if record.gap is not None and len(self.gaps) < _WITNESSES:
            self.gaps.append(record.gap)

    def told(self) -> str:
        """The counts in words."""
        return ", ".join(f"{tally.count} {_WORDS[status]}" for status, tally in self.tallies.items())

    def _keep(self, found: Witness) -> None:
        """Violations once each: with a relaxed partner two partitions may have the same, seen from either side."""
        pair = frozenset((found.a.point, found.b.point))
        if len(self._kept) < _WITNESSES and pair not in self._kept:
            self._kept.add(pair)
            self.witnesses.append(found)


class Run:
    """One question, partition by partition."""

    def __init__(
        self,
        problem: Problem,
        source: Source,
        bound_filter: BoundFilter,
        sets: Box,
        ledger: Ledger,
        pool: Solvers,
        budget: Budget,
        observer: Observer,
    ) -> None:
        self._problem, self._source, self._filter, self._sets = problem, source, bound_filter, sets
        self._ledger, self._budget, self._observer = ledger, budget, observer
        self._request, self._trusts = budget.options[Partition], budget.options[SmtOptions].trust_milp
        self._sampler = Sampler(problem, sets, budget.seed, budget.deadline)
        self._heuristic = Heuristic.of(problem, self._request, budget.seed)
        self._sound = Sound.of(problem, self._request, bound_filter, budget.seed)
        self._differ = pair_of(problem).differ
        self._queue = Queue(problem, pool, budget)
        self._gaps: list[Witness] = []
        self.outcome = Outcome()

    def run(self) -> Outcome:
        """Until every partition has its verdict, a violation ends it, or the time is up; Ctrl-C keeps what there is."""
        try:
            while not self._over() and (self._source.waiting or not self._queue.empty):
                for block in self._source.blocks():
                    self._quickly(block)
                    self._solve(wait=False)
                    if self._over():
                        break
                else:
                    self._solve(wait=True)
            self.outcome.complete = self._queue.empty and not self._source.waiting
        except KeyboardInterrupt:
            self.outcome.interrupted = True
        finally:
            self._queue.close()
        for key, box, found in self._source.rest():
            # It had no turn of its own, but the whole that it is a part of had, and this is where it is violated.
            self._record(Part(key, box), _sampled(found), 0.0)
        return self.outcome

    def _over(self) -> bool:
        found = self.outcome.tallies[Status.VIOLATED].count > 0 and not self._request.keep_going
        return found or self._budget.exhausted

    def _quickly(self, block: Block) -> None:
        """Settle by what is known, by bounds, then by sampling; the rest is halved or waits for a solver."""
        parts = [Part(key, block.boxes.box(place)) for place, key in enumerate(block.keys)]
        fresh = [place for place, part in enumerate(parts) if not self._known(part)]
        left: dict[int, Part] = {}
        for start in range(0, len(fresh), _BOUNDED):
            left |= self._left_by_bounds(block, {place: parts[place] for place in fresh[start : start + _BOUNDED]})
        left = self._drawn_in(block, left, *_LIGHT)
        every = list(left)
        for start in range(0, len(every), _DRAWN):
            some = {place: left[place] for place in every[start : start + _DRAWN]}
            for part in self._drawn_in(block, some, *_THOROUGH).values():
                if self._budget.exhausted or not self._source.refine(part.key, part.box, violated=False):
                    self._queue.add(part)
            self._solve(wait=False)  # solvers are at the first of them while the others are drawn in

    def _left_by_bounds(self, block: Block, parts: Mapping[int, Part]) -> dict[int, Part]:
        """Those of the partitions at these places that bounds leave, with the number of their undecided units."""
        if self._budget.exhausted:
            return dict(parts)  # they wait, and have no turn
        started = time.process_time()
        holds, undecided = self._filter.settled(block.boxes.subset(np.array(list(parts), dtype=np.int64)))
        each = (time.process_time() - started) / len(parts)
        left: dict[int, Part] = {}
        for (place, part), settled, units in zip(parts.items(), holds.tolist(), undecided.tolist(), strict=True):
            part = Part(part.key, part.box, units)
            if settled:
                self._record(part, Chained(status=Status.HOLDS, by=_BOUNDS), each)
            else:
                left[place] = part
        return left

    def _known(self, part: Part) -> bool:
        """Settle the partition by what is known of it: from the whole that it is a part of, or from the ledger."""
        found = self._source.found_in(part.key)
        if found is None:
            part, found = self._violated_before(part)
        if found is not None:
            self._violated(part, found, 0.0)
            return True
        held = self._ledger.held_on(part.key, part.box, share_of(part.box, self._sets), self._filter.units)
        # What bounds proved they can prove again; what was trusted counts where it still is.
        if held is None or held.by == _BOUNDS or (held.by == _TRUSTED and not self._trusts) or self._request.recheck:
            return False
        self.outcome.taken += 1
        self._record(self._bounded_before(part, held), Chained(status=Status.HOLDS, by=held.by), 0.0)
        return True

    def _violated_before(self, part: Part) -> tuple[Part, Witness | None]:
        """The partition and the violation that an earlier run found there, if it is one."""
        said = self._ledger.violation(part.key)
        found = None if said is None else self._violation(part.box, said.a, said.b)
        if said is None or found is None:
            self._ledger.forget(part.key)
            return part, None
        return self._bounded_before(part, said.earlier), found

    def _bounded_before(self, part: Part, earlier: Earlier) -> Part:
        """The partition with the undecided units of the earlier run, so that their average is over all of the file."""
        undecided = min(earlier.undecided, self._filter.units) if earlier.units else None
        return Part(part.key, part.box, undecided)

    def _drawn_in(self, block: Block, left: Mapping[int, Part], units: int, rounds: int) -> dict[int, Part]:
        """Draw in the partitions at these places; those in which no violation was found, the others are settled."""
        every, left = list(left), dict(left)
        for start in range(0, len(every), _DRAWN):
            places = every[start : start + _DRAWN]
            started = time.process_time()
            found = {} if self._over() else self._violations(block, places, units, rounds)
            each = (time.process_time() - started) / len(places)
            for place, violation in found.items():
                self._violated(left.pop(place), violation, each)
        return left

    def _violations(self, block: Block, places: list[int], units: int, rounds: int) -> dict[int, Witness]:
        """Violations among individuals that are drawn, by the place of their partition, each replayed."""
        found: dict[int, Witness] = {}
        units = min(units, max(_FEW, _EVALUATED // self._sampler.compared))
        for suspect in self._sampler.suspects(block.boxes.subset(np.array(places, dtype=np.int64)), units, rounds):
            place = places[suspect.place]
            if place not in found:
                pair = self._violation(block.boxes.box(place), *suspect.pair)
                if pair is not None:
                    found[place] = pair
        return found

    def _violated(self, part: Part, violation: Witness, seconds: float) -> None:
        """Record it, or find out which halves of the partition are violated, where that is asked for."""
        if self._request.keep_going and self._source.refine(part.key, part.box, violated=True):
            self._source.remember(part.key, violation)  # the half that has it may not have its turn in time
            return
        self._record(part, _sampled(violation), seconds)

    def _violation(self, box: Box, a: Point, b: Point) -> Witness | None:
        """The pair, if its unit lies in the box and it replays as a violation in both arithmetics."""
        if not has_unit_of(box, a, self._differ):
            return None  # where floats lie further apart than the box is wide, a draw may leave it
        pair = witness(self._problem, a, b)
        if pair is None or pair.replay.agrees:
            return pair
        self._gaps.append(pair)
        return None

    def _solve(self, *, wait: bool) -> None:
        """Take in what solvers say; with ``wait`` until one of them does."""
        for query, said in self._queue.verdicts(wait=wait):
            if query.pruned is None:
                self._solved(query, said)
            else:
                self._solved_pruned(query, query.pruned, said)

    def _solved(self, query: Query, said: Chained) -> None:
        """A solver's verdict on a partition: settle it, take it apart, or ask about a pruned network."""
        part = query.part
        if said.status is Status.UNKNOWN and not self._budget.exhausted:
            if self._source.take_apart(part.key, part.box):
                return
            smaller = None if self._heuristic is None or said.gap is not None else self._heuristic.prune(part.box)
            if smaller is not None:
                self._queue.ask(Query(part, smaller, query.seconds, said))
                return
        undecided = part.undecided if said.undecided is None else said.undecided
        said = replace(said, by=_PAIRS) if said.by == _BOUNDS else said
        self._record(Part(part.key, part.box, undecided), said, query.seconds)

    def _solved_pruned(self, query: Query, pruned: PrunedModel, said: Chained) -> None:
        """What holds of a pruned network proves nothing; a violation of it may be one of the model."""
        part, by, suspect = query.part, "pruned network", as_pair(said.witness)
        assert self._heuristic is not None, "a network was pruned"
        network = self._heuristic.written(part.key, part.box, pruned)
        pair = None if suspect is None else self._violation(part.box, suspect.a.point, suspect.b.point)
        if pair is not None:
            self._record(part, Chained(status=Status.VIOLATED, by=by, witness=pair), query.seconds, network=network)
            return
        held = said.status is Status.HOLDS
        model = query.unsettled
        assert model is not None, "the model was asked about first"
        became = "holds" if held else "is not decided"
        smaller = f"without {pruned.count} of its units, which is another network, it {became}"
        # Why the model's own question is open stays the reason: more time or memory may settle that.
        reason, detail = model.reason or Reason.INCOMPLETE, "; ".join(filter(None, (model.detail, smaller)))
        unknown = Chained(status=Status.UNKNOWN, by=by, reason=reason, detail=detail)
        self._record(part, unknown, query.seconds, pruned.units if held else None, network)

    def _record(
        self,
        part: Part,
        said: Chained,
        seconds: float,
        pruned: Units | None = None,
        network: PartFile | None = None,
    ) -> None:
        """Count the verdict on the partition, write it down, and tell."""
        said = self._without_doubt(part.box, said)
        record = Record(
            key=part.key,
            box=part.box,
            volume=share_of(part.box, self._sets),
            status=said.status,
            by=said.by,
            units=0 if part.undecided is None else self._filter.units,
            undecided=part.undecided or 0,
            seconds=seconds,
            witness=as_pair(said.witness),
            gap=as_pair(said.gap),
            reason=said.reason,
            detail=said.detail,
            pruned=pruned,
            network=network,
            sound=None if self._sound is None else self._sound.written(part.key, part.box),
        )
        self._ledger.add(record)
        self.outcome.add(record)
        total = self._source.total
        fraction = float(self.outcome.volume) if total is None else self.outcome.asked / max(1, total)
        self._observer.progress("partitions", fraction, self.outcome.told())

    def _without_doubt(self, box: Box, said: Chained) -> Chained:
        """The verdict; a partition does not hold where a pair was seen on which the two arithmetics disagree."""
        if said.status is not Status.HOLDS:
            return said
        gap = next((pair for pair in self._gaps if has_unit_of(box, pair.a.point, self._differ)), None)
        if gap is None:
            return said
        detail = "it is proved in exact arithmetic, but the deployed file breaks the demand"
        return Chained(status=Status.UNKNOWN, by=said.by, gap=gap, reason=Reason.NUMERIC_GAP, detail=detail)


def _sampled(found: Witness) -> Chained:
    return Chained(status=Status.VIOLATED, by="sampling", witness=found)
