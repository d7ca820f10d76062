"""Two arithmetics: a violation needs both, and a disagreement is Unknown with its witnesses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from fairdsl.backends.contract import Facts, Procedure
from fairdsl.ir.expr import Relation
from fairdsl.ir.question import ScoreGap
from fairdsl.replay import witness
from fairdsl.verdict import Holds, Reason, Unknown, Vacuous, Violated
from tests.agreement.engines import ENGINES, ask
from tests.builders import BOOLEAN, domain, integer, linear, point, problem, score
from tests.deployed_stand_in import StandIn, deployed

engines = pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[Sequence[float]], int]], None]:
    def install(decide_one: Callable[[Sequence[float]], int]) -> None:
        for place in ("fairdsl.replay.run.runtime_of", "fairdsl.backends.enumerate.deployed.runtime_of"):
            monkeypatch.setattr(place, lambda _: StandIn(decide_one))

    return install


PEOPLE = domain(sex=BOOLEAN, age=integer(0, 9))


@engines
def test_disagreement_everywhere_is_a_numeric_gap(engine: Procedure, stand_in) -> None:
    stand_in(lambda row: 1)
    facts = Facts()
    verdict = ask(engine, deployed(problem(PEOPLE, score([1, 0]), 0)), facts=facts)
    assert isinstance(verdict, Unknown)
    assert verdict.reason is Reason.NUMERIC_GAP
    assert verdict.witnesses
    assert facts.gaps
    assert all(entry.replay.exact and entry.replay.float32 is False for entry in verdict.witnesses)


@engines
def test_one_agreeing_violation_is_found_among_gaps(engine: Procedure, stand_in) -> None:
    stand_in(lambda row: int(row[0] == 1 and row[1] == 7))
    verdict = ask(engine, deployed(problem(PEOPLE, score([1, 0]), 0)))
    assert isinstance(verdict, Violated)
    assert {entry.a.point[1] for entry in verdict.witnesses} == {7}


def test_enumeration_says_whether_float32_agrees(stand_in) -> None:
    asked = deployed(problem(PEOPLE, score([0, 1], "-9/2"), 0))
    stand_in(lambda row: int(row[1] > 4.5))
    agreeing = ask(ENGINES[0], asked)
    stand_in(lambda row: int(row[1] > 4.5 or (row[0] == 0 and row[1] == 4)))
    apart = ask(ENGINES[0], asked)
    assert isinstance(agreeing, Holds)
    # What holds of the exact model only is not a proof about the file that runs.
    assert isinstance(apart, Unknown)
    assert apart.reason is Reason.NUMERIC_GAP
    assert [(pair.replay.exact, pair.replay.float32) for pair in apart.witnesses] == [(False, True)]
    assert agreeing.evidence.notes == ("float32 agrees on all 20 individuals",)
    assert apart.evidence.notes == (
        "float32 disagrees on 1 of 20 individuals",
        "in float32 2 more individuals are in a violation",
    )


def test_a_file_that_takes_one_at_a_time_is_run_on_those_in_doubt_and_some_others(stand_in, monkeypatch) -> None:
    """A bound that is too small is found out by those others, and then everybody is run."""
    from fairdsl.backends.enumerate import deployed as files

    people = domain(sex=BOOLEAN, age=integer(0, 199))
    asked = deployed(problem(people, score([0, 1], "-99/2"), 0))
    monkeypatch.setattr(StandIn, "batch", 1)
    monkeypatch.setattr(files, "_in_doubt", lambda census, *_: census.admissible & (census.margins < 2))
    stand_in(lambda row: int(row[1] > 49.5))
    assert ask(ENGINES[0], asked).evidence.notes == ("float32 agrees on all 400 individuals",)
    stand_in(lambda row: int(row[1] > 9.5))
    assert ask(ENGINES[0], asked).evidence.notes[0] == "float32 disagrees on 80 of 400 individuals"


def test_a_gap_of_scores_is_replayed_in_both(stand_in) -> None:
    asked = deployed(problem(PEOPLE, score([2, 0]), 0, demand=ScoreGap(relation=Relation.LE, limit=1)))
    # The stand-in's decision is its score, which goes up to 2.
    asked = replace(asked, model=replace(asked.model, outcomes=("no", "yes", "more")))
    stand_in(lambda row: int(2 * row[0]))
    found = witness(asked, point(0, 3), point(1, 3))
    assert found is not None
    assert found.replay.agrees
    stand_in(lambda row: int(row[0]))
    found = witness(asked, point(0, 3), point(1, 3))
    assert found is not None
    assert not found.replay.agrees


def test_an_empty_target_says_so() -> None:
    asked = problem(domain(sex=BOOLEAN, age=integer(0, 9)), score([1, 0]), 0)
    nobody = replace(asked, question=replace(asked.question, target=linear({1: 1}, ">", 9)))
    verdict = ask(ENGINES[0], nobody)
    assert isinstance(verdict, Vacuous)
