"""Columns as classes of values: between two of them nothing that is asked can tell the difference.

A class is a set of values of one column at which every test of it has one truth and, where its number itself is read,
a single number. Of every cell it has a share of the mass; the shares of a column are whole numbers over one
denominator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.domain import Attribute
from fairdsl.ir.expr import And, Compare, Linear, Member, Not, Or, Predicate, borders, holds, variables
from fairdsl.ir.population import Cell, Inside
from fairdsl.numerics.pieces import Piece, pieces_of, subdivided
from fairdsl.numerics.truth import truths_at

#: Whole numbers of a range whose numbers are read are listed up to so many.
_LISTED = 4096


#: What is wrong with a column whose classes weigh no fractions.
IRRATIONAL = "has a normal distribution, whose probabilities are irrational: write pieces `uniform(low, high)`"


class OpenError(Exception):
    """Too much is asked of a column: its classes cannot be listed, or not be weighed."""

    def __init__(self, attribute: Attribute, why: str) -> None:
        super().__init__(f"`{attribute.name}` {why}")
        self.attribute = attribute


@dataclass(frozen=True, eq=False)
class Column:
    """The classes of a column, in no particular order."""

    #: The column's position in the population.
    place: int
    #: A value of each class, [classes].
    samples: tuple[Fraction, ...]
    #: What may be drawn: the classes among which somebody chooses then, which is a single one but in open cells.
    choices: tuple[tuple[int, ...], ...]
    #: How much of each cell lies in each choice, whole numbers over ``denominator``, [choices, cells].
    shares: NDArray[np.int64]
    #: What the shares of a cell add up to.
    denominator: int
    #: In which classes predicates hold of which that is known.
    _bits: dict[Predicate, tuple[bool, ...]]

    @property
    def classes(self) -> int:
        """How many classes there are."""
        return len(self.samples)

    @property
    def open(self) -> bool:
        """Whether some class has an unknown part of a cell; where none has, each is a choice, in their order."""
        return any(len(choice) > 1 for choice in self.choices)

    def bits(self, predicate: Predicate) -> tuple[bool, ...]:
        """In which classes a predicate about this column alone holds; one that the column was made for."""
        found = self._bits.get(predicate)
        if found is None:  # what is left of a comparison of several columns
            found = self._bits[predicate] = tuple(truths_at(predicate, self.place, self.samples).tolist())
        return found


def column_of(
    place: int, attribute: Attribute, cells: Sequence[Cell], tests: Iterable[Predicate], *, weighed: bool
) -> Column:
    """The classes of a column that ``tests`` tell apart; ``weighed``: its numbers are read themselves.

    Raises OpenError where these are not listed.
    """
    tests = list(dict.fromkeys(tests))
    cuts = sorted({cut for test in tests for cut in borders(test)})
    parts = [_parts(attribute, cell, cuts, weighed) for cell in cells]
    samples = [piece.sample for pieces in parts for piece in pieces]
    if not samples:
        raise OpenError(attribute, "has no values")
    truths = np.array([truths_at(test, place, samples) for test in tests], dtype=np.bool_)
    truths = truths.reshape(len(tests), len(samples)).T
    numbers = _ranks(samples) if weighed else [0] * len(samples)
    marks = list(zip(numbers, [row.tobytes() for row in np.packbits(truths, axis=1)], strict=True))
    first: dict[tuple[int, bytes], int] = {}
    for at, mark in enumerate(marks):
        first.setdefault(mark, at)
    kinds = {mark: kind for kind, mark in enumerate(first)}
    inverse = [kinds[mark] for mark in marks]
    shares: list[dict[tuple[int, ...], Fraction]] = []
    start = 0
    for cell, pieces in zip(cells, parts, strict=True):
        own = inverse[start : start + len(pieces)]
        start += len(pieces)
        shares.append(_shares(cell, pieces, own))
    denominator = lcm(*(share.denominator for cell in shares for share in cell.values()))
    if denominator.bit_length() > 60:
        raise OpenError(attribute, "has a range that is cut into too fine parts")
    choices = sorted({choice for cell in shares for choice in cell})
    whole = np.zeros((len(choices), len(cells)), dtype=np.int64)
    for number, by_choice in enumerate(shares):
        for choice, share in by_choice.items():
            whole[choices.index(choice), number] = int(share * denominator)
    ways = list(first.values())
    known = dict(zip(tests, map(tuple, truths[ways].T.tolist()), strict=True))
    return Column(place, tuple(samples[at] for at in ways), tuple(choices), whole, denominator, known)


def _parts(attribute: Attribute, cell: Cell, cuts: list[Fraction], weighed: bool) -> list[Piece]:
    """The pieces of a cell that have any mass, single numbers where these are read."""
    pieces = pieces_of(attribute, cell, cuts)
    if not _uniform(cell) or len(pieces) > 1:
        pieces = [piece for piece in pieces if piece.size] if _uniform(cell) else pieces
    if not weighed or all(piece.point for piece in pieces):
        return pieces
    if any(piece.count is None for piece in pieces):
        raise OpenError(attribute, "is read as a number, of which a cell has more than can be listed")
    if sum(piece.count or 0 for piece in pieces) > _LISTED:
        raise OpenError(attribute, f"is read as a number, and has more than {_LISTED:,}")
    return [single for piece in pieces for single in subdivided(piece, piece.count or 1)]


def _uniform(cell: Cell) -> bool:
    return cell.inside is Inside.UNIFORM and cell.low is not None and cell.high is not None and cell.low != cell.high


def _shares(cell: Cell, pieces: list[Piece], classes: list[int]) -> dict[tuple[int, ...], Fraction]:
    """How much of a cell's mass lies in each class; all of it in any of them where nothing else is known."""
    if not _uniform(cell):
        return {tuple(sorted(set(classes))): Fraction(1)}
    whole = sum((piece.size for piece in pieces), Fraction(0))
    found: dict[tuple[int, ...], Fraction] = {}
    for piece, kind in zip(pieces, classes, strict=True):
        found[kind,] = found.get((kind,), Fraction(0)) + (piece.size / whole if whole else 1)
    return found


