"""Which questions are about joint probabilities under a distribution of columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import prod

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends import groups
from fairdsl.backends.contract import Refusal
from fairdsl.backends.groups import question_of
from fairdsl.backends.rates.arithmetic import TangledError, distribution_of
from fairdsl.backends.rates.boxes import width_of
from fairdsl.backends.rates.diagram import IRRATIONAL
from fairdsl.ir.domain import Attribute
from fairdsl.ir.expr import Predicate, conjoin, conjuncts
from fairdsl.ir.feature import AttributeInput
from fairdsl.ir.model import ByThreshold, Model
from fairdsl.ir.opaque import BlackBox
from fairdsl.ir.population import Cell, Inside, Network
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import GroupMetric
from fairdsl.metrics.joint import columns_of
from fairdsl.metrics.subject import Subject, looked_at
from fairdsl.numerics.axes import mentioned
from fairdsl.numerics.elimination import elimination
from fairdsl.numerics.grid import Grid
from fairdsl.numerics.narrow import Finite

#: So many groups at most.
_GROUPS = 1 << 16


def refusal_of(problem: Problem) -> Refusal | None:
    """Why a problem is none of them, before anything is counted; None where it is one."""
    refusal = groups.refusal_of(problem, lambda _: None, paths=True)
    if refusal is None and isinstance(problem.population, Network):
        refusal = _of_groups(groups.question_of(problem), problem.population)
    return refusal


def has_states(model: Model) -> bool:
    """Whether it is a sum of trees, rules and columns."""
    return model.opaque is None and len(model.layers) == 1 and bool(model.layers[0].linear.all())


def _of_groups(question: GroupMetric, network: Network) -> Refusal | None:
    """Why there are no rates by these columns; None where there are."""
    columns = columns_of(question, network)
    groups = prod(len(network.cells[column]) for column in columns)
    if groups > _GROUPS:
        return Refusal(why=f"there are {groups:,} groups", span=question.span)
    for column in columns:
        if network.factor_of(column).normal:
            name = f"`{network.columns[column].name}`"
            why = f"{name} has a normal distribution and no groups: write pieces `uniform(low, high)`"
            return Refusal(why=why, span=question.span)
    return None


# --------------------------------------------------------------------------------------------------
# Which questions are answered by boxes, and the reasons against the others, with the place that causes them.

#: Keys, and products that a single box may take.
_KEYS, _WIDTH = 1 << 12, 1 << 22


def refusal_of_boxes(problem: Problem, subjects: Iterable[Subject]) -> Refusal | None:
    """Why no boxes can be weighed; None where they can."""
    question, model = question_of(problem), problem.model
    if model.beside and not only_decides(model):
        return Refusal(why="boxes are bounded for one outcome of trees, and the rate is of several", span=question.span)
    for subject in subjects:
        network = subject.network
        keys = prod(len(network.cells[column]) for column in subject.keys)
        if keys > _KEYS:
            return Refusal(why=f"there are {keys:,} groups", span=question.span)
        if (refusal := unweighed(subject)) is not None:
            return refusal
    return None


def unweighed(subject: Subject) -> Refusal | None:
    """Why masses of boxes are not known; None where they are."""
    if (normal := subject.network.normal_among(looked_at(subject))) is not None:
        return Refusal(why=f"`{normal.name}` {IRRATIONAL}", span=normal.span)
    large = tangled(subject)
    return None if large is None else Refusal(why=str(large))


def tangled(subject: Subject) -> TangledError | None:
    """What is wrong with weighing boxes of a subject, if it takes too large tables."""
    try:
        width = width_of(distribution_of(subject.network, looked_at(subject)), subject.keys)
    except TangledError as error:
        return error
    return TangledError(width) if width > _WIDTH else None


# --------------------------------------------------------------------------------------------------
# Models of which no boxes are bounded, over few people: boxes are cut until their individuals can be listed.
#
# So curved units, kernel machines and files that are only run have rates, too: everybody is decided.

IntArray = NDArray[np.int64]

#: People that are decided at most.
_MOST = 1 << 22


def only_decides(model: Model) -> bool:
    """Whether nothing is known of the model but what it decides about single individuals.

    Boxes are bounded for one outcome; of several, hidden units have no bounds.
    """
    return model.opaque is not None or not model.rational or (bool(model.beside) and not has_states(model))


def refusal_of_people(problem: Problem, subjects: Iterable[Subject]) -> Refusal | None:
    """Why not everybody can be decided; None where it is so few that they can."""
    model, question = problem.model, problem.question
    box = isinstance(model.opaque, BlackBox)
    if (
        box
        and isinstance(question, GroupMetric)
        and (question.influence or any(end is None for _, end in question.allowed))
    ):
        return Refusal(why="a black box cannot be asked with two values of one column", span=model.span)
    for subject in subjects:
        for column in sorted(looked_at(subject)):
            attribute = subject.network.columns[column]
            if attribute.values is None:
                why = f"`{attribute.name}` has values that cannot be listed, and the model is only evaluated"
                return Refusal(why=why, span=attribute.span)
            if box and not Grid.representable(Finite(attribute.values)):
                return Refusal(why=f"`{attribute.name}` has values that are not float64 numbers", span=attribute.span)
        if (count := _people(subject)) > _MOST:
            why = f"the model is only evaluated, and there are {count:,} people to decide; the limit is 2^22"
            return Refusal(why=why, span=model.span)
    return None


def people_in_words(subjects: Iterable[Subject]) -> str:
    """How many people are decided."""
    count = sum(map(_people, subjects))
    return f"the model is only evaluated, and there are at most {count:,} people"


def _people(subject: Subject) -> int:
    """How many different ones there are in what is looked at."""
    return prod(len(subject.network.columns[column].values or ()) for column in looked_at(subject))


# --------------------------------------------------------------------------------------------------
# Which questions are answered by the distribution of a weighted sum, and why the others are not.

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
    predicates = list(_of_several(problem, question))
    kept = frozenset(columns_of(question, network))
    return _unbounded(problem, network) or _together(network, predicates, kept)


def _of_several(problem: Problem, question: GroupMetric) -> Iterator[Predicate]:
    """Those over several columns, of the model and of the conditions."""
    parts = conjuncts(conjoin(problem.domain.where, question.given))
    indicators = [item.predicate for item in problem.model.inputs if not isinstance(item, AttributeInput)]
    yield from [predicate for predicate in (*parts, *indicators) if len(mentioned(predicate)) > 1]


def _unbounded(problem: Problem, network: Network) -> Refusal | None:
    """A cell of which nothing but its mass is known has to be bounded where the score reads it."""
    different = {id(cells): cells for cells in network.cells}  # columns of one type often share them
    endless = [name for name, cells in different.items() for cell in cells if cell.low is None or cell.high is None]
    if not endless:
        return None
    weights = problem.model.layers[0].weight.nonzero[0].tolist()
    factors = {factor.column: factor for factor in network.factors}
    for item, weight in zip(problem.model.inputs, weights, strict=True):
        if not weight or not isinstance(item, AttributeInput):
            continue
        attribute = network.columns[item.attribute]
        if id(network.cells[item.attribute]) in endless and not factors[item.attribute].normal:
            why = (
                f"the model weighs `{attribute.name}`, whose outermost bin has no end: give the attribute a range, "
                "or read it by its bins"
            )
            return Refusal(why=why, span=attribute.span)
    return None


def _together(network: Network, predicates: list[Predicate], kept: frozenset[int]) -> Refusal | None:
    """Predicates over several columns, and the columns that the distribution connects, must leave tables of a size."""
    sizes = dict(enumerate(map(len, network.cells)))
    for predicate in predicates:
        for column in mentioned(predicate):
            sizes[column] = sum(_cells_inside(network.columns[column], cell) for cell in network.cells[column])
    for predicate in predicates:
        names = mentioned(predicate)
        if prod(sizes[column] for column in names) > _TOGETHER:
            listed = ", ".join(f"`{network.columns[column].name}`" for column in names)
            return Refusal(why=f"a condition over {listed} has too many combinations of values")
    scopes = [(*factor.parents, factor.column) for factor in network.factors if factor.parents]
    scopes += [mentioned(predicate) for predicate in predicates]
    largest = _largest(scopes, sizes, kept)
    if largest > _CLIQUE:
        return Refusal(why=f"the network connects so many columns that a table would have {largest:,} cells")
    return None


def _cells_inside(attribute: Attribute, cell: Cell) -> int:
    """Into how many cells a cell is cut where a predicate looks into it."""
    if cell.inside is not Inside.UNIFORM or cell.low is None or cell.high is None or cell.low == cell.high:
        return 1
    count = int(cell.high - cell.low) + 1
    return count if attribute.values is not None and count <= _NUMBERED else 16


def _largest(scopes: list[tuple[int, ...]], sizes: dict[int, int], kept: frozenset[int]) -> int:
    """The cells of the largest table when columns are summed out in the order that will be used."""
    largest = prod([sizes[column] for column in kept])
    if largest * max(sizes.values()) <= _CLIQUE and all(len(kept.union(s)) <= len(kept) + 1 for s in scopes):
        return largest  # columns are independent given those that are kept
    return max([largest, *(cells for _, cells in elimination(scopes, sizes, kept))])
