"""Small boxes in doubt, decided exactly: whose score rounding leaves next to the threshold, or on it.

Every individual of such a box is evaluated as the task's own numbers say, the float64 ones and what they leave out, by
the arithmetic that decides individuals elsewhere (:mod:`fairdsl.numerics.evaluate`): float64 with a bound of its own,
more digits, rational numbers. What is open then stays so: inside of a threshold's enclosure, and where curved units
cannot be told from it.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.intervals.kernels.slots import EVALUATED, FREE, NODES, TIED, Tree
from fairdsl.backends.intervals.kernels.split import NOTHING
from fairdsl.backends.intervals.kernels.tree import LEAST
from fairdsl.backends.intervals.remainders import exactly
from fairdsl.backends.intervals.task import AttributeKind, Task
from fairdsl.clock import UNITS, Work, spend
from fairdsl.ir.exact_array import ExactArray, nearest_floats
from fairdsl.ir.exact_rows import Column, ExactRows, Scaled
from fairdsl.ir.expr import Relation
from fairdsl.ir.feature import AttributeInput
from fairdsl.ir.model import ByHighest, ByThreshold, Curve, DecisionRule, Layer, Model
from fairdsl.numerics.evaluate import BatchEvaluator
from fairdsl.numerics.exact import UNDECIDED

Integers = NDArray[np.int64]

#: What is counted where effort is given: an individual that takes more than float64.
_DECIDED = Work("individuals decided exactly", UNITS)
#: Seconds that such an individual takes, one in float64, and all that are evaluated at once whoever they are.
_EXACT, _FLOAT, _ALL = 2.5e-4, 1e-5, 1e-3
#: Multiplications of integers a second, as many as a curved unit takes, and seconds of a turn.
_PACE, _CURVED, _SECONDS = 5e6, 2000, 0.05


@dataclass(frozen=True, slots=True)
class Counted:
    """What became of a box's units: how many there are, are treated unfairly, and are open still."""

    units: int
    unfair: int
    open: int


class Ties:
    """The boxes of a tree that are decided so, when nothing else is left to do."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._individuals: Individuals | None = None
        self._known = _known(task)
        #: The nodes that wait, the next one last; None where the tree has to be asked. What decides the next one.
        self._waiting: list[int] | None = None
        self._deciding: Iterator[float] | None = None

    def forget(self) -> None:
        """The tree has changed, or is another one."""
        self._waiting = self._deciding = None

    def of(self, tree: Tree) -> Integers:
        """The nodes that wait."""
        if not self._known:
            return np.zeros(0, dtype=np.int64)
        held = np.flatnonzero(tree.slot[: tree.counts[NODES]] >= 0)
        waiting: Integers = held[tree.split[tree.slot[held]] == TIED]
        return waiting

    def left(self, tree: Tree) -> bool:
        """Whether there are any."""
        if self._waiting is None:
            self._waiting = self.of(tree)[::-1].tolist()
        return bool(self._waiting)

    def settle(self, tree: Tree, nodes: int) -> int:
        """Evaluate some individuals, and so for a turn or so many times; returns how often it was. Deterministic."""
        spent, seconds = 0, 0.0
        while spent < nodes and seconds < _SECONDS and self.left(tree):
            if self._deciding is None:
                self._deciding = self._decide(tree)
            seconds += next(self._deciding, 0.0)
            spent += 1
        tree.counts[EVALUATED] += spent
        return spent

    def _decide(self, tree: Tree) -> Iterator[float]:
        """Decide the boxes, one after the other; yields now and then the seconds that it takes."""
        if self._individuals is None:
            self._individuals = Individuals(self._task)
        while self._waiting:
            slot = tree.slot[self._waiting[-1]]
            box = tree.low[slot], tree.high[slot], int(tree.comparison[slot])
            found = yield from self._individuals.counted(*box)
            _enter(tree, self._waiting.pop(), found)


def _known(task: Task) -> bool:
    """Whether the task has the model's own numbers, and they say who gets which outcome."""
    finite = all(np.isfinite(array).all() for array in (*task.rounded, task.margin))
    return finite and (task.exact or bool(task.remainders)) and (len(task.rivals) == 1 or _every_two(task))


def _every_two(task: Task) -> bool:
    """Whether the rows are the differences of every two outcomes' scores, in order."""
    pairs = combinations(range(int(task.rivals.max()) + 1), 2)
    return bool(task.rivals.tolist() == [list(pair) for pair in pairs])


def _enter(tree: Tree, node: int, found: Counted) -> None:
    """What a box came to, as the kernels write it. What a deployed file may decide otherwise stays as it is."""
    slot, mass = tree.slot[node], tree.mass[node]
    most, least = (found.unfair + found.open) / found.units, found.unfair / found.units * (1.0 - 1e-15)
    tree.violating[node] = max(mass * most, LEAST) if most else 0.0
    tree.falsified[node] = max(tree.falsified[node], mass * least * (1.0 - 1e-9))
    tree.violating32[node] = max(tree.violating[node], tree.violating32[node])
    tree.split[slot] = NOTHING
    if not most:
        tree.slot[node] = -1
        tree.free[tree.counts[FREE]] = slot
        tree.counts[FREE] += 1


