"""What somebody who has read the checker alone tried to make it accept: each wrong claim is rejected."""

from __future__ import annotations

import gzip
import json
import random
import resource
from collections.abc import Callable, Sequence
from fractions import Fraction
from hashlib import sha256
from itertools import combinations, pairwise
from operator import add, mul
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from fairdsl_verify import RejectedError, command
from fairdsl_verify.bounds import Integers
from fairdsl_verify.chain import Affine, Network
from fairdsl_verify.command import check
from fairdsl_verify.parts import in_parts
from fairdsl_verify.question import NO, YES, Question
from tests.models.tree_files import Branch, Leaf, regressor, tree_file

ABOVE_ZERO = {"of": "score", "relation": ">", "threshold": 0}
#: An age, and the sex that differs.
PEOPLE: list[dict[str, Any]] = [
    {"name": "age", "type": "integer", "low": 0, "high": 1},
    {"name": "sex", "type": "values", "values": [0, 1], "labels": ["f", "m"]},
]


def question(**changes: Any) -> dict[str, Any]:
    """A closed question that says the demand holds, with some keys changed."""
    said: dict[str, Any] = {
        "format": "fairdsl.proof/4",
        "property": "p",
        "model": "",
        "attributes": PEOPLE,
        "reads": [{"constant": 0, "terms": [each]} for each in (["age", 1], ["sex", [0, 1]])],
        "decides": {"of": "score", "relation": ">", "threshold": "-1/2"},
        "differ": ["sex"],
        "mode": "any",
        "where": ["and"],
        "target": ["and"],
        "relax": [],
        "pair": ["and"],
        "asks": "holds",
        "arithmetic": "real",
        "claims": {"certified": 0, "falsified": 0, "holds": True, "compared": [[0, 0], [0, 1]], "margin": 0},
    }
    return said | changes


def chain_file(nodes: Sequence[NodeProto], tensors: dict[str, Any], width: int = 2) -> ModelProto:
    """A file of one input ``x`` and the output ``y``."""
    ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, ["N", w]) for n, w in (("x", width), ("y", 1))]
    held = [numpy_helper.from_array(np.array(each, dtype=np.float32), name) for name, each in tensors.items()]
    graph = helper.make_graph(list(nodes), "g", ends[:1], ends[1:], held)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def tried(folder: Path, model: ModelProto, said: dict[str, Any] | str, *lines: str) -> command.Checked:
    """Check a proof by hand about a model's file."""
    content = model.SerializeToString()
    (folder / "m.onnx").write_bytes(content)
    if isinstance(said, dict):
        said = json.dumps(said | {"model": sha256(content).hexdigest()})
    (folder / "p.proof").write_bytes(gzip.compress("\n".join([said, *lines, ""]).encode()))
    return check(folder / "p.proof", folder / "m.onnx")


LINEAR = chain_file([helper.make_node("Gemm", ["x", "w"], ["y"], transB=1)], {"w": [[1, 0]]})


def test_what_is_tried_is_accepted_where_it_is_true(tmp_path: Path) -> None:
    assert tried(tmp_path, LINEAR, question(), "=").follows


def test_a_line_that_only_begins_like_a_split_is_no_leaf_that_is_left_out(tmp_path: Path) -> None:
    """Also where the tree is checked in parts: what nobody looks at would be in no count."""
    with pytest.raises(RejectedError, match="not a claim"):
        tried(tmp_path, LINEAR, question(), "S 0 0", "=", "Sx")
    with pytest.raises(RejectedError, match="not a claim"):
        check(tmp_path / "p.proof", tmp_path / "m.onnx", tree=in_parts(1, tmp_path / "kept"))


def test_a_bias_that_is_finer_than_what_lies_below_is_not_cut_off(tmp_path: Path) -> None:
    """``1/4 - 1/2 max(sex, 0) > 0`` says no to one and yes to the other; with the bias cut to 0 it says no to both."""
    nodes = [
        helper.make_node("Gemm", ["x", "w"], ["z"], transB=1),
        helper.make_node("Relu", ["z"], ["h"]),
        helper.make_node("Gemm", ["h", "v", "b"], ["y"], transB=1),
    ]
    model = chain_file(nodes, {"w": [[0, 1]], "v": [[-0.5]], "b": [0.25]})
    asked, claims = question(decides=ABOVE_ZERO), question()["claims"]
    with pytest.raises(RejectedError, match="do not say so"):
        tried(tmp_path, model, asked, "=")
    assert not tried(tmp_path, model, asked, "E").follows
    assert tried(tmp_path, model, asked | {"claims": claims | {"holds": False, "falsified": 1}}, "E").follows


