"""Proofs that cut boxes as a refinement does: which of its leaves to claim, and what the checker makes of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import heappop, heappush
from itertools import chain, count, pairwise
from time import thread_time
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.intervals import FAIR, HALVED, UNFAIR, Splits, Splitting
from fairdsl.clock import Deadline
from fairdsl.proving.grown import Grown, Waiting
from fairdsl.proving.prover import line_of
from fairdsl_verify.bounds import BITS
from fairdsl_verify.question import YES, Box
from fairdsl_verify.tree import Checker, Node, Totals

#: What can be claimed of a box that is counted: as it is, or with lines of one more slope below units of open sign. In
#: deep networks a small one says no less than five slopes together, which take the checker three times as long.
_COUNTED = "~"
CLAIMS = _COUNTED, *(f"{_COUNTED} {(1 << BITS) // part}" for part in (25, 5))

#: What is claimed of a box that is cut by the signs of units; words about its regions follow. One more has to
#: say so much of the box.
REGIONS, _LITTLE = "R", 1 / 128

#: The part of the time that is left in which it is tried what comes of a way to cut boxes.
TRIAL = 1 / 12

#: The refinement's boxes are taken where they say so much more of everything, or of what the others leave open, for
#: boxes that are cut here gain more by the time that is left; and slopes, which take the checker longer, where they do.
_CLEARLY, _OF_OPEN = 0.02, 1 / 10

#: The part of the time that is left in which some leaves are drawn, to know what the checker makes of all: so many by
#: mass at most, in such steps, so many of them together, and in any case so few; and whatever their mass is, to know
#: how long it takes, so many of which something is claimed, and so many of these that are checked.
_TELLING, _DRAWS, _STRIDE, _AT_ONCE, _FEW, _CLAIMED, _TIMED = 1 / 60, 1024, 633, 16, 8, 256, 48

#: Where the checker finds so much less of a leaf than the refinement, and that is so much of everything, something else
#: is claimed: regions of which one more may say so little, lines, or the same of halves. The part of the time for that,
#: and leaves that are so large a part of what all of them say are each tried before it is known which tree says most.
_LOST, _LOST_IN_ALL, _FURTHER, _MENDING, _LARGE = 1 / 512, 1e-5, (1 / 1024, 1e-6), 1 / 10, 1 / 64

#: Claims are tried on a tree of so many leaves, which tells enough of one that has about as many; of another number it
#: is tried so often what the checker takes. So many are taken at least.
_TRIED, _LEAST, _ALIKE, _ROUNDS = 2048, 64, 2 / 3, 3

#: The part of the time that is left for claims at most, and for knowing what leaves come to before.
_CLAIMING, _ASIDE = 1 / 2, 1 / 10 + _MENDING

#: Leaves that together would be so small a part of everything are not worth the checker's time.
_ALL_LIGHT = 1e-3


class Told(NamedTuple):
    """What is known of a tree: how many leaves it has, and about which part of everything they say is decided.

    ``making`` and ``checking``: how many seconds of a core it takes to claim something of one, and to check that.
    """

    leaves: int
    share: float
    making: float
    checking: float


class Way(NamedTuple):
    """A refinement, the claim of its leaves, how many there may be, and about which share of everything they say."""

    splitting: Splitting
    claim: str
    most: int
    share: float
    #: Seconds that it takes to claim something of one.
    making: float


def clearly_above(share: float) -> float:
    """The share of everything that has to be decided to be clearly more than this one."""
    return share + min(_CLEARLY, _OF_OPEN * (1 - share))


def after(part: float, deadline: Deadline) -> Deadline:
    """When this part of the time that is left is over."""
    return deadline.later(-(1 - part) * deadline.remaining)


def share_of(checker: Checker, leaves: Sequence[Waiting], deadline: Deadline) -> float:
    """Which part of everything leaves say is decided, about, as the checker sees them."""
    shared, attributes = checker.shared, checker.question.attributes
    ends = np.array([one.box for one in leaves], dtype=np.float64).reshape(len(leaves), len(attributes), 2)
    sizes = ends[:, shared, 1] - ends[:, shared, 0] + [not attributes[place].real for place in shared]
    masses = sizes.prod(axis=1)
    drawn = (leaves[at] for at in _by_mass(masses).tolist())
    part = _mean((_part(checker, one.box, one.grown.claim) for one in drawn), deadline)
    return part * float(masses.sum()) / checker.mass(checker.root())


def _by_mass(masses: NDArray[np.float64]) -> NDArray[np.int64]:
    """Leaves that are drawn at equal steps of mass, and in another order; none where there are none."""
    reached, steps = np.cumsum(masses), np.arange(_DRAWS if len(masses) else 0) * _STRIDE % _DRAWS
    return np.searchsorted(reached, (steps + 0.5) / _DRAWS * (reached[-1] if len(masses) else 0.0), side="right")


def _mean(values: Iterable[float], deadline: Deadline) -> float:
    """The mean of those for which there is time."""
    end, total, count = after(_TELLING, deadline), 0.0, 0
    for value in values:
        total, count = total + value, count + 1
        if count >= _FEW and end.passed:
            break
    return total / max(1, count)


def _part(checker: Checker, box: Box, claim: str) -> float:
    """Which part of a box is decided, by what is claimed of it, as the checker counts; of what follows all of it."""
    if claim[0] in "?EPU":
        return float(claim != "?")
    totals, root = Totals(), checker.root()
    node = Node(box, (YES,) * len(root.admitted), root.known)
    checker.leaf(node, claim.replace("=", _COUNTED).split(" "), totals)
    return float((totals.fair + totals.unfair) / checker.mass(node))


class Planter:
    """Makes trees of refinements.

    ``say`` claims of a leaf what is to be claimed, or what is known without, ``apart`` of some that a part of their
    units is decided differently; ``line`` is where a box is best halved. The hidden layers have ``widths`` units.
    """

    def __init__(
        self,
        checker: Checker,
        say: Callable[[Waiting, str], None],
        apart: Callable[[Sequence[Waiting]], None],
        line: Callable[[Box], tuple[int, int] | None],
        widths: Sequence[int],
    ) -> None:
        self._checker, self._say, self._apart, self._line = checker, say, apart, line
        self._root, self._widths = checker.root(), list(widths)
        #: What is best claimed of boxes of which something was claimed first, and which part that says is decided.
        self._mended = dict[tuple[str, Box], tuple[str, float]]()

    def has_regions(self, splitting: Splitting) -> bool:
        """Whether its regions can be said: the checker knows the units by whose signs boxes are cut."""
        return splitting.widths == self._widths

    def way(self, splitting: Splitting, later: float, deadline: Deadline) -> Way:
        """What comes of a refinement after a part of the time, if the checker takes so many seconds ``later``.

        As many leaves are taken as it has time for, which say most, with the claim that says most of some.
        """
        splits = splitting.until(after(TRIAL, deadline))
        claims = (REGIONS,) if splitting.regions else CLAIMS
        some = {claim: self._told(splitting, splits, claim, _TRIED, deadline) for claim in claims}
        claim = max(claims, key=lambda each: clearly_above(some[each].share) if each == _COUNTED else some[each].share)
        told, most = some[claim], _TRIED
        for _ in range(_ROUNDS):
            # Of many leaves most are smaller than of few, and take the checker less time, or more.
            before, most = most, _most(later, told)
            if _ALIKE * before < most < before / _ALIKE:
                break
            told = self._told(splitting, splits, claim, most, deadline)
        return Way(splitting, claim, most, told.share, told.making)

    def grown(self, way: Way, later: float, deadline: Deadline) -> tuple[Grown, list[Waiting]]:
        """The tree of a refinement that goes on as long as there is time, with as many leaves as are checked later."""
        claims = min(_ASIDE + way.making * way.most / max(deadline.remaining, 1e-9), _CLAIMING)
        splits, most = way.splitting.until(after(1 - claims, deadline)), way.most
        for _ in range(2):  # of what is cut further leaves are others
            told = self._told(way.splitting, splits, way.claim, most, deadline)
            most = _most(later, told)
            if way.claim == REGIONS:  # the others take no time
                most = min(most, max(_LEAST, int(deadline.remaining / max(told.making, 1e-9))))
        return self.planted(way.splitting, splits, way.claim, most, deadline)

    def planted(
        self, splitting: Splitting, splits: Splits, claim: str, most: int, deadline: Deadline
    ) -> tuple[Grown, list[Waiting]]:
        """The tree whose leaves, that many at most, say most, and what is claimed of them, of the largest first."""
        choice = _best(splits, most)
        best, first, places = (each.tolist() for each in (choice, splits.first, splits.place))
        open_ = splits.open.tolist()
        tree, found = Grown(), list[Waiting]()
        waiting = [(0, self._root.box, tree)]
        while waiting:
            node, box, grown = waiting.pop()
            if best[node] == HALVED:
                halves, below = _halves(box, places[node]), (Grown(), Grown())
                grown.split, grown.below = line_of(places[node], halves[0][places[node]][1]), below
                waiting += [(first[node] + at, halves[at], below[at]) for at in range(2)]
            elif best[node] in (FAIR, UNFAIR):
                found.append(Waiting(-open_[node], node, box, _leaf(best[node], grown)))
        found.sort(key=lambda one: -self._checker.mass(Node(one.box)))
        self._claim(splitting, found, claim, after(1 - _MENDING, deadline))
        return tree, list(self._mend(splitting, found, claim, _said(splits, choice) / splits.mass, deadline))

    def _claim(self, splitting: Splitting, leaves: Sequence[Waiting], claim: str, deadline: Deadline) -> None:
        for one in leaves:
            self._say(one, claim)
        self._apart([one for one in leaves if one.negative and one.grown.claim[0] in "~R"])
        cut = [one for one in leaves if one.grown.claim == REGIONS]
        for at in range(0, len(cut), _AT_ONCE):  # no more once the time is up
            some = cut[at : at + _AT_ONCE]
            words = iter([_COUNTED] * len(some)) if deadline.passed else self._cut(splitting, some)
            for one, told in zip(some, words, strict=True):
                one.grown.claim = told

    def _cut(self, splitting: Splitting, leaves: Sequence[Waiting], least: float = _LITTLE) -> Iterator[str]:
        """What to claim of each: regions, by the signs that the refinement would cut it by; or that it is counted."""
        cuts = splitting.regions_of(np.array([one.box for one in leaves], dtype=np.int64), least)
        units = [f"N {layer} {unit}" for layer, width in enumerate(splitting.widths) for unit in range(width)]
        for first, unit, half in zip(*(each.tolist() for each in cuts), strict=True):
            yield _COUNTED if first[0] < 0 else " ".join((REGIONS, *_words(units, first, unit, half)))

    def _part_of(self, splitting: Splitting, one: Waiting, first: str, known: float) -> float:
        """Which part of a leaf is decided as the checker counts, once it claims what says as much as is ``known``.

        Or what says most, where nothing does; ``first`` is what is claimed of all leaves.
        """
        if (found := self._mended.get((first, one.box))) is None:
            found = max(self._tried(splitting, one, known), key=lambda each: each[1])
            self._mended[first, one.box] = found
        one.grown.claim, part = found
        return part

    def _tried(self, splitting: Splitting, one: Waiting, known: float) -> Iterator[tuple[str, float]]:
        """What can be claimed of a leaf, and which part of it that decides, until one says as much as is known."""
        further = _FURTHER if self.has_regions(splitting) else ()
        others = chain(chain.from_iterable(self._cut(splitting, [one], least) for least in further), CLAIMS)
        tried = set[str]()
        for claim in chain([one.grown.claim], others):
            if claim not in tried:
                tried.add(claim)
                part = _part(self._checker, one.box, claim)
                yield claim, part
                if part >= known - _LOST:
                    break

    def _mend(
        self,
        splitting: Splitting,
        leaves: Iterable[Waiting],
        claim: str,
        known: NDArray[np.float64],
        deadline: Deadline,
    ) -> Iterator[Waiting]:
        """Leaves, of the largest first, that say as much as is known of them, or their halves, while there is time."""
        mass = self._checker.mass
        everything, numbers = mass(self._root), count(len(known))
        waiting = [(-mass(Node(one.box)), one.number, one, float(known[one.number])) for one in leaves]
        while waiting:
            negative, _, one, part = heappop(waiting)
            little = max(_LOST, -_LOST_IN_ALL * everything / negative)
            lossy = little < 1 and not deadline.passed and part - self._part_of(splitting, one, claim, part) > little
            if lossy and (cut := self._line(one.box)) is not None:
                boxes, below = _halves(one.box, cut[0]), (Grown(), Grown())
                several = zip(boxes, below, strict=True)
                halves = [Waiting(one.negative, next(numbers), box, _leaf(FAIR, grown)) for box, grown in several]
                self._claim(splitting, halves, claim, deadline)
                masses = [mass(Node(half.box)) for half in halves]
                said = [self._part_of(splitting, half, claim, part) for half in halves]
                if np.dot(said, masses) >= -self._part_of(splitting, one, claim, part) * negative:
                    one.grown.split, one.grown.below = line_of(*cut), below
                    for half, size in zip(halves, masses, strict=True):
                        heappush(waiting, (-size, half.number, half, part))
                    continue
            yield one

    def _told(self, splitting: Splitting, splits: Splits, claim: str, most: int, deadline: Deadline) -> Told:
        """What the checker makes of the tree of so many leaves, by some of them."""
        best = _best(splits, most)
        nodes, masses, said = splits.leaves(best), splits.mass, _said(splits, best)
        parents = np.full(len(best), -1, dtype=np.int64)
        halved = np.flatnonzero(splits.first >= 0)
        parents[splits.first[halved]] = parents[splits.first[halved] + 1] = halved

        def claimed(chosen: NDArray[np.int64]) -> list[Waiting]:
            open_, numbers = splits.open[chosen].tolist(), chosen.tolist()
            boxes, leaves = (self._box(splits, parents, node) for node in numbers), map(_leaf, best[chosen].tolist())
            found = [Waiting(-left, *one) for left, *one in zip(open_, numbers, boxes, leaves, strict=True)]
            self._claim(splitting, found, claim, deadline)
            return found

        def differences(chosen: NDArray[np.int64]) -> Iterator[float]:
            """How much more of each is decided as the checker counts than as the refinement does."""
            for at in range(0, len(chosen), _AT_ONCE):
                for one in claimed(chosen[at : at + _AT_ONCE]):
                    known = float(said[one.number] / masses[one.number])
                    yield self._part_of(splitting, one, claim, known) - known

        sample = nodes[:: 1 + len(nodes) // _CLAIMED]
        parts = 1 + len(sample) // _TIMED
        started, end, some = thread_time(), after(_TELLING, deadline), list[Waiting]()
        for at in range(parts):
            if not (some and end.passed):
                some += claimed(sample[at::parts])
        making = (thread_time() - started) / max(1, len(some))
        started, end, checked = thread_time(), after(_TELLING, deadline), 0
        for one in some[:: 1 + len(some) // _TIMED]:
            if checked >= _FEW and end.passed:
                break
            checked += 1
            _part(self._checker, one.box, one.grown.claim)
        checking = (thread_time() - started) / max(1, checked)
        # The largest each by itself: with one of two per cent of which nothing follows few draws are off by as much.
        share, others = float(said[nodes].sum()), nodes[np.argsort(-masses[nodes], kind="stable")]
        large = int((masses[others] >= _LARGE * masses[others].sum()).sum())
        end = after(_TELLING, deadline)
        for node, difference in zip(others[:large].tolist(), differences(others[:large]), strict=True):
            share, others = share + difference * float(masses[node]), others[1:]
            if end.passed:
                break
        mean = _mean(differences(others[_by_mass(masses[others])]), deadline)
        return Told(len(nodes), share + mean * float(masses[others].sum()), making, checking)

    def _box(self, splits: Splits, parents: NDArray[np.int64], node: int) -> Box:
        """The box of a node, by the way down to it."""
        above, box = [node], self._root.box
        while (node := int(parents[node])) >= 0:
            above.append(node)
        for one, half in pairwise(reversed(above)):
            box = _halves(box, int(splits.place[one]))[half - int(splits.first[one])]
        return box


def _words(
    units: Sequence[str],
    first: Sequence[int],
    unit: Sequence[int],
    half: Sequence[int],
    region: int = 0,
    path: tuple[int, ...] = (),
) -> Iterator[str]:
    """Of a region, and its parts, first that where the unit is at most 0; above it was cut by the units of ``path``."""
    if (parts := first[region]) < 0:
        yield f"H {path.index(half[region])}" if half[region] in path else _COUNTED
        return
    yield units[unit[region]]
    for part in (parts + 1, parts):
        yield from _words(units, first, unit, half, part, (*path, unit[region]))


def _best(splits: Splits, most: int) -> NDArray[np.int64]:
    return splits.best(most, _ALL_LIGHT / max(1, most))


def _most(later: float, told: Told) -> int:
    """How many leaves the checker has time for."""
    return max(_LEAST, int(later / max(told.checking, 1e-5)))


def _said(splits: Splits, best: NDArray[np.int64]) -> NDArray[np.float64]:
    """How much of each node is decided by the refinement's numbers, if that is said of it."""
    return np.where(best == UNFAIR, splits.mass, splits.known)


def _leaf(best: int, grown: Grown | None = None) -> Grown:
    """A leaf that claims to be counted, or to be unfair (`U`)."""
    grown = Grown() if grown is None else grown
    grown.claim = _COUNTED if best == FAIR else "U"
    return grown


def _halves(box: Box, place: int) -> tuple[Box, Box]:
    """A box cut in the middle of an attribute's positions, of which there are two or more."""
    (low, high), before, after_ = box[place], box[:place], box[place + 1 :]
    middle = (low + high) // 2
    return (*before, (low, middle), *after_), (*before, (middle + 1, high), *after_)
