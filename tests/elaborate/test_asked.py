"""Rates about other outcomes than the favourable one, and about bounds of the score, against counting rows."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import fairdsl
from fairdsl.verdict import Interval
from tests.models.model_files import network, node, saved

F = Fraction
#: Everybody of the table: group, need, and whether they are sick.
PEOPLE = [
    (group, need, sick)
    for number, (group, need, sick) in enumerate(product(("a", "b"), range(6), ("no", "yes")))
    for _ in range(1 + number % 3)
]
SPEC = """
domain Patient {
  group : category { a, b }
  need  : integer 0 .. 5
}

protected group

label sick : boolean

model triage : Patient -> { low < middle < high < urgent }
  first urgent when need >= 5
  then high when need >= 4
  then middle when need >= 2 or group = b
  otherwise low

model grade : Patient -> { refuse, treat }
  score = 2 * need + (group = a)
  treat when score > 6

distribution patients over Patient, sick
  empirical from "patients.csv"

property p {
  across  group
  under   patients
  excluding groups of probability 0
  model   MODEL
  measure TERM
}
"""


def outcome(group: str, need: int) -> str:
    return "urgent" if need >= 5 else "high" if need >= 4 else "middle" if need >= 2 or group == "b" else "low"


def score(group: str, need: int) -> int:
    return 2 * need + (group == "a")


CASES = {
    "most(rate(low))": lambda g, n, s: (outcome(g, n) == "low", True),
    "most(rate(middle given sick))": lambda g, n, s: (outcome(g, n) == "middle", s == "yes"),
    "most(rate(not high given sick = no and need >= 1))": lambda g, n, s: (
        outcome(g, n) != "high",
        s == "no" and n >= 1,
    ),
    "most(rate(sick given triage = high))": lambda g, n, s: (s == "yes", outcome(g, n) == "high"),
    "most(rate(middle or high))": lambda g, n, s: (outcome(g, n) in ("middle", "high"), True),
    "most(rate(triage in { low, high, urgent } given sick))": lambda g, n, s: (outcome(g, n) != "middle", s == "yes"),
    "most(rate(triage >= high given sick))": lambda g, n, s: (outcome(g, n) in ("high", "urgent"), s == "yes"),
    "most(rate(sick given middle < triage))": lambda g, n, s: (s == "yes", outcome(g, n) in ("high", "urgent")),
    "most(rate(sick given not low and not high and need >= 1))": lambda g, n, s: (
        s == "yes",
        outcome(g, n) in ("middle", "urgent") and n >= 1,
    ),
    "most(rate((high or urgent) and sick given not (low or middle) or sick = no))": lambda g, n, s: (
        outcome(g, n) in ("high", "urgent") and s == "yes",
        outcome(g, n) in ("high", "urgent") or s == "no",
    ),
    "most(rate(sick or high))": lambda g, n, s: (s == "yes" or outcome(g, n) == "high", True),
    "most(rate(score >= 5 given not sick))": lambda g, n, s: (score(g, n) >= 5, s == "no"),
    "most(rate(sick given 4 > score))": lambda g, n, s: (s == "yes", score(g, n) < 4),
    "most(rate(treat))": lambda g, n, s: (score(g, n) > 6, True),
    "most(rate(refuse given sick))": lambda g, n, s: (not score(g, n) > 6, s == "yes"),
}


#: A distribution: how probable each need is in a group, and there to be sick; in hundredths.
NEEDS = {"a": (10, 20, 30, 15, 20, 5), "b": (25, 25, 0, 20, 10, 20)}
SICK = {"a": 30, "b": 45}
LAW = "".join(
    f"  need : table {{ {', '.join(f'{need} : {part / 100}' for need, part in enumerate(NEEDS[each]))} }}"
    f" given group = {each}\n  sick : table {{ no : {1 - SICK[each] / 100}, yes : {SICK[each] / 100} }}"
    f" given group = {each}\n"
    for each in NEEDS
)


def largest(term: str, weight: Callable[[str, int, str], int]) -> F:
    """The larger of the two groups' rates, by adding up the weights of everybody."""
    rates = []
    for group in ("a", "b"):
        everybody = [one for one in sorted(set(PEOPLE)) if one[0] == group]
        counted = [(weight(*one), *CASES[term](*one)) for one in everybody]
        whole = sum(each for each, _, among in counted if among)
        rates.append(F(sum(each for each, event, among in counted if event and among), whole))
    return max(rates)


