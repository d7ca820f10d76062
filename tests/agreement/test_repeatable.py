"""What is done with an effort depends on that and the seed alone: not on how fast it goes, nor on how many cores."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import Phase, given, settings

from fairdsl.backends.contract import Budget, Offer, Procedure, Silent
from fairdsl.backends.rates import Rates
from fairdsl.backends.smt import Smt
from fairdsl.clock import Meter, metered
from fairdsl.ir.problem import Problem
from fairdsl.options import Options, Run
from fairdsl.plan import Plan, execute
from fairdsl.plan.negotiate import Stage
from fairdsl.plan.registry import procedures
from fairdsl.replay import decisions
from fairdsl.verdict import Verdict
from tests.agreement.bank import KINDS, Kind
from tests.agreement.engines import KEPT
from tests.solvers import InProcess

#: Few enough units that some questions stay open, and so many that most are settled.
EFFORTS = (300, 20_000, 400_000)


@contextmanager
def slowed() -> Iterator[None]:
    """A block in which every second takes a thousand of them."""
    began, real = time.monotonic(), time.monotonic
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(time, "monotonic", lambda: began + 1000 * (real() - began))
        yield


def answered(engine: Procedure, offer: Offer, problem: Problem, effort: int, jobs: int) -> tuple[Verdict, Meter]:
    """What the planner makes of the engine's answers with so much effort, and what was spent."""
    meter = Meter(effort)
    with pytest.MonkeyPatch.context() as patch, metered(meter):
        patch.setattr(decisions, "_KNOWN", decisions._Known())  # of another run of this process
        budget = Budget.under(Options(Run(effort=effort, jobs=jobs))).of_effort
        return execute(Plan((Stage(engine, offer),), ()), problem, budget, Silent()), meter


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name.replace(" ", "_"))
def test_the_same_effort_comes_to_the_same(kind: Kind) -> None:
    engines = {engine.name: engine for engine in (*procedures(), Smt(lambda jobs: KEPT, InProcess), Rates())}
    met = set[str]()

    @settings(max_examples=3, database=None, derandomize=True, phases=[Phase.generate])
    @given(kind.problems)
    def alike(drawn: Problem) -> None:
        for name in kind.answered:
            for problem in (drawn, *kind.simpler(drawn)):
                offer = engines[name].offer(problem)
                if isinstance(offer, Offer):
                    met.add(name)
                    for effort in EFFORTS:
                        first = answered(engines[name], offer, problem, effort, jobs=1)
                        with slowed():
                            assert answered(engines[name], offer, problem, effort, jobs=2) == first
                    break

    alike()
    assert met, "somebody answered"
