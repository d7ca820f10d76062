"""Bounds from the tables of a law: the theorems against enumeration, and coverage in samples."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from math import comb, exp, log, sqrt
from pathlib import Path

import numpy as np
import pytest
from group_cases import about
from hypothesis import given
from hypothesis import strategies as st

import fairdsl
from fairdsl.ir.domain import Attribute, Boolean, Integer
from fairdsl.ir.exact_rows import ExactRows
from fairdsl.ir.population import Network, Sample
from fairdsl.metrics.cohorts import Cohort
from fairdsl.metrics.estimated import estimated
from fairdsl.metrics.joint import Bounds
from fairdsl.metrics.tables import share_of, tables_of
from fairdsl.numerics.cells import points
from fairdsl.populations.counts import coded, fitted

F = Fraction
MISS = F(1, 20)
#: Columns 0 .. 3: a group, and what it leads to.
CHAIN = ((), (0,), (1,), (2,))
MARRIED = ((), (0,), (0, 1), (1, 2))
COLLIDER = ((), (0,), (0,), (1, 2))


def law(rows: Sequence[Sequence[int]], parents: Sequence[Sequence[int]], *, searched: bool = False) -> Network:
    """Boolean columns with frequencies of the rows in every table."""
    values = ExactRows.of_floats(rows)
    columns = tuple(Attribute(name=f"x{place}", type=Boolean()) for place in range(len(parents)))
    cells = tuple(points((0, 1)) for _ in columns)
    return Network(
        name="law",
        columns=columns,
        cells=cells,
        factors=fitted(coded(values, cells), cells, dict(enumerate(parents))),
        searched=searched,
        sample=Sample(path="rows.csv", sha256="00" * 32, values=values),
    )


def frequencies(network: Network, at: Sequence[int], fixed: dict[int, int], read: dict[tuple[int, int], int]) -> float:
    """The law with columns fixed, by the product of its tables."""
    if any(at[column] != cell for column, cell in fixed.items()):
        return 0.0
    found = 1.0
    for factor in network.factors:
        if factor.column not in fixed:
            key = tuple(read.get((parent, factor.column), at[parent]) for parent in factor.parents)
            row = factor.rows.get(key)
            found *= 0.0 if row is None else float(row[at[factor.column]])  # type: ignore[index]
    return found


def drift(network: Network, fixed: dict[int, int], read: dict[tuple[int, int], int]) -> tuple[float, float]:
    """V and what is lost, as the module's text has them, by going through all prefixes of individuals."""
    assert network.sample is not None
    rows = network.sample.values.floats
    variance = lost = 0.0
    for factor in network.factors:
        if factor.column in fixed:
            continue
        before = factor.column
        part = Network(
            name="", columns=network.columns[:before], cells=network.cells[:before], factors=network.factors[:before]
        )
        inside = {column: cell for column, cell in fixed.items() if column < before}
        for u in product((0, 1), repeat=len(factor.parents)):
            alike = np.all([rows[:, p] == cell for p, cell in zip(factor.parents, u, strict=True)], axis=0)
            count = int(alike.sum()) if factor.parents else len(rows)
            reached = sum(
                frequencies(part, at, inside, read)
                for at in product((0, 1), repeat=before)
                if tuple(read.get((parent, before), at[parent]) for parent in factor.parents) == u
            )
            variance += reached**2 / (4 * count) if count else 0.0
            lost += 0.0 if count else reached
    return variance, lost


tables = st.lists(st.tuples(*[st.integers(0, 1)] * 4), min_size=1, max_size=400)


