"""``set bins = means``: everybody in a bin is the mean of its rows, and everything that rests on it says so."""

from __future__ import annotations

from contextlib import chdir
from fractions import Fraction
from pathlib import Path

import pytest
from click.testing import CliRunner
from declared import joint, network
from hypothesis import given, settings
from hypothesis import strategies as st

import fairdsl
from fairdsl.cli.app import cli
from fairdsl.diagnostics import DiagnosticError
from fairdsl.verdict import Arithmetic
from tests.drawing import examples

SPEC = """\
domain Person {
  sex : category { female, male }
  age : integer 18 .. 40 bins at 25, 30
  income : real 0 .. 10 bins at 2.5
}
protected sex
model approve : Person -> { no, yes }
  score = age + 3 * income - 5 * (sex = female)
  yes when score > 36
  favourable yes
graph causes { sex -> age -> income }
distribution law over Person
  CLAUSES
property parity { across sex under law require parity_gap <= 10% }
"""
MEANS = 'from "people.csv" set bins = means'
APPROXIMATED = "an approximation: under `law` everybody in a bin is taken to be the mean of its rows"
NAMES = ("female", "male")

people = st.lists(
    st.tuples(
        st.sampled_from(NAMES), st.integers(18, 40), st.integers(0, 1000).map(lambda cents: Fraction(cents, 100))
    ),
    min_size=1,
    max_size=12,
)


def placed(person: tuple[str, int, Fraction]) -> tuple[int, int, int]:
    """The positions of the cells, by hand."""
    sex, age, income = person
    return NAMES.index(sex), (age >= 25) + (age >= 30), int(income >= Fraction("2.5"))


def write(folder: Path, rows: list[tuple[str, int, Fraction]], clauses: str) -> str:
    lines = ["sex,age,income", *(f"{sex},{age},{float(income)}" for sex, age, income in rows)]
    (folder / "people.csv").write_text("\n".join(lines) + "\n")
    text = SPEC.replace("CLAUSES", clauses)
    (folder / "spec.fair").write_text(text)
    return text


@settings(max_examples=examples(0.3), deadline=None)
@given(rows=people)
@pytest.mark.parametrize("law", ["independent", "independent given sex", "learn causes"])
def test_rates_of_means_by_going_through_all_cells(
    law: str, rows: list[tuple[str, int, Fraction]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    rows = [*rows, ("female", 20, Fraction(1)), ("male", 33, Fraction(9))]
    folder = tmp_path_factory.mktemp("rows")
    text = write(folder, rows, f"{law} {MEANS}")
    means = {}
    for column in (1, 2):
        for cell in range(3):
            inside = [row[column] for row in rows if placed(row)[column] == cell]
            if inside:
                means[column, cell] = Fraction(sum(map(Fraction, inside)), 1) / len(inside)
    masses, accepted = [Fraction(0)] * 2, [Fraction(0)] * 2
    for (sex, age, income), probability in joint(network(text, folder)).items():
        if probability:
            masses[sex] += probability
            score = means[1, age] + 3 * means[2, income] - 5 * (sex == 0)
            accepted[sex] += probability * (score > 36)
    with chdir(folder):
        report = fairdsl.check("spec.fair")
    (demand,) = report.properties[0].demands
    found = {rate.group["sex"]: (rate.low, rate.high) for rate in demand.groups.rates}
    assert found == {name: (part / mass,) * 2 for name, part, mass in zip(NAMES, accepted, masses, strict=True)}
    assert demand.arithmetic is Arithmetic.APPROXIMATE
    assert any(note.startswith(APPROXIMATED) for note in demand.evidence.notes)


ROWS = [("female", 20, Fraction(3)), ("female", 33, Fraction(9)), ("male", 33, Fraction(9)), ("male", 29, Fraction(2))]


def test_it_says_so_wherever_it_shows(tmp_path: Path) -> None:
    write(tmp_path, ROWS, f"independent {MEANS}")
    with chdir(tmp_path):
        checked = CliRunner().invoke(cli, ["check", "spec.fair"])
        assert APPROXIMATED in " ".join(checked.output.split())
        assert "approximate, rates" in checked.output
        told = " ".join(CliRunner().invoke(cli, ["explain", "spec.fair", "--population"]).output.split())
        assert "approximated: everybody in a bin is the mean of its rows" in told
        # A saved population says it, too.
        CliRunner().invoke(cli, ["explain", "spec.fair", "--population", "-o", "saved"], catch_exceptions=False)
        (saved,) = Path("saved").glob("*.json")
        assert not list(Path("saved").glob("*.bif")), "a network in BIF has no word for it"
        text = Path("spec.fair").read_text().replace(f"independent {MEANS}", f'from "{saved}"')
        Path("again.fair").write_text(text)
        again = CliRunner().invoke(cli, ["check", "again.fair"])
        assert APPROXIMATED in " ".join(again.output.split()), again.output


def test_ranges_stay_ranges_without_it(tmp_path: Path) -> None:
    write(tmp_path, ROWS, 'independent from "people.csv"')
    with chdir(tmp_path):
        assert "approximat" not in CliRunner().invoke(cli, ["check", "spec.fair"]).output


def test_groups_by_bins_that_are_means_are_refused(tmp_path: Path) -> None:
    """They would have no rows, and intervals that count nobody."""
    text = write(tmp_path, ROWS, f"independent {MEANS}")
    (tmp_path / "spec.fair").write_text(
        text.replace("protected sex", "protected sex, age").replace("across sex", "across age")
    )
    with chdir(tmp_path), pytest.raises(DiagnosticError) as caught:
        fairdsl.check("spec.fair")
    assert [(found.code, found.primary and found.primary.text) for found in caught.value.diagnostics] == [
        ("E0570", "groups by its bins, which `law` takes to be single numbers")
    ]
