"""How to spend analyses: only split boxes, or first cut each into regions by the signs of units?

Networks differ. Where bounds are nearly tight the decision boundary is what is left, and splitting boxes is
the only way; where they are loose (deep networks) cutting a box decides most of it at once. So both are tried
on a few open boxes, drawn by what they leave undecided, each time the work done has doubled.

Splitting every box once more costs twice as much as all work before. So cutting each box, at n analyses, has to
leave less than log2(n) - 1 splits in depth would.
"""

from __future__ import annotations

from math import log, log2

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.intervals.graft import lent_out, roomy
from fairdsl.backends.intervals.kernels.layout import Net, Work
from fairdsl.backends.intervals.kernels.slots import CHOOSE_AT, EVALUATED, HEAP, NODES, REGIONS, SLOTS, UNSEEN, Tree
from fairdsl.backends.intervals.kernels.tree import expand
from fairdsl.clock import UNITS

__all__ = ["FIRST_CHOICE", "MOST_REGIONS", "choose_regions", "seconds_of_analysis", "units_of_box"]

#: Analyses before the first choice.
FIRST_CHOICE = 1000
_LEVELS = (8, 32)
MOST_REGIONS = _LEVELS[-1]
_BOXES = 8
#: Trials may cost this part of what was done before.
_TRIAL_PART = 1 / 6
#: Seconds that cutting one box may take, so that deadlines are kept on wide networks too.
_MOST_SECONDS = 1.0
#: Multiplications a second; 3.7e9 were measured of ten layers of 300 units, and fewer where weights fill no cache.
_PACE = 2e9
_LEAST_LEFT = 0.02
#: Seconds of a box whatever the network, those of each two layers, and the part of the units that boxes leave open: as
#: measured of 13 networks of 3 to 150 units a layer, from half to 2.1 times what each takes.
_BOX_SECONDS, _PAIR_SECONDS, _OPEN_PART = 7e-6, 1e-6, 0.12


def choose_regions(net: Net, work: Work, tree: Tree, small: int, cells: int) -> None:
    """Set how many regions boxes are cut into from now on (0: none), by trying on open boxes."""
    spent = int(tree.counts[EVALUATED])
    tree.counts[CHOOSE_AT] = 2 * spent
    nodes = _drawn_boxes(tree)
    if not nodes:
        return
    per_split = log(max(_LEAST_LEFT, _mean([_tried(net, work, tree, node, 0, small, cells)[0] for node in nodes])))
    best, chosen = 0.0, 0
    allowed = spent * _TRIAL_PART
    for level in _LEVELS:
        if 2 * level * len(nodes) > allowed or 2 * level * seconds_of_analysis(net) > _MOST_SECONDS:
            break
        tried = [_tried(net, work, tree, node, level, small, cells) for node in nodes]
        left, analyses = _mean([left for left, _ in tried]), _mean([spent for _, spent in tried])
        advantage = max(1.0, log2(analyses) - 1.0) * per_split - log(max(_LEAST_LEFT, left))
        if advantage > best:
            best, chosen = advantage, level
    tree.counts[REGIONS] = chosen


def _drawn_boxes(tree: Tree) -> list[int]:
    """A few open boxes at equal steps of undecided mass."""
    size = int(tree.counts[HEAP])
    keys: NDArray[np.float64] = tree.key[:size]
    if not size or keys.sum() <= 0.0:
        return []
    order = np.argsort(-keys, kind="stable")
    reached = np.cumsum(keys[order])
    steps = (np.arange(_BOXES) + 0.5) / _BOXES * reached[-1]
    places = np.unique(np.minimum(np.searchsorted(reached, steps), size - 1))
    nodes = tree.heap[:size][order[places]]
    return [int(node) for node in nodes if tree.split[tree.slot[node]] >= 0]


def _tried(net: Net, work: Work, tree: Tree, node: int, regions: int, small: int, cells: int) -> tuple[float, int]:
    """What share of a box's violating mass is left, and at how many analyses.

    When it is cut into at most so many regions; for 0 when it is split, both halves taken together.
    """
    alone = roomy(lent_out(tree, np.full(3, node)))  # with room for two halves
    alone.counts[[NODES, SLOTS, HEAP, REGIONS]] = 1, 1, 1, 0
    alone.split[0], alone.cut[0] = UNSEEN, 0
    expand(net, work, alone, 1, small, cells)
    before = float(alone.violating[0])
    alone.counts[REGIONS] = regions
    expand(net, work, alone, 1, small, cells)
    spent, count = int(alone.counts[EVALUATED]), int(alone.counts[NODES])
    tree.counts[EVALUATED] += spent
    after = float(alone.violating[count // 2 : count].sum())
    return (after / before if before > 0.0 else 1.0), spent


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


def seconds_of_analysis(net: Net) -> float:
    """How long one analysis takes at most, as if all units were open: nobody can look at the clock in the meantime."""
    widths = net.layers.widths.astype(float)
    below = np.cumsum(widths[1:] * widths[:-1])
    return float(2.0 * (widths[1:] * below).sum()) / _PACE


def units_of_box(net: Net) -> float:
    """The effort of bounding a box: some of the units are open, and each two layers are multiplied with each other."""
    layers = len(net.layers.widths) - 1
    pairs = layers * (layers - 1) // 2
    return UNITS * (_BOX_SECONDS + _PAIR_SECONDS * pairs + _OPEN_PART * seconds_of_analysis(net))
