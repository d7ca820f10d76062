"""Linear models as JSON documents, read with exact decimals.

The document is an object::

    {"features": ["age", "income"], "coefficients": [0.5, -1.25], "intercept": 2}

``features`` is optional: with it, coefficients are bound to the attributes (or ``column`` headers) of those
names; without it, to the attributes in the order of the domain, or to what ``reads`` lists. A model with
several scores has one row of coefficients a score and a list of intercepts. scikit-learn's spellings
``coef_``, ``intercept_`` and ``feature_names_in_`` are read as well. A number is the decimal that is
written: ``0.1`` is 1/10, not the float nearest to it; a missing intercept is 0. Any other key is an error: a
document with a ``bias`` or a ``threshold`` that nobody reads would be another model.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from fairdsl.diagnostics import DiagnosticError, nearest
from fairdsl.models import errors, exact
from fairdsl.models.basis import Affine, Basis, add, apply
from fairdsl.models.graph import GraphInput, GraphOutput, ImportedGraph, OutputKind
from fairdsl.source import Span

__all__ = ["affine_graph", "read_linear"]

_ALIASES = {
    "features": ("features", "feature_names_in_"),
    "coefficients": ("coefficients", "coef_"),
    "intercept": ("intercept", "intercept_", "intercepts"),
}
#: What other programs call the same things.
_FOREIGN = {
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
#: Numbers beyond 10**300 (or below 10**-300) are refused: no float64 is near them.
_LARGEST_EXPONENT = 300


class _DocumentError(Exception):
    """Says what is wrong with the document, and what to write where that is more than the usual form."""

    def __init__(self, reason: str, remedy: str | None = None) -> None:
        super().__init__(reason)
        self.remedy = remedy


def read_linear(path: str, span: Span | None) -> ImportedGraph:
    """Read the document; raises DiagnosticError."""
    try:
        content = Path(path).read_bytes()
    except OSError as problem:
        raise DiagnosticError(errors.cannot_open(path, problem.strerror or str(problem), span)) from problem
    try:
        document = _parse(content)
        _check_keys(document)
        features = _features(document)
        coefficients, intercepts = _numbers(document)
        if features is not None and len(features) != len(coefficients[0]):
            raise _DocumentError(f"it names {len(features)} features for {len(coefficients[0])} coefficients")
    except _DocumentError as problem:
        raise DiagnosticError(errors.linear_document(path, str(problem), span, problem.remedy)) from problem
    return affine_graph(path, sha256(content).hexdigest(), coefficients, intercepts, features)


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


def _parse(content: bytes) -> dict[str, Any]:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        names = [name for name, _ in pairs]
        repeated = next((name for name in names if names.count(name) > 1), None)
        if repeated is not None:
            raise _DocumentError(f"`{repeated}` is given twice")
        return dict(pairs)

    try:
        document = json.loads(
            content.decode("utf-8-sig"),
            parse_float=Decimal,
            parse_int=Decimal,
            parse_constant=lambda text: Decimal(text),
            object_pairs_hook=unique,
        )
    except (ValueError, RecursionError) as problem:
        reason = f"it is not JSON: {problem}" if isinstance(problem, json.JSONDecodeError) else "it is not JSON"
        raise _DocumentError(reason) from problem
    if not isinstance(document, dict):
        raise _DocumentError("it is not an object `{...}`")
    return document


def _check_keys(document: dict[str, Any]) -> None:
    """Every key is one that is read: a `bias` that is passed over would change every score."""
    known = [alias for aliases in _ALIASES.values() for alias in aliases]
    unknown = next((key for key in document if key not in known), None)
    if unknown is None:
        return
    guess = _FOREIGN.get(unknown.casefold()) or nearest(unknown, known)
    did_you_mean = f"did you mean `{guess}`? " if guess else f"remove `{unknown}`, or make it part of the numbers; "
    listed = "keys that are read: " if guess else "the keys that are read are "
    raise _DocumentError(
        f"nothing reads its key `{unknown}`", did_you_mean + listed + ", ".join(f"`{key}`" for key in known)
    )


def _entry(document: dict[str, Any], name: str) -> Any:
    present = [alias for alias in _ALIASES[name] if alias in document]
    if len(present) > 1:
        raise _DocumentError(f"it has both `{present[0]}` and `{present[1]}`")
    return document[present[0]] if present else None


def _features(document: dict[str, Any]) -> tuple[str, ...] | None:
    names = _entry(document, "features")
    if names is None:
        return None
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise _DocumentError("`features` is not a list of names")
    if len(set(names)) != len(names):
        raise _DocumentError("`features` names a feature twice")
    return tuple(names)


def _numbers(document: dict[str, Any]) -> tuple[list[list[Fraction]], list[Fraction]]:
    rows = _entry(document, "coefficients")
    if not isinstance(rows, list) or not rows:
        raise _DocumentError("it has no list of `coefficients`")
    if not isinstance(rows[0], list):
        rows = [rows]
    coefficients = [_row(row) for row in rows]
    if len({len(row) for row in coefficients}) != 1 or not coefficients[0]:
        raise _DocumentError("its rows of `coefficients` have different lengths, or none")
    offsets = _entry(document, "intercept")
    if offsets is None:
        intercepts = [Fraction(0)] * len(coefficients)
    else:
        intercepts = _row(offsets if isinstance(offsets, list) else [offsets])
    if len(intercepts) == 1 < len(coefficients):
        raise _DocumentError(f"it has one intercept for {len(coefficients)} rows of coefficients")
    if len(intercepts) != len(coefficients):
        raise _DocumentError(f"it has {len(intercepts)} intercepts for {len(coefficients)} rows of coefficients")
    return coefficients, intercepts


def _row(values: Any) -> list[Fraction]:
    if not isinstance(values, list):
        raise _DocumentError("a row of `coefficients` is not a list")
    return [_number(value) for value in values]


def _number(value: Any) -> Fraction:
    if not isinstance(value, Decimal):
        raise _DocumentError(f"`{value}` is not a number")
    if not value.is_finite():
        raise _DocumentError(f"`{value}` is not a finite number")
    if value and abs(value.adjusted()) > _LARGEST_EXPONENT:
        raise _DocumentError(f"`{value:.3E}` is beyond the numbers that are read")
    return Fraction(value)
