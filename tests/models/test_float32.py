"""The error analysis of files: onnxruntime is always within it, and exact arithmetic within the enclosures."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from onnx import TensorProto

from fairdsl.ir.model import Curve
from fairdsl.models.float32 import Rounded, analysed
from fairdsl.models.float32.curves import EXP_RELATIVE, SIGMOID_ABSOLUTE, TANH_LEAST, TANH_RELATIVE
from fairdsl.models.float32.depends import features_read
from fairdsl.models.float32.reductions import LOG_ERROR
from fairdsl.models.float32.smooth import SMOOTH_ERROR
from fairdsl.models.float32.walk import HANDLERS
from fairdsl.models.onnx_import.walk import HANDLERS as READ
from fairdsl.models.onnx_import.walk import SEVERAL
from fairdsl.numerics.curves import bend
from tests.drawing import examples
from tests.models import tree_files
from tests.models.float32_files import at_run_time, exactly, inside, opened, within
from tests.models.model_files import ml, network, node
from tests.models.random_graphs import drawn
from tests.models.random_ml_nodes import ML_BUILDERS
from tests.models.random_nodes import BUILDERS
from tests.models.svm_files import classifier_file
from tests.models.test_onnx_operators import CASES

Rows = np.ndarray[Any, Any]
FEW = settings(max_examples=examples(0.2), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
LABELLED = {"label": TensorProto.INT64, "scores": TensorProto.FLOAT}


def rows_of(seed: int, width: int = 3, count: int = 6) -> Rows:
    """Grids, ordinary numbers, and numbers of all magnitudes."""
    rng = np.random.default_rng(seed)
    scales = 10.0 ** rng.integers(-44, 38, (count, 1))
    parts = [rng.integers(-8, 9, (count, width)) / 4, rng.normal(size=(count, width))]
    parts += [rng.normal(size=(count, width)) * scales, np.zeros((1, width))]
    with np.errstate(over="ignore"):
        found = np.concatenate(parts).astype(np.float32)
    return np.where(np.isfinite(found), found, np.float32(1e38)).astype(np.float32)


#: What chooses by a comparison: the bound ends there, and what depends on it is left out.
WITHOUT_A_BOUND = {("", name) for name in ("Equal", "IsNaN", "LogSoftmax", "Not", "Pow", "Where")}


def test_every_operator_that_is_read_has_a_bound() -> None:
    assert {*READ, *SEVERAL} - set(HANDLERS) == WITHOUT_A_BOUND


@pytest.mark.parametrize("name", CASES)
def test_operators(name: str, tmp_path: Path) -> None:
    nodes, constants = CASES[name]
    model = network(nodes, constants)
    raw = opened(model, tmp_path)
    assert within(raw, model, {"x": rows_of(1)})
    bounds = within(raw, model, {"x": rows_of(2, count=8)[:16]})
    assert bounds["y"][0] < 1e-4, "a bound that is too large is of no use"


def curve_error(operator: str, function: Callable[[Rows], Rows], x: Rows, **attributes: object) -> tuple[Rows, Rows]:
    session = onnxruntime.InferenceSession(
        network([node(operator, ["x"], ["y"], **attributes)], inputs={"x": ["N"]}, opset=20).SerializeToString()
    )
    (found,) = session.run(None, {"x": x})
    with np.errstate(all="ignore"):
        exact = function(x.astype(np.float64))
    return np.abs(found.astype(np.float64) - exact), exact


def everywhere() -> Rows:
    """Float32 numbers of all magnitudes and signs, and many where the functions bend."""
    bits = np.arange(0, 2**32, 65_521, dtype=np.uint64).astype(np.uint32).view(np.float32)
    near = np.linspace(-40, 40, 400_001, dtype=np.float32)
    return np.concatenate([bits[np.isfinite(bits)], near])


def _of(curve: Curve, factor: float = 1.0) -> Callable[[Rows], Rows]:
    return lambda v: bend(v * factor, curve) / factor


#: Smooth relatives of the ReLU; what :mod:`fairdsl.numerics.curves` makes of them is held to a bound elsewhere.
SMOOTH_CURVES: list[tuple[str, dict[str, object], Callable[[Rows], Rows]]] = [
    ("Softplus", {}, _of(Curve.SOFTPLUS)),
    ("Elu", {}, _of(Curve.ELU)),
    ("Celu", {"alpha": 0.25}, _of(Curve.ELU, 4.0)),
    ("Erf", {}, _of(Curve.ERF)),
    ("Gelu", {}, _of(Curve.GELU, 0.5**0.5)),
    ("Gelu", {"approximate": "tanh"}, _of(Curve.GELU_TANH)),
    ("HardSwish", {}, _of(Curve.HARD_SWISH)),
]


def test_the_measured_errors_of_curves() -> None:
    """What ``curves`` takes for granted of the runtime, measured again with the runtime that is installed."""
    x = everywhere()
    off, _ = curve_error("Sigmoid", lambda v: np.exp(-np.logaddexp(0, -v)), x)
    assert off.max() < 0.9 * SIGMOID_ABSOLUTE
    off, exact = curve_error("Tanh", np.tanh, x)
    assert (off <= 0.9 * TANH_RELATIVE * np.abs(exact) + 0.1 * TANH_LEAST).all()
    for operator, attributes, function in SMOOTH_CURVES:
        off, _ = curve_error(operator, function, x, **attributes)
        assert (off < 0.9 * SMOOTH_ERROR * (1 + np.abs(x.astype(np.float64)))).all(), operator
    inner = x[np.abs(x) < 80]
    off, exact = curve_error("Exp", np.exp, inner)
    assert (off <= 0.9 * EXP_RELATIVE * exact).all()
    off, exact = curve_error("Log", np.log, x[x >= 2.0**-126])
    assert (off <= 0.9 * LOG_ERROR * (1 + np.abs(exact))).all()


def linear_classifier(rows: int, labels: int, transform: str, seed: int) -> onnx.ModelProto:
    rng = np.random.default_rng(seed)
    head = ml(
        "LinearClassifier",
        ["x"],
        ["label", "scores"],
        coefficients=rng.normal(size=3 * rows).tolist(),
        intercepts=rng.normal(size=rows).tolist(),
        classlabels_ints=list(range(5, 5 + labels)),
        post_transform=transform,
    )
    nodes = [head, ml("Normalizer", ["scores"], ["shares"], norm="L1")]
    return network(nodes, outputs={**LABELLED, "shares": TensorProto.FLOAT})


@pytest.mark.parametrize("transform", ["NONE", "LOGISTIC", "SOFTMAX"])
@pytest.mark.parametrize(("rows", "labels"), [(1, 2), (2, 2), (4, 4)])
def test_linear_classifiers(rows: int, labels: int, transform: str, tmp_path: Path) -> None:
    model = linear_classifier(rows, labels, transform, seed=rows)
    raw = opened(model, tmp_path)
    assert within(raw, model, {"x": rows_of(3)})
    bounds = analysed(raw, {"x": exactly(rows_of(4)[:12])})
    assert not bounds["label"].error.any(), "nobody is near a tie"
    assert bounds["label"].choice is not None


def test_columns_that_get_names_move_to_the_order_of_the_names(tmp_path: Path) -> None:
    """Each is bounded by what its own column rounds: that of `last`, which is the second one of the names."""
    weights = np.zeros((3, 3), dtype=np.float32)
    weights[0] = (0.1, 0.7, 0.3)
    head = ml(
        "LinearClassifier",
        ["x"],
        ["label", "scores"],
        coefficients=weights.ravel().tolist(),
        intercepts=[0.0, 1.0, 2.0],
        classlabels_strings=["last", "first", "middle"],
        post_transform="NONE",
    )
    named = ml("ZipMap", ["scores"], ["named"], classlabels_strings=["last", "first", "middle"])
    model = network([head, named], outputs={"label": TensorProto.STRING})
    raw = opened(model, tmp_path)
    bounds = analysed(raw, {"x": exactly(rows_of(4)[:6])})
    scores, renamed = (bounds[name].error.reshape(6, 3) for name in ("scores", "named"))
    assert np.array_equal(renamed, scores[:, (1, 0, 2)])
    assert not np.array_equal(renamed, scores)
    assert within(raw, model, {"x": rows_of(3)})["named"][0] > 0


@pytest.mark.parametrize("transform", ["NONE", "LOGISTIC", "SOFTMAX"])
@pytest.mark.parametrize("targets", [1, 3])
def test_linear_regressors(targets: int, transform: str, tmp_path: Path) -> None:
    numbers = np.random.default_rng(targets).normal(size=4 * targets)
    head = ml(
        "LinearRegressor",
        ["x"],
        ["y"],
        coefficients=numbers[targets:].tolist(),
        intercepts=numbers[:targets].tolist(),
        targets=targets,
        post_transform=transform,
    )
    model = network([head])
    assert within(opened(model, tmp_path), model, {"x": rows_of(5)})["y"][0] < np.inf


VOTES = st.one_of(tree_files.WEIGHTS, st.floats(-3, 3, width=32))


@FEW
@given(
    forest=tree_files.forests(columns=(0,), weights=VOTES),
    transform=st.sampled_from(["NONE", "LOGISTIC"]),
    base=st.sampled_from([(), (0.125,)]),
)
def test_tree_classifiers_of_two(tmp_path: Path, forest: Any, transform: str, base: Any) -> None:
    more = {"base_values": list(base)} if base else {}
    head = tree_files.classifier(forest, post_transform=transform, **more)
    model = tree_files.tree_file([head])
    assert within(opened(model, tmp_path), model, {"x": tree_files.everyone()[::17].astype(np.float32)})


@FEW
@given(
    forest=tree_files.forests(columns=(0, 1, 2), weights=VOTES),
    transform=st.sampled_from(["NONE", "LOGISTIC", "SOFTMAX"]),
)
def test_tree_classifiers_of_three(tmp_path: Path, forest: Any, transform: str) -> None:
    model = tree_files.tree_file([tree_files.classifier(forest, (3, 1, 2), post_transform=transform)])
    assert within(opened(model, tmp_path), model, {"x": tree_files.everyone()[::17].astype(np.float32)})


@FEW
@given(
    forest=tree_files.forests(columns=(0, 1), weights=VOTES),
    aggregate=st.sampled_from(["SUM", "AVERAGE"]),
    transform=st.sampled_from(["NONE", "LOGISTIC", "SOFTMAX"]),
)
def test_tree_regressors(tmp_path: Path, forest: Any, aggregate: str, transform: str) -> None:
    head = tree_files.regressor(forest, n_targets=2, aggregate_function=aggregate, post_transform=transform)
    model = tree_files.tree_file([head], outputs=("y",))
    people = tree_files.everyone()[::17].astype(np.float32)
    raw = opened(model, tmp_path)
    assert within(raw, model, {"x": people})
    found = analysed(raw, {"x": exactly(people)})["y"]
    if aggregate == "SUM" and transform == "NONE":
        for row, person in enumerate(people[:20]):
            exact = tree_files.sums(forest, [Fraction(float(x)) for x in person], 2)
            for column, value in enumerate(exact):
                assert Fraction(found.low[row, 0, column]) <= value <= Fraction(found.high[row, 0, column])


@pytest.mark.parametrize("kernel", ["RBF", "POLY", "SIGMOID", "LINEAR"])
def test_machines(kernel: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(6)
    vectors, coefficients = rng.integers(-10, 11, (9, 3)).astype(float), np.round(rng.standard_normal(9), 3)
    model = classifier_file(vectors, coefficients, 0.05, kernel_type=kernel, kernel_params=[0.03, 0.25, 3.0])
    raw = opened(model, tmp_path)
    name = model.graph.input[0].name
    near = rng.integers(-10, 11, (40, 3)).astype(np.float32)
    assert within(raw, model, {name: np.concatenate([near, rows_of(7)])})
    for output in analysed(raw, {name: exactly(near)}).values():
        assert output.error.max() < 1e-2


def test_scikit_learn_heads(tmp_path: Path) -> None:
    """Probabilities to labels as exporters write them: comparisons, tables, encoders."""
    weights = {"w": np.float32([[0.5], [-1.25], [2]]), "b": np.float32([0.1]), "one": np.float32([1])}
    chain = [
        node("Gemm", ["x", "w", "b"], ["z"]),
        node("Sigmoid", ["z"], ["p"]),
        node("Sub", ["one", "p"], ["q"]),
        node("Concat", ["q", "p"], ["both"], axis=1),
        node("ArgMax", ["both"], ["place"], axis=1),
        ml("ArrayFeatureExtractor", ["classes", "place"], ["found"]),
        node("Cast", ["found"], ["cast"], to=TensorProto.INT64),
        node("Reshape", ["cast", "shape"], ["label"]),
        node("Greater", ["p", "half"], ["granted"]),
        ml("Binarizer", ["p"], ["sure"], threshold=0.75),
        ml("LabelEncoder", ["label"], ["coded"], keys_int64s=[4, 9], values_int64s=[1, 0]),
    ]
    more = {"classes": np.array([4, 9]), "shape": np.array([-1]), "half": np.float32([0.5])}
    kinds = {"label": TensorProto.INT64, "granted": TensorProto.BOOL, "sure": TensorProto.FLOAT}
    model = network(chain, {**weights, **more}, outputs={**kinds, "coded": TensorProto.INT64})
    model.opset_import[1].version = 2
    raw = opened(model, tmp_path)
    assert within(raw, model, {"x": rows_of(8)})
    bounds = analysed(raw, {"x": exactly(rows_of(9)[:12])})
    for name, labels in (("label", (4, 9)), ("granted", (0, 1)), ("coded", (1, 0))):
        assert not bounds[name].error.any()
        choice = bounds[name].choice
        assert choice is not None
        assert choice.labels == labels


def test_encoders(tmp_path: Path) -> None:
    nodes = [
        ml("OneHotEncoder", ["x"], ["hot"], cats_int64s=[-1, 0, 2], zeros=1),
        ml("LabelEncoder", ["x"], ["coded"], keys_floats=[0.5, -1.0], values_floats=[2.5, 7.0], default_float=0.25),
        ml("Scaler", ["x"], ["scaled"], offset=[0.1] * 3, scale=[3.0] * 3),
        node("Sub", ["x", "shift"], ["moved"]),
        ml("OneHotEncoder", ["moved"], ["cut"], cats_int64s=[0, 1], zeros=1),
    ]
    outputs = dict.fromkeys(("hot", "coded", "scaled", "cut"), TensorProto.FLOAT)
    model = network(nodes, {"shift": np.float32([0.1])}, outputs=outputs)
    model.opset_import[1].version = 2
    rows = np.concatenate([rows_of(10)[:12], np.float32([[1.1, 0.1, 2.1]])])
    assert within(opened(model, tmp_path), model, {"x": rows})


@st.composite
def nets(draw: st.DrawFn) -> tuple[onnx.ModelProto, list[tuple[Rows, Rows]]]:
    """Dense networks whose weights cancel, vanish, or are huge."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    widths = [3, *draw(st.lists(st.integers(1, 6), min_size=1, max_size=3)), 1]
    nodes, constants, last, layers = [], {}, "x", []
    for place, (before, after) in enumerate(pairwise(widths)):
        scale = 10.0 ** draw(st.sampled_from([0, 0, 0, 3, 12, -6, -30, -42]))
        weight = (rng.normal(size=(before, after)) * scale).astype(np.float32)
        if draw(st.booleans()):
            weight[-1] = -weight[0] * np.float32(1 + 2.0**-20)  # nearly cancels where inputs are alike
        bias = (rng.normal(size=after) * scale).astype(np.float32)
        constants |= {f"w{place}": weight, f"b{place}": bias}
        layers.append((weight, bias))
        nodes.append(node("Gemm", [last, f"w{place}", f"b{place}"], [f"z{place}"]))
        last = f"z{place}"
        if place < len(widths) - 2:
            nodes.append(node("Relu", [last], [f"h{place}"]))
            last = f"h{place}"
    nodes.append(node("Identity", [last], ["y"]))
    return network(nodes, constants), layers


