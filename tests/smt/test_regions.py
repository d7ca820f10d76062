"""Regions: cutting them loses nothing, and bounds over them hold for every pair inside."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fairdsl.backends.smt.case_bounds import Bounder
from fairdsl.backends.smt.cases import cases
from fairdsl.backends.smt.region import Region
from fairdsl.ir.question import Relaxation
from fairdsl.numerics.narrow import Finite, Interval
from tests.builders import BOOLEAN, category, domain, integer, layer, model, problem, real

PEOPLE = domain(age=integer(-3, 8), job=category(7, 0, 3), income=real("-1/3", 5), wealth=real(), sex=BOOLEAN)


def test_halves_cover_the_whole() -> None:
    network = model(layer([[1, 1, 1, 0, 1]], [0], 1), attributes=5)
    asked = problem(PEOPLE, network, 4, relax=(Relaxation(attribute=0, by=Fraction(1)),))
    region = cases(asked)[0].region
    cut = list(region.halves())
    # a.age, b.age, job and income; sex is fixed by the case, wealth has no ends.
    assert len(cut) == 4
    for first, second in cut:
        for whole, left, right in zip(
            (*region.a, *region.b), (*first.a, *first.b), (*second.a, *second.b), strict=True
        ):
            if isinstance(whole, Finite) and left != right:
                assert [*left.values, *right.values] == list(whole.values)
            elif isinstance(whole, Interval) and left != right:
                assert (left.low, right.high) == (whole.low, whole.high)
                assert left.high == right.low
            else:
                assert left == right == whole
        assert first.shared == region.shared


def test_shared_values_are_cut_for_both() -> None:
    region = Region((Finite(range(4)),), (Finite(range(4)),), (True,))
    for first, second in region.halves():
        assert first.a == first.b
        assert second.a == second.b


@given(st.integers(0, 2**32 - 1))
def test_reach_is_an_upper_bound(seed: int) -> None:
    """The least of the bounds lies above the least of what they bound, for every pair."""
    rng = np.random.default_rng(seed)
    hidden = layer([[int(v) for v in row] for row in rng.integers(-5, 6, size=(4, 3))], [1, -2, 0, 3], "1/10")
    final = layer([[int(v) for v in rng.integers(-3, 4, size=4)]], [int(rng.integers(-9, 10))], 1)
    people = domain(age=integer(0, 6), hours=integer(-4, 4), sex=BOOLEAN)
    asked = problem(people, model(hidden, final, attributes=3), 2)
    for case in cases(asked):
        halves = [half for way in case.region.halves() for half in way]
        for bounded in Bounder(asked.model, case).bound([case.region, *halves]):
            for _ in range(4):
                pair = [_point(rng, sets) for sets in (bounded.region.a, bounded.region.b)]
                pair[1] = [b if not shared else a for a, b, shared in zip(*pair, bounded.region.shared, strict=True)]
                score_a, score_b = (_score(hidden, final, point) for point in pair)
                values = [atom.a[0] * score_a + atom.b[0] * score_b + atom.constant for atom in case.atoms]
                mixed = [u * values[0] + v * values[1] for u, v in ((1, 0), (0, 1), (1, 1), (1, 3), (3, 1))]
                assert min(mixed) <= Fraction(bounded.reach)
                assert not (bounded.settled and min(values) > 0)


def _point(rng: np.random.Generator, sets: tuple[Finite, ...]) -> list[Fraction]:
    return [Fraction(int(rng.choice(list(values.values)))) for values in sets]


def _score(hidden, final, point: list[Fraction]) -> Fraction:
    outputs = []
    for row, bias, slope in zip(hidden.weight.exact, hidden.bias.exact, hidden.slope.exact, strict=True):
        z = sum((Fraction(w) * x for w, x in zip(row, point, strict=True)), Fraction(bias))
        outputs.append(z if z > 0 else Fraction(slope) * z)
    return sum(
        (Fraction(w) * h for w, h in zip(final.weight.exact[0], outputs, strict=True)), Fraction(final.bias.exact[0])
    )
