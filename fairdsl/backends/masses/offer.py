"""Which questions the masses answer, and the reasons against the others, with the place that causes them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import prod

from fairdsl.backends.contract import Offer, Refusal
from fairdsl.ir.feature import AttributeInput
from fairdsl.ir.population import Network, Normal
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import GroupMetric, Quantity
from fairdsl.metrics.subject import subject_of, without_influence
from fairdsl.numerics.axes import mentioned

__all__ = ["offer"]

#: Keys, and cells of the largest table of the law.
_KEYS, _CLIQUE = 1 << 12, 1 << 18


def offer(problem: Problem) -> Offer | Refusal:
    """What will be done, or why not."""
    question, population, model = problem.question, problem.population, problem.model
    if not isinstance(question, GroupMetric) or problem.quantity is not Quantity.METRIC:
        return Refusal(why="it answers metrics of groups", other=True)
    if population is None:
        return Refusal(why="the question names no population", span=question.span)
    if not isinstance(population, Network):
        return Refusal(why="the population is rows of a table, which are counted", span=question.span)
    if question.metric.rate.along_paths:
        return Refusal(why="it does not treat paths of influence", span=question.span)
    if model.favourable is None:
        return Refusal(why="the model has no favourable outcome", span=model.span)
    if not model.rational:
        return Refusal(why="the model has sigmoid or tanh units, whose lines are not piecewise", span=model.span)
    return _of_law(problem, question) or Offer(
        method="branch and bound over boxes of individuals, with exact masses", decides=True
    )


def _of_law(problem: Problem, question: GroupMetric) -> Refusal | None:
    for column in question.influence:
        attribute = problem.domain.attributes[column]
        if None in attribute.bounds:
            why = f"`{attribute.name}` has no end: nothing is uniform on all of it"
            return Refusal(why=why, span=attribute.span)
    subject = without_influence(subject_of(problem), question.influence)
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
