"""Formulas decided by linear programs alone, however small they are, held against loops over everybody."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from fairdsl.backends.smt.procedure import refusal
from fairdsl.backends.smt.solvers.chain import Limits, Status, decide
from fairdsl.backends.smt.ways import UnsplitError
from tests.demands.files import KINDS
from tests.demands.held import drawn, problem_of
from tests.drawing import examples


@pytest.mark.parametrize("kind", ["formula", *KINDS])
def test_programs_against_the_definition(kind: str, tmp_path: Path) -> None:
    decided = 0
    for number in range(examples(0.4)):
        found = drawn(Random(f"programs {kind} {number}"), kind, tmp_path)
        problem = problem_of(found.spec(found.demand.text), tmp_path)
        if problem is None or refusal(problem) is not None:
            continue
        try:
            said = decide(problem, Limits(seconds=10.0, seed=0, programs_only=True))
        except UnsplitError:  # it has one script, and no cases
            continue
        broken = any(not found.demand.of(people) for people in found.asked)
        if said.status is not Status.UNKNOWN:
            decided += 1
            assert (said.status is Status.VIOLATED) == broken, found.spec(found.demand.text)
        if said.status is Status.VIOLATED:
            assert said.witness is not None
    assert decided or kind in {"curves", "black box"}  # whose arithmetic they seldom know
