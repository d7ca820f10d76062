"""Claims of a stored refinement, recomputed: all of them, or some that are drawn at random by what they claim.

A claim is that at most so much of a box is treated unfairly, or at least so much. It is confirmed by any analysis that
comes to no less: one of the box as a whole, with nothing known of its units, and where that is not enough a refinement
of the box. A claim that is not confirmed refuses the file.

The theorem behind a sample. Let p be the share of the credit (what a claim decides, added over all claims) that lies in
claims that are wrong. Each draw with probability proportional to the credit, with replacement, hits a wrong one with
probability p, so n draws hit none with probability (1 - p)^n. If that is at least d then p <= 1 - d^(1/n): the exact
one-sided Clopper-Pearson bound for no failure in n trials (Biometrika 26, 1934). A wrong claim is wrong by its whole
credit at most, so what is claimed is lowered by that share of all credit. Kinds of claims are drawn apart, each with
its part of d (Bonferroni).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import ceil
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.intervals.kernels.slots import CHOOSE_AT, COUNTS, HEAP, NODES, REGIONS, SLOTS, UNSEEN
from fairdsl.backends.intervals.leaves import Boxes, totals
from fairdsl.verdict import Sampled

__all__ = ["ALL", "Checked", "Recheck", "check", "wrong_at_most"]

State = Mapping[str, NDArray[Any]]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

#: The probability with which a sample misses that more is wrong than is said.
_DOUBT = Fraction(1, 100)
#: Analyses of each box that one analysis does not confirm, round by round.
ROUNDS = (64, 512, 4096)
#: Relative difference that is the rounding of a recomputation; totals are moved outward by more.
ROUNDING = 1e-12
#: Regions that a box is cut into where one analysis does not confirm its claim.
_REGIONS = 32
_NEVER = 2**60


@dataclass(frozen=True, slots=True, kw_only=True)
class Recheck:
    """How far claims are recomputed: ``draws`` of each kind (None: all); all where there are at most ``all_up_to``.

    The seed is chosen when the file is there: whoever knows it before can make a file whose sample is right.
    """

    draws: int | None = 1000
    all_up_to: int = 2000
    seed: int = 0
    #: How many files are believed together: each has its part of the doubt.
    files: int = 1


#: Everything is recomputed.
ALL = Recheck(draws=None)


@dataclass(frozen=True, slots=True)
class Claimed:
    """Claims of one kind: by which nodes, and what each decides of all units."""

    kind: str
    nodes: Integers
    credit: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What a check came to: by which shares of all decided units claims may be wrong, and what is said of it."""

    violating: Fraction = Fraction(0)
    falsified: Fraction = Fraction(0)
    violating32: Fraction = Fraction(0)
    sampled: Sampled


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


def wrong_at_most(draws: int, kinds: int) -> Fraction:
    """Of the credit, with 99 % confidence, where none of so many draws of each kind is wrong; rounded up."""
    share = 1.0 - float(_DOUBT / kinds) ** (1.0 / draws)
    return Fraction(ceil(share * 10**9), 10**9)


def sample(claims: list[Claimed], how: Recheck) -> tuple[dict[str, Integers], Fraction]:
    """The nodes to recompute, by kind of claim, and which share of the credit may be wrong where all are confirmed."""
    claims = [each for each in claims if len(each.nodes)]
    if how.draws is None or sum(len(each.nodes) for each in claims) <= how.all_up_to:
        return {each.kind: each.nodes for each in claims}, Fraction(0)
    rng = np.random.default_rng(how.seed)
    drawn = {
        each.kind: np.unique(rng.choice(each.nodes, size=how.draws, p=each.credit / each.credit.sum()))
        for each in claims
    }
    return drawn, wrong_at_most(how.draws, len(claims) * how.files)


def roots_of(boxes: Boxes, nodes: Integers, phase: NDArray[np.int8]) -> dict[str, NDArray[Any]]:
    """A state whose roots are the boxes of these nodes, of which nothing is known yet; each is looked at first."""
    count = len(nodes)
    numbers = np.arange(count, dtype=np.int64)
    counts = np.zeros(COUNTS, dtype=np.int64)
    counts[[NODES, SLOTS, HEAP]] = count
    counts[[REGIONS, CHOOSE_AT]] = _REGIONS, _NEVER
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
    credit = {each.kind: Fraction(float(each.credit.sum())) for each in claims}
    count, every = sum(map(len, drawn.values())), sum(len(each.nodes) for each in claims)
    return Checked(
        violating=wrong * credit["violating"],
        falsified=wrong * credit["falsified"],
        violating32=wrong * credit.get("violating32", Fraction(0)),
        sampled=Sampled(recomputed=count, of=every, wrong=wrong, seed=how.seed if wrong else None),
    )


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
