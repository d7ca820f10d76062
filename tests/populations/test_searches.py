"""Searches by name: directions for edges that have none, against all directions; and what pgmpy says of laws."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from fractions import Fraction
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest
from declared import built, joint, network
from hypothesis import given
from hypothesis import strategies as st

from fairdsl.ir.population import Network
from fairdsl.populations.climb import Choices, climb
from fairdsl.populations.order import circle_of
from fairdsl.populations.scores import FamilyScore
from fairdsl.populations.searches import NoStructureError, Structure, extended

Pair = tuple[int, int]
PAIRS = list(combinations(range(4), 2))


def apart(structure: Structure) -> set[tuple[Pair, int]]:
    """Parents of one column without an edge between them."""
    edges = {frozenset((parent, child)) for child, parents in enumerate(structure) for parent in parents}
    return {
        (pair, child)
        for child, parents in enumerate(structure)
        for pair in combinations(sorted(parents), 2)
        if frozenset(pair) not in edges
    }


def directions(directed: Iterable[Pair], undirected: list[Pair]) -> list[Structure]:
    """All structures without circles that keep the directed edges and make no new pair of parents apart."""
    fixed = list(directed)
    found = []
    start = tuple(frozenset(a for a, b in fixed if b == child) for child in range(4))
    drawn = {frozenset(edge) for edge in [*fixed, *undirected]}
    given_apart = {(pair, child) for pair, child in apart(start) if frozenset(pair) not in drawn}
    for flips in product((False, True), repeat=len(undirected)):
        edges = fixed + [(b, a) if flip else (a, b) for (a, b), flip in zip(undirected, flips, strict=True)]
        structure = tuple(frozenset(a for a, b in edges if b == child) for child in range(4))
        if circle_of(dict(enumerate(map(sorted, structure)))) is None and apart(structure) == given_apart:
            found.append(structure)
    return found


@given(st.lists(st.sampled_from(["none", "forth", "back", "open", "open"]), min_size=6, max_size=6))
def test_directions_of_a_class(kinds: list[str]) -> None:
    """Whatever is directed is one of all possible directions; where there is one, one is found."""
    directed = [
        pair if kind == "forth" else pair[::-1]
        for pair, kind in zip(PAIRS, kinds, strict=True)
        if kind in ("forth", "back")
    ]
    undirected = [pair for pair, kind in zip(PAIRS, kinds, strict=True) if kind == "open"]
    possible = directions(directed, undirected)
    try:
        found = extended(4, directed, undirected)
    except NoStructureError:
        assert possible == []
    else:
        assert found in possible


def test_a_ring_has_no_directions() -> None:
    """Of four columns in a ring some parents are always apart: tests that say so contradict each other."""
    with pytest.raises(NoStructureError, match="without a direction"):
        extended(4, [], [(0, 1), (1, 2), (2, 3), (3, 0)])
    assert extended(3, [(0, 2), (1, 2)], []) == (frozenset(), frozenset(), frozenset({0, 1}))


# ---- in specs ------------------------------------------------------------------------------------

PERSON = "domain Person {\n  a : boolean\n  b : boolean\n  c : boolean\n  d : integer 0 .. 2\n  e : boolean\n}\n"


def learned(search: str, *settings: str) -> str:
    lines = [f"set search = {search}", *(f"set {setting}" for setting in settings)]
    return (
        PERSON + 'distribution law over Person\n  learn bayesian_network\n  from "people.csv"\n  ' + "\n  ".join(lines)
    )


def people(folder: Path, rows: int = 3000) -> None:
    """a -> b -> d <- c, and e is always false."""
    random = np.random.default_rng(5)
    a, c = random.integers(0, 2, rows), random.integers(0, 2, rows)
    b = np.where(random.random(rows) < 0.85, a, 1 - a)
    d = np.where(random.random(rows) < 0.8, b + c, random.integers(0, 3, rows))
    lines = [f"{one},{two},{three},{four},no" for one, two, three, four in zip(a, b, c, d, strict=True)]
    (folder / "people.csv").write_text("\n".join(["a,b,c,d,e", *lines]) + "\n", encoding="utf-8")


@pytest.mark.parametrize(
    ("search", "setting"),
    [
        ("pc", "score = k2"),
        ("pc", "max_parents = 2"),
        ("ges", "max_parents = 2"),
        ("hill_climb_search", "seed = 1"),
        ("ges", "protected_roots = yes"),
    ],
)
def test_a_setting_that_is_not_read_is_an_error(search: str, setting: str, tmp_path: Path) -> None:
    people(tmp_path, 10)
    _, (finding,) = built(learned(search, setting) + "\n", tmp_path)
    assert finding.code == "E0576"
    assert finding.primary is not None
    assert finding.primary.text == f"it does not read `set {setting.split()[0]}`"


def test_without_the_extra_it_is_said_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    people(tmp_path, 10)
    monkeypatch.setitem(sys.modules, "pandas", None)
    monkeypatch.setitem(sys.modules, "pgmpy.causal_discovery", None)
    _, (finding,) = built(learned("pc") + "\n", tmp_path)
    assert (finding.code, "fairdsl[pgmpy]" in (finding.help or "")) == ("E0576", True)


@pytest.mark.parametrize(
    ("search", "settings"),
    [("pc", ()), ("ges", ()), ("ges", ("score = bdeu",)), ("hill_climb_search", ("score = k2", "max_parents = 3"))],
)
def test_searches_of_pgmpy(search: str, settings: tuple[str, ...], tmp_path: Path) -> None:
    pytest.importorskip("pgmpy")
    people(tmp_path)
    law = network(learned(search, *settings) + "\n", tmp_path)
    found = {frozenset(edge) for edge in law.edges}
    assert found == {frozenset((0, 1)), frozenset((1, 3)), frozenset((2, 3))}
    assert {(1, 3), (2, 3)} <= law.edges
    assert law.searched
    assert not law.causal
    assert ("search", search) in law.settings
    assert network(learned(search, *settings) + "\n", tmp_path).edges == law.edges


# ---- pgmpy as a second opinion -------------------------------------------------------------------


def theirs(law: Network) -> object:
    """The same network in pgmpy."""
    from pgmpy.factors.discrete import TabularCPD
    from pgmpy.models import DiscreteBayesianNetwork

    model = DiscreteBayesianNetwork()
    model.add_nodes_from([f"x{place}" for place in range(len(law.columns))])
    model.add_edges_from([(f"x{parent}", f"x{child}") for parent, child in law.edges])
    for factor in law.factors:
        sizes = [len(law.cells[parent]) for parent in factor.parents]
        own = len(law.cells[factor.column])
        # Combinations without a row have probability 0: what stands in their place is never reached.
        columns = [factor.rows.get(key, (Fraction(1, own),) * own) for key in product(*map(range, sizes))]
        values = np.array([[float(p) for p in column] for column in columns]).T  # type: ignore[union-attr]
        names = [f"x{parent}" for parent in factor.parents]
        model.add_cpds(
            TabularCPD(f"x{factor.column}", own, values, evidence=names or None, evidence_card=sizes or None)
        )
    assert model.check_model()
    return model


@pytest.mark.parametrize("seed", range(4))
def test_probabilities_are_those_of_variable_elimination(seed: int, tmp_path: Path) -> None:
    pytest.importorskip("pgmpy")
    from pgmpy.inference import VariableElimination

    random = np.random.default_rng(seed)
    rows = random.integers(0, [2, 2, 2, 3, 2], (200, 5))
    rows[:, 1] = np.where(random.random(200) < 0.7, rows[:, 0], rows[:, 1])
    lines = [",".join(map(str, row)) for row in rows.tolist()]
    (tmp_path / "people.csv").write_text("\n".join(["a,b,c,d,e", *lines]) + "\n", encoding="utf-8")
    # A score that charges nothing finds many edges.
    law = network(learned("hill_climbing", "score = k2", f"seed = {seed}", "max_parents = 3") + "\n", tmp_path)
    assert law.edges
    ours, eliminate = joint(law), VariableElimination(theirs(law))
    for kept in combinations(range(5), 2):
        table = eliminate.query([f"x{place}" for place in kept], show_progress=False)
        for cells in product(*(range(len(law.cells[place])) for place in kept)):
            mine = sum(p for at, p in ours.items() if all(at[k] == c for k, c in zip(kept, cells, strict=True)))
            assert table.get_value(**{f"x{k}": c for k, c in zip(kept, cells, strict=True)}) == pytest.approx(
                float(mine), abs=1e-9
            )


@pytest.mark.parametrize("score", ["bic", "k2", "bdeu"])
@pytest.mark.parametrize("seed", range(3))
def test_our_search_scores_no_worse_than_theirs(seed: int, score: str) -> None:
    pytest.importorskip("pgmpy")
    from fairdsl.populations.searches import SEARCHES

    random = np.random.default_rng(seed)
    codes = random.integers(0, [2, 3, 2, 3, 2, 2], (400, 6)).astype(np.intp)
    for child in range(1, 6):
        parent = int(random.integers(0, child))
        codes[:, child] = np.where(random.random(400) < 0.6, codes[:, parent] % 2, codes[:, child])
    of = FamilyScore(codes, score, 10.0)

    def total(structure: Structure) -> float:
        return sum(of(column, parents) for column, parents in enumerate(structure))

    settings: dict[str, Fraction | str] = {"score": score, "equivalent_sample_size": Fraction(10)}
    ours = total(climb(6, of, Choices()))
    for name in ("hill_climb_search", "ges"):
        assert ours >= total(SEARCHES[name].structure(codes, settings)) - 1e-6