@given(
    tables,
    st.sampled_from([CHAIN, MARRIED, COLLIDER]),
    st.sampled_from([({}, {}), ({0: 1}, {}), ({0: 0}, {(0, 1): 1}), ({0: 1}, {(0, 1): 0, (0, 2): 0})]),
)
def test_the_bound_is_that_of_the_text(rows, parents, asked) -> None:  # type: ignore[no-untyped-def]
    fixed, read = asked
    network = law(rows * 9, parents)
    found = tables_of(network, label=False)
    assert found is not None
    variance, lost = drift(network, fixed, read)
    least = 1 / (10 * 9 * len(rows))
    off = lost + sqrt((variance + least) * (log(1 + variance / least) + 2 * log(4 / MISS)))
    assert float(found.bound(fixed, miss=MISS, events=4, read=read)) == pytest.approx(min(1.0, off), rel=1e-6)


@pytest.mark.parametrize("parents", [CHAIN, COLLIDER, ((), (0,), (0,), (0, 1, 2))])
@pytest.mark.parametrize("chance", [0.5, 0.2])
@pytest.mark.parametrize("asked", [({0: 1}, {}), ({0: 1}, {(0, 1): 0})])
def test_samples_of_a_law_miss_it_seldom(parents, chance, asked) -> None:  # type: ignore[no-untyped-def]
    """Of 60 samples of 40 rows no more than half miss an event by the bound of 50 %, and 1 of 20 by that of 95 %."""
    fixed, read = asked
    random = np.random.default_rng(5)
    chances = {
        (column, u): chance if column == 0 else random.uniform(0.05, 0.95)
        for column, of in enumerate(parents)
        for u in product((0, 1), repeat=len(of))
    }

    def true(at: tuple[int, ...]) -> float:
        found = float(at[0] == fixed[0])
        for column, of in enumerate(parents[1:], 1):
            one = chances[column, tuple(read.get((parent, column), at[parent]) for parent in of)]
            found *= one if at[column] else 1 - one
        return found

    cells = list(product((0, 1), repeat=4))
    truth = np.array([true(at) for at in cells])
    events = random.integers(0, 2, (8, len(cells)))
    bounds, off = [], []
    for _ in range(60):
        rows = np.zeros((40, 4), dtype=int)
        for column, of in enumerate(parents):
            likely = [chances[column, tuple(row[list(of)].tolist())] for row in rows]
            rows[:, column] = random.random(40) < likely
        network = law(rows.tolist(), parents)
        found = tables_of(network, label=False)
        assert found is not None
        bounds.append([float(found.bound(fixed, miss=miss, events=1, read=read)) for miss in (F(1, 2), F(1, 20))])
        off.append(np.abs(events @ (np.array([frequencies(network, at, fixed, read) for at in cells]) - truth)))
    missed = (np.array(off)[:, :, None] > np.array(bounds)[:, None, :]).mean(axis=0)
    assert np.all(missed <= (0.5, 0.05))


@pytest.mark.parametrize("chance", [0.5, 0.3, 0.1])
@pytest.mark.parametrize("event", [{1, 2}, {0, 3}, {3}])
def test_recombined_rows_are_as_good_as_independent_ones(chance: float, event: set[int]) -> None:
    """Two independent columns, all 7-row samples: the plug-in misses no more often than Hoeffding's bound says."""
    rows, truth = 7, (chance, 0.5)
    laws = [(1 - truth[0]) * (1 - truth[1]), (1 - truth[0]) * truth[1], truth[0] * (1 - truth[1]), truth[0] * truth[1]]
    right = sum(laws[number] for number in event)
    misses = dict.fromkeys((0.2, 0.3, 0.4, 0.5), 0.0)
    for k, m in product(range(rows + 1), repeat=2):
        weight = comb(rows, k) * truth[0] ** k * (1 - truth[0]) ** (rows - k) * comb(rows, m) * 0.5**rows
        a, b = k / rows, m / rows
        plug_in = sum(((1 - a) * (1 - b), (1 - a) * b, a * (1 - b), a * b)[number] for number in event)
        for off in misses:
            misses[off] += weight * (abs(plug_in - right) >= off - 1e-12)
    for off, probability in misses.items():
        assert probability <= 2 * exp(-2 * rows * off**2) + 1e-12


