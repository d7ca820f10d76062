"""Who is turned away before it is asked: nobody who would have answered, and the others say why in the same words."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from fairdsl.elaborate import elaborate
from fairdsl.ir.problem import Problem
from fairdsl.plan.gate import turned_away
from fairdsl.plan.registry import BACKENDS
from fairdsl.semantics import front_end

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module", params=["hiring", "admissions"])
def problems(request: pytest.FixtureRequest) -> list[Problem]:
    spec, _ = front_end(str(ROOT / "examples" / request.param / f"{request.param}.fair"))
    return [item.problem for item in elaborate(spec, {}, data={}).demands if item.refusal is None]


@pytest.mark.parametrize("name", BACKENDS)
def test_who_is_turned_away_would_have_refused(problems: list[Problem], name: str) -> None:
    for problem in problems:
        refusal = turned_away(BACKENDS[name], problem)
        if refusal is not None:
            assert BACKENDS[name].procedure().offer(problem) == refusal


def test_engines_for_groups_are_not_imported_for_pairs() -> None:
    program = "import sys, fairdsl; fairdsl.plans('examples/hiring/hiring.fair'); print(*sys.modules)"
    run = [sys.executable, "-c", program]
    loaded = subprocess.run(run, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    assert "fairdsl.backends.smt.procedure" in loaded
    assert not {f"fairdsl.backends.{name}.procedure" for name in ("ssat", "rates")}.intersection(loaded)
