"""``guarantee``: the written file votes as the definition says, for everybody of small domains, and is proved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
from click.testing import CliRunner
from onnx import TensorProto

import fairdsl
from fairdsl.cli.app import cli
from fairdsl.verdict import Judgement
from tests.models.model_files import ml, network, node

DOMAIN = """\
domain Applicant {
  sex  : boolean
  race : category { a = 0, b = 1, c = 3 }
  debt : integer 0 .. 9
}
protected sex, race
label repaid : category { OUTCOMES }
"""
PROPERTY = """\
property p {
  compare a, b : Applicant
  differ in any sex, race
  require same decision
}
"""
EVERYBODY = list(product((0, 1), (0, 1, 3), range(10)))
#: Weights of sex, race and debt for each of three classes, which nobody's scores make equal.
WEIGHTS = np.array([[0.7, -1.2, 0.4], [-1.4, 0.55, 0.1], [0.3, 0.3, -0.37]], dtype=np.float32).T
BIAS = np.array([-1.1, 1.6, 0.77], dtype=np.float32)
SCORES = [node("Gemm", ["x", "w", "b"], ["s"])]
SINGLE = [*SCORES, node("Gather", ["s", "first"], ["y"], axis=1)]
TWO = [*SCORES, node("Gather", ["s", "both"], ["pair"], axis=1), node("Softmax", ["pair"], ["p"], axis=1)]
NAMES = {"keys_int64s": [0, 1, 2], "values_strings": ["no", "maybe", "yes"]}


@dataclass(frozen=True)
class Case:
    """A file, its clause in the spec, and what its outputs mean, from scores [3]; outcomes from the worst one up."""

    nodes: Sequence[Any]
    outputs: dict[str, int]
    clause: str
    outcomes: str
    decided: Any


CASES = {
    "score": Case(SINGLE, {"y": 1}, "yes when score > 0", "no, yes", lambda s: int(s[0] > 0)),
    "low is good": Case(SINGLE, {"y": 1}, "yes when score < 0", "no, yes", lambda s: int(s[0] < 0)),
    "highest": Case(
        [*SCORES, node("Identity", ["s"], ["y"])], {"y": 1}, "decide by highest score", "no < maybe < yes", np.argmax
    ),
    "class": Case(
        [*TWO, node("ArgMax", ["p"], ["y"], axis=1, keepdims=0)],
        {"y": TensorProto.INT64},
        "yes when class = 1",
        "no, yes",
        lambda s: int(s[1] > s[0]),
    ),
    "texts": Case(
        [
            *SCORES,
            node("ArgMax", ["s"], ["l"], axis=1, keepdims=0),
            node("LabelEncoder", ["l"], ["y"], domain="ai.onnx.ml", **NAMES),
        ],
        {"y": TensorProto.STRING},
        'no when class = "no"\n  maybe when class = "maybe"\n  yes when class = "yes"',
        "no < maybe < yes",
        np.argmax,
    ),
    "probability": Case(
        [*TWO, node("Identity", ["p"], ["y"])],
        {"y": 1},
        "yes when probability >= 0.5",
        "no, yes",
        lambda s: int(s[1] >= s[0]),
    ),
    "dictionaries": Case(
        [*TWO, ml("ZipMap", ["p"], ["y"], classlabels_int64s=[0, 1])],
        {"y": 0},
        "yes when probability >= 0.5",
        "no, yes",
        lambda s: int(s[1] >= s[0]),
    ),
}


def write(folder: Path, case: Case, *, favourable: str = "  favourable yes\n", reads: str = "") -> None:
    model = network(
        case.nodes,
        {"w": WEIGHTS, "b": BIAS, "first": np.array([0]), "both": np.array([0, 1])},
        outputs=case.outputs,
    )
    model.opset_import[1].version = 2
    if 0 in case.outputs.values():
        from onnx import helper

        pairs = helper.make_map_type_proto(TensorProto.INT64, helper.make_tensor_type_proto(TensorProto.FLOAT, []))
        model.graph.output[0].type.CopyFrom(helper.make_sequence_type_proto(pairs))
    (folder / "m.onnx").write_bytes(model.SerializeToString())
    head = DOMAIN.replace("OUTCOMES", case.outcomes.replace("<", ","))
    clause = f'model m : Applicant -> {{ {case.outcomes} }}\n  from "m.onnx"\n{reads}  {case.clause}\n{favourable}'
    (folder / "s.fair").write_text(head + clause + PROPERTY)
    names = case.outcomes.replace("<", ",").split(", ")
    lines = [f"{sex},{'abxc'[race]},{debt},{names[(sex + debt) % len(names)]}" for sex, race, debt in EVERYBODY]
    sexes = {"0": "false", "1": "true"}
    rows = [sexes[line[0]] + line[1:] for line in lines]
    (folder / "rows.csv").write_text("\n".join(["sex,race,debt,repaid", *rows]))


def voted(case: Case, debt: int, by: str) -> int:
    """The definition: the commonest of the ranks of all combinations, the lower of equal ones; or the lowest."""
    people = np.array([(sex, race, debt) for sex, race in product((0, 1), (0, 1, 3))], dtype=np.float32)
    ranks = [int(case.decided(scores)) for scores in people @ WEIGHTS + BIAS]
    counts = Counter(ranks)
    return min(ranks) if by == "least-favourable" else min(counts, key=lambda rank: (-counts[rank], rank))


def said(folder: Path, case: Case) -> list[int]:
    """What the written file decides, read by hand."""
    session = onnxruntime.InferenceSession(folder / "fair.onnx")
    (output,) = session.run(None, {"x": np.array(EVERYBODY, dtype=np.float32)})
    names = case.outcomes.replace("<", ",").replace(" ", "").split(",")
    match case.clause.split()[0], output:
        case _, [dict(), *_]:
            return [int(row[1] >= 0.5) for row in output]
        case ("decide", _):
            return np.argmax(output, axis=1).tolist()
        case _, texts if texts.dtype == object:
            return [names.index(text) for text in texts]
    if "class" in case.clause:
        return [int(label == 1) for label in output]
    if "probability" in case.clause:
        return [int(row[1] >= 0.5) for row in output]
    return [int(row[0] > 0 if ">" in case.clause else row[0] < 0) for row in output]


@pytest.mark.parametrize("by", ["majority", "least-favourable"])
@pytest.mark.parametrize("name", CASES)
def test_everybody_is_decided_by_the_vote_and_it_is_proved(name: str, by: str, tmp_path: Path) -> None:
    case = CASES[name]
    write(tmp_path, case)
    found = fairdsl.guarantee(tmp_path / "s.fair", rows=tmp_path / "rows.csv", output=tmp_path / "fair.onnx", by=by)
    assert said(tmp_path, case) == [voted(case, debt, by) for _, _, debt in EVERYBODY]
    assert found.checked is not None
    assert [each.judgement for each in found.checked] == [Judgement.HOLDS]
    assert found.combinations == 6
    assert found.compared.after.unfair == 0
    assert found.compared.before.unfair > 0
    assert type(found).from_json(found.to_json()) == found


def test_what_the_command_prints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, CASES["score"])
    arguments = ["guarantee", "s.fair", "--rows", "rows.csv", "-o", "fair.onnx", "--by", "least-favourable"]
    result = CliRunner().invoke(cli, arguments)
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0] == "p   m: m.onnx -> fair.onnx"
    assert lines[1] == "    decision   the least favourable of the model's answers about 6 combinations of sex, race"
    assert "    verdict    p: holds   require same decision" in lines
    assert lines[-1] == "    check it   fairdsl check s.fair --model m=fair.onnx"
    again = CliRunner().invoke(cli, arguments)
    assert again.exit_code == 2
    assert "exists already" in again.output


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"require same": "within 1 in debt\n  require same"}, "differ in other attributes"),
        (
            {"debt : integer 0 .. 9": "debt : real 0 .. 9", "any sex, race": "debt", "sex, race\n": "debt\n"},
            "more than 256",
        ),
        ({"  yes when": "  reads sex, race, debt + sex\n  yes when"}, "of a protected attribute and another one"),
    ],
)
def test_what_has_no_guarantee(changed: dict[str, str], reason: str, tmp_path: Path) -> None:
    write(tmp_path, CASES["score"])
    spec = tmp_path / "s.fair"
    text = spec.read_text()
    for old, new in changed.items():
        assert old in text
        text = text.replace(old, new)
    spec.write_text(text)
    with pytest.raises(fairdsl.SpecError) as raised:
        fairdsl.guarantee(spec, rows=tmp_path / "rows.csv", output=tmp_path / "fair.onnx")
    (finding,) = [each for each in raised.value.diagnostics if each.code.startswith("E")]
    assert finding.code == "E0594"
    assert finding.primary is not None
    assert reason in finding.primary.text
    assert not (tmp_path / "fair.onnx").exists()


def test_a_digest_is_that_of_the_original(tmp_path: Path) -> None:
    write(tmp_path, CASES["score"])
    spec, arguments = tmp_path / "s.fair", {"rows": tmp_path / "rows.csv", "output": tmp_path / "fair.onnx"}
    text, digest = spec.read_text(), sha256((tmp_path / "m.onnx").read_bytes()).hexdigest()
    spec.write_text(text.replace('"m.onnx"', f'"m.onnx" sha256 "{"0" * 64}"'))
    with pytest.raises(fairdsl.SpecError, match="E0507"):
        fairdsl.guarantee(spec, **arguments)
    spec.write_text(text.replace('"m.onnx"', f'"m.onnx" sha256 "{digest}"'))
    found = fairdsl.guarantee(spec, **arguments)
    assert found.pinned
    assert found.checked is None


def test_outcomes_without_an_order_have_no_least(tmp_path: Path) -> None:
    case = CASES["highest"]
    write(tmp_path, Case(case.nodes, case.outputs, case.clause, "no, maybe, yes", case.decided))
    arguments = {"rows": tmp_path / "rows.csv", "output": tmp_path / "fair.onnx"}
    with pytest.raises(fairdsl.SpecError, match="least favourable"):
        fairdsl.guarantee(tmp_path / "s.fair", by="least-favourable", **arguments)
    assert fairdsl.guarantee(tmp_path / "s.fair", **arguments).compared.after.unfair == 0
    write(tmp_path, CASES["score"], favourable="")
    with pytest.raises(fairdsl.SpecError, match="least favourable"):
        fairdsl.guarantee(tmp_path / "s.fair", by="least-favourable", **arguments)
