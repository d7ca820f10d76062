"""Shares of people under a distribution, by boxes: against counting everybody, and the reference values."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import log, sqrt
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fairdsl
from fairdsl.backends.contract import Budget, Facts, Silent
from fairdsl.backends.enumerate import Enumerate
from fairdsl.backends.rates import Rates
from fairdsl.backends.rates import people as of_people
from fairdsl.backends.rates.arithmetic import TangledError
from fairdsl.backends.rates.shares import Share, refusal_of_share
from fairdsl.ir.domain import Domain
from fairdsl.ir.enclosure import Enclosure
from fairdsl.ir.expr import TRUE, Member, Not, Variable, Who, conjoin
from fairdsl.ir.population import Network
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Differ, Individually, Pair, PairUnder, Quantity
from fairdsl.metrics.alike import together
from fairdsl.numerics.exact import decision
from fairdsl.verdict import Judgement, Shares, Vacuous, Value
from tests.builders import domain, integer, problem, score
from tests.drawing import examples
from tests.oracle import true_for
from tests.rates.laws import masses, random_laws
from tests.rule_strategies import rule_models
from tests.strategies import models, predicates, relaxations
from tests.tree_strategies import tree_models


@st.composite
def shares(draw: st.DrawFn) -> Problem:
    """People of a random distribution, a model of any kind, and who is compared without distances."""
    law = draw(random_laws())
    columns = law.columns
    conditions = st.one_of(st.just(TRUE), st.just(TRUE), predicates(columns))
    domain = Domain(name="D", attributes=columns, where=draw(conditions))
    differ = tuple(draw(st.lists(st.integers(0, len(columns) - 1), min_size=1, max_size=2, unique=True)))
    pair = Pair(differ=differ, mode=draw(st.sampled_from(Differ)), target=draw(conditions))
    given = draw(conditions)
    affected = draw(st.integers(0, 3)) == 0
    if not affected and draw(st.integers(0, 3)) == 0:
        pair = replace(pair, relax=draw(relaxations(domain, differ)))
    model = draw(
        st.one_of(
            models(domain, True, (0, 2, 3)),
            tree_models(domain, False),
            rule_models(domain),
            models(domain, False, (1,), curved=True),
        )
    )
    return Problem(
        name="p",
        domain=domain,
        model=model,
        question=Individually(pair=pair, given=given) if affected else PairUnder(pair=pair, given=given),
        quantity=Quantity.AFFECTED_RATE if affected else Quantity.FAIR_SHARE,
        population=law,
    )


@given(asks=shares())
@settings(max_examples=examples(2))
def test_boxes_come_to_what_counting_does(asks: Problem) -> None:
    if refusal_of_share(asks) is not None:
        return
    counted = Enumerate().answer(asks, Facts(), Budget.of(20), Silent())
    found = Rates().answer(asks, Facts(), Budget.of(20), Silent())
    if isinstance(counted, Vacuous):
        assert isinstance(found, Vacuous)
        return
    assert isinstance(counted, Shares)
    assert isinstance(found, Shares)
    assert (found.certified, found.falsified) == (counted.certified, counted.falsified)
    assert found.vacuous == counted.vacuous
    if asks.quantity is Quantity.FAIR_SHARE:
        assert found.of_domain == counted.of_domain
    first = Share(asks).verdict(None, None)
    if isinstance(first, Shares):
        assert first.certified <= counted.certified
        assert first.falsified <= counted.falsified
        assert first.vacuous <= counted.vacuous


# ---- the reference values of docs/semantics.md --------------------------------------------------------

R1 = """
domain D {
  sex : category { f, m }
  job : integer 0 .. 2
  senior : boolean
  WHERE
}
protected sex
model grant : D -> { no, yes }
  score = job + 2 * (senior = yes) + (sex = m)
  yes when score > 2
  favourable yes

distribution people over D
  sex : table { f : 0.6, m : 0.4 }
  job : table { 0 : 0.5, 1 : 0.3, 2 : 0.2 } given sex = f
  job : table { 0 : 0.2, 1 : 0.3, 2 : 0.5 } given sex = m
  senior : table { no : 0.75, yes : 0.25 } given sex = f and job = 0
  senior : table { no : 0.5, yes : 0.5 } given sex = f and job = 1
  senior : table { no : 0.25, yes : 0.75 } given sex = f and job = 2
  senior : table { no : 0.5, yes : 0.5 } given sex = m and job <= 1
  senior : table { no : 0.75, yes : 0.25 } given sex = m and job = 2

distribution alike over D
  uniform

