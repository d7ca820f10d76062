"""Distances in the data's own scale, and the nearest row: against the definition, row by row."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdsl.backends.search import nearness
from fairdsl.backends.search.ground import as_deployed
from fairdsl.backends.search.nearness import Nearest, scales_of
from tests.builders import BOOLEAN, category, domain, integer, real
from tests.drawing import examples

#: Numbers of all sizes, some of which float32 does not tell apart, or does not hold at all.
_NUMBERS = st.sampled_from([0.0, 1.0, 2.0, 2.0000000001, -3.5, 1e5, 1e5 + 1e-6, 1e9, 1e9 + 1, -4e38, 1e300])
_NAMES = st.sampled_from([0.0, 1.0, 2.0, 7.0])


@st.composite
def tables(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, points and scales; without a scale only being equal counts."""
    kinds = draw(st.lists(st.booleans(), min_size=1, max_size=5))
    cells = st.tuples(*(_NUMBERS if number else _NAMES for number in kinds))
    rows, points = (draw(st.lists(cells, min_size=1, max_size=25)) for _ in range(2))
    scales = [draw(st.sampled_from([1.0, 0.3, 1e-3, 4e4])) if number else np.nan for number in kinds]
    return np.array(rows), np.array(points), np.array(scales)


def distance(point: list[float], row: list[float], scales: list[float]) -> float:
    terms = [float(x != r) if np.isnan(s) else abs(x - r) / s for x, r, s in zip(point, row, scales, strict=True)]
    return sum(terms)


@settings(max_examples=examples(2.5))
@given(tables())
def test_the_nearest_row_is_the_first_of_the_nearest(table) -> None:
    rows, points, scales = table
    distances, nearest = Nearest(rows, scales).of(points)
    for place, point in enumerate(points.tolist()):
        known = [distance(point, row, scales.tolist()) for row in rows.tolist()]
        least = min(known)
        assert distances[place] == pytest.approx(least, rel=1e-14)
        chosen = int(nearest[place])
        assert known[chosen] == pytest.approx(least, rel=1e-14)
        assert chosen == rows.tolist().index(rows[chosen].tolist())  # of equal rows the first


@pytest.mark.parametrize("few", [-1.0, 0.02, 1.0])
def test_leaving_rows_out_early_changes_nothing(few: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Thousands of rows in twelve attributes, with points near some and far from all."""
    monkeypatch.setattr(nearness, "_FEW", few)
    rng = np.random.default_rng(3)
    rows = rng.integers(0, 40, (9000, 12)).astype(float)
    near = rows[rng.integers(0, len(rows), 40)]
    near[np.arange(40), rng.integers(0, 12, 40)] += 1
    points = np.concatenate([near, rng.integers(0, 60, (20, 12)).astype(float)])
    scales = np.where(np.arange(12) % 3 == 0, np.nan, 7.0)
    distances, nearest = Nearest(rows, scales).of(points)
    for place, point in enumerate(points):
        apart = np.where(np.isnan(scales), point != rows, np.abs(point - rows) / 7).sum(axis=1)
        assert distances[place] == pytest.approx(apart.min())
        assert nearest[place] == np.flatnonzero(apart <= apart.min() + 1e-12)[0]


def test_a_scale_is_the_median_deviation_or_what_is_left_of_it() -> None:
    """Medians 3, 0 and 5: deviations 2, 1, 0, 1, 2; then 0 but once; then none at all."""
    people = domain(age=integer(0, 9), gain=integer(0, 100), rooms=integer(0, 9), job=category(4, 1), sex=BOOLEAN)
    rows = np.array(
        [[1, 0, 5, 4, 0], [2, 0, 5, 4, 1], [3, 100, 5, 1, 0], [4, 0, 5, 4, 0], [5, 0, 5, 1, 1]], dtype=float
    )
    scales = scales_of(rows, people, [0, 1, 2, 3, 4])
    assert scales[:2].tolist() == [1.0, 20.0]
    assert np.isnan(scales[2:]).all()
    distances, nearest = Nearest(rows, scales).of(np.array([[5.0, 40, 6, 1, 1], [3, 100, 5, 1, 0]]))
    assert distances.tolist() == [2.0 + 1.0, 0.0]
    assert nearest.tolist() == [4, 2]


def test_reals_of_the_data_become_what_a_file_reads_unless_that_leaves_the_domain() -> None:
    people = domain(rate=real("1/10", 1), size=integer(0, 9))
    rows = np.array([[0.3, 4], [0.1 + 2e-17, 5], [1.0, 6]])
    found = as_deployed(rows, people)
    assert found[0, 0] == float(np.float32(0.3))
    assert found[1:].tolist() == [[float(np.float32(0.1)), 5], [1.0, 6]]
    assert as_deployed(rows, domain(rate=real(0, "1/10"), size=integer(0, 9)))[1, 0] == rows[1, 0]


def test_without_rows_nothing_is_near() -> None:
    with pytest.raises(ValueError, match="no rows"):
        Nearest(np.empty((0, 2)), np.ones(2))
