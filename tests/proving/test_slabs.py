"""Boxes of which the checker counts how much is open: never less than counting everybody finds."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from copy import copy
from fractions import Fraction
from itertools import pairwise, product
from operator import mul
from pathlib import Path
from typing import Any

import pytest
from onnx import helper

from fairdsl_verify import RejectedError, bounds, lines, slab
from fairdsl_verify.bounds import BITS, Integers, Lanes, Pass, _multiples
from fairdsl_verify.chain import Affine, Network
from fairdsl_verify.question import CELLS, MAYBE, Question
from tests.proving.test_checker_review import ABOVE_ZERO, LINEAR, PEOPLE, chain_file, question, tried


def drawn(rng: random.Random) -> tuple[Question, Integers]:
    """A network over an age, a job of three values and years, and the sex, which differs."""
    people: list[dict[str, Any]] = [
        {"name": "age", "type": "integer", "low": -3, "high": rng.randint(0, 20)},
        {"name": "job", "type": "values", "values": [4, 0, 1], "labels": ["a", "b", "c"]},
        {"name": "years", "type": "integer", "low": 0, "high": rng.randint(0, 9)},
        PEOPLE[1],
    ]
    reads = [["age", 1], ["job", [rng.randint(-3, 3) for _ in range(3)]], ["years", -2], ["sex", [0, 1]]]
    asked = question(
        attributes=people,
        reads=[{"constant": 0, "terms": [each]} for each in reads],
        decides={"of": "score", "relation": rng.choice((">", ">=", "<")), "threshold": rng.randint(-2, 2)},
    )

    def numbers(count: int) -> list[Fraction]:
        return [Fraction(rng.randint(-9, 9), rng.choice((1, 2, 4, 3))) for _ in range(count)]

    sizes = [4, *(rng.randint(1, 3) for _ in range(rng.randint(0, 2))), 1]
    layers = [Affine([numbers(below) for _ in range(width)], numbers(width)) for below, width in pairwise(sizes)]
    found = Question(asked)
    return found, Integers(found, Network([[layer] for layer in layers], sigmoid=False))


def part_of(asked: Question, rng: random.Random) -> list[tuple[int, int]]:
    """A box with both sexes."""
    box = []
    for attribute in asked.attributes:
        low = rng.randrange(attribute.size)
        box.append((low, rng.randrange(low, attribute.size)))
    return [*box[:3], (0, 1)]


def slopes_of(rng: random.Random) -> list[int]:
    """None, or some that a claim may name."""
    return [rng.randint(0, 1 << BITS) for _ in range(rng.randint(0, 3))]


def values_of(net: Integers, point: Sequence[int]) -> Iterator[list[int]]:
    """What the units of each layer are of somebody, before ReLU."""
    values = net.adds(net.origin, enumerate(point))
    yield values
    for rows, biases in zip(net.weights, net.biases, strict=True):
        below = [max(value, 0) for value in values]
        values = [bias + sum(map(mul, row, below)) for row, bias in zip(rows, biases, strict=True)]
        yield values


@pytest.mark.parametrize("seed", range(60))
def test_every_unit_lies_within_its_bounds(seed: int) -> None:
    rng = random.Random(seed)
    asked, net = drawn(rng)
    box = part_of(asked, rng)
    found = Pass(net, tuple(box), range(len(net.moves)), slopes_of(rng))
    for point in product(*(range(low, high + 1) for low, high in box)):
        for (lows, highs), values in zip(found.bounds, values_of(net, point), strict=True):
            assert all(low <= value <= high for low, value, high in zip(lows, values, highs, strict=True))


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        ([[0, 0, 0], [2, 0, -4], [6, 0, -12]], ([2, 0, -4], [0, 1, 3])),
        ([[0, 0], [0, 4], [0, 6]], ([0, 2], [0, 2, 3])),
        ([[0, 0], [-2, 4], [-6, 12]], ([2, -4], [0, -1, -3])),
        ([[0, 0], [6, 3], [2, 1]], None),  # it grows, then falls
        ([[0, 0], [1, 2], [3, 5]], None),  # two ways
        ([[0, 0], [1, 2], [0, 0]], None),
        ([[0, 0], [0, 0]], None),
    ],
)
def test_what_an_attribute_adds_is_a_multiple_of_one_row(
    rows: list[list[int]], found: tuple[list[int], list[int]] | None
) -> None:
    """Only then are its extremes at the ends of every range."""
    step, multiples = _multiples(rows)
    assert (None if multiples is None else (step, multiples)) == found


def test_a_leaf_says_how_many_are_apart(tmp_path: Path) -> None:
    """``age + 4 sex > 1/2``: those of -3 to 0 are apart, 4 of 201."""
    wide = [PEOPLE[0] | {"low": -100, "high": 100}, PEOPLE[1]]
    asked = question(attributes=wide, asks="share", decides={"of": "score", "relation": ">", "threshold": "1/2"})
    asked["claims"] = asked["claims"] | {"holds": False, "certified": 0, "falsified": 0, "compared": []}
    model = chain_file([helper.make_node("Gemm", ["x", "w"], ["y"], transB=1)], {"w": [[1, 4]]})
    found = tried(tmp_path, model, asked, "u 1 0").totals
    assert (found.unfair, found.fair, found.open) == (4, 197, 0)
    assert tried(tmp_path, model, asked, "u 0 1").totals.unfair == 0
    for claim in ("u", "u 0", "u 0 1 1", "u 0 x"):
        with pytest.raises(RejectedError, match=r"not a claim|not a number"):
            tried(tmp_path, model, asked, claim)
    assert tried(tmp_path, model, asked, "u 0 0").totals.unfair == 0
    with pytest.raises(RejectedError, match="names two who are not compared"):
        tried(tmp_path, model, asked, "u 0 2")


def either(net: Integers, unit: Sequence[int]) -> bool:
    """Whether the two of a unit may be decided differently; within the margin one may be on either side."""
    sides = {net.high(None, tuple((at, at) for at in (*unit, sex))) for sex in (0, 1)}
    return len(sides) > 1 or MAYBE in sides


@pytest.mark.parametrize("margin", [0, 1, 3, 7])
@pytest.mark.parametrize("adds", [[0, 5, 2], [0, 2, 7], [3, 3, 3], [4, 0, 9]])
def test_of_a_line_of_a_sum_it_says_how_many_are_crossed(adds: list[int], margin: int) -> None:
    """``3 age + adds[job] - 20 > 0`` where jobs differ: whoever is nearer than the margin may be on either side."""
    age = {"name": "age", "type": "integer", "low": -9, "high": 20}
    job = {"name": "job", "type": "values", "values": [0, 1, 2], "labels": ["a", "b", "c"]}
    asked = Question(
        question(
            attributes=[age, job],
            reads=[{"constant": 0, "terms": [["age", 3], ["job", adds]]}],
            differ=["job"],
            decides={"of": "score", "relation": ">", "threshold": 20},
        )
    )
    net = Integers(asked, Network([[Affine([[Fraction(1)]], [Fraction(0)])]], sigmoid=False))
    net.margin = margin * net.scale
    scores = [[3 * value + each - 20 for each in adds] for value in range(-9, 21)]
    crossed = sum(min(each) <= margin and max(each) > -margin for each in scores)
    assert crossed <= slab.on_a_line(Pass(net, ((0, 29), (0, 2)), range(3)), 0) <= crossed + 1
    assert slab.on_a_line(Pass(net, ((0, 29), (0, 2)), range(3)), 0) == -(-(max(adds) - min(adds) + 2 * margin) // 3)


@pytest.mark.parametrize("relation", [">", ">=", "<", "<="])
def test_of_a_line_of_reals_no_longer_part_is_crossed(relation: str) -> None:
    """In cells: between the first and the last of 331 points that are decided differently there is no more."""
    told = 0
    for seed in range(24):
        rng = random.Random(seed)
        people = [{"name": "age", "type": "real", "low": -2, "high": 3}, PEOPLE[1]]
        asked = Question(question(attributes=people, decides={"of": "score", "relation": relation, "threshold": 0}))
        below = Affine(
            [[Fraction(rng.randint(-4, 4)), Fraction(rng.randint(-4, 4), 4)] for _ in range(3)], [Fraction(1)] * 3
        )
        above = Affine([[Fraction(rng.randint(-4, 4)) for _ in range(3)]], [Fraction(rng.randint(-3, 3))])
        net = Integers(asked, Network([[below], [above]], sigmoid=False))
        low, high = sorted(rng.sample(range(CELLS + 1), 2))
        found = Pass(net, ((low, high), (0, 1)), (0, 1))
        if found.ranges:
            most = slab.on_a_line(found, 0)
            told += most < high - low
            points = [low + (high - low) * step // 330 for step in range(331)]
            crossed = [at for at in points if either(net, (at,))]
            assert not crossed or crossed[-1] - crossed[0] <= most
    assert told > 3


def test_wide_lanes_hold_what_is_added_up() -> None:
    rng = random.Random(0)
    for _ in range(200):
        most = rng.choice((0, 1, 127, 128, 255, 256, 1 << 40))
        rows = [[rng.choice((-most, most, rng.randint(-most, most))) for _ in range(5)] for _ in range(3)]
        lanes, factors = Lanes([9 * most] * 5), [rng.randint(-3, 3) for _ in rows]
        added = sum(factor * lanes.packed(row) for factor, row in zip(factors, rows, strict=True))
        assert lanes.of(added) == [sum(map(mul, factors, column)) for column in zip(*rows, strict=True)]
        plus, minus = lanes.signed(rows[0])
        assert lanes.of(plus - minus) == rows[0]
        assert lanes.of(lanes.packed(rows[0])) == rows[0]


@pytest.mark.parametrize("seed", range(40))
def test_no_number_of_a_pass_is_larger_than_its_lanes(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With lanes of a thousand bits more, each pass comes to the same."""
    rng = random.Random(seed)
    asked, net = drawn(rng)
    box, slopes = tuple(part_of(asked, rng)), slopes_of(rng)
    monkeypatch.setattr(bounds, "Lanes", lambda most: Lanes([each << 1000 for each in most]))
    wide = Integers(asked, net._network)
    passes = [Pass(one, box, range(len(net.moves)), slopes) for one in (net, wide)]
    seen = [(one.bounds, one.lower, one.upper, [slab.on_a_line(one, at) for at in one.ranges]) for one in passes]
    assert seen[0] == seen[1]