property p {
  compare a, b : D
  differ in sex
  CLAUSE
  under people
  measure fair_share
}
"""
APART = "where not (sex = m and job = 2)"
AMONG = "among job >= 1"


def share(folder: Path, text: str, backend: str) -> Shares:
    path = folder / "s.fair"
    path.write_text(text)
    verdict = fairdsl.check(path, backend=backend).properties[0].demands[0].verdict
    assert isinstance(verdict, Shares)
    assert verdict.undecided == 0
    return verdict


@pytest.mark.parametrize("backend", ["enumerate", "rates"])
@pytest.mark.parametrize(
    ("where", "clause", "under", "fair", "vacuous", "of_domain"),
    [
        ("", "", "people", "141/200", 0, "2/3"),
        ("", AMONG, "people", "22/31", 0, "3/4"),
        ("", AMONG, "alike", "3/4", 0, "3/4"),
        # Of everybody 3/20, whose unit has nobody else, are not in question: 137/160 of all is 113/136 of the others.
        (APART, "", "people", "113/136", "3/20", "3/4"),
        (APART, "", "alike", "3/4", "1/5", "3/4"),
        (APART, AMONG, "people", "1", "2/7", "1"),
        (APART, AMONG, "alike", "1", "1/3", "1"),
    ],
)
def test_a_reference_value(
    tmp_path: Path, backend: str, where: str, clause: str, under: str, fair: str, vacuous: str, of_domain: str
) -> None:
    text = R1.replace("WHERE", where).replace("CLAUSE", clause).replace("under people", f"under {under}")
    found = share(tmp_path, text, backend)
    assert (found.certified, found.vacuous) == (Fraction(fair), Fraction(vacuous))
    assert found.of_domain == Enclosure.exactly(Fraction(of_domain))
    assert found.sampling is None  # nothing was counted


def test_what_differs_is_taken_apart_where_it_ties_columns_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = R1.replace("WHERE", "").replace("CLAUSE", "")
    monkeypatch.setattr(of_people, "tangled", lambda subject: None if subject.keys else TangledError(1))
    assert share(tmp_path, text, "rates").certified == Fraction(141, 200)


@pytest.mark.parametrize("backend", ["enumerate", "rates"])
@pytest.mark.parametrize(
    ("clause", "given", "fair"),
    [
        ("", "sex = f", "33/40"),
        ("", "sex = m", "21/40"),
        (AMONG, "sex = f", "9/10"),
        (AMONG, "sex = m", "17/32"),
    ],
)
def test_of_whom_a_share_is(tmp_path: Path, backend: str, clause: str, given: str, fair: str) -> None:
    text = R1.replace("WHERE", "").replace("CLAUSE", clause).replace("under people", f"under people given {given}")
    assert share(tmp_path, text, backend).certified == Fraction(fair)


@pytest.mark.parametrize(
    ("written", "under"),
    [
        ("require same decision", "under people given sex = f"),  # of nobody in particular
        ("measure affected_rate within 1%", "under people"),
        ("measure redraw_disagreement", ""),
    ],
)
def test_what_is_not_asked_of_people(tmp_path: Path, written: str, under: str) -> None:
    text = R1.replace("WHERE", "").replace("CLAUSE", "").replace("under people", under)
    (tmp_path / "s.fair").write_text(text.replace("measure fair_share", written))
    (demand,) = fairdsl.check(tmp_path / "s.fair").properties[0].demands
    assert {each.code for each in demand.refusals} == {"E0601"}


@pytest.mark.parametrize("given", ["age > 3", "a.job > 3", "job > 3"])
def test_whom_it_cannot_be_of(tmp_path: Path, given: str) -> None:
    text = R1.replace("WHERE", "").replace("CLAUSE", "").replace("under people", f"under people given {given}")
    (tmp_path / "s.fair").write_text(text)
    with pytest.raises(fairdsl.SpecError):
        fairdsl.check(tmp_path / "s.fair")


def test_rows_of_those_who_are_given(tmp_path: Path) -> None:
    rows = ["f,1,no", "f,2,no", "f,0,yes", "m,2,no", "m,1,no"]
    (tmp_path / "rows.csv").write_text("\n".join(["sex,job,senior", *rows]) + "\n")
    of_rows = R1[: R1.index("distribution people")] + R1[R1.index("distribution alike") :]
    of_rows = of_rows.replace("alike over D\n  uniform", 'people over D\n  empirical from "rows.csv"')
    text = of_rows.replace("WHERE", "").replace("CLAUSE", "")
    assert share(tmp_path, text, "rows").certified == Fraction(2, 5)
    assert share(tmp_path, text.replace("under people", "under people given sex = f"), "rows").certified == Fraction(
        1, 3
    )


def test_who_is_in_a_violation_and_who_is_drawn_again(tmp_path: Path) -> None:
    path = tmp_path / "s.fair"
    text = R1.replace("WHERE", "").replace("CLAUSE", "")
    path.write_text(text.replace("measure fair_share", "measure affected_rate, redraw_disagreement"))
    affected, again = (each.verdict for each in fairdsl.check(path).properties[0].demands)
    assert isinstance(affected, Shares)
    assert affected.falsified == 1 - affected.certified == Fraction(59, 200)
    assert isinstance(again, Value)
    assert again.low == again.high == Fraction(47, 460)
    required = "require redraw_disagreement <= 10%\n  require affected_rate <= 30%"
    path.write_text(text.replace("measure fair_share", required))
    found = [each.judgement for each in fairdsl.check(path).properties[0].demands]
    assert found == [Judgement.VIOLATED, Judgement.HOLDS]


@given(asks=shares())
@settings(max_examples=examples(0.5))
def test_who_is_drawn_again(asks: Problem) -> None:
    """One is drawn of those who are given, another one of all who share with them what does not differ."""
    pair, law = replace(asks.demanded.pair, relax=()), asks.population
    assert isinstance(law, Network)
    question = Individually(pair=pair, given=asks.given)
    redraw = replace(asks, question=question, quantity=Quantity.REDRAW_DISAGREEMENT)
    found = Enumerate().answer(redraw, Facts(), Budget.of(20), Silent())
    people = []
    for places, mass in masses(law).items():
        point = tuple(Fraction(law.cells[at][place].low or 0) for at, place in enumerate(places))
        if mass and true_for(conjoin(asks.domain.where, pair.target), {Who.EACH: point}):
            unit = tuple(value for at, value in enumerate(point) if at not in pair.differ)
            people.append((point, unit, mass, decision(asks.model, point)))
    drawn = [one for one in people if true_for(asks.given, {Who.EACH: one[0]})]
    if not drawn:
        assert isinstance(found, Vacuous)
        return
    apart = Fraction(0)
    for _, unit, mass, outcome in drawn:
        over = [(other, its) for _, unit_of, other, its in people if unit_of == unit]
        apart += mass * sum(other for other, its in over if its != outcome) / sum(other for other, _ in over)
    assert isinstance(found, Value)
    assert found.low <= apart / sum(mass for _, _, mass, _ in drawn) <= found.high
    assert found.low == found.high or not asks.model.rational


def test_units_that_are_individuals(tmp_path: Path) -> None:
    text = R1.replace("WHERE", "").replace("CLAUSE", "within 1 in job")
    for backend in ("enumerate", "rates"):
        found = share(tmp_path, text, backend)
        assert (found.certified, found.of_domain) == (Fraction(111, 200), Enclosure.exactly(Fraction(1, 2)))
        for whom, fair in (("sex = f", "27/40"), ("sex = m", "3/8")):
            of_some = text.replace("under people", f"under people given {whom}")
            assert share(tmp_path, of_some, backend).certified == Fraction(fair)


R4 = """
domain D {
  sex : boolean
  race : boolean
  job : boolean
}
protected sex, race
model grant : D -> { no, yes }
  yes when job = no and sex = yes and race = yes
  favourable yes

