"""The search: a strategy proposes, what is new is tried, what seems to violate is replayed, what is confirmed counts.

    proposal --not tried before--> candidates --measure--> promising --pairs--> replay --> counterexamples

It ends when enough is found, when the time is up, when it is *exhausted*: every unit was tried (where they can be
counted and all members of each are tried together), or when it is *saturated*: nothing new for long, the neighbours
of all counterexamples tried (where the strategy goes through them), and nothing new in a uniform sample either. Neither
is a proof that there is nothing else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.contract import Budget, Observer
from fairdsl.backends.search.evaluators import Evaluator
from fairdsl.backends.search.ground import Ground
from fairdsl.backends.search.judge import Judge, Judged, Status
from fairdsl.backends.search.pool import NearestFirst
from fairdsl.backends.search.seen import Keys, Seen
from fairdsl.backends.search.strategy import Proposal, Strategy, Tried
from fairdsl.clock import interrupting, meter_in_force, received, until
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Pair
from fairdsl.numerics.evaluate import Around
from fairdsl.numerics.threads import one_blas_thread


class Ending(Enum):
    """Why a search ended."""

    COUNT = "count"  # as many as were asked for
    TIME = "time"
    EFFORT = "effort"  # the effort that was given is spent
    EXHAUSTED = "exhausted"  # every unit was tried
    SATURATED = "saturated"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True)
class Near:
    """Of each pair the distance from the nearest given row, and the row (:mod:`..nearness`)."""

    distances: FloatArray  # [n]
    rows: IntArray  # [n]

    @classmethod
    def joined(cls, parts: Sequence[Near]) -> Near:
        """Several batches as one."""
        distances = [np.empty(0), *(part.distances for part in parts)]
        rows = [np.empty(0, dtype=np.int64), *(part.rows for part in parts)]
        return cls(np.concatenate(distances), np.concatenate(rows))


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """What a search came to.

    ``pairs`` are all found, each unit once; ``by`` are indices into ``strategies``. ``gaps`` are units whose pairs
    violate in one arithmetic only, and ``gap`` one of them. ``tried`` candidates were evaluated, ``evaluated``
    individuals. For decisions in replays the deployed file was run on ``ran`` individuals, and not on ``bounded``
    ones, of whom a bound of its arithmetic says what it decides. ``sample``: candidates of the last uniform sample, 0
    where none was drawn. ``near`` says how far the pairs are from the rows that were given, if some were.
    """

    pairs: Judged
    near: Near | None
    by: NDArray[np.int8]
    strategies: tuple[str, ...]
    ending: Ending
    gaps: int
    gap: Judged | None
    tried: int
    evaluated: int
    ran: int
    bounded: int
    sample: int
    frontier: int

    @property
    def by_strategy(self) -> Mapping[str, int]:
        """How many counterexamples each strategy made."""
        counts = Counter(self.by.tolist())
        return {name: counts[index] for index, name in enumerate(self.strategies) if counts[index]}


FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

#: Individuals evaluated at once; and candidates at least, where few are still wanted.
_INDIVIDUALS, _FEWEST = 16384, 1024
#: Candidates that the last uniform sample has, and so many for each one of a small domain.
_SAMPLE, _REPEATS = 100_000, 40


def falsify(
    problem: Problem,
    pair: Pair,
    evaluator: Evaluator,
    strategy: Strategy,
    *,
    count: int | None,
    budget: Budget,
    observer: Observer,
    rows: FloatArray | None = None,
) -> SearchResult:
    """Find violating pairs, ``count`` of them (None: until nothing new is found) or as many as the budget allows.

    Where ``rows`` [n, attributes] of the domain are given, they are tried first, and candidates are drawn around them.
    """
    run = _Run(problem, pair, evaluator, budget, count, rows)
    ending = Ending.TIME  # in the middle of a slow function's batch
    try:
        with interrupting(), one_blas_thread(), until(budget.deadline):
            ending = run.until(strategy, observer)
    except KeyboardInterrupt:  # what was found by then is kept
        ending = Ending.INTERRUPTED
    if ending is Ending.TIME and received() is not None:  # which uses up every budget
        ending = Ending.INTERRUPTED
    if ending is Ending.TIME and (meter := meter_in_force()) is not None and not meter.late:
        ending = Ending.EFFORT
    return run.result(ending)


class _Run:
    """The state of a search."""

    def __init__(
        self,
        problem: Problem,
        pair: Pair,
        evaluator: Evaluator,
        budget: Budget,
        count: int | None,
        rows: FloatArray | None,
    ) -> None:
        self._budget = budget
        self.ground = Ground(problem, pair, evaluator, budget, rows)
        self._judge = Judge(problem, pair, evaluator)
        self._keys = Keys(self.ground.space.columns)
        self._seen, self._violating, self._gaps = Seen(), Seen(), Seen()
        self._count = count
        self._found: list[tuple[str, Judged, Near | None]] = []
        self._total = self._tried = self._sampled = self._turns = 0
        self._gap: Judged | None = None
        self._idle = 0  # proposed since the last find
        units = self.ground.space.units
        self._sample = _SAMPLE if units is None else min(_SAMPLE, _REPEATS * units)
        self._small = units is not None and units <= _SAMPLE
        # With relaxations that is the number of ways to write two individuals down, comparable or not, in either order.
        self._countable = None if pair.relax or not self.ground.space.complete else units
        self._passed_over = False  # more found than were asked for

    def until(self, strategy: Strategy, observer: Observer) -> Ending:
        """Follow the strategy to an end."""
        if self.ground.sampler.empty:
            return Ending.EXHAUSTED
        for proposal in self._rows_first():
            self._try(proposal)
            if (ending := self._ending(strategy)) is not None:
                return ending
            self._tell(observer)
        proposing = strategy.run(self.ground)
        self._prepare()
        proposal = next(proposing)
        while True:
            tried = self._try(proposal)
            ending = self._ending(strategy)
            if ending is not None:
                return ending
            self._tell(observer)
            self._prepare()
            proposal = proposing.send(tried)

    def _rows_first(self) -> Iterator[Proposal]:
        """The given rows themselves, as they come."""
        if self.ground.given is None:
            return
        people, start = self.ground.space.of(self.ground.given.people), 0
        while start < len(people):
            self._prepare()
            yield Proposal("data", people[start : start + self.ground.batch])
            start += self.ground.batch

    def _tell(self, observer: Observer) -> None:
        done = None if self._count is None else self._total / self._count
        observer.progress("search", done, f"{self._total:,} pairs, {self.ground.evaluator.evaluated:,} individuals")

    def result(self, ending: Ending) -> SearchResult:
        """What there is by now."""
        names = tuple(dict.fromkeys(name for name, _, _ in self._found))
        parts = [part for _, part, _ in self._found]
        by = np.repeat([names.index(name) for name, _, _ in self._found], [len(part) for part in parts])
        near = [part for _, _, part in self._found if part is not None]
        ran, bounded = self._judge.file_runs
        return SearchResult(
            pairs=Judged.joined(parts) if parts else self._none(),
            near=None if self.ground.given is None else Near.joined(near),
            by=by.astype(np.int8),
            strategies=names,
            ending=ending,
            gaps=len(self._gaps),
            gap=self._gap,
            tried=self._tried,
            evaluated=self.ground.evaluator.evaluated,
            ran=ran,
            bounded=bounded,
            sample=self._sampled,
            frontier=self.ground.pool.waiting,
        )

    def _none(self) -> Judged:
        empty = np.empty((0, len(self.ground.problem.domain.attributes)))
        return self._judge.replay(empty, empty)

    def _prepare(self) -> None:
        """How much to try next: little at first, while nobody knows what pays, and no more than is still wanted."""
        ground = self.ground
        most = max(1, _INDIVIDUALS // ground.space.touches.shape[1])
        wanted = most if self._count is None else self._count - self._total
        ground.batch = min(most, max(_FEWEST, min(2 * wanted, _FEWEST << min(self._turns, 20))))
        self._turns += 1

    @property
    def _exhausted(self) -> bool:
        """Whether every unit was tried to its end: none passed over, and none cut off by the clock."""
        return len(self._seen) == self._countable and not self._passed_over and not self._budget.exhausted

    def _ending(self, strategy: Strategy) -> Ending | None:
        if self._exhausted:
            return Ending.EXHAUSTED
        if self._count is not None and self._total >= self._count:
            return Ending.COUNT
        if self._budget.exhausted:
            return Ending.TIME
        if self._idle < self._sample or (strategy.expands and self.ground.pool.waiting):
            return None
        if not self._total and not self._small:
            return None  # in a large domain nothing found so far says little
        return Ending.SATURATED if self._nothing_new() else None

    def _nothing_new(self) -> bool:
        """Whether a uniform sample holds nothing new; it does not count as one if the time ends first."""
        drawn, before = 0, self._total
        while drawn < self._sample:
            self._prepare()
            size = min(self.ground.batch, self._sample - drawn)
            self._try(Proposal("uniform", self.ground.space.draw(size)))
            drawn += size
            if self._total > before or self._budget.exhausted:
                return False
        self._sampled = drawn
        return True

    def _try(self, proposal: Proposal) -> Tried:
        """Evaluate what is new of a proposal, and enter what is confirmed."""
        space, rows = self.ground.space, proposal.rows
        self._idle += max(1, len(rows))
        violating = np.zeros(len(rows), dtype=np.bool_)
        if not len(rows):
            return Tried(violating, 0)
        keys = self._keys.of(space.canonical(rows))
        fresh = self._seen.new(keys)
        fresh = fresh[space.plausible(rows[fresh])]
        judged, owners = self._judged(rows[fresh], proposal.around and proposal.around.at(fresh))
        violating[fresh[owners[judged.status == Status.FOUND]]] = True
        if len(fresh) < len(rows):  # seen before, or twice among these
            again = Seen()
            again.add(keys[violating])
            violating = self._violating.contains(keys) | again.contains(keys)
        if proposal.until is not None:
            violating = violating[: proposal.until(violating)]
            fresh = fresh[fresh < len(violating)]
            judged, owners = judged.at(kept := owners < len(fresh)), owners[kept]
        self._tried += len(fresh)
        found, gaps = self._enter(rows[fresh], proposal.by, judged, owners)
        # Where members are sampled, another sample may find what this one did not.
        self._seen.add(keys[fresh] if space.complete else keys[fresh[found]])
        self._gaps.add(keys[fresh[gaps]][self._gaps.new(keys[fresh[gaps]])])
        self._violating.add(keys[fresh[found]])
        return Tried(violating, len(found))

    def _judged(self, rows: FloatArray, around: Around | None) -> tuple[Judged, IntArray]:
        """The candidates' pairs, replayed one by one until one is confirmed, and the rows that they are of."""
        measured = self.ground.measure(rows, around)
        return self._judge.best_of(self.ground.pairs(measured, self.ground.promising(measured)), self._budget)

    def _enter(self, rows: FloatArray, by: str, judged: Judged, owners: IntArray) -> tuple[IntArray, IntArray]:
        """Enter the candidates that are found; these rows, and gaps."""
        found = np.flatnonzero(judged.status == Status.FOUND)
        apart = np.flatnonzero((judged.status == Status.GAP) & ~np.isin(owners, owners[found]))
        if apart.size and self._gap is None:
            self._gap = judged.at(apart[:1])
        if self._count is not None:
            wanted = self._count - self._total
            self._passed_over |= len(found) > wanted
            found = found[:wanted]
        if found.size:
            confirmed = judged.at(found)
            self._found.append((by, confirmed, self._entered(rows[owners[found]], confirmed)))
            self._total += len(found)
            self._idle = 0
        return owners[found], np.unique(owners[apart])

    def _entered(self, rows: FloatArray, pairs: Judged) -> Near | None:
        """Let the counterexamples be expanded; how near they are to what was given."""
        given, pool = self.ground.given, self.ground.pool
        if given is None or not isinstance(pool, NearestFirst):
            pool.add(rows)
            return None
        near = Near(*given.nearest(pairs.a, pairs.b))
        pool.enter(rows, near.distances)
        return near
