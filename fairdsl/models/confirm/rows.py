"""The rows of tables at hand: those whom an audit is about, on whom file and reading have to agree as well."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.domain import Domain, Real
from fairdsl.ir.exact_rows import ExactRows
from fairdsl.ir.model import Model
from fairdsl.models.confirm.compare import Difference
from fairdsl.models.confirm.errors import misread
from fairdsl.models.confirm.individuals import spread
from fairdsl.models.float32.decision import rounding_decides
from fairdsl.models.running.runtime import Runtime
from fairdsl.numerics.evaluate import BatchEvaluator
from fairdsl.numerics.exact import UNDECIDED

#: So many rows of a table, evenly spread, are tried.
_ROWS = 256
#: Where no bound of the file's rounding is known: this part of the largest score.
_TOLERATED = 1e-4
#: And this part of a number, as far as scaling it may round.
_OFF = 4e-6


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
    for row in differing[~_explained(evaluator, domain, points.at(differing), file[differing])][:1].tolist():
        outcomes = model.outcomes[file[row]], model.outcomes[exact[row]]
        who = domain.show(points.at(slice(row, row + 1)).points()[0])
        raise DiagnosticError(misread(model.deployed.path, who, Difference(row, None, 0, *outcomes), None, model.span))


def _explained(
    evaluator: BatchEvaluator, domain: Domain, points: ExactRows, file: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Whom rounding may decide otherwise than exact arithmetic, namely as ``file`` does, [n]."""
    if not len(points):
        return np.zeros(0, dtype=np.bool_)
    known = rounding_decides(evaluator.model, points.points())
    if known is not None:
        return known
    scores = evaluator.approximate(points.floats)
    close = evaluator.margins(scores) <= _TOLERATED * (1 + np.abs(scores).max(axis=1, initial=0.0))
    for rows in _next_to(domain, points.floats):
        close |= evaluator.settled(rows).decisions == file
    return np.asarray(close, dtype=np.bool_)


def _next_to(domain: Domain, rows: NDArray[np.float64]) -> Iterator[NDArray[np.float64]]:
    """The rows as float32 numbers, and with one number a little off: some who are on a border are beyond it then."""
    fed = rows.astype(np.float32).astype(np.float64)
    yield fed
    for place, attribute in enumerate(domain.attributes):
        if not isinstance(attribute.type, Real):
            continue
        there = rows[:, place] != (None if attribute.missing is None else float(attribute.missing))
        for step in (-_OFF, _OFF):
            moved = fed.copy()
            moved[there, place] *= 1 + step
            yield moved
