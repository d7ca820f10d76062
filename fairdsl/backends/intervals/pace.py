"""Refining in batches that are short enough to listen in between."""

from __future__ import annotations

import time
from collections.abc import Callable

from fairdsl.backends.intervals.refine import Refinement
from fairdsl.clock import Work, meter_in_force, spend

__all__ = ["BOXES", "NODES_AT_ONCE", "advance_until"]

#: What is counted where effort is given.
BOXES = Work("boxes bounded")
#: Seconds between two chances to stop.
_BATCH = 0.1
#: What the first batch may take.
_FIRST_SECONDS = 0.5
#: Nodes in a batch: at first, and where their number is the limit (then clocks must not matter).
_FIRST, NODES_AT_ONCE = 16, 256


def advance_until(refinement: Refinement, stop: Callable[[], bool], nodes: int | None = None) -> int:
    """Refine until ``stop()``, until about ``nodes`` more are evaluated, or until nothing is left.

    ``stop`` is asked between batches, about ten times a second, and may do other work. Returns how many
    nodes were evaluated. With ``nodes`` the batches have a fixed size, so that the result is a function of
    the nodes alone.
    """
    done, batch = 0, max(1, min(_FIRST, int(_FIRST_SECONDS / max(refinement.seconds_a_node, 1e-9))))
    while not refinement.finished and not stop():
        if nodes is not None:
            if done >= nodes:
                break
            batch = min(NODES_AT_ONCE, nodes - done)
        elif meter_in_force() is not None:
            batch = NODES_AT_ONCE
        started = time.monotonic()
        evaluated = refinement.advance(batch)
        if not evaluated:
            break
        done += evaluated
        spend(BOXES, evaluated)
        if nodes is None:
            batch = _rescaled(evaluated, time.monotonic() - started)
    return done


def _rescaled(evaluated: int, seconds: float) -> int:
    """How many nodes fill a batch at this pace; at most four times as many as the last one."""
    return max(1, min(4 * evaluated, int(evaluated * _BATCH / max(seconds, 1e-6))))
