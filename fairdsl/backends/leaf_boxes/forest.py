"""The trees of a question as arrays for the kernels: one by one, each node with what leads to it, and their leaves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.leaf_boxes.graph import TERMINAL
from fairdsl.backends.leaf_boxes.kernels.cells import CHOICES, LEVELS
from fairdsl.backends.leaf_boxes.kernels.records import Effects, Leaves, Parts, Room, Scores, Trees
from fairdsl.backends.leaf_boxes.leaf_sets import Tree, leaves_of, merged
from fairdsl.backends.leaf_boxes.lowering import Lowered
from fairdsl.backends.leaf_boxes.sizes import Sizes
from fairdsl.backends.leaf_boxes.task import Task, task_of
from fairdsl.backends.leaf_boxes.unfolding import TooManyError, Unfolded

#: Parts of a box that wait to be counted.
_LEVELS = 256
#: Sizes along an axis, up to which floats are exact.
_EXACT = 2**53
#: How many times as many leaves as all assignments together the least and the greatest sum may have.
_LONGER = 2


@dataclass(frozen=True, slots=True, eq=False)
class Forest:
    """The arrays; ``sizes`` are those of what there is.

    ``worst`` is the least sum of all who are compared, of each tree's least leaf in every box, and the greatest one, as
    if they were two assignments; None where they have too many leaves.
    """

    sizes: Sizes
    trees: Trees
    leaves: Leaves
    worst: Forest | None = None

    def room(self) -> Room:
        """Scratch space for the kernels."""
        people, axes = len(self.trees.roots), len(self.trees.ordered)
        return Room(
            present=np.zeros(people, dtype=np.bool_),
            ends=np.zeros((people, 4), dtype=np.int64),
            before=np.zeros((people, 4), dtype=np.int64),
            gain=np.zeros((axes, self.trees.sums.shape[1])),
            sets=np.zeros(axes, dtype=np.int64),
            widest=np.zeros(axes, dtype=np.int64),
            reached=np.zeros_like(self.leaves.everywhere),
            union=np.zeros_like(self.leaves.everywhere),
            low=np.zeros(axes, dtype=np.int64),
            high=np.zeros(axes, dtype=np.int64),
            lows_along=np.zeros((people + 1, axes, self.trees.sums.shape[1]), dtype=np.int64),
            highs_along=np.zeros((people + 1, axes, self.trees.sums.shape[1]), dtype=np.int64),
            pair=np.zeros(2, dtype=np.int64),
            behind=np.zeros((self.trees.sums.shape[1] + 1, 4), dtype=np.int64),
        )

    def parts(self) -> Parts:
        """Scratch space for parts of a box that are counted."""
        people, axes, trees, words = (
            len(self.trees.roots),
            len(self.trees.ordered),
            len(self.leaves.starts) - 1,
            len(self.leaves.everywhere),
        )
        return Parts(
            low=np.zeros((_LEVELS, axes), dtype=np.int64),
            high=np.zeros((_LEVELS, axes), dtype=np.int64),
            size=np.zeros(_LEVELS, dtype=np.int64),
            trees=np.zeros((_LEVELS, trees), dtype=np.int64),
            number=np.zeros(_LEVELS, dtype=np.int64),
            reached=np.zeros((_LEVELS, words), dtype=np.uint64),
            base=np.zeros((_LEVELS, people, 4), dtype=np.int64),
            widest=np.zeros(3, dtype=np.int64),
        )

    def scores(self) -> Scores:
        """The sums of which means and variances are taken, with scratch space."""
        of = self.worst or self
        above, below = np.ones(len(of.trees.roots), dtype=np.bool_), np.ones(len(of.trees.roots), dtype=np.bool_)
        if of is not self:
            above[1] = below[0] = False
        return Scores(of.trees, of.leaves, of._effects(), above, below, own=of is self)

    def _effects(self) -> Effects:
        """Scratch space for effects of axes and of pairs of axes."""
        people, number = self.trees.roots.shape
        axes, parts = len(self.trees.ordered), self.trees.sums.shape[1]
        most = 64 * int(np.diff(self.leaves.starts).max(initial=1))
        widths = [
            int(rows) // (1 + line) for rows, line in zip(np.diff(self.leaves.rows), self.trees.ordered, strict=True)
        ]
        pairs = (sum(widths) ** 2 - sum(width**2 for width in widths)) // 2
        return Effects(
            low=np.zeros(axes, dtype=np.int64),
            high=np.zeros(axes, dtype=np.int64),
            reached=np.zeros_like(self.leaves.everywhere),
            union=np.zeros_like(self.leaves.everywhere),
            moments=np.zeros((people, 2)),
            width=np.zeros(axes, dtype=np.int64),
            edge=np.zeros((axes, parts), dtype=np.int64),
            numbers=np.zeros((axes, parts), dtype=np.int64),
            axes=np.zeros(axes, dtype=np.int64),
            segments=np.zeros(axes, dtype=np.int64),
            ends=np.zeros((axes, parts + 1), dtype=np.int64),
            size=np.zeros((axes, parts)),
            first=np.zeros((most, axes), dtype=np.int64),
            last=np.zeros((most, axes), dtype=np.int64),
            inverse=np.zeros((most, axes)),
            chance=np.zeros(most),
            value=np.zeros(most),
            amount=np.zeros(most),
            effect=np.zeros((axes, parts)),
            both=np.zeros((parts + 1, parts + 1)),
            column=np.zeros(parts),
            main=np.zeros((people + 1, axes, parts)),
            table=np.zeros((people + 1, pairs)),
            begins=np.zeros((axes, axes), dtype=np.int64),
            sums=np.zeros((people + 1, 2)),
            least=np.zeros(people + 1, dtype=np.int64),
            tested=np.zeros((people + 1, number), dtype=np.int64),
            deviation=np.zeros((people + 1, number)),
            rests=np.zeros(people + 1, dtype=np.int64),
            varies=np.zeros((people, axes, axes)),
            rest=np.zeros(people),
            chosen=np.zeros(axes, dtype=np.int64),
            levels=np.zeros(axes, dtype=np.int64),
            place=np.zeros(axes + 1, dtype=np.int64),
            sizes=np.zeros(LEVELS + 1),
            middle=np.zeros((LEVELS + 1, 2 * people)),
            held=np.zeros((LEVELS + 1, people, axes, parts)),
            between=np.zeros(people),
            more=np.zeros(people),
            spread=np.zeros((CHOICES, 2, people + 1)),
            others=np.zeros(CHOICES),
            part=np.zeros((axes, parts)),
            rounding=np.array([2 * (number + 2 * parts + 6 * most + 4 * axes + 32) * 8 * (most + parts) * 2.0**-53]),
            steps=np.zeros(1, dtype=np.int64),
            gained=np.zeros((parts, 4)),
        )


def forest_of(lowered: Lowered) -> Forest | None:
    """The trees, where sums of one value of each decide, all that differ are compared, and sums fit into 64 bits."""
    return None if (task := task_of(lowered)) is None else unfolded_of(task)


def unfolded_of(task: Task) -> Forest | None:
    """The trees of a task; None where they are too large."""
    sizes = task.sizes()
    try:
        conditions = task.roots[:, -1], task.among
        unfolded = Unfolded(sizes, task.yes, task.no, task.roots[:, :-1], task.values, conditions)
    except TooManyError:
        return None
    own = unfolded.trees()
    if (leaves := _leaves(own, sizes)) is None:
        return None
    worst = unfolded.worst(_asked(task), _LONGER * sum(int(tree.whose.sum()) for tree in own))
    trees = Trees(
        **unfolded.tables(),
        inside=task.inside,
        ordered=sizes.ordered,
        sums=_sums(sizes),
        precise=all(int(each[-1]) < _EXACT for each in sizes.sums),
        limits=np.array((task.below, task.above), dtype=np.int64),
    )
    least = None if worst is None else _leaves(unfolded.listed(worst), sizes)
    sums = None if least is None else Forest(sizes, trees._replace(roots=np.array(worst)), least)
    return Forest(sizes, trees, leaves, sums)


def _asked(task: Task) -> Sequence[int]:
    """The assignments that somebody who is asked about may have; all, where there are none."""
    never = [task.axis[node] == TERMINAL and node != task.among for node in task.roots[:, -1].tolist()]
    return [person for person, absent in enumerate(never) if not absent] or range(len(never))


def _leaves(trees: Sequence[Tree], sizes: Sizes) -> Leaves | None:
    return leaves_of(merged(trees, sizes.ordered), sizes.ordered, [len(each) for each in sizes.parts])


def _sums(sizes: Sizes) -> NDArray[np.float64]:
    """Running sums of the parts' sizes along each axis."""
    longest = max((len(each) for each in sizes.sums), default=1)
    sums = np.zeros((len(sizes.axes), longest))
    for axis, each in enumerate(sizes.sums):
        sums[axis, : len(each)] = each.astype(np.float64)
        sums[axis, len(each) :] = sums[axis, len(each) - 1]
    return sums


def put_together(
    trees: Sequence[Tree], sizes: Sizes, limits: tuple[int, int], *, moments: bool = False
) -> Forest | None:
    """Trees about everybody that are given by their leaves; None where they are too large.

    Whether means and variances are taken of them is said by ``moments``.
    """
    leaves = leaves_of(trees, sizes.ordered, [len(each) for each in sizes.parts])
    if leaves is None:
        return None
    people = trees[0].whose.shape[1] if trees else 1
    node = np.zeros(1, dtype=np.int64)
    columns = dict.fromkeys(("cut", "yes", "no"), node)
    among = Trees(
        **columns,
        axis=node + TERMINAL,
        value=node + 1,
        roots=np.zeros((people, len(trees)), dtype=np.int64),
        conditions=np.zeros(people, dtype=np.int64),
        inside=np.zeros(people, dtype=np.bool_),
        ordered=sizes.ordered,
        sums=_sums(sizes),
        precise=moments and all(int(each[-1]) < _EXACT for each in sizes.sums),
        limits=np.array(limits, dtype=np.int64),
    )
    return Forest(sizes, among, leaves)
