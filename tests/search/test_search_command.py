"""``fairdsl search`` and ``fairdsl.search``: files, names, seeds, exit codes, and what is said of the counterexamples.

Trap 7: "counterexamples" outside their domain, one of them thousands of times. Trap 26: runs without a seed, results
appended to old files, categories as bare integers.
"""

from __future__ import annotations

import csv
import json
import signal
import sys
from fractions import Fraction
from math import isfinite
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

import fairdsl
from fairdsl.backends.contract import Silent
from fairdsl.backends.search import Ending
from fairdsl.cli.app import cli
from tests.agreement.test_repeatable import slowed

EXAMPLES = Path(__file__).parents[2] / "examples"
HIRING, LENDING = EXAMPLES / "hiring" / "hiring.fair", EXAMPLES / "lending" / "lending.fair"

SPEC = """\
domain Applicant {{
  job    : category {{ clerk, "night, guard", cook }}
  member : boolean
  rate   : real 0 .. 1
  age    : integer 18 .. 90
}}
protected job
model approve : Applicant -> {{ no, yes }}
  score = age + 10 * rate - 40 * (job = cook)
  yes when score > {threshold}
property fair {{
  compare a, b : Applicant
  differ in job
  require same decision
}}
"""

WALK = ["--strategy", "semi-directed", "--set"]


def test_reals_are_written_as_the_shortest_decimals_of_the_float32_numbers(tmp_path: Path) -> None:
    spec = tmp_path / "jobs.fair"
    spec.write_text("fair 1\n" + SPEC.format(threshold=30), encoding="utf-8")
    found = fairdsl.search(spec, count=300, output=tmp_path / "pairs.csv")
    with (tmp_path / "pairs.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    rates = [row["rate"] for row in rows]
    assert found.count == len(rates) == 300
    assert len(set(rates)) > 100
    for rate in rates:
        assert rate == str(float(str(np.float32(rate)))), "no shorter decimal is read as the same float32"
    for row in rows:
        first, second = (
            int(row["age"]) + 10 * Fraction(row["rate"]) - 40 * (row[job] == "cook") > 30 for job in ("job", "b.job")
        )
        assert first is not second, row


def test_parameters_of_strategies_are_set_by_name(tmp_path: Path) -> None:
    spec = tmp_path / "jobs.fair"
    spec.write_text("fair 1\n" + SPEC.format(threshold=30), encoding="utf-8")

    def searched(*arguments: str) -> Result:
        return CliRunner().invoke(cli, ["search", str(spec), "--count", "30", *arguments, "--json"])

    runs = [searched(*WALK, f"search.draws={draws}") for draws in (3, 3, 300)]
    evaluated = [json.loads(run.output)["evaluated"] for run in runs]
    assert evaluated[0] == evaluated[1] != evaluated[2]
    found = fairdsl.search(spec, count=30, strategy="semi-directed", draws=3)
    assert found.evaluated == evaluated[0]


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--set", "search.delta_v=.002"], "E0662", "says nothing without `search.strategy`"),
        ([*WALK, "search.delta_pr=.002"], "E0662", "add `--strategy fully-directed`"),
        ([*WALK, "search.delta_v=2"], "E0661", "takes a share from 0 to 100%"),
        ([*WALK, "search.delta=1"], "E0660", "did you mean `search.delta_v`?"),
        ([*WALK, "smt.trust_milp=yes"], "E0660", "there is no section"),
        ([*WALK, "search.count=3"], "E0660", "write `--count`"),
    ],
)
def test_what_cannot_be_set_of_a_search(arguments: list[str], code: str, said: str) -> None:
    result = CliRunner().invoke(cli, ["search", str(HIRING), *arguments])
    assert result.exit_code == 2
    assert code in result.output
    assert said in " ".join(result.output.split())


