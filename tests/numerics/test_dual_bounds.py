"""Whatever the multipliers: the bound lies above every exact value on its leaf."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdsl.numerics.bounds import LayerBounds, float_layers, preactivation_bounds
from fairdsl.numerics.dual import Chain, Multipliers, Space, Table, Targets, upper_bounds
from tests.drawing import examples
from tests.numerics.test_bounds import exact_preactivations, layer_of, model_of

WILD = [np.nan, np.inf, -np.inf, 0.0, 1e-320, -1e-200, 1e12, -1e12]


def multiplier(rng: np.random.Generator, *shape: int, wild: float = 0.2) -> np.ndarray:
    """Ordinary numbers among which some are absurd."""
    values = rng.normal(0, 1, shape)
    return np.where(rng.random(shape) < wild, rng.choice(WILD, shape), values)


def gradients(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Mostly none, so that the bound is tight enough for a fault of the others to show."""
    return np.where(rng.random(shape) < 0.6, np.nan, multiplier(rng, *shape, wild=0.1))


def random_model(rng: np.random.Generator, inputs: int, scale: float):
    widths = np.array([inputs, *rng.integers(1, 4, rng.integers(1, 3)), 2])
    hidden = [
        layer_of(
            [[Fraction(float(v)) for v in row] for row in rng.normal(0, scale, (after, before))],
            [Fraction(float(v)) for v in rng.normal(0, scale, after)],
            Fraction(int(rng.choice([0, 0, 1, 7])), 10) if after_index < len(widths) - 2 else 1,
        )
        for after_index, (before, after) in enumerate(pairwise(widths.tolist()))
    ]
    return model_of(hidden)


@settings(max_examples=examples(1.3))
@given(st.integers(0, 2**32 - 1))
def test_no_multipliers_fool_the_bound(seed: int) -> None:
    """Two copies that share an input, random signs fixed, a row, a listed attribute: exact values stay below."""
    rng = np.random.default_rng(seed)
    model = random_model(rng, 2, float(rng.choice([0.01, 1.0, 100.0])))
    layers = float_layers(model)
    # Variables: what both share, one each, and an indicator that is 1 where a's own is at least 1.
    values = range(-1, 3)
    low, high = np.array([[-2.0, -1.0, -1.0, 0.0]]), np.array([[2.0, 2.0, 2.0, 1.0]])
    inputs = (np.array([0, 3 if rng.random() < 0.3 else 1]), np.array([0, 2]))
    rows, limits = np.array([[1.0, -1.0, 0.5, 0.0]]), np.array([1.0])
    table = Table(np.array([1, 3]), np.array([[v, float(v >= 1)] for v in values]), np.ones((1, 4), dtype=bool))
    chains, signs = [], []
    for places in inputs:
        found = preactivation_bounds(layers, low[:, places], high[:, places])
        fixed = []
        for depth, bounds in enumerate(found[:-1]):
            below, above = bounds.low.copy(), bounds.high.copy()
            for unit in np.flatnonzero(rng.random(below.shape[1]) < 0.3):
                positive = bool(rng.random() < 0.5)
                side = below if positive else above
                side[0, unit] = max(side[0, unit], 0.0) if positive else min(side[0, unit], 0.0)
                fixed.append((depth, int(unit), positive))
            found = (*found[:depth], LayerBounds(below, above), *found[depth + 1 :])
        chains.append(Chain(layers, tuple(found), places))
        signs.append(fixed)
    targets = Targets((rng.integers(-1, 2, (2, 2)) * 1.0, rng.integers(-1, 2, (2, 2)) * 1.0), np.array([0.25, -3.0]))
    multipliers = Multipliers(
        multiplier(rng, 1, 2),
        multiplier(rng, 1, 1),
        tuple(tuple(gradients(rng, 1, len(layer.bias)) for layer in layers[:-1]) for _ in inputs),
    )
    space = Space(low, high, (table,), rows, limits, np.array([[bool(rng.random() < 0.7)]]))
    (top,) = upper_bounds(chains, targets, space, multipliers)
    weights = [exact(w) for w in multipliers.targets[0]]
    slack = exact(multipliers.rows[0, 0]) if space.allowed[0, 0] else Fraction(0)
    for x, own, other in product(range(-2, 3), values, range(-1, 3)):
        point = [Fraction(v) for v in (x, own, other, int(own >= 1))]
        inside = x - own + Fraction(other, 2) <= 1
        zs = [exact_preactivations(model, [point[i] for i in places]) for places in inputs]
        kept = all(
            (z[depth][unit] >= 0) if positive else (z[depth][unit] <= 0)
            for z, fixed in zip(zs, signs, strict=True)
            for depth, unit, positive in fixed
        )
        if not kept or (space.allowed[0, 0] and not inside):
            continue
        total = slack * (1 - (x - own + Fraction(other, 2)))
        for number, weight in enumerate(weights):
            value = Fraction(targets.constants[number])
            for z, row in zip(zs, targets.rows, strict=True):
                value += sum(Fraction(c) * s for c, s in zip(row[number], z[-1], strict=True))
            total += weight * value
        assert top == np.inf or total <= Fraction(float(top)), (float(total), top)


