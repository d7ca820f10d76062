"""The boxes of a cover as a tree that grows: where each was cut, and what is said of those that were not.

It is kept where boxes are to be written to a file (:mod:`.kept`); who only wants bounds forgets boxes that are decided.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.rates.frontier import Open
from fairdsl.backends.rates.judged import Judged, Known

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Said = NDArray[np.uint8]

#: What is said of a box: the condition holds everywhere in it, or nowhere; so does the event. ``LISTED``: that is said
#: of each of its atoms instead. ``OPEN``: it waits to be cut. What is neither that nor closed, nobody can cut.
YES, NO, CERTAIN, IMPOSSIBLE, LISTED, OPEN = (1 << bit for bit in range(6))


def said_of(judged: Judged) -> Said:
    """What is said of boxes, as bits."""
    look = judged.look
    said = judged.yes * YES + judged.no * NO + look.certain * CERTAIN + look.impossible * IMPOSSIBLE
    return np.asarray(said, dtype=np.uint8)


def closed(said: Said) -> NDArray[np.bool_]:
    """Of which nothing is open."""
    decided = (said & (CERTAIN | IMPOSSIBLE)) != 0
    return np.asarray(((said & NO) != 0) | (((said & YES) != 0) & decided), dtype=np.bool_)


@dataclass(slots=True)
class BoxTree:
    """Nodes in the order in which they came about, the roots first; halves are neighbours.

    Arrays are [room], of which the first ``count`` are nodes.
    """

    count: int
    #: The lower half of a box that was cut; -1 of others.
    first: IntArray
    #: Where it was cut, or is to be.
    column: IntArray
    at: IntArray
    said: Said
    #: Which part of its probability is favourable at least, and which is not.
    least: FloatArray
    less: FloatArray
    #: What is said of the atoms of boxes that are listed.
    atoms: dict[int, Said] = field(default_factory=dict)

    @classmethod
    def of(cls, roots: int) -> BoxTree:
        """Roots, of which nothing is said yet."""
        whole, real = np.zeros(roots, dtype=np.int64), np.zeros(roots)
        return cls(roots, whole - 1, whole, whole.copy(), whole.astype(np.uint8), real, real.copy())

    def some(self, nodes: IntArray) -> BoxTree:
        """Boxes that are not cut as the roots of a tree of their own."""
        return BoxTree(len(nodes), **{name: getattr(self, name)[nodes] for name in _ARRAYS})

    def copy(self) -> BoxTree:
        """The same, to grow by itself."""
        arrays = {name: getattr(self, name)[: self.count].copy() for name in _ARRAYS}
        return BoxTree(self.count, **arrays, atoms=dict(self.atoms))

    def cut(self, nodes: IntArray) -> IntArray:
        """Cut boxes where they are to be cut; their lower halves, and behind these the upper ones."""
        first = self.count + 2 * np.arange(len(nodes))
        self._grow(2 * len(nodes))
        self.first[nodes] = first
        return np.concatenate([first, first + 1])

    def say(self, nodes: IntArray, judged: Judged) -> None:
        """What was found out about boxes."""
        self.said[nodes] = said_of(judged)
        self.least[nodes], self.less[nodes] = judged.shares[:2]

    def wait(self, nodes: IntArray, column: IntArray, at: IntArray) -> None:
        """Boxes wait to be cut there."""
        self.said[nodes] |= OPEN
        self.column[nodes], self.at[nodes] = column, at

    def list(self, node: int, said: Said) -> None:
        """What is said of a box's atoms."""
        self.said[node], self.atoms[node] = LISTED, said

    def graft(self, hosts: IntArray, grown: BoxTree) -> IntArray:
        """Put what grew from some boxes that waited in their places; the numbers that its nodes have here."""
        number = np.concatenate([hosts, self.count + np.arange(grown.count - len(hosts))])
        self._grow(grown.count - len(hosts))
        for name in _ARRAYS:
            getattr(self, name)[number] = getattr(grown, name)[: grown.count]
        first = grown.first[: grown.count]
        self.first[number] = np.where(first < 0, -1, number[first])
        self.atoms |= {int(number[node]): said for node, said in grown.atoms.items()}
        return number

    def _grow(self, more: int) -> None:
        """Make room for more nodes, of which nothing is said."""
        size, self.count = self.count, self.count + more
        if self.count > len(self.first):
            added = BoxTree.of(2 * self.count - size)
            for name in _ARRAYS:
                setattr(self, name, np.concatenate([getattr(self, name)[:size], getattr(added, name)]))


_ARRAYS = tuple(each.name for each in fields(BoxTree) if each.name not in ("count", "atoms"))


def lent(nothing: Known, waiting: Open) -> Known:
    """A state of some open boxes, and of a tree of its own that begins with them."""
    if nothing.tree is None:
        return replace(nothing, open=waiting)
    numbered = replace(waiting, node=np.arange(len(waiting)))
    return replace(nothing, open=numbered, tree=nothing.tree.some(waiting.node))


def grafted(before: Known, found: Sequence[Known]) -> tuple[BoxTree | None, list[Open]]:
    """The tree that there was when boxes were dealt out in turn, with what became of them; and which boxes are open."""
    if before.tree is None:
        return None, [each.open for each in found]
    whole, waiting = before.tree.copy(), list[Open]()
    for part, each in enumerate(found):
        assert each.tree is not None, "parts keep what the whole keeps"
        number = whole.graft(before.open.node[part :: len(found)], each.tree)
        waiting.append(replace(each.open, node=number[each.open.node]))
    return whole, waiting
