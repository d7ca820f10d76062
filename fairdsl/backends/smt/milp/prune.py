"""Sound pruning: tighter bounds of single units, each of them proved, and the units that they decide.

Layer by layer, the greatest and the least pre-activation of every unit that is still open are bounded by a
linear program over the layers *before* it, whose duals become multipliers of ``numerics/dual.py``; what is
kept is the bound that those prove. A unit with z <= 0 on the whole region is dead, one with z >= 0 is active;
both are linear from there on, and so are tighter relaxations of the layers behind. The inputs of a layer are
bounded by the bounds of the layer that feeds it, never by its own: a unit that is decided by the wrong ones
may be needed (the trap of a published tool).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.smt.milp.certificate import Leaf, leaf_bounds
from fairdsl.backends.smt.milp.highs import Relaxation
from fairdsl.backends.smt.milp.place import places
from fairdsl.backends.smt.milp.program import program
from fairdsl.backends.smt.milp.query import Query, network_query
from fairdsl.backends.smt.region import Region
from fairdsl.clock import Deadline
from fairdsl.ir.feature import Input
from fairdsl.ir.model import Model
from fairdsl.numerics.bounds import FloatLayer, float_layers
from fairdsl.numerics.dual import Targets
from fairdsl.numerics.narrow import ValueSet
from fairdsl.numerics.products import product

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]
#: Bounds of each layer's pre-activations, [width] each side.
LayerEnds = tuple[tuple[FloatArray, FloatArray], ...]


def tightened(model: Model, sets: Sequence[ValueSet], bounds: LayerEnds, *, seconds: float) -> LayerEnds:
    """Tighter bounds of one copy of the model on the product of the sets, as far as the seconds reach.

    ``bounds`` hold there, one pair a layer; the result does so too, and is nowhere wider.
    """
    deadline = Deadline.within(seconds)
    layers = float_layers(model)
    everywhere = Region(tuple(sets), tuple(sets), (True,) * len(sets))
    found = list(bounds)
    # The bounds of the first layer are the exact ends of linear functions over a box.
    for depth in range(1, len(layers) - 1):
        low, high = found[depth]
        open_units = np.flatnonzero((low < 0) & (high > 0) & (layers[depth].slope < 1))
        if not len(open_units) or deadline.passed:
            continue
        tops = _tops(layers[: depth + 1], model.inputs, everywhere, tuple(found[: depth + 1]), open_units, deadline)
        low, high = low.copy(), high.copy()
        high[open_units] = np.minimum(high[open_units], tops.greatest)
        low[open_units] = np.maximum(low[open_units], -tops.of_negated)
        found[depth] = (low, high)
    return tuple(found)


@dataclass(frozen=True, slots=True, eq=False)
class _Tops:
    """Proved upper bounds of z and of -z for each unit; infinite where there was no time."""

    greatest: FloatArray
    of_negated: FloatArray


def _tops(
    layers: Sequence[FloatLayer],
    reads: Sequence[Input],
    region: Region,
    known: LayerEnds,
    units: IntArray,
    deadline: Deadline,
) -> _Tops:
    """Bounds of the last layer's units by linear programs over the layers before it."""
    last = replace(layers[-1], slope=np.ones(len(layers[-1].bias)))
    query = network_query((*layers[:-1], last), reads, region, ("a",))
    place = places(query, [region], (known,))[0]
    tops = np.full(2 * len(units), np.inf)
    if not place.bounded:
        return _Tops(tops[: len(units)], tops[len(units) :])
    linear = program(query, place)
    relaxation = Relaxation(linear)
    rows = np.vstack([np.eye(len(last.bias))[units], -np.eye(len(last.bias))[units]])
    leaves: list[Leaf] = []
    for number, row in enumerate(rows):
        if deadline.passed:
            break
        relaxation.maximise(product(row, linear.scores[0])[:-1])
        solved = relaxation.solve(deadline.remaining)
        gradients = np.full(len(linear.units), np.nan) if solved.duals is None else solved.duals[: len(linear.units)]
        leaves.append(Leaf(np.eye(len(rows))[number], np.zeros(0), linear.units, gradients))
    if leaves:
        tops[: len(leaves)] = leaf_bounds(_asking(query, rows), place, leaves)
    return _Tops(tops[: len(units)], tops[len(units) :])


def _asking(query: Query, rows: FloatArray) -> Query:
    """The query about these combinations of the last layer's units."""
    return replace(query, targets=Targets((rows,), np.zeros(len(rows))), strict=np.zeros(len(rows), dtype=np.bool_))
