"""Linear models as JSON documents, read with exact decimals.

The document is an object::

    {"features": ["age", "income"], "coefficients": [0.5, -1.25], "intercept": 2}

``features`` is optional: with it, coefficients are bound to the attributes (or ``column`` headers) of those
names; without it, to the attributes in the order of the domain, or to what ``reads`` lists. A model with
several scores has one row of coefficients a score and a list of intercepts. scikit-learn's spellings
``coef_``, ``intercept_`` and ``feature_names_in_`` are read as well. A number is the decimal that is
written: ``0.1`` is 1/10, not the float nearest to it; a missing intercept is 0. Any other key is an error: a
document with a ``bias`` or a ``threshold`` that nobody reads would be another model. Numbers that decimals cannot say
are texts, ``"1/3"``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from hashlib import sha256
from typing import Any, ClassVar

import numpy as np

from fairdsl.codec import MisfitError, decode, source_of
from fairdsl.diagnostics import DiagnosticError
from fairdsl.models import errors, exact
from fairdsl.models.basis import Affine, Basis, add, apply
from fairdsl.models.graph import GraphInput, GraphOutput, ImportedGraph, OutputKind
from fairdsl.source import Span
from fairdsl.source.reading import content_of

#: One score, or a list of scores.
_Rows = tuple[Fraction | tuple[Fraction, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Linear:
    """The document as it is written; of the spellings of one thing only one may be there."""

    CALLED_ELSEWHERE: ClassVar[Mapping[str, str]] = {
        "bias": "intercept",
        "b": "intercept",
        "offset": "intercept",
        "constant": "intercept",
        "weights": "coefficients",
        "coefs": "coefficients",
        "w": "coefficients",
        "feature_names": "features",
        "columns": "features",
        "names": "features",
    }

    features: tuple[str, ...] | None = None
    feature_names_in_: tuple[str, ...] | None = None
    coefficients: _Rows | None = None
    coef_: _Rows | None = None
    intercept: Fraction | tuple[Fraction, ...] | None = None
    intercept_: Fraction | tuple[Fraction, ...] | None = None
    intercepts: Fraction | tuple[Fraction, ...] | None = None

    def __post_init__(self) -> None:
        said = "; ".join(self._mistakes())
        if said:
            raise ValueError(said)

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names of the features, where it has any."""
        names: tuple[str, ...] | None = self._given("feature")
        return names

    @property
    def rows(self) -> tuple[tuple[Fraction, ...], ...]:
        """The coefficients: one row a score."""
        rows: _Rows = self._given("coef") or ()
        if not any(isinstance(row, tuple) for row in rows):
            rows = (rows,)  # type: ignore[assignment]
        return tuple(row if isinstance(row, tuple) else () for row in rows)

    @property
    def offsets(self) -> tuple[Fraction, ...]:
        """One intercept a score."""
        given = self._given("intercept")
        if given is None:
            return (Fraction(0),) * len(self.rows)
        return given if isinstance(given, tuple) else (given,)

    def _given(self, begins: str) -> Any:
        return next((getattr(self, name) for name in self._spelled(begins)), None)

    def _spelled(self, begins: str) -> list[str]:
        """The keys that are there, of those that mean one thing."""
        names = (field.name for field in fields(self) if field.name.startswith(begins))
        return [name for name in names if getattr(self, name) is not None]

    def _mistakes(self) -> Iterator[str]:
        for begins in ("feature", "coef", "intercept"):
            both = self._spelled(begins)
            if len(both) > 1:
                yield f"it has both `{both[0]}` and `{both[1]}`"
        if not self._given("coef"):
            yield "it has no list of `coefficients`"
            return
        rows, offsets, names = self.rows, self.offsets, self.names
        if len({len(row) for row in rows}) != 1 or not rows[0]:
            yield "its rows of `coefficients` have different lengths, or none"
        elif names is not None and len(names) != len(rows[0]):
            yield f"it names {len(names)} features for {len(rows[0])} coefficients"
        if len(offsets) != len(rows):
            intercepts = "one intercept" if len(offsets) == 1 else f"{len(offsets)} intercepts"
            yield f"it has {intercepts} for {len(rows)} rows of coefficients"
        if names is not None and len(set(names)) != len(names):
            yield "`features` names a feature twice"


def read_linear(path: str, span: Span | None) -> ImportedGraph:
    """Read the document; raises DiagnosticError. ``span`` is where the spec names it."""
    try:
        content = content_of(path)
    except OSError as problem:
        raise DiagnosticError(errors.cannot_open(path, problem.strerror or str(problem), span)) from problem
    try:
        document = decode(_Linear, source_of(content, path), decimals=True)
    except MisfitError as misfit:
        raise DiagnosticError(errors.linear_document(path, misfit.said, misfit.span, span)) from misfit
    return affine_graph(path, sha256(content).hexdigest(), document.rows, document.offsets, document.names)


def affine_graph(
    path: str,
    digest: str,
    coefficients: Sequence[Sequence[Fraction]],
    intercepts: Sequence[Fraction],
    features: tuple[str, ...] | None = None,
) -> ImportedGraph:
    """A graph of one affine map: as many scores as there are rows."""
    basis = Basis()
    width = len(coefficients[0])
    read = basis.input((width,))
    rows = np.empty((len(coefficients), width), dtype=object)
    for position, row in enumerate(coefficients):
        rows[position] = row
    offset = np.empty(len(intercepts), dtype=object)
    offset[:] = list(intercepts)
    product = apply(exact.from_rationals(rows), read, (len(intercepts),), basis)
    scores = add(product, Affine.constant(exact.from_rationals(offset)), basis)
    return ImportedGraph(
        path=path,
        sha256=digest,
        inputs=(GraphInput(name="features", width=width, dtype="float64"),),
        basis=basis,
        outputs=(GraphOutput(name="score", kind=OutputKind.SCORE, scores=scores),),
        runnable=False,
        feature_names=features,
    )
