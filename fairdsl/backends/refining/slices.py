"""What a worker of a cluster does: pure functions of their input, so that any worker can repeat them."""

from __future__ import annotations

import pickle
import time
from dataclasses import dataclass
from typing import Any

from fairdsl.backends.refining.clock import advance_until
from fairdsl.backends.refining.refinement import Refining, State


@dataclass(frozen=True, slots=True)
class Slice:
    """What a slice found: the state, the nodes it evaluated, the seconds it took; whether nothing is left."""

    state: State
    nodes: int
    seconds: float
    exhausted: bool


def unpacked(content: bytes) -> tuple[type[Refining], Any]:
    """The task and its refinement, as the client pickled them; they stay with the worker."""
    kind, task = pickle.loads(content)
    return kind, task


def refined_slice(holder: tuple[type[Refining], Any], state: State, nodes: int, memory: int) -> Slice:
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
