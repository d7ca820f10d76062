"""Fitted estimators, sessions and modules as the bytes of an ONNX file: the only owner of skl2onnx.

Thresholds and weights become float32 on the way, so the file is not quite the estimator; whoever has rows holds the two
against each other. An estimator that was fitted on a table knows the names of its columns, and gets an input a column,
which a spec binds by name; one that was fitted on a matrix has the matrix.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np

__all__ = ["NotExportedError", "feature_names", "is_estimator", "onnx_of"]


class NotExportedError(Exception):
    """No file can be made of it: the reason in words, and what to do."""

    def __init__(self, reason: str, help_text: str | None) -> None:
        """``reason`` is a sentence without its stop; without a help text the caller knows better."""
        super().__init__(reason)
        self.reason, self.help_text = reason, help_text


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
    wide = width if width is not None else getattr(estimator, "n_features_in_", None)
    if columns is None and wide is None:
        raise NotExportedError(f"`{type(estimator).__name__}` is not fitted", "call its `fit` first")
    if columns is None:
        given: dict[str, Any] = {"X": np.zeros((1, wide), np.float32)}
    else:
        texts = set(_text_columns(estimator, columns))
        kinds = [(each, StringTensorType if each in texts else FloatTensorType) for each in columns]
        given = {"initial_types": [(each, kind([None, 1])) for each, kind in kinds]}
        estimator = _joining(estimator)
    try:
        with catch_warnings():  # the converter reads attributes of machines that scikit-learn calls deprecated
            simplefilter("ignore", FutureWarning)
            last = getattr(estimator, "steps", [("model", estimator)])[-1][1]
            raw = [{id(last): {"zipmap": False, "raw_scores": True}}] if raw_scores else []
            for options in (*raw, {id(estimator): {"zipmap": False}}, None):
                try:
                    proto = to_onnx(estimator, **given, name=name, options=options)
                    break
                # Of estimators that have no such option, as those without probabilities, or without another score.
                except (NameError, RuntimeError):
                    if options is None:
                        raise
        content: bytes = proto.SerializeToString(deterministic=True)
    except Exception as problem:  # skl2onnx raises classes of its own
        raise NotExportedError(f"skl2onnx: {problem}".strip().splitlines()[0][:160], None) from problem
    return content


def _joining(estimator: Any) -> Any:
    """The estimator behind a step that joins columns, which those that read a matrix lack."""
    steps = list(getattr(estimator, "steps", [("model", estimator)]))
    if hasattr(steps[0][1], "transformers_"):
        return estimator
    from importlib import import_module

    identity = import_module("sklearn.preprocessing").FunctionTransformer()
    return import_module("sklearn.pipeline").Pipeline([("columns", identity), *steps])


def _text_columns(estimator: Any, columns: tuple[str, ...]) -> Iterator[str]:
    """The columns that an encoder of texts was fitted on."""
    for _, step in getattr(estimator, "steps", ()):
        yield from _text_columns(step, columns)
    for _, branch, chosen in getattr(estimator, "transformers_", ()):
        if _reads_texts(branch):
            yield from (columns[each] if isinstance(each, int | np.integer) else str(each) for each in chosen)
    if _reads_texts(estimator) and hasattr(estimator, "categories_"):
        yield from columns


def _reads_texts(step: Any) -> bool:
    steps = [each for _, each in getattr(step, "steps", ())]
    own = [*getattr(step, "categories_", ()), *np.atleast_1d(getattr(step, "statistics_", ()))]
    found = [np.asarray(values) for values in own]
    return any(each.dtype.kind in "OU" and any(isinstance(v, str) for v in each.ravel()) for each in found) or any(
        map(_reads_texts, steps)
    )