def definition(layers: list[tuple[Rows, Rows]], row: Rows) -> Fraction:
    values = [Fraction(float(x)) for x in row]
    for place, (weight, bias) in enumerate(layers):
        sums = [
            sum((Fraction(float(w)) * v for w, v in zip(column, values, strict=True)), Fraction(float(b)))
            for column, b in zip(weight.T, bias, strict=True)
        ]
        values = sums if place == len(layers) - 1 else [max(value, Fraction(0)) for value in sums]
    return values[0]


@FEW
@given(case=nets(), seed=st.integers(0, 10**6))
def test_networks_that_cancel_vanish_or_overflow(tmp_path: Path, case: Any, seed: int) -> None:
    model, layers = case
    rows = rows_of(seed, count=3)
    rows = np.concatenate([rows, np.repeat(rows[:, :1], 3, axis=1)])
    raw = opened(model, tmp_path)
    within(raw, model, {"x": rows})
    found = analysed(raw, {"x": exactly(rows)})["y"]
    for row, person in enumerate(rows):
        exact = definition(layers, person)
        low, high = found.low[row, 0, 0], found.high[row, 0, 0]
        assert np.isinf(low) or Fraction(low) <= exact
        assert np.isinf(high) or exact <= Fraction(high)


@pytest.mark.parametrize("name", sorted(CASES))
def test_boxes(name: str, tmp_path: Path) -> None:
    """A box's bounds hold for everybody in it, also where the file is fed rounded numbers."""
    nodes, constants = CASES[name]
    model = network(nodes, constants)
    raw = opened(model, tmp_path)
    rng = np.random.default_rng(11)
    low = rng.normal(size=(1, 3))
    high = low + rng.uniform(0, 1, size=(1, 3))
    people = rng.uniform(low, high, size=(20, 3))
    fed = people.astype(np.float32)
    bounds = analysed(raw, {"x": Rounded(low, high, np.maximum(np.abs(low), np.abs(high)) * 2.0**-24)})
    inside(bounds, at_run_time(model, {"x": fed}))
    exact = analysed(raw, {"x": exactly(people)})["y"]
    whole = bounds["y"]
    assert (whole.low <= exact.high).all()
    assert (exact.low <= whole.high).all()