graph tree {
  sex -> race
  sex -> job
  race -> job
}

distribution people over D
  from "rows.csv"
  learn tree

property p {
  compare a, b : D
  differ in any sex, race
  under people
  measure fair_share
}
"""
#: How many rows have sex, race and job: P[sex] = 2/5, P[race | sex] = 1/4 and 2/3, P[job | both] = 1/2, 1/4, 1/4, 3/4.
ROWS = {"000": 54, "001": 54, "010": 27, "011": 9, "100": 24, "101": 8, "110": 16, "111": 48}


def test_several_attributes_that_differ(tmp_path: Path) -> None:
    lines = [
        ",".join(("yes" if each == "1" else "no") for each in row) for row, many in ROWS.items() for _ in range(many)
    ]
    (tmp_path / "rows.csv").write_text("\n".join(["sex,race,job", *lines]) + "\n")
    for backend in ("enumerate", "rates"):
        found = share(tmp_path, R4, backend)
        assert found.certified == Fraction(119, 240)
        assert found.of_domain == Enclosure.exactly(Fraction(1, 2))
        # Hoeffding's bound for two events in 240 rows; the two events are everybody.
        assert found.sampling is not None
        assert [float(end) for end in found.sampling] == pytest.approx(
            [119 / 240 - sqrt(log(80) / 480), 119 / 240 + sqrt(log(80) / 480)]
        )
        assert found.confidence == Fraction(95, 100)
        each = R4.replace("differ in any", "differ in each")
        assert share(tmp_path, each, backend).certified == Fraction(119, 240)
        affected = R4.replace("measure fair_share", "measure affected_rate")
        assert share(tmp_path, affected, backend).falsified == Fraction(121, 240)
    affected = affected.replace("differ in any", "differ in each")
    assert share(tmp_path, affected, "enumerate").falsified == Fraction(7, 24)


def test_assignments_are_counted_before_they_are_listed() -> None:
    """10^10 of them would take all memory before the refusal came."""
    people = domain(income=integer(0, 10**5), debt=integer(0, 10**5))
    asks = problem(people, score([1, 1]), 0, 1)
    assert isinstance(asks.question, Pair)
    assert together(asks, asks.question, 16) == f"what differs has {(10**5 + 1) ** 2} assignments"


def test_no_values_of_what_differs_are_nobody() -> None:
    """A spec that says so is refused before; a problem can be made by hand."""
    people = domain(income=integer(0, 1), debt=integer(0, 1))
    pair = Pair(
        differ=(0,),
        mode=Differ.ANY,
        target=Not(Member(variable=Variable(0), values=frozenset({Fraction(0), Fraction(1)}))),
    )
    assert together(problem(people, score([1, 1]), 0, 1), pair, 16) == []
