"""The public functions, end to end: choices, budgets, seeds, precedence and what is never ignored."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

import fairdsl
from fairdsl.backends.contract import Budget
from fairdsl.plan.registry import BACKENDS
from fairdsl.verdict import Judgement

EXAMPLES = Path(__file__).parents[2] / "examples"

WIDE = """
domain Applicant {
  sex    : category { female, male }
  income : integer 0 .. 100000
  debt   : integer 0 .. 100000
}
protected sex
model approve : Applicant -> { reject, grant }
  score = income - debt + 0.5 * (sex = male)
  grant when score > 0
"""


def written(tmp_path: Path, properties: str, head: str = WIDE) -> Path:
    path = tmp_path / "spec.fair"
    path.write_text(head + properties)
    return path


#: Shares under such a distribution are refused.
EVERYBODY = "distribution everybody over Applicant uniform\n"


def ask(name: str, clauses: str) -> str:
    return f"property {name} {{ compare a, b : Applicant differ in sex {clauses} }}\n"


def test_the_hiring_example_has_exactly_the_share_of_the_paper() -> None:
    report = fairdsl.check(EXAMPLES / "hiring" / "hiring.fair")
    shares = report.properties[0].shares
    assert shares is not None
    assert (shares.certified.numerator, shares.certified.denominator, shares.total) == (4, 5, 30)
    assert [checked.judgement for checked in report.properties] == [Judgement.VIOLATED, Judgement.HOLDS]


def test_a_tie_that_float32_decides_otherwise_is_a_numeric_gap() -> None:
    report = fairdsl.check(EXAMPLES / "hiring" / "hiring_decimal.fair", properties=["weakest_candidates"])
    (demand,) = report.properties[0].demands
    assert demand.judgement is Judgement.UNKNOWN
    assert demand.reason is not None
    assert demand.reason.value == "numeric_gap"
    assert demand.disagreements


@pytest.mark.parametrize("backend", ["search", "enumerate", "smt"])
def test_a_forced_backend_is_the_one_that_answers(backend: str) -> None:
    report = fairdsl.check(
        EXAMPLES / "hiring" / "hiring.fair", backend=backend, properties=["gender_never_decides"], jobs=1
    )
    required, measured = report.properties[0].demands
    assert (required.backend, required.judgement) == (backend, Judgement.VIOLATED)
    # Violations that a search finds bound a share; what proves or refutes counts nothing.
    expected = {"search": Judgement.UNKNOWN, "enumerate": Judgement.MEASURED, "smt": Judgement.REFUSED}
    assert measured.judgement is expected[backend]


def test_a_proof_on_a_domain_too_large_to_count(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        ask("apart", "among income >= debt + 1 require same decision")
        + ask("close", "among income <= debt and income >= debt - 1 require same decision"),
    )
    apart, close = fairdsl.check(path, timeout=30).properties
    assert (apart.judgement, apart.demands[0].backend) == (Judgement.HOLDS, "smt")
    assert close.judgement is Judgement.VIOLATED
    assert close.witnesses[0].a["income"] == close.witnesses[0].a["debt"]


def test_what_nobody_answers_is_refused_and_the_rest_still_runs(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        EVERYBODY
        + ask("weighed", "within 1 in income under everybody measure fair_share")
        + ask("sure", "require same decision with confidence 95%")
        + ask("plain", "require same decision")
        + ask("share", "measure fair_share within 1%"),
    )
    report = fairdsl.check(path)
    assert [checked.judgement for checked in report.properties] == [
        Judgement.REFUSED,
        Judgement.VIOLATED,
        Judgement.VIOLATED,
        Judgement.MEASURED,
    ]
    assert [demand.refusals[0].code for demand in report.properties[0].demands] == ["E0601"]
    assert report.exit_code.value == 1


def test_a_property_about_nobody_is_said_to_be_one(tmp_path: Path) -> None:
    odd = "among 2 * income = 2 * debt + 1 require same decision"
    report = fairdsl.check(written(tmp_path, ask("nobody", odd)), timeout=30)
    assert report.properties[0].judgement is Judgement.VACUOUS
    assert report.exit_code.value == 3
    assert [finding.code for finding in report.diagnostics] == ["W0804"]


def test_the_same_seed_gives_the_same_witnesses(tmp_path: Path) -> None:
    path = written(tmp_path, ask("plain", "require same decision"))
    first, second = (fairdsl.check(path, seed=7).properties[0].witnesses for _ in range(2))
    assert first == second
    assert first


def test_the_budget_is_shared_among_demands(tmp_path: Path) -> None:
    hard = ask("one", "among income + debt >= 1 require same decision")
    path = written(tmp_path, hard)
    started = time.monotonic()
    fairdsl.check(path, timeout=0.2)
    assert time.monotonic() - started < 10


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"backend": "z3"}, "E0604"),
        ({"properties": ["plane"]}, "E0604"),
        ({"models": {"aprove": "x.onnx"}}, "E0550"),
    ],
)
def test_names_that_there_are_not(tmp_path: Path, options: dict[str, object], code: str) -> None:
    path = written(tmp_path, ask("plain", "require same decision"))
    with pytest.raises(fairdsl.SpecError) as caught:
        fairdsl.check(path, **options)  # type: ignore[arg-type]
    assert [finding.code for finding in caught.value.diagnostics] == [code]


def test_every_shipped_spec_is_clean() -> None:
    for path in EXAMPLES.glob("*/*.fair"):
        assert not fairdsl.lint(path), path


def test_examples_open_their_models() -> None:
    for path in EXAMPLES.glob("*/*.fair"):
        assert not fairdsl.lint(path, files=True), path


def test_a_pinned_digest_binds_a_replacement_too(tmp_path: Path) -> None:
    model = (EXAMPLES / "hiring" / "hiring.onnx").read_bytes()
    (tmp_path / "other.onnx").write_bytes(model)
    text = (EXAMPLES / "hiring" / "hiring.fair").read_text()
    pinned = text.replace('from "hiring.onnx"', f'from "hiring.onnx" sha256 "{"0" * 64}"')
    path = tmp_path / "spec.fair"
    path.write_text(pinned)
    with pytest.raises(fairdsl.SpecError) as caught:
        fairdsl.check(path, models={"hire": tmp_path / "other.onnx"})
    assert [finding.code for finding in caught.value.diagnostics] == ["E0507"]


def test_compiled_files_come_with_a_manifest(tmp_path: Path) -> None:
    compiled = fairdsl.compile(EXAMPLES / "hiring" / "hiring.fair", to="smtlib", directory=tmp_path / "out")
    manifest = json.loads(compiled.manifest.read_text())
    assert [path.name for path in compiled.files] == ["gender_never_decides.smt2", "good_tests.smt2"]
    parts = [entry["parts"] for entry in manifest["questions"]]
    assert [[part["settled_by"] for part in each] for each in parts] == [[[[path.name]]] for path in compiled.files]
    assert manifest["spec"]["path"].endswith("examples/hiring/hiring.fair")
    assert manifest["refused"][0]["demand"] == "measure fair_share"
    assert not compiled.diagnostics
    again = fairdsl.compile(EXAMPLES / "hiring" / "hiring.fair", to="smtlib", directory=tmp_path / "again")
    assert [path.read_bytes() for path in again.files] == [path.read_bytes() for path in compiled.files]


def test_plans_and_capabilities_name_every_backend() -> None:
    known = {row.backend for row in fairdsl.capabilities()}
    assert known == set(BACKENDS)
    plan = fairdsl.plans(EXAMPLES / "hiring" / "hiring.fair")[0]
    mentioned = {line.split(":")[0] for line in (*plan.stages, *plan.reasons)}
    assert mentioned == known


def test_refused_demands_take_no_part_of_the_budget(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shares: list[int] = []
    share = Budget.share
    monkeypatch.setattr(Budget, "share", lambda self, parts: shares.append(parts) or share(self, parts))
    refused = "".join(ask(f"p{number}", "within 1 in income under everybody measure fair_share") for number in range(5))
    fairdsl.check(written(tmp_path, EVERYBODY + ask("plain", "require same decision") + refused))
    assert shares[1] == 1, "the first share is the time for which kernels are waited for"


def test_where_no_row_counts_every_group_has_none(tmp_path: Path) -> None:
    """A law from rows none of which meets `given` rests on 0 rows a group, and `excluding` leaves all of them out."""
    (tmp_path / "rows.csv").write_text("g,c,d\nf,0,1\nf,1,0\nm,0,1\nm,1,0\nm,0,0\n", encoding="utf-8")
    spec = tmp_path / "p.fair"
    spec.write_text(
        """fair 1
domain D {
  g : category { f, m }
  c : boolean
  d : boolean
}
protected g
model M : D -> { n, y }
  y when c or d
  favourable y
distribution P over D
  independent given g
  from "rows.csv"
property p {
  across     g
  under      P
  among c and d
  excluding  groups below 100 rows
  require    parity_gap <= 0.1
}
""",
        encoding="utf-8",
    )
    for backend in ("ssat", "rates"):
        (found,) = fairdsl.check(spec, backend=backend).properties
        assert found.judgement is Judgement.VACUOUS, backend
