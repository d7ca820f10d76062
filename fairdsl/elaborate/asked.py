"""The model as a rate asks about it: which of its outcomes, or which bound of its score, is the yes that is counted.

Engines compute the probability of the favourable outcome. A rate about another outcome, or about ``score > 50``, is
that of a model whose favourable outcome is the one that is asked about: same scores, another yes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from fairdsl.ir.domain import show_number
from fairdsl.ir.model import ByThreshold, Model
from fairdsl.ir.rate import Decides, OutcomeIs, ScoreIs

__all__ = ["deciding"]


def deciding(model: Model, decides: Decides) -> Model:
    """The model whose favourable outcome is the yes that is asked about; of ``score > 50`` it has a single score."""
    match decides:
        case OutcomeIs(outcome=outcome):
            return replace(model, favourable=outcome)
        case ScoreIs(relation=relation, limit=limit):
            deployed = model.deployed
            if deployed is not None:
                deployed = replace(deployed, relation=relation, threshold=limit, granted=1, otherwise=0)
            return replace(
                model,
                outcomes=tuple(f"score {each.value} {show_number(limit)}" for each in (relation.negated, relation)),
                rule=ByThreshold(relation=relation, low=limit, high=limit, granted=1, otherwise=0),
                favourable=1,
                deployed=deployed,
            )
    assert_never(decides)
