"""Questions of every kind about trees, against enumeration; every bound on the way encloses the share."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdsl.backends.contract import Offer
from fairdsl.backends.leaf_boxes import LeafBoxes, duels, pairings
from fairdsl.backends.leaf_boxes.asked import ask_of, refusal_of_any
from fairdsl.backends.leaf_boxes.duels import contest_of
from fairdsl.backends.leaf_boxes.pairings import Pairings, Question
from fairdsl.ir.exact_array import ExactArray
from fairdsl.ir.expr import TRUE, Relation, Who
from fairdsl.ir.model import ByThreshold, Layer, Logits
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Differ, Pair, Quantity, Relaxation, ScoreGap
from fairdsl.numerics.narrow import narrow
from tests.agreement.engines import ask, disagreement
from tests.builders import linear
from tests.drawing import examples
from tests.leaf_boxes.box_problems import box_models, conditions
from tests.leaf_boxes.test_many_trees import many
from tests.oracle import Truth, truth
from tests.strategies import domains, predicates, questions, sureness


@st.composite
def any_problems(draw: st.DrawFn) -> Problem:
    """Trees, and every clause of the language about pairs, alone and together."""
    domain = replace(draw(domains()), where=TRUE)
    columns = domain.attributes
    domain = replace(domain, where=draw(st.one_of(st.just(TRUE), conditions(columns), predicates(columns))))
    model = draw(box_models(domain, 5))
    single = isinstance(model.rule, ByThreshold) and len(model.layers) == 1
    question = draw(questions(domain, single and draw(st.integers(0, 3)) == 0))
    if len(model.layers) == 1 and draw(st.integers(0, 3)) == 0:
        halved = single and draw(st.booleans())
        model = replace(model, logits=Logits(scale=Fraction(1, 2) if halved else Fraction(1)))
        question = replace(question, sure=draw(sureness()))
    return Problem(name="p", domain=domain, model=model, question=question, quantity=Quantity.FAIR_SHARE)


def enclosed(descent: Pairings, known: Truth) -> None:
    counts = descent.counts
    assert counts.fair <= known.fair
    assert counts.unfair <= known.total - known.fair
    assert counts.vacuous <= known.vacuous
    assert known.total + known.vacuous <= counts.fair + counts.unfair + counts.vacuous + counts.undecided + descent.left


def begun(drawn: Problem) -> Pairings | None:
    pair = drawn.question
    assert isinstance(pair, Pair)
    if any(values.count == 0 for values in narrow(drawn.domain, pair.target)) or refusal_of_any(drawn) is not None:
        return None
    asked = ask_of(drawn, pair)
    contest = contest_of(asked.lowered)
    return None if contest is None else Pairings(Question(asked, contest), memory=2**20)


@pytest.mark.parametrize("bits", [61, 3])
def test_agrees_with_the_oracle(monkeypatch: pytest.MonkeyPatch, bits: int) -> None:
    """One box at a time; with few bits numbers are rounded, as those are that do not fit."""
    counted: Counter[str] = Counter()
    monkeypatch.setattr(pairings, "_BOXES", 1)
    monkeypatch.setattr(duels, "_BITS", bits)

    @settings(max_examples=examples(1))
    @given(any_problems())
    def agree(drawn: Problem) -> None:
        descent = begun(drawn)
        if descent is None:
            return
        known = truth(drawn)
        while not descent.finished:
            enclosed(descent, known)
            descent.step()
        enclosed(descent, known)
        assert descent.left == 0
        counted["answered"] += 1
        # Ties of numbers that were rounded may stay open, and of confidences, which float64 computes.
        assert descent.counts.undecided == 0 or bits < 61 or drawn.question.sure  # type: ignore[union-attr]
        with monkeypatch.context() as forced:
            forced.setattr("fairdsl.backends.leaf_boxes.lowering.refusal_of", lambda problem: "not asked")
            verdict = ask(LeafBoxes(), drawn)
        assert verdict is not None
        assert disagreement(drawn, verdict, known) is None

    agree()
    assert counted["answered"]


def test_many_trees_are_bounded_whatever_is_asked() -> None:
    """Boosters of more leaves than can be gone through; sums beyond 64 bits are rounded outward."""
    question = many(33, 3, seed=7)
    pair = question.question
    assert isinstance(pair, Pair)
    fine = replace(question.model, layers=(scaled(question.model.layers[0]),))
    asked = [
        question,
        replace(question, model=fine),
        replace(question, question=replace(pair, differ=(0, 1), mode=Differ.EACH)),
        replace(question, question=replace(pair, relax=(Relaxation(attribute=1, by=Fraction(1)),))),
        replace(question, question=replace(pair, pair_target=linear({0: 1, 2: 1}, "<", 3, Who.A))),
        replace(question, question=replace(pair, demand=ScoreGap(relation=Relation.LE, limit=Fraction(1, 8)))),
    ]
    for each in asked:
        assert isinstance(LeafBoxes().offer(each), Offer)
        descent, known = begun(each), truth(each)
        assert descent is not None
        while not descent.finished:
            descent.step()
        counts = descent.counts
        assert (counts.fair, counts.unfair, counts.undecided) == (known.fair, known.total - known.fair, 0)


def scaled(found: Layer) -> Layer:
    """The same layer with numbers of far more than 64 bits."""
    tiny = Fraction(1, 3**60)
    weights = found.weight.exact + tiny
    return replace(found, weight=ExactArray.from_fractions(weights))
