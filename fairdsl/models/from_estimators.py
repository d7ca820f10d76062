"""Fitted estimators, sessions and modules as the bytes of an ONNX file: the only owner of skl2onnx.

Thresholds and weights become float32 on the way, so the file is not quite the estimator; whoever has rows holds the two
against each other. An estimator that was fitted on a table knows the names of its columns, and gets an input a column,
which a spec binds by name; one that was fitted on a matrix has the matrix.
"""

from __future__ import annotations

import re
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np

from fairdsl.models.exporting import NotExportedError, prepared, reads_columns, settings_of, text_columns


def is_estimator(given: object) -> bool:
    """Whether it is a classifier in the manner of scikit-learn."""
    return callable(getattr(given, "predict", None)) and callable(getattr(given, "fit", None))


def feature_names(estimator: Any) -> tuple[str, ...] | None:
    """The columns that it was fitted on; None where that was a matrix."""
    names = getattr(estimator, "feature_names_in_", getattr(estimator, "feature_names_", None))  # so CatBoost calls it
    return None if names is None else tuple(str(name) for name in names)


def onnx_of(
    estimator: Any, name: str, *, width: int | None = None, by_name: bool = False, raw_scores: bool = False
) -> bytes:
    """The estimator as a file whose graph is called ``name``; raises NotExportedError.

    ``width`` is that of a matrix, by default the one that it was fitted on; with ``by_name`` who knows its
    columns gets an input for each. With ``raw_scores`` the scores beside the class are what probabilities are made of,
    for estimators that have both.
    """
    if not type(estimator).__module__.startswith("sklearn.") and not hasattr(estimator, "__sklearn_tags__"):
        raise NotExportedError(f"`{type(estimator).__name__}` is not an estimator of scikit-learn", None)
    try:
        from skl2onnx import to_onnx
        from skl2onnx.common.data_types import FloatTensorType, StringTensorType
    except ImportError as problem:
        help_text = "install skl2onnx with `pip install 'fairdsl[sklearn]'`"
        raise NotExportedError("skl2onnx is not installed", help_text) from problem
    columns = feature_names(estimator) if by_name else None
    estimator = prepared(estimator)
    wide = width if width is not None else getattr(estimator, "n_features_in_", None)
    if columns is None and wide is None:
        raise NotExportedError(f"`{type(estimator).__name__}` is not fitted", "call its `fit` first")
    if columns is None:
        given: dict[str, Any] = {"X": np.zeros((1, wide), np.float32)}
    else:
        texts = text_columns(estimator, columns)
        kinds = [(each, StringTensorType if each in texts else FloatTensorType) for each in columns]
        given = {"initial_types": [(each, kind([None, 1])) for each, kind in kinds]}
        estimator = _joining(estimator)
    try:
        with catch_warnings():  # the converter reads attributes of machines that scikit-learn calls deprecated
            simplefilter("ignore", FutureWarning)
            last = getattr(estimator, "steps", [("model", estimator)])[-1][1]
            raw = [{id(last): {"zipmap": False, "raw_scores": True}}] if raw_scores else []
            within = settings_of(estimator)
            plain = {"zipmap": False, **within.get(id(last), {})}
            # What is said of the last step alone keeps skl2onnx from telling it of a ZipMap that it may not know.
            last_alone = ({id(last): options} for options in (plain, {"nocl": False, **within.get(id(last), {})}))
            for options in (*raw, {id(estimator): {"zipmap": False}, id(last): plain}, *last_alone, None):
                try:
                    proto = to_onnx(estimator, **given, name=name, options={**within, **(options or {})} or None)
                    break
                # Of estimators that have no such option, as those without probabilities, or without another score.
                except (NameError, RuntimeError):
                    if options is None:
                        raise
        content: bytes = proto.SerializeToString(deterministic=True)
    except NotExportedError:
        raise
    except Exception as problem:  # skl2onnx raises classes of its own
        unknown = re.search(r"for type '<class '([\w.]+)'>'", str(problem))
        if unknown:
            raise NotExportedError(f"skl2onnx does not write `{unknown[1].rpartition('.')[2]}`", None) from problem
        raise NotExportedError(f"skl2onnx: {problem}".strip().splitlines()[0][:160], None) from problem
    return content


def _joining(estimator: Any) -> Any:
    """The estimator behind a step that joins columns, which those that read a matrix lack."""
    steps = list(getattr(estimator, "steps", [("model", estimator)]))
    if reads_columns(steps[0][1]):
        return estimator
    from importlib import import_module

    identity = import_module("sklearn.preprocessing").FunctionTransformer()
    return import_module("sklearn.pipeline").Pipeline([("columns", identity), *steps])
