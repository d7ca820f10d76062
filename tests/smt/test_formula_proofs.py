"""Equal decisions and close scores are formulas of many: written out, they are the same question to the prover."""

from __future__ import annotations

from pathlib import Path
from shutil import copy

import pytest

from fairdsl.backends.smt import Smt
from fairdsl.backends.smt.cases import cases
from fairdsl.elaborate import elaborate
from fairdsl.ir.demand import Demanded
from fairdsl.ir.problem import Problem
from fairdsl.semantics import front_end
from fairdsl.verdict import Arithmetic, Holds, Violated
from tests.agreement.engines import KEPT, ask
from tests.solvers import InProcess

CREDIT = Path(__file__).parents[2] / "examples" / "credit"
DECLARED = (CREDIT / "credit.fair").read_text(encoding="utf-8").split("property ")[0]

SAME = "not (approve(a) = reject and approve(b) = grant) and not (approve(a) = grant and approve(b) = reject)"
CLOSE = "score(a) - score(b) <= 1 and score(b) - score(a) <= 1"
#: Without processes of its own.
SMT = Smt(lambda jobs: KEPT, InProcess)
PAIRS = [("same decision", SAME), ("abs(score(a) - score(b)) <= 1", CLOSE)]


def asked(demand: str, folder: Path, among: str = "") -> Problem:
    """The question of two credits that differ in sex."""
    path = folder / "spec.fair"
    copy(CREDIT / "credit.onnx", folder)
    declared = "".join(line for line in DECLARED.splitlines(keepends=True) if "agrees with" not in line)
    body = f"compare a, b : Applicant\ndiffer in sex\n{among}\nrequire {demand}"
    path.write_text(f"{declared}property p {{\n{body}\n}}\n", encoding="utf-8")
    return elaborate(front_end(str(path))[0], {}).demands[0].problem


@pytest.mark.parametrize(("recognised", "written"), PAIRS)
def test_a_demand_written_out_has_the_same_cases(recognised: str, written: str, tmp_path: Path) -> None:
    one, other = asked(recognised, tmp_path), asked(written, tmp_path)
    assert isinstance(other.question, Demanded)
    assert not isinstance(one.question, Demanded)
    found = [
        {(frozenset(case.atoms), case.region.a, case.region.b, case.condition) for case in cases(problem)}
        for problem in (one, other)
    ]
    assert found[0] == found[1]


@pytest.mark.parametrize("demand", ["same decision", SAME])
def test_what_is_broken_is_found_by_programs(demand: str, tmp_path: Path) -> None:
    verdict = ask(SMT, asked(demand, tmp_path), 60.0)
    assert isinstance(verdict, Violated)
    assert verdict.evidence.method == "linear and mixed-integer programs"


@pytest.mark.parametrize("demand", ["same decision", SAME, "not (approve(a) = reject and approve(b) = grant)"])
def test_a_proof_about_decisions_covers_the_file(demand: str, tmp_path: Path) -> None:
    verdict = ask(SMT, asked(demand, tmp_path, "among safe"), 60.0)
    assert isinstance(verdict, Holds)
    assert verdict.evidence.basis.arithmetic is Arithmetic.DEPLOYED