def test_which_laws_have_no_parents_apart() -> None:
    rows = [(0, 0, 0, 0), (1, 1, 1, 1)]
    found = {
        name: tables_of(law(rows, one), label=False)
        for name, one in (("chain", CHAIN), ("married", MARRIED), ("collider", COLLIDER))
    }
    assert found["chain"].joined((0,))
    assert found["chain"].joined(())
    assert found["married"].joined(())
    assert not found["collider"].joined((0,))
    assert found["collider"].joined((1, 2))
    assert not found["collider"].closed((1, 2))
    assert found["collider"].closed((0, 2))
    # Two columns of a group count as joined: given both, nothing else is left to chance in their law.
    of_two = tables_of(law(rows, ((), (), (0, 1), (2,))), label=False)
    assert of_two.joined((0, 1))
    assert not of_two.joined((0,))


def test_a_searched_structure_costs_all_that_it_could_have_been() -> None:
    rows = [(0, 0, 0, 0), (1, 1, 1, 1), (0, 1, 0, 1), (1, 0, 1, 0)] * 500
    written, searched = (tables_of(law(rows, COLLIDER, searched=each), label=False) for each in (False, True))
    found = [each.bound({0: 0}, miss=MISS / 3**more, events=1) for each, more in ((written, 6), (searched, 0))]
    assert float(found[0]) == pytest.approx(float(found[1]))
    assert written.bound({0: 0}, miss=MISS, events=1) < found[0]
    chains = [tables_of(law(rows, CHAIN, searched=each), label=False) for each in (False, True)]
    first, second = (float(each.bound_of_joined({0: 0}, miss=MISS, events=4)) for each in chains)
    assert first == pytest.approx(sqrt(log(8 / 0.05) / 2000), rel=1e-6)
    assert second == pytest.approx(sqrt((log(8 / 0.05) + 6 * log(3)) / 2000), rel=1e-6)


def test_shares_of_groups_and_values_that_could_have_been() -> None:
    network = law([(0, 0, 0, 0), (0, 1, 0, 0), (1, 1, 0, 0)], ((), (0,), (), ()))
    found = tables_of(network, label=False)
    assert share_of(found, {}) == 1
    assert share_of(found, {0: 0, 1: 1}) == F(1, 3)
    assert share_of(found, {0: 1, 1: 0}) is None
    assert found.possible == (2, 2, 2, 2)
    many = Attribute(name="wage", type=Integer(low=0, high=999))
    cells = (points((3, 700)),)
    sample = Sample(path="r.csv", sha256="00" * 32, values=ExactRows.of_floats([[3.0], [700.0]]))
    wage = Network(
        name="w",
        columns=(many,),
        cells=cells,
        factors=fitted(coded(sample.values, cells), cells, {0: ()}),
        sample=sample,
    )
    assert tables_of(wage, label=False).possible == (1000,)
    assert tables_of(Network(name="w", columns=(many,), cells=cells, factors=()), label=False) is None


# ---- samples of a known population -----------------------------------------------------------------

SPEC = """
domain Person {
  sex    : category { female, male }
  edu    : boolean
  age    : boolean
  income : boolean
}
protected sex
graph causes {
  sex -> edu -> income -> grant_it
  sex -> income
  age -> income
  edu -> grant_it
  age -> grant_it
}
model grant_it : Person -> { reject, grant }
  score = edu + age + income
  grant when score > 1.5
  favourable grant
distribution people over Person
  learn causes
  from "people.csv"
property paths {
  across   sex
  under    people
  allow    sex -> edu -> grant_it
  allow    sex -> edu -> income -> grant_it
  baseline sex = male
  require  path_specific_gap <= 90% with confidence 95%
}
property owed {
  across   sex
  under    people
  require  influence of age on parity_gap <= 90% with confidence 95%
}
property parity {
  across   sex
  under    people
  require  parity_gap <= 90% with confidence 95%
}
"""
EDU, AGE = {0: 0.3, 1: 0.6}, 0.4
INCOME = {key: 0.1 + 0.2 * key[0] + 0.4 * key[1] + 0.2 * key[2] for key in product((0, 1), repeat=3)}


