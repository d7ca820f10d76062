"""Support vector machines of ai.onnx.ml: sums of a kernel between the features and stored vectors.

``v = sum_i coefficients[i] K(vectors[i], x) + rho``. With the linear kernel that is an affine form and read as one. The
label of a classifier of two classes is the first one where v > 0, as in libsvm, and the second one elsewhere; its
scores are the columns -v and v, in this order, as onnxruntime computes them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fairdsl.ir.opaque import Kernel
from fairdsl.models import exact
from fairdsl.models.basis import Affine, KernelTerms, apply, scale, take
from fairdsl.models.onnx_import.arithmetic import plus
from fairdsl.models.onnx_import.file import RawGraph, RawNode
from fairdsl.models.onnx_import.values import Handlers, NodeCall, Unread, UnreadableError, Value
from fairdsl.models.onnx_import.written import Columns, classes, floats, highest, written

_KERNELS = {"LINEAR": Kernel.LINEAR, "POLY": Kernel.POLY, "RBF": Kernel.RBF, "SIGMOID": Kernel.SIGMOID}
#: Powers of a polynomial kernel that are read.
_HIGHEST_DEGREE = 16


def _value(call: NodeCall, count: int) -> Affine:
    """The value v, from ``count`` support vectors, in a tensor [1, 1]."""
    features = call.affine(0)
    coefficients, vectors, rho = (floats(call, name) for name in ("coefficients", "support_vectors", "rho"))
    if coefficients.size != count or vectors.size != count * features.size or rho.size != 1:
        sizes = f"{coefficients.size} coefficients and {vectors.size} numbers in support vectors"
        raise UnreadableError(f"it has {sizes} for {count} vectors of {features.size} features")
    kernel = _KERNELS.get(call.attribute("kernel_type", "LINEAR"))
    if kernel is None:
        raise UnreadableError(f"its kernel is `{call.attribute('kernel_type', '')}`")
    rows, stored = coefficients.reshape(1, count), vectors.reshape(count, features.size)
    if kernel is Kernel.LINEAR:
        product = apply(exact.matmul(rows, stored), features, (1, 1), call.basis)
        return plus(call, product, Affine.constant(rho.reshape(1, 1)))
    if not call.basis.early(features):
        raise UnreadableError("its features are computed by units that bend, which a kernel does not read")
    gamma, coef0, degree = _parameters(call, kernel)
    return call.basis.machine(
        KernelTerms(
            operator=call.node.operator,
            node=call.node.where,
            kernel=kernel,
            gamma=gamma,
            coef0=coef0,
            degree=degree,
            features=features,
            vectors=stored,
            coefficients=rows,
            offsets=rho,
        )
    )


def _parameters(call: NodeCall, kernel: Kernel) -> tuple[float, float, int]:
    """Gamma, the constant and the degree; those that the kernel does not use are 0."""
    given = floats(call, "kernel_params").tolist() or [0.0, 0.0, 0.0]
    if len(given) != 3:
        raise UnreadableError(f"it has {len(given)} `kernel_params`, and three are needed")
    gamma, coef0, degree = given
    if kernel is Kernel.RBF:
        if gamma < 0:
            raise UnreadableError(f"its kernel grows with the distance: gamma is {gamma:g}")
        return gamma, 0.0, 0
    if kernel is Kernel.SIGMOID:
        return gamma, coef0, 0
    if degree != int(degree) or not 1 <= degree <= _HIGHEST_DEGREE:
        raise UnreadableError(f"the degree of its kernel is {degree:g}, and whole ones from 1 to 16 are read")
    return gamma, coef0, int(degree)


def svm_classifier(call: NodeCall) -> list[Value]:
    """Both outputs of an SVMClassifier of two classes: the label, and the scores where they are plain ones."""
    labels = classes(call, "classlabels_ints")
    per_class = [int(count) for count in call.attribute("vectors_per_class", None) or ()]
    if len(labels) != 2:
        remedy = "train a machine for each class"
        raise UnreadableError(f"its {len(labels)} classes are chosen by votes of pairs; two are read", remedy)
    if len(per_class) != 2 or not sum(per_class):
        raise UnreadableError("it has no support vectors", "export it as a LinearClassifier")
    value = _value(call, sum(per_class))
    # The second class where -v >= 0: ties are its own.
    both = scale(take(value, np.zeros((1, 2), dtype=np.int64)), np.array([0.0, -1.0]))
    label = highest(call, both, labels, ties_last=True)
    if floats(call, "prob_a").size:
        reason = "its probabilities are fitted to the score by an iteration that stops early; its label is read"
        return [label, Unread(reason, both.shape)]
    plain = call.attribute("post_transform", "NONE") == "NONE"
    return [label, written(call, value, Columns.SIGNS if plain else Columns.SHARES)]


def _svm_regressor(call: NodeCall) -> Value:
    """The value of an SVMRegressor; without support vectors its coefficients are those of the features."""
    if call.attribute("one_class", 0):
        raise UnreadableError("it gives the sign of its value (`one_class`)", "export the value itself")
    count = int(call.attribute("n_supports", 0))
    if count:
        return written(call, _value(call, count), Columns.UNCHANGED)
    value, coefficients, rho = call.affine(0), floats(call, "coefficients"), floats(call, "rho")
    if coefficients.size != value.size or rho.size != 1:
        raise UnreadableError(f"it has {coefficients.size} coefficients for {value.size} features")
    product = apply(coefficients.reshape(1, -1), value, (1, 1), call.basis)
    return written(call, plus(call, product, Affine.constant(rho.reshape(1, 1))), Columns.UNCHANGED)


def is_plain_machine(raw: RawGraph, nodes: Sequence[RawNode]) -> bool:
    """Whether the one input goes into an SVMClassifier with a kernel as it is, in float32, and nowhere else.

    Then what rounding makes of its distances can be bounded for many individuals at a time
    (``numerics/kernel_float32.py``).
    """
    machines = [node for node in nodes if node.operator == "SVMClassifier"]
    if len(machines) != 1 or len(raw.inputs) != 1 or raw.inputs[0].dtype != "float32":
        return False
    (machine,), name = machines, raw.inputs[0].name
    reading = [node for node in nodes if name in node.inputs]
    return reading == [machine] and machine.attributes.get("kernel_type", "LINEAR") != "LINEAR"


HANDLERS: Handlers = {
    ("ai.onnx.ml", "SVMRegressor"): _svm_regressor,
}
