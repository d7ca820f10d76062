"""Kill commands at random moments with SIGKILL, go on from what they left, and hold the end against an unbroken run.

``python benchmarks/killed.py [--moments N] [--seed N] [--verbose] [KIND ...]``; the kinds are partitions, jobs,
forests, pairs, search and repair.

Every other moment is drawn over the length of the whole run; the others come right after a change in the folder, which
is when files are written. Each run is killed, and what goes on from it perhaps once more. Then a file is as it was
before or whole, nothing that stood in it is lost, and the end is that of the unbroken run.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
#: Of the second kill, where there is one; and seconds between looks at the folder.
_AGAIN, _LOOK = 0.4, 0.0005
_SPEC = """\
domain Applicant {
  sex : category { female, male }
  age : integer 18 .. 90
  income : integer 0 .. 999
  years : integer 0 .. 40
}
protected sex
model approve : Applicant -> { no, yes }
  score = 3 * age - 80 + income - 5 * years + 7 * (sex = male)
  yes when score > 0
property fair {
  compare a, b : Applicant
  differ in sex
  require REQUIRED
}
"""

#: What is trained: least squares, to a linear document.
_ESTIMATOR = """\
import json
from pathlib import Path
import numpy as np

class Linear:
    def fit(self, features, classes):
        inputs = np.column_stack([features.astype(np.float64), np.ones(len(features))])
        self.weights = np.round(np.linalg.lstsq(inputs, 2.0 * classes - 1.0, rcond=None)[0], 6)

    def predict(self, features):
        return (features.astype(np.float64) @ self.weights[:-1] + self.weights[-1] > 0).astype(np.int64)

def export(estimator, path):
    *weights, intercept = estimator.weights.tolist()
    Path(path).write_text(json.dumps({"coefficients": weights, "intercept": intercept}), encoding="utf-8")
"""
_TRAINED = """\
domain Applicant {
  sex : boolean
  age : integer 0 .. 19
  debt : integer 0 .. 9
}
protected sex
label repaid : boolean
model approve : Applicant -> { no, yes }
  from "approve.json"
  yes when score > 0
  favourable yes
