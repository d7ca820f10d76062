"""What a file keeps of a cover that grew from some open boxes: a tree of cuts with what is said of each uncut box.

A box is cut where the file says, so whoever knows the roots knows every box, and its probability is computed anew.
What is said of boxes are *claims* (:mod:`.recheck`). Docs: docs/jobs.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.rates.box_tree import CERTAIN, IMPOSSIBLE, LISTED, NO, OPEN, YES, BoxTree, Said, closed
from fairdsl.backends.rates.cover import Cover
from fairdsl.backends.rates.frontier import Open
from fairdsl.backends.rates.judged import Judged, Known, decided_one_by_one
from fairdsl.backends.rates.tree_bounds import NOWHERE, Look
from fairdsl.backends.refining.records import by_levels, flags, narrow, numbers_of, whole

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Kept = Mapping[str, NDArray[Any]]

#: Steps in which it is said which part of a box's probability is decided, rounded down; by more than whoever finds it
#: out again may round differently.
_STEPS, _ROUNDING = 2**16 - 1, 1e-9
#: Boxes of which what is said is counted at once.
_AT_ONCE = 1 << 14


def stored(begun: Known, known: Known) -> dict[str, NDArray[Any]]:
    """What a file keeps of a state that grew from what it was when it had ``begun``."""
    tree = known.tree
    assert tree is not None, "trees of jobs are kept"
    order = by_levels(tree.first, np.arange(len(begun.open)))
    inner = tree.first[order] >= 0
    uncut = order[~inner]
    said = tree.said[uncut]
    partly = uncut[_partly(said)]
    cut = order[inner | ((tree.said[order] & OPEN) != 0)]
    listed = [tree.atoms[node] for node in uncut[said == LISTED].tolist()]
    return {
        "inner": inner,
        "column": narrow(tree.column[cut]),
        "cut": narrow(tree.at[cut]),
        "said": said,
        "least": _code(tree.least[partly]),
        "less": _code(tree.less[partly]),
        "atoms": np.concatenate([np.zeros(0, dtype=np.uint8), *listed]),
        "boxes": np.array([known.boxes], dtype=np.int64),
    }


def _partly(said: Said) -> NDArray[np.bool_]:
    """Of which boxes it is said how much of them is decided."""
    return np.asarray(~closed(said) & (said != LISTED), dtype=np.bool_)


def _code(shares: FloatArray) -> NDArray[np.uint16]:
    surely = np.where(shares >= 1.0, 1.0, np.clip(shares, 0.0, 1.0) * (1.0 - _ROUNDING))
    code = np.floor(surely * _STEPS)
    return np.asarray(code - (code / _STEPS > surely), dtype=np.uint16)


@dataclass(frozen=True, slots=True)
class Box:
    """Boxes of one level that are not cut, [boxes]: their nodes and ranges."""

    node: IntArray
    start: IntArray
    stop: IntArray
    root: IntArray


def boxes(tree: BoxTree, roots: Open) -> Iterator[Box]:
    """The boxes of a tree that are not cut, some at once; ValueError where one is cut where nothing is."""
    node, start, stop, root = np.arange(len(roots)), roots.start, roots.stop, roots.root
    rows = np.arange(len(roots))
    while len(node):
        leaf = tree.first[node] < 0
        for some in range(0, int(leaf.sum()), _AT_ONCE):
            chosen = rows[leaf][some : some + _AT_ONCE]
            yield Box(node[chosen], start[chosen], stop[chosen], root[chosen])
        node, start, stop, root = node[~leaf], start[~leaf], stop[~leaf], root[~leaf]
        rows = np.arange(len(node))
        column, at = tree.column[node], tree.at[node]
        _demand(_inside(start, stop, column, at), "a box is cut where nothing is")
        node = np.stack([tree.first[node], tree.first[node] + 1], axis=1).ravel()
        start, stop, root = start.repeat(2, axis=0), stop.repeat(2, axis=0), root.repeat(2)
        stop[2 * rows, column] = start[2 * rows + 1, column] = at
        rows = np.arange(len(node))


def _inside(start: IntArray, stop: IntArray, column: IntArray, at: IntArray) -> bool:
    rows = np.arange(len(start))
    if not ((column >= 0) & (column < start.shape[1])).all():
        return False
    return bool(((start[rows, column] < at) & (at < stop[rows, column])).all())


def restored(cover: Cover, begun: Known, kept: Kept) -> tuple[BoxTree, FloatArray]:
    """Bring a cover to where a part is that had ``begun``: its tree, and the probability of each box that is not cut,
    [nodes].

    ValueError for what is no tree of these boxes, or says what nobody says.
    """
    tree = _tree(begun, kept)
    cover.take(replace(begun, open=begun.open.rows(slice(0, 0)), tree=tree))
    mass = np.zeros(tree.count)
    for box in boxes(tree, begun.open):
        judged = said_in(cover, tree, box)
        said = tree.said[box.node]
        mass[box.node] = cover.probabilities(judged.mass).sum(axis=1)
        cover.settle(judged, closed(said))
        open_ = np.flatnonzero(said & OPEN)
        column, at = tree.column[box.node[open_]], tree.at[box.node[open_]]
        _demand(_inside(box.start[open_], box.stop[open_], column, at), "a box is to be cut where nothing is")
        alive = judged.mass[open_].any(axis=1)
        cover.wait(judged.at(open_[alive]), column[alive], at[alive], box.node[open_[alive]])
        cover.leave(judged.at(np.flatnonzero(_partly(said) & ((said & OPEN) == 0))))
        for row in np.flatnonzero(said == LISTED).tolist():
            cover.count(atoms_in(cover, tree, box, row))
    cover.boxes = int(whole(kept, "boxes")[0])
    _demand(cover.boxes >= 0, "fewer boxes than none were weighed")
    return tree, mass


def said_in(cover: Cover, tree: BoxTree, box: Box) -> Judged:
    """Boxes with what is said of each as a whole."""
    said = tree.said[box.node]
    decided, none = closed(said), np.full(len(said), NOWHERE)
    certain, impossible = (said & CERTAIN) != 0, (said & IMPOSSIBLE) != 0
    least = np.where(decided, certain, tree.least[box.node])
    most = np.where(decided, ~impossible, 1.0 - tree.less[box.node])
    look = Look(certain, impossible, none, none, least.astype(np.float64), most.astype(np.float64))
    return cover.said(box.start, box.stop, box.root, (said & YES) != 0, (said & NO) != 0, look)


def atoms_in(cover: Cover, tree: BoxTree, box: Box, row: int) -> Judged:
    """The atoms of a box that is listed, with what is said of each."""
    start, stop = box.start[row], box.stop[row]
    said = tree.atoms[int(box.node[row])]
    listed = (stop - start)[sorted(cover.axes)].tolist()
    _demand(cover.points.few(start, stop) and len(said) == prod(listed), "atoms of a box are missing")
    look = decided_one_by_one((said & CERTAIN) != 0, (said & IMPOSSIBLE) != 0)
    first, last = cover.points.atoms(start, stop)
    return cover.said(first, last, np.full(len(said), box.root[row]), (said & YES) != 0, (said & NO) != 0, look)


def _tree(begun: Known, kept: Kept) -> BoxTree:
    """The tree, whose nodes are numbered level by level."""
    inner, roots = flags(kept, "inner"), np.arange(len(begun.open))
    numbers_of(inner, roots, len(roots))
    tree = BoxTree.of(len(inner))
    tree.first[inner] = len(roots) + 2 * np.arange(int(inner.sum()))
    said = whole(kept, "said").astype(np.uint8)
    both = (CERTAIN | IMPOSSIBLE, YES | NO)
    _demand(len(said) == int((~inner).sum()), "not everything is said of every box")
    _demand(not any(((said & pair) == pair).any() for pair in both), "a box is both the one and the other")
    alone = (said < 2 * OPEN) & (((said & LISTED) == 0) | (said == LISTED))
    _demand(bool(alone.all()) and not (closed(said) & ((said & OPEN) != 0)).any(), "something else is said of a box")
    tree.said[~inner] = said
    cut = inner | ((tree.said & OPEN) != 0)
    for name, key in (("column", "column"), ("at", "cut")):
        values = whole(kept, key)
        _demand(len(values) == int(cut.sum()), "cuts of boxes are missing")
        getattr(tree, name)[cut] = values
    partly = np.flatnonzero(~inner)[_partly(tree.said[~inner])]
    for name in ("least", "less"):
        codes = whole(kept, name)
        _demand(len(codes) == len(partly) and bool(((codes >= 0) & (codes <= _STEPS)).all()), "shares are missing")
        getattr(tree, name)[partly] = codes / _STEPS
    _demand(bool((tree.least + tree.less <= 1.0).all()), "more than all of a box is decided")
    _atoms(tree, whole(kept, "atoms"), np.flatnonzero(tree.said == LISTED), begun)
    return tree


def _atoms(tree: BoxTree, said: IntArray, listed: IntArray, begun: Known) -> None:
    """Give boxes that are listed what is said of their atoms, in order."""
    _demand(bool(((said >= 0) & (said < LISTED)).all()), "something else is said of an atom")
    if not len(listed):
        _demand(not len(said), "something is said of atoms that are not there")
        return
    counts = np.zeros(tree.count, dtype=np.int64)
    for box in boxes(tree, begun.open):
        counts[box.node] = (box.stop - box.start).prod(axis=1)
    ends = np.cumsum(counts[listed])
    _demand(int(ends[-1]) == len(said), "atoms of a box are missing")
    for node, (first, last) in zip(listed.tolist(), pairwise([0, *ends.tolist()]), strict=True):
        tree.atoms[node] = said[first:last].astype(np.uint8)


def _demand(fits: bool | np.bool_, otherwise: str) -> None:
    if not fits:
        raise ValueError(otherwise)
