"""The rows of tables at hand: those whom an audit is about, on whom file and reading have to agree as well."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.domain import Domain
from fairdsl.ir.exact_rows import ExactRows
from fairdsl.ir.model import Model
from fairdsl.models.confirm.compare import Difference
from fairdsl.models.confirm.errors import misread
from fairdsl.models.confirm.individuals import spread
from fairdsl.models.float32.decision import rounding_decides
from fairdsl.models.runtime import Runtime
from fairdsl.numerics.evaluate import BatchEvaluator
from fairdsl.numerics.exact import UNDECIDED

__all__ = ["confirm_rows"]

#: So many rows of a table, evenly spread, are tried.
_ROWS = 256
#: Where no bound of the file's rounding is known: this part of the largest score.
_TOLERATED = 1e-4


def confirm_rows(model: Model, domain: Domain, rows: ExactRows) -> None:
    """Hold a reading against its file on rows [n, attributes] of a table, each run alone.

    Raises DiagnosticError (E0519) where the two decide differently and no rounding explains it. Models without a file
    that was read have nothing to hold.
    """
    if model.deployed is None or model.reading is None or not len(rows):
        return
    points = rows.at(spread(len(rows), _ROWS)).distinct()[0]
    evaluator = BatchEvaluator(model)
    exact = evaluator.settled(points).decisions
    file = np.array(Runtime(model.deployed, model.span).decide(points.points()), dtype=np.int64)
    differing = np.flatnonzero((exact != file) & (exact != UNDECIDED))
    for row in differing[~_explained(evaluator, points.at(differing))][:1].tolist():
        outcomes = model.outcomes[file[row]], model.outcomes[exact[row]]
        who = domain.show(points.at(slice(row, row + 1)).points()[0])
        raise DiagnosticError(misread(model.deployed.path, who, Difference(row, None, 0, *outcomes), None, model.span))


def _explained(evaluator: BatchEvaluator, points: ExactRows) -> NDArray[np.bool_]:
    """Whom rounding may decide otherwise than exact arithmetic, [n]."""
    if not len(points):
        return np.zeros(0, dtype=np.bool_)
    known = rounding_decides(evaluator.model, points.points())
    if known is not None:
        return known
    scores = evaluator.approximate(points.floats)
    return np.asarray(evaluator.margins(scores) <= _TOLERATED * (1 + np.abs(scores).max(axis=1, initial=0.0)))
