"""Proofs about trees: all of the share is proved, whatever modes, classes and orders of nodes the file has."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from fairdsl.backends.contract import Silent
from fairdsl.backends.leaf_boxes import Cuts, Splitting, splitting
from fairdsl.backends.leaf_boxes import Tree as Leaves
from fairdsl.proving import Proved, prove_spec
from fairdsl_verify import RejectedError, forest
from fairdsl_verify.command import check
from fairdsl_verify.forest import Forest
from fairdsl_verify.onnx_file import Graph
from fairdsl_verify.question import Question
from fairdsl_verify.tree import Checker
from tests.models.tree_files import MODES, Branch, Leaf, Tree, classifier, regressor, sums, tree_file

SPEC = """fair 1
audit "proved"
domain Person {{
  age : integer 0 .. 9
  sex : category {{ f = 1, m = 3 }}
  job : category {{ clerk = 0, cook = 2, smith = 3 }}
  where age >= 1 or job != cook
}}
protected sex, job
model m : Person -> {{ no, yes }}
  from "m.onnx"
  reads age, sex, job
  yes when {when}
  favourable yes
property share {{ compare a, b : Person differ in sex measure fair_share }}
property any {{ compare a, b : Person differ in any sex, job among age >= 2 measure fair_share }}
property each {{ compare a, b : Person differ in each sex, job measure fair_share }}
property calm {{ compare a, b : Person differ in sex among age <= 4 require same decision }}
"""


#: Without conditions on who there is.
OPEN = SPEC.replace("  where age >= 1 or job != cook\n", "")


def random_tree(rng: random.Random, depth: int, vote: Callable[[], float]) -> Tree:
    if not depth or rng.random() < 0.15:
        return Leaf(((0, vote()),))
    feature = rng.choice((0, 0, 1, 2))
    # All modes meet numbers that are values, numbers between them, and numbers beyond.
    threshold = rng.randint(-2, 20 if feature == 0 else 7) / 2
    below = [random_tree(rng, depth - 1, vote) for _ in range(2)]
    return Branch(rng.choice(list(MODES)), feature, threshold, *below)


def forest_file(rng: random.Random, path: Path) -> tuple[str, Callable[[Sequence[int]], bool]]:
    """A random ensemble; how the spec reads it, and the decision by the definition."""
    kind = rng.choice(("votes", "signs", "score", "average"))
    vote = (lambda: rng.randint(0, 4) / 8) if kind == "votes" else (lambda: rng.randint(-4, 4) / 4)
    forest = [random_tree(rng, 3, vote) for _ in range(rng.randint(1, 4))]
    base = rng.choice(([], [rng.randint(-4, 4) / 8]))
    settings: dict[str, Any] = {"base_values": base} if base else {}

    def total(row: Sequence[int]) -> Fraction:
        return sums(forest, [Fraction(each) for each in row], 1)[0]

    added = Fraction(base[0]) if base else Fraction(0)
    if kind in ("votes", "signs"):
        node = classifier(forest, **settings)
        onnx.save(tree_file([node]), path)
        weights = next(a for a in node.attribute if a.name == "class_weights").floats
        limit = Fraction(0) if min(weights) < 0 else Fraction(1, 2)
        return "class = 1", lambda row: total(row) + added > limit
    divisor = len(forest) if kind == "average" else 1
    settings |= {"aggregate_function": "AVERAGE"} if kind == "average" else {}
    onnx.save(tree_file([regressor(forest, result="scores", **settings)], outputs=["scores"]), path)
    return "score >= 1/4", lambda row: total(row) / divisor + added >= Fraction(1, 4)


def prove(folder: Path, when: str, seconds: float = 60, spec: str = SPEC, **given: Any) -> tuple[Proved, ...]:
    (folder / "p.fair").write_text(spec.format(when=when))
    return prove_spec(
        str(folder / "p.fair"), str(folder), models={}, data={}, seconds=seconds, observer=Silent(), **given
    )


def brute(of: str, decide: Callable[[Sequence[int]], bool], *, everybody: bool) -> tuple[Fraction, Fraction]:
    """The shares of fair and unfair units, by the definition."""
    people = [p for p in product(range(10), (1, 3), (0, 2, 3)) if everybody or p[0] >= 1 or p[2] != 2]
    people = [p for p in people if {"any": p[0] >= 2, "calm": p[0] <= 4}.get(of, True)]
    units: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
    for person in people:
        units.setdefault((person[0],) if of in ("any", "each") else (person[0], person[2]), []).append(person)
    fair = unfair = 0
    for members in units.values():
        pairs = [(a, b) for a, b in combinations(members, 2) if of != "each" or (a[1] != b[1] and a[2] != b[2])]
        bad = any(decide(a) != decide(b) for a, b in pairs)
        fair, unfair = fair + (not bad), unfair + bad
    return Fraction(fair, fair + unfair), Fraction(unfair, fair + unfair)


def held(folder: Path, seed: int) -> None:
    """Half of the seeds are about everybody, where many boxes are looked at together, compiled."""
    folder.mkdir()
    when, decide = forest_file(random.Random(seed), folder / "m.onnx")
    everybody = seed % 2 == 0
    for each in prove(folder, when, spec=OPEN if everybody else SPEC):
        assert each.proof is not None, each.said
        fair, unfair = brute(each.property, decide, everybody=everybody)
        checked = check(Path(each.proof.path), folder / "m.onnx")
        assert checked.follows
        if each.property != "calm":
            assert (checked.totals.certified, checked.totals.falsified) == (fair, unfair), (seed, each.property)
        else:
            assert checked.totals.holds == (unfair == 0)


def test_parts_that_are_settled_one_by_one(tmp_path: Path) -> None:
    """Ranges of all parts at the end of a box together may settle less than those of each by itself."""
    for seed in range(20):
        rng = random.Random(seed)
        trees = [random_tree(rng, 3, lambda: rng.randint(-4, 4) / 4) for _ in range(12)]  # noqa: B023
        onnx.save(tree_file([regressor(trees, result="scores")], outputs=["scores"]), tmp_path / "m.onnx")
        found, *_ = prove(tmp_path, "score >= 1/4", spec=OPEN)
        decide = lambda row: sums(trees, [Fraction(each) for each in row], 1)[0] >= Fraction(1, 4)  # noqa: B023, E731
        fair, unfair = brute("share", decide, everybody=True)
        assert found.proof is not None
        assert found.proof.verified, found.said
        assert (found.proof.certified, found.proof.falsified) == (fair, unfair)


def _stripes(low: int, high: int, odd: int) -> Tree:
    """A vote of -4 for each second age of those from ``low`` up to ``high``."""
    if high - low == 1:
        return Leaf(((0, -4.0 * (low % 2 == odd)),))
    middle = (low + high) // 2
    return Branch("BRANCH_LT", 0, float(middle), _stripes(low, middle, odd), _stripes(middle, high, odd))


def test_no_more_is_proved_than_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where all of a share can be proved, and less is known of it, the proof ends there."""
    monkeypatch.setattr(splitting, "_CUTS", 1)
    # Sex decides in every second box of age and job: no age and no job is settled by itself.
    sex: Tree = Branch("BRANCH_LEQ", 1, 2.0, Leaf(((0, 0.0),)), Leaf(((0, 1.0),)))
    jobs = [_stripes(0, 10, job % 2) for job in range(3)]
    board: Tree = Branch("BRANCH_LEQ", 2, 1.0, jobs[0], Branch("BRANCH_LEQ", 2, 2.0, jobs[1], jobs[2]))
    onnx.save(tree_file([regressor([sex, board], result="scores")], outputs=["scores"]), tmp_path / "m.onnx")
    whole, *_ = prove(tmp_path, "score >= 1/4", spec=OPEN)
    assert whole.proof is not None
    assert whole.proof.falsified > 0
    known = {("share", whole.demand): (whole.proof.certified / 4, whole.proof.falsified / 4)}
    part, *_ = prove(tmp_path, "score >= 1/4", spec=OPEN, known=known)
    assert part.proof is not None
    assert part.proof.verified
    assert whole.proof.certified / 4 <= part.proof.certified < whole.proof.certified
    assert whole.proof.falsified / 4 <= part.proof.falsified < whole.proof.falsified


