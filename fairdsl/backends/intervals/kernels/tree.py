"""The best-first tree: always expand the open node that leaves most undecided.

Nodes are numbered in order of creation, so children come after their parents. A node's value is never worse
than its own bounds say, nor than its children's together: a child may certify less than its parent did, so
both are kept. Only open nodes and those with surely unfair units keep their box (a *slot*).
"""

from __future__ import annotations

from fairdsl.backends.intervals.kernels.groups import bound_groups, worth_it
from fairdsl.backends.intervals.kernels.layout import Net, Work
from fairdsl.backends.intervals.kernels.node import ANALYSES, FALSIFIED, VIOLATING, VIOLATING32, analyse
from fairdsl.backends.intervals.kernels.regions import cut_into_regions
from fairdsl.backends.intervals.kernels.slots import (
    EVALUATED,
    FREE,
    HEAP,
    NODES,
    REGIONS,
    SLOTS,
    TIED,
    UNSEEN,
    Tree,
    copy_slot,
    cut_slot,
    load_slot,
    take_slot,
    units_of,
)
from fairdsl.backends.intervals.kernels.small import count_box
from fairdsl.backends.intervals.kernels.split import NOTHING, choose_split
from fairdsl.backends.intervals.kernels.vectors import copy_into
from fairdsl.numerics.kernels.compiled import exact, part

#: Less than any unit's part of all of them, see roles.py.
LEAST = 1e-300
#: Less than any unit's part of a small box, and more than rounding is.
_ROUNDED = 1e-9


@part
def _push(tree: Tree, node: int, key: float) -> None:
    place = tree.counts[HEAP]
    tree.counts[HEAP] += 1
    while place > 0:
        above = (place - 1) // 2
        if tree.key[above] >= key:
            break
        tree.key[place] = tree.key[above]
        tree.heap[place] = tree.heap[above]
        place = above
    tree.key[place] = key
    tree.heap[place] = node


@part
def _pop(tree: Tree) -> int:
    top = tree.heap[0]
    tree.counts[HEAP] -= 1
    size = tree.counts[HEAP]
    node = tree.heap[size]
    key = tree.key[size]
    place = 0
    while True:
        below = 2 * place + 1
        if below >= size:
            break
        if below + 1 < size and tree.key[below + 1] > tree.key[below]:
            below += 1
        if tree.key[below] <= key:
            break
        tree.key[place] = tree.key[below]
        tree.heap[place] = tree.heap[below]
        place = below
    tree.key[place] = key
    tree.heap[place] = node
    return int(top)


@part
def _settle(net: Net, work: Work, tree: Tree, node: int, slot: int, small: int, cells: int, most: float) -> None:
    """Evaluate a node; keep its box and queue it where something is left to decide.

    ``most``: what its parent left undecided, so more cannot be gained here.
    """
    comparison = tree.comparison[slot]
    load_slot(net, work, tree, slot)
    analyse(net, work, comparison, cells)
    code = NOTHING
    if work.result[VIOLATING] > 0.0 or work.result[VIOLATING32] > 0.0:
        if not net.relaxed and units_of(net, tree, slot, small) <= small:
            _count(net, work, tree, slot, comparison)
            code = TIED if work.result[VIOLATING] - work.result[FALSIFIED] > _ROUNDED else NOTHING
        else:
            code = choose_split(net, work, comparison)
            if worth_it(net, work, comparison):
                bound_groups(net, work, comparison, cells)
            copy_into(tree.phase[slot], work.units.phase[: tree.phase.shape[1]])
    tree.counts[EVALUATED] += int(work.result[ANALYSES])
    tree.split[slot] = code
    tree.cut[slot] = 0
    _queue(work, tree, node, slot, most)


@part
def _count(net: Net, work: Work, tree: Tree, slot: int, comparison: int) -> None:
    """Settle a small box by evaluation; what its bounds already decided stays decided."""
    violating = work.result[VIOLATING]
    falsified = work.result[FALSIFIED]
    violating32 = work.result[VIOLATING32]
    count_box(net, work, tree.low[slot], tree.high[slot], comparison)
    work.result[VIOLATING] = min(violating, work.result[VIOLATING])
    work.result[FALSIFIED] = max(falsified, work.result[FALSIFIED])
    work.result[VIOLATING32] = max(work.result[VIOLATING], min(violating32, work.result[VIOLATING32]))


