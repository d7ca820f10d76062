"""General demands: which formulas are read, and what is said of those that are not."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_specs import assert_found_as_marked, each, findings

import fairdsl
from fairdsl.semantics import front_end
from fairdsl.semantics.checked import CheckedProperty
from fairdsl.verdict import Shares

MODELS = """\
domain Patient { oxygen : integer 50 .. 100  age : integer 0 .. 99  sex : category { f, m } }
domain Other { age : integer 0 .. 9 }
protected sex
model triage : Patient -> { low < mid < high }
  first high when oxygen < 90
  then mid when age > 60
  otherwise low
model old : Patient -> { no, yes }
  score = age - oxygen
  yes when score > 0
model new : Patient -> { no, yes }
  score = age - oxygen + 1
  yes when score > 0
model elsewhere : Other -> { no, yes }
  score = age
  yes when score > 0
"""


def one(require: str, target: str = "") -> str:
    return f"{MODELS}property p {{\n  compare a : Patient\n  {target}\n  require {require}\n}}\n"


def two(require: str, target: str = "") -> str:
    return f"{MODELS}property p {{\n  compare a, b : Patient\n  differ in sex\n  {target}\n  require {require}\n}}\n"


READ = {
    "an outcome": one("triage(a) > low", "among oxygen < 90"),
    "old against new": one("new(a) = yes", "among old(a) = yes"),
    "a share": one("share(new(a) = old(a)) >= 99%"),
    "a gap of two models": one("abs(new.score(a) - old.score(a)) <= 1"),
    "a list of outcomes": one("triage(a) in { mid, high } or oxygen >= 90"),
    "an order of decisions": two("triage(a) >= triage(b)", "among a.sex = f and b.sex = m"),
    "one score above the other": two("new.score(a) >= new.score(b)"),
    "a sum of distances": two("abs(new.score(a) - new.score(b)) <= 3 * abs(a.age - b.age) + abs(a.oxygen - b.oxygen)"),
    "different decisions": two("not (new(a) = new(b)) or new(a) = yes"),
    "a gap of probabilities": two("abs(new.probability(a) - new.probability(b)) <= 5%"),
    "two models that are sure": one(
        "new(a) = old(a)", "when old.confidence(a) >= 90%\n  when new.confidence(a) >= 80%"
    ),
    "scores of one named model": two("new(a) = yes or score(a) < score(b)"),
}


@each(READ)
def test_formulas_are_read(text: str, tmp_path: Path) -> None:
    found = [finding for finding in findings(text, tmp_path) if finding.severity.value == "error"]
    assert not found, [finding.title for finding in found]


def asked(text: str, folder: Path) -> CheckedProperty:
    """The property, whatever is pointed out about the models that it leaves alone."""
    path = folder / "x.fair"
    path.write_text(text)
    (found,) = front_end(str(path))[0].properties
    return found


def test_the_order_of_outcomes_is_said_where_it_counts(tmp_path: Path) -> None:
    higher = asked(two("triage(a) >= triage(b)"), tmp_path)
    assert higher.sentence.endswith("`triage(a) >= triage(b)` is true (with `low < mid < high`).")
    assert "low < mid" not in asked(two("triage(a) = triage(b) or new(a) = yes"), tmp_path).sentence


def test_how_sure_a_model_is_stands_in_sentence_formula_and_clauses(tmp_path: Path) -> None:
    found = asked(one("new(a) = old(a)", "when old.confidence(a) >= 90%"), tmp_path)
    assert found.clauses[-1] == "when old.confidence(a) >= 90%"
    assert "wherever `old.confidence(a) >= 90%` is" in found.sentence
    assert "[old.confidence(a) >= 90%] => " in found.formula


WRONG = {
    "no order": one("old(a) > no # error: E0302"),
    "another outcome": one("triage(a) = urgent # error: E0205"),
    "a decision as a condition": one("new(a) # error: E0307"),
    "a decision as a number": one("new(a) + 1 > 2 # error: E0307"),
    "a number as a condition": one("new.score(a) and old(a) = yes # error: E0307"),
    "a stranger": two("new(a) = new(c) # error: E0202"),
    "an unknown model": one("newer(a) = yes # error: E0202"),
    "a score of nobody's": one("score(a) + new.score(a) + old.score(a) >= 0 # error: E0208"),
    "other outcomes": one("triage(a) = new(a) # error: E0302"),
    "another domain": one("new(a) = elsewhere(a) # error: E0302"),
    "nobody's attribute": two("new(a) = yes or age > 3 # error: E0414"),
    "nobody's distance": two("new.score(a) <= abs(age - 3) # error: E0414"),
    "nothing compared": two("new(a) = new(a) # error: E0414"),
    "how sure a model is, demanded": one("new(a) = yes or new.confidence(a) >= 50% # error: E0414"),
    "sure of what no line says": one("new(a) = old(a)", "when confidence(a) >= 90% # error: E0208"),
    "the same decision as nobody": one("same decision # error: E0414", "model new"),
    "differing from nobody": one("new(a) = yes", "differ in sex # error: E0413"),
    "a share of everything": one("share(new(a) = yes) >= 95 # error: E0303"),
}


@each(WRONG)
def test_what_cannot_be_read_is_said_at_its_place(text: str, tmp_path: Path) -> None:
    assert_found_as_marked(text, tmp_path)


def test_five_are_not_compared(tmp_path: Path) -> None:
    text = two("new(a) = new(b)").replace("a, b : Patient", "a, b, c, d, e : Patient # error: E0413")
    assert_found_as_marked(text, tmp_path)


@pytest.mark.parametrize("relation", ["<", "<=", ">", ">="])
def test_an_order_that_is_not_written_is_asked_for(relation: str, tmp_path: Path) -> None:
    (finding,) = findings(two(f"old(a) {relation} old(b)"), tmp_path)
    assert "{ no < yes }" in (finding.help or "")


@pytest.mark.parametrize(
    ("target", "unit"),
    [
        ("among score(b) >= 2 * abs(score(b) - 1)", "an individual `b` that is asked about"),
        ("among abs(abs(new.score(a)) - 3) <= 1", "an individual `a` that is asked about"),
        ("among score(b) >= 0.5 * abs(score(a) - score(b))", "an assignment of all attributes but `s`"),
    ],
)
def test_shares_are_of_the_one_whom_the_premise_names_in_magnitudes_too(target: str, unit: str) -> None:
    spec = (
        (
            "domain P { x : integer 0 .. 3  s : boolean }\nprotected s\n"
            "model m : P -> { no < yes }\n  score = x + 2 * s - 2\n  yes when score >= 0\n"
            "model new : P -> { no < yes }\n  score = x\n  yes when score >= 2\n"
            f"property p {{ compare a, b : P  differ in s  {target}  require share(m(a) = m(b)) >= 10% }}\n"
        )
        .replace("score(b)", "m.score(b)")
        .replace("(score(a)", "(m.score(a)")
    )
    (found,) = fairdsl.check(spec, backend="enumerate").properties[0].demands
    assert isinstance(found.verdict, Shares)
    assert found.verdict.unit == unit
