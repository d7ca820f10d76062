"""Which questions about groups files of satisfiability answer."""

from __future__ import annotations

from math import prod

from fairdsl.backends.contract import Refusal
from fairdsl.backends.groups import question_of, refusal_of, subjects_of
from fairdsl.backends.ssat.distribution import Distribution, NumbersError
from fairdsl.backends.ssat.encode.model import unsupported
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import GroupMetric
from fairdsl.metrics.subject import Subject, looked_at

#: Keys, and cells of the largest table of the distribution.
_KEYS, _TABLE = 1 << 16, 1 << 18


def distributions_of(problem: Problem) -> tuple[Distribution, ...] | Refusal:
    """The distributions that a question is about, made ready for formulas; or why it has none."""
    refusal = refusal_of(problem, unsupported)
    if refusal is not None:
        return refusal
    found = list[Distribution]()
    for subject in subjects_of(problem):
        made = _made(subject, question_of(problem))
        if isinstance(made, Refusal):
            return made
        found.append(made)
    return tuple(found)


def _made(subject: Subject, question: GroupMetric) -> Distribution | Refusal:
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
        distribution = Distribution(subject)
    except NumbersError as error:
        attribute = network.columns[error.column]
        why = f"the numbers of `{attribute.name}` are read themselves, and are not a list of at most a few thousand"
        return Refusal(why=why, span=attribute.span)
    if (largest := distribution.order.largest) > _TABLE:
        return Refusal(why=f"the distribution connects so many columns that a table would have {largest:,} cells")
    return distribution
