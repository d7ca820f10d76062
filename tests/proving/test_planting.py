"""Proofs whose boxes are cut as a refinement cuts them."""

from __future__ import annotations

import gzip
import random
from fractions import Fraction
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from fairdsl.backends.contract import Silent
from fairdsl.backends.intervals import FAIR, HALVED, UNFAIR, Splits, effort, refine, splittings_of
from fairdsl.backends.intervals.kernels.slots import REGIONS
from fairdsl.backends.intervals.lowering import lower
from fairdsl.backends.intervals.refine import Refinement
from fairdsl.backends.intervals.splits import RegionCuts
from fairdsl.backends.intervals.warmup import KERNELS
from fairdsl.clock import Deadline
from fairdsl.elaborate import elaborate
from fairdsl.proving import networks, planting, prove_spec
from fairdsl.proving.grown import Grown, Waiting
from fairdsl.proving.question import question_of
from fairdsl.proving.run import _claims
from fairdsl.semantics import front_end
from fairdsl_verify.command import check
from fairdsl_verify.onnx_file import Graph
from fairdsl_verify.question import YES
from fairdsl_verify.relaxed import checker_of
from fairdsl_verify.relaxed import question_of as relaxed_question
from fairdsl_verify.tree import Node, Totals
from tests.proving.proved_networks import network, path_of

SPEC = """fair 1
audit "planted"
domain Person {
  age : integer 0 .. 39
  job : integer 0 .. 19
  years : integer 0 .. 29
  sex : category { f, m }
  race : category { x, y }
}
protected sex, race
model m : Person -> { no, yes }
  from "m.onnx"
  reads age, job, years, sex, race
  yes when score > 0
  favourable yes
property share { compare a, b : Person differ in any sex, race measure fair_share }
"""


def drawn(rng: random.Random) -> Splits:
    """A tree of random splits, of which less is open further down."""
    first, mass, open_ = [-1], [1.0], [1.0]
    for _ in range(rng.randint(0, 12)):
        node = rng.choice([each for each, half in enumerate(first) if half < 0])
        first[node] = len(first)
        first += [-1, -1]
        mass += [mass[node] / 2] * 2
        open_ += [rng.choice((0.0, rng.random(), 1.0)) * mass[node] / 2 for _ in range(2)]
    falsified = [part if rng.random() < 0.2 else 0.0 for part in mass]
    zeros = np.zeros(len(first), dtype=np.int64)
    masses = {"mass": np.array(mass), "violating": np.array(open_), "falsified": np.array(falsified)}
    return Splits(first=np.array(first), place=zeros, **masses)


def most_of(splits: Splits, node: int = 0) -> list[float]:
    """How much can be said at most with no leaf, with one, and so on."""
    unfair = splits.falsified[node] >= splits.mass[node]
    alone = [0.0, splits.mass[node] - (0.0 if unfair else splits.violating[node])]
    if splits.first[node] < 0:
        return alone
    one, other = (most_of(splits, splits.first[node] + half) for half in (0, 1))
    found = alone + [0.0] * (len(one) + len(other))
    for (here, a), (there, b) in product(enumerate(one), enumerate(other)):
        found[here + there] = max(found[here + there], a + b)
    return [max(found[: count + 1]) for count in range(len(found))]


@pytest.mark.parametrize("seed", range(200))
def test_no_other_leaves_say_more(seed: int) -> None:
    """Of as many; and there are as many as were asked for where that is worth the same for each."""
    rng = random.Random(seed)
    splits = drawn(rng)
    most, counts = most_of(splits), []
    for leaves in range(6):
        best, waiting, said, count = splits.best(leaves), [0], 0.0, 0
        while waiting:
            node = waiting.pop()
            if best[node] == HALVED:
                waiting += [splits.first[node], splits.first[node] + 1]
            elif best[node] in (FAIR, UNFAIR):
                unfair = splits.falsified[node] >= splits.mass[node]
                assert (best[node] == UNFAIR) == unfair
                said, count = said + splits.mass[node] - (0 if unfair else splits.violating[node]), count + 1
        assert count <= leaves
        assert said == pytest.approx(most[count])
        counts.append(count)
    assert counts == sorted(counts)
    assert counts[0] == 0


