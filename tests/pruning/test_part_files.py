"""The pruned networks of partitions as files: which are written, what they say, and what they prove (nothing)."""

from __future__ import annotations

import json
from fractions import Fraction
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from click.testing import CliRunner

import fairdsl
from fairdsl.backends.smt.procedure import Smt
from fairdsl.backends.smt.solvers.chain import Chained, Status
from fairdsl.cli.app import cli
from fairdsl.diagnostics import DiagnosticError
from fairdsl.elaborate import elaborate
from fairdsl.ir.problem import Problem
from fairdsl.models.which_file import PRUNED_FOR, PRUNED_FROM, REMOVED_UNITS
from fairdsl.numerics.binomial import clopper_pearson
from fairdsl.numerics.exact import exact_scores
from fairdsl.numerics.narrow import Finite
from fairdsl.plan import registry
from fairdsl.pruning.changes import decided_differently
from fairdsl.pruning.parts import check_cuts, write_part
from fairdsl.pruning.remove import remove
from fairdsl.report.coverage import partition_lines
from fairdsl.report.model import Report
from fairdsl.semantics import front_end
from fairdsl.verdict import Coverage, Reason
from tests.models.model_files import network, node, saved
from tests.solvers import InProcess

SPEC = """\
domain People { x : integer 0 .. 20 y : integer 0 .. 30 group : category { these, those } }
protected group
model m : People -> { no, yes } MODEL
property p { compare a, b : People differ in group require same decision }
"""
#: Of the partitions that bounds of single scores leave, the one in which the first unit may be active: x 11 .. 20,
#: y 11 .. 21.
LEFT = "p-4.onnx"


class GivesUpOnTheModel(InProcess):
    """Decides pruned networks and nothing else."""

    def start(self, key: Any, task: Any) -> None:
        if task.model is None:
            unknown = Chained(status=Status.UNKNOWN, by="z3", reason=Reason.TIMEOUT, detail="timeout")
            self._ready.append((key, unknown, 0.0))
        else:
            super().start(key, task)


def stubborn() -> Smt:
    """The backend with such solvers."""
    return Smt(solvers=GivesUpOnTheModel)


def able() -> Smt:
    """The backend with solvers that decide models."""
    return Smt(solvers=InProcess)


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Solvers decide no partition of a model, so that pruning has its turn."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(registry.BACKENDS, "smt", registry.Registered(__name__, "stubborn"))


def spec(weight: float = 0.4, middle: str = "Relu", model: str | None = None) -> Path:
    """score = y - 14.5 + weight max(20 x + group - 400, 0): the second sum is `weight` for the others with x = 20."""
    first = np.array([[20.0, 0.0, 0.0], [0.0, 1.0, -1.0], [1.0, 0.0, 0.0]])
    nodes = [node("Gemm", ["x", "w1", "b1"], ["z"]), node(middle, ["z"], ["h"]), node("Gemm", ["h", "w2", "b2"], ["y"])]
    weights = {"w1": first, "b1": [-400.0, -15.0, 15.0], "w2": [[weight], [1.0], [-1.0]], "b2": [0.5]}
    saved(network(nodes, weights, inputs={"x": ["N", 3]}), Path())
    Path("spec.fair").write_text(SPEC.replace("MODEL", model or 'from "model.onnx" yes when score > 0'))
    return Path("spec.fair")


def problem(path: Path) -> Problem:
    return elaborate(front_end(str(path))[0], {}).demands[0].problem


def coverage_of(report: fairdsl.Report) -> Coverage:
    coverage = report.properties[0].demands[0].coverage
    assert coverage is not None
    return coverage


def asked(path: Path, **request: Any) -> fairdsl.Report:
    request = {"size": 11, "keep_going": True, "tolerance": Fraction(1, 10), "networks": "cut", **request}
    return fairdsl.check(path, backend="smt", jobs=1, timeout=60, options={"partition": request})


