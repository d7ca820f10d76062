"""Cells of which only the mass is known: the mass of an event at least and at most, wherever in them values lie.

Once the cells of all columns are drawn, somebody chooses the class of each open cell, for the event or against it. So a
state of a course becomes the *set* of states that choices may have led to, and who chooses has what he wants where any
state of the set gives it. Sets of one future are one set: a state that gives what is wanted whatever follows settles
its set, and one that never gives it is left out. Both ends are those over all distributions with these masses, whatever
values within cells depend on: each choice is such a distribution, and none gives more or less.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.rates.columns import Column
from fairdsl.backends.rates.states import Course, Step
from fairdsl.clock import look

__all__ = ["chosen"]

IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

#: In a row of states: one that settles the set, and the padding behind the last.
_SETTLED, _NOTHING = -1, 1 << 62


def chosen(course: Course, columns: Mapping[int, Column], limit: float, *, favouring: bool) -> Course | None:
    """The course over what is drawn, where classes of open cells are chosen for the event or against it.

    None where there are too many sets of states.
    """
    layers = _layers(course, course.maybe if favouring else ~course.sure, impossible=not favouring)
    sets = _as_sets(layers[0][:1, None])
    steps: list[Step] = []
    work = 0.0
    for step, layer in zip(course.steps, layers[1:], strict=True):
        look()
        if step.follows is None:
            steps.append(Step(step.column, None, len(sets)))
            continue
        choices = columns[step.column].choices
        work += sets.size * sum(map(len, choices))
        if work > limit:
            return None
        follows = np.where(step.follows < 0, step.states, step.follows)
        sets, number = _together([_images(sets, follows[:, list(choice)], layer) for choice in choices])
        lost = (sets[:, 0] == (_NOTHING if favouring else _SETTLED))[number]
        steps.append(Step(step.column, np.where(lost, -1, number).reshape(len(choices), -1).T, len(sets)))
    met = sets[:, 0] == (_SETTLED if favouring else _NOTHING)
    return Course(tuple(steps), met, met, course.products + work)


def _layers(course: Course, wanted: BoolArray, *, impossible: bool) -> list[IntArray]:
    """What stands for each state, and behind them for what is impossible, before every step and after the last.

    Its number, ``_SETTLED`` where whatever follows is wanted, ``_NOTHING`` where nothing is.
    """
    always, never = np.append(wanted, impossible), np.append(~wanted, not impossible)
    layers = [_codes(always, never)]
    for step in reversed(course.steps):
        if step.follows is not None:
            follows = np.where(step.follows < 0, step.states, step.follows)
            always = np.append(always[follows].all(axis=1), impossible)
            never = np.append(never[follows].all(axis=1), not impossible)
        layers.append(_codes(always, never))
    return layers[::-1]


def _codes(always: BoolArray, never: BoolArray) -> IntArray:
    return np.where(always, _SETTLED, np.where(never, _NOTHING, np.arange(len(always))))


def _images(sets: IntArray, follows: IntArray, layer: IntArray) -> IntArray:
    """The sets after a step of which some classes may be chosen: ``follows`` of states, [states, classes]."""
    live = (sets != _SETTLED) & (sets != _NOTHING)
    codes = layer[follows[np.where(live, sets, 0)]]
    return _as_sets(np.where(live[..., None], codes, sets[..., None]).reshape(len(sets), -1))


def _as_sets(rows: IntArray) -> IntArray:
    """Rows of states in order, each state once; nothing beside one that settles the set."""
    rows = np.sort(rows, axis=1)
    again = np.zeros(rows.shape, np.bool_)
    again[:, 1:] = (rows[:, 1:] == rows[:, :-1]) | (rows[:, :1] == _SETTLED)
    rows = np.sort(np.where(again, _NOTHING, rows), axis=1)
    return rows[:, : max(1, int((rows != _NOTHING).sum(axis=1).max(initial=1)))]


def _together(found: Sequence[IntArray]) -> tuple[IntArray, IntArray]:
    """Each different set once, and for every row the number of its set."""
    width = max(each.shape[1] for each in found)
    rows = np.full((sum(map(len, found)), width), _NOTHING)
    start = 0
    for each in found:
        rows[start : start + len(each), : each.shape[1]] = each
        start += len(each)
    sets, number = np.unique(rows, axis=0, return_inverse=True)
    return sets, number.reshape(-1)
