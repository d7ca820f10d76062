"""A tree in parts, which are checked side by side, and written down as they come: a run that was stopped goes on."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, fields
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from fairdsl_verify import reject
from fairdsl_verify.onnx_file import Graph
from fairdsl_verify.relaxed import checker_of, question_of
from fairdsl_verify.sample import cover, walk
from fairdsl_verify.tree import Totals

#: What the leaves of a tree come to, by the question, the lines behind it, and the model's file.
FollowTree = Callable[[Any, list[str], bytes], Totals]

#: Leaves of a part at most.
LEAVES = 500


class Parts:
    """The leaves of a tree, so many together; a part is checked with the boxes above it, as if it were the whole."""

    def __init__(self, data: Any, lines: list[str], content: bytes, size: int) -> None:
        self._checker, self._lines = checker_of(question_of(data), Graph(content)), lines
        self.somebody = self._checker.compares(self._checker.question.compared)
        masses, self._parents = cover(self._checker, lines)
        leaves = list(masses)
        self._leaves = [leaves[at : at + size] for at in range(0, len(leaves), size)]
        self.count = len(self._leaves)
        self.digest = sha256(json.dumps([data, lines]).encode()).hexdigest()

    def checked(self, number: int) -> Totals:
        """What the leaves of one part come to."""
        totals = Totals()
        walk(self._checker, self._lines, self._parents, set(self._leaves[number]), totals)
        return totals

    def whole(self, done: Iterable[Totals]) -> Totals:
        """What all parts come to."""
        whole = Totals(somebody=self.somebody)
        for totals in done:
            for field in fields(Totals):
                setattr(whole, field.name, getattr(whole, field.name) + getattr(totals, field.name))
        whole.somebody = bool(whole.somebody)
        return whole

    def line(self, number: int, totals: Totals) -> str:
        """What is written of a part that is done."""
        return json.dumps([self.digest, number, asdict(totals)]) + "\n"


#: What a process of the pool checks parts of.
_HELD: list[Parts] = []


def _hold(*given: Any) -> None:
    _HELD[:] = [Parts(*given)]


def _part(number: int) -> Totals:
    return _HELD[0].checked(number)


def in_parts(jobs: int, kept: Path | None) -> FollowTree | None:
    """Checks so many parts at a time; ``kept`` is where those are written down that are done, and read again.

    None where there is one process, and nothing to write down.
    """
    return None if jobs == 1 and kept is None else partial(_follow, jobs=jobs, kept=kept)


def _follow(data: Any, lines: list[str], content: bytes, *, jobs: int, kept: Path | None) -> Totals:
    given = data, lines, content, LEAVES
    parts = Parts(*given)
    done = dict(_read(kept, parts))
    if kept is not None:  # without what was not written to its end
        kept.write_text("".join(parts.line(number, totals) for number, totals in done.items()), encoding="ascii")
    left = [number for number in range(parts.count) if number not in done]
    with ProcessPoolExecutor(jobs, initializer=_hold, initargs=given) as pool:
        for number, totals in zip(left, pool.map(_part, left), strict=True):
            done[number] = totals
            if kept is not None:
                with kept.open("a", encoding="ascii") as file:
                    file.write(parts.line(number, totals))
    return parts.whole(done.values())


def _read(kept: Path | None, parts: Parts) -> Iterator[tuple[int, Totals]]:
    """The parts that are done; a last line that was not written to its end is none."""
    text = kept.read_text(encoding="ascii") if kept is not None and kept.exists() else ""
    for line in text.split("\n")[:-1]:
        digest, number, totals = json.loads(line)
        if digest != parts.digest or not 0 <= number < parts.count:
            reject(f"{kept} says what was checked of another proof")
        yield number, Totals(**totals)
