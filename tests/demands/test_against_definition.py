"""Every engine that answers general demands against the definition, on random properties over a tiny domain."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from fairdsl.diagnostics import DiagnosticError
from fairdsl.elaborate import elaborate
from fairdsl.ir.problem import Problem
from fairdsl.plan.gate import turned_away
from fairdsl.plan.registry import BACKENDS
from fairdsl.semantics import front_end
from fairdsl.verdict import Holds, Shares, Unknown, Vacuous, Verdict, Violated
from tests.agreement.engines import ENGINES, ask
from tests.demands.naive import Case, case

#: Properties that are tried of each kind.
CASES = 25
#: What says that a question is empty, or says the same whatever is decided: no mistake of the generator.
EMPTY = {"E0208", "E0303", "E0408", "E0409", "E0410", "E0413", "E0414", "W0802"}


ENGINE = {engine.name: engine for engine in ENGINES}


def problem_of(spec: str, folder: Path) -> Problem | None:
    """The first demand of a spec; None where it is refused for saying nothing about anybody."""
    path = folder / "spec.fair"
    path.write_text(spec, encoding="utf-8")
    try:
        checked, _ = front_end(str(path))
    except DiagnosticError as error:
        if {each.code for each in error.diagnostics} <= EMPTY:
            return None
        raise
    return elaborate(checked, {}).demands[0].problem


def agrees(found: Case, verdict: Verdict | None) -> None:
    """Whether a verdict on a yes or no is what the loops over everybody come to."""
    asked = found.asked()
    broken = [people for people in asked if not found.demand.of(people)]
    spec = found.spec(found.demand.text)
    match verdict:
        case Violated(witnesses=witnesses, breaches=breaches):
            assert broken, spec
            for each in breaches:
                people = {person.name: dict(person.values) for person in each.individuals}
                assert people in broken, (spec, people)
            for pair in witnesses:
                assert {"a": dict(pair.a), "b": dict(pair.b)} in broken, spec
            assert witnesses or breaches
        case Holds():
            assert asked, spec
            assert not broken, spec
        case Vacuous():
            assert not asked, spec
        case Unknown() | None:
            pass
        case _:
            raise AssertionError(verdict)


@pytest.mark.parametrize("backend", ["enumerate", "search", "smt"])
def test_engines_agree_with_the_definition(backend: str, tmp_path: Path) -> None:
    random = Random(11)
    decided = 0
    for _ in range(CASES):
        found = case(random)
        problem = problem_of(found.spec(found.demand.text), tmp_path)
        if problem is None or turned_away(BACKENDS[backend], problem) is not None:
            continue
        verdict = ask(ENGINE[backend], problem, 0.3 if backend == "search" else 20.0)
        agrees(found, verdict)
        decided += isinstance(verdict, Holds | Vacuous | Violated)
    assert decided > CASES // 3


def test_shares_agree_with_the_definition(tmp_path: Path) -> None:
    random = Random(12)
    seen = 0
    for _ in range(CASES):
        found = case(random)
        problem = problem_of(found.spec(f"share({found.demand.text}) >= 50%"), tmp_path)
        if problem is None:
            continue
        verdict = ask(BACKENDS["enumerate"].procedure(), problem)
        if isinstance(verdict, Vacuous):
            assert found.share() is None
            continue
        assert isinstance(verdict, Shares)
        assert verdict.undecided == 0
        assert verdict.certified == found.share(), found.spec(found.demand.text)
        seen += 1
    assert seen > CASES // 3
