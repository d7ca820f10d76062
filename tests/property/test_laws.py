"""Laws that hold for every question, whatever the model: what the definitions imply, stated on answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from hypothesis import assume, given
from hypothesis import strategies as st

from fairdsl.backends.contract import Budget, Facts, Silent
from fairdsl.backends.enumerate import Enumerate
from fairdsl.backends.search import Search
from fairdsl.ir.expr import And, Compare, Linear, Member, Not, Or, Predicate, Variable
from fairdsl.ir.feature import AttributeInput, IndicatorInput
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Differ, Quantity
from fairdsl.replay import admissible, replay
from fairdsl.verdict import Holds, Shares, Unknown, Vacuous, Violated
from tests.agreement.engines import ask
from tests.oracle import truth
from tests.strategies import problems


def violated(problem: Problem) -> bool:
    verdict = ask(Enumerate(), problem)
    assert isinstance(verdict, Holds | Vacuous | Violated)
    return isinstance(verdict, Violated)


def asking(problem: Problem, **changes: object) -> Problem:
    return replace(problem, question=replace(problem.question, **changes))


@given(problems(Quantity.HOLDS), st.sampled_from([None, Fraction(1), Fraction(5, 2)]))
def test_a_larger_relaxation_never_turns_violated_into_holds(problem: Problem, more: Fraction | None) -> None:
    assume(problem.question.relax)
    wider = tuple(
        replace(entry, by=None if more is None or entry.by is None else entry.by + more)
        for entry in problem.question.relax
    )
    assert violated(asking(problem, relax=wider)) or not violated(problem)


@given(problems(Quantity.HOLDS))
def test_a_larger_target_never_turns_violated_into_holds(problem: Problem) -> None:
    assert violated(asking(problem, target=And(()))) or not violated(problem)


@given(problems(Quantity.HOLDS))
def test_any_contains_all(problem: Problem) -> None:
    assert violated(asking(problem, mode=Differ.ANY)) or not violated(asking(problem, mode=Differ.EACH))


def moved_predicate(predicate: Predicate, to: Sequence[int]) -> Predicate:
    """The predicate about attributes at their new positions."""
    match predicate:
        case Compare(left=left, relation=relation):
            terms = {Variable(to[v.attribute], v.who): c for v, c in left.terms}
            return Compare(left=Linear.of(terms, left.constant), relation=relation)
        case Member(variable=variable, values=values):
            return Member(variable=Variable(to[variable.attribute], variable.who), values=values)
        case And(parts):
            return And(tuple(moved_predicate(part, to) for part in parts))
        case Or(parts):
            return Or(tuple(moved_predicate(part, to) for part in parts))
        case Not(part):
            return Not(moved_predicate(part, to))


def moved(problem: Problem, to: Sequence[int]) -> Problem:
    """The same problem with attribute i at position to[i], and under another name."""
    question, domain, model = problem.question, problem.domain, problem.model
    attributes = [
        replace(domain.attributes[i], name=f"renamed_{i}") for i in sorted(range(len(to)), key=to.__getitem__)
    ]
    inputs = tuple(
        AttributeInput(to[item.attribute])
        if isinstance(item, AttributeInput)
        else IndicatorInput(moved_predicate(item.predicate, to))
        for item in model.inputs
    )
    return replace(
        problem,
        domain=replace(domain, attributes=tuple(attributes), where=moved_predicate(domain.where, to)),
        model=replace(model, inputs=inputs),
        question=replace(
            question,
            differ=tuple(to[index] for index in question.differ),
            relax=tuple(replace(entry, attribute=to[entry.attribute]) for entry in question.relax),
            target=moved_predicate(question.target, to),
            pair_target=moved_predicate(question.pair_target, to),
        ),
    )


@given(problems(), st.data())
def test_renaming_and_reordering_attributes_changes_nothing(problem: Problem, data: st.DataObject) -> None:
    to = data.draw(st.permutations(range(len(problem.domain.attributes))))
    here, there = ask(Enumerate(), problem), ask(Enumerate(), moved(problem, to))
    assert type(here) is type(there)
    if isinstance(here, Shares) and isinstance(there, Shares):
        for name in ("certified", "falsified", "undecided", "vacuous", "total"):
            assert getattr(here, name) == getattr(there, name)


@given(problems(Quantity.FAIR_SHARE))
def test_shares_sum_to_one_and_agree_with_the_verdict(problem: Problem) -> None:
    shares = ask(Enumerate(), problem)
    if isinstance(shares, Vacuous):
        return
    assert isinstance(shares, Shares)
    assert shares.certified + shares.falsified + shares.undecided == 1
    assert (shares.falsified > 0) == violated(replace(problem, quantity=Quantity.HOLDS))
    assert ask(Enumerate(), replace(problem, quantity=Quantity.DISCRIMINATION_RATE)) == shares


@given(problems())
def test_without_time_there_are_bounds_and_no_claims(problem: Problem) -> None:
    verdict = Enumerate().answer(problem, Facts(), Budget.of(0), Silent())
    match verdict:
        case Shares(certified=certified, falsified=falsified):
            known = truth(problem)
            assert not known.total or certified <= known.fair_share <= 1 - falsified
        case Holds() | Vacuous():
            assert truth(problem).holds
        case _:
            assert isinstance(verdict, Unknown)


@given(problems(Quantity.HOLDS))
def test_every_witness_replays(problem: Problem) -> None:
    for engine in (Enumerate(), Search()):
        verdict = ask(engine, problem, seconds=0.5)
        for witness in verdict.witnesses if isinstance(verdict, Violated) else ():
            assert admissible(problem.question, problem.domain, witness.a.point, witness.b.point) is None
            assert replay(problem, witness.a.point, witness.b.point) == witness.replay
            assert witness.replay.agrees
