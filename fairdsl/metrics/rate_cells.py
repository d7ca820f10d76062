"""Which joint probabilities a rate is a quotient of: for each value of the label, the decisions that count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from fairdsl.ir.domain import Attribute
from fairdsl.ir.population import Population, label_column
from fairdsl.ir.question import GroupMetric
from fairdsl.ir.rate import Averaged, Each, Event, Fact, LabelIn, Negated, Rate, holds
from fairdsl.metrics.joint import cells_of, key_at, key_of

#: For each key of the label (None: keys have none) the decisions that count: favourable (True), others, both or none.
Cells = Mapping[Fraction | None, frozenset[bool]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """One of the conditions of a rate, and the cells of decision and label that are its hits and misses.

    ``label`` is the value of the label that it is restricted to, if it is to one, and ``decision`` the decision where
    the rate is taken for both. ``whole`` is None where the model decides who meets the condition.
    """

    label: Fraction | None
    decision: bool | None
    hits: Cells
    misses: Cells
    whole: Cells | None


@dataclass(frozen=True, slots=True)
class _Labels:
    """The keys of the label, and which of them deserves."""

    keys: Sequence[Fraction | None]
    deserving: Fraction | None

    def where(self, *events: Event | None) -> Cells:
        """Where all of the events are true; None is true of everybody."""
        asked = [event for event in events if event is not None]
        return {
            key: frozenset(
                favourable
                for favourable in (True, False)
                if all(holds(event, favourable=favourable, label=key, deserving=self.deserving) for event in asked)
            )
            for key in self.keys
        }

    def condition(self, rate: Rate, given: Event | None, decision: bool | None = None) -> Condition:
        """The rate under an event that is given."""
        among = self.where(given)
        hits = among if isinstance(rate.event, Averaged) else self.where(given, rate.event)  # everybody is averaged
        met = [key for key, decisions in among.items() if decisions]
        return Condition(
            label=met[0] if len(met) == 1 < len(self.keys) else None,
            decision=decision,
            hits=hits,
            misses={key: decisions - hits[key] for key, decisions in among.items()},
            whole=None if rate.among_decided else among,
        )


def conditions_of(question: GroupMetric, population: Population) -> list[Condition]:
    """All conditions of the metric's rate, one by one."""
    rate, name = question.metric.rate, question.metric.name
    label = label_column(population)
    if not rate.reads_label:
        return _by_decisions(rate)
    if label is None or label in question.across + question.given_each:
        raise ValueError(f"{name} needs a label that defines no groups")
    deserving = None if question.deserving is None else key_at(population, label, question.deserving)
    if rate.about_deserving and deserving is None:
        raise ValueError(f"{name} is about a value of the label, and the question names none of them")
    return _conditions(rate, _Labels([key_of(cell) for cell in cells_of(population, label)], deserving))


@cache
def _by_decisions(rate: Rate) -> list[Condition]:
    """The same of a rate that looks at no label: it is about no population."""
    return _conditions(rate, _Labels((None,), None))


def _conditions(rate: Rate, labels: _Labels) -> list[Condition]:
    match rate.given:
        case Each.LABEL:
            one_by_one = [LabelIn(frozenset({key}), "") for key in labels.keys if key is not None]
            return [labels.condition(rate, given) for given in one_by_one]
        case Each.DECISION:
            both = ((Fact.FAVOURABLE, True), (Negated(Fact.FAVOURABLE), False))
            return [labels.condition(rate, given, decision) for given, decision in both]
        case given:
            return [labels.condition(rate, given)]


def labels_rated(question: GroupMetric, population: Population) -> list[frozenset[Fraction | None]]:
    """Of each condition the keys of the label that its rate looks at."""
    return [
        frozenset(key for key, decisions in _joined(each.hits, each.misses).items() if decisions)
        for each in conditions_of(question, population)
    ]


def quotient_of(question: GroupMetric, population: Population) -> str:
    """The rate in terms of the joint probabilities of a key: ``favourable / total`` where no label plays a part."""
    rate, label = question.metric.rate, label_column(population)
    if rate.given is Each.LABEL or not rate.reads_label or label is None:
        decided = _Labels((None,), None)
        found = [decided.condition(rate, rate.condition)]
    else:
        found = conditions_of(question, population)
    column = None if label is None else population.columns[label]
    quotients = [f"{_amount(each.hits, column)} / {_amount(_joined(each.hits, each.misses), column)}" for each in found]
    if rate.given is Each.DECISION:
        return f"{quotients[0]} given the favourable decision, {quotients[1]} given the other"
    return quotients[0]


_AMOUNTS = {
    frozenset({True}): "favourable",
    frozenset({False}): "(total - favourable)",
    frozenset({True, False}): "total",
}


def _joined(one: Cells, other: Cells) -> Cells:
    return {key: decisions | other[key] for key, decisions in one.items()}


def _amount(cells: Cells, label: Attribute | None) -> str:
    """A sum of joint probabilities; of several values of the label with the same decisions at once."""
    at: dict[frozenset[bool], list[str]] = {}
    for key, decisions in cells.items():
        if decisions:
            at.setdefault(decisions, []).append("" if key is None or label is None else label.show(key))
    if not at:
        return "0"
    if None in cells or label is None:
        return " + ".join(_AMOUNTS[decisions] for decisions in at)
    parts = [f"{_AMOUNTS[decisions]} at {label.name} = {' or '.join(values)}" for decisions, values in at.items()]
    return f"({' + '.join(parts)})"
