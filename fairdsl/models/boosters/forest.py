"""What all boosters have in common: trees of splits, sums of their leaves, and what becomes of these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction

import numpy as np

from fairdsl.ir.expr import Relation
from fairdsl.ir.tree_shape import TreeShape
from fairdsl.models import exact
from fairdsl.models.basis import (
    TREE_RELATIONS,
    Affine,
    Basis,
    Comparison,
    Indicators,
    Lookup,
    Trees,
    Whole,
    add,
    apply,
    scale,
    stack,
    take,
)
from fairdsl.models.binding.absent import filled, marked, with_directions, within_reach
from fairdsl.models.graph import MISSING, GraphInput, GraphOutput, ImportedGraph, OutputKind, Texts

#: The number of a category that is missing, where the others are whole.
_LACKING = Fraction(1, 2)
#: A category: the text or the number that the library was given.
Label = str | int


class UnreadBoosterError(ValueError):
    """What of a booster cannot be read, or that the file is damaged."""


class Ending(Enum):
    """What becomes of the sums."""

    SCORE = "nothing"
    LOGISTIC = "their logistic function"
    SOFTMAX = "their softmax"


@dataclass(frozen=True, slots=True)
class Leaf:
    """What a tree adds to the sums: column and number."""

    votes: tuple[tuple[int, float], ...]


@dataclass(frozen=True, slots=True)
class Split:
    """A test of a feature: against a number, or whether it is one of some categories.

    ``missing``: whether what is missing meets it.
    """

    feature: int
    relation: Relation
    threshold: float
    members: frozenset[Label] | None
    yes: Node
    no: Node
    missing: bool = False


Node = Split | Leaf


def of_nearest_float32(relation: Relation, threshold: np.float32) -> tuple[Relation, float]:
    """The test of a number that comes out as ``<`` or ``>`` does of the nearest float32.

    Libraries round the features that they are given, so 46.7 is 46.70000076 to them, and is not below that. Rounding
    is monotone: the border is the middle of the threshold and its neighbour, a float64, and the middle itself goes to
    the neighbour whose last bit is 0.
    """
    with np.errstate(over="ignore"):  # the greatest float32 has no neighbour
        neighbour = np.nextafter(threshold, np.float32("-inf" if relation is Relation.LT else "inf"))
    if not np.isfinite(neighbour):
        return relation, float(threshold)
    middle = (float(neighbour) + float(threshold)) / 2
    if np.float32(middle) == threshold:
        return relation, middle
    return (Relation.LE if relation is Relation.LT else Relation.GE), middle


@dataclass(frozen=True, slots=True, kw_only=True)
class Forest:
    """A booster as its file says it.

    ``categories``: of a feature that is one, the labels by the library's codes. ``strict``: the library fails on a
    category that is none of them. ``factor`` is what the sums are multiplied with before the ending.
    """

    library: str
    width: int
    names: tuple[str, ...]
    trees: Sequence[Node]
    base: tuple[Fraction, ...]
    ending: Ending
    categories: Mapping[int, tuple[Label, ...]] = field(default_factory=dict)
    labels: tuple[int | str, ...] = ()
    factor: Fraction = Fraction(1)
    average: bool = False
    strict: bool = False

    def is_text(self, feature: int) -> bool:
        """Whether the feature is filled in by the names of a category."""
        return any(isinstance(label, str) for label in self.categories.get(feature, ()))


def inputs_of(forest: Forest) -> tuple[GraphInput, ...]:
    """An input a feature where they have names, and one of all features elsewhere."""
    if not forest.names:
        return (GraphInput(name="features", width=forest.width, dtype="float64"),)
    return tuple(
        GraphInput(name=name, width=1, dtype="string" if forest.is_text(feature) else "float64")
        for feature, name in enumerate(forest.names)
    )


def graph_of(path: str, digest: str, forest: Forest, texts: Sequence[Texts], missing: Sequence[int]) -> ImportedGraph:
    """The graph; ``texts`` are what may fill the inputs that take text, and numbers at the places ``missing`` may be.

    Raises UnreadBoosterError.
    """
    basis = Basis()
    inputs = inputs_of(forest)
    row = stack(marked(basis, [basis.input((item.width,)) for item in inputs], missing), basis)
    codes = {feature: dict(texts[feature][0]) for feature in range(forest.width) if forest.is_text(feature)}
    _check_known(forest, codes)
    basis.lookups += [Lookup(feature, table, _known(forest, feature)) for feature, table in codes.items()]
    planter = _Planter(forest, codes, row, basis)
    sums = planter.sums()
    return ImportedGraph(
        path=path,
        sha256=digest,
        inputs=inputs,
        basis=basis,
        outputs=_outputs(forest, sums, basis),
        runnable=False,
        feature_names=forest.names or None,
    )


def _check_known(forest: Forest, codes: Mapping[int, Mapping[int, str]]) -> None:
    if not forest.strict:
        return
    for feature, table in codes.items():
        unknown = sorted(set(table.values()) - {MISSING} - _known(forest, feature))
        if unknown:
            raise UnreadBoosterError(
                f"it fails for `{unknown[0]}` of `{forest.names[feature]}`, a category that it was not trained on"
            )


def _known(forest: Forest, feature: int) -> frozenset[str | int]:
    return frozenset(map(str, forest.categories[feature]))


@dataclass(slots=True)
class _Planter:
    """Lays the nodes out in arrays, features first: the file's own, then a number a set of categories."""

    forest: Forest
    codes: Mapping[int, Mapping[int, str]]
    row: Affine
    basis: Basis
    sets: dict[tuple[int, frozenset[Label]], int] = field(default_factory=dict)
    feature: list[int] = field(default_factory=list)
    relation: list[int] = field(default_factory=list)
    threshold: list[float] = field(default_factory=list)
    missing: list[bool] = field(default_factory=list)
    yes: list[int] = field(default_factory=list)
    no: list[int] = field(default_factory=list)
    leaves: dict[int, Leaf] = field(default_factory=dict)

    def sums(self) -> Affine:
        """The sums of all trees, [1, columns]."""
        columns = len(self.forest.base)
        total = Affine.constant(exact.from_rationals(np.array([list(self.forest.base)], dtype=object)))
        if not self.forest.trees:
            return total
        roots = [self._add(tree) for tree in self.forest.trees]
        arrays = (np.array(numbers, dtype=np.int64) for numbers in (roots, self.yes, self.no))
        shape, before = TreeShape.in_order(*arrays)
        relation = np.array(self.relation, dtype=np.int8)
        threshold = within_reach(np.array(self.threshold, dtype=np.float64))
        read, met = np.array(self.feature, dtype=np.int64), np.array(self.missing, dtype=np.bool_)
        features, feature = with_directions(self.basis, self._features(), read, relation, threshold, met)
        trees = Trees(
            operator=self.forest.library,
            node="trees",
            features=features,
            shape=shape,
            feature=feature[before],
            relation=relation[before],
            threshold=threshold[before],
        )
        votes = np.zeros((columns, shape.leaves))
        for place, node in enumerate(before[shape.leaf_nodes].tolist()):
            for column, weight in self.leaves[node].votes:
                votes[column, place] += weight
        found = apply(votes, self.basis.plant(trees), (1, columns), self.basis)
        if self.forest.average:
            rounds = Fraction(columns, len(self.forest.trees))
            found = scale(found, exact.from_rationals(np.full(columns, rounds, dtype=object)))
        return add(found, total, self.basis)

    def _add(self, tree: Node) -> int:
        """Number the nodes of a tree; the result is its root."""
        waiting: list[tuple[Node, int]] = [(tree, self._room())]
        root = waiting[0][1]
        while waiting:
            node, place = waiting.pop()
            if isinstance(node, Leaf):
                self.leaves[place] = node
                continue
            self.feature[place] = node.feature
            self.relation[place] = TREE_RELATIONS.index(node.relation)
            self.threshold[place] = node.threshold
            self.missing[place] = node.missing
            if node.members is not None:
                key = node.feature, node.members
                self.feature[place] = self.forest.width + self.sets.setdefault(key, len(self.sets))
            self.yes[place], self.no[place] = self._room(), self._room()
            waiting += [(node.yes, self.yes[place]), (node.no, self.no[place])]
        return root

    def _room(self) -> int:
        place = len(self.yes)
        for numbers, start in ((self.feature, 0), (self.relation, 0), (self.yes, place), (self.no, place)):
            numbers.append(start)
        self.threshold.append(0.0)
        self.missing.append(False)
        return place

    def _features(self) -> Affine:
        """The row, and for each set of categories 1 where the feature is one of them."""
        self._take_for_whole()
        tests: dict[Comparison, int] = {}
        members: list[list[int]] = []
        for feature, wanted in self.sets:
            found = [Comparison(feature, Relation.EQ, code) for code in self._numbers(feature, wanted)]
            members.append([tests.setdefault(test, len(tests)) for test in found])
        if not tests:
            nothing = Affine.constant(np.zeros(len(self.sets)))
            return stack([self.row, nothing], self.basis)
        present = filled(self.basis, self.row, [_LACKING] * self.row.size)
        units = self.basis.indicate(Indicators(self.forest.library, "categories", present, tuple(tests)))
        matrix = np.zeros((len(self.sets), len(tests)))
        for place, chosen in enumerate(members):
            matrix[place, chosen] = 1.0
        return stack([self.row, apply(matrix, units, (len(self.sets),), self.basis)], self.basis)

    def _numbers(self, feature: int, wanted: frozenset[Label]) -> list[Fraction]:
        """The numbers that stand for the categories: codes of their names, or the numbers themselves."""
        if feature in self.codes:
            return [Fraction(code) for code, name in self.codes[feature].items() if name in wanted]
        return [_LACKING if label == MISSING else Fraction(label) for label in sorted(wanted, key=str)]

    def _take_for_whole(self) -> None:
        """Libraries cut a category's fraction off, and XGBoost takes one that is unknown for the next greater one."""
        for feature in sorted({feature for feature, _ in self.sets} - self.codes.keys()):
            labels = self.forest.categories.get(feature, ())
            known = frozenset(map(int, labels)) if labels and self.forest.strict else None
            some = Fraction(min(known)) if known else Fraction(0)
            number = take(filled(self.basis, self.row, [some] * self.row.size), np.array([feature]))
            otherwise = "it takes a category that it was not trained on for another"
            self.basis.whole.append(Whole(self.forest.library, "categories", number, known, otherwise))


def _outputs(forest: Forest, sums: Affine, basis: Basis) -> tuple[GraphOutput, ...]:
    columns = sums.size
    if forest.factor != 1:
        sums = scale(sums, exact.from_rationals(np.full(columns, forest.factor, dtype=object)))
    if forest.ending is Ending.SCORE:
        return (GraphOutput(name="score", kind=OutputKind.SCORE, scores=sums),)
    labels = forest.labels or tuple(range(max(columns, 2)))
    if columns > 1:
        kind = OutputKind.SOFTMAX if forest.ending is Ending.SOFTMAX else OutputKind.SIGMOID
        return (
            GraphOutput(name="label", kind=OutputKind.LABEL, scores=sums, labels=labels),
            GraphOutput(name="probability", kind=kind, scores=sums, labels=labels),
        )
    twice = take(sums, np.zeros((1, 2), dtype=np.int64))
    return (
        GraphOutput(name="label", kind=OutputKind.LABEL, scores=scale(twice, np.array([0.0, 1.0])), labels=labels),
        GraphOutput(name="probability", kind=OutputKind.SIGMOID, scores=scale(twice, np.array([-1.0, 1.0]))),
        GraphOutput(name="score", kind=OutputKind.SCORE, scores=sums),
    )
