"""Trees as arrays: what their nodes compare, and the indicators of their leaves where somebody asks for them.

A node compares an attribute with a number, or asks a predicate that is no such comparison. Whoever evaluates, bounds or
counts goes by the arrays. That a model's score is a sum over the leaves that are reached, of each tree one, makes an
ensemble the first inputs of a network like any others: input ``i`` of the leaves is 1 where leaf ``i`` is reached. Its
predicate, the conjunction of the tests on the way to it, is derived when it is looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from hashlib import sha256
from typing import overload

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.exact_array import ExactArray
from fairdsl.ir.expr import And, Compare, Linear, Predicate, Relation, Variable, opposite, substitute, variables
from fairdsl.ir.feature import AttributeInput, Form, IndicatorInput, Input
from fairdsl.ir.tree_shape import TreeShape

IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

#: What the numbers in ``Ensemble.relations`` represent.
RELATIONS = (Relation.LE, Relation.LT, Relation.GT, Relation.GE)


@dataclass(frozen=True, eq=False)
class Ensemble:
    """The trees of a model over the attributes of a domain; equal by content.

    What an attribute of whole numbers is compared with is a whole number, so ``<= v`` is "up to its value v". There are
    no directions for missing values: what is missing is a value like any.
    """

    #: How the nodes hang together.
    shape: TreeShape
    #: What a node compares: an attribute by its position, or ``-1 - k`` for the truth of ``tests[k]``; [nodes].
    columns: IntArray
    #: How, as a position in ``RELATIONS``, [nodes]; of truths ``> 1/2``.
    relations: NDArray[np.int8]
    #: With which number, [nodes]; of leaves any.
    thresholds: ExactArray
    #: Predicates that are not a comparison of one attribute with a number.
    tests: tuple[Predicate, ...] = ()

    @cached_property
    def digest(self) -> str:
        """A hash of the content."""
        shape = self.shape
        arrays = (shape.roots, shape.yes, shape.no, np.where(shape.inner, self.columns, 0), self.relations)
        found = sha256(b"".join(sha256(array.tobytes()).digest() for array in arrays))
        found.update(f"{self.thresholds.digest} {self.tests!r}".encode())
        return found.hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ensemble) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return f"Ensemble(trees={self.shape.trees}, leaves={self.shape.leaves}, digest={self.digest})"

    @cached_property
    def turned(self) -> BoolArray:
        """Whether a node's test holds above its threshold and not below it, [nodes]."""
        return np.asarray(self.relations >= 2, dtype=np.bool_)

    @cached_property
    def inclusive(self) -> BoolArray:
        """Whether the threshold itself belongs to what lies below it, [nodes]."""
        return np.asarray((self.relations == 0) | (self.relations == 2), dtype=np.bool_)

    def attributes_above(self, leaves: BoolArray) -> set[int]:
        """The attributes that are tested on the way to some marked leaf, [leaves]."""
        columns = np.unique(self.columns[self.shape.inner & self.shape.any_below(leaves)]).tolist()
        tested = (self.tests[-1 - column] for column in columns if column < 0)
        found = {variable.attribute for test in tested for variable in variables(test)}
        return found.union(column for column in columns if column >= 0)

    def reads(self, width: int) -> BoolArray:
        """Which of ``width`` attributes the tests on the way to each leaf are about, [leaves, width]."""
        shape = self.shape
        tested = np.zeros((len(self.tests) + width, width), dtype=np.bool_)
        for place, test in enumerate(self.tests):
            tested[place, [variable.attribute for variable in variables(test)]] = True
        tested[len(self.tests) :] = np.eye(width, dtype=np.bool_)
        kinds = np.where(self.columns < 0, -1 - self.columns, self.columns + len(self.tests))
        found = np.zeros((shape.nodes, width), dtype=np.bool_)
        for nodes in shape.levels:
            found[shape.yes[nodes]] = found[shape.no[nodes]] = found[nodes] | tested[kinds[nodes]]
        return np.asarray(found[shape.leaf_nodes], dtype=np.bool_)

    def reading_copy(self, column: int, copy: int) -> Ensemble:
        """The trees with one attribute in place of another, which has the same values."""
        tests = tuple(_moved(test, column, copy) for test in self.tests)
        return replace(self, columns=np.where(self.columns == column, copy, self.columns), tests=tests)

    @cached_property
    def distinct(self) -> tuple[IntArray, IntArray]:
        """A node for each different test, [tests]; and the number of each node's test, -1 of leaves, [nodes]."""
        inner = np.flatnonzero(self.shape.inner)
        number = _ranks(self.thresholds, inner)
        columns = self.columns[inner]
        lowest = int(columns.min(initial=0))
        keys = ((columns - lowest) * len(RELATIONS) + self.relations[inner]) * (len(inner) + 1) + number
        _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        test_of = np.full(self.shape.nodes, -1, dtype=np.int64)
        test_of[inner] = inverse.reshape(-1)
        return inner[first], test_of

    @property
    def different(self) -> list[Predicate]:
        """Every test once."""
        return [self.predicate(node) for node in self.distinct[0].tolist()]

    @cached_property
    def _predicates(self) -> dict[int, tuple[Predicate, Predicate]]:
        return {}

    def predicate(self, node: int, *, holds: bool = True) -> Predicate:
        """The test of a node, or its negation; the same object for the same test."""
        test = int(self.distinct[1][node])
        if test < 0:
            raise ValueError("a leaf tests nothing")
        if test not in self._predicates:
            found = self._written(node)
            self._predicates[test] = found, opposite(found)
        return self._predicates[test][0 if holds else 1]

    def _written(self, node: int) -> Predicate:
        column = int(self.columns[node])
        if column < 0:
            return self.tests[-1 - column]
        left = Linear.of({Variable(column): Fraction(1)}, -self.threshold(node))
        return Compare(left=left, relation=RELATIONS[self.relations[node]])

    def threshold(self, node: int) -> Fraction:
        """What a node compares with, exactly."""
        return self.thresholds.at(node)

    def leaf_predicate(self, leaf: int) -> Predicate:
        """Where a leaf is reached: the conjunction of the tests on the way to it, in order."""
        way = self.shape.way(int(self.shape.leaf_nodes[leaf]))
        return And(tuple(self.predicate(node, holds=holds) for node, holds in way))


