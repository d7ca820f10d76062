"""The kernels of this engine, and the toy on which they are compiled, or loaded (:mod:`fairdsl.backends.warmup`)."""

from __future__ import annotations

import numpy as np

from fairdsl.backends.rates.gate import has_states, only_decides
from fairdsl.backends.warmup import Kernels
from fairdsl.ir.model import Model

#: All kernels of this engine: those that bound boxes of models with hidden units.
KERNELS = Kernels("people", f"{__name__}:use", "some five seconds of a processor")


def kernels_for(model: Model) -> Kernels | None:
    """What bounding boxes of the model takes; None of models without hidden units, and of those that only decide."""
    return None if has_states(model) or only_decides(model) else KERNELS


def use() -> None:
    """The share of one box of one column of two values, half of it above a line."""
    from fairdsl.backends.rates.kernels.above import GRID, Layout, Lined, Room, shares_above

    whole = np.array([[0]]), np.array([[2]])
    one, none = np.array([0]), np.array([0, 0])
    layout = Layout(
        first=one,
        weights=np.array([0.5, 0.5]),
        cells=none,
        places=one,
        columns=one,
        at=one,
        most=np.array([0.0, 1.0]),
        least=np.array([0.0, 1.0]),
        begins=one,
        numbers=np.array([1.0]),
        owns=np.array([0, 1]),
        members=one,
        strides=np.array([1]),
        touches=np.array([0, 1]),
        tables=one,
    )
    nothing = np.zeros((1, 1))
    lined = Lined(np.array([[[1.0]]]), nothing, np.array([0.5]), nothing, nothing)
    room = Room(np.zeros(2), np.zeros(2), np.zeros(1), *np.zeros((3, GRID + 3)))
    shares, alone = np.ones((1, 1)), np.zeros((1, 1), dtype=np.bool_)
    shares_above(layout, *whole, lined, np.array([True]), room, shares, alone)
    assert 0.5 <= shares[0, 0] < 0.6, "half of them"
