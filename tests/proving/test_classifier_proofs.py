"""Proofs about labels of scikit-learn's linear classifiers and MLPs: the checker decides as onnxruntime, or rejects."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import ModelProto, helper, numpy_helper

pytest.importorskip("skl2onnx")

from skl2onnx import to_onnx
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fairdsl.backends.contract import Silent
from fairdsl.proving import Proved, prove_spec
from fairdsl_verify import RejectedError
from fairdsl_verify.classifiers import _listed
from fairdsl_verify.command import check
from fairdsl_verify.onnx_file import Graph
from fairdsl_verify.question import YES, Question
from fairdsl_verify.tree import Checker
from tests.proving.test_checker_review import question

pytestmark = pytest.mark.sklearn

SPEC = """fair 1
audit "labels"
domain Person {{
  a : integer 0 .. 9
  b : integer 0 .. 9
  sex : category {{ f = 0, m = 1 }}
}}
protected sex
model m : Person -> {{ no, yes }}
  from "m.onnx"
  reads a, b, sex
  yes when {when}
property share {{ compare x, y : Person differ in sex measure fair_share }}
property calm {{ compare x, y : Person differ in sex among a <= 1 and b <= 1 require same decision }}
"""
PEOPLE = np.array(list(product(range(10), range(10), range(2))), dtype=np.float32)
LABELS: dict[str, tuple[Any, Any]] = {"whole": (3, 5), "bool": (False, True), "text": ("no", "yes")}
ESTIMATORS: dict[str, Callable[[], Any]] = {
    "linear": lambda: LogisticRegression(),
    "scaled": lambda: make_pipeline(StandardScaler(), LogisticRegression()),
    "mlp": lambda: MLPClassifier((4, 3), max_iter=150, random_state=0),
    "scaled mlp": lambda: make_pipeline(StandardScaler(), MLPClassifier((4,), max_iter=150, random_state=1)),
}


@cache
def fitted(kind: str, labels: tuple[Any, Any]) -> Any:
    return ESTIMATORS[kind]().fit(PEOPLE, np.array(labels)[(PEOPLE @ [1, 1, -2] > 8).astype(int)])


def exported(kind: str, labels: tuple[Any, Any] = (0, 1), given: Any = PEOPLE, **options: Any) -> ModelProto:
    """A fitted estimator's file; of its numbers two bits behind the point are left, so that nothing is rounded.

    Then some are exactly between the labels, and nobody is so near to that that float32 matters.
    """
    estimator = fitted(kind, labels)
    last = estimator.steps[-1][1] if kind.startswith("scaled") else estimator
    model = to_onnx(estimator, given[:1], options={id(last): options})
    for held in model.graph.initializer:
        if held.data_type == 1:
            held.CopyFrom(numpy_helper.from_array(coarse(numpy_helper.to_array(held)), held.name))
    for attribute in (each for node in model.graph.node for each in node.attribute):
        attribute.floats[:] = coarse(np.array(attribute.floats))
    return model


def coarse(numbers: Any) -> Any:
    return (np.round(numbers * 4) / 4).astype(np.float32)


def by_the_runtime(model: ModelProto, given: Any = PEOPLE) -> list[Any]:
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return list(session.run([session.get_outputs()[0].name], {session.get_inputs()[0].name: given})[0])


def by_the_checker(model: ModelProto, label: Any, **changes: Any) -> list[bool]:
    """Whether the checker believes everybody to get a label."""
    ranges = {"a": (0, 9), "b": (0, 9), "sex": (0, 1)}
    said = question(
        attributes=[{"name": n, "type": "integer", "low": low, "high": high} for n, (low, high) in ranges.items()],
        reads=[{"constant": 0, "terms": [[name, 1]]} for name in ranges],
        decides={"of": "label", "relation": "=", "threshold": label},
    )
    checker = Checker(Question(said | changes), Graph(model.SerializeToString()))
    root = checker.root()
    found = {}
    for unit, sides in checker.everybody(root.box, root.known, range(2)):
        for sex, side in sides.items():
            found[unit[0][0], unit[1][0], sex] = (side == YES) == checker.net.upward
    return [found[a, b, sex] for a, b, sex in PEOPLE.astype(int).tolist()]


def right(model: ModelProto, labels: tuple[Any, Any], given: Any = PEOPLE) -> bool:
    """Whether the checker decides as the runtime, for each label; raises RejectedError."""
    believed = [by_the_checker(model, label) for label in labels]
    decided = by_the_runtime(model, given)
    return believed == [[each == label for each in decided] for label in labels]


@pytest.mark.parametrize("of", list(LABELS))
@pytest.mark.parametrize("kind", list(ESTIMATORS))
def test_everybody_gets_the_label_that_the_runtime_gives(kind: str, of: str) -> None:
    labels = LABELS[of]
    in_file = tuple(map(int, labels)) if of == "bool" else labels
    model = exported(kind, labels)
    assert len(set(by_the_runtime(model))) == 2
    assert right(model, in_file)
    assert right(exported(kind, labels, zipmap=False), in_file)
    assert right(exported(kind, labels, PEOPLE.astype(np.int64)), in_file, PEOPLE.astype(np.int64))


@pytest.mark.parametrize("kind", ["linear", "mlp"])
def test_between_the_labels_the_first_one_is_chosen(kind: str) -> None:
    """Of everybody with `a = b`: `a - b` decides."""
    model = exported(kind)
    if kind == "linear":
        put(model, "LinearClassifier", coefficients=[-1.0, 1, 0, 1, -1, 0], intercepts=[0.0, 0])
    else:
        difference, none = [[1, -1, 0, 0], [-1, 1, 0, 0], [0, 0, 0, 0]], [[0] * 4]
        numbers = [difference, none, np.eye(4, 3), [[0] * 3], [[1], [-1], [0]], [[0]]]
        for held, each in zip(list(model.graph.initializer)[:6], numbers, strict=True):
            held.CopyFrom(numpy_helper.from_array(np.array(each, dtype=np.float32), held.name))
    assert by_the_runtime(model) == [int(a > b) for a, b, _ in PEOPLE]
    assert right(model, (0, 1))


def node_of(model: ModelProto, op: str) -> Any:
    return next(node for node in model.graph.node if node.op_type == op)


def put(model: ModelProto, op: str, **attributes: Any) -> None:
    """Other attributes of a node."""
    node = node_of(model, op)
    kept = [each for each in node.attribute if each.name not in attributes]
    del node.attribute[:]
    node.attribute.extend([*kept, *(helper.make_attribute(name, value) for name, value in attributes.items())])


def relabelled(model: ModelProto, labels: list[Any]) -> None:
    """Another table of labels."""
    for held in (each for each in model.graph.initializer if each.name == "classes"):
        held.CopyFrom(helper.make_tensor("classes", held.data_type, [len(labels)], labels))
    for node in (each for each in model.graph.node if each.op_type == "LinearClassifier"):
        put(model, node.op_type, classlabels_ints=labels)


def negated(model: ModelProto) -> None:
    """Another sign of all coefficients."""
    for held in (each for each in model.graph.initializer if each.name in ("coefficient2", "intercepts2")):
        held.CopyFrom(numpy_helper.from_array(-numpy_helper.to_array(held), held.name))
    for node in (each for each in model.graph.node if each.op_type == "LinearClassifier"):
        for each in node.attribute:
            each.floats[:] = [-number for number in each.floats]


def turned(model: ModelProto, op: str) -> None:
    """What a node reads in another order."""
    node = node_of(model, op)
    node.input[:] = list(node.input)[::-1]


def between(model: ModelProto, op: str, by: str, **attributes: Any) -> None:
    """A node more, before one; `ai.onnx.ml` has some of these."""
    node = node_of(model, op)
    place = list(model.graph.node).index(node)
    more = helper.make_node(by, [node.input[0]], ["more"], domain="ai.onnx.ml" if by == "Scaler" else "", **attributes)
    node.input[0] = "more"
    model.graph.node.insert(place, more)


def swapped_outputs(model: ModelProto) -> None:
    """The probabilities first."""
    outputs = list(model.graph.output)[::-1]
    del model.graph.output[:]
    model.graph.output.extend(outputs)


def by(model: ModelProto, op: str, domain: str) -> None:
    """A node of the same name that is somebody else's."""
    node_of(model, op).domain = domain
    model.opset_import.append(helper.make_opsetid(domain, 1))


