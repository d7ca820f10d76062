"""Every engine of the registry against the definitions, on random small problems of every kind."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import signature
from math import exp, lgamma, log

import pytest
from hypothesis import Phase, given, settings

from fairdsl.backends.contract import Budget, Facts, Observer, Offer, Procedure, Refusal
from fairdsl.backends.formats import FORMATS
from fairdsl.backends.rates import Rates
from fairdsl.backends.rates.points import Individuals
from fairdsl.backends.smt import Smt, encoding
from fairdsl.ir.problem import Problem
from fairdsl.plan.registry import BACKENDS, procedures
from fairdsl.verdict import Refused, Shares, Unknown, Value, Verdict
from tests.agreement.bank import KINDS, Kind, Least
from tests.agreement.engines import KEPT, SECONDS, answer_of_kept, ask
from tests.agreement.test_planted_faults import flip_a_strictness
from tests.agreement.through_files import ThroughFiles
from tests.drawing import examples
from tests.modules import PACKAGE, files, nodes_of
from tests.solvers import InProcess


class Bounding(Rates):
    """Decides few individuals one by one, so that small problems are bounded and split as large ones are."""

    def answer(self, problem: Problem, facts: Facts, budget: Budget, observer: Observer) -> Value | Refused | Unknown:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Individuals, "_MOST", 2)
            patch.setattr(Individuals, "_MOST_EXACT", 2)
            return super().answer(problem, facts, budget, observer)


#: Engines that start processes keep them here between problems, or start none; small problems are large to others.
INSTEAD: dict[str, Callable[[], Procedure]] = {
    "smt": lambda: Smt(lambda jobs: KEPT, InProcess),
    "rates": Bounding,
}


def registered() -> list[Procedure]:
    """An engine for each line of the registry, of the class that stands there."""
    made = [(engine, INSTEAD[engine.name]() if engine.name in INSTEAD else engine) for engine in procedures()]
    assert all(isinstance(one, type(engine)) and one.name == engine.name for engine, one in made)
    return [one for _, one in made]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name.replace(" ", "_"))
def test_every_registered_engine_agrees_with_the_oracle(kind: Kind) -> None:
    # Enough for every kind of verdict to come up.
    enough(hold(kind, registered(), examples(kind.share)), kind.answered)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.written], ids=lambda kind: kind.name.replace(" ", "_"))
def test_every_format_agrees_with_the_oracle(kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of solver files that were written, solved and read back; a process for each takes longer than any question."""
    monkeypatch.setattr(encoding, "answer_of_z3", answer_of_kept)
    enough(hold(kind, [ThroughFiles(name) for name in FORMATS], examples(kind.share / 6)), kind.written)


def enough(counted: dict[str, Counter[str]], wanted: Mapping[str, Least]) -> None:
    """Unknown neither agrees nor disagrees, but it is counted, as are refusals: too many are a failure.

    Too many are so many that chance makes them in one of a thousand runs at most.
    """
    for name, least in wanted.items():
        found = counted[name]
        assert likely(found["accepted"], found["asked"], least.accepted), (name, found)
        assert likely(found["decided"], found["accepted"], least.decided), (name, found)
        assert all(found[verdict.__name__] for verdict in least.verdicts), (name, found)


def likely(found: int, of: int, share: float) -> bool:
    """Whether some are found, and as few as these in one of a thousand runs at least, where the share is as said."""
    if found >= share * of:
        return found > 0 or share == 0
    if found == 0 or share == 1:
        return False
    few = range(found + 1)
    ways = (lgamma(of + 1) - lgamma(many + 1) - lgamma(of - many + 1) for many in few)
    chances = (many * log(share) + (of - many) * log(1 - share) for many in few)
    return sum(exp(way + chance) for way, chance in zip(ways, chances, strict=True)) >= 0.001