@pytest.mark.parametrize("seed", range(50))
def test_leaves_that_say_too_little_are_left_out(seed: int) -> None:
    """With so much taken off what each says, no others say more together."""
    rng = random.Random(seed)
    splits, least = drawn(rng), rng.choice((0.05, 0.1, 0.3))
    best, waiting, said = splits.best(100, least), [0], 0.0
    while waiting:
        node = waiting.pop()
        if best[node] == HALVED:
            waiting += [splits.first[node], splits.first[node] + 1]
        elif best[node] in (FAIR, UNFAIR):
            worth = splits.mass[node] - (0.0 if best[node] == UNFAIR else splits.violating[node])
            assert worth > least
            said += worth - least
    assert said == pytest.approx(max(worth - least * leaves for leaves, worth in enumerate(most_of(splits))))


def test_boxes_are_halved_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A refinement that is free to cut the same network's boxes into regions does."""
    monkeypatch.setattr(refine, "FIRST_CHOICE", 32)
    monkeypatch.setattr(effort, "_TRIAL_PART", 1.0)
    (tmp_path / "p.fair").write_text(SPEC)
    network(tmp_path / "m.onnx", 4)
    spec, _ = front_end(str(tmp_path / "p.fair"))
    (demand,) = elaborate(spec, {}).demands
    assert demand.problem is not None
    KERNELS.ready(Silent(), Deadline.within(60))
    splitting, other = splittings_of(demand.problem, Deadline.within(60), Silent())
    assert (splitting.regions, other.regions) == (False, True)
    free = Refinement.start(lower(demand.problem).task)
    for refinement in (splitting._refinement, free):
        for _ in range(12):
            refinement.advance(64)
    assert free.state()["counts"][REGIONS]
    assert not splitting._refinement.state()["counts"][REGIONS]


def truth_of(model: Path) -> Fraction:
    """Which part of the units is decided alike; numbers with two binary places are exact."""
    held = {tensor.name: numpy_helper.to_array(tensor) for tensor in onnx.load(model).graph.initializer}
    units = np.array(list(product(range(40), range(20), range(30))), dtype=np.float64)
    sides = []
    for both in product((0, 1), repeat=2):
        values = np.hstack([units, np.broadcast_to(both, (len(units), 2))])
        for layer in range(3):
            values = np.maximum(values, 0) if layer else values
            values = values @ held[f"w{layer}"].T.astype(np.float64) + held[f"b{layer}"].astype(np.float64)
        sides.append(values[:, 0] > 0)
    return Fraction(int(np.equal(sides, sides[0]).all(axis=0).sum()), len(units))


