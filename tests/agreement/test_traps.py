"""How verifiers before us answered the wrong question; here each mistake has a test (docs/architecture.md)."""

from __future__ import annotations

from fractions import Fraction

import pytest

from fairdsl.backends.contract import Budget, Facts, Procedure, Silent
from fairdsl.backends.search import Search
from fairdsl.ir.expr import Who
from fairdsl.ir.question import Differ, Quantity, Relaxation
from fairdsl.replay import admissible, round_point, witness
from fairdsl.verdict import Holds, Shares, Unknown, Vacuous, Violated
from tests.agreement.engines import ENGINES, ask
from tests.builders import BOOLEAN, category, domain, integer, layer, linear, member, model, point, problem, real, score
from tests.oracle import truth

engines = pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)


#: What answers yes or no of small finite domains; the others may leave open what holds.
DECIDING = ("enumerate", "smt")


def no_violation(verdict: object) -> bool:
    return isinstance(verdict, Holds | Unknown)


def settled(engine: Procedure, verdict: object) -> bool:
    """No violation; an engine that asks about pairs beyond the question would not get further than to an unknown."""
    return isinstance(verdict, Holds | Vacuous) if engine.name in DECIDING else no_violation(verdict)


@engines
def test_the_partner_stays_in_the_domain(engine: Procedure) -> None:
    """Trap: the relaxed partner could leave the domain (negative duration)."""
    people = domain(duration=integer(0, 5), sex=BOOLEAN)
    # Refused only below duration 0, which does not exist: no violation.
    relax = (Relaxation(attribute=0, by=Fraction(3)),)
    assert settled(engine, ask(engine, problem(people, score([1, 0], 0, ">="), 1, relax=relax)))
    # And the partner obeys `where` and the target, too.
    target = linear({0: 1}, ">=", 2)
    assert settled(engine, ask(engine, problem(people, score([1, 0], -2, ">="), 1, relax=relax, target=target)))
    assert isinstance(ask(engine, problem(people, score([1, 0], -2, ">="), 1, relax=relax)), Violated)


@engines
def test_a_score_of_exactly_zero_is_decided_by_the_comparison(engine: Procedure) -> None:
    """Trap: a score of exactly 0 against a positive one was no violation."""
    people = domain(sex=BOOLEAN, age=integer(18, 20))
    tie = ask(engine, problem(people, score([1, 0], 0, ">"), 0))
    assert isinstance(tie, Violated)
    assert {w.replay.scores_a[0] + w.replay.scores_b[0] for w in tie.witnesses} == {1}
    assert settled(engine, ask(engine, problem(people, score([1, 0], 0, ">="), 0)))


@engines
def test_witnesses_are_distinct_and_inside_domain_and_target(engine: Procedure) -> None:
    """Trap: "counterexamples" lay outside their box, even outside the domain; thousands were one point."""
    people = domain(
        linear({0: 1, 1: 1}, "<=", 40), age=integer(0, 30), hours=integer(0, 30), job=category(3, 9, 1), sex=BOOLEAN
    )
    target = linear({0: 2, 1: 1}, "=", 45)
    asked = problem(people, score([1, -1, 1, -20], -3), 3, target=target)
    verdict = ask(engine, asked)
    assert isinstance(verdict, Violated)
    pairs = [(witness.a.point, witness.b.point) for witness in verdict.witnesses]
    assert len({frozenset(pair) for pair in pairs}) == len(pairs)
    assert len(pairs) > 1 or engine.name == "smt", "a solver stops at its first pair"
    for a, b in pairs:
        assert admissible(asked.question, people, a, b) is None
        assert 2 * a[0] + a[1] == 45
        assert a[2] in (1, 3, 9)


@engines
def test_all_values_of_a_protected_attribute_are_compared(engine: Procedure) -> None:
    """Trap: only the smallest and largest value of a protected attribute were compared."""
    people = domain(age=integer(0, 2), income=integer(0, 3))
    peak = model(layer([[1, 0], [1, 0]], [0, -1]), layer([[1, -2]], ["-1/2"], 1), attributes=2)
    assert isinstance(ask(engine, problem(people, peak, 0)), Violated)


