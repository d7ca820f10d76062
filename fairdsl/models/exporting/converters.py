"""Steps that skl2onnx has no converter for, or one that writes another model: boosters, functions, indicators."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from fairdsl.models.exporting.histograms import has_categories
from fairdsl.models.exporting.nodes import Nodes
from fairdsl.models.exporting.refused import NotExportedError
from fairdsl.models.exporting.trees import chosen_class, is_booster, write_trees

__all__ = ["register", "takes_over"]

_OPTIONS = {"zipmap": [True, False, "columns"], "output_class_labels": [False, True], "nocl": [True, False]}
#: Functions of numpy that `FunctionTransformer` is given, as operators; one is added to the number where it says so.
_FUNCTIONS = {"log": "Log", "log1p": "Log", "sqrt": "Sqrt", "abs": "Abs", "absolute": "Abs", "exp": "Exp"}


def takes_over(part: Any) -> type | None:
    """The class that a copy is to have so that it is written here; None where skl2onnx writes it."""
    kind: Any = type(part)
    name = kind.__name__
    if name == "SimpleImputer" and getattr(part, "indicator_", None) is not None:
        return _own(kind, "Indicating")
    if (
        name == "QuantileTransformer"
        and getattr(part, "output_distribution", "") == "uniform"
        and hasattr(part, "quantiles_")
    ):
        return _own(kind, "Interpolating")
    if name == "FunctionTransformer" and _function(part) is not None:
        return _own(kind, "Elementwise")
    if name == "StackingClassifier" and _decides(part):
        return _own(kind, "Stacking")
    return _own(kind, f"{name}OfCategories") if has_categories(part) else None


def register(part: Any) -> None:
    """Have skl2onnx write it by what stands here."""
    from skl2onnx import update_registered_converter
    from skl2onnx._supported_operators import sklearn_classifier_list

    kind, name = type(part), type(part).__name__
    writers = {"Indicating": _indicating, "Elementwise": _elementwise, "Interpolating": _interpolating}
    if name in writers:
        update_registered_converter(kind, f"Fairdsl{name}", _width_of_columns, writers[name])
        return
    trees = is_booster(part) or name.endswith("OfCategories")
    if not trees and name != "Stacking":
        return
    classifies = hasattr(part, "classes_")
    if classifies and kind not in sklearn_classifier_list:  # CatBoost's are of no class of scikit-learn
        sklearn_classifier_list.append(kind)
    update_registered_converter(
        kind,
        f"Fairdsl{name}",
        _classes_and_shares if classifies else _one_number,
        write_trees if trees else _stacking,
        options=_OPTIONS if classifies else None,
    )


@cache
def _own(base: type, name: str) -> type:
    return type(name, (base,), {})


def _function(part: Any) -> str | None:
    """The operator of a function of numpy that skl2onnx does not write; None of any other."""
    func = getattr(part, "func", None)
    return _FUNCTIONS.get(func.__name__) if isinstance(func, np.ufunc) else None


# ---- columns


def _width_of_columns(operator: Any) -> None:
    """A column for each that comes in, and for each indicator."""
    from skl2onnx.common.data_types import FloatTensorType

    wide = sum(each.type.shape[1] for each in operator.inputs)
    indicator = getattr(operator.raw_operator, "indicator_", None)
    more = 0 if indicator is None else len(indicator.features_)
    operator.outputs[0].type = FloatTensorType([operator.inputs[0].get_first_dimension(), wide + more])


def _started(scope: Any, operator: Any, container: Any) -> tuple[Nodes, str, str]:
    """The nodes, all inputs side by side, and what the output is called."""
    nodes = Nodes(scope, container)
    return nodes, nodes.row([each.full_name for each in operator.inputs]), operator.outputs[0].full_name


def _elementwise(scope: Any, operator: Any, container: Any) -> None:
    nodes, row, output = _started(scope, operator, container)
    func = operator.raw_operator.func.__name__
    if func == "log1p":
        row = nodes.add("Add", [row, nodes.stored(np.ones(1))])
    nodes.add(_FUNCTIONS[func], [row], output)


def _indicating(scope: Any, operator: Any, container: Any) -> None:
    """The numbers with what is filled in, and behind them whether each of some columns was missing."""
    imputer = operator.raw_operator
    if not isinstance(imputer.missing_values, float) or imputer.missing_values == imputer.missing_values:
        raise NotExportedError("`SimpleImputer` with indicators replaces something else than NaN", None)
    filling = np.asarray(imputer.statistics_, dtype=np.float32)
    if np.isnan(filling).any():
        raise NotExportedError("`SimpleImputer` met a column without any number", "leave this column out")
    nodes, row, output = _started(scope, operator, container)
    filled = nodes.add("Imputer", [row], imputed_value_floats=filling, replaced_value_float=np.nan)
    some = nodes.add("Gather", [row, nodes.stored(np.asarray(imputer.indicator_.features_))], axis=1)
    nodes.add("Concat", [filled, nodes.cast(nodes.add("IsNaN", [some]))], output, axis=1)


def _interpolating(scope: Any, operator: Any, container: Any) -> None:
    """The lines between the quantiles of each column, and the steps where several quantiles are one number."""
    nodes, row, output = _started(scope, operator, container)
    transformer = operator.raw_operator
    ranks, columns = np.asarray(transformer.references_, dtype=np.float64), []
    for place, quantiles in enumerate(np.asarray(transformer.quantiles_, dtype=np.float32).T.astype(np.float64)):
        marks, first = np.unique(quantiles, return_index=True)
        last = len(quantiles) - 1 - np.unique(quantiles[::-1], return_index=True)[1]
        low, high = ranks[first], ranks[last]
        low[0], high[-1] = 0.0, 1.0
        # At a number of several quantiles it is the middle of their ranks, but at the ends.
        middle = (low + high) / 2
        middle[0], middle[-1] = 0.0, 1.0
        column = _Column(nodes, row, place)
        lines = []
        if len(marks) > 1:
            widths = np.diff(marks)
            lines.append(column.clipped(marks[:-1], widths, (low[1:] - high[:-1]) / widths))
        lines += [column.steps("GreaterOrEqual", marks, middle - low), column.steps("Greater", marks, high - middle)]
        columns.append(nodes.add("Sum", lines))
    nodes.add("Concat", columns, output, axis=1)


class _Column:
    """One column of a matrix, against marks."""

    def __init__(self, nodes: Nodes, row: str, place: int) -> None:
        self.nodes = nodes
        self.number = nodes.add("Gather", [row, nodes.stored(np.array([place]))], axis=1)

    def clipped(self, marks: Any, widths: Any, slopes: Any) -> str:
        """How far it is from each mark towards the next, times slopes, summed."""
        above = self.nodes.add("Relu", [self.nodes.add("Sub", [self.number, self.nodes.stored(marks)])])
        return self._summed(self.nodes.add("Min", [above, self.nodes.stored(widths)]), slopes)

    def steps(self, relation: str, marks: Any, heights: Any) -> str:
        """The heights of the marks that it has reached, summed."""
        return self._summed(self.nodes.cast(self.nodes.add(relation, [self.number, self.nodes.stored(marks)])), heights)

    def _summed(self, numbers: str, factors: Any) -> str:
        return self.nodes.add("MatMul", [numbers, self.nodes.stored(factors[:, None])])


# ---- models


def _classes_and_shares(operator: Any) -> None:
    from skl2onnx.common.shape_calculator import _infer_linear_classifier_output_types

    _infer_linear_classifier_output_types(operator)


def _one_number(operator: Any) -> None:
    from skl2onnx.common.data_types import FloatTensorType

    operator.outputs[0].type = FloatTensorType([operator.inputs[0].get_first_dimension(), 1])


def _decides(stacking: Any) -> bool:
    """Whether some model of two classes gives no probabilities; of decision functions skl2onnx hands on both signs."""
    return len(getattr(stacking, "classes_", ())) == 2 and {*stacking.stack_method_} != {"predict_proba"}


def _stacking(scope: Any, operator: Any, container: Any) -> None:
    """What the models give side by side, a column each, and the last model over it."""
    from skl2onnx.operator_converters.stacking import _fetch_scores

    stacking, nodes = operator.raw_operator, Nodes(scope, container)
    given, second, columns = operator.inputs[0], nodes.stored(np.array([1])), []
    for model, method in zip(stacking.estimators_, stacking.stack_method_, strict=True):
        if method == "predict":
            raise NotExportedError(
                f"`{type(stacking).__name__}` is given labels by `{type(model).__name__}`",
                "write `stack_method='auto'`, or leave this model out",
            )
        if method == "decision_function":
            columns.append(_fetch_scores(scope, container, _its_sum(model), given, is_regressor=True))
        else:
            both = _fetch_scores(scope, container, model, given)
            columns.append(nodes.add("Gather", [both, second], axis=1))
    if stacking.passthrough:
        columns.append(given.onnx_name)
    from skl2onnx.common.data_types import FloatTensorType

    wide = stacking.final_estimator_.n_features_in_
    joined = scope.declare_local_variable("joined", FloatTensorType([None, wide]))
    nodes.add("Concat", columns, joined.onnx_name, axis=1)
    shares = _fetch_scores(scope, container, stacking.final_estimator_, joined)
    nodes.add("Identity", [shares], operator.outputs[1].full_name)
    chosen_class(nodes, shares, stacking.classes_, operator.outputs[0].full_name)


def _its_sum(model: Any) -> Any:
    """A regression whose prediction is the decision function of a linear model. Raises NotExportedError."""
    from importlib import import_module

    last = getattr(model, "steps", [("model", model)])[-1][1]
    if np.size(getattr(last, "coef_", 0.0)) != last.n_features_in_:
        raise NotExportedError(
            f"the decision function of `{type(last).__name__}` is not written to the file",
            "give this model probabilities, by `CalibratedClassifierCV`, or leave it out",
        )
    linear = import_module("sklearn.linear_model").LinearRegression()
    linear.coef_, linear.intercept_ = np.ravel(last.coef_), float(np.ravel(last.intercept_)[0])
    linear.n_features_in_ = last.n_features_in_
    if last is model:
        return linear
    return import_module("sklearn.pipeline").Pipeline([*model.steps[:-1], ("sum", linear)])
