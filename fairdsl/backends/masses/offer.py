"""Which questions the masses answer, and the reasons against the others, with the place that causes them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import prod

from fairdsl.backends.contract import Offer, Refusal
from fairdsl.backends.groups import question_of, refusal_of, subjects_of
from fairdsl.ir.feature import AttributeInput
from fairdsl.ir.model import Model
from fairdsl.ir.population import Normal
from fairdsl.ir.problem import Problem
from fairdsl.numerics.axes import mentioned

__all__ = ["offer"]

#: Keys, and cells of the largest table of the law.
_KEYS, _CLIQUE = 1 << 12, 1 << 18


def offer(problem: Problem) -> Offer | Refusal:
    """What will be done, or why not."""
    refusal = refusal_of(problem, _of_model)
    if refusal is not None:
        return refusal
    return _of_law(problem) or Offer(
        method="branch and bound over boxes of individuals, with exact masses", decides=True
    )


def _of_model(model: Model) -> str | None:
    return None if model.rational else "the model has sigmoid or tanh units, whose lines are not piecewise"


def _of_law(problem: Problem) -> Refusal | None:
    subject, question = subjects_of(problem)[-1], question_of(problem)
    network = subject.network
    keys = prod(len(network.cells[column]) for column in subject.keys)
    if keys > _KEYS:
        return Refusal(why=f"there are {keys:,} groups", span=question.span)
    looked_at = {*subject.keys, *mentioned(subject.condition)}
    for item in (*problem.model.inputs, *subject.model.inputs):
        looked_at.update((item.attribute,) if isinstance(item, AttributeInput) else mentioned(item.predicate))
    for column in sorted(looked_at):
        if any(isinstance(row, Normal) for row in network.factor_of(column).rows.values()):
            attribute = network.columns[column]
            why = f"`{attribute.name}` has a normal law, whose masses are irrational: write pieces `uniform(low, high)`"
            return Refusal(why=why, span=attribute.span)
    sizes = {column: len(cells) for column, cells in enumerate(network.cells)}
    largest = _largest([{*factor.parents, factor.column} for factor in network.factors], sizes)
    if largest > _CLIQUE:
        return Refusal(why=f"the law connects so many columns that a table would have {largest:,} cells")
    return None


def _largest(scopes: Iterable[set[int]], sizes: Mapping[int, int]) -> int:
    """Cells of the largest table when all columns are summed out, next always the cheapest."""
    live, left, largest = list(scopes), set(sizes), 1

    def joined(column: int) -> set[int]:
        return set[int]().union(*(scope for scope in live if column in scope))

    while left:
        column = min(left, key=lambda each: (prod(sizes[other] for other in joined(each)), each))
        left.remove(column)
        scope = joined(column)
        largest = max(largest, prod(sizes[other] for other in scope))
        live = [each for each in live if column not in each] + [scope - {column}]
    return largest
