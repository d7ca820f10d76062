"""What somebody tried who has read docs/proofs.md alone: models' files, and what float32 makes of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import ModelProto, helper

from fairdsl_verify import RejectedError
from tests.models.tree_files import Branch, Leaf, Tree, classifier, regressor, tree_file
from tests.proving.test_checker_review import ABOVE_ZERO, LINEAR, PEOPLE, chain_file, question, tried


def scores(model: ModelProto | bytes, rows: Sequence[Any]) -> list[list[float]]:
    """What onnxruntime makes of rows, its first output."""
    content = model if isinstance(model, bytes) else model.SerializeToString()
    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    with np.errstate(over="ignore"):
        return session.run(None, {"x": np.array(rows).astype(np.float32)})[0].tolist()


class Packed:
    """A file whose bytes no library would write."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def SerializeToString(self) -> bytes:  # noqa: N802
        return self._content


def _field(number: int, content: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    out = b""
    while value > 127:
        out, value = out + bytes([value & 127 | 128]), value >> 7
    return out + bytes([value])


def test_a_field_beyond_32_bits_is_not_passed_over(tmp_path: Path) -> None:
    """Readers in C++ cut the number off, and take ``z``, the sex, for the output, and not ``y``, which is 0."""
    nodes = [helper.make_node("Gemm", ["x", "w"], ["z"], transB=1), helper.make_node("Mul", ["z", "c"], ["y"])]
    model = chain_file(nodes, {"w": [[0, 1]], "c": [0]})
    asked = question(decides=ABOVE_ZERO)
    assert tried(tmp_path, model, asked, "=").follows
    output, graph = model.graph.output[0].SerializeToString(), model.graph.SerializeToString()
    other = _field(12, output + _varint(1 << 32 | 1 << 3 | 2) + b"\x01z")
    head = ModelProto()
    head.CopyFrom(model)
    head.ClearField("graph")
    content = head.SerializeToString() + _field(7, graph.replace(_field(12, output), other))
    assert scores(content, [[0, 0], [0, 1]]) == [[0], [1]]
    with pytest.raises(RejectedError, match="of wire type"):
        tried(tmp_path, Packed(content), asked, "=")  # type: ignore[arg-type]


def test_an_input_that_is_no_table_is_rejected(tmp_path: Path) -> None:
    """``(x + (0, 0)) w`` of a column of two entries is two scores, of which the second is the sex."""
    nodes = [helper.make_node("Add", ["x", "c"], ["z"]), helper.make_node("MatMul", ["z", "w"], ["y"])]
    model = chain_file(nodes, {"c": [0, 0], "w": [[1], [0]]})
    assert tried(tmp_path, model, question(), "=").follows
    model.graph.input[0].type.tensor_type.shape.dim.add().dim_value = 1
    assert scores(model, [[[0], [1]]]) == [[[0], [1]]]
    with pytest.raises(RejectedError, match="not a table"):
        tried(tmp_path, model, question(), "=")
    with pytest.raises(RejectedError, match="another shape"):
        tried(tmp_path, chain_file(nodes, {"c": [[[0, 0]]], "w": [[1], [0]]}), question(), "=")


def test_what_has_no_name_is_not_what_an_empty_input_means(tmp_path: Path) -> None:
    """A bias that is left out is none, whatever tensor is called nothing: 1/2 is not exceeded without it."""
    nodes = [helper.make_node("Gemm", ["x", "w", ""], ["y"], transB=1)]
    asked = question(decides=ABOVE_ZERO | {"threshold": "1/2"})
    with pytest.raises(RejectedError, match="no name"):
        tried(tmp_path, chain_file(nodes, {"w": [[0, 1]], "": [5]}), asked, "=")


def test_labels_of_text_that_are_cast_to_numbers_are_no_labels(tmp_path: Path) -> None:
    """`1` and `01` are one number: who casts them says the same of everybody."""
    node = classifier([Branch("BRANCH_LEQ", 1, 0.5, Leaf(((0, 0.0),)), Leaf(((0, 1.0),)))])
    del node.attribute[[each.name for each in node.attribute].index("classlabels_int64s")]
    node.attribute.append(helper.make_attribute("classlabels_strings", ["1", "01"]))
    asked = question(decides={"of": "label", "relation": "=", "threshold": "1"}, asks="share")
    asked["claims"] = asked["claims"] | {"holds": False, "falsified": 1}
    for to, taken in ((onnx.TensorProto.STRING, True), (onnx.TensorProto.INT64, False)):
        model = tree_file([node, helper.make_node("Cast", ["label"], ["y"], to=to)], outputs=["y"])
        if taken:
            assert tried(tmp_path, model, asked, "U 1 0").follows
        else:
            with pytest.raises(RejectedError, match="another type"):
                tried(tmp_path, model, asked, "U 1 0")


def test_ranges_that_no_list_holds_are_rejected(tmp_path: Path) -> None:
    with pytest.raises(RejectedError, match="cannot be read"):
        tried(tmp_path, LINEAR, question(attributes=[PEOPLE[0] | {"high": 10**30}, PEOPLE[1]]), "E")


def deployed(margin: Any, **changes: Any) -> dict[str, Any]:
    """A question about float32 as well."""
    said = question(arithmetic="float32", **changes)
    return said | {"claims": said["claims"] | {"margin": margin}}


#: A weight of many bits, so that margins are not rounded up to what shows nothing.
FINE = 1 + 2**-20


def test_a_column_that_overflows_counts_though_its_weight_is_zero(tmp_path: Path) -> None:
    """Zero times infinity is no number, which is above nothing."""
    model = chain_file([helper.make_node("Gemm", ["x", "w"], ["y"], transB=1)], {"w": [[FINE, 0]]})
    for most in (10**37, 10**39):
        reads = [{"constant": 0, "terms": [["age", 1]]}, {"constant": 0, "terms": [["sex", [0, most]]]}]
        found = scores(model, [[0, 0], [0, float(most)]])
        if most < 10**38:
            assert found == [[0], [0]]
            assert tried(tmp_path, model, deployed("1/1000", reads=reads), "=").follows
        else:
            assert not found[1] > [-0.5]
            with pytest.raises(RejectedError, match="may overflow"):
                tried(tmp_path, model, deployed("1/1000", reads=reads), "=")


def test_who_divides_by_what_is_flushed_to_zero_is_rejected(tmp_path: Path) -> None:
    """0 / 1e-40 is 0, and no number where 1e-40 is 0."""
    nodes = [helper.make_node("Div", ["x", "d"], ["z"]), helper.make_node("Gemm", ["z", "w"], ["y"], transB=1)]
    reads = [{"constant": 0, "terms": [["age", 1]]}, {"constant": 0, "terms": []}]
    for divisor, taken in ((2.0**-126, True), (1e-40, False)):
        model = chain_file(nodes, {"d": [1, divisor], "w": [[FINE, 0]]})
        if taken:
            assert tried(tmp_path, model, deployed("1/1000", reads=reads), "=").follows
        else:
            with pytest.raises(RejectedError, match="flushed to zero"):
                tried(tmp_path, model, deployed("1/1000", reads=reads), "=")


def test_whom_nothing_tells_apart_may_be_rounded_differently(tmp_path: Path) -> None:
    """``age + sex / 4 - age + 1/4 > 0`` of everybody, but 10^8 + 1/4 - 10^8 is 0 in float32, and so may be the rest."""
    people = [PEOPLE[0] | {"high": 10**8}, PEOPLE[1]]
    terms: list[Any] = [["age", 1]], [["sex", [0, "1/4"]]], [["age", 1]]
    reads = [{"constant": 0, "terms": each} for each in terms]
    model = chain_file(
        [helper.make_node("Gemm", ["x", "w", "b"], ["y"], transB=1)], {"w": [[1, FINE, -1]], "b": [0.25]}, width=3
    )
    asked = deployed(100, attributes=people, reads=reads, decides=ABOVE_ZERO)
    assert np.float32(1e8) + np.float32(0.25) - np.float32(1e8) == 0
    with pytest.raises(RejectedError, match="nearer to the threshold"):
        tried(tmp_path, model, asked, "E")
    with pytest.raises(RejectedError, match="do not say so"):
        tried(tmp_path, model, asked, "=")
    assert tried(tmp_path, model, question(attributes=people, reads=reads, decides=ABOVE_ZERO), "E").follows


def _by_sex(one: float, other: float) -> Tree:
    return Branch("BRANCH_LEQ", 1, 0.5, Leaf(((0, one),)), Leaf(((0, other),)))


def test_votes_that_overflow_have_no_bound(tmp_path: Path) -> None:
    """The same four votes in another order: infinity for the one, its opposite for the other; 10^35 beside them."""
    most = 1e38
    sides = [(most, -most)] * 4 + [(-most, most)] * 4
    forest = [*(_by_sex(*side) for side in sides), Leaf(((0, 1e35),))]
    asked = deployed(10**34, decides=ABOVE_ZERO)
    with np.errstate(over="ignore"):
        assert np.isinf(np.sum(np.array([most] * 4, dtype=np.float32), dtype=np.float32))
    with pytest.raises(RejectedError, match="may overflow"):
        tried(tmp_path, tree_file([regressor(forest)], outputs=["y"], width=2), asked, "=")
    small = [_by_sex(*(side / 1e8 for side in each)) for each in sides]
    model = tree_file([regressor([*small, Leaf(((0, 1e27),))])], outputs=["y"], width=2)
    asked["claims"]["margin"] = 10**26
    assert tried(tmp_path, model, asked, "E").follows


@pytest.mark.parametrize("trees", [3, 4])
def test_a_sum_that_is_rounded_is_no_exact_average(trees: int, tmp_path: Path) -> None:
    """A third of three votes may be whole where their sum is no float32 number; a quarter of four is as exact as it."""
    votes = [3.0 * (2**22 - 1), 3.0 * (2**22 - 2), 3.0 * (2**22 - 4)] if trees == 3 else [4.0 * (2**19 - 1)] * 4
    total = sum(map(int, votes))
    assert (int(np.float32(total)) != total) is (trees == 3)
    forest = [_by_sex(vote, vote) for vote in votes]
    model = tree_file([regressor(forest, aggregate_function="AVERAGE")], outputs=["y"], width=2)
    asked = deployed(0, decides={"of": "score", "relation": "<", "threshold": str(total // trees)})
    if trees == 4:
        assert tried(tmp_path, model, asked, "E").follows
    else:
        with pytest.raises(RejectedError, match="smaller than what float32"):
            tried(tmp_path, model, asked, "E")
