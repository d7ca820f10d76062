"""Trying on an open box what splitting it, or cutting it into regions, would leave of it."""

from __future__ import annotations

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
from fairdsl.numerics.kernels.compiled import exact

__all__ = ["try_on"]


@exact
def try_on(net: Net, work: Work, tree: Tree, slot: int, limit: int, cells: int) -> tuple[float, int]:
    """What share of a box's violating mass is left, and at how many analyses.

    When it is cut into at most ``limit`` regions; for 0 when it is split, both halves taken together. One kernel
    for both, since each that analyses boxes takes seconds to compile.
    """
    if limit == 0 and tree.counts[FREE] < 1 and tree.counts[SLOTS] + 1 > len(tree.split):
        return 1.0, 0
    comparison = tree.comparison[slot]
    load_slot(net, work, tree, slot)
    analyse(net, work, comparison, cells)
    before = work.result[VIOLATING]
    if before <= 0.0:
        return 1.0, 1
    if limit > 0:
        spent = 1 + cut_into_regions(net, work, comparison, limit, cells)
        tree.counts[EVALUATED] += spent
        return float(work.result[VIOLATING] / before), spent
    before *= tree.mass[slot]
    if before <= 0.0:  # underflow
        return 1.0, 1
    where = take_slot(tree)
    after = 0.0
    for side in range(2):
        copy_slot(tree, slot, where)
        cut_slot(net, tree, where, tree.split[slot], side == 1)
        load_slot(net, work, tree, where)
        analyse(net, work, comparison, cells)
        after += work.result[VIOLATING] * tree.mass[where]
    tree.free[tree.counts[FREE]] = where
    tree.counts[FREE] += 1
    tree.counts[EVALUATED] += 3
    return float(after / before), 3
