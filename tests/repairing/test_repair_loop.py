"""Whole repairs with estimators of numpy: what is kept, what is written, and what never happens."""

from __future__ import annotations

import csv
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fairdsl
from fairdsl.backends.contract import Budget, Silent
from fairdsl.data.table import read_table
from fairdsl.ir.exact_rows import ExactRows
from fairdsl.ir.question import Quantity
from fairdsl.numerics.evaluate import BatchEvaluator
from fairdsl.repairing import Ending, Repaired
from fairdsl.repairing.measure import OnRows
from fairdsl.repairing.result import Compared
from fairdsl.repairing.rule import Choice
from fairdsl.repairing.subject import Rows, Subject, subject_of
from fairdsl.semantics import front_end
from tests.agreement.test_repeatable import slowed
from tests.models.model_files import network, node, saved
from tests.oracle import truth
from tests.repairing.learners import SPEC, Constant, Failing, Linear, Reversed, Worse, linear, people, write_case


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_case(tmp_path, people(600))
    for learner in (Worse, Constant, Failing):
        monkeypatch.setattr(learner, "made", 0)
    return tmp_path


def repaired(estimator: Any = linear, output: str = "out", **options: Any) -> Repaired:
    return fairdsl.repair("spec.fair", train="people.csv", estimator=estimator, output=output, **options)


def subject() -> Subject:
    return subject_of(front_end("spec.fair")[0], "spec.fair", None)


def true_rate(path: str) -> Fraction:
    """By definition."""
    asked = subject()
    return 1 - truth(asked.problem(asked.load(path), Quantity.DISCRIMINATION_RATE)).fair_share


def test_a_biased_model_becomes_fair_and_its_file_is_what_was_measured() -> None:
    found = repaired(max_accuracy_loss=0.25)
    first, best = found.rates
    assert found.improved
    assert first.exact
    assert first.low > Fraction(1, 4)
    assert best.high == true_rate("out/approve.json")
    assert found.reduction is not None
    assert found.reduction >= Fraction(95, 100)
    # With less to lose less is repaired, and the file is still the one that the numbers are about.
    careful = repaired(output="careful", max_accuracy_loss=0)
    assert true_rate("careful/approve.json") == careful.rates[1].high > best.high
    kept = [one.measured.rows.correct for one in careful.candidates if one.kept and one.measured is not None]
    assert min(kept) == kept[0]


def test_the_numbers_on_rows_are_those_of_plain_counting() -> None:
    found = repaired(rounds=1)
    assert found.split.train + found.split.choose + found.split.report == 600
    asked = subject()
    model = asked.load("out/approve.json")
    table = read_table("people.csv", asked.domain, asked.label)
    part = np.random.default_rng(0).permutation(600)[120:240]
    people_there, labels = table.values.floats[part], table.labels
    assert labels is not None
    decisions = BatchEvaluator(model).settled(people_there).decisions
    people_there[:, 0] = 1 - people_there[:, 0]
    others = BatchEvaluator(model).settled(people_there).decisions
    after = found.compared.after
    assert (after.rows, after.in_target) == (120, 120)
    assert after.unfair == int((decisions != others).sum())
    assert after.correct == int((decisions == labels[part]).sum())
    assert after.decided == (int((decisions == 0).sum()), int((decisions == 1).sum()))


def of_rows(gained: int, lost: int, rows: int = 400) -> Compared:
    before, after = (
        OnRows(rows=rows, in_target=rows, unfair=0, correct=correct, decided=(rows, 0))
        for correct in (300, 300 + gained - lost)
    )
    return Compared(before=before, after=after, changed=gained + lost, gained=gained, lost=lost)


@pytest.mark.parametrize(
    ("gained", "lost", "judgement"),
    [
        (60, 5, "holds"),
        # A loss of exactly 2 % of the rows, or none: among so few it may be more elsewhere.
        (12, 20, "unknown"),
        (20, 20, "unknown"),
        (0, 0, "holds"),
        (5, 60, "violated"),
    ],
)
def test_a_loss_is_judged_by_its_interval(gained: int, lost: int, judgement: str) -> None:
    compared = of_rows(gained, lost)
    assert compared.judged(Fraction(2, 100)).value == judgement
    change = compared.correct_change
    assert change is not None
    assert change.low is not None
    assert change.high is not None
    # What is allowed to the last digit of the interval, and not a bit less.
    assert compared.judged(-change.low).value == "holds"
    assert compared.judged(-change.low - Fraction(1, 10**9)).value != "holds"
    assert compared.judged(-change.high).value == ("holds" if change.low == change.high else "unknown")


