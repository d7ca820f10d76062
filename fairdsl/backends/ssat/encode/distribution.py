"""A distribution as chance variables, and the columns that they make.

A column is a chain of chances: with *blocks* 0 .. n-1, r_k = Pr[block k | block >= k, parents] is the probability of
the chance h_k, and ``below[k]`` is defined as h_0 or ... or h_k. Theorem: given its parents a column takes exactly one
block, block k with probability (1 - r_0) ... (1 - r_{k-1}) r_k, which is Pr[block k | parents]. So values exclude each
other exactly, and no chance stands for a value by itself.

Of a column with parents h_k is a choice by the parents' blocks between chances, one for each probability that occurs:
only one of them is ever looked at, so that the others, whatever their truth, sum to 1. The choice is a gate for every
parent, whose clauses are the leaves of a decision tree over the parent's order literals: two leaves differ in a literal
on the way, so that the gate has one truth in every assignment. [FVGM, appendix F, gives the
values of inner columns random variables of their own besides those of the rows, not a probability distribution;
here only the rows' parameters are random, and values are defined by them.]

A block are the parts of a column that no predicate and no other column's distribution tells apart. Keys are chosen:
each is a column of its own, whose order literals are existential variables. Blocks with alternatives are refined by
choices that are made after all chances: u_j says "the j-th alternative, if none before". They range over all functions
of everything before them, and so over every way in which the mass of a cell may lie in it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import lcm

import numpy as np

from fairdsl.backends.ssat.conditioning import Conditional
from fairdsl.backends.ssat.distribution import Distribution, Part
from fairdsl.backends.ssat.gates import FALSE, TRUE, Column, Gates, Literal
from fairdsl.metrics.joint import key_of
from fairdsl.numerics.tables import Numbers


@dataclass(frozen=True, slots=True)
class Chosen:
    """A key as a column of choices; place k of it is cell ``cells[k]``.

    ``classes`` has a number for each cell: nothing tells cells of equal numbers apart.
    """

    column: Column
    cells: tuple[int, ...]
    classes: tuple[int, ...]

    def at(self, cell: int) -> tuple[Literal, ...]:
        """The literals that put the key at a cell."""
        place = self.cells.index(cell)
        return tuple(below if place <= number else -below for number, below in enumerate(self.column.below))

    def but(self, cell: int) -> tuple[Literal, ...]:
        """The clause that the key is at another cell."""
        place, below = self.cells.index(cell), self.column.below
        return (*(-each for each in below[place : place + 1]), *(below[place - 1 : place] if place else ()))

    def cell_in(self, choice: Mapping[int, bool]) -> int:
        """The cell that a choice of the variables puts the key at."""
        below = (number for number, variable in enumerate(self.column.below) if choice.get(variable, False))
        return self.cells[next(below, len(self.cells) - 1)]


@dataclass(frozen=True, slots=True)
class Laid:
    """``columns`` for predicates, ``keys`` in the order of the subject's, and whether there are ``alternatives``."""

    columns: Mapping[int, Column]
    keys: tuple[Chosen, ...]
    alternatives: bool


@dataclass(frozen=True, slots=True)
class _Block:
    """Parts that are taken together: the class of their states as a parent, and the alternatives within."""

    parent: int
    parts: tuple[int, ...]
    values: tuple[Fraction, ...]
    single: tuple[bool, ...]


_NOBODY = _Block(0, (), (Fraction(0),), (True,))


def lay_distribution(gates: Gates, distribution: Distribution) -> Laid:
    """Write a distribution: choices for its keys, then its chances, then choices for what it leaves open."""
    return _Writer(gates, distribution).write()


