"""The trees of an ensemble as arrays, and where individuals or boxes of them arrive."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.models.float32.call import Call
from fairdsl.models.float32.precision import Precision
from fairdsl.models.float32.values import NoBoundError, Rounded

__all__ = ["Forest", "forest_of"]

Floats = NDArray[np.float64]
Places = NDArray[np.intp]
Booleans = NDArray[np.bool_]

#: Tests, by the number that stands for them; of leaves none.
_MODES = {"BRANCH_LEQ": 0, "BRANCH_LT": 1, "BRANCH_GTE": 2, "BRANCH_GT": 3, "BRANCH_EQ": 4, "BRANCH_NEQ": 5, "LEAF": 6}
_LEAF, _EQUAL, _DIFFERENT = 6, 4, 5
#: What a sum of float64 numbers cannot need.
_DEEPEST = 1 << 20


@dataclass(frozen=True, eq=False)
class Forest:
    """Nodes by their places in arrays; ``yes`` and ``no`` of a leaf are the leaf itself.

    ``votes`` [nodes, columns] are the sums of the votes of a leaf, ``terms`` [columns] how many votes a column gets at
    most; ``always``: columns that some tree votes for whichever of its leaves is reached.
    """

    mode: NDArray[np.int8]
    feature: Places
    threshold: Floats
    yes: Places
    no: Places
    roots: Places
    votes: Floats
    terms: Floats
    voted: Booleans
    always: Booleans
    negative: bool

    @property
    def features(self) -> int:
        """The last feature that a test looks at."""
        tests = self.mode != _LEAF
        return int(self.feature[tests].max()) if tests.any() else -1

    @cached_property
    def levels(self) -> tuple[Places, ...]:
        """The nodes by their depth."""
        found, level = [], self.roots
        while level.size:
            found.append(level)
            inner = level[self.mode[level] != _LEAF]
            level = np.concatenate([self.yes[inner], self.no[inner]])
            if len(found) > _DEEPEST or sum(len(nodes) for nodes in found) > len(self.mode):
                raise NoBoundError("its nodes do not make trees")
        return tuple(found)

    @cached_property
    def _below(self) -> tuple[Floats, Floats]:
        """The least and the greatest votes of the leaves below each node."""
        low, high = self.votes.copy(), self.votes.copy()
        for level in self.levels[::-1]:
            inner = level[self.mode[level] != _LEAF]
            low[inner] = np.minimum(low[self.yes[inner]], low[self.no[inner]])
            high[inner] = np.maximum(high[self.yes[inner]], high[self.no[inner]])
        return low, high

    @cached_property
    def _quantum(self) -> int | None:
        """The least e with every vote a multiple of 2**-e; None where there is none below 1000."""
        present = self.votes[self.votes != 0]
        if not present.size:
            return 0
        mantissas, exponents = np.frexp(np.abs(present))
        whole = np.ldexp(mantissas, 53).astype(np.int64)
        trailing = np.log2((whole & -whole).astype(np.float64)).astype(np.int64)
        found = int((53 - exponents.astype(np.int64) - trailing).max())
        return found if abs(found) < 1000 else None

    def exact_below(self, size: Floats, precision: Precision) -> Booleans:
        """Where sums of votes of that size are numbers of the type, and so are all partial sums."""
        if self._quantum is None or 2.0**-self._quantum < 2 * precision.least:
            return np.zeros(size.shape, dtype=np.bool_)
        return np.asarray(size * 2.0**self._quantum < 1 / precision.roundoff, dtype=np.bool_)

    def descend(self, value: Rounded) -> tuple[Places, Booleans]:
        """The leaf of each tree [individuals, trees] at the lower ends, and for whom all tests are certain."""
        rows = np.arange(len(value.low))[:, None]
        here = np.broadcast_to(self.roots, (len(value.low), len(self.roots)))
        certain = np.ones(len(value.low), dtype=np.bool_)
        points = value.low is value.high and not value.error.any()
        for _ in self.levels:
            feature, mode, threshold = self.feature[here], self.mode[here], self.threshold[here]
            true = _holds(mode, value.low[rows, feature], threshold)
            if not points:
                least, most = value.reach
                split = _splits(mode, least[rows, feature], most[rows, feature], threshold)
                certain &= ~split.any(axis=1)
            here = np.where(true, self.yes[here], self.no[here])
        return here, certain & np.isfinite(value.error).all(axis=1)

    def spread(self, value: Rounded, rows: Places) -> tuple[Floats, Floats, Floats, Floats]:
        """Of the sums of votes of these individuals [rows, columns]: least, greatest, how far apart the runtime's
        votes can be from the exact ones, and the size of the votes."""
        reached = np.zeros((len(rows), len(self.mode)), dtype=np.bool_)
        reached[:, self.roots] = True
        astray = np.zeros_like(reached)
        exact_low, exact_high, least, most = (end[rows] for end in (*value.ends, *value.reach))
        error = value.error[rows]
        for level in self.levels:
            nodes = level[self.mode[level] != _LEAF]
            feature, mode, threshold = self.feature[nodes], self.mode[nodes], self.threshold[nodes]
            either = _splits(mode, exact_low[:, feature], exact_high[:, feature], threshold)
            true = _holds(mode, exact_low[:, feature], threshold)
            reached[:, self.yes[nodes]] = reached[:, nodes] & (either | true)
            reached[:, self.no[nodes]] = reached[:, nodes] & (either | ~true)
            off = (error[:, feature] > 0) & _splits(mode, least[:, feature], most[:, feature], threshold)
            astray[:, nodes] = reached[:, nodes] & off
        return self._totals(reached, astray)

    def _totals(self, reached: Booleans, astray: Booleans) -> tuple[Floats, Floats, Floats, Floats]:
        low_below, high_below = self._below
        shape = len(reached), self.votes.shape[1]
        low, high, apart, size = (np.zeros(shape) for _ in range(4))
        for nodes in self._trees:
            leaves = nodes[self.mode[nodes] == _LEAF]
            for column in range(shape[1]):
                votes = self.votes[leaves, column]
                here = reached[:, leaves]
                least = np.where(here, votes, np.inf).min(axis=1)
                most = np.where(here, votes, -np.inf).max(axis=1)
                width = high_below[nodes, column] - low_below[nodes, column]
                off = np.where(astray[:, nodes], width, 0.0).max(axis=1)
                low[:, column] += least
                high[:, column] += most
                apart[:, column] += off
                size[:, column] += np.maximum(np.abs(least), np.abs(most))
        return low, high, apart, size

    @cached_property
    def _trees(self) -> tuple[Places, ...]:
        """The nodes of each tree."""
        owner = np.full(len(self.mode), -1)
        owner[self.roots] = np.arange(len(self.roots))
        for level in self.levels:
            inner = level[self.mode[level] != _LEAF]
            owner[self.yes[inner]] = owner[self.no[inner]] = owner[inner]
        order = np.argsort(owner, kind="stable")
        borders = np.searchsorted(owner[order], np.arange(1, len(self.roots)))
        return tuple(np.split(order, borders))


def _holds(mode: NDArray[np.int8], x: Floats, threshold: Floats) -> Booleans:
    """Whether the tests hold of the numbers."""
    return np.asarray(
        np.select(
            [mode == 0, mode == 1, mode == 2, mode == 3, mode == _EQUAL, mode == _DIFFERENT],
            [x <= threshold, x < threshold, x >= threshold, x > threshold, x == threshold, x != threshold],
            default=True,
        ),
        dtype=np.bool_,
    )


def _splits(mode: NDArray[np.int8], low: Floats, high: Floats, threshold: Floats) -> Booleans:
    """Whether the tests hold of some numbers from low to high, and of others not."""
    ordered = _holds(mode, low, threshold) != _holds(mode, high, threshold)
    among = (low <= threshold) & (threshold <= high) & (low < high)
    found = np.where((mode == _EQUAL) | (mode == _DIFFERENT), among, ordered)
    return np.asarray(found & (mode != _LEAF), dtype=np.bool_)


def forest_of(call: Call, prefix: str, columns: int) -> Forest:
    """The trees of a node, with the votes under ``class_`` or ``target_``."""
    names = _names(call.attribute("nodes_treeids", []), call.attribute("nodes_nodeids", []))
    place = {name: index for index, name in enumerate(names)}
    if len(place) != len(names) or not names or columns < 1:
        raise NoBoundError("its nodes do not make trees")
    try:
        mode = np.array([_MODES[name] for name in call.attribute("nodes_modes", [])], dtype=np.int8)
        tests = mode != _LEAF
        yes, no = (_children(call, f"nodes_{side}nodeids", names, place, tests) for side in ("true", "false"))
    except KeyError as problem:
        raise NoBoundError(f"its nodes do not make trees: {problem}") from problem
    feature = np.where(tests, np.array(call.attribute("nodes_featureids", []), dtype=np.intp), 0)
    below = np.zeros(len(names), dtype=np.int64)
    np.add.at(below, np.concatenate([yes[tests], no[tests]]), 1)
    if (below > 1).any() or (feature < 0).any():
        raise NoBoundError("its nodes do not make trees")
    roots = np.flatnonzero(below == 0)
    threshold = call.numbers("nodes_values")
    return Forest(mode, feature, threshold, yes, no, roots, **_votes(call, prefix, columns, place, mode, names))


def _names(trees: list[int], nodes: list[int]) -> list[tuple[int, int]]:
    return list(zip(trees, nodes, strict=True))


def _children(
    call: Call, attribute: str, names: list[tuple[int, int]], place: dict[tuple[int, int], int], tests: Booleans
) -> Places:
    numbers = call.attribute(attribute, [])
    listed = zip(names, numbers, tests.tolist(), strict=True)
    return np.array(
        [place[name[0], child] if test else index for index, (name, child, test) in enumerate(listed)], dtype=np.intp
    )


def _votes(
    call: Call,
    prefix: str,
    columns: int,
    place: dict[tuple[int, int], int],
    mode: NDArray[np.int8],
    names: list[tuple[int, int]],
) -> dict[str, Any]:
    """The votes by leaf and column."""
    voters = _names(call.attribute(f"{prefix}_treeids", []), call.attribute(f"{prefix}_nodeids", []))
    column = np.array(call.attribute(f"{prefix}_ids", []), dtype=np.intp)
    weight = call.numbers(f"{prefix}_weights")
    node = np.array([place.get(name, -1) for name in voters], dtype=np.intp)
    if (node < 0).any() or (mode[node] != _LEAF).any() or (column < 0).any() or (column >= columns).any():
        raise NoBoundError("a node votes that is no leaf")
    votes, count = np.zeros((len(mode), columns)), np.zeros((len(mode), columns))
    np.add.at(votes, (node, column), weight)
    np.add.at(count, (node, column), 1.0)
    tree = np.unique(np.array([name[0] for name in names]), return_inverse=True)[1]
    most = np.zeros((int(tree.max()) + 1, columns))
    np.maximum.at(most, tree, count)
    least = np.full(most.shape, np.inf)
    leaves = mode == _LEAF
    np.minimum.at(least, tree[leaves], count[leaves])
    return {
        "votes": votes,
        "terms": most.sum(axis=0),
        "voted": most.any(axis=0),
        "always": (least > 0).any(axis=0),
        "negative": bool((weight < 0).any()),
    }
