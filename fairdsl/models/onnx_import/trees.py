"""Tree ensembles of ai.onnx.ml: each leaf an indicator of the tests on the way to it, the votes its weights.

Meaning: the sum of the votes of the leaves that an individual reaches, one of every tree, in real arithmetic on the
stored numbers. How a class comes from it follows onnxruntime: of two classes all votes go to one entry, and
the second class is chosen where the sum exceeds 1/2 if no vote is negative, and where it exceeds 0 otherwise; of
three and more the highest sum decides, the first one in a tie.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from itertools import groupby, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.expr import Relation
from fairdsl.models import exact
from fairdsl.models.basis import Affine, Comparison, Indicators, TooLargeError, apply, scale, take
from fairdsl.models.onnx_import.arithmetic import negative, plus
from fairdsl.models.onnx_import.values import Handlers, NodeCall, UnreadableError, Value
from fairdsl.models.onnx_import.written import Columns, above, classes, columns_of, highest, pair, written

__all__ = ["HANDLERS", "tree_classifier"]

_ML = "ai.onnx.ml"
_RELATIONS = {
    "BRANCH_LEQ": Relation.LE,
    "BRANCH_LT": Relation.LT,
    "BRANCH_GTE": Relation.GE,
    "BRANCH_GT": Relation.GT,
    "BRANCH_EQ": Relation.EQ,
    "BRANCH_NEQ": Relation.NE,
}
#: Tests on the ways to all leaves at most.
_MOST_LITERALS = 1 << 22
_OPEN = "some class may get no vote at all, and then the file does not say which class is chosen"

#: A node, by its tree and its number in it.
_Name = tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Node:
    """A test with the nodes below it, or a leaf (no test)."""

    test: Comparison | None
    yes: _Name
    no: _Name


class _Voting(Enum):
    """Whether the leaves that an individual reaches vote for a class or target."""

    ALWAYS = "whichever leaves are reached"
    SOMETIMES = "depending on the leaves"
    NEVER = "by no leaf"


@dataclass(frozen=True, slots=True)
class _Votes:
    """Sums over trees: ``sums`` is [1, columns], 0 where nothing votes; ``voting`` says for each column when.

    ``negative``: whether some vote is negative. ``trees``: their number.
    """

    sums: Affine
    voting: tuple[_Voting, ...]
    negative: bool
    trees: int

    @property
    def threshold(self) -> Fraction:
        """What the sum of the one class that is voted for has to exceed."""
        return Fraction(0) if self.negative else Fraction(1, 2)

    @property
    def always(self) -> bool:
        """Whether every column has votes for every individual."""
        return all(voting is _Voting.ALWAYS for voting in self.voting)


def tree_classifier(call: NodeCall) -> list[Value]:
    """Both outputs of a TreeEnsembleClassifier: the label and the scores after their transformation."""
    labels = classes(call, "classlabels_int64s")
    if len(labels) < 2:
        raise UnreadableError("it does not choose among two or more classes")
    votes = _votes(call, "class", len(labels))
    base = _numbers(call, "base_values")
    if len(base) not in ((0, 1, 2) if len(labels) == 2 else (0, len(labels))):
        raise UnreadableError(f"it has {len(base)} base values for {len(labels)} classes")
    if len(labels) > 2:
        return _of_several(call, votes, base, labels)
    first, second = votes.voting
    if (base and first is _Voting.SOMETIMES) or second is _Voting.SOMETIMES:
        raise UnreadableError(_OPEN)
    if second is _Voting.NEVER:
        return _of_one_sum(call, votes, base, labels)
    return _of_two_sums(call, votes, base, labels)


def _of_one_sum(call: NodeCall, votes: _Votes, base: Sequence[Fraction], labels: tuple[int | str, ...]) -> list[Value]:
    """Two classes: all votes are for the first entry, and count for the second class."""
    total = _with_base(call, _column(votes.sums, 0), base[:1])
    label = above(call, total, votes.threshold, labels)
    if len(base) == 2:  # the runtime takes both entries for sums, and the second one has no votes
        both = pair(call, total, Affine.constant(np.zeros((1, 1))))
        return [label, written(call, both, Columns.SEVERAL)]
    return [label, written(call, total, Columns.SIGNS if votes.negative else Columns.SHARES)]


def _of_two_sums(call: NodeCall, votes: _Votes, base: Sequence[Fraction], labels: tuple[int | str, ...]) -> list[Value]:
    """Two classes with votes for the second entry: the sum of the second one decides alone.

    Where the first entry has votes as well the threshold is 0, and the classes are 0 and 1 whatever numbers they
    have in the file. Two base values make the sum of the first entry that of the second.
    """
    alone = votes.voting[0] is _Voting.NEVER
    first, second = _column(votes.sums, 0), _column(votes.sums, 1)
    if alone and len(base) == 2:
        raise UnreadableError("it votes for the second class, and its base values replace these votes")
    if len(base) == 2:
        second = _with_base(call, first, base[1:])
        first = negative(second)
    elif not alone:
        first = _with_base(call, first, base)
    named = alone or isinstance(labels[0], str)
    label = above(call, second, votes.threshold if alone else Fraction(0), labels if named else (0, 1))
    shares = not (alone or base or votes.negative)
    return [label, written(call, pair(call, first, second), Columns.SEVERAL, shares=shares)]


def _of_several(call: NodeCall, votes: _Votes, base: Sequence[Fraction], labels: tuple[int | str, ...]) -> list[Value]:
    """Three classes and more: the highest sum among those that have votes or a base value, the first in a tie."""
    if not base and _Voting.SOMETIMES in votes.voting:
        raise UnreadableError(_OPEN)
    sums = _with_base(call, votes.sums, base)
    candidates = [i for i, voting in enumerate(votes.voting) if base or voting is _Voting.ALWAYS]
    label = highest(call, take(sums, np.array([candidates])), tuple(labels[i] for i in candidates))
    return [label, written(call, sums, Columns.SEVERAL, shares=not (base or votes.negative))]


def _tree_regressor(call: NodeCall) -> Value:
    columns = int(call.attribute("n_targets", 1))
    if columns < 1:
        raise UnreadableError(f"it has {columns} targets")
    votes = _votes(call, "target", columns)
    base = _numbers(call, "base_values")
    if base and (len(base) != columns or not (columns == 1 or votes.always)):
        raise UnreadableError("its base values do not belong to targets that every individual gets a sum for")
    sums = votes.sums
    match call.attribute("aggregate_function", "SUM"):
        case "SUM":
            pass
        case "AVERAGE":
            share = np.full(columns, Fraction(1, votes.trees), dtype=object)
            sums = scale(sums, exact.from_rationals(share))
        case other:
            raise UnreadableError(f"it takes the {other} of its trees, and only sums and averages are sums of leaves")
    sums = _with_base(call, sums, base)
    return written(call, sums, columns_of(sums))


def _column(sums: Affine, column: int) -> Affine:
    return take(sums, np.array([[column]]))


def _with_base(call: NodeCall, sums: Affine, base: Sequence[Fraction]) -> Affine:
    if not base:
        return sums
    return plus(call, sums, Affine.constant(exact.from_rationals(np.array([list(base)], dtype=object))))


def _votes(call: NodeCall, prefix: str, columns: int) -> _Votes:
    """The sums of the votes under ``class_`` or ``target_``, by column."""
    value = call.affine(0)
    nodes = _nodes(call, value.size)
    trees = list(_ways(nodes))
    place = {name: unit for unit, name in enumerate(name for tree in trees for name, _ in tree)}
    weights = _weights(call, prefix, columns, place)
    if columns == 1 and len(weights) < len(place):
        raise UnreadableError("some leaf has no vote")
    tests: dict[Comparison, int] = {}
    units = []
    for tree in trees:
        for _, way in tree:
            units.append(tuple((tests.setdefault(test, len(tests)), holds) for test, holds in way))
    sizes = np.cumsum([0, *(len(tree) for tree in trees)]).tolist()
    groups = tuple(tuple(range(start, end)) for start, end in pairwise(sizes))
    if not call.basis.early(value):
        raise UnreadableError(
            "its trees test numbers that units of a network compute",
            "export the trees over the attributes themselves, or over scaled or encoded ones",
        )
    leaves = call.basis.indicate(
        Indicators(call.node.operator, call.node.where, value, tuple(tests), tuple(units), groups)
    )
    matrix = np.full((columns, len(units)), Fraction(0), dtype=object)
    voted = np.zeros((columns, len(units)), dtype=np.bool_)
    for (column, unit), weight in weights.items():
        matrix[column, unit] = weight
        voted[column, unit] = True
    return _Votes(
        sums=apply(exact.from_rationals(matrix), leaves, (1, columns), call.basis),
        voting=tuple(_voting(voted[column], groups) for column in range(columns)),
        negative=any(weight < 0 for weight in _numbers(call, f"{prefix}_weights")),
        trees=len(groups),
    )


def _voting(voted: NDArray[np.bool_], groups: Sequence[tuple[int, ...]]) -> _Voting:
    """When a column has votes, given the leaves that vote for it, and the leaves of every tree."""
    if not voted.any():
        return _Voting.NEVER
    return _Voting.ALWAYS if any(voted[list(group)].all() for group in groups) else _Voting.SOMETIMES


def _weights(call: NodeCall, prefix: str, columns: int, place: Mapping[_Name, int]) -> dict[tuple[int, int], Fraction]:
    """The votes by column and leaf. Several of a leaf for a column add up; of a single column the first one counts."""
    names = zip(_listed(call, f"{prefix}_treeids"), _listed(call, f"{prefix}_nodeids"), strict=True)
    found: dict[tuple[int, int], Fraction] = {}
    votes = zip(names, _listed(call, f"{prefix}_ids"), _numbers(call, f"{prefix}_weights"), strict=True)
    for name, column, weight in votes:
        if name not in place:
            raise UnreadableError(f"node {name[1]} of its tree {name[0]} votes, and is no leaf")
        if not 0 <= column < columns:
            raise UnreadableError(f"a leaf votes for entry {column} of {columns}")
        key = (int(column), place[name])
        if columns > 1 or key not in found:
            found[key] = found.get(key, Fraction(0)) + weight
    return found


def _nodes(call: NodeCall, width: int) -> dict[_Name, _Node]:
    trees, numbers = _listed(call, "nodes_treeids"), _listed(call, "nodes_nodeids")
    columns = (
        _listed(call, "nodes_modes"),
        _listed(call, "nodes_featureids"),
        _numbers(call, "nodes_values"),
        _listed(call, "nodes_truenodeids"),
        _listed(call, "nodes_falsenodeids"),
    )
    found: dict[_Name, _Node] = {}
    for tree, number, mode, feature, value, yes, no in zip(trees, numbers, *columns, strict=True):
        if (tree, number) in found:
            raise UnreadableError(f"its tree {tree} has two nodes {number}")
        if mode != "LEAF" and mode not in _RELATIONS:
            raise UnreadableError(f"its trees branch by {mode}")
        if mode != "LEAF" and not 0 <= feature < width:
            raise UnreadableError(f"its trees test feature {feature} of {width}")
        test = None if mode == "LEAF" else Comparison(int(feature), _RELATIONS[mode], value)
        found[tree, number] = _Node(test, (tree, yes), (tree, no))
    return found


def _ways(nodes: Mapping[_Name, _Node]) -> Iterator[list[tuple[_Name, tuple[tuple[Comparison, bool], ...]]]]:
    """For every tree its leaves with the tests on the way to them, the true branch of a node first."""
    below = {name for node in nodes.values() if node.test is not None for name in (node.yes, node.no)}
    roots = [next(names) for _, names in groupby(nodes, key=lambda name: name[0])]
    if len(roots) != len({tree for tree, _ in roots}):
        raise UnreadableError("its nodes are not listed tree by tree")
    if not below <= nodes.keys():
        raise UnreadableError("its nodes do not make trees: some branch ends nowhere")
    if not below.isdisjoint(roots):
        raise UnreadableError("some tree is not listed from its root on, which is where onnxruntime starts")
    reached: set[_Name] = set()
    literals = 0
    for root in roots:
        leaves = []
        stack: list[tuple[_Name, tuple[tuple[Comparison, bool], ...]]] = [(root, ())]
        while stack:
            name, way = stack.pop()
            node = nodes[name]
            if name in reached:
                raise UnreadableError("its nodes do not make trees: some node is below two others")
            reached.add(name)
            if node.test is None:
                leaves.append((name, way))
                literals += len(way)
                if literals > _MOST_LITERALS:
                    raise TooLargeError(f"more than {_MOST_LITERALS} tests on the ways to its leaves")
                continue
            stack.append((node.no, (*way, (node.test, False))))
            stack.append((node.yes, (*way, (node.test, True))))
        yield leaves
    if len(reached) != len(nodes):
        raise UnreadableError("its nodes do not make trees: some node cannot be reached")


def _listed(call: NodeCall, attribute: str) -> list[Any]:
    return list(call.attribute(attribute, None) or [])


def _numbers(call: NodeCall, attribute: str) -> list[Fraction]:
    """Floats of the file, exactly; newer files may hold them as a tensor of doubles."""
    tensor = call.attribute(f"{attribute}_as_tensor", None)
    listed = call.attribute(attribute, None) if tensor is None else np.asarray(tensor).ravel().tolist()
    return [_finite(value) for value in listed or []]


def _finite(value: float) -> Fraction:
    if not np.isfinite(value):
        raise UnreadableError(f"it holds the number {value}")
    return Fraction(value)


HANDLERS: Handlers = {(_ML, "TreeEnsembleRegressor"): _tree_regressor}
