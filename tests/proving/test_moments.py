"""Leaves of trees that are counted by mean and variance: against counting everybody; faults and other claims."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable, Sequence
from fractions import Fraction
from hashlib import sha256
from itertools import product
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from fairdsl.backends.leaf_boxes import Splitting, leaf_sets, splitting
from fairdsl.backends.leaf_boxes.graft import USED, empty
from fairdsl.backends.leaf_boxes.kernels.by_ranges import ALIKE, NOTHING, weigh
from fairdsl.backends.leaf_boxes.kernels.records import Boxes, Found
from fairdsl.proving import trees
from fairdsl_verify import RejectedError, forest, moments
from fairdsl_verify.command import check
from fairdsl_verify.forest import Forest
from fairdsl_verify.tree import Checker, Node, Totals
from tests.models.tree_files import Branch, Leaf, Tree, regressor, sums, tree_file
from tests.proving.test_tree_proofs import OPEN, brute, opened, prove, question, random_tree


def asked(margin: int = 0) -> dict[str, Any]:
    """Who differs in `x2`, of 4 x 7 others whose scores exceed 1/4, or with a margin."""
    found = question("score", "1/4")
    found["attributes"][1] |= {"high": 6}
    found["claims"]["margin"] = margin
    return found


def drawn(rng: random.Random) -> list[Tree]:
    """Trees whose sum is mostly far above the threshold, or far below it."""
    shift = rng.choice((-1.0, 1.0)) * rng.randint(0, 8) / 8
    return [random_tree(rng, 4, lambda: rng.randint(-3, 3) / 8 + shift) for _ in range(rng.randint(2, 8))]


def tight(rng: random.Random) -> list[Tree]:
    """Trees whose sum has two values, one of them the threshold: Cantelli's bound is met exactly."""
    less, places, rest = rng.randint(1, 8) / 8, rng.sample((0, 1), 2), Leaf(((0, 0.0),))
    inner: Tree = Branch("BRANCH_LEQ", places[0], rng.randint(0, 5) / 2, Leaf(((0, -less),)), rest)
    outer: Tree = Branch("BRANCH_LEQ", places[1], rng.randint(0, 5) / 2, inner, rest)
    return [Branch("BRANCH_LEQ", 2, 1.5, outer, rest), Leaf(((0, 0.25 + less),))]


def counted(checker: Checker, node: Node | None = None) -> Totals:
    """What a box, or the domain, comes to as one leaf, that says nothing where the mean is on no side."""
    totals, node = Totals(), node or checker.root()
    try:
        checker.leaf(node, ["~"], totals)
    except RejectedError:
        checker.leaf(node, ["?"], totals)
    return totals


def truth(made: Sequence[Tree]) -> int:
    """How many of the 28 units are decided differently."""
    high = lambda *row: sums(made, [Fraction(each) for each in row], 1)[0] > Fraction(1, 4)  # noqa: E731
    return sum(len({high(*unit, each) for each in range(4)}) > 1 for unit in product(range(4), range(7)))


def test_no_unit_that_is_decided_differently_is_left_out() -> None:
    """Where the bound is tight, no other one is open either."""
    some = 0
    for seed in range(20):
        made = drawn(random.Random(seed))
        totals = counted(opened(regressor(made), asked()))
        assert totals.fair + totals.open == 28
        assert totals.open >= truth(made)
        some += totals.fair > 0
        made = tight(random.Random(seed))
        assert counted(opened(regressor(made), asked())).open == truth(made)
    assert some > 5


def _variances(made: Sequence[Tree], of: Callable[..., int]) -> tuple[Fraction, Fraction]:
    net = opened(regressor(made), asked()).net
    assert isinstance(net, Forest)
    worst = [net.worst(tree, range(4), min) for tree in net.start[1]]
    ends = [(1, 4), (2, 7), (0, 4)]
    found = [sum(tree.at(point) for tree in worst) for point in product(*(range(*each) for each in ends))]
    mean = Fraction(sum(found), len(found))
    exact = sum((value - mean) ** 2 for value in found) * len(found)
    return exact, Fraction(of([leaf for tree in worst for leaf in tree.reached(ends, {})], ends))


