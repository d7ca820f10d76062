"""The tables of Fairify's questions: what they compare, and that they notice a contradiction."""

from __future__ import annotations

import csv
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fairdsl.verdict import Individual, Replay, Witness

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def fairify(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import fairify.opinions
    import fairify.questions
    import fairify.verdicts

    return fairify


@pytest.fixture
def save(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import wide_network

    def linear(path: Path, inputs: int, bias: float = 0.0, **weights: float) -> Path:
        """A linear score; ``at_3=2.0`` is the weight of input 3."""
        row = np.zeros((1, inputs), dtype=np.float32)
        for name, weight in weights.items():
            row[0, int(name.removeprefix("at_"))] = weight
        wide_network.save([(row, np.full(1, bias, dtype=np.float32))], path)
        return path

    return linear


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """What the script prints, and its exit code; in this process, which has imported what it needs."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import individual_fairness

    def printed(*arguments: object) -> tuple[str, int]:
        monkeypatch.setattr(sys, "argv", ["individual_fairness.py", *map(str, arguments)])
        code = individual_fairness.main()
        return capsys.readouterr().out, code

    return printed


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, BENCHMARKS / "individual_fairness.py", *arguments]
    return subprocess.run([str(part) for part in command], capture_output=True, text=True)


def test_published_rows_add_up(fairify: Any) -> None:
    """Each partition tried has one verdict, and a network's is what its partitions' come to; 201, 510 and 16,000
    partitions make the base questions' coverage."""
    found = fairify.questions.published()
    assert len(found) == 25 * 5
    count = {"GC": 201, "BM": 510, "AC": 16_000}
    for (family, network), row in found.items():
        assert row.sat + row.unsat + row.unknown == row.partitions
        assert row.verdict == ("SAT" if row.sat else "UNK")
        assert (row.coverage is not None) == (family == "base")
        if row.coverage is not None:
            assert abs(100 * (row.sat + row.unsat) / count[network[:2]] - row.coverage) < 0.011


def test_every_question_has_its_spec(fairify: Any) -> None:
    for network in ("GC-1", "BM-1", "AC-1"):
        questions = fairify.questions.questions_of(Path(f"{network}.onnx"), fairify.questions.FAMILIES)
        assert len(questions) == len(fairify.questions.FAMILIES) + (network == "AC-1")
        assert all(question.spec.is_file() for question in questions)


def _pair(first: str, second: str, a: int, b: int, *, replayed: bool) -> Witness:
    replay = Replay(
        exact=replayed,
        float32=None,
        scores_a=(Fraction(a),),
        scores_b=(Fraction(b),),
        decision_a=first,
        decision_b=second,
    )
    return Witness(a=Individual(), b=Individual(), replay=replay)


@pytest.mark.parametrize(
    ("a", "b", "replayed", "strict"),
    [(-1, 2, True, True), (0, 2, True, False), (-1, 0, True, False), (-1, 2, False, False)],
)
def test_a_score_of_zero_is_no_violation_to_fairify(fairify: Any, a: int, b: int, replayed: bool, strict: bool) -> None:
    pair = _pair("bad", "good", a, b, replayed=replayed)
    assert fairify.verdicts.opposite(pair) is strict
    swapped = _pair("good", "bad", b, a, replayed=replayed)
    assert fairify.verdicts.opposite(swapped) is strict


def test_the_table_stands_beside_the_papers(table: Any, save: Any, tmp_path: Path) -> None:
    """A score that is the age group alone: violated everywhere; its pairs have the scores 0 and 1."""
    save(tmp_path / "BM-8.onnx", 16, at_0=1.0)
    results = tmp_path / "results.csv"
    said, code = table("verdicts", tmp_path, "--csv", results)
    assert code == 0
    assert "| BM-8 | base | violated | - |" in said
    assert "| UNK | 23 | 3.14% |" in said
    assert "5 questions: 5 violated; 0 of these verdicts are strict. Fairify: 4 SAT, 1 UNK." in said
    header, *rows = results.read_text(encoding="utf-8").splitlines()
    assert header.startswith("network,family,verdict,strict,")
    assert len(rows) == 5


def test_a_contradiction_fails(table: Any, save: Any, tmp_path: Path) -> None:
    """A score of the duration alone holds where the paper found violations."""
    save(tmp_path / "BM-6.onnx", 16, at_10=1.0)
    said, code = table("verdicts", tmp_path, "--families", "base", "targeted-1", "--timeout", "10")
    assert "| BM-6 | base | holds | yes |" in said
    assert "Contradictions: 2." in said
    assert code == 1


def test_opinions_are_drawn_from_every_network(fairify: Any) -> None:
    many, few, none = (fairify.questions.questions_of(Path(f"GC-{number}.onnx"), ("base",))[0] for number in (1, 2, 3))
    held = {many: range(100), few: range(3), none: []}
    sample = fairify.opinions.drawn(held, 10, 0)
    assert sample == fairify.opinions.drawn(held, 10, 0)
    assert sample != fairify.opinions.drawn(held, 10, 1)
    assert len(set(sample)) == 10
    assert sum(question is few for question, _ in sample) == 3
    assert len(fairify.opinions.drawn(held, 200, 0)) == 103


def test_provers_agree_with_what_is_so(fairify: Any, save: Any, tmp_path: Path) -> None:
    """The amount and the sex: a woman is granted from 10,001, a man from 10,000, so one partition is violated."""
    network = save(tmp_path / "GC-3.onnx", 20, at_4=1.0, at_19=1.0, bias=-10_000.5)
    (question,) = fairify.questions.questions_of(network, ("base",))
    found = list(fairify.opinions.opinions([(question, 99), (question, 100)], fairify.opinions.PROVERS, 30.0))
    said = {(one.partition, one.prover): one.says for one in found}
    assert all(said[99, prover] == "holds" and said[100, prover] == "violated" for prover in fairify.opinions.PROVERS)
    assert fairify.opinions.summary(found).endswith("Contradictions: 3")


@pytest.mark.slow
def test_partitions_are_counted_and_proved_again(save: Any, tmp_path: Path) -> None:
    """The same network: one of 201 partitions is violated. What holds is drawn from the ledger."""
    save(tmp_path / "GC-5.onnx", 20, at_4=1.0, at_19=1.0, bias=-10_000.5)
    ledgers = tmp_path / "ledgers"
    done = run("partitions", tmp_path, "--ledgers", ledgers, "--csv", tmp_path / "results.csv")
    assert done.returncode == 0, done.stderr
    assert "| GC-5 | strict | 201 | 1 | 200 | 0 | 100.00% |" in done.stdout
    assert "| 0 / 3 / 9 |" in done.stdout
    with (tmp_path / "results.csv").open(encoding="utf-8", newline="") as file:
        (row,) = csv.DictReader(file)
    assert (row["violated"], row["holds"], row["unknown"], row["volume"]) == ("1", "200", "0", "1.0")
    assert float(row["imports_s"]) < float(row["cpu_s"])
    done = run("opinions", tmp_path, "--ledgers", ledgers, "--sample", 2, "--seconds", 30)
    assert done.returncode == 0, done.stderr
    assert "2 partitions that hold. Proved again: z3 2 of 2, cvc5 2 of 2, intervals 2 of 2." in done.stdout


def test_other_counts_than_the_papers_are_a_contradiction(table: Any, save: Any, tmp_path: Path) -> None:
    """The paper has all 201 partitions of GC-3, 195 of them SAT."""
    save(tmp_path / "GC-3.onnx", 20, at_4=1.0, at_19=1.0, bias=-10_000.5)
    said, code = table("partitions", tmp_path)
    assert "Contradictions: 1." in said
    assert code == 1


def test_ledgers_that_prove_nothing_leave_nothing_to_confirm(save: Any, tmp_path: Path) -> None:
    save(tmp_path / "GC-5.onnx", 20, at_19=1.0)
    done = run("opinions", tmp_path, "--ledgers", tmp_path)
    assert "0 partitions that hold." in done.stdout
    assert done.returncode == 1
