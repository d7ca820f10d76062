"""Proofs of all demands of a spec: one after the other, or several at a time, each in a process of its own.

Every process elaborates the spec by itself, and proves demand after demand as it is told; what it proves is what one
process would with the same seconds. It is a program of its own (:mod:`fairdsl.processes`), which the terminal's Ctrl-C
does not reach: it is sent a signal of its own, and does what one process would.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from pathlib import Path

from fairdsl.backends.contract import Observer
from fairdsl.clock import Deadline, listening, received
from fairdsl.elaborate import Elaborated
from fairdsl.processes import GoneError, Worker, waiting
from fairdsl.proving.grown import Wanted
from fairdsl.proving.run import Order, Proved, unchecked
from fairdsl.proving.watching import AFTER, INTERRUPTED, Watch

_SERVE = "fairdsl.proving.spec:serve"
#: Seconds that a demand has to have, so that it pays to start processes, which elaborate the spec once more.
_PAYS = 10.0
#: Seconds between two looks at whether the user asked for the end.
_LISTEN = 0.1


def prove_spec(
    path: str,
    folder: str,
    *,
    models: Mapping[str, str],
    let: Mapping[str, str] | None = None,
    data: Mapping[str, str],
    properties: Sequence[str] = (),
    seconds: float,
    observer: Observer,
    deployed: Collection[tuple[str, str]] = (),
    known: Mapping[tuple[str, str], Wanted] | None = None,
    jobs: int = 1,
) -> tuple[Proved, ...]:
    """Write a proof of each demand that the format knows, as far as one gets in so many seconds altogether.

    ``deployed`` are demands, by property and text, that hold of the deployed file's arithmetic too: that is proved if
    it can be. ``known`` are fair and unfair shares of demands: of trees no more than these is proved. Files lie in
    ``folder``, which is made where there is none. With several ``jobs`` so many demands are proved at a time, where
    they have seconds enough, and what is left of them checks parts of one proof at a time. Ctrl-C, where a command
    listens to it, ends what is being grown, and less is proved. Raises DiagnosticError for mistakes in the spec.
    """
    order = Order(
        path=path,
        folder=folder,
        models=dict(models),
        let=None if let is None else dict(let),
        data=dict(data),
        properties=tuple(properties),
        deployed=frozenset(deployed),
        known=dict(known or {}),
        checkers=jobs,
    )
    demands, deadline = order.demands(), Deadline.within(seconds)
    Path(folder).mkdir(parents=True, exist_ok=True)
    processes = min(jobs, len(demands))
    if processes > 1 and seconds * processes / len(demands) >= _PAYS:
        order = replace(order, checkers=jobs // processes)
        return _SideBySide(order, demands, deadline, processes, observer).proved()
    proved = list[Proved]()
    for name, item in demands.items():
        watch = Watch(f"proving {name}", deadline.remaining / (len(demands) - len(proved)), observer)
        proved.append(order.proved(name, item, watch, observer))
    return tuple(proved)


class _Prover(Worker):
    """A process, and the demand that it proves."""

    name: str | None = None
    written = False


class _SideBySide:
    """What is proved by several processes, and what each of them is at."""

    def __init__(
        self, order: Order, demands: Mapping[str, Elaborated], deadline: Deadline, processes: int, observer: Observer
    ) -> None:
        self._order, self._demands, self._deadline, self._observer = order, demands, deadline, observer
        self._processes = processes
        self._left, self._found = [*demands][::-1], dict[str, Proved]()
        self._provers: list[_Prover] = []

    def proved(self) -> tuple[Proved, ...]:
        """All that they come to."""
        ends: Deadline | None = None
        try:
            for _ in range(self._processes):
                self._begin()
            while busy := self._busy():
                self._listen(busy)
                if ends is None and received() is not None:
                    ends, self._left = Deadline.within(AFTER + 1), []
                    for each in busy:
                        each.interrupt()
                if ends is not None and ends.passed:
                    break
        finally:
            cut = {each.name for each in self._busy() if each.written}
            for each in self._provers:
                each.end()
        return tuple(self._found.get(name) or self._without(name, written=name in cut) for name in self._demands)

    def _busy(self) -> list[_Prover]:
        return [each for each in self._provers if each.name is not None]

    def _begin(self) -> None:
        prover = _Prover(_SERVE)
        self._provers.append(prover)
        prover.send(self._order)
        self._give(prover)

    def _give(self, prover: _Prover) -> None:
        """The next demand with its part of the time, which is more where several are proved at a time."""
        prover.name, prover.written = None, False
        if not self._left:
            return
        shared = (len(self._left) + len(self._busy())) / self._processes
        prover.name = self._left.pop()
        prover.send((prover.name, self._deadline.remaining / max(1.0, shared)))

    def _listen(self, busy: Sequence[_Prover]) -> None:
        for prover in waiting(busy, Deadline.within(_LISTEN)):
            assert prover.name is not None, "it is busy"
            try:
                said = prover.receive()
            except GoneError:
                last = prover.gone().last
                why = INTERRUPTED if received() is not None else f"the process that proved it is gone{last}"
                self._found[prover.name] = self._without(prover.name, why=why)
                self._provers.remove(prover)
                if self._left:
                    self._begin()
                continue
            match said:
                case Proved():
                    self._found[prover.name] = said
                    self._give(prover)
                case (str() as stage, fraction, detail):
                    prover.written = stage.startswith("checking")
                    done = f"{len(self._found)} of {len(self._demands)} done"
                    self._observer.progress(stage, fraction, f"{detail}, {done}" if detail else done)
                case _Failed(trace=trace):
                    raise RuntimeError(f"a process failed that proves demands\n{trace}")

    def _without(self, name: str, *, written: bool = False, why: str = INTERRUPTED) -> Proved:
        """What is said of a demand of which nobody came back."""
        item = self._demands[name]
        if written:
            return unchecked(item, self._order.file(name))
        return Proved(property=item.property.name, demand=item.demand.text, said=f"no proof: {why}")


@dataclass(frozen=True, slots=True)
class _Failed:
    """A bug of ours, with its trace."""

    trace: str


class _Telling:
    """An observer that passes on what it hears."""

    def __init__(self, connection: Connection[object, object]) -> None:
        self._connection = connection

    def progress(self, stage: str, fraction: float | None, detail: str) -> None:
        """To the parent."""
        self._connection.send((stage, fraction, detail))


def serve(connection: Connection[object, object]) -> None:
    """Prove the demands that the parent names, each in so many seconds, until it hangs up."""
    try:
        with listening():
            order, observer = connection.recv(), _Telling(connection)
            assert isinstance(order, Order), "it comes first"
            demands = order.demands()
            while True:
                match connection.recv():
                    case (str() as name, float() as seconds):
                        watch = Watch(f"proving {name}", seconds, observer)
                        connection.send(order.proved(name, demands[name], watch, observer))
    except (EOFError, OSError):
        return
    except MemoryError:
        sys.exit("its memory was not enough")
    except Exception:
        connection.send(_Failed(traceback.format_exc()))
