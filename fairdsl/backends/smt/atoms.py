"""Linear conditions on the scores of two individuals: that they are decided so, and that the model is sure of it.

Decisions are linear in the scores. How sure a model is, is not: with k - 1 other outcomes whose logits lead by
``d_j`` (numerics/confidence.py) it asks that ``sum of exp(d_j)`` is at most ``(1 - q) / q``.

Theorem (Gibbs). For all weights w_j >= 0 that sum to 1, with ``0 ln 0 = 0``,

    ln(sum of exp(d_j)) >= sum of w_j d_j + sum of w_j ln(1 / w_j),

with equality where w is proportional to ``exp(d)``. So for every w the linear condition
``sum of w_j (-d_j) >= ln(q / (1 - q)) + sum of w_j ln(1 / w_j)`` is *necessary*. With a single d it is the
condition itself. A case begins with all weight on one outcome, once for each, and with equal weights; a candidate
that meets these and of which the model is not sure is cut off by the condition that is tight there
(:meth:`Surely.cut`). Logarithms are enclosed by rationals, and the lower end is taken: conditions stay necessary.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import exp, floor

from fairdsl.ir.expr import Relation, Who
from fairdsl.ir.model import ByHighest, ByThreshold, DecisionRule, Model
from fairdsl.ir.question import Sure
from fairdsl.models.logit import logit

Row = tuple[Fraction, ...]

#: Weights of a tangent are multiples of 2**-12, so that rows of coefficients are exact in float64.
_WEIGHT_BITS = 12
#: Constants of conditions that are only necessary are rounded up to multiples of 2**-64: short numbers, and the
#: conditions become weaker.
_GRID = 2**64


@dataclass(frozen=True, slots=True)
class Atom:
    """``a . scores(a) + b . scores(b) + constant > 0`` (or ``>= 0`` where not strict)."""

    a: Row
    b: Row
    constant: Fraction
    strict: bool

    def met(self, a: Sequence[Fraction], b: Sequence[Fraction]) -> bool:
        """Whether the scores meet it."""
        value = self.constant
        for row, scores in ((self.a, a), (self.b, b)):
            value += sum((factor * score for factor, score in zip(row, scores, strict=True)), Fraction(0))
        return value > 0 if self.strict else value >= 0


@dataclass(frozen=True, slots=True)
class Surely:
    """That a model is as ``sure`` of its decision for an outcome as is asked.

    Its scores are among those of all models, so many in all, from the ``first`` on.
    """

    model: Model
    outcome: int
    sure: Sure
    first: int
    width: int

    def cut(self, a: Sequence[Fraction], b: Sequence[Fraction]) -> Atom:
        """The necessary condition that is tight at two individuals' scores."""
        of_a = self.sure.who is not Who.B
        own = (a if of_a else b)[self.first : self.first + self.model.score_count]
        return spread(_tangent(self.model, self.outcome, self.sure, own, of_a=of_a), self.first, self.width)


def spread(atom: Atom, first: int, width: int) -> Atom:
    """A condition on one model's scores as one on those of all."""

    def row(own: Row) -> Row:
        return tuple(own[at - first] if 0 <= at - first < len(own) else Fraction(0) for at in range(width))

    return replace(atom, a=row(atom.a), b=row(atom.b))


def decided(rule: DecisionRule, outcome: int, count: int, *, of_a: bool) -> tuple[Atom, ...] | None:
    """The inequalities of one individual's decision over ``count`` scores; None where the rule never decides so."""
    if isinstance(rule, ByHighest):
        slack = rule.slack or (Fraction(0),) * count
        rows = [(other, slack[outcome] + slack[other]) for other in range(count) if other != outcome]
        return tuple(_atom(_over(outcome, other, count), off, other < outcome and not off, of_a) for other, off in rows)
    if outcome not in (rule.granted, rule.otherwise):
        return None
    relation = rule.relation if outcome == rule.granted else rule.relation.negated
    strict = relation in (Relation.GT, Relation.LT)
    if relation.upwards:
        return (_atom((Fraction(1),), -rule.low, strict, of_a),)
    return (_atom((Fraction(-1),), rule.high, strict, of_a),)


