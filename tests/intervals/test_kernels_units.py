"""Lines of curved units: above and below the curve everywhere, and not far from it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdsl.backends.intervals.task import Curve
from tests.curve_floats import FUNCTIONS
from tests.drawing import examples
from tests.intervals.called_parts import activate, derivative_range, lines_of
from tests.oracle import bent

CURVES = [curve for curve in Curve if curve]
#: Ends where the curves bend the other way, have corners or valleys, and far out.
ENDS = [0.0, 1.0, 1.4185, 2.39936, 3.0, -0.75, -1.2785, 40.0, 800.0, 1e6]


def intervals(rng: np.random.Generator) -> list[tuple[float, float]]:
    middles = [*rng.normal(size=150) * 10.0 ** rng.uniform(-1, 1, 150), *rng.choice(ENDS, 60), *-rng.choice(ENDS, 60)]
    widths = 10.0 ** rng.uniform(-5, 1.5, len(middles)) * (1 + np.abs(middles) / 100)
    lows = np.array(middles) - rng.random(len(middles)) * widths
    drawn = zip(lows, lows + widths, strict=True)
    return [(float(low), float(high)) for low, high in drawn if low < high] + [(-1e6, 1e6), (-900.0, 2.0), (-3.0, 3.0)]


@pytest.mark.parametrize("curve", CURVES)
def test_curves_lie_between_their_lines(curve: Curve) -> None:
    rng = np.random.default_rng(int(curve))
    function = np.vectorize(FUNCTIONS[curve], otypes=[np.float64])
    for low, high in intervals(rng):
        z = np.concatenate([np.linspace(low, high, 60), [e for e in (*ENDS, *(-e for e in ENDS)) if low < e < high]])
        values, size = function(z), 1e-15 * (1 + max(abs(low), abs(high)))
        k, offset, m, over = lines_of(low, high, 0.0, int(curve))
        assert (k * z + offset <= values + size).all(), (low, high)
        assert (m * z + over >= values - size).all(), (low, high)
        least, most = derivative_range(low, high, 0.0, int(curve))
        rises = np.diff(values[:60]) / np.diff(z[:60])
        noise = 4 * size / (z[1] - z[0])
        assert (rises >= least - noise).all(), (low, high)
        assert (rises <= most + noise).all(), (low, high)
        gap = np.max((m - k) * z + over - offset)
        wide = 0.6 if curve > Curve.TANH else 0.75
        assert gap <= wide * (most - least) * (high - low) + 1e-9 * (1 + abs(low) + abs(high)), (low, high)


@pytest.mark.parametrize("curve", CURVES)
@settings(deadline=None, max_examples=examples(0.2))
@given(
    st.one_of(st.sampled_from([*ENDS[:-2], *(-e for e in ENDS[:-2])]), st.floats(-30, 30)),
    st.floats(-15, 1.3),
    st.sampled_from([0.0, 0.5, 0.99, 1.0]),
)
def test_lines_are_sound_in_exact_arithmetic(curve: Curve, near: float, power: float, left: float) -> None:
    """Against the curve to 500 bits, so that no rounding of the reference excuses one of the lines."""
    low, high = near - left * 10**power, near + (1 - left) * 10**power
    if low >= high:
        return
    k, offset, m, over = map(Fraction, lines_of(low, high, 0.0, int(curve)))
    for z in {Fraction(low), Fraction(high), *(Fraction(low + (high - low) * part / 8) for part in range(1, 8))}:
        assert k * z + offset <= bent(curve, Fraction(0), z) <= m * z + over


@pytest.mark.parametrize("curve", CURVES)
def test_lines_close_in_by_the_square_of_a_range(curve: Curve) -> None:
    """Of half the width they are a quarter apart, wherever no corner is, also where the bend turns."""
    corners = {Curve.HARD_SWISH: (-3.0, 3.0), Curve.LOG1P: (0.0,), Curve.ELU: (0.0,)}.get(curve, ())
    for middle in np.linspace(-4, 4, 33):
        apart = []
        for half in (2.0**-4, 2.0**-6, 2.0**-8):
            low, high = float(middle - half), float(middle + half)
            k, offset, m, over = lines_of(low, high, 0.0, int(curve))
            apart.append(max((m - k) * end + over - offset for end in (low, high)))
        if all(abs(middle - corner) > 2.0**-4 for corner in corners):
            assert apart[1] <= apart[0] / 9 + 1e-10
            assert apart[2] <= apart[1] / 9 + 1e-10


@pytest.mark.parametrize("curve", CURVES)
def test_units_are_computed(curve: Curve) -> None:
    rng = np.random.default_rng(int(curve))
    for z in [*(rng.standard_normal(300) * 10.0 ** rng.uniform(-3, 2, 300)), *ENDS, *(-np.array(ENDS))]:
        assert activate(float(z), 0.0, int(curve)) == pytest.approx(FUNCTIONS[curve](float(z)), rel=1e-13, abs=1e-15)
