"""Refinement on a Dask cluster: short slices of work, each with its input, resubmitted until it is enough.

The client holds the state of every part. A slice refines one part by some nodes and returns its new state;
it is a pure function of its input, so a worker that dies costs the slice it was at and nothing else: the
cluster, or the client, hands the same input to another. The task travels once and stays with the workers.
"""

from __future__ import annotations

import asyncio
import pickle
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fairdsl.backends.contract import Observer
from fairdsl.backends.refining import errors
from fairdsl.backends.refining.clock import NODES_AT_ONCE, Checkpoints, Clock, share_out, supervised
from fairdsl.backends.refining.refinement import Refining, State
from fairdsl.backends.refining.slices import Slice, refined_slice, unpacked
from fairdsl.backends.solved import Ending
from fairdsl.clock import Deadline
from fairdsl.diagnostics import DiagnosticError
from fairdsl.resources import version

if TYPE_CHECKING:
    from distributed import Client, Future

#: Seconds that a connection may take to come about.
_PATIENCE = 5.0
#: Nodes of a part's first slice; their pace says how many make the next.
_FIRST = 32
#: Nodes of a slice where their number is the limit.
_FIXED = 4 * NODES_AT_ONCE
#: Seconds of a slice, at least, and bytes of its state a second: sending should be the smaller part.
_SLICE, _BYTES = 2.0, 20e6
#: So often a slice is tried before its part is left as it is.
_TRIES = 5
#: Seconds between two looks at what is done.
_MOMENT = 0.02


@dataclass(slots=True)
class _Part:
    """A part of the refinement: its last state, and the slice that is under way."""

    state: State
    nodes: int = 0
    slice_nodes: int = _FIRST
    pace: float = 0.0  # nodes a second
    ended: bool = False
    tries: int = 0
    running: Future | None = field(default=None, repr=False)

    def before(self, seconds: float) -> int:
        """Nodes of the next slice, if it has to end within so many seconds."""
        return max(1, int(min(self.slice_nodes, self.pace * seconds))) if self.pace else self.slice_nodes


def check_cluster(address: str) -> None:
    """DiagnosticError where there is no cluster that can be used."""
    with Cluster(address):
        pass


