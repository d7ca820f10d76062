"""What goes wrong beside the search: a solver that lies, paths without end, time that is up."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdsl.backends.smt.bound_filters.boxes import Boxes
from fairdsl.backends.smt.bound_filters.sampling import Sampler
from fairdsl.backends.smt.case_bounds import Bounded, Bounder, CaseBounds
from fairdsl.backends.smt.cases import Case, cases
from fairdsl.backends.smt.milp import branch, highs, sides
from fairdsl.backends.smt.milp.branch import Search
from fairdsl.backends.smt.milp.certificate import certified
from fairdsl.backends.smt.milp.decide import settle_case
from fairdsl.backends.smt.milp.highs import Loaded
from fairdsl.backends.smt.milp.place import Enclosures, places
from fairdsl.backends.smt.milp.query import pair_query
from fairdsl.backends.smt.milp.sides import left_by_sides
from fairdsl.backends.smt.region import whole_region
from fairdsl.backends.smt.solvers.chain import Limits, Status, decide
from fairdsl.clock import NEVER, Deadline, OutOfTimeError
from fairdsl.ir.feature import AttributeInput, IndicatorInput
from fairdsl.ir.model import Model
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Quantity
from fairdsl.numerics.bounds import float_layers
from fairdsl.verdict import Reason
from tests.builders import BOOLEAN, domain, integer, layer, linear, model, problem, real
from tests.drawing import examples
from tests.oracle import truth
from tests.smt.test_milp_agreement import meeting
from tests.strategies import problems

NETWORKS = problems(Quantity.HOLDS, widths=(2, 3, 4))
HONEST = highs._loaded


class Liar:
    """A solver whose answers are wrong now and then: numbers that are none, other numbers, another status."""

    def __init__(self, honest: Any, rng: np.random.Generator) -> None:
        self._honest, self._rng = honest, rng

    def __getattr__(self, name: str) -> Any:
        lies = {
            "getModelStatus": self.status,
            "getDualRay": self.ray,
            "getObjectiveValue": self.value,
            "getSolution": self.solution,
        }
        return lies.get(name) or getattr(self._honest, name)

    def status(self) -> Any:
        import highspy

        statuses = highspy.HighsModelStatus
        said = self._honest.getModelStatus()
        return statuses.kInfeasible if self._lies() and said == statuses.kOptimal else said

    def ray(self) -> tuple[Any, bool, list[float]]:
        rows = self._honest.getNumRow()
        return (None, True, self._wrong([0.0] * rows)) if self._lies() else self._honest.getDualRay()

    def value(self) -> float:
        said = self._honest.getObjectiveValue()
        return self._wrong([said])[0] if self._lies() else said

    def solution(self) -> Any:
        found = self._honest.getSolution()
        if self._lies():
            found.col_value = self._wrong(found.col_value)
        if self._lies():
            found.row_dual = self._wrong(found.row_dual)
        return found

    def _lies(self) -> bool:
        return bool(self._rng.random() < 0.3)

    def _wrong(self, numbers: list[float]) -> list[float]:
        match self._rng.integers(4):
            case 0:
                return [-number for number in numbers]
            case 1:
                return [float(self._rng.choice([np.nan, np.inf, -np.inf, 1e300])) for _ in numbers]
            case 2:
                return [float(number) for number in self._rng.permutation(numbers)]
            case _:
                return [float(self._rng.normal(0, 3)) for _ in numbers]


@settings(max_examples=examples(0.5))
@given(NETWORKS, st.integers(0, 2**32 - 1))
def test_a_solver_that_lies_proves_nothing_false(asked: Problem, seed: int) -> None:
    rng = np.random.default_rng(seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(highs, "_loaded", lambda linear, *, integer: Liar(HONEST(linear, integer=integer), rng))
        patch.setattr(sides._Somebody, "at", lambda self, columns, region: None)
        check_cases(asked)


def check_cases(asked: Problem) -> None:
    """No case that a pair meets is refuted, and every pair is one."""
    violations, every = truth(asked).violations, cases(asked)
    enclosures = Enclosures(float_layers(asked.model), asked.model.inputs)
    left = left_by_sides(asked, every, enclosures, seconds=5.0, least=1)
    assert all(case in left for case in every if meeting(asked, violations, case, case.region))
    for case in every[:3]:
        (bounded,) = Bounder(asked.model, case).bound([case.region])
        answer = settle_case(asked, case, bounded, seconds=5.0, nodes=30, enclosures=enclosures)
        known = meeting(asked, violations, case, case.region)
        assert (answer.a, answer.b) in known if answer.status == "candidate" else not (known and "ref" in answer.status)


@pytest.mark.parametrize("numbers", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_none_are_no_answer(numbers: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither rounded to values nor taken for duals: the search ends without a result."""

    class Broken(Liar):
        def _lies(self) -> bool:
            return True

        def _wrong(self, true: list[float]) -> list[float]:
            return [numbers] * len(true)

        def status(self) -> Any:
            return self._honest.getModelStatus()

    rng = np.random.default_rng(0)
    monkeypatch.setattr(highs, "_loaded", lambda linear, *, integer: Broken(HONEST(linear, integer=integer), rng))
    asked = endless()
    for case in cases(asked):
        (bounded,) = Bounder(asked.model, case).bound([case.region])
        assert settle_case(asked, case, bounded, seconds=5.0).status == "unknown"


