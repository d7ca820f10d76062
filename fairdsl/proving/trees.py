"""Grows proofs about trees, whole numbers and categories where everybody of the domain is asked about.

Boxes are cut by the same bounds that :class:`fairdsl_verify.forest.Forest` has, compiled and in whole numbers, so
whatever they settle the checker settles as well. Trees that meet in few ways are put together first, in both. Means and
variances of other boxes are bounded in floats, and the checker computes them: what it finds is no less, but for what
floats round.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise
from math import inf
from time import thread_time

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.contract import Observer
from fairdsl.backends.leaf_boxes import KERNELS, Cuts, Splitting
from fairdsl.backends.leaf_boxes import Tree as Leaves
from fairdsl.clock import Deadline
from fairdsl.proving.grown import Grown, Wanted
from fairdsl.proving.prover import grow, line_of
from fairdsl_verify import RejectedError
from fairdsl_verify.forest import Forest, Known, Tree
from fairdsl_verify.moments import planned
from fairdsl_verify.tree import Checker, Node, Totals

#: Axes at most, for sets of them are bits; sums stay below.
_AXES, _FITS = 62, 2**61

#: How much more than is wanted is proved, for floats tell when that is.
_BEYOND = 1e-9

#: Terms of leaves at most, of a box that is counted.
_TERMS_OF_BOX = 2.0**19

#: Boxes at most: more take too much memory. If the checker has no time for enough of them, so much more is to be known.
_BOXES, _MORE = 8_000_000, 0.005

#: Seconds of the checker, at most; for a box that ranges settle, and for each two leaves of one that is counted, before
#: some of either are tried: so many, and each three times where that takes no more than so many seconds.
_SECONDS, _OF_BOX, _OF_TWO = 150.0, 50e-6, 15e-9
_TRIED, _COUNTED, _QUICK = 96, 16, 0.01


def many_at_a_time(checker: Checker) -> bool:
    """Whether it is about trees, whole numbers and categories, without conditions, and each two are compared."""
    question, net = checker.question, checker.net
    free = all(each.op == "and" and not each.parts for each in (question.where, question.target))
    components = checker.components(range(len(checker.assignments)), checker.root().box)
    compared = len(components) == 1 and len(components[0]) > 1
    whole = not any(each.real for each in question.attributes) and not question.loose
    return free and compared and whole and isinstance(net, Forest) and not net.margin


@dataclass(frozen=True)
class Planted:
    """A tree of boxes in arrays, for there are millions: what is above it, and of each box its first half and its line.

    Behind the first half stands the other one; it is -1 where there is none.
    """

    above: tuple[str, ...]
    child: NDArray[np.int64]
    text: NDArray[np.int32]
    texts: Sequence[str]

    def lines(self) -> Iterator[str]:
        """The nodes in preorder."""
        yield from self.above
        child, text, waiting = self.child.data, self.text.data, [0]
        while waiting:
            box = waiting.pop()
            yield self.texts[text[box]]
            if (first := child[box]) >= 0:
                waiting += (first + 1, first)


def grow_trees(
    checker: Checker, deadline: Deadline, observer: Observer, wanted: Wanted
) -> tuple[Planted | Grown, Totals]:
    """A tree of splits at tests, and what its leaves come to; whatever is open at the deadline stays so.

    It ends where as much is fair and unfair as is wanted. Where trees are too large, or kernels are late, boxes are cut
    one by one.
    """
    lowering = _Lowering(checker)
    splitting = lowering.splitting() if KERNELS.ready(observer, deadline) else None
    if splitting is None:
        return grow(checker, deadline)
    lowering.count(splitting)
    fair, unfair = (float(share) + _BEYOND for share in wanted)
    enough = fair, unfair if wanted[1] else 0.0
    splitting.go_on(deadline, _BOXES, enough)
    limits = lowering.seconds(splitting, enough), _SECONDS, enough
    while splitting.waiting and splitting.boxes < _BOXES and not deadline.passed and not splitting.shows(*limits):
        splitting.go_on(deadline, _BOXES, (splitting.known[0] + _MORE, 0.0))
    cuts = splitting.cuts(*limits)
    alike, apart = (lowering.idle * size for size in splitting.sizes(cuts))
    totals = Totals(fair=alike, unfair=apart, open=checker.mass(checker.root()) - alike - apart, somebody=True)
    return lowering.planted(splitting.groups, cuts), totals


class _Lowering:
    """The checker's trees by their leaves, over the positions between which no test tells people apart."""

    def __init__(self, checker: Checker) -> None:
        assert isinstance(checker.net, Forest)
        self._checker, self._net, self._question = checker, checker.net, checker.question
        (self._constant, self._trees), attributes = self._net.start, self._question.attributes
        cuts = {at: sorted({c for tree in self._trees for c in tree.cuts(at)}) for at in self._question.shared}
        #: The attributes that are tested, and where each part of them begins; behind these the end.
        self._axes = [at for at, found in cuts.items() if found]
        self._begins = [[0, *cuts[at], attributes[at].size] for at in self._axes]
        #: How many units there are in each of the smallest boxes, by attributes that nothing tests.
        self.idle = 1
        for at in cuts:
            self.idle *= attributes[at].size if not cuts[at] else 1

    def splitting(self) -> Splitting | None:
        """Nothing known yet of the domain; None where numbers or trees are too large."""
        largest = abs(self._constant) + sum(max(abs(tree.low), abs(tree.high)) for tree in self._trees)
        if largest >= _FITS or len(self._axes) > _AXES:
            return None
        below = -self._constant - (not self._net.zero_is_low)
        parts = [[end - begin for begin, end in pairwise(each)] for each in self._begins]
        return Splitting.of([self._leaves(at, tree) for at, tree in enumerate(self._trees)], parts, (below, below + 1))

    def count(self, splitting: Splitting) -> None:
        """Let boxes be counted by the least and the greatest sum, unless the whole is too much for the checker."""
        try:
            worst, terms = self._worst(splitting.groups)
        except RejectedError:
            return
        if worst and terms <= _TERMS_OF_BOX:
            splitting.bound_by(worst)

    def _worst(self, groups: Sequence[Sequence[int]]) -> tuple[list[Leaves], float]:
        """The trees of the least sum and of the greatest one, as of two assignments, and how many terms they have.

        Raises RejectedError where the checker does not count the whole.
        """
        known, numbers = self._together(groups), range(len(self._question.assignments))
        ends = [(0, attribute.size) for attribute in self._question.attributes]
        sides = [[self._net.worst(tree, numbers, made) for tree in known[1]] for made in (min, max)]
        for trees in sides:
            # A half of a box has no more terms, nor more pairs or cells of them, than the box.
            for _ in planned([leaf for tree in trees for leaf in tree.reached(ends, {})], ends):
                pass
        worst = []
        for number, (least, most) in enumerate(zip(*sides, strict=True)):
            # Trees that test nothing that differs are the same for both.
            for tree, side in ((least, [True, least is most]), (most, [False, True]))[: 1 + (least is not most)]:
                leaves = self._leaves(number, tree)
                worst.append(replace(leaves, whose=np.tile(side, (len(leaves), 1))))
        return worst, sum(float((2.0 ** self._narrow(tree)).sum()) for tree in worst)

    def _together(self, groups: Sequence[Sequence[int]]) -> Known:
        """What the domain has left of the trees, once some are one. Raises RejectedError where these are too large."""
        known = self._net.start
        for line in _put_together(groups, len(self._trees)):
            known = self._net.added(known, [int(text) for text in line.split(" ")[1:]])
        return known

    def seconds(self, splitting: Splitting, enough: tuple[float, float]) -> tuple[float, float]:
        """Of the checker, for a box that ranges settle, with the cuts that make it, and for each two leaves of others.

        It is timed on some of the boxes that show enough, for from model to model it differs by ten times.
        """
        cuts = splitting.cuts((_OF_BOX, _OF_TWO), inf, enough)
        planted, of_box, of_two = self.planted(splitting.groups, cuts), _OF_BOX, _OF_TWO
        halved, counted = np.flatnonzero(cuts.child >= 0), np.flatnonzero(cuts.counted)
        ranged = int((cuts.alike | (cuts.above >= 0)).sum())
        with suppress(RejectedError):  # it is said once all is written
            if len(halved) and ranged:
                of_box = self._timed(splitting, planted, halved, _TRIED) / ranged
            if len(counted):
                leaves = splitting.leaves(counted).astype(np.float64)
                of_two = self._timed(splitting, planted, counted, _COUNTED) / float((leaves**2).sum())
        return of_box, of_two

    def _timed(self, splitting: Splitting, planted: Planted, boxes: NDArray[np.int64], tried: int) -> float:
        """About how many seconds the checker takes for the lines of boxes; of those that are cut, with their halves'.

        The first boxes are the largest, and take longest, so of these more are tried.
        """
        root, together, took = self._checker.root(), self._together(splitting.groups), 0.0
        behind = np.unique(np.geomspace(1, len(boxes), tried).astype(np.int64)).tolist()
        for begin, end in pairwise([0, *behind]):
            box = int(boxes[(begin + end) // 2])
            ends, known = list(root.box), together
            for at, begins, low, high in zip(self._axes, self._begins, *splitting.ends(box), strict=True):
                ends[at] = begins[low], begins[high] - 1
                known = self._net.narrowed(known, at, ends[at])
            node, quickest = Node(tuple(ends), root.admitted, known), inf
            for _ in range(3):  # the machine may have been elsewhere
                began = thread_time()
                self._checked(planted, box, node)
                quickest = min(quickest, thread_time() - began)
                if quickest > _QUICK:
                    break
            took += quickest * (end - begin)
        return took

    def _checked(self, planted: Planted, box: int, node: Node) -> None:
        """What the checker does of a box; of one that is cut, of its halves that ranges settle, too."""
        words, first = planted.texts[planted.text[box]].split(" "), int(planted.child[box])
        if first < 0:
            self._checker.leaf(node, words, Totals())
            return
        for half, below in enumerate(self._checker.halves(node, words), first):
            claim = planted.texts[planted.text[half]].split(" ")
            if claim[0] in "=U":
                self._checker.leaf(below, claim, Totals())

    def _narrow(self, tree: Leaves) -> NDArray[np.int64]:
        """In how many attributes each leaf has not all positions."""
        whole = np.array([len(each) - 1 for each in self._begins])
        return np.asarray(((tree.low > 0) | (tree.high < whole)).sum(axis=1))

    def _leaves(self, number: int, tree: Tree) -> Leaves:
        """The leaves of a tree: from which part to which one of each axis, and with which assignments."""
        assignments = np.array(self._question.assignments, dtype=np.int64).reshape(len(self._question.assignments), -1)
        found, whole = [], [(0, len(each) - 1) for each in self._begins]
        waiting = [(tree, whole, np.ones(len(assignments), dtype=np.bool_))]
        while waiting:
            node, ends, whose = waiting.pop()
            if not whose.any():
                continue
            if not node.reads:
                found.append((ends, node.low, whose))
            elif node.place in self._question.differ:
                before = assignments[:, self._question.differ.index(node.place)] < node.cut
                waiting += [(node.below[0], ends, whose & before), (node.below[1], ends, whose & ~before)]
            else:
                axis = self._axes.index(node.place)
                (low, high), cut = ends[axis], bisect_left(self._begins[axis], node.cut)
                halves = zip(node.below, ((low, cut), (cut, high)), strict=True)
                waiting += [(half, [*ends[:axis], run, *ends[axis + 1 :]], whose) for half, run in halves]
        runs = np.array([ends for ends, _, _ in found], dtype=np.int64).reshape(len(found), -1, 2)
        return Leaves(
            low=runs[:, :, 0],
            high=runs[:, :, 1],
            value=np.array([value for _, value, _ in found], dtype=np.int64),
            whose=np.array([whose for _, _, whose in found]),
            members=(number,),
        )

    def planted(self, groups: Sequence[Sequence[int]], cuts: Cuts) -> Planted:
        """The lines that put trees together, and below them how boxes are cut."""
        people = len(self._question.assignments)
        said = np.where(cuts.above >= 0, cuts.above * people + cuts.below, -1 - cuts.alike - 2 * cuts.counted)
        codes, leaf = np.unique(said, return_inverse=True)
        texts = ["?=~"[-1 - code] if code < 0 else f"U {code // people} {code % people}" for code in codes.tolist()]
        first = []
        for at, begins in zip(self._axes, self._begins, strict=True):
            first.append(len(texts) - 1)  # no box is cut before the first part
            texts += [line_of(at, begin - 1) for begin in begins[1:-1]]
        text = np.where(cuts.child >= 0, np.array([*first, 0])[cuts.axis] + cuts.cut, leaf)
        return Planted(tuple(_put_together(groups, len(self._trees))), cuts.child, text.astype(np.int32), texts)


def _put_together(groups: Sequence[Sequence[int]], count: int) -> Iterator[str]:
    """The lines that make each group of trees one: it stands behind all others, which are numbered anew."""
    left = list(range(count))
    for group in groups:
        if len(group) > 1:
            yield " ".join(["+", *(str(left.index(number)) for number in group)])
            left = [*(number for number in left if number not in group), -1]
