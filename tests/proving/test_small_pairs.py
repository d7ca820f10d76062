"""What lies below a score, by one unit of every range: never more than the score is, and as much somewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import product
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from fairdsl_verify import RejectedError, pairs

#: Multipliers are multiples of a half here.
BITS = 1


def looked_at(below_score: Callable[..., list[int]]) -> None:
    """``weight * (2 + factor max(x, 0))`` of every x of [low, high], where its sign may be known."""
    for low, high, factor, weight in product(range(-3, 4), range(-3, 4), (-1, 2), (-1, 0, 1, 3)):
        for sign in (None, False, True):
            there = [x for x in range(low, high + 1) if sign is None or (x >= 0 if sign else x <= 0)]
            for multiplier in range(-2, 5) if low < 0 < high else [0] if there else []:
                words = iter([str(multiplier)] if low < 0 < high else [])
                net = SimpleNamespace(units=[[[0, 1]], [[2, factor]]])
                found: Any = SimpleNamespace(net=net, bounds=[([low], [high]), ([0], [0])])
                constant, slope = below_score(found, weight, {} if sign is None else {(0, 0): sign}, words)
                assert next(words, None) is None
                assert slope == weight * factor * multiplier or not low < 0 < high
                spare = [(weight * (2 + factor * max(x, 0)) << BITS) - constant - slope * x for x in there]
                assert min(spare) == 0, (low, high, factor, weight, sign, multiplier)


def test_as_much_lies_below_a_score_as_can(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs, "BITS", BITS)
    looked_at(pairs.below_score)


#: Mistakes, as what stands in the file and what would stand there.
FAULTS = {
    "who is at most 0 counts": ("if high <= 0", "if high < -1"),
    "who is 0 at least is open": ("if low < 0:", "if low <= 0:"),
    "only those far below are open": ("if low < 0:", "if low < -1:"),
    "the lower end is left out": ("low if above is not True else 0", "0"),
    "the upper end is left out": ("high if above is not False else 0", "0"),
    "zero is left out": ("ends = (0, low", "ends = (low, low"),
    "the lower end of those above": ("low if above is not True", "low if above is not False"),
    "the upper end of those below": ("high if above is not False", "high if above is not True"),
    "the greatest of the ends": ("+= min((count", "+= max((count"),
    "the unit below zero counts": ("max(end, 0) << BITS", "end << BITS"),
    "the constant is not scaled": ("[constant << BITS, ", "[constant, "),
    "the multiplier counts once": ("given = count * multiple", "given = multiple"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_of_pairs_are_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    old, new = FAULTS[fault]
    source = Path(pairs.__file__).read_text(encoding="utf-8")
    assert source.count(old) == 1
    planted = ModuleType("planted")
    monkeypatch.setitem(sys.modules, "planted", planted)  # dataclasses look there
    exec(source.replace(old, new), planted.__dict__)
    planted.__dict__["BITS"] = BITS
    with pytest.raises((AssertionError, RejectedError)):
        looked_at(planted.below_score)
