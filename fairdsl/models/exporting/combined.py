"""Models over what other models give: stacks, hard votes, and calibrations.

skl2onnx hands on both signs of a decision function, takes the one column of a linear machine for two in a vote, does
not calibrate the scores of a pipeline, and takes the value of the nearest mark where isotonic regression draws a line.
Here each is written as scikit-learn computes it, over a matrix and over columns by name alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fairdsl.models.exporting.nodes import Nodes
from fairdsl.models.exporting.refused import NotExportedError
from fairdsl.models.exporting.trees import chosen_class


def classes_and_shares(operator: Any) -> None:
    """The types of what comes out: a class, and a share for each of the classes."""
    from skl2onnx.common.data_types import FloatTensorType, Int64TensorType, StringTensorType

    labels = np.asarray(operator.raw_operator.classes_)
    rows = operator.inputs[0].get_first_dimension()
    operator.outputs[0].type = (StringTensorType if labels.dtype.kind in "OU" else Int64TensorType)([rows])
    operator.outputs[1].type = FloatTensorType([rows, len(labels)])


def lines(nodes: Nodes, column: str, marks: Any, widths: Any, slopes: Any) -> str:
    """How far a column is from each mark towards the next, times slopes, summed."""
    above = nodes.add("Relu", [nodes.add("Sub", [column, nodes.stored(marks)])])
    return nodes.add("MatMul", [nodes.add("Min", [above, nodes.stored(widths)]), nodes.stored(slopes[:, None])])


#: Those of which skl2onnx writes the decision function in the place of probabilities, if asked to.
_RAW = frozenset({"AdaBoostClassifier", "GradientBoostingClassifier", "HistGradientBoostingClassifier", "SVC"})


class _Within:
    """The models within one that is written."""

    def __init__(self, scope: Any, operator: Any, container: Any) -> None:
        self.nodes, self.inputs = Nodes(scope, container), operator.inputs
        self._scope, self._container = scope, container

    def shares(self, model: Any) -> str:
        """The probabilities, a column for each class."""
        return self._output(model, 2)

    def share(self, model: Any) -> str:
        """The probability of the second of two classes."""
        return self._second(self.shares(model))

    def decision(self, model: Any) -> str:
        """The decision function of two classes. Raises NotExportedError."""
        last = _last(model)
        if np.size(getattr(last, "coef_", ())) == last.n_features_in_:
            return self.regression(model, np.ravel(last.coef_), float(np.ravel(last.intercept_)[0]))
        if type(last).__name__ not in _RAW:
            raise NotExportedError(
                f"the decision function of `{type(last).__name__}` is not written to the file",
                "give this model probabilities, by `CalibratedClassifierCV`, or leave it out",
            )
        for each in (self._container, self._scope):
            each.add_options(id(last), {"raw_scores": True})
        return self._second(self.shares(model))

    def regression(self, model: Any, weights: Any, start: float) -> str:
        """A sum of the features of a linear model, behind the same steps."""
        return self._output(_with_sum(model, weights, start), 1)

    def two_columns(self, column: str, zero: float) -> str:
        """A column, and before it what it leaves of ``zero``."""
        rest = self.nodes.add("Sub", [self.nodes.stored(np.full((1, 1), zero)), column])
        return self.nodes.add("Concat", [rest, column], axis=1)

    def _second(self, columns: str) -> str:
        return self.nodes.add("Gather", [columns, self.nodes.stored(np.array([1]))], axis=1)

    def _output(self, model: Any, count: int) -> str:
        """The last of so many outputs: a classifier has its class before its shares."""
        from skl2onnx._supported_operators import sklearn_operator_name_map
        from skl2onnx.common.data_types import FloatTensorType, Int64TensorType

        if type(model) not in sklearn_operator_name_map:
            raise NotExportedError(f"skl2onnx does not write `{type(model).__name__}`", None)
        operator = self._scope.declare_local_operator(sklearn_operator_name_map[type(model)], model)
        operator.inputs = self.inputs
        for kind in (Int64TensorType, FloatTensorType)[2 - count :]:
            operator.outputs.append(self._scope.declare_local_variable("given", kind()))
        return self.nodes.cast(operator.outputs[-1].full_name)

    def finish(self, operator: Any, shares: str) -> None:
        """Write the class of the highest share, and the shares."""
        label, given = (output.full_name for output in operator.outputs)
        self.nodes.add("Identity", [shares], given)
        chosen_class(self.nodes, shares, np.asarray(operator.raw_operator.classes_), label)


def _last(model: Any) -> Any:
    return _last(model.steps[-1][1]) if hasattr(model, "steps") else model


def _with_sum(model: Any, weights: Any, start: float) -> Any:
    """A regression in the place of the last step of a model."""
    from importlib import import_module

    if hasattr(model, "steps"):
        name, last = model.steps[-1]
        steps = [*model.steps[:-1], (name, _with_sum(last, weights, start))]
        return import_module("sklearn.pipeline").Pipeline(steps)
    linear = import_module("sklearn.linear_model").LinearRegression()
    linear.coef_, linear.intercept_, linear.n_features_in_ = weights, start, model.n_features_in_
    return linear


def _stacking(scope: Any, operator: Any, container: Any) -> None:
    """What the models give side by side, a column each, and the last model over it."""
    stacking, within, columns = operator.raw_operator, _Within(scope, operator, container), []
    for model, method in zip(stacking.estimators_, stacking.stack_method_, strict=True):
        if method == "predict":
            raise NotExportedError(
                f"`{type(stacking).__name__}` is given labels by `{type(model).__name__}`",
                "write `stack_method='auto'`, or leave this model out",
            )
        if len(stacking.classes_) > 2:
            if method == "decision_function":
                raise NotExportedError(
                    f"the decision functions of `{type(_last(model)).__name__}` are not written to the file",
                    "give this model probabilities, by `CalibratedClassifierCV`, or leave it out",
                )
            columns.append(within.shares(model))
        else:
            columns.append(within.decision(model) if method == "decision_function" else within.share(model))
    if stacking.passthrough:
        columns += [each.onnx_name for each in operator.inputs]
    from skl2onnx.common.data_types import FloatTensorType

    wide = stacking.final_estimator_.n_features_in_
    joined = scope.declare_local_variable("joined", FloatTensorType([None, wide]))
    within.nodes.add("Concat", columns, joined.onnx_name, axis=1)
    within.inputs = [joined]
    within.finish(operator, within.shares(stacking.final_estimator_))


def _voting(scope: Any, operator: Any, container: Any) -> None:
    """The weights of those who choose a class, for each class."""
    voting, within, votes = operator.raw_operator, _Within(scope, operator, container), []
    nodes, count = within.nodes, len(voting.classes_)
    weights = np.ones(len(voting.estimators_)) if voting.weights is None else np.asarray(voting.weights, float)
    for model, weight in zip(voting.estimators_, weights / weights.sum(), strict=True):
        if hasattr(model, "predict_proba") and not _last(model).__module__.startswith("sklearn.svm"):
            scores = within.shares(model)
        elif count > 2:
            raise NotExportedError(
                f"the vote of `{type(_last(model)).__name__}` among {count} classes is not written to the file",
                "take a model with probabilities in its place, such as `LogisticRegression`",
            )
        else:
            scores = within.two_columns(within.decision(model), 0.0)
        chosen = nodes.add("Equal", [nodes.add("ArgMax", [scores], axis=1), nodes.stored(np.arange(count)[None, :])])
        votes.append(nodes.add("Mul", [nodes.cast(chosen), nodes.stored(np.array([weight]))]))
    within.finish(operator, nodes.add("Sum", votes))


def _calibrated(scope: Any, operator: Any, container: Any) -> None:
    """The average of what the calibrators make of decision functions, or else of probabilities."""
    calibrated, within = operator.raw_operator, _Within(scope, operator, container)
    nodes, count, shares = within.nodes, len(calibrated.classes_), []
    for each in calibrated.calibrated_classifiers_:
        model = each.estimator
        if each.method not in ("sigmoid", "isotonic"):
            raise NotExportedError(
                f"`CalibratedClassifierCV` calibrates by `{each.method}`, which is not written to the file",
                "write `method='sigmoid'`",
            )
        if count == 2:
            score = within.decision(model) if hasattr(model, "decision_function") else within.share(model)
            shares.append(within.two_columns(_calibrator(nodes, score, each.calibrators[0]), 1.0))
        else:
            shares.append(_normalised(within, _of_classes(within, model), each.calibrators))
    total = shares[0] if len(shares) == 1 else nodes.add("Sum", shares)
    within.finish(operator, nodes.add("Div", [total, nodes.stored(np.array([len(shares)], float))]))


def _of_classes(within: _Within, model: Any) -> str:
    """A number for each of three classes and more. Raises NotExportedError."""
    last = _last(model)
    if not hasattr(model, "decision_function"):
        return within.shares(model)
    if np.shape(getattr(last, "coef_", ())) != (len(last.classes_), last.n_features_in_):
        raise NotExportedError(
            f"the decision functions of `{type(last).__name__}` are not written to the file",
            "calibrate a model with probabilities alone, such as a forest, or leave the calibration out",
        )
    starts = np.broadcast_to(last.intercept_, len(last.coef_)).tolist()
    columns = [within.regression(model, row, start) for row, start in zip(last.coef_, starts, strict=True)]
    return within.nodes.add("Concat", columns, axis=1)


def _normalised(within: _Within, scores: str, calibrators: Sequence[Any]) -> str:
    """The calibrated shares of three classes and more over their sum; the same for all where each is 0."""
    nodes = within.nodes
    columns = [
        _calibrator(nodes, nodes.add("Gather", [scores, nodes.stored(np.array([place]))], axis=1), calibrator)
        for place, calibrator in enumerate(calibrators)
    ]
    joined = nodes.add("Concat", columns, axis=1)
    total = nodes.add("Sum", columns)
    nothing = nodes.add("Equal", [total, nodes.stored(np.zeros((1, 1)))])
    parts = nodes.add("Div", [joined, nodes.add("Where", [nothing, nodes.stored(np.ones((1, 1))), total])])
    return nodes.add("Where", [nothing, nodes.stored(np.full((1, len(columns)), 1 / len(columns))), parts])


def _calibrator(nodes: Nodes, score: str, calibrator: Any) -> str:
    """The share that a calibrator makes of a score: a logistic function, or lines between marks."""
    if hasattr(calibrator, "a_"):
        factor, start = nodes.stored(np.array([-calibrator.a_])), nodes.stored(np.array([-calibrator.b_]))
        return nodes.add("Sigmoid", [nodes.add("Add", [nodes.add("Mul", [score, factor]), start])])
    marks = np.asarray(calibrator.X_thresholds_, dtype=np.float32)
    for place in range(1, len(marks)):  # what float32 does not tell apart is one step of it apart
        marks[place] = max(marks[place], np.nextafter(marks[place - 1], np.float32(np.inf)))
    heights, places = np.asarray(calibrator.y_thresholds_, dtype=np.float64), marks.astype(np.float64)
    rising = np.flatnonzero(np.diff(heights))
    if not rising.size:
        return nodes.add("Add", [nodes.add("Mul", [score, nodes.stored(np.zeros(1))]), nodes.stored(heights[:1])])
    widths = np.diff(places)[rising]
    risen = lines(nodes, score, places[rising], widths, np.diff(heights)[rising] / widths)
    return nodes.add("Add", [risen, nodes.stored(heights[:1])])


#: What writes them, by the name of the class that a copy is given.
COMBINED = {"Stacking": _stacking, "Voting": _voting, "Calibrated": _calibrated}