def both_alike(model: ModelProto) -> None:
    """`[1 - p, 1 - p]` in place of `[1 - p, p]`."""
    node = node_of(model, "Concat")
    node.input[1] = node.input[0]


def of_two(model: ModelProto) -> None:
    """`[2 - p, p]`."""
    (one,) = (each for each in model.graph.initializer if each.name == node_of(model, "Sub").input[0])
    one.CopyFrom(numpy_helper.from_array(2 * numpy_helper.to_array(one), one.name))


def wider(model: ModelProto) -> None:
    """A column more, which nobody fills."""
    model.graph.input[0].type.tensor_type.shape.dim[1].dim_value += 1


#: What is done to which files; whether they are rejected, or else decided as they are run.
TAMPERED: list[tuple[str, Callable[[ModelProto], None], bool]] = [
    *((kind, lambda model: relabelled(model, [1, 0]), False) for kind in ("scaled", "mlp")),
    *((kind, negated, False) for kind in ("scaled", "mlp")),
    *((kind, swapped_outputs, True) for kind in ESTIMATORS),
    *((kind, lambda model: relabelled(model, [1, 1]), True) for kind in ("linear", "mlp")),
    *((kind, lambda model: relabelled(model, [0, 2]), True) for kind in ("linear", "mlp")),
    ("mlp", lambda model: relabelled(model, [0, 1, 2]), True),
    ("mlp", lambda model: turned(model, "Sub"), True),
    ("mlp", lambda model: turned(model, "Concat"), True),
    ("mlp", lambda model: put(model, "Concat", axis=0), True),
    ("mlp", lambda model: put(model, "ArgMax", axis=1, select_last_index=1), True),
    ("mlp", lambda model: put(model, "ArgMax", axis=0), True),
    ("mlp", lambda model: between(model, "ArgMax", "Neg"), True),
    ("mlp", lambda model: between(model, "Sigmoid", "Neg"), True),
    ("mlp", lambda model: between(model, "Sigmoid", "Sigmoid"), True),
    ("mlp", lambda model: between(model, "Concat", "Sigmoid"), True),
    ("mlp", lambda model: between(model, "Reshape", "Neg"), True),
    ("mlp", lambda model: between(model, "MatMul", "Neg"), True),
    ("mlp", lambda model: between(model, "MatMul", "Cast", to=6), True),
    ("mlp", lambda model: between(model, "MatMul", "Scaler", offset=[1.0], scale=[-1.0]), False),
    (
        "scaled",
        lambda model: between(model, "LinearClassifier", "Scaler", offset=[1.0, 0, 2], scale=[-1.0, 2, 1]),
        False,
    ),
    ("scaled", lambda model: between(model, "LinearClassifier", "Sigmoid"), True),
    ("scaled", lambda model: between(model, "LinearClassifier", "Normalizer"), True),
    ("linear", lambda model: put(model, "LinearClassifier", coefficients=[1.0, -1, 0], intercepts=[0.5]), True),
    ("linear", lambda model: put(model, "LinearClassifier", intercepts=[0.25, 3.0]), False),
    ("linear", lambda model: put(model, "LinearClassifier", post_transform="SOFTMAX"), False),
    ("linear", lambda model: put(model, "LinearClassifier", post_transform="NONE"), False),
    ("linear", lambda model: put(model, "LinearClassifier", post_transform="PROBIT"), True),
    ("linear", lambda model: put(model, "Cast", to=9), True),
    *((kind, wider, True) for kind in ("linear", "mlp")),
    ("mlp", both_alike, True),
    ("mlp", of_two, True),
    ("mlp", lambda model: by(model, "Relu", "org.example"), True),
    ("scaled", lambda model: by(model, "Scaler", "org.example"), True),
    ("scaled", lambda model: put(model, "Scaler", offset=[1.0]), True),
    *(
        (kind, lambda model, op=op: put(model, op, more=1), True)
        for kind, op in (("scaled", "Scaler"), ("mlp", "Sigmoid"))
    ),
]


