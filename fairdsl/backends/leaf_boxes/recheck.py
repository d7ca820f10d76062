"""Claims about stored boxes of many trees, recomputed: all of them, or some that are drawn by what they claim.

What became of the part of a box that is not in its halves (*settled*) is computed again from that part alone, to the
end, and must come out exactly, for it depends on the trees alone. That so much of a box is fair (*bounded*) is
confirmed by any analysis that comes to no less: one look at the box, and where that is not enough a refinement of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.leaf_boxes.forest import Forest
from fairdsl.backends.leaf_boxes.kept import Nodes, share_of
from fairdsl.backends.leaf_boxes.kernels.records import FAIR, UNFAIR, VACUOUS, Integers
from fairdsl.backends.leaf_boxes.refinement import Refinement
from fairdsl.backends.leaf_boxes.sizes import Sizes
from fairdsl.backends.refining.recheck import Checked, Claimed, Recheck, said_of, sample

#: Times the work of looking at some boxes that refining them may take where one look does not confirm them.
_ROUNDS = (32, 512, 8192)
#: Relative difference that is the rounding of a recomputation; totals are moved outward by more, 2^-30.
_ROUNDING = 2.0**-32
#: Boxes that are computed again at once; and nodes that are visited of what was settled, beyond all of those before.
_AT_ONCE, _VISITS = 4096, 2**30

#: What is claimed of the part of a box that is settled, kind by kind.
_SETTLED = {"fair": FAIR, "unfair": UNFAIR, "vacuous": VACUOUS}

Ends = tuple[Integers, Integers]


def check(task: Forest, nodes: Nodes, how: Recheck, memory: int) -> Checked:
    """Recompute claims of a stored refinement; ValueError where one is not confirmed."""
    claims = [*_claims_of(task.sizes, nodes)]
    drawn, wrong = sample(claims, how)
    none = np.zeros(0, dtype=np.int64)
    for some in _some(np.unique(np.concatenate([drawn.get(name, none) for name in _SETTLED]))):
        _confirm_settled(task, nodes, some, memory)
    for some in _some(drawn.get("bounded", none)):
        _confirm_bounded(task, nodes, some, memory)
    lost, sampled = said_of(claims, drawn, wrong, how)
    return Checked(
        violating=lost["fair"] + lost["bounded"], falsified=lost["unfair"], vacuous=lost["vacuous"], sampled=sampled
    )


def _some(nodes: Integers) -> Iterator[Integers]:
    for start in range(0, len(nodes), _AT_ONCE):
        yield nodes[start : start + _AT_ONCE]


def _claims_of(sizes: Sizes, nodes: Nodes) -> Iterator[Claimed]:
    """The claims that the totals of a stored refinement rest on."""
    for name, kind in _SETTLED.items():
        some = np.flatnonzero(nodes.tally[:, kind] > 0)
        yield Claimed(name, some, share_of(nodes.tally[some, kind], sizes.total))
    # A bound counts where it says more than what lies below, and nothing above does.
    counts = nodes.shown > nodes.below
    reached = np.zeros(len(counts), dtype=np.bool_)
    reached[: nodes.starts[1] if len(nodes.starts) > 1 else 0] = True
    for start, stop in pairwise(nodes.starts):
        split = start + np.flatnonzero(nodes.inner[start:stop])
        first = stop + 2 * np.arange(len(split))
        reached[first] = reached[first + 1] = reached[split] & ~counts[split]
    # What is known of the roots was found here, before they were lent.
    reached[: nodes.starts[1] if len(nodes.starts) > 1 else 0] = False
    bounded = np.flatnonzero(reached & counts)
    yield Claimed("bounded", bounded, nodes.shown[bounded] - nodes.below[bounded])


def _confirm_settled(task: Forest, nodes: Nodes, some: Integers, memory: int) -> None:
    """Settle the parts of these nodes anew, to the end."""
    (low, high), owner = _parts(task.sizes, nodes, some)
    found = Refinement.of_boxes(task, low, high, memory=memory)
    limit = 4 * int(nodes.effort.sum()) + _VISITS
    while not found.finished and not found.full and found.nodes < limit:
        found.step()
    computed: NDArray[Any] = np.zeros_like(nodes.tally[some])
    np.add.at(computed, owner, found.of_roots()[0])
    wrong = (computed != nodes.tally[some]).any(axis=1)
    if not found.finished or wrong.any():
        _refuse(some[int(np.argmax(wrong))])


def _parts(sizes: Sizes, nodes: Nodes, some: Integers) -> tuple[Ends, Integers]:
    """What of each node is not in its halves, as disjoint boxes: all of a closed one, else what was taken off its ends;
    and of each box whose it is.
    """
    low, high = (ends[some].copy() for ends in nodes.given)
    left_low, left_high = (ends[some] for ends in nodes.left)
    closed = nodes.closed[some]
    found = [(low[closed], high[closed], np.flatnonzero(closed))]
    for axis in np.flatnonzero(sizes.ordered).tolist():
        for ends, left, other in ((high, left_low, low), (low, left_high, high)):
            rows = np.flatnonzero(~closed & (left[:, axis] != other[:, axis]))
            box = {id(low): low[rows], id(high): high[rows]}
            box[id(ends)][:, axis] = left[rows, axis]
            found.append((box[id(low)], box[id(high)], rows))
            other[rows, axis] = left[rows, axis]
    lows, highs, owners = (np.concatenate(each) for each in zip(*found, strict=True))
    return (lows, highs), owners


def _confirm_bounded(task: Forest, nodes: Nodes, some: Integers, memory: int) -> None:
    """Look at what is left of these boxes, and refine those of which one look does not show as much."""
    left = some
    for more in (0, *_ROUNDS):
        found = Refinement.of_boxes(task, nodes.left[0][left], nodes.left[1][left], memory=memory)
        found.look_at_each()
        found.advance(found.nodes * more)
        left = left[found.of_roots()[1] < nodes.bound[left] * (1.0 - _ROUNDING)]
        if not len(left):
            return
    _refuse(left[0])


def _refuse(node: np.int64) -> None:
    raise ValueError(f"what its node {int(node)} claims does not come out where it is computed again")
