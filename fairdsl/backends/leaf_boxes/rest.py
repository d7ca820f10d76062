"""What is still open, estimated: units drawn from the boxes that are left, each decided exactly."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.leaf_boxes.forest import Forest
from fairdsl.ir.enclosure import Enclosure
from fairdsl.numerics.binomial import clopper_pearson
from fairdsl.verdict import Estimate

Integers = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

#: Units that are drawn, and how many are decided at once; the probability that the interval contains the share.
_UNITS, _AT_ONCE, _CONFIDENCE = 10_000, 1024, Fraction(95, 100)


class Drawn:
    """Units that were drawn from boxes, ``sampled`` of them, and what is decided of those over them.

    ``unfair`` for sure, ``doubtful`` neither fair nor unfair for sure; ``vacuous``: nobody is compared.
    """

    def __init__(self, forest: Forest, units: Integers) -> None:
        self.sampled = len(units)
        below, above = forest.trees.limits.tolist()
        scores, present = _scores(forest, units), _present(forest, units)
        over, under = present & (scores >= above), present & (scores <= below)
        unfair = over.any(axis=1) & under.any(axis=1)
        fair = (over == present).all(axis=1) | (under == present).all(axis=1)
        compared = (present.sum(axis=1) > 1) | (present & forest.trees.inside).any(axis=1)
        self.unfair, self.vacuous = int(unfair.sum()), int((~compared).sum())
        self.doubtful = int((~unfair & ~fair).sum())


def draw(forest: Forest, low: Integers, high: Integers, mass: NDArray[np.float64], seed: int) -> Integers:
    """Units drawn uniformly from disjoint boxes of these masses, as the number of the part on each axis."""
    rng, trees = np.random.default_rng(seed), forest.trees
    boxes = rng.choice(len(mass), size=_UNITS, p=mass / mass.sum())
    units = np.empty((_UNITS, len(trees.ordered)), dtype=np.int64)
    for axis, ordered in enumerate(trees.ordered.tolist()):
        sums, begin, end, where = trees.sums[axis], low[boxes, axis], high[boxes, axis], rng.random(_UNITS)
        if ordered:
            inside = sums[begin] + where * (sums[end] - sums[begin])
            units[:, axis] = np.clip(np.searchsorted(sums, inside, side="right") - 1, begin, end - 1)
        else:
            sizes = np.diff(sums) * ((begin[:, None] >> np.arange(len(sums) - 1)) & 1)
            upto = np.cumsum(sizes, axis=1)
            units[:, axis] = (upto <= where[:, None] * upto[:, -1:]).sum(axis=1)
    return units


def estimate(drawn: Drawn, fair: Fraction, rest: Fraction) -> Estimate | None:
    """Of all units ``fair`` are so for sure, and a share ``rest`` is what was drawn from; None where some of these are
    in no question, so that the share is one of fewer units than are known.
    """
    if drawn.vacuous:
        return None
    alike = drawn.sampled - drawn.unfair
    low, _ = clopper_pearson(alike - drawn.doubtful, drawn.sampled, float(_CONFIDENCE))
    _, high = clopper_pearson(alike, drawn.sampled, float(_CONFIDENCE))
    return Estimate(
        sampled=drawn.sampled,
        unfair=drawn.unfair,
        interval=Enclosure(low=fair + rest * low, high=fair + rest * high),
        confidence=_CONFIDENCE,
        settled=fair,
        rest=rest,
    )


def _scores(forest: Forest, units: Integers) -> Integers:
    """Scores as whole numbers, [units, assignments]: of each tree the one leaf that all its sets have in common."""
    leaves, ordered = forest.leaves, forest.trees.ordered
    people, parting = leaves.whose.shape[0], int(leaves.starts[leaves.alike])
    found = np.empty((len(units), people), dtype=np.int64)
    for start in range(0, len(units), _AT_ONCE):
        some = units[start : start + _AT_ONCE]
        reached = np.repeat(leaves.everywhere[None], len(some), axis=0)
        for axis, line in enumerate(ordered.tolist()):
            row = int(leaves.rows[axis]) + some[:, axis]
            reached &= leaves.meet[row]
            if line:
                reached &= leaves.meet[row + (leaves.rows[axis + 1] - leaves.rows[axis]) // 2]
        common = _values(forest, reached[:, :parting], 0).sum(axis=1)
        for person in range(people):
            own = reached[:, parting:] & leaves.whose[person]
            found[start : start + len(some), person] = common + _values(forest, own, parting).sum(axis=1)
    return found


def _values(forest: Forest, single: NDArray[np.uint64], first: int) -> Integers:
    """Of words with one bit at most, the first of them the ``first`` of all: the values of the leaves, 0 of none."""
    places = np.log2(single.astype(np.float64), where=single != 0, out=np.zeros(single.shape)).astype(np.int64)
    values = forest.leaves.value[(first + np.arange(single.shape[1])) * 64 + places]
    return np.where(single != 0, values, 0)


def _present(forest: Forest, units: Integers) -> BoolArray:
    """Who is asked about, [units, assignments]."""
    trees, rows = forest.trees, np.arange(len(units))[:, None]
    nodes = np.repeat(trees.conditions[None], len(units), axis=0)
    while (trees.axis[nodes] >= 0).any():
        axis = trees.axis[nodes]
        part, cut = units[rows, np.maximum(axis, 0)], trees.cut[nodes]
        passes = np.where(trees.ordered[np.maximum(axis, 0)], part < cut, (cut >> part) & 1 > 0)
        nodes = np.where(axis < 0, nodes, np.where(passes, trees.yes[nodes], trees.no[nodes]))
    return np.asarray(trees.value[nodes] != 0, dtype=np.bool_)