def _connected(address: str) -> Client:
    """A client of the cluster; DiagnosticError where there is none, or none that can be used."""
    try:
        from distributed import Client
    except ImportError:
        reason = "Dask is not installed here: `pip install 'fairdsl[cluster]'`"
        raise DiagnosticError(errors.no_cluster(address, reason)) from None
    try:
        _knock(address)
        client = Client(address, timeout=_PATIENCE, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        reason = "nobody answers there" if isinstance(error, OSError | TimeoutError) else "it is not an address"
        raise DiagnosticError(errors.no_cluster(address, reason)) from error
    return client


def _knock(address: str) -> None:
    """ValueError for what is not an address, OSError where nobody answers.

    A client would wait for ever for the first word of whoever listens there and says none, and one that was never
    connected writes of its own mistakes to the error stream.
    """
    from distributed.comm import connect, parse_address, parse_host_port
    from distributed.comm.registry import get_backend
    from distributed.security import Security

    scheme, place = parse_address(address)
    get_backend(scheme)
    if scheme not in ("tcp", "tls"):
        return
    parse_host_port(place)

    async def first_words() -> None:
        options = Security().get_connection_args("client")
        comm = await asyncio.wait_for(connect(address, timeout=_PATIENCE, **options), _PATIENCE)
        comm.abort()

    with ThreadPoolExecutor(1) as thread:  # the caller's may have a loop that runs
        thread.submit(lambda: asyncio.run(first_words())).result()


class Cluster:
    """A connection, as a context: what was submitted ends with it."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.client = _connected(address)

    @property
    def places(self) -> int:
        """Slices that run at the same time. OSError where the cluster is gone."""
        with self.reached():
            return sum(self.client.nthreads().values())

    @contextmanager
    def reached(self) -> Iterator[None]:
        """What is asked of the cluster within; OSError where it is gone.

        A client that has given up reconnecting says so by whichever error its state leads to.
        """
        try:
            yield
        except Exception as error:
            if self.client.status in ("closing", "closed"):
                raise ConnectionError("the client has closed") from error
            raise

    def __enter__(self) -> Cluster:
        lacking = self._lacking()
        if lacking is not None:
            self.client.close()
            raise DiagnosticError(errors.no_cluster(self.address, lacking))
        return self

    def _lacking(self) -> str | None:
        """What keeps its workers from doing our work."""
        if not self.places:
            return "the scheduler has no workers"
        try:
            found = set(self.client.run(version).values())
        except ModuleNotFoundError:
            return "its workers have no fairdsl"
        if found != {version()}:
            return f"its workers have fairdsl {', '.join(sorted(found))}, and this is {version()}"
        return None

    def __exit__(self, *_: object) -> None:
        self.client.close()


def refine_on_cluster(
    refinement: Refining,
    address: str,
    *,
    deadline: Deadline,
    observer: Observer,
    memory: int,
    checkpoints: Checkpoints | None = None,
    nodes: int | None = None,
    parts: int | None = None,
) -> Ending:
    """Refine on the cluster until the deadline, the user's Ctrl-C, or until nothing is left.

    ``memory`` is for one slice. With ``nodes`` and ``parts`` the result depends on them alone, whatever
    happens to workers: slices are bounded by nodes, and the clock only decides whether there is another.
    """
    with Cluster(address) as cluster:
        return supervised(
            refinement,
            lambda clock: _refine(refinement, cluster, clock, memory, nodes, parts),
            deadline=deadline,
            observer=observer,
            checkpoints=checkpoints,
            nodes=nodes,
        )


def _refine(
    refinement: Refining, cluster: Cluster, clock: Clock, memory: int, nodes: int | None, parts: int | None
) -> None:
    first = refinement.nodes
    while True:
        try:
            count = parts or max(1, cluster.places)
        except OSError:  # the scheduler is gone; what was certified stays
            return
        left = None if nodes is None else nodes - (refinement.nodes - first)
        if not share_out(refinement, count, clock.listen, left):
            return
        left = None if nodes is None else max(0, nodes - (refinement.nodes - first)) // count
        try:
            with cluster.reached():
                run = _Run(refinement, cluster, count, memory, left)
        except OSError:
            return
        run.until(clock)
        if nodes is not None or run.lost or not run.evaluated:
            return


class _Run:
    """One fork, its parts on the cluster, and the join."""

    def __init__(self, refinement: Refining, cluster: Cluster, count: int, memory: int, nodes: int | None) -> None:
        self._refinement = refinement
        self._cluster = cluster
        self._memory = memory
        self._nodes = nodes
        self.lost = False
        content = pickle.dumps((type(refinement), refinement.task), protocol=5)
        # Submitted and not scattered: what was submitted is made again when the workers that had it are gone. And
        # submitted first: what was forked and never joined would be lost.
        self._task = self._submit(unpacked, content)
        self._parts = [_Part(state) for state in refinement.fork(count)]
        self._before = refinement.nodes

    @property
    def evaluated(self) -> int:
        """Nodes of all parts."""
        return sum(part.nodes for part in self._parts)

    def until(self, clock: Clock) -> None:
        """Slices until the clock is up, all parts have ended, or the cluster is gone."""
        while not self.lost and not clock.up and not all(part.ended for part in self._parts):
            self._work(clock.deadline.remaining)
            clock.tell(self._before + self.evaluated, lambda: self._refinement.undecided)
            if clock.due:
                self._join(clock)
                if self._grown():
                    break
            if self._uneven():
                break
        self._finish()
        self._refinement.join([part.state for part in self._parts])

    def _work(self, left: float) -> None:
        """Begin slices and take what is done; ``left`` are the seconds until the deadline."""
        try:
            with self._cluster.reached():
                self._begin(left)
                self._collect()
        except OSError:
            self.lost = True  # and the parts keep the states that arrived

    def _begin(self, left: float) -> None:
        """A slice for every part that has none."""
        for part in self._parts:
            if part.running is None and not part.ended:
                limit = min(_FIXED, self._nodes - part.nodes) if self._nodes is not None else part.before(left)
                part.running = self._submit(refined_slice, self._task, dict(part.state), limit, self._memory)

    def _collect(self) -> None:
        """After a moment, take what is done; a failed slice is tried again with the same input."""
        time.sleep(_MOMENT)
        for part in self._parts:
            if part.running is None or not part.running.done():
                continue
            done, part.running = part.running, None
            error = done.exception() if done.status in ("error", "cancelled", "lost") else None
            if done.status == "finished":
                self._take(part, done.result())
            elif _is_ours(error):
                raise RuntimeError("a slice failed on the cluster") from error
            else:
                part.tries += 1
                part.ended = part.tries >= _TRIES
                if self._task.status != "finished":
                    self._task.retry()

    def _take(self, part: _Part, found: Slice) -> None:
        part.state, part.tries = found.state, 0
        part.nodes += found.nodes
        part.ended = found.exhausted or (self._nodes is not None and part.nodes >= self._nodes)
        size = sum(getattr(array, "nbytes", 0) for array in part.state.values())
        wanted = max(_SLICE, size / _BYTES)
        part.pace = found.nodes / max(found.seconds, 1e-3)
        part.slice_nodes = max(1, min(8 * part.slice_nodes, int(part.pace * wanted)))

    def _grown(self) -> bool:
        """Whether workers have joined that have no part yet."""
        if self._nodes is not None:
            return False
        with suppress(OSError):  # the scheduler may be gone
            return self._cluster.places > len(self._parts)
        return False

    def _uneven(self) -> bool:
        """Whether a quarter of the parts have nothing left to do while others have: time to share out anew."""
        idle = sum(part.ended for part in self._parts)
        return self._nodes is None and len(self._parts) > idle >= len(self._parts) / 4

    def _finish(self) -> None:
        """Wait for the slices that are under way, but not much longer than they should take; drop the others."""
        until = Deadline.within(2 * _SLICE)
        while not self.lost and any(part.running for part in self._parts) and not until.passed:
            try:
                with self._cluster.reached():
                    self._collect()
            except OSError:
                self.lost = True
        for part in self._parts:
            if part.running is not None:
                with suppress(Exception):  # the cluster may be gone
                    part.running.cancel()
                part.running = None

    def _join(self, clock: Clock) -> None:
        began = time.monotonic()
        self._refinement.join([part.state for part in self._parts])
        clock.checkpoint(began)

    def _submit(self, function: Any, *arguments: Any) -> Future:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # inputs are as large as they are
            return self._cluster.client.submit(function, *arguments, pure=False)


def _is_ours(error: BaseException | None) -> bool:
    """Whether a slice failed by itself, and not for what happened to its worker."""
    if error is None or isinstance(error, MemoryError):
        return False
    return not type(error).__module__.startswith(("distributed", "concurrent", "asyncio"))