@engines
def test_every_attribute_not_named_is_equal_and_all_means_all(engine: Procedure) -> None:
    """Trap: two protected attributes had to differ *both*; here `any` and `all` are different questions."""
    people = domain(sex=BOOLEAN, old=BOOLEAN, income=integer(0, 1))
    only_sex = score([1, 0, 0], 0)
    both_cancel = score([1, 1, 0], 0)
    assert isinstance(ask(engine, problem(people, only_sex, 0, 1, mode=Differ.EACH)), Violated)
    assert no_violation(ask(engine, problem(people, only_sex, 1)))
    assert no_violation(ask(engine, problem(people, score([1, -1, 0], "-1/2", ">"), 2)))
    assert isinstance(ask(engine, problem(people, both_cancel, 0, 1, mode=Differ.EACH)), Violated)
    # Differing in both changes nothing: x1 + x2 is 1 either way once (1, 1) and (0, 0) are excluded.
    excluded = linear({0: 1, 1: 1}, "=", 1)
    assert no_violation(ask(engine, problem(people, both_cancel, 0, 1, mode=Differ.EACH, target=excluded)))


def test_search_is_seeded() -> None:
    """Trap: runs without seed. The same seed finds the same witnesses."""
    people = domain(age=integer(0, 1000), income=integer(-5000, 5000), debt=real(0, 1), sex=BOOLEAN)
    asked = problem(people, score([1, "-1/7", 3, 40], "1/3"), 3)

    def found(seed: int) -> list[object]:
        verdict = Search().answer(asked, Facts(), Budget.of(20, seed=seed), Silent())
        return [(witness.a.point, witness.b.point) for witness in verdict.witnesses]

    assert found(1) == found(1) != found(2)


def test_figure_two_of_fairquant() -> None:
    """24 of 30 are fair; score(1, 1, 0) is a tie at 0."""
    network = model(layer([[20, 5, 12], [-2, 7, 4]], [0, 0]), layer([[1, -5]], [0], 1), attributes=3)
    people = domain(x1=integer(1, 5), x2=BOOLEAN, x3=integer(0, 5))
    asked = problem(people, network, 1, quantity=Quantity.FAIR_SHARE)
    expected = truth(asked)
    shares = ask(ENGINES[0], asked)
    assert isinstance(shares, Shares)
    assert (expected.total, expected.fair) == (30, 24)
    assert (shares.certified, shares.falsified) == (Fraction(24, 30), Fraction(6, 30))
    unfair = {(a[0], a[2]) for a, _ in expected.violations}
    assert unfair == {(1, 0), (1, 1), (1, 2), (1, 3), (2, 4), (2, 5)}


def test_rounding_stays_inside_the_bounds() -> None:
    """A real witness is moved to float32 numbers inside its interval, then checked again."""
    people = domain(rate=real("1/10", "2/10"), share=real(0), count=integer(0, 3))
    rounded = round_point(people, point("1/10", "1/3", 2))
    assert Fraction(1, 10) <= rounded[0] <= Fraction(2, 10)
    assert all(float(value).hex() and Fraction(float(value)) == value for value in rounded)
    narrow = domain(rate=real("1/10", "1/10"))
    assert round_point(narrow, point("1/10")) == point("1/10")


def test_inadmissible_pairs_are_named_and_never_witnesses() -> None:
    people = domain(linear({0: 1}, "!=", 7), age=integer(0, 9), job=category(1, 4), sex=BOOLEAN, old=BOOLEAN)
    asked = problem(
        people,
        score([0, 0, 1, 0]),
        2,
        3,
        mode=Differ.EACH,
        relax=(Relaxation(attribute=0, by=Fraction(1)),),
        target=member(1, 4),
        pair_target=linear({0: 1}, ">", 3, who=Who.A),
    )
    for a, b, reason in (
        (point(4, 4, 0, 0), point(10, 4, 1, 1), "outside the domain"),
        (point(7, 4, 0, 0), point(8, 4, 1, 1), "`where`"),
        (point(4, 1, 0, 0), point(4, 1, 1, 1), "does not meet `among`"),
        (point(4, 4, 0, 0), point(6, 4, 1, 1), "at most 1"),
        (point(4, 4, 0, 0), point(4, 4, 1, 0), "every named attribute"),
        (point(3, 4, 0, 0), point(3, 4, 1, 1), "the pair does not meet"),
    ):
        found = admissible(asked.question, people, a, b)
        assert found is not None
        assert reason in found
        assert witness(asked, a, b) is None
    assert witness(asked, point(4, 4, 0, 0), point(3, 4, 1, 1)) is not None
