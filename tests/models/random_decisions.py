"""What a random graph decides, by the model that is loaded of it and by the deployed file."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.declaration import DecisionClause, Highest, WhenProbability, WhenScore
from fairdsl.ir.domain import Integer
from fairdsl.ir.expr import Relation
from fairdsl.ir.model import ByHighest, ByThreshold, Model
from fairdsl.models import load_model
from fairdsl.models.graph import ImportedGraph
from fairdsl.models.running.runtime import Runtime
from fairdsl.numerics.evaluate import BatchEvaluator, points_of
from fairdsl.numerics.exact import UNDECIDED, decision
from tests.models.graph_values import BAND
from tests.models.model_files import SPAN, declaration, domain

OUTCOMES = ("a", "b", "c", "d")


def clauses(graph: ImportedGraph) -> Iterator[tuple[DecisionClause, tuple[str, ...]]]:
    """Rules that fit some output of the graph."""
    widths = {output.width for output in graph.outputs}
    for width in sorted(widths & {2, 3, 4}):
        yield Highest(span=SPAN), OUTCOMES[:width]
    if widths & {1, 2}:
        limit = Fraction(1, 2)
        yield WhenScore(outcome=1, relation=Relation.GT, threshold=limit, span=SPAN), OUTCOMES[:2]
        yield WhenProbability(outcome=1, relation=Relation.GE, threshold=limit, span=SPAN), OUTCOMES[:2]


def wrong_decision(path: str, graph: ImportedGraph, seed: int) -> str | None:
    """An individual whom the loaded model and the file decide differently, far from any threshold."""
    people = domain(*(f"x{i}" for i in range(graph.width)), kind=Integer(low=-4, high=4))
    rows = np.random.default_rng(seed).integers(-4, 5, (8, graph.width)).astype(np.float64)
    for clause, outcomes in clauses(graph):
        try:
            model = load_model(declaration(path, clause, outcomes=outcomes), people)
        except DiagnosticError as problem:
            misread = [one for one in problem.diagnostics if one.code == "E0519"]
            if misread:
                return f"a right reading is refused: {misread[0].primary} {misread[0].notes}"
            continue
        found = _differing(model, rows)
        if found is not None:
            return f"{type(clause).__name__} of {len(outcomes)}: {found}"
    return None


def _differing(model: Model, rows: np.ndarray) -> str | None:
    evaluator = BatchEvaluator(model)
    exact = evaluator.settled(rows).decisions
    clear = _margins(model, evaluator.approximate(rows)) > BAND
    assert model.deployed is not None
    runtime = Runtime(model.deployed)
    points = points_of(rows)
    alone_exactly = [decision(model, point) for point in points[:2]]
    assert [UNDECIDED if found is None else found for found in alone_exactly] == exact[:2].tolist()
    try:
        alone = np.array(runtime.decide(points))
    except DiagnosticError:
        return None  # onnxruntime cannot run the file
    apart = np.flatnonzero((alone != exact) & clear)
    return f"{rows[apart[0]]}: {exact[apart[0]]} read, {alone[apart[0]]} given" if apart.size else None


def _margins(model: Model, scores: np.ndarray) -> np.ndarray:
    """How far the scores of each individual are from another decision, relative to their size."""
    size = 1 + np.abs(scores).max(axis=1)
    match model.rule:
        case ByThreshold(low=low, high=high):
            return np.minimum(np.abs(scores[:, 0] - float(low)), np.abs(scores[:, 0] - float(high))) / size
        case ByHighest():
            ordered = np.sort(scores, axis=1)
            return (ordered[:, -1] - ordered[:, -2]) / size
        case _:
            raise TypeError("an ONNX file has no other rules")
