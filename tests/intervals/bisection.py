"""A small deterministic refinement in plain Python: the processes, files and clusters are tested with it.

A unit of its task is unfair where ``weights[0] . position + origin[0] <= 0``; boxes are halved on their longest
side, the largest first. It keeps the contract of ``refine.Refinement`` and no more, and is none: processes that refine
it need no numba.
"""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.intervals.task import AttributeKind, Task
from fairdsl.backends.refining.recheck import Checked, Recheck
from fairdsl.clock import Work
from fairdsl.verdict import Sampled

if TYPE_CHECKING:
    from fairdsl.backends.intervals.refine import Bounds, OpenBox

State = Mapping[str, NDArray[np.generic]]
#: First and last positions.
Box = tuple[tuple[int, ...], tuple[int, ...]]


def plane(sizes: Sequence[int], weights: Sequence[int], bias: int, **changes: Any) -> Task:
    """A task whose unfair units lie on one side of a plane."""
    count = len(sizes)
    nothing = np.zeros((0, 1))
    arrays: dict[str, Any] = {
        "kinds": np.full(count, AttributeKind.LATTICE, dtype=np.int64),
        "sizes": np.array(sizes, dtype=np.int64),
        "first_coordinate": np.arange(count + 1, dtype=np.int64),
        "weights": (np.array([weights], dtype=np.float64),),
        "biases": (),
        "slopes": (),
        "curves": (),
        "rivals": np.array([[1, 0]], dtype=np.int64),
        "margin": np.zeros((1, 2)),
        "strict": True,
        "origin": np.array([[float(bias)]]),
        "moves": nothing,
        "move_start": np.zeros(2, dtype=np.int64),
        "simplex": np.zeros(0, dtype=np.int64),
        "groups": nothing,
        "group_start": np.zeros(2, dtype=np.int64),
        "relaxed": False,
        "corners": np.ones(1, dtype=np.bool_),
        "exact": True,
        "low": np.zeros((1, count), dtype=np.int64),
        "high": np.array([[size - 1 for size in sizes]], dtype=np.int64),
        "comparison": np.zeros(1, dtype=np.int64),
        "component": np.zeros(1, dtype=np.int64),
        "decided": int(np.prod(sizes)),
        "vacuous": 0,
        "undetermined": 0,
        "float32_error": None,
    }
    return Task(**(arrays | changes))


def unfair_units(task: Task) -> int:
    """By brute force."""
    axes = np.meshgrid(*[np.arange(size) for size in task.sizes], indexing="ij")
    value = sum(w * axis for w, axis in zip(task.weights[0][0], axes, strict=True)) + task.origin[0][0]
    return int((value <= 0).sum())


