"""Metric terms: ``gap(rate(refuse given sick = yes))`` as the expression of :mod:`fairdsl.ir.metric`.

What the words inside a rate stand for, beside those of the language (:data:`FACTS`), depends on who asks: in the
prelude nothing else is known, in a property the model's outcomes, the label and the attributes are (:class:`Words`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from fairdsl.ir.expr import TRUE, Predicate, conjoin
from fairdsl.ir.metric import PRIVILEGED, Comparison, Fold, Metric
from fairdsl.ir.rate import AllOf, AnyOf, Averaged, Decides, Each, Event, Fact, Negated, Rate
from fairdsl.source import Span
from fairdsl.syntax import tree
from fairdsl.syntax.format_expression import text_of

#: The words about decisions and labels that every rate may use.
FACTS = {fact.value: fact for fact in Fact}
_COMPARISONS = {each.value.word: each for each in Comparison if each is not Comparison.EVERY}
#: What metric terms begin with.
TERMS = frozenset({"rate", "mean", *_COMPARISONS})
_EACH = {each.value: each for each in Each}
_FORMS = "`gap`, `ratio`, `most`, `least`, `difference` or `quotient` of a `rate`"


class MistakeError(Exception):
    """An expression that is not a metric: where, why, and what to write. ``span`` is None where it was reported."""

    def __init__(self, span: Span | None, why: str = "", help_text: str = "") -> None:
        super().__init__(why)
        self.span = span
        self.why = why
        self.help = help_text


class Words:
    """What may be named inside a rate; this is the language without a model, a label and attributes."""

    #: All outcomes of the model, by their places.
    all_outcomes: frozenset[int] = frozenset()

    def event(self, node: tree.Expression) -> tuple[Event, Decides | None]:
        """A fact that is not a word of the language, and the yes or no of the model that it is about."""
        raise MistakeError(
            node.span,
            "it is none of the words `favourable`, `deserving` and `correct`",
            "name outcomes, labels and attributes in a spec that has them",
        )

    def outcomes(self, node: tree.Expression) -> frozenset[int] | None:
        """The outcomes of which a fact speaks, by their places; None where it is about something else."""
        return None

    def decided(self, outcomes: frozenset[int], span: Span) -> tuple[Event, Decides | None]:
        """That one of these is decided, as a yes or no of the model."""
        raise MistakeError(span, "there is no model whose outcomes these are", "name one in a spec that has it")

    def condition(self, node: tree.Expression) -> Predicate | None:
        """A condition on attributes alone; None where it is about something else."""
        return None

    def number(self, node: tree.Expression) -> Averaged:
        """What a mean is taken of."""
        if isinstance(node, tree.Reference) and node.owner is None and node.name.text == Averaged.SCORE.value:
            return Averaged.SCORE
        raise MistakeError(node.span, "a mean is taken of the score", "write `mean(score)`, or a `rate` of an event")


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """A metric's expression; ``among`` are the attributes' part of the rate's condition."""

    comparison: Comparison
    rate: Rate
    folded: Fold
    among: Predicate

    #: What is in a rate, for helps.
    EXAMPLE: ClassVar[str] = "`gap(rate(refuse given sick = yes))`"


def definition_text(node: tree.Expression) -> str:
    """A metric's expression on one line, the same however it is laid out."""
    return text_of(node)


def metric_of(name: str, node: tree.Expression, term: Term, meaning: str | None = None) -> Metric:
    """The metric that an expression is; without a ``meaning`` it is put in words."""
    return Metric(
        name=name,
        rate=term.rate,
        comparison=term.comparison,
        folded=term.folded,
        meaning=meaning or _in_words(node, term),
        definition=definition_text(node),
    )


def term_of(node: tree.Expression, words: Words) -> Term:
    """The expression of a metric. Raises MistakeError."""
    if not isinstance(node, tree.Call):
        raise MistakeError(node.span, "it is not a metric", f"write {_FORMS}, as in {Term.EXAMPLE}")
    name = node.function.text
    if name == "rate" or _is_number(node):
        rate, among = _Rates(words).rate(node)
        if isinstance(rate.given, Each):
            why = "the rate is taken under several conditions, and none of them decides"
            raise MistakeError(node.span, why, f"compare it, as in `gap({text_of(node)})`")
        return Term(comparison=Comparison.EVERY, rate=rate, folded=Fold.SINGLE, among=among)
    if name == "mean" and not _is_number(node):
        return _mean(node, words)
    if name not in _COMPARISONS:
        raise MistakeError(node.function.span, f"`{name}` is nothing that is made of rates", f"write {_FORMS}")
    inner = _only(node)
    if not (isinstance(inner, tree.Call) and (inner.function.text == "rate" or _is_number(inner))):
        why = f"`{name}` compares the rates of groups, and a rate is written out"
        raise MistakeError(inner.span, why, f"write `{name}(rate(favourable))` of acceptance, or as in {Term.EXAMPLE}")
    comparison = _COMPARISONS[name]
    rate, among = _Rates(words).rate(inner)
    several = isinstance(rate.given, Each)
    if several and comparison.value.fold is Fold.MEAN:
        why = "of signed numbers none is the worst"
        raise MistakeError(node.span, why, f"write `mean({text_of(node)})`")
    return Term(comparison=comparison, rate=rate, folded=comparison.value.fold if several else Fold.SINGLE, among=among)


