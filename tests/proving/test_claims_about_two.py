"""Claims about two who are compared: what is believed is true by looking at everybody, whatever the multipliers are."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import permutations, product
from operator import mul
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from onnx import helper

from fairdsl.backends.smt import Boxes, Leaf, OrderSplit, PhaseSplit, Tree, Unit
from fairdsl.clock import Deadline
from fairdsl.elaborate import elaborate
from fairdsl.proving.pairing import Pairing
from fairdsl.proving.question import question_of
from fairdsl.semantics import front_end
from fairdsl_verify import RejectedError, bounds
from fairdsl_verify.bounds import BITS, Integers, Pass
from fairdsl_verify.onnx_file import Graph
from fairdsl_verify.pairs import Parting, below_score, of_two
from fairdsl_verify.question import NO, YES, Box, Question
from fairdsl_verify.tree import Checker, Node
from tests.proving.proved_networks import SPEC, network
from tests.proving.test_checker_review import ABOVE_ZERO, PEOPLE, chain_file, question, tried
from tests.proving.test_counted_boxes import deep, drawn_rounding, rough
from tests.proving.test_slabs import values_of

PROPERTIES = {
    "any": "differ in any sex, race",
    "each": "differ in each sex, race",
    "one": "differ in sex",
    "many": "differ in age",  # so many that pairs of them stay together, by their order
}

CLAIMS = {"certified": 0, "falsified": 0, "holds": False, "compared": [], "margin": 0}


@pytest.mark.parametrize("seed", range(40))
def test_whatever_the_multipliers_are_nobody_lies_below(seed: int) -> None:
    rng = random.Random(seed)
    asked, net = deep(rng, 2)
    box = [(0, attribute.size - 1) for attribute in asked.attributes]
    found = Pass(net, tuple(box), range(len(net.moves)))
    units = [(layer, unit) for layer in range(len(net.weights)) for unit in range(len(found.bounds[layer][0]))]
    somebody = list(values_of(net, [rng.randint(*ends) for ends in box]))
    signs = {unit: somebody[unit[0]][unit[1]] > 0 for unit in units if rng.random() < 0.3}
    words = [str(rng.choice((0, 1 << BITS - 1, 1 << BITS, rng.randint(-(1 << 18), 1 << 18)))) for _ in range(99)]
    weight = rng.randint(-3, 3)
    below = below_score(found, weight, signs, iter(words))
    for _ in range(80):
        point = [rng.randint(*ends) for ends in box]
        values = list(values_of(net, point))
        if all(
            values[layer][unit] >= 0 if above else values[layer][unit] <= 0 for (layer, unit), above in signs.items()
        ):
            known = below[0] + sum(sum(found.adds(below, place, [at])) for place, at in enumerate(point))
            assert known <= weight * values[-1][0] << BITS * len(net.weights)


#: Who a leaf is about: pairs of assignments, signs by individual, layer and unit, and how the two scores are weighted.
About = tuple[list[tuple[int, int]], dict[tuple[int, int, int], bool], int, int]


def drawn_words(
    rng: random.Random, net: Integers, box: Box, about: About, leaves: list[About], depth: int = 0
) -> Iterator[str]:
    """Splits of two, and multipliers that nobody has chosen; a leaf about nobody says so."""
    pairs, signs, *_ = about
    kind = rng.choice("AONNNNND") if pairs and depth < 3 else "D" if pairs else "V"
    asked = net.question
    which, place = rng.randrange(2), rng.randrange(len(asked.differ))
    if kind in "AO":
        last = rng.randrange(asked.attributes[asked.differ[place]].size)
        of = [[asked.assignments[one][place] for one in pair] for pair in pairs]
        yield from ("A", str(which), str(place), str(last)) if kind == "A" else ("O", str(place))
        inside = [two[which] <= last if kind == "A" else two[0] < two[1] for two in of]
        for side in (True, False):
            kept = [pair for pair, there in zip(pairs, inside, strict=True) if there is side]
            yield from drawn_words(rng, net, box, (kept, signs, 0, 0), leaves, depth + 1)
    elif kind == "N":
        layer = rng.randrange(len(net.weights))
        unit = rng.randrange(len(net.units[layer]))
        yield from ("N", str(which), str(layer), str(unit))
        for above in (False, True):
            yield from drawn_words(
                rng, net, box, (pairs, signs | {(which, layer, unit): above}, 0, 0), leaves, depth + 1
            )
    elif kind == "V":
        yield kind
    else:
        weights = rng.choice(((0, 1), (1, 0), (1, 1), (1, 1), (2, 1), (0, 0)))
        leaves.append((pairs, signs, *weights))
        one, given, wild = 1 << bounds.BITS, list[int](), rng.random() < 0.5
        for copy, members in enumerate(zip(*pairs, strict=True)):
            for layer, ends in reversed(list(enumerate(Pass(net, box, sorted({*members})).bounds[:-1]))):
                for unit, (low, high) in enumerate(zip(*ends, strict=True)):
                    if low < 0 < high:  # where a sign is known, mostly what there is then
                        known = [signs[at] for at in ((copy, layer, unit), (1 - copy, layer, unit)) if at in signs]
                        usual = one if rng.choice(known or (False, True)) else 0
                        given.append(rng.choice((0, one // 2, one // 2, one, one, -one, 2 * one)) if wild else usual)
        yield from ("D", *map(str, weights), *map(str, given))


def off_by(found: list[Pass], offs: Sequence[int]) -> list[Pass]:
    """The same, where scores may be off by so much."""
    for each, off in zip(found, offs, strict=False):
        each.off = off
    return found


def test_no_leaf_about_two_is_believed_that_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """By what its words say of two individuals, and the scores of everybody who is so."""
    said, refuted, passes, believed = list[bool](), Parting.refuted, Parting.passes, 0
    monkeypatch.setattr(Parting, "refuted", lambda *given: said.append(refuted(*given)) or True)
    for seed in range(110):
        rng = random.Random(seed)
        rough(monkeypatch, *drawn_rounding(rng))
        asked, net = deep(rng, rng.choice((1, 1, 2)))
        offs = rng.choice(((0, 0), (0, 0), (4, 0), (0, 4), (2, 2), (4, 4)))  # of either, how far off its score may be
        monkeypatch.setattr(Parting, "passes", lambda self, two, offs=offs: off_by(passes(self, two), offs))
        only = sorted(rng.sample(range(len(net.moves)), rng.choice((2, 3, 4))))
        ends = [tuple(sorted(rng.choices(range(attribute.size), k=2))) for attribute in asked.attributes[:2]]
        box = (*ends, *((0, attribute.size - 1) for attribute in asked.attributes[2:]))
        node = Node(box, tuple(YES if at in only else NO for at, _ in enumerate(net.moves)))
        units = product(*(range(low, high + 1) for low, high in ends))
        everybody = [{one: list(values_of(net, (*unit, *asked.assignments[one]))) for one in only} for unit in units]
        checker = SimpleNamespace(net=net, question=asked, assignments=asked.assignments, compared=int.__ne__)
        for _ in range(6):
            said.clear()
            words = list(drawn_words(rng, net, box, (list(permutations(only, 2)), {}, 0, 0), leaves := []))
            assert of_two(cast(Checker, checker), node, words)
            for believes, (pairs, signs, *weights) in zip(said, leaves, strict=True):
                for unit, (one, other) in product(everybody if believes else (), pairs):
                    two = unit[one], unit[other]
                    if all((1 if up else -1) * two[of][at][unit_] >= 0 for (of, at, unit_), up in signs.items()):
                        score = weights[1] * two[1][-1][0] - weights[0] * two[0][-1][0]
                        assert score > sum(map(mul, weights, offs)), (seed, words)
                believed += believes
    assert believed > 100


#: ``factor max(z, 0) + bias > 0``, where z is -1 of women and 1 of men, who differ.
SEX = {"name": "sex", "type": "values", "values": [-1, 1], "labels": ["f", "m"]}


def by_hand(folder: Path, claim: str, *, factor: float = 3, bias: float = -1, **changes: Any) -> bool:
    """Whether it follows from a claim about everybody that they are decided alike; a rejection says no."""
    nodes = [
        helper.make_node("Gemm", ["x", "w"], ["z"], transB=1),
        helper.make_node("Relu", ["z"], ["h"]),
        helper.make_node("Gemm", ["h", "v", "b"], ["y"], transB=1),
    ]
    said = question(attributes=[PEOPLE[0], SEX], decides=ABOVE_ZERO, **changes)
    said["reads"] = [{"constant": 0, "terms": [each]} for each in (["age", 1], ["sex", [-1, 1]])]
    try:
        return tried(folder, chain_file(nodes, {"w": [[0, 1]], "v": [[factor]], "b": [bias]}), said, claim).follows
    except RejectedError:
        return False


@pytest.mark.parametrize(
    "claim",
    [
        *("P", "P V", "P D", "P X", "P O 0 V V", "P A 0 0 0 V V", "P A 2 0 0 V V", "P N 0 1 0 V V"),
        *("P D 1 1 0 0", "P D 0 1 0 0", "P D 1 0 0 0", "P D 1 1 65536 65536", "P D 1 1 65536 -65536", "P D 0 0 0 0"),
        *("P N 0 0 0 D 1 0 0 0 D 0 1 0 0", "P O 0 D 1 1 0 0 V", "P O 0 D 1 0 0 0 D 0 1 0 0"),
    ],
)
def test_no_claim_about_two_is_believed_who_are_decided_differently(claim: str, tmp_path: Path) -> None:
    assert not by_hand(tmp_path, claim)


def test_what_is_claimed_of_two_is_followed_to_the_end(tmp_path: Path) -> None:
    assert by_hand(tmp_path, "P D 0 1 0 0", bias=1)
    assert by_hand(tmp_path, "P A 0 0 0 A 1 0 0 V D 0 1 A 1 0 0 D 0 1 V", bias=1)
    assert not by_hand(tmp_path, "P D 0 1 0 0 0", bias=1)
    assert not by_hand(tmp_path, "P A 0 0 0 A 1 0 0 V D 0 1 V", bias=1)


def test_a_score_at_the_threshold_is_below_it(tmp_path: Path) -> None:
    assert not by_hand(tmp_path, "P D 0 1 0 0", bias=0)


def test_scores_that_float32_may_move_over_the_threshold_are_not_beyond_it(tmp_path: Path) -> None:
    assert by_hand(tmp_path, "P D 0 1 0 0", bias=2.0**-30)
    claims = question()["claims"] | {"margin": 1}
    assert not by_hand(tmp_path, "P D 0 1 0 0", bias=2.0**-30, arithmetic="float32", claims=claims)
    assert by_hand(tmp_path, "P D 0 1 0 0", bias=1 + 2.0**-10, arithmetic="float32", claims=claims)


def asked(folder: Path, of: str, seed: int) -> tuple[Checker, Pairing]:
    """A random network, and a question about everybody."""
    network(folder / "m.onnx", seed)
    lines = [line for line in SPEC.splitlines() if not line.startswith(("property", "protected", "  where"))]
    lines.append(f"property all {{ compare a, b : Person {PROPERTIES[of]} require same decision }}")
    (folder / "p.fair").write_text("\n".join(lines) + "\n")
    (item,) = elaborate(front_end(str(folder / "p.fair"), None)[0], {}, data={}, hold=False).demands
    graph = Graph((folder / "m.onnx").read_bytes())
    checker = Checker(Question({**question_of(item.problem, graph), "claims": CLAIMS}), graph)
    pairing = Pairing.of(checker, item.problem)
    assert pairing is not None
    return checker, pairing


def boxes(checker: Checker, rng: random.Random, count: int) -> Iterator[Node]:
    """Random boxes, and who is asked about there: everybody, or (of some) not all."""
    for _ in range(count):
        box = []
        for place, attribute in enumerate(checker.question.attributes):
            low = rng.randrange(attribute.size) if place in checker.shared else 0
            box.append((low, rng.randrange(low, attribute.size) if place in checker.shared else attribute.size - 1))
        admitted = [YES if rng.random() < 0.9 else NO for _ in checker.assignments]
        yield Node(tuple(box), tuple(admitted))


def parted(checker: Checker, node: Node, high: Callable[[tuple[int, ...]], int]) -> bool:
    """Whether two who are compared in the box are decided differently, by looking at everybody."""
    members = [number for number, admitted in enumerate(node.admitted) if admitted == YES]
    compared = [two for two in product(members, repeat=2) if checker.compared(*two)]
    for at in product(*(range(low, up + 1) for low, up in (node.box[place] for place in checker.shared))):
        own = {}
        for one in members:
            known = dict(zip(checker.shared, at, strict=True))
            known |= zip(checker.question.differ, checker.assignments[one], strict=True)
            own[one] = high(tuple(known[place] for place in range(len(known))))
        if any(own[one] != own[other] for one, other in compared):
            return True
    return False


def claimed(checker: Checker, pairing: Pairing, seed: int, count: int) -> Iterator[tuple[Node, str]]:
    """What is claimed of random boxes."""
    for node in boxes(checker, random.Random(seed), count):
        if (claim := pairing.claim(node, Deadline.within(60))) is not None:
            yield node, claim


#: Networks of which each word of a claim is there, and how many boxes of each are looked at.
LOOKED_AT = {"any": ((5,), 3), "each": ((3,), 8), "one": ((3,), 12), "many": ((3, 6, 7), 8)}


@pytest.mark.parametrize("of", PROPERTIES)
def test_no_two_are_decided_differently_of_whom_that_is_believed(of: str, tmp_path: Path) -> None:
    seeds, count = LOOKED_AT[of]
    for seed in seeds:
        checker, pairing = asked(tmp_path, of, seed)
        high = cache(lambda point, net=checker.net: net.high(None, tuple((at, at) for at in point)))
        found = [node for node, _ in claimed(checker, pairing, seed, count)]
        assert found
        assert not any(parted(checker, node, high) for node in found)


def _anything(rng: random.Random, widths: Sequence[int], depth: int = 2) -> Tree:
    """A tree of splits by some units and by the order, with multipliers that nobody has chosen."""
    if depth and rng.random() < 0.4:
        layer = rng.randrange(len(widths))
        unit = Unit(rng.randrange(2), layer, rng.randrange(widths[layer]))
        below, above = (_anything(rng, widths, depth - 1) for _ in range(2))
        return OrderSplit(0, below, above) if rng.random() < 0.3 else PhaseSplit(unit, below, above)
    every = [Unit(copy, layer, at) for copy in range(2) for layer, width in enumerate(widths) for at in range(width)]
    some = tuple(unit for unit in every if rng.random() < 0.05)
    weights = rng.choice(((0.0, 1.0), (1.0, 0.0), (rng.random(), rng.random())))
    return Leaf(np.array(weights), np.zeros(0), some, np.array([rng.gauss(0, 1) for _ in some]))


def _forgotten(tree: Tree) -> Tree:
    """The tree with the lower half in place of the upper one."""
    return tree if isinstance(tree, Leaf) else replace(tree, above=tree.below)


@pytest.mark.parametrize("change", [lambda tree: tree, _forgotten])
def test_what_a_faulty_search_finds_is_believed_only_where_it_is_true(
    change: Callable[[Tree], Tree], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng, tried, believed = random.Random(1), 0, 0

    def found(boxes: Boxes, *values: Any, **margin: float) -> Tree:
        nonlocal tried
        tried += 1
        return change(_anything(rng, boxes.widths))

    monkeypatch.setattr(Boxes, "tree", found)
    for seed in (3, 4, 7, 9):
        checker, pairing = asked(tmp_path, "many", seed)
        high = cache(lambda point, net=checker.net: net.high(None, tuple((at, at) for at in point)))
        for node, _ in claimed(checker, pairing, seed, 40):
            believed += 1
            assert not parted(checker, node, high)
    assert 0 < believed < tried
