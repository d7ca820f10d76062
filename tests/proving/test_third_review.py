"""What somebody tried who had read docs/proofs.md and the checker: claims drawn at random, and a few by hand.

Nothing here comes from what writes proofs. Who is decided how is computed in fractions, and who is compared with whom
by looking at every two.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from itertools import compress, pairwise, product
from pathlib import Path
from typing import Any

import onnxruntime
import pytest
from onnx import helper

from fairdsl_verify import RejectedError
from fairdsl_verify.bounds import Integers
from fairdsl_verify.onnx_file import Graph
from fairdsl_verify.pairs import Parting, Two
from fairdsl_verify.question import NO
from fairdsl_verify.relaxed import RelaxedQuestion, checker_of, question_of
from fairdsl_verify.tree import Checker, Node, Totals
from tests.models.tree_files import Branch, Leaf, regressor, tree_file
from tests.proving.test_checker_review import ABOVE_ZERO, LINEAR, PEOPLE, chain_file, question, tried

Point = tuple[int, ...]
Words = list[str]
#: Weights with few values, so that many scores are the threshold, and many units are 0.
WEIGHTS = [Fraction(each) for each in ("-2", "-1", "-1", "0", "1", "1", "2", "1/2", "-3/2", "3")]


class World:
    """A small network and a question about it, with everybody whom there is."""

    def __init__(self, rng: random.Random, *, relaxed: bool) -> None:
        self._rng = rng
        self.said = question(claims={**question()["claims"], "holds": False, "compared": []}, asks="share")
        count = rng.choice([1, 1, 2])  # of what differs
        attributes = [self._attribute(f"v{at}", rng.choice([2, 3])) for at in range(count)]
        attributes += [
            self._attribute(f"v{count + at}", rng.choice([1, 2, 3, 6])) for at in range(rng.randint(1, 3 - count))
        ]
        names = [each["name"] for each in attributes]
        rng.shuffle(attributes)
        width = rng.choice([2, 3])
        sizes = [width, *(rng.randint(1, 3) for _ in range(rng.choice([0, 1, 1, 2, 3]))), 1]
        self.layers = [([self._drawn(wide) for _ in range(high)], self._drawn(high)) for wide, high in pairwise(sizes)]
        self.said |= {
            "attributes": attributes,
            "differ": names[:count],
            "mode": rng.choice(["any", "each"]),
            "reads": [self._column(attributes) for _ in range(width)],
            "decides": {**ABOVE_ZERO, "relation": rng.choice([">", ">=", "<", "<="]), "threshold": rng.randint(-2, 2)},
        }
        self._named = {each["name"]: each for each in attributes}
        for key, often in (("where", 0.3), ("target", 0.2)):
            if rng.random() < often:
                self.said[key] = self._condition(names)
        if relaxed:
            self.said["asks"] = rng.choice(["share", "share", "holds"])
            self.said["pair"] = self._condition([f"{who}.{name}" for who in "ab" for name in names])
            ways = {name: rng.choice([None, None, 0, 1, "3/2"]) for name in names[count:] if rng.random() < 0.4}
            self.said["relax"] = [[name, None if "values" in self._named[name] else by] for name, by in ways.items()]
        self.checker = self._checker()
        found, known = self.checker.question, self.checker.question.attributes
        self.points: list[Point] = list(product(*(range(each.size) for each in known)))
        self.values = {
            point: {each.name: each.value(at) for each, at in zip(known, point, strict=True)} for point in self.points
        }
        self.decided = {point: self._decision(point) for point in self.points}
        self.asked = {
            point: all(true_of(self.said[key], self.values[point]) for key in ("where", "target"))
            for point in self.points
        }
        self.loose, self.sides = found.loose, found.sides if isinstance(found, RelaxedQuestion) else {0, 1}
        self.by = {name: by if by is None else Fraction(by) for name, by in self.said["relax"]}

    def _drawn(self, count: int) -> list[Fraction]:
        return self._rng.choices(WEIGHTS, k=count)

    def _attribute(self, name: str, size: int) -> dict[str, Any]:
        if self._rng.random() < 0.5:
            values = self._rng.sample(range(-3, 9), size)
            return {"name": name, "type": "values", "values": values, "labels": [str(each) for each in values]}
        return {"name": name, "type": "integer", "low": 1, "high": size}

    def _column(self, attributes: Sequence[dict[str, Any]]) -> dict[str, Any]:
        read = [each for each in attributes if self._rng.random() < 0.6]
        added = [self._drawn(len(each["values"])) if "values" in each else self._drawn(1)[0] for each in read]
        said = [[*map(str, each)] if isinstance(each, list) else str(each) for each in added]
        names = [each["name"] for each in read]
        return {"constant": str(self._drawn(1)[0]), "terms": [*map(list, zip(names, said, strict=True))]}

    def _condition(self, names: Sequence[str], depth: int = 0) -> list[Any]:
        rng = self._rng
        match rng.choice(["parts", "in", "sum", "sum"] if depth < 2 else ["in", "sum"]):
            case "parts":
                return [rng.choice(["and", "or"]), *(self._condition(names, depth + 1) for _ in range(2))]
            case "in":
                name = rng.choice(names)
                return ["in", name, self._named[name[-2:]].get("values", [1, 2, 9])[: rng.randint(1, 3)]]
        terms = [[rng.choice(names), rng.choice([-1, 1, 2])] for _ in range(rng.choice([1, 2]))]
        return [rng.choice(["<", "<="]), terms, rng.randint(-4, 3)]

    def _checker(self) -> Checker:
        nodes, tensors, name = [], dict[str, Any](), "x"
        for at, (weight, bias) in enumerate(self.layers):
            last = at == len(self.layers) - 1
            tensors |= {f"w{at}": [list(map(float, row)) for row in weight], f"b{at}": list(map(float, bias))}
            nodes.append(helper.make_node("Gemm", [name, f"w{at}", f"b{at}"], ["y" if last else f"z{at}"], transB=1))
            name = f"h{at}"
            nodes += [] if last else [helper.make_node("Relu", [f"z{at}"], [name])]
        content = chain_file(nodes, tensors, len(self.said["reads"])).SerializeToString()
        return checker_of(question_of(self.said), Graph(content))

    def _decision(self, point: Point) -> bool:
        values = [column.of(point) for column in self.checker.question.reads]
        for at, (weight, bias) in enumerate(self.layers):
            values = [max(each, Fraction(0)) if at else each for each in values]
            values = [
                sum((a * b for a, b in zip(row, values, strict=True)), start)
                for row, start in zip(weight, bias, strict=True)
            ]
        less = values[0] - self.said["decides"]["threshold"]
        relation: str = self.said["decides"]["relation"]
        return {">": less > 0, ">=": less >= 0, "<": less < 0, "<=": less <= 0}[relation]

    def partners(self, one: Point, other: Point) -> bool:
        """Whether two are compared, the first of them as `a`."""
        if not self.asked[one] or not self.asked[other]:
            return False
        mine, theirs = self.values[one], self.values[other]
        differ = [mine[name] != theirs[name] for name in self.said["differ"]]
        rest = mine.keys() - {*self.said["differ"]}
        near = all(by is None or abs(mine[name] - theirs[name]) <= by for name in rest for by in [self.by.get(name, 0)])
        if not near or not (all if self.said["mode"] == "each" else any)(differ):
            return False
        both = {f"{who}.{name}": value for who, known in (("a", mine), ("b", theirs)) for name, value in known.items()}
        return true_of(self.said["pair"], both)

    def unit(self, point: Point) -> Point:
        return tuple(point[place] for place in self.checker.question.shared)

    def fairness(self) -> dict[Point, list[bool]]:
        """By unit, of each unit (or individual) in which two are compared, whether these get the same decision."""
        alike: dict[Point, list[bool]] = {}
        for one, other in product(self.points, self.points):
            if self.partners(one, other):
                for side, each in enumerate((one, other)):
                    if not self.loose or self.said["asks"] == "holds" or side in self.sides:
                        key = each if self.loose else self.unit(each)
                        alike.setdefault(key, []).append(self.decided[one] is self.decided[other])
        found: dict[Point, list[bool]] = {}
        for key, each_alike in alike.items():
            found.setdefault(self.unit(key) if self.loose else key, []).append(all(each_alike))
        return found

    def boxes(self) -> Iterator[Node]:
        """The domain, and parts of it."""
        node = self.checker.root()
        yield node
        for _ in range(3):
            wide = [place for place in self.checker.shared if node.box[place][0] < node.box[place][1]]
            if wide:
                place = self._rng.choice(wide)
                node = self._rng.choice(self.checker.halves(node, ["S", str(place), str(node.box[place][0])]))
                yield node

    def claims(self, node: Node) -> Iterator[Words]:
        """Whatever may stand in a line about a box."""
        rng, count = self._rng, len(self.checker.assignments)
        yield from (["="], ["=", "40000"], ["V"], ["E"], ["~"], ["~", str(rng.randint(0, 99999))])
        yield from (["U", str(rng.randrange(count)), str(rng.randrange(count))] for _ in range(3))
        yield from (["/", str(rng.choice(self.checker.shared)), "20000"], ["R", *self._region([])])
        yield from (["R", *self._region([])] for _ in range(3))
        members = [number for number, admitted in enumerate(node.admitted) if admitted != NO]
        pairs = [two for two in product(members, members) if self.checker.compared(*two, node.box)]
        net = self.checker.net
        assert isinstance(net, Integers)
        two = Parting(net, node.box, self.checker.assignments)
        numbers = rng.choice([[0], [1 << 16], [0, 1 << 16], [-(1 << 16), 0, 40000, 1 << 17]])
        for _ in range(4):
            yield ["P", *self._two(two, Two(pairs), numbers, 0)]

    def _unit(self) -> Words:
        units = self.checker.net.units if isinstance(self.checker.net, Integers) else []
        layer = self._rng.randrange(len(units) - 1)
        return [str(layer), str(self._rng.randrange(len(units[layer])))]

    def _region(self, above: list[Words]) -> Words:
        """Any tree of signs, of stable units and of units that stand above it too."""
        if len(self.layers) > 1 and len(above) < 4 and self._rng.random() < 0.6:
            unit = self._unit()
            return ["N", *unit, *(word for _ in range(2) for word in self._region([*above, unit]))]
        if above and self._rng.random() < 0.5:
            return ["H", str(self._rng.randrange(len(set(map(tuple, above)))))]
        return ["~"]

    def _two(self, parting: Parting, two: Two, numbers: list[int], depth: int) -> Words:
        """Any tree of splits, with multipliers for as many units as are of open sign."""
        rng, kind = self._rng, self._rng.choice("AOND")
        if not two.pairs:
            return ["V"]
        if kind == "D" or depth > 3 or (kind == "N" and len(self.layers) < 2):
            found = parting.passes(two)
            ranges = [two for each in found for ends in each.bounds[:-1] for two in zip(*ends, strict=True)]
            weights = rng.choice([("1", "1"), ("1", "1"), ("2", "1"), ("0", "1"), ("0", "0")])
            return [
                "D",
                *weights,
                *(str(rng.choice(numbers)) for _ in range(sum(low < 0 < high for low, high in ranges))),
            ]
        which, at = str(rng.randint(0, 1)), str(rng.randrange(len(self.said["differ"])))
        words = {"A": [which, at, str(rng.randint(0, 2))], "O": [at], "N": [which]}[kind]
        if kind == "N":
            words += self._unit()
            halves = two.signed(int(which), (int(words[1]), int(words[2])))
        else:
            halves = parting.halves(two, kind, iter(words))
        return [kind, *words, *(word for half in halves for word in self._two(parting, half, numbers, depth + 1))]


def true_of(condition: list[Any], values: dict[str, Fraction]) -> bool:
    match condition:
        case ["and", *parts]:
            return all(true_of(part, values) for part in parts)
        case ["or", *parts]:
            return any(true_of(part, values) for part in parts)
        case ["in", name, listed]:
            return values[name] in listed
    relation, terms, constant = condition
    total = sum((factor * values[name] for name, factor in terms), constant)
    return bool(total < 0 or (relation == "<=" and total == 0))


@pytest.mark.parametrize("relaxed", [False, True])
def test_no_claim_says_more_than_counting_everybody(*, relaxed: bool) -> None:
    rng, accepted = random.Random(3), set[str]()
    for _ in range(30 if relaxed else 90):
        world = World(rng, relaxed=relaxed)
        fairness = world.fairness()
        for node in world.boxes():
            ends = [node.box[place] for place in world.checker.shared]
            inside = [all(low <= at <= high for at, (low, high) in zip(unit, ends, strict=True)) for unit in fairness]
            here = [fair for found in compress(fairness.values(), inside) for fair in found]
            for claim in world.claims(node):
                totals = Totals()
                with suppress(RejectedError):
                    world.checker.leaf(node, claim, totals)
                    accepted.add(claim[0])
                    assert here or not totals.somebody, claim
                    assert here.count(False) <= totals.unfair + totals.open, claim
                    if not world.loose or world.said["asks"] == "share":
                        assert totals.fair <= here.count(True), claim
                        assert totals.unfair <= here.count(False), claim
                        assert len(here) <= totals.fair + totals.unfair + totals.open + totals.unsure, claim
    assert accepted >= {*"=VER~/", *([] if relaxed else ["P", "U"])}


def test_nobody_is_compared_with_himself(tmp_path: Path) -> None:
    """Where nothing differs all of nothing does: everybody was his own partner, and a demand about nobody held."""
    older = ["<=", [["a.age", -1]], 0]
    for asks in ("share", "holds"):
        for mode in ("any", "each"):
            said = question(differ=[], mode=mode, pair=older, asks=asks)
            said["claims"] |= {"compared": [], "certified": 1}
            with pytest.raises(RejectedError, match="nobody is asked about"):
                tried(tmp_path, LINEAR, said, "=")


def test_trees_read_no_column_that_the_input_is_not_declared_to_have(tmp_path: Path) -> None:
    """The runtime refuses tables of one column as well as of two: nobody is decided at all."""
    tree = regressor([Branch("BRANCH_LEQ", 1, 0.5, Leaf(((0, 1.0),)), Leaf(((0, 2.0),)))])
    asked = question(decides=ABOVE_ZERO)
    assert tried(tmp_path, tree_file([tree], outputs=["y"], width=2), asked, "=").follows
    narrow = tree_file([tree], outputs=["y"], width=1)
    session = onnxruntime.InferenceSession(narrow.SerializeToString(), providers=["CPUExecutionProvider"])
    assert session.get_inputs()[0].shape == ["N", 1]
    with pytest.raises(RejectedError, match="reads 1 columns"):
        tried(tmp_path, narrow, asked, "=")


#: ``max(sex, 0) - max(-sex, 0)`` of a sex of -1 or 1: whoever it is, one unit is 0.
TURNED = chain_file(
    [
        helper.make_node("Gemm", ["x", "w"], ["z"], transB=1),
        helper.make_node("Relu", ["z"], ["h"]),
        helper.make_node("Gemm", ["h", "v"], ["y"], transB=1),
    ],
    {"w": [[0, 1], [0, -1]], "v": [[1, -1]]},
)


@pytest.mark.parametrize(
    "line",
    [
        "R N 0 0 ~",  # a half is missing
        "R N 1 0 ~ ~",  # the score is no unit
        "R N 0 2 ~ ~",
        "R H 0",  # no split stands above it
        "R N 0 0 H 1 H 0",
        "R N 0 0 ~ ~ ~",
        "R V",
        "P V",
        "P D 1 1 0 0 0",  # numbers are missing, or left
        "P D 1 1 0 0 0 0 0",
        "P D 0 0 0 0 0 0",
        "P D -1 1 0 0 0 0",
        "P D 1 1 65536 65536 65536 -",
        "P N 0 0 0 D 1 1 0 0 0 0",
        "P N 2 0 0 V V",
        "P N 0 1 0 V V",
        "P A 0 1 0 V V",
        "P O 0 O 0 V D 1 1 0 0 0 0 V",
        "P",
        "R",
        "/ 1",  # it differs
        "/",
        "U 0 1",
    ],
)
def test_words_that_do_not_fit_show_nothing(tmp_path: Path, line: str) -> None:
    """Of the two sexes, who differ, one is above 0 and the other below."""
    sex = {"name": "sex", "type": "values", "values": [-1, 1], "labels": ["f", "m"]}
    said = question(attributes=[PEOPLE[0], sex], decides=ABOVE_ZERO)
    said["reads"] = [{"constant": 0, "terms": [each]} for each in (["age", 1], ["sex", [-1, 1]])]
    with pytest.raises(RejectedError):
        tried(tmp_path, TURNED, said, line)
    said["claims"] |= {"holds": False, "falsified": 1}
    assert tried(tmp_path, TURNED, said, "U 1 0").follows
