"""Proofs that were tampered with, and those of faulty engines: each is rejected or harmless."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from fairdsl.proving import Proved
from fairdsl_verify import RejectedError, bounds, tree
from fairdsl_verify.command import check
from fairdsl_verify.question import Condition
from tests.proving.proved_networks import brute, network, path_of, prove
from tests.proving.tampering import KINDS, SUBJECTS, Subject, rejected, shares


def test_another_model_is_rejected(proved: tuple[Path, tuple[Proved, ...]], tmp_path: Path) -> None:
    network(tmp_path / "other.onnx", 5)
    with pytest.raises(RejectedError, match="another model"):
        check(path_of(proved[1][0]), tmp_path / "other.onnx")


@pytest.fixture(scope="module")
def subjects(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., list[Subject]]:
    """Proofs of a kind, about models of so many seeds."""

    @cache
    def made(of: str, seeds: int) -> list[Subject]:
        return SUBJECTS[of](tmp_path_factory.mktemp(of), seeds=seeds)

    return made


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("of", SUBJECTS)
def test_tampering(of: str, kind: str, subjects: Callable[..., list[Subject]], tmp_path: Path) -> None:
    if kind != "leaves" or of != "rates":  # these have none
        assert rejected(subjects(of, 1), kind, 20 if of in ("lines", "means") else 5, tmp_path) > 0


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("of", SUBJECTS)
def test_tampering_a_thousand_times(of: str, kind: str, subjects: Callable[..., list[Subject]], tmp_path: Path) -> None:
    if kind != "leaves" or of != "rates":
        found = rejected(subjects(of, 10), kind, 1000, tmp_path)
        print(of, kind, found)
        assert found > 300  # a lower share, and an order that does not matter, are harmless


#: Slopes of the lines below and above a unit, and where the latter starts.
Lines = tuple[int, int, int]


def _too_narrow(low: int, high: int) -> Lines:
    under, over, intercept = SOUND(low, high)
    return under, over, intercept - abs(intercept) // 2


def _tie(self: bounds.Integers, known: None, point: list[int]) -> int:
    self.zero_is_low ^= True
    try:
        return EXACT(self, known, point)
    finally:
        self.zero_is_low ^= True


def _unit_too_high(self: bounds.Pass, below: list[int]) -> int:
    return LEAST(self, below) + (1 << bounds.BITS * len(self.live))


def _least_alone(self: bounds.Pass, row: list[int], bias: int, known: tuple[int, int]) -> tuple[int, int]:
    """Ranges of units from the lower ends of those below alone; the score's is left as it is."""
    if len(self.live) == len(self.net.weights):
        return RANGE(self, row, bias, known)
    value = bias + sum(weight * max(low, 0) for weight, low in zip(row, self.bounds[-1][0], strict=True))
    return value, value


def _turned(low: int, high: int) -> Lines:
    under, over, intercept = SOUND(low, high)
    return over, under, intercept


def _off_if_mostly(low: int, high: int) -> Lines:
    return (0, 0, 0) if high < -low else SOUND(low, high)


def _twice_the_slope(low: int, high: int) -> Lines:
    return (2 << bounds.BITS, *SOUND(low, high)[1:]) if low < 0 < high else SOUND(low, high)


def _parent_alone(
    self: tree.Checker, node: tree.Node, only: list[int] | None = None, slopes: list[int] | None = None
) -> bounds.Pass:
    first = next(number for number, admitted in enumerate(node.admitted) if admitted != 0)
    return BOUNDED(self, node, [first] if only is None else only)


def _all_fair(self: tree.Checker, node: tree.Node, sure: list[int], totals: tree.Totals) -> None:
    totals.counted(fair=self.mass(node), sure=bool(sure))


def _first_half_twice(self: tree.Checker, node: tree.Node, words: list[str]) -> tuple[tree.Node, tree.Node]:
    first, _ = HALVES(self, node, words)
    return first, first


def _not_the_young(self: Condition, box: list[tuple[int, int]]) -> int:
    """Nobody of the first half of the ages."""
    return 0 if box[0][1] < 6 else TRUTH(self, box)


def _all_but_the_last(self: tree.Checker, members: list[int], *given: Any) -> list[list[int]]:
    return COMPONENTS(self, list(members)[:-1], *given)


TRUTH, COMPONENTS = Condition.truth, tree.Checker.components
SOUND, EXACT, LEAST = bounds._lines, bounds.Integers.high, bounds.Pass.least
RANGE = bounds.Pass._range
BOUNDED, HALVES = tree.Checker.bounded, tree.Checker.halves
#: Faults of an engine, which goes by the checker's own functions: with one in them it claims what does not follow.
FAULTS: dict[str, tuple[object, str, Any]] = {
    "a bound is too narrow by the least amount": (bounds.Pass, "least", _unit_too_high),
    "the upper line lies too low": (bounds, "_lines", _too_narrow),
    "the lower line lies too high": (bounds, "_lines", _twice_the_slope),
    "the least of what lies below counts for the most": (bounds.Pass, "_range", _least_alone),
    "signs of multipliers are turned": (bounds, "_lines", _turned),
    "a unit that may be positive is off": (bounds, "_lines", _off_if_mostly),
    "zero is on the other side": (bounds.Integers, "high", _tie),
    "one of those compared is bounded alone": (tree.Checker, "bounded", _parent_alone),
    "small boxes are fair": (tree.Checker, "evaluated", _all_fair),
    "a half is forgotten": (tree.Checker, "halves", _first_half_twice),
    "everybody is admitted": (Condition, "truth", lambda self, box: 2),
    "the young are not admitted": (Condition, "truth", _not_the_young),
    "each component is everybody": (tree.Checker, "components", lambda self, members, *_: [list(members)]),
    "the last of those compared is forgotten": (tree.Checker, "components", _all_but_the_last),
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_what_a_faulty_engine_proves_is_rejected(fault: str, tmp_path: Path) -> None:
    owner, name, wrong = FAULTS[fault]
    # The first decides in some units alike just of those who differ in both sex and race.
    for seed in (114, 7, 3, 4, 2, *range(20, 60)):
        folder = tmp_path / str(seed)
        folder.mkdir()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(owner, name, wrong)
            # Where floats say what to claim, no fault of the checker's functions makes them claim more.
            patch.setattr("fairdsl.proving.run.many_passes", lambda checker: False)
            found = prove(folder, seed, seconds=8)
        for each in found:
            if each.proof is not None:
                truth = brute(folder / "m.onnx", each.property)
                try:
                    checked = check(path_of(each), folder / "m.onnx")
                except RejectedError:
                    return
                shares(truth, checked)
                if not checked.follows:
                    return
    raise AssertionError("no proof was rejected")
