"""Commands in processes of their own, on a terminal or none, which are sent signals."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from select import select

__all__ = ["SPEC", "Ended", "Running", "written"]

#: The demand about pairs comes first, and takes all the time there is: nobody can prove anything about a black box.
SPEC = """\
domain Applicant { sex : category { female, male }  age : integer 18 .. 90000000 }
protected sex
model rule : Applicant -> { reject, grant }
  score = 1 * age - 40
  grant when score > 0
  favourable grant
model blind : Applicant -> { reject, grant }
  from black_box "blind.onnx"
  reads sex, age
  grant when score > 0
  favourable grant
distribution people over Applicant
  empirical from "people.csv"
property slow { model blind  compare a, b : Applicant  differ in sex  require same decision }
property both { model blind  across sex  under people  measure acceptance_rate, parity_gap }
property quick { model rule  across sex  under people  measure acceptance_rate }
"""
_BLIND = Path(__file__).parents[1] / "golden" / "check" / "black-box" / "blind.onnx"
#: Seconds for what must come.
_PATIENCE = 60.0


def written(folder: Path) -> Path:
    """The spec in the folder, with its files."""
    (folder / "blind.onnx").write_bytes(_BLIND.read_bytes())
    (folder / "people.csv").write_text("sex,age\nfemale,30\nmale,50\nfemale,60\n", encoding="utf-8")
    path = folder / "spec.fair"
    path.write_text(SPEC, encoding="utf-8")
    return path


@dataclass(frozen=True)
class Ended:
    """What a command left."""

    code: int
    stdout: str
    seconds: float  # since the last signal
    stderr: str = ""


class Running:
    """A command whose standard error, and on a ``terminal`` its output too, is read as it comes."""

    def __init__(self, *arguments: str, terminal: bool = False, ignoring: Sequence[signal.Signals] = ()) -> None:
        self._ours, theirs = pty.openpty()

        def ignore() -> None:
            for number in ignoring:
                signal.signal(number, signal.SIG_IGN)

        self.process = subprocess.Popen(
            [sys.executable, "-m", "fairdsl", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=theirs if terminal else subprocess.PIPE,
            stderr=theirs,
            env=os.environ | {"TERM": "xterm", "COLUMNS": "200"},
            preexec_fn=ignore,
        )
        os.close(theirs)
        self._seen = b""
        self._sent = time.monotonic()

    def until(self, words: str) -> None:
        """Read the terminal until the words were shown."""
        end = time.monotonic() + _PATIENCE
        while words.encode() not in self._seen:
            assert time.monotonic() < end, self._seen[-2000:]
            self._read(1.0)

    def send(self, number: signal.Signals) -> None:
        """Send a signal to the process alone."""
        self._sent = time.monotonic()
        self.process.send_signal(number)

    def _read(self, seconds: float) -> None:
        if select([self._ours], [], [], seconds)[0]:
            try:
                self._seen += os.read(self._ours, 65536)
            except OSError:  # the other end is closed
                time.sleep(0.01)

    def ends_within(self, seconds: float) -> bool:
        """Whether it ends in that time."""
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def ended(self) -> Ended:
        """Wait for the end; what was written to standard output, or to the terminal."""
        try:
            output, _ = self.process.communicate(timeout=_PATIENCE)
            seconds = time.monotonic() - self._sent
            while select([self._ours], [], [], 0.0)[0]:
                before = len(self._seen)
                self._read(0.0)
                if len(self._seen) == before:
                    break
        finally:
            self.close()
        said = self._seen.decode(errors="replace")
        return Ended(self.process.returncode, said if output is None else output.decode(), seconds, said)

    def close(self) -> None:
        """Kill what is left."""
        self.process.kill()
        self.process.wait()
        os.close(self._ours)
