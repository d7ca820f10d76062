"""Moving points into a target: solve a failing comparison for one of its attributes.

A random point almost never satisfies ``2 * hours + age = 200``. So for every conjunct that fails, one of
its attributes is chosen at random and set to the value that satisfies it, as far as its set allows.
A step may break another conjunct; the sampler repeats and checks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.expr import And, Compare, Member, Not, Or, Predicate, Relation, Who
from fairdsl.numerics.predicates import mask

FloatArray = NDArray[np.float64]


class Values(Protocol):
    """What repair needs to know of an attribute's values."""

    @property
    def single(self) -> bool:
        """Whether there is only one."""

    def draw(self, count: int, rng: np.random.Generator) -> FloatArray:
        """Values at random."""

    def settle(self, wanted: FloatArray) -> FloatArray:
        """The values nearest to the wanted ones."""


def repair(wanted: Predicate, points: FloatArray, columns: Sequence[Values], rng: np.random.Generator) -> FloatArray:
    """The points after one step towards the predicate (negations pushed inward)."""
    moved = points.copy()
    _repair(wanted, moved, np.arange(len(moved)), columns, rng)
    return moved


def _repair(
    wanted: Predicate,
    points: FloatArray,
    rows: NDArray[np.int64],
    columns: Sequence[Values],
    rng: np.random.Generator,
) -> None:
    """Move the failing ones among ``rows``, in place."""
    rows = rows[~mask(wanted, {Who.EACH: points[rows]})]
    if not rows.size:
        return
    match wanted:
        case And(parts):
            for position in rng.permutation(len(parts)).tolist():
                _repair(parts[position], points, rows, columns, rng)
        case Or(parts) if parts:
            choice = rng.integers(0, len(parts), len(rows))
            for position, part in enumerate(parts):
                _repair(part, points, rows[choice == position], columns, rng)
        case Compare():
            _solve(wanted, points, rows, columns, rng)
        case Member(variable=variable, values=values):
            allowed = np.array(sorted(float(value) for value in values))
            drawn = allowed[rng.integers(0, len(allowed), len(rows))]
            points[rows, variable.attribute] = columns[variable.attribute].settle(drawn)
        case Not(Member(variable=variable)):
            points[rows, variable.attribute] = columns[variable.attribute].draw(len(rows), rng)
        case _:
            return


def _solve(
    wanted: Compare,
    points: FloatArray,
    rows: NDArray[np.int64],
    columns: Sequence[Values],
    rng: np.random.Generator,
) -> None:
    terms = [(v.attribute, float(c)) for v, c in wanted.left.terms if not columns[v.attribute].single]
    if not terms:
        return
    total = np.full(len(rows), float(wanted.left.constant))
    for variable, factor in wanted.left.terms:
        total += float(factor) * points[rows, variable.attribute]
    choice = rng.integers(0, len(terms), len(rows))
    # Beyond an inequality's edge by a random amount: all of its solutions should be reached.
    beyond = np.zeros(len(rows))
    if wanted.relation is Relation.NE:
        beyond = rng.choice((-1.0, 1.0), len(rows))
    elif wanted.relation.upwards:
        beyond = np.abs(total) * rng.random(len(rows)) * rng.integers(0, 2, len(rows)) + 1e-9
    elif wanted.relation.downwards:
        beyond = -np.abs(total) * rng.random(len(rows)) * rng.integers(0, 2, len(rows)) - 1e-9
    for position, (attribute, coefficient) in enumerate(terms):
        mine = choice == position
        if mine.any():
            solved = points[rows[mine], attribute] + (beyond[mine] - total[mine]) / coefficient
            points[rows[mine], attribute] = _outward(columns[attribute], solved, beyond[mine] / coefficient)


def _outward(column: Values, solved: FloatArray, direction: FloatArray) -> FloatArray:
    """Rounded to a value of the attribute on the solution's side of the edge, where there is one."""
    settled = column.settle(solved)
    short = (settled - solved) * np.sign(direction) < 0
    if not short.any():
        return settled
    return np.where(short, column.settle(solved + np.sign(direction) * 0.5), settled)
