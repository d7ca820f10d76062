"""Fair shares of forests and boosters after so many CPU seconds, and whether draws of the deployed file agree.

    python benchmarks/ensembles.py ENSEMBLES [--seconds 60 ...] [--only NAME ...] [--samples [1000000]]

ENSEMBLES is a folder of specs, each with the question `share` about one model of trees. The clock counts this process,
from the closed problem to the shares; reading the files, imports and the compilation of the kernels come before. Draws
are decided by onnxruntime alone, with categories as their numbers and the first protected attribute as the one that
differs. Ends with 1 if a share found by draws does not lie, by four standard deviations, between the bounds.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
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
from fairdsl.clock import NEVER
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
    given = parser.parse_args()
    KERNELS.ready(Silent(), NEVER)
    print("| ensemble | certified | falsified | open | cpu s | boxes | drawn |")
    print("| --- |" + " ---: |" * 6)
    wrong = 0
    for spec in sorted(given.folder.glob("*.fair")):
        if given.only and spec.stem not in given.only:
            continue
        problem = problem_of(spec)
        found = share_of_draws(spec, problem, given.samples) if given.samples else None
        for seconds, counts, whole, _ in read_at(problem, sorted(given.seconds)):
            fair, unfair = Fraction(counts.fair, whole), Fraction(counts.unfair, whole)
            drawn = ""
            if found is not None:
                near = 4 * sqrt(max(found, 1 / given.samples) / given.samples)
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
