"""Support vector machines from ONNX files: read exactly, decided as onnxruntime and scikit-learn decide, or refused."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.declaration import Highest, WhenClass, WhenProbability
from fairdsl.ir.domain import Category, CategoryValue
from fairdsl.ir.expr import Relation
from fairdsl.ir.model import ByThreshold, Model, Readout
from fairdsl.ir.opaque import Kernel, KernelMachine
from fairdsl.models import load_model
from fairdsl.models.running.runtime import Runtime
from fairdsl.numerics.evaluate import BatchEvaluator, points_of
from fairdsl.numerics.exact import decision, exact_scores
from fairdsl.numerics.kernel_float32 import decided_alike
from tests.models.model_files import SPAN, declaration, domain, ml, network, node, saved
from tests.models.svm_files import FLOAT, INT64, classifier, classifier_file, regressor
from tests.oracle import outcome, scores

PEOPLE = domain("age", "income", "sex")
PARAMETERS = {"RBF": [0.03, 0.0, 3.0], "POLY": [0.05, 0.5, 3.0], "SIGMOID": [0.05, -0.25, 0.0], "LINEAR": [0.0] * 3}


def drawn(seed: int, count: int = 9, width: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.integers(-10, 11, (count, width)).astype(float), np.round(rng.standard_normal(count), 3)


def individuals(seed: int, count: int = 60, width: int = 3) -> np.ndarray:
    return np.random.default_rng(seed).integers(-10, 11, (count, width)).astype(float)


def loaded(model: Any, folder: Path, clause: Any = None, people: Any = PEOPLE, **more: Any) -> Model:
    path = saved(model, folder)
    return load_model(declaration(path, clause or WhenClass.of(1, 1, SPAN), **more), people)


def runs_alike(model: Model, points: np.ndarray) -> None:
    """In exact arithmetic, in float64 with its doubts settled, and in onnxruntime."""
    assert model.deployed is not None
    deployed = Runtime(model.deployed).decide_array(points)
    assert BatchEvaluator(model).settled(points).decisions.tolist() == deployed.tolist()
    assert [decision(model, point) for point in points_of(points[:20])] == deployed[:20].tolist()
    assert len(set(deployed.tolist())) == 2, "the test says nothing if everybody is decided alike"


@pytest.mark.parametrize("kernel", sorted(PARAMETERS))
@pytest.mark.parametrize("index", [0, 1])
def test_a_classifier_of_two_classes(tmp_path: Path, kernel: str, index: int) -> None:
    vectors, coefficients = drawn(1)
    made = classifier_file(vectors, coefficients, 0.05, kernel_type=kernel, kernel_params=PARAMETERS[kernel])
    model = loaded(made, tmp_path, WhenClass.of(1, index, SPAN))
    runs_alike(model, individuals(2))
    if kernel == "LINEAR":
        assert model.opaque is None
        assert model.rational
    else:
        assert isinstance(model.opaque, KernelMachine)
        assert model.opaque.kernel is Kernel[kernel]
        assert not model.rational
        points = points_of(individuals(2)[:5])
        assert [decision(model, point) for point in points] == [outcome(model, point) for point in points]


def test_the_labels_may_be_words_and_other_numbers(tmp_path: Path) -> None:
    vectors, coefficients = drawn(3)
    words = loaded(classifier_file(vectors, coefficients, labels=("no", "yes")), tmp_path, WhenClass.of(1, "yes", SPAN))
    assert words.deployed is not None
    assert words.deployed.labels == ("no", "yes")
    runs_alike(words, individuals(4))
    signs = loaded(classifier_file(vectors, coefficients, labels=(-1, 1)), tmp_path)
    assert words.rule == signs.rule
    runs_alike(signs, individuals(4))


def test_a_tie_is_the_second_class(tmp_path: Path) -> None:
    """Equal distances with opposite coefficients: the value is 0, and no vote goes to the first class."""
    made = classifier_file(np.array([[4.0, 0, 0], [-4.0, 0, 0]]), [1.0, -1.0])
    model = loaded(made, tmp_path)
    tied = np.array([[0.0, 3.0, 1.0], [0.0, -7.0, 2.0], [1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]])
    assert BatchEvaluator(model).settled(tied).decisions.tolist() == [1, 1, 0, 1]
    runs_alike(model, tied)
    other = loaded(made, tmp_path, WhenClass.of(1, 0, SPAN))
    assert isinstance(other.rule, ByThreshold)
    assert other.rule.relation is Relation.LT
    assert BatchEvaluator(other).settled(tied).decisions.tolist() == [0, 0, 1, 0]
    runs_alike(loaded(made, tmp_path, Highest(span=SPAN)), tied)


def test_a_scaler_before_it_and_casts_behind_it(tmp_path: Path) -> None:
    vectors, coefficients = drawn(5)
    nodes = [
        ml("Scaler", ["x"], ["scaled"], offset=[1.0, -2.0, 0.5], scale=[0.3, 0.25, 2.0]),
        classifier(vectors / 4, coefficients, 0.1, source="scaled"),
        node("Cast", ["scores"], ["probabilities"], to=FLOAT),
        node("Cast", ["label"], ["chosen"], to=INT64),
        ml("ZipMap", ["probabilities"], ["named"], classlabels_int64s=[0, 1]),
    ]
    made = network(nodes, inputs={"x": ["N", 3]}, outputs={"chosen": INT64, "probabilities": FLOAT})
    model = loaded(made, tmp_path)
    assert model.deployed is not None
    assert not model.deployed.plain, "float32 rounds the features that the kernel reads"
    runs_alike(model, individuals(6))
    (exact,) = scores(model, points_of(individuals(6))[0])
    assert abs(Fraction(BatchEvaluator(model).approximate(individuals(6))[0, 0]) - exact) < Fraction(1, 10**9)


def test_features_that_are_codes_of_categories(tmp_path: Path) -> None:
    kinds = Category(values=tuple(CategoryValue(name=name, code=code) for name, code in (("a", 0), ("b", 3), ("c", 5))))
    nodes = [
        ml("OneHotEncoder", ["x"], ["codes"], cats_int64s=[0, 3, 5], zeros=1),
        node("Reshape", ["codes", "shape"], ["flat"]),
        classifier(np.eye(3), [1.0, -0.5, -0.25], -0.24, source="flat"),
    ]
    outputs = {"label": INT64, "scores": FLOAT}
    made = network(nodes, {"shape": np.array([-1, 3])}, inputs={"x": ["N", 1]}, outputs=outputs)
    model = loaded(made, tmp_path, people=domain("kind", kind=kinds))
    assert isinstance(model.opaque, KernelMachine)
    runs_alike(model, np.array([[0.0], [3.0], [5.0]]))


def test_the_scores_of_a_classifier_are_the_columns_of_onnxruntime(tmp_path: Path) -> None:
    """Without a label among the outputs the columns are compared, -v and v."""
    vectors, coefficients = drawn(7)
    made = network([classifier(vectors, coefficients, 0.05)], inputs={"x": ["N", 3]}, outputs={"scores": FLOAT})
    model = loaded(made, tmp_path, Highest(span=SPAN))
    assert model.deployed is not None
    assert model.deployed.readout is Readout.DIFFERENCE
    runs_alike(model, individuals(8))
    difference = Runtime(model.deployed).scores_array(individuals(8))[:, 0]
    assert np.abs(BatchEvaluator(model).approximate(individuals(8))[:, 0] - difference).max() < 1e-5


@pytest.mark.parametrize("kernel", sorted(PARAMETERS))
def test_a_regressor(tmp_path: Path, kernel: str) -> None:
    vectors, coefficients = drawn(9)
    machine = regressor(vectors, coefficients, -0.05, kernel_type=kernel, kernel_params=PARAMETERS[kernel])
    path = saved(network([machine], inputs={"x": ["N", 3]}), tmp_path)
    model = load_model(declaration(path), PEOPLE)
    runs_alike(model, individuals(10))
    assert model.rational == (kernel == "LINEAR")


def test_a_regressor_without_vectors_is_linear(tmp_path: Path) -> None:
    machine = regressor(np.zeros((0, 3)), [0.5, -1.0, 0.25], -0.125, kernel_type="LINEAR", n_supports=0)
    path = saved(network([machine], inputs={"x": ["N", 3]}), tmp_path)
    model = load_model(declaration(path), PEOPLE)
    assert exact_scores(model, (Fraction(1), Fraction(2), Fraction(4))) == (Fraction(1, 2) - 2 + 1 - Fraction(1, 8),)
    runs_alike(model, individuals(11))


def test_the_label_beside_probabilities_that_are_not_read(tmp_path: Path) -> None:
    """Probabilities move the decision of nobody: onnxruntime's label counts votes."""
    vectors, coefficients = drawn(12)
    made = classifier_file(vectors, coefficients, 0.05, prob_a=[-3.0], prob_b=[1.5])
    runs_alike(loaded(made, tmp_path), individuals(13))
    with pytest.raises(DiagnosticError) as caught:
        loaded(made, tmp_path, WhenProbability(outcome=1, relation=Relation.GE, threshold=Fraction(1, 2), span=SPAN))
    assert caught.value.diagnostics[0].code == "E0511"