def checked(
    term: str, folder: Path, law: str = '  empirical from "patients.csv"', rules: tuple[str, str] = ("", "")
) -> fairdsl.DemandReport:
    """What is said of the one demand, under the table or another law."""
    lines = ["group,need,sick", *(",".join(map(str, one)) for one in PEOPLE)]
    (folder / "patients.csv").write_text("\n".join(lines) + "\n")
    model = "grade" if any(word in term for word in ("score", "treat", "refuse")) else "triage"
    spec = (
        SPEC.replace("MODEL", model)
        .replace("TERM", term)
        .replace('  empirical from "patients.csv"', law)
        .replace(*rules)
    )
    (folder / "spec.fair").write_text(spec)
    return fairdsl.check(folder / "spec.fair").properties[0].demands[0]


@pytest.mark.parametrize("term", CASES)
def test_a_rate_is_what_rows_say(term: str, tmp_path: Path) -> None:
    rate = largest(term, lambda *one: PEOPLE.count(one))
    assert checked(term, tmp_path).value == Interval(rate, rate)


@pytest.mark.parametrize("term", [term for term in CASES if "score" not in term])
def test_a_rate_is_what_probabilities_add_up_to(term: str, tmp_path: Path) -> None:
    rate = largest(term, lambda g, n, s: NEEDS[g][n] * (SICK[g] if s == "yes" else 100 - SICK[g]))
    said = checked(term, tmp_path, "  group : table { a : 0.5, b : 0.5 }\n" + LAW.rstrip())
    assert said.value == Interval(rate, rate)


@pytest.mark.parametrize("term", ["most(rate(low or urgent))", "most(rate(sick given triage in { middle, high }))"])
def test_several_outcomes_of_a_network_are_counted_one_by_one(term: str, tmp_path: Path) -> None:
    constants = {
        "W": np.array([[1.0, 1.0], [2.0, -1.0]]),
        "b": np.array([-1.0, -2.5]),
        "V": np.array([[0.5, 1.0, -1.0, 0.25], [-1.0, 0.5, 1.5, 0.25]]),
        "c": np.array([1.0, 0.125, 0.0, 0.5]),
    }
    nodes = [node("Gemm", ["x", "W", "b"], ["z"]), node("Relu", ["z"], ["h"]), node("Gemm", ["h", "V", "c"], ["y"])]
    saved(network(nodes, constants, inputs={"x": ["N", 2]}), tmp_path, "triage.onnx")

    def decided(group: str, need: int) -> str:
        hidden = np.maximum(np.array([need, group == "b"]) @ constants["W"] + constants["b"], 0)
        return ("low", "middle", "high", "urgent")[int(np.argmax(hidden @ constants["V"] + constants["c"]))]

    def weight(group: str, need: int, sick: str) -> int:
        return NEEDS[group][need] * (SICK[group] if sick == "yes" else 100 - SICK[group])

    rates = []
    for group in ("a", "b"):
        parts = {"met": 0, "among": 0}
        for need, sick in product(range(6), ("no", "yes")):
            outer = decided(group, need) in ("low", "urgent")
            among, met = (True, outer) if "low" in term else (not outer, not outer and sick == "yes")
            parts["met"] += weight(group, need, sick) * met
            parts["among"] += weight(group, need, sick) * among
        rates.append(F(parts["met"], parts["among"]))
    rules = SPEC[SPEC.index("  first urgent") : SPEC.index("\nmodel grade")]
    source = '  from "triage.onnx"\n  reads need, group\n  decide by highest score\n'
    law = "  group : table { a : 0.5, b : 0.5 }\n" + LAW.rstrip()
    said = checked(term, tmp_path, law, rules=(rules, source))
    assert said.value == Interval(max(rates), max(rates))
