"""Regions of pairs whose gaps of scores are bounded, and the question that they are of (:mod:`.farthest`)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from fairdsl.ir.problem import Problem


@dataclass(frozen=True)
class Asked:
    """The question: a problem whose scores are exact, and what is drawn with. What is made of it once stays with it."""

    problem: Problem
    seed: int = 0
    made: dict[type, Any] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def of(cls, problem: Problem, seed: int = 0) -> Asked:
        """Without the deployed file, on which only whoever asks replays pairs."""
        return cls(replace(problem, model=replace(problem.model, deployed=None)), seed)

    def __reduce__(self) -> tuple[type[Asked], tuple[Problem, int]]:
        return Asked, (self.problem, self.seed)


@dataclass(frozen=True, slots=True)
class Bounded:
    """A region and its bound, whether it can be cut, and how, where that is known by now."""

    region: Any
    bound: Any
    cuttable: bool = True
    cut: Any = None


@dataclass(frozen=True, slots=True)
class Halves:
    """How a region was cut, and what is left of it; None: nobody in a half is compared."""

    way: tuple[int, int]
    parts: tuple[Bounded | None, Bounded | None]