@pytest.mark.parametrize("cells", [False, True])
def test_the_variance_is_the_one_of_everybody(cells: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """By pairs of leaves and by cells, over a box whose ends lie within leaves."""
    if not cells:
        monkeypatch.setattr(moments, "prod", _large)
    for seed in range(12):
        exact, found = _variances(drawn(random.Random(seed)), moments.variance)
        assert exact == found


def test_the_variance_of_any_leaves_is_the_one_of_everybody(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of few leaves by pairs, of many by cells; these may overlap, as those of several trees do."""
    used = set[str]()
    for name in ("by_pairs", "by_cells"):
        of = getattr(moments, name)
        monkeypatch.setattr(moments, name, lambda *given, of=of: used.add(of.__name__) or of(*given))
    for seed in range(30):
        rng = random.Random(seed)
        ends = [(begin, begin + rng.randint(1, 5)) for begin in rng.choices(range(4), k=3)]
        leaves = []
        for _ in range(rng.choice((2, 10, 40))):
            narrow = [place for place, (begin, end) in enumerate(ends) if end - begin > 1 and rng.random() < 0.6]
            cuts = {place: sorted(rng.sample(range(ends[place][0], ends[place][1] + 1), 2)) for place in narrow}
            leaves.append((rng.randint(-9, 9), {place: (first, last) for place, (first, last) in cuts.items()}))
        found = [
            sum(value for value, runs in leaves if all(a <= point[place] < b for place, (a, b) in runs.items()))
            for point in product(*(range(*each) for each in ends))
        ]
        exact = len(found) * sum(each * each for each in found) - sum(found) ** 2
        assert moments.variance(leaves, ends) == exact
    assert used == {"by_pairs", "by_cells"}


def _large(numbers: Any) -> int:
    """A product, which is very large where it is one of numbers of cells."""
    several = list(numbers)
    product_of = 1
    for each in several:
        product_of *= each
    return product_of * (10**9 if isinstance(numbers, map) else 1)


BY_PAIRS, EFFECTS = moments.by_pairs, moments.effects
JOINED, WORST, CROSSED = Forest._joined, Forest.worst, Forest._crossed


def _term_forgotten(amounts: list[int], *given: Any) -> int:
    """The first of several terms of an effect counts for nothing."""
    return BY_PAIRS(amounts if len(amounts) < 2 else [0, *amounts[1:]], *given)


def _alone(*given: Any) -> Any:
    """Effects of single attributes alone."""
    return {places: each for places, each in EFFECTS(*given).items() if len(places) < 2}


def _best(self: Forest, one: Any, other: Any, made: Any) -> Any:
    return JOINED(self, one, other, {min: max, max: min}.get(made, made))


def _turned(self: Forest, *given: Any) -> Any:
    return self._joined(WORST(self, *given), forest.Tree.leaf(0), lambda value, zero: zero - value)


def _base_turned(self: Forest, known: Any, *given: Any) -> int:
    return CROSSED(self, (-known[0], known[1]), *given)


#: Faults of the claim: with each of them less is called open than is unfair.
FAULTS: dict[str, tuple[object, str, Any]] = {
    "the variance is too small": (forest, "variance", lambda *given: moments.variance(*given) // 16),
    "the best of all assignments counts": (Forest, "_joined", _best),
    "a leaf is forgotten": (forest, "variance", lambda leaves, ends: moments.variance(leaves[1:], ends)),
    "the mean has the wrong sign": (Forest, "worst", _turned),
    "base value and threshold have the wrong sign": (Forest, "_crossed", _base_turned),
    "effects of several attributes are forgotten": (moments, "effects", _alone),
    "a term is forgotten": (moments, "by_pairs", _term_forgotten),
}


def written(made: Sequence[Tree], folder: Path, certified: Fraction) -> tuple[Path, Path]:
    """The file of a proof whose only leaf is counted, and that of its model."""
    model, proof = folder / "m.onnx", folder / "p.proof"
    onnx.save(tree_file([regressor(made)], outputs=["y"]), model)
    data = asked() | {"model": sha256(model.read_bytes()).hexdigest()}
    data["claims"] |= {"certified": str(certified)}
    proof.write_bytes(gzip.compress(f"{json.dumps(data)}\n~\n".encode()))
    return proof, model


@pytest.mark.parametrize("fault", FAULTS)
def test_a_proof_of_what_a_fault_claims_is_rejected(
    fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A checker with the fault takes a file that claims more than is true; the sound one does not."""
    owner, name, faulty = FAULTS[fault]
    made = max((tight(random.Random(seed)) for seed in range(9)), key=truth)
    with monkeypatch.context() as patch:
        if faulty is _term_forgotten:
            patch.setattr(moments, "prod", _large)
        patch.setattr(owner, name, faulty)
        claimed = counted(opened(regressor(made), asked()))
        assert claimed.open < truth(made)
        files = written(made, tmp_path, claimed.certified)
        assert check(*files).follows
    assert not check(*files).follows


def test_what_cannot_be_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    stump: Tree = Branch("BRANCH_LEQ", 0, 1.5, Leaf(((0, 1.0),)), Leaf(((0, -0.5),)))
    checker = opened(regressor([stump]), asked())
    for claim, why in ((["/", "0"], "along an attribute"), (["~"], "on no side")):
        with pytest.raises(RejectedError, match=why):
            checker.leaf(checker.root(), claim, Totals())
    real = asked()
    real["attributes"][0] |= {"type": "real"}
    checker = opened(regressor([stump, stump]), real)
    with pytest.raises(RejectedError, match="a real one"):
        checker.leaf(checker.root(), ["~"], Totals())
    some = asked()
    some["target"] = ["<", [["x2", 1]], -2]
    checker = opened(regressor([stump]), some)
    assert checker.root().admitted[2:] == (0, 0)
    high: Tree = Branch("BRANCH_LEQ", 0, 1.5, Leaf(((0, 2.0),)), Leaf(((0, 1.0),)))
    for name in ("MOST_TERMS", "MOST_PRODUCTS"):
        with monkeypatch.context() as patch:
            patch.setattr(moments, name, -1)
            checker = opened(regressor([high]), asked())
            with pytest.raises(RejectedError, match="too many leaves"):
                checker.leaf(checker.root(), ["~"], Totals())


def test_a_margin_is_kept_to() -> None:
    """Scores that are off by up to the margin are on the other side sooner."""
    made: Tree = Branch("BRANCH_LEQ", 0, 0.5, Leaf(((0, 0.5),)), Leaf(((0, 2.25),)))
    node = opened(regressor([made]), asked())
    assert counted(node).open < 28
    node.net.margin = node.net.scale * 2
    assert counted(node).open == 28


def test_ranges_and_counts_in_one_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Boxes that ranges decide beside boxes that are counted, of a tree that is cut short: no more than there is."""
    monkeypatch.setattr(splitting, "_CUTS", 1)
    monkeypatch.setattr(leaf_sets, "_MERGED", 1)
    together = 0
    for seed in range(5, 12):
        rng = random.Random(seed)
        made = [random_tree(rng, 3, lambda: rng.randint(-4, 5) / 8) for _ in range(40)]  # noqa: B023
        onnx.save(tree_file([regressor(made, result="scores")], outputs=["scores"]), tmp_path / "m.onnx")
        monkeypatch.setattr(trees, "_BOXES", 6 + seed)
        found, *_ = prove(tmp_path, "score >= 1/4", spec=OPEN, properties=("share",))
        assert found.proof is not None, found.said
        with gzip.open(found.proof.path, "rt") as file:
            claims = {line.split()[0] for line in file.readlines()[1:]}
        together += {"~", "="} <= claims
        checked = check(Path(found.proof.path), tmp_path / "m.onnx")
        assert checked.follows
        decide = lambda row: sums(made, [Fraction(each) for each in row], 1)[0] >= Fraction(1, 4)  # noqa: B023, E731
        fair, unfair = brute("share", decide, everybody=True)
        assert checked.totals.certified <= fair
        assert checked.totals.falsified <= unfair
    assert together > 2


def test_no_more_is_claimed_than_there_is_time_to_check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(splitting, "_CUTS", 1)
    monkeypatch.setattr(leaf_sets, "_MERGED", 1)
    monkeypatch.setattr(trees, "_BOXES", 8)
    monkeypatch.setattr(trees._Lowering, "seconds", lambda *_: (1.0, 1e-7))
    rng = random.Random(11)
    made = [random_tree(rng, 3, lambda: rng.randint(-4, 5) / 8) for _ in range(40)]
    onnx.save(tree_file([regressor(made, result="scores")], outputs=["scores"]), tmp_path / "m.onnx")
    shown = []
    for boxes in (1, 2, 3, 5, 100):
        monkeypatch.setattr(trees, "_SECONDS", boxes + 0.5)
        found, *_ = prove(tmp_path, "score >= 1/4", spec=OPEN, properties=("share",))
        assert found.proof is not None, found.said
        with gzip.open(found.proof.path, "rt") as file:
            assert sum(line[0] in "=U~" for line in file.readlines()[1:]) <= boxes
        shown.append(found.proof.certified + found.proof.falsified)
    assert 0 < shown[0] < shown[-1]
    assert shown == sorted(shown)


def test_what_the_checker_takes_is_timed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock on which a cut takes 2 s, a claim of ranges 3 s, and one of means and variances 5 s."""
    clock, halves, leaf, seconds = [0.0], Checker.halves, Checker.leaf, trees._Lowering.seconds
    both = [False, False]

    def slow_halves(checker: Checker, node: Node, words: Sequence[str]) -> list[Node]:
        clock[0] += 2.0
        return halves(checker, node, words)

    def slow_leaf(checker: Checker, node: Node, claim: Sequence[str], totals: Totals) -> None:
        clock[0] += 5.0 if claim[0] == "~" else 3.0
        leaf(checker, node, claim, totals)

    def held(lowering: trees._Lowering, boxes: Splitting, enough: tuple[float, float]) -> tuple[float, float]:
        found = seconds(lowering, boxes, enough)
        cuts = boxes.cuts((trees._OF_BOX, trees._OF_TWO), inf, enough)
        ranged, halved = int((cuts.alike | (cuts.above >= 0)).sum()), int((cuts.child >= 0).sum())
        leaves = boxes.leaves(np.flatnonzero(cuts.counted))
        if ranged and halved:
            both[0] = True
            assert found[0] == pytest.approx(3 + 2 * halved / ranged)
        if len(leaves):
            both[1] = True
            assert found[1] == pytest.approx(5 * len(leaves) / float((leaves**2).sum()))
        return found

    monkeypatch.setattr(splitting, "_CUTS", 1)
    monkeypatch.setattr(leaf_sets, "_MERGED", 1)
    monkeypatch.setattr(trees, "_COUNTED", 100)
    monkeypatch.setattr(trees, "thread_time", lambda: clock[0])
    monkeypatch.setattr(Checker, "halves", slow_halves)
    monkeypatch.setattr(Checker, "leaf", slow_leaf)
    monkeypatch.setattr(trees._Lowering, "seconds", held)
    for seed in range(5, 12):
        rng = random.Random(seed)
        made = [random_tree(rng, 3, lambda: rng.randint(-4, 5) / 8) for _ in range(40)]  # noqa: B023
        onnx.save(tree_file([regressor(made, result="scores")], outputs=["scores"]), tmp_path / "m.onnx")
        monkeypatch.setattr(trees, "_BOXES", 6 + seed)
        found, *_ = prove(tmp_path, "score >= 1/4", spec=OPEN, properties=("share",))
        assert found.proof is not None, found.said
    assert both == [True, True]


def test_boxes_that_say_most_for_their_seconds() -> None:
    """What is chosen at a price is best of all ways to prune a tree, by going through these."""
    rng = random.Random(5)
    for _ in range(20):
        count, boxes = 15, empty(15, 1)
        known = np.array([rng.choice((NOTHING, ALIKE, ALIKE + 1)) for _ in range(count)])
        boxes.child[:] = [2 * at + 1 if at < 7 and rng.random() < 0.8 else -1 for at in range(count)]
        known[boxes.child >= 0] = NOTHING
        boxes.mass[:] = [2.0 ** -((at + 1).bit_length() - 1) for at in range(count)]
        boxes.fair[:] = [rng.choice((0.0, rng.random())) * mass for mass in boxes.mass]
        for at in range(1, count):  # nobody is in a box that none was cut into
            if boxes.child[(at - 1) // 2] < 0 or not boxes.mass[(at - 1) // 2]:
                boxes.mass[at] = boxes.fair[at] = 0.0
        boxes.counts[USED] = count
        found, seconds = Found(known, np.array([rng.randrange(4) for _ in range(count)]), np.zeros(2)), (0.5, 0.25)
        for price in (0.0, 0.01, 0.1, 1.0):
            worth, said, total = np.zeros(count), np.zeros(count, dtype=np.int32), np.zeros(3)
            weigh(boxes, found, np.array(seconds), price, 0.01, worth, said, total)
            best = max(shown - price * takes for shown, takes in _ways(boxes, found, seconds, 0))
            assert total[0] + total[1] - price * total[2] == pytest.approx(best)


def _ways(boxes: Boxes, found: Found, seconds: tuple[float, float], box: int) -> list[tuple[float, float]]:
    """What each way to say something of a box shows, and the seconds that it takes."""
    ways, child = [(0.0, 0.0)], int(boxes.child[box])
    if found.known[box] != NOTHING:
        ways.append((boxes.mass[box], seconds[0]))
    elif boxes.fair[box] > 0:
        ways.append((boxes.fair[box] - 0.01, seconds[1] * int(found.leaves[box]) ** 2))
    if child >= 0:
        halves = product(*(_ways(boxes, found, seconds, half) for half in (child, child + 1)))
        ways += [(one[0] + other[0], one[1] + other[1]) for one, other in halves]
    return ways
