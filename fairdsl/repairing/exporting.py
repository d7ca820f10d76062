"""From a fitted estimator to the model in its file.

Thresholds and weights become float32 on the way, so the file is not quite the estimator. Everything is measured on the
file; on rows that the estimator has not seen the two are compared, and a file that decides otherwise for more
than one row in a hundred is refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.model import Model
from fairdsl.models.evaluators import decided
from fairdsl.models.exporting import NotExportedError
from fairdsl.models.from_estimators import feature_names, onnx_of
from fairdsl.models.from_frameworks import writer_of
from fairdsl.repairing import errors
from fairdsl.repairing.estimators import Factory, predicted
from fairdsl.repairing.subject import Rows, Trainee
from fairdsl.source.writing import write_file

#: One row in so many may be decided otherwise by the file.
_TOLERATED = 100
#: Only HistGradientBoosting has its directions of missing values in what skl2onnx 1.20 writes.
_LOST = (
    "skl2onnx does not export where single trees and forests send missing values; put a `SimpleImputer` before them, "
    "or train a `HistGradientBoostingClassifier`"
)
_OWN = "write a function `export(estimator, path)` beside the factory, which writes the file"


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """The file's model, and how many of the rows it decides otherwise than the estimator."""

    model: Model
    differing: int


def exported(
    factory: Factory, estimator: Any, subject: Trainee, path: Path, rows: Rows, *, raw_scores: bool = False
) -> Exported:
    """Write the estimator to ``path`` and read it as the spec declares the model; ``rows`` compare the two.

    With ``raw_scores`` what skl2onnx writes has scores beside the class that are not probabilities yet.

    Raises DiagnosticError where no file can be written (E0591), or the spec's model is not what it holds.
    """
    if factory.export is None:
        _by_its_library(factory, estimator, subject, path, raw_scores=raw_scores)
    else:
        try:
            factory.export(estimator, str(path))
        except Exception as problem:  # it is the user's own code
            said = f"`export` raised {type(problem).__name__}: {problem}".splitlines()[0][:160]
            raise DiagnosticError(errors.not_exported(factory.name, said, "correct `export`")) from problem
        if not path.is_file():
            reason = "`export` returned and wrote nothing to the path it was given"
            raise DiagnosticError(errors.not_exported(factory.name, reason, "write the file to `path`"))
    model = subject.load(str(path))
    return Exported(model=model, differing=_differing(factory, estimator, subject, model, rows))


def _differing(factory: Factory, estimator: Any, subject: Trainee, model: Model, rows: Rows) -> int:
    meant = predicted(factory, estimator, subject, rows.values)
    otherwise = meant != decided(model, rows.values)
    differing = int(np.count_nonzero(otherwise))
    if differing * _TOLERATED > len(rows):
        reason = f"read as the spec declares it, the file decides {differing:,} of {len(rows):,} rows otherwise"
        help_text = "compare the decision clause of the model with the classes: outcomes are numbered from 0"
        if np.isnan(subject.features(rows.values)[otherwise]).any(axis=1).all():
            reason += ", all of which lack a value"
            help_text = _LOST
        raise DiagnosticError(errors.not_exported(factory.name, reason, help_text))
    return differing


def _by_its_library(factory: Factory, estimator: Any, subject: Trainee, path: Path, *, raw_scores: bool) -> None:
    """Write a booster as its library saves it, and what skl2onnx converts as ONNX."""
    saved = writer_of(estimator)
    onnx = path.suffix == ".onnx" or subject.source.format == "onnx"
    if saved is None and not onnx:
        reason = f"the spec reads `{path.name}`, and scikit-learn's estimators become ONNX files"
        raise DiagnosticError(
            errors.not_exported(factory.name, reason, f'name a file "NAME.onnx" in the spec, or {_OWN}')
        )
    if saved is not None and onnx:
        reason = f"the spec reads `{path.name}`, and `{type(estimator).__name__}` is saved as its library's own file"
        own = 'name such a file in the spec, as `from xgboost "NAME.ubj"`, `from lightgbm "NAME.txt"` or '
        raise DiagnosticError(errors.not_exported(factory.name, reason, f'{own}`from catboost "NAME.json"`, or {_OWN}'))
    width = len(subject.feature_names)
    try:
        content = saved() if saved else _onnx(estimator, subject.declaration.name, width, raw_scores=raw_scores)
    except NotExportedError as problem:
        remedy = problem.help_text or f"use an estimator that skl2onnx converts, or {_OWN}"
        raise DiagnosticError(errors.not_exported(factory.name, problem.reason, remedy)) from problem
    write_file(path, content)


def _onnx(estimator: Any, name: str, width: int, *, raw_scores: bool) -> bytes:
    """A file that reads a matrix; of an estimator that goes by the names of its columns one that reads these."""
    try:
        return onnx_of(estimator, name, width=width, raw_scores=raw_scores)
    except NotExportedError:
        if feature_names(estimator) is None:
            raise
        return onnx_of(estimator, name, by_name=True, raw_scores=raw_scores)
