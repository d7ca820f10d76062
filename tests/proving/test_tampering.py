"""Proofs that were tampered with, and those of faulty engines: each is rejected or harmless."""

from __future__ import annotations

import gzip
import json
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from fairdsl.proving import Proved
from fairdsl_verify import RejectedError, bounds, tree
from fairdsl_verify.command import Checked, check
from fairdsl_verify.question import Condition
from tests.proving.proved_networks import brute, network, path_of, prove


def test_another_model_is_rejected(proved: tuple[Path, tuple[Proved, ...]], tmp_path: Path) -> None:
    network(tmp_path / "other.onnx", 5)
    with pytest.raises(RejectedError, match="another model"):
        check(path_of(proved[1][0]), tmp_path / "other.onnx")


def tampered(text: str, kind: str, rng: random.Random) -> str:
    """The proof's text with one change behind the question."""
    header, *lines = text.rstrip("\n").split("\n")
    at, to = rng.randrange(len(lines)), rng.randrange(len(lines))
    match kind:
        case "dropped":
            del lines[at]
        case "doubled":
            lines.insert(at, lines[at])
        case "swapped":
            lines[at], lines[to] = lines[to], lines[at]
        case "claims":
            lines[at] = rng.choice(["=", "E", "~", "V", "U 0 1", "U 2 0", "U 3 0"])
        case "numbers":
            splits = [place for place, line in enumerate(lines) if line[0] in "SU"]
            at = rng.choice(splits)
            words = lines[at].split(" ")
            place = rng.choice((1, 2))
            words[place] = str(max(0, int(words[place]) + rng.choice((-2, -1, 1, 2))))
            lines[at] = " ".join(words)
        case "shares":
            data: dict[str, Any] = json.loads(header)
            key = rng.choice(("certified", "falsified"))
            data["claims"][key] = str(Fraction(data["claims"][key]) + Fraction(rng.choice((-1, 1)), 10**9))
            header = json.dumps(data)
    return "\n".join([header, *lines]) + "\n"


def harmless_or_rejected(path: Path, model: Path, truth: tuple[Fraction, Fraction]) -> bool:
    """Whether it was rejected; what was not reached what is true."""
    try:
        checked: Checked = check(path, model)
    except RejectedError:
        return True
    assert checked.totals.certified <= truth[0]
    assert checked.totals.falsified <= truth[1]
    if checked.follows:
        assert checked.question.certified <= truth[0]
        assert checked.question.falsified <= truth[1]
    return not checked.follows


KINDS = ("dropped", "doubled", "swapped", "claims", "numbers", "shares", "bytes")


def tamper(folder: Path, found: Proved, kind: str, times: int, scratch: Path) -> int:
    """How many of so many tamperings are rejected; the others are harmless."""
    rng, rejected = random.Random(kind), 0
    truth = brute(folder / "m.onnx", found.property)
    packed = path_of(found).read_bytes()
    digest = check(path_of(found), folder / "m.onnx").question.digest
    for _ in range(times):
        if kind == "bytes":
            content = bytearray(packed)
            content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
            scratch.write_bytes(content)
            try:
                if check(scratch, folder / "m.onnx").question.digest != digest:
                    rejected += 1  # by whoever names the question
                    continue
            except RejectedError:
                pass
        else:
            scratch.write_bytes(gzip.compress(tampered(gzip.decompress(packed).decode(), kind, rng).encode(), 1))
        rejected += harmless_or_rejected(scratch, folder / "m.onnx", truth)
    return rejected


@pytest.mark.parametrize("kind", KINDS)
def test_tampering(proved: tuple[Path, tuple[Proved, ...]], kind: str, tmp_path: Path) -> None:
    assert tamper(proved[0], proved[1][0], kind, 3, tmp_path / "t.proof") > 0


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_tampering_a_thousand_times(proved: tuple[Path, tuple[Proved, ...]], kind: str, tmp_path: Path) -> None:
    rejected = tamper(proved[0], proved[1][0], kind, 1000, tmp_path / "t.proof")
    print(kind, rejected)
    assert rejected > 400  # a lower share is harmless


