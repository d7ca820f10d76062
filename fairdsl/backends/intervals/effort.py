"""How to spend analyses: only split boxes, or first cut each into regions by the signs of units?

Networks differ. Where bounds are nearly tight the decision boundary is what is left, and splitting boxes is
the only way; where they are loose cutting a box may decide most of it at once. So each way is tried on open boxes,
drawn by what they leave undecided, each time the work done has doubled. There are as many of them as have in the
trial what every open box has until then, so the trial is the work to come on a small scale.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.intervals.graft import lent_out, roomy
from fairdsl.backends.intervals.kernels.layout import Net, Work
from fairdsl.backends.intervals.kernels.slots import CHOOSE_AT, EVALUATED, HEAP, NODES, REGIONS, SLOTS, Tree
from fairdsl.backends.intervals.kernels.tree import expand, totals
from fairdsl.clock import UNITS

#: Analyses before the first choice.
FIRST_CHOICE = 1000
#: And where none is to be made.
NEVER = 2**60
#: Into how many regions boxes may be cut.
_LEVELS = (0, 8, 32)
MOST_REGIONS = _LEVELS[-1]
#: A trial takes this part of what was done before, and so many analyses or seconds at most; of so many boxes at least.
_TRIAL_PART, _MOST_ANALYSES, _MOST_SECONDS, _LEAST_BOXES = 1 / 24, 400, 1.0, 8
#: Multiplications a second; 3.7e9 were measured of ten layers of 300 units, and fewer where weights fill no cache.
_PACE = 2e9
#: Seconds of a box whatever the network, those of each two layers, and the part of the units that boxes leave open: as
#: measured of 13 networks of 3 to 150 units a layer, from half to 2.1 times what each takes.
_BOX_SECONDS, _PAIR_SECONDS, _OPEN_PART = 7e-6, 1e-6, 0.12


def cut_always(tree: Tree, regions: int) -> None:
    """Cut boxes into so many regions from now on, whatever that comes to."""
    tree.counts[[REGIONS, CHOOSE_AT]] = regions, NEVER


def choose_regions(net: Net, work: Work, tree: Tree, small: int, cells: int) -> None:
    """Set how many regions boxes are cut into from now on (0: none), by what an analysis decides of open boxes."""
    spent = int(tree.counts[EVALUATED])
    tree.counts[CHOOSE_AT] = 2 * spent
    budget = int(min(spent * _TRIAL_PART, _MOST_ANALYSES, _MOST_SECONDS / seconds_of_analysis(net)))
    nodes, keys = _drawn_boxes(tree, max(_LEAST_BOXES, int(tree.counts[HEAP]) * budget // spent))
    if not len(nodes):
        return
    best, chosen = -1.0, 0
    for regions in _LEVELS:
        if 2 * regions > budget:
            break
        pace = _tried(net, work, tree, nodes, keys, regions, budget, small, cells)
        if pace > best:
            best, chosen = pace, regions
    tree.counts[REGIONS] = chosen


def _drawn_boxes(tree: Tree, count: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """At most so many open boxes at equal steps of undecided mass, heaviest first, and their places in the queue."""
    size = int(tree.counts[HEAP])
    order = np.argsort(-tree.key[:size], kind="stable")
    keys = tree.key[:size][order]
    reached = np.cumsum(keys)
    if not size or reached[-1] <= 0.0:
        return order[:0], keys[:0]
    steps = (np.arange(count) + 0.5) / count * reached[-1]
    places = np.unique(np.minimum(np.searchsorted(reached, steps), size - 1))
    return tree.heap[:size][order[places]], keys[places]


def _tried(
    net: Net,
    work: Work,
    tree: Tree,
    nodes: NDArray[np.int64],
    keys: NDArray[np.float64],
    regions: int,
    budget: int,
    small: int,
    cells: int,
) -> float:
    """What an analysis decides of these boxes, if they are refined by themselves and cut into so many regions."""
    count = len(nodes)
    alone = roomy(lent_out(tree, np.resize(nodes, count + budget + 2 * MOST_REGIONS)))  # with room for their parts
    alone.counts[[NODES, SLOTS, HEAP, REGIONS]] = count, count, count, regions
    alone.heap[:count], alone.key[:count] = np.arange(count), keys
    before = _undecided(alone, count)
    expand(net, work, alone, budget, small, cells)
    spent = int(alone.counts[EVALUATED])
    tree.counts[EVALUATED] += spent
    return (before - _undecided(alone, count)) / max(spent, 1)


def _undecided(tree: Tree, roots: int) -> float:
    """What the first so many nodes leave undecided together."""
    values = np.zeros((2, int(tree.counts[NODES])))
    for own, upper, sums in ((tree.violating, True, values[0]), (tree.falsified, False, values[1])):
        totals(tree, own, sums, np.zeros(len(sums), dtype=np.int8), upper)
    return float((values[0, :roots] - values[1, :roots]).sum())


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
