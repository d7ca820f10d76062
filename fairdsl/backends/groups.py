"""The gate of every backend that computes rates of groups from a distribution: what is asked, or why it is refused."""

from __future__ import annotations

from collections.abc import Callable

from fairdsl.backends.contract import Refusal
from fairdsl.ir.model import Model
from fairdsl.ir.population import Network
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import GroupMetric, Quantity
from fairdsl.metrics.subject import Subject, subject_of, without_influence


def refusal_of(problem: Problem, unsupported: Callable[[Model], str | None], *, paths: bool = False) -> Refusal | None:
    """Why a problem has no subjects to be computed; ``unsupported`` says what speaks against a model.

    ``paths``: path-specific gaps are treated as well.
    """
    question, population, model = problem.question, problem.population, problem.model
    if not isinstance(question, GroupMetric) or problem.quantity is not Quantity.METRIC:
        return Refusal(why="it answers metrics of groups", other=True)
    if population is None:
        return Refusal(why="the question names no population", span=question.span)
    if not isinstance(population, Network):
        return Refusal(why="the population is rows of a table, which are counted", span=question.span)
    if question.metric.rate.is_mean:
        return Refusal(why="means of scores are taken over the rows of a table", span=question.span)
    if question.metric.rate.along_paths and not paths:
        return Refusal(why="it does not treat paths of influence", span=question.span)
    why = "the model has no favourable outcome" if model.favourable is None else unsupported(model)
    if why is not None:
        return Refusal(why=why, span=model.span)
    return None


def question_of(problem: Problem) -> GroupMetric:
    """The question; ValueError where it is not about groups."""
    if not isinstance(problem.question, GroupMetric):
        raise ValueError("rates of groups were asked for of another question")
    return problem.question


def subjects_of(problem: Problem) -> tuple[Subject, ...]:
    """What is computed: the question under the distribution and, of an influence, under the one without it."""
    own, question = subject_of(problem), question_of(problem)
    return (own, without_influence(own, question)) if question.influence else (own,)
