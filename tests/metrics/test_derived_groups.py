"""Derived attributes make groups by what follows from everybody's attributes and score: each is counted once more."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fairdsl
from fairdsl.diagnostics import DiagnosticError

F = Fraction
Person = tuple[int, int, int]  # sex, x, y
DOMAIN = """\
domain D {{
  sex : category {{ f, m }}
  x   : integer 0 .. 4
  y   : integer 0 .. 3
  derived k = {condition}
  derived s = bins of {sum} at {edges}
  derived b = bins of score at {edges}
}}

protected sex, x, y

model M : D -> {{ no, yes }}
  score = {score}
  yes when score > 2
  favourable yes

"""
CONDITIONS: dict[str, Callable[[Person], bool]] = {
    "x >= 2": lambda one: one[1] >= 2,
    "sex = f or y = 0": lambda one: one[0] == 0 or one[2] == 0,
    "x > y and not sex = m": lambda one: one[1] > one[2] and one[0] == 0,
}
SUMS: dict[str, Callable[[Person], int]] = {
    "x": lambda one: one[1],
    "2 * x - y": lambda one: 2 * one[1] - one[2],
    "x + y + 1": lambda one: one[1] + one[2] + 1,
}
SCORES: dict[str, Callable[[Person], int]] = {
    "x + y": lambda one: one[1] + one[2],
    "2 * y - x + 2 * (sex = f)": lambda one: 2 * one[2] - one[1] + 2 * (one[0] == 0),
}
EVERYBODY = list(product((0, 1), range(5), range(4)))


@dataclass(frozen=True)
class Drawn:
    """A spec's pieces: the law in its words, and the weight of everybody under it."""

    condition: str
    sum: str
    score: str
    edges: tuple[int, int]
    law: str
    weights: dict[Person, Fraction]
    rows: str = ""

    @property
    def head(self) -> str:
        edges = ", ".join(map(str, self.edges))
        return DOMAIN.format(condition=self.condition, sum=self.sum, score=self.score, edges=edges) + self.law

    def granted(self, one: Person) -> bool:
        return SCORES[self.score](one) > 2

    def value(self, name: str, one: Person) -> int:
        if name == "k":
            return CONDITIONS[self.condition](one)
        number = SUMS[self.sum](one) if name == "s" else SCORES[self.score](one)
        return sum(number >= edge for edge in self.edges)

    def rates(self, names: Sequence[str]) -> dict[tuple[int, ...], Fraction]:
        granted: dict[tuple[int, ...], Fraction] = defaultdict(Fraction)
        everybody: dict[tuple[int, ...], Fraction] = defaultdict(Fraction)
        for one, weight in self.weights.items():
            group = tuple(self.value(name, one) for name in names)
            everybody[group] += weight
            granted[group] += weight * self.granted(one)
        return {group: granted[group] / whole for group, whole in everybody.items() if whole}


@st.composite
def specs(draw: st.DrawFn) -> Drawn:
    kind = draw(st.sampled_from(("uniform", "by hand", "rows")))
    rows = ""
    if kind == "rows":
        drawn = draw(st.lists(st.sampled_from(EVERYBODY), min_size=5, max_size=30))
        weights: dict[Person, Fraction] = defaultdict(Fraction)
        for one in drawn:
            weights[one] += F(1, len(drawn))
        rows = "sex,x,y\n" + "".join(f"{'fm'[one[0]]},{one[1]},{one[2]}\n" for one in drawn)
        law = 'distribution people over D\n  empirical from "rows.csv"\n\n'
    elif kind == "uniform":
        weights = {one: F(1, len(EVERYBODY)) for one in EVERYBODY}
        law = "distribution people over D\n  uniform\n\n"
    else:
        p, q = (F(draw(st.integers(1, 9)), 10) for _ in range(2))
        law = (
            f"distribution people over D\n  sex : table {{ f : {float(p)}, m : {float(1 - p)} }}\n"
            f"  x : uniform(0, 4)\n  y : table {{ 0 : {float(q)}, 3 : {float(1 - q)} }} given sex = f\n"
            f"  y : uniform(1, 2) given sex = m\n\n"
        )
        of_y = {0: {0: q, 3: 1 - q}, 1: {1: F(1, 2), 2: F(1, 2)}}
        weights = {(sex, x, y): (1 - p if sex else p) * F(1, 5) * of_y[sex].get(y, F(0)) for sex, x, y in EVERYBODY}
    edges = draw(st.sampled_from(((2, 3), (2, 4))))
    condition, total, score = (draw(st.sampled_from(sorted(of))) for of in (CONDITIONS, SUMS, SCORES))
    return Drawn(condition, total, score, edges, law, dict(weights), rows)


def demands(text: str, rows: str, folder: Path) -> Iterator[Any]:
    folder.mkdir(exist_ok=True)
    (folder / "rows.csv").write_text(rows, encoding="utf-8")
    path = folder / "spec.fair"
    path.write_text(text, encoding="utf-8")
    for each in fairdsl.check(path, seed=0).properties:
        yield from each.demands


@settings(max_examples=25, deadline=None)
@given(specs(), st.sampled_from((("k",), ("s",), ("k", "s"))))
def test_groups_of_derived_attributes(tmp_path_factory: pytest.TempPathFactory, drawn: Drawn, names: Any) -> None:
    text = drawn.head + (
        f"property p {{\n  across {', '.join(names)}\n  under people\n"
        "  excluding groups of probability 0\n  measure rate(yes)\n}\n"
    )
    (demand,) = demands(text, drawn.rows, tmp_path_factory.mktemp("derived"))
    found = sorted(rate.low for rate in demand.verdict.rates)
    assert found == sorted(drawn.rates(names).values())
    assert all(rate.low == rate.high for rate in demand.verdict.rates)


