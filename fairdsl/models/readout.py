"""From the numbers that a model outputs to the outcomes that they stand for, in the output's own arithmetic."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.expr import Relation
from fairdsl.ir.model import Readout
from fairdsl.models.features import rounded


class NoLabelError(ValueError):
    """An output that stands for no outcome."""


class Reading(Protocol):
    """How an output becomes a decision: the fields of :class:`~fairdsl.ir.model.Deployed` of these names."""

    @property
    def readout(self) -> Readout:
        """What is read off."""

    @property
    def channel(self) -> int:
        """The column of a CHANNEL."""

    @property
    def relation(self) -> Relation | None:
        """How the number is compared; None where it is not."""

    @property
    def threshold(self) -> Fraction | None:
        """What it is compared with."""

    @property
    def granted(self) -> int:
        """The outcome where the comparison is true."""

    @property
    def otherwise(self) -> int:
        """The outcome where it is not."""

    @property
    def labels(self) -> tuple[int | str | None, ...]:
        """The label or column that stands for outcome 0, 1, ...; empty: its index; None: every other one."""


def numbers_of(reading: Reading, output: NDArray[Any]) -> NDArray[np.float64]:
    """The numbers that decide, of an output [n, columns]; see :meth:`fairdsl.models.running.runtime.Runtime.scores`."""
    if not len(output):  # nobody has answered, so it is not known how many columns there are
        return np.zeros((0, 1))
    match reading.readout:
        case Readout.LABEL:
            return decisions_of(reading, output).astype(np.float64)[:, None]
        case Readout.DIFFERENCE:
            chosen = output[:, 1:2] - output[:, 0:1]
        case Readout.CHANNEL:
            chosen = output[:, reading.channel, None]
        case Readout.SCORE | Readout.HIGHEST:
            chosen = output
    return np.asarray(chosen, dtype=np.float64)


def decisions_of(reading: Reading, output: NDArray[Any]) -> NDArray[np.int64]:
    """The outcomes [n] of an output [n, columns]; raises NoLabelError for a label that stands for none."""
    if not len(output):  # nobody has answered, so it is not known how many columns there are
        return np.zeros(0, dtype=np.int64)
    match reading.readout:
        case Readout.LABEL:
            return _outcomes(reading, output[:, 0])
        case Readout.HIGHEST:
            return _outcomes(reading, np.argmax(output, axis=1))
        case Readout.DIFFERENCE:
            true = _compare(output[:, 1], reading.relation, output[:, 0])
        case Readout.SCORE | Readout.CHANNEL:
            threshold = np.asarray(rounded(reading.threshold or Fraction(0), str(output.dtype)))
            column = output[:, reading.channel if reading.readout is Readout.CHANNEL else 0]
            true = _compare(column, reading.relation, threshold.astype(output.dtype))
    return np.where(true, reading.granted, reading.otherwise).astype(np.int64)


def _outcomes(reading: Reading, values: NDArray[Any]) -> NDArray[np.int64]:
    """The outcomes that labels stand for."""
    if not reading.labels:
        return values.astype(np.int64)
    rest = reading.labels.index(None) if None in reading.labels else -1
    outcomes = np.full(len(values), rest, dtype=np.int64)
    for outcome, label in enumerate(reading.labels):
        if label is not None:
            outcomes[values == label] = outcome
    if (outcomes < 0).any():
        raise NoLabelError(f"`{values[outcomes < 0][0]}` is not a label of the file")
    return outcomes


def _compare(left: NDArray[Any], relation: Relation | None, right: NDArray[Any]) -> NDArray[np.bool_]:
    match relation:
        case Relation.GT:
            return left > right
        case Relation.GE:
            return left >= right
        case Relation.LT:
            return left < right
        case Relation.LE:
            return left <= right
        case _:
            raise ValueError(f"no decision compares by {relation}")
