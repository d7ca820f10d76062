"""The rows that a distribution was estimated from, by group: how many there are and how many of them the model favours.

The counts do not depend on the distribution: they are what the data themselves say of a group. Where several decide the
rows (exact arithmetic and the deployed file), the favoured are between the fewest and the most that any of them
favours.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.exact_rows import ExactRows
from fairdsl.ir.expr import Who
from fairdsl.ir.model import Model
from fairdsl.ir.population import Population, Sample
from fairdsl.ir.question import GroupMetric
from fairdsl.metrics.joint import Counted, Key, cells_of, columns_of, key_of, keys_of
from fairdsl.numerics.cells import places
from fairdsl.numerics.exact import UNDECIDED
from fairdsl.numerics.predicates import mask

BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]


def counts_of(
    question: GroupMetric, population: Population, model: Model, readings: Iterable[IntArray]
) -> dict[Key, Counted]:
    """Rows and favoured rows by key; empty where the distribution rests on no rows.

    ``readings`` are outcomes of all rows, by everybody who decides them; a row whose decision stays open may be
    favoured or not. Raises ValueError for a model without a favourable outcome.
    """
    sample = population.sample
    if sample is None:
        return {}
    if model.favourable is None:
        raise ValueError("without a favourable outcome there are no favoured rows")
    found = [
        _by_key(question, population, sample, model.favours(decisions), decisions == UNDECIDED)
        for decisions in readings
    ]
    return {key: _around([counts[key] for counts in found]) for key in found[0]}


def _around(counts: Sequence[Counted]) -> Counted:
    """What contains each of several counts of the same rows."""
    least, most = min(count.least for count in counts), max(count.most for count in counts)
    return Counted(rows=counts[0].rows, least=least, most=most)


def rows_of(question: GroupMetric, population: Population) -> dict[Key, Counted]:
    """The rows alone, where nobody has decided about them: any of them may be favoured."""
    sample = population.sample
    if sample is None:
        return {}
    open_ = np.ones(sample.rows, dtype=np.bool_)
    return _by_key(question, population, sample, ~open_, open_)


def _by_key(
    question: GroupMetric, population: Population, sample: Sample, favoured: BoolArray, open_: BoolArray
) -> dict[Key, Counted]:
    """Count the rows that meet ``given``; a row with a value outside all cells belongs to no key.

    Never empty, since a distribution from no rows is: where no row counts, every key has a count of 0.
    """
    kept = np.flatnonzero(mask(question.given, {Who.EACH: sample.values}))
    columns = columns_of(question, population)
    distinct, where = sample.values.keep(columns).at(kept).distinct()
    keys = _keys(columns, distinct, population)
    rows = np.bincount(where, minlength=len(keys))
    least = np.bincount(where[favoured[kept]], minlength=len(keys))
    unsure = np.bincount(where[open_[kept]], minlength=len(keys))
    counted: dict[Key, Counted] = {}
    for key, all_, few, more in zip(keys, rows.tolist(), least.tolist(), unsure.tolist(), strict=True):
        if key is not None:
            counted[key] = counted.get(key, _NOBODY) + Counted(rows=all_, least=few, most=few + more)
    return counted or dict.fromkeys(keys_of(question, population), _NOBODY)


_NOBODY = Counted(rows=0, least=0, most=0)


def _keys(columns: Sequence[int], rows: ExactRows, population: Population) -> list[Key | None]:
    """The key of each row; None of one with a number that lies in no cell."""
    keys: list[Key | None] = [()] * len(rows)
    for number, column in enumerate(columns):
        cells = cells_of(population, column)
        numbers = [key_of(cell) for cell in cells]
        for row, place in enumerate(places(rows.column(number), cells).tolist()):
            before = keys[row]
            keys[row] = None if before is None or place < 0 else (*before, numbers[place])
    return keys
