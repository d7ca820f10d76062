"""Keys of groups, and the groups in words."""

from __future__ import annotations

from fractions import Fraction

import pytest
from group_cases import COLUMNS, about, people

from fairdsl.ir.domain import Attribute, Category, CategoryValue, Integer, Real
from fairdsl.ir.exact_rows import ExactRows, Scaled
from fairdsl.ir.population import Cell, Inside, Network, Rows, Sample
from fairdsl.metrics import cells_of, columns_of, group_words, key_at, key_of, keys_of, range_words
from fairdsl.metrics.cohorts import cohorts_of
from fairdsl.metrics.counts import rows_of
from fairdsl.metrics.joint import Joint
from fairdsl.numerics.cells import Cut, cells_between

F = Fraction


def test_columns_of_keys() -> None:
    assert columns_of(about("parity_gap", across=(1, 0)), people()) == (1, 0)
    assert columns_of(about("parity_gap", across=(0,), given_each=(1,)), people()) == (0, 1)
    assert columns_of(about("parity_gap", across=(0, 1), given_each=(1,)), people()) == (0, 1)
    assert columns_of(about("odds_gap", across=(0,), given_each=(1,)), people()) == (0, 1, 3)
    assert columns_of(about("predictive_gap"), people()) == (0, 3)


def test_bins_have_one_key_each() -> None:
    keys = list(keys_of(about("parity_gap", across=(1, 2)), people()))
    assert keys == [(age, wealth) for age in (18, 25, 45) for wealth in (F(-1, 2), F(1, 2))]
    for age in range(18, 91):
        [found] = [cell for cell in cells_of(people(), 1) if cell.contains(F(age))]
        assert key_at(people(), 1, F(age)) == key_of(found)
        assert found.contains(key_of(found))
    assert key_at(people(), 1, F(17)) is None
    assert key_at(people(), 2, F(1, 2)) == F(1, 2)
    assert key_at(people(), 2, F(-(10**9))) == F(-1, 2)


def test_whole_numbers_are_cut_at_the_next_whole_number() -> None:
    """From 24.5 is from 25: the bin before it ends with 24, not with 23.5."""
    age = Attribute(name="age", type=Integer(low=18, high=90), bins=(F(49, 2), F(45)))
    population = Rows(name="r", columns=(age,), sample=people().sample)
    assert [(cell.low, cell.high) for cell in cells_of(population, 0)] == [(18, 24), (25, 44), (45, 90)]
    assert [key_at(population, 0, F(value)) for value in (18, 24, 25, 44, 45, 90)] == [18, 18, 25, 25, 45, 45]
    assert range_words(0, F(18), population) == "18 .. 24"


@pytest.mark.parametrize("text", ["0.1", "0.3", "0.7", "1.1"])
def test_a_row_is_counted_in_the_group_that_its_written_number_is_in(text: str) -> None:
    """The float64 of 0.3 is less than 3/10, and that of 0.1 is greater than 1/10: rows are neither."""
    share = Attribute(name="share", type=Real(low=F(0), high=F(2)), bins=(F(text),))
    sample = Sample(
        path="r.csv",
        sha256="00" * 32,
        values=ExactRows.of_columns([Scaled.of_fractions([F(text), F("0.05"), F(text)])], 3),
    )
    question = about("acceptance_rate", across=(0,))
    rows = Rows(name="r", columns=(share,), sample=sample)
    assert {key: counted.rows for key, counted in rows_of(question, rows).items()} == {(F(0),): 1, (F(text),): 2}
    # A test of the model, `share <= 0.3`, leaves the number itself on the left.
    cells = cells_between(F(0), F(2), [Cut(F(text), after=True)], Inside.UNKNOWN, whole=False)
    law = Network(name="n", columns=(share,), cells=(cells,), factors=(), sample=sample)
    assert {key: counted.rows for key, counted in rows_of(question, law).items()} == {(F(0),): 3}


def test_a_real_without_bins_has_no_groups() -> None:
    column = Attribute(name="income", type=Real(low=F(0), high=None))
    population = Rows(name="r", columns=(column,), sample=people().sample)
    with pytest.raises(ValueError, match="without bins"):
        cells_of(population, 0)


def test_a_column_may_define_groups_and_strata() -> None:
    """Of each age, the groups are those of that age only."""
    question = about("parity_gap", across=(0, 1), given_each=(1,))
    cohorts = cohorts_of(question, Joint(favourable={}, total={}), people())
    assert len(cohorts) == 9
    assert all(dict(cohort.group)[1] == dict(cohort.stratum)[1] for cohort in cohorts)


def test_groups_in_words() -> None:
    population = people()
    assert (
        group_words(((0, F(5)), (1, F(25)), (3, F(1))), population) == "race = c and age in 25 .. 44 and repaid = true"
    )
    assert group_words(((1, F(45)), (2, F(-1, 2))), population) == "age in 45 .. 90 and wealth < 0.5"
    assert group_words(((2, F(1, 2)),), population) == "wealth >= 0.5"
    assert group_words((), population) == "everybody"
    assert range_words(0, F(5), population) is None
    assert range_words(1, F(18), population) == "18 .. 24"


def test_ranges_of_a_network_in_words() -> None:
    spaced = Attribute(name="job", type=Category(values=(CategoryValue(name="own boss", code=0),)))
    cells = (
        (Cell(low=F(18), high=F(25), open=True, inside=Inside.UNKNOWN), Cell(low=F(25), high=F(25))),
        (Cell(low=F(0), high=F(2), open=True, inside=Inside.UNKNOWN), Cell(low=F(2), high=F(3), inside=Inside.UNIFORM)),
        (Cell(low=F(0), high=F(0)),),
        (Cell(low=None, high=None, inside=Inside.UNKNOWN),),
    )
    law = Network(name="n", columns=(COLUMNS[1], COLUMNS[2], spaced, COLUMNS[2]), cells=cells, factors=())
    assert group_words(((0, F(18)), (1, F(0))), law) == "age in 18 .. 24 and wealth >= 0 and wealth < 2"
    assert group_words(((0, F(25)), (1, F(2))), law) == "age = 25 and wealth in 2 .. 3"
    assert group_words(((2, F(0)), (3, F(0))), law) == 'job = "own boss" and any wealth'