@pytest.mark.parametrize("number", range(len(TAMPERED)))
def test_a_file_that_was_changed_is_rejected_or_decided_as_it_is_run(number: int) -> None:
    kind, change, rejected = TAMPERED[number]
    model = exported(kind)
    change(model)
    if rejected:
        with pytest.raises(RejectedError):
            right(model, (0, 1))
    else:
        assert right(model, (0, 1))


def test_initializers_that_nobody_reads_are_rejected_and_so_are_whole_numbers_of_the_chain() -> None:
    for kind in ("linear", "mlp"):
        model = exported(kind)
        model.graph.initializer.append(numpy_helper.from_array(np.array([1]), "more"))
        with pytest.raises(RejectedError, match="`more` is of data type 7"):
            by_the_checker(model, 1)


def test_two_labels_that_are_one_are_rejected() -> None:
    """Everybody has that one, whatever the score is."""
    for kind in ("linear", "mlp"):
        relabelled(model := exported(kind), [1, 1])
        with pytest.raises(RejectedError, match="one of two labels"):
            by_the_checker(model, 1)


def test_text_is_not_cast_to_numbers() -> None:
    model = exported("linear", ("3", "5"))
    model.graph.node.append(helper.make_node("Cast", [model.graph.output[0].name], ["number"], to=7))
    model.graph.output[0].name = "number"
    with pytest.raises(RejectedError, match="labels that are text"):
        by_the_checker(model, "5")


def test_a_label_of_another_type_is_another_one() -> None:
    for label in ("1", 2, "yes"):
        with pytest.raises(RejectedError, match="another one"):
            by_the_checker(exported("linear"), label)