RELAXED = """\
fair 1
domain Applicant { job : category { clerk, cook }   age : integer 18 .. 35 }
protected job
model approve : Applicant -> { no, yes }
  score = age
  yes when score > 25
property fair {
  compare a, b : Applicant
  differ in job
  within 1 in age
  require same decision
}
"""


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, ["search", *map(str, arguments)])


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    path = tmp_path / "spec.fair"
    path.write_text(SPEC.format(threshold=50), encoding="utf-8")
    return path


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_the_reference_network_has_these_six_units() -> None:
    """docs/semantics.md, section 6."""
    found = fairdsl.search(HIRING, property="gender_never_decides", count=None)
    units = {(row["test_score"], row["experience"]) for row in found.rows()}
    assert units == {(1, 0), (1, 1), (1, 2), (1, 3), (2, 4), (2, 5)}
    assert (found.count, found.ending.value, found.numeric_gaps) == (6, "exhausted", 0)


def test_a_tie_that_float32_decides_otherwise_is_counted_apart() -> None:
    """The candidate (1, men, 0) of the decimals has the score 2.2e-8 exactly and 0 in float32."""
    found = fairdsl.search(EXAMPLES / "hiring" / "hiring_decimal.fair", property="gender_never_decides", count=None)
    assert found.numeric_gaps == 1
    assert found.gap is not None
    assert {who["test_score"] for who in (found.gap.a, found.gap.b)} == {1}


def test_trap_7_finds_lie_in_the_target_are_distinct_and_replayed(tmp_path: Path) -> None:
    path = tmp_path / "found.csv"
    found = fairdsl.search(LENDING, property="sex_and_age", count=400, output=path)
    rows = rows_of(path)
    shared = [name for name in found.pairs[0].a if name not in ("sex", "age_group")]
    assert len({tuple(row[name] for name in shared) for row in rows}) == found.count == 400
    for row in rows:
        assert int(row["income"]) >= 5
        assert int(row["debt"]) <= int(row["income"])
        assert 1 <= int(row["amount"]) <= 300
        assert {row["a.decision"], row["b.decision"]} == {"reject", "grant"}
        assert (row["sex"], row["age_group"]) != (row["b.sex"], row["b.age_group"])
        assert (float(row["a.score"]) > 0) == (row["a.decision"] == "grant")
    assert len(found.pairs) == 4


def test_trap_26_one_seed_one_file_in_the_words_of_the_spec(spec: Path, tmp_path: Path) -> None:
    one, other = tmp_path / "one.csv", tmp_path / "other.csv"
    one.write_text("an earlier run\n" * 1000, encoding="utf-8")
    for path in (one, other):
        assert run(spec, "--count", "50", "--seed", "3", "-o", path).exit_code == 1
    assert one.read_bytes() == other.read_bytes()
    assert run(spec, "--count", "50", "--seed", "4", "-o", other).exit_code == 1
    assert one.read_bytes() != other.read_bytes()
    assert sorted(file.name for file in tmp_path.iterdir()) == ["one.csv", "other.csv", "spec.fair"]
    rows = rows_of(one)
    assert list(rows[0]) == [
        *("job", "member", "rate", "age", "b.job"),
        *("a.decision", "b.decision", "a.score", "b.score", "found.by"),
    ]
    assert len(rows) == 50
    for row in rows:
        assert "cook" in (row["job"], row["b.job"])
        assert {row["job"], row["b.job"]} <= {"clerk", "night, guard", "cook"}
        assert row["member"] in ("true", "false")
        scores = [int(row["age"]) + 10 * float(row["rate"]) - 40 * (row[job] == "cook") for job in ("job", "b.job")]
        assert [float(row["a.score"]), float(row["b.score"])] == pytest.approx(scores)
        assert [row["a.decision"], row["b.decision"]] == ["yes" if score > 50 else "no" for score in scores]


