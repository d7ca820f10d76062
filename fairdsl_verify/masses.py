"""Masses of groups: formulas over columns, and variable elimination along the order that a proof names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise, product
from math import lcm, prod
from typing import Any

from fairdsl_verify import reject
from fairdsl_verify.forest import Tree
from fairdsl_verify.question import MAYBE, YES, Attribute, Condition, exact, integral, items, keys, side_of, whole

#: The checker's own limits: what is larger is rejected, not attempted.
MOST_POSITIONS, MOST_STATES = 1 << 16, 1 << 20
#: How the mass of a cell lies within it.
POINT, UNIFORM, UNKNOWN = "point", "uniform", "unknown"


class Formulas:
    """Formulas over positions of columns, each of them once, by its number: 0 is false, 1 is true.

    A formula is a sum of tables and trees that is above 0, or at it where that counts, or made of others by
    ``and``, ``or`` and ``not``.
    """

    def __init__(self, attributes: Sequence[Attribute]) -> None:
        self._attributes = attributes
        self._nodes: list[tuple[Any, ...]] = [(), ()]
        self._numbers: dict[tuple[Any, ...], int] = {}
        #: Of each formula bit i is set where column i is read.
        self.reads = [0, 0]
        self._put: dict[tuple[int, int, int], int] = {}
        self._trees: dict[tuple[Any, ...], Tree] = {}
        self._kept: set[int] = set()
        #: Of each sum what columns add to it at each position.
        self._tables: list[Mapping[int, Sequence[int]]] = []

    def _number(self, reads: int, *node: Any) -> int:
        if node not in self._numbers:
            self._numbers[node] = len(self._nodes)
            self._nodes.append(node)
            self.reads.append(reads)
        return self._numbers[node]

    def sum(self, tables: Mapping[int, Sequence[int]], constant: int, trees: Iterable[Tree], *, zero: bool) -> int:
        """Whether the sum is above 0; ``zero``: or at it."""
        self._tables.append(tables)
        return self._sum(len(self._tables) - 1, constant, tuple(tables), tuple(map(self._once, trees)), zero)

    def _sum(self, number: int, constant: int, places: tuple[int, ...], trees: tuple[Tree, ...], zero: bool) -> int:
        ends = [(min(self._tables[number][place]), max(self._tables[number][place])) for place in places]
        low = constant + sum(end[0] for end in ends) + sum(tree.low for tree in trees)
        high = constant + sum(end[1] for end in ends) + sum(tree.high for tree in trees)
        if (side := side_of(low, high, 0, zero_is_low=not zero)) != MAYBE:
            return int(side == YES)
        reads = sum(1 << place for place in places)
        for tree in trees:
            reads |= tree.reads
        return self._number(reads, "sum", number, constant, places, trees, zero)

    def _once(self, tree: Tree) -> Tree:
        """Of equal trees the one that is known."""
        if id(tree) in self._kept:
            return tree
        below = tuple(map(self._once, tree.below))
        key = tree.low, tree.high, tree.place, tree.cut, *map(id, below)
        if key not in self._trees:
            self._trees[key] = Tree(tree.low, tree.high, tree.reads, tree.place, tree.cut, below)
            self._kept.add(id(self._trees[key]))
        return self._trees[key]

    def joined(self, op: str, parts: Iterable[int]) -> int:
        """``and``, ``or`` or ``not`` of formulas."""
        found = dict.fromkeys(parts)
        if op == "not":
            (part,) = found
            return 1 - part if part < 2 else self._number(self.reads[part], op, part)
        settles = int(op == "or")
        if settles in found:
            return settles
        found.pop(1 - settles, None)
        if len(found) < 2:
            return next(iter(found), 1 - settles)
        reads = 0
        for part in found:
            reads |= self.reads[part]
        return self._number(reads, op, *found)

    def of(self, condition: Condition) -> int:
        """A condition of the question."""
        if condition.op in ("and", "or"):
            return self.joined(condition.op, map(self.of, condition.parts))
        if condition.op == "in":
            table = [int(value in condition.values) for value in self._values(condition.place)]
            return self.sum({condition.place: table}, 0, (), zero=False)
        added: dict[int, list[Fraction]] = {}
        for place, factor in condition.terms:
            values = self._values(place)
            before = added.get(place, [Fraction(0)] * len(values))
            added[place] = [have - factor * value for have, value in zip(before, values, strict=True)]
        numbers = [condition.constant, *(value for table in added.values() for value in table)]
        scale = lcm(*(number.denominator for number in numbers))
        tables = {place: [integral(value * scale) for value in table] for place, table in added.items()}
        return self.sum(tables, -integral(condition.constant * scale), (), zero=condition.op == "<=")

    def _values(self, place: int) -> list[Fraction]:
        attribute = self._attributes[place]
        if attribute.real or attribute.size > MOST_POSITIONS:
            reject(f"`{attribute.name}` is compared, and has too many values to list")
        return [attribute.value(position) for position in range(attribute.size)]

    def put(self, formula: int, place: int, at: int) -> int:
        """What is left of it where a column is at a position."""
        if not self.reads[formula] >> place & 1:
            return formula
        known = self._put.get((formula, place, at))
        if known is not None:
            return known
        op, *parts = self._nodes[formula]
        if op == "sum":
            number, constant, places, trees, zero = parts
            left = []
            for tree in trees:
                tree = self._once(tree.within(place, at, at))
                constant += 0 if tree.reads else tree.low
                left += [tree] if tree.reads else []
            if place in places:
                constant += self._tables[number][place][at]
            rest = tuple(each for each in places if each != place)
            found = self._sum(number, constant, rest, tuple(left), zero)
        else:
            found = self.joined(op, [self.put(part, place, at) for part in parts])
        self._put[formula, place, at] = found
        return found


class Law:
    """A Bayesian network over cells: of each column its cells, its parents, and a row for each of their cells."""

    def __init__(self, data: Any, attributes: Sequence[Attribute]) -> None:
        found = [keys(item, ("cells", "parents", "rows"), "a distribution") for item in items(data, "the law")]
        self.attributes = attributes
        if len(found) != len(attributes):
            reject("there is not one distribution for each column")
        self.cells = [_cells(each["cells"], attribute) for each, attribute in zip(found, attributes, strict=True)]
        self.parents = [[whole(parent, "a parent") for parent in items(each["parents"], "parents")] for each in found]
        self._acyclic()
        #: Of each column its probabilities by its parents' cells and its own, as whole numbers, and what they sum to.
        self.tables: list[dict[tuple[int, ...], int]] = []
        self.scales: list[int] = []
        for column, each in enumerate(found):
            rows = list(self._rows(column, each["rows"]))
            scale = lcm(*(value.denominator for _, row in rows for value in row))
            self.scales.append(scale)
            table = {(*at, cell): integral(value * scale) for at, row in rows for cell, value in enumerate(row)}
            self.tables.append(table)
            if len(table) != sum(len(row) for _, row in rows):
                reject("a distribution has two rows for the same cells of its parents")
        #: A number that the sizes of all cells divide that are evenly filled.
        self.spread = [
            lcm(*(last - first + 1 for first, last, inside in cells if inside == UNIFORM)) for cells in self.cells
        ]

    def _acyclic(self) -> None:
        left = set(range(len(self.parents)))
        for column, parents in enumerate(self.parents):
            if len(set(parents)) != len(parents) or not left.issuperset(parents):
                reject(f"column {column} has a parent twice, or one that there is not")
        while left:
            free = {column for column in left if left.isdisjoint(self.parents[column])}
            if not free:
                reject("the distribution goes in a circle")
            left -= free

    def _rows(self, column: int, data: Any) -> Iterator[tuple[list[int], list[Fraction]]]:
        parents = self.parents[column]
        for item in items(data, "the rows"):
            at, row = (items(part, "a row") for part in (items(item, "a row") if len(item) == 2 else (None, None)))
            cells = [whole(cell, "a cell") for cell in at]
            if len(cells) != len(parents) or not all(
                0 <= cell < len(self.cells[parent]) for cell, parent in zip(cells, parents, strict=True)
            ):
                reject("a row is of cells that the parents do not have")
            values = [exact(value, "a probability") for value in row]
            if len(values) != len(self.cells[column]) or min(values) < 0 or sum(values) != 1:
                reject("a row is not one probability for each cell, none below 0 and together 1")
            yield cells, values


#: The first and the last position of a cell, and how its mass lies within it.
Cell = tuple[int, int, str]


def _cells(data: Any, attribute: Attribute) -> list[Cell]:
    cells = []
    for item in items(data, "the cells"):
        first, last, inside = items(item, "a cell") if len(item) == 3 else (0, -1, "")
        first, last = whole(first, "a position"), whole(last, "a position")
        if not 0 <= first <= last < attribute.size or inside not in (POINT, UNIFORM, UNKNOWN):
            reject(f"a cell of `{attribute.name}` is none")
        if attribute.real or (inside == POINT and first != last):
            reject("a cell is of reals, or a single value of several")
        cells.append((first, last, inside))
    ordered = sorted(cells)
    if not cells or any(one[1] >= two[0] for one, two in pairwise(ordered)):
        reject(f"`{attribute.name}` has no cells, or a value in two of them")
    return cells


#: A step of the order: the column that becomes known, and at most how many states there are behind it.
Step = tuple[int, int]


class Elimination:
    """The columns of a law become known one after the other; what is left of two formulas is a state with a mass.

    Two ways to the same state have the same future, so their masses add up. A table is multiplied with where all of its
    columns are known; until then, and of keys to the end, the cells of its columns belong to the state.
    """

    def __init__(self, law: Law, formulas: Formulas) -> None:
        self._law, self._formulas = law, formulas
        self._classes: dict[tuple[int, int, int, int], dict[tuple[int, int], int]] = {}

    def masses(
        self, event: int, among: int, wanted: Sequence[int], order: Sequence[Step], sizes: list[int] | None = None
    ) -> tuple[dict[tuple[int, ...], list[int]], int]:
        """Masses, by the cells of ``wanted``, of those in ``among`` without and with the event, and what all have.

        ``sizes`` collects how many states each step has.
        """
        law, known, live, scale = self._law, set[int](), tuple[int, ...](), 1
        states: dict[tuple[int, int, tuple[int, ...]], int] = {(event, among, ()): 1} if among else {}
        waiting = set(range(len(law.cells)))
        if sorted(column for column, _ in order) != sorted(waiting):
            reject("the order does not name each column once")
        for column, limit in order:
            known.add(column)
            ready = [each for each in waiting if known.issuperset((each, *law.parents[each]))]
            waiting.difference_update(ready)
            needed = {*wanted, *(each for one in waiting for each in (one, *law.parents[one]))}
            here = (*live, column)
            at = {each: place for place, each in enumerate(here)}
            lookups = [(law.tables[one], [at[each] for each in (*law.parents[one], one)]) for one in ready]
            live = tuple(each for each in here if each in needed)
            kept = [at[each] for each in live]
            scale *= law.spread[column] * prod(law.scales[one] for one in ready)
            after: Counter[tuple[int, int, tuple[int, ...]]] = Counter()
            for (one, other, before), mass in states.items():
                for cell in range(len(law.cells[column])):
                    cells = (*before, cell)
                    weight = mass
                    for table, places in lookups:
                        weight *= table.get(tuple(cells[place] for place in places), 0)
                    if not weight:
                        continue
                    left = tuple(cells[place] for place in kept)
                    for (event_left, among_left), share in self._within(one, other, column, cell).items():
                        if among_left:
                            after[event_left, among_left, left] += weight * share
                if len(after) > min(limit, MOST_STATES):
                    reject(f"there are more than {min(limit, MOST_STATES)} states behind column {column}")
            states = after
            if sizes is not None:
                sizes.append(len(states))
        found: dict[tuple[int, ...], list[int]] = {
            cells: [0, 0] for cells in product(*(range(len(law.cells[column])) for column in wanted))
        }
        places = [live.index(column) for column in wanted]
        for (decided, _, cells), mass in states.items():
            found[tuple(cells[place] for place in places)][decided] += mass
        return found, scale

    def _within(self, event: int, among: int, column: int, cell: int) -> dict[tuple[int, int], int]:
        """What may be left of the two formulas in a cell, and with which part of its mass."""
        key = event, among, column, cell
        if key not in self._classes:
            first, last, inside = self._law.cells[column][cell]
            spread, put = self._law.spread[column], self._formulas.put
            reads = (self._formulas.reads[event] | self._formulas.reads[among]) >> column & 1
            if not reads or first == last:
                self._classes[key] = {(put(event, column, first), put(among, column, first)): spread}
            else:
                if last - first >= MOST_POSITIONS:
                    reject("a cell that is looked into has too many values")
                found = Counter((put(event, column, at), put(among, column, at)) for at in range(first, last + 1))
                if inside == UNKNOWN and len(found) > 1:
                    reject("somebody looks into a cell of which only the mass is known")
                size = last - first + 1
                self._classes[key] = {
                    left: spread if inside == UNKNOWN else spread // size * count for left, count in found.items()
                }
        return self._classes[key]
