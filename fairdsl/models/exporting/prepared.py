"""An estimator as skl2onnx can write it: a copy that decides the same, or the reason why there is none.

Pandas' empty cells are NaN, in columns of text as well, and a text that is missing is the empty one in a file. So
imputers and encoders of texts are told of the empty text in the place of NaN. What skl2onnx passes over without a word,
a tuned threshold or an order that it does not know, is refused here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any

import numpy as np

from fairdsl.models.exporting.converters import register, takes_over
from fairdsl.models.exporting.encoders import has_nan, is_text
from fairdsl.models.exporting.histograms import has_categories
from fairdsl.models.exporting.refused import NotExportedError
from fairdsl.models.exporting.trees import ZEROS_ARE_MISSING, is_booster, reads_sparse

#: Steps that make dense matrices of sparse ones.
_DENSE = ("PCA", "TruncatedSVD")


def prepared(estimator: Any) -> Any:
    """The estimator, or a copy that skl2onnx writes as what it is; raises NotExportedError.

    Of a search the best estimator counts, as it does in its `predict`.
    """
    while hasattr(estimator, "best_estimator_"):
        estimator = estimator.best_estimator_
    found = list(_parts(estimator, set()))
    for part in found:
        _check(part)
    if any(map(_is_changed, found)) or any(_behind_sparse(found)):
        estimator = deepcopy(estimator)
        found = list(_parts(estimator, set()))
        for part in list(_behind_sparse(found)):
            setattr(part, ZEROS_ARE_MISSING, True)
        for part in found:
            _change(part)
    for part in found:
        register(part)
    return estimator


def text_columns(estimator: Any, columns: tuple[str, ...]) -> frozenset[str]:
    """The columns that an encoder or an imputer of texts was fitted on."""
    found: set[str] = set()
    for part in _parts(estimator, set()):
        table = part._preprocessor if has_categories(part) else part
        places = getattr(table, "_transformer_to_input_indices", {})
        for name, branch, _ in getattr(table, "transformers_", ()):
            if any(map(_reads_texts, _parts(branch, set()))):
                found.update(columns[each] for each in places[name])
    first = getattr(estimator, "steps", [("", estimator)])[0][1]
    return frozenset(found | set(columns if _reads_texts(first) else ()))


def settings_of(estimator: Any) -> dict[int, dict[str, Any]]:
    """What skl2onnx is told of the estimators within: distances by one operator, ten times as fast."""
    return {
        id(part): {"optim": "cdist"}
        for part in _parts(estimator, set())
        if type(part).__name__.startswith("KNeighbors")
    }


def reads_columns(step: Any) -> bool:
    """Whether it takes columns by their names, itself or the first steps of what it is made of."""
    if hasattr(step, "steps"):
        return reads_columns(step.steps[0][1])
    return (
        hasattr(step, "transformers_")
        or has_categories(step)
        or any(map(reads_columns, getattr(step, "estimators_", ())))
        or any(reads_columns(each.estimator) for each in getattr(step, "calibrated_classifiers_", ()))
    )


def _parts(value: Any, seen: set[int]) -> Iterator[Any]:
    """The estimators within one, itself the first."""
    if isinstance(value, list | tuple):
        for each in value:
            yield from _parts(each, seen)
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _parts(each, seen)
    elif hasattr(value, "calibrators"):  # of a calibration: a model and what makes shares of its scores
        yield from _parts(value.estimator, seen)
    elif callable(getattr(value, "get_params", None)) and not isinstance(value, type) and id(value) not in seen:
        seen.add(id(value))
        yield value
        if not is_booster(value) and not has_categories(value):
            yield from _parts(vars(value), seen)


def _check(part: Any) -> None:
    """Raises NotExportedError for what skl2onnx would write as something else."""
    if hasattr(part, "best_threshold_") or type(part).__name__ == "FixedThresholdClassifier":
        tuned = getattr(part, "best_threshold_", getattr(part, "threshold", None))
        limit = tuned if isinstance(tuned, float) else "T"
        raise NotExportedError(
            f"the threshold of `{type(part).__name__}` is not written to the file",
            f"give its `estimator_`, and write the threshold in the spec: `when probability(class = 1) >= {limit}`",
        )
    if type(part).__name__ == "FunctionTransformer" and part.func is not None and takes_over(part) is None:
        raise NotExportedError(
            "`FunctionTransformer` computes by a function of its own, which no file can hold",
            "compute it in the data, or by steps of scikit-learn or functions of numpy (`np.log1p`, `np.sqrt`), or "
            "give decisions as a function: `models={'NAME': estimator.predict}`",
        )
    if type(part).__name__ == "QuantileTransformer" and part.output_distribution != "uniform":
        raise NotExportedError(
            "`QuantileTransformer` makes normal numbers, which skl2onnx does not write",
            "write `output_distribution='uniform'`, which is read exactly",
        )
    if type(part).__name__ == "KNNImputer":
        raise NotExportedError(
            "`KNNImputer` may fill in other numbers in a file than `predict` does",
            "train with `SimpleImputer`, or give decisions as a function: `models={'NAME': estimator.predict}`",
        )
    if type(part).__name__ == "TransformedTargetRegressor":
        raise NotExportedError(
            "`TransformedTargetRegressor` predicts by a function of its target, which is not written to the file",
            "give its `regressor_`, and write the threshold in the spec as a number of the transformed target",
        )
    if (
        type(part).__name__ == "OrdinalEncoder"
        and takes_over(part) is None
        and any(map(has_nan, getattr(part, "categories_", ())))
    ):
        raise NotExportedError(
            "`OrdinalEncoder` was fitted on numbers with empty cells, and skl2onnx has no code for them",
            "put `SimpleImputer(strategy='constant')` before it",
        )


def _is_changed(part: Any) -> bool:
    return (
        takes_over(part) is not None
        or getattr(part, "flatten_transform", False) is True
        or _is_sparse_bins(part)
        or any(_is_mask(chosen) for _, _, chosen in getattr(part, "transformers_", ()))
        or (_imputes_texts(part) and not isinstance(part.missing_values, str))
        or any(is_text(values) and has_nan(values) for values in getattr(part, "categories_", ()))
    )


def _change(part: Any) -> None:
    """Make of a copy's part what skl2onnx writes."""
    instead = takes_over(part)
    if instead is not None:
        part.__class__ = instead
    if getattr(part, "flatten_transform", False) is True:
        part.flatten_transform = False  # of `transform` alone, which a file does not have
    if hasattr(part, "transformers_"):  # masks of columns are taken for their numbers
        part.transformers_ = [
            (name, branch, part._transformer_to_input_indices[name] if _is_mask(chosen) else chosen)
            for name, branch, chosen in part.transformers_
        ]
    if _is_sparse_bins(part):
        part.encode = "onehot-dense"  # the same columns
    if _imputes_texts(part) and not isinstance(part.missing_values, str):
        part.missing_values = ""
        # Of a column of numbers or truths beside texts, what is filled in is a text as well.
        part.statistics_ = np.array([str(each) for each in part.statistics_], dtype=object)
    if any(is_text(values) and has_nan(values) for values in getattr(part, "categories_", ())):
        part.categories_ = [
            np.array(["" if each != each or each is None else each for each in values], dtype=object)
            if is_text(values)
            else values
            for values in part.categories_
        ]


def _behind_sparse(parts: Sequence[Any]) -> Iterator[Any]:
    """The estimators that take a sparse matrix, and read it in another way than the numbers in it."""
    for pipeline in parts:
        sparse = False
        for _, step in getattr(pipeline, "steps", ()):
            yield from (part for part in _parts(step, set()) if sparse and reads_sparse(part))
            if type(step).__name__ in _DENSE:
                sparse = False
            else:
                sparse = bool(getattr(step, "sparse_output_", getattr(step, "sparse_output", sparse)))
                sparse |= _is_sparse_bins(step)


def _is_mask(chosen: Any) -> bool:
    return isinstance(chosen, list | np.ndarray) and np.asarray(chosen).dtype.kind == "b"


def _is_sparse_bins(part: Any) -> bool:
    return getattr(part, "encode", None) == "onehot"


def _imputes_texts(part: Any) -> bool:
    return hasattr(part, "statistics_") and hasattr(part, "missing_values") and is_text(part.statistics_)


def _reads_texts(part: Any) -> bool:
    return _imputes_texts(part) or any(map(is_text, getattr(part, "categories_", ())))