def joined(parts: Sequence[Ensemble]) -> Ensemble:
    """The trees of all parts, one part after the other; predicates that no node tests are left out."""
    tests: dict[Predicate, int] = {}
    roots, yes, no, columns, start = [], [], [], [], 0
    for part in parts:
        shape = part.shape
        roots.append(shape.roots + start)
        yes.append(shape.yes + start)
        no.append(shape.no + start)
        own = part.columns.copy()
        for column in np.unique(part.columns[shape.inner & (part.columns < 0)])[::-1].tolist():  # in the tests' order
            test = part.tests[-1 - column]
            own[part.columns == column] = -1 - tests.setdefault(test, len(tests))
        columns.append(own)
        start += shape.nodes
    nothing = np.zeros(0, dtype=np.int64)
    return Ensemble(
        shape=TreeShape(*(np.concatenate([nothing, *each]) for each in (roots, yes, no))),
        columns=np.concatenate([nothing, *columns]),
        relations=np.concatenate([nothing.astype(np.int8), *(part.relations for part in parts)]),
        thresholds=ExactArray.joined([part.thresholds for part in parts]),
        tests=tuple(tests),
    )


def _ranks(thresholds: ExactArray, nodes: IntArray) -> IntArray:
    """Numbers of the nodes' thresholds: equal ones have one, and they ascend."""
    floats = thresholds.floats[nodes]
    if thresholds.fractions is None:
        return np.unique(floats, return_inverse=True)[1].reshape(-1)
    listed = thresholds.fractions[nodes].tolist()
    place = {number: rank for rank, number in enumerate(sorted(set(listed)))}
    return np.array([place[number] for number in listed], dtype=np.int64)


