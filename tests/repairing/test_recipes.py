"""The rows that recipes add, against plain loops."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdsl.ir.domain import Attribute, Boolean, Category, CategoryValue, Domain, Integer
from fairdsl.ir.exact_rows import ExactRows
from fairdsl.ir.expr import TRUE
from fairdsl.ir.question import Differ, Pair
from fairdsl.numerics.narrow import narrow
from fairdsl.repairing.estimators import factory_of
from fairdsl.repairing.groups import MOST, nearest_outcomes, others, protected_values
from fairdsl.repairing.recipes import RECIPES, Floats, Situation
from fairdsl.repairing.subject import Rows, Subject, subject_of
from fairdsl.repairing.training import Addition, Training
from fairdsl.semantics import front_end
from tests.repairing.learners import SPEC, linear, people, write_case

WHERE = SPEC.replace("debt : integer 0 .. 9\n", "debt : integer 0 .. 9\n  where sex or debt <= 8\n")


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Subject:
    monkeypatch.chdir(tmp_path)
    rows = people(200)
    rows[rows[:, 0] == 0, 2] = np.minimum(rows[rows[:, 0] == 0, 2], 8)
    write_case(tmp_path, rows, WHERE)
    return subject_of(front_end("spec.fair")[0], "spec.fair", None)


def situation(asked: Subject, found: Floats | None = None, *, round: int = 1, wanted: int = 20) -> Situation:  # noqa: A002
    rows, _ = asked.rows("people.csv")
    pairs = np.empty((0, 3)) if found is None else found
    flipped = pairs.copy()
    flipped[:, 0] = 1 - flipped[:, 0]
    return Situation(
        subject=asked,
        factory=factory_of(linear),
        training=Training(rows),
        search=lambda count: (pairs[:count], flipped[:count]),
        round=round,
        wanted=wanted,
        tried=frozenset(),
        rng=np.random.default_rng(5),
    )


def added(training: Training | None) -> Rows:
    assert training is not None
    (addition,) = training.additions
    return addition.rows


FOUND = np.array([[0, 9, 3], [1, 12, 4], [0, 15, 8], [0, 2, 2], [1, 10, 9]], dtype=np.float64)


def test_flipped_copies_are_the_rows_with_the_other_sex_where_such_people_exist(asked: Subject) -> None:
    now = situation(asked)
    copies = added(RECIPES["flipped-copies"]["flipped-copies"](now))
    expected = [
        (1 - sex, age, debt, label)
        for (sex, age, debt), label in zip(now.original.values.points(), now.original.outcomes.tolist(), strict=True)
        if sex == 0 or debt <= 8
    ]
    assert len(expected) < len(now.original)
    got = [(*values, label) for values, label in zip(copies.values.points(), copies.outcomes.tolist(), strict=True)]
    assert got == expected


def test_flipped_copies_are_made_once(asked: Subject) -> None:
    now = situation(asked)
    recipe = RECIPES["flipped-copies"]["flipped-copies"]
    training = recipe(now)
    assert training is not None
    values = {name: getattr(now, name) for name in Situation.__slots__}
    assert recipe(Situation(**(values | {"training": training}))) is None
    assert recipe(Situation(**(values | {"tried": frozenset({"flipped-copies"})}))) is None


@pytest.mark.parametrize("name", ["pairs", "pairs-training-rule"])
def test_groups_have_all_protected_values_and_one_label(asked: Subject, name: str) -> None:
    rows = added(RECIPES[name][name](situation(asked, FOUND)))
    groups: dict[tuple[float, float], dict[float, int]] = {}
    for (sex, age, debt), label in zip(rows.values.points(), rows.outcomes.tolist(), strict=True):
        groups.setdefault((age, debt), {})[sex] = label
    assert set(groups) == {(age, debt) for _, age, debt in FOUND.tolist()}
    for (_, debt), members in groups.items():
        assert set(members) == ({0.0, 1.0} if debt <= 8 else {1.0})
        assert len(set(members.values())) == 1


def test_the_vote_is_that_of_most(asked: Subject) -> None:
    """Whoever every estimator grants is granted, and the reverse."""
    sure = np.array([[0, 19, 0], [1, 0, 8]], dtype=np.float64)
    rows = added(RECIPES["pairs"]["pairs"](situation(asked, sure)))
    assert {(values[1], label) for values, label in zip(rows.values.points(), rows.outcomes.tolist(), strict=True)} == {
        (19.0, 1),
        (0.0, 0),
    }


def test_no_more_is_added_than_wanted(asked: Subject) -> None:
    rows = added(RECIPES["pairs-training-rule"]["pairs-training-rule"](situation(asked, FOUND, wanted=6)))
    assert len({tuple(values[1:]) for values in rows.values.floats.tolist()}) == 3


def test_published_adds_one_of_each_two_with_the_unfavourable_label(asked: Subject) -> None:
    many = np.array([[0, age, debt] for age, debt in product(range(20), range(9))], dtype=np.float64)
    for number in (1, 2, 3, 4):
        rows = added(RECIPES["published"]["published"](situation(asked, many, round=number)))
        # Between 2^(i-1) and 2^i per cent of 200 rows.
        assert 2**number - 1 <= len(rows) <= 2 ** (number + 1)
        assert set(rows.outcomes.tolist()) == {0}
        assert {tuple(row) for row in rows.values.floats.tolist()} <= {tuple(row) for row in many.tolist()}
        assert set(rows.values.floats[:, 0].tolist()) == {0.0}


def test_published_starts_from_the_table_again(asked: Subject) -> None:
    now = situation(asked, FOUND, round=4)
    before = now.training.extended(Addition("pairs", 1, now.original.at(np.array([0, 1]))))
    values = {name: getattr(now, name) for name in Situation.__slots__} | {"training": before}
    training = RECIPES["published"]["published"](Situation(**values))
    assert training is not None
    assert [addition.recipe for addition in training.additions] == ["published"]


@pytest.mark.parametrize("name", ["pairs", "pairs-training-rule", "published"])
def test_nothing_found_adds_nothing(asked: Subject, name: str) -> None:
    assert RECIPES[name][name](situation(asked)) is None


DOMAIN = Domain(
    name="D",
    attributes=(
        Attribute(name="sex", type=Boolean()),
        Attribute(name="age", type=Integer(low=0, high=9)),
        Attribute(
            name="kind", type=Category(values=tuple(CategoryValue(name=n, code=c) for n, c in (("x", 0), ("y", 7))))
        ),
    ),
    where=TRUE,
)
BY_SEX = Pair(differ=(0,), mode=Differ.ANY)
POINT = st.tuples(st.integers(0, 1), st.integers(0, 9), st.sampled_from([0, 7]))


@given(st.lists(POINT, min_size=1, max_size=5), st.lists(st.tuples(POINT, st.integers(0, 2)), min_size=1, max_size=8))
def test_the_nearest_row_by_definition(points: list[tuple[int, ...]], table: list[tuple[tuple[int, ...], int]]) -> None:
    rows = Rows(ExactRows.of_floats([row for row, _ in table]), np.array([label for _, label in table]))
    ages = [row[1] for row, _ in table]
    length = max(ages) - min(ages)

    def distance(a: tuple[int, ...], b: tuple[int, ...]) -> float:
        years = abs(a[1] - b[1])
        return (years / length if length else float(years > 0)) + (a[2] != b[2])

    expected = [
        table[min(range(len(table)), key=lambda place: distance(point, table[place][0]))][1] for point in points
    ]
    assert nearest_outcomes(DOMAIN, BY_SEX, ExactRows.of_floats(points), rows).tolist() == expected


@given(st.lists(POINT, min_size=1, max_size=5), st.sampled_from([(0,), (2,), (0, 2), (0, 1, 2)]))
def test_groups_by_definition(points: list[tuple[int, ...]], differ: tuple[int, ...]) -> None:
    pair = Pair(differ=differ, mode=Differ.ANY)
    protected = protected_values(pair, narrow(DOMAIN), np.random.default_rng(0))
    assert protected.complete
    groups = others(ExactRows.of_floats(points), pair, protected.values, TRUE)
    values = [(0, 1), tuple(range(10)), (0, 7)]
    for place, point in enumerate(points):
        choices = [values[index] if index in differ else (point[index],) for index in range(3)]
        got = groups.values.floats[groups.owners == place].tolist()
        assert sorted(map(tuple, got)) == sorted(map(tuple, product(*choices)))


def test_a_large_group_is_a_sample_that_holds_the_pair() -> None:
    wide = Domain(name="W", attributes=(Attribute(name="age", type=Integer(low=0, high=9999)),), where=TRUE)
    protected = protected_values(Pair(differ=(0,), mode=Differ.ANY), narrow(wide), np.random.default_rng(0))
    assert not protected.complete
    assert 1 < len(protected.values) <= MOST
