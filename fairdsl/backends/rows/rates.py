"""Metrics of groups over the rows of a table: every row is decided by everybody who can, and counted by its key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.contract import Budget, Cost, Offer, Refusal
from fairdsl.ir.enclosure import Enclosure
from fairdsl.ir.model import Model
from fairdsl.ir.opaque import Access
from fairdsl.ir.population import Rows
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import GroupMetric
from fairdsl.metrics import Joint, RowKeys, columns_of, counts_of, of_all_deciders, value_of
from fairdsl.numerics.evaluate import BatchEvaluator
from fairdsl.numerics.exact import UNDECIDED, exact_scores
from fairdsl.replay import Decisions, decide, decisions_of_rows, differing
from fairdsl.verdict import Arithmetic, Basis, Decider, DifferingRow, Evidence, Individual, Refused, Value


def listed(problem: Problem, rows: Rows, decisions: Decisions, marked: Sequence[int]) -> tuple[DifferingRow, ...]:
    """The rows at these places, with the outcomes that exact arithmetic and the file come to."""

    def said(by: Decider, place: int) -> str | None:
        found = UNDECIDED if by not in decisions else int(decisions[by][place])
        return None if found == UNDECIDED else problem.model.outcomes[found]

    people = rows.sample.values.keep(range(len(problem.domain.attributes)))
    points = people.at(np.array(marked, dtype=np.intp)).points() if marked else []
    file = Decider.ANSWERS if Decider.ANSWERS in decisions else Decider.DEPLOYED
    return tuple(
        DifferingRow(
            row=place + 1,
            values=Individual.of(problem.domain, point),
            exact=said(Decider.EXACT, place),
            deployed=said(file, place),
        )
        for place, point in zip(marked, points, strict=True)
    )


_Counts = NDArray[np.int64]

_VARIANTS = 1 << 22
#: Distinct rows whose scores are computed exactly; those of more are enclosed.
_EXACTLY = 1 << 14


def offer_of_metric(problem: Problem, question: GroupMetric, rows: Rows) -> Offer | Refusal:
    """What will be done, or why not; only groups and copies that cannot be listed are refused, and no model."""
    mean = question.metric.rate.is_mean
    if mean and (problem.model.access is not Access.LAYERS or problem.model.score_count != 1):
        return Refusal(why="the model has no single score whose arithmetic is known", span=problem.model.span)
    if problem.model.favourable is None and not mean:
        return Refusal(why="the model has no favourable outcome", span=problem.model.span)
    if question.metric.rate.along_paths:
        return Refusal(why="paths of influence need a graph, and rows have none", span=question.span)
    for column in columns_of(question, rows):
        attribute = rows.columns[column]
        if attribute.values is None and not attribute.bins:
            why = f"`{attribute.name}` is a real number: groups of it need `bins`"
            return Refusal(why=why, span=attribute.span)
    sizes = [attribute.size for attribute in question.drawn(problem.domain.attributes)]
    if None in sizes:
        return Refusal(why="the influence of a real attribute on rows has no end of values", span=question.span)
    count = prod(size for size in sizes if size is not None) * rows.sample.rows
    if count > _VARIANTS:
        return Refusal(why=f"influence would take {count:,} evaluations", span=question.span)
    return Offer(method=f"every one of {rows.sample.rows:,} rows decided", decides=True, cost=Cost.ROWS)


def metric_over_rows(problem: Problem, question: GroupMetric, rows: Rows, budget: Budget) -> Value | Refused:
    """The metric by everybody who decides the rows, and the interval that contains all. Raises TimeIsUpError."""
    if question.metric.rate.is_mean:
        return _mean_over_rows(problem, question, rows)
    decisions = decisions_of_rows(problem.model, rows, budget.deadline)
    keys = RowKeys.of(question, rows, problem.domain.where)
    own = {by: _Favoured.of([found], problem.model) for by, found in decisions.items()}
    without = _without_influence(problem, question, rows, budget) if question.influence else None
    evidence = _evidence(rows, decisions)
    values = {
        by: value_of(
            question,
            replace(favoured.joint(keys), counts=counts_of(question, rows, problem.model, [decisions[by]])),
            rows,
            evidence,
            without=None if without is None else without[by].joint(keys),
        )
        for by, favoured in own.items()
    }
    marked = np.flatnonzero(differing(decisions) & keys.among).tolist()
    return of_all_deciders(values, listed(problem, rows, decisions, marked))


def _mean_over_rows(problem: Problem, question: GroupMetric, rows: Rows) -> Value | Refused:
    """Of the scores in exact arithmetic; of many, and of curved units, each lies within a bound of its float64."""
    people = rows.sample.values.keep(range(len(problem.domain.attributes)))
    distinct, where = people.distinct()
    if problem.model.rational and len(distinct) <= _EXACTLY:
        ends = [Enclosure.exactly(exact_scores(problem.model, point)[0]) for point in distinct.points()]
    else:
        scores, errors = BatchEvaluator(problem.model).scores(distinct)
        pairs = (map(Fraction, pair) for pair in zip(scores[:, 0].tolist(), errors[:, 0].tolist(), strict=True))
        ends = [Enclosure(low=score - error, high=score + error) for score, error in pairs]
    joint = RowKeys.of(question, rows, problem.domain.where).joint_of_scores([ends[place] for place in where.tolist()])
    basis = Basis(arithmetic=Arithmetic.EXACT)
    evidence = Evidence(backend="rows", method=f"the scores of all {rows.sample.rows:,} rows", basis=basis)
    return value_of(question, joint, rows, evidence)


def _evidence(rows: Rows, decisions: Decisions) -> Evidence:
    """Who decided the rows. A number of both readings is true of exact arithmetic and of the file."""
    both = Decider.DEPLOYED in decisions
    basis = Basis(arithmetic=Arithmetic.DEPLOYED if both else Arithmetic.EXACT)
    count = f"all {rows.sample.rows:,} rows"
    how = f"{count} evaluated in exact arithmetic and run in the deployed file" if both else f"{count} evaluated"
    return Evidence(backend="rows", method=how, basis=basis)


@dataclass(frozen=True, slots=True, eq=False)
class _Favoured:
    """Of how many ``copies`` of each row, certainly and possibly, one decider says that they are favourable, [rows]."""

    least: _Counts
    most: _Counts
    copies: int

    @classmethod
    def of(cls, decisions: list[_Counts], model: Model) -> _Favoured:
        """From the outcomes of every copy; a decision that stays open may be favourable."""
        every = np.stack(decisions)
        least: _Counts = model.favours(every).sum(axis=0)
        open_: _Counts = (every == UNDECIDED).sum(axis=0)
        return cls(least, least + open_, len(decisions))

    def joint(self, keys: RowKeys) -> Joint:
        """Their shares of all rows, by key."""
        return keys.joint(self.least, self.most, self.copies)


def _without_influence(
    problem: Problem, question: GroupMetric, rows: Rows, budget: Budget
) -> Mapping[Decider, _Favoured]:
    """Every row with every assignment of the columns of influence, each alike."""
    attributes = problem.domain.attributes
    people = rows.sample.values.keep(range(len(attributes)))
    found: dict[Decider, list[_Counts]] = {}
    for assignment in product(*(attribute.values or () for attribute in question.drawn(attributes))):
        variant = people.replaced(question.influence, [float(value) for value in assignment])
        for by, decisions in decide(problem.model, variant, budget.deadline).items():
            found.setdefault(by, []).append(decisions)
    return {by: _Favoured.of(decisions, problem.model) for by, decisions in found.items()}
