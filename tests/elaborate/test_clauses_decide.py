"""From the words of a clause to a number: each clause changes the answer as enumerating everybody says.

The population is small enough to be written out here a second time, person by person.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest

from fairdsl.backends.contract import Budget, Facts, Silent
from fairdsl.backends.rates import Rates
from fairdsl.elaborate import elaborate
from fairdsl.semantics import front_end
from fairdsl.verdict import Value

SPEC = """\
domain Person {
  p : boolean
  q : boolean
  r : boolean
  s : boolean
}

label y : boolean deserving no

protected p, s

model m : Person -> { refuse, grant }
  score = (p = yes) + (q = yes) + (r = yes) - (s = yes)
  grant when score >= 2
  favourable grant

graph g {
  p -> q -> m
  p -> m
  r -> m
  s -> m
  q -> y
}

distribution d over Person, y
  p : bernoulli(0.25)
  q : bernoulli(0.6) given p
  q : bernoulli(0.3) given not p
  r : bernoulli(0.5)
  s : bernoulli(0.3)
  y : bernoulli(0.9) given q
  y : bernoulli(0.2) given not q
"""
Person = tuple[int, int, int, int, int]
P, Q, R, S, Y = range(5)


def chance(value: int, of_one: str) -> Fraction:
    return Fraction(of_one) if value else 1 - Fraction(of_one)


def people(q_as_if: int | None = None) -> Iterator[tuple[Person, Fraction]]:
    """Everybody with a probability; ``q_as_if``: q is drawn as it is for that p."""
    for p, q, r, s, y in product((0, 1), repeat=5):
        read = p if q_as_if is None else q_as_if
        law = chance(p, "0.25") * chance(q, "0.6" if read else "0.3") * chance(r, "0.5") * chance(s, "0.3")
        yield (p, q, r, s, y), law * chance(y, "0.9" if q else "0.2")


def granted(person: Person) -> bool:
    return person[P] + person[Q] + person[R] - person[S] >= 2


def always(_: Person) -> bool:
    return True


def rate(group: dict[int, int], given: Callable[[Person], bool] = always, q_as_if: int | None = None) -> Fraction:
    """Pr[granted | group, given]."""
    counted = [
        (person, mass)
        for person, mass in people(q_as_if)
        if given(person) and all(person[column] == value for column, value in group.items())
    ]
    return sum((m for person, m in counted if granted(person)), Fraction(0)) / sum(m for _, m in counted)


def gap(rates: list[Fraction]) -> Fraction:
    return max(rates) - min(rates)


def uniform_q(p: int) -> Fraction:
    """The rate where q is a fair coin, whatever p is."""
    parts = [rate({P: p, Q: q}) for q in (0, 1)]
    return sum(parts, Fraction(0)) / 2


def promised(p: int) -> Fraction:
    """Pr[y = no | granted, p]."""
    counted = [(person, mass) for person, mass in people() if granted(person) and person[P] == p]
    return sum((m for person, m in counted if not person[Y]), Fraction(0)) / sum(m for _, m in counted)


def on_path() -> Fraction:
    """q is drawn as for p = 1 for everybody; the score reads p itself."""
    return gap([rate({P: p}, q_as_if=1) for p in (0, 1)])


RATES = [rate({P: p}) for p in (0, 1)]
CASES: dict[str, tuple[str, Fraction]] = {
    "a difference": ("across p under d measure parity_gap", gap(RATES)),
    "a ratio": ("across p under d measure impact_ratio", min(RATES) / max(RATES)),
    "several attributes": (
        "across s, p under d measure parity_gap",
        gap([rate({P: p, S: s}) for p in (0, 1) for s in (0, 1)]),
    ),
    "a condition": (
        "across p under d among r or not s measure parity_gap",
        gap([rate({P: p}, lambda person: bool(person[R] or not person[S])) for p in (0, 1)]),
    ),
    "a condition on the label": (
        "across p under d among y = no measure parity_gap",
        gap([rate({P: p, Y: 0}) for p in (0, 1)]),
    ),
    "value by value": (
        "across p under d among q measure parity_gap",
        max(gap([rate({P: p, Q: q}) for p in (0, 1)]) for q in (0, 1)),
    ),
    "error rates": (
        "across p under d measure odds_gap",
        max(gap([rate({P: p, Y: y}) for p in (0, 1)]) for y in (0, 1)),
    ),
    "the deserving": ("across p under d measure opportunity_gap", gap([rate({P: p, Y: 0}) for p in (0, 1)])),
    "promises": ("across p under d measure predictive_gap", gap([promised(p) for p in (0, 1)])),
    "against one group": ("across p under d privileged p = yes measure disparate_impact", RATES[0] / RATES[1]),
    "signed": ("across p under d privileged p = no measure statistical_parity_difference", RATES[1] - RATES[0]),
    "signed, by label": (
        "across p under d privileged p = yes measure average_odds_difference",
        sum((rate({P: 0, Y: y}) - rate({P: 1, Y: y}) for y in (0, 1)), Fraction(0)) / 2,
    ),
    "an influence": (
        "across p under d measure influence of q on parity_gap",
        gap(RATES) - gap([uniform_q(p) for p in (0, 1)]),
    ),
    "an allowed path": ("across p under d allow p -> q -> m baseline p = yes measure path_specific_gap", on_path()),
}


@pytest.mark.parametrize(("clauses", "expected"), CASES.values(), ids=CASES)
def test_a_clause_means_what_enumeration_says(clauses: str, expected: Fraction, tmp_path: Path) -> None:
    (tmp_path / "spec.fair").write_text(f"{SPEC}\nproperty a {{ {clauses} }}\n", encoding="utf-8")
    (item,) = elaborate(front_end(str(tmp_path / "spec.fair"))[0], {}).demands
    verdict = Rates().answer(item.problem, Facts(), Budget.of(30.0), Silent())
    assert isinstance(verdict, Value)
    assert (verdict.low, verdict.high) == (expected, expected)
