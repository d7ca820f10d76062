"""``fairdsl repair``: what it prints, its exit codes, the picture, and what is wrong with estimators."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner, Result

import fairdsl
from fairdsl.cli.app import cli
from tests.repairing.learners import SPEC, Constant, Failing, Linear, export, people, write_case

#: Estimators of this module are written by the ``export`` beside them.
assert callable(export)
OTHER = "property other {\n  compare a, b : Applicant\n  differ in sex\n  require same decision\n}\n"
LINEAR = "tests.repairing.learners:linear"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_case(tmp_path, people(300))
    monkeypatch.setattr(Constant, "made", 0)
    return tmp_path


def run(*arguments: str, estimator: str = LINEAR, output: str = "out") -> Result:
    fixed = ["repair", "spec.fair", "--train", "people.csv", "--estimator", estimator, "-o", output]
    return CliRunner().invoke(cli, [*fixed, *arguments])


def test_what_the_command_prints() -> None:
    result = run("--max-accuracy-loss", "30%")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0] == f"sex_never_decides   approve by {LINEAR}, seed 0"
    assert lines[1] == "    rows       180 to train on, 60 to choose by, 60 to report on, of `people.csv`"
    assert lines[3].split() == ["round", "recipe", "added", "over", "the", "domain", "of", "rows", "accuracy"]
    assert lines[4].split()[:3] == ["0", "none", "0"]
    assert lines[4].endswith("the first")
    assert lines[5].split()[:3] == ["1", "flipped-copies", "180"]
    assert lines[-1] == "    written    out"
    # The folder has the same words, but for the place.
    assert Path("out/report.txt").read_text(encoding="utf-8").splitlines() == lines[:-1]


def test_exit_code_3_where_nothing_is_better() -> None:
    result = run("--recipe", "flipped-copies", estimator="tests.repairing.learners:Constant")
    assert result.exit_code == 3, result.output
    assert "no candidate improved on the original model" in result.stdout
    # There is nothing before and after.
    assert "->" not in result.stdout
    assert "decisions changed" not in result.stdout


def test_an_interrupt_writes_the_best_and_exits_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Failing, "made", 0)
    monkeypatch.setattr(Failing, "problem", KeyboardInterrupt())
    result = run(estimator="tests.repairing.learners:Failing")
    assert result.exit_code == 130, result.output
    assert "interrupted; the best model until then is written" in result.stdout
    assert Path("out/approve.json").is_file()


def test_a_file_with_data_classes_is_a_module_like_any_other(folder: Path) -> None:
    (folder / "own.py").write_text(
        "from __future__ import annotations\n"
        "from dataclasses import dataclass\n"
        "from typing import ClassVar\n"
        "from tests.repairing.learners import Linear, export\n"
        "@dataclass\n"
        "class Own(Linear):\n"
        "    strength: float = 1.0\n"
        "    kind: ClassVar[str] = 'own'\n",
        encoding="utf-8",
    )
    assert run("--rounds", "1", estimator="own.py:Own").exit_code in (0, 3)


def test_as_json() -> None:
    written = json.loads(run("--json", "--rounds", "1", "--max-accuracy-loss", "30%").stdout)
    assert written == json.loads(Path("out/report.json").read_text(encoding="utf-8"))
    assert written["schema"] == "fairdsl.repaired/2"
    assert written["split"] == {"train": 180, "choose": 60, "report": 60}
    best = [one for one in written["candidates"] if one["choice"] in ("fairer", "as_fair")][-1]
    rate, first = (one["measured"]["rate"] for one in (best, written["candidates"][0]))
    assert rate["low"] <= rate["high"] <= first["low"]
    assert written["improved"] is True
    assert written["checked"][0]["name"] == "sex_never_decides"
    compared = written["compared"]
    assert compared["correct_after"]["low"] <= compared["after"]["correct"] / 60 <= compared["correct_after"]["high"]


def test_the_picture_shows_every_model() -> None:
    written = json.loads(run("--json", "--max-accuracy-loss", "30%").stdout)
    root = ElementTree.parse("out/rates.svg").getroot()
    name = "{http://www.w3.org/2000/svg}"
    marks = [mark for mark in root.iter(f"{name}circle") if mark.get("stroke")]
    # A rate, a share of rows and an accuracy each.
    assert len(marks) == 3 * len(written["candidates"])
    filled = [mark for mark in marks if mark.get("fill") == mark.get("stroke")]
    kept = [one for one in written["candidates"] if one["choice"] in ("first", "fairer", "as_fair")]
    assert len(filled) == 3 * len(kept)
    width, height = (float(root.get(side, "0")) for side in ("width", "height"))
    for mark in marks:
        assert 0 < float(mark.get("cx", "-1")) < width
        assert 0 < float(mark.get("cy", "-1")) < height


@pytest.mark.parametrize(
    ("estimator", "said"),
    [
        ("learners", "names no module and no function"),
        ("no_such_module:make", "`no_such_module` cannot be imported"),
        ("tests.repairing.learners:forest", "has no function `forest`"),
        ("tests.repairing.learners:people", "raised an exception"),
        ("broken.py:make", "`broken.py` cannot be imported: ZeroDivisionError"),
        ("odd.py:nothing", "of type `NoneType`, has no `fit`"),
        ("odd.py:Numbers", "gives something else than one of the classes"),
        ("missing.py:make", "cannot be imported"),
    ],
)
def test_what_is_wrong_with_an_estimator(folder: Path, estimator: str, said: str) -> None:
    (folder / "broken.py").write_text("1 / 0\n", encoding="utf-8")
    (folder / "odd.py").write_text(
        "from tests.repairing.learners import Linear, export\n"
        "def nothing(): return None\n"
        "class Numbers(Linear):\n"
        "    def predict(self, features): return super().predict(features) + 0.5\n",
        encoding="utf-8",
    )
    result = run("--json", estimator=estimator)
    assert result.exit_code == 2, result.output
    (finding,) = json.loads(result.stdout)["diagnostics"]
    assert finding["code"] == "E0590"
    assert said in " ".join(finding["notes"])
    assert not (folder / "out").exists()


def test_of_a_module_its_own_functions_are_named(folder: Path) -> None:
    """And neither what it imports, nor the function that writes files."""
    (folder / "own.py").write_text(
        "from tests.repairing.learners import Linear, export as write, linear\n"
        "def mine(): return Linear()\n"
        "class Own(Linear): pass\n"
        "def export(estimator, path): write(estimator, path)\n"
        "ready = Linear()\n",
        encoding="utf-8",
    )
    (unknown,) = json.loads(run("--json", estimator="own.py:min").stdout)["diagnostics"]
    assert unknown["help"] == "write one of its functions: `mine`, `Own`"
    (instance,) = json.loads(run("--json", estimator="own.py:ready").stdout)["diagnostics"]
    assert "is one estimator, and a new one is needed for every model" in " ".join(instance["notes"])
    assert "def make(): return Linear(...)" in instance["help"]


@pytest.mark.parametrize(
    ("module", "said"),
    [
        ("", "not an estimator of scikit-learn"),
        ("def export(estimator, path): pass", "wrote nothing"),
        ("def export(estimator, path): raise KeyError('weights')", "`export` raised KeyError"),
    ],
)
def test_what_is_wrong_with_an_export(folder: Path, module: str, said: str) -> None:
    write_case(folder, people(300), SPEC.replace("approve.json", "approve.onnx"))
    text = f"from tests.repairing.learners import Linear\n{module}\n"
    (folder / "own.py").write_text(text, encoding="utf-8")
    result = run("--json", estimator="own.py:Linear")
    (finding,) = json.loads(result.stdout)["diagnostics"]
    assert finding["code"] == "E0591"
    assert said in " ".join(finding["notes"])


def test_skl2onnx_is_asked_for_where_it_is_missing(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    class Tagged(Linear):
        def __sklearn_tags__(self) -> None: ...

    monkeypatch.setitem(sys.modules, "skl2onnx", None)
    monkeypatch.setattr(sys.modules[__name__], "export", None)
    write_case(folder, people(300), SPEC.replace("approve.json", "approve.onnx"))
    with pytest.raises(fairdsl.SpecError) as caught:
        fairdsl.repair("spec.fair", train="people.csv", estimator=Tagged, output="out")
    assert "skl2onnx is not installed" in caught.value.diagnostics[0].notes
    assert "fairdsl[sklearn]" in (caught.value.diagnostics[0].help or "")


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("require same decision", "require abs(score(a) - score(b)) <= 3", "E0592"),
        ('from "approve.json"', "score = age - debt", "E0592"),
        ("differ in sex", "differ in sex\n  regardless of debt", None),
        ('label repaid : boolean column "paid back"\n', "", "E0562"),
        ("property sex_never_decides {", f"{OTHER}property sex_never_decides {{", "E0633"),
    ],
)
def test_what_cannot_be_repaired(folder: Path, old: str, new: str, code: str | None) -> None:
    write_case(folder, people(300), SPEC.replace(old, new))
    result = run("--json", "--rounds", "1")
    if code is None:
        assert result.exit_code in (0, 3), result.output
        return
    assert [one["code"] for one in json.loads(result.stdout)["diagnostics"]] == [code]


def test_rows_that_are_too_few(folder: Path) -> None:
    write_case(folder, people(49))
    assert [one["code"] for one in json.loads(run("--json").stdout)["diagnostics"]] == ["E0593"]
    rows = people(100)
    rows[:, 3] = 1
    write_case(folder, rows)
    (finding,) = json.loads(run("--json").stdout)["diagnostics"]
    assert finding["code"] == "E0593"
    assert "one outcome" in finding["notes"][0]


def test_a_recipe_that_there_is_not() -> None:
    (finding,) = json.loads(run("--json", "--recipe", "pears").stdout)["diagnostics"]
    assert finding["code"] == "E0604"
    assert finding["help"] == "did you mean `pairs`?"


@pytest.mark.parametrize(
    "wrong", [("--within", "50%"), ("--max-accuracy-loss", "2"), ("--add", "0"), ("--rounds", "0")]
)
def test_options_that_make_no_sense(wrong: tuple[str, str]) -> None:
    assert run(*wrong).exit_code == 2


def test_estimators_are_seeded_unless_they_are(folder: Path) -> None:
    seen: list[Any] = []

    class Drawing(Linear):
        def __init__(self, state: int | None = None) -> None:
            self.random_state = state

        def get_params(self, deep: bool = True) -> dict[str, Any]:
            return {"random_state": self.random_state}

        def set_params(self, **parameters: Any) -> None:
            self.random_state = parameters["random_state"]

        def fit(self, features: Any, classes: Any) -> None:
            seen.append(self.random_state)
            super().fit(features, classes)

    fairdsl.repair(
        "spec.fair", train="people.csv", estimator=Drawing, output="a", rounds=1, recipe="flipped-copies", seed=7
    )
    fairdsl.repair(
        "spec.fair",
        train="people.csv",
        estimator=lambda: Drawing(3),
        output="b",
        rounds=1,
        recipe="flipped-copies",
        seed=7,
    )
    assert set(seen[:2]) == {7}
    assert set(seen[2:]) == {3}