property fair {
  compare a, b : Applicant
  differ in sex
  require same decision
}
"""


def trees(count: int) -> str:
    """A spec about the sum of so many pairs of tests that it is bounded, not counted leaf by leaf."""
    tests = "\n".join(
        f"    + {1 + at % 5} * (age >= {18 + 7 * at % 72} and income < {37 * at % 999})"
        f" - {1 + at % 3} * (years < {at % 40} and income >= {53 * at % 999})"
        for at in range(1, count)
    )
    return _SPEC.replace("3 * age - 80 + income - 5 * years + 7 * (sex = male)", f"7 * (sex = male)\n{tests}")


class BrokenError(Exception):
    """Something was lost, or is half written."""


def begun(folder: Path, words: Sequence[str], output: int = subprocess.DEVNULL) -> subprocess.Popen[str]:
    """The command, begun in the folder."""
    return subprocess.Popen(
        [sys.executable, "-m", "fairdsl", *words],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=output,
        stderr=output,
        text=True,
    )


def finished(folder: Path, words: Sequence[str]) -> str:
    """What the command prints; BrokenError where it is none of those that end with a result."""
    with begun(folder, words, subprocess.PIPE) as run:
        output, errors = run.communicate()
    if run.returncode not in (0, 1, 3):
        raise BrokenError(f"`fairdsl {' '.join(words)}` ends with {run.returncode}: {errors.strip() or output.strip()}")
    return output


class Kind(ABC):
    """A command that is killed."""

    #: Its command line.
    words: tuple[str, ...]

    @abstractmethod
    def prepare(self, folder: Path) -> None:
        """Write what it reads."""

    def again(self, folder: Path) -> Sequence[str]:
        """The command that goes on from what is there: the same one."""
        return self.words

    @abstractmethod
    def known(self, folder: Path, before: Any) -> Any:
        """What the files say now; BrokenError where one is half written, or has lost what it said ``before``."""

    @abstractmethod
    def end(self, folder: Path, output: str) -> Any:
        """What the run came to, for comparison."""


class Partitions(Kind):
    """Verdicts on partitions, line by line in a ledger."""

    words = ("check", "spec.fair", "--json", "--timeout", "120", "--partition", "40")
    words += ("--set", "partition.ledger=ledger.jsonl", "--set", "partition.keep_going=yes")

    def prepare(self, folder: Path) -> None:
        (folder / "spec.fair").write_text(_SPEC.replace("REQUIRED", "same decision"))

    def again(self, folder: Path) -> Sequence[str]:
        there = (folder / "ledger.jsonl").exists()
        return (*self.words, "--set", "partition.resume=yes") if there else self.words

    def known(self, folder: Path, before: Any) -> bytes:
        path = folder / "ledger.jsonl"
        content = path.read_bytes() if path.exists() else b""
        whole = content[: content.rfind(b"\n") + 1]
        for line in whole.splitlines():
            json.loads(line)
        if not whole.startswith(before or b""):
            raise BrokenError("lines of the ledger are lost")
        return whole

    def end(self, folder: Path, output: str) -> Any:
        _, *lines = map(json.loads, (folder / "ledger.jsonl").read_text().splitlines())
        verdicts = {line["partition"]: (line["box"], line["verdict"]) for line in lines}
        (found,) = json.loads(output)["properties"]
        coverage = found["demands"][0]["verdict"]["evidence"]["coverage"]
        return found["judgement"], verdicts, [coverage[name] for name in ("holds", "violated", "unknown")]


class Jobs(Kind):
    """The share of a job, in a result to which every checkpoint adds."""

    words = ("solve", "fair.job", "-o", "fair.result", "--json", "--timeout", "300", "--checkpoint", "0.05")
    #: The format of the job, and its spec.
    form, spec = "interval-job", _SPEC

    def __init__(self) -> None:
        self._job = b""

    def prepare(self, folder: Path) -> None:
        if not self._job:
            with tempfile.TemporaryDirectory() as name:
                (Path(name) / "spec.fair").write_text(self.spec.replace("REQUIRED", "fair_share >= 1%"))
                finished(Path(name), ("compile", "spec.fair", "--to", self.form, "-o", "jobs"))
                self._job = (Path(name) / "jobs" / "fair.job").read_bytes()
        (folder / "fair.job").write_bytes(self._job)

    def again(self, folder: Path) -> Sequence[str]:
        return (*self.words, "--resume") if (folder / "fair.result").exists() else self.words

    def known(self, folder: Path, before: Any) -> int:
        from fairdsl.backends.refining.result import read_result
        from fairdsl.diagnostics import DiagnosticError

        path = folder / "fair.result"
        try:
            nodes = read_result(path).nodes if path.exists() else 0
        except DiagnosticError as error:
            raise BrokenError(f"the result is half written: {error}") from error
        if nodes < (before or 0):
            raise BrokenError(f"the result falls from {before} boxes to {nodes}")
        return nodes

    def end(self, folder: Path, output: str) -> Any:
        (found,) = json.loads(finished(folder, ("recover", ".", "--recheck", "--json")))["properties"]
        shares = found["demands"][0]["verdict"]
        return found["judgement"], [shares[name] for name in ("certified_exact", "falsified_exact")]


class Forests(Jobs):
    """The same of many trees, in a result that every checkpoint replaces."""

    form, spec = "forest-job", trees(200)


class Pairs(Forests):
    """The same of people who may differ in one more attribute by so much."""

    spec = trees(30).replace("  require", "  within 2 in years\n  require")


class Search(Kind):
    """A table of pairs, in the place of an earlier one."""

    words = ("search", "spec.fair", "--count", "5000", "--seed", "1", "--timeout", "300", "--json", "-o", "pairs.csv")

    def prepare(self, folder: Path) -> None:
        (folder / "spec.fair").write_text(_SPEC.replace("REQUIRED", "same decision"))
        (folder / "pairs.csv").write_text("from,before\n1,2\n")

    def known(self, folder: Path, before: Any) -> int:
        content = (folder / "pairs.csv").read_text()
        rows = list(csv.reader(content.splitlines()))
        if not content.endswith("\n") or len({len(row) for row in rows}) != 1:
            raise BrokenError("the table is half written")
        if len(rows) < (before or 2):
            raise BrokenError(f"the table falls from {before} rows to {len(rows)}")
        return len(rows)

    def end(self, folder: Path, output: str) -> Any:
        return (folder / "pairs.csv").read_text(), json.loads(output)["count"]


class Repair(Kind):
    """A folder with a model and what is said of it."""

    words = ("repair", "spec.fair", "--train", "people.csv", "--estimator", "own.py:Linear", "-o", "better")
    words += ("--seed", "1", "--timeout", "300", "--max-accuracy-loss", "30%", "--json")
    _FILES = frozenset({"approve.json", "report.json", "report.txt"})

    def prepare(self, folder: Path) -> None:
        (folder / "spec.fair").write_text(_TRAINED)
        (folder / "own.py").write_text(_ESTIMATOR)
        draw = random.Random(0)
        people = [(draw.randrange(2), draw.randrange(20), draw.randrange(10)) for _ in range(300)]
        rows = [(*each, int(each[1] - each[2] + 6 * each[0] + draw.gauss(0, 2) > 8)) for each in people]
        lines = ["sex,age,debt,repaid", *(",".join(map(str, row)) for row in rows)]
        (folder / "people.csv").write_text("\n".join(lines) + "\n")

    def again(self, folder: Path) -> Sequence[str]:
        # What is there is whole, which `known` has seen: without it the end must be the same again.
        if (folder / "better").exists():
            (folder / "better").rename(folder / f"before-{len(os.listdir(folder))}")
        return self.words

    def known(self, folder: Path, before: Any) -> bool:
        found = [each for name in ("better", "before-*") for each in folder.glob(name)]
        for each in found:
            if self._FILES - set(os.listdir(each)):
                raise BrokenError("the folder is half written")
            json.loads((each / "approve.json").read_text())
            json.loads((each / "report.json").read_text())
        if before and not found:
            raise BrokenError("the folder is lost")
        return bool(found)

    def end(self, folder: Path, output: str) -> Any:
        return (folder / "better" / "approve.json").read_bytes(), json.loads(output)["improved"]


KINDS: dict[str, type[Kind]] = {
    "partitions": Partitions,
    "jobs": Jobs,
    "forests": Forests,
    "pairs": Pairs,
    "search": Search,
    "repair": Repair,
}


@dataclass(frozen=True)
class Unbroken:
    """A run that nobody killed."""

    seconds: float
    #: Changes of the folder that were seen.
    changes: int
    end: Any


def changes_of(folder: Path) -> tuple[tuple[str, int, int], ...]:
    """The files of the folder, with their sizes and ages."""
    found = []
    with os.scandir(folder) as entries:
        for entry in entries:
            try:
                state = entry.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue
            found.append((entry.name, state.st_size, state.st_mtime_ns))
    return tuple(sorted(found))


def watched(run: subprocess.Popen[str], folder: Path, *, seconds: float, changes: int) -> int:
    """Wait until the run has ended, is so old, or has changed the folder so often; the changes."""
    until, seen, count = time.monotonic() + seconds, changes_of(folder), 0
    while run.poll() is None and time.monotonic() < until and count < changes:
        time.sleep(_LOOK)
        now = changes_of(folder)
        count += now != seen
        seen = now
    return count


def unbroken(kind: Kind) -> Unbroken:
    """What an unbroken run comes to, and how long another one takes: the first may compile something."""
    with tempfile.TemporaryDirectory() as name:
        kind.prepare(Path(name))
        end = kind.end(Path(name), finished(Path(name), kind.words))
    with tempfile.TemporaryDirectory() as name:
        kind.prepare(Path(name))
        began = time.monotonic()
        with begun(Path(name), kind.words) as run:
            count = watched(run, Path(name), seconds=600, changes=sys.maxsize)
        return Unbroken(time.monotonic() - began, count, end)


def killed(kind: Kind, whole: Unbroken, draw: random.Random, number: int) -> str:
    """Kill a run, and perhaps the one that goes on from it; what was done. BrokenError where the end is another."""
    said = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        kind.prepare(folder)
        known, words = kind.known(folder, None), kind.words
        while True:
            at_change = number % 2 and whole.changes
            seconds = 600.0 if at_change else draw.uniform(0.0, whole.seconds)
            changes = draw.randint(1, whole.changes) if at_change else sys.maxsize
            with begun(folder, words) as run:
                watched(run, folder, seconds=seconds, changes=changes)
                ended = run.poll()
                run.kill()
            said.append(f"change {changes}" if at_change else f"{seconds:.2f} s")
            if ended is not None:
                said[-1] += f" (had ended with {ended})"
            try:
                known = kind.known(folder, known)
                words = kind.again(folder)
                if draw.random() >= _AGAIN:
                    output = finished(folder, words)
                    kind.known(folder, known)
                    if kind.end(folder, output) != whole.end:
                        raise BrokenError(f"another end: {str(kind.end(folder, output))[:300]}")
                    return ", ".join(said)
            except BrokenError as error:
                raise BrokenError(f"killed at {', '.join(said)}: {error}") from error


def main(arguments: Sequence[str]) -> int:
    """The exit code: 1 where anything was lost."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", choices=[*KINDS, []], metavar="KIND", help=", ".join(KINDS))
    parser.add_argument("--moments", type=int, default=50, metavar="N")
    parser.add_argument("--seed", type=int, default=0, metavar="N")
    parser.add_argument("--verbose", action="store_true", help="print every moment")
    given = parser.parse_args(arguments)
    failures = 0
    for name in given.kinds or KINDS:
        kind, draw = KINDS[name](), random.Random(f"{name} {given.seed}")
        whole = unbroken(kind)
        broken = []
        for number in range(given.moments):
            try:
                said = killed(kind, whole, draw, number)
            except BrokenError as error:
                broken.append(str(error))
                said = f"BROKEN {error}"
            if given.verbose or said.startswith("BROKEN"):
                print(f"  {name} {number}: {said}", flush=True)
        print(
            f"{name}: {given.moments} moments of a run of {whole.seconds:.1f} s with {whole.changes} changes of files; "
            f"{given.moments - len(broken)} ended as the unbroken run did",
            flush=True,
        )
        failures += len(broken)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    sys.exit(main(sys.argv[1:]))