def _is_number(node: tree.Call) -> bool:
    """``mean(score)``, with or without a condition."""
    return node.function.text == "mean" and not (len(node.arguments) == 1 and isinstance(node.arguments[0], tree.Call))


def _mean(node: tree.Call, words: Words) -> Term:
    """``mean(difference(rate(favourable given each label)))``: over the conditions that are taken one by one."""
    inner = _only(node)
    comparison = _COMPARISONS.get(inner.function.text) if isinstance(inner, tree.Call) else None
    if not isinstance(inner, tree.Call) or comparison is None or comparison.value.fold is not Fold.MEAN:
        why = "the mean is taken of a `difference` or `quotient` at several conditions"
        help_text = "write `mean(difference(rate(favourable given each label)))`, or `gap`, of which the worst decides"
        raise MistakeError(node.span, why, help_text)
    rate, among = _Rates(words).rate(_only_call(inner))
    if not isinstance(rate.given, Each):
        raise MistakeError(node.span, "there is one number only", f"write `{text_of(inner)}`")
    return Term(comparison=comparison, rate=rate, folded=Fold.MEAN, among=among)


def _only(node: tree.Call) -> tree.Expression:
    if len(node.arguments) != 1 or node.given is not None or node.along_paths:
        why = f"`{node.function.text}` takes one thing, and conditions stand in the rate"
        raise MistakeError(node.span, why, f"write for instance {Term.EXAMPLE}")
    return node.arguments[0]


def _only_call(node: tree.Call) -> tree.Call:
    inner = _only(node)
    if not (isinstance(inner, tree.Call) and inner.function.text == "rate"):
        raise MistakeError(inner.span, f"`{node.function.text}` compares the rates of groups", "write a rate")
    return inner