def sure_of(model: Model, outcome: int, wanted: Sequence[Sure], *, of_a: bool) -> tuple[Atom, ...]:
    """Necessary conditions for the model to be as sure of an outcome as all of ``wanted`` ask."""
    return tuple(atom for sure in wanted for atom in _conditions(model, outcome, sure, of_a))


def exactly_linear(model: Model, wanted: Sequence[Sure]) -> bool:
    """Whether these conditions are what is asked, and not only necessary for it."""
    return all(isinstance(model.rule, ByThreshold) and sure.odds_against == 1 for sure in wanted)


def _tangent(model: Model, outcome: int, sure: Sure, scores: Sequence[Fraction], *, of_a: bool) -> Atom:
    """The necessary condition that is tight at the scores, but for the rounding of its weights."""
    rows = _rows(model, outcome)
    scale = _scale(model)
    leads = [-scale * sum((x * y for x, y in zip(row, scores, strict=True)), Fraction(0)) for row in rows]
    return _necessary(model, rows, _weights(leads), sure, of_a)


def _conditions(model: Model, outcome: int, sure: Sure, of_a: bool) -> Iterator[Atom]:
    rows = _rows(model, outcome)
    low, high = logit(sure.level)
    if len(rows) == 1:
        yield _atom(rows[0], -low / _scale(model), sure.relation is Relation.GT, of_a)
        return
    count = len(rows)
    if high >= 0:  # below one half the decision itself says as much of each of the others
        for only in range(count):
            yield _necessary(model, rows, [Fraction(index == only) for index in range(count)], sure, of_a)
    yield _necessary(model, rows, [Fraction(1, count)] * count, sure, of_a)


def _necessary(model: Model, rows: Sequence[Row], weights: Sequence[Fraction], sure: Sure, of_a: bool) -> Atom:
    """The condition of the theorem for the weights, times their common denominator."""
    least = logit(sure.level).low + sum((weight * _logarithm(1 / weight) for weight in weights if weight), Fraction(0))
    times = max(weight.denominator for weight in weights)
    row = tuple(
        times * sum((weight * entry for weight, entry in zip(weights, column, strict=True)), Fraction(0))
        for column in zip(*rows, strict=True)
    )
    constant = Fraction(floor(-times * least / _scale(model) * _GRID) + 1, _GRID)
    return _atom(row, constant, sure.relation is Relation.GT, of_a)


def _rows(model: Model, outcome: int) -> list[Row]:
    """For each other outcome what its logit lacks to the decided one's, in scores."""
    rule = model.rule
    if isinstance(rule, ByHighest):
        count = model.score_count
        return [_over(outcome, other, count) for other in range(count) if other != outcome]
    relation = rule.relation if outcome == rule.granted else rule.relation.negated
    return [(Fraction(1 if relation.upwards else -1),)]


def _weights(leads: Sequence[Fraction]) -> list[Fraction]:
    """Multiples of 2**-12 that sum to 1, nearly proportional to the exponentials."""
    highest = max(leads)
    sizes = [exp(max(-700.0, float(lead - highest))) for lead in leads]
    whole = [floor(size / sum(sizes) * 2**_WEIGHT_BITS) for size in sizes]
    whole[leads.index(highest)] += 2**_WEIGHT_BITS - sum(whole)
    return [Fraction(weight, 2**_WEIGHT_BITS) for weight in whole]


def _logarithm(x: Fraction) -> Fraction:
    """A number at most ln(x), for x > 0."""
    return logit(x / (1 + x)).low


def _scale(model: Model) -> Fraction:
    if model.logits is None:
        raise ValueError(f"`{model.name}` has no probabilities")
    return model.logits.scale


def _over(outcome: int, other: int, count: int) -> Row:
    return tuple(Fraction((k == outcome) - (k == other)) for k in range(count))


def _atom(row: Row, constant: Fraction, strict: bool, of_a: bool) -> Atom:
    none = (Fraction(0),) * len(row)
    return Atom(row if of_a else none, none if of_a else row, constant, strict)