@part
def _part(mass: float, share: float) -> float:
    """At most this share of a mass: never nothing of something, even where the product underflows."""
    return max(mass * share, LEAST) if share > 0.0 else 0.0


@part
def _queue(work: Work, tree: Tree, node: int, slot: int, most: float) -> None:
    """Take over the shares in ``work.result``; queue the node, or give its slot back where all is decided."""
    mass = tree.mass[node]
    tree.violating[node] = _part(mass, work.result[VIOLATING])
    tree.falsified[node] = mass * work.result[FALSIFIED] * (1.0 - 1e-9)
    tree.violating32[node] = _part(mass, work.result[VIOLATING32])
    tree.slot[node] = slot
    undecided = tree.violating[node] - tree.falsified[node]
    if tree.split[slot] >= 0 and undecided > 0.0:
        _push(tree, node, min(undecided, most))
    elif tree.violating[node] <= 0.0:
        tree.slot[node] = -1
        tree.free[tree.counts[FREE]] = slot
        tree.counts[FREE] += 1


@part
def _cut_open(net: Net, work: Work, tree: Tree, node: int, slot: int, limit: int, cells: int, most: float) -> None:
    """Cut an open node's box into regions and queue it again with what is left."""
    comparison = tree.comparison[slot]
    mass = tree.mass[node]
    falsified = tree.falsified[node] / mass
    load_slot(net, work, tree, slot)
    analyse(net, work, comparison, cells)
    tree.counts[EVALUATED] += 1 + cut_into_regions(net, work, comparison, limit, cells)
    work.result[VIOLATING] = min(work.result[VIOLATING], tree.violating[node] / mass)
    work.result[VIOLATING32] = max(work.result[VIOLATING], min(work.result[VIOLATING32], tree.violating32[node] / mass))
    work.result[FALSIFIED] = max(work.result[FALSIFIED], falsified)
    tree.cut[slot] = limit
    _queue(work, tree, node, slot, most)


@exact
def expand(net: Net, work: Work, tree: Tree, budget: int, small: int, cells: int) -> int:
    """Expand the heaviest open nodes until about ``budget`` analyses are spent: cut them, then split them."""
    before = tree.counts[EVALUATED]
    while tree.counts[HEAP] > 0 and tree.counts[EVALUATED] - before < budget:
        if tree.counts[NODES] + 2 > len(tree.parent) or (
            tree.counts[FREE] < 2 and tree.counts[SLOTS] + 2 > len(tree.split)
        ):
            break
        most = tree.key[0]
        node = _pop(tree)
        slot = tree.slot[node]
        unseen = tree.split[slot] == UNSEEN
        if not unseen and tree.cut[slot] < tree.counts[REGIONS]:
            _cut_open(net, work, tree, node, slot, tree.counts[REGIONS], cells, most)
            continue
        code = tree.split[slot]
        if not unseen:
            tree.axis[node] = code
        # A root that has not been looked at is settled itself, any other node by its two halves.
        for side in range(1 if unseen else 2):
            child = node
            where = slot
            if not unseen:
                child = tree.counts[NODES]
                tree.counts[NODES] += 1
                tree.parent[child] = node
                tree.component[child] = tree.component[node]
                tree.slot[node] = -1
                if side == 0:
                    where = take_slot(tree)
                    copy_slot(tree, slot, where)
                tree.mass[child] = tree.mass[node] * cut_slot(net, tree, where, code, side == 1)
            _settle(net, work, tree, child, where, small, cells, most)
    return int(tree.counts[EVALUATED] - before)


@exact
def totals(tree: Tree, own, of_children, has_children, upper: bool):  # type: ignore[no-untyped-def]
    """Values of all nodes bottom-up, in place in ``of_children``: own bounds or the children's, the better."""
    count = tree.counts[NODES]
    for node in range(count):
        of_children[node] = 0.0
        has_children[node] = 0
    for step in range(count):
        node = count - 1 - step
        value = own[node]
        if has_children[node]:
            value = min(value, of_children[node]) if upper else max(value, of_children[node])
        of_children[node] = value
        above = tree.parent[node]
        if above >= 0:
            of_children[above] += value
            has_children[above] = 1
