"""How the joints of a question are computed: by the distribution of a weighted sum, by states, or by boxes.

A weighted sum of columns alone goes by the distribution of its score (:mod:`.linear`), what has hidden units by boxes
(:mod:`.cover`), everything else by states. Where there are too many states, boxes of trees narrow, and one score
without trees is a weighted sum all the same; so is one of which states cannot be counted.
"""

from __future__ import annotations

from dataclasses import dataclass

from fairdsl.backends import groups
from fairdsl.backends.contract import Budget, Observer, Refusal
from fairdsl.backends.rates.arithmetic import TangledError
from fairdsl.backends.rates.diagram import OpenError
from fairdsl.backends.rates.enclosing import AllowingForUnknown, Enclosing, allowing_for_unknown
from fairdsl.backends.rates.engine import FIRST, LAST, OfStates, Prepared, TooManyError, Ways, masses_in_words
from fairdsl.backends.rates.gate import (
    has_states,
    only_decides,
    people_in_words,
    refusal_of_boxes,
    refusal_of_people,
    refusal_of_sum,
)
from fairdsl.backends.rates.linear.refinement import Refinement, Sums, sums_of
from fairdsl.backends.rates.linear.task import WeightedSum, weighted_sum
from fairdsl.backends.rates.program import LargeError
from fairdsl.backends.rates.tree_bounds import adds_trees
from fairdsl.ir.ensemble import attributes_of
from fairdsl.ir.feature import AttributeInput
from fairdsl.ir.model import ByThreshold, Model
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import GroupMetric
from fairdsl.metrics.joint import Key
from fairdsl.metrics.subject import Subject, single_events, subject_of, with_baseline, without_influence


def subjects_of(problem: Problem) -> tuple[Subject, ...]:
    """The subjects of a question, those of a path-specific gap with its baseline.

    Where the baseline is the most favoured group, the population as it is, from which that group is found.
    """
    question = groups.question_of(problem)
    if not question.metric.rate.along_paths:
        return groups.subjects_of(problem)
    own = subject_of(problem)
    return set_to(own, question, question.baseline) if isinstance(question.baseline, tuple) else (own,)


def set_to(subject: Subject, question: GroupMetric, baseline: Key) -> tuple[Subject, ...]:
    """The subject of a path-specific gap with this baseline and, of an influence, the one without it."""
    own = with_baseline(subject, dict(zip(question.across, baseline, strict=True)), question.allowed)
    both = (own, without_influence(own, question)) if question.influence else (own,)
    return tuple([allowing_for_unknown(each) for each in both])


@dataclass(frozen=True, slots=True, kw_only=True)
class Joints:
    """The subjects of a question, and how the masses of each are computed.

    By boxes if ``boxed``, with what ``ways`` there are between; else by states, whose ways they are, or as those of
    weighted sums, where there are none.
    """

    subjects: tuple[Subject, ...]
    #: The subjects as weighted sums, and as sums of independent numbers; nothing where that was not looked at.
    sums: tuple[tuple[WeightedSum, Sums | None], ...] = ()
    #: How states are counted, of each outcome that the rate is of; None where there are none.
    ways: tuple[tuple[Ways, ...], ...] | None = None
    #: Whether boxes narrow.
    boxed: bool = False
    #: Why states are not counted at once; None where they are, and of weighted sums.
    uncounted: str | None = None
    #: How well such models are answered, as in :class:`fairdsl.backends.contract.Offer`.
    fits: int = 1

    def counted(self, limit: float) -> list[Prepared]:
        """The states of the subjects, none of weighted sums; TooManyError where so much work does not count them."""
        return [each.within(limit) for ways in self.ways or () for each in ways]

    def in_words(self, limit: float) -> str:
        """What is computed, once that is counted."""
        if self.ways is None:
            return "the distribution of a weighted sum over the population's columns"
        return masses_in_words(self.counted(limit))

    def enclosing(self, subject: Subject, budget: Budget, observer: Observer) -> Enclosing:
        """The joint of a subject, also of another one than was counted; TooManyError where it has too many states."""
        known: Enclosing
        at = next((place for place, each in enumerate(self.subjects) if each is subject), None)
        if self.ways is None:
            weighted, sums = _summed(subject) if at is None or not self.sums else self.sums[at]
            known = Refinement.of(weighted, sums, budget, observer)
        else:
            known = OfStates([each.within(LAST) for each in (_ways(subject) if at is None else self.ways[at])])
        return AllowingForUnknown(known, subject) if subject.unknown else known


def joints_of(problem: Problem) -> Joints | Refusal:
    """The joints of a question that the gate lets pass; states are counted, if little work does it."""
    model, subjects = problem.model, subjects_of(problem)
    if only_decides(model):
        refusal = refusal_of_people(problem, subjects) or refusal_of_boxes(problem, subjects)
        return refusal or Joints(subjects=subjects, boxed=True, uncounted=people_in_words(subjects))
    if not has_states(model):
        refusal = refusal_of_boxes(problem, subjects)
        return refusal or Joints(subjects=subjects, boxed=True, uncounted="the model has hidden units")
    alone = isinstance(model.rule, ByThreshold) and _reads_columns_alone(model)
    sums = tuple(map(_summed, subjects)) if alone else ()
    if sums and all(each is not None for _, each in sums):
        return Joints(subjects=subjects, sums=sums)  # no table is made, so none is too large
    refusal = refusal_of_sum(problem)
    if alone and refusal is None:
        return Joints(subjects=subjects, sums=sums)
    try:
        return _of_states(problem, subjects, summed=refusal is None)
    except OpenError as error:
        found = Refusal(why=str(error), span=error.attribute.span)
    except TangledError as error:
        found = Refusal(why=str(error))
    except LargeError:
        found = Refusal(why="the scores are whole numbers of more than 60 bits at any scale", span=model.span)
    if refusal is None:
        return Joints(subjects=subjects)
    refusal = refusal if alone else found
    if refusal_of_boxes(problem, subjects) is None:
        return Joints(subjects=subjects, boxed=True, uncounted=refusal.why, fits=0)
    return refusal


def _summed(subject: Subject) -> tuple[WeightedSum, Sums | None]:
    weighted = weighted_sum(subject)
    return weighted, sums_of(weighted)


def _ways(subject: Subject) -> tuple[Ways, ...]:
    return tuple([Ways(single) for single in single_events(subject)])


def _reads_columns_alone(model: Model) -> bool:
    return model.ensemble is None and not any(
        len(attributes_of(item)) > 1 for item in model.listed if not isinstance(item, AttributeInput)
    )


def _of_states(problem: Problem, subjects: tuple[Subject, ...], *, summed: bool) -> Joints:
    """By states, and by what else there is where they are too many; ``summed``: the score may be a weighted sum."""
    ways = tuple([_ways(subject) for subject in subjects])
    each_way = [each for of_one in ways for each in of_one]
    try:
        for each in each_way:
            each.within(FIRST)
    except TooManyError as error:
        single = all(each.single for each in each_way)
        boxed = refusal_of_boxes(problem, subjects) is None
        if summed and not single and (problem.model.ensemble is None or not boxed):
            return Joints(subjects=subjects)
        fits = 2 if single else int(all(map(adds_trees, subjects)))  # nobody else is better at one large list
        return Joints(subjects=subjects, ways=ways, boxed=boxed, uncounted=str(error), fits=fits)
    return Joints(subjects=subjects, ways=ways, fits=2 if any(each.diagrams for each in each_way) else 1)
