"""The progress bar: late, on standard error, and gone afterwards."""

from __future__ import annotations

import io
import time
from contextlib import redirect_stderr

import pytest

import fairdsl.cli.progress as progress
from fairdsl.cli.progress import Watcher


class Screen(io.StringIO):
    """A terminal that remembers what was written."""

    def isatty(self) -> bool:
        return True


def test_short_work_shows_nothing() -> None:
    screen = Screen()
    with redirect_stderr(screen), progress.watching() as watcher:
        watcher.progress("p", 0.5, "half")
    assert screen.getvalue() == ""


def test_long_work_shows_the_latest_and_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Screen()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(progress, "_PATIENCE", 0.01)
    with redirect_stderr(screen), progress.watching() as watcher:
        watcher.progress("sex_never_decides", None, "searching")
        deadline = time.monotonic() + 10
        while watcher._bar is None and time.monotonic() < deadline:
            time.sleep(0.01)
        watcher.progress("sex_never_decides", 0.5, "part 4 of 8")
    written = screen.getvalue()
    assert "sex_never_decides" in written
    assert written.rstrip().endswith("\x1b[2K")  # the line of the bar is erased


@pytest.mark.parametrize("terminal", [False, True])
def test_what_takes_long_is_said_where_there_is_no_bar(terminal: bool) -> None:
    stream = Screen() if terminal else io.StringIO()
    with redirect_stderr(stream), progress.watching() as watcher:
        watcher.announce("compiling the kernels")
    assert stream.getvalue() == ("" if terminal else "compiling the kernels\n")


def test_whereabouts() -> None:
    watcher = Watcher(visible=False)
    assert watcher.whereabouts() == ""
    watcher.progress("p", None, "")
    assert watcher.whereabouts() == " during p"
    watcher.close()
    watcher.close()
