"""Refusals of a decision rule that asks for another output than the file has (E0511), with what it has."""

from __future__ import annotations

from fractions import Fraction

from fairdsl.diagnostics import Diagnostic
from fairdsl.ir.declaration import ModelDeclaration, WhenClass, WhenProbability, WhenScore
from fairdsl.models import errors
from fairdsl.models.classes.advice import by_class, by_number, by_probability
from fairdsl.models.classes.columns import classes_of
from fairdsl.models.classes.known import listing
from fairdsl.models.classes.labels import high_outcome
from fairdsl.models.graph import GraphOutput, ImportedGraph, OutputKind
from fairdsl.source import Span

_HALF = Fraction(1, 2)
_PROBABILITIES = (OutputKind.SIGMOID, OutputKind.PROBABILITY)


def no_output(title: str, declaration: ModelDeclaration, graph: ImportedGraph, span: Span) -> Diagnostic:
    """No output fits the clause."""
    label = "needs another output than the file has"
    return errors.decision_does_not_fit(title, label, _remedy(declaration, graph), span, _notes(graph))


def no_rule(declaration: ModelDeclaration, graph: ImportedGraph, span: Span) -> Diagnostic:
    """The spec names no decision, as for a document of rules, and the file has scores."""
    title, label = "the file has scores, and no rule says which outcome they lead to", "names no outcome itself"
    return errors.decision_does_not_fit(title, label, _remedy(declaration, graph), span, _notes(graph))


def _notes(graph: ImportedGraph) -> list[str]:
    return [f"output `{output.name}`: {_in_words(output)}" for output in graph.outputs]


def _in_words(output: GraphOutput) -> str:
    plural = "" if output.width == 1 else "s"
    match output.kind:
        case OutputKind.SCORE:
            return f"{output.width} raw score{plural}"
        case OutputKind.SIGMOID | OutputKind.PROBABILITY:
            return f"{output.width} probabilit{'y' if output.width == 1 else 'ies'}"
        case OutputKind.SOFTMAX:
            return f"{output.width} probabilities that sum to 1"
        case OutputKind.LOG_SOFTMAX:
            return f"{output.width} logarithms of probabilities that sum to 1"
        case OutputKind.LABEL:
            return "the class, one of " + listing(output.labels)


def _remedy(declaration: ModelDeclaration, graph: ImportedGraph) -> str:
    """The clauses that would fit, of the outputs that decide as the refused one meant to."""
    clause = declaration.decision
    otherwise = f"a class, or the highest score, is not decided by `{clause.span.text}`"
    if isinstance(clause, WhenProbability) and clause.threshold != _HALF:
        return f"export the model with its probabilities: {otherwise}"
    if isinstance(clause, WhenScore) and clause.threshold != 0:
        pair = next((o for o in graph.outputs if o.width == 2 and o.kind in _PROBABILITIES), None)
        if pair is None or not 0 < clause.threshold < 1:
            return f"export the model with a single score: {otherwise}"
        asked = WhenProbability(
            outcome=clause.outcome, relation=clause.relation, threshold=clause.threshold, span=clause.span
        )
        return by_probability(declaration.outcomes, asked, high_outcome(declaration, asked), classes_of(graph, pair))
    labels = [output for output in graph.outputs if output.kind is OutputKind.LABEL]
    return "; or ".join(dict.fromkeys(_fitting(declaration, graph, output) for output in labels or graph.outputs))


def _fitting(declaration: ModelDeclaration, graph: ImportedGraph, output: GraphOutput) -> str:
    """The clause that fits an output."""
    outcomes, clause = declaration.outcomes, declaration.decision
    if output.width == 1:
        if output.kind is OutputKind.SCORE:
            return by_number(outcomes, "score > 0", "a high score")
        return by_number(outcomes, "probability >= 0.5", "a high probability")
    outcome = outcomes[-1]
    if isinstance(clause, WhenClass):
        outcome = outcomes[clause.classes[0].outcome]
    elif isinstance(clause, WhenScore | WhenProbability):
        outcome = high_outcome(declaration, clause)
    return by_class(outcomes, classes_of(graph, output), outcome)
