"""A refinement of many trees as a tree of boxes with what is claimed at each: the form in which results are files.

A node is cut where the file says, so whoever knows the roots knows every box; what was taken off at its ends (*peeled*)
before it was cut is said too. Nothing of the kernels' state is stored: it follows from the boxes. The rest are *claims*
(:mod:`.recheck`): what became of that part of a node's box that is not in its halves, exactly, and how much of a box is
fair at least. Docs: docs/jobs.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple, dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.leaf_boxes.descent import Counts
from fairdsl.backends.leaf_boxes.graft import DONE, HEAP, USED, empty
from fairdsl.backends.leaf_boxes.kernels.records import FAIR, STUCK, UNFAIR, VACUOUS, Boxes, Floats, Integers
from fairdsl.backends.leaf_boxes.kernels.waiting import WAITING
from fairdsl.backends.leaf_boxes.sizes import Sizes
from fairdsl.backends.leaf_boxes.tally import KINDS
from fairdsl.backends.refining.records import flags, narrow, starts_of
from fairdsl.backends.refining.refinement import State

Kept = Mapping[str, NDArray[Any]]
Flags = NDArray[np.bool_]

#: What is said of a node's own part; the rest of it is fair.
_SAID = {"unfair": UNFAIR, "vacuous": VACUOUS, "stuck": STUCK}
#: Steps of squares in which it is said how much of a box is open, rounded up.
_STEPS = 2**16 - 1
#: Bits of a whole number in one column of an array.
_BITS = 60
_CLOSED = -2


@dataclass(frozen=True, slots=True, kw_only=True)
class Nodes:
    """The nodes of a stored tree, level by level: the nodes of level i are those from ``starts[i]`` on.

    ``given`` are the ends of a node's box as it was cut off, ``left`` of what was left of it (nothing of a closed one),
    [nodes, axes]; ``tally`` what became of the difference, [nodes, kinds]. ``mass`` is the share of what is left,
    ``bound`` what of everything is fair in there at least, ``shown`` in the whole of it, by all that is below.
    """

    starts: list[int]
    inner: Flags
    closed: Flags
    given: tuple[Integers, Integers]
    left: tuple[Integers, Integers]
    axis: Integers
    cut: Integers
    size: NDArray[Any]
    tally: NDArray[Any]
    mass: Floats
    bound: Floats
    peeled: Floats
    shown: Floats
    below: Floats
    effort: Integers


def _roots(state: State) -> int:
    """The roots of a state that was lent: each has a holder."""
    return int((state["parent"] == -1).sum()) // 2


def stored(sizes: Sizes, begun: State, state: State) -> dict[str, NDArray[Any]]:
    """What a file keeps of a state that grew from what it was when it had ``begun``."""
    child, roots = state["child"], _roots(begun)
    order = [np.arange(roots)]
    while len(order[-1]):
        halved = child[order[-1]]
        order.append(np.stack([halved[halved >= 0], halved[halved >= 0] + 1], axis=1).ravel())
    nodes = np.concatenate(order)
    inner, closed = child[nodes] >= 0, child[nodes] == _CLOSED
    low, high, axis, cut = (state[name][nodes] for name in ("low", "high", "axis", "cut"))
    given = _given(sizes, begun, inner, low, high, axis, cut)
    alive = ~closed
    mass, fair, peeled = (state[name][nodes[alive]] for name in ("mass", "fair", "peeled"))
    share = np.divide(np.maximum(fair - peeled, 0.0), mass, out=np.zeros_like(mass), where=mass > 0.0)
    open_ = np.clip(1.0 - share * (1.0 - 1e-12), 0.0, 1.0)
    code = np.ceil(np.sqrt(open_) * _STEPS)
    code += (np.square(code / _STEPS) < open_) & (code < _STEPS)
    ends = {"begin": (low - given[0])[alive], "end": (given[1] - high)[alive]}
    tally = state["tally"][nodes]
    return {
        "inner": inner,
        "closed": closed[~inner],
        "axis": narrow(axis[alive]),
        "cut": narrow(cut[alive]),
        **{name: narrow(np.where(sizes.ordered, each, 0)) for name, each in ends.items()},
        "open": code.astype(np.uint16),
        **{name: _columns(tally[:, kind], sizes.total) for name, kind in _SAID.items()},
        "effort": state["counts"][DONE].copy(),
        "pace": state["pace"].copy(),
    }


def _columns(values: NDArray[Any], most: int) -> NDArray[Any]:
    """Whole numbers from 0, in columns of so many bits, the lowest first."""
    count = max(1, -(-most.bit_length() // _BITS))
    if not values.any():
        return np.zeros((len(values), count), dtype=np.uint8)
    return np.stack([narrow((values >> (_BITS * at)) & (2**_BITS - 1)) for at in range(count)], axis=1)


def whole(kept: Kept, name: str, shape: tuple[int, ...], kind: Any = np.int64) -> NDArray[Any]:
    """An array of a file that is to be whole numbers of that shape; ValueError where it is not."""
    array = kept[name]
    if array.shape != shape or array.dtype.kind not in "iu":
        raise ValueError(f"`{name}` is not a list of whole numbers, or of another length")
    return array.astype(kind)


def halves(sizes: Sizes, low: Integers, high: Integers, axis: Integers, cut: Integers) -> tuple[Integers, Integers]:
    """Both sides of each box, one behind the other."""
    low, high = low.repeat(2, axis=0), high.repeat(2, axis=0)
    first, ordered = np.arange(0, len(low), 2), sizes.ordered[axis]
    lines, sets = np.flatnonzero(ordered), np.flatnonzero(~ordered)
    high[first[lines], axis[lines]] = low[first[lines] + 1, axis[lines]] = cut[lines]
    low[first[sets], axis[sets]] &= cut[sets]
    low[first[sets] + 1, axis[sets]] &= ~cut[sets]
    return low, high


def _given(
    sizes: Sizes, begun: State, inner: Flags, low: Integers, high: Integers, axis: Integers, cut: Integers
) -> tuple[Integers, Integers]:
    """The box of each node as it was cut off."""
    roots = _roots(begun)
    split = np.flatnonzero(inner)
    both = halves(sizes, low[split], high[split], axis[split], cut[split])
    return tuple(  # type: ignore[return-value]
        np.concatenate([begun[name][:roots], half]) for name, half in zip(("low", "high"), both, strict=True)
    )


def nodes_of(sizes: Sizes, begun: State, kept: Kept) -> Nodes:
    """The tree that a file keeps; ValueError for what is not one of these roots, with claims that nodes can have."""
    try:
        return _nodes_of(sizes, begun, kept)
    except (KeyError, IndexError, OverflowError) as error:
        raise ValueError("an array is missing, or of another length") from error


def _nodes_of(sizes: Sizes, begun: State, kept: Kept) -> Nodes:
    inner, roots, axes = flags(kept, "inner"), _roots(begun), len(sizes.axes)
    starts, count = starts_of(inner, roots), len(inner)
    closed = np.zeros(count, dtype=np.bool_)
    closed[~inner] = flags(kept, "closed")
    alive = np.flatnonzero(~closed)
    axis, cut = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
    axis[alive], cut[alive] = (whole(kept, name, (len(alive),)) for name in ("axis", "cut"))
    begin, end = (np.zeros((count, axes), dtype=np.int64) for _ in range(2))
    begin[alive], end[alive] = (whole(kept, name, (len(alive), axes)) for name in ("begin", "end"))
    if not ((axis >= 0) & (axis < max(1, axes))).all() or (begin < 0).any() or (end < 0).any():
        raise ValueError("a node is cut where nothing is")
    if (begin[:, ~sizes.ordered] | end[:, ~sizes.ordered]).any():
        raise ValueError("parts without an order have no ends")
    low, high, given_low, given_high = (np.zeros((count, axes), dtype=np.int64) for _ in range(4))
    given_low[:roots], given_high[:roots] = begun["low"][:roots], begun["high"][:roots]
    for start, stop, last in zip(starts, starts[1:], [*starts[2:], count], strict=False):
        here = slice(start, stop)
        low[here], high[here] = given_low[here] + begin[here], given_high[here] - end[here]
        split = start + np.flatnonzero(inner[here])
        both = halves(sizes, low[split], high[split], axis[split], cut[split])
        given_low[stop:last], given_high[stop:last] = both
    given, left = (given_low, given_high), (low, high)
    _check_boxes(sizes, left, alive, axis, cut)
    shares, size = _sizes_of(sizes, given, left, closed)
    tally = np.zeros((count, KINDS), dtype=sizes.kind)
    for name, kind in _SAID.items():
        columns = -(-max(1, sizes.total.bit_length()) // _BITS)
        said = whole(kept, name, (count, columns), sizes.kind)
        tally[:, kind] = sum(said[:, at] << (_BITS * at) for at in range(columns))
    tally[:, FAIR] = size - tally.sum(axis=1)
    if (tally < 0).any():
        raise ValueError("a node claims more than it has, or less than nothing")
    code = whole(kept, "open", (len(alive),))
    if ((code < 0) | (code > _STEPS)).any():
        raise ValueError("a node leaves more open than it has")
    bound = np.zeros(count)
    bound[alive] = shares[alive] * (1.0 - np.square(code / _STEPS)) * (1.0 - 1e-12)
    if (begin[:roots] | end[:roots]).any():
        raise ValueError("something is taken off a part that it began with")
    # What is known of each root was found before it was lent.
    peeled = share_of(tally[:, FAIR], sizes.total)
    peeled[:roots] += begun["peeled"][:roots]
    bound[:roots] = np.where(closed[:roots], 0.0, begun["fair"][:roots] - begun["peeled"][:roots])
    shown, below = _shown(starts, inner, peeled, bound)
    effort = whole(kept, "effort", (4,))
    if (effort < 0).any() or (effort >= 2**60).any():
        raise ValueError("an effort counts nothing")
    return Nodes(
        starts=starts,
        inner=inner,
        closed=closed,
        given=given,
        left=left,
        axis=axis,
        cut=cut,
        size=size,
        tally=tally,
        mass=shares,
        bound=bound,
        peeled=peeled,
        shown=shown,
        below=below,
        effort=effort,
    )


def _check_boxes(sizes: Sizes, left: tuple[Integers, Integers], alive: Integers, axis: Integers, cut: Integers) -> None:
    low, high = (ends[alive] for ends in left)
    if not np.where(sizes.ordered, low < high, low != 0).all():
        raise ValueError("nothing is left of a box")
    check_cuts(sizes, (low, high), axis[alive], cut[alive])


def check_cuts(sizes: Sizes, boxes: tuple[Integers, Integers], axis: Integers, cut: Integers) -> None:
    """ValueError unless each box is cut into two, along one of its axes."""
    rows = np.arange(len(axis))
    if not len(rows):
        return
    if not len(sizes.axes):
        raise ValueError("there is nothing to cut")
    begin, end = (ends[rows, axis] for ends in boxes)
    apart = np.where(sizes.ordered[axis], (begin < cut) & (cut < end), (begin & cut != 0) & (begin & ~cut != 0))
    if not apart.all():
        raise ValueError("a box is cut where it ends")


def _sizes_of(
    sizes: Sizes, given: tuple[Integers, Integers], left: tuple[Integers, Integers], closed: Flags
) -> tuple[Floats, NDArray[Any]]:
    """What is left of each box, as a share of everything, and the exact size of the rest of it."""
    rest = np.where(closed, 0, sizes.each(*left))
    return share_of(rest, sizes.total), sizes.each(*given) - rest


def share_of(amounts: NDArray[Any], total: int) -> Floats:
    """Sizes as shares of the whole."""
    if amounts.dtype == np.int64:
        return np.asarray(amounts / total, dtype=np.float64)
    return np.array([float(Fraction(int(each), total)) if total else 0.0 for each in amounts], dtype=np.float64)


def _shown(starts: list[int], inner: Flags, peeled: Floats, bound: Floats) -> tuple[Floats, Floats]:
    """What is fair of each node at least, its own bound or what its halves show, and the latter alone."""
    shown, below = peeled + bound, peeled.copy()
    for start, stop in reversed(list(pairwise(starts))):
        split = start + np.flatnonzero(inner[start:stop])
        first = stop + 2 * np.arange(len(split))
        below[split] += shown[first] + shown[first + 1]
        shown[split] = np.maximum(shown[split], below[split])
    return shown, below


def restored(sizes: Sizes, begun: State, kept: Kept) -> tuple[State, Nodes]:
    """The state that a file keeps, to go on from, and its nodes; ``begun`` is the state that it began with.

    ValueError for what is not a tree of cuts of these roots, with claims that a node can have.
    """
    nodes = nodes_of(sizes, begun, kept)
    roots, count = _roots(begun), len(nodes.inner)
    number = np.arange(count) + np.where(np.arange(count) < roots, 0, roots)
    boxes = empty(count + roots, len(sizes.axes))
    boxes.counts[DONE], boxes.counts[USED] = nodes.effort, count + roots
    _enter(boxes, begun, nodes, number, roots)
    waiting = np.flatnonzero(~nodes.inner & ~nodes.closed)
    key = nodes.mass[waiting] * boxes.left[number[waiting]]
    order = np.lexsort((waiting, -key))  # a sorted array is a heap
    pace = np.asarray(kept["pace"], dtype=np.float64)
    if pace.shape != boxes.pace.shape or not np.isfinite(pace).all() or not 0.0 <= pace[-1] < 2**40:
        raise ValueError("`pace` does not say how fast it was")
    pace[WAITING], boxes.counts[HEAP] = key.sum(), len(waiting)
    tally = np.zeros((count + roots, KINDS), dtype=sizes.kind)
    tally[number] = nodes.tally
    exactly = Counts(
        fair=sum(nodes.tally[:, FAIR].tolist()),
        vacuous=sum(nodes.tally[:, VACUOUS].tolist()),
        unfair=sum(nodes.tally[:, UNFAIR].tolist()),
        undecided=sum(nodes.tally[:, STUCK].tolist()),
        boxes=int(nodes.closed.sum()),
    )
    state = boxes._asdict() | {
        "heap": number[waiting[order]],
        "keys": key[order],
        "free": np.zeros(0, dtype=np.int64),
        "pace": pace,
        "tally": tally,
        "exactly": astuple(exactly),
        "unfair": begun["unfair"],
    }
    return state, nodes


def _enter(boxes: Boxes, begun: State, nodes: Nodes, number: Integers, roots: int) -> None:
    """The columns of a state: nodes in their order, with holders between the roots and the rest."""
    boxes.low[number], boxes.high[number] = nodes.left
    boxes.axis[number], boxes.cut[number], boxes.mass[number] = nodes.axis, nodes.cut, nodes.mass
    boxes.peeled[number], boxes.below[number] = nodes.peeled, nodes.below
    boxes.fair[number] = nodes.peeled + nodes.bound
    split = np.flatnonzero(nodes.inner)
    child = np.where(nodes.closed, _CLOSED, -1)
    first = roots + 2 * np.arange(len(split))
    child[split] = first + roots
    boxes.child[number] = child
    boxes.parent[: 2 * roots] = boxes.above[: 2 * roots] = boxes.child[roots : 2 * roots] = -1
    left = np.where(nodes.mass > 0.0, np.minimum(1.0, 1.0 - nodes.bound / np.maximum(nodes.mass, 1e-300)), 0.0)
    above = np.full(len(number), -1, dtype=np.int64)
    above[:roots] = np.arange(roots, 2 * roots)
    left[:roots] = begun["left"][:roots]
    boxes.below[roots : 2 * roots] = np.maximum(0.0, nodes.shown[:roots] - begun["fair"][:roots])
    boxes.known[1] = len(number)
    for start, stop in pairwise(nodes.starts):
        parents = start + np.flatnonzero(nodes.inner[start:stop])
        own = np.where(nodes.bound[parents] > 0.0, number[parents], above[parents])
        for half in range(2):
            halves = stop + 2 * np.arange(len(parents)) + half
            above[halves], left[halves] = own, np.minimum(left[halves], left[parents])
            boxes.parent[number[halves]] = number[parents]
    boxes.above[number], boxes.left[number] = above, left