def _ranks(numbers: Sequence[Fraction]) -> list[int]:
    place = {number: rank for rank, number in enumerate(sorted(set(numbers)))}
    return [place[number] for number in numbers]


# --------------------------------------------------------------------------------------------------
# Decision diagrams: what is left of trees, lists and conditions when some columns are known.
#
# A node asks a test and has a node for each answer; a leaf has a vector of whole numbers, what it adds to the scores.
# Equal nodes are one node, and tests that have the same truths are one test, so that what is left of a model in two
# ways and decides alike *is* the same number: states of the computation merge by comparing integers. (Bryant,
# *Graph-based algorithms for Boolean function manipulation*, 1986; the diagrams here are not ordered, columns are put
# in one by one.)
#
# A comparison of several columns is a test as well: each number that becomes known is added to its constant.

#: What a leaf adds to each score.
Vector = tuple[int, ...]
#: A test of one column: the column, and the classes in which it holds. Of several: the comparison.
Test = tuple[int, tuple[bool, ...]] | Compare


class Diagrams:
    """Nodes, numbered so that children come before their parents. Node 0 is the leaf that adds nothing."""

    def __init__(self, columns: Mapping[int, Column], width: int) -> None:
        self._columns = columns
        #: Test, yes and no of inner nodes; None of leaves.
        self.nodes: list[tuple[int, int, int] | None] = []
        #: What the nodes can still add to the scores: at least, and at most.
        self.low: list[Vector] = []
        self.high: list[Vector] = []
        #: The columns that a node reads, as bits.
        self.reads: list[int] = []
        self.tests: list[Test] = []
        self._bits: list[int] = []
        self._leaves: dict[Vector, int] = {}
        self._inner: dict[tuple[int, int, int], int] = {}
        self._numbers: dict[Test, int] = {}
        self._known: dict[Compare | Member, bool | tuple[int, bool]] = {}
        self.leaf((0,) * width)

    def column(self, place: int) -> Column:
        """The classes of a column."""
        return self._columns[place]

    def leaf(self, vector: Vector) -> int:
        """The leaf that adds so much."""
        found = self._leaves.get(vector)
        if found is None:
            found = self._leaves[vector] = self._add(None, vector, vector, 0)
        return found

    def is_leaf(self, node: int) -> bool:
        """Whether nothing is left to be asked."""
        return self.nodes[node] is None

    def node(self, test: int, yes: int, no: int) -> int:
        """The node that goes on with ``yes`` where the test holds."""
        if yes == no:
            return yes
        key = (test, yes, no)
        found = self._inner.get(key)
        if found is None:
            low = tuple(map(min, self.low[yes], self.low[no]))
            high = tuple(map(max, self.high[yes], self.high[no]))
            found = self._inner[key] = self._add(key, low, high, self._bits[test] | self.reads[yes] | self.reads[no])
        return found

    def _add(self, key: tuple[int, int, int] | None, low: Vector, high: Vector, reads: int) -> int:
        self.nodes.append(key)
        self.low.append(low)
        self.high.append(high)
        self.reads.append(reads)
        return len(self.nodes) - 1

    def branch(self, predicate: Predicate, yes: int, no: int) -> int:
        """What goes on with ``yes`` where the predicate holds, and with ``no`` elsewhere."""
        match predicate:
            case Compare() | Member():
                known = self._test(predicate)
                if isinstance(known, bool):
                    return yes if known else no
                test, turned = known
                return self.node(test, no, yes) if turned else self.node(test, yes, no)
            case And(parts):
                for part in reversed(parts):
                    yes = self.branch(part, yes, no)
                return yes
            case Or(parts):
                for part in reversed(parts):
                    no = self.branch(part, yes, no)
                return no
            case Not(part):
                return self.branch(part, no, yes)

    def _test(self, atom: Compare | Member) -> bool | tuple[int, bool]:
        """Its truth where that is known, else the number of its test and whether that is its negation."""
        known = self._known.get(atom)
        if known is None:
            known = self._known[atom] = self._numbered(atom)
        return known

    def _numbered(self, atom: Compare | Member) -> bool | tuple[int, bool]:
        columns = {variable.attribute for variable in variables(atom)}
        if not columns:
            return holds(atom, lambda _: Fraction(0))
        if len(columns) > 1:
            assert isinstance(atom, Compare), "membership is about one column"
            return self._number(atom, columns), False
        (column,) = columns
        bits = self._columns[column].bits(atom)
        if len(set(bits)) == 1:
            return bits[0]
        turned = not bits[0]
        return self._number((column, tuple(bit is not turned for bit in bits)), columns), turned

    def _number(self, test: Test, columns: Iterable[int]) -> int:
        found = self._numbers.get(test)
        if found is None:
            found = self._numbers[test] = len(self.tests)
            self.tests.append(test)
            self._bits.append(sum(1 << column for column in columns))
        return found

    def below(self, roots: Iterable[int], reading: int = -1) -> list[int]:
        """The nodes that can be reached and read one of the columns (bits), children before parents; all: -1."""
        waiting = [root for root in set(roots) if self.reads[root] & reading]
        seen = set(waiting)
        while waiting:
            key = self.nodes[waiting.pop()]
            assert key is not None, "a leaf reads nothing"
            for child in key[1:]:
                if child not in seen and self.reads[child] & reading:
                    seen.add(child)
                    waiting.append(child)
        return sorted(seen)

    def copied(self, root: int, into: Diagrams, leaf: Callable[[Vector], Vector]) -> int:
        """The diagram below a root in another store over the same columns, with other leaves."""
        found: dict[int, int] = {}

        def copy(number: int) -> int:
            if number not in found:
                found[number] = into.leaf(leaf(self.low[number]))
            return found[number]

        for number in self.below([root]):
            key = self.nodes[number]
            assert key is not None, "leaves read nothing"
            test, yes, no = key
            what = self.tests[test]
            found[number] = into.node(into._number(what, self.columns_of(test)), copy(yes), copy(no))
        return copy(root)

    def columns_of(self, test: int) -> list[int]:
        """The columns that a test, by its number, is about."""
        bits = self._bits[test]
        return [column for column in range(bits.bit_length()) if bits >> column & 1]

    def put_in(self, changing: Iterable[int], column: int) -> dict[int, tuple[int, ...]]:
        """What becomes of nodes in each class of a column that all of them read; children before parents."""
        bit, one = 1 << column, self._columns[column]
        inner, found = self._inner, dict[int, tuple[int, ...]]()
        for number in changing:
            key = self.nodes[number]
            assert key is not None, "a leaf reads nothing"
            test, yes, no = key
            yeses = found.get(yes) or (yes,) * one.classes
            noes = found.get(no) or (no,) * one.classes
            what = self.tests[test]
            if isinstance(what, Compare) and self._bits[test] & bit:
                values = zip(one.samples, yeses, noes, strict=True)
                found[number] = tuple(self.branch(_with(what, column, value), y, n) for value, y, n in values)
            elif not isinstance(what, Compare) and what[0] == column:
                found[number] = tuple([y if b else n for b, y, n in zip(what[1], yeses, noes, strict=True)])
            else:  # most nodes are known: a look at them is faster than a call
                keys = [(test, y, n) for y, n in zip(yeses, noes, strict=True)]
                found[number] = tuple([inner.get(key) or self.node(*key) for key in keys])
        return found


def _with(comparison: Compare, column: int, value: Fraction) -> Compare:
    """The comparison with one of its columns known."""
    left = comparison.left
    known = sum((factor for variable, factor in left.terms if variable.attribute == column), Fraction(0))
    terms = tuple(term for term in left.terms if term[0].attribute != column)
    return Compare(left=Linear(terms=terms, constant=left.constant + known * value), relation=comparison.relation)