class Individuals:
    """The individuals of a task, in the model's own numbers."""

    def __init__(self, task: Task) -> None:
        self._task = task
        numbers = iter(_numbers(task))
        weights, biases, slopes = ([next(numbers) for _ in some] for some in (task.weights, task.biases, task.slopes))
        groups = next(numbers)
        first = ExactArray.joined([_flat(weights[0]), _flat(groups)])
        scaled, self._denominator = first.scaled
        size = weights[0].floats.size
        self._columns = scaled[:size].reshape(weights[0].shape).T
        self._groups = scaled[size:].reshape(groups.shape)
        self._evaluator = BatchEvaluator(_model(task, weights, biases, slopes))
        layers = self._evaluator.model.layers
        price = sum(layer.weight.floats.size + _CURVED * np.count_nonzero(layer.curve_codes) for layer in layers)
        #: Seconds that an individual may take, and how many are evaluated at once.
        self._seconds = _EXACT + price / _PACE
        self._together = max(1, int(_SECONDS / self._seconds))

    def counted(self, low: Integers, high: Integers, comparison: int) -> Generator[float, None, Counted]:
        """What the units of a box come to; yields the seconds that some individuals took, by their number alone."""
        start, stop = self._task.group_start[comparison : comparison + 2].tolist()
        units = list(product(*(range(a, b + 1) for a, b in zip(low.tolist(), high.tolist(), strict=True))))
        people = [(unit, group) for unit in range(len(units)) for group in range(start, stop)]
        met: list[set[int]] = [set() for _ in units]
        for at in range(0, len(people), self._together):
            # Two decisions of a unit are enough.
            some = [each for each in people[at : at + self._together] if len(met[each[0]] - {UNDECIDED}) < 2]
            if some:
                found = self._evaluator.settled(self._rows(units, some))
                for (unit, _), decision in zip(some, found.decisions.tolist(), strict=True):
                    met[unit].add(decision)
                exact = found.doubled + found.exactly
                spend(_DECIDED, exact, each=self._seconds)
                yield _ALL + _FLOAT * len(some) + self._seconds * exact
        unfair = [len(decisions - {UNDECIDED}) > 1 for decisions in met]
        left = sum(UNDECIDED in decisions and not known for decisions, known in zip(met, unfair, strict=True))
        return Counted(len(units), sum(unfair), left)

    def _rows(self, units: list[tuple[int, ...]], people: list[tuple[int, int]]) -> ExactRows:
        """What the first layer's units add up to, exactly."""
        task = self._task
        positions = np.array([units[unit] for unit, _ in people], dtype=np.int64).reshape(len(people), -1)
        total = self._groups[[group for _, group in people]]
        for attribute, first in enumerate(task.first_coordinate[:-1].tolist()):
            place = positions[:, attribute]
            if task.kinds[attribute] == AttributeKind.TABLE:
                total = total + self._columns[first + place]
            else:
                total = total + self._columns[first][None, :] * place.astype(object)[:, None]
        return ExactRows.of_columns([self._column(numerators) for numerators in total.T.tolist()], len(people))

    def _column(self, numerators: list[int]) -> Column:
        numbers = [Fraction(numerator, self._denominator) for numerator in numerators]
        floats, same = nearest_floats(numbers)
        return np.array(floats) if same else Scaled.of_fractions(numbers)


def _numbers(task: Task) -> list[ExactArray]:
    """The model's own numbers of each array that individuals are evaluated by."""
    arrays = task.rounded
    if task.exact:
        return [ExactArray.from_floats(array) for array in arrays]
    return [exactly(array, digits) for array, digits in zip(arrays, task.remainders, strict=True)]


def _flat(array: ExactArray) -> ExactArray:
    return ExactArray(array.floats.ravel(), None if array.fractions is None else array.fractions.ravel())


def _model(task: Task, weights: list[ExactArray], biases: list[ExactArray], slopes: list[ExactArray]) -> Model:
    """The model above the first layer's sums, which are its inputs."""
    width = weights[0].shape[0]
    maps = [(np.eye(width), ExactArray.from_floats(np.zeros(width))), *zip(weights[1:], biases, strict=True)]
    layers = [
        Layer(
            weight=weight if isinstance(weight, ExactArray) else ExactArray.from_floats(weight),
            bias=bias,
            slope=slope,
            curves=tuple(map(Curve, curves.tolist())),
        )
        for (weight, bias), slope, curves in zip(maps, slopes, task.curves, strict=False)
    ]
    rule, scores = _rule(task)
    rows = ExactArray.from_floats(np.eye(width)) if len(weights) == 1 else weights[-1]
    bias = ExactArray.from_floats(np.zeros(width)) if len(weights) == 1 else biases[-1]
    last = Layer(
        weight=ExactArray.from_fractions(scores @ rows.exact),
        bias=ExactArray.from_fractions(scores @ bias.exact),
        slope=ExactArray.from_floats(np.ones(len(scores))),
    )
    outcomes = tuple(str(number) for number in range(max(2, len(scores))))
    inputs = tuple(AttributeInput(number) for number in range(width))
    return Model(name="task", outcomes=outcomes, inputs=inputs, layers=(*layers, last), rule=rule)


def _rule(task: Task) -> tuple[DecisionRule, NDArray[np.object_]]:
    """How the outcomes follow from scores, and the scores from the rows, [scores, rows]."""
    rows = len(task.rivals)
    if rows == 1:
        low, high = task.margin[0].tolist()
        if low != high:  # a margin may be reached, the ends of an enclosure are not
            low, high = np.nextafter(low, -np.inf), np.nextafter(high, np.inf)
        relation = Relation.GT if task.strict else Relation.GE
        rule = ByThreshold(relation=relation, low=Fraction(-high), high=Fraction(-low), granted=1, otherwise=0)
        return rule, np.array([[1]], dtype=object)
    outcomes = int(task.rivals.max()) + 1
    # Row (0, j) is the first score less the j-th.
    scores = np.zeros((outcomes, rows), dtype=object)
    scores[range(1, outcomes), range(outcomes - 1)] = -1
    return ByHighest(), scores
