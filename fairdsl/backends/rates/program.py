"""What is asked of an individual, as a program: decision diagrams and column weights that add up to a few sums.

The event has happened where every sum reaches what it needs. A model's demands on its scores are such sums, in whole
numbers at a scale of their own; a condition is one more, to which it adds 1 where it holds. Where the model is a single
diagram, its leaves are decided at once, and the condition is asked before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, gcd, lcm

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.rates.diagram import IRRATIONAL, Column, Diagrams, OpenError, column_of
from fairdsl.ir.expr import TRUE, Predicate, atoms, variables
from fairdsl.ir.feature import AttributeInput
from fairdsl.ir.model import Model
from fairdsl.metrics.subject import Subject
from fairdsl.numerics.event import Demand, Event, event_of
from fairdsl.numerics.leaves import Leaves

#: Sums have to stay below it.
_FITS = 1 << 60
#: A leaf of a model that is one diagram: refused, decided only within the threshold's enclosure, favourable.
_NO, _OPEN, _YES = (0,), (1,), (2,)


class LargeError(Exception):
    """The scores are not whole numbers of a size that is computed with."""


@dataclass(frozen=True, eq=False)
class Program:
    """Sums over an individual: of each root what its diagram comes to, and of each column what its class adds."""

    diagrams: Diagrams
    roots: tuple[int, ...]
    #: What the classes of a column add, [classes, sums], by column.
    adds: dict[int, NDArray[np.int64]]
    #: What each sum has to reach for the event to be certain, and to be possible; [sums].
    sure: NDArray[np.int64]
    maybe: NDArray[np.int64]

    @property
    def reads(self) -> set[int]:
        """The columns that matter."""
        bits = 0
        for root in self.roots:
            bits |= self.diagrams.reads[root]
        return {column for column in range(bits.bit_length()) if bits >> column & 1} | set(self.adds)

    @property
    def plain(self) -> bool:
        """Whether it is one diagram alone, of tests of one column each: its ways are boxes."""
        if self.adds or len(self.roots) != 1:
            return False
        nodes = (self.diagrams.nodes[node] for node in self.diagrams.below(self.roots))
        return all(isinstance(self.diagrams.tests[key[0]], tuple) for key in nodes if key is not None)


@dataclass(frozen=True, eq=False)
class Asked:
    """A subject's programs over its columns.

    ``event`` is that the decision is favourable and the condition holds; with ``complement`` it is the condition
    without the favourable decisions. ``condition`` is None where everybody meets it.
    """

    columns: dict[int, Column]
    event: Program
    condition: Program | None
    complement: bool
    #: Trees, lists and other predicates that are added up, and numbers of columns.
    diagrams: int
    weighed: int


def asked_of(subject: Subject) -> Asked:
    """The programs of a subject; OpenError where a column's cells are not known well enough, LargeError."""
    reading = _Reading(subject)
    columns = reading.columns()
    event = _turned(event_of(subject.model))
    sums = [_Sum.of(subject.model, demand, reading) for demand in event.demands]
    made = Diagrams(columns, len(sums) + 1)
    roots = list(reading.roots(made, sums))
    adds = _adds(columns, reading, sums)
    condition = None
    if subject.condition != TRUE:
        own = Diagrams(columns, 1)
        condition = Program(own, (own.branch(subject.condition, own.leaf((1,)), 0),), {}, _array([1]), _array([1]))
    complement = event.complement
    if not adds and len(roots) <= 1:
        program = _single(made, roots[0] if roots else 0, sums, subject.condition, complement, columns)
        complement = False
    else:
        added = [] if condition is None else [made.branch(subject.condition, made.leaf((*[0] * len(sums), 1)), 0)]
        needed = int(condition is not None)
        sure, maybe = _array([*(each.sure for each in sums), needed]), _array([*(each.maybe for each in sums), needed])
        program = Program(made, (*roots, *added), adds, sure, maybe)
        _check(program)
    return Asked(columns, program, condition, complement, diagrams=len(roots), weighed=len(reading.slopes))


def _turned(event: Event) -> Event:
    """The same without a complement where it is of one demand: who does not meet that meets the opposite one."""
    if not event.complement or len(event.demands) != 1:
        return event
    (demand,) = event.demands
    row = tuple(-part for part in demand.row)
    return Event((Demand(row, -demand.high, -demand.low, not demand.strict),))


