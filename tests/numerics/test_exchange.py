"""Exchanging attributes leads to two points beside each other, on both sides of any decision."""

from __future__ import annotations

import numpy as np
import pytest

from fairdsl.numerics.exchange import exchanged


@pytest.mark.parametrize("seed", range(8))
def test_the_decision_turns_with_one_attribute(seed: int) -> None:
    rng = np.random.default_rng(seed)
    weight = rng.normal(size=5)

    def positive(points: np.ndarray) -> np.ndarray:
        return np.sin(points @ weight) > 0  # it turns several times on the way

    drawn = rng.normal(size=(400, 5))
    count = min(np.count_nonzero(positive(drawn)), np.count_nonzero(~positive(drawn)))
    one, other = drawn[positive(drawn)][:count], drawn[~positive(drawn)][:count]
    near, far, last = exchanged(one, other, positive, rng)
    assert positive(near).all()
    assert not positive(far).any()
    assert ((near == one) | (near == other)).all()
    rows = np.arange(count)
    assert (near[rows, last] == one[rows, last]).all()
    assert (far[rows, last] == other[rows, last]).all()
    assert ((near != far).sum(axis=1) == 1).all()
    assert len(np.unique(last)) > 1  # the order is a random one