def test_a_repair_says_what_loss_cannot_be_excluded() -> None:
    found = repaired(max_accuracy_loss=0.25)
    compared = found.compared
    assert compared.gained - compared.lost == compared.after.correct - compared.before.correct
    assert compared.gained + compared.lost == compared.changed, "of two outcomes one is right"
    assert found.accuracy is compared.judged(found.settings.loss)
    told = Path("out/report.txt").read_text(encoding="utf-8")
    words = {"holds": "no more than 25 points are lost", "unknown": "a loss of more than 25 points cannot be excluded"}
    assert words[found.accuracy.value] in told


def test_trap_24_an_estimator_that_gets_worse_leaves_the_first_model() -> None:
    found = repaired(Worse, recipe="pairs-training-rule", rounds=3)
    assert [candidate.kept for candidate in found.candidates] == [True, False, False, False]
    assert not found.improved
    first, best = found.rates
    assert best == first
    assert true_rate("out/approve.json") == first.high
    # It would have been worse: the rule is what kept it away.
    later = [candidate.measured for candidate in found.candidates[1:]]
    assert any(one is not None and one.rate is not None and one.rate.low > first.high for one in later)
    # What is returned is the first one itself, not an object that was trained again.
    plain = repaired(linear, output="plain", recipe="pairs-training-rule", rounds=1)
    assert plain.candidates[0].measured == found.candidates[0].measured


def test_trap_24_a_model_that_rejects_everybody_is_fair_and_is_not_taken() -> None:
    found = repaired(Constant, recipe="flipped-copies", max_accuracy_loss=1)
    choices = [candidate.choice for candidate in found.candidates]
    assert choices == [Choice.FIRST, Choice.ONE_OUTCOME]
    rejecting = found.candidates[1].measured
    assert rejecting is not None
    assert rejecting.rate is not None
    assert rejecting.rate.high == 0
    Constant.made = 0
    strict = repaired(Constant, output="strict", recipe="flipped-copies")
    assert [candidate.choice for candidate in strict.candidates] == [Choice.FIRST, Choice.INACCURATE]
    assert not strict.improved


def test_trap_24_unfavourable_labels_alone_never_make_the_returned_model_worse() -> None:
    found = repaired(recipe="published", rounds=3)
    first, best = found.rates
    assert best.high <= first.high
    before, after = found.candidates[0].measured, found.best.measured
    assert before is not None
    assert after is not None
    assert after.rows.unfair <= before.rows.unfair
    assert before.rows.correct - after.rows.correct <= Fraction(5, 1000) * before.rows.rows


def test_the_same_seed_gives_the_same_files() -> None:
    repaired(seed=3)
    repaired(output="again", seed=3)
    for path in sorted(Path("out").iterdir()):
        assert path.read_bytes() == (Path("again") / path.name).read_bytes(), path.name
    assert {path.name for path in Path("out").iterdir()} == {
        "added.csv",
        "approve.json",
        "rates.svg",
        "report.json",
        "report.txt",
    }
    other = repaired(output="other", seed=4)
    assert other.candidates != repaired(output="third", seed=3).candidates


