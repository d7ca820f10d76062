"""Lines of curved units: above and below the curve everywhere, and not far from it."""

from __future__ import annotations

import numpy as np
import pytest

from fairdsl.backends.intervals.task import Curve
from tests.curve_floats import FUNCTIONS
from tests.intervals.called_parts import activate, derivative_range, line_above, line_below

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
        (k, offset), (m, over) = (line(low, high, 0.0, int(curve)) for line in (line_below, line_above))
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
def test_units_are_computed(curve: Curve) -> None:
    rng = np.random.default_rng(int(curve))
    for z in [*(rng.standard_normal(300) * 10.0 ** rng.uniform(-3, 2, 300)), *ENDS, *(-np.array(ENDS))]:
        assert activate(float(z), 0.0, int(curve)) == pytest.approx(FUNCTIONS[curve](float(z)), rel=1e-13, abs=1e-15)
