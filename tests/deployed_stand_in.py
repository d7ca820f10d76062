"""A stand-in for the deployed file of a model, so that a test says what float32 decides."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from fairdsl.ir.domain import Point
from fairdsl.ir.model import Deployed, Readout
from fairdsl.ir.problem import Problem


class StandIn:
    """A deployed file whose float32 decides as the test says, and whose score is the decision."""

    #: As many as there are, at a time.
    batch: int | None = None

    def __init__(self, decide_one: Callable[[Sequence[float]], int]) -> None:
        self._decide = decide_one

    def decide(self, points: Sequence[Point]) -> list[int]:
        return [self._decide([float(value) for value in row]) for row in points]

    def decide_array(self, points: np.ndarray) -> np.ndarray:
        return np.array([self._decide(row) for row in points.tolist()], dtype=np.int64)

    def scores(self, points: Sequence[Point]) -> np.ndarray:
        return np.array(self.decide(points), dtype=np.float64)[:, None]

    def scores_array(self, points: np.ndarray) -> np.ndarray:
        return self.decide_array(points)[:, None].astype(np.float64)


def deployed(asked: Problem) -> Problem:
    """The same question about a model that has a file."""
    file = Deployed(path="m.onnx", sha256="0", features=(), feeds=(), output="score", readout=Readout.SCORE)
    return replace(asked, model=replace(asked.model, deployed=file))
