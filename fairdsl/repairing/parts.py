"""The rows of a table in three parts: to train on, to choose by, and to report on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairdsl.diagnostics import DiagnosticError
from fairdsl.repairing import errors
from fairdsl.repairing.subject import Rows, Trainee

#: One row in so many is for choosing, and as many for the report; each of the two has so many rows at least.
_PART, _LEAST = 5, 10


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Some rows of a table, and their ``places`` in it."""

    rows: Rows
    places: NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The rows to train on, to choose by, and to report on."""

    fit: Part
    choose: Part
    report: Part


def divided(path: str, subject: Trainee, rows: Rows, seed: int) -> Parts:
    """Three parts of the rows at random; raises DiagnosticError (E0593) where they say too little."""
    order = np.random.default_rng(seed).permutation(len(rows))
    part = len(rows) // _PART
    fit, choose, report = (
        Part(rows.at(places), places) for places in (order[2 * part :], order[:part], order[part : 2 * part])
    )
    outcomes = subject.declaration.outcomes
    counts = np.bincount(fit.rows.outcomes, minlength=len(outcomes))
    listed = [f"{name}: {count:,} rows to train on" for name, count in zip(outcomes, counts.tolist(), strict=True)]
    if part < _LEAST:
        reason = f"it has {len(rows):,}; a fifth of them chooses and a fifth reports, at least {_LEAST} each"
        raise DiagnosticError(errors.rows_too_few(path, reason, ()))
    if np.count_nonzero(counts) < 2:
        reason = "there is nothing to learn from rows with one outcome"
        raise DiagnosticError(errors.rows_too_few(path, reason, listed))
    return Parts(fit=fit, choose=choose, report=report)