def test_the_network_of_a_partition_is_a_file_and_no_proof() -> None:
    """Trap 12: heuristic pruning counted as proof."""
    path = spec()
    demand = asked(path, ledger="verdicts.jsonl").properties[0].demands[0]
    assert demand.judgement.value == "unknown"
    assert sorted(file.name for file in Path("cut").iterdir()) == ["p-1.onnx", LEFT]
    lines = [json.loads(line) for line in Path("verdicts.jsonl").read_text().splitlines()][1:]
    assert {line["partition"] for line in lines if "pruned_network" in line} == {"1", "4"}
    (line,) = (line for line in lines if line["partition"] == "4")
    assert line["verdict"] == "unknown"
    assert line["holds_without_units"] == {"layer 1": [0]}
    digest = sha256(Path("cut", LEFT).read_bytes()).hexdigest()
    assert line["pruned_network"] == {
        "file": f"cut/{LEFT}",
        "sha256": digest,
        "removed_units": {"layer 1": [0]},
        "drawn": 1000,
        "changed": 0,
    }
    # The file is that network for everybody, and says whose business it is.
    Path("of-file.fair").write_text(path.read_text().replace("model.onnx", f"cut/{LEFT}"))
    pruned = problem(Path("of-file.fair"))
    expected = remove(problem(path).model, {0: (0,)})
    for point in product(range(0, 21, 5), range(13, 17), (0, 1)):
        individual = tuple(Fraction(value) for value in point)
        assert exact_scores(pruned.model, individual) == exact_scores(expected, individual)
    said = {entry.key: entry.value for entry in onnx.load(f"cut/{LEFT}").metadata_props}
    assert said[PRUNED_FOR] == "p, partition 4; x 11 .. 20; y 11 .. 21"
    assert said[REMOVED_UNITS] == "1 unit of layer 1"
    assert said[PRUNED_FROM] == sha256(Path("model.onnx").read_bytes()).hexdigest()
    (warning,) = (one for one in fairdsl.check("of-file.fair", jobs=1).diagnostics if one.code == "W0703")
    assert "removed   1 unit of layer 1, for p, partition 4; x 11 .. 20; y 11 .. 21" in " ".join(warning.notes)


def test_a_pair_that_a_pruned_network_hides_leaves_the_model_unproved() -> None:
    """Trap 12: the file of the pruned network is fair in its partition, the model is not."""
    path = spec(weight=0.75)
    report = asked(path)
    assert report.properties[0].judgement.value in {"unknown", "violated"}
    assert fairdsl.check(path, backend="enumerate").properties[0].judgement.value == "violated"
    write_part(problem(path), {0: (0,)}, "small.onnx", "p, partition 4")
    Path("of-file.fair").write_text(path.read_text().replace("model.onnx", "small.onnx"))
    assert fairdsl.check("of-file.fair", backend="enumerate").properties[0].judgement.value == "holds"


@pytest.mark.parametrize("within", ["", "within 3 in x"])
def test_a_sound_network_decides_as_the_model_in_its_partition(within: str) -> None:
    """Every individual of every partition, partners included, by brute force; elsewhere some decisions differ."""
    path = spec(weight=0.75)
    path.write_text(path.read_text().replace("require", f"{within} require"))
    model = problem(path).model
    report = asked(path, tolerance=None, networks=None, sound_networks="sound", ledger="verdicts.jsonl")
    lines = [json.loads(line) for line in Path("verdicts.jsonl").read_text().splitlines()][1:]
    cut = [line for line in lines if "sound_network" in line]
    assert len(lines) == 6
    assert len(cut) >= 4
    everybody = [tuple(map(Fraction, point)) for point in product(range(21), range(31), (0, 1))]
    scores = [exact_scores(model, individual) for individual in everybody]
    elsewhere = 0
    for line in cut:
        said = line["sound_network"]
        assert (said["drawn"], said["changed"]) == (1000, 0)
        other = Path(f"sound-{line['partition']}.fair")
        other.write_text(path.read_text().replace("model.onnx", said["file"]))
        smaller = problem(other).model
        assert sum(map(len, said["removed_units"].values())) == model.layers[0].width - smaller.layers[0].width
        reach = 3 if within else 0
        (low, high), (least, most) = line["box"]["x"], line["box"]["y"]
        for point, of_model in zip(everybody, scores, strict=True):
            same = of_model == exact_scores(smaller, point)
            inside = low - reach <= point[0] <= high + reach and least <= point[1] <= most
            assert same or not inside, (line["partition"], point)
            elsewhere += not same
    assert elsewhere
    (said,) = (line for line in partition_lines(coverage_of(report)) if "soundly" in line)
    assert said == (
        f"{len(cut)} soundly pruned networks written into sound: each decides as the model does in its partition, and "
        "nowhere else"
    )


def test_what_a_pruned_network_decides_otherwise_is_counted() -> None:
    """Of the 220 people with x 11 .. 20 and y 11 .. 21, the four with x = 20, y 11 .. 14 and another group."""
    asked = problem(spec(weight=9.0))
    box = (Finite(range(11, 21)), Finite(range(11, 22)), Finite(range(2)))
    drawn, changed = decided_differently(asked.domain, box, asked.model, remove(asked.model, {0: (0,)}), 10_000, 0)
    low, high = clopper_pearson(changed, drawn, 0.9999)
    assert drawn == 10_000
    assert low <= 4 / 220 <= high


