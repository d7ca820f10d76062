"""Metrics as they are written in a property: names of the language and of the spec, and terms over rates.

A spec's own ``metric NAME = ...`` stands for its expression, which is read where it is used: what it names are the
outcomes, the label and the attributes of that property.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from fairdsl.diagnostics import Reporter
from fairdsl.ir.domain import Domain
from fairdsl.ir.expr import TRUE, Predicate, Relation, holds_at
from fairdsl.ir.metric import Alias, Metric
from fairdsl.ir.rate import Decides, Event, Fact, LabelIn, Negated, OutcomeIn, ScoreIs
from fairdsl.prelude import (
    FACTS,
    MistakeError,
    PairMetric,
    Words,
    definition_text,
    known_metrics,
    metric_of,
    registered,
    term_of,
)
from fairdsl.semantics import errors
from fairdsl.semantics.checked import CheckedModel
from fairdsl.semantics.conditions.predicates import lower_condition
from fairdsl.semantics.conditions.scope import ConditionScope
from fairdsl.semantics.walk import walk
from fairdsl.source import Span
from fairdsl.syntax import tree

_SCORE, _MEDIAN = "score", "median"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadMetric:
    """A metric, and the condition on attributes that its rate is taken under."""

    metric: Metric
    among: Predicate = TRUE
    #: The model, where it is another one than the property's.
    of: str | None = None


def metric_name(node: tree.Expression | tree.Name) -> tree.Name | None:
    """The name that an expression is; None where it is more."""
    if isinstance(node, tree.Name):
        return node
    return node.name if isinstance(node, tree.Reference) and node.owner is None else None


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricScope:
    """What a metric of a property may name. ``columns`` are the domain's attributes and, behind them, the label."""

    declared: Mapping[str, tree.Metric | None]
    model: CheckedModel
    columns: Domain
    labelled: bool
    privileged: bool
    reporter: Reporter

    def read(self, node: tree.Expression | tree.Name) -> ReadMetric | PairMetric | None:
        """The metric that is written; None after reporting that it is none."""
        try:
            return self._read(node)
        except MistakeError as mistake:
            if mistake.span is not None:
                self.reporter.report(errors.no_metric(mistake.span, mistake.why, mistake.help))
            return None

    def _read(self, node: tree.Expression | tree.Name) -> ReadMetric | PairMetric | None:
        name = metric_name(node)
        if name is None:
            assert not isinstance(node, tree.Name), "a name has one"
            term = term_of(node, _PropertyWords(self))
            return ReadMetric(metric=metric_of(definition_text(node), node, term), among=term.among)
        if name.text not in self.declared:
            known = registered(name.text, privileged=self.privileged)
            if known is None:
                self.reporter.report(errors.unknown_metric(name.text, name.span, (*self.declared, *known_metrics())))
            return ReadMetric(metric=known) if isinstance(known, Metric) else known
        declared = self.declared[name.text]
        if declared is None:
            raise MistakeError(None)
        if (other := metric_name(declared.definition)) is not None:
            found = self._read(other)
            if isinstance(found, ReadMetric):
                alias = Alias(name=found.metric.name, library=None)
                metric = replace(found.metric, name=name.text, aliases=(*found.metric.aliases, alias))
                return replace(found, metric=metric)
            return found
        term = term_of(declared.definition, _PropertyWords(self))
        meaning = " ".join(declared.doc) or None
        return ReadMetric(metric=metric_of(name.text, declared.definition, term, meaning), among=term.among)