def _too_narrow(low: int, high: int) -> tuple[bounds.Line, bounds.Line]:
    under, (slope, intercept) = SOUND(low, high)
    return under, (slope, intercept - abs(intercept) // 2)


def _tie(self: bounds.Integers, known: None, point: list[int]) -> int:
    self.zero_is_low ^= True
    try:
        return EXACT(self, known, point)
    finally:
        self.zero_is_low ^= True


def _unit_too_high(self: bounds.Pass, below: bounds.Below) -> int:
    return LEAST(self, below) + (1 << bounds.BITS * len(self._lines))


def _least_alone(self: bounds.Pass, row: list[int], bias: int) -> tuple[int, int]:
    """Ranges of units from the lower ends of those below alone; the score's is left as it is."""
    if len(self._lines) == len(self.net.weights):
        return RANGE(self, row, bias)
    value = bias + sum(weight * max(low, 0) for weight, low in zip(row, self.bounds[-1][0], strict=True))
    return value, value


def _turned(low: int, high: int) -> tuple[bounds.Line, bounds.Line]:
    under, over = SOUND(low, high)
    return over, under


def _off_if_mostly(low: int, high: int) -> tuple[bounds.Line, bounds.Line]:
    return ((0, 0), (0, 0)) if high < -low else SOUND(low, high)


def _half_slope(low: int, high: int) -> tuple[bounds.Line, bounds.Line]:
    return ((1 << 15, 1 << 20), SOUND(low, high)[1]) if low < 0 < high else SOUND(low, high)


def _parent_alone(self: tree.Checker, node: tree.Node, only: list[int] | None = None) -> bounds.Pass:
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


def _all_but_the_last(self: tree.Checker, members: list[int]) -> list[list[int]]:
    return COMPONENTS(self, list(members)[:-1])


TRUTH, COMPONENTS = Condition.truth, tree.Checker.components
SOUND, EXACT, LEAST = bounds._lines, bounds.Integers.high, bounds.Pass.least
RANGE = bounds.Pass._range
BOUNDED, HALVES = tree.Checker.bounded, tree.Checker.halves
#: Faults of an engine, which goes by the checker's own functions: with one in them it claims what does not follow.
FAULTS: dict[str, tuple[object, str, Any]] = {
    "a bound is too narrow by the least amount": (bounds.Pass, "least", _unit_too_high),
    "the upper line lies too low": (bounds, "_lines", _too_narrow),
    "the lower line lies too high": (bounds, "_lines", _half_slope),
    "the least of what lies below counts for the most": (bounds.Pass, "_range", _least_alone),
    "signs of multipliers are turned": (bounds, "_lines", _turned),
    "a unit that may be positive is off": (bounds, "_lines", _off_if_mostly),
    "zero is on the other side": (bounds.Integers, "high", _tie),
    "one of those compared is bounded alone": (tree.Checker, "bounded", _parent_alone),
    "small boxes are fair": (tree.Checker, "evaluated", _all_fair),
    "a half is forgotten": (tree.Checker, "halves", _first_half_twice),
    "everybody is admitted": (Condition, "truth", lambda self, box: 2),
    "the young are not admitted": (Condition, "truth", _not_the_young),
    "each component is everybody": (tree.Checker, "components", lambda self, members: [list(members)]),
    "the last of those compared is forgotten": (tree.Checker, "components", _all_but_the_last),
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_what_a_faulty_engine_proves_is_rejected(fault: str, tmp_path: Path) -> None:
    owner, name, wrong = FAULTS[fault]
    rejected = False
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
                rejected |= harmless_or_rejected(path_of(each), folder / "m.onnx", truth)
        if rejected:
            return
    assert rejected