class Inputs(Sequence[Input]):
    """What a first layer reads: some inputs, and then the leaves of trees, whose indicators are made when asked for."""

    __slots__ = ("_leaves", "ensemble", "others")

    def __init__(self, others: Sequence[Input], ensemble: Ensemble) -> None:
        self.others = tuple(others)
        self.ensemble = ensemble
        self._leaves: tuple[IndicatorInput, ...] | None = None

    @property
    def leaves(self) -> tuple[IndicatorInput, ...]:
        """The indicators of all leaves."""
        if self._leaves is None:
            self._leaves = tuple(self._each_leaf())
        return self._leaves

    def _each_leaf(self) -> Iterator[IndicatorInput]:
        """The indicators one by one, for many who look at them stop at the first that they cannot use."""
        if self._leaves is not None:
            yield from self._leaves
            return
        made = []
        for leaf in range(self.ensemble.shape.leaves):
            made.append(IndicatorInput(self.ensemble.leaf_predicate(leaf)))
            yield made[-1]
        self._leaves = tuple(made)

    def __len__(self) -> int:
        return len(self.others) + self.ensemble.shape.leaves

    @overload
    def __getitem__(self, place: int) -> Input: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Input, ...]: ...
    def __getitem__(self, place: int | slice) -> Input | tuple[Input, ...]:
        if isinstance(place, slice):
            chosen = range(len(self))[place]
            if len(chosen) == 0 or max(chosen[0], chosen[-1]) < len(self.others):
                return tuple(self.others[i] for i in chosen)
            return (*self.others, *self.leaves)[place]
        place = range(len(self))[place]
        leaf = place - len(self.others)
        if leaf < 0:
            return self.others[place]
        return IndicatorInput(self.ensemble.leaf_predicate(leaf)) if self._leaves is None else self._leaves[leaf]

    def __iter__(self) -> Iterator[Input]:
        yield from self.others
        yield from self._each_leaf()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Inputs) and (self.others, self.ensemble) == (other.others, other.ensemble)

    def __hash__(self) -> int:
        return hash((self.others, self.ensemble))

    def __repr__(self) -> str:
        return f"Inputs({self.others!r}, {self.ensemble!r})"


def listed_of(inputs: Sequence[Input]) -> Sequence[Input]:
    """The inputs that are listed one by one: those before the leaves of trees."""
    return inputs.others if isinstance(inputs, Inputs) else inputs


def reads_of(inputs: Sequence[Input], width: int) -> BoolArray:
    """Which of the domain's ``width`` attributes each input depends on, [inputs, width]."""
    listed = listed_of(inputs)
    found = np.zeros((len(listed), width), dtype=np.bool_)
    for place, item in enumerate(listed):
        found[place, list(attributes_of(item))] = True
    return found if not isinstance(inputs, Inputs) else np.concatenate([found, inputs.ensemble.reads(width)])


def reading_copy(inputs: Sequence[Input], column: int, copy: int) -> Sequence[Input]:
    """The inputs with one attribute in place of another, which has the same values."""
    listed = tuple(_reading_copy(item, column, copy) for item in listed_of(inputs))
    return Inputs(listed, inputs.ensemble.reading_copy(column, copy)) if isinstance(inputs, Inputs) else listed


def attributes_of(item: Input) -> set[int]:
    """The attributes that an input depends on."""
    if isinstance(item, AttributeInput):
        return {item.attribute}
    return {variable.attribute for variable in variables(item.predicate)}


def attributes_of_form(form: Form) -> frozenset[int]:
    """The attributes that a sum of inputs depends on."""
    return frozenset(attribute for term, _ in form.terms for attribute in attributes_of(term))


def _reading_copy(item: Input, column: int, copy: int) -> Input:
    if isinstance(item, AttributeInput):
        return AttributeInput(copy) if item.attribute == column else item
    return replace(item, predicate=_moved(item.predicate, column, copy))


def _moved(predicate: Predicate, column: int, copy: int) -> Predicate:
    return substitute(predicate, lambda each: replace(each, attribute=copy) if each.attribute == column else each)
