"""Shares of people under a distribution, by boxes: against counting everybody, and the reference values."""

from __future__ import annotations

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
from fairdsl.backends.rates import shares as of_people
from fairdsl.backends.rates.arithmetic import TangledError
from fairdsl.backends.rates.shares import _Share, refusal_of_share
from fairdsl.ir.domain import Domain
from fairdsl.ir.expr import TRUE, Member, Not, Variable
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Differ, Pair, PairUnder, Quantity
from fairdsl.metrics.alike import together
from fairdsl.verdict import Shares, Vacuous
from tests.builders import domain, integer, problem, score
from tests.drawing import examples
from tests.rates.laws import random_laws
from tests.rule_strategies import rule_models
from tests.strategies import models, predicates
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
        question=PairUnder(pair=pair),
        quantity=Quantity.FAIR_SHARE,
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
    assert found.of_domain == counted.of_domain
    first = _Share(asks).verdict(None, None)
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
    assert found.of_domain == (Fraction(of_domain), Fraction(of_domain))
    assert found.sampling is None  # nothing was counted


def test_what_differs_is_taken_apart_where_it_ties_columns_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = R1.replace("WHERE", "").replace("CLAUSE", "")
    monkeypatch.setattr(of_people, "_tangled", lambda subject: None if subject.keys else TangledError(1))
    assert share(tmp_path, text, "rates").certified == Fraction(141, 200)


def test_units_that_are_individuals(tmp_path: Path) -> None:
    assert share(tmp_path, R1.replace("WHERE", "").replace("CLAUSE", "within 1 in job"), "enumerate").certified == (
        Fraction(111, 200)
    )


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
        assert found.of_domain == (Fraction(1, 2), Fraction(1, 2))
        # Hoeffding's bound for two events in 240 rows; the two events are everybody.
        assert found.sampling is not None
        assert [float(end) for end in found.sampling] == pytest.approx(
            [119 / 240 - sqrt(log(80) / 480), 119 / 240 + sqrt(log(80) / 480)]
        )
        assert found.confidence == Fraction(95, 100)
        each = R4.replace("differ in any", "differ in each")
        assert share(tmp_path, each, backend).certified == Fraction(119, 240)


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
