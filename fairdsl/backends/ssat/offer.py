"""Which questions are answered by stochastic satisfiability, and the reasons against the others, with their place."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from fairdsl.backends.contract import Offer, Refusal
from fairdsl.backends.groups import question_of, refusal_of, subjects_of
from fairdsl.backends.ssat.divisions import NumbersError
from fairdsl.backends.ssat.encode.model import unsupported
from fairdsl.backends.ssat.law import Law
from fairdsl.ir.expr import FALSE
from fairdsl.ir.feature import AttributeInput, IndicatorInput
from fairdsl.ir.model import Model
from fairdsl.ir.population import Normal
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import GroupMetric
from fairdsl.metrics.subject import Subject, predicates_of, weighed_by
from fairdsl.numerics.axes import mentioned

__all__ = ["offer"]

#: Keys, and cells of the largest table of the law.
_KEYS, _TABLE = 1 << 16, 1 << 18

#: How well formulas fit: one tree or rule is one as it stands, a few of them are added up, numbers have to be encoded.
_MADE_FOR, _TREATED, _ENCODED = 2, 1, 0
#: More things than these are added up better elsewhere.
_FEW = 8


def offer(problem: Problem) -> Offer | Refusal:
    """What will be done, or why not."""
    refusal = refusal_of(problem, unsupported)
    if refusal is not None:
        return refusal
    question, subjects = question_of(problem), subjects_of(problem)
    refusals = (refusal for each in subjects if (refusal := _of_law(each, question)) is not None)
    return next(refusals, None) or Offer(
        method="stochastic satisfiability in exact arithmetic", decides=True, fits=_fits(subjects[0].model)
    )


def _of_law(subject: Subject, question: GroupMetric) -> Refusal | None:
    network = subject.network
    keys = prod(len(network.cells[column]) for column in subject.keys)
    if keys > _KEYS:
        return Refusal(why=f"there are {keys:,} groups", span=question.span)
    for column in sorted(set(_looked_at(subject))):
        if any(isinstance(row, Normal) for row in network.factor_of(column).rows.values()):
            attribute = network.columns[column]
            why = f"`{attribute.name}` has a normal law, whose masses are irrational: write pieces `uniform(low, high)`"
            return Refusal(why=why, span=attribute.span)
    try:
        largest = Law(subject).order.largest
    except NumbersError as error:
        attribute = network.columns[error.column]
        why = f"the numbers of `{attribute.name}` are read themselves, and are not a list of at most a few thousand"
        return Refusal(why=why, span=attribute.span)
    if largest > _TABLE:
        return Refusal(why=f"the law connects so many columns that a table would have {largest:,} cells")
    return None


def _looked_at(subject: Subject) -> Iterator[int]:
    yield from subject.keys
    yield from weighed_by(subject.model)
    for predicate in predicates_of(subject):
        yield from mentioned(predicate)


def _fits(model: Model) -> int:
    """How well formulas fit, by what is added up: trees and rule lists, each one thing, predicates, and numbers."""
    weighed = {place for place, item in enumerate(model.inputs) if item != IndicatorInput(FALSE)}
    if any(isinstance(model.inputs[place], AttributeInput) for place in weighed):
        return _ENCODED
    things = len(model.one_of) + len(weighed.difference(*model.one_of))
    return _MADE_FOR if things == 1 else _TREATED if things <= _FEW else _ENCODED