def test_the_added_rows_are_a_table_of_the_spec() -> None:
    found = repaired(recipe="pairs", rounds=1, max_accuracy_loss=0.05)
    assert found.improved
    asked = subject()
    table = read_table("out/added.csv", asked.domain, asked.label)
    assert table.rows == found.best.added
    with open("out/added.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {(row["recipe"], row["round"]) for row in rows} == {("pairs", "1")}
    # Both sexes of each, with one label.
    groups: dict[tuple[str, str], set[tuple[str, str]]] = {}
    for row in rows:
        groups.setdefault((row["age"], row["debt"]), set()).add((row["sex"], row["repaid"]))
    assert all({sex for sex, _ in group} == {"true", "false"} for group in groups.values())
    assert all(len({label for _, label in group}) == 1 for group in groups.values())


def test_a_large_domain_is_sampled_and_the_interval_holds() -> None:
    wide = SPEC.replace("0 .. 19", "0 .. 1999").replace("0 .. 9\n", "0 .. 999\n")
    rows = people(600)
    rows[:, 1:3] *= 100
    write_case(Path(), rows, wide)
    found = repaired(within=0.01, rounds=1, recipe="flipped-copies")
    first = found.rates[0]
    assert first.sampled > 0
    assert not first.exact
    # A narrow strip of ages decides: counted by hand.
    document = json.loads(Path("out/approve.json").read_text(encoding="utf-8"))
    asked = subject()
    sex, age, debt = (Fraction(str(number)) for number in document["coefficients"])
    bias = Fraction(str(document["intercept"]))
    unfair = sum(
        (age * a + debt * d + bias > 0) != (age * a + debt * d + sex + bias > 0)
        for a in range(0, 2000, 25)
        for d in range(0, 1000, 25)
    )
    coarse = Fraction(unfair, 80 * 40)
    assert asked.domain.size == 2 * 2000 * 1000
    assert abs(found.rates[1].low - coarse) <= Fraction(3, 100)


def test_estimates_contain_the_exact_rates(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = repaired(rounds=2, max_accuracy_loss=1)
    monkeypatch.setattr("fairdsl.repairing.measure._FEW", 0)
    sampled = repaired(output="sampled", rounds=2, max_accuracy_loss=1, within=0.01)
    compared = 0
    for one, other in zip(exact.candidates, sampled.candidates, strict=False):
        if (one.recipe, one.added) != (other.recipe, other.added):
            break  # another model was the best one from here on
        assert one.measured is not None
        assert other.measured is not None
        known, estimate = one.measured.rate, other.measured.rate
        assert known is not None
        assert estimate is not None
        assert estimate.sampled > 0
        assert estimate.low <= known.low == known.high <= estimate.high
        assert estimate.high - estimate.low <= Fraction(2, 100)
        compared += 1
    assert compared >= 2


def test_without_time_nothing_is_replaced_and_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time is up when the first model is trained; before that it is a diagnostic."""
    with pytest.raises(fairdsl.SpecError, match="E0625"):
        repaired(timeout=1e-9)
    monkeypatch.setattr(Budget, "of_effort", Budget.of(-1.0))
    found = repaired()
    assert found.ending is Ending.TIME
    assert found.by_the_clock
    assert not found.improved
    assert "by the clock" in Path("out/report.txt").read_text(encoding="utf-8")


def test_effort_ends_a_repair_alike_however_fast_it_goes() -> None:
    found = repaired(effort=3000, output="one")
    with slowed():
        again = repaired(effort=3000, output="other")
    assert found.ending is again.ending
    assert (found.candidates, found.by_the_clock) == (again.candidates, False)


def test_confidence_is_shared_by_all_measurements() -> None:
    from fairdsl.repairing import Settings

    settings = Settings(confidence=Fraction(9, 10))
    assert settings.precision(10).confidence == Fraction(99, 100)
    assert settings.precision(1).confidence == Fraction(9, 10)


def test_a_round_that_fails_is_told_and_costs_nothing() -> None:
    found = repaired(Failing, rounds=2)
    assert not found.improved
    failed = [candidate for candidate in found.candidates if candidate.choice is Choice.FAILED]
    assert failed
    assert all("ValueError: no more" in candidate.detail for candidate in failed)
    assert "failed: the estimator" in Path("out/report.txt").read_text(encoding="utf-8")


def test_an_interrupt_keeps_what_is_best(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Failing, "problem", KeyboardInterrupt())
    found = repaired(Failing)
    assert found.ending is Ending.INTERRUPTED
    assert found.report is None
    assert true_rate("out/approve.json") == found.rates[1].high


def test_the_file_is_checked_as_the_spec_says() -> None:
    found = repaired()
    assert found.report is not None
    again = fairdsl.check("spec.fair", models={"approve": "out/approve.json"}, timeout=30)
    assert [one.judgement for one in again.properties] == [one.judgement for one in found.report.properties]
    expected = "holds" if found.rates[1].high == 0 else "violated"
    assert again.properties[0].judgement.value == expected


def test_a_pinned_file_is_replaced_and_not_checked() -> None:
    write_case(Path(), people(600), SPEC.replace('"approve.json"', f'"approve.json" sha256 "{"0" * 64}"'))
    found = repaired(rounds=1)
    assert found.pinned
    assert found.report is None
    assert f'sha256 "{found.sha256}"' in Path("out/report.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("decision", ["grant when class = 1", "grant when score > 0", "reject when score <= 0"])
def test_classes_fit_the_decision_clause(decision: str) -> None:
    spec = SPEC.replace("grant when score > 0", decision)
    write_case(Path(), people(600), spec)
    if "class" in decision:
        with pytest.raises(fairdsl.SpecError) as caught:
            repaired()  # a linear document has one score and no class
        assert caught.value.diagnostics[0].code == "E0511"
    else:
        assert subject().classes == (0, 1)  # a high score means `grant` in both
        assert repaired(rounds=1).compared.after.correct > 0.6 * 120


def test_a_file_that_decides_otherwise_is_refused() -> None:
    with pytest.raises(fairdsl.SpecError) as caught:
        repaired(Reversed)
    assert caught.value.diagnostics[0].code == "E0591"
    assert not Path("out").exists()


def test_what_the_model_reads_is_what_the_estimator_learns() -> None:
    spec = SPEC.replace('  from "approve.json"\n', '  from "approve.json"\n  reads age - debt, sex\n')
    write_case(Path(), people(600), spec)
    found = repaired(rounds=1)
    document = json.loads(Path("out/approve.json").read_text(encoding="utf-8"))
    assert len(document["coefficients"]) == 2
    assert found.rates[1].high == true_rate("out/approve.json")


def test_a_folder_with_files_is_never_written_into(folder: Path) -> None:
    (folder / "out").mkdir()
    (folder / "out" / "kept.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(fairdsl.SpecError) as caught:
        repaired()
    assert caught.value.diagnostics[0].code == "E0605"
    assert [path.name for path in (folder / "out").iterdir()] == ["kept.txt"]
    # An empty one is.
    (folder / "empty").mkdir()
    repaired(output="empty", rounds=1)
    assert (folder / "empty" / "approve.json").is_file()


def test_nothing_is_left_where_writing_fails(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("fairdsl.repairing.folder.write_file", refuse)
    with pytest.raises(fairdsl.SpecError) as caught:
        repaired(rounds=1)
    assert caught.value.diagnostics[0].code == "E0629"
    assert sorted(path.name for path in folder.iterdir()) == ["people.csv", "spec.fair"]


def test_progress_is_told() -> None:
    heard: list[str] = []

    class Hearing(Silent):
        def progress(self, stage: str, fraction: float | None, detail: str) -> None:
            heard.append(f"{stage}: {detail}")

    repaired(rounds=1, observer=Hearing())
    assert "repair: the first model" in heard
    assert "repair: round 1, flipped-copies" in heard


def test_a_wrong_option_is_an_error_of_the_caller() -> None:
    for wrong in ({"rounds": 0}, {"within": 0.5}, {"confidence": 1}, {"add": 0}, {"seed": -1}, {"timeout": 0}):
        with pytest.raises(fairdsl.SpecError, match="E0661"):
            repaired(Linear, **wrong)


def test_rows_are_decided_by_the_file_where_rounding_decides(folder: Path) -> None:
    """In float32 a tenth of 3 less 3 tenths is 0, and exactly it is less."""
    tenth = np.float32(0.1)
    constants = {"w": np.array([[0], [tenth], [0]], np.float32), "b": -np.array([tenth * np.float32(3)])}
    saved(network([node("Gemm", ["x", "w", "b"], ["y"])], constants), folder, "approve.onnx")
    text = SPEC.replace("approve.json", "approve.onnx").replace("score > 0", "score >= 0")
    (folder / "spec.fair").write_text(text, encoding="utf-8")
    asked = subject()
    model = asked.load("approve.onnx")
    rows = Rows(ExactRows.of_floats(np.array([[0.0, age, 0.0] for age in (2, 3, 4)])), np.array([0, 1, 1]))
    assert BatchEvaluator(model).settled(rows.values).decisions.tolist() == [0, 0, 1]
    compared = Compared.of(asked, model, model, rows)
    assert (compared.after.correct, compared.after.decided) == (3, (1, 2))
