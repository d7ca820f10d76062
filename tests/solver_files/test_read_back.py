"""Counting instances and VNN-LIB queries read back: counts against brute force, mistakes with their places."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import prod
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import fairdsl
from fairdsl.models.onnx_written.chain import read_relu_chain, relu_chain

QUICK = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
VARIABLES = 5
LITERALS = [literal for variable in range(1, VARIABLES + 1) for literal in (variable, -variable)]
WEIGHTS = st.integers(0, 30).map(lambda tenths: Fraction(tenths, 10))


@QUICK
@given(
    clauses=st.lists(st.lists(st.sampled_from(LITERALS), min_size=1, max_size=3), max_size=6),
    shown=st.none() | st.sets(st.integers(1, VARIABLES)),
    weights=st.dictionaries(st.integers(1, VARIABLES), st.tuples(WEIGHTS, WEIGHTS).filter(sum)),
)
def test_counts_by_definition(
    tmp_path: Path,
    clauses: list[list[int]],
    shown: set[int] | None,
    weights: dict[int, tuple[Fraction, Fraction]],
) -> None:
    """Each assignment of the counted variables weighs the product of its literals, once, if it extends to a model."""
    counted = sorted(range(1, VARIABLES + 1) if shown is None else shown)
    weights = {variable: both for variable, both in weights.items() if variable in counted}
    expected = Fraction(0)
    found: set[tuple[bool, ...]] = set()
    for truths in product([True, False], repeat=VARIABLES):
        key = tuple(truths[variable - 1] for variable in counted)
        if key not in found and all(any(truths[abs(each) - 1] == (each > 0) for each in clause) for clause in clauses):
            found.add(key)
            expected += prod(
                (
                    weights.get(variable, (Fraction(1), Fraction(1)))[not truth]
                    for variable, truth in zip(counted, key, strict=True)
                ),
                start=Fraction(1),
            )
    lines = [f"p cnf {VARIABLES} {len(clauses)}"]
    lines += [] if shown is None else [f"c p show {' '.join(map(str, [*counted, 0]))}"]
    for variable, (high, low) in weights.items():
        lines += [f"c p weight {variable} {float(high)} 0", f"c p weight -{variable} {float(low)} 0"]
    lines += [" ".join(map(str, [*clause, 0])) for clause in clauses]
    file = tmp_path / "a.cnf"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    solved = fairdsl.solve(file).found
    assert solved.low == solved.high == expected


@pytest.mark.parametrize(
    ("line", "place", "said"),
    [
        ("c p show 1 2", 12, "no 0 ends this line"),
        ("c p show 1 7 0", 12, "the variables are 1 to 2"),
        ("c p weight 1 0.5", 1, "this is not the weight of a literal"),
        ("c p weight 1 -1 0", 14, "a weight is a number from 0"),
        ("c p weight 1 0.5 0", 14, "the variable's other literal has no weight"),
        ("c p weight 1 0 0\nc p weight -1 0 0", 14, "both literals of this variable weigh nothing"),
        ("c p weight 1 1 0\nc p weight 1 1 0", 12, "this literal has a weight already"),
        ("c p show 2 0\nc p weight 1 1 0", 14, "this variable is not counted"),
        ("r 0.5 1 0", 1, "this is not a literal"),
    ],
)
def test_mistakes_of_counting_instances_have_places(tmp_path: Path, line: str, place: int, said: str) -> None:
    file = tmp_path / "a.cnf"
    file.write_text(f"p cnf 2 1\n{line}\n1 2 0\n", encoding="utf-8")
    with pytest.raises(fairdsl.SpecError) as caught:
        fairdsl.solve(file)
    (finding,) = caught.value.diagnostics
    assert finding.primary is not None
    assert (finding.primary.span.first.column, said in str(finding.primary.text)) == (place, True), finding


CHAIN = ((np.array([[1.0, -2.0]]), np.array([0.5])), (np.array([[3.0], [-1.0]]), np.array([0.0, 0.25])))
QUERY = """; network: net.onnx
(declare-const X_0 Real)
(declare-const X_1 Real)
(declare-const Y_0 Real)
(declare-const Y_1 Real)
(assert (>= X_0 0.0))
(assert (<= X_0 {limit}))
(assert (>= X_1 0.0))
(assert (or (>= Y_0 4.5) (and (<= (+ Y_1 (* 2.0 X_0)) -1.0) (== X_1 7.5e0))))
"""


@pytest.fixture
def query(tmp_path: Path) -> Path:
    (tmp_path / "net.onnx").write_bytes(relu_chain(CHAIN, "net", single=True))
    file = tmp_path / "a.vnnlib"
    file.write_text(QUERY.format(limit="1.0"), encoding="utf-8")
    return file


def test_queries_are_about_the_networks_exact_values(query: Path) -> None:
    """Y_0 = 3 max(0, X_0 - 2 X_1 + 1/2) is at most 4.5 on the box, and is 4.5 at one point."""
    assert fairdsl.solve(query).found.status == "sat"
    assert "(X_0 1.0)" in query.with_name("a.vnnlib.answer").read_text(encoding="utf-8")
    query.write_text(QUERY.format(limit="0.999999"), encoding="utf-8")
    assert fairdsl.solve(query, output=query.with_name("b")).found.status == "unsat"


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("; network: net.onnx", "; net.onnx", "no comment says where its network is"),
        ("net.onnx", "other.onnx", "is not there"),
        ("(declare-const Y_1 Real)\n", "", "has 2 inputs and 2 outputs"),
        ("X_1 Real", "X_2 Real", "this is not the next input or output"),
        ("X_1 Real", "X_1 Int", "this is not a command of VNN-LIB"),
        ("4.5", "four", "this is neither a number nor declared"),
        ("(== X_1", "(=> X_1", "this is not a formula of VNN-LIB"),
        ("(assert (or", "(assume (or", "this is not a command of VNN-LIB"),
        ("))))", ")))", "this parenthesis is never closed"),
        ("))))", ")))))", "no parenthesis is open here"),
    ],
)
def test_mistakes_of_queries_are_said(query: Path, before: str, after: str, said: str) -> None:
    text = query.read_text(encoding="utf-8")
    assert before in text
    query.write_text(text.replace(before, after), encoding="utf-8")
    with pytest.raises(fairdsl.SpecError) as caught:
        fairdsl.solve(query)
    (finding,) = caught.value.diagnostics
    assert finding.code == "E0624"
    assert said in (finding.primary.text if finding.primary is not None else finding.notes[0])


def test_chains_are_read_as_they_were_written(tmp_path: Path) -> None:
    for single in (True, False):
        path = tmp_path / "net.onnx"
        path.write_bytes(relu_chain(CHAIN, "net", single=single))
        for (weight, bias), (stored, shift) in zip(read_relu_chain(str(path)), CHAIN, strict=True):
            assert np.array_equal(weight, stored)
            assert np.array_equal(bias, shift)
