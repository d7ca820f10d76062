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

from fairdsl.backends.intervals.kernels.layout import Net, Work
from fairdsl.backends.intervals.kernels.slots import CHOOSE_AT, EVALUATED, HEAP, REGIONS, Tree
from fairdsl.backends.intervals.kernels.trials import try_on
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


def choose_regions(net: Net, work: Work, tree: Tree, cells: int) -> None:
    """Set how many regions boxes are cut into from now on (0: none), by trying on open boxes."""
    spent = int(tree.counts[EVALUATED])
    tree.counts[CHOOSE_AT] = 2 * spent
    slots = _drawn_boxes(tree)
    if not len(slots):
        return
    per_split = log(max(_LEAST_LEFT, _mean([try_on(net, work, tree, slot, 0, cells)[0] for slot in slots])))
    best, chosen = 0.0, 0
    allowed = spent * _TRIAL_PART
    for level in _LEVELS:
        if 2 * level * len(slots) > allowed or 2 * level * seconds_of_analysis(net) > _MOST_SECONDS:
            break
        tried = [try_on(net, work, tree, slot, level, cells) for slot in slots]
        left, analyses = _mean([left for left, _ in tried]), _mean([spent for _, spent in tried])
        advantage = max(1.0, log2(analyses) - 1.0) * per_split - log(max(_LEAST_LEFT, left))
        if advantage > best:
            best, chosen = advantage, level
    tree.counts[REGIONS] = chosen


def _drawn_boxes(tree: Tree) -> list[int]:
    """Slots of a few open boxes at equal steps of undecided mass."""
    size = int(tree.counts[HEAP])
    keys: NDArray[np.float64] = tree.key[:size]
    if not size or keys.sum() <= 0.0:
        return []
    order = np.argsort(-keys, kind="stable")
    reached = np.cumsum(keys[order])
    steps = (np.arange(_BOXES) + 0.5) / _BOXES * reached[-1]
    places = np.unique(np.minimum(np.searchsorted(reached, steps), size - 1))
    slots = tree.slot[tree.heap[:size][order[places]]]
    return [int(slot) for slot in slots if tree.split[slot] >= 0]


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