class Bisection:
    """Keys of the tree are texts of 0 and 1; ``leaves`` are open boxes, heaviest first in ``queue``."""

    work = Work("boxes bounded")
    pause = 0.0  # seconds a node, for tests that need time to pass

    @property
    def units_a_node(self) -> float:
        return 1.0

    @property
    def seconds_a_node(self) -> float:
        return self.pause

    def __init__(self, task: Task, memory: int) -> None:
        self.task, self.memory = task, memory
        self.leaves: dict[str, Box] = {}
        self._weights, self._bias = task.weights[0][0].tolist(), float(task.origin[0][0])
        self.falsified = 0
        self.evaluated = 0
        self.forked: list[dict[str, Any]] = []
        self._began = time.monotonic()
        self.course: list[tuple[float, float]] = []

    @classmethod
    def start(cls, task: Task, *, memory: int = 2 << 30) -> Bisection:
        made = cls(task, memory)
        made.leaves[""] = (tuple(task.low[0].tolist()), tuple(task.high[0].tolist()))
        return made

    @classmethod
    def resume(cls, task: Task, state: State, *, memory: int = 2 << 30) -> Bisection:
        made = cls(task, memory)
        boxes = zip(map(tuple, state["low"].tolist()), map(tuple, state["high"].tolist()), strict=True)
        made.leaves = dict(zip(state["keys"].tolist(), boxes, strict=True))
        made.falsified, made.evaluated = int(state["falsified"]), int(state["evaluated"])
        return made

    def _as_state(self, keys: Sequence[str], falsified: int, evaluated: int) -> dict[str, Any]:
        count = len(self.task.sizes)
        boxes = [self.leaves[key] for key in keys]
        return {
            "keys": np.array(list(keys), dtype="U64"),
            "low": np.array([low for low, _ in boxes], dtype=np.int64).reshape(len(keys), count),
            "high": np.array([high for _, high in boxes], dtype=np.int64).reshape(len(keys), count),
            "falsified": np.array(falsified),
            "evaluated": np.array(evaluated),
        }

    def state(self) -> dict[str, Any]:
        return self._as_state(list(self.leaves), self.falsified, self.evaluated)

    def stored(self) -> dict[str, Any]:
        return self.state()

    def additions(self, kept: State) -> Callable[[], dict[str, Any]]:
        """All of it: each of its records is whole."""
        return self.state

    @classmethod
    def opened(
        cls, task: Task, roots: State, kept: State, how: Recheck, *, memory: int = 2 << 30
    ) -> tuple[Bisection, Checked]:
        """What it keeps is believed: how claims are recomputed is tested with the real one."""
        opened = cls.resume(task, kept, memory=memory)
        return opened, Checked(sampled=Sampled(recomputed=opened.evaluated, of=opened.evaluated, wrong=Fraction(0)))

    def advance(self, nodes: int) -> int:
        queue = [(-self._units(box), key) for key, box in self.leaves.items()]
        heapq.heapify(queue)
        done = 0
        while queue and done < nodes:
            _, key = heapq.heappop(queue)
            for child in self._split(key):
                heapq.heappush(queue, (-self._units(self.leaves[child]), child))
            done += 1
            time.sleep(self.pause)
        self.evaluated += done
        return done

    def _units(self, box: Box) -> int:
        return math.prod(last - first + 1 for first, last in zip(*box, strict=True))

    def _split(self, key: str) -> list[str]:
        low, high = self.leaves.pop(key)
        ends = [(weight * a, weight * b) for weight, a, b in zip(self._weights, low, high, strict=True)]
        least = sum(map(min, ends)) + self._bias
        most = sum(map(max, ends)) + self._bias
        if least > 0:
            return []
        if most <= 0:
            self.falsified += self._units((low, high))
            return []
        sides = [b - a for a, b in zip(low, high, strict=True)]
        axis = sides.index(max(sides))
        middle = (low[axis] + high[axis]) // 2
        first = (*high[:axis], middle, *high[axis + 1 :])
        second = (*low[:axis], middle + 1, *low[axis + 1 :])
        self.leaves[key + "0"], self.leaves[key + "1"] = (low, first), (second, high)
        return [key + "0", key + "1"]

    @property
    def nodes(self) -> int:
        return self.evaluated

    @property
    def finished(self) -> bool:
        return not self.leaves

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._began

    @property
    def total(self) -> int:
        return self.task.total

    @property
    def undecided(self) -> float:
        return float(sum(map(self._units, self.leaves.values())))

    def heaviest(self, limit: int) -> list[float]:
        return sorted((float(self._units(box)) for box in self.leaves.values()), reverse=True)[:limit]

    def bounds(self) -> Bounds:
        from fairdsl.backends.intervals.refine import Bounds

        undecided = sum(map(self._units, self.leaves.values()))
        return Bounds(
            violating=Fraction(self.falsified + undecided),
            falsified=Fraction(self.falsified),
            violating_float32=None,
        )

    def open_boxes(self, limit: int) -> list[OpenBox]:
        from fairdsl.backends.intervals.refine import OpenBox

        boxes = sorted(self.leaves.items(), key=lambda leaf: (-self._units(leaf[1]), leaf[0]))[:limit]
        return [
            OpenBox(
                low=low,
                high=high,
                comparison=0,
                undecided=float(self._units((low, high))),
                falsified=0.0,
            )
            for _, (low, high) in boxes
        ]

    def fork(self, parts: int) -> list[dict[str, Any]]:
        heaviest = sorted(self.leaves, key=lambda key: (-self._units(self.leaves[key]), key))
        self.forked = [self._as_state(heaviest[part::parts], 0, 0) for part in range(parts)]
        self.before = (self.falsified, self.evaluated)
        return self.forked

    def join(self, states: Sequence[State]) -> None:
        if len(states) != len(self.forked):
            raise ValueError("another number of parts was forked")
        self.leaves = {}
        self.falsified, self.evaluated = self.before
        for state in states:
            part = Bisection.resume(self.task, state)
            self.leaves |= part.leaves
            self.falsified += part.falsified
            self.evaluated += part.evaluated


class SlowBisection(Bisection):
    """Half a millisecond a node."""

    pause = 0.0005


class FailingBisection(Bisection):
    """Fails in the workers."""

    @classmethod
    def resume(cls, task, state, *, memory=0):  # type: ignore[no-untyped-def]
        raise ZeroDivisionError("on purpose")


class HungryBisection(Bisection):
    """Has no memory in the workers."""

    @classmethod
    def resume(cls, task, state, *, memory=0):  # type: ignore[no-untyped-def]
        raise MemoryError
