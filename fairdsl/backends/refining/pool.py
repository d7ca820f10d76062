"""Worker processes seen from the parent: started once, given parts, replaced when they die."""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from fairdsl.backends.refining.refinement import Refining, State
from fairdsl.backends.refining.worker import Failed, Part, Progress, Ready, Report, Stop, Yielded
from fairdsl.clock import NEVER, Deadline
from fairdsl.processes import GoneError, Worker, waiting

_WORKER = "fairdsl.backends.refining.worker:serve"
#: A part whose worker died so often without yielding a state is left as it is.
_DEATHS = 3
#: Seconds that a worker may take to yield its state in the end.
_GRACE = 10.0


@dataclass(slots=True)
class Share:
    """A part of the refinement and what is known of it: the last state that arrived."""

    state: State
    kept: int = 0  # nodes in the state
    nodes: int = 0  # nodes evaluated, also since
    undecided: float | None = None
    at_first: float | None = None
    ended: bool = False
    exhausted: bool = False
    deaths: int = 0

    @property
    def gained(self) -> float:
        """Units that were undecided when the part was given out and no longer are."""
        return 0.0 if self.undecided is None or self.at_first is None else self.at_first - self.undecided


class _Worker(Worker):
    """A process, and the share that it refines."""

    ready = False
    share: Share | None = None
    begun = 0  # nodes of the share that were evaluated before this process took it
    reporting = False


class WorkerPool:
    """So many processes for one task."""

    def __init__(self, task_file: str, places: int, memory: int) -> None:
        self._task_file = task_file
        self._memory = memory
        self._until = NEVER
        self._nodes: int | None = None
        self._stopping = False
        self._stillborn = 0
        #: Whether processes cannot be started, or end before they begin, so that no part is refined any more.
        self.broken = False
        self._workers = [self._started() for _ in range(places)]

    @property
    def ready(self) -> bool:
        """Whether every worker waits for a part, or none will."""
        self._listen(0.0)
        return self.broken or all(worker.ready for worker in self._workers)

    def give(self, shares: Sequence[Share], until: Deadline, nodes: int | None) -> None:
        """One share to each worker; ``nodes``: as many for each, whatever the clock says."""
        self._until, self._nodes, self._stopping = until, nodes, False
        for worker, share in zip(self._workers, shares, strict=True):
            self._assign(worker, share)

    def listen(self, seconds: float) -> None:
        """Take what arrives in the meantime into the shares."""
        self._listen(seconds)

    def ask(self) -> None:
        """Want the present state of every share."""
        for worker in self._busy():
            worker.reporting = True
            worker.send(Report())

    @property
    def reported(self) -> bool:
        """Whether all states that were asked for have arrived."""
        return not any(worker.reporting for worker in self._busy())

    def stop(self) -> None:
        """End all parts; a worker that does not answer in time is replaced, and its last state stands."""
        self._stopping = True
        for worker in self._busy():
            worker.send(Stop())
        until = Deadline.within(_GRACE)
        while self._busy() and not until.passed:
            self._listen(0.05)
        for worker in list(self._busy()):
            worker.end()
            self._workers[self._workers.index(worker)] = self._started()

    def close(self) -> None:
        """End all processes."""
        for worker in self._workers:
            worker.end()

    def _busy(self) -> list[_Worker]:
        return [worker for worker in self._workers if worker.share is not None]

    def _started(self) -> _Worker:
        return _Worker(_WORKER, self._task_file)

    def _assign(self, worker: _Worker, share: Share) -> None:
        worker.share, worker.begun = share, share.kept
        seconds = self._until.remaining
        nodes = None if self._nodes is None else max(0, self._nodes - share.kept)
        worker.send(Part(share.state, seconds, nodes, self._memory))

    def _listen(self, seconds: float) -> None:
        for worker in waiting(self._workers, Deadline.within(seconds)):
            try:
                message = worker.receive()
            except GoneError:
                self._revive(worker)
            else:
                self._take(worker, message)

    def _take(self, worker: _Worker, message: object) -> None:
        share = worker.share
        match message:
            case Failed(trace=trace):
                raise RuntimeError(f"a worker failed\n{trace}")
            case Ready():
                worker.ready = True
            case Progress(nodes=nodes, undecided=undecided) if share is not None:
                share.nodes, share.undecided = worker.begun + nodes, undecided
                share.at_first = undecided if share.at_first is None else share.at_first
            case Yielded() if share is not None:
                share.state, share.undecided = message.state, message.undecided
                share.kept = share.nodes = worker.begun + message.nodes
                share.ended, share.exhausted, share.deaths = message.ended, message.exhausted, 0
                worker.reporting = False
                worker.share = None if message.ended else share

    def _revive(self, worker: _Worker) -> None:
        """Another process goes on from the last state of the dead one."""
        share = worker.share
        worker.end()
        self._stillborn += not worker.ready
        if self._stillborn > _DEATHS:
            self.broken = True
            self._workers.remove(worker)
            if share is not None:
                share.ended = True
            return
        fresh = self._started()
        self._workers[self._workers.index(worker)] = fresh
        if share is None:
            return
        share.nodes = share.kept
        share.deaths += 1
        if share.deaths < _DEATHS and not self._stopping:
            self._assign(fresh, share)
        else:
            share.ended = True


@contextmanager
def worker_pool(refinement: Refining, places: int, memory: int) -> Iterator[WorkerPool]:
    """Processes that know the refinement's task; ``memory`` is what each may use."""
    with tempfile.TemporaryDirectory(prefix="fairdsl-") as folder:
        task_file = Path(folder) / "task"
        task_file.write_bytes(pickle.dumps((type(refinement), refinement.task), protocol=5))
        pool = WorkerPool(str(task_file), places, memory)
        try:
            yield pool
        finally:
            pool.close()
