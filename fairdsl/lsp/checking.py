"""Checks that run beside the editor, and their verdicts for as long as nothing changes that they rest on."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from fairdsl.lsp.desk import Desk, Seen
from fairdsl.source.json_text import read_json
from fairdsl.source.reading import largest, root_of, stamp_of

#: Seconds that a check from the editor may take, as `fairdsl check` has them by default.
TIMEOUT = 60.0
#: Bytes that a line of the other process may have: all verdicts of a spec are one.
_LONGEST_LINE = 1 << 26
#: How many characters of what another process complained of are passed on.
_LAST = 300

#: Hears of progress: the stage, the share of it that is done, and a few words.
Heard = Callable[[str, float | None, str], None]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a check said of one property, and what it said it of.

    ``said`` is what :mod:`fairdsl.lsp.check_program` writes of a property.
    """

    name: str
    said: dict[str, Any]
    texts: dict[str, str]
    stamps: dict[str, tuple[int, ...]]

    @property
    def family(self) -> str:
        """The name that the spec writes."""
        return self.name.partition("[")[0]

    def still_holds(self, desk: Desk, seen: Seen) -> bool:
        """Whether the spec is without errors, and every text and file is what the check read."""
        if seen.has_errors or any(desk.text(path) != text for path, text in self.texts.items()):
            return False
        return seen.files <= self.texts.keys() and all(_stamp(path) == stamp for path, stamp in self.stamps.items())


@dataclass
class Checks:
    """The checks of a session: one at a time for each spec."""

    _verdicts: dict[str, dict[str, Verdict]] = field(default_factory=dict)
    _running: dict[str, tuple[asyncio.subprocess.Process, Sequence[str]]] = field(default_factory=dict)
    _requests: set[asyncio.Task[Any]] = field(default_factory=set)
    _over: bool = False

    def verdicts(self, desk: Desk, seen: Seen) -> Iterator[Verdict]:
        """The verdicts on a spec that may be shown; the others are dropped for good."""
        known = self._verdicts.get(seen.path, {})
        for name, verdict in list(known.items()):
            if verdict.still_holds(desk, seen):
                yield verdict
            else:
                del known[name]

    def running(self, path: str) -> Sequence[str] | None:
        """The properties of a spec that are being checked, none for all; None: it is not being checked."""
        return self._running[path][1] if path in self._running else None

    def end(self, path: str) -> None:
        """End the check of a spec, if one is running, with every process that it started."""
        process, _ = self._running.pop(path, (None, ()))
        if process is not None and process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)

    async def end_all(self) -> None:
        """The session is over: every check has ended, and whoever asked for it was told."""
        self._over = True
        for path in list(self._running):
            self.end(path)
        if self._requests:
            await asyncio.wait(self._requests)

    async def run(self, desk: Desk, seen: Seen, properties: Sequence[str], heard: Heard) -> list[Verdict] | str | None:
        """Check the text as it is now. Verdicts, or why there are none; None: it was ended."""
        request = asyncio.current_task()
        assert request is not None
        self._requests.add(request)
        request.add_done_callback(self._requests.discard)
        path = seen.path
        texts, held = {each: desk.text(each) for each in seen.files}, desk.held(path)
        process = await _started()
        self.end(path)  # what may have begun meanwhile as well
        self._running[path] = mine = process, properties
        if self._over:
            self.end(path)
        try:
            asked = {"spec": path, "held": held, "properties": list(properties), "timeout": TIMEOUT}
            asked |= {"root": root_of(path), "largest": largest()}
            last, complaint = await _conversation(process, json.dumps(asked), heard)
        finally:
            ended = self._running.get(path) is not mine
            if not ended:
                self.end(path)
            await process.wait()
        if last is None:
            return None if ended else complaint[-_LAST:]
        if "failure" in last:
            return str(last["failure"])
        stamps = {opened: tuple(stamp) for opened, stamp in last["opened"] if opened not in texts}
        found = [Verdict(said["name"], said, texts, stamps) for said in last["verdicts"]]
        self._verdicts.setdefault(path, {}).update({verdict.name: verdict for verdict in found})
        return [verdict for verdict in found if verdict in list(self.verdicts(desk, desk.seen(path)))]


async def _started() -> asyncio.subprocess.Process:
    """The process of a check. It leads a group of its own, which is ended as a whole."""
    modules = os.pathsep.join(os.path.abspath(entry) for entry in sys.path if entry)
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "fairdsl.lsp.check_program",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        limit=_LONGEST_LINE,
        env=os.environ | {"PYTHONPATH": modules},
        start_new_session=True,
    )


async def _conversation(
    process: asyncio.subprocess.Process, asked: str, heard: Heard
) -> tuple[dict[str, Any] | None, str]:
    """The last thing that the process says, and what it complains of."""
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    complaint = asyncio.ensure_future(process.stderr.read())
    with suppress(BrokenPipeError, ConnectionResetError):
        process.stdin.write(asked.encode())
        process.stdin.write_eof()
    last: dict[str, Any] | None = None
    async for line in process.stdout:
        said = read_json(line)
        if "stage" in said:
            heard(said["stage"], said["fraction"], said["detail"])
        else:
            last = said
    return last, (await complaint).decode(errors="replace").strip() or "the check ended without a verdict"


def _stamp(path: str) -> tuple[int, ...] | None:
    try:
        return stamp_of(os.stat(path))
    except OSError:
        return None