@pytest.mark.parametrize("seed", range(100))
def test_whole_networks_are_the_files(seed: int) -> None:
    """The network in whole numbers is a positive multiple of the fractions, layer by layer."""
    rng = random.Random(seed)

    def drawn(count: int) -> list[Fraction]:
        return [Fraction(rng.randint(-9, 9), rng.choice((1, 1, 2, 4, 8, 3))) for _ in range(count)]

    sizes = [2, *(rng.randint(1, 2) for _ in range(rng.randint(0, 3))), 1]
    layers = [Affine([drawn(below) for _ in range(width)], drawn(width)) for below, width in pairwise(sizes)]
    net = Integers(Question(question(decides=ABOVE_ZERO)), Network([[layer] for layer in layers], sigmoid=False))
    found = []
    for point in ((0, 0), (0, 1), (1, 0), (1, 1)):
        values, whole = [Fraction(each) for each in point], net.adds(net.origin, enumerate(point))
        for number, layer in enumerate(layers):
            values = [max(each, Fraction(0)) if number else each for each in values]
            values = list(map(add, [sum(map(mul, row, values), Fraction(0)) for row in layer.weight], layer.bias))
            if number:
                below = [max(each, 0) for each in whole]
                rows = net.weights[number - 1]
                whole = list(map(add, [sum(map(mul, row, below)) for row in rows], net.biases[number - 1]))
        assert net.high(net.start, tuple((at, at) for at in point)) == (YES if values[0] > 0 else NO)
        found.append((whole[0], values[0]))
    assert all(one[0] * other[1] == one[1] * other[0] for one, other in combinations(found, 2))


def test_a_score_that_is_cut_to_a_whole_number_is_not_the_trees(tmp_path: Path) -> None:
    """A cast to whole numbers behind a regressor: 3/4 becomes 0, which is not above 1/2."""
    node = regressor([Branch("BRANCH_LEQ", 1, 0.5, Leaf(((0, 0.75),)), Leaf(((0, 1.0),)))])
    node.output[0] = "raw"
    asked = question(decides={"of": "score", "relation": ">", "threshold": "1/2"})
    for to in (TensorProto.INT64, TensorProto.FLOAT):
        model = tree_file([node, helper.make_node("Cast", ["raw"], ["y"], to=to)], outputs=["y"])
        if to == TensorProto.FLOAT:
            assert tried(tmp_path, model, asked, "=").follows
        else:
            with pytest.raises(RejectedError, match="another type"):
                tried(tmp_path, model, asked, "=")


def test_one_column_that_is_spread_over_two_is_not_two(tmp_path: Path) -> None:
    """``x + (0, 0)`` of one column has two, both the age: who takes it for two columns reads the sex."""
    nodes = [helper.make_node("Add", ["x", "c"], ["z"]), helper.make_node("Gemm", ["z", "w"], ["y"], transB=1)]
    tensors = {"c": [[0, 0]], "w": [[1, 0]]}
    assert tried(tmp_path, chain_file(nodes, tensors), question(), "=").follows
    with pytest.raises(RejectedError, match="reads 1 columns"):
        tried(tmp_path, chain_file(nodes, tensors, width=1), question(), "=")


def test_a_node_that_reads_more_than_its_operator_does_is_rejected(tmp_path: Path) -> None:
    nodes = [helper.make_node("Identity", ["c", "x"], ["z"]), helper.make_node("Gemm", ["z", "w"], ["y"], transB=1)]
    with pytest.raises(RejectedError, match="reads constants"):
        tried(tmp_path, chain_file(nodes, {"c": [[0, 0]], "w": [[1, 0]]}), question(), "=")
    nodes[0] = helper.make_node("Flatten", ["x"], ["z"], axis=0)
    with pytest.raises(RejectedError, match="individuals together"):
        tried(tmp_path, chain_file(nodes, {"w": [[1, 0]]}), question(), "=")


