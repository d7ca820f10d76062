"""``fairdsl prune`` from the spec to the file, and what `check` says about that file."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result
from onnx import helper

import fairdsl
from fairdsl.cli.app import cli
from fairdsl.data.table import read_table
from fairdsl.models.running.runtime import Runtime
from fairdsl.semantics import front_end
from tests.models.model_files import network, node, saved

SPEC = """\
domain Applicant {
  sex : boolean
  age : integer 0 .. 199 column "age of entry"
}
protected sex
LABEL
model approve : Applicant -> { reject, grant }
  from "approve.onnx" DIGEST
  reads sex, age
  grant when score > 0
  favourable grant
property sex_never_decides {
  compare a, b : Applicant
  differ in sex
  require same decision
}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A network that discriminates at the age of 199 only: score = 1 + age - 400 max(age + sex - 199, 0)."""
    monkeypatch.chdir(tmp_path)
    proto = network(
        [
            node("Gemm", ["x", "w1", "b1"], ["z"]),
            node("Relu", ["z"], ["h"]),
            node("Gemm", ["h", "w2", "b2"], ["y"]),
        ],
        {
            "w1": np.array([[0.0, 1.0], [1.0, 1.0]]),
            "b1": np.array([0.0, -199.0]),
            "w2": np.array([[1.0], [-400.0]]),
            "b2": np.array([1.0]),
        },
        inputs={"x": ["N", 2]},
    )
    proto.graph.output[0].CopyFrom(helper.make_tensor_value_info("y", 1, ["N", 1]))
    saved(proto, tmp_path, "approve.onnx")
    write_spec(tmp_path)
    return tmp_path


def write_spec(folder: Path, label: str = "label repaid : boolean", digest: str = "") -> None:
    text = SPEC.replace("LABEL", label).replace("DIGEST", digest and f'sha256 "{digest}"')
    (folder / "spec.fair").write_text(text, encoding="utf-8")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, arguments)


def test_trap_12_the_verdict_on_the_pruned_file_is_not_the_original_s(folder: Path) -> None:
    pruned = fairdsl.prune("spec.fair", output="small.onnx", tolerance=Fraction(1, 100))
    assert "removed    1 of 2 hidden units" in str(pruned)
    assert (pruned.removed, pruned.units) == (1, 2)
    of_original = fairdsl.check("spec.fair", timeout=30)
    of_pruned = fairdsl.check("spec.fair", models={"approve": "small.onnx"}, timeout=30)
    assert of_original.properties[0].judgement.value == "violated"
    assert of_pruned.properties[0].judgement.value == "holds"
    assert pruned.disagreement is not None
    assert pruned.disagreement.changed > 0
    assert [finding.code for finding in of_original.diagnostics if finding.code == "W0703"] == []
    assert [finding.code for finding in of_pruned.diagnostics if finding.code == "W0703"] == ["W0703"]
    # The report is about the pruned file, by digest, and the command says what that means.
    assert [file.sha256 for file in of_pruned.models] == [pruned.sha256] != [pruned.original_sha256]
    taken = run("prune", "spec.fair", "-o", "small.onnx")
    assert taken.exit_code == 2
    assert "exists already" in taken.output
    assert "no folder" in run("prune", "spec.fair", "-o", "nowhere/smaller.onnx").output
    printed = run("prune", "spec.fair", "-o", "smaller.onnx").stdout
    assert "verdicts on `smaller.onnx` are about the pruned network, and prove nothing about" in printed


def test_what_the_command_prints(folder: Path) -> None:
    (folder / "people.csv").write_text(
        "sex,age of entry,repaid\n1,199,1\n1,199,0\n0,50,yes\nno,60,no\n", encoding="utf-8"
    )
    result = run("prune", "spec.fair", "--data", "people.csv", "--points", "4000", "-o", "small.onnx")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0] == "approve   approve.onnx -> small.onnx"
    assert lines[1] == "    tolerance  units active for at most 1% of 4,000 random individuals (seed 0)"
    assert lines[2] == "    removed    1 of 2 hidden units: 1 of 2 in layer 1"
    # Before: rejected, rejected, granted, granted; after: granted all four.
    assert lines[3] == "    accuracy   50% before, 50% after, on 4 rows of `people.csv`; 2 decisions changed"
    assert lines[4].startswith("    decisions  0.")
    assert lines[-1] == "    check it   fairdsl check spec.fair --model approve=small.onnx"


def test_as_json(folder: Path) -> None:
    written = json.loads(run("prune", "spec.fair", "--tolerance", "0.2", "-o", "small.onnx", "--json").stdout)
    assert written["schema"] == "fairdsl.pruned/2"
    assert written["layers"] == [{"units": 2, "removed": 1, "silenced": 0}]
    assert 0 < written["least"] < 0.02  # age and sex come to 200 for one in 400
    assert (written["tolerance_exact"], written["accuracy"], written["diagnostics"]) == ("1/5", None, [])
    assert (written["units"], written["removed"]) == (2, 1)
    assert written["original_sha256"] != written["sha256"]
    sampled = written["disagreement"]
    assert sampled["low"] <= sampled["changed"] / sampled["drawn"] <= sampled["high"]
    # One of 400 individuals is decided differently: the interval is right, and not trivially.
    assert sampled["low"] < 1 / 400 < sampled["high"] < 0.01


def test_a_tolerance_of_zero_keeps_units_that_were_ever_active() -> None:
    result = run("prune", "spec.fair", "--tolerance", "0%", "-o", "small.onnx")
    (line,) = (line for line in result.stdout.splitlines() if "removed" in line)
    same, hint = line.split("; ")
    assert same == "    removed    none of 2 hidden units: the file holds the same network"
    assert hint.startswith("the least active one is active for 0.")
    # Where nothing was removed there is nothing to warn of.
    assert run("lint", "--files", "spec.fair", "--model", "approve=small.onnx").stderr.count("W0703") == 0


def test_the_same_seed_gives_the_same_file(folder: Path) -> None:
    first = fairdsl.prune("spec.fair", output="one.onnx", seed=4)
    second = fairdsl.prune("spec.fair", output="two.onnx", seed=4)
    assert (first.sha256, first.disagreement) == (second.sha256, second.disagreement)
    assert (folder / "one.onnx").read_bytes() == (folder / "two.onnx").read_bytes()


def test_a_pinned_original_is_said(folder: Path) -> None:
    from hashlib import sha256

    write_spec(folder, digest=sha256((folder / "approve.onnx").read_bytes()).hexdigest())
    result = run("prune", "spec.fair", "-o", "small.onnx")
    assert result.exit_code == 0, result.output
    digest = sha256((folder / "small.onnx").read_bytes()).hexdigest()
    assert f'sha256 "{digest}"' in result.stdout
    write_spec(folder, digest=digest)
    assert run("lint", "--files", "spec.fair", "--model", "approve=small.onnx").exit_code == 0


def test_accuracy_by_names_of_outcomes_is_a_count(folder: Path) -> None:
    write_spec(folder, label='label truth : category { grant = 0, reject = 1 } column "what happened"')
    rng = np.random.default_rng(2)
    people = np.column_stack([rng.integers(0, 2, 60), rng.integers(195, 200, 60), rng.integers(0, 2, 60)])
    rows = "".join(f"{'true' if s else 'false'},{a},{'reject' if r else 'grant'}\n" for s, a, r in people.tolist())
    (folder / "people.csv").write_text("sex,age of entry,what happened\n" + rows, encoding="utf-8")
    pruned = fairdsl.prune("spec.fair", output="small.onnx", data="people.csv")
    rejected_before = (people[:, 0] == 1) & (people[:, 1] == 199)
    assert pruned.accuracy is not None
    assert pruned.accuracy.rows == 60
    assert pruned.accuracy.before == int((rejected_before == (people[:, 2] == 1)).sum())
    assert pruned.accuracy.after == int((people[:, 2] == 0).sum())
    assert pruned.accuracy.changed == int(rejected_before.sum()) > 0


@pytest.mark.parametrize(
    ("label", "values", "right"),
    [
        ("label repaid : boolean", "1,1,0", 2),
        ("label repaid : boolean deserving yes", "1,1,0", 2),
        ("label lapsed : boolean deserving no", "1,1,0", 1),
        ("label lapsed : category { never, once } deserving never", "never,never,once", 2),
        ("label lapsed : category { never, once } deserving once", "never,never,once", 1),
    ],
)
def test_the_deserving_are_those_for_whom_the_favourable_outcome_is_right(
    label: str, values: str, right: int, folder: Path
) -> None:
    """Three people whom the model grants credit, which it calls favourable."""
    write_spec(folder, label=label)
    name = label.split()[1]
    rows = "".join(f"no,60,{value}\n" for value in values.split(","))
    (folder / "people.csv").write_text(f"sex,age of entry,{name}\n{rows}", encoding="utf-8")
    pruned = fairdsl.prune("spec.fair", output="small.onnx", data="people.csv")
    assert pruned.accuracy is not None
    assert (pruned.accuracy.before, pruned.accuracy.rows) == (right, 3)


@pytest.mark.parametrize(
    "label",
    [
        "label repaid : integer 0 .. 1",
        "label repaid : category { yes, no }",
        "label repaid : boolean\nlabel other : boolean",
    ],
)
def test_labels_that_say_nothing_about_outcomes(label: str, folder: Path) -> None:
    write_spec(folder, label=label)
    (folder / "people.csv").write_text("sex,age of entry,repaid\n1,3,1\n", encoding="utf-8")
    result = run("prune", "spec.fair", "--data", "people.csv", "-o", "small.onnx")
    assert result.exit_code == 2
    assert "E0562" in result.stderr
    assert not (folder / "small.onnx").exists()


def test_wrong_data_leave_no_file(folder: Path) -> None:
    (folder / "people.csv").write_text("sex,age of entry,repaid\n1,200,1\n", encoding="utf-8")
    result = run("prune", "spec.fair", "--data", "people.csv", "-o", "small.onnx", "--json")
    finding = json.loads(result.stdout)["diagnostics"][0]
    assert (result.exit_code, finding["code"]) == (2, "E0532")
    assert (finding["primary"]["path"], finding["primary"]["start"]["line"], finding["primary"]["start"]["column"]) == (
        "people.csv",
        2,
        3,
    )
    assert not (folder / "small.onnx").exists()


@pytest.mark.parametrize("share", ["one", "101%", "-1%", "1/0", "1.5"])
def test_tolerances_that_are_no_shares(share: str) -> None:
    result = run("prune", "spec.fair", "--tolerance", share, "-o", "small.onnx")
    assert result.exit_code == 2
    assert "takes a share from 0 to 100%" in result.stderr


def test_a_network_without_hidden_units_is_refused(folder: Path) -> None:
    flat = network([node("Gemm", ["x", "w"], ["y"])], {"w": np.array([[1.0], [1.0]])}, inputs={"x": ["N", 2]})
    saved(flat, folder, "approve.onnx")
    result = run("prune", "spec.fair", "-o", "small.onnx")
    assert result.exit_code == 2
    assert "it has no hidden `Relu` units" in result.stderr


def test_the_original_is_not_overwritten(folder: Path) -> None:
    before = (folder / "approve.onnx").read_bytes()
    assert run("prune", "spec.fair", "-o", "approve.onnx").exit_code == 2
    assert (folder / "approve.onnx").read_bytes() == before


def test_the_example_s_data_are_read_and_its_network_is_cut(folder: Path) -> None:
    example = Path(__file__).parents[2] / "examples" / "credit"
    spec, _ = front_end(str(example / "credit.fair"))
    table = read_table(str(example / "credit.csv"), spec.domains["Applicant"])
    assert table.rows == 1000
    pruned = fairdsl.prune(example / "credit.fair", output="small.onnx", tolerance=0.3, points=2000)
    assert 0 < pruned.removed < pruned.units
    models, _ = load_pruned(str(example / "credit.fair"))
    decided = Runtime(models["approve"].deployed).decide_array(table.values.floats)
    assert set(decided.tolist()) == {0, 1}


def load_pruned(spec: str) -> tuple[dict, tuple]:
    from fairdsl.elaborate import load_models

    return load_models(front_end(spec)[0], {"approve": "small.onnx"})


def test_accuracy_and_changed_decisions_are_those_of_the_files(folder: Path) -> None:
    """In float32 a tenth of 3 less 3 tenths is 0, and exactly it is less."""
    tenth = np.float32(0.1)
    constants = {
        "w1": np.array([[0, 0], [tenth, 1]], np.float32),
        "b1": np.array([0, -199], np.float32),
        "w2": np.array([[1], [0]], np.float32),
        "b2": -np.array([tenth * np.float32(3)]),
    }
    nodes = [node("Gemm", ["x", "w1", "b1"], ["z"]), node("Relu", ["z"], ["h"]), node("Gemm", ["h", "w2", "b2"], ["y"])]
    saved(network(nodes, constants, inputs={"x": ["N", 2]}), folder, "approve.onnx")
    text = (folder / "spec.fair").read_text(encoding="utf-8").replace("score > 0", "score >= 0")
    (folder / "spec.fair").write_text(text, encoding="utf-8")
    (folder / "people.csv").write_text("sex,age of entry,repaid\n0,3,1\n0,2,0\n", encoding="utf-8")
    measured = fairdsl.prune("spec.fair", data="people.csv", output="small.onnx").accuracy
    assert measured is not None
    assert (measured.before, measured.after, measured.changed) == (2, 2, 0)
