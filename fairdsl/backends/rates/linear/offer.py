"""Which questions are answered by the distribution of a weighted sum, and why the others are not."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from fairdsl.backends.contract import Refusal
from fairdsl.backends.rates.gate import has_states
from fairdsl.ir.domain import Attribute
from fairdsl.ir.expr import Predicate, conjoin, conjuncts
from fairdsl.ir.feature import AttributeInput
from fairdsl.ir.model import ByThreshold
from fairdsl.ir.population import Cell, Inside, Network, Normal
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import GroupMetric
from fairdsl.metrics.joint import columns_of
from fairdsl.numerics.axes import mentioned
from fairdsl.numerics.elimination import elimination

__all__ = ["refusal_of_sum"]

#: Combinations of cells that a predicate over several columns is evaluated on, cells of the largest table.
_TOGETHER, _CLIQUE = 1 << 19, 1 << 24
_NUMBERED = 4096


def refusal_of_sum(problem: Problem) -> Refusal | None:
    """Why a question that the gate lets pass is not answered so; None where it is."""
    question, network = problem.question, problem.population
    if not has_states(problem.model):
        return Refusal(why="the score is not a weighted sum of its inputs", span=problem.model.span)
    if not isinstance(problem.model.rule, ByThreshold):
        why = "the model takes the highest of several scores; it answers models with one"
        return Refusal(why=why, span=problem.model.span)
    if not isinstance(question, GroupMetric) or not isinstance(network, Network):
        raise ValueError("the gate is closed to others")
    predicates = list(_predicates(problem, question))
    kept = frozenset(columns_of(question, network))
    return _unbounded(problem, network) or _together(network, predicates, kept)


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
    """Predicates over several columns, and the columns that the distribution connects, must leave tables of a size."""
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
    largest = prod(sizes[column] for column in kept)
    return max([largest, *(cells for _, cells in elimination(scopes, sizes, kept))])
