"""Questions how far apart the worst two are."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from hypothesis import strategies as st

from fairdsl.ir.expr import TRUE, Relation
from fairdsl.ir.model import Logits
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Quantity, ScoreGap, WorstPair
from tests.leaf_boxes.box_problems import box_models
from tests.strategies import domains, models, questions, sureness
from tests.tree_strategies import tree_models

__all__ = ["worst_pairs"]


@st.composite
def worst_pairs(draw: st.DrawFn) -> Problem:
    """Networks, linear models and trees of one score, and every clause about who is compared."""
    drawn = draw(domains())
    kind = draw(st.integers(0, 3))
    trees = st.one_of(box_models(replace(drawn, where=TRUE), 4), tree_models(drawn, True))
    model = draw(models(drawn, True, (0, 2, 3)) if kind > 1 else trees)
    question = draw(questions(drawn, True))
    if model.score_count == 1 and draw(st.integers(0, 4)) == 0:
        model, question = replace(model, logits=Logits(scale=Fraction(1))), replace(question, sure=draw(sureness()))
    equal = replace(question, demand=ScoreGap(relation=Relation.LE, limit=Fraction(0)))
    return Problem(name="p", domain=drawn, model=model, question=WorstPair(pair=equal), quantity=Quantity.MAX_SCORE_GAP)
