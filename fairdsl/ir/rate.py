"""Rates: which part of the people of a group something is true of.

A *rate* is ``Pr[event | condition, group]``. Events and conditions are formulas about two facts of an individual, the
model's decision and the true outcome (the *label*), so every rate is a quotient of sums of joint probabilities: for
each value of the label, of those with one decision and of those with the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from functools import cache
from typing import assert_never

from fairdsl.ir.expr import Relation


class Fact(Enum):
    """What the words of rates say of an individual: how it is decided, what it deserves, and whether the two agree."""

    FAVOURABLE = "favourable"
    DESERVING = "deserving"
    CORRECT = "correct"


@dataclass(frozen=True, slots=True)
class LabelIn:
    """The label has one of these values; ``text`` is the condition as the spec writes it."""

    values: frozenset[Fraction]
    text: str


@dataclass(frozen=True, slots=True)
class Negated:
    """It is not true."""

    part: Event


@dataclass(frozen=True, slots=True)
class AllOf:
    """Every part is true."""

    parts: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """Some part is true."""

    parts: tuple[Event, ...]


#: What may be true of an individual: a formula over the decision and the label.
Event = Fact | LabelIn | Negated | AllOf | AnyOf


def holds(event: Event, *, favourable: bool, label: Fraction | None, deserving: Fraction | None) -> bool:
    """Whether it is true of somebody who is treated so and has this label; ``deserving`` is the value that deserves."""
    match event:
        case Fact.FAVOURABLE:
            return favourable
        case Fact.DESERVING:
            return label == deserving
        case Fact.CORRECT:
            return favourable is (label == deserving)
        case LabelIn(values=values):
            return label in values
        case Negated(part=part):
            return not holds(part, favourable=favourable, label=label, deserving=deserving)
        case AllOf(parts=parts):
            return all(holds(part, favourable=favourable, label=label, deserving=deserving) for part in parts)
        case AnyOf(parts=parts):
            return any(holds(part, favourable=favourable, label=label, deserving=deserving) for part in parts)
    assert_never(event)


def facts_of(event: Event | Averaged) -> Iterator[Fact | LabelIn]:
    """What the formula is made of."""
    match event:
        case Averaged():
            return
        case Fact() | LabelIn():
            yield event
        case Negated(part=part):
            yield from facts_of(part)
        case AllOf(parts=parts) | AnyOf(parts=parts):
            for part in parts:
                yield from facts_of(part)


@cache
def _reads_decision(event: Event | Averaged) -> bool:
    return any(fact in (Fact.FAVOURABLE, Fact.CORRECT) for fact in facts_of(event))


@cache
def _reads_label(event: Event | Averaged) -> bool:
    return any(fact is not Fact.FAVOURABLE for fact in facts_of(event))


class Averaged(Enum):
    """A number of each individual whose mean is taken, where others count an event."""

    SCORE = "score"


class Each(Enum):
    """Conditions that are taken one by one: the metric compares groups under each of them by itself."""

    LABEL = "label"
    DECISION = "decision"


@dataclass(frozen=True, slots=True)
class OutcomeIn:
    """The model's decision is one of the outcomes of these indices."""

    outcomes: frozenset[int]


@dataclass(frozen=True, slots=True)
class ScoreIs:
    """``score RELATION limit``; without a limit it is the median of the scores of the population's rows."""

    relation: Relation
    limit: Fraction | None


#: What ``favourable`` represents in a rate about another yes or no of the model.
Decides = OutcomeIn | ScoreIs


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """``rate(event given condition)``: ``Pr[event | condition, group]`` under the population's distribution.

    With ``along_paths`` it is taken under the distribution in which a group's attributes are set, and influence flows
    from them along the allowed edges only (docs/semantics.md, section 4).
    """

    #: What is counted, or averaged: ``mean(score given condition)`` is the expectation in place of a probability.
    event: Event | Averaged
    #: Among whom; None: among everybody of the group.
    given: Event | Each | None
    #: Whether it is a causal quantity, of a distribution along paths.
    along_paths: bool = False
    #: What :attr:`Fact.FAVOURABLE` represents here; None: for the model's favourable outcome.
    decides: Decides | None = None

    def __post_init__(self) -> None:
        if self.given is Each.LABEL and _reads_label(self.event):
            raise ValueError("given each value of the label, only the decision can be counted")
        if self.given is Each.DECISION and _reads_decision(self.event):
            raise ValueError("given each decision, only the label can be counted")
        if self.is_mean and (self.given is Each.DECISION or self.along_paths or self.among_decided):
            raise ValueError("a mean is taken of whom attributes and the label say, whatever is decided about them")

    @property
    def is_mean(self) -> bool:
        """Whether a number is averaged, which may be any."""
        return isinstance(self.event, Averaged)

    @property
    def event_reads_label(self) -> bool:
        """Whether the true outcome takes part in what is counted."""
        return _reads_label(self.event)

    @property
    def reads_label(self) -> bool:
        """Whether the true outcome takes part in it."""
        given = self.given
        if given is None or isinstance(given, Each):
            return given is Each.LABEL or _reads_label(self.event)
        return _reads_label(self.event) or _reads_label(given)

    @property
    def about_deserving(self) -> bool:
        """Whether the value of the label that stands for the deserving plays a part."""
        parts = [*facts_of(self.event), *(facts_of(self.condition) if self.condition else ())]
        return any(fact in (Fact.DESERVING, Fact.CORRECT) for fact in parts)

    @property
    def about_favourable(self) -> bool:
        """Whether it counts the model's favourable outcome."""
        return self.decides is None and (
            self.given is Each.DECISION
            or _reads_decision(self.event)
            or (self.condition is not None and _reads_decision(self.condition))
        )

    @property
    def among_decided(self) -> bool:
        """Whether the model decides who is in the denominator, so that a group of somebody may have no such rate."""
        return self.given is Each.DECISION or (self.condition is not None and _reads_decision(self.condition))

    @property
    def is_favour(self) -> bool:
        """Whether a group of a greater rate is favoured: it is one of favourable decisions, whoever is counted."""
        return self.event is Fact.FAVOURABLE and self.decides is None

    @property
    def of_decisions(self) -> bool:
        """Whether it is a share of decisions within groups that the distribution alone defines."""
        return not _reads_label(self.event) and not self.among_decided

    @property
    def condition(self) -> Event | None:
        """The one condition; None where there is none, or several are taken one by one."""
        return None if isinstance(self.given, Each) else self.given
