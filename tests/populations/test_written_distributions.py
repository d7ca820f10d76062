"""Laws written by hand: what they are on cells, and what is said where they are not a law."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from declared import built, finding, joint, network
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.population import Cell, Inside, Network, Normal
from tests.drawing import examples

PERSON = """\
domain Person {
  older  : boolean
  job    : category { clerk, nurse, cook }
  income : real
  share  : real 0 .. 1
  age    : integer 18 .. 75
  wage   : integer 0 .. 20000
}
distribution law over Person
"""
PLAIN = {
    "older": "bernoulli(30%)",
    "job": "table { clerk : 0.2, nurse : 0.8, cook : 0 }",
    "income": "normal(0.6, 0.1)",
    "share": "uniform(0, 1)",
    "age": "uniform(18, 75)",
    "wage": "uniform(0, 9999)",
}


def spec(text: str = PERSON, **laws: str) -> str:
    """A spec with plain laws but for these; several laws of one attribute are separated by `;`."""
    lines = [
        f"  {name} : {law.strip()}" for name, several in (PLAIN | laws).items() for law in several.split(";") if several
    ]
    return text + "\n".join(lines) + "\n"


def test_plain_laws(tmp_path: Path) -> None:
    law = network(spec(), tmp_path)
    assert law.edges == frozenset()
    assert law.causal
    rows = [law.factor_of(place).rows[()] for place in range(6)]
    assert rows[0] == (Fraction(7, 10), Fraction(3, 10))
    assert rows[1] == (Fraction(1, 5), Fraction(4, 5), 0)
    assert rows[2] == Normal(mean=Fraction(3, 5), sd=Fraction(1, 10))
    assert rows[3] == (1,)
    assert rows[4] == (Fraction(1, 58),) * 58
    assert rows[5] == (1,)
    assert law.cells[1][2] == Cell(low=Fraction(2), high=Fraction(2))
    assert law.cells[3] == (Cell(low=Fraction(0), high=Fraction(1), inside=Inside.UNIFORM),)
    assert law.cells[5] == (Cell(low=Fraction(0), high=Fraction(9999), inside=Inside.UNIFORM),)


def test_conditions_make_parents_and_rows(tmp_path: Path) -> None:
    laws = "normal(0.6, 0.1) given older = yes and age >= 40; normal(0.3, 0.1) given older = no or age < 40"
    law = network(spec(income=laws), tmp_path)
    factor = law.factor_of(2)
    assert factor.parents == (0, 4)
    assert [entry.column for entry in law.factors].index(2) > [entry.column for entry in law.factors].index(4)
    for (older, age), row in factor.rows.items():
        assert isinstance(row, Normal)
        assert (row.mean == Fraction(3, 5)) == (older == 1 and law.cells[4][age].low >= 40)
    assert len(factor.rows) == 2 * 58


def test_conditions_cut_wide_ranges_and_reals_where_they_change(tmp_path: Path) -> None:
    laws = "bernoulli(1) given wage > 5000 and share <= 1/4; bernoulli(0.5) given not (wage > 5000 and share <= 1/4)"
    law = network(spec(older=laws.replace("1/4", "0.25")), tmp_path)
    assert [(cell.low, cell.high) for cell in law.cells[5]] == [(0, 5000), (5001, 9999)]
    assert [(cell.low, cell.high, cell.open) for cell in law.cells[3]] == [
        (0, Fraction(1, 4), True),
        (Fraction(1, 4), 1, False),
    ]
    assert law.factor_of(5).rows[()] == (Fraction(5001, 10000), Fraction(4999, 10000))
    assert law.factor_of(3).rows[()] == (Fraction(1, 4), Fraction(3, 4))
    # Parents (share, wage).
    assert {key: row[1] for key, row in law.factor_of(0).rows.items()} == {
        (0, 0): Fraction(1, 2),
        (0, 1): 1,
        (1, 0): Fraction(1, 2),
        (1, 1): Fraction(1, 2),
    }


def test_several_ranges_of_one_attribute_share_their_cells(tmp_path: Path) -> None:
    law = network(spec(share="uniform(0, 0.5) given older = yes; uniform(0.25, 1) given older = no"), tmp_path)
    assert [cell.low for cell in law.cells[3]] == [0, Fraction(1, 4), Fraction(1, 2)]
    assert law.factor_of(3).rows == {
        (0,): (0, Fraction(1, 3), Fraction(2, 3)),
        (1,): (Fraction(1, 2), Fraction(1, 2), 0),
    }


def test_values_of_probability_0_need_no_law(tmp_path: Path) -> None:
    law = network(spec(older="bernoulli(0.1) given job = clerk; bernoulli(0.2) given job = nurse"), tmp_path)
    assert set(law.factor_of(0).rows) == {(0,), (1,)}
    assert sum(joint_of_two(law).values()) == 1


def joint_of_two(law: Network) -> dict[tuple[int, int], Fraction]:
    """Pr[older, job], by hand."""
    jobs, older = law.factor_of(1).rows[()], law.factor_of(0).rows
    return {(o, j): jobs[j] * row[o] for (j,), row in older.items() for o in (0, 1)}


@pytest.mark.parametrize(
    ("laws", "code", "marked"),
    [
        (
            {"older": "bernoulli(0.1) given age >= 40; bernoulli(0.2) given age < 39"},
            "E0571",
            "older : bernoulli(0.1) given age >= 40",
        ),
        (
            {"older": "bernoulli(0.1) given age >= 40; bernoulli(0.2) given age <= 40"},
            "E0571",
            "older : bernoulli(0.2) given age <= 40",
        ),
        ({"older": "bernoulli(0.1) given job = clerk"}, "E0571", "older : bernoulli(0.1) given job = clerk"),
        (
            {"older": "bernoulli(0.1) given income > 0; bernoulli(0.2) given income <= 0"},
            "E0571",
            "older : bernoulli(0.1) given income > 0",
        ),
        (
            {"older": "bernoulli(0.1) given wage > age; bernoulli(0.2) given wage <= age"},
            "E0571",
            "older : bernoulli(0.1) given wage > age",
        ),
        (
            {
                "older": "bernoulli(0.1) given job = clerk; bernoulli(0) given job != clerk",
                "job": "table { clerk : 1, nurse : 0, cook : 0 } given older = no; "
                "table { clerk : 0, nurse : 1, cook : 0 } given older = yes",
            },
            "E0572",
            "job : table { clerk : 1, nurse : 0, cook : 0 } given older = no",
        ),
        (
            {"share": "uniform(0, 1) given older = yes; normal(0, 1) truncated given older = no"},
            "E0570",
            "share : normal(0, 1) truncated given older = no",
        ),
    ],
)
def test_what_is_no_law(laws: dict[str, str], code: str, marked: str, tmp_path: Path) -> None:
    assert finding(spec(**laws), tmp_path) == (code, marked)


def test_bins_that_their_laws_cut_differently(tmp_path: Path) -> None:
    binned = PERSON.replace("18 .. 75", "18 .. 75   bins at 25, 45")
    law = network(spec(binned), tmp_path)
    assert [(cell.low, cell.high) for cell in law.cells[4]] == [(18, 24), (25, 44), (45, 75)]
    assert law.factor_of(4).rows[()] == (Fraction(7, 58), Fraction(20, 58), Fraction(31, 58))
    older = "bernoulli(0.1) given age >= 40; bernoulli(0.2) given age < 40"
    assert finding(spec(binned, older=older), tmp_path) == ("E0570", "age : uniform(18, 75)")
    assert finding(spec(binned.replace("at 25, 45", "by quantiles 4")), tmp_path)[0] == "E0570"
    assert finding(
        spec(
            PERSON.replace("share  : real 0 .. 1", "share : real 0 .. 1 bins at 0.5").replace(
                "income : real\n", "income : real bins at 0\n"
            )
        ),
        tmp_path,
    ) == ("E0570", "income : normal(0.6, 0.1)")


def test_every_finding_says_what_to_write(tmp_path: Path) -> None:
    _, (only,) = built(spec(older="bernoulli(0.1) given job = clerk"), tmp_path)
    assert only.primary.text == "no distribution for job = nurse"
    assert only.help


@settings(max_examples=examples(0.5), deadline=None)
@given(
    edges=st.lists(st.integers(1, 9), min_size=1, max_size=2, unique=True).map(sorted),
    probabilities=st.lists(st.fractions(0, 1, max_denominator=7), min_size=3, max_size=3),
)
def test_a_law_by_conditions_is_the_law_by_people(
    edges: list[int], probabilities: list[Fraction], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Pr[older] by the network is the mean over all ages of what the conditions say of each."""
    bounds = [0, *edges, 10]
    pieces = list(zip(bounds, bounds[1:], probabilities, strict=False))
    text = "domain Person {\n  older : boolean\n  age : integer 0 .. 9\n}\n"
    text += "distribution law over Person\n  age : uniform(0, 9)\n"
    for low, high, p in pieces:
        yes = f"{p.numerator * 10**6 // p.denominator / 10**6:.6f}"
        text += f"  older : bernoulli({yes}) given age >= {low} and age < {high}\n"
    law = network(text, tmp_path_factory.mktemp("law"))
    exact = {
        age: next(Fraction(p.numerator * 10**6 // p.denominator, 10**6) for low, high, p in pieces if low <= age < high)
        for age in range(10)
    }
    assert sum(p for (older, _), p in joint(law).items() if older) == sum(exact.values()) / 10


@pytest.mark.parametrize(
    ("column", "law", "cells"),
    [
        ("integer 0 .. 8 bins at 3, 6", "uniform(3, 8)", [(0, 2, 0), (3, 5, Fraction(1, 2)), (6, 8, Fraction(1, 2))]),
        ("integer 0 .. 8 bins at 3, 6", "uniform(4, 5)", [(0, 2, 0), (4, 5, 1), (6, 8, 0)]),
        ("integer 0 .. 8 bins at 3, 6", "uniform(0, 2)", [(0, 2, 1), (3, 5, 0), (6, 8, 0)]),
        ("real 0 .. 8 bins at 2, 4", "uniform(4, 8)", [(0, 2, 0), (2, 4, 0), (4, 8, 1)]),
        ("real 0 .. 8 bins at 2, 4", "uniform(0, 2)", [(0, 2, 1), (2, 4, 0), (4, 8, 0)]),
    ],
)
def test_bins_that_no_law_reaches_are_groups(
    tmp_path: Path, column: str, law: str, cells: list[tuple[int, int, Fraction]]
) -> None:
    """They have probability 0, and metrics say so: they are not passed over."""
    text = f"domain D {{\n  x : {column}\n}}\ndistribution P over D\n  x : {law}\n"
    population, found = built(text, tmp_path)
    assert not found
    assert isinstance(population, Network)
    (row,) = population.factors[0].rows.values()
    assert [(cell.low, cell.high, chance) for cell, chance in zip(population.cells[0], row, strict=True)] == cells


def test_a_uniform_law_on_one_number(tmp_path: Path) -> None:
    head = "domain D {\n  x : integer 0 .. 8\n  y : real 0 .. 1\n}\ndistribution P over D\n  x : %s\n  y : %s\n"
    population, found = built(head % ("uniform(3, 3)", "uniform(0, 1)"), tmp_path)
    assert not found
    assert isinstance(population, Network)
    assert population.factor_of(0).rows[()][3] == 1
    for laws, code, marked in (
        (("uniform(3, 3)", "uniform(1, 1)"), "E0309", "uniform(1, 1)"),
        (("uniform(8, 3)", "uniform(0, 1)"), "E0301", "uniform(8, 3)"),
    ):
        with pytest.raises(DiagnosticError) as caught:
            built(head % laws, tmp_path)
        (only,) = caught.value.diagnostics
        assert (only.code, only.primary.span.text) == (code, marked)
