"""Influences on acceptance rates as the deployed file has them: it decides alike about everybody under both laws.

With P the law in a group, P' the one in which the columns S of the influence are uniform, and f(x) = 1 where the file
favours x, the influence is the sum over x of f(x) (P(x) - P'(x)). Away from the threshold f is the model's. Somebody
near it adds any of 0 and P(x) - P'(x), so all of them add from the sum of the negative differences to that of the
positive ones. P is a product of factors and conditions, and P' that product summed over S, times a constant: P / P'
depends on S and on the columns that have a factor or a condition with one of S. In a cell of those P is one multiple of
P', all differences have one sign, and their sum is that of the masses near the threshold.

Masses are those of the model with a threshold above and one below; where one of them is not known exactly, nothing is
said.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import prod

from fairdsl.backends.contract import Budget, Refusal, Silent
from fairdsl.backends.groups import question_of
from fairdsl.backends.rates.arithmetic import TangledError
from fairdsl.backends.rates.diagram import OpenError
from fairdsl.backends.rates.enclosing import Enclosing
from fairdsl.backends.rates.engine import TooManyError
from fairdsl.backends.rates.joints import joints_of
from fairdsl.backends.rates.linear.task import OutOfTimeError
from fairdsl.backends.rates.program import LargeError
from fairdsl.ir.enclosure import Enclosure
from fairdsl.ir.expr import Relation, conjuncts
from fairdsl.ir.metric import ACCEPTANCE
from fairdsl.ir.model import ByThreshold
from fairdsl.ir.population import Inside, Normal
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import GroupMetric
from fairdsl.metrics.joint import Joint, Key
from fairdsl.metrics.subject import Subject
from fairdsl.numerics.axes import mentioned

_ZERO = Fraction(0)
#: Cells by which masses are taken, at most.
_CELLS = 4096


def influences_near(problem: Problem, widened: ByThreshold, budget: Budget) -> Enclosure | None:
    """The least and the greatest influence in any group, of a file that decides as the model does beyond both ends of
    the ``widened`` rule; None where that is not known."""
    question = question_of(problem)
    if not (question.influence and question.metric.is_span and question.metric.rate == ACCEPTANCE.rate):
        return None
    if question.excluding is not None or widened.relation in (Relation.EQ, Relation.NE):
        return None
    found = [_masses(problem, replace(widened, low=at, high=at), budget) for at in (widened.low, widened.high)]
    if any(each is None for each in found):
        return None
    one, other = (each for each in found if each is not None)
    groups = [_influence(*laws) for laws in zip(one, other, strict=True)]
    return Enclosure(low=min(each.low for each in groups), high=max(each.high for each in groups))


#: By the cells of a group, the shares of the group that are favoured, under both laws.
_Shares = tuple[dict[Key, Fraction], dict[Key, Fraction]]


def _influence(one: _Shares, other: _Shares) -> Enclosure:
    """Of a group, from the shares that are favoured with either threshold."""
    low = high = _ZERO
    for cell in {cell for law in (*one, *other) for cell in law}:
        (least, most), (least_without, most_without) = (
            sorted(shares[law].get(cell, _ZERO) for shares in (one, other)) for law in (0, 1)
        )
        away, near = least - least_without, (most - least) - (most_without - least_without)
        low, high = low + away + min(near, _ZERO), high + away + max(near, _ZERO)
    return Enclosure(low=low, high=high)


def _masses(problem: Problem, rule: ByThreshold, budget: Budget) -> list[_Shares] | None:
    """What is favoured with a threshold, group by group; None where that is not known exactly."""
    joints = joints_of(replace(problem, model=replace(problem.model, rule=rule), threshold=None))
    if isinstance(joints, Refusal) or joints.boxed:
        return None
    own, without = joints.subjects
    cells = _cells(own, without, question_of(problem))
    if cells is None:
        return None
    found = []
    for subject, columns in zip((own, without), cells, strict=True):
        try:
            joint = _exactly(joints.enclosing(replace(subject, keys=own.keys + columns), budget, Silent()))
        except (OpenError, TangledError, LargeError, TooManyError, OutOfTimeError):
            return None
        if joint is None:
            return None
        found.append(_by_group(joint, len(own.keys)))
    with_all, with_none = found
    return [(with_all[group], with_none[group]) for group in with_all]


def _exactly(enclosing: Enclosing) -> Joint | None:
    while enclosing.improve():
        joint = enclosing.joint
        if joint is not None and all(each.exact for of in (joint.favourable, joint.total) for each in of.values()):
            return joint
    return None


def _by_group(joint: Joint, across: int) -> dict[Key, dict[Key, Fraction]]:
    """The favoured share of each group, cell by cell."""
    wholes: dict[Key, Fraction] = {}
    for key, total in joint.total.items():
        wholes[key[:across]] = wholes.get(key[:across], _ZERO) + total.low
    found: dict[Key, dict[Key, Fraction]] = {group: {} for group, whole in wholes.items() if whole}
    for key, part in joint.favourable.items():
        if part.low:
            found[key[:across]][key[across:]] = part.low / wholes[key[:across]]
    return found


def _cells(own: Subject, without: Subject, question: GroupMetric) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """The columns by which masses are taken under either law; None where these are no cells as they have to be."""
    network, inside = without.network, question.influence
    scopes = [(*factor.parents, factor.column) for factor in own.network.factors]
    scopes += [mentioned(condition) for condition in conjuncts(own.condition)]
    beside = {column for scope in scopes if set(scope) & set(inside) for column in scope} - {*inside, *own.keys}
    copies = tuple([without.copies[column] for column in inside])
    single = all(
        cell.low is not None and cell.low == cell.high for at in (*inside, *copies) for cell in network.cells[at]
    )
    open_inside = any(
        cell.inside is Inside.UNKNOWN and cell.low != cell.high
        for at in own.read | without.read
        for cell in network.cells[at]
    )
    normal = any(isinstance(row, Normal) for at in beside for row in network.factor_of(at).rows.values())
    keys = (*own.keys, *inside, *beside)
    if not single or open_inside or normal or set(inside) & set(own.keys):
        return None
    if prod(len(network.cells[at]) for at in keys) > _CELLS:
        return None
    return (*inside, *sorted(beside)), (*copies, *sorted(beside))