def _refused(model: Any, folder: Path, reason: str) -> None:
    with pytest.raises(DiagnosticError) as caught:
        loaded(model, folder)
    (found,) = caught.value.diagnostics
    assert found.code == "E0504"
    assert found.primary is not None
    assert reason in (found.primary.text or "")


THREE = {"labels": (0, 1, 2), "per_class": (3, 3, 3)}


@pytest.mark.parametrize(
    ("attributes", "reason"),
    [
        (THREE, "its 3 classes are chosen by votes of pairs; two are read"),
        ({"per_class": (0, 0)}, "it has no support vectors"),
        ({"kernel_params": [-0.5, 0.0, 3.0]}, "its kernel grows with the distance: gamma is -0.5"),
        ({"kernel_type": "POLY", "kernel_params": [1.0, 0.0, 2.5]}, "the degree of its kernel is 2.5"),
        ({"kernel_type": "COSINE"}, "its kernel is `COSINE`"),
        ({"kernel_params": [float("inf"), 0.0, 3.0]}, "its `kernel_params` are not all finite numbers"),
        ({"support_vectors": [1.0] * 26}, "it has 9 coefficients and 26 numbers in support vectors"),
    ],
)
def test_what_is_not_read_is_refused_with_the_reason(tmp_path: Path, attributes: dict[str, Any], reason: str) -> None:
    vectors, coefficients = drawn(14)
    _refused(classifier_file(vectors, coefficients, **attributes), tmp_path, reason)


