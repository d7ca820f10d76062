"""Probabilities and how sure models are, in formulas: of files that give them, and where no digits show a tie."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fairdsl
from fairdsl.models.logit import apart
from fairdsl.numerics.chances import vanishes
from fairdsl.verdict import Holds, Shares, Unknown, Violated
from tests.agreement.engines import ask
from tests.demands.held import ENGINE, demands_of
from tests.models.model_files import network, node, saved

DOMAIN = """\
domain P {
  x : integer 0 .. 4
  y : integer 0 .. 4
  sex : category { f, m }
}
protected sex
"""
WEIGHTS = np.array([[1.0, -0.5, 0.75], [-0.25, 0.5, 0.0], [0.5, 0.25, -1.0]])  # inputs x outputs
BIASES = np.array([-1.0, 0.25, -0.5])


def logits(x: int, y: int, sex: str) -> list[float]:
    return list(np.array([x, y, sex == "m"], dtype=np.float64) @ WEIGHTS + BIASES)


def model(folder: Path, last: str, outputs: int) -> str:
    """A linear model whose file ends in ``last``."""
    nodes = [node("Gemm", ["v", "W", "b"], ["z"]), node(last, ["z"], ["p"])]
    constants = {"W": WEIGHTS[:, :outputs], "b": BIASES[:outputs]}
    return saved(network(nodes, constants, inputs={"v": ["N", 3]}, outputs=("p",)), folder, f"{last}.onnx")


def sigmoid(number: float) -> float:
    return 1 / (1 + math.exp(-number))


PEOPLE = list(product(range(5), range(5), "fm"))


@pytest.mark.parametrize("limit", [2, 9, 14])
def test_gaps_of_the_probabilities_that_a_file_gives(limit: int, tmp_path: Path) -> None:
    spec = (
        f'{DOMAIN}model m : P -> {{ no, yes }}\n  from "{model(tmp_path, "Sigmoid", 1)}"\n'
        "  yes when probability >= 50%\nproperty p {\n  compare a, b : P\n  differ in sex\n"
        f"  require abs(probability(a) - probability(b)) <= {limit}%\n  require fair_share >= 50%\n}}\n"
    )
    gaps = [abs(sigmoid(logits(x, y, "f")[0]) - sigmoid(logits(x, y, "m")[0])) for x, y in product(range(5), range(5))]
    holds, share = demands_of(spec, tmp_path)
    assert isinstance(ask(ENGINE["enumerate"], holds), Violated if max(gaps) > limit / 100 else Holds)
    assert isinstance(ask(ENGINE["search"], holds, 1.0), Violated if max(gaps) > limit / 100 else Unknown)
    # Scores half a point apart give at most tanh(1/8), 12.4 points, so there is a proof of 14.
    assert isinstance(ask(ENGINE["smt"], holds), Holds if limit == 14 else Unknown | Violated)
    counted = ask(ENGINE["enumerate"], share)
    assert isinstance(counted, Shares)
    assert counted.certified == Fraction(sum(gap <= limit / 100 for gap in gaps), 25)


@given(st.fractions(0, Fraction(999, 1000)))
def test_how_far_apart_logits_are_at_least(gap: Fraction) -> None:
    low, high = apart(gap)
    assert low <= high
    assert float(low) == pytest.approx(4 * math.atanh(gap), abs=1e-12)


@pytest.mark.parametrize("level", [40, 60, 90])
def test_who_is_sure_of_one_of_three_outcomes(level: int, tmp_path: Path) -> None:
    spec = (
        f'{DOMAIN}model m : P -> {{ low < mid < high }}\n  from "{model(tmp_path, "Softmax", 3)}"\n'
        "  decide by highest score\n"
        f"property p {{\n  compare a : P\n  when confidence(a) >= {level}%\n  require m(a) != high\n}}\n"
    )
    broken = 0
    for person in PEOPLE:
        odds = [math.exp(number) for number in logits(*person)]
        broken += max(odds) / sum(odds) >= level / 100 and odds.index(max(odds)) == 2
    (problem,) = demands_of(spec, tmp_path)
    for engine in ("enumerate", "smt"):
        assert isinstance(ask(ENGINE[engine], problem), Violated if broken else Holds), engine


TIES = """\
model old : P -> { no, yes }
  score = 0.1 * x + 0.7 * y - 1.3
  yes when probability >= 30%
model new : P -> { no, yes }
  score = 0.1 * x + 0.7 * y - 1.3 + 0.2 * (sex = m)
  yes when probability >= 30%
"""


@pytest.mark.parametrize(
    ("require", "holds"),
    [
        ("new.probability(a) >= old.probability(a)", True),
        ("new.probability(a) > old.probability(a)", False),
        ("abs(old.probability(a) - new.probability(a)) <= abs(new.probability(a) - old.probability(a))", True),
        ("2 * old.probability(a) <= new.probability(a) + old.probability(a)", True),
        ("new.probability(a) <= 1", True),
    ],
)
def test_ties_that_no_digits_show_are_ties(require: str, holds: bool, tmp_path: Path) -> None:
    spec = f"{DOMAIN}{TIES}property p {{\n  compare a : P\n  require {require}\n}}\n"
    (problem,) = demands_of(spec, tmp_path)
    assert isinstance(ask(ENGINE["enumerate"], problem), Holds if holds else Violated)


@given(st.lists(st.tuples(st.fractions(-2, 2), st.fractions(-3, 3)), max_size=4))
def test_what_vanishes_is_told(parts: list[tuple[Fraction, Fraction]]) -> None:
    value = sum(float(factor) * sigmoid(-float(lead)) for factor, lead in parts)
    given_leads = [(factor, (lead,)) for factor, lead in parts]
    if abs(value) > 1e-9:
        assert not vanishes(Fraction(0), given_leads)
    # The logistic of z and of -z are 1 together.
    opposite = [(factor, (-lead,)) for factor, lead in parts]
    assert vanishes(-sum((factor for factor, _ in parts), Fraction(0)), [*given_leads, *opposite])


def test_a_model_without_probabilities_is_refused(tmp_path: Path) -> None:
    spec = f"{DOMAIN}model m : P -> {{ no, yes }}\n  score = x\n  yes when score > 2\n"
    (tmp_path / "x.fair").write_text(f"{spec}property p {{\n  compare a : P\n  require probability(a) <= 90%\n}}\n")
    (found,) = fairdsl.check(tmp_path / "x.fair").properties
    assert found.judgement.value == "refused"
