"""Structures found by search: scores by hand, planted networks, and choices that are kept."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, product
from math import factorial, lgamma, log
from pathlib import Path

import numpy as np
import pytest
from declared import built, finding, joint, network
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdsl.populations.climb import Choices, climb
from fairdsl.populations.counts import CodeArray
from fairdsl.populations.order import circle_of, in_order
from fairdsl.populations.scores import FamilyScore
from tests.drawing import examples

#: Column 1 has three cells, of which column 0 = 0 has rows in two.
CODES = np.array([[0, 0], [0, 0], [0, 2], [1, 1], [1, 2]], dtype=np.intp)


def test_scores_by_hand() -> None:
    """Rows of column 1: 2, 0, 1 where column 0 is 0, and 0, 1, 1 where it is 1; r = 3, q = 2."""
    nothing, parent = frozenset[int](), frozenset({0})
    k2 = FamilyScore(CODES, "k2", 10.0)
    # (r - 1)! / (N + r - 1)! times the product of the factorials.
    assert k2(1, nothing) == pytest.approx(log(factorial(2) / factorial(7) * 2 * 1 * 2))
    assert k2(1, parent) == pytest.approx(log(factorial(2) / factorial(5) * 2) + log(factorial(2) / factorial(4)))
    bic = FamilyScore(CODES, "bic", 10.0)
    assert bic(1, nothing) == pytest.approx(2 * log(2 / 5) + log(1 / 5) + 2 * log(2 / 5) - log(5) / 2 * 2)
    assert bic(1, parent) == pytest.approx(2 * log(2 / 3) + log(1 / 3) + 2 * log(1 / 2) - log(5) / 2 * 4)
    bdeu = FamilyScore(CODES, "bdeu", 6.0)
    # A weight of 3 for each value of the parent, 1 for each cell.
    by_hand = 2 * lgamma(3) - lgamma(6) - lgamma(5) + lgamma(3) + lgamma(2) + 2 * lgamma(2) - 5 * lgamma(1)
    assert bdeu(1, parent) == pytest.approx(by_hand)


def naive(codes: CodeArray, score: str, column: int, parents: list[int], weight: float) -> float:
    """The formulas of the module, term by term over all combinations."""
    cells = sorted(set(codes[:, column].tolist()))
    options = [sorted(set(codes[:, parent].tolist())) for parent in parents]
    q, r, total = float(np.prod([len(o) for o in options])), len(cells), 0.0
    for key in product(*options):
        rows = [row for row in codes.tolist() if all(row[p] == k for p, k in zip(parents, key, strict=True))]
        counts = [sum(row[column] == cell for row in rows) for cell in cells]
        match score:
            case "k2":
                total += lgamma(r) - lgamma(len(rows) + r) + sum(lgamma(n + 1) for n in counts)
            case "bdeu":
                total += lgamma(weight / q) - lgamma(len(rows) + weight / q)
                total += sum(lgamma(n + weight / (q * r)) - lgamma(weight / (q * r)) for n in counts)
            case _:
                total += sum(n * log(n / len(rows)) for n in counts if n)
    return total - (log(len(codes)) / 2 * q * (r - 1) if score == "bic" else 0.0)


@settings(max_examples=examples(0.7), deadline=None)
@given(
    rows=st.lists(st.tuples(*[st.sampled_from([0, 2, 5])] * 4), min_size=1, max_size=15),
    score=st.sampled_from(["k2", "bic", "bdeu"]),
    parents=st.sets(st.integers(1, 3)),
)
def test_scores_term_by_term(rows: list[tuple[int, ...]], score: str, parents: set[int]) -> None:
    codes = np.array(rows, dtype=np.intp)
    by_terms = naive(codes, score, 0, sorted(parents), 7.0)
    assert FamilyScore(codes, score, 7.0)(0, frozenset(parents)) == pytest.approx(by_terms, abs=1e-9)


def sampled(columns: int, rows: int, seed: int) -> CodeArray:
    """Columns that each copy the one before, or for the third the first two's sum, with noise."""
    rng = np.random.default_rng(seed)
    codes = np.zeros((rows, columns), dtype=np.intp)
    codes[:, 0] = rng.integers(0, 2, rows)
    codes[:, 1] = rng.integers(0, 2, rows)
    for column in range(2, columns):
        source = codes[:, 0] + codes[:, 1] if column == 2 else codes[:, column - 1]
        codes[:, column] = np.where(rng.random(rows) < 0.9, source, rng.integers(0, 3, rows))
    return codes


def skeleton(structure: tuple[frozenset[int], ...]) -> set[frozenset[int]]:
    return {frozenset((parent, child)) for child, parents in enumerate(structure) for parent in parents}


@pytest.mark.parametrize("score", ["k2", "bic", "bdeu"])
def test_a_planted_structure_is_found(score: str) -> None:
    codes = sampled(5, 3000, seed=2)
    structure = climb(5, FamilyScore(codes, score, 10.0), Choices())
    assert skeleton(structure) == {frozenset(edge) for edge in ((0, 2), (1, 2), (2, 3), (3, 4))}
    # Two causes of one effect are the only edges whose direction the rows tell.
    assert structure[2] >= {0, 1}


