"""An engine: a linear score that is on one side of the threshold everywhere treats everybody alike."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from fairdsl.backends.contract import Budget, Capability, Facts, Observer, Offer, Refusal
from fairdsl.ir.feature import AttributeInput
from fairdsl.ir.model import ByThreshold
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Pair, Quantity, SameDecision
from fairdsl.verdict import Evidence, Holds, Reason, Unknown, Verdict

__all__ = ["OneSided", "linear", "terms"]


def linear(problem: Problem) -> Refusal | None:
    """Why the question is not about equal decisions by one linear score of bounded numbers, where it is not."""
    pair, model = problem.question, problem.model
    same = isinstance(pair, Pair) and isinstance(pair.demand, SameDecision)
    if not same or problem.quantity is not Quantity.HOLDS:
        return Refusal(why="it proves that decisions are the same", other=True)
    if len(model.layers) != 1 or not isinstance(model.rule, ByThreshold) or model.ensemble is not None:
        return Refusal(why="the model is not one linear score with a threshold", span=model.span)
    for item in model.inputs:
        if isinstance(item, AttributeInput) and None in problem.domain.attributes[item.attribute].bounds:
            return Refusal(why="an attribute has no end", span=model.span)
    return None


def terms(problem: Problem) -> Iterator[tuple[Fraction, tuple[Fraction, Fraction]]]:
    """The weight of each input, and the ends between which it lies."""
    (layer,) = problem.model.layers
    for item, weight in zip(problem.model.inputs, layer.weight.exact[0].tolist(), strict=True):
        ends = (Fraction(0), Fraction(1))
        if isinstance(item, AttributeInput):
            least, most = problem.domain.attributes[item.attribute].bounds
            assert least is not None, "refused before"
            assert most is not None, "refused before"
            ends = (least, most)
        yield weight, ends


class OneSided:
    """Proves that everybody is decided alike, where the ends of all attributes are."""

    name = "one_sided"
    about = Capability(questions=("pairs: same decision",), quantities=("holds",), models=("one linear score",))

    def offer(self, problem: Problem) -> Offer | Refusal:
        """Refuses everything but questions about equal decisions by one linear score of bounded numbers."""
        return linear(problem) or Offer(method="the ends of a linear score", decides=True)

    def answer(self, problem: Problem, facts: Facts, budget: Budget, observer: Observer) -> Verdict:
        """Holds where no score crosses the threshold, whoever is compared with whom."""
        model = problem.model
        assert isinstance(model.rule, ByThreshold), "checked by the offer"
        (layer,) = model.layers
        low = high = layer.bias.at(0)
        for weight, ends in terms(problem):
            parts = sorted(weight * end for end in ends)
            low, high = low + parts[0], high + parts[1]
        evidence = Evidence(backend=self.name, method=f"scores from {float(low):.4g} to {float(high):.4g}")
        if high < model.rule.low or low > model.rule.high:
            return Holds(evidence=evidence)
        detail = "some scores are on either side of the threshold"
        return Unknown(reason=Reason.INCOMPLETE, detail=detail, evidence=evidence)
