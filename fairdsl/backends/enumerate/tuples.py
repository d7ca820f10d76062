"""Who breaks a demand, tuple by tuple: any formula, of one individual or of several, as the definition has it.

Of pairs, everybody is taken as ``a`` at once and given one value of what may differ after the other as ``b``, so that
the work is one array for each such value and not one step for each pair; and so on with a third.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.contract import Budget, Observer
from fairdsl.backends.demands import Judge, Judged, Measured
from fairdsl.backends.enumerate.census import Census
from fairdsl.backends.enumerate.marks import Marks
from fairdsl.clock import Work, spend
from fairdsl.ir.demand import Demanded
from fairdsl.ir.expr import TRUE, Who
from fairdsl.ir.question import Differ
from fairdsl.numerics.grid import window
from fairdsl.numerics.narrow import Finite
from fairdsl.numerics.predicates import mask

BoolArray = NDArray[np.bool_]
Integers = NDArray[np.int64]
#: Those in some violating tuples, by individual: flat indices.
Kept = Mapping[Who, Integers]

#: What is counted where effort is given.
_PAIRS = Work("pairs compared", 0.02)
#: Tuples that are judged at once, and that are kept to be replayed.
_BLOCK, _KEPT = 2**18, 4096


def steps_of(asked: Demanded, sets: Sequence[Finite]) -> dict[int, range]:
    """By how many positions another individual may be away from one, in each attribute that need not be equal.

    Where that reaches beyond all of the values, it is their positions themselves, from 0.
    """
    found = {axis: range(sets[axis].count) for axis in asked.pair.differ}
    for relaxed in asked.pair.relax:
        starts, stops = window(sets[relaxed.attribute], relaxed.by)
        own, count = np.arange(len(starts)), len(starts)
        steps = range(int((starts - own).min(initial=0)), int((stops - own).max(initial=0)))
        found[relaxed.attribute] = steps if len(steps) < count else range(count)
    return dict(sorted(found.items()))


def mark_by_tuples(
    census: Census, judge: Judge, measured: Measured, budget: Budget, observer: Observer, *, files: bool = False
) -> tuple[Marks, Kept]:
    """Marks for any question, and some tuples that violate; those that the budget does not reach are undecided.

    ``measured`` are those seen, with ``files`` as the deployed files have it. Of a one-sided question those are marked
    whom it names.
    """
    asked, size = judge.asked, census.grid.size
    violating, paired, undecided = (np.zeros(size, dtype=np.bool_) for _ in range(3))
    ends = asked.people if asked.one_sided is None else (asked.one_sided,)
    kept: dict[Who, list[Integers]] = {who: [np.zeros(0, dtype=np.int64)] for who in asked.people}
    people, count = dict.fromkeys(asked.people, measured), 0
    place = np.full(size, -1, dtype=np.int64)
    place[census.listed] = np.arange(len(census.listed))
    for done, rows in _blocks(census, asked, place):
        rows, sure = _sure_enough(census, rows)
        places = {who: place[indices] for who, indices in rows.items()}
        seen = np.logical_and.reduce([at < len(measured) for at in places.values()])
        judged = _judged(judge, people, places, seen, budget, files=files)
        spend(_PAIRS, len(seen))
        if budget.exhausted:
            # Who has a partner at all is then not known either: everybody's demand is undecided.
            undecided[:] = True
            break
        # Where it stays open whether the pair counts, so does what it would break.
        breaks, unknown = judged.violating & sure, judged.undecided | ~sure
        for marked, chosen in ((paired, judged.asked & sure), (violating, breaks), (undecided, unknown)):
            for end in ends:
                marked[rows[end][chosen]] = True
        if count < _KEPT and breaks.any():
            some = np.flatnonzero(breaks)[:_KEPT]
            count += len(some)
            for who, indices in rows.items():
                kept[who].append(indices[some])
        observer.progress("pairs", done, "")
    shape = census.grid.shape
    marks = Marks(violating.reshape(shape), paired.reshape(shape), undecided.reshape(shape) & census.admissible)
    return marks, {who: np.concatenate(parts) for who, parts in kept.items()}


def _judged(
    judge: Judge,
    people: Mapping[Who, Measured],
    places: Mapping[Who, Integers],
    seen: BoolArray,
    budget: Budget,
    *,
    files: bool,
) -> Judged:
    """The tuples; those with somebody who was not seen stay open."""
    if seen.all():
        return judge.judge(people, places, files=files, budget=budget)
    premise, broken = (np.zeros(len(seen), dtype=np.int8) for _ in range(2))
    if seen.any():
        known = judge.judge(people, {who: at[seen] for who, at in places.items()}, files=files, budget=budget)
        premise[seen], broken[seen] = known.premise, known.broken
    return Judged(premise, broken)


def _sure_enough(census: Census, rows: Mapping[Who, Integers]) -> tuple[Mapping[Who, Integers], BoolArray]:
    """The tuples whose individuals the model may be sure enough of, and whether it is."""
    perhaps = [census.perhaps(who).reshape(-1)[indices] for who, indices in rows.items()]
    inside = np.logical_and.reduce(perhaps)
    kept = rows if inside.all() else {who: indices[inside] for who, indices in rows.items()}
    return kept, np.logical_and.reduce([census.surely(who).reshape(-1)[indices] for who, indices in kept.items()])


def pairs_in_force(
    census: Census, asked: Demanded, place: Integers
) -> Iterator[tuple[Mapping[Who, Integers], BoolArray]]:
    """Pairs that are compared as flat indices, and whether the model is sure enough of both, which may be open."""
    for _, rows in _blocks(census, asked, place):
        yield _sure_enough(census, rows)


def _blocks(census: Census, asked: Demanded, place: Integers) -> Iterator[tuple[float, Mapping[Who, Integers]]]:
    """Tuples that the question speaks of as flat indices, with the fraction done."""
    pair, grid = asked.pair, census.grid
    partners = _Partners(census, asked, place)
    for start in range(0, len(census.listed), _BLOCK):
        first = census.listed[start : start + _BLOCK]
        if asked.alone:
            yield start / len(census.listed), {Who.EACH: first}
            continue
        for done, rows in partners.grown({Who.A: first}):
            if pair.pair_target != TRUE:
                inside = mask(pair.pair_target, {who: grid.points(indices) for who, indices in rows.items()})
                rows = {who: indices[inside] for who, indices in rows.items()}
            if len(rows[Who.A]):
                yield (start + len(first) * done) / len(census.listed), rows


class _Partners:
    """Who may be compared with whom, as far as values tell: each two of a tuple."""

    def __init__(self, census: Census, asked: Demanded, place: Integers) -> None:
        self._asked, self._grid, self._place = asked, census.grid, place
        steps, shape = steps_of(asked, census.grid.sets), census.grid.shape
        self._free, self._from_own = [*steps], {axis for axis in steps if len(steps[axis]) < shape[axis]}
        self._values = list(product(*steps.values()))
        self._strides = {axis: prod(shape[axis + 1 :]) for axis in self._free}
        self._windows = {each.attribute: census.grid.window(each.attribute, each.by) for each in asked.pair.relax}
        self._joined = np.logical_and if asked.pair.mode is Differ.EACH else np.logical_or

    def grown(self, rows: Mapping[Who, Integers]) -> Iterator[tuple[float, Mapping[Who, Integers]]]:
        """The tuples that begin with these, as many at once as take the same values of what may differ."""
        if len(rows) == len(self._asked.people):
            yield 0.0, rows
            return
        own = [{axis: self._own(axis, indices) for axis in self._free} for indices in rows.values()]
        first = rows[Who.A]
        base = first - sum((own[0][axis] * self._strides[axis] for axis in self._free), np.zeros_like(first))
        for number, values in enumerate(self._values):
            at = {
                axis: own[0][axis] + value if axis in self._from_own else value
                for axis, value in zip(self._free, values, strict=True)
            }
            new = base + sum(value * self._strides[axis] for axis, value in at.items())
            # Who is beyond the last value is near to nobody, and stands at anybody's place until then.
            there = self._place[np.clip(new, 0, len(self._place) - 1)] >= 0
            fits = np.logical_and.reduce([there, *(self._near(one, at) for one in own)])
            if fits.any():
                larger = {who: indices[fits] for who, indices in rows.items()}
                for done, grown in self.grown({**larger, self._asked.people[len(rows)]: new[fits]}):
                    yield (number + done) / len(self._values), grown

    def _own(self, axis: int, indices: Integers) -> Integers:
        return np.asarray(indices // self._strides[axis] % self._grid.shape[axis], dtype=np.int64)

    def _near(self, own: Mapping[int, Integers], at: Mapping[int, int | Integers]) -> BoolArray:
        """Which of some individuals may be compared with one who has these values."""
        fits = self._joined.reduce([own[axis] != at[axis] for axis in self._asked.pair.differ])
        for axis, (starts, stops) in self._windows.items():
            fits &= (starts[own[axis]] <= at[axis]) & (at[axis] < stops[own[axis]])
        return np.asarray(fits, dtype=np.bool_)
