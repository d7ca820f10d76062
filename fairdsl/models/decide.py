"""The decision clause of the spec, applied to what the file outputs.

A clause chooses an output of the file, the affine score that decides in real arithmetic, the rule over that
score, and how the deployed file's own numbers are read.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import assert_never

import numpy as np

from fairdsl.diagnostics import Diagnostic, DiagnosticError
from fairdsl.ir.declaration import ByAnswer, ByRules, Highest, ModelDeclaration, WhenClass, WhenProbability, WhenScore
from fairdsl.ir.domain import show_number
from fairdsl.ir.expr import Relation
from fairdsl.ir.model import ByHighest, ByThreshold, DecisionRule, Readout
from fairdsl.models import errors
from fairdsl.models.basis import Affine, add, scale, take
from fairdsl.models.class_names import check_class_names
from fairdsl.models.graph import GraphOutput, ImportedGraph, OutputKind
from fairdsl.models.logit import logit
from fairdsl.source import Span

__all__ = ["Decided", "decide"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Decided:
    """The scores that decide, the rule over them, and the readout of the deployed file."""

    scores: Affine
    rule: DecisionRule
    output: str
    readout: Readout
    channel: int = 0
    relation: Relation | None = None
    threshold: Fraction | None = None
    labels: tuple[int | str, ...] = ()


def decide(declaration: ModelDeclaration, graph: ImportedGraph, warn: Callable[[Diagnostic], None]) -> Decided:
    """Apply the declaration's clause; raises DiagnosticError where the file has no output that fits."""
    clause = declaration.decision
    if isinstance(clause, ByRules | ByAnswer):
        raise DiagnosticError(_no_rule(declaration, graph, clause.span))
    if not isinstance(clause, Highest) and len(declaration.outcomes) != 2:
        raise DiagnosticError(
            errors.decision_does_not_fit(
                f"one condition cannot choose among {len(declaration.outcomes)} outcomes",
                "says when one outcome is given, and not which of the others",
                "write `decide by highest score`",
                clause.span,
            )
        )
    for output in graph.outputs:
        if output.kind is OutputKind.LABEL:
            check_class_names(declaration, output.name, output.labels)
    match clause:
        case WhenScore():
            return _when_score(clause, graph)
        case WhenProbability():
            return _when_probability(clause, graph, warn)
        case WhenClass():
            return _when_class(clause, graph)
        case Highest():
            return _highest(clause, declaration.outcomes, graph)
        case _:
            assert_never(clause)


def _when_score(clause: WhenScore, graph: ImportedGraph) -> Decided:
    output = _single(graph, OutputKind.SCORE) or _single(graph, OutputKind.PROBABILITY)
    if output is not None:
        return _as_it_is(clause, output, 0)
    output = _single(graph, OutputKind.SIGMOID)
    if output is None:
        raise DiagnosticError(_no_output("the file has no single score to compare", graph, clause.span))
    if not 0 < clause.threshold < 1:
        condition = f"score {clause.relation.value} {show_number(clause.threshold)}"
        always = clause.relation.compares(Fraction(1, 2), clause.threshold)
        remedy = "write `probability >= 0.5`, or the threshold that the decision is really made by"
        raise DiagnosticError(errors.threshold_trivial(condition, always, remedy, clause.span))
    return _probability(clause, clause.threshold, output, 0)