@pytest.mark.parametrize(
    ("attributes", "reason"),
    [
        ({"prob_a": [-1.0], "prob_b": [0.0]}, "its probabilities are fitted to the score by an iteration"),
        ({"post_transform": "PROBIT"}, "its scores go through `post_transform` PROBIT"),
    ],
)
def test_scores_that_are_not_read_alone(tmp_path: Path, attributes: dict[str, Any], reason: str) -> None:
    vectors, coefficients = drawn(15)
    machine = classifier(vectors, coefficients, **attributes)
    outputs = {"scores": FLOAT}
    _refused(network([machine], inputs={"x": ["N", 3]}, outputs=outputs), tmp_path, reason)
    computed = [machine, node("Relu", ["scores"], ["y"])]
    _refused(network(computed, inputs={"x": ["N", 3]}), tmp_path, reason)


def test_a_machine_among_other_things_is_refused(tmp_path: Path) -> None:
    vectors, coefficients = drawn(16)
    machine = regressor(vectors, coefficients, 0.0)
    others = [node("MatMul", ["x", "w"], ["s"]), node("Add", ["y", "s"], ["z"])]
    beside = network([machine, *others], {"w": np.ones((3, 1))}, outputs=("z",))
    path = saved(beside, tmp_path)
    with pytest.raises(DiagnosticError) as caught:
        load_model(declaration(path), PEOPLE)
    assert "not the only thing that the scores depend on" in str(caught.value.diagnostics[0].primary)
    bent = [node("Relu", ["x"], ["h"]), classifier(vectors, coefficients, source="h")]
    behind = network(bent, outputs={"label": INT64})
    _refused(behind, tmp_path, "its features are computed by units that bend")


@pytest.mark.parametrize("whole", [True, False])
def test_whom_the_file_is_bounded_to_decide_alike_it_does(tmp_path: Path, whole: bool) -> None:
    """With a value that is all but 0 for everybody, so that float32 errs as often as not."""
    rng = np.random.default_rng(17)
    vectors = rng.integers(0, 30, (400, 3)).astype(float) / (1 if whole else 7)
    coefficients = np.where(rng.random(400) < 0.5, 1.0, -1.0)
    points = rng.integers(0, 31, (3000, 3)).astype(float)
    exact = loaded(classifier_file(vectors, coefficients, kernel_params=[0.02, 0.0, 3.0]), tmp_path)
    scores_of_all = BatchEvaluator(exact).scores(points)[0]
    rho = float(np.median(scores_of_all))
    model = loaded(classifier_file(vectors, coefficients, rho, kernel_params=[0.02, 0.0, 3.0]), tmp_path)
    assert model.deployed is not None
    assert model.deployed.plain
    evaluator = BatchEvaluator(model)
    settled = evaluator.settled(points)
    alike = decided_alike(evaluator, points, settled)
    deployed = Runtime(model.deployed).decide_array(points)
    assert 0.9 < alike.mean() < 1
    assert (deployed[alike] == settled.decisions[alike]).all()


