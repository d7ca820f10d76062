"""The process that decides single questions with solvers.

It is a program of its own, so that it can be killed at any moment: native solvers do not always keep their
limits. It leads a session of its own, so a Ctrl-C on the terminal reaches the parent alone, and ends when
the parent hangs up.
"""

from __future__ import annotations

import os
import pickle
import select
import traceback
from contextlib import suppress
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from threading import Thread

from fairdsl.backends.smt.solvers.chain import Chained, Limits, Status, decide, preload
from fairdsl.ir.model import Model
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Pair
from fairdsl.verdict import Reason

__all__ = ["Failed", "Ready", "Task", "decided", "serve"]


@dataclass(frozen=True, slots=True)
class Task:
    """Answer the question, of the problem's own model or of another one."""

    question: Pair
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


def serve(handle: int, memory: int) -> None:
    """Take the problem, then answer tasks until the parent hangs up; ``memory`` in bytes, 0 for no limit."""
    connection: Connection[object, bytes] = Connection(handle)
    Thread(target=_end_with_parent, args=(handle,), daemon=True).start()
    _limit(memory)
    with suppress(EOFError, OSError):
        # Everything that is unpickled here was pickled by the parent a moment ago.
        problem: Problem = pickle.loads(connection.recv())
        loaded = _loaded()
        connection.send(loaded)
        while isinstance(loaded, Ready):
            task: Task = pickle.loads(connection.recv())
            connection.send(decided(problem, task))


def decided(problem: Problem, task: Task) -> Chained | Failed:
    """The verdict on the task; total."""
    try:
        model = problem.model if task.model is None else task.model
        return decide(replace(problem, question=task.question, model=model), task.limits)
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


def _end_with_parent(handle: int) -> None:
    """Wait until the parent is gone, and end the process: a parent that was killed ends nobody."""
    line = select.poll()
    line.register(handle, 0)  # a hang-up is told whether or not it is asked for
    line.poll()
    os._exit(1)


def _limit(memory: int) -> None:
    """The operating system's own limit, where it has one: solvers do not count all that they take."""
    if memory:
        with suppress(ImportError, OSError, ValueError):
            import resource

            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