class _Writer:
    def __init__(self, gates: Gates, distribution: Distribution) -> None:
        self._gates, self._distribution = gates, distribution
        self._network = distribution.conditioned.network
        self._names = [column.name for column in distribution.subject.network.columns]
        # By column: the class of each of its states, and what chance decides about it.
        self._classes: dict[int, list[int]] = {}
        self._blocks: dict[int, list[_Block]] = {}
        self._distributions: dict[int, Numbers] = {}
        self._columns: dict[int, Column] = {}
        self._states: dict[int, list[int]] = {}  # by place of a parent's column, one of its states
        self._told: dict[int, list[list[int]]] = {}  # of a parent: for each of its children the states' numbers

    def write(self) -> Laid:
        """Choices of keys, chances, choices of alternatives."""
        self._divide()
        keys = tuple(self._key(place) for place in range(len(self._distribution.keys)))
        for conditional in self._network:
            self._chain(conditional)
        return self._refined(keys)

    def _key(self, place: int) -> Chosen:
        """Existential order literals, of which each implies the next."""
        key, column = self._distribution.keys[place], self._distribution.subject.keys[place]
        cells = self._distribution.subject.network.cells[column]
        values = [key_of(cell) for cell in cells]
        single = [True] * len(cells)  # nobody has a cell that is without a part
        kinds: list[object] = [None] * len(cells)
        if key == column:
            for part in self._distribution.divisions[column].parts:
                values[part.cell], single[part.cell], kinds[part.cell] = part.values[0], part.single[0], part.kinds
        order = sorted(range(len(cells)), key=lambda cell: values[cell])
        attribute = self._distribution.subject.network.columns[column]
        below = tuple(self._gates.choice(f"{attribute.name} <= {attribute.show(values[cell])}") for cell in order[:-1])
        for one, following in pairwise(below):
            self._gates.require(-one, following)
        made = Column(tuple(values[cell] for cell in order), tuple(single[cell] for cell in order), below)
        self._columns[key], self._states[key] = made, list(order)
        return Chosen(made, tuple(order), tuple(self._classes_of(key, len(cells), kinds)))

    def _divide(self) -> None:
        """Blocks of all columns, children before parents: their distributions say what they tell apart."""
        for conditional in reversed(self._network):
            column = conditional.column
            classes = self._classes_of(column, len(self._distribution.states[column]))
            blocks = self._classed(column, classes)
            rows = _by_block(self._distribution, conditional, blocks)
            self._classes[column], self._blocks[column], self._distributions[column] = classes, blocks, rows
            for axis, parent in enumerate(conditional.parents):
                slices = np.moveaxis(rows, axis, 0)
                self._told.setdefault(parent, []).append(_numbered([tuple(each.ravel().tolist()) for each in slices]))

    def _classes_of(self, column: int, states: int, *also: Sequence[object]) -> list[int]:
        """By state, a number for what tells it from others: its children's distributions and what is given besides."""
        return _numbered(list(zip(*self._told.get(column, ()), *also, [0] * states, strict=True)))

    def _classed(self, column: int, classes: Sequence[int]) -> list[_Block]:
        """The parts of a column by class and kinds, ascending."""
        parts = self._distribution.divisions[column].parts
        found: dict[tuple[int, frozenset[int]], list[int]] = {}
        for state, members in enumerate(self._distribution.states[column]):
            for part in members:
                found.setdefault((classes[state], frozenset(parts[part].kinds)), []).append(part)
        blocks = [_block(parent, parts, members) for (parent, _), members in found.items()]
        # A condition that leaves nobody leaves a place, which no group with anybody in it takes.
        return sorted(blocks, key=lambda block: block.values) or [_NOBODY]

    def _chain(self, conditional: Conditional) -> None:
        """The order literals of a column's blocks."""
        column, blocks, rows = (
            conditional.column,
            self._blocks[conditional.column],
            self._distributions[conditional.column],
        )
        below: list[Literal] = []
        left = rows.sum(axis=-1)
        for place, block in enumerate(blocks[:-1]):
            chances = _quotients(rows[..., place], left)
            left = left - rows[..., place]
            name = f"{self._name(column)} is {self._value(column, block)}, if not before, with"
            known = {chance: self._gates.chance(f"{name} {chance}", chance) for chance in _distinct(chances)}
            leaves = np.full(chances.shape, None, dtype=object)
            for index, chance in np.ndenumerate(chances):
                leaves[index] = None if chance is None else known[chance]
            below.append(self._gates.disjunction((*below[-1:], self._chosen(conditional.parents, leaves))))
        self._columns[column] = Column(
            tuple(block.values[0] for block in blocks),
            tuple(block.single == (True,) for block in blocks),
            tuple(below),
        )
        first = {number: state for state, number in reversed(list(enumerate(self._classes[column])))}
        self._states[column] = [first[block.parent] for block in blocks]

    def _chosen(self, parents: Sequence[int], leaves: Numbers) -> Literal:
        """The literal that the states of the parents select; leaves that are never met take any."""
        met = Counter(leaf for leaf in leaves.ravel().tolist() if leaf is not None)
        usual = met.most_common(1)[0][0] if met else FALSE
        filled = np.array([usual if leaf is None else leaf for leaf in leaves.ravel().tolist()], dtype=object)
        return self._selected(parents, filled.reshape(leaves.shape))

    def _selected(self, parents: Sequence[int], leaves: Numbers) -> Literal:
        """A gate with the truth of the leaf that the parents lead to, the choices by later parents being gates too."""
        if not parents:
            return int(leaves[()])
        inner: dict[int, Literal] = {}
        for state in self._states[parents[0]]:
            if state not in inner:
                inner[state] = self._selected(parents[1:], np.asarray(leaves[state], dtype=object))
        paths = tuple(_paths(self._columns[parents[0]], [inner[state] for state in self._states[parents[0]]]))
        if len(paths) == 1:
            return paths[0][1]

        def clauses(gate: Literal) -> Iterator[tuple[Literal, ...]]:
            for path, leaf in paths:
                against = tuple(-literal for literal in path)
                yield (*against, -leaf, gate)
                yield (*against, leaf, -gate)

        return self._gates.defined(("parent", paths), clauses)

    def _refined(self, keys: tuple[Chosen, ...]) -> Laid:
        """The columns for predicates: alternatives are chosen last."""
        network = self._distribution.subject.network
        columns = {number: column for number, column in self._columns.items() if number < len(network.columns)}
        for number, blocks in self._blocks.items():
            most = max(len(block.values) for block in blocks)
            if most == 1:
                continue
            name = self._name(number)
            takes = [
                self._gates.choice(f"{name}: alternative {place + 1}, if none before") for place in range(most - 1)
            ]
            upto = [self._gates.disjunction(takes[: place + 1]) for place in range(most - 1)]
            columns[number] = self._with_alternatives(columns[number], blocks, upto)
        return Laid(columns, keys, any(len(block.values) > 1 for blocks in self._blocks.values() for block in blocks))

    def _with_alternatives(self, column: Column, blocks: Sequence[_Block], upto: Sequence[Literal]) -> Column:
        below: list[Literal] = []
        ends = (FALSE, *column.below, TRUE)
        for (before, end), block in zip(pairwise(ends), blocks, strict=True):
            for place in range(len(block.values) - 1):
                inside = self._gates.conjunction((end, upto[place]))
                below.append(self._gates.disjunction((before, inside)))
            below.append(end)
        return Column(
            tuple(value for block in blocks for value in block.values),
            tuple(single for block in blocks for single in block.single),
            tuple(below[:-1]),
        )

    def _name(self, column: int) -> str:
        """The attribute's name; of a copy that it is one."""
        name = self._names[column]
        return f"{name} as the model reads it" if self._names.index(name) < column else name

    def _value(self, column: int, block: _Block) -> str:
        return self._distribution.subject.network.columns[column].show(block.values[0])


