"""How sure a model is: whether its scores are the logits of probabilities.

A sigmoid or softmax at the output of a file says so, and a rule with `probability` says it of a raw score. Several
raw scores are taken as the logits of a softmax, as classifiers are trained; that is an assumption, and marked as
one. There are no logits in a single raw score that is compared with a number, in a rule over attributes, in a file
that gives the class alone, in probabilities that do not sum to 1, and in those that no curve has made (votes).
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from fairdsl.ir.declaration import ByAnswer, ByRules, DecisionClause, Highest, WhenClass, WhenProbability, WhenScore
from fairdsl.ir.model import Logits
from fairdsl.models import exact
from fairdsl.models.basis import Affine, Basis, add, dense, scale, take
from fairdsl.models.decide import Decided
from fairdsl.models.graph import GraphOutput, ImportedGraph, OutputKind

_HALF = Fraction(1, 2)


def logits_of(clause: DecisionClause, graph: ImportedGraph, decided: Decided) -> Logits | None:
    """What makes probabilities of the scores that decide; None where nothing does."""
    output = next(output for output in graph.outputs if output.name == decided.output)
    match clause:
        case WhenProbability():
            return Logits() if output.kind in (OutputKind.SIGMOID, OutputKind.SCORE) else None
        case WhenScore():
            return Logits() if output.kind is OutputKind.SIGMOID else None
        case WhenClass() | Highest() | ByAnswer():
            return _of_classes(output, graph, decided.scores)
        case ByRules():
            return None


def _of_classes(output: GraphOutput, graph: ImportedGraph, scores: Affine) -> Logits | None:
    """Of two classes ``scores`` is one difference, of three and more a score each."""
    if output.kind is not OutputKind.LABEL:
        return _read(output, scores, graph.basis)
    # A label says nothing about probabilities; an output beside it may, if it chooses by the same scores.
    others = (other for other in graph.outputs if other.kind is not OutputKind.LABEL and other.width == output.width)
    return next((found for other in others if (found := _read(other, scores, graph.basis)) is not None), None)


def _read(output: GraphOutput, scores: Affine, basis: Basis) -> Logits | None:
    """What an output says about the scores that decide."""
    match output.kind:
        case OutputKind.SOFTMAX | OutputKind.LOG_SOFTMAX:
            return _scaled(_of_output(output, basis), scores, basis, assumed=False)
        case OutputKind.SCORE:
            return _scaled(_of_output(output, basis), scores, basis, assumed=True)
        case OutputKind.SIGMOID if output.width == 2:
            first, second = (take(output.scores, np.array([column])) for column in (0, 1))
            complementary = _vanishes(add(first, second, basis), basis)
            return _scaled(second, scores, basis, assumed=False) if complementary else None
        case _:
            return None


def _of_output(output: GraphOutput, basis: Basis) -> Affine:
    """The logits of an output, as the decision reads them: of two the difference."""
    if output.width != 2:
        return output.scores
    first, second = (take(output.scores, np.array([column])) for column in (0, 1))
    return add(second, scale(first, np.array([-1.0])), basis)


def _scaled(logits: Affine, scores: Affine, basis: Basis, *, assumed: bool) -> Logits | None:
    """The factor, 1 or 1/2, between the scores and the logits; None where they are other numbers."""
    for factor in (Fraction(1), _HALF):
        multiple = scale(scores, np.full(scores.size, -float(factor)))
        if _vanishes(add(_flat(logits), _flat(multiple), basis), basis):
            return Logits(scale=factor, assumed=assumed)
    return None


def _flat(value: Affine) -> Affine:
    return Affine((value.size,), value.parts, value.bias)


def _vanishes(value: Affine, basis: Basis) -> bool:
    """Whether every element is 0 whatever the units are."""
    return exact.is_zero(value.bias) and all(
        exact.is_zero(dense(part, basis.width(block))) for block, part in value.parts.items()
    )