@pytest.mark.parametrize("seed", range(4))
def test_all_of_the_share_is_proved(tmp_path: Path, seed: int) -> None:
    held(tmp_path / "one", seed)


@pytest.mark.slow
def test_other_trees(tmp_path: Path) -> None:
    for seed in range(4, 150):
        held(tmp_path / str(seed), seed)


def question(of: str = "label", threshold: Any = 1) -> dict[str, Any]:
    read = [{"constant": 0, "terms": [[f"x{place}", 1]]} for place in range(3)]
    relation = "=" if of == "label" else ">"
    return {
        "format": "fairdsl.proof/4",
        "property": "p",
        "model": "",
        "attributes": [{"name": f"x{i}", "type": "integer", "low": 0, "high": 3} for i in range(3)],
        "reads": read,
        "decides": {"of": of, "relation": relation, "threshold": threshold},
        "differ": ["x2"],
        "mode": "any",
        "where": ["and"],
        "target": ["and"],
        "relax": [],
        "pair": ["and"],
        "asks": "share",
        "arithmetic": "real",
        "claims": {"certified": 0, "falsified": 0, "holds": False, "compared": [], "margin": 0},
    }


def opened(node: Any, asked: dict[str, Any], *others: Any) -> Checker:
    outputs = ["label"] if node.op_type == "TreeEnsembleClassifier" else ["y"]
    content = tree_file([node, *others], outputs=outputs).SerializeToString()
    return Checker(Question(asked), Graph(content))


