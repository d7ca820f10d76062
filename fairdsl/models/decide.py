"""The decision clause of the spec, applied to what the file outputs.

A clause chooses an output of the file, the affine score that decides in real arithmetic, the rule over that
score, and how the deployed file's own numbers are read.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import assert_never

import numpy as np

from fairdsl.diagnostics import Diagnostic, DiagnosticError
from fairdsl.ir.declaration import (
    ByAnswer,
    ByRules,
    Highest,
    Label,
    ModelDeclaration,
    WhenClass,
    WhenProbability,
    WhenScore,
)
from fairdsl.ir.domain import show_number
from fairdsl.ir.expr import Relation
from fairdsl.ir.model import ByHighest, ByThreshold, DecisionRule, Readout
from fairdsl.models import errors
from fairdsl.models.basis import Affine, add, scale, take
from fairdsl.models.classes.columns import classes_of, rising_class
from fairdsl.models.classes.known import Classes
from fairdsl.models.classes.labels import check_high, column_of, places_of, single_probability
from fairdsl.models.graph import GraphOutput, ImportedGraph, OutputKind
from fairdsl.models.logit import logit
from fairdsl.models.no_output import no_output, no_rule


@dataclass(frozen=True, kw_only=True, eq=False)
class Decided:
    """The scores that decide, the rule over them, and the readout of the deployed file.

    ``classes`` are the names of the output's columns, or its labels, by position. ``order``: of three outcomes and
    more, which one each score is of, for ties go to the file's first class; None: the declaration's order.
    """

    scores: Affine
    rule: DecisionRule
    output: str
    readout: Readout
    channel: int = 0
    relation: Relation | None = None
    threshold: Fraction | None = None
    labels: tuple[Label, ...] = ()
    classes: tuple[Label, ...] = ()
    order: tuple[int, ...] | None = None


def decide(declaration: ModelDeclaration, graph: ImportedGraph, warn: Callable[[Diagnostic], None]) -> Decided:
    """Apply the declaration's clause; raises DiagnosticError where the file has no output that fits."""
    clause, count = declaration.decision, len(declaration.outcomes)
    if isinstance(clause, WhenScore | WhenProbability) and count != 2:
        raise DiagnosticError(
            errors.decision_does_not_fit(
                f"one condition cannot choose among {count} outcomes",
                "says when one outcome is given, and not which of the others",
                "write `decide by highest score`",
                clause.span,
            )
        )
    match clause:
        case WhenScore():
            return _when_score(declaration, clause, graph)
        case WhenProbability():
            return _when_probability(declaration, clause, graph, warn)
        case WhenClass() | Highest() | ByAnswer():
            return _by_class(declaration, clause, graph)
        case ByRules():
            raise DiagnosticError(no_rule(declaration, graph, clause.span))
        case _:
            assert_never(clause)


def _when_score(declaration: ModelDeclaration, clause: WhenScore, graph: ImportedGraph) -> Decided:
    output = _single(graph, OutputKind.SCORE) or _single(graph, OutputKind.PROBABILITY)
    if output is not None:
        _check_rising(declaration, clause, graph, output)
        return _as_it_is(clause, output, 0)
    output = _single(graph, OutputKind.SIGMOID)
    if output is None:
        raise DiagnosticError(no_output("the file has no single score to compare", declaration, graph, clause.span))
    _check_rising(declaration, clause, graph, output)
    if not 0 < clause.threshold < 1:
        condition = f"score {clause.relation.value} {show_number(clause.threshold)}"
        always = clause.relation.compares(Fraction(1, 2), clause.threshold)
        raise DiagnosticError(errors.threshold_trivial(condition, always, _within(clause), clause.span))
    return _probability(clause, clause.threshold, output, 0)


def _within(clause: WhenScore) -> str:
    """What to write in place of a threshold that no probability passes, or every one."""
    if clause.threshold == 0:  # of a logit
        return f"write `probability {clause.relation.value} 0.5`, or the threshold that the decision is really made by"
    return "write the threshold that the decision is really made by, a probability between 0 and 1"


