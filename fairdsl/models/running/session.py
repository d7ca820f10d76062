"""Sessions of onnxruntime: in this process for files that were read, in one that can be killed for all others.

A file that was read is a chain of layers, whose run takes as long as its products of matrices. Of a file that was not,
nobody knows whether it ends and what memory it takes. So it runs in a process beside (one for all such files, started
when it is needed and kept), and where the deadline in force passes (:func:`fairdsl.clock.until`) that is killed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol

from numpy.typing import NDArray

from fairdsl.clock import Deadline, OutOfTimeError, deadline_in_force
from fairdsl.processes import GoneError, Worker, waiting

#: The file and not the module: the packages around it take as long to import as onnxruntime.
_WORKER = f"{Path(__file__).with_name('session_process.py')}:serve"
#: Bytes of memory that the process may address.
_MEMORY = 8 << 30
#: Seconds that an answer gets at least, also when the deadline has passed: whoever shows a pair has it replayed.
_LEAST = 1.0
#: A file, by the digest of its bytes, and its threads.
_Key = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Item:
    """An input or output of a file."""

    #: As the file calls it.
    name: str
    #: The type in onnxruntime's words, as ``tensor(float)``.
    type: str
    #: The sizes of its dimensions; a text or None where a size is open.
    shape: tuple[Any, ...]


class Session(Protocol):
    """What is asked of onnxruntime."""

    def get_inputs(self) -> Sequence[Item]:
        """The inputs, in the file's order."""

    def get_outputs(self) -> Sequence[Item]:
        """The outputs, in the file's order."""

    def run(self, names: list[str], feeds: dict[str, NDArray[Any]]) -> Sequence[Any]:
        """Those outputs."""


def session_here(model: bytes, threads: int) -> Session:
    """A session in this process; raises what onnxruntime raises."""
    from fairdsl.models.running.session_process import opened

    session: Session = opened(model, threads)
    return session


def session_beside(model: bytes, threads: int) -> Session:
    """A session in the process beside; raises RuntimeError where the file cannot be opened or run."""
    return _Beside(model, threads)


class _Beside:
    def __init__(self, model: bytes, threads: int) -> None:
        self._model = model
        self._key = (sha256(model).hexdigest(), threads)
        self._inputs, self._outputs = _PROCESS.open(self._key, model)

    def get_inputs(self) -> Sequence[Item]:
        return self._inputs

    def get_outputs(self) -> Sequence[Item]:
        return self._outputs

    def run(self, names: list[str], feeds: Mapping[str, NDArray[Any]]) -> Sequence[Any]:
        return _PROCESS.run(self._key, self._model, names, feeds)


class _Process:
    """The process beside, which is started again after it was killed."""

    def __init__(self) -> None:
        self._worker: Worker | None = None
        self._open: set[_Key] = set()

    def open(self, key: _Key, model: bytes) -> tuple[tuple[Item, ...], tuple[Item, ...]]:
        _, inputs, outputs = self._asked(("open", key, model, key[1]))
        self._open.add(key)
        described = [tuple(Item(name, kind, tuple(shape)) for name, kind, shape in each) for each in (inputs, outputs)]
        return described[0], described[1]

    def run(self, key: _Key, model: bytes, names: list[str], feeds: Mapping[str, NDArray[Any]]) -> Sequence[Any]:
        if key not in self._open:  # it was killed in the meantime
            self.open(key, model)
        _, outputs = self._asked(("run", key, names, dict(feeds)))
        found: Sequence[Any] = outputs
        return found

    def _asked(self, request: object) -> Any:
        """The answer; whatever comes between ends the process, so that no late answer is taken for another's."""
        worker = self._worker = self._worker or Worker(_WORKER, memory=_MEMORY)
        try:
            worker.send(request)
            if not waiting([worker], max(deadline_in_force(), Deadline.within(_LEAST))):
                raise OutOfTimeError
            answer = worker.receive()
        except GoneError as problem:
            gone = worker.gone()
            self._end()
            memory = f"its memory was not enough{gone.last}"
            raise RuntimeError(memory if gone.lacked_memory else f"its process {gone.how}") from problem
        except BaseException:
            self._end()
            raise
        if answer[0] == "failed":
            raise RuntimeError(answer[1])
        return answer

    def _end(self) -> None:
        worker, self._worker = self._worker, None
        self._open.clear()
        if worker is not None:
            worker.end()


_PROCESS = _Process()