@FEW
@given(forest=tree_files.forests(columns=(0,), weights=VOTES), seed=st.integers(0, 10**6))
def test_trees_over_rounded_features(tmp_path: Path, forest: Any, seed: int) -> None:
    """A feature at a threshold may be rounded to its other side, and then any leaf below is possible."""
    scaler = ml("Scaler", ["x"], ["s"], offset=[0.1] * 3, scale=[3.0, 1 / 3, 1.0])
    model = tree_files.tree_file([scaler, tree_files.regressor(forest, source="s")], outputs=("y",))
    rng = np.random.default_rng(seed)
    thresholds = rng.integers(-3, 12, (24, 3)) / 2
    people = (thresholds / [3.0, 1 / 3, 1.0] + 0.1).astype(np.float32)
    assert within(opened(model, tmp_path), model, {"x": people})


def test_whole_votes_are_summed_without_error(tmp_path: Path) -> None:
    forest = [
        tree_files.Branch("BRANCH_LEQ", i, 0.5, tree_files.Leaf(((0, 0.25),)), tree_files.Leaf(((0, 3.5),)))
        for i in range(3)
    ]
    model = tree_files.tree_file([tree_files.regressor(forest)], outputs=("y",))
    found = analysed(opened(model, tmp_path), {"x": exactly(rows_of(12))})["y"]
    assert not found.error.any()
    assert np.array_equal(found.low, found.high)


