"""What a file keeps of a refinement of pairs: how boxes were cut, and what became of each that was not.

Whoever knows the boxes that a part began with knows every other one. What became of a box is a claim, which follows
from the box alone: it is recomputed by looking at it, and where that leaves it open, at its parts. Docs: docs/jobs.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import astuple, dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.leaf_boxes.descent import Counts, UnfairBoxes
from fairdsl.backends.leaf_boxes.judging import Fate, Judge, Question
from fairdsl.backends.leaf_boxes.kept import check_cuts, halves, share_of, whole
from fairdsl.backends.leaf_boxes.pairings import sizes_of
from fairdsl.backends.leaf_boxes.reach import Units, parted
from fairdsl.backends.refining.recheck import Checked, Claimed, Recheck, said_of, sample
from fairdsl.backends.refining.records import by_levels, flags, narrow, starts_of
from fairdsl.backends.refining.refinement import State
from fairdsl.backends.refining.splits import Splits

Integers = NDArray[np.int64]

#: Parts of a box that are looked at where it is left open as a whole.
_LOOKS = 4096
#: What is claimed of boxes, by what becomes of the shares where it is wrong.
_CLAIMS = {"violating": Fate.FAIR, "falsified": Fate.UNFAIR, "vacuous": Fate.VACUOUS, "absent": Fate.ABSENT}


@dataclass(frozen=True, slots=True)
class Claims:
    """Boxes that were not cut, in the order of their file; what became of each, and how large it is."""

    units: Units
    fates: Integers
    sizes: NDArray[Any]


def stored(begun: State, state: State) -> dict[str, NDArray[Any]]:
    """What a file keeps of a state that grew from what it was when it had ``begun``."""
    order = by_levels(state["child"], np.arange(len(begun["low"])))
    inner = state["child"][order] >= 0
    return {
        "inner": inner,
        "axis": narrow(state["axis"][order][inner]),
        "cut": narrow(state["cut"][order][inner]),
        "fate": state["fate"][order][~inner].astype(np.uint8),
        "effort": np.array([state["looked_at"], state["visited"]], dtype=np.int64),
    }


def restored(task: Question, begun: State, kept: Mapping[str, NDArray[Any]]) -> tuple[State, Claims]:
    """The state that a file keeps, to go on from, and its claims; ``begun`` is the state that it began with.

    ValueError for what is not a tree of cuts of these boxes.
    """
    try:
        return _restored(task, begun, kept)
    except (KeyError, IndexError, OverflowError) as error:
        raise ValueError("an array is missing, or of another length") from error


def _restored(task: Question, begun: State, kept: Mapping[str, NDArray[Any]]) -> tuple[State, Claims]:
    sizes, roots = task.sizes, len(begun["low"])
    inner = flags(kept, "inner")
    starts = starts_of(inner, roots)
    count, split = len(inner), np.flatnonzero(inner)
    axis, cut, fates = (np.zeros(count, dtype=np.int64) for _ in range(3))
    axis[split], cut[split] = (whole(kept, name, (len(split),)) for name in ("axis", "cut"))
    fates[~inner] = whole(kept, "fate", (count - len(split),))
    effort = whole(kept, "effort", (2,))
    if not ((fates >= 0) & (fates < len(Fate))).all() or not ((effort >= 0) & (effort < 2**60)).all():
        raise ValueError("nothing becomes of a box, or an effort counts nothing")
    if not ((axis >= 0) & (axis < max(1, len(sizes.axes)))).all():
        raise ValueError("a box is cut where nothing is")
    low, high = (np.zeros((count, len(sizes.axes)), dtype=np.int64) for _ in range(2))
    own, child = np.zeros(count, dtype=np.int64), np.full(count, -1, dtype=np.int64)
    low[:roots], high[:roots], own[:roots] = begun["low"], begun["high"], begun["own"]
    for start, stop in pairwise(starts):
        here = start + np.flatnonzero(inner[start:stop])
        check_cuts(sizes, (low[here], high[here]), axis[here], cut[here])
        below = slice(stop, stop + 2 * len(here))
        low[below], high[below] = halves(sizes, low[here], high[here], axis[here], cut[here])
        own[below], child[here] = own[here].repeat(2), stop + 2 * np.arange(len(here))
    leaves = np.flatnonzero(~inner)
    units = Units(low[leaves], high[leaves], own[leaves], leaves)
    claims = Claims(units, fates[leaves], sizes_of(task, units))
    open_ = units.at(claims.fates == Fate.OPEN)
    splits = {"child": child, "axis": axis, "cut": cut, "fate": fates.astype(np.int8)}
    assert splits.keys() == Splits(0).state().keys(), "nothing else is known of boxes"
    none = UnfairBoxes.none(len(sizes.axes))
    found = {name: getattr(open_, name) for name in Units.__slots__} | splits
    found |= {"looked_at": int(effort[0]), "visited": int(effort[1]), "counted": astuple(_counted(claims))}
    found |= {"absent": _size(claims, Fate.ABSENT)}
    return found | {"unfair": tuple(getattr(none, name) for name in UnfairBoxes.__slots__)}, claims


def _size(claims: Claims, fate: Fate) -> int:
    return sum(claims.sizes[claims.fates == fate].tolist())


def _counted(claims: Claims) -> Counts:
    fates = claims.fates
    return Counts(
        fair=_size(claims, Fate.FAIR),
        vacuous=_size(claims, Fate.VACUOUS),
        unfair=_size(claims, Fate.UNFAIR),
        undecided=_size(claims, Fate.STUCK),
        unfair_boxes=int((fates == Fate.UNFAIR).sum()),
        open_boxes=int((fates == Fate.STUCK).sum()),
        boxes=int(((fates != Fate.OPEN) & (fates != Fate.ABSENT)).sum()),
        paired=bool(np.isin(fates, (Fate.FAIR, Fate.UNFAIR, Fate.STUCK)).any()),
    )


def check(task: Question, claims: Claims, how: Recheck, total: int) -> Checked:
    """Recompute claims of a stored refinement, of units of that ``total``; ValueError where one is not confirmed."""
    credit = share_of(claims.sizes, total) if total else np.full(len(claims.fates), 1.0 / max(1, len(claims.fates)))
    of = [
        Claimed(name, places, credit[places])
        for name, fate in _CLAIMS.items()
        if len(places := np.flatnonzero(claims.fates == fate))
    ]
    drawn, wrong = sample(of, how)
    judge = Judge(task)
    for name, places in drawn.items():
        for some in _some(places, judge.at_once):
            found = judge.judged(claims.units.at(some)).fate
            for place in some[found != _CLAIMS[name]].tolist():
                _confirm(task, judge, claims.units.at(slice(place, place + 1)), _CLAIMS[name])
    lost, sampled = said_of(of, drawn, wrong, how)
    return Checked(**lost, sampled=sampled)


def _some(places: Integers, most: int) -> Iterator[Integers]:
    for start in range(0, len(places), most):
        yield places[start : start + most]


def _confirm(task: Question, judge: Judge, units: Units, fate: Fate) -> None:
    """Look at a box by itself, and at parts of it: how sharp a look is may depend on what is looked at beside it."""
    waiting, number = [units], int(units.number[0])
    for _ in range(_LOOKS):
        if not waiting:
            return
        one = waiting.pop()
        found = judge.judged(one)
        if found.fate[0] == Fate.OPEN:
            low, high = parted(one.low, one.high, found.cuts, task.sizes.ordered)
            pair = Units(low, high, one.own.repeat(2), one.number.repeat(2))
            waiting += [pair.at(slice(0, 1)), pair.at(slice(1, 2))]
        elif found.fate[0] != fate:
            break
    if waiting or found.fate[0] != fate:
        raise ValueError(f"what its box {number} claims does not come out where it is computed again")
