"""Rates beside which the deployed file's stand: whoever is within its rounding of the threshold may be either."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

import fairdsl
from fairdsl.backends.contract import Budget, Facts, Silent
from fairdsl.backends.rates import Rates, procedure
from fairdsl.ir.model import ByThreshold
from fairdsl.ir.population import Factor, Network
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import GroupMetric, Quantity
from fairdsl.numerics.cells import points
from fairdsl.prelude import metric_named
from fairdsl.verdict import Arithmetic, Decider, Value, Verdict
from tests.builders import BOOLEAN, domain, integer, score

F = Fraction
HIRING = Path(__file__).parents[2] / "examples" / "hiring"


def checked(folder: Path, name: str, demand: str) -> fairdsl.DemandReport:
    text = (HIRING / f"{name}.fair").read_text(encoding="utf-8")
    (folder / f"{name}.onnx").write_bytes((HIRING / f"{name}.onnx").read_bytes())
    spec = folder / "rates.fair"
    property_ = f"property rates {{\n  across gender\n  under alike\n  {demand}\n}}"
    alike = "distribution alike over Candidate\n  uniform\n"
    spec.write_text(f"{text[: text.index('property')]}{alike}{property_}\n", encoding="utf-8")
    return fairdsl.check(spec).properties[0].demands[0]


def test_a_tie_that_rounding_decides_widens_the_deployed_rates(tmp_path: Path) -> None:
    """One man has about +2.2e-8 in exact arithmetic and 0 in float32."""
    found = checked(tmp_path, "hiring_decimal", "measure parity_gap")
    session = onnxruntime.InferenceSession(str(HIRING / "hiring_decimal.onnx"))
    everybody = [(test, gender, years) for test in range(1, 6) for gender in (0, 1) for years in range(6)]
    fed = np.array(everybody, dtype=np.float32)
    scores = [session.run(None, {session.get_inputs()[0].name: row[None]})[0].item() for row in fed]
    invited = [sum(s > 0 for s, one in zip(scores, everybody, strict=True) if one[1] == gender) for gender in (0, 1)]
    exact, file = found.by_decider[Decider.EXACT], found.by_decider[Decider.DEPLOYED]
    assert exact is not None
    assert file is not None
    assert (exact.low, exact.high) == (F(1, 6), F(1, 6))
    assert file.low is not None
    assert file.high is not None
    assert file.low <= abs(F(invited[0] - invited[1], 30)) <= file.high < F(1, 4)
    assert found.basis is not None
    assert found.basis.arithmetic is Arithmetic.EXACT


AGES = domain(sex=BOOLEAN, age=integer(0, 9)).attributes
LAW = Network(
    name="law",
    columns=AGES,
    cells=tuple(points(attribute.values or ()) for attribute in AGES),
    factors=(
        Factor(column=0, parents=(), rows={(): (F(1, 2), F(1, 2))}),
        Factor(column=1, parents=(0,), rows={(0,): (F(1, 10),) * 10, (1,): (F(1, 5),) * 5 + (F(0),) * 5}),
    ),
)


@pytest.mark.parametrize(
    ("room", "women", "men"),
    [("0", (5, 5), (1, 1)), ("1/4", (5, 5), (1, 1)), ("1/2", (4, 6), (0, 2)), ("2", (3, 7), (0, 3))],
)
def test_deployed_rates_lie_between_those_of_both_thresholds(
    room: str, women: tuple[int, int], men: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of ten women of 0 .. 9 years, and five men of 0 .. 4, those are granted whose age is above 4.5, or 3.5."""
    monkeypatch.setattr(procedure, "_room", lambda *_: (F(room),))
    problem = Problem(
        name="p",
        domain=replace(domain(sex=BOOLEAN), attributes=AGES),
        model=replace(score([1, 1], F(-9, 2)), favourable=1),
        question=GroupMetric(metric=metric_named("acceptance_rate"), across=(0,), population="law"),
        quantity=Quantity.METRIC,
        population=LAW,
    )
    asked: list[Value] = []

    def answer(about: Problem, budget: Budget) -> Verdict:
        found = Rates().answer(about, Facts(), budget, Silent())
        assert isinstance(found, Value)
        asked.append(found)
        return found

    exact = answer(problem, Budget.of(60.0))
    assert isinstance(exact, Value)
    assert isinstance(problem.model.rule, ByThreshold)
    found = procedure.with_deployed(problem, exact, 0.0, Budget.of(60.0), answer)
    rates = [(rate.low, rate.high) for rate in asked[-1].rates]
    assert rates == [(F(women[0], 10), F(women[1], 10)), (F(men[0], 5), F(men[1], 5))]
    assert [rate.low for rate in found.rates] == [F(1, 2), F(1, 5)]
    moved = F(room) >= F(1, 2)
    assert found.evidence.basis.arithmetic is (Arithmetic.EXACT if moved else Arithmetic.DEPLOYED)
    assert bool(found.by_decider) is moved
