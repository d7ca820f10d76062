"""Opening, pinning, binding and folding: what the spec gives must be what the file reads."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from model_files import SPAN, declaration, domain, naive, network, node, saved
from onnx import TensorProto

from fairdsl.diagnostics import Diagnostic, DiagnosticError, Reporter
from fairdsl.ir.declaration import InlineScore, WhenProbability
from fairdsl.ir.domain import Attribute, Boolean, Category, CategoryValue, Domain, Integer, Real
from fairdsl.ir.expr import TRUE, Member, Relation, Variable
from fairdsl.ir.feature import AttributeInput, Form, IndicatorInput
from fairdsl.ir.model import ByThreshold, Model
from fairdsl.models import load_model
from fairdsl.models.onnx_network import read_network
from fairdsl.models.running import runtime
from fairdsl.models.running.runtime import Runtime
from fairdsl.numerics.exact import exact_scores

PEOPLE = domain("age", "hours", "debt")
LINE = [node("Gemm", ["x", "w"], ["y"])]
W = {"w": np.float32([[1], [0.1], [-2]])}


def found(action: Callable[[], object]) -> list[Diagnostic]:
    with pytest.raises(DiagnosticError) as caught:
        action()
    return list(caught.value.diagnostics)


def codes(action: Callable[[], object]) -> list[str]:
    return [d.code for d in found(action)]


def load(path: str, people: Domain = PEOPLE, **settings: Any) -> Model:
    return load_model(declaration(path, **settings), people)


def score_in_float32(model: Model, *values: float) -> float:
    assert model.deployed is not None
    return float(Runtime(model.deployed).scores([tuple(Fraction(v) for v in values)])[0, 0])


# ---- files ---------------------------------------------------------------------------------------


def test_missing_file(tmp_path: Path) -> None:
    assert codes(lambda: load(str(tmp_path / "none.onnx"))) == ["E0501"]
    assert codes(lambda: load(str(tmp_path / "none.json"))) == ["E0501"]


def test_unknown_format(tmp_path: Path) -> None:
    assert codes(lambda: load(str(tmp_path / "model.pkl"))) == ["E0513"]
    assert codes(lambda: load(str(tmp_path / "model.onnx"), format="pickle")) == ["E0513"]


@pytest.mark.parametrize("content", [b"", b"hello", b"\x00" * 64, b"{}", bytes(range(256)) * 4])
def test_other_files_are_not_onnx(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "m.onnx").write_bytes(content)
    assert codes(lambda: load(str(tmp_path / "m.onnx"))) == ["E0502"]
    (without_a_spec,) = found(lambda: read_network(str(tmp_path / "m.onnx")))
    assert without_a_spec.primary is None
    assert len(without_a_spec.notes) == 1, "where no line is marked the reason is a note"


def test_damaged_files_end_in_a_diagnostic(tmp_path: Path) -> None:
    nodes = [node("Gemm", ["x", "w"], ["z"]), node("Clip", ["z", "", "h"], ["y"])]
    whole = network(nodes, {**W, "h": np.float32(3)}).SerializeToString()
    random = np.random.default_rng(3)
    for trial in range(150):
        damaged = bytearray(whole)
        for place in random.integers(0, len(whole), 3):
            damaged[place] = random.integers(0, 256)
        content = bytes(damaged if trial % 2 else damaged[: random.integers(1, len(whole))])
        (tmp_path / "m.onnx").write_bytes(content)
        with contextlib.suppress(DiagnosticError):
            load(str(tmp_path / "m.onnx"))


def test_graphs_that_contradict_themselves(tmp_path: Path) -> None:
    for nodes, constants in (
        ([node("Gemm", ["x", "w"], ["y"])], {"w": np.ones((5, 1))}),
        ([node("Relu", ["nothing"], ["y"])], {}),
        ([node("Relu", ["x"], ["z"])], {}),
        ([node("Reshape", ["x", "s"], ["y"])], {"s": np.array([7], dtype=np.int64)}),
    ):
        path = saved(network(nodes, constants), tmp_path)
        assert codes(lambda path=path: load(path))[0] in ("E0502", "E0504")  # type: ignore[misc]


def test_newer_operator_sets_are_refused(tmp_path: Path) -> None:
    assert codes(lambda: load(saved(network(LINE, W, opset=99), tmp_path))) == ["E0502"]


def test_every_unknown_operator_is_named(tmp_path: Path) -> None:
    nodes = [node("Softsign", ["x"], ["a"]), node("Gemm", ["a", "w"], ["b"]), node("Atan", ["b"], ["y"])]
    problems = found(lambda: load(saved(network(nodes, W), tmp_path)))
    assert [p.title for p in problems] == ["the operator `Softsign` is not read", "the operator `Atan` is not read"]
    assert problems[0].primary is not None
    assert "Softsign_a" in problems[0].primary.text
    assert "LeakyRelu" in problems[0].notes[0]


@pytest.mark.parametrize(
    "nodes",
    [
        [node("Softmax", ["x"], ["p"]), node("Gemm", ["p", "w"], ["y"])],
        [node("Sigmoid", ["x"], ["p"]), node("Relu", ["x"], ["r"]), node("Mul", ["p", "r"], ["y"])],
        [node("Gather", ["x", "turn"], ["t"], axis=1), node("Mul", ["x", "t"], ["y"])],
        [node("MatMul", ["x", "x"], ["y"])],
        [node("Div", ["c", "x"], ["y"])],
        [node("Div", ["x", "zero"], ["y"])],
        [node("ArgMax", ["x"], ["a"], axis=1), node("Cast", ["a"], ["b"], to=1), node("Mul", ["b", "c"], ["y"])],
        [
            node("Relu", ["x"], ["r"]),
            node("Cast", ["r"], ["i"], to=TensorProto.INT64),
            node("Cast", ["i"], ["y"], to=1),
        ],
    ],
)
def test_uses_without_exact_meaning(nodes: list[Any], tmp_path: Path) -> None:
    constants = {**W, "c": np.ones(3), "zero": np.zeros(3), "turn": np.array([1, 2, 0], dtype=np.int64)}
    assert codes(lambda: load(saved(network(nodes, constants), tmp_path))) == ["E0504"]


def test_a_score_that_is_a_table_is_read(tmp_path: Path) -> None:
    """A square of one whole number, with nothing behind it: any function of few values is exact."""
    path = saved(network([node("Mul", ["x", "x"], ["y"])], {}, inputs={"x": ["N", 1]}), tmp_path)
    loaded = load(path, domain("age"))
    for value in (0, 7, 10):
        assert exact_scores(loaded, (Fraction(value),)) == (Fraction(value * value),)


def test_weights_that_are_not_finite(tmp_path: Path) -> None:
    for value in (np.nan, np.inf):
        assert codes(lambda v=value: load(saved(network(LINE, {"w": [[1], [v], [2]]}), tmp_path))) == ["E0506"]  # type: ignore[misc]


def test_side_files(tmp_path: Path) -> None:
    model = network(LINE, {"w": np.float32([[1], [0.1], [-2]])})
    path = tmp_path / "model.onnx"
    onnx.save(model, path, save_as_external_data=True, location="model.onnx.data", size_threshold=0)
    loaded = load(str(path))
    assert exact_scores(loaded, (Fraction(0), Fraction(1), Fraction(0))) == (Fraction(13421773, 134217728),)
    both = path.read_bytes() + (tmp_path / "model.onnx.data").read_bytes()
    assert loaded.sha256 == sha256(both).hexdigest()
    assert score_in_float32(loaded, 1, 0, 1) == -1
    (tmp_path / "model.onnx.data").unlink()
    (problem,) = found(lambda: load(str(path)))
    assert problem.code == "E0505"
    assert problem.primary is not None
    assert "model.onnx.data" in problem.primary.text


def test_side_files_stay_in_the_models_folder(tmp_path: Path) -> None:
    model = network(LINE, W)
    (tmp_path / "outside.data").write_bytes(b"\0" * 12)
    folder = tmp_path / "inside"
    folder.mkdir()
    onnx.save(model, folder / "m.onnx", save_as_external_data=True, location="m.data", size_threshold=0)
    changed = onnx.load(folder / "m.onnx", load_external_data=False)
    changed.graph.initializer[0].external_data[0].value = "../outside.data"
    assert codes(lambda: load(saved(changed, folder, "m.onnx"))) == ["E0505"]


def test_pinned_digests(tmp_path: Path) -> None:
    path = saved(network(LINE, W), tmp_path)
    digest = sha256(Path(path).read_bytes()).hexdigest()
    assert load(path, sha256=digest.upper()).sha256 == digest
    (problem,) = found(lambda: load(path, sha256="0" * 64))
    assert problem.code == "E0507"
    assert any("0" * 64 in note for note in problem.notes)
    assert any(digest in note for note in problem.notes)
    (malformed,) = found(lambda: load(path, sha256=digest[:-1]))
    assert malformed.code == "E0507"
    assert malformed.title.endswith("is pinned by something that is not a SHA-256")
    assert malformed.primary is not None
    assert malformed.primary.text == "a SHA-256 is 64 hexadecimal digits"
    other = saved(network(LINE, {"w": np.ones((3, 1))}), tmp_path, "other.onnx")
    pinned = declaration(path, sha256=digest)
    assert codes(lambda: load_model(pinned, PEOPLE, override_path=other)) == ["E0507"]
    assert load_model(declaration(path), PEOPLE, override_path=other).layers[0].weight.floats.tolist() == [[1, 1, 1]]


# ---- inputs --------------------------------------------------------------------------------------


def test_width_must_agree(tmp_path: Path) -> None:
    path = saved(network(LINE, W), tmp_path)
    (problem,) = found(lambda: load(path, domain("age", "hours")))
    assert problem.title == "the network reads 3 numbers, `Applicant` has 2 attributes"
    assert "`age`, `hours`" in problem.notes[0]
    assert problem.help is not None
    assert "`reads`" in problem.help
    assert codes(lambda: load(path, reads=(Form.of(AttributeInput(0)),))) == ["E0508"]


def test_open_widths_are_taken_from_the_spec(tmp_path: Path) -> None:
    path = saved(network(LINE, W, inputs={"x": ["N", "D"]}), tmp_path)
    assert load(path).layers[0].weight.shape == (1, 3)


@pytest.mark.parametrize("shape", [["N", "D"], None])
def test_an_open_width_is_named_where_the_file_does_not_fit_it(shape: list[Any] | None, tmp_path: Path) -> None:
    path = saved(network(LINE, W, inputs={"x": shape}), tmp_path)  # type: ignore[dict-item]
    (problem,) = found(lambda: load(path, domain("age", "hours")))
    assert problem.primary is not None
    assert problem.code == "E0509"
    assert "the file declares no width" in problem.primary.text


NAMED = [node("Concat", ["debt_ratio", "age", "hours"], ["x"], axis=1), *LINE]


@pytest.mark.parametrize("shape", [["N", 1], ["N"]])
def test_named_inputs_are_bound_by_name(shape: list[Any], tmp_path: Path) -> None:
    """Trap 6: the order of the columns is the file's, not the domain's."""
    nodes = NAMED
    if len(shape) == 1:
        names = ["debt_ratio", "age", "hours"]
        nodes = [node("Unsqueeze", [n, "one"], [f"{n}_"]) for n in names]
        nodes += [node("Concat", [f"{n}_" for n in names], ["x"], axis=1), *LINE]
    inputs = dict.fromkeys(["debt_ratio", "age", "hours"], shape)
    path = saved(network(nodes, {**W, "one": np.array([-1], dtype=np.int64)}, inputs=inputs), tmp_path)
    named = Domain(
        name="Applicant",
        attributes=(
            Attribute(name="age", type=Integer(low=0, high=99)),
            Attribute(name="hours", type=Integer(low=0, high=99)),
            Attribute(name="debt", type=Integer(low=0, high=99), column="debt_ratio"),
        ),
        where=TRUE,
    )
    model = load(path, named)
    point = (Fraction(3), Fraction(5), Fraction(7))
    (score,) = exact_scores(model, point)
    assert score == 7 + 3 * Fraction(13421773, 134217728) - 10
    assert score_in_float32(model, 3, 5, 7) == pytest.approx(float(score))
    assert model.deployed is not None
    batch = np.array([[3, 5, 7], [1, 2, 3]], dtype=np.float64)
    assert Runtime(model.deployed).scores_array(batch)[:, 0] == pytest.approx([float(score), 3 + 0.1 - 4])
    (problem,) = found(lambda: load(path))
    assert problem.code == "E0509"


def test_a_header_that_an_exporter_has_made_a_name_of_is_said(tmp_path: Path) -> None:
    path = saved(network(NAMED, W, inputs={key: ["N", 1] for key in ("debt_ratio", "age", "hours")}), tmp_path)

    def named(*columns: tuple[str, str | None]) -> Domain:
        kind = Integer(low=0, high=99)
        return Domain(
            name="P", attributes=tuple(Attribute(name=n, type=kind, column=c) for n, c in columns), where=TRUE
        )

    (problem,) = found(lambda: load(path, named(("age", None), ("hours", None), ("debt", "debt-ratio"))))
    assert problem.help is not None
    assert 'name the attribute as the file names it, `debt_ratio : ... column "debt-ratio"`' in problem.help
    (problem,) = found(lambda: load(path, named(("age", None), ("debt_ratio", "hours"), ("years", None))))
    assert problem.primary is not None
    assert "`debt_ratio` would fill both" in problem.primary.text


def test_integer_inputs_take_whole_numbers(tmp_path: Path) -> None:
    nodes = [node("Cast", ["x"], ["f"], to=TensorProto.FLOAT), node("Gemm", ["f", "w"], ["y"])]
    path = saved(network(nodes, W, dtype=TensorProto.INT64), tmp_path)
    assert score_in_float32(load(path), 1, 0, 2) == -3
    real = domain("a", "b", "c", kind=Real(low=Fraction(0), high=Fraction(1)))
    assert codes(lambda: load(path, real)) == ["E0509"]


def test_text_inputs_are_refused(tmp_path: Path) -> None:
    nodes = [node("Identity", ["x"], ["y"])]
    assert codes(lambda: load(saved(network(nodes, {}, dtype=TensorProto.STRING), tmp_path))) == ["E0509"]


JOBS = Domain(
    name="Applicant",
    attributes=(
        Attribute(name="age", type=Integer(low=18, high=70)),
        Attribute(
            name="job",
            type=Category(values=(CategoryValue(name="none", code=0), CategoryValue(name="some", code=4))),
        ),
        Attribute(name="owner", type=Boolean()),
    ),
    where=TRUE,
)


def is_job(code: int) -> Form:
    return Form.of(IndicatorInput(Member(variable=Variable(1), values=frozenset({Fraction(code)}))))


def test_reads_with_indicators_and_scaling(tmp_path: Path) -> None:
    scaled = Form(((AttributeInput(0), Fraction(5, 66)),), -Fraction(193, 66))  # (age - 38.6) / 13.2
    model = load(saved(network(LINE, W), tmp_path), JOBS, reads=(is_job(0), scaled, is_job(4)))
    tenth = Fraction(13421773, 134217728)
    for age, job in ((18, 0), (70, 4)):
        expected = (1 if job == 0 else -2) + tenth * (age - Fraction("38.6")) / Fraction("13.2")
        assert exact_scores(model, (Fraction(age), Fraction(job), Fraction(1))) == (expected,)
        assert score_in_float32(model, age, job, 1) == pytest.approx(float(expected), abs=1e-6)
    assert model.inputs == (is_job(0).terms[0][0], AttributeInput(0), is_job(4).terms[0][0])


def test_an_attribute_read_twice_is_one_input(tmp_path: Path) -> None:
    age = Form.of(AttributeInput(0))
    model = load(saved(network(LINE, W), tmp_path), reads=(age, age.scaled(Fraction(1, 3)), Form((), Fraction(2))))
    assert model.inputs == (AttributeInput(0),)
    assert naive(model.layers, [6]) == [6 + 2 * Fraction(13421773, 134217728) - 4]


# ---- rules and inline scores ---------------------------------------------------------------------


def test_probability_of_a_raw_score_warns(tmp_path: Path) -> None:
    clause = WhenProbability(outcome=1, relation=Relation.GE, threshold=Fraction(7, 10), span=SPAN)
    reporter = Reporter()
    model = load_model(declaration(saved(network(LINE, W), tmp_path), clause), PEOPLE, reporter=reporter)
    assert [d.code for d in reporter] == ["W0702"]
    assert isinstance(model.rule, ByThreshold)
    assert Fraction("0.8472978603872036") < model.rule.low < model.rule.high < Fraction("0.8472978603872037")
    assert 0 < model.rule.high - model.rule.low <= Fraction(1, 2**200)


def test_width_and_rule_are_reported_together(tmp_path: Path) -> None:
    path = saved(network([node("Gemm", ["x", "w"], ["y"])], {"w": np.ones((3, 2))}), tmp_path)
    assert codes(lambda: load(path, domain("age"))) == ["E0508", "E0511"]


def test_the_width_tells_what_is_probably_missing(tmp_path: Path) -> None:
    """A label or an attribute more, or indicators in place of codes."""

    def said(width: int) -> str:
        path = saved(network(LINE, {"w": np.ones((width, 1))}, inputs={"x": ["N", width]}), tmp_path)
        category = Category(values=tuple(CategoryValue(name=name, code=place) for place, name in enumerate("abc")))
        attributes = (Attribute(name="job", type=category), Attribute(name="sex", type=Boolean()))
        with pytest.raises(DiagnosticError) as caught:
            load_model(declaration(path), Domain(name="P", attributes=attributes, where=TRUE))
        return next(each.help or "" for each in caught.value.diagnostics if each.code == "E0508")

    assert said(3).startswith("declare the attribute that `P` lacks, or train it without its label or an index; else ")
    assert "write `reads one_hot(job), sex`, in the network's order" in said(4)
    assert said(5).startswith("write `reads` and the features")


def test_inline_scores_are_exact() -> None:
    form = Form(((AttributeInput(2), Fraction("9.37")), (AttributeInput(0), Fraction("-0.34"))), Fraction("-9.4"))
    written = declaration("")
    inline = type(written)(
        name="fit",
        outcomes=("no", "yes"),
        favourable=1,
        source=InlineScore(form=form, span=SPAN),
        decision=written.decision,
        span=SPAN,
    )
    model = load_model(inline, PEOPLE)
    assert exact_scores(model, (Fraction(1), Fraction(0), Fraction(1))) == (Fraction("-0.37"),)
    assert (model.deployed, model.sha256) == (None, None)


# ---- the runtime ---------------------------------------------------------------------------------


def test_fixed_batches_are_padded(tmp_path: Path) -> None:
    for shape in ([1, 3], [4, 3], [3]):
        nodes = LINE if len(shape) == 2 else [node("MatMul", ["x", "w"], ["y"])]
        model = load(saved(network(nodes, W, inputs={"x": shape}), tmp_path, f"m{shape[0]}{len(shape)}.onnx"))
        assert model.deployed is not None
        runtime = Runtime(model.deployed)
        rows = np.array([[i, 0, i % 2] for i in range(-3, 4)], dtype=np.float64)
        expected = [i - 2 * (i % 2) for i in range(-3, 4)]
        assert runtime.scores_array(rows)[:, 0].tolist() == expected
        assert runtime.decide_array(rows).tolist() == [int(v > 0) for v in expected]
        assert runtime.scores([tuple(Fraction(v) for v in row) for row in rows.tolist()])[:, 0].tolist() == expected
        assert runtime.decide_array(np.zeros((0, 3))).tolist() == []


def test_a_file_that_changed_is_not_replayed(tmp_path: Path) -> None:
    path = saved(network(LINE, W), tmp_path)
    model = load(path)
    Path(path).write_bytes(network(LINE, {"w": np.ones((3, 1))}).SerializeToString())
    assert model.deployed is not None
    runtime._session.cache_clear()  # else the file runs as it was when it was opened
    assert codes(lambda: Runtime(model.deployed)) == ["E0514"]  # type: ignore[arg-type]


def test_features_are_rounded_once(tmp_path: Path) -> None:
    """A number just above the middle of two float32 rounds up, though its float64 is the middle."""
    from fairdsl.models.features import rounded

    middle = Fraction(1) + Fraction(1, 2**24)
    assert rounded(middle, "float32") == 1.0
    assert rounded(middle + Fraction(1, 2**70), "float32") == 1.0 + 2.0**-23
    assert rounded(middle - Fraction(1, 2**70), "float32") == 1.0
    assert rounded(Fraction(7), "int64") == 7


def test_nothing_heavy_is_imported_early() -> None:
    code = "import sys, fairdsl.models; print([m for m in ('onnx', 'onnxruntime') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
