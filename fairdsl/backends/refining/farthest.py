"""How far apart the scores of the worst two are, as a refinement: regions of pairs, the widest gap first.

Theorem. The scores of a pair are no further apart than the bound of any region that holds the pair. A region is cut
into two that hold all its pairs, or closed: because no pair in it can be farther apart than one that was met, because
nobody in it is compared, or because it cannot be cut. So no gap is wider than the greatest bound of the regions that
are left or closed, whoever refined which of them, and none is narrower than that of a pair that was met.

Bounds are an engine's own numbers, ``unit`` of the score each. A file keeps how regions were cut, and a pair; that
claims nothing: the regions follow, their bounds are computed again, and the pair is replayed (docs/jobs.md).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from fractions import Fraction
from heapq import heapify, heappop, heappush
from itertools import count, pairwise
from math import inf, isfinite
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.contract import Budget, Observer
from fairdsl.backends.refining.records import by_levels, flags, narrow, starts_of, whole
from fairdsl.backends.refining.refinement import State
from fairdsl.backends.refining.regions import Asked, Bounded, Halves
from fairdsl.backends.refining.splits import Lending, Splits
from fairdsl.backends.refining.workers import refine_within
from fairdsl.backends.worst import Worst
from fairdsl.clock import UNITS, Work, spend
from fairdsl.ir.domain import Point
from fairdsl.ir.enclosure import Enclosure
from fairdsl.verdict import Evidence, Reason, Unknown, Vacuous, Value

Integers = NDArray[np.int64]

#: Regions of a file whose bounds are computed together.
_AT_ONCE = 256


def refined_further(found: Farthest, budget: Budget, observer: Observer, scheduler: str | None) -> None:
    """Until the budget ends or nothing is left: in this process, in several, or on a cluster."""
    if scheduler is not None or budget.jobs > 1:
        refine_within(found, budget, observer, scheduler=scheduler)
        return
    while not found.finished and not found.full and not budget.exhausted:
        spend(found.work, found.step())
        high = "" if found.high is None else f", up to {float(found.high):.6g} apart"
        observer.progress("worst pairs", None, f"{found.nodes:,} {found.work.what}{high}")


class Farthest(Lending):
    """Branch and bound over the regions of one question, within some bytes of memory."""

    work: ClassVar[Work]
    #: Regions that are cut together, and bytes that one takes.
    at_once: ClassVar[int]
    bytes_a_region: ClassVar[int]
    units_a_node = 1.0

    def __init__(self, task: Asked, splits: Splits | None, *, memory: int) -> None:
        super().__init__(task, splits, memory=memory)
        self.worst = Worst(task.problem)
        #: Who is farthest apart of those that were met, on the model as the task has it.
        self.pair: tuple[Point, Point] | None = None
        self._low: Any = 0
        self._room = max(1024, memory // self.bytes_a_region)
        #: The widest bound first, of equal ones the region that came first; with its number, where cuts are noted.
        self._waiting: list[tuple[Any, int, int, Bounded]] = []
        self._order = count()
        #: No pair of a region that was closed is farther apart, and none of those of them that cannot be cut.
        self._closed: Any = -inf
        self._stuck: Any = -inf
        self.nodes = 0
        self._prepare()

    # ---- What an engine knows ----------------------------------------------------------------------------------------

    #: What one of its numbers is of the score.
    unit: Fraction

    @abstractmethod
    def _prepare(self) -> None:
        """Make what bounding takes."""

    @abstractmethod
    def _whole(self) -> Sequence[Any]:
        """Regions that hold all pairs; they may overlap."""

    @abstractmethod
    def _bounded(self, regions: Sequence[Any]) -> Sequence[Bounded | None]:
        """Their bounds; None where nobody is compared. Pairs that are met in passing are told of."""

    @abstractmethod
    def _cut(self, taken: Sequence[Bounded]) -> Sequence[Halves | None]:
        """Both halves of each region; None of one that cannot be cut."""

    @abstractmethod
    def _halved(self, regions: Sequence[Any], axis: Integers, cut: Integers) -> list[Any]:
        """Both halves of each region that was cut so, one behind the other; ValueError for what is no such cut."""

    @abstractmethod
    def _in_units(self, gap: Fraction) -> Any:
        """In its numbers, rounded down."""

    @abstractmethod
    def _packed(self, regions: Sequence[Bounded]) -> State:
        """Regions that wait, for whoever goes on."""

    @abstractmethod
    def _unpacked(self, state: State) -> Sequence[Bounded]:
        """The same, read."""

    def _look(self, taken: Sequence[Bounded]) -> None:
        """Look for pairs that are farther apart, before regions are cut."""

    def _is_news(self, bound: Any) -> bool:
        """Whether a gap so wide would matter."""
        return not self.worst.somebody or bound > self._low

    def _close(self, one: Bounded) -> None:
        """A region that cannot be cut."""
        self._stuck = max(self._stuck, one.bound)

    # ---- Where it stands ---------------------------------------------------------------------------------------------

    @property
    def seconds_a_node(self) -> float:
        """What a region takes."""
        return self.work.units / UNITS

    @property
    def finished(self) -> bool:
        """Whether nothing that is left can change the number."""
        return not self._waiting

    @property
    def full(self) -> bool:
        """Whether there is no room for more regions."""
        noted = 0 if self._splits is None else self._splits.count // 8
        return len(self._waiting) + noted > self._room

    @property
    def high(self) -> Fraction | None:
        """No pair is farther apart; None: no bound is known."""
        top = max(self._closed, self._stuck, -self._waiting[0][0] if self._waiting else -inf)
        if top == inf:
            return None
        return max(self.worst.low, Fraction(top) * self.unit) if isfinite(top) else self.worst.low

    @property
    def undecided(self) -> float:
        """By how much of it the bound is above the worst pair."""
        high, low = self.high, self.worst.low
        if high is None or self.pair is None:
            return float(bool(self._waiting) or self._stuck > -inf)
        return float((high - low) / high) if high else 0.0

    def heaviest(self, limit: int) -> Sequence[float]:
        """Each region that is left keeps the number open."""
        return [1.0] * min(limit, len(self._waiting))

    def why(self, otherwise: Reason) -> Reason | None:
        """Why the number is not known better; ``otherwise`` where regions wait for which there is room."""
        if self._waiting:
            return Reason.MEMORY_OUT if self.full else otherwise
        doubtful = self._stuck > -inf and (not self.worst.somebody or self._stuck > self._low)
        return Reason.INCOMPLETE if doubtful else None

    def verdict(self, worst: Worst, evidence: Evidence, otherwise: Reason) -> Value | Vacuous | Unknown:
        """What is known, with the pair as ``worst`` replays it."""
        if self.pair is not None:
            worst.meet(*self.pair)
        return worst.verdict(self.high, evidence, self.why(otherwise))

    def proved(self) -> None:
        """Somebody else proved that nobody is farther apart than the worst pair."""
        self._closed = self._stuck = -inf

    def meet(self, a: Point, b: Point) -> Enclosure | None:
        """The gap between the scores of two; None where they are not compared."""
        before = self.worst.low
        found = self.worst.meet(a, b)
        if found is not None and (self.pair is None or self.worst.low > before):
            self.pair, self._low = (a, b), self._in_units(self.worst.low)
        return found

    # ---- Refining ----------------------------------------------------------------------------------------------------

    @classmethod
    def start(cls, task: Asked, *, memory: int = 2 << 30, kept: bool = False) -> Self:
        """Nothing known yet; ``kept``: it is noted how regions are cut."""
        found = cls(task, None, memory=memory)
        roots = [each for each in found._bounded(found._whole()) if each is not None]
        found._splits = Splits(len(roots)) if kept else None
        for number, each in enumerate(roots):
            found._keep(each, number)
        return found

    def step(self, most: int | None = None) -> int:
        """Cut the regions with the greatest bounds; how many were bounded."""
        self._lent = None
        taken: list[tuple[int, Bounded]] = []
        while self._waiting and len(taken) < self.at_once:
            *_, number, one = heappop(self._waiting)
            if self._is_news(one.bound):
                taken.append((number, one))
            else:
                self._closed = max(self._closed, one.bound)
        if not taken:
            return 0
        before = self.nodes
        regions = [one for _, one in taken]
        self._look(regions)
        found = list(zip(taken, self._cut(regions), strict=True))
        cut = [(number, halves) for (number, _), halves in found if halves is not None]
        for (_, one), halves in found:
            if halves is None:
                self._close(one)
        for first, (_, halves) in zip(self._numbered(cut), cut, strict=True):
            for number, part in enumerate(halves.parts, start=first):
                if part is not None:
                    self._keep(part, number)
        return self.nodes - before

    def _numbered(self, cut: Sequence[tuple[int, Halves]]) -> Sequence[int]:
        """The numbers of first halves, where cuts are noted; those of second ones follow them."""
        if self._splits is None or not cut:
            return [0] * len(cut)
        ways = np.array([halves.way for _, halves in cut], dtype=np.int64)
        numbers: list[int] = self._splits.cut(np.array([number for number, _ in cut], dtype=np.int64), ways).tolist()
        return numbers[: len(cut)]

    def _keep(self, one: Bounded, number: int) -> None:
        if not self._is_news(one.bound):
            self._closed = max(self._closed, one.bound)
        elif one.cuttable:
            heappush(self._waiting, (-one.bound, next(self._order), number, one))
        else:
            self._close(one)

    # ---- Parts -------------------------------------------------------------------------------------------------------

    def _known(self) -> State:
        return {"closed": self._closed, "stuck": self._stuck, "visited": self.nodes}

    def _dealt(self, parts: int) -> Sequence[State]:
        waiting = sorted(self._waiting, key=lambda each: each[:2])
        nothing = {"closed": -inf, "stuck": -inf, "visited": 0, "pair": self.pair}
        found = []
        for part in range(parts):
            lent = waiting[part::parts]
            numbers = np.array([number for *_, number, _ in lent], dtype=np.int64)
            found.append({**nothing, "number": numbers, **self._packed([one for *_, one in lent])})
        return found

    def _take(self, states: Sequence[State], waiting: Sequence[State]) -> None:
        for pair in dict.fromkeys(state["pair"] for state in states if state["pair"] is not None):
            self.meet(*pair)
        self._closed, self._stuck = (max(state[name] for state in states) for name in ("closed", "stuck"))
        self.nodes = sum(state["visited"] for state in states)
        self._waiting = [
            (-one.bound, next(self._order), number, one)
            for state in waiting
            for number, one in zip(state["number"].tolist(), self._unpacked(state), strict=True)
        ]
        heapify(self._waiting)

    # ---- Files -------------------------------------------------------------------------------------------------------

    def stored(self, begun: State) -> Mapping[str, NDArray[Any]]:
        """What a file keeps of a part that began with ``begun``: how regions were cut, and the pair."""
        assert self._splits is not None, "it was noted how regions are cut"
        tree = self._splits.state()
        order = by_levels(tree["child"], np.arange(len(begun["number"])))
        inner = tree["child"][order] >= 0
        texts = [["/".join(map(str, x.as_integer_ratio())) for x in map(Fraction, point)] for point in self.pair or ()]
        return {
            "inner": inner,
            "axis": narrow(tree["axis"][order][inner]),
            "cut": narrow(tree["cut"][order][inner]),
            "pair": np.array(texts, dtype=np.bytes_).reshape(len(texts), -1 if texts else 0),
            "effort": np.array([self.nodes], dtype=np.int64),
        }

    @classmethod
    def opened(cls, task: Asked, begun: State, kept: State, *, memory: int = 2 << 30) -> tuple[Self, int]:
        """What a file keeps, to go on with, and how many bounds were computed again for that.

        ValueError for what is not a tree of cuts of these regions, or a pair that is not compared.
        """
        try:
            return cls._opened(task, begun, kept, memory)
        except (KeyError, IndexError, OverflowError, ZeroDivisionError) as error:
            raise ValueError("an array is missing, or of another length") from error

    @classmethod
    def _opened(cls, task: Asked, begun: State, kept: State, memory: int) -> tuple[Self, int]:
        found, inner, roots = cls.resume(task, begun, memory=memory), flags(kept, "inner"), len(begun["number"])
        split = np.flatnonzero(inner)
        axis, cut, effort = (whole(kept, name) for name in ("axis", "cut", "effort"))
        if not len(axis) == len(cut) == len(split) or len(effort) != 1 or not 0 <= effort[0] < 2**60:
            raise ValueError("a cut is missing, or an effort counts nothing")
        found._meet_kept(kept["pair"])
        regions = [one.region for one in found._unpacked(begun)]
        child = np.full(len(inner), -1, dtype=np.int64)
        for start, stop in pairwise(starts_of(inner, roots)):
            here = start + np.flatnonzero(inner[start:stop])
            rows = np.searchsorted(split, here)
            regions += found._halved([regions[number] for number in here.tolist()], axis[rows], cut[rows])
            child[here] = stop + 2 * np.arange(len(here))
        tree = {
            "child": child,
            "axis": np.zeros(len(inner), dtype=np.int64),
            "cut": np.zeros(len(inner), dtype=np.int64),
        }
        tree["axis"][split], tree["cut"][split] = axis, cut
        found._splits, found._waiting = Splits.of(tree | {"fate": np.zeros(len(inner))}), []
        leaves = np.flatnonzero(~inner).tolist()
        for start in range(0, len(leaves), _AT_ONCE):
            some = leaves[start : start + _AT_ONCE]
            for number, one in zip(some, found._bounded([regions[number] for number in some]), strict=True):
                if one is not None:
                    found._keep(one, number)
        found.nodes = int(effort[0])
        return found, len(leaves)

    def _meet_kept(self, pair: NDArray[Any]) -> None:
        attributes = self.task.problem.domain.attributes
        if not pair.size:
            return
        if pair.shape != (2, len(attributes)) or pair.dtype.kind != "S":
            raise ValueError("its pair is not two individuals")
        a, b = (tuple(Fraction(text.decode("ascii")) for text in row) for row in pair.tolist())
        if self.meet(a, b) is None:
            raise ValueError("the two of its pair are not compared")
