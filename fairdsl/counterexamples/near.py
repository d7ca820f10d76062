"""The rows that a search shall stay near to: a CSV file, or the data of a distribution that the spec declares."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.search import Near
from fairdsl.counterexamples.errors import nothing_near
from fairdsl.counterexamples.table import nine_digits
from fairdsl.data.errors import not_the_pinned_data
from fairdsl.data.table import TableInside, read_inside
from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.domain import Domain
from fairdsl.semantics import CheckedSpec
from fairdsl.semantics.checked import CheckedDistribution

#: Kinds of distributions whose file is a table of rows.
_OF_ROWS = ("empirical", "independent", "learned", "fitted")


@dataclass(frozen=True, slots=True, kw_only=True)
class NearSummary:
    """How near a search stayed to given rows."""

    #: The file that they are from.
    path: str
    #: Rows that lie in the domain.
    rows: int
    #: Rows with a cell that is not a value of its attribute; they play no part.
    outside: int
    #: Rows that ``where`` bars; they play no part either.
    excluded: int
    #: Pairs that share all with a row.
    at_rows: int
    #: The middle of the distances of the pairs from the nearest row; None: no pairs.
    median: float | None
    #: The greatest of them.
    greatest: float | None

    @classmethod
    def of(cls, table: TableInside, near: Near) -> NearSummary:
        """What to say of a table and of the pairs that were found."""
        distances: NDArray[np.float64] = near.distances
        return cls(
            path=table.path,
            rows=len(table.values),
            outside=table.outside,
            excluded=table.excluded,
            at_rows=int((distances == 0).sum()),
            median=nine_digits(float(np.median(distances))) if len(distances) else None,
            greatest=nine_digits(float(distances.max())) if len(distances) else None,
        )


def rows_near(spec: CheckedSpec, near: str, data: Mapping[str, str], domain: Domain) -> TableInside:
    """The rows of a distribution of the name ``near``, or else of the file at that path.

    ``data`` are files that replace those of distributions. DiagnosticError where there is no such table (E0530, E0531,
    E0534, E0635).
    """
    distribution = spec.distributions.get(near)
    if distribution is None:
        if not Path(near).exists() and near.isidentifier():
            raise DiagnosticError(nothing_near(near, "there is no file and no distribution of that name"))
        table = read_inside(near, domain)
    else:
        table = _of_distribution(distribution, data.get(near), domain)
    if not len(table.values):
        rows = table.outside + table.excluded
        raise DiagnosticError(nothing_near(near, f"none of its {rows:,} rows lies in the domain"))
    return table


def _of_distribution(distribution: CheckedDistribution, instead: str | None, domain: Domain) -> TableInside:
    source = distribution.source
    if source is None or distribution.kind not in _OF_ROWS:
        raise DiagnosticError(nothing_near(distribution.name, "it is a distribution without rows"))
    if distribution.domain != domain:
        reason = f"its rows are of `{distribution.domain.name}`, and the property is about `{domain.name}`"
        raise DiagnosticError(nothing_near(distribution.name, reason))
    table = read_inside(instead or source.path, domain)
    if source.sha256 is not None and source.sha256.lower() != table.sha256:
        span = source.digest_span or source.span
        raise DiagnosticError(not_the_pinned_data(table.path, source.sha256, table.sha256, span))
    return table