STUMP: Tree = Branch("BRANCH_LEQ", 0, 1.5, Leaf(((0, 1.0),)), Leaf(((0, -1.0),)))


def changed(name: str, value: Any, node: Any = None) -> Any:
    node = classifier([STUMP]) if node is None else node
    kept = [each for each in node.attribute if each.name != name]
    del node.attribute[:]
    node.attribute.extend([*kept, helper.make_attribute(name, value)])
    return node


@pytest.mark.parametrize(
    ("node", "why"),
    [
        (changed("nodes_truenodeids", [0, 0, 0]), "stands at two places"),
        (changed("nodes_falsenodeids", [1, 0, 0]), "stands at two places"),
        (changed("nodes_falsenodeids", [7, 0, 0]), "or nowhere"),
        (changed("nodes_nodeids", [0, 1, 1]), "two nodes of one number"),
        (changed("nodes_modes", ["LEAF", "LEAF", "LEAF"]), "does not vote"),
        (changed("nodes_modes", ["BRANCH_MEMBER", "LEAF", "LEAF"]), "branch by"),
        (changed("nodes_featureids", [3, 0, 0]), "does not fill"),
        (changed("nodes_values", [1.5, 0.0]), "different lengths"),
        (changed("nodes_values", [float("nan"), 0.0, 0.0]), "not a number"),
        (changed("class_ids", [0, 1]), "another entry"),
        (changed("classlabels_int64s", [0, 1, 2]), "two labels"),
        (changed("classlabels_int64s", [1, 1]), "two labels"),
        (changed("something", [1]), "`something`"),
        (regressor([STUMP]), "one score"),
        (classifier([STUMP], source="z"), "something else"),
    ],
)
def test_trees_that_are_not_followed(node: Any, why: str) -> None:
    with pytest.raises(RejectedError, match=why):
        opened(node, question())


def test_other_questions_about_trees_are_rejected() -> None:
    assert opened(classifier([STUMP]), question()).net.zero_is_low
    for asked in (question("score", 0), question(threshold=7), question(threshold="1"), question("probability", "1/2")):
        with pytest.raises(RejectedError):
            opened(classifier([STUMP]), asked)
    for settings in ({"post_transform": "LOGISTIC"}, {"aggregate_function": "MAX"}, {"n_targets": 2}):
        with pytest.raises(RejectedError):
            opened(regressor([STUMP], **settings), question("score", 0))
    several = question()
    several["reads"][0]["terms"] = [["x0", 1], ["x1", 1]]
    with pytest.raises(RejectedError, match="several attributes"):
        opened(classifier([STUMP]), several)


def test_what_stands_behind_the_label() -> None:
    """Identity and a cast to the labels' own type are passed through; whatever else the output is made of is not."""
    node = classifier([STUMP])
    node.output[0] = "raw"
    for to, fits in ((TensorProto.INT64, True), (TensorProto.FLOAT, False)):
        after = [helper.make_node("Identity", ["raw"], ["l"]), helper.make_node("Cast", ["l"], ["label"], to=to)]
        if fits:
            opened(node, question(), *after)
        else:
            with pytest.raises(RejectedError, match="another type"):
                opened(node, question(), *after)
    with pytest.raises(RejectedError, match="more than trees"):
        opened(node, question(), helper.make_node("Neg", ["raw"], ["label"]))


def test_a_box_of_reals_that_touches_a_threshold() -> None:
    """Of reals a test leaves one cell open, and a box that touches a threshold is on neither side of it."""
    asked = question()
    asked["attributes"][0] = {"name": "x0", "type": "real", "low": 0, "high": 3}
    net = opened(classifier([STUMP]), asked).net
    assert isinstance(net, Forest)
    middle = 1 << 19  # 1.5, which the test holds at
    (tree,) = net.start[1]
    assert tree.within(0, 0, middle).low == 1
    assert tree.within(0, middle + 1, 1 << 20).high == -1
    both = tree.within(0, middle, 1 << 20)
    assert (both.low, both.high) == (-1, 1)


