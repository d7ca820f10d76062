"""Trees: ensembles of ai.onnx.ml, read out of a model's graph, and bounds of their sum on boxes.

The score is the sum of one leaf of every tree, in real arithmetic on the stored numbers. What onnxruntime makes of a
classifier of two classes whose leaves all vote for one entry: the second class where the sum exceeds 1/2 if no vote is
negative, and where it exceeds 0 otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import pairwise
from math import ceil, floor, lcm, prod
from typing import Any

from fairdsl_verify import reject, require
from fairdsl_verify.margin import of_threshold, of_trees
from fairdsl_verify.moments import Runs, variance
from fairdsl_verify.onnx_file import Graph, Node, tensor
from fairdsl_verify.question import MAYBE, Attribute, Box, Column, Model, integral, side_of

#: Lists of nodes, and of votes.
_NODES = ("treeids", "nodeids", "featureids", "modes", "values", "truenodeids", "falsenodeids")
_VOTES = ("treeids", "nodeids", "ids", "weights")
#: Leaves of two trees at most, times each other, of which one is made.
MOST_LEAVES = 4096
#: How a test comes out below the number that it compares with, at it, and above it.
_MODES = {
    "BRANCH_LEQ": (True, True, False),
    "BRANCH_LT": (True, False, False),
    "BRANCH_GTE": (False, True, True),
    "BRANCH_GT": (False, False, True),
    "BRANCH_EQ": (False, True, False),
    "BRANCH_NEQ": (True, False, True),
}


class Tree:
    """A tree, or what a box has left of one: a leaf, or what is below a test of one attribute.

    ``below[0]`` stands before the position ``cut``, ``below[1]`` from there on. The sum lies from ``low`` to ``high``;
    of ``reads`` bit i is set where attribute i is tested.
    """

    __slots__ = ("below", "cut", "high", "low", "place", "reads")

    def __init__(self, low: int, high: int, reads: int, place: int, cut: int, below: tuple[Tree, ...]):
        self.low, self.high, self.reads = low, high, reads
        self.place, self.cut, self.below = place, cut, below

    @staticmethod
    def leaf(value: int) -> Tree:
        """A tree without tests."""
        return Tree(value, value, 0, -1, 0, ())

    @staticmethod
    def of(place: int, cut: int, below: tuple[Tree, Tree]) -> Tree:
        """The tree of a test; where it does not matter how the test comes out, there is none."""
        one, other = below
        low = one.low if one.low < other.low else other.low
        high = one.high if one.high > other.high else other.high
        if low == high:
            return Tree.leaf(low)
        return Tree(low, high, one.reads | other.reads | 1 << place, place, cut, below)

    def within(self, place: int, low: int, high: int) -> Tree:
        """What is left where an attribute has positions from ``low`` to ``high``; of reals, any value between."""
        if not self.reads >> place & 1:
            return self
        if self.place == place and (high < self.cut or low >= self.cut):
            return self.below[low >= self.cut].within(place, low, high)
        first, second = self.below
        found = first.within(place, low, high), second.within(place, low, high)
        return self if found == self.below else Tree.of(self.place, self.cut, found)

    def cuts(self, place: int) -> Iterator[int]:
        """Where some test of an attribute changes."""
        if self.reads >> place & 1:
            if self.place == place:
                yield self.cut
            for each in self.below:
                yield from each.cuts(place)

    def at(self, point: Sequence[int]) -> int:
        """The leaf of somebody, given by positions."""
        tree = self
        while tree.reads:
            tree = tree.below[point[tree.place] >= tree.cut]
        return tree.low

    def leaves(self) -> int:
        """How many it has."""
        return sum(each.leaves() for each in self.below) or 1

    def reached(self, ends: Sequence[tuple[int, int]], runs: Runs) -> Iterator[tuple[int, Runs]]:
        """The leaves that somebody within such ends comes to, with the runs in which they are narrower."""
        if not self.reads:
            yield self.low, runs
            return
        begin, end = whole = runs.get(self.place, ends[self.place])
        for below, run in zip(self.below, ((begin, min(end, self.cut)), (max(begin, self.cut), end)), strict=True):
            if run[0] < run[1]:
                yield from below.reached(ends, {**runs, self.place: run} if run != whole else runs)


#: What a box has left of an ensemble: the sum of the trees of which one leaf is left, and the others.
Known = tuple[int, tuple[Tree, ...]]


@dataclass
class Sum:
    """What one look at a box comes to: which side the sum is on; whether nothing that differs matters to it.

    ``crossed``: how many units of a box so large are open at most; along an attribute none are counted.
    """

    side: int
    same: bool
    crossed: Callable[[Box, int, int | None], int]


class Forest:
    """The ensemble that a question and a model's file come to: the sum less what it is compared with."""

    def __init__(self, question: Model, graph: Graph) -> None:
        list(map(tensor, graph.others.values()))  # which rejects them
        node = trees_of(graph)[0]
        labels = node.op == "TreeEnsembleClassifier"
        if node.op not in ("TreeEnsembleClassifier", "TreeEnsembleRegressor"):
            reject(f"this program does not know the operator `{node.op}`")
        # Labels that are text stay text: two of them may be one number.
        made = _back(graph, graph.outputs[0], 1 if not labels else 8 if "classlabels_strings" in node.attributes else 7)
        if _back(graph, node.inputs[0], 1) != graph.input or made != node.outputs[0]:
            reject("the model is more than trees: between its input, them and its first output stands something else")
        if 0 < graph.width < len(question.reads):
            reject(f"the model reads {graph.width} columns where the question fills {len(question.reads)}")
        for ignored in ("nodes_hitrates", "nodes_missing_value_tracks_true"):  # nothing is missing
            node.listed(ignored)
        votes = {name: _listed(node, f"{'class' if labels else 'target'}_{name}") for name in _VOTES}
        roots, base, share = _Nodes(node, question, votes), _listed(node, "base_values"), Fraction(1)
        transform, how = node.one("post_transform", "NONE"), node.one("aggregate_function", "SUM")
        if len(base) > 1 or how not in (("SUM",) if labels else ("SUM", "AVERAGE")):
            reject(f"the trees have several base values, or are put together by {how}")
        if labels:  # which one is chosen before anything is transformed
            limit, self.upward = _label_of(node, question, negative=any(vote < 0 for vote in votes["weights"]))
            self.zero_is_low = True
        else:
            if question.of != "score" or node.one("n_targets", 1) != 1 or transform != "NONE":
                reject("the trees compute one score as it is, and the question asks for a label, or they do more")
            limit, share = Fraction(question.threshold), Fraction(1, len(roots.first) if how == "AVERAGE" else 1)
            self.zero_is_low, self.upward = question.relation in (">", "<="), question.relation in (">", ">=")
        node.all_seen()
        self._limit, self._roots, self._share = limit, len(roots.first), share
        self._votes = [*(vote * share for vote in roots.votes.values()), *base]
        constant = sum(base, -limit)
        #: What a score of 1 is here, and how far from the threshold one has to be to count.
        self.scale, self.margin = lcm(constant.denominator, *(vote.denominator for vote in self._votes)), 0
        self.constant = integral(constant * self.scale)
        self.question = question
        self.start = self._kept(self.constant, roots.trees(share * self.scale))
        for place, attribute in enumerate(question.attributes):
            self.start = self.narrowed(self.start, place, (0, attribute.size - 1))
        self._differing = sum(1 << place for place in question.differ)

    @staticmethod
    def _kept(constant: int, trees: Iterable[Tree]) -> Known:
        kept = []
        for tree in trees:
            if tree.reads:
                kept.append(tree)
            else:
                constant += tree.low
        return constant, tuple(kept)

    def rounding(self) -> Fraction:
        """What the sum of anybody is off by in float32."""
        most = (self._roots + 1) * max(map(abs, self._votes), default=Fraction(0))
        # Sums of votes are exact as averages are if they are these times a power of two.
        return of_trees(self.question, most, [*self._votes, self._share], self._roots) + of_threshold(self._limit)

    def narrowed(self, known: Known, place: int, ends: tuple[int, int]) -> Known:
        """What is left where an attribute has these positions."""
        constant, trees = known
        return self._kept(constant, (tree.within(place, *ends) if tree.reads >> place & 1 else tree for tree in trees))

    def added(self, known: Known, numbers: Sequence[int]) -> Known:
        """The same sum with these of the trees as one, behind all others: its extremes are theirs together."""
        constant, trees = known
        if len(set(numbers)) != len(numbers) or len(numbers) < 2 or not all(each < len(trees) for each in numbers):
            reject("trees are put together that are not there, or one with itself")
        total, *others = (trees[number] for number in numbers)
        for tree in others:
            if total.leaves() * tree.leaves() > MOST_LEAVES:
                reject("trees are put together that have too many leaves")
            total = self._joined(total, tree, int.__add__)
        return constant, (*(tree for at, tree in enumerate(trees) if at not in numbers), total)

    def _joined(self, one: Tree, other: Tree, made: Callable[[int, int], int]) -> Tree:
        """A tree whose leaves are what is made of those of two that somebody comes to."""
        if not one.reads and not other.reads:
            return Tree.leaf(made(one.low, other.low))
        top, rest = (one, other) if one.reads else (other, one)
        sides = zip(top.below, _sides(self.question.attributes[top.place], top.cut), strict=True)
        first, second = (self._joined(half, rest.within(top.place, *run), made) for half, run in sides)
        return Tree.of(top.place, top.cut, (first, second))

    def bounded(self, box: Box, only: Sequence[int], known: Known, slopes: Sequence[int] = ()) -> Sum:
        """The sum's side for some assignments of what differs, tree by tree; ``known`` is what the box has left."""
        low, trees = known
        high, moved = low, []
        for tree in trees:
            if tree.reads & self._differing:
                moved.append(tree)
            else:
                low, high = low + tree.low, high + tree.high
        found = []
        for number in only if moved else only[:1]:
            under = over = 0
            for tree in moved:
                for place, at in zip(self.question.differ, self.question.assignments[number], strict=True):
                    tree = tree.within(place, at, at)
                under, over = under + tree.low, over + tree.high
            found.append(side_of(low + under, high + over, self.margin, zero_is_low=self.zero_is_low))
        side = found[0] if len(set(found)) == 1 else MAYBE
        return Sum(side, side != MAYBE or not (moved or self.margin), partial(self._crossed, known, only))

    def worst(self, tree: Tree, only: Sequence[int], made: Callable[[int, int], int]) -> Tree:
        """What is made of a tree's leaves for some assignments of what differs: it tests nothing that differs."""
        found: list[Tree] = []
        for number in only if tree.reads & self._differing else only[:1]:
            mine = tree
            for place, at in zip(self.question.differ, self.question.assignments[number], strict=True):
                mine = mine.within(place, at, at)
            found = [self._joined(found[0], mine, made) if found else mine]
            require(found[0].leaves() <= MOST_LEAVES, "a leaf is counted that has too many leaves of a tree")
        return found[0]

    def _crossed(self, known: Known, only: Sequence[int], box: Box, mass: int, along: int | None) -> int:
        """How many units of a box are not on one side with all assignments, by the mean and variance of the worst sum.

        Of a sum with mean m and variance v at most v / (v + d^2) is at m - d or below, for d > 0 (Cantelli).
        """
        read = {place for tree in known[1] for place in range(len(box)) if tree.reads >> place & 1}
        if along is not None or any(self.question.attributes[place].real for place in read):
            reject("a leaf of trees is counted along an attribute, or they test a real one")
        ends = [(low, high + 1) for low, high in box]
        whole = prod(end - begin for begin, end in ends)
        for made, sign in ((min, 1), (max, -1)):
            leaves = [leaf for tree in known[1] for leaf in self.worst(tree, only, made).reached(ends, {})]
            mean = sum(
                value * prod(b - a for a, b in {**dict(enumerate(ends)), **runs}.values()) for value, runs in leaves
            )
            distance = sign * (known[0] * whole + mean) - self.margin * whole
            if distance > 0:
                spread = variance(leaves, ends)
                return -(-mass * spread // (spread + distance**2))
        return reject("a leaf of trees is counted, and the mean of the sum is on no side")

    def cuts(self, known: Known, place: int, ends: tuple[int, int]) -> Sequence[int]:
        """Positions from which on people of a range are told apart from those before."""
        return sorted({cut for tree in known[1] for cut in tree.cuts(place) if ends[0] < cut <= ends[1]})

    def high(self, known: Known, box: Box) -> int:
        """On which side all of a box are whom nothing tells apart, as far as that is known."""
        point = [low for low, _ in box]
        total = known[0] + sum(tree.at(point) for tree in known[1])
        return side_of(total, total, self.margin, zero_is_low=self.zero_is_low)


def trees_of(graph: Graph) -> list[Node]:
    """The nodes that are ensembles of trees."""
    return [node for node in graph.nodes if node.domain == "ai.onnx.ml" and node.op[:12] == "TreeEnsemble"]


def _back(graph: Graph, name: str, kind: int) -> str:
    """The tensor that a name is, behind Identity and Cast to a data type; nodes are listed in order."""
    for node in reversed(graph.nodes):
        if name in node.outputs and node.domain == "ai.onnx" and node.op in ("Identity", "Cast"):
            if node.op == "Cast" and node.one("to", 0) != kind:
                reject("a `Cast` to another type than trees read and write")
            node.all_seen()
            name = node.inputs[0]
    return name


def _label_of(node: Node, question: Model, *, negative: bool) -> tuple[Fraction, bool]:
    """What the sum has to exceed for the second of two labels, and whether the question asks for that one."""
    labels = [*_listed(node, "classlabels_int64s"), *_listed(node, "classlabels_strings")]
    if question.of != "label" or len(set(labels)) != 2 or len(labels) != 2 or question.threshold not in labels:
        reject("the file's trees choose one of two labels, and the question asks for another one, or for a score")
    return Fraction(0 if negative else 1, 2), labels[1] == question.threshold


def _listed(node: Node, name: str) -> list[Any]:
    """A list of integers, texts or floats; newer files may hold these as a tensor."""
    held = (value for _, entries in node.listed(f"{name}_as_tensor") for value in entries)
    return [*node.listed(name), *held]


class _Nodes:
    """The lists of nodes and votes; each tree's first node is its root, and each leaf votes once, for one entry."""

    def __init__(self, node: Node, question: Model, votes: dict[str, list[Any]]) -> None:
        lists = [_listed(node, f"nodes_{name}") for name in _NODES]
        if len({len(each) for each in lists}) != 1 or len({len(each) for each in votes.values()}) != 1:
            reject("the trees' lists are of different lengths")
        self.nodes: dict[tuple[int, int], tuple[Any, ...]] = {}
        self.first: dict[int, int] = {}
        for tree, number, *rest in zip(*lists, strict=True):
            if (tree, number) in self.nodes:
                reject("a tree has two nodes of one number")
            self.nodes[tree, number] = tuple(rest)
            self.first.setdefault(tree, number)
        self.votes: dict[tuple[int, int], Fraction] = {}
        for tree, number, entry, weight in zip(*(votes[name] for name in _VOTES), strict=True):
            if entry != 0 or (tree, number) in self.votes:
                reject("a leaf votes twice, or for another entry than the first one")
            self.votes[tree, number] = weight
        leaves = {key for key, (_, mode, *_) in self.nodes.items() if mode == "LEAF"}
        if set(self.votes) != leaves:
            reject("a leaf does not vote, or what votes is not a leaf")
        self._left = set(self.nodes)
        self._question = question

    def trees(self, share: Fraction) -> list[Tree]:
        """The trees, with votes that are ``share`` of those in the file; every node belongs to one place."""
        found = [self._tree((tree, number), share) for tree, number in self.first.items()]
        if self._left:
            reject("a node of the trees cannot be reached")
        return found

    def _tree(self, key: tuple[int, int], share: Fraction) -> Tree:
        if key not in self._left:
            reject("a node of the trees stands at two places, or nowhere")
        self._left.remove(key)
        column, mode, value, yes, no = self.nodes[key]
        if mode == "LEAF":
            return Tree.leaf(integral(self.votes[key] * share))
        if mode not in _MODES or not 0 <= column < len(self._question.reads):
            reject(f"the trees branch by {mode}, or by a column that the question does not fill")
        place, holds, changes = _test(self._question, self._question.reads[column], _MODES[mode], value)
        below = self._tree((key[0], yes), share), self._tree((key[0], no), share)
        below = below if holds else below[::-1]
        # From the last change on it is known how the test comes out; so it is between that and the one before, ...
        found = below[len(changes) & 1]
        for number in reversed(range(len(changes))):
            first, second = _sides(self._question.attributes[place], changes[number])
            halves = below[number & 1].within(place, *first), found.within(place, *second)
            found = Tree.of(place, changes[number], halves)
        return found


def _sides(attribute: Attribute, cut: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """Runs of positions that hold all values before a cut, and all others; of reals it lies in a cell of both."""
    return (0, cut - (not attribute.real)), (cut - attribute.real, attribute.size - 1)


def _test(
    question: Model, column: Column, outcomes: tuple[bool, bool, bool], value: Fraction
) -> tuple[int, bool, tuple[int, ...]]:
    """The attribute of a test, whether the test holds at first, and the positions at which that changes."""
    if len(column.factors) + len(column.tables) > 1:
        reject("a column of the trees is read off several attributes")
    for place, entries in column.tables.items():
        held = [outcomes[1 + (each > 0) - (each < 0)] for each in (column.constant + e - value for e in entries)]
        return place, held[0], tuple(at for at, (one, two) in enumerate(pairwise(held), 1) if one != two)
    for place, factor in column.factors.items():
        if factor:
            # The position at which the column is the value: from `at` on it is there or beyond it, from `after` beyond.
            attribute = question.attributes[place]
            exactly = ((value - column.constant) / factor - attribute.start) / attribute.step
            at, after = ceil(exactly), floor(exactly) + 1
            before, equal, beyond = outcomes if factor > 0 else outcomes[::-1]
            return place, before, tuple(p for p, a, b in ((at, before, equal), (after, equal, beyond)) if a != b)
    return 0, outcomes[1 + (column.constant > value) - (column.constant < value)], ()