@pytest.mark.parametrize("claim", [*planting.CLAIMS, planting.REGIONS])
def test_what_is_taken_over_is_true(claim: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if claim != planting.REGIONS:
        monkeypatch.setattr(planting, "CLAIMS", (claim,))

    def only(*given: Any) -> Any:
        return (each for each in splittings_of(*given) if each.regions == (claim == planting.REGIONS))

    monkeypatch.setattr(networks, "splittings_of", only)
    monkeypatch.setattr(networks, "clearly_above", lambda share: share - 2)
    monkeypatch.setattr(networks, "_WAITING", 0.5)
    KERNELS.ready(Silent(), Deadline.within(60))
    (tmp_path / "p.fair").write_text(SPEC)
    network(tmp_path / "m.onnx", 1)
    (proved,) = prove_spec(
        str(tmp_path / "p.fair"), str(tmp_path), models={}, data={}, seconds=2, observer=Silent(), properties=()
    )
    checked, truth = check(path_of(proved), tmp_path / "m.onnx"), truth_of(tmp_path / "m.onnx")
    assert checked.follows
    assert truth / 2 < checked.totals.certified <= truth
    assert checked.totals.falsified <= 1 - truth
    assert (
        f"\n{claim}{' N' if claim == planting.REGIONS else chr(10)}"
        in gzip.decompress(path_of(proved).read_bytes()).decode()
    )


def test_no_more_regions_are_looked_for_once_the_time_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is left is counted as it is: a proof takes no longer than it was given."""
    asked = list[Any]()

    class Two:
        @property
        def passed(self) -> bool:
            return len(asked) == 2

    class Cut:
        """Each box by the second unit, and its second part, which half-space one says most of, by the third one."""

        widths = (2, 1)

        def regions_of(self, ends: Any, least: float) -> RegionCuts:
            asked.append(ends.tolist())
            many = len(ends), 1
            first, unit, half = [1, -1, 3, -1, -1], [1, 0, 2, 0, 0], [-1, -1, -1, 1, -1]
            return RegionCuts(*(np.tile(each, many) for each in (first, unit, half)))

    def say(one: Waiting, claim: str) -> None:
        one.grown.claim = claim

    monkeypatch.setattr(planting, "_AT_ONCE", 1)
    checker = SimpleNamespace(root=lambda: None)
    planter = planting.Planter(cast(Any, checker), say, lambda _: None, lambda _: None, Cut.widths)
    leaves = [Waiting(0.0, at, ((at, at),), Grown()) for at in range(5)]
    planter._claim(cast(Any, Cut()), leaves, planting.REGIONS, cast(Any, Two()))
    # Of each cut the part where the unit is at most 0 stands first, which has the greater number here.
    assert [one.grown.claim for one in leaves] == ["R N 0 1 N 1 0 ~ H 0 ~"] * 2 + ["~"] * 3
    assert asked == [[[[0, 0]]], [[[1, 1]]]]


def test_regions_leave_less_open(tmp_path: Path) -> None:
    """The signs by which the refinement would cut a box are such that the checker leaves less of it open."""
    (tmp_path / "p.fair").write_text(SPEC)
    KERNELS.ready(Silent(), Deadline.within(60))
    counted = cut = 0
    for seed in range(3, 7):
        network(tmp_path / "m.onnx", seed)
        (demand,) = elaborate(front_end(str(tmp_path / "p.fair"))[0], {}).demands
        assert demand.problem is not None
        graph = Graph((tmp_path / "m.onnx").read_bytes())
        asked = {**question_of(demand.problem, graph), "claims": _claims()}
        checker = checker_of(relaxed_question(asked), graph)
        _, splitting = splittings_of(demand.problem, Deadline.within(60), Silent())
        root = checker.root()
        people = root.box[3:]
        halves = [((low, high // 2), (high // 2 + 1, high)) for low, high in root.box[:3]]
        leaves = [Waiting(0.0, at, (*box, *people), Grown("~")) for at, box in enumerate(product(*halves))]
        planter = planting.Planter(checker, lambda *_: None, lambda _: None, lambda _: None, splitting.widths)
        for one, words in zip(leaves, planter._cut(splitting, leaves), strict=True):
            node = Node(one.box, (YES,) * len(root.admitted), root.known)
            for claim in ("~", words):
                totals = Totals()
                checker.leaf(node, claim.split(" "), totals)
                counted, cut = counted + totals.open * (claim == "~"), cut + totals.open * (claim is words)
    assert 0 < cut < counted * 0.8


class _Counts:
    """A checker of boxes of positions that says which part of each is decided by what is claimed of it."""

    def __init__(self, parts: dict[tuple[tuple[int, int], str], float]) -> None:
        self.parts, self.asked = parts, list[tuple[Any, str]]()

    def root(self) -> Node:
        return Node(((0, 1023),))

    def mass(self, node: Node) -> int:
        return node.box[0][1] - node.box[0][0] + 1

    def part(self, _: Any, box: Any, claim: str) -> float:
        self.asked.append((box, claim))
        return self.parts.get((box[0], claim), 0.0)


def _mended(
    monkeypatch: pytest.MonkeyPatch,
    parts: dict[tuple[tuple[int, int], str], float],
    known: float,
    *,
    seconds: float = 60,
) -> tuple[list[tuple[Any, str]], _Counts]:
    """What is claimed of which boxes in the end, where a box of 64 of 1,024 positions is a leaf, and counted first."""
    counts = _Counts(parts)
    monkeypatch.setattr(planting, "_part", counts.part)

    def say(one: Waiting, claim: str) -> None:
        one.grown.claim = claim

    def line(box: Any) -> tuple[int, int] | None:
        return (0, (box[0][0] + box[0][1]) // 2) if box[0][0] < box[0][1] else None

    cut = SimpleNamespace(widths=(2,), regions_of=lambda ends, least: cast(Any, _regions(len(ends), least)))
    planter = planting.Planter(cast(Any, counts), say, lambda _: None, line, [3])
    leaf = Waiting(0.0, 0, ((0, 63),), Grown("~"))
    found = planter._mend(cast(Any, cut), [leaf], "~", np.array([known]), Deadline.within(seconds))
    return [(one.box[0], one.grown.claim) for one in found], counts


def _regions(boxes: int, least: float) -> RegionCuts:
    raise AssertionError("the checker does not know these units")


def test_of_a_leaf_that_says_as_much_as_is_known_nothing_else_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    found, counts = _mended(monkeypatch, {((0, 63), "~"): 0.7}, 0.7)
    assert found == [((0, 63), "~")]
    assert len(counts.asked) == 1


def test_a_claim_that_says_more_takes_the_place_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a large box two per cent of everything was lost, for lines of another slope close it."""
    other = planting.CLAIMS[1]
    assert _mended(monkeypatch, {((0, 63), "~"): 0.2, ((0, 63), other): 1.0}, 1.0)[0] == [((0, 63), other)]


def test_where_no_claim_says_as_much_halves_are_claimed(monkeypatch: pytest.MonkeyPatch) -> None:
    # Of the first half nothing says as much; it is cut again, and so is its first quarter, until each is one alone.
    found, _ = _mended(monkeypatch, {((32, 63), "~"): 1.0, ((16, 31), planting.CLAIMS[2]): 1.0}, 1.0)
    large, small = [(box, claim) for box, claim in found if box[0] >= 16], [box for box, _ in found if box[0] < 16]
    assert large == [((32, 63), "~"), ((16, 31), planting.CLAIMS[2])]
    assert sorted(small) == [(at, at) for at in range(16)]


def test_halves_of_which_less_follows_are_not_claimed(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = {((0, 63), "~"): 0.5, ((0, 31), "~"): 0.6, ((32, 63), "~"): 0.3}
    found, _ = _mended(monkeypatch, whole, 1.0)
    assert found == [((0, 63), "~")]
    whole[(32, 63), "~"] = 0.5
    assert len(_mended(monkeypatch, whole, 1.0)[0]) > 1


def test_leaves_are_left_as_they_are_once_the_time_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    found, counts = _mended(monkeypatch, {}, 1.0, seconds=-1)
    assert found == [((0, 63), "~")]
    assert not counts.asked


def test_of_a_large_share_a_tenth_of_what_it_leaves_open_is_clearly_more() -> None:
    """Two points more of everything, whatever is open, kept boxes that leave twice as much open as others (GC-3)."""
    assert planting.clearly_above(0.5) == pytest.approx(0.52)
    assert planting.clearly_above(0.968) == pytest.approx(0.9712)
    assert planting.clearly_above(1.0) == 1.0
