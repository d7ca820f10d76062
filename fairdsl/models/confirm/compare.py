"""The file and its reading on the same individuals: every output that was read, and the decision."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.model import Deployed, Readout
from fairdsl.models.confirm.expected import Expected, Texts, expect
from fairdsl.models.confirm.units import Units
from fairdsl.models.float32 import Rounded
from fairdsl.models.graph import GraphOutput, ImportedGraph
from fairdsl.models.readout import NoLabelError, decisions_of
from fairdsl.numerics.evaluate import BatchEvaluator

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
#: By the names of tensors, what the file rounds of them, where that is known.
Bounds = Mapping[str, Rounded]
#: So many individuals who are next to a border are decided in exact arithmetic.
_EXACTLY = 64
#: Of so many individuals it can be said what usually happens, where it happens to more than this share of them.
_SEVERAL, _MOST = 64, 0.5


@dataclass(frozen=True, slots=True)
class Difference:
    """An individual, by its row, of whom the file and its reading do not say the same.

    ``tensor`` names the output, None where the outputs agree and the decisions do not; ``place`` is the position in it.
    """

    row: int
    tensor: str | None
    place: int
    file: Any
    reading: Any


def compare_outputs(
    graph: ImportedGraph, units: Units, found: Sequence[NDArray[Any]], bounds: Bounds
) -> tuple[Difference | None, list[Expected]]:
    """The clearest difference in the first output that has one, and what every output should hold."""
    expected: list[Expected] = []
    different: Difference | None = None
    for output, table in zip(graph.outputs, found, strict=True):
        wanted = expect(output, units, bounds.get(output.name))
        expected.append(wanted)
        if different is None:
            different = _first(output, wanted, table, units, bounds.get(output.name))
    return different, expected


def _first(
    output: GraphOutput, wanted: Expected, table: NDArray[Any], units: Units, bound: Rounded | None
) -> Difference | None:
    if table.shape != wanted.values.shape:
        return Difference(0, output.name, 0, f"{table.shape[1]} numbers", f"{wanted.values.shape[1]} numbers")
    wrong = wanted.disagree(table)
    if isinstance(wanted, Texts):
        if not wrong.any():
            return None
        row, place = np.argwhere(wrong)[0]
        return Difference(int(row), output.name, int(place), table[row, place], wanted.values[row, place])
    wrong &= ~units.unsure[:, None]
    if not wrong.any() and bound is not None:
        wrong = _usually(output, table, units)
    if not wrong.any():
        return None
    with np.errstate(invalid="ignore"):
        away = np.where(wrong, np.abs(table.astype(np.float64) - wanted.values), -1.0)
    row, place = np.unravel_index(int(np.argmax(np.nan_to_num(away, nan=np.inf))), away.shape)
    return Difference(int(row), output.name, int(place), table[row, place], wanted.values[row, place])


def _usually(output: GraphOutput, table: NDArray[Any], units: Units) -> BoolArray:
    """Where numbers differ by more than rounding usually makes of them, if that is so of most individuals.

    A proved bound covers the worst case of every operation at once. Of a deep network it may be so wide that nothing
    would lie outside.
    """
    nothing = np.zeros(table.shape, dtype=np.bool_)
    if len(nothing) < _SEVERAL:
        return nothing
    if not (expect(output, units, quickly=True).disagree(table).mean(axis=0) > _MOST).any():
        return nothing
    wrong = expect(output, units).disagree(table) & ~units.unsure[:, None]
    return np.asarray(wrong & (wrong.mean(axis=0) > _MOST), dtype=np.bool_)


def compare_decisions(
    evaluator: BatchEvaluator,
    deployed: Deployed,
    points: FloatArray,
    table: NDArray[Any],
    wanted: Expected,
    doubtful: Callable[[], BoolArray],
) -> Difference | None:
    """The first individual whom file and model decide differently though no rounding explains it.

    ``table`` is the deciding output, ``wanted`` what it should hold; ``doubtful`` says who is next to a test's border.
    """
    try:
        decided = decisions_of(deployed, table)
    except NoLabelError:
        labels = table[:, 0]
        row = next(i for i, label in enumerate(labels.tolist()) if label not in deployed.labels)
        return Difference(row, None, 0, labels[row], "one of " + ", ".join(str(label) for label in deployed.labels))
    mine, known = _decisions(evaluator, points)
    wrong = (decided != mine) & known & _clear(deployed, wanted, table) & ~doubtful()
    if not wrong.any():
        return None
    row, outcomes = int(np.flatnonzero(wrong)[0]), evaluator.model.outcomes
    return Difference(row, None, 0, outcomes[decided[row]], outcomes[mine[row]])


def _decisions(evaluator: BatchEvaluator, points: FloatArray) -> tuple[IntArray, BoolArray]:
    """The model's decisions [n], and of whom they are known: of some of those next to a border they are worked out."""
    scores = evaluator.approximate(points)
    found = evaluator.approximate_decisions(scores)
    with np.errstate(invalid="ignore"):
        near = ~(evaluator.margins(scores) > 1e-7 * (1 + np.abs(scores).max(axis=1, initial=0.0)))
    rows = np.flatnonzero(near)[:_EXACTLY]
    if rows.size:
        found[rows] = evaluator.settled(points[rows]).decisions
        near[rows] = found[rows] < 0
    return found, ~near


def _clear(deployed: Deployed, wanted: Expected, table: NDArray[Any]) -> BoolArray:
    """For whom every value that rounding leaves possible leads to the same decision, [n]."""
    if isinstance(wanted, Texts):
        return wanted.sure
    low, high = np.where(wanted.exact, table, wanted.low), np.where(wanted.exact, table, wanted.high)
    match deployed.readout:
        case Readout.HIGHEST:
            best = np.argmax(table, axis=1)
            rows = np.arange(len(best))
            ahead = low[rows, best][:, None] > high
            ahead[rows, best] = True
            return np.asarray(ahead.all(axis=1) | wanted.exact.all(axis=1), dtype=np.bool_)
        case Readout.DIFFERENCE:
            apart = (low[:, 1] > high[:, 0]) | (high[:, 1] < low[:, 0])
            return np.asarray(apart | wanted.exact.all(axis=1), dtype=np.bool_)
        case _:
            threshold = float(deployed.threshold or 0)
            column = deployed.channel if deployed.readout is Readout.CHANNEL else 0
            # What the threshold is rounded to is within this of it.
            near = 0.0 if float(np.float32(threshold)) == threshold else 2.0**-23 * abs(threshold)
            above, below = low[:, column] > threshold + near, high[:, column] < threshold - near
            tied = wanted.exact[:, column] & (near == 0)
            return np.asarray(above | below | tied, dtype=np.bool_)