def test_slopes_that_are_tried_bound_more() -> None:
    """Never less than the usual lines alone, where those of the units below are the same."""
    more = 0
    for seed in range(60):
        rng = random.Random(seed)
        asked, net = drawn(rng)
        box = tuple(part_of(asked, rng))
        usual, tried = (
            Pass(net, box, range(len(net.moves))),
            Pass(net, box, range(len(net.moves)), [0, 1 << BITS - 1, 1 << BITS]),
        )
        if usual.bounds[:-1] == tried.bounds[:-1]:
            assert tried.bounds[-1][0] >= usual.bounds[-1][0]
            assert tried.bounds[-1][1] <= usual.bounds[-1][1]
        more += tried.bounds[-1] != usual.bounds[-1]
    assert more


def test_a_slope_above_one_counts_as_one(tmp_path: Path) -> None:
    """``max(z, 0) - 2 z + 1/2 > 0`` for z = 2 age - 1 holds of the young alone; with ``2 z`` for the unit, of all."""
    nodes = [
        helper.make_node("Gemm", ["x", "w", "b"], ["z"], transB=1),
        helper.make_node("Relu", ["z"], ["h"]),
        helper.make_node("Gemm", ["h", "v", "c"], ["y"], transB=1),
    ]
    model = chain_file(nodes, {"w": [[2, 0], [2, 0]], "b": [-1, 0], "v": [[1, -2]], "c": [2.5]})
    asked = question(decides=ABOVE_ZERO)
    for slopes in ("65536", "131072", "0 99999999"):
        with pytest.raises(RejectedError, match="do not say so"):
            tried(tmp_path, model, asked, f"= {slopes}")
    assert tried(tmp_path, model, asked, "S 0 0", "= 131072", "= 0").follows