def test_whoever_is_registered_is_held() -> None:
    """Each engine, and each format of solver files, has a kind of problems of which it has to answer some."""
    assert {name for kind in KINDS for name in kind.answered} == set(BACKENDS)
    assert {name for kind in KINDS for name in kind.written} == set(FORMATS)
    wanted = [least for kind in KINDS for least in (*kind.answered.values(), *kind.written.values())]
    assert all(least.accepted * least.decided > 0 for least in wanted)


def test_every_engine_is_registered() -> None:
    """By their text, for a module that nobody registers is imported by nobody."""
    asked = ["self", *list(signature(Procedure.answer).parameters)[1:]]
    engines = {
        each.name
        for file in files()
        if file.is_relative_to(PACKAGE / "backends")
        for each in nodes_of(file, "def answer(")
        if isinstance(each, ast.ClassDef)
        for method in each.body
        if isinstance(method, ast.FunctionDef) and method.name == "answer"
        if [argument.arg for argument in method.args.args] == asked
    } - {Procedure.__name__}
    missing = engines - {line.made_by for line in BACKENDS.values()}
    assert len(engines) >= 9
    assert not missing, f"fairdsl/plan/registry.py has no line for {missing}"


@pytest.mark.slow
@pytest.mark.parametrize("engine", [Rates(), Bounding()], ids=["as_it_is", "bounding"])
def test_rates_agree_with_the_oracle_on_thousands_of_problems(engine: Procedure) -> None:
    """The same 5,000 problems in every run: by states, sums and few individuals, and by boxes."""
    kind = next(kind for kind in KINDS if kind.name == "groups of laws")
    enough(hold(kind, [engine], 5000, shrink=False), {"rates": kind.answered["rates"]})


@dataclass(frozen=True)
class Slipped:
    """An engine that confuses ``>`` with ``>=`` in the model."""

    engine: Procedure

    @property
    def name(self) -> str:
        return self.engine.name

    def offer(self, problem: Problem) -> Offer | Refusal:
        return self.engine.offer(problem)

    def answer(self, problem: Problem, facts: Facts, budget: Budget, observer: Observer) -> Verdict:
        return self.engine.answer(flip_a_strictness(problem), facts, budget, observer)


@pytest.mark.parametrize("name", BACKENDS)
def test_an_engine_that_is_off_by_one_is_caught(name: str) -> None:
    """By the very test above, within the examples of a few runs."""
    (engine,) = (engine for engine in registered() if engine.name == name)
    kind = next(kind for kind in KINDS if name in kind.answered)
    with pytest.raises(AssertionError, match=name):
        hold(kind, [Slipped(engine)], 200, shrink=False)


def hold(kind: Kind, engines: list[Procedure], examples: int, *, shrink: bool = True) -> dict[str, Counter[str]]:
    """Put problems of one kind to the engines, and hold every verdict against the definition.

    Gives, by engine, how many it was asked, accepted and decided, and how many verdicts were of each class.
    """
    counted: dict[str, Counter[str]] = {engine.name: Counter() for engine in engines}
    plain = settings(database=None, derandomize=True, phases=[Phase.generate], report_multiple_bugs=False)

    @settings(plain if not shrink else None, max_examples=examples)
    @given(kind.problems)
    def agree(drawn: Problem) -> None:
        known: dict[int, object] = {}  # by question: the definition is the same whether or not a share is asked
        questions = (drawn, *kind.simpler(drawn))
        for engine in engines:
            count = counted[engine.name]
            count["asked"] += 1
            for problem in questions:
                verdict = ask(engine, problem, SECONDS.get(engine.name, 20.0))
                if verdict is None:
                    continue
                about = id(problem.question)
                if about not in known:
                    known[about] = kind.known(problem)
                assert (engine.name, kind.wrong(problem, verdict, known[about])) == (engine.name, None)
                count.update({"accepted", type(verdict).__name__})
                count["decided"] += not undecided(verdict)
                break

    agree()
    print({name: dict(count) for name, count in counted.items()})
    return counted


def undecided(verdict: Verdict) -> bool:
    """Whether nothing definite is said."""
    return isinstance(verdict, Unknown | Refused) or (isinstance(verdict, Shares) and verdict.undecided > 0)