def test_an_effort_finds_the_same_however_fast_it_goes(spec: Path) -> None:
    """Ten clock ticks a second or a thousand: what ends it is what was done."""
    found = fairdsl.search(spec, effort=2000, count=None)
    with slowed():
        again = fairdsl.search(spec, effort=2000, count=None)
    assert found.ending is again.ending is Ending.EFFORT
    assert found.run == again.run
    assert (found.rows(), found.tried, found.evaluated) == (again.rows(), again.tried, again.evaluated)
    assert "2,000 units of effort" in run(spec, "--effort", "2000", "--saturate").output


def test_what_is_said(spec: Path) -> None:
    result = run(spec, "--count", "20")
    assert result.exit_code == 1
    assert "found      20 pairs, each replayed on the model: " in result.stdout
    assert "ended      as many as asked for; there may be more" in result.stdout
    assert "job = " in result.stdout
    said = json.loads(run(spec, "--count", "20", "--json").stdout)
    assert (said["schema"], said["count"], said["ending"]) == ("fairdsl.found/2", 20, "count")
    assert sum(said["by_strategy"].values()) == 20
    assert set(said["pairs"][0]["decisions"]) == {"no", "yes"}
    assert 0 < said["spread"] < 1


def test_nothing_found_is_unknown_and_claims_nothing(tmp_path: Path) -> None:
    path = tmp_path / "spec.fair"
    path.write_text(SPEC.format(threshold=200), encoding="utf-8")
    result = run(path, "--timeout", "0.3", "-o", tmp_path / "none.csv")
    assert result.exit_code == 3
    assert "that proves nothing" in result.stdout
    assert rows_of(tmp_path / "none.csv") == []


@pytest.mark.parametrize("wanted", [("--saturate",), ("--count", "1000")])
def test_a_search_of_every_unit_says_that_none_is_left(wanted: tuple[str, ...]) -> None:
    result = run(HIRING, "--property", "gender_never_decides", *wanted)
    assert result.exit_code == 1
    assert "tried      30 units" in result.stdout
    assert "ended      every unit was tried: there are no more to try" in result.stdout


def test_a_saturated_search_says_what_that_means(tmp_path: Path) -> None:
    """With relaxations nobody knows how many pairs there are."""
    path = tmp_path / "relaxed.fair"
    path.write_text(RELAXED, encoding="utf-8")
    result = run(path, "--saturate")
    assert result.exit_code == 1
    assert "saturated: nothing new near what was found, nor in 51,840 uniform draws; there may be more" in (
        result.stdout.replace("\n               ", " ")
    )


def test_which_property_has_to_be_said(spec: Path) -> None:
    result = run(HIRING)
    assert result.exit_code == 2
    assert "E0633" in result.stderr
    assert "`good_tests`" in result.stderr
    assert "E0604" in run(HIRING, "--property", "good_test").stderr
    each = "property fair {\n  for each old in { 40, 60 }\n  among age < old"
    (spec.parent / "each.fair").write_text(SPEC.format(threshold=30).replace("property fair {", each), encoding="utf-8")
    assert "`fair` is 2 properties" in run(spec.parent / "each.fair", "--property", "fair").stderr
    assert "E0604" in run(spec, "--strategy", "neighbors").stderr
    assert "did you mean `neighbours`?" in run(spec, "--strategy", "neighbors").stderr