@settings(max_examples=15, deadline=None)
@given(specs())
def test_bins_of_the_score_are_strata(tmp_path_factory: pytest.TempPathFactory, drawn: Drawn) -> None:
    text = drawn.head + (
        "property p {\n  across k\n  under people\n  for each b\n"
        "  excluding groups of probability 0\n  measure rate(yes)\n}\n"
    )
    (demand,) = demands(text, drawn.rows, tmp_path_factory.mktemp("derived"))
    assert sorted(rate.low for rate in demand.verdict.rates) == sorted(drawn.rates(("k", "b")).values())


@settings(max_examples=10, deadline=None)
@given(specs())
def test_in_a_condition_the_name_is_what_it_stands_for(tmp_path_factory: pytest.TempPathFactory, drawn: Drawn) -> None:
    low, high = drawn.edges
    body = (
        "property p {{\n  across sex\n  under people\n  among {given}\n"
        "  excluding groups of probability 0\n  measure rate(yes given {also})\n}}\n"
    )
    named = body.format(given=f"k = yes or s >= {low}", also=f"not k or s in {{ {low} .. {high} }}")
    meant = body.format(
        given=f"({drawn.condition}) or {drawn.sum} >= {low}",
        also=f"not ({drawn.condition}) or {drawn.sum} in {{ {low} .. {high} }}",
    )
    folder = tmp_path_factory.mktemp("derived")
    (first,), (second,) = (tuple(demands(drawn.head + text, drawn.rows, folder)) for text in (named, meant))
    assert first.verdict.rates == second.verdict.rates
    assert first.value == second.value


WIDE = """\
domain D {
  sex    : category { f, m }
  income : real 0 .. 100
  age    : integer 0 .. 999
  derived rich = income >= 30
  derived some = income + age >= 30
  derived band = bins of score at 20, 50
}

protected sex, income, age

model M : D -> { no, yes }
  score = income
  yes when score > 60
  favourable yes

distribution people over D
  uniform

property p {
  across %s
  under people
  measure rate(yes)
}
"""


def test_uniform_ranges_are_cut_where_the_derived_attribute_changes(tmp_path: Path) -> None:
    (demand,) = demands(WIDE % "rich", "", tmp_path)
    assert [(rate.low, rate.high) for rate in demand.verdict.rates] == [(0, 0), (F(4, 7), F(4, 7))]


@pytest.mark.parametrize("name", ["some", "band"])
def test_of_what_a_law_does_not_decide_nothing_is_guessed(tmp_path: Path, name: str) -> None:
    text = (WIDE % name).replace("protected sex", f"protected {name}, sex")
    with pytest.raises(DiagnosticError) as caught:
        tuple(demands(text, "", tmp_path))
    assert [finding.code for finding in caught.value.diagnostics] == ["E0570"]


def test_quantiles_of_the_score_are_those_of_the_rows(tmp_path: Path) -> None:
    rows = "sex,x,y\n" + "".join(f"{'fm'[n % 2]},{n % 5},{n % 4}\n" for n in range(40))
    drawn = Drawn("x >= 2", "x", "x + y", (1, 3), 'distribution people over D\n  empirical from "rows.csv"\n\n', {})
    head = drawn.head.replace("bins of score at 1, 3", "bins of score by quantiles 4")
    text = head + "property p {\n  across sex\n  under people\n  for each b\n  measure rate(yes)\n}\n"
    (demand,) = demands(text, rows, tmp_path)
    scores = sorted(n % 5 + n % 4 for n in range(40))
    edges = [scores[10], scores[20], scores[30]]
    sizes = defaultdict(int)
    for n in range(40):
        sizes[sum(n % 5 + n % 4 >= edge for edge in edges), n % 2] += 1
    assert sorted(rate.rows for rate in demand.verdict.rates) == sorted(sizes.values())


NOBODY = """\
domain D {
  sex : category { f, m }
  x   : integer 0 .. 4
}

protected sex

label good : boolean deserving yes

model M : D -> { no, yes }
  score = x
  yes when score > 2
  favourable yes

distribution people over D, good
  empirical from "rows.csv"

distribution by_hand over D
  sex : table { f : 0.5, m : 0.5 }
  x   : uniform(0, 3)

"""
ROWS = "sex,x,good\nf,1,yes\nm,3,no\nf,3,yes\n"


@pytest.mark.parametrize(
    ("body", "judgement"),
    [
        ("under people among x = 4 require impact_ratio >= 80% measure acceptance_rate", "vacuous"),
        ("under people among x = 4 require impact_ratio >= 80% with confidence 95%", "vacuous"),
        ("under by_hand among x = 4 require impact_ratio >= 80%", "vacuous"),
        ("under by_hand among x = 4 require impact_ratio >= parity_gap - 1%", "vacuous"),
        ("under people require gap(rate(no given good and x = 2)) <= 5%", "vacuous"),
        ("under people excluding groups below 9 rows require impact_ratio >= 80%", "vacuous"),
        # One group has somebody: the other one has no rate.
        ("under people among sex = f require impact_ratio >= 80%", "refused"),
        # Whom the model accepts is its own matter.
        ("under people among x <= 2 require predictive_gap <= 5%", "refused"),
    ],
)
def test_a_question_about_nobody_is_vacuous(tmp_path: Path, body: str, judgement: str) -> None:
    for demand in demands(f"{NOBODY}property p {{ across sex {body} }}\n", ROWS, tmp_path):
        assert demand.judgement.value == judgement