def test_a_list_that_readers_may_cut_is_rejected() -> None:
    """A label beyond 32 bits, which is 1 to who cuts it off; a list that is longer than its shape, or is nowhere."""
    beyond = b"\x28\x81\x80\x80\x80\x10"
    for shape, data, fits in ((1, b"\x28\x01", True), (1, beyond, False), (2, b"\x28\x01", False), (1, b"", False)):
        held = b"\x08" + bytes([shape]) + b"\x10\x06" + data + b"\x42\x01c"
        rest = Graph(exported("linear").SerializeToString())
        rest.others = {"c": held}
        if fits:
            assert _listed(rest, "c") == [1]
        else:
            with pytest.raises(RejectedError, match="no list of its size"):
                _listed(rest, "c")


@pytest.mark.parametrize(
    "column",
    [
        {"constant": 0, "terms": [["a", "1/2"]]},
        {"constant": "1/2", "terms": [["a", 1]]},
        {"constant": 0, "terms": [["sex", ["0", "1/2"]]]},
        {"constant": 0, "terms": [["real", 1]]},
    ],
)
def test_fractions_are_not_fed_to_a_file_of_whole_numbers(column: dict[str, Any]) -> None:
    model = exported("scaled", given=PEOPLE.astype(np.int64))
    sex, ends = {"name": "sex", "type": "values", "values": [0, 1], "labels": ["f", "m"]}, {"low": 0, "high": 9}
    people = [{"name": name, "type": kind, **ends} for name, kind in (("a", "integer"), ("real", "real"))]
    reads = [column, *({"constant": 0, "terms": [each]} for each in (["a", 1], ["sex", [0, 1]]))]
    with pytest.raises(RejectedError, match="cuts fractions off"):
        by_the_checker(model, 1, attributes=[*people, sex], reads=reads)


def test_nothing_is_said_of_labels_in_float32() -> None:
    """However far off scores are said to be."""
    claims = question()["claims"] | {"margin": 1000}
    with pytest.raises(RejectedError, match="float32 and a label"):
        by_the_checker(exported("linear"), 1, arithmetic="float32", claims=claims)


def shares(decided: list[Any]) -> Iterator[bool]:
    """Whether both sexes get one label, for each of all others."""
    yield from (one == other for one, other in zip(decided[::2], decided[1::2], strict=True))


@pytest.mark.parametrize(("kind", "of"), [("scaled", "text"), ("mlp", "whole")])
def test_all_of_the_share_is_proved(kind: str, of: str, tmp_path: Path) -> None:
    model = exported(kind, LABELS[of])
    onnx.save(model, tmp_path / "m.onnx")
    when = f'class = "{LABELS[of][1]}"' if of == "text" else f"class = {LABELS[of][1]}"
    (tmp_path / "p.fair").write_text(SPEC.format(when=when))
    found: tuple[Proved, ...] = prove_spec(
        str(tmp_path / "p.fair"), str(tmp_path), models={}, data={}, seconds=60, observer=Silent()
    )
    fair = list(shares(by_the_runtime(model)))
    calm = [one for one, (a, b, _) in zip(fair, PEOPLE[::2].tolist(), strict=True) if a <= 1 and b <= 1]
    assert 0 < sum(fair) < len(fair)
    assert all(calm)
    for each in found:
        assert each.proof is not None, each.said
        checked = check(Path(each.proof.path), tmp_path / "m.onnx")
        assert checked.follows
        if each.property == "share":
            assert (checked.totals.fair, checked.totals.unfair) == (sum(fair), len(fair) - sum(fair))
        else:
            assert checked.totals.holds


@pytest.mark.parametrize("label", [0, 1])
def test_rates_of_linear_classifiers_are_of_the_label_that_is_favoured(label: int, tmp_path: Path) -> None:
    model = exported("scaled")
    onnx.save(model, tmp_path / "m.onnx")
    head = SPEC.split("property")[0].format(when=f"class = {label}\n  favourable yes")
    asked = "distribution d over Person\n  uniform\nproperty rate { across sex under d measure impact_ratio }\n"
    (tmp_path / "p.fair").write_text(head + asked)
    (found,) = prove_spec(str(tmp_path / "p.fair"), str(tmp_path), models={}, data={}, seconds=60, observer=Silent())
    decided = by_the_runtime(model)
    rates = [sum(each == label for each in decided[sex::2]) for sex in (0, 1)]
    assert found.proof is not None, found.said
    ratio = Fraction(min(rates), max(rates))
    assert check(Path(found.proof.path), tmp_path / "m.onnx").number == (ratio, ratio)
