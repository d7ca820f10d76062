"""A task: one question about many trees as plain arrays, from which all that a refinement needs follows.

Self-contained, so that it can be written to a file. A node tests whether somebody's part along its axis is one of those
that pass, then goes on to one of two nodes before it; terminals follow themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.leaf_boxes.graph import TERMINAL
from fairdsl.backends.leaf_boxes.lowering import IN, Lowered
from fairdsl.backends.leaf_boxes.scores import Sums
from fairdsl.backends.leaf_boxes.sizes import Sizes

Integers = NDArray[np.int64]

#: Sizes and sums of values stay below.
FITS = 2**62
#: Axes, and parts of an axis that is not ordered, for sets of them are bits.
SETS = 62
#: Tests one after the other.
_DEEP = 400


@dataclass(frozen=True, kw_only=True, eq=False)
class Task:
    """A question as arrays; see the module's docstring.

    Of each node the ``axis`` (-1: a terminal), the parts that pass (how many from the first, or a set of bits), the
    nodes that follow, and what a terminal adds to the score. ``roots`` are [assignments, trees + 1], the last tree ends
    in the terminal ``among`` for those who are asked about. ``inside``: whether two people of one assignment may be
    compared. ``attributes`` are those of the axes, ``parts`` their sizes, and ``factor`` the size of everything else. A
    score is below for sure up to ``below``, above from ``above`` on, in units of one over ``denominator``.
    """

    axis: Integers
    passing: Integers
    yes: Integers
    no: Integers
    values: Integers
    roots: Integers
    inside: NDArray[np.bool_]
    attributes: Integers
    ordered: NDArray[np.bool_]
    parts: tuple[Integers, ...]
    among: int
    factor: int
    below: int
    above: int
    denominator: int

    def sizes(self) -> Sizes:
        """The axes of boxes."""
        parts = [each.tolist() for each in self.parts]
        return Sizes(self.attributes.tolist(), parts, self.ordered, self.factor, self.axis, self.passing)


def task_of(lowered: Lowered) -> Task | None:
    """The task of a question; None unless sums of one value of each tree decide, and all that differ are compared."""
    reading, graph = lowered.decides.read(lowered.graph), lowered.graph
    if not isinstance(reading, Sums) or lowered.compared is not None or (single := reading.single()) is None:
        return None
    sizes = Sizes.over(lowered)
    if len(sizes.axes) > SETS:
        return None
    values, below, above, denominator = single
    return Task(
        axis=sizes.axis,
        passing=sizes.passing,
        yes=np.array(graph.yes, dtype=np.int64),
        no=np.array(graph.no, dtype=np.int64),
        values=values,
        roots=np.array(lowered.roots, dtype=np.int64),
        inside=np.array(lowered.inside, dtype=np.bool_),
        attributes=np.array(sizes.axes, dtype=np.int64),
        ordered=sizes.ordered,
        parts=tuple(each.astype(np.int64) if sum(each.tolist()) < FITS else each for each in sizes.parts),
        among=graph.terminals[IN],
        factor=sizes.factor,
        below=below,
        above=above,
        denominator=denominator,
    )


def check_task(task: Task) -> None:
    """ValueError for a task whose arrays do not fit together: refining follows their numbers without looking."""
    axes = len(task.attributes)
    demand(axes <= SETS and task.attributes.shape == task.ordered.shape == (axes,), "its axes differ")
    demand(task.attributes.dtype == np.int64, "`attributes` is not of whole numbers")
    demand(task.ordered.dtype == task.inside.dtype == np.bool_, "truth values are missing")
    demand(len(task.parts) == axes and task.factor >= 0 and task.denominator > 0, "sizes are missing")
    for parts, ordered in zip(task.parts, task.ordered.tolist(), strict=True):
        demand(parts.ndim == 1 and parts.dtype == np.int64 and len(parts) > 1, "an axis without parts")
        demand(bool((parts >= 0).all()) and sum(parts.tolist()) < FITS, "parts are too large")
        demand(ordered or len(parts) <= SETS, "too many parts for a set")
    check_graph(task, [*map(len, task.parts)], task.ordered, len(task.inside))
    demand(task.inside.ndim == 1 and task.roots.shape[1] > 1, "it has no trees")
    demand(task.values.shape == task.axis.shape and task.values.dtype == np.int64, "its values differ")
    demand(0 <= task.among < len(task.axis) and task.axis[task.among] == TERMINAL, "nobody is asked about")
    largest = int(np.abs(task.values[task.axis == TERMINAL]).max(initial=0))
    whole = task.roots.shape[1] * largest + max(abs(task.below), abs(task.above))
    demand(whole < FITS and task.below < task.above, "scores are too large, or on both sides of the limits")


class Drawn(Protocol):
    """Trees as one graph."""

    @property
    def axis(self) -> Integers:
        """Of each node the axis that it tests."""

    @property
    def passing(self) -> Integers:
        """The parts that pass."""

    @property
    def yes(self) -> Integers:
        """The node that follows for them."""

    @property
    def no(self) -> Integers:
        """The one that follows for others."""

    @property
    def roots(self) -> Integers:
        """The first nodes, [assignments, trees]."""


def check_graph(trees: Drawn, counts: Sequence[int], ordered: NDArray[np.bool_], people: int) -> None:
    """ValueError unless the roots are of so many people, and nodes follow those before them, along few enough of them,
    and test parts that there are, of axes with so many.
    """
    nodes = len(trees.axis)
    demand(nodes > 0, "it has no nodes")
    for name in ("axis", "passing", "yes", "no", "roots"):
        array = getattr(trees, name)
        demand(array.dtype == np.int64, f"`{name}` is not of whole numbers")
        demand(name == "roots" or array.shape == (nodes,), "its nodes differ")
    demand(trees.roots.ndim == 2 and trees.roots.shape[1] > 0, "it has no trees")
    demand(len(trees.roots) == people > 0, "assignments are missing")
    demand(bool(((trees.roots >= 0) & (trees.roots < nodes)).all()), "a root is not there")
    inner = trees.axis != TERMINAL
    demand(bool(((trees.axis >= TERMINAL) & (trees.axis < len(counts))).all()), "an axis is not there")
    parts = np.array([*counts, 0], dtype=np.int64)[trees.axis]
    sets = np.array([*~ordered, False])[trees.axis]
    most = np.where(sets, (1 << np.where(sets, parts, 0)) - 1, parts)
    demand(bool(((trees.passing >= 0) & (trees.passing <= most))[inner].all()), "a test of parts that are not there")
    for follows in (trees.yes, trees.no):
        demand(bool(((follows >= 0) & (follows < np.arange(nodes)))[inner].all()), "a node follows a later one")
    deep = [0] * nodes
    for node in np.flatnonzero(inner).tolist():
        deep[node] = 1 + max(deep[int(trees.yes[node])], deep[int(trees.no[node])])
    demand(max(deep) <= _DEEP, "a tree is too deep")


def demand(fits: bool | np.bool_, otherwise: str) -> None:
    """ValueError that says what is wrong, unless it fits."""
    if not fits:
        raise ValueError(otherwise)