def test_files_that_cannot_be_written(spec: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("found.txt", "found"):
        assert "E0634" in run(spec, "-o", tmp_path / name).stderr
    assert "E0605" in run(spec, "-o", tmp_path / "no" / "found.csv").stderr
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    result = run(spec, "-o", tmp_path / "found.parquet")
    assert (result.exit_code, "E0634" in result.stderr) == (2, True)
    assert run(spec, "--saturate", "--count", "3").exit_code == 2
    with pytest.raises(fairdsl.SpecError):
        fairdsl.search(spec, output=tmp_path / "found.txt")
    with pytest.raises(fairdsl.SpecError, match="a whole number from 1"):
        fairdsl.search(spec, count=0)


def test_parquet_holds_the_same_table(spec: Path, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "found.parquet"
    found = fairdsl.search(spec, count=30, output=path)
    table = parquet.read_table(path)
    assert table.column_names == [column.name for column in found.columns]
    assert table.to_pylist() == found.rows()


class Interrupting(Silent):
    """Presses Ctrl-C after some progress."""

    def __init__(self) -> None:
        self.heard = 0

    def progress(self, stage: str, fraction: float | None, detail: str) -> None:
        self.heard += 1
        if self.heard == 12:
            signal.raise_signal(signal.SIGINT)


def test_ctrl_c_keeps_what_was_found(spec: Path, tmp_path: Path) -> None:
    path = tmp_path / "found.csv"
    found = fairdsl.search(spec, count=10**9, output=path, observer=Interrupting())
    assert found.ending.value == "interrupted"
    assert 0 < found.count == len(rows_of(path))


AWKWARD = """\
domain Applicant {
  decision : category { " yes", no }
  score    : integer 0 .. 3
  wealth   : real
}
protected decision, score
model approve : Applicant -> { reject, grant }
  score = wealth + 5 * (decision = no) + score
  grant when score > 0
property fair {
  compare a, b : Applicant
  differ in any decision, score
  require same decision
}
"""


def test_attributes_that_are_called_as_columns_are(tmp_path: Path) -> None:
    """No two columns share a name, and a name that begins with a blank can be read again."""
    path, table = tmp_path / "spec.fair", tmp_path / "pairs.csv"
    path.write_text(AWKWARD, encoding="utf-8")
    assert run(path, "--count", "40", "-o", table).exit_code == 1
    (header, *_) = csv.reader(table.read_text(encoding="utf-8").splitlines())
    assert len(set(header)) == len(header)
    assert {"b.decision", "found.a.decision", "found.b.decision", "b.score", "found.a.score"} <= set(header)
    for row in rows_of(table):
        assert {row["decision"], row["b.decision"]} <= {" yes", "no"}
        assert {row["found.a.decision"], row["found.b.decision"]} == {"reject", "grant"}
        bonus = 5 * (row["decision"] == "no") + int(row["score"])
        assert float(row["found.a.score"]) == pytest.approx(float(row["wealth"]) + bonus, abs=1e-6)
    again = fairdsl.search(path, count=10, near=table)
    assert again.near is not None
    assert (again.near.rows, again.near.outside) == (40, 0)


def test_rows_beyond_the_range_of_float32(tmp_path: Path) -> None:
    """What is drawn around them are numbers that can be written down, never infinity."""
    path, data, table = tmp_path / "spec.fair", tmp_path / "rows.csv", tmp_path / "pairs.csv"
    path.write_text(AWKWARD.replace("5 * (decision", f"{10**300} * (decision"), encoding="utf-8")
    data.write_text("decision,score,wealth\nno,1,1e308\nno,2,-1e308\nno,3,0.1\n", encoding="utf-8")
    assert run(path, "--count", "20", "--near", data, "-o", table).exit_code == 1
    assert all(isfinite(float(row["wealth"])) for row in rows_of(table))


def test_a_number_whose_decimal_is_no_violation_is_written_as_it_is(tmp_path: Path) -> None:
    """The float32 number 0.30000001192 is above a threshold of 0.300000005, and 0.3 is not."""
    text = """\
fair 1
domain People { x : real 0.3 .. 0.30000002 g : boolean }
protected g
model m : People -> { no, yes } score = x - 1 * g yes when score > 0.300000005
property p { compare a, b : People differ in g require same decision }
"""
    spec = tmp_path / "edge.fair"
    spec.write_text(text, encoding="utf-8")
    fairdsl.search(spec, count=1, output=tmp_path / "pairs.csv")
    with (tmp_path / "pairs.csv").open(encoding="utf-8") as file:
        (row,) = csv.DictReader(file)
    assert Fraction(row["x"]) > Fraction("0.300000005")
    assert np.float32(row["x"]) == np.float32("0.3")
