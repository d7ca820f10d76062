"""Populations that are the rows of a table: every row is decided exactly, by any model, and counted by its key."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from math import prod
from time import monotonic

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.contract import Budget
from fairdsl.backends.subset_sum.window import OutOfTimeError
from fairdsl.ir.exact_rows import ExactRows
from fairdsl.ir.expr import Who, conjoin
from fairdsl.ir.population import Rows
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import GroupMetric
from fairdsl.metrics.joint import Bounds, Joint, Key, cells_of, columns_of, key_of
from fairdsl.numerics.cells import places
from fairdsl.numerics.evaluate import BatchEvaluator
from fairdsl.numerics.exact import UNDECIDED
from fairdsl.numerics.predicates import mask

__all__ = ["joint_of_rows"]

_Places = NDArray[np.int64]


def joint_of_rows(problem: Problem, budget: Budget, *, influence_removed: bool = False) -> Joint:
    """Shares of all rows: favourable ones and all, by key.

    With ``influence_removed`` the model reads every row with every assignment of those columns, each alike, while
    the row's own values count for its key and the conditions. A row whose decision stays open counts as not favourable
    below and as favourable above. Raises OutOfTimeError.
    """
    question, rows = problem.question, problem.population
    if not isinstance(question, GroupMetric) or not isinstance(rows, Rows):
        raise ValueError("rows were asked for of a population that has none")
    values = rows.sample.values
    kept = np.flatnonzero(mask(conjoin(problem.domain.where, question.given), {Who.EACH: values}))
    columns = columns_of(question, rows)
    found, inside = _places(rows, columns, values.at(kept))
    kept = kept[inside]
    changed = question.influence if influence_removed else ()
    least, most, copies = _favourable(problem, values.at(kept), changed, budget)
    keys = [[key_of(cell) for cell in cells_of(rows, column)] for column in columns]
    shape = [len(column) for column in keys]
    flat = np.ravel_multi_index(tuple(found[inside].T), shape) if columns else np.zeros(len(kept), dtype=np.int64)
    whole = rows.sample.rows
    sums = [np.zeros(prod(shape), dtype=np.int64) for _ in range(3)]
    for total, counts in zip(sums, (least, most, np.ones(len(kept), dtype=np.int64)), strict=True):
        np.add.at(total, flat, counts)
    favourable: dict[Key, Bounds] = {}
    everybody: dict[Key, Bounds] = {}
    for key, few, more, count in zip(product(*keys), *(total.tolist() for total in sums), strict=True):
        favourable[key] = Bounds(low=Fraction(few, whole * copies), high=Fraction(more, whole * copies))
        everybody[key] = Bounds.exactly(Fraction(count, whole))
    return Joint(favourable=favourable, total=everybody)


def _places(rows: Rows, columns: tuple[int, ...], values: ExactRows) -> tuple[_Places, NDArray[np.bool_]]:
    """The cell of every row in every column, and which rows have one in all of them."""
    found = np.full((len(values), len(columns)), -1, dtype=np.int64)
    for number, column in enumerate(columns):
        found[:, number] = places(values.column(column), cells_of(rows, column))
    inside: NDArray[np.bool_] = np.all(found >= 0, axis=1)
    return found, inside


def _favourable(
    problem: Problem, values: ExactRows, changed: Sequence[int], budget: Budget
) -> tuple[_Places, _Places, int]:
    """Of each row, how many of its variants are certainly and possibly favourable, and how many variants it has."""
    attributes = problem.domain.attributes
    distinct, where = values.keep(range(len(attributes))).distinct()
    evaluator = BatchEvaluator(problem.model)
    least, most = np.zeros(len(distinct), dtype=np.int64), np.zeros(len(distinct), dtype=np.int64)
    copies = 0
    for assignment in product(*(attributes[column].values or () for column in changed)):
        variant = distinct.replaced(changed, assignment) if changed else distinct
        for start in range(0, len(variant), evaluator.chunk):
            if monotonic() > budget.deadline:
                raise OutOfTimeError
            part = slice(start, start + evaluator.chunk)
            decisions = evaluator.settled(variant.at(part)).decisions
            least[part] += decisions == problem.model.favourable
            most[part] += (decisions == problem.model.favourable) | (decisions == UNDECIDED)
        copies += 1
    return least[where], most[where], copies
