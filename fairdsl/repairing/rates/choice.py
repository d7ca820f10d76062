"""Which thresholds: those that decide most rows rightly among those that meet what is required.

All combinations of a few thresholds for each group are tried, and from the best of them one group after the other,
among more. What is not met counts by how far it is off.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.contract import Budget
from fairdsl.metrics import Counted, RowKeys, value_of
from fairdsl.repairing.rates.subject import Asked, shortfall
from fairdsl.verdict import Arithmetic, Basis, Evidence, Value

Floats = NDArray[np.float32]
Integers = NDArray[np.int64]

#: Combinations that are tried at first; thresholds of each group then, and how often one group follows the other.
_COMBINATIONS, _CUTS, _SWEEPS = 256, 30, 4
_EVIDENCE = Evidence(backend="rows", method="counted", basis=Basis(arithmetic=Arithmetic.DEPLOYED))
#: Where a number is none; farther off than any.
_NO_NUMBER = (True, Fraction(10**9))

#: What is less is better: too many are decided wrongly; a requirement is missed, and by how much; how many are wrong.
_Cost = tuple[bool, tuple[bool, Fraction], int]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScoredRows:
    """The score [rows] of each row, its group [rows], and whether the favourable outcome was right for it [rows]."""

    scores: Floats
    groups: Integers
    right: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Cuts:
    """Of one group: thresholds [cuts], rows that each decides rightly [cuts], and, for each demand, the favoured by key
    [cuts, keys]."""

    limits: Floats
    correct: Integers
    favoured: tuple[Integers, ...]


def best_thresholds(
    rows: ScoredRows, count: int, before: float, demands: Sequence[Asked], least: int, budget: Budget
) -> Floats:
    """A threshold for each of so many groups; ``before`` is that of all, ``least`` the rows to be decided rightly."""
    keyed = [RowKeys.of(each.question, each.rows, each.problem.domain.where) for each in demands]
    cuts = [_cuts(rows, group, before, keyed) for group in range(count)]
    trial = _Trial(cuts, demands, keyed, least)
    chosen = tuple(int(np.flatnonzero(each.limits == np.float32(before))[0]) for each in cuts)
    few = int(_COMBINATIONS ** (1 / count))
    if few > 1:
        spread = [np.linspace(0, len(each.limits) - 1, few).round().astype(int).tolist() for each in cuts]
        chosen = trial.best([chosen, *product(*spread)], budget)
    for _ in range(_SWEEPS):
        start = chosen
        for group, each in enumerate(cuts):
            places = range(len(each.limits))
            chosen = trial.best(
                ((*chosen[:group], at, *chosen[group + 1 :]) for at in (chosen[group], *places)), budget
            )
        if chosen == start:
            break
    return np.array([each.limits[at] for each, at in zip(cuts, chosen, strict=True)], dtype=np.float32)


def _cuts(rows: ScoredRows, group: int, before: float, keyed: Sequence[RowKeys]) -> _Cuts:
    """The thresholds that are tried for a group: that of all, and some between its scores."""
    inside = rows.groups == group
    scores = np.unique(rows.scores[inside])
    between = np.asarray((scores[:-1].astype(np.float64) + scores[1:]) / 2, dtype=np.float32)
    between = between[(between > scores[:-1]) & (between < scores[1:])]  # neighbours have no number between them
    if len(between) > _CUTS:
        between = between[np.linspace(0, len(between) - 1, _CUTS).round().astype(int)]
    limits = np.unique(np.append(between, np.float32(before)))
    above = rows.scores[inside] > limits[:, None]
    favoured = []
    for keys in keyed:
        of_row = np.full(len(keys.among), -1)
        of_row[keys.among] = keys.places
        member = of_row[inside][:, None] == np.arange(len(keys.keys))
        favoured.append(above.astype(np.int64) @ member.astype(np.int64))
    return _Cuts(limits=limits, correct=(above == rows.right[inside]).sum(axis=1), favoured=tuple(favoured))


class _Trial:
    """What combinations of thresholds come to; each is looked at once."""

    def __init__(self, cuts: Sequence[_Cuts], demands: Sequence[Asked], keyed: Sequence[RowKeys], least: int) -> None:
        self._cuts, self._least = cuts, least
        self._demands = tuple(zip(demands, keyed, strict=True))
        self._known: dict[tuple[int, ...], _Cost] = {}

    def best(self, combinations: Iterable[tuple[int, ...]], budget: Budget) -> tuple[int, ...]:
        """The first of those that cost least; where the time ends, of those that were tried."""
        tried: list[tuple[int, ...]] = []
        for each in combinations:
            if tried and budget.exhausted:
                break
            tried.append(each)
            if each not in self._known:
                self._known[each] = self._cost(each)
        return min(tried, key=self._known.__getitem__)

    def _cost(self, chosen: tuple[int, ...]) -> _Cost:
        picked = list(zip(self._cuts, chosen, strict=True))
        correct = int(sum(each.correct[at] for each, at in picked))
        if correct < self._least:
            return True, _NO_NUMBER, -correct
        sums = (sum(each.favoured[place][at] for each, at in picked) for place in range(len(self._demands)))
        off = [_off(asked, keys, found) for (asked, keys), found in zip(self._demands, sums, strict=True)]
        return False, max(off), -correct


def _off(asked: Asked, keys: RowKeys, favoured: Integers) -> tuple[bool, Fraction]:
    """The shortfall of a demand where so many rows of each key are favoured."""
    joint = keys.joint_of_sums(favoured, favoured)
    everybody = np.bincount(keys.places, minlength=len(keys.keys)).tolist()
    counts = {
        key: Counted(rows=rows, least=hits, most=hits)
        for key, rows, hits in zip(keys.keys, everybody, favoured.tolist(), strict=True)
    }
    question = replace(asked.question, confidence=None)
    value = value_of(question, replace(joint, counts=counts), asked.rows, _EVIDENCE)
    return shortfall(asked, value) if isinstance(value, Value) and value.defined else _NO_NUMBER
