"""What a search asks of a model: approximate scores to steer by, and decisions with nothing left in doubt.

Any kind of model can be searched that comes with these few functions; everything else of the search is about
domains and pairs.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.model import Model
from fairdsl.models import evaluators
from fairdsl.numerics.evaluate import Around, BatchEvaluator, Settled

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


class Evaluator(Protocol):
    """Evaluates one model on many individuals, [n, attributes], whose floats are taken as exact numbers."""

    @property
    def model(self) -> Model:
        """The model that is evaluated."""

    def approximate(self, points: FloatArray) -> FloatArray:
        """Scores [n, k] without an error bound."""

    def approximate_decisions(self, scores: FloatArray) -> IntArray:
        """The outcomes [n] that rows of scores come to, as if they were exact."""

    def margins(self, scores: FloatArray) -> FloatArray:
        """How far each row of scores is from another decision, [n], roughly."""

    def settled(self, points: FloatArray) -> Settled:
        """Proved decisions, and scores with their errors."""


class Counted:
    """An evaluator that counts the individuals whose approximate scores were asked for: the cost of a strategy.

    Counts, unlike seconds, are the same in every run.
    """

    def __init__(self, inner: Evaluator) -> None:
        self._inner = inner
        self.evaluated = 0

    @property
    def model(self) -> Model:
        """The model that is evaluated."""
        return self._inner.model

    def approximate(self, points: FloatArray) -> FloatArray:
        """Scores [n, k] without an error bound."""
        self.evaluated += len(points)
        return self._inner.approximate(points)

    def together(self, members: FloatArray, around: Around | None = None) -> FloatArray:
        """Scores [n * k, scores] of individuals [n, k, attributes], the k of each row alike but for some attributes.

        Those of each row are all ``around`` another individual, if that is given.
        """
        self.evaluated += members.shape[0] * members.shape[1]
        if isinstance(self._inner, BatchEvaluator):
            return self._inner.together(members, around)
        return self._inner.approximate(members.reshape(-1, members.shape[2]))

    def charge(self, individuals: int) -> None:
        """Count individuals that a strategy evaluated in a way of its own."""
        self.evaluated += individuals

    def approximate_decisions(self, scores: FloatArray) -> IntArray:
        """The outcomes [n] that rows of scores come to, as if they were exact."""
        return self._inner.approximate_decisions(scores)

    def margins(self, scores: FloatArray) -> FloatArray:
        """How far each row of scores is from another decision, [n], roughly."""
        return self._inner.margins(scores)

    def settled(self, points: FloatArray) -> Settled:
        """Proved decisions, and scores with their errors."""
        return self._inner.settled(points)


def evaluator_of(model: Model) -> Evaluator:
    """The evaluator of a model."""
    return evaluators.evaluator_of(model)
