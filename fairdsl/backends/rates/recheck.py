"""What is said of stored boxes, found out again: of all of them, or of some that are drawn by what they decide.

A claim is confirmed by any analysis that comes to no less: one look at the box, and where that is not enough a
refinement of it. Nothing is given for rounding, which whoever writes a file allows for: a claim about all of a box is
wrong where it is about all but one person in it. Claims are about probabilities, so all of them together can be wrong
by what is drawn from only.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.rates.box_tree import LISTED, OPEN, BoxTree
from fairdsl.backends.rates.cover import Cover
from fairdsl.backends.rates.judged import Judged, Known
from fairdsl.backends.rates.kept import Box, atoms_in, boxes, said_in
from fairdsl.backends.refining.recheck import Claimed

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

#: Boxes that a box may be cut into where one look does not confirm what is said of it.
_ROUNDS = (64, 512, 4096)


def claimed(kind: str, tree: BoxTree, mass: FloatArray) -> Claimed:
    """The boxes of which something is said, and the probability of each."""
    said = tree.said[: tree.count]
    about = (said & ~np.uint8(OPEN)) != 0
    about |= (tree.least[: tree.count] > 0) | (tree.less[: tree.count] > 0)
    nodes = np.flatnonzero(about & (mass > 0))
    return Claimed(kind, nodes, mass[nodes])


def confirm(cover: Cover, begun: Known, tree: BoxTree, nodes: IntArray) -> None:
    """Find out again what is said of some boxes; ValueError where it is more than comes out."""
    wanted = np.zeros(tree.count, dtype=np.bool_)
    wanted[nodes] = True
    here = cover.state()
    try:
        for box in boxes(tree, begun.open):
            if len(rows := np.flatnonzero(wanted[box.node])):
                _confirm(cover, tree, box, rows)
    finally:
        cover.take(here)


def _confirm(cover: Cover, tree: BoxTree, box: Box, rows: IntArray) -> None:
    some = Box(box.node[rows], box.start[rows], box.stop[rows], box.root[rows])
    listed = tree.said[some.node] == LISTED
    for row in np.flatnonzero(listed).tolist():
        atoms, decided = atoms_in(cover, tree, some, row), cover.points.decided(some.start[row], some.stop[row])
        claims = (atoms.yes, atoms.no, atoms.look.certain, atoms.look.impossible)
        come_out = (decided.yes, decided.no, decided.certain, decided.impossible)
        if any((claim & ~true).any() for claim, true in zip(claims, come_out, strict=True)):
            _refuse(some.node[row])
    said = said_in(cover, tree, some)
    found = cover.judged(some.start, some.stop, some.root, said.mass)
    less = [true < claim for claim, true in zip(said.shares, found.shares, strict=True)]
    for row in np.flatnonzero(np.any(less, axis=0) & ~listed).tolist():
        _refine(cover, said.at(np.array([row])), some.node[row])


def _refine(cover: Cover, said: Judged, node: np.int64) -> None:
    """Cut a box until as much of it is decided as is said; ValueError where that does not come about."""
    nothing = cover.emptied()
    shares = [float(share[0]) for share in said.shares]
    mass = cover.probabilities(said.mass).sum()
    for most in _ROUNDS:
        cover.take(nothing)
        cover.place(said.start, said.stop, said.root, np.zeros(1, dtype=np.int64))
        while not cover.finished and cover.boxes - nothing.boxes < most:
            cover.improve()
        found = cover.probabilities(cover.counted()).sum(axis=(1, 2)).tolist()
        if all(
            cover.all_of_it(place) if share == 1.0 else true >= share * mass
            for place, (share, true) in enumerate(zip(shares, found, strict=True))
        ):
            return
    _refuse(node)


def _refuse(node: np.int64) -> None:
    raise ValueError(f"what its node {int(node)} claims does not come out where it is computed again")