def endless() -> Problem:
    """Two reals, and an indicator of both whose border no number of cuts decides; no score is above 1."""
    people = domain(x=real(-1, 1), y=real(-1, 1), sex=BOOLEAN)
    base = model(layer([[1, 1, 0, 1]], [0]), layer([[1]], [0], 1), attributes=4, threshold="3/2")
    inputs = (*map(AttributeInput, range(3)), IndicatorInput(linear({0: 1, 1: "1/3"}, ">=", "1/7")))
    network = Model(name="m", outcomes=base.outcomes, inputs=inputs, layers=base.layers, rule=base.rule, favourable=1)
    return problem(people, network, 2)


@pytest.mark.parametrize("patience", [None, 60])
def test_paths_without_end_are_given_up(patience: int | None) -> None:
    """Halves of an interval that holds a border hold it again: the search ends before Python's stack does."""
    asked = endless()
    deepest = []
    for case in cases(asked):
        query = pair_query(asked, case)
        calls = _Calls()
        found = Search(query, None, calls, Deadline.within(60), 400, patience).run(case.region)
        assert found.tree is None
        assert found.detail
        deepest.append(calls.deepest)
    assert max(deepest) < 0.9 * sys.getrecursionlimit()


class _Calls:
    """Looks at no point, but at how deep the calls are."""

    def __init__(self) -> None:
        self.deepest = 0

    def at(self, columns: np.ndarray, region: object) -> None:
        with suppress(ValueError):  # where the stack ends
            while sys._getframe(self.deepest):
                self.deepest += 1


def wide() -> Problem:
    """Every unit of 40 is open, and no bounds settle a case."""
    rng = np.random.default_rng(5)
    rows = [[Fraction(int(v), 4) for v in row] for row in rng.integers(-8, 9, (40, 3))]
    network = model(layer(rows, [0] * 40), layer([[(-1) ** n for n in range(40)]], [0], 1), attributes=3)
    return problem(domain(x=integer(-20, 20), y=integer(-20, 20), group=integer(0, 4)), network, 2)