def _when_probability(clause: WhenProbability, graph: ImportedGraph, warn: Callable[[Diagnostic], None]) -> Decided:
    output = _single(graph, OutputKind.SIGMOID)
    if output is not None:
        return _probability(clause, clause.threshold, output, 0)
    pair = _of_kind(graph, OutputKind.SIGMOID, 2)
    if pair is not None:
        return _probability(clause, clause.threshold, pair, clause.outcome)
    shares = _of_kind(graph, OutputKind.PROBABILITY, 2)
    if shares is not None:
        return _as_it_is(clause, shares, clause.outcome)
    share = _single(graph, OutputKind.PROBABILITY)
    if share is not None:
        return _as_it_is(clause, share, 0)
    raw = _single(graph, OutputKind.SCORE)
    if raw is None:
        raise DiagnosticError(_no_output("the file has no probability of this outcome", graph, clause.span))
    warn(errors.logistic_assumed(graph.path, raw.name if graph.runnable else "", clause.span))
    low, high = logit(clause.threshold)
    return Decided(
        scores=raw.scores,
        rule=_threshold(clause, low, high),
        output=raw.name,
        readout=Readout.SCORE,
        relation=clause.relation,
        threshold=(low + high) / 2,
    )


def _as_it_is(clause: WhenScore | WhenProbability, output: GraphOutput, channel: int) -> Decided:
    """A number of the file that is compared itself."""
    return Decided(
        scores=take(output.scores, np.array([channel])),
        rule=_threshold(clause, clause.threshold, clause.threshold),
        output=output.name,
        readout=Readout.SCORE if output.width == 1 else Readout.CHANNEL,
        channel=channel,
        relation=clause.relation,
        threshold=clause.threshold,
    )


def _probability(clause: WhenScore | WhenProbability, q: Fraction, output: GraphOutput, channel: int) -> Decided:
    """``logistic(score) RELATION q`` is ``score RELATION logit(q)``: the logistic function increases."""
    low, high = logit(q)
    return Decided(
        scores=take(output.scores, np.array([channel])),
        rule=_threshold(clause, low, high),
        output=output.name,
        readout=Readout.CHANNEL,
        channel=channel,
        relation=clause.relation,
        threshold=q,
    )


def _when_class(clause: WhenClass, graph: ImportedGraph) -> Decided:
    output = _of_kind(graph, OutputKind.LABEL, 2)
    for kind in (OutputKind.SIGMOID, OutputKind.PROBABILITY, OutputKind.SCORE):
        output = output or _of_kind(graph, kind, 2)
    if output is None:
        raise DiagnosticError(_no_output("the file does not choose between two classes", graph, clause.span))
    named = all(isinstance(label, int) for label in output.labels) and bool(output.labels)
    classes = [int(label) for label in output.labels] if named else [0, 1]
    if clause.index not in classes:
        raise DiagnosticError(
            errors.decision_does_not_fit(
                f"the file has no class {clause.index}",
                f"its classes are {classes[0]} and {classes[1]}",
                f"write `class = {classes[0]}` or `class = {classes[1]}`",
                clause.span,
            )
        )
    position = classes.index(clause.index)
    labels = output.labels or (0, 1)
    mine, other = labels[position], labels[1 - position]
    second = Relation.GE if output.ties_last else Relation.GT
    relation = second if position == 1 else second.negated
    return Decided(
        scores=_difference(output.scores, graph),
        rule=ByThreshold(
            relation=relation,
            low=Fraction(0),
            high=Fraction(0),
            granted=clause.outcome,
            otherwise=1 - clause.outcome,
        ),
        output=output.name,
        readout=_class_readout(output),
        relation=relation,
        threshold=Fraction(0),
        labels=(other, mine) if clause.outcome == 1 else (mine, other),
    )


def _highest(clause: Highest, outcomes: tuple[str, ...], graph: ImportedGraph) -> Decided:
    count = len(outcomes)
    output = _of_kind(graph, OutputKind.LABEL, count)
    for kind in (OutputKind.SCORE, OutputKind.SOFTMAX, OutputKind.SIGMOID, OutputKind.PROBABILITY):
        output = output or _of_kind(graph, kind, count)
    if output is None or count < 2:
        title = f"the highest of {count} scores needs a file with {count} scores"
        raise DiagnosticError(_no_output(title, graph, clause.span))
    if count > 2:
        readout = Readout.LABEL if output.kind is OutputKind.LABEL else Readout.HIGHEST
        return Decided(
            scores=output.scores,
            rule=ByHighest(),
            output=output.name,
            readout=readout,
            labels=output.labels,
        )
    above = Relation.GE if output.ties_last else Relation.GT  # a tie goes to outcome 0, unless the file says 1
    return Decided(
        scores=_difference(output.scores, graph),
        rule=ByThreshold(relation=above, low=Fraction(0), high=Fraction(0), granted=1, otherwise=0),
        output=output.name,
        readout=_class_readout(output),
        relation=above,
        threshold=Fraction(0),
        labels=output.labels,
    )


