"""Nodes for what skl2onnx has no converter for, or one that writes another model: boosters, functions, indicators.

A booster is read from the file that it would save, so its trees are those that the library walks: thresholds become
the float32 numbers that tell the same float32 features apart, and leaves are rounded to float32 once.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from fairdsl.ir.expr import Relation
from fairdsl.models.boosters import LIBRARIES, forest_of
from fairdsl.models.boosters.forest import Ending, Forest, Leaf, Node, Split, UnreadBoosterError
from fairdsl.models.exporting.refused import NotExportedError

__all__ = ["ZEROS_ARE_MISSING", "is_booster", "reads_sparse", "register", "takes_over"]

_MODES = {Relation.LT: "BRANCH_LT", Relation.LE: "BRANCH_LEQ", Relation.GT: "BRANCH_GT", Relation.GE: "BRANCH_GTE"}
_NODES = tuple(f"nodes_{name}" for name in ("treeids", "nodeids", "featureids", "modes", "values", "truenodeids",
                                            "falsenodeids", "missing_value_tracks_true"))  # fmt: skip
_VOTES = tuple(f"target_{name}" for name in ("treeids", "nodeids", "ids", "weights"))
#: Set on a copy of XGBoost's estimators behind a step with a sparse matrix: what it does not store is missing to them.
ZEROS_ARE_MISSING = "_fairdsl_zeros_are_missing"
_MILLIONTH = 2.0**-20
_OPTIONS = {"zipmap": [True, False, "columns"], "output_class_labels": [False, True], "nocl": [True, False]}
#: Functions of numpy that `FunctionTransformer` is given, as operators; one is added to the number where it says so.
_FUNCTIONS = {"log": "Log", "log1p": "Log", "sqrt": "Sqrt", "abs": "Abs", "absolute": "Abs", "exp": "Exp"}


def is_booster(part: Any) -> bool:
    """Whether it is an estimator of a boosting library."""
    return _library(part) in LIBRARIES


def reads_sparse(part: Any) -> bool:
    """Whether what a sparse matrix does not store is missing to it, and not 0."""
    return _library(part) == "xgboost"


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
    return None


def register(part: Any) -> None:
    """Have skl2onnx write it by what stands here."""
    from skl2onnx import update_registered_converter
    from skl2onnx._supported_operators import sklearn_classifier_list
    from skl2onnx.common.shape_calculator import (
        calculate_linear_classifier_output_shapes,
        calculate_linear_regressor_output_shapes,
    )

    kind, name = type(part), type(part).__name__
    writers = {"Indicating": _indicating, "Elementwise": _elementwise, "Interpolating": _interpolating}
    if name in writers:
        update_registered_converter(kind, f"Fairdsl{name}", _width_of_columns, writers[name])
    elif is_booster(part):
        classifies = hasattr(part, "classes_")
        if classifies and kind not in sklearn_classifier_list:  # CatBoost's are of no class of scikit-learn
            sklearn_classifier_list.append(kind)
        update_registered_converter(
            kind,
            f"Fairdsl{name}",
            calculate_linear_classifier_output_shapes if classifies else calculate_linear_regressor_output_shapes,
            _booster,
            options=_OPTIONS if classifies else None,
        )


def _library(part: Any) -> str:
    return type(part).__module__.partition(".")[0]


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


def _row(scope: Any, operator: Any, container: Any) -> str:
    """All inputs side by side, as float32."""
    from onnx import TensorProto
    from skl2onnx.operator_converters.common import concatenate_variables

    row, cast = concatenate_variables(scope, operator.inputs, container), scope.get_unique_variable_name("row")
    container.add_node("Cast", [row], [cast], to=TensorProto.FLOAT, op_version=9)
    return str(cast)


def _elementwise(scope: Any, operator: Any, container: Any) -> None:
    from onnx import TensorProto

    row = _row(scope, operator, container)
    func = operator.raw_operator.func.__name__
    if func == "log1p":
        one, more = (scope.get_unique_variable_name(name) for name in ("one", "more"))
        container.add_initializer(one, TensorProto.FLOAT, [1], [1.0])
        container.add_node("Add", [row, one], [more], op_version=7)
        row = more
    container.add_node(_FUNCTIONS[func], [row], [operator.outputs[0].full_name], op_version=6)


def _indicating(scope: Any, operator: Any, container: Any) -> None:
    """The numbers with what is filled in, and behind them whether each of some columns was missing."""
    from onnx import TensorProto

    imputer = operator.raw_operator
    if not isinstance(imputer.missing_values, float) or imputer.missing_values == imputer.missing_values:
        raise NotExportedError("`SimpleImputer` with indicators replaces something else than NaN", None)
    row = _row(scope, operator, container)
    known = ~np.isnan(np.asarray(imputer.statistics_, dtype=np.float64))
    if not known.all():
        raise NotExportedError("`SimpleImputer` met a column without any number", "leave this column out")
    names = ("filled", "places", "some", "lacking", "lacks")
    filled, places, some, lacking, lacks = (scope.get_unique_variable_name(name) for name in names)
    container.add_node(
        "Imputer",
        [row],
        [filled],
        op_domain="ai.onnx.ml",
        op_version=1,
        imputed_value_floats=np.asarray(imputer.statistics_, dtype=np.float32),
        replaced_value_float=np.nan,
    )
    features = np.asarray(imputer.indicator_.features_).tolist()
    container.add_initializer(places, TensorProto.INT64, [len(features)], features)
    container.add_node("Gather", [row, places], [some], axis=1, op_version=11)
    container.add_node("IsNaN", [some], [lacking], op_version=9)
    container.add_node("Cast", [lacking], [lacks], to=TensorProto.FLOAT, op_version=9)
    container.add_node("Concat", [filled, lacks], [operator.outputs[0].full_name], axis=1, op_version=11)


def _interpolating(scope: Any, operator: Any, container: Any) -> None:
    """The lines between the quantiles of each column, and the steps where several quantiles are one number."""
    row, transformer = _row(scope, operator, container), operator.raw_operator
    ranks, columns = np.asarray(transformer.references_, dtype=np.float64), []
    for place, quantiles in enumerate(np.asarray(transformer.quantiles_, dtype=np.float32).T.astype(np.float64)):
        marks, first = np.unique(quantiles, return_index=True)
        last = len(quantiles) - 1 - np.unique(quantiles[::-1], return_index=True)[1]
        low, high = ranks[first], ranks[last]
        low[0], high[-1] = 0.0, 1.0
        # At a number of several quantiles it is the middle of their ranks, but at the ends.
        middle = (low + high) / 2
        middle[0], middle[-1] = 0.0, 1.0
        column = _Column(scope, container, row, place)
        lines = []
        if len(marks) > 1:
            widths = np.diff(marks)
            lines.append(column.clipped(marks[:-1], widths, (low[1:] - high[:-1]) / widths))
        lines += [column.steps("GreaterOrEqual", marks, middle - low), column.steps("Greater", marks, high - middle)]
        total = scope.get_unique_variable_name("total")
        container.add_node("Sum", lines, [total], op_version=13)
        columns.append(total)
    container.add_node("Concat", columns, [operator.outputs[0].full_name], axis=1, op_version=11)


class _Column:
    """One column of a matrix, against marks."""

    def __init__(self, scope: Any, container: Any, row: str, place: int) -> None:
        self.scope, self.container = scope, container
        self.number = self._node("Gather", [row, self._stored(np.array([place]))], axis=1, op_version=11)

    def clipped(self, marks: Any, widths: Any, slopes: Any) -> str:
        """How far it is from each mark towards the next, times slopes, summed."""
        beyond = self._node("Sub", [self.number, self._stored(marks)], op_version=13)
        above = self._node("Relu", [beyond], op_version=13)
        within = self._node("Min", [above, self._stored(widths)], op_version=13)
        return self._node("MatMul", [within, self._stored(slopes[:, None])], op_version=13)

    def steps(self, relation: str, marks: Any, heights: Any) -> str:
        """The heights of the marks that it has reached, summed."""
        from onnx import TensorProto

        reached = self._node(relation, [self.number, self._stored(marks)], op_version=13)
        ones = self._node("Cast", [reached], to=TensorProto.FLOAT, op_version=9)
        return self._node("MatMul", [ones, self._stored(heights[:, None])], op_version=13)

    def _stored(self, numbers: Any) -> str:
        from onnx import TensorProto

        name = str(self.scope.get_unique_variable_name("numbers"))
        kind = TensorProto.INT64 if numbers.dtype.kind == "i" else TensorProto.FLOAT
        self.container.add_initializer(name, kind, list(numbers.shape), numbers.ravel().tolist())
        return name

    def _node(self, operator: str, inputs: list[str], **settings: Any) -> str:
        name = str(self.scope.get_unique_variable_name(operator.lower()))
        self.container.add_node(operator, inputs, [name], **settings)
        return name


# ---- boosters


def _booster(scope: Any, operator: Any, container: Any) -> None:
    """The sums of the trees; of a classifier the class of the highest one, and what becomes of them."""
    from fairdsl.models.from_frameworks import writer_of

    estimator, name = operator.raw_operator, type(operator.raw_operator).__name__
    write, labels = writer_of(estimator), getattr(estimator, "classes_", None)
    assert write is not None
    try:
        forest = forest_of(write(), _library(estimator))
        if (labels is None) != (forest.ending is Ending.SCORE):
            raise UnreadBoosterError("its objective does not fit what the estimator predicts")
        attributes = _Laid(forest, getattr(estimator, ZEROS_ARE_MISSING, False)).attributes()
    except UnreadBoosterError as problem:
        raise NotExportedError(f"`{name}`: {problem}", None) from problem
    row = _row(scope, operator, container)
    outputs = [output.full_name for output in operator.outputs]
    sums = outputs[0] if labels is None else scope.get_unique_variable_name("sums")
    container.add_node("TreeEnsembleRegressor", [row], [sums], op_domain="ai.onnx.ml", op_version=1, **attributes)
    if labels is None:
        return
    if len(forest.base) == 1:
        less, both = (scope.get_unique_variable_name(each) for each in ("less", "both"))
        container.add_node("Neg", [sums], [less], op_version=6)
        container.add_node("Concat", [less, sums], [both], axis=1, op_version=11)
        sums = both
    _chosen(scope, container, sums, np.asarray(labels).tolist(), outputs[0])
    if forest.ending is Ending.SOFTMAX:
        container.add_node("Softmax", [sums], [outputs[1]], axis=1, op_version=13)
    else:
        container.add_node("Sigmoid", [sums], [outputs[1]], op_version=13)


def _chosen(scope: Any, container: Any, sums: str, labels: list[Any], output: str) -> None:
    """The class of the highest number, the first in a tie."""
    from onnx import TensorProto

    names = ("place", "classes", "chosen", "shape")
    place, classes, chosen, shape = (scope.get_unique_variable_name(each) for each in names)
    container.add_node("ArgMax", [sums], [place], axis=1, keepdims=0, op_version=13)
    if isinstance(labels[0], str):
        container.add_initializer(classes, TensorProto.STRING, [len(labels)], [each.encode() for each in labels])
    else:
        container.add_initializer(classes, TensorProto.INT64, [len(labels)], list(map(int, labels)))
    container.add_node("ArrayFeatureExtractor", [classes, place], [chosen], op_domain="ai.onnx.ml", op_version=1)
    container.add_initializer(shape, TensorProto.INT64, [1], [-1])
    container.add_node("Reshape", [chosen, shape], [output], op_version=13)


class _Laid:
    """A forest as the attributes of a node of trees."""

    def __init__(self, forest: Forest, zeros_are_missing: bool) -> None:
        """With ``zeros_are_missing`` whoever has 0 goes where whoever has nothing goes."""
        self.forest, self.zeros_are_missing = forest, zeros_are_missing
        self.factor = float(forest.factor)
        if forest.average and forest.trees:
            self.factor *= len(forest.base) / len(forest.trees)
        self.nodes: dict[str, list[Any]] = {name: [] for name in _NODES}
        self.votes: dict[str, list[Any]] = {name: [] for name in _VOTES}

    def attributes(self) -> dict[str, Any]:
        """Those of the operator. Raises UnreadBoosterError where no node says it."""
        for tree, root in enumerate(self.forest.trees):
            self._lay(tree, root)
        base = [float(number * self.forest.factor) for number in self.forest.base]
        return {**self.nodes, **self.votes, "base_values": base, "n_targets": len(base), "post_transform": "NONE"}

    def _lay(self, tree: int, root: Node) -> None:
        waiting, count = [(root, 0)], 1
        while waiting:
            node, place = waiting.pop()
            if isinstance(node, Leaf):
                self._add(self.nodes, (tree, place, 0, "LEAF", 0.0, 0, 0, 0))
                for column, weight in node.votes:
                    self._add(self.votes, (tree, place, column, weight * self.factor))
                continue
            if node.members is not None:
                raise UnreadBoosterError("it has categories of its own, behind other steps")
            mode, limit = _MODES[node.relation], self._limit(node)
            yes, no = node.yes, node.no
            if self.zeros_are_missing and node.relation.compares(Fraction(0), Fraction(limit)) != node.missing:
                # The test stays for whoever has another number than 0, and nobody else gets there.
                again = replace(node, missing=not node.missing)
                yes, no, mode, limit = node.yes if node.missing else node.no, again, "BRANCH_EQ", 0.0
            missing = int(node.missing or mode == "BRANCH_EQ")
            self._add(self.nodes, (tree, place, node.feature, mode, limit, count, count + 1, missing))
            waiting += [(yes, count), (no, count + 1)]
            count += 2

    def _limit(self, node: Split) -> float:
        """The threshold, as a float32 number.

        XGBoost's lie on numbers that it was trained on, and a file computes features in float32. So that rounding does
        not tell those apart whom the library does not, theirs are a millionth lower.
        """
        limit = _float32(node.relation, node.threshold)
        if self.forest.library != "XGBoost":
            return limit
        return float(np.float32(limit - _MILLIONTH * max(abs(limit), 1.0)))

    @staticmethod
    def _add(columns: dict[str, list[Any]], row: tuple[Any, ...]) -> None:
        for column, entry in zip(columns.values(), row, strict=True):
            column.append(entry)


def _float32(relation: Relation, threshold: float) -> float:
    """The threshold that tells the same float32 numbers apart, as a float32 number."""
    with np.errstate(over="ignore"):
        near = np.float32(threshold)
    up = relation in (Relation.LT, Relation.GE)
    if (float(near) < threshold) if up else (float(near) > threshold):
        near = np.nextafter(near, np.float32("inf" if up else "-inf"))
    return float(near)
