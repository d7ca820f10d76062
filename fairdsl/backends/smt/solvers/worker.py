"""The process that decides single questions with solvers.

It is a program of its own (:mod:`fairdsl.processes`), so that it can be killed at any moment: native solvers do not
always keep their limits.
"""

from __future__ import annotations

import pickle
import traceback
from dataclasses import dataclass, replace
from math import ceil
from multiprocessing.connection import Connection
from typing import Any

from fairdsl.backends.smt.solvers.chain import Chained, Limits, Status, decide, preload
from fairdsl.clock import UNITS, Meter, metered
from fairdsl.ir.demand import Demanded
from fairdsl.ir.model import Model
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Pair
from fairdsl.verdict import Reason


@dataclass(frozen=True, slots=True)
class Task:
    """Answer the question, of the problem's own model or of another one."""

    question: Pair | Demanded
    limits: Limits
    model: Model | None = None


@dataclass(frozen=True, slots=True)
class Ready:
    """The program is loaded and the problem known: from now on time counts."""


@dataclass(frozen=True, slots=True)
class Failed:
    """A bug of ours, with its trace."""

    trace: str


_NO_ROOM = Chained(
    status=Status.UNKNOWN, by="memory", reason=Reason.MEMORY_OUT, detail="the memory for a query was not enough"
)


def serve(connection: Connection[object, Any]) -> None:
    """Take the problem, then answer tasks until the parent hangs up."""
    # Everything that is unpickled here was pickled by the parent a moment ago.
    problem: Problem = pickle.loads(connection.recv())
    loaded = _loaded()
    connection.send(loaded)
    while isinstance(loaded, Ready):
        task: Task = connection.recv()
        connection.send(decided(problem, task))


def decided(problem: Problem, task: Task) -> Chained | Failed:
    """The verdict on the task; total."""
    try:
        model = problem.model if task.model is None else task.model
        asked = replace(problem, question=task.question, model=model)
        meter = Meter(ceil(task.limits.seconds * UNITS) if task.limits.metered else None)
        with metered(meter):
            found = decide(asked, task.limits)
        return replace(found, meter=meter)
    except MemoryError:
        return _NO_ROOM
    except Exception:
        return Failed(traceback.format_exc())


def _loaded() -> Ready | Failed | Chained:
    """Load the program; what it says where that fails, be it that the limit on memory leaves it no room."""
    try:
        preload()
    except MemoryError:
        return _NO_ROOM
    except Exception:  # z3 raises an exception of its own where its library finds no room
        return Failed(traceback.format_exc())
    return Ready()
