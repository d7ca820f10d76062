"""Which questions the subset sums answer, and the reasons against the others, with the place that causes them."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from fairdsl.backends.contract import Cost, Offer, Refusal
from fairdsl.backends.subset_sum.order import elimination_order
from fairdsl.ir.domain import Attribute
from fairdsl.ir.expr import Predicate, conjoin, conjuncts
from fairdsl.ir.feature import AttributeInput
from fairdsl.ir.model import ByThreshold, Model
from fairdsl.ir.population import Cell, Inside, Network, Normal, Rows
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import GroupMetric, Quantity
from fairdsl.metrics.joint import columns_of
from fairdsl.numerics.axes import mentioned

__all__ = ["offer"]

#: Keys, combinations of cells that a predicate over several columns is evaluated on, cells of the largest table.
_KEYS, _TOGETHER, _CLIQUE = 1 << 16, 1 << 19, 1 << 24
_NUMBERED = 4096


def offer(problem: Problem) -> Offer | Refusal:
    """What will be done, or why not."""
    question, population = problem.question, problem.population
    if not isinstance(question, GroupMetric) or problem.quantity is not Quantity.METRIC:
        return Refusal(why="it answers metrics of groups", other=True)
    if population is None:
        return Refusal(why="the question names no population", span=question.span)
    if problem.model.favourable is None:
        return Refusal(why="the model has no favourable outcome", span=problem.model.span)
    if isinstance(population, Rows):
        return Refusal(why="the population is rows of a table, which are counted", span=question.span)
    refusal = _of_model(problem.model) or _of_law(problem, question, population)
    return refusal or Offer(
        method="the law of a weighted sum over the population's columns", decides=True, cost=Cost.COUNT
    )


def _of_model(model: Model) -> Refusal | None:
    if not isinstance(model.rule, ByThreshold):
        return Refusal(why="the model takes the highest of several scores; it answers models with one", span=model.span)
    if len(model.layers) != 1 or not bool(model.layers[0].linear.all()):
        return Refusal(why="the score is not a weighted sum of its inputs", span=model.span)
    return None


def _of_law(problem: Problem, question: GroupMetric, network: Network) -> Refusal | None:
    columns = columns_of(question, network)
    keys = prod(len(network.cells[column]) for column in columns)
    if keys > _KEYS:
        return Refusal(why=f"there are {keys:,} groups", span=question.span)
    for column in columns:
        if any(isinstance(row, Normal) for row in network.factor_of(column).rows.values()):
            why = f"`{network.columns[column].name}` has a normal law and no groups: write pieces `uniform(low, high)`"
            return Refusal(why=why, span=question.span)
    for column in question.influence:
        if None in network.columns[column].bounds:
            why = f"`{network.columns[column].name}` has no end: nothing is uniform on all of it"
            return Refusal(why=why, span=network.columns[column].span)
    predicates = list(_predicates(problem, question))
    return _unbounded(problem, network) or _together(network, predicates, frozenset(columns))


def _predicates(problem: Problem, question: GroupMetric) -> Iterator[Predicate]:
    """Those over several columns, of the model and of the conditions."""
    parts = conjuncts(conjoin(problem.domain.where, question.given))
    indicators = (item.predicate for item in problem.model.inputs if not isinstance(item, AttributeInput))
    yield from (predicate for predicate in (*parts, *indicators) if len(mentioned(predicate)) > 1)


def _unbounded(problem: Problem, network: Network) -> Refusal | None:
    """A cell of which nothing but its mass is known has to be bounded where the score reads it."""
    weights = problem.model.layers[0].weight.nonzero[0].tolist()
    factors = {factor.column: factor for factor in network.factors}
    for item, weight in zip(problem.model.inputs, weights, strict=True):
        if not weight or not isinstance(item, AttributeInput):
            continue
        rows = factors[item.attribute].rows.values()
        if any(isinstance(row, Normal) for row in rows):
            continue
        attribute = network.columns[item.attribute]
        if any(_endless(cell) for cell in network.cells[item.attribute]):
            why = (
                f"the model weighs `{attribute.name}`, whose outermost bin has no end: give the attribute a range, "
                "or read it by its bins"
            )
            return Refusal(why=why, span=attribute.span)
    return None


def _endless(cell: Cell) -> bool:
    return cell.low is None or cell.high is None


def _together(network: Network, predicates: list[Predicate], kept: frozenset[int]) -> Refusal | None:
    """Predicates over several columns, and the columns that the law connects, must leave tables of a size."""
    sizes = {column: len(cells) for column, cells in enumerate(network.cells)}
    for predicate in predicates:
        for column in mentioned(predicate):
            sizes[column] = sum(_values(network.columns[column], cell) for cell in network.cells[column])
    for predicate in predicates:
        names = mentioned(predicate)
        if prod(sizes[column] for column in names) > _TOGETHER:
            listed = ", ".join(f"`{network.columns[column].name}`" for column in names)
            return Refusal(why=f"a condition over {listed} has too many combinations of values")
    scopes = [(*factor.parents, factor.column) for factor in network.factors]
    scopes += [mentioned(predicate) for predicate in predicates]
    largest = _largest(scopes, sizes, kept)
    if largest > _CLIQUE:
        return Refusal(why=f"the network connects so many columns that a table would have {largest:,} cells")
    return None


def _values(attribute: Attribute, cell: Cell) -> int:
    """Into how many cells a cell is cut where a predicate looks into it."""
    if cell.inside is not Inside.UNIFORM or cell.low is None or cell.high is None or cell.low == cell.high:
        return 1
    count = int(cell.high - cell.low) + 1
    return count if attribute.values is not None and count <= _NUMBERED else 16


def _largest(scopes: list[tuple[int, ...]], sizes: dict[int, int], kept: frozenset[int]) -> int:
    """The cells of the largest table when columns are summed out in the order that will be used."""
    live = [set(scope) for scope in scopes]
    largest = prod(sizes[column] for column in kept)
    for column in elimination_order(scopes, sizes, kept):
        touched = [scope for scope in live if column in scope]
        union = set[int]().union(*touched)
        largest = max(largest, prod(sizes[member] for member in union))
        live = [scope for scope in live if column not in scope] + [union - {column}]
    return largest
