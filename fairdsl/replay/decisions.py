"""Who decides the individuals of a table, and what: the one place where rows become decisions.

A rate of rows is about the deployed file, so the file is run on them. Exact arithmetic decides them as well, where the
model is known as a formula: votes at a tie, or a threshold on the border of a float32, may be decided differently. Of a
black box there are its answers alone, of a model that is written in the spec exact arithmetic alone.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from fairdsl.clock import NEVER, Deadline, until
from fairdsl.ir.exact_rows import ExactRows
from fairdsl.ir.model import Model
from fairdsl.ir.opaque import BlackBox
from fairdsl.ir.population import Population, Sample
from fairdsl.ir.question import GroupMetric
from fairdsl.metrics import Counted, Key, counts_of
from fairdsl.numerics.evaluate import BatchEvaluator
from fairdsl.numerics.exact import UNDECIDED
from fairdsl.verdict import Decider

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

#: Outcomes of n individuals by everybody who decides them; negative where a decision stays open.
Decisions = Mapping[Decider, IntArray]
#: Outcomes [n] of individuals [n, attributes]; models that are run are given the nearest floats.
Decide = Callable[[ExactRows], IntArray]

#: Individuals that are decided between two looks at the clock.
_CHUNK = 1 << 12
#: Tables whose decisions are kept: those of one spec are asked about by several demands.
_KEPT = 4


class TimeIsUpError(Exception):
    """The time ended before everybody was decided."""


def deciders_of(model: Model) -> Mapping[Decider, Decide]:
    """Everybody who can say what becomes of individuals; what is run is run about each distinct one once."""
    if isinstance(model.opaque, BlackBox):
        from fairdsl.models.black_boxes.asked import BlackBoxEvaluator  # processes for files are not loaded without one

        box = BlackBoxEvaluator(model)
        return {Decider.ANSWERS: _each_once(box.decisions_however_run)}
    evaluator = BatchEvaluator(model)
    found: dict[Decider, Decide] = {Decider.EXACT: lambda points: evaluator.settled(points).decisions}
    if model.deployed is not None:
        from fairdsl.models.running.as_deployed import as_deployed

        found[Decider.DEPLOYED] = _each_once(as_deployed(model))
    return found


def _each_once(decide: Callable[[FloatArray], IntArray]) -> Decide:
    def decided(points: ExactRows) -> IntArray:
        distinct, where = points.distinct()
        return decide(distinct.floats)[where]

    return decided


def decide(model: Model, points: ExactRows, deadline: Deadline = NEVER) -> Decisions:
    """The outcomes of individuals [n, attributes], each distinct one decided once. Raises TimeIsUpError."""
    distinct, where = points.distinct()
    return {
        by: np.concatenate([*_in_parts(decider, distinct, deadline), np.zeros(0, dtype=np.int64)])[where]
        for by, decider in deciders_of(model).items()
    }


def _in_parts(decider: Decide, points: ExactRows, deadline: Deadline) -> Iterator[IntArray]:
    for start in range(0, len(points), _CHUNK):
        found = None
        if not deadline.passed:
            with until(deadline):
                found = decider(points.at(slice(start, start + _CHUNK)))
        if found is None:
            raise TimeIsUpError
        yield found


def decisions_of_rows(model: Model, population: Population, deadline: Deadline = NEVER) -> Decisions:
    """The decisions on all rows behind a population, in their order; none where there are no rows."""
    sample = population.sample
    if sample is None:
        return {}
    known = _KNOWN.of(model, sample)
    if known is None:
        attributes = range(len(population.columns) - population.has_label)
        known = decide(model, sample.values.keep(attributes), deadline)
        _KNOWN.keep(model, sample, known)
    return known


def rows_counted(question: GroupMetric, population: Population, model: Model) -> dict[Key, Counted]:
    """The rows behind a population by key, and between how many and how many are favoured, whoever decides them."""
    return counts_of(question, population, model, decisions_of_rows(model, population).values())


def differing(decisions: Decisions) -> BoolArray:
    """Which individuals [n] are not decided alike: by exact arithmetic and the deployed file, or by one of them alone,
    which leaves a decision open.
    """
    every = np.stack(list(decisions.values()))
    return np.asarray((every != every[0]).any(axis=0) | (every == UNDECIDED).any(axis=0), dtype=np.bool_)


class _Known:
    """The decisions on the rows of a few tables, by the very model and table."""

    def __init__(self) -> None:
        self._found: OrderedDict[tuple[int, int], tuple[Model, Sample, Decisions]] = OrderedDict()

    def of(self, model: Model, sample: Sample) -> Decisions | None:
        entry = self._found.get((id(model), id(sample)))
        return None if entry is None else entry[2]

    def keep(self, model: Model, sample: Sample, decisions: Decisions) -> None:
        # Model and table are held, so that nothing else gets their identities.
        self._found[id(model), id(sample)] = (model, sample, decisions)
        while len(self._found) > _KEPT:
            self._found.popitem(last=False)


_KNOWN = _Known()