def test_what_is_more_than_a_chain_of_affine_maps_and_units_is_rejected(tmp_path: Path) -> None:
    for settings in ({"alpha": 2.0}, {"beta": 0.5}, {"transA": 1}):
        nodes = [helper.make_node("Gemm", ["x", "w"], ["y"], transB=1, **settings)]
        with pytest.raises(RejectedError, match="multiplies its product"):
            tried(tmp_path, chain_file(nodes, {"w": [[1, 0]]}), question(), "=")
    last = helper.make_node("Gemm", ["h", "w"], ["y"], transB=1)
    with pytest.raises(RejectedError, match="what a ReLU reads"):
        tried(tmp_path, chain_file([helper.make_node("Relu", ["x"], ["h"]), last], {"w": [[1, 0]]}), question(), "=")
    unknown = helper.make_node("Gemm", ["x", "w"], ["y"], transB=1.0)
    with pytest.raises(RejectedError, match="`transB` is of another type"):
        tried(tmp_path, chain_file([unknown], {"w": [[1, 0]]}), question(), "=")


def test_an_attribute_with_two_values_is_rejected(tmp_path: Path) -> None:
    """Runtimes read the field that the type names; whoever reads another one reads another model."""
    model = onnx.ModelProto()
    model.CopyFrom(LINEAR)
    model.graph.node[0].attribute[0].ints.append(0)
    with pytest.raises(RejectedError, match="`transB` has a field 8"):
        tried(tmp_path, model, question(), "=")


def changed(key: str, value: Any) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda said: said | {key: value}


def attribute(**changes: Any) -> list[dict[str, Any]]:
    return [PEOPLE[0], PEOPLE[1] | changes]


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (question(attributes=attribute(name="age")), "one name"),
        (question(attributes=attribute(name="sex, race")), "one word"),
        (question(attributes=attribute(name="sex\nVERIFIED")), "one word"),
        (question(attributes=attribute(name=["sex"])), "one word"),
        (question(attributes=attribute(labels=[["f"], "m"])), "not text"),
        (question(attributes=attribute(values=[0, 0])), "a value twice"),
        (question(attributes=attribute(values=[0, 0.5])), "not an exact number"),
        (question(attributes=attribute(values=[0, float("nan")])), "not an exact number"),
        (question(decides={"of": "score", "relation": ">", "threshold": float("inf")}), "not an exact number"),
        (question(decides={"of": "score", "relation": ">", "threshold": True}), "not an exact number"),
        (question(decides={"of": "score", "relation": ">", "threshold": "9" * 5000}), "not an exact number"),
        (question(decides={"of": "score", "relation": "=", "threshold": 0}), "no known relation"),
        (question(reads=question()["reads"][:1]), "reads 2 columns"),
        (question(differ=["sex", "sex"]), "twice"),
        (question(differ=["gender"]), "there is not"),
        (question(differ=[]), "are not"),
        (question(more=1), "just the keys"),
        (question(claims=question()["claims"] | {"compared": [[0, 0], [0, 2]]}), "are not"),
        (question(claims=question()["claims"] | {"compared": [[0, 0], [1, 1]]}), "are not"),
        (question(claims=question()["claims"] | {"holds": 1}), "truth value"),
        (question(relax=[["age", -1]]), "from 0 on"),
        (question(relax=[["sex", 1]]), "relaxed twice, or differs"),
    ],
)
def test_questions_that_are_none(tmp_path: Path, said: dict[str, Any], why: str) -> None:
    with pytest.raises(RejectedError, match=why):
        tried(tmp_path, LINEAR, said, "=")


def test_a_key_that_stands_there_twice_is_rejected(tmp_path: Path) -> None:
    text = json.dumps(question(model=sha256(LINEAR.SerializeToString()).hexdigest()))
    assert tried(tmp_path, LINEAR, text, "=").follows
    with pytest.raises(RejectedError, match="twice"):
        tried(tmp_path, LINEAR, text.replace('"mode"', '"mode": "each", "mode"'), "=")


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ([], "ends before"),
        (["S 0 0", "="], "ends before"),
        (["=", "="], "goes on"),
        (["S 0 1", "=", "="], "outside"),
        (["S 1 0", "=", "="], "differs"),
        (["S 7 0", "=", "="], "differs"),
        (["S 0 -1", "=", "="], "not a number"),
        (["S 0 \u0660", "=", "="], "cannot be read"),
        (["S 0 00000000000000", "=", "="], "not a number"),
        (["+ 0 1", "="], "the model is none"),
        (["N"], "not a claim"),
        (["B 0 0", "=", "="], "not a claim"),
        (["V"], "somebody may be"),
        (["U 0 1"], "do not say so"),
        (["U 0 0"], "do not say so"),
        (["U 0 9"], "not compared"),
        (["= "], "not a number"),
        (["= 0 "], "not a number"),
        (["~ -1"], "not a number"),
        (["E 0"], "not a claim"),
        (["V 0"], "not a claim"),
        (["=\r"], "not a claim"),
        ([""], "not a claim"),
        (["=" * (1 << 20) + "="], "longer than 1048576"),
        (["=" + "\n" * 5], "goes on"),
    ],
)
def test_trees_that_are_none(tmp_path: Path, lines: list[str], why: str) -> None:
    with pytest.raises(RejectedError, match=why):
        tried(tmp_path, LINEAR, question(), *lines)


