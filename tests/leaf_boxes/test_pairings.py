"""Questions of every kind about trees, against enumeration; every bound on the way encloses the share."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings

from fairdsl.backends.contract import Offer
from fairdsl.backends.leaf_boxes import LeafBoxes, duels, judging
from fairdsl.backends.leaf_boxes.asked import refusal_of_any
from fairdsl.backends.leaf_boxes.judging import question_of
from fairdsl.backends.leaf_boxes.pairings import Pairings
from fairdsl.ir.exact_array import ExactArray
from fairdsl.ir.expr import Relation, Who
from fairdsl.ir.model import Layer
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Differ, Pair, Relaxation, ScoreGap
from fairdsl.numerics.narrow import narrow
from tests.agreement.engines import ask, disagreement
from tests.builders import linear
from tests.drawing import examples
from tests.leaf_boxes.box_problems import any_problems
from tests.leaf_boxes.test_many_trees import many
from tests.oracle import Truth, truth


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
    question, _ = question_of(drawn, pair)
    return None if question is None else Pairings.start(question, memory=2**20)


@pytest.mark.parametrize("bits", [61, 3])
def test_agrees_with_the_oracle(monkeypatch: pytest.MonkeyPatch, bits: int) -> None:
    """One box at a time; with few bits numbers are rounded, as those are that do not fit."""
    counted: Counter[str] = Counter()
    monkeypatch.setattr(judging, "_BOXES", 1)
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