def test_the_report_says_how_many_and_where() -> None:
    path = str(spec())
    settings = ["--set", "partition.keep_going=yes", "--set", "partition.tolerance=10%"]
    options = ["--backend", "smt", "--jobs", "1", "--partition", "11", *settings]
    result = CliRunner().invoke(cli, ["check", path, *options, "--set", "partition.networks=cut"])
    assert result.exit_code == 3, result.output
    assert "2 pruned networks written into cut" in result.output
    assert "which proves nothing about the model" in " ".join(result.output.split())
    result = CliRunner().invoke(cli, ["check", path, *options, "--set", "partition.networks=other", "--json"])
    report = json.loads(result.stdout)
    assert Report.from_json(result.stdout).exit_code.value == report["exit_code"]
    partitions = report["properties"][0]["demands"][0]["verdict"]["evidence"]["coverage"]
    assert (partitions["network_folder"], partitions["networks"], partitions["networks_kept"]) == ("other", 2, 0)
    assert Path("other", LEFT).read_bytes() == Path("cut", LEFT).read_bytes()


def test_earlier_networks_are_replaced_by_a_run_that_goes_on_and_by_no_other() -> None:
    path = spec()
    asked(path, ledger="verdicts.jsonl")
    before = Path("cut", LEFT).read_bytes()
    with pytest.raises(DiagnosticError) as caught:
        asked(path, ledger="others.jsonl")
    assert [finding.code for finding in caught.value.diagnostics] == ["E0611"]
    assert not Path("others.jsonl").exists(), "a run that cannot begin leaves no ledger"
    Path("cut", LEFT).write_bytes(b"damaged")
    coverage = asked(path, ledger="verdicts.jsonl", resume=True).properties[0].demands[0].coverage
    assert Path("cut", LEFT).read_bytes() == before
    assert coverage is not None
    assert (coverage.networks, coverage.networks_kept) == (2, 0)


def test_networks_of_partitions_that_were_decided_since_stay_and_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    path = spec()
    asked(path, ledger="verdicts.jsonl")
    monkeypatch.setitem(registry.BACKENDS, "smt", registry.Registered(__name__, "able"))
    demand = asked(path, ledger="verdicts.jsonl", resume=True).properties[0].demands[0]
    assert demand.judgement.value == "holds"
    assert demand.coverage is not None
    assert (demand.coverage.networks, demand.coverage.networks_kept) == (0, 2)
    said = partition_lines(demand.coverage)
    assert "0 pruned networks written into cut; 2 of earlier runs stay there" in said


@pytest.mark.parametrize(
    ("middle", "model", "code"),
    [
        ("Sigmoid", None, "E0561"),
        ("HardSigmoid", None, "E0560"),
        ("Relu", "score = y - 14 yes when score > 0", "E0561"),
        ("Relu", 'from "linear.json" yes when score > 0', "E0561"),
    ],
)
def test_what_cannot_be_cut_is_said_before_anything_is_asked(middle: str, model: str | None, code: str) -> None:
    Path("linear.json").write_text('{"coefficients": [1, 2, 3], "intercept": -9}')
    with pytest.raises(DiagnosticError) as caught:
        check_cuts(problem(spec(middle=middle, model=model)))
    assert [finding.code for finding in caught.value.diagnostics] == [code]


def test_a_folder_that_cannot_be_written_is_said_first() -> None:
    path = spec()
    Path("file").write_text("")
    with pytest.raises(DiagnosticError) as caught:
        asked(path, networks="file")
    assert [finding.code for finding in caught.value.diagnostics] == ["E0605"]
    assert "partition.networks=DIR" in str(caught.value.diagnostics[0].help)


def test_two_questions_of_one_property_do_not_share_a_folder() -> None:
    path = spec()
    text = path.read_text().replace("require same", "require abs(score(a) - score(b)) <= 1 require same")
    path.write_text(text)
    with pytest.raises(DiagnosticError) as caught:
        asked(path)
    assert [finding.code for finding in caught.value.diagnostics] == ["E0616"]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--partition", "2"], "add `partition.tolerance=SHARE`"),
        (["--set", "partition.tolerance=1%"], "add `--partition SIZE`"),
        ([], "add `--partition SIZE`"),
    ],
)
def test_an_option_that_would_do_nothing_is_a_mistake(options: list[str], says: str) -> None:
    result = CliRunner().invoke(cli, ["check", str(spec()), "--set", "partition.networks=cut", *options])
    assert result.exit_code == 2
    assert says in result.output


def test_two_kinds_of_networks_do_not_share_a_folder() -> None:
    with pytest.raises(DiagnosticError, match="has no effect here"):
        fairdsl.Partition(size=2, tolerance=Fraction(1, 100), networks="cut", sound_networks="cut")


def test_networks_without_a_tolerance_are_no_request() -> None:
    with pytest.raises(DiagnosticError, match="without `partition"):
        fairdsl.Partition(size=2, networks="cut")