def test_a_proof_that_shows_nothing_is_rejected(tmp_path: Path) -> None:
    claims = question()["claims"] | {"holds": False}
    with pytest.raises(RejectedError, match="shows nothing"):
        tried(tmp_path, LINEAR, question(claims=claims), "?")
    assert not tried(tmp_path, LINEAR, question(), "?").follows


def test_cells_of_reals_that_touch_the_threshold_are_on_no_side(tmp_path: Path) -> None:
    """``2 x - 1 - sex > 0`` on [0, 1]: below 1/2 all are refused, above it some."""
    model = chain_file([helper.make_node("Gemm", ["x", "w", "b"], ["y"], transB=1)], {"w": [[2, -1]], "b": [-1]})
    real = [{"name": "age", "type": "real", "low": 0, "high": 1}, PEOPLE[1]]
    half, claims = 1 << 19, {"certified": "1/2", "falsified": 0, "holds": False, "compared": [], "margin": 0}
    asked = question(attributes=real, asks="share", claims=claims, decides=ABOVE_ZERO)
    at_it = asked | {"decides": ABOVE_ZERO | {"relation": ">="}}
    assert tried(tmp_path, model, asked, f"S 0 {half}", "=", "?").follows
    with pytest.raises(RejectedError, match="do not say so"):  # the edge itself is granted
        tried(
            tmp_path,
            model,
            at_it,
            f"S 0 {half}",
            "=",
            "?",
        )
    with pytest.raises(RejectedError, match="do not say so"):  # one cell more
        tried(tmp_path, model, asked, f"S 0 {half + 1}", "=", "?")
    with pytest.raises(RejectedError, match="do not say so"):  # at the edge nobody of them is granted
        tried(tmp_path, model, asked, f"S 0 {half}", "=", "U 0 1")
    unfair = [f"S 0 {half}", "=", f"S 0 {half + 1}", "?", "U 0 1"]
    with pytest.raises(RejectedError, match="do not say so"):  # who has just reached 1 is not granted, one more cell is
        tried(tmp_path, model, at_it, *unfair)
    for empty in ("S 0 0", f"S 0 {1 << 20}"):
        with pytest.raises(RejectedError, match="outside"):
            tried(tmp_path, model, asked, empty, "=", "=")


def test_what_is_packed_is_not_unpacked_into_memory(tmp_path: Path) -> None:
    """A line without an end, and a leaf that evaluates a range of a billion, are rejected before they fill memory."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(command, "MOST_CHARACTERS", 1 << 16)
        with pytest.raises(RejectedError, match="longer than 65536"):
            tried(tmp_path, LINEAR, " " * (1 << 24), "=")
    many = [PEOPLE[0] | {"high": 10**11}, PEOPLE[1]]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(RejectedError, match="too many individuals"):
        tried(tmp_path, LINEAR, question(attributes=many), "E")
    with pytest.raises(RejectedError, match="too deep"):
        tried(tmp_path, LINEAR, question(attributes=many), *(f"S 0 {10**11 - at}" for at in range(1, 1 << 17)))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 1 << 18


def test_no_text_of_a_file_makes_a_line_of_its_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A label that would be a line of its own, or turns what stands behind it around, is shown as what it is."""
    forged = ["f\nVERIFIED   p.proof", "m\u202e\x1b[2J"]
    said = question(attributes=attribute(labels=forged), property="p\nVERIFIED   p.proof")
    assert tried(tmp_path, LINEAR, said, "=").follows
    assert command.main([str(tmp_path), "--model", str(tmp_path / "m.onnx")]) == 0
    printed = capsys.readouterr().out
    said_so = [line for line in printed.splitlines() if line.startswith("VERIFIED")]
    assert said_so == [f"VERIFIED   {tmp_path / 'p.proof'}"]
    assert all(character.isprintable() or character == "\n" for character in printed)