def _wrongly_bounded(folder: Path, vectors: np.ndarray, coefficients: np.ndarray, gamma: float, rho: float) -> int:
    """How many the file decides otherwise than exact arithmetic; none of them may be bounded to be decided alike."""
    width = vectors.shape[1]
    made = classifier_file(vectors, coefficients, rho, width=width, kernel_params=[gamma, 0.0, 3.0])
    model = loaded(made, folder, people=domain(*(f"v{place}" for place in range(width))))
    assert model.deployed is not None
    points = np.random.default_rng(31).integers(0, 11, (200, width)).astype(float)
    points[0] = 0.0
    evaluator = BatchEvaluator(model)
    settled = evaluator.settled(points)
    otherwise = Runtime(model.deployed).decide_array(points) != settled.decisions
    assert not (decided_alike(evaluator, points, settled) & otherwise).any()
    return int(otherwise.sum())


def test_vectors_that_come_twice_are_rounded_twice(tmp_path: Path) -> None:
    """Their coefficients cancel to next to nothing, and the roundings of their products in float32 do not."""
    rng = np.random.default_rng(32)
    first = rng.uniform(0.5, 1.0, 60).astype(np.float32)
    second = -first + (rng.integers(-3, 4, 60) * 2.0**-22).astype(np.float32)
    vectors = np.repeat(rng.integers(0, 11, (60, 3)), 2, axis=0).astype(float)
    coefficients = np.column_stack([first, second]).ravel()
    assert _wrongly_bounded(tmp_path, vectors, coefficients, 0.02, 0.0)


def test_what_float32_has_no_room_for_is_not_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Squared distances that overflow or vanish before gamma makes ordinary numbers of them; tiny products.

    Such files are refused when they are opened, which is put aside here.
    """
    monkeypatch.setattr("fairdsl.models.load._confirm", lambda *_: None)
    far = np.array([[1e20, 0.0, 0.0]])
    assert _wrongly_bounded(tmp_path, far, np.array([1.0]), 1e-40, -0.1)
    near = np.full((1, 40), 2.0**-75)
    assert _wrongly_bounded(tmp_path, near, np.array([1.0]), 2.0**127, float(np.float32(2.0**-22 - 1)))
    rng = np.random.default_rng(33)
    tiny = (rng.standard_normal(30) * 1e-43).astype(np.float32)
    assert _wrongly_bounded(tmp_path, rng.integers(0, 11, (30, 3)).astype(float), tiny, 0.02, 0.0)


def test_nothing_is_bounded_where_the_file_computes_in_another_way(tmp_path: Path) -> None:
    vectors, coefficients = drawn(18)
    for model in (
        loaded(classifier_file(vectors, coefficients, kernel_type="POLY"), tmp_path),
        load_model(declaration(saved(network([regressor(vectors, coefficients, 0.0)]), tmp_path)), PEOPLE),
    ):
        evaluator, points = BatchEvaluator(model), individuals(19)
        assert not decided_alike(evaluator, points, evaluator.settled(points)).any()


@pytest.mark.sklearn
@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly", "sigmoid"])
@pytest.mark.parametrize("scaled", [False, True])
def test_what_scikit_learn_exports(tmp_path: Path, kernel: str, scaled: bool) -> None:
    pytest.importorskip("sklearn")
    skl2onnx = pytest.importorskip("skl2onnx")
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC, SVR

    rows = individuals(20, 120).astype(np.float32)
    target = (rows[:, 0] * rows[:, 1] + 5 * rows[:, 2] > 0).astype(int)
    steps = [StandardScaler()] if scaled else []
    machine = make_pipeline(*steps, SVC(kernel=kernel, C=0.5)).fit(rows, target)
    model = loaded(skl2onnx.to_onnx(machine, rows[:1]), tmp_path)
    points = individuals(21, 200)
    runs_alike(model, points)
    assert (BatchEvaluator(model).settled(points).decisions == machine.predict(points)).mean() > 0.99
    margins = machine.decision_function(points)
    assert np.abs(np.abs(BatchEvaluator(model).approximate(points)[:, 0]) - np.abs(margins)).max() < 1e-2
    regression = make_pipeline(*steps, SVR(kernel=kernel, C=0.5)).fit(rows, target - 0.5)
    path = saved(skl2onnx.to_onnx(regression, rows[:1]), tmp_path, "r.onnx")
    predicted = BatchEvaluator(load_model(declaration(path), PEOPLE)).approximate(points)[:, 0]
    assert np.abs(predicted - regression.predict(points)).max() < 1e-2