def _when_probability(
    declaration: ModelDeclaration, clause: WhenProbability, graph: ImportedGraph, warn: Callable[[Diagnostic], None]
) -> Decided:
    single = _single(graph, OutputKind.SIGMOID)
    if single is not None:
        _check_rising(declaration, clause, graph, single)
        return _probability(clause, clause.threshold, single, 0)
    pair = _of_kind(graph, OutputKind.SIGMOID, 2) or _of_kind(graph, OutputKind.PROBABILITY, 2)
    if pair is not None:
        classes = classes_of(graph, pair)
        column = column_of(declaration, clause, classes)
        compare = _as_it_is(clause, pair, column)
        if pair.kind is OutputKind.SIGMOID:
            compare = _probability(clause, clause.threshold, pair, column)
        return replace(compare, classes=classes.labels if classes.named else ())
    share = _single(graph, OutputKind.PROBABILITY)
    if share is not None:
        _check_rising(declaration, clause, graph, share)
        return _as_it_is(clause, share, 0)
    raw = _single(graph, OutputKind.SCORE)
    if raw is None:
        title = "the file has no probability of this outcome"
        raise DiagnosticError(no_output(title, declaration, graph, clause.span))
    _check_rising(declaration, clause, graph, raw)
    warn(errors.logistic_assumed(graph.path, raw.name if graph.runnable else "", clause))
    low, high = logit(clause.threshold)
    return Decided(
        scores=raw.scores,
        rule=_threshold(clause, low, high),
        output=raw.name,
        readout=Readout.SCORE,
        relation=clause.relation,
        threshold=(low + high) / 2,
    )


def _check_rising(
    declaration: ModelDeclaration, clause: WhenScore | WhenProbability, graph: ImportedGraph, output: GraphOutput
) -> None:
    """Check a threshold of the file's one number against the label beside it, if there is one."""
    label = rising_class(graph, output)
    if label is not None:
        check_high(declaration, clause, Classes(output.name, (label,)))
    elif isinstance(clause, WhenProbability):
        single_probability(declaration, clause, output.name)


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


#: Where the class comes from, if the file has no label: a column each, of these kinds, the first of them that fits.
_COLUMNS = (OutputKind.SIGMOID, OutputKind.PROBABILITY, OutputKind.SCORE, OutputKind.SOFTMAX, OutputKind.LOG_SOFTMAX)
_SCORES = (OutputKind.SCORE, OutputKind.SOFTMAX, OutputKind.LOG_SOFTMAX, OutputKind.SIGMOID, OutputKind.PROBABILITY)


def _by_class(declaration: ModelDeclaration, clause: WhenClass | Highest | ByAnswer, graph: ImportedGraph) -> Decided:
    """The class that the file gives, or whose column is the highest."""
    count = len(declaration.outcomes)
    output = _of_kind(graph, OutputKind.LABEL, count)
    output = output or next((o for o in graph.outputs if o.kind is OutputKind.LABEL), None)
    for kind in _SCORES if isinstance(clause, Highest) else _COLUMNS:
        output = output or _of_kind(graph, kind, count)
    if output is None or count < 2:
        if isinstance(clause, ByAnswer):
            raise DiagnosticError(no_rule(declaration, graph, clause.span))
        title = (
            f"the highest of {count} scores needs a file with {count} scores"
            if isinstance(clause, Highest)
            else f"the file does not choose among {count} classes"
        )
        raise DiagnosticError(no_output(title, declaration, graph, clause.span))
    classes = classes_of(graph, output)
    places = places_of(declaration, classes)
    known = classes.labels if classes.named else ()
    if count == 2:
        granted = clause.classes[0].outcome if isinstance(clause, WhenClass) else 1
        return replace(_of_two(graph, output, places, granted), classes=known)
    return Decided(
        scores=output.scores,
        rule=ByHighest(),
        output=output.name,
        readout=Readout.LABEL if output.kind is OutputKind.LABEL else Readout.HIGHEST,
        labels=output.labels if output.kind is OutputKind.LABEL else (),
        classes=known,
        order=None if places == tuple(range(count)) else tuple(places.index(place) for place in range(count)),
    )


def _of_two(graph: ImportedGraph, output: GraphOutput, places: tuple[int, ...], granted: int) -> Decided:
    """Two classes as one difference: the second class where it is above 0, or where it is not below."""
    above = Relation.GE if output.ties_last else Relation.GT  # a tie goes to the first class, unless the file says so
    relation = above if places[granted] == 1 else above.negated
    labels = tuple(output.labels[place] for place in places) if output.kind is OutputKind.LABEL else places
    return Decided(
        scores=_difference(output.scores, graph),
        rule=ByThreshold(relation=relation, low=Fraction(0), high=Fraction(0), granted=granted, otherwise=1 - granted),
        output=output.name,
        readout=_class_readout(output),
        relation=relation,
        threshold=Fraction(0),
        labels=labels,
    )


def _class_readout(output: GraphOutput) -> Readout:
    """How two classes are read: raw scores as their difference, probabilities by the higher one."""
    match output.kind:
        case OutputKind.LABEL:
            return Readout.LABEL
        case OutputKind.SCORE:
            return Readout.DIFFERENCE
        case OutputKind.SIGMOID | OutputKind.SOFTMAX | OutputKind.LOG_SOFTMAX | OutputKind.PROBABILITY:
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