def every_structure(columns: int, most: int | None, protected: frozenset[int]) -> list[tuple[frozenset[int], ...]]:
    """All directed graphs without circles that the choices allow."""
    subsets = [
        [
            frozenset(i for i in range(columns) if i != child and bits >> i & 1)
            for bits in range(2**columns)
            if not bits >> child & 1
        ]
        for child in range(columns)
    ]
    return [
        structure
        for structure in product(*subsets)
        if circle_of(dict(enumerate(structure))) is None
        and all(most is None or len(parents) <= most for parents in structure)
        and all(parents <= protected for child, parents in enumerate(structure) if child in protected)
    ]


@pytest.mark.parametrize(("most", "protected"), [(None, ()), (1, ()), (2, (2,)), (None, (0, 2))])
def test_no_structure_of_four_columns_is_better(most: int | None, protected: tuple[int, ...]) -> None:
    choices = Choices(max_parents=most, protected=frozenset(protected))
    structures = every_structure(4, most, frozenset(protected))
    assert most is not None or protected or len(structures) == 543
    for seed in range(3):
        score = FamilyScore(sampled(4, 60, seed), "k2", 10.0)
        totals = {s: sum(score(c, parents) for c, parents in enumerate(s)) for s in structures}
        assert totals[climb(4, score, choices)] == pytest.approx(max(totals.values()))


def test_a_search_repeats_itself() -> None:
    codes = sampled(6, 80, seed=5)
    found = [climb(6, FamilyScore(codes, "bdeu", 10.0), Choices(seed=seed)) for seed in (0, 0, 1, 1)]
    assert found[0] == found[1]
    assert found[2] == found[3]


@given(edges=st.sets(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=8))
def test_orders_and_circles(edges: set[tuple[int, int]]) -> None:
    parents = {child: sorted(p for p, c in edges if c == child) for child in range(5)}
    circle = circle_of(parents)
    # By repeated removal of whoever waits for nobody.
    left = set(range(5))
    while free := {node for node in left if not set(parents[node]) & left}:
        left -= free
    assert (circle is None) == (not left)
    if circle is None:
        order = in_order(parents)
        assert sorted(order) == list(range(5))
        assert all(order.index(parent) < order.index(child) for parent, child in edges)
    else:
        assert circle[0] == circle[-1]
        assert len(circle) > 1
        assert all(edge in edges for edge in pairwise(circle))


# ---- in specs ------------------------------------------------------------------------------------

PERSON = """\
domain Person {
  sex  : category { female, male }
  area : category { north, south }
  job  : category { clerk, nurse, cook }
  pay  : integer 0 .. 2
}
protected sex
distribution law over Person
  learn bayesian_network
  from "people.csv"
"""


def write(folder: Path) -> None:
    codes = sampled(4, 400, seed=3)
    names = ("female", "male"), ("north", "south"), ("clerk", "nurse", "cook"), ("0", "1", "2")
    lines = [",".join(of_column[code] for of_column, code in zip(names, row, strict=True)) for row in codes.tolist()]
    (folder / "people.csv").write_text("\n".join(("sex,area,job,pay", *lines)) + "\n")


def test_a_learned_network_says_by_which_choices(tmp_path: Path) -> None:
    write(tmp_path)
    law = network(PERSON + "  set score = bdeu\n  set max_parents = 1\n  set seed = 7\n", tmp_path)
    assert not law.causal
    assert dict(law.settings) == {
        "search": "hill_climbing",
        "restarts": "10",
        "seed": "7",
        "score": "bdeu",
        "equivalent_sample_size": "10",
        "max_parents": "1",
        "protected_roots": "no",
    }
    assert all(len(factor.parents) <= 1 for factor in law.factors)
    assert sum(joint(law).values()) == 1
    assert dict(network(PERSON, tmp_path).settings)["score"] == "bic"


def test_protected_attributes_stay_roots(tmp_path: Path) -> None:
    write(tmp_path)
    for seed in range(3):
        law = network(PERSON + f"  set protected_roots = yes\n  set seed = {seed}\n", tmp_path)
        assert law.factor_of(0).parents == ()
        assert (0, 2) in law.edges


def test_an_unknown_search(tmp_path: Path) -> None:
    write(tmp_path)
    assert finding(PERSON + "  set search = hill_climb\n", tmp_path) == ("E0573", "law")
    _, (only,) = built(PERSON + "  set search = hill_climb\n", tmp_path)
    assert "hill_climbing" in only.help


def test_frequencies_of_a_learned_network(tmp_path: Path) -> None:
    """The marginal law of a column with its parents is that of the rows."""
    write(tmp_path)
    law = network(PERSON, tmp_path)
    codes = sampled(4, 400, seed=3).tolist()
    for factor in law.factors:
        for key, row in factor.rows.items():
            alike = [c for c in codes if all(c[p] == k for p, k in zip(factor.parents, key, strict=True))]
            assert row == tuple(
                Fraction(sum(c[factor.column] == cell for c in alike), len(alike)) for cell in range(len(row))
            )