@pytest.mark.parametrize("real", [False, True])
def test_trees_that_are_put_together(real: bool) -> None:
    """Extremes of two together are exact, whatever is between the cells of reals; nobody is counted twice."""
    asked = question()
    if real:
        asked["attributes"][0] = {"name": "x0", "type": "real", "low": 0, "high": 3}
    opposite: Tree = Branch("BRANCH_LT", 0, 1.5, Leaf(((0, -1.0),)), Leaf(((0, 1.0),)))
    other: Tree = Branch("BRANCH_LEQ", 1, 1.0, Leaf(((0, 4.0),)), Leaf(((0, 0.0),)))
    net = opened(classifier([STUMP, opposite, other]), asked).net
    assert isinstance(net, Forest)
    constant, (both,) = net.added(net.added(net.start, [0, 1]), [0, 1])
    # At 1.5 itself the two tests differ: no integer is there, and of reals one cell on each side may be.
    assert constant == net.start[0]
    assert (both.low, both.high) == ((-0, 4) if not real else (0, 6))
    for x0 in range(4):
        for x1 in range(4):
            point = [x0 << 18 if real else x0, x1, 0]
            assert both.at(point) == sum(tree.at(point) for tree in net.start[1])
    for numbers in ([0], [0, 0], [0, 3], []):
        with pytest.raises(RejectedError, match="put together"):
            net.added(net.start, numbers)


def test_too_many_leaves_are_not_put_together(monkeypatch: pytest.MonkeyPatch) -> None:
    net = opened(classifier([STUMP, STUMP]), question()).net
    assert isinstance(net, Forest)
    monkeypatch.setattr(forest, "MOST_LEAVES", 3)
    with pytest.raises(RejectedError, match="too many leaves"):
        net.added(net.start, [0, 1])


#: An engine's trees by their leaves, the sizes of parts, and the limits of the sum.
Given = tuple[list[Leaves], list[list[int]], tuple[int, int]]


def _leaves_changed(given: Given, **how: Callable[[Any], Any]) -> Given:
    found, parts, limits = given
    return (
        [replace(tree, **{name: of(getattr(tree, name)) for name, of in how.items()}) for tree in found],
        parts,
        limits,
    )


def _between(given: Given, below: int, above: int) -> Given:
    found, parts, (low, high) = given
    return found, parts, (low + below, high + above)


def _one_leaf_less(tree: Leaves) -> Leaves:
    kept = slice(0, max(1, len(tree) - 1))
    return replace(tree, low=tree.low[kept], high=tree.high[kept], value=tree.value[kept], whose=tree.whose[kept])


def _turned(value: Any) -> Any:
    return np.where(np.abs(value) == np.abs(value).max(), -value, value)


#: Faults of the engine that grows proofs about trees, planted in what it is given.
FAULTS: dict[str, Callable[[Given], Given]] = {
    "a bound is too narrow by the least amount": lambda given: _between(given, -1, -1),
    "bounds are too narrow": lambda given: _between(given, 1 << 60, -(1 << 60)),
    "tests are strict that are not": lambda given: _leaves_changed(
        given, low=lambda ends: ends + (ends > 0), high=lambda ends: np.minimum(ends + 1, ends.max(axis=0))
    ),
    "a tree is forgotten": lambda given: (given[0][1:] or given[0], *given[1:]),
    "a leaf is forgotten": lambda given: ([_one_leaf_less(tree) for tree in given[0]], *given[1:]),
    "a vote has the wrong sign": lambda given: _leaves_changed(given, value=_turned),
    "the base value and the threshold are left out": lambda given: (*given[:2], (0, 1)),
    "what differs does not matter": lambda given: _leaves_changed(given, whose=np.ones_like),
    "one of those compared is looked at alone": lambda given: _leaves_changed(
        given, whose=lambda whose: np.repeat(whose[:, :1], whose.shape[1], axis=1)
    ),
    "others are put together than it says": lambda given: _leaves_changed(
        given, members=lambda members: (len(given[0]) - 1 - members[0],)
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", [*FAULTS, "a half is forgotten"])
def test_what_a_faulty_engine_proves_is_rejected(fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made, cuts = Splitting.of, Splitting.cuts

    def with_fault(*given: Any) -> Splitting | None:
        return made(*FAULTS[fault](given))  # type: ignore[arg-type]

    def first_half_alike(splitting: Splitting, *given: Any) -> Cuts:
        found = cuts(splitting, *given)
        alike, first = found.alike.copy(), found.child[found.child >= 0]
        alike[first], found.child[first], found.above[first] = True, -1, -1
        return found._replace(alike=alike)

    if fault in FAULTS:
        monkeypatch.setattr(Splitting, "of", with_fault)
    else:
        monkeypatch.setattr(Splitting, "cuts", first_half_alike)
    for seed in range(300):
        folder = tmp_path / str(seed)
        folder.mkdir()
        when, _ = forest_file(random.Random(seed), folder / "m.onnx")
        found = prove(folder, when, seconds=2, spec=OPEN)
        if any(each.proof is not None and not each.proof.verified for each in found):
            return
    raise AssertionError("no proof was rejected")
