"""Steps that skl2onnx has no converter for, or one that writes another model: boosters, functions, indicators."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from fairdsl.models.exporting.combined import COMBINED, classes_and_shares, lines
from fairdsl.models.exporting.encoders import encodes_otherwise, one_hot, ordinals, width_of_codes
from fairdsl.models.exporting.histograms import has_categories
from fairdsl.models.exporting.nodes import Nodes
from fairdsl.models.exporting.refused import NotExportedError
from fairdsl.models.exporting.trees import is_booster, write_trees

_OPTIONS = {"zipmap": [True, False, "columns"], "output_class_labels": [False, True], "nocl": [True, False]}
#: Functions of numpy that `FunctionTransformer` is given, as operators; one is added to the number where it says so.
_FUNCTIONS = {
    "log": "Log", "log1p": "Log", "log2": "Log", "log10": "Log", "sqrt": "Sqrt", "abs": "Abs", "absolute": "Abs",
    "exp": "Exp", "expm1": "Exp",
}  # fmt: skip
#: Those that take the logarithm to another base, by what the natural one is multiplied with.
_BASES = {"log2": 1 / np.log(2), "log10": 1 / np.log(10)}


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
    if name == "MissingIndicator" and hasattr(part, "features_"):
        return _own(kind, "Lacking")
    if name in ("OneHotEncoder", "OrdinalEncoder") and encodes_otherwise(part):
        return _own(kind, f"{name}OfTexts")
    if name == "FunctionTransformer" and _function(part) is not None:
        return _own(kind, "Elementwise")
    if name == "StackingClassifier" and hasattr(part, "estimators_"):
        return _own(kind, "Stacking")
    if name == "VotingClassifier" and part.voting == "hard":
        return _own(kind, "Voting")
    if name == "CalibratedClassifierCV" and hasattr(part, "calibrated_classifiers_"):
        return _own(kind, "Calibrated")
    return _own(kind, f"{name}OfCategories") if has_categories(part) else None


def register(part: Any) -> None:
    """Have skl2onnx write it by what stands here."""
    from skl2onnx import update_registered_converter
    from skl2onnx._supported_operators import sklearn_classifier_list

    kind, name = type(part), type(part).__name__
    writers = {
        "Indicating": _indicating, "Elementwise": _elementwise, "Interpolating": _interpolating, "Lacking": _lacking,
        "OneHotEncoderOfTexts": one_hot, "OrdinalEncoderOfTexts": ordinals,
    }  # fmt: skip
    if name in writers:
        update_registered_converter(kind, f"Fairdsl{name}", _width_of_columns, writers[name])
        return
    trees = is_booster(part) or name.endswith("OfCategories")
    if not trees and name not in COMBINED:
        return
    classifies = hasattr(part, "classes_")
    if classifies and kind not in sklearn_classifier_list:  # CatBoost's are of no class of scikit-learn
        sklearn_classifier_list.append(kind)
    update_registered_converter(
        kind,
        f"Fairdsl{name}",
        classes_and_shares if classifies else _one_number,
        write_trees if trees else COMBINED[name],
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
    """A column for each that comes in, and for each indicator; those alone of what makes indicators, or codes."""
    from skl2onnx.common.data_types import FloatTensorType

    step, wide = operator.raw_operator, sum(each.type.shape[1] for each in operator.inputs)
    if hasattr(step, "categories_"):
        wide = width_of_codes(step)
    elif hasattr(step, "features_"):
        wide = len(step.features_)
    elif getattr(step, "indicator_", None) is not None:
        wide += len(step.indicator_.features_)
    operator.outputs[0].type = FloatTensorType([operator.inputs[0].get_first_dimension(), wide])


def _started(scope: Any, operator: Any, container: Any) -> tuple[Nodes, str, str]:
    """The nodes, all inputs side by side, and what the output is called."""
    nodes = Nodes(scope, container)
    return nodes, nodes.row([each.full_name for each in operator.inputs]), operator.outputs[0].full_name


def _elementwise(scope: Any, operator: Any, container: Any) -> None:
    nodes, row, output = _started(scope, operator, container)
    func = operator.raw_operator.func.__name__
    if func == "log1p":
        row = nodes.add("Add", [row, nodes.stored(np.ones(1))])
    operator = _FUNCTIONS[func]
    if func in _BASES:
        nodes.add("Mul", [nodes.add(operator, [row]), nodes.stored(np.array([_BASES[func]]))], output)
    elif func == "expm1":
        nodes.add("Sub", [nodes.add(operator, [row]), nodes.stored(np.ones(1))], output)
    else:
        nodes.add(operator, [row], output)


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


def _lacking(scope: Any, operator: Any, container: Any) -> None:
    """Whether each of some columns is missing."""
    indicator = operator.raw_operator
    if not isinstance(indicator.missing_values, float) or indicator.missing_values == indicator.missing_values:
        raise NotExportedError("`MissingIndicator` looks for something else than NaN", None)
    nodes, row, output = _started(scope, operator, container)
    some = nodes.add("Gather", [row, nodes.stored(np.asarray(indicator.features_))], axis=1)
    nodes.add("Identity", [nodes.cast(nodes.add("IsNaN", [some]))], output)


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
        terms = []
        if len(marks) > 1:
            widths = np.diff(marks)
            terms.append(lines(nodes, column.number, marks[:-1], widths, (low[1:] - high[:-1]) / widths))
        terms += [column.steps("GreaterOrEqual", marks, middle - low), column.steps("Greater", marks, high - middle)]
        columns.append(nodes.add("Sum", terms))
    nodes.add("Concat", columns, output, axis=1)


class _Column:
    """One column of a matrix, against marks."""

    def __init__(self, nodes: Nodes, row: str, place: int) -> None:
        self.nodes = nodes
        self.number = nodes.add("Gather", [row, nodes.stored(np.array([place]))], axis=1)

    def steps(self, relation: str, marks: Any, heights: Any) -> str:
        """The heights of the marks that it has reached, summed."""
        reached = self.nodes.cast(self.nodes.add(relation, [self.number, self.nodes.stored(marks)]))
        return self.nodes.add("MatMul", [reached, self.nodes.stored(heights[:, None])])


# ---- models


def _one_number(operator: Any) -> None:
    from skl2onnx.common.data_types import FloatTensorType

    operator.outputs[0].type = FloatTensorType([operator.inputs[0].get_first_dimension(), 1])
