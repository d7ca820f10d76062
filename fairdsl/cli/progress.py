"""A progress bar on standard error: only on a terminal, only for work that lasts, gone when it is done.

Elsewhere a line says what takes long and is not a question of the spec's: that kernels are compiled.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from fairdsl.cli.terminal import is_terminal
from fairdsl.clock import unbroken

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

#: Seconds of work before the bar appears.
_PATIENCE = 0.5


class Watcher:
    """Hears of progress (``backends.contract.Observer``) and shows the latest of it once it takes long."""

    def __init__(self, *, visible: bool) -> None:
        self._lock, self._visible = threading.Lock(), visible
        self._latest: tuple[str, float | None, str] = ("", None, "")
        self._bar: tuple[Progress, TaskID] | None = None
        self._timer = threading.Timer(_PATIENCE, self._open) if visible else None
        if self._timer is not None:
            self._timer.daemon = True
            self._timer.start()

    def progress(self, stage: str, fraction: float | None, detail: str) -> None:
        """Remember it, and show it if the bar is open."""
        with unbroken(), self._lock:
            self._latest = (stage, fraction, detail)
            self._draw()

    def announce(self, text: str) -> None:
        """Say it on a line of its own where there is no bar to show it: in a pipe, or in the log of a build."""
        if not self._visible:
            click.echo(text, err=True)

    def whereabouts(self) -> str:
        """`` during STAGE``, or nothing before the first stage."""
        stage, _, detail = self._latest
        return f" during {stage}" + (f" ({detail})" if detail else "") if stage else ""

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Without the bar, so that something else can be printed where it stands."""
        with self._lock:
            if self._bar is not None:
                self._bar[0].stop()
            try:
                yield
            finally:
                if self._bar is not None:
                    self._bar[0].start()

    def close(self) -> None:
        """Take the bar away; harmless when repeated."""
        if self._timer is not None:
            self._timer.cancel()
        with self._lock:
            self._timer = None
            if self._bar is not None:
                self._bar[0].stop()
                self._bar = None

    def _open(self) -> None:
        """Runs on the timer's thread."""
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        with self._lock:
            if self._timer is None:  # closed in the meantime
                return
            columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
            detail = TextColumn("{task.fields[detail]}", style="dim")
            bar = Progress(*columns, detail, console=Console(stderr=True), transient=True)
            bar.start()
            self._bar = (bar, bar.add_task("", total=None, detail=""))
            self._draw()

    def _draw(self) -> None:
        if self._bar is None:
            return
        bar, task = self._bar
        stage, fraction, detail = self._latest
        # A stage of unknown length gets a bar that only moves.
        total = None if fraction is None else 1.0
        bar.update(task, description=stage or "reading", total=total, completed=fraction or 0.0, detail=detail)


@contextmanager
def watching() -> Iterator[Watcher]:
    """A watcher for the time of a run."""
    watcher = Watcher(visible=is_terminal(sys.stderr))
    try:
        yield watcher
    finally:
        watcher.close()
