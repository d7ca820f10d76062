"""Every registered engine where values are missing: tables with empty cells, laws counted from them, and estimates.

The definitions are those of ``test_missing_values``, which know no codes: people are dictionaries with None, whose
rates are counted one after the other. Whoever refuses a question says nothing; whoever answers is held against them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from pathlib import Path
from random import Random

import pytest

from fairdsl.backends.contract import Procedure
from fairdsl.backends.rates import Rates
from fairdsl.backends.rows import OverRows
from fairdsl.diagnostics import DiagnosticError
from fairdsl.elaborate import elaborate
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import GroupMetric, PairUnder
from fairdsl.plan.registry import BACKENDS
from fairdsl.semantics.conditions import predicates as conditions
from fairdsl.semantics.front_end import front_end
from fairdsl.verdict import Unknown, Value, Verdict
from tests.agreement.bank import wrong_estimate, wrong_rows
from tests.agreement.engines import SECONDS, ask
from tests.agreement.test_registry import registered, undecided
from tests.drawing import examples
from tests.missing.test_missing_values import EVERYBODY, Case, Person, coded, drawn

POPULATIONS = """
distribution rows over Person
  empirical from "people.csv"
distribution law over Person
  independent
  from "people.csv"
"""
GROUPS = """
property NAME {
  across ACROSS
  TARGET
  under POPULATION
  excluding groups of probability 0
  measure acceptance_rate
}
"""
#: The attributes that make groups; income has bins.
ACROSS = ["job", "income", "sex"]


@dataclass(frozen=True)
class Peopled:
    """A case with the rows of a table."""

    case: Case
    rows: list[Person]
    across: str

    def spec(self) -> str:
        """Its questions: of everybody, of a sample, of the rows, and of groups in the rows and under their marginals.

        A law leaves open what is inside a bin, so there are bins only where income makes the groups; and it has no
        whole numbers that a distance keeps from the missing ones.
        """
        start = self.case.spec.index("property one")
        people, pairs = self.case.spec[:start], self.case.spec[start:]
        drawn = pairs.replace("one", "drawn", 1).replace("  require same decision\n", "")
        asked = [
            pairs,
            drawn.replace("fair_share", "fair_share within 10% with confidence 99.999999%"),
            pairs.replace("one", "in_rows", 1).replace("  require", "  under rows\n  require"),
        ]
        among = f"  among {self.case.target.text}\n" if self.case.target.text else ""
        for name in ("rows", "law")[: 1 if self.case.within else 2]:
            group = GROUPS.replace("NAME", f"groups_of_{name}").replace("ACROSS", self.across)
            asked.append(group.replace("  TARGET\n", among).replace("POPULATION", name))
        bins = " bins at 2" if self.across == "income" else ""
        laws = POPULATIONS if not self.case.within else POPULATIONS[: POPULATIONS.index("distribution law")]
        return people.replace(" bins at 2", bins) + laws + "\n".join(asked)

    def table(self) -> str:
        names = list(self.rows[0])
        cells = [["" if row[name] is None else str(row[name]) for name in names] for row in self.rows]
        return "\n".join(",".join(line) for line in [names, *cells]) + "\n"

    def mass(self, person: Person, population: str) -> Fraction:
        """How likely somebody is: by rows, or by each column alone."""
        if population == "rows":
            return Fraction(self.rows.count(person), len(self.rows))
        return prod(Fraction(sum(row[name] == person[name] for row in self.rows), len(self.rows)) for name in person)

    def group(self, person: Person) -> str:
        """What reports call the group of somebody."""
        value = person[self.across]
        if value is None:
            return "missing"
        return ("0 .. 1" if value in (0, 1) else "2 .. 3") if self.across == "income" else str(value)

    def rates(self, population: str) -> Mapping[str, Fraction]:
        """The acceptance rate of every group that somebody is in."""
        favoured, everybody = Counter[str](), Counter[str]()
        for person in EVERYBODY:
            if self.case.target.of(person):
                mass, group = self.mass(person, population), self.group(person)
                everybody[group] += mass  # type: ignore[assignment]
                favoured[group] += mass * self.case.decides(person)  # type: ignore[assignment]
        return {group: favoured[group] / mass for group, mass in everybody.items() if mass}  # type: ignore[misc]

    def wrong(self, problem: Problem, verdict: Verdict) -> str | None:
        """What is wrong with a verdict, if anything."""
        match problem.question:
            case GroupMetric():
                assert problem.population is not None
                return wrong_rates(verdict, self.rates(problem.population.name))
            case PairUnder():
                truth = self.case.truth(problem.domain)
                asked = [row for row in (coded(row, problem.domain) for row in self.rows) if row in truth.asked]
                return wrong_rows(problem, verdict, (truth, len(asked), sum(row not in truth.unfair for row in asked)))
        return wrong_estimate(problem, verdict, self.case.truth(problem.domain))


def wrong_rates(verdict: Verdict, rates: Mapping[str, Fraction]) -> str | None:
    match verdict:
        case Unknown():
            return None
        case Value(defined=False):
            return "undefined, and no reason is given" if verdict.reason is None else None
        case Value():
            said = {str(next(iter(rate.group.values()))): rate for rate in verdict.rates}
            if missed := rates.keys() - said.keys():
                return f"nothing is said of {missed}"
            for group, rate in rates.items():
                if not said[group].low <= rate <= said[group].high:
                    return f"the rate {rate} of {group} outside [{said[group].low}, {said[group].high}]"
            inside = verdict.low <= min(rates.values()) <= max(rates.values()) <= verdict.high
            return None if inside else f"{rates} outside [{verdict.low}, {verdict.high}]"
    return None if not rates else f"{verdict}, and the rates are {rates}"


def peopled(seed: int) -> Peopled:
    random = Random(seed)
    rows = random.choices(EVERYBODY, k=random.randint(6, 14))
    return Peopled(drawn(seed), rows, random.choice(ACROSS))


def decided(question: Peopled, folder: Path, engines: Sequence[Procedure]) -> Counter[str]:
    """How many verdicts of each engine said something definite, all of them rightly."""
    (folder / "people.csv").write_text(question.table())
    (folder / "spec.fair").write_text(question.spec())
    found = Counter[str]()
    try:
        demands = elaborate(front_end(str(folder / "spec.fair"))[0], {}).demands
    except DiagnosticError as refused:
        if not {finding.code for finding in refused.diagnostics if finding.code.startswith("E")} <= {"E0408", "E0409"}:
            raise
        return found  # nobody is compared with anybody, and that is seen
    for item in demands:
        for engine in engines:
            verdict = ask(engine, item.problem, SECONDS.get(engine.name, 20.0))
            if verdict is not None:
                wrong = question.wrong(item.problem, verdict)
                assert wrong is None, (engine.name, item.problem.name, wrong, question.spec(), question.table())
                found[engine.name] += not undecided(verdict)
    return found


def total(seeds: range, folder: Path, engines: Sequence[Procedure]) -> Counter[str]:
    found = Counter[str]()
    for seed in seeds:
        found += decided(peopled(seed), folder, engines)
    return found


def test_every_registered_engine_agrees_with_the_definition(tmp_path: Path) -> None:
    """Those that need more time on a busy machine may answer nothing; they answer some in the longer run."""
    answered = total(range(examples(0.25)), tmp_path, registered()).keys()
    assert answered >= {"enumerate", "leaf_boxes", "rows", "sampling", "rates", "ssat"}


@pytest.mark.parametrize("engine", [Rates(), OverRows()], ids=lambda engine: engine.name)
def test_two_truth_values_are_caught(engine: Procedure, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the very test above: a negation that is true of whoever has no value."""
    monkeypatch.setattr(conditions, "of_those_present", lambda predicate, domain: predicate)
    with pytest.raises(AssertionError, match=engine.name):
        total(range(12), tmp_path, [engine])


def test_a_bin_ends_with_the_values(tmp_path: Path) -> None:
    """Where a distance keeps the code of a missing income far from the others, the last bin is not called so."""
    assert "within" in peopled(12).spec()
    assert total(range(12, 13), tmp_path, [OverRows()])["rows"]


@pytest.mark.slow
def test_every_registered_engine_answers_of_many_populations(tmp_path: Path) -> None:
    assert total(range(1000), tmp_path, registered()).keys() == set(BACKENDS)
