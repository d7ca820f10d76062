"""A subject whose model is one weighted sum: what is added up, and when it is high enough.

Sums that have to be small are turned: ``S < t`` is ``-S > -t``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from fairdsl.ir.expr import Predicate, Relation, conjuncts
from fairdsl.ir.feature import Input
from fairdsl.ir.model import ByThreshold, Model
from fairdsl.ir.population import Network
from fairdsl.metrics.subject import Subject

__all__ = ["Event", "WeightedSum", "weighted_sum"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """``score RELATION t`` with t in [low, high]: strictly between them, and no rational, unless they are equal."""

    relation: Relation
    low: Fraction
    high: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightedSum:
    """A distribution, a score over its columns and the event that counts, whose relation is none of < and <=.

    ``network`` may have columns without a factor: they are set from outside, each cell with mass 1.
    """

    network: Network
    #: The score is ``constant`` and each input times its weight.
    terms: tuple[tuple[Input, Fraction], ...]
    constant: Fraction
    #: What is given.
    conditions: tuple[Predicate, ...]
    #: The columns that results are listed by.
    keys: tuple[int, ...]
    event: Event
    #: Whether what has no distribution is allowed for elsewhere; else it counts as impossible, and that is said.
    lost: bool = False


def weighted_sum(subject: Subject) -> WeightedSum:
    """A subject whose model compares one linear score."""
    layer = subject.model.layers[0]
    event, sign = _event(subject.model)
    weights = zip(subject.model.inputs, layer.weight.exact[0].tolist(), strict=True)
    return WeightedSum(
        network=subject.network,
        terms=tuple([(item, sign * Fraction(weight)) for item, weight in weights if weight]),
        constant=sign * Fraction(layer.bias.exact[0]),
        conditions=conjuncts(subject.condition),
        keys=subject.keys,
        event=event,
        lost=bool(subject.unknown),
    )


def _event(model: Model) -> tuple[Event, int]:
    """When the outcome is favourable, of the score or of its negation."""
    rule = model.rule
    if not isinstance(rule, ByThreshold):
        raise ValueError("a weighted sum is compared with a threshold")
    relation = rule.relation if model.favourable == rule.granted else rule.relation.negated
    if relation not in (Relation.LT, Relation.LE):
        return Event(relation=relation, low=rule.low, high=rule.high), 1
    turned = Relation.GT if relation is Relation.LT else Relation.GE
    return Event(relation=turned, low=-rule.high, high=-rule.low), -1
