"""Trying on an open box what splitting it, or cutting it into regions, would leave of it."""

from __future__ import annotations

from fairdsl.backends.intervals.kernels.compiled import exact
from fairdsl.backends.intervals.kernels.layout import Net, Work
from fairdsl.backends.intervals.kernels.node import VIOLATING, analyse
from fairdsl.backends.intervals.kernels.regions import cut_into_regions
from fairdsl.backends.intervals.kernels.slots import (
    EVALUATED,
    FREE,
    SLOTS,
    Tree,
    copy_slot,
    cut_slot,
    load_slot,
    take_slot,
)

__all__ = ["try_cutting", "try_splitting"]


@exact
def try_cutting(net: Net, work: Work, tree: Tree, slot: int, limit: int, cells: int) -> tuple[float, int]:
    """What share of a box's violating mass is left when it is cut into regions, and at how many analyses."""
    load_slot(net, work, tree, slot)
    analyse(net, work, tree.comparison[slot], cells)
    before = work.result[VIOLATING]
    if before <= 0.0:
        return 1.0, 1
    spent = cut_into_regions(net, work, tree.comparison[slot], limit, cells)
    tree.counts[EVALUATED] += 1 + spent
    return float(work.result[VIOLATING] / before), spent + 1


@exact
def try_splitting(net: Net, work: Work, tree: Tree, slot: int, cells: int) -> float:
    """What share of a box's violating mass is left when it is split, both halves taken together."""
    if tree.counts[FREE] < 1 and tree.counts[SLOTS] + 1 > len(tree.split):
        return 1.0
    load_slot(net, work, tree, slot)
    analyse(net, work, tree.comparison[slot], cells)
    before = work.result[VIOLATING] * tree.mass[slot]
    if before <= 0.0:
        return 1.0
    where = take_slot(tree)
    after = 0.0
    for side in range(2):
        copy_slot(tree, slot, where)
        cut_slot(net, tree, where, tree.split[slot], side == 1)
        load_slot(net, work, tree, where)
        analyse(net, work, tree.comparison[slot], cells)
        after += work.result[VIOLATING] * tree.mass[where]
    tree.free[tree.counts[FREE]] = where
    tree.counts[FREE] += 1
    tree.counts[EVALUATED] += 3
    return float(after / before)
