"""Random graphs over all operators that are read: onnxruntime answers as the reading says, or the file is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fairdsl.models.onnx_import.walk import HANDLERS, SEVERAL
from tests.models.random_decisions import wrong_decision
from tests.models.random_graphs import Held, drawn, held
from tests.models.random_ml_nodes import ML_BUILDERS
from tests.models.random_nodes import BUILDERS

ALL = {**BUILDERS, **ML_BUILDERS}
EVERY_DAY = 64  # a turn of every operator


def come_out(seed: int, folder: Path) -> tuple[Held, set[tuple[str, str]]]:
    """How the graph of a seed comes out, and its operators."""
    model, inputs = drawn(seed, ALL)
    found = held(model, inputs, folder, seed)
    assert found.outcome in ("read", "refused", "cannot run"), f"seed {seed}: {found.outcome}"
    if found.graph is not None and found.outcome == "read" and seed % 3 == 0:  # loading takes longer than reading
        wrong = wrong_decision(str(folder / "random.onnx"), found.graph, seed)
        assert wrong is None, f"seed {seed}: {wrong}"
    return found, {(node.domain, node.op_type) for node in model.graph.node}


#: What is read only in the shapes that pipelines and networks are exported in: test_chosen.py, test_text_inputs.py,
#: test_pipelines.py and test_onnx_lookups.py hold those against onnxruntime, and at random nearly every graph would be
#: refused.
IN_PIPELINES = {
    ("", name)
    for name in [
        "ArgMin",
        "Equal",
        "Exp",
        "IsNaN",
        "Log",
        "LogSoftmax",
        "Not",
        "Pow",
        "ReduceLogSumExp",
        "ReduceMean",
        "ReduceSum",
        "Where",
    ]
} | {("", "GatherND"), ("", "OneHot")}


def test_every_operator_that_is_read_has_a_builder() -> None:
    assert {*HANDLERS, *SEVERAL} - set(ALL) == IN_PIPELINES
    assert set(ALL) <= {*HANDLERS, *SEVERAL}


def test_random_graphs_of_every_operator(tmp_path: Path) -> None:
    read = [
        operators
        for found, operators in (come_out(seed, tmp_path) for seed in range(EVERY_DAY))
        if found.outcome == "read"
    ]
    assert len(read) > EVERY_DAY / 2
    assert set().union(*read) == set(ALL), "some operator is in no graph that is read"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(EVERY_DAY, 2**32))
def test_other_random_graphs(seed: int, tmp_path: Path) -> None:
    """5,000 of them in the nightly profile."""
    come_out(seed, tmp_path)


def test_whole_numbers_of_few_values_are_divided_without_a_fraction(tmp_path: Path) -> None:
    """The graph of this seed divides a column of them, which is read as a table."""
    assert come_out(647, tmp_path)[0].outcome == "read"


@pytest.mark.slow
def test_two_thousand_random_graphs(tmp_path: Path) -> None:
    for seed in range(EVERY_DAY, 2000):
        come_out(seed, tmp_path)