def test_nothing_is_built_when_the_time_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even bounds, which take seconds for wide networks."""
    built: list[object] = []
    true_places = branch.places
    monkeypatch.setattr(branch, "places", lambda *given: built.append(given) or true_places(*given))
    monkeypatch.setattr(Loaded, "of", lambda *given: pytest.fail("a program is built"))
    asked = wide()
    every = cases(asked)
    enclosures = Enclosures(float_layers(asked.model), asked.model.inputs)
    assert left_by_sides(asked, every, enclosures, seconds=0.0) == list(every)
    (bounded,) = Bounder(asked.model, every[0]).bound([every[0].region])
    answer = settle_case(asked, every[0], bounded, seconds=0.0)
    assert (answer.status, answer.nodes) == ("unknown", 0)
    assert not built


def test_a_question_without_time_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    """One round of sampling at most, and no program for any of its cases."""
    monkeypatch.setattr(Loaded, "of", lambda *given: pytest.fail("a program is built"))
    rounds: list[int] = []
    true_moved = Sampler._moved
    monkeypatch.setattr(Sampler, "_moved", lambda self, *given: rounds.append(1) or true_moved(self, *given))
    found = decide(wide(), Limits(seconds=0.0, seed=0, programs_only=True))
    assert found.status in (Status.UNKNOWN, Status.VIOLATED)
    assert not rounds


def test_cases_for_which_there_is_no_time_are_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """What bounds settled until then is kept, and nothing is taken for settled that was not bounded."""
    asked = wide()
    every = [entry for batch in CaseBounds(asked, cases(asked)).batches() for entry in batch]
    settled = {case.number for case, bounded in every[:1] if bounded.settled}

    def first(bounds: CaseBounds) -> Iterator[list[tuple[Case, Bounded]]]:
        yield every[:1]
        raise OutOfTimeError

    monkeypatch.setattr(CaseBounds, "batches", first)
    found = decide(asked, Limits(seconds=60.0, seed=0, programs_only=True))
    assert (found.status, found.reason) == (Status.UNKNOWN, Reason.INCOMPLETE)
    assert set(found.left) == {case.number for case, _ in every} - settled


def test_sampling_ends_with_its_time() -> None:
    asked = endless()  # in which there is nothing to be found
    sets = whole_region(asked.domain, asked.question).a
    drawn: list[int] = []
    for until in (Deadline.within(0), NEVER):
        sampler = Sampler(asked, sets, 0, until)
        measured = sampler._measured
        rounds: list[int] = []
        sampler._measured = lambda *given, kept=rounds, true=measured: kept.append(1) or true(*given)
        assert not sampler.suspects(Boxes.of([sets]), 16, 6)
        drawn.append(len(rounds))
    assert drawn[0] == 1 < drawn[1]


def test_too_many_open_units_are_given_up_before_a_program_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(branch, "MOST_UNITS", 10)
    monkeypatch.setattr(Loaded, "of", lambda *given: pytest.fail("a program is built"))
    asked = wide()
    case = cases(asked)[0]
    found = Search(pair_query(asked, case), None, None, Deadline.within(60), 400).run(case.region)
    assert found.tree is None
    assert "undecided units are too many" in found.detail


def test_halves_of_what_is_empty_for_the_solver_are_proved_too() -> None:
    """A first half in which nothing is feasible is no reason to give the rest up."""
    people = domain(where=linear({0: 1, 1: 1}, ">=", 12), x=integer(0, 9), y=integer(0, 9), sex=BOOLEAN)
    network = model(layer([[1, 1, 1], [1, -1, 1]], [-12, 0]), layer([[1, "1/2"]], ["1/4"], 1), attributes=3)
    asked = problem(people, network, 2)
    assert truth(asked).holds
    for case in cases(asked):
        query = pair_query(asked, case)
        tree = Search(query, None, None, Deadline.within(60), 400, 0).run(case.region).tree
        assert tree is not None
        assert certified(query, case.region, tree)
    assert places(query, [case.region])[0].bounded


def test_nothing_is_written_where_reports_are() -> None:
    """HiGHS says who it is as soon as a process makes its first program, to the descriptor of standard output."""
    ours, theirs = "from fairdsl.backends.smt.milp import highs", "import highspy"
    called = f"{ours}; highs._announced(); {theirs}; highspy.Highs(); print(1)"
    done = subprocess.run([sys.executable, "-c", called], capture_output=True, text=True, check=True)
    assert done.stdout == "1\n"