def test_an_unknown_operator_leaves_out_what_depends_on_it(tmp_path: Path) -> None:
    model = network([node("Sin", ["x"], ["e"]), node("Relu", ["e"], ["r"]), node("Relu", ["x"], ["y"])])
    assert set(analysed(opened(model, tmp_path), {"x": exactly(rows_of(13))})) == {"x", "y"}


def graph_of(seed: int, folder: Path) -> None:
    """A random graph over all operators, as far as onnxruntime runs it: every tensor, and every feature not read."""
    model, inputs = drawn(seed, {**BUILDERS, **ML_BUILDERS})
    rng = np.random.default_rng(seed)
    feeds = {}
    for name, (shape, dtype) in inputs.items():
        rest = shape[1:] if len(shape) > 1 else shape
        feeds[name] = (rng.integers(-8, 9, (6, *rest)) / (1 if "int" in dtype else 2)).astype(dtype)
    try:
        raw = opened(model, folder)
        computed = at_run_time(model, feeds), at_run_time(model, feeds, expose=False)
    except Exception:  # refused by either of the two, which have classes of their own
        return
    bounds = analysed(raw, {name: exactly(rows) for name, rows in feeds.items()})
    for values in computed:
        inside(bounds, values)
    if any(one.op_type == "SVMClassifier" for one in model.graph.node):
        return  # onnxruntime leaves some of its scores as they are in memory
    widths = {name: rows[0].size for name, rows in feeds.items()}
    for output in computed[1]:
        read = features_read(raw, output, bounds, widths)
        changed = {name: np.where(read[name].reshape(rows.shape[1:]), rows, rows[::-1]) for name, rows in feeds.items()}
        again = at_run_time(model, changed, expose=False)[output]
        for one, other in zip(computed[1][output], again, strict=True):
            assert one.tolist() == other.tolist() or np.isnan(one).any()


@pytest.mark.parametrize("seed", range(40))
def test_random_graphs(seed: int, tmp_path: Path) -> None:
    graph_of(seed, tmp_path)


@pytest.mark.slow
def test_a_thousand_random_graphs(tmp_path: Path) -> None:
    for seed in range(40, 1000):
        graph_of(seed, tmp_path)
