"""A task: one question about many trees as plain arrays, from which all that a refinement needs follows.

Self-contained, so that it can be written to a file. A node tests whether somebody's part along its axis is one of those
that pass, then goes on to one of two nodes before it; terminals follow themselves.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.leaf_boxes.descent import Sizes
from fairdsl.backends.leaf_boxes.graph import TERMINAL
from fairdsl.backends.leaf_boxes.lowering import IN, Lowered
from fairdsl.backends.leaf_boxes.scores import Sums

__all__ = ["Task", "check_task", "task_of"]

Integers = NDArray[np.int64]

#: Sizes and sums of values stay below.
_FITS = 2**62
#: Axes, and parts of an axis that is not ordered, for sets of them are bits; tests one after the other.
_SETS, _DEEP = 62, 400


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
    if len(sizes.axes) > _SETS:
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
        parts=tuple(each.astype(np.int64) if sum(each.tolist()) < _FITS else each for each in sizes.parts),
        among=graph.terminals[IN],
        factor=sizes.factor,
        below=below,
        above=above,
        denominator=denominator,
    )


def check_task(task: Task) -> None:
    """ValueError for a task whose arrays do not fit together: refining follows their numbers without looking."""
    nodes, axes = len(task.axis), len(task.attributes)
    one = ("passing", "yes", "no", "values")
    _demand(nodes > 0 and all(getattr(task, name).shape == (nodes,) for name in ("axis", *one)), "its nodes differ")
    for name in ("axis", *one, "roots", "attributes"):
        _demand(getattr(task, name).dtype == np.int64, f"`{name}` is not of whole numbers")
    _demand(axes <= _SETS and task.attributes.shape == task.ordered.shape == (axes,), "its axes differ")
    _demand(task.ordered.dtype == task.inside.dtype == np.bool_, "truth values are missing")
    _demand(task.roots.ndim == 2 and task.roots.shape[1] > 1 and len(task.roots) > 0, "it has no trees")
    _demand(task.inside.shape == (len(task.roots),), "assignments are missing")
    _demand(bool(((task.roots >= 0) & (task.roots < nodes)).all()), "a root is not there")
    _demand(0 <= task.among < nodes and task.axis[task.among] == TERMINAL, "nobody is asked about")
    _demand(len(task.parts) == axes and task.factor >= 0 and task.denominator > 0, "sizes are missing")
    for parts, ordered in zip(task.parts, task.ordered.tolist(), strict=True):
        _demand(parts.ndim == 1 and parts.dtype == np.int64 and len(parts) > 1, "an axis without parts")
        _demand(bool((parts >= 0).all()) and sum(parts.tolist()) < _FITS, "parts are too large")
        _demand(ordered or len(parts) <= _SETS, "too many parts for a set")
    _check_nodes(task)
    largest = int(np.abs(task.values[task.axis == TERMINAL]).max(initial=0))
    whole = task.roots.shape[1] * largest + max(abs(task.below), abs(task.above))
    _demand(whole < _FITS and task.below < task.above, "scores are too large, or on both sides of the limits")


def _check_nodes(task: Task) -> None:
    """Nodes follow those before them, along few enough of them, and test parts that there are."""
    nodes = np.arange(len(task.axis))
    inner = task.axis != TERMINAL
    _demand(bool(((task.axis >= TERMINAL) & (task.axis < len(task.parts))).all()), "an axis is not there")
    counts = np.array([*map(len, task.parts), 0], dtype=np.int64)[task.axis]
    sets = np.array([*~task.ordered, False])[task.axis]
    most = np.where(sets, (1 << np.where(sets, counts, 0)) - 1, counts)
    _demand(bool(((task.passing >= 0) & (task.passing <= most))[inner].all()), "a test of parts that are not there")
    for follows in (task.yes, task.no):
        _demand(bool(((follows >= 0) & (follows < nodes))[inner].all()), "a node follows a later one")
    deep = [0] * len(nodes)
    for node in np.flatnonzero(inner).tolist():
        deep[node] = 1 + max(deep[int(task.yes[node])], deep[int(task.no[node])])
    _demand(max(deep) <= _DEEP, "a tree is too deep")


def _demand(fits: bool | np.bool_, otherwise: str) -> None:
    if not fits:
        raise ValueError(otherwise)