def _class_readout(output: GraphOutput) -> Readout:
    """How two classes are read: raw scores as their difference, probabilities by the higher one."""
    match output.kind:
        case OutputKind.LABEL:
            return Readout.LABEL
        case OutputKind.SCORE:
            return Readout.DIFFERENCE
        case OutputKind.SIGMOID | OutputKind.SOFTMAX | OutputKind.PROBABILITY:
            return Readout.HIGHEST


def _difference(scores: Affine, graph: ImportedGraph) -> Affine:
    """The second score minus the first."""
    first, second = take(scores, np.array([0])), take(scores, np.array([1]))
    return add(second, scale(first, np.array([-1.0])), graph.basis)


def _threshold(clause: WhenScore | WhenProbability, low: Fraction, high: Fraction) -> ByThreshold:
    return ByThreshold(
        relation=clause.relation, low=low, high=high, granted=clause.outcome, otherwise=1 - clause.outcome
    )


def _of_kind(graph: ImportedGraph, kind: OutputKind, width: int) -> GraphOutput | None:
    return next((o for o in graph.outputs if o.kind is kind and o.width == width), None)


def _single(graph: ImportedGraph, kind: OutputKind) -> GraphOutput | None:
    return _of_kind(graph, kind, 1)


def _no_rule(declaration: ModelDeclaration, graph: ImportedGraph, span: Span) -> Diagnostic:
    """The spec names no decision, as for a document of rules, and the file has scores."""
    when = f"`{declaration.outcomes[-1]} when score > 0`"
    return errors.decision_does_not_fit(
        "the file has scores, and no rule says which outcome they lead to",
        "no document of rules",
        f"write for instance {when}, or `decide by highest score`, or use a document of rules",
        span,
        [f"output `{o.name}`: {_kind_in_words(o)}" for o in graph.outputs],
    )


def _no_output(title: str, graph: ImportedGraph, span: Span) -> Diagnostic:
    notes = [f"output `{o.name}`: {_kind_in_words(o)}" for o in graph.outputs]
    remedies = dict.fromkeys(_remedy(output) for output in graph.outputs)
    return errors.decision_does_not_fit(
        title, "needs another output than the file has", "write " + ", or ".join(remedies), span, notes
    )


def _kind_in_words(output: GraphOutput) -> str:
    plural = "" if output.width == 1 else "s"
    match output.kind:
        case OutputKind.SCORE:
            return f"{output.width} raw score{plural}"
        case OutputKind.SIGMOID | OutputKind.PROBABILITY:
            return f"{output.width} probabilit{'y' if output.width == 1 else 'ies'}"
        case OutputKind.SOFTMAX:
            return f"{output.width} probabilities that sum to 1"
        case OutputKind.LABEL:
            return "the class, one of " + ", ".join(str(label) for label in output.labels)


def _remedy(output: GraphOutput) -> str:
    """The clause that fits an output."""
    if output.width == 1:
        return "`when score > 0`" if output.kind is OutputKind.SCORE else "`when probability >= 0.5`"
    if output.kind is OutputKind.LABEL and output.width == 2:
        return f"`when class = {output.labels[1] if isinstance(output.labels[1], int) else 1}`"
    if output.width == 2 and output.kind in (OutputKind.SIGMOID, OutputKind.PROBABILITY):
        return "`when probability >= 0.5`"
    return f"`decide by highest score` with {output.width} outcomes"
