"""Small support vector machines as ONNX files, by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto

from tests.models.model_files import ml, network

INT64, STRING, FLOAT = TensorProto.INT64, TensorProto.STRING, TensorProto.FLOAT


def classifier(
    vectors: np.ndarray,
    coefficients: Sequence[float] | np.ndarray,
    rho: float = 0.0,
    *,
    per_class: Sequence[int] | None = None,
    labels: Sequence[int] | Sequence[str] = (0, 1),
    source: str = "x",
    **attributes: Any,
) -> Any:
    """The node of an SVMClassifier from ``x`` to ``label`` and ``scores``; Gaussian if nothing is said."""
    count, text = len(vectors), isinstance(labels[0], str)
    settings: dict[str, Any] = {
        "kernel_type": "RBF",
        "kernel_params": [0.03, 0.0, 3.0],
        "post_transform": "NONE",
        "coefficients": np.asarray(coefficients, dtype=float).ravel().tolist(),
        "support_vectors": np.asarray(vectors, dtype=float).ravel().tolist(),
        "vectors_per_class": list(per_class or (count // 2, count - count // 2)),
        "rho": [rho],
        "classlabels_strings" if text else "classlabels_ints": list(labels),
    }
    return ml("SVMClassifier", [source], ["label", "scores"], **{**settings, **attributes})


def classifier_file(*arguments: Any, width: int = 3, **attributes: Any) -> onnx.ModelProto:
    """A file that is the classifier alone."""
    text = isinstance(attributes.get("labels", (0,))[0], str)
    outputs = {"label": STRING if text else INT64, "scores": FLOAT}
    return network([classifier(*arguments, **attributes)], inputs={"x": ["N", width]}, outputs=outputs)


def regressor(vectors: np.ndarray, coefficients: Sequence[float] | np.ndarray, rho: float, **attributes: Any) -> Any:
    """The node of an SVMRegressor from ``x`` to ``y``."""
    settings: dict[str, Any] = {
        "kernel_type": "RBF",
        "kernel_params": [0.03, 0.0, 3.0],
        "coefficients": np.asarray(coefficients, dtype=float).ravel().tolist(),
        "support_vectors": np.asarray(vectors, dtype=float).ravel().tolist(),
        "n_supports": len(vectors),
        "rho": [rho],
    }
    given = {name: value for name, value in {**settings, **attributes}.items() if value != []}
    return ml("SVMRegressor", ["x"], ["y"], **given)
