"""Which questions about groups files of satisfiability answer."""

from __future__ import annotations

from math import prod

from fairdsl.backends.contract import Offer, Refusal
from fairdsl.backends.groups import question_of, refusal_of, subjects_of
from fairdsl.backends.ssat.distribution import Distribution, NumbersError
from fairdsl.backends.ssat.encode.model import unsupported
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import GroupMetric
from fairdsl.metrics.subject import Subject, looked_at

__all__ = ["offer"]

#: Keys, and cells of the largest table of the distribution.
_KEYS, _TABLE = 1 << 16, 1 << 18


def offer(problem: Problem) -> Offer | Refusal:
    """What will be done, or why not."""
    refusal = refusal_of(problem, unsupported)
    if refusal is not None:
        return refusal
    question, subjects = question_of(problem), subjects_of(problem)
    refusals = (refusal for each in subjects if (refusal := _of_distribution(each, question)) is not None)
    return next(refusals, None) or Offer(method="stochastic satisfiability through SDIMACS files", decides=True, fits=0)


def _of_distribution(subject: Subject, question: GroupMetric) -> Refusal | None:
    network = subject.network
    keys = prod(len(network.cells[column]) for column in subject.keys)
    if keys > _KEYS:
        return Refusal(why=f"there are {keys:,} groups", span=question.span)
    for column in sorted(looked_at(subject)):
        if network.factor_of(column).normal:
            attribute = network.columns[column]
            why = (
                f"`{attribute.name}` is normal, and its probabilities are irrational: write pieces `uniform(low, high)`"
            )
            return Refusal(why=why, span=attribute.span)
    try:
        largest = Distribution(subject).order.largest
    except NumbersError as error:
        attribute = network.columns[error.column]
        why = f"the numbers of `{attribute.name}` are read themselves, and are not a list of at most a few thousand"
        return Refusal(why=why, span=attribute.span)
    if largest > _TABLE:
        return Refusal(why=f"the distribution connects so many columns that a table would have {largest:,} cells")
    return None
