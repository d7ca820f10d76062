"""Questions about groups become closed problems: a model, one law, and what the demand is compared with."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

import fairdsl
from fairdsl.backends.contract import Refusal
from fairdsl.diagnostics import DiagnosticError
from fairdsl.elaborate import build_populations, elaborate
from fairdsl.ir.population import Network, Rows
from fairdsl.ir.question import GroupMetric
from fairdsl.plan import Plan, plan_of
from fairdsl.plan.registry import procedures
from fairdsl.semantics import CheckedSpec, front_end
from fairdsl.verdict import Refused

SPEC = """\
domain Person {
  sex   : category { female, male }
  older : boolean
  hours : integer 0 .. 80   bins at 20
}

label repaid : boolean deserving yes

protected sex

model approve : Person -> { reject, grant }
  score = hours - 20 + 5 * (older = yes)
  grant when score > 0
  favourable grant

distribution people over Person, repaid
  learn bayesian_network
  from "people.csv"
  set max_parents = 2

distribution rows over Person, repaid
  empirical from "people.csv"

property errors {
  across  sex
  under   people
  require odds_gap <= 5%
  measure parity_gap, impact_ratio
}

property as_observed {
  across  sex
  under   rows
  require impact_ratio >= 80%
}
"""
HEADER = "sex,older,hours,repaid"
#: Older men repay, nobody else does: two edges at least that no count can miss.
LINKED = [
    f"{sex},{older},{hours},{'yes' if older == 'yes' and sex == 'male' else 'no'}"
    for sex, older in (("female", "no"), ("male", "yes"))
    for hours in range(0, 80, 2)
]
#: Every combination equally often, so nothing is linked with anything.
UNLINKED = [
    f"{sex},{older},{hours},{repaid}"
    for sex in ("female", "male")
    for older in ("no", "yes")
    for hours in (10, 30)
    for repaid in ("no", "yes")
] * 4


def written(folder: Path, rows: list[str], text: str = SPEC) -> CheckedSpec:
    """The spec beside its data."""
    (folder / "people.csv").write_text("\n".join([HEADER, *rows]) + "\n", encoding="utf-8")
    (folder / "spec.fair").write_text(text, encoding="utf-8")
    return front_end(str(folder / "spec.fair"))[0]


def test_trap_20_error_rates_are_of_one_rule_under_one_law(tmp_path: Path) -> None:
    """Trap 20: equalized odds once compared two rules, each with bins of its own for a value of the label."""
    errors, parity, impact, observed = elaborate(written(tmp_path, LINKED), {}).demands
    assert errors.problem.model is parity.problem.model is observed.problem.model
    assert errors.problem.population is parity.problem.population is impact.problem.population
    law = errors.problem.population
    assert isinstance(law, Network)
    assert law.has_label
    assert [len(cells) for cells in law.cells] == [2, 2, 2, 2]
    assert isinstance(observed.problem.population, Rows)


def test_the_threshold_is_known_to_the_engine(tmp_path: Path) -> None:
    errors, parity, *_ = elaborate(written(tmp_path, LINKED), {}).demands
    assert errors.problem.threshold is not None
    assert errors.problem.threshold.limit == Fraction(1, 20)
    assert parity.problem.threshold is None


def test_trap_16_the_network_in_force_is_shown_and_counted(tmp_path: Path) -> None:
    """Trap 16: an option for correlated attributes once ran on a network without edges, and did not say so."""
    written(tmp_path, LINKED)
    spec = tmp_path / "spec.fair"
    linked = fairdsl.explain(spec, population=True).populations[0]
    (law, *_) = elaborate(front_end(str(spec))[0], {}).populations
    assert isinstance(law, Network)
    assert law.edges
    (edges,) = (line for line in linked.lines if line.startswith("edges"))
    assert str(len(law.edges)) in edges
    assert edges.count("->") == len(law.edges)
    other = tmp_path / "other.csv"
    other.write_text("\n".join([HEADER, *UNLINKED]) + "\n", encoding="utf-8")
    unlinked = fairdsl.explain(spec, population=True, data={"people": str(other)}).populations[0]
    (none,) = (line for line in unlinked.lines if line.startswith("edges"))
    assert "none" in none


def test_data_are_opened_only_where_they_are_asked_for(tmp_path: Path) -> None:
    (tmp_path / "spec.fair").write_text(SPEC, encoding="utf-8")
    explained = fairdsl.explain(tmp_path / "spec.fair")
    assert [item.name for item in explained.properties] == ["errors", "as_observed"]
    assert explained.populations == ()
    with pytest.raises(DiagnosticError) as caught:
        fairdsl.explain(tmp_path / "spec.fair", population=True)
    assert {finding.code for finding in caught.value.diagnostics} == {"E0530"}


def test_other_data_take_the_place_of_the_spec_s(tmp_path: Path) -> None:
    spec = written(tmp_path, LINKED)
    other = tmp_path / "other.csv"
    other.write_text("\n".join([HEADER, *UNLINKED]) + "\n", encoding="utf-8")
    people, rows = elaborate(spec, {}, data={"people": str(other)}).populations
    assert isinstance(people, Network)
    assert isinstance(rows, Rows)
    assert people.sample is not None
    assert (people.sample.rows, rows.sample.rows) == (len(UNLINKED), len(LINKED))


@pytest.mark.parametrize(("name", "said"), [("peple", "no distribution"), ("alike", "a distribution without data")])
def test_data_for_nothing_are_an_error(name: str, said: str, tmp_path: Path) -> None:
    text = SPEC + "\ndistribution alike over Person\n  uniform\n"
    spec = written(tmp_path, LINKED, text)
    with pytest.raises(DiagnosticError) as caught:
        elaborate(spec, {}, data={name: "other.csv"})
    (finding,) = caught.value.diagnostics
    assert finding.code == "E0553"
    assert said in finding.title


def test_what_is_wrong_with_model_and_data_is_said_at_once(tmp_path: Path) -> None:
    text = SPEC.replace("  score = hours - 20 + 5 * (older = yes)", '  from "missing.onnx"')
    (tmp_path / "spec.fair").write_text(text, encoding="utf-8")
    with pytest.raises(DiagnosticError) as caught:
        elaborate(front_end(str(tmp_path / "spec.fair"))[0], {})
    assert {finding.code for finding in caught.value.diagnostics} == {"E0501", "E0530"}


def test_bins_by_the_model_are_its_thresholds(tmp_path: Path) -> None:
    text = SPEC.replace("bins at 20", "bins by model").replace(
        "  score = hours - 20 + 5 * (older = yes)", "  score = 2 * (hours >= 35) - 1"
    )
    (law, _) = elaborate(written(tmp_path, LINKED, text), {}).populations
    assert isinstance(law, Network)
    assert [(cell.low, cell.high) for cell in law.cells[2]] == [(0, 34), (35, 80)]


def test_without_properties_every_population_is_there_to_be_shown(tmp_path: Path) -> None:
    spec = written(tmp_path, LINKED, SPEC.split("property")[0])
    built, _ = build_populations(spec, {})
    assert [(model, population.name) for model, population in built] == [(None, "people"), (None, "rows")]


def test_backends_for_pairs_say_what_they_answer(tmp_path: Path) -> None:
    """Every backend that refuses says why, and a plan for groups never contains one that compares pairs."""
    item = elaborate(written(tmp_path, LINKED), {}).demands[0]
    assert isinstance(item.problem.question, GroupMetric)
    pairs = {"search", "enumerate", "smt", "intervals"}
    offers = {procedure.name: procedure.offer(item.problem) for procedure in procedures()}
    reasons = {name: offer.why for name, offer in offers.items() if isinstance(offer, Refusal)}
    assert {reasons[name] for name in pairs} == {"it answers questions about pairs of individuals"}
    plan = plan_of(item)
    if isinstance(plan, Plan):
        assert {stage.procedure.name for stage in plan.stages}.isdisjoint(pairs)
    else:
        assert isinstance(plan, Refused)


def test_a_precision_is_answered_or_refused_and_never_ignored(tmp_path: Path) -> None:
    text = SPEC.replace("measure parity_gap,", "measure parity_gap within 1%,")
    item = elaborate(written(tmp_path, LINKED, text), {}).demands[1]
    plan = plan_of(item)
    assert not isinstance(plan, Refused)
    assert item.problem.precision is not None
    assert item.problem.precision.within == Fraction(1, 100)
