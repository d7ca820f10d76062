"""Laws counted in rows: exact frequencies, compared with counting by hand."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from hashlib import sha256
from itertools import product
from pathlib import Path

import pytest
from declared import built, finding, joint, network
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdsl.ir.population import Cell, Inside, Rows
from tests.drawing import examples

PERSON = """\
domain Person {
  sex   : category { female = 3, male = 1 }
  job   : category { clerk, nurse }
  age   : integer 18 .. 40   bins at 25, 30
}
label repaid : boolean
protected sex
"""
ROWS = [
    ("female", "clerk", 20, "yes"),
    ("male", "nurse", 25, "no"),
    ("female", "clerk", 29, "yes"),
    ("male", "clerk", 40, "no"),
    ("male", "nurse", 18, "yes"),
]
GRAPH = "graph causes { sex -> job -> repaid\n sex -> repaid\n age -> repaid }\n"
NAMES = ("female", "male"), ("clerk", "nurse"), ("18", "25", "30"), ("no", "yes")


def write(folder: Path, rows: object = ROWS, header: str = "sex,job,age,repaid") -> None:
    (folder / "people.csv").write_text("\n".join((header, *(",".join(map(str, row)) for row in rows))) + "\n")


def clauses(*lines: str, over: str = "Person, repaid") -> str:
    return PERSON + GRAPH + "\n  ".join((f"distribution law over {over}", *lines)) + "\n"


def cells_of(row: tuple[str, str, int, str]) -> tuple[int, ...]:
    """The row as positions of cells, by hand."""
    sex, job, age, repaid = row
    return (
        ["female", "male"].index(sex),
        ["clerk", "nurse"].index(job),
        (age >= 25) + (age >= 30),
        int(repaid == "yes"),
    )


def by_counting(
    rows: list[tuple[str, str, int, str]], parents: dict[int, tuple[int, ...]]
) -> dict[tuple[int, ...], Fraction]:
    """The product of conditional frequencies, straight from the rows."""
    coded = [cells_of(row) for row in rows]
    law: dict[tuple[int, ...], Fraction] = {}
    for cells in product(range(2), range(2), range(3), range(2)):
        probability = Fraction(1)
        for column in range(4):
            alike = [c for c in coded if all(c[p] == cells[p] for p in parents[column])]
            hits = sum(c[column] == cells[column] for c in alike)
            probability *= Fraction(hits, len(alike)) if alike else 0
        if probability:
            law[cells] = probability
    return law


people = st.lists(
    st.tuples(st.sampled_from(NAMES[0]), st.sampled_from(NAMES[1]), st.integers(18, 40), st.sampled_from(NAMES[3])),
    min_size=1,
    max_size=12,
)


@settings(max_examples=examples(0.4), deadline=None)
@given(rows=people)
@pytest.mark.parametrize(
    ("lines", "parents"),
    [
        (("independent",), {0: (), 1: (), 2: (), 3: ()}),
        (("independent given sex",), {0: (), 1: (0,), 2: (0,), 3: (0,)}),
        (("independent given job, sex",), {0: (1,), 1: (), 2: (1, 0), 3: (1, 0)}),
        (("learn causes",), {0: (), 1: (0,), 2: (), 3: (0, 1, 2)}),
    ],
)
def test_frequencies(
    rows: list[tuple[str, str, int, str]],
    lines: tuple[str, ...],
    parents: dict[int, tuple[int, ...]],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.mktemp("rows")
    write(folder, rows)
    law = network(clauses(*lines, 'from "people.csv"'), folder)
    assert joint(law) == by_counting(rows, parents)
    assert {factor.column: tuple(factor.parents) for factor in law.factors} == parents
    # Nothing is made up: each row of a factor stands for a combination that occurs.
    coded = {cells_of(row) for row in rows}
    for factor in law.factors:
        assert set(factor.rows) == {tuple(c[p] for p in factor.parents) for c in coded}


def test_what_a_network_says_of_itself(tmp_path: Path) -> None:
    write(tmp_path)
    law = network(clauses("learn causes", 'from "people.csv"'), tmp_path)
    assert law.causal
    assert law.has_label
    assert law.sample.rows == 5
    assert law.sample.sha256 == sha256((tmp_path / "people.csv").read_bytes()).hexdigest()
    assert law.sample.values.points()[1] == (1, 1, 25, 0)
    assert law.cells[2][1] == Cell(low=Fraction(25), high=Fraction(29), inside=Inside.UNKNOWN)
    assert law.cells[0] == (Cell(low=Fraction(3), high=Fraction(3)), Cell(low=Fraction(1), high=Fraction(1)))
    assert not network(clauses("independent", 'from "people.csv"'), tmp_path).causal


def test_without_the_label_its_column_is_not_read(tmp_path: Path) -> None:
    write(tmp_path, [row[:3] for row in ROWS], "sex,job,age")
    law = network(clauses("independent", 'from "people.csv"', over="Person"), tmp_path)
    assert not law.has_label
    assert len(law.columns) == 3
    assert finding(clauses("independent", 'from "people.csv"'), tmp_path)[0] == "E0531"


def test_rows_stay_rows(tmp_path: Path) -> None:
    write(tmp_path)
    population, findings = built(clauses('empirical from "people.csv"'), tmp_path)
    assert isinstance(population, Rows)
    assert not findings
    assert Counter(population.sample.values.points())[(3, 0, 20, 1)] == 1
    assert population.has_label


@pytest.mark.parametrize(
    ("row", "code", "marked"),
    [
        (("female", "", 20, "yes"), "E0532", "female,,20,yes"),
        (("female", "cook", 20, "yes"), "E0532", "cook"),
        (("female", "clerk", 17, "yes"), "E0532", "17"),
        (("female", "clerk", 20), "E0530", "female,clerk,20"),
    ],
)
def test_cells_that_are_missing_or_mean_nothing(
    row: tuple[object, ...], code: str, marked: str, tmp_path: Path
) -> None:
    write(tmp_path, [*ROWS, row])
    for lines in (("independent", 'from "people.csv"'), ('empirical from "people.csv"',)):
        assert finding(clauses(*lines), tmp_path) == (code, marked)


def test_a_file_without_rows(tmp_path: Path) -> None:
    write(tmp_path, [])
    assert finding(clauses("independent", 'from "people.csv"'), tmp_path)[0] == "E0530"


def test_a_pinned_file(tmp_path: Path) -> None:
    write(tmp_path)
    digest = sha256((tmp_path / "people.csv").read_bytes()).hexdigest()
    assert network(clauses("independent", f'from "people.csv" sha256 "{digest.upper()}"'), tmp_path)
    code, marked = finding(clauses("independent", f'from "people.csv" sha256 "{"0" * 64}"'), tmp_path)
    assert (code, marked) == ("E0534", f'"{"0" * 64}"')


def test_another_file_than_the_spec_names(tmp_path: Path) -> None:
    write(tmp_path)
    (tmp_path / "people.csv").rename(tmp_path / "others.csv")
    population, _ = built(clauses("independent", 'from "people.csv"'), tmp_path, data="others.csv")
    assert population.sample.path == "others.csv"


def test_groups_without_a_row_are_told(tmp_path: Path) -> None:
    write(tmp_path, [row for row in ROWS if row[0] == "female"])
    for lines in (("independent", 'from "people.csv"'), ('empirical from "people.csv"',)):
        population, findings = built(clauses(*lines), tmp_path)
        assert population is not None
        assert [(f.code, f.primary.text) for f in findings] == [("W0706", "`male`")]
        if lines[0] == "independent":
            assert population.factor_of(0).rows[()] == (1, 0)


def test_more_probabilities_than_rows_are_told(tmp_path: Path) -> None:
    domain = "domain Person {\n" + "".join(f"  {name} : integer 0 .. 9\n" for name in "abc") + "}\n"
    text = domain + "graph g { a -> c\n b -> c }\n"
    text += 'distribution law over Person\n  learn g\n  from "people.csv"\n'
    # 16 combinations of a and b, and three values of c.
    pairs = [(a, b, c) for a in range(4) for b in range(4) for c in range(3)]
    write(tmp_path, pairs, "a,b,c")
    assert built(text, tmp_path)[1] == []
    # Ten values of c, but not of each combination.
    more = [*pairs, *((0, 0, c) for c in range(3, 10))]
    write(tmp_path, more, "a,b,c")
    (only,) = built(text, tmp_path)[1]
    assert (only.code, only.primary.text) == ("W0705", "144 probabilities from 55 rows")


def test_a_circle_in_a_graph(tmp_path: Path) -> None:
    write(tmp_path)
    text = PERSON + "graph causes { sex -> job -> repaid -> sex }\n"
    text += 'distribution law over Person, repaid\n  learn causes\n  from "people.csv"\n'
    assert finding(text, tmp_path) == ("E0572", "sex -> job")