def _paths(column: Column, leaves: Sequence[Literal]) -> Iterator[tuple[tuple[Literal, ...], Literal]]:
    """A decision tree over the order literals of a column: the literals on the way to each leaf, and the leaf."""
    waiting: list[tuple[int, int, tuple[Literal, ...]]] = [(0, len(leaves) - 1, ())]
    while waiting:
        first, last, path = waiting.pop()
        ends = [place for place in range(first, last) if leaves[place] != leaves[place + 1]]
        if not ends:
            yield path, leaves[first]
            continue
        end = ends[len(ends) // 2]
        waiting += [(end + 1, last, (*path, -column.below[end])), (first, end, (*path, column.below[end]))]


def _block(parent: int, parts: Sequence[Part], members: Sequence[int]) -> _Block:
    """The alternatives of one of the parts speak for those of all."""
    first = parts[min(members, key=lambda member: parts[member].values)]
    single = first.single if len(members) == 1 else (False,) * len(first.single)
    return _Block(parent, tuple(members), first.values, single)


def _by_block(distribution: Distribution, conditional: Conditional, blocks: Sequence[_Block]) -> Numbers:
    """The rows of a column's distribution by block instead of by state, without common divisors."""
    column = conditional.column
    parts, states = distribution.divisions[column].parts, distribution.states[column]
    state_of = {part: state for state, members in enumerate(states) for part in members}
    whole = [sum(parts[part].weight for part in members) or 1 for members in states]
    scale = lcm(*whole)
    shares = np.zeros((len(states), len(blocks)), dtype=object)
    for place, block in enumerate(blocks):
        for part in block.parts:
            state = state_of[part]
            shares[state, place] += parts[part].weight * (scale // whole[state])
    rows = np.asarray(np.dot(conditional.numbers, shares), dtype=object)
    common = np.gcd.reduce(rows, axis=-1, keepdims=True)
    return np.asarray(rows // np.where(common == 0, 1, common), dtype=object)


def _quotients(numbers: Numbers, wholes: Numbers) -> Numbers:
    """Elementwise; None where the whole is 0."""
    found = np.full(np.shape(numbers), None, dtype=object)
    for index in np.ndindex(found.shape):
        whole = int(np.asarray(wholes, dtype=object)[index])
        found[index] = Fraction(int(np.asarray(numbers, dtype=object)[index]), whole) if whole else None
    return found


def _distinct(chances: Numbers) -> list[Fraction]:
    return sorted({chance for chance in chances.ravel().tolist() if chance is not None})


def _numbered(keys: Sequence[object]) -> list[int]:
    """Equal keys have equal numbers, in the order of their first appearance."""
    numbers: dict[object, int] = {}
    return [numbers.setdefault(key, len(numbers)) for key in keys]