class _PropertyWords(Words):
    """Outcomes, the score, the label, and attributes."""

    def __init__(self, scope: MetricScope) -> None:
        self._scope = scope
        attributes = [attribute.name for attribute in scope.columns.attributes]
        self._label = attributes.pop() if scope.labelled else None
        self._attributes = frozenset((*attributes, *(derived.name for derived in scope.columns.derived)))
        self._outcomes = scope.model.declaration.outcomes
        self.all_outcomes = frozenset(range(len(self._outcomes)))
        self._model = scope.model.declaration.name

    # ---- decisions and labels --------------------------------------------------------------------

    def outcomes(self, node: tree.Expression) -> frozenset[int] | None:
        """``refuse``, ``approve = refuse``, ``triage >= high`` and ``triage in { high, urgent }``."""
        word = word_of(node)
        if word in self._outcomes:
            if word in self._attributes or word == self._label:
                what = "the label" if word == self._label else "an attribute"
                why = f"`{word}` is an outcome of `{self._model}`, and {what} as well"
                raise MistakeError(node.span, why, f"write `{self._model} = {word}` for the outcome")
            return frozenset({self._outcomes.index(word)})
        if self._model in self._attributes:
            return None
        match node:
            case tree.Comparison(left=left, right=right, relation=relation):
                for side, other, compared in (
                    (left, right, Relation(relation)),
                    (right, left, Relation(relation).mirrored),
                ):
                    if word_of(side) == self._model:
                        return self._compared(other, compared)
            case tree.Membership(value=value, elements=elements) if word_of(value) == self._model:
                return frozenset(self._outcome(element) for element in elements)
        return None

    def decided(self, outcomes: frozenset[int], span: Span) -> tuple[Event, Decides | None]:
        """A question about some outcomes is one about all others, too: about one outcome where that is enough."""
        favourable, others = self._scope.model.declaration.favourable, self.all_outcomes - outcomes
        if not outcomes or not others:
            why = f"it is true of {'everybody' if outcomes else 'nobody'}: every decision is one outcome"
            raise MistakeError(span, why, f"name some of the outcomes {self._listed}, and not all")
        asked = next((each for each in (outcomes, others) if each == {favourable}), None)
        asked = asked or min(outcomes, others, key=lambda each: (len(each) > 1, len(self._outcomes) - 1 not in each))
        event: Event = Fact.FAVOURABLE if asked == outcomes else Negated(Fact.FAVOURABLE)
        return event, None if asked == {favourable} else OutcomeIn(asked)

    def event(self, node: tree.Expression) -> tuple[Event, Decides | None]:
        """``score > 50``, ``sick = yes``, and ``sick`` of a boolean label."""
        if isinstance(node, tree.Comparison):
            for side, other, relation in (
                (node.left, node.right, Relation(node.relation)),
                (node.right, node.left, Relation(node.relation).mirrored),
            ):
                if word_of(side) == _SCORE and _SCORE not in self._attributes:
                    if isinstance(other, tree.Number):
                        return Fact.FAVOURABLE, ScoreIs(relation, other.value)
                    if word_of(other) == _MEDIAN:
                        return Fact.FAVOURABLE, ScoreIs(relation, None)
        if self._label is not None and self._label in _names(node):
            return self._labelled(node), None
        if self._attributes & _names(node):
            why = "a rate counts decisions and labels; attributes say among whom"
            raise MistakeError(node.span, why, "write the condition behind `given`, joined by `and`")
        raise MistakeError(node.span, f"it is {self._known()}", "name one of them")

    def _known(self) -> str:
        label = f", the label `{self._label}`" if self._label else ""
        words = ", ".join(f"`{word}`" for word in FACTS)
        return f"no outcome of `{self._model}` ({self._listed}){label}, and none of the words {words}"

    @property
    def _listed(self) -> str:
        return ", ".join(f"`{outcome}`" for outcome in self._outcomes)

    def _compared(self, other: tree.Expression, relation: Relation) -> frozenset[int]:
        place = self._outcome(other)
        if relation not in (Relation.EQ, Relation.NE) and not self._scope.model.declaration.ordered:
            why = f"the outcomes of `{self._model}` are not declared in an order"
            ordered = " < ".join(self._outcomes)
            raise MistakeError(other.span, why, f"declare them as `{{ {ordered} }}`, or compare by `=`, `!=` or `in`")
        return frozenset(each for each in self.all_outcomes if relation.compares(Fraction(each), Fraction(place)))

    def _outcome(self, node: tree.Expression | tree.Name | tree.ValueRange) -> int:
        name = None if isinstance(node, tree.ValueRange) else metric_name(node)
        word = None if name is None else name.text
        if word not in self._outcomes:
            why = f"`{self._model}` decides for one of {self._listed}"
            raise MistakeError(node.span, why, "compare it with one of them by `=` or `!=`, or with several by `in`")
        return self._outcomes.index(word)

    def _labelled(self, node: tree.Expression) -> Event:
        label = self._scope.columns.attributes[-1]
        if self._attributes & _names(node):
            why = f"it joins the label `{label.name}` with attributes"
            raise MistakeError(node.span, why, "join conditions on one of them by `and`")
        predicate = lower_condition(node, ConditionScope(domain=self._scope.columns), self._scope.reporter)
        if predicate is None:
            raise MistakeError(None)
        values = label.values
        if values is None:
            why = f"`{label.name}` has no values that can be counted"
            raise MistakeError(node.span, why, "declare it as a boolean, a category or whole numbers")
        return LabelIn(
            frozenset(Fraction(value) for value in values if holds_at(predicate, Fraction(value))),
            definition_text(node),
        )

    # ---- attributes ------------------------------------------------------------------------------

    def condition(self, node: tree.Expression) -> Predicate | None:
        """A condition that names attributes, and neither outcomes nor the label."""
        names = _names(node)
        if not self._attributes & names or self._label in names or (self._model in names - self._attributes):
            return None
        if _SCORE in names - self._attributes:
            return None
        predicate = lower_condition(node, ConditionScope(domain=self._scope.columns), self._scope.reporter)
        if predicate is None:
            raise MistakeError(None)
        return predicate


def word_of(node: tree.Expression) -> str | None:
    """The name that stands alone as the expression, and has no owner."""
    return node.name.text if isinstance(node, tree.Reference) and node.owner is None else None


def _names(node: tree.Expression) -> frozenset[str]:
    return frozenset(part.name.text for part in walk(node) if isinstance(part, tree.Reference))


def check_metric_declarations(declared: dict[str, tree.Metric | None], reporter: Reporter) -> None:
    """Names of the language stay what they are, and no name stands for itself; one that does is None from then on."""
    for name, metric in declared.items():
        if metric is not None and registered(name) is not None:
            what = "a metric of the language"
            reporter.report(errors.declared_twice("metric", name, metric.name.span, None, clashes_with=what))
        if metric is not None and _stands_for_itself(name, declared):
            reporter.report(errors.no_metric(metric.definition.span, "it names itself", "write what it is"))
            declared[name] = None


def _stands_for_itself(name: str, declared: Mapping[str, tree.Metric | None]) -> bool:
    seen = [name]
    while (metric := declared.get(seen[-1])) is not None:
        other = metric_name(metric.definition)
        if other is None or other.text in seen:
            return other is not None
        seen.append(other.text)
    return False
