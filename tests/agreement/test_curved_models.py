"""Models with sigmoid and tanh units inside: the engines against the oracle, refusals, and what replays say."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from fairdsl.backends.contract import Offer, Refusal
from fairdsl.backends.enumerate import Enumerate
from fairdsl.backends.search import Search
from fairdsl.backends.smt import Smt, SmtLib
from fairdsl.ir.expr import Relation
from fairdsl.ir.model import Curve, Layer, Model
from fairdsl.ir.question import Quantity, SameDecision, ScoreGap
from fairdsl.replay import replay, witness
from fairdsl.source import SourceFile, Span
from fairdsl.verdict import Holds, Shares, Unknown, Violated
from tests.agreement.engines import ask, disagreement
from tests.builders import category, domain, layer, model, point, problem
from tests.oracle import truth

SPAN = Span(SourceFile("audit.fair", "model approve"), 0, 5)
PEOPLE = domain(sex=category(0, 1), level=category(0, 1, 2))


def tanh_model(weight: object, bias: object, last: object, threshold: object = 0, relation: str = ">") -> Model:
    plain = layer([weight], [bias])  # type: ignore[list-item]
    hidden = Layer(weight=plain.weight, bias=plain.bias, slope=plain.slope, curves=(Curve.TANH,))
    return model(hidden, layer([[1]], [last], 1), attributes=2, relation=relation, threshold=threshold)


def test_a_violation_that_only_more_digits_show() -> None:
    """At level 2 the scores are tanh(50) - 1, about -7e-44, and tanh(60) - 1, about -2e-52: one is granted."""
    question = problem(PEOPLE, tanh_model([10, 20], 10, -1, Fraction(-1, 10**48)), 0, demand=SameDecision())
    verdict = ask(Enumerate(), question)
    assert isinstance(verdict, Violated)
    assert {frozenset((w.a.point, w.b.point)) for w in verdict.witnesses} == {frozenset((point(0, 2), point(1, 2)))}
    assert verdict.evidence.method == "all 6 individuals evaluated, 5 by enclosures of high precision"
    assert disagreement(question, verdict, truth(question)) is None


def test_scores_are_printed_with_their_error() -> None:
    question = problem(PEOPLE, tanh_model([1, -1], 0, 0), 0, demand=SameDecision())
    found = witness(question, point(0, 0), point(1, 0))
    assert found is not None
    assert found.replay.exact
    assert (found.replay.decision_a, found.replay.decision_b) == ("no", "yes")
    assert found.replay.scores_a == (0,)
    assert abs(float(found.replay.scores_b[0]) - 0.7615941559557649) < 1e-15
    assert 0 < found.replay.score_error < Fraction(1, 2**90)
    rational = problem(PEOPLE, model(layer([[1, 0]], [0], 1), attributes=2), 0, demand=SameDecision())
    assert replay(rational, point(0, 0), point(1, 0)).score_error == 0


def test_gaps_count_only_where_they_are_proved() -> None:
    rule = tanh_model([1, 0], 0, 0)
    for limit, broken in ((Fraction("0.76159415"), True), (Fraction("0.76159416"), False)):
        question = problem(PEOPLE, rule, 0, demand=ScoreGap(relation=Relation.LE, limit=limit))
        assert replay(question, point(0, 0), point(1, 0)).exact is broken
        assert isinstance(ask(Enumerate(), question), Violated if broken else Holds)


def test_an_open_tie_is_unknown_and_never_proved() -> None:
    """tanh(x) - tanh(x) written with two units: 0 in truth, and no precision shows it."""
    plain = layer([[1, 1], [-1, -1]], [1, -1])
    hidden = Layer(weight=plain.weight, bias=plain.bias, slope=plain.slope, curves=(Curve.TANH, Curve.TANH))
    rule = model(hidden, layer([[1, 1]], [0], 1), attributes=2)
    assert isinstance(ask(Enumerate(), problem(PEOPLE, rule, 0, demand=SameDecision())), Unknown)
    shares = ask(Enumerate(), problem(PEOPLE, rule, 0, demand=SameDecision(), quantity=Quantity.FAIR_SHARE))
    assert isinstance(shares, Shares)
    assert shares.undecided == 1
    gap = problem(PEOPLE, rule, 0, demand=ScoreGap(relation=Relation.LE, limit=Fraction(0)))
    assert isinstance(ask(Enumerate(), gap), Unknown)
    assert not replay(gap, point(0, 0), point(1, 0)).exact


def test_smt_refuses_and_points_at_the_model() -> None:
    rule = replace(tanh_model([1, 1], 0, 0), name="approve", span=SPAN)
    question = problem(PEOPLE, rule, 0, demand=SameDecision())
    for backend in (Smt(), SmtLib()):
        refused = backend.offer(question)
        assert isinstance(refused, Refusal)
        assert "`approve` has smooth units" in refused.why
        assert refused.span is SPAN
    for engine in (Enumerate(), Search()):
        assert isinstance(engine.offer(question), Offer)