def test_it_counts_what_is_left_of_a_line() -> None:
    """``age - 2 sex > 0`` from -3 to 20: two ages lie between, and a bin more counts for each attribute at the ends."""
    people = [{"name": "age", "type": "integer", "low": -3, "high": 20}, PEOPLE[1]]
    asked = Question(question(attributes=people, decides={"of": "score", "relation": ">", "threshold": 0}))
    net = Integers(asked, Network([[Affine([[Fraction(1), Fraction(-2)]], [Fraction(0)])]], sigmoid=False))
    assert 2 <= slab.crossed(Pass(net, ((0, 23), (0, 1)), range(len(net.moves))), 24) <= 4


def test_a_box_of_which_it_is_not_known_who_is_asked_about_is_not_counted(tmp_path: Path) -> None:
    assert tried(tmp_path, LINEAR, question(), "~").follows
    claims = question()["claims"] | {"holds": False, "certified": 1, "compared": []}
    for relation in ("<", "<="):  # nobody, and some
        asked = question(where=[relation, [["age", 1]], 0], claims=claims)
        with pytest.raises(RejectedError, match="perhaps nobody compared"):
            tried(tmp_path, LINEAR, asked, "~")
    for loose in (
        question(relax=[["age", 1]]),
        question(relax=[["age", 1]], pair=["<=", [["a.age", 1], ["b.age", -1]], 0]),
    ):
        with pytest.raises(RejectedError, match="perhaps nobody compared"):
            tried(tmp_path, LINEAR, loose, "~")
        with pytest.raises(RejectedError, match="perhaps nobody compared"):
            tried(tmp_path, LINEAR, loose, "/ 0")
    for claim in ("/", "/ 1", "/ 2", "/ x", "/ 0 -1", "/0", "U 0", "U 0 1 2", "~ x", "V 0", "E 0", "? 0", ""):
        with pytest.raises(RejectedError, match=r"not a claim|not a number"):
            tried(tmp_path, LINEAR, question(), claim)


