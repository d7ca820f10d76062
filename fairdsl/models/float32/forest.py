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
from fairdsl.numerics.tree_walk import TreeWalk

Floats = NDArray[np.float64]
Places = NDArray[np.intp]
Booleans = NDArray[np.bool_]

#: Tests, by the number that represents them; of leaves none.
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
        certain = np.asarray(np.isfinite(value.error).all(axis=1), dtype=np.bool_)
        if value.low is value.high and not value.error.any():
            return self._gone_down(value.low), certain
        rows = np.arange(len(value.low))[:, None]
        here = np.broadcast_to(self.roots, (len(value.low), len(self.roots)))
        least, most = value.reach
        for _ in self.levels:
            feature, mode, threshold = self.feature[here], self.mode[here], self.threshold[here]
            split = _splits(mode, least[rows, feature], most[rows, feature], threshold)
            certain &= ~split.any(axis=1)
            here = np.where(_holds(mode, value.low[rows, feature], threshold), self.yes[here], self.no[here])
        return here, certain

    def _gone_down(self, points: Floats) -> Places:
        """The leaf of each tree [individuals, trees] that exact points reach."""
        walk = TreeWalk.of(self.roots, self.feature, self.no, self.yes, len(self.levels) - 1)
        only = set(np.unique(self.mode[self.mode != _LEAF]).tolist())

        def answers(nodes: Places, x: Floats, _: int) -> Booleans:
            threshold = self.threshold.take(nodes, mode="clip")
            if only == {_MODES["BRANCH_LEQ"]}:
                return np.asarray(x <= threshold, dtype=np.bool_)
            return _holds(self.mode.take(nodes, mode="clip"), x, threshold)

        return walk.arrived(points, answers)

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
    """The trees of a node, with the votes under ``class_`` or ``target_``; read once, and kept with the node."""
    key = (Forest, prefix, columns)
    if key not in call.node.kept:
        call.node.kept[key] = _forest(call, prefix, columns)
    forest: Forest = call.node.kept[key]
    return forest


def _forest(call: Call, prefix: str, columns: int) -> Forest:
    names = _Named.of(call.node.integers("nodes_treeids"), call.node.integers("nodes_nodeids"))
    if names is None or columns < 1:
        raise NoBoundError("its nodes do not make trees")
    modes = call.attribute("nodes_modes", [])
    if not set(modes) <= _MODES.keys():
        raise NoBoundError("its nodes do not make trees: some branch in an unknown way")
    mode = np.array([_MODES[name] for name in modes], dtype=np.int8)
    tests = mode != _LEAF
    yes, no = (_children(call, f"nodes_{side}nodeids", names, tests) for side in ("true", "false"))
    feature = np.where(tests, call.node.integers("nodes_featureids"), 0)
    below = np.bincount(np.concatenate([yes[tests], no[tests]]), minlength=len(mode))
    if (below > 1).any() or (feature < 0).any():
        raise NoBoundError("its nodes do not make trees")
    roots = np.flatnonzero(below == 0)
    threshold = call.numbers("nodes_values")
    return Forest(mode, feature, threshold, yes, no, roots, **_votes(call, prefix, columns, names, mode))


@dataclass(frozen=True, slots=True, eq=False)
class _Named:
    """Nodes by their tree and their number in it; ``order`` sorts them, ``tree`` is the rank of each one's tree."""

    trees: Places
    numbers: Places
    order: Places
    keys: Places
    tree: Places

    @classmethod
    def of(cls, trees: Places, numbers: Places) -> _Named | None:
        """None where two nodes have one name, or there are none."""
        if not len(trees) or len(trees) != len(numbers):
            return None
        (listed, tree), (all_numbers, number) = (np.unique(ids, return_inverse=True) for ids in (trees, numbers))
        key = tree * len(all_numbers) + number
        order = np.argsort(key)
        keys = key[order]
        return None if (keys[1:] == keys[:-1]).any() else cls(listed, all_numbers, order, keys, tree)

    def places(self, trees: Places, numbers: Places) -> Places:
        """Where the nodes of these names are; -1 where there is none."""
        found = np.zeros(len(trees), dtype=np.int64)
        there = np.ones(len(trees), dtype=np.bool_)
        for listed, wanted, size in ((self.trees, trees, len(self.numbers)), (self.numbers, numbers, 1)):
            rank = np.minimum(np.searchsorted(listed, wanted), len(listed) - 1)
            there &= listed[rank] == wanted
            found += rank * size
        place = np.minimum(np.searchsorted(self.keys, found), len(self.keys) - 1)
        return np.where(there & (self.keys[place] == found), self.order[place], -1)


def _children(call: Call, attribute: str, names: _Named, tests: Booleans) -> Places:
    found = names.places(call.node.integers("nodes_treeids"), call.node.integers(attribute))
    if (found[tests] < 0).any():
        raise NoBoundError("its nodes do not make trees: some branch ends nowhere")
    return np.where(tests, found, np.arange(len(tests)))


def _votes(call: Call, prefix: str, columns: int, names: _Named, mode: NDArray[np.int8]) -> dict[str, Any]:
    """The votes by leaf and column."""
    node = names.places(call.node.integers(f"{prefix}_treeids"), call.node.integers(f"{prefix}_nodeids"))
    column = call.node.integers(f"{prefix}_ids")
    weight = call.numbers(f"{prefix}_weights")
    if (node < 0).any() or (mode[node] != _LEAF).any() or (column < 0).any() or (column >= columns).any():
        raise NoBoundError("a node votes that is not a leaf")
    votes, count = np.zeros((len(mode), columns)), np.zeros((len(mode), columns))
    np.add.at(votes, (node, column), weight)
    np.add.at(count, (node, column), 1.0)
    most = np.zeros((len(names.trees), columns))
    np.maximum.at(most, names.tree, count)
    least = np.full(most.shape, np.inf)
    leaves = mode == _LEAF
    np.minimum.at(least, names.tree[leaves], count[leaves])
    return {
        "votes": votes,
        "terms": most.sum(axis=0),
        "voted": most.any(axis=0),
        "always": (least > 0).any(axis=0),
        "negative": bool((weight < 0).any()),
    }
