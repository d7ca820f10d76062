"""The procedure: count the states of a question's subjects, compute their joints, and fold the metric from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fairdsl.backends.contract import Budget, Capability, Cost, Facts, Observer, Offer, Refusal
from fairdsl.backends.groups import refusal_of, subjects_of
from fairdsl.backends.rates.anytime import refined
from fairdsl.backends.rates.arithmetic import Kind
from fairdsl.backends.rates.boxed import refusal_of_boxes
from fairdsl.backends.rates.columns import OpenError
from fairdsl.backends.rates.distribution import TangledError
from fairdsl.backends.rates.engine import FIRST, LAST, Prepared, TooManyError, Ways
from fairdsl.backends.rates.program import LargeError
from fairdsl.backends.rates.tree_bounds import adds_trees
from fairdsl.ir.model import ByHighest, Model
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import GroupMetric
from fairdsl.metrics.value import decided, value_of
from fairdsl.replay import rows_counted
from fairdsl.verdict import Evidence, Reason, Refused, Unknown, Value

__all__ = ["Rates", "has_states"]


class Rates:
    """Answers metrics of groups under a distribution of columns: by states, or by boxes that narrow."""

    name = "rates"
    about = Capability(
        questions=("metrics of groups: across, under, given, label, excluding, privileged, influence",),
        quantities=("every metric of groups but path_specific_gap",),
        models=("trees, forests and votes", "rules and lists", "sums of these", "networks of linear pieces"),
    )

    def __init__(self) -> None:
        self._known: tuple[Problem, list[Ways]] | None = None

    def _ways(self, problem: Problem) -> list[Ways]:
        """The ways of the problem's subjects, as far as they were counted."""
        if self._known is None or self._known[0] is not problem:
            self._known = problem, [Ways(subject) for subject in subjects_of(problem)]
        return self._known[1]

    def offer(self, problem: Problem) -> Offer | Refusal:
        """States are counted, and kept for the answer; where there are none, or too many, boxes narrow."""
        refusal = refusal_of(problem, _of_model)
        if refusal is not None:
            return refusal
        fits, why = 1, "the model has hidden units"
        if has_states(problem.model):
            try:
                return self._offered(problem)
            except OpenError as error:
                fits, why = 0, str(error)
            except TangledError as error:
                return Refusal(why=str(error))
            except LargeError:
                fits, why = 0, "the scores are whole numbers of more than 60 bits at any scale"
            except TooManyError as error:
                # Nobody else is better at one large list.
                single = all(each.single for each in self._ways(problem))
                fits, why = 2 if single else int(all(map(adds_trees, subjects_of(problem)))), str(error)
                if refusal_of_boxes(problem) is not None:
                    return Offer(method=f"masses of states, if they can be counted: {why}", decides=True, fits=fits)
        refusal = refusal_of_boxes(problem)
        return refusal or Offer(method=f"masses of boxes, which narrow: {why}", decides=True, fits=fits)

    def _offered(self, problem: Problem) -> Offer:
        ways = self._ways(problem)
        counted = [each.within(FIRST) for each in ways]
        fits = 2 if any(each.diagrams for each in ways) else 1
        return Offer(method=f"masses of {_in_words(counted)}", decides=True, fits=fits, cost=Cost.COUNT)

    def answer(self, problem: Problem, facts: Facts, budget: Budget, observer: Observer) -> Value | Refused | Unknown:
        """The metric: exactly, with the error of float64 sums, or as an interval that the budget leaves wider."""
        question, population = problem.question, problem.population
        if not isinstance(question, GroupMetric) or population is None:
            raise ValueError("rates were asked for of a question that is refused")
        found = self._counted(problem, FIRST, observer)
        if found is None and refusal_of_boxes(problem) is not None:
            found = self._counted(problem, LAST, observer)
            if found is None:
                evidence = Evidence(backend=self.name, method="masses of states")
                return Unknown(reason=Reason.MEMORY_OUT, detail="the model has too many states", evidence=evidence)
        if found is not None:
            return found
        return refined(problem, facts, budget, observer, lambda: self._counted(problem, LAST, observer))

    def _counted(self, problem: Problem, limit: float, observer: Observer) -> Value | Refused | None:
        """The metric where so much work counts the states, and boxes would not know it better."""
        question, population = problem.question, problem.population
        assert isinstance(question, GroupMetric), "checked by the caller"
        assert population is not None, "checked by the caller"
        if not has_states(problem.model):
            return None
        observer.progress("rates", None, "counting states")
        try:
            counted = [each.within(limit) for each in self._ways(problem)]
        except (OpenError, LargeError, TooManyError):
            return None
        observer.progress("rates", None, _in_words(counted))
        counts = rows_counted(question, population, problem.model)
        joints, kinds = zip(*(each.joint() for each in counted), strict=True)
        joint, without = replace(joints[0], counts=counts), joints[1] if len(joints) > 1 else None
        settled = decided(question, problem.threshold, joint, population, without=without)
        exact = "in float64 with a bound on the error" if Kind.FLOAT in kinds else "in exact arithmetic"
        method = f"masses of {_in_words(counted)}, {exact}"
        evidence = Evidence(backend=self.name, method=method)
        reason = None if settled else Reason.INCOMPLETE
        return value_of(question, joint, population, evidence, without=without, reason=reason)


def _of_model(model: Model) -> str | None:
    """Why a model is not treated; None where it is."""
    if not model.rational:
        return "the model has sigmoid or tanh units, which are not linear pieces"
    if isinstance(model.rule, ByHighest) and any(model.rule.slack):
        return "the scores are off by some slack"
    return None


def has_states(model: Model) -> bool:
    """Whether it is a sum of trees, rules and columns."""
    return len(model.layers) == 1 and bool(model.layers[0].linear.all())


def _in_words(counted: Sequence[Prepared]) -> str:
    return " and ".join(dict.fromkeys(each.in_words for each in counted))
