"""How far two copies of a network are apart, against pairs that are evaluated."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdsl.numerics.bounds import FloatLayer, preactivation_bounds
from fairdsl.numerics.differences import difference_bounds
from tests.drawing import examples


def forward(layers: list[FloatLayer], x: np.ndarray) -> np.ndarray:
    for layer in layers:
        z = x @ layer.weight.T + layer.bias
        x = np.where(z > 0, z, layer.slope * z)
    return x


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=examples(1))
def test_pairs_lie_within_the_bounds(seed: int) -> None:
    random = np.random.default_rng(seed)
    widths = [*random.integers(1, 5, size=random.integers(2, 5)).tolist(), 1]
    layers = [
        FloatLayer(
            random.integers(-3, 4, (out, into)).astype(float),
            random.integers(-3, 4, out).astype(float),
            # A power of two, so that nothing rounds; the scores are passed on as they are.
            random.choice([0.0, 0.25, 1.0], out) if depth < len(widths) - 2 else np.ones(out),
        )
        for depth, (into, out) in enumerate(itertools.pairwise(widths))
    ]
    one, other = (np.sort(random.integers(-3, 4, (2, widths[0])), axis=0).astype(float) for _ in range(2))
    shared = random.random(widths[0]) < 0.5
    other = np.where(shared, one, other)
    bounds = [preactivation_bounds(layers, side[:1], side[1:]) for side in (one, other)]
    low, high = (np.where(shared, 0.0, ends)[None] for ends in (one[0] - other[1], one[1] - other[0]))
    found = difference_bounds(layers, *bounds, low, high)
    a, b = (random.integers(side[0].astype(int), side[1].astype(int) + 1, (200, widths[0])) for side in (one, other))
    apart = forward(layers, a.astype(float)) - forward(layers, np.where(shared, a, b).astype(float))
    assert (found.low[0] <= apart).all()
    assert (apart <= found.high[0]).all()
