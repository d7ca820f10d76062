"""What a question asks of a model beside its decisions, and whether the model that was opened gives it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from fairdsl.diagnostics import Diagnostic
from fairdsl.elaborate import errors
from fairdsl.ir.declaration import ByRules, InlineScore, ModelDeclaration, ModelSource, WhenProbability, WhenScore
from fairdsl.ir.demand import Confidence, Demanded, Probability, Score, Term
from fairdsl.ir.domain import show_number
from fairdsl.ir.feature import IndicatorInput
from fairdsl.ir.model import ByThreshold, Model, Readout
from fairdsl.ir.opaque import BlackBox
from fairdsl.semantics.checked import CheckedSpec
from fairdsl.source import Span


def outputs_of(
    question: Demanded, spec: CheckedSpec, models: Mapping[str, Model], span: Span
) -> tuple[Demanded, Diagnostic | None]:
    """The formula over numbers that the models give, or why one of them does not."""
    found: list[Term] = []
    refusal: Diagnostic | None = None
    for term in question.terms:
        late: Diagnostic | None = None
        if isinstance(term, Score | Probability | Confidence):
            model, declaration = (
                models[question.models[term.model]],
                spec.models[question.models[term.model]].declaration,
            )
            match term:
                case Score():
                    late = no_score(model, declaration, span)
                case Confidence():
                    late = no_chance(declaration, model, span) if model.logits is None else None
                case Probability():
                    term, late = _probability(term, model, declaration, span)
        refusal = refusal or late
        found.append(term)
    # Probabilities of one model are compared as its scores are, so engines need a name for these.
    beside = (Score(model=term.model) for term in found if isinstance(term, Probability))
    return replace(question, terms=(*found, *(each for each in dict.fromkeys(beside) if each not in found))), refusal


def _probability(
    term: Probability, model: Model, declaration: ModelDeclaration, span: Span
) -> tuple[Term, Diagnostic | None]:
    """The number that the rule compares as a probability: the score itself, or the logistic of it."""
    compares = model.deployed is None or model.deployed.readout in (Readout.SCORE, Readout.CHANNEL)
    if isinstance(model.rule, ByThreshold) and compares:
        if model.logits is not None and not isinstance(model.opaque, BlackBox):
            return term, None
        if isinstance(declaration.decision, WhenProbability):
            return Score(model=term.model), None
    if model.logits is None:
        return term, no_chance(declaration, model, span)
    has = "its rule compares no probability, so it is not said whose `probability` is"
    remedy = f"write `{declaration.outcomes[-1]} when probability(class = ...) >= 0.5`"
    return term, errors.no_confidence(declaration.name, has, remedy, span)


def no_chance(declaration: ModelDeclaration, model: Model, place: Span) -> Diagnostic:
    """Why the model gives no probabilities, and what to write instead."""
    clause, source = declaration.decision, declaration.source
    export = "audit a file whose output is the probability, by a sigmoid or softmax"
    if isinstance(model.opaque, BlackBox):
        has, remedy = "it is a black box: how its numbers are made is not known", "leave the line out"
    elif isinstance(clause, ByRules):
        has, remedy = "its rules name an outcome and no probability", f"leave the line out, or {export}"
    elif isinstance(clause, WhenScore) and _is_rule(source):
        has, remedy = "its rule over attributes is true or false", f"leave the line out, or {export}"
    elif isinstance(clause, WhenScore):
        relation, outcome = clause.relation.value, declaration.outcomes[clause.outcome]
        has = f"its rule compares a score with {show_number(clause.threshold)}, and a score is not a probability"
        remedy = f"write `{outcome} when probability {relation} 0.5` if the score is a logit, or {export}"
        if clause.threshold:
            remedy = export
    else:
        has, remedy = "its file gives a class, votes, or numbers that are not probabilities of one whole", export
    return errors.no_confidence(declaration.name, has, remedy, place)


def _is_rule(source: ModelSource) -> bool:
    """Whether the score is nothing but the indicator of a condition."""
    return isinstance(source, InlineScore) and all(isinstance(item, IndicatorInput) for item, _ in source.form.terms)


def no_score(model: Model, declaration: ModelDeclaration, span: Span) -> Diagnostic | None:
    """A gap needs the one number that the model gives: the IR's score must be the file's own output."""
    if isinstance(model.opaque, BlackBox) and not isinstance(declaration.decision, WhenScore):
        return errors.no_single_score(model.name, "answers that are classes, or probabilities", span)
    if isinstance(declaration.decision, ByRules):
        return errors.no_single_score(model.name, "rules that name outcomes, and no score", span)
    return no_one_score(model, span)


def no_one_score(model: Model, span: Span) -> Diagnostic | None:
    """Why the model has no single score that could be compared with a number."""
    if not isinstance(model.rule, ByThreshold):
        what = f"{model.score_count} scores" if model.score_count != 1 else "classes, and no score"
        return errors.no_single_score(model.name, what, span)
    if model.deployed is not None and model.deployed.readout is not Readout.SCORE:
        what = "a probability or a class as its output, and its score only inside"
        return errors.no_single_score(model.name, what, span)
    return None