def _array(numbers: Sequence[int]) -> NDArray[np.int64]:
    if any(abs(number) >= _FITS for number in numbers):
        raise LargeError
    return np.array(numbers, dtype=np.int64)


def _check(program: Program) -> None:
    """All partial sums fit, with what a sum is lifted to once it is certain."""
    made = program.diagrams
    reach = [0] * len(program.sure)
    for root in program.roots:
        ends = zip(reach, made.low[root], made.high[root], strict=True)
        reach = [total + max(abs(low), abs(high)) for total, low, high in ends]
    for added in program.adds.values():
        reach = [total + int(most) for total, most in zip(reach, np.abs(added).max(axis=0), strict=True)]
    if any(4 * total >= _FITS for total in reach):
        raise LargeError


class _Reading:
    """What a model and a condition read of an individual: trees, predicates and numbers, by their inputs' places."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self.leaves = Leaves.of(subject.model)
        inputs = subject.model.inputs
        used = np.asarray(subject.model.layers[0].weight.nonzero.any(axis=0), dtype=np.bool_)
        self.slopes: dict[int, int] = {}
        self.predicates: dict[int, Predicate] = {}
        for place in self.leaves.others.tolist():
            if not used[place]:
                continue
            item = inputs[place]
            if isinstance(item, AttributeInput):
                self.slopes[place] = item.attribute
            else:
                self.predicates[place] = item.predicate

    @property
    def singles(self) -> dict[int, int]:
        """The columns of predicates about one alone, by place: their weights are added class by class."""
        found = {}
        for place, predicate in self.predicates.items():
            columns = {variable.attribute for variable in variables(predicate)}
            if len(columns) == 1:
                (found[place],) = columns
        return found

    def columns(self) -> dict[int, Column]:
        """All columns that are read, and the keys."""
        tests: dict[int, dict[Predicate, None]] = {column: {} for column in self.subject.keys}
        weighed = set(self.slopes.values())
        singles = self.singles
        for predicate in self._each():
            for atom in atoms(predicate):
                own = {variable.attribute for variable in variables(atom)}
                for column in own:
                    tests.setdefault(column, {}).update({atom: None} if len(own) == 1 else {})
                weighed |= own if len(own) > 1 else set()
        for place, column in singles.items():
            tests[column][self.predicates[place]] = None
        network = self.subject.network
        looked_at = sorted({*tests, *weighed})
        if (normal := network.normal_among(looked_at)) is not None:
            raise OpenError(normal, IRRATIONAL)
        return {
            column: column_of(
                column,
                network.columns[column],
                network.cells[column],
                tests.get(column, ()),
                weighed=column in weighed,
            )
            for column in looked_at
        }

    def _each(self) -> Iterable[Predicate]:
        yield from self.leaves.ensemble.different
        yield from self.predicates.values()
        yield self.subject.condition

    def roots(self, made: Diagrams, sums: Sequence[_Sum]) -> Iterable[int]:
        """The diagrams of the trees and of the predicates over several columns, but those that add nothing."""
        found = list(self._trees(made, sums))
        singles = self.singles
        for place, predicate in self.predicates.items():
            if place not in singles:
                found.append(made.branch(predicate, made.leaf((*(each.weights[place] for each in sums), 0)), 0))
        return (root for root in found if root)

    def _trees(self, made: Diagrams, sums: Sequence[_Sum]) -> Iterable[int]:
        """Children have higher numbers than their parents: the last node is made first."""
        shape, positions = self.leaves.ensemble.shape, self.leaves.positions.tolist()
        yes, no = shape.yes.tolist(), shape.no.tolist()
        nodes = [0] * shape.nodes
        for number in reversed(range(shape.nodes)):
            place = positions[number]
            if place >= 0:
                nodes[number] = made.leaf((*(each.weights[place] for each in sums), 0))
            else:
                test = self.leaves.ensemble.predicate(number)
                nodes[number] = made.branch(test, nodes[yes[number]], nodes[no[number]])
        return (nodes[root] for root in shape.roots.tolist())


@dataclass(frozen=True, eq=False)
class _Sum:
    """A demand in whole numbers: the weights of the inputs (numbers of columns times ``over``), and what they need."""

    weights: list[int]
    #: Numbers of columns are whole after they are multiplied with it.
    over: int
    sure: int
    maybe: int

    @classmethod
    def of(cls, model: Model, demand: Demand, reading: _Reading) -> _Sum:
        """The sum of a demand; the weights of numbers are those of ``over`` times the number."""
        layer = model.layers[0]
        whole, scale = layer.weight.scaled
        row = [Fraction(part) for part in demand.row]
        weights = [int(weight) for weight in np.array(demand.row, dtype=object) @ whole]
        bias = sum((part * value for part, value in zip(row, layer.bias.exact.tolist(), strict=True)), Fraction(0))
        over = lcm(*(v.denominator for column in set(reading.slopes.values()) for v in _numbers(reading, column)))
        weights = [weight if place in reading.slopes else weight * over for place, weight in enumerate(weights)]
        shared = gcd(*weights) or 1
        unit = Fraction(scale * over, shared)
        sure, maybe = _needed(demand, unit, bias)
        return cls([weight // shared for weight in weights], over, sure, maybe)


def _numbers(reading: _Reading, column: int) -> list[Fraction]:
    """The numbers of a column that is weighed, where its cells are points; whole numbers elsewhere."""
    cells = reading.subject.network.cells[column]
    return [end for cell in cells for end in (cell.low, cell.high) if end is not None]


def _needed(demand: Demand, unit: Fraction, bias: Fraction) -> tuple[int, int]:
    """What a sum has to reach so that its demand is met for certain, and so that it may be."""
    low, high = (demand.low - bias) * unit, (demand.high - bias) * unit
    if low < high:  # strictly between the two, and never a score itself
        return ceil(high), floor(low) + 1
    needed = floor(low) + 1 if demand.strict else ceil(low)
    return needed, needed


def _adds(columns: dict[int, Column], reading: _Reading, sums: Sequence[_Sum]) -> dict[int, NDArray[np.int64]]:
    """What the classes of columns add to each sum: weights times numbers, and indicators of one column."""
    found: dict[int, list[list[int]]] = {}

    def row(column: int) -> list[list[int]]:
        return found.setdefault(column, [[0] * (len(sums) + 1) for _ in range(columns[column].classes)])

    for place, column in reading.slopes.items():
        for added, value in zip(row(column), columns[column].samples, strict=True):
            for at, each in enumerate(sums):
                added[at] += int(each.weights[place] * (value * each.over))
    for place, column in reading.singles.items():
        for added, holds in zip(row(column), columns[column].bits(reading.predicates[place]), strict=True):
            for at, each in enumerate(sums):
                added[at] += each.weights[place] if holds else 0
    if any(abs(number) >= _FITS for rows in found.values() for each in rows for number in each):
        raise LargeError
    return {column: np.array(rows, dtype=np.int64) for column, rows in found.items() if any(map(any, rows))}


def _single(
    made: Diagrams,
    root: int,
    sums: Sequence[_Sum],
    condition: Predicate,
    complement: bool,
    columns: dict[int, Column],
) -> Program:
    """One diagram of decisions, behind the condition."""

    def decided(vector: tuple[int, ...]) -> tuple[int, ...]:
        reached = list(zip(vector[:-1], sums, strict=True))
        if all(number >= each.sure for number, each in reached):
            return _NO if complement else _YES
        if any(number < each.maybe for number, each in reached):
            return _YES if complement else _NO
        return _OPEN

    whole = Diagrams(columns, 1)
    return Program(
        whole, (whole.branch(condition, made.copied(root, whole, decided), 0),), {}, _array([2]), _array([1])
    )


def sums_of(subject: Subject) -> list[tuple[list[int], int, int]]:
    """The demands on a model's scores in whole numbers: by input the weight, and what the sum needs, and may need.

    Of models that weigh no numbers; LargeError as in :func:`asked_of`.
    """
    reading = _Reading(subject)
    found = [_Sum.of(subject.model, demand, reading) for demand in event_of(subject.model).demands]
    if any(4 * sum(map(abs, each.weights)) >= _FITS for each in found):
        raise LargeError
    return [(each.weights, each.sure, each.maybe) for each in found]