class _Rates:
    """Reads one rate: all that it says of the model is about one yes or no."""

    def __init__(self, words: Words) -> None:
        self._words = words
        self._decides: dict[Decides | None, Span] = {}

    def rate(self, node: tree.Call) -> tuple[Rate, Predicate]:
        """The rate, and the condition on attributes that it is taken under."""
        if len(node.arguments) != 1:
            raise MistakeError(node.span, "a rate counts one thing", "join conditions by `and`, `or` and `not`")
        given: Event | Each | None = None
        among: Predicate = TRUE
        event = (
            self._event(node.arguments[0]) if node.function.text == "rate" else self._words.number(node.arguments[0])
        )
        if isinstance(node.given, tree.Each):
            if node.given.name.text not in _EACH:
                why = "what a rate takes one by one is `label` or `decision`"
                help_text = f"write `for each {node.given.name.text}` as a line of the property for attributes"
                raise MistakeError(node.given.span, why, help_text)
            given = _EACH[node.given.name.text]
        elif node.given is not None:
            given, among = self._condition(node.given)
        decides = self._one_decision()
        try:
            rate = Rate(event=event, given=given, along_paths=node.along_paths, decides=decides)
        except ValueError as error:
            raise MistakeError(node.span, str(error), "count the other one, or leave the condition out") from error
        if node.along_paths and (rate.reads_label or rate.among_decided or among != TRUE):
            why = "along paths there are decisions alone: labels and conditions have no such paths"
            raise MistakeError(node.span, why, "write `rate(favourable along allowed paths)`")
        return rate, among

    def _one_decision(self) -> Decides | None:
        """What the rate says of the model, which has to be one yes or no."""
        if len(self._decides) > 1:
            first, second, *_ = self._decides.values()
            why = f"`{first.text}` and `{second.text}` are two different questions about the model"
            raise MistakeError(second, why, "speak of the same outcomes, or of one bound of the score, in one rate")
        return next(iter(self._decides), None)

    def _condition(self, node: tree.Expression) -> tuple[Event | None, Predicate]:
        """Of a conjunction, the parts about attributes condition everything, and the others the rate."""
        parts = node.parts if isinstance(node, tree.Conjunction) else (node,)
        others: list[tree.Expression] = []
        predicates: list[Predicate] = []
        for part in parts:
            predicate = None if _is_fact(part) else self._words.condition(part)
            if predicate is None:
                others.append(part)
            else:
                predicates.append(predicate)
        return self._joined(others, AllOf) if others else None, conjoin(*predicates)

    def _joined(self, parts: Sequence[tree.Expression], word: type[AllOf | AnyOf]) -> Event:
        """Parts that are joined by a word; what they say of outcomes is one fact."""
        found = [self._outcomes(part) for part in parts]
        decided = [outcomes for outcomes in found if outcomes is not None]
        events: list[Event] = []
        for part, outcomes in zip(parts, found, strict=True):
            if outcomes is None:
                events.append(self._event(part))
            elif outcomes is decided[0]:
                events.append(self._decided(_together(decided, word), part.span))
        return events[0] if len(events) == 1 else word(tuple(events))

    def _outcomes(self, node: tree.Expression) -> frozenset[int] | None:
        """The outcomes that a formula leaves; None where it is about something else as well."""
        match node:
            case tree.Conjunction(parts=parts) | tree.Disjunction(parts=parts):
                found = [self._outcomes(part) for part in parts]
                decided = [outcomes for outcomes in found if outcomes is not None]
                if len(decided) < len(found):
                    return None
                return _together(decided, AllOf if isinstance(node, tree.Conjunction) else AnyOf)
            case tree.Negation(operand=operand):
                outcomes = self._outcomes(operand)
                return None if outcomes is None else self._words.all_outcomes - outcomes
        return None if _is_fact(node) else self._words.outcomes(node)

    def _decided(self, outcomes: frozenset[int], span: Span) -> Event:
        event, decides = self._words.decided(outcomes, span)
        self._decides.setdefault(decides, span)
        return event

    def _event(self, node: tree.Expression) -> Event:
        if (outcomes := self._outcomes(node)) is not None:
            return self._decided(outcomes, node.span)
        match node:
            case tree.Conjunction(parts=parts):
                return self._joined(parts, AllOf)
            case tree.Disjunction(parts=parts):
                return self._joined(parts, AnyOf)
            case tree.Negation(operand=operand):
                return Negated(self._event(operand))
            case tree.Reference(owner=None, name=name) if name.text in FACTS:
                fact = FACTS[name.text]
                if fact is not Fact.DESERVING:
                    self._decides.setdefault(None, node.span)
                return fact
        event, decides = self._words.event(node)
        if any(fact is Fact.FAVOURABLE for fact in _facts(event)):
            self._decides.setdefault(decides, node.span)
        return event


def _together(sets: Sequence[frozenset[int]], word: type[AllOf | AnyOf]) -> frozenset[int]:
    return frozenset.intersection(*sets) if word is AllOf else frozenset.union(*sets)


def _facts(event: Event) -> list[object]:
    from fairdsl.ir.rate import facts_of

    return list(facts_of(event))


def _is_fact(node: tree.Expression) -> bool:
    return isinstance(node, tree.Reference) and node.owner is None and node.name.text in FACTS


# ---- in words ------------------------------------------------------------------------------------

_MEANINGS: dict[Comparison, Callable[[str], str]] = {
    Comparison.GAP: lambda share: f"largest minus smallest {share}",
    Comparison.RATIO: lambda share: f"smallest over largest {share}",
    Comparison.EVERY: lambda share: f"{share}, for each group",
    Comparison.MOST: lambda share: f"largest {share}",
    Comparison.LEAST: lambda share: f"smallest {share}",
    Comparison.DIFFERENCE: lambda share: f"{share} among everybody else minus that of {PRIVILEGED}",
    Comparison.QUOTIENT: lambda share: f"{share} among everybody else over that of {PRIVILEGED}",
}


def _in_words(node: tree.Expression, term: Term) -> str:
    rate = _rate_in(node)
    share = f"{'mean of' if _is_number(rate) else 'share of'} {_quoted(rate.arguments[0])}"
    match rate.given:
        case None:
            pass
        case tree.Each(name=name):
            share += f" at each {'value of the label' if name.text == Each.LABEL.value else name.text}"
        case given:
            share += f" among those with {_quoted(given)}"
    found = _MEANINGS[term.comparison](share)
    if isinstance(rate.given, tree.Each):
        return f"mean {found}" if term.folded is Fold.MEAN else f"{found}, the worst of them"
    return found


def _rate_in(node: tree.Expression) -> tree.Call:
    while isinstance(node, tree.Call) and node.function.text != "rate" and not _is_number(node):
        node = node.arguments[0]
    assert isinstance(node, tree.Call), "the term was read"
    return node


def _quoted(node: tree.Expression) -> str:
    return f"`{text_of(node)}`"
