"""Rates of files that decide ties by rounding: of several scores, along paths, and without an influence.

Weights are tenths, so that scores which are equal in decimals are a few units in the last place apart, and float32 sums
decide. Everybody is run in the file, and the file's own number lies in what is said of it.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from numpy.typing import NDArray

import fairdsl
from fairdsl.verdict import Arithmetic, Decider, Value
from tests.models.model_files import network, node, saved

SPEC = """\
domain P {
  sex  : category { f, m }
  age  : integer 0 .. 9
  jobs : integer 0 .. 5
}
protected sex
model m : P -> { OUTCOMES }
  from "m.onnx"
  reads age, jobs
  RULE
  favourable yes
graph ways {
  sex -> age -> m
  sex -> jobs -> m
}
distribution people over P
  sex : table { f : 0.25, m : 0.75 }
  age : uniform(0, 4) given sex = f
  age : uniform(2, 9) given sex = m
  jobs : uniform(0, 2) given sex = f
  jobs : uniform(1, 5) given sex = m
distribution learned over P
  learn ways
  from "rows.csv"
property now {
  across sex
  under people
  measure acceptance_rate, influence of age on acceptance_rate
}
property along {
  across sex
  under learned
  allow sex -> jobs -> m
  baseline sex = m
  measure path_specific_gap, influence of age on path_specific_gap
}
"""
AGES, JOBS = ((0, 4), (2, 9)), ((0, 2), (1, 5))
Floats = NDArray[np.float64]


def written(folder: Path, seed: int, *, hidden: bool, several: bool) -> Path:
    """A file with decimals as weights; the scores of a third of the people are near each other, or the threshold."""
    random = np.random.default_rng(seed)
    count = 3 if several else 1
    weights = random.integers(-5, 6, (2, count)) / 10
    bias = -(weights * [[4], [2]]).sum(axis=0).round(1)
    constants = {"w": weights.astype(np.float32), "b": bias.astype(np.float32)}
    nodes = [node("Gemm", ["x", "w", "b"], ["y"])]
    if hidden:
        constants |= {
            "u": np.array([[0.7, 0.1], [0.1, 0.3]], dtype=np.float32),
            "v": np.array([-0.7, 0.1], dtype=np.float32),
        }
        nodes = [
            node("Gemm", ["x", "u", "v"], ["z"]),
            node("Relu", ["z"], ["h"]),
            node("Gemm", ["h", "w", "b"], ["y"]),
        ]
    saved(network(nodes, constants, inputs={"x": ["N", 2]}), folder, "m.onnx")
    spec = folder / "spec.fair"
    rule = "decide by highest score" if several else "yes when score > 0"
    text = SPEC.replace("RULE", rule).replace("OUTCOMES", "no, perhaps, yes" if several else "no, yes")
    spec.write_text(text, encoding="utf-8")
    rows = ["sex,age,jobs"]
    for sex, ages, jobs in zip("fm", AGES, JOBS, strict=True):
        each = product(range(ages[0], ages[1] + 1), range(jobs[0], jobs[1] + 1))
        rows += [f"{sex},{age},{job}" for age, job in each]
    (folder / "rows.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return spec


def by_the_file(folder: Path, several: bool) -> Floats:
    """Whom the file favours, [ages, jobs], each run alone."""
    session = onnxruntime.InferenceSession(str(folder / "m.onnx"))
    found = np.zeros((10, 6))
    for age, job in product(range(10), range(6)):
        (scores,) = session.run(None, {"x": np.array([[age, job]], dtype=np.float32)})
        found[age, job] = scores[0].argmax() == 2 if several else scores[0, 0] > 0
    return found


def uniform(ends: tuple[int, int], count: int) -> Floats:
    law = np.zeros(count)
    law[ends[0] : ends[1] + 1] = 1 / (ends[1] + 1 - ends[0])
    return law


def numbers(favoured: Floats) -> list[list[float]]:
    """What each demand is about: the rates of both groups, what age does to them; the gap, and what age does to it."""
    ages, jobs = [uniform(ends, 10) for ends in AGES], [uniform(ends, 6) for ends in JOBS]
    anybody = np.full(10, 0.1)
    rates = [float(ages[sex] @ favoured @ jobs[sex]) for sex in (0, 1)]
    alike = [float(anybody @ favoured @ jobs[sex]) for sex in (0, 1)]
    gap = abs(float(ages[0] @ favoured @ jobs[1]) - float(ages[1] @ favoured @ jobs[1]))
    return [rates, [rate - other for rate, other in zip(rates, alike, strict=True)], [gap], [gap]]


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("hidden", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_what_the_file_does_is_within_what_is_said_of_it(
    seed: int, hidden: bool, several: bool, tmp_path: Path
) -> None:
    report = fairdsl.check(written(tmp_path, seed, hidden=hidden, several=several), jobs=1)
    truths = numbers(by_the_file(tmp_path, several))
    for demand, truth in zip([each for p in report.properties for each in p.demands], truths, strict=True):
        assert isinstance(demand.verdict, Value)
        file = demand.by_decider.get(Decider.DEPLOYED)
        deployed = demand.verdict.evidence.basis.arithmetic is Arithmetic.DEPLOYED
        assert (file is None) is deployed, demand
        interval = demand.verdict if file is None else file
        low, high = interval.low, interval.high
        assert low is not None
        assert high is not None
        assert all(float(low) - 1e-9 <= number <= float(high) + 1e-9 for number in truth), (demand.verdict, truth)