def test_more_is_proved_where_boxes_are_counted(tmp_path: Path) -> None:
    """One leaf over everybody shows a share without a single cut."""
    wide = [PEOPLE[0] | {"low": -100, "high": 100}, PEOPLE[1]]
    asked = question(attributes=wide, asks="share", decides={"of": "score", "relation": ">", "threshold": "1/2"})
    asked["claims"] = asked["claims"] | {"holds": False, "certified": "9/10", "compared": []}
    assert tried(tmp_path, LINEAR, asked, "~").follows
    # Who is 0 is treated unfairly where sex counts as well, so an engine that counts nobody claims more than follows.
    asked["claims"] = asked["claims"] | {"certified": 1}
    assert tried(tmp_path, LINEAR, asked, "~").follows
    counts = chain_file([helper.make_node("Gemm", ["x", "w"], ["y"], transB=1)], {"w": [[1, 1]]})
    for faulty in (False, True):
        with pytest.MonkeyPatch.context() as patch:
            if faulty:
                patch.setattr("fairdsl_verify.tree.crossed", lambda *_: 0)
            assert tried(tmp_path, counts, asked, "~").follows is faulty


#: Faults of an engine that counts lines.
FAULTY_LINES: dict[str, tuple[object, str, Any]] = {
    "one less of each line": (slab, "on_a_line", lambda found, along: ON_A_LINE(found, along) - 1),
    "what differs moves nothing": (lines, "combinations", lambda *_: ()),
    "the score goes up twice as fast": (
        lines,
        "moves",
        lambda found, row: [(1 + (row[0] > 0)) * at for at in MOVES(found, row)],
    ),
    "the steepest step counts for the least": (
        lines,
        "moves",
        lambda found, row: [max(MOVES(found, row), key=abs)] * 2,
    ),
}
ON_A_LINE, MOVES = lines.on_a_line, lines.moves


def test_an_engine_that_forgets_the_margin_of_a_line_is_rejected(tmp_path: Path) -> None:
    """``max(age + 3 sex + 2^23 + 200, 0) > 2^23 + 249``, of which float32 holds no halves: some ages more are open."""
    nodes = [
        helper.make_node("Gemm", ["x", "w", "b"], ["z"], transB=1),
        helper.make_node("Relu", ["z"], ["h"]),
        helper.make_node("Gemm", ["h", "v"], ["y"], transB=1),
    ]
    model = chain_file(nodes, {"w": [[1, 3]], "b": [2**23 + 200], "v": [[1]]})
    wide = [PEOPLE[0] | {"low": -100, "high": 100}, PEOPLE[1]]
    decides = {"of": "score", "relation": ">", "threshold": 2**23 + 249}
    asked = question(attributes=wide, asks="share", decides=decides, arithmetic="float32")
    asked["claims"] = asked["claims"] | {"holds": False, "compared": [], "margin": 9}

    def forgetful(found: Pass, along: int) -> int:
        other = copy(found)
        other.off = 0
        return ON_A_LINE(other, along)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(slab, "on_a_line", forgetful)
        found = tried(tmp_path, model, asked, "/ 0").totals.certified
    assert found == Fraction(198, 201)
    asked["claims"] = asked["claims"] | {"certified": str(found)}
    checked = tried(tmp_path, model, asked, "/ 0")
    assert not checked.follows
    assert Fraction(180, 201) < checked.totals.certified < found


@pytest.mark.parametrize("fault", ["", *FAULTY_LINES])
def test_an_engine_that_counts_too_little_of_a_line_is_rejected(fault: str, tmp_path: Path) -> None:
    """``max(age + 3 sex + 200, 0) - max(sex - age, 0) / 2 > 249`` differs at three ages from -100 to 100."""
    nodes = [
        helper.make_node("Gemm", ["x", "w", "b"], ["z"], transB=1),
        helper.make_node("Relu", ["z"], ["h"]),
        helper.make_node("Gemm", ["h", "v"], ["y"], transB=1),
    ]
    model = chain_file(nodes, {"w": [[1, 3], [-1, 1]], "b": [200, 0], "v": [[1, -0.5]]})
    wide = [PEOPLE[0] | {"low": -100, "high": 100}, PEOPLE[1]]
    asked = question(attributes=wide, asks="share", decides={"of": "score", "relation": ">", "threshold": 249})
    asked["claims"] = asked["claims"] | {"holds": False, "certified": 0, "compared": []}
    with pytest.MonkeyPatch.context() as patch:
        if fault:
            patch.setattr(*FAULTY_LINES[fault])
        found = tried(tmp_path, model, asked, "/ 0").totals.certified
    assert (found > Fraction(198, 201)) is bool(fault)
    asked["claims"] = asked["claims"] | {"certified": str(found)}
    checked = tried(tmp_path, model, asked, "/ 0")
    assert checked.follows is not bool(fault)
    assert checked.totals.certified == Fraction(198, 201)
