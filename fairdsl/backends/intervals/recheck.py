"""Claims of a stored refinement, recomputed: all of them, or some that are drawn at random by what they claim.

A claim is that at most so much of a box is treated unfairly, or at least so much. It is confirmed by any analysis that
comes to no less: one of the box as a whole, with nothing known of its units, and where that is not enough a refinement
of the box. A claim that is not confirmed refuses the file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.intervals.effort import NEVER
from fairdsl.backends.intervals.kernels.slots import CHOOSE_AT, COUNTS, HEAP, NODES, REGIONS, SLOTS, UNSEEN
from fairdsl.backends.intervals.leaves import Boxes, totals
from fairdsl.backends.refining.recheck import Checked, Claimed, Recheck, said_of, sample

State = Mapping[str, NDArray[Any]]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

#: Analyses of each box that one analysis does not confirm, round by round.
ROUNDS = (64, 512, 4096)
#: Relative difference that is the rounding of a recomputation; totals are moved outward by more.
ROUNDING = 1e-12
#: Regions that a box is cut into where one analysis does not confirm its claim.
_REGIONS = 32


def _counting(own: NDArray[np.bool_], boxes: Boxes) -> Integers:
    """The nodes whose own values make the roots': the topmost ones that count."""
    active = boxes.parent < 0
    for start, stop in pairwise(boxes.starts[1:]):
        above = boxes.parent[start:stop]
        active[start:stop] = active[above] & ~own[above]
    return np.flatnonzero(active & own)


def claims_of(state: State, boxes: Boxes, *, deployed: bool) -> Iterator[Claimed]:
    """The claims that the totals of a stored refinement rest on."""
    for kind in ("violating", "falsified", *(("violating32",) if deployed else ())):
        upper = kind != "falsified"
        values: Floats = state[kind]
        below = totals(values, boxes.inner, boxes.starts, upper=upper)[1]
        nodes = _counting(values <= below if upper else values >= below, boxes)
        credit = boxes.mass[nodes] - values[nodes] if upper else values[nodes]
        some = credit > 0
        yield Claimed(kind, nodes[some], credit[some])


def roots_of(boxes: Boxes, nodes: Integers, phase: NDArray[np.int8]) -> dict[str, NDArray[Any]]:
    """A state whose roots are the boxes of these nodes, of which nothing is known yet; each is looked at first."""
    count = len(nodes)
    numbers = np.arange(count, dtype=np.int64)
    counts = np.zeros(COUNTS, dtype=np.int64)
    counts[[NODES, SLOTS, HEAP]] = count
    counts[[REGIONS, CHOOSE_AT]] = _REGIONS, NEVER
    mass = boxes.mass[nodes]
    return {
        "counts": counts,
        "parent": np.full(count, -1, dtype=np.int64),
        "component": np.zeros(count, dtype=np.int32),
        "violating": mass.copy(),
        "falsified": np.zeros(count),
        "violating32": mass.copy(),
        "axis": np.full(count, -1, dtype=np.int32),
        "slot": numbers,
        "low": boxes.low[nodes].astype(np.int32),
        "high": boxes.high[nodes].astype(np.int32),
        "path_low": boxes.path_low[nodes],
        "path_high": boxes.path_high[nodes],
        "phase": phase[boxes.root[nodes]],
        "comparison": boxes.comparison[nodes].astype(np.int32),
        "split": np.full(count, UNSEEN, dtype=np.int32),
        "cut": np.zeros(count, dtype=np.int32),
        "mass": mass.copy(),
        "free": np.zeros(0, dtype=np.int64),
        "heap": numbers,
        # More than any share: what was not looked at comes before all that was.
        "key": np.full(count, 2.0),
    }


class Refining(Protocol):
    """What confirms: a refinement of some roots."""

    def advance(self, nodes: int) -> int:
        """Analyse so many boxes."""

    def decide_ties(self) -> None:
        """Decide what is known to be in doubt for rounding alone."""

    def of_roots(self) -> Mapping[str, Floats]:
        """What is known of each root, by kind of claim."""


def check(
    state: State,
    boxes: Boxes,
    phase: NDArray[np.int8],
    how: Recheck,
    refining: Callable[[State], Refining],
    *,
    deployed: bool,
) -> Checked:
    """Recompute claims of a stored refinement; ValueError where one is not confirmed.

    ``phase`` is what is known of units at each root, ``refining`` makes a refinement of a state.
    """
    claims = list(claims_of(state, boxes, deployed=deployed))
    drawn, wrong = sample(claims, how)
    _confirm(state, boxes, phase, drawn, refining)
    lost, sampled = said_of(claims, drawn, wrong, how)
    return Checked(**lost, sampled=sampled)


def _confirm(
    state: State,
    boxes: Boxes,
    phase: NDArray[np.int8],
    drawn: Mapping[str, Integers],
    refining: Callable[[State], Refining],
) -> None:
    """Look at the box of each claim, and refine those that one look does not confirm; ValueError for what is left."""
    left = np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *drawn.values()]))
    for more in (0, *ROUNDS):
        if not len(left):
            return
        found = refining(roots_of(boxes, left, phase))
        found.advance(len(left))
        if more:
            found.decide_ties()
            found.advance(len(left) * more)
        left = left[_unconfirmed(state, left, drawn, found.of_roots())]
    if len(left):
        raise ValueError(f"what its node {int(left[0])} claims does not come out where it is computed again")


def _unconfirmed(
    state: State, nodes: Integers, drawn: Mapping[str, Integers], found: Mapping[str, Floats]
) -> NDArray[np.bool_]:
    """Which of the nodes claim more than was found."""
    wrong = np.zeros(len(nodes), dtype=np.bool_)
    for kind, claiming in drawn.items():
        claimed, computed = state[kind][nodes], found[kind]
        off = computed > claimed * (1 + ROUNDING) if kind != "falsified" else computed < claimed * (1 - ROUNDING)
        wrong |= off & np.isin(nodes, claiming)
    return wrong
