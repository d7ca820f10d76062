"""Fair shares of forests and boosters after so many CPU seconds, and whether draws of the deployed file agree.

    python benchmarks/ensembles.py ENSEMBLES [--seconds 60 ...] [--only NAME ...] [--samples [1000000]]
    python benchmarks/ensembles.py ENSEMBLES --two-processes [20] [--only NAME ...]

ENSEMBLES is a folder of specs, each with the question `share` about one model of trees. The clock counts this process,
from the closed problem to the shares; reading the files, imports and the compilation of the kernels come before. Draws
are decided by onnxruntime alone, with categories as their numbers and the first protected attribute as the one that
differs. What a second process brings is measured in CPU seconds, from the first box on: those of this process, which
parts and joins, and half of those of the other two are what it takes where both processors are idle. Ends with 1 if
a share found by draws does not lie, by four standard deviations, between the bounds.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from pathlib import Path

import numpy as np
import onnxruntime

from fairdsl.backends.contract import Silent
from fairdsl.backends.leaf_boxes.descent import Counts, Descent
from fairdsl.backends.leaf_boxes.forest import forest_of
from fairdsl.backends.leaf_boxes.lowering import is_large, lower
from fairdsl.backends.leaf_boxes.refinement import KERNELS, Refinement
from fairdsl.backends.refining.workers import refine_in_parallel
from fairdsl.clock import NEVER, Deadline
from fairdsl.elaborate import elaborate
from fairdsl.ir.domain import Category
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Pair
from fairdsl.semantics import front_end

#: People that onnxruntime decides at once.
_AT_ONCE = 50_000


def problem_of(spec: Path) -> Problem:
    """The question `share` of a spec."""
    checked, _ = front_end(str(spec))
    (found,) = (each.problem for each in elaborate(checked, {}).demands if each.problem.name == "share")
    return found


def read_at(problem: Problem, marks: Sequence[float]) -> Iterator[tuple[float, Counts, int, bool]]:
    """CPU seconds, what is counted, the size of everything, and whether it is finished, at each mark."""
    pair = problem.question
    assert isinstance(pair, Pair)
    start = time.process_time()
    lowered = lower(problem, pair)
    run: Descent | Refinement = Descent(lowered)
    if is_large(problem.model) and (forest := forest_of(lowered)) is not None:
        run = Refinement.start(forest, memory=2**31)
    for mark in marks:
        while not run.finished and not run.full and time.process_time() - start < mark:
            run.step()
        counts = run.counts
        whole = counts.fair + counts.unfair + counts.undecided + counts.vacuous + run.left
        yield time.process_time() - start, counts, whole, run.finished


@dataclass(frozen=True, kw_only=True)
class Together:
    """What two processes came to, CPU seconds of this one and of both, and those of one that came as far alone."""

    certified: Fraction
    here: float
    there: float
    alone: float

    @property
    def ratio(self) -> float:
        """How much sooner two idle processors are there than one."""
        return self.alone / (self.here + self.there / 2)


def against_two(problem: Problem, seconds: float) -> Together | None:
    """Two processes for so many seconds, and one until it has certified as much; None where leaves are counted."""
    pair = problem.question
    assert isinstance(pair, Pair)
    lowered = lower(problem, pair)
    if not is_large(problem.model) or (forest := forest_of(lowered)) is None:
        return None
    two, one = (Refinement.start(forest, memory=2**31) for _ in range(2))
    here, there = time.process_time(), children_seconds()
    refine_in_parallel(two, jobs=2, deadline=Deadline.within(seconds), observer=Silent(), memory=2**31)
    here, there = time.process_time() - here, children_seconds() - there
    certified, start = two.counts.fair, time.process_time()
    while one.counts.fair < certified and not one.finished and not one.full:
        one.step()
    alone = time.process_time() - start
    if two.finished:
        assert (one.counts.fair, one.counts.unfair) == (certified, two.counts.unfair), "another total"
    return Together(certified=Fraction(certified, forest.sizes.total), here=here, there=there, alone=alone)


def children_seconds() -> float:
    """CPU seconds of processes that have ended."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return ended.ru_utime + ended.ru_stime


def share_of_draws(spec: Path, problem: Problem, count: int) -> float:
    """The share of units drawn uniformly whose decisions by the file differ."""
    pair, rng, unfair = problem.question, np.random.default_rng(0), 0
    assert isinstance(pair, Pair)
    session = onnxruntime.InferenceSession(str(spec.with_suffix(".onnx")), providers=["CPUExecutionProvider"])
    (given,) = session.get_inputs()
    (differs,) = pair.differ
    attributes = problem.domain.attributes
    for start in range(0, count, _AT_ONCE):
        rows = min(_AT_ONCE, count - start)
        people = np.empty((rows, len(attributes)), dtype=np.float32)
        for index, attribute in enumerate(attributes):
            listed = range(len(attribute.values)) if isinstance(attribute.type, Category) else attribute.values
            people[:, index] = rng.choice(np.asarray(listed, dtype=np.float32), size=rows)
        decided = []
        for value in range(len(attributes[differs].values)):
            people[:, differs] = value
            decided.append(np.asarray(session.run(None, {given.name: people})[0]).reshape(rows))
        unfair += int((np.array(decided) != decided[0]).any(axis=0).sum())
    return unfair / count


def percent(share: float | Fraction) -> str:
    return f"{float(share):.4%}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seconds", type=float, nargs="+", default=[60.0])
    parser.add_argument("--only", nargs="+")
    parser.add_argument("--samples", type=int, nargs="?", const=1_000_000, default=0)
    parser.add_argument("--two-processes", type=float, nargs="?", const=20.0, metavar="S")
    given = parser.parse_args()
    KERNELS.ready(Silent(), NEVER)
    specs = [each for each in sorted(given.folder.glob("*.fair")) if not given.only or each.stem in given.only]
    return together(specs, given.two_processes) if given.two_processes else alone(specs, given.seconds, given.samples)


def together(specs: Sequence[Path], seconds: float) -> int:
    """What a second process brings."""
    print("| ensemble | certified | here: cpu s | in both: cpu s | one process: cpu s | ratio |")
    print("| --- |" + " ---: |" * 5)
    for spec in specs:
        if (found := against_two(problem_of(spec), seconds)) is not None:
            print(
                f"| {spec.stem} | {percent(found.certified)} | {found.here:.1f} | {found.there:.1f} |"
                f" {found.alone:.1f} | {found.ratio:.2f} |",
                flush=True,
            )
    return 0


def alone(specs: Sequence[Path], marks: Sequence[float], samples: int) -> int:
    """Shares after so many CPU seconds of one process, held against draws where there are any."""
    print("| ensemble | certified | falsified | open | cpu s | boxes | drawn |")
    print("| --- |" + " ---: |" * 6)
    wrong = 0
    for spec in specs:
        problem = problem_of(spec)
        found = share_of_draws(spec, problem, samples) if samples else None
        for seconds, counts, whole, _ in read_at(problem, sorted(marks)):
            fair, unfair = Fraction(counts.fair, whole), Fraction(counts.unfair, whole)
            drawn = ""
            if found is not None:
                near = 4 * sqrt(max(found, 1 / samples) / samples)
                agrees = float(unfair) - near <= found <= 1 - float(fair) + near
                drawn, wrong = f"{percent(found)}{'' if agrees else ' WRONG'}", wrong + (not agrees)
            print(
                f"| {spec.stem} | {percent(fair)} | {percent(unfair)} | {percent(1 - fair - unfair)} |"
                f" {seconds:.1f} | {counts.boxes:,} | {drawn} |",
                flush=True,
            )
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
