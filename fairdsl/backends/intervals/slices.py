"""What a worker of a cluster does: pure functions of their input, so that any worker can repeat them."""

from __future__ import annotations

import pickle
import time
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.intervals.clock import advance_until
from fairdsl.backends.intervals.refine import Refinement
from fairdsl.backends.intervals.task import Task

__all__ = ["Slice", "State", "refined_slice", "unpacked"]

State = Mapping[str, NDArray[np.generic]]


@dataclass(frozen=True, slots=True)
class Slice:
    """What a slice found: the state, the nodes it evaluated, the seconds it took; whether nothing is left."""

    state: State
    nodes: int
    seconds: float
    exhausted: bool


def unpacked(content: bytes) -> tuple[type[Refinement], Task]:
    """The task and its refinement, as the client pickled them; they stay with the worker."""
    kind, task = pickle.loads(content)
    return kind, task


def refined_slice(holder: tuple[type[Refinement], Task], state: State, nodes: int, memory: int) -> Slice:
    """Refine the state by about so many nodes."""
    kind, task = holder
    began = time.monotonic()
    refinement = kind.resume(task, state, memory=memory)
    evaluated = advance_until(refinement, lambda: False, nodes)
    return Slice(
        state=refinement.state(),
        nodes=evaluated,
        seconds=time.monotonic() - began,
        exhausted=evaluated < nodes,
    )