def exact(weight: float) -> Fraction:
    """A weight counts where it is positive and not vanishingly small."""
    return Fraction(float(weight)) if np.isfinite(weight) and weight > 2.0**-400 else Fraction(0)


def one_unit(low: float, high: float, gradient: float, sign: float = 1.0) -> float:
    """The bound of ``sign * relu(x)`` for x in [-1, 2] where z is known to lie in [low, high]."""
    model = model_of([layer_of([[Fraction(1)]], [Fraction(0)]), layer_of([[Fraction(1)]], [Fraction(0)], 1)])
    layers = float_layers(model)
    bounds = (
        LayerBounds(np.array([[low]]), np.array([[high]])),
        LayerBounds(np.array([[-9.0]]), np.array([[9.0]])),
    )
    space = Space(
        np.array([[-1.0]]), np.array([[2.0]]), (), np.zeros((0, 1)), np.zeros(0), np.zeros((1, 0), dtype=bool)
    )
    chain = Chain(layers, bounds, np.array([0]))
    targets = Targets((np.array([[sign]]),), np.zeros(1))
    multipliers = Multipliers(np.ones((1, 1)), np.zeros((1, 0)), ((np.array([[gradient]]),),))
    return float(upper_bounds([chain], targets, space, multipliers)[0])


def test_the_gradients_are_those_of_the_theorem() -> None:
    """Chord, lower slope, and a multiple of z >= 0 on a leaf where that holds."""
    assert one_unit(-1, 2, 2 / 3) == pytest.approx(2.0)
    assert one_unit(-1, 2, np.nan) == pytest.approx(2.0)
    assert one_unit(-1, 2, 0.0, -1.0) == pytest.approx(0.0)
    assert one_unit(-1, 2, -1.0, -1.0) == pytest.approx(1.0)
    # Between the two slopes the greatest gap is at the break, not at an end of the interval.
    assert one_unit(-1, 2, -0.5, -1.0) == pytest.approx(0.5)
    # -relu(x) on z >= 0 is -x; with beta = 1 added, -x + 1 x = 0 is the best bound.
    assert one_unit(0, 2, np.nan, -1.0) == pytest.approx(1.0)
    assert one_unit(0, 2, 0.0, -1.0) == pytest.approx(0.0)
    # On z <= 0 the unit is 0, and no proposal makes that worse than what the sign allows.
    assert one_unit(-1, 0, 5.0) == pytest.approx(0.0, abs=1e-12)


def test_an_empty_leaf_is_bounded_by_nothing() -> None:
    assert one_unit(1, 0, 0.0) == -np.inf


def test_the_unknown_is_never_bounded() -> None:
    assert one_unit(-np.inf, 2, 0.5) == np.inf
    assert one_unit(-np.inf, np.inf, np.nan, -1.0) == np.inf


@pytest.mark.parametrize("order", list(permutations((10**16, 1, -(10**16)))))
def test_cancellation_is_paid_for(order: tuple[int, ...]) -> None:
    """1e16 x + x - 1e16 x is x; float64 loses it in some order of the sum, and the bound must not."""
    model = model_of(
        [
            layer_of([[Fraction(factor)] for factor in order], [Fraction(0)] * 3, 1),
            layer_of([[Fraction(1)] * 3], [Fraction(0)], 1),
        ]
    )
    layers = float_layers(model)
    low = high = np.array([[1.0]])
    chain = Chain(layers, preactivation_bounds(layers, low, high), np.array([0]))
    space = Space(low, high, (), np.zeros((0, 1)), np.zeros(0), np.zeros((1, 0), dtype=bool))
    nothing = Multipliers(np.ones((1, 1)), np.zeros((1, 0)), ((np.full((1, 3), np.nan),),))
    (top,) = upper_bounds([chain], Targets((np.ones((1, 1)),), np.zeros(1)), space, nothing)
    assert top >= 1.0
