"""A worker process: refines one part of a refinement, and listens and tells between batches.

It is a program of its own (:mod:`fairdsl.processes`), and ends when the parent is gone.
"""

from __future__ import annotations

import math
import pickle
import time
import traceback
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from fairdsl.backends.refining.clock import advance_until
from fairdsl.backends.refining.refinement import Refining, State
from fairdsl.clock import NEVER, Deadline

#: Seconds between two messages of progress.
_TELL = 0.5


@dataclass(frozen=True, slots=True)
class Part:
    """Order: refine this state for so many seconds, or, with ``nodes``, so many nodes."""

    state: State
    seconds: float
    nodes: int | None
    memory: int


@dataclass(frozen=True, slots=True)
class Report:
    """Order: send the state and go on."""


@dataclass(frozen=True, slots=True)
class Stop:
    """Order: send the state and wait for another part."""


@dataclass(frozen=True, slots=True)
class Ready:
    """The task is loaded and the program compiled."""


@dataclass(frozen=True, slots=True)
class Progress:
    """Nodes evaluated in this part and the units that it leaves undecided."""

    nodes: int
    undecided: float


@dataclass(frozen=True, slots=True)
class Yielded:
    """The state of the part: as it is now, or, ``ended``, as it was left; ``exhausted``: nothing is left to do."""

    state: State
    nodes: int
    undecided: float
    ended: bool
    exhausted: bool


@dataclass(frozen=True, slots=True)
class Failed:
    """A bug of ours, with its trace."""

    trace: str


Order = Part | Report | Stop


def serve(connection: Connection[object, Order], task_file: str) -> None:
    """Answer orders on the connection until the parent hangs up."""
    try:
        # Written by the parent a moment ago, in a folder that only its user can read.
        kind, task = pickle.loads(Path(task_file).read_bytes())
        connection.send(Ready())
        while True:
            order = connection.recv()
            if isinstance(order, Part):
                _refine(connection, kind, task, order)
    except (EOFError, OSError, MemoryError):  # one that lacks memory hangs up like one that is killed for it
        return
    except Exception:
        connection.send(Failed(traceback.format_exc()))


class _Listener:
    """Between two batches: obeys orders, tells of progress, and says when to stop."""

    def __init__(self, connection: Connection[object, Order], refinement: Refining, part: Part) -> None:
        self._connection = connection
        self._refinement = refinement
        self._until = Deadline.within(part.seconds) if part.nodes is None else NEVER
        self._before = refinement.nodes
        self._told = -math.inf
        self.stopped = False

    def stop(self) -> bool:
        """Whether an order or the clock ends the part."""
        while not self.stopped and self._connection.poll():
            match self._connection.recv():
                case Report():
                    self._connection.send(self.yielded(ended=False, exhausted=False))
                case _:
                    self.stopped = True
        now = time.monotonic()
        if now >= self._told + _TELL:
            self._told = now
            self._connection.send(Progress(self._refinement.nodes - self._before, self._refinement.undecided))
        self.stopped = self.stopped or self._until.passed
        return self.stopped

    def yielded(self, *, ended: bool, exhausted: bool) -> Yielded:
        """The state as it is now."""
        return Yielded(
            state=self._refinement.state(),
            nodes=self._refinement.nodes - self._before,
            undecided=self._refinement.undecided,
            ended=ended,
            exhausted=exhausted,
        )


def _refine(connection: Connection[object, Order], kind: type[Refining], task: Any, part: Part) -> None:
    """Refine the part to its end and send the state."""
    refinement = kind.resume(task, part.state, memory=part.memory)
    listener = _Listener(connection, refinement, part)
    evaluated = advance_until(refinement, listener.stop, part.nodes)
    exhausted = not listener.stopped and (part.nodes is None or evaluated < part.nodes)
    connection.send(listener.yielded(ended=True, exhausted=exhausted))