def rate(sex: int, *, edu_of: int | None = None, age: float = AGE) -> float:
    """Pr[granted | sex], edu drawn as of another sex where that is asked, and age with another chance."""
    found = 0.0
    for edu, old, income in product((0, 1), repeat=3):
        chance = EDU[sex if edu_of is None else edu_of]
        wage = INCOME[sex, edu, old]
        law = (chance if edu else 1 - chance) * (age if old else 1 - age) * (wage if income else 1 - wage)
        found += law * (edu + old + income > 1.5)
    return found


def test_samples_of_a_known_population(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sampling intervals contain the truth in every one of ten samples, and say something."""
    monkeypatch.chdir(tmp_path)
    Path("spec.fair").write_text(SPEC, encoding="utf-8")
    paths = abs(rate(1) - rate(0, edu_of=1))
    parity = rate(1) - rate(0)
    owed = parity - (_with_uniform_age(1) - _with_uniform_age(0))
    for seed in range(10):
        random = np.random.default_rng(seed)
        count = 4000
        sex, age = random.integers(0, 2, count), random.random(count) < AGE
        edu = random.random(count) < np.array([EDU[0], EDU[1]])[sex]
        chances = np.array([INCOME[key] for key in product((0, 1), repeat=3)])
        income = random.random(count) < chances[4 * sex + 2 * edu + age]
        lines = [f"{('female', 'male')[s]},{e:d},{a:d},{i:d}" for s, e, a, i in zip(sex, edu, age, income, strict=True)]
        Path("people.csv").write_text("\n".join(["sex,edu,age,income", *lines]) + "\n", encoding="utf-8")
        report = fairdsl.check("spec.fair")
        found = {item.name: item.demands[0] for item in report.properties}
        for name, truth, width in (("paths", paths, 0.3), ("owed", owed, 1.2), ("parity", parity, 0.1)):
            groups = found[name].groups
            assert groups is not None
            assert groups.sampling is not None
            low, high = groups.sampling
            assert low <= truth <= high
            assert high - low < width
        assert "by the rows behind each table" in " ".join(found["paths"].notes)
        assert "its own rates are as surely within" in " ".join(found["parity"].notes)


def _with_uniform_age(sex: int) -> float:
    """The model reads an age of its own, which says nothing about income."""
    found = 0.0
    for edu, old, income, read in product((0, 1), repeat=4):
        wage = INCOME[sex, edu, old]
        law = (EDU[sex] if edu else 1 - EDU[sex]) * (AGE if old else 1 - AGE) * (wage if income else 1 - wage) / 2
        found += law * (edu + read + income > 1.5)
    return found


def test_nothing_is_known_where_the_rows_choose_the_baseline() -> None:
    network = law([(0, 0, 0, 0), (1, 1, 1, 1)] * 50, CHAIN)
    whole = Bounds.exactly(F(1))
    cohort = Cohort(
        group=((0, F(0)),),
        stratum=(),
        label=(),
        decision=None,
        hits=Bounds.exactly(F(1, 2)),
        whole=whole,
        misses=Bounds.exactly(F(0)),
        of_group=whole,
    )
    question = about("path_specific_gap", baseline="most_favoured", allowed=frozenset({(0, 1)}))
    assert estimated(question, [cohort], network, F(19, 20)) is None
    fixed = about("path_specific_gap", baseline=(F(1),), allowed=frozenset({(0, 1)}))
    (found,) = estimated(fixed, [cohort], network, F(19, 20)) or ()
    assert found.low < F(1, 2) < found.high
