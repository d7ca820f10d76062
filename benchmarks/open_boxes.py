"""What a proof adds to the boxes that a share leaves open: are regions worth handing on from one engine to the other?

    python benchmarks/open_boxes.py NETWORKS [--only GC-3 ...] [--seconds 10] [--boxes 25] [--each 1]

A share is refined for so many CPU seconds; boxes are drawn from those that are open, in proportion to what they leave
undecided, and `smt` is asked for `--each` seconds whether everybody in the box is treated alike. One that it proves
would add all of its units to the certified share; one with a pair adds one unit to the falsified share at least.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from fair_share import header
from shares.measure import cpu_seconds, reading_of, started, warm
from shares.questions import ask, networks_in

from fairdsl.backends.contract import Budget, Facts, Silent
from fairdsl.backends.intervals.axes import Axis
from fairdsl.backends.intervals.refine import OpenBox
from fairdsl.backends.refining.clock import advance_until
from fairdsl.backends.smt import Smt
from fairdsl.ir.expr import Compare, Linear, Relation, Variable, conjoin
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Quantity


def in_box(problem: Problem, axes: Sequence[Axis], box: OpenBox) -> Problem:
    """Whether all in a box are treated alike; axes are of whole numbers or of categories, as the networks' are."""
    limits = []
    for axis, low, high in zip(axes, box.low, box.high, strict=True):
        assert axis.attribute is not None, "one attribute differs, and it has a value of its own"
        column = Linear.of({Variable(axis.attribute): Fraction(1)})
        for left in (
            column - Linear(constant=axis.value(high)),
            Linear(constant=axis.value(low)) - column,
        ):
            limits.append(Compare(left=left, relation=Relation.LE))
    domain = replace(problem.domain, where=conjoin(problem.domain.where, *limits))
    return replace(problem, domain=domain, quantity=Quantity.HOLDS)


def row(network: Path, seconds: float, boxes: int, each: float) -> str:
    """A line of the table: the open share, then how much of it has which verdict."""
    problem = ask(network)
    warm(problem)
    run = started(problem)
    advance_until(run.refinement, lambda: cpu_seconds() - run.cpu > seconds)
    drawn = run.refinement.drawn_boxes(boxes)
    weight, count = defaultdict[str, float](float), Counter[str]()
    for box in drawn:
        verdict = Smt().answer(in_box(problem, run.lowered.axes, box), Facts(), Budget.of(each), Silent())
        weight[type(verdict).__name__] += box.undecided
        count[type(verdict).__name__] += 1
    whole = sum(weight.values())
    cells = (f"{weight[kind] / whole:.0%} ({count[kind]})" for kind in ("Holds", "Violated", "Unknown"))
    reading = reading_of(run)
    return f"| {network.stem} | {float(reading.undecided):.2%} | {reading.nodes:,} | {' | '.join(cells)} |"


def main() -> None:
    """Print a line a network."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", type=Path)
    parser.add_argument("--only", nargs="+")
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--boxes", type=int, default=25)
    parser.add_argument("--each", type=float, default=1.0)
    options = parser.parse_args()
    print(header("network", "undecided", "nodes", "proved", "with a pair", "unknown"), flush=True)
    for network in networks_in(options.networks, options.only):
        print(row(network, options.seconds, options.boxes, options.each), flush=True)


if __name__ == "__main__":
    main()
