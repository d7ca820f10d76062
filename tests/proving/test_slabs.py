"""Boxes of which the checker counts how much is open: never less than counting everybody finds."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise, product
from operator import mul
from pathlib import Path
from typing import Any

import pytest
from onnx import helper

from fairdsl_verify import RejectedError, slab
from fairdsl_verify.bounds import BITS, Integers, Pass, _multiples
from fairdsl_verify.chain import Affine, Network
from fairdsl_verify.question import Question
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
    found = Pass(net, tuple(box), net.moves, slopes_of(rng))
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


@pytest.mark.parametrize("seed", range(60))
def test_no_unit_that_is_crossed_is_left_out(seed: int) -> None:
    rng = random.Random(seed)
    asked, net = drawn(rng)
    net.margin = rng.choice((0, 0, 1, net.scale))
    box = part_of(asked, rng)
    units = list(product(*(range(low, high + 1) for low, high in box[:3])))
    found = Pass(net, tuple(box), net.moves, slopes_of(rng))
    crossed = 0
    for unit in units:
        sides = set()
        for sex in (0, 1):
            try:
                sides.add(net.high(None, (*unit, sex)))
            except RejectedError:  # within the margin it may be on either side
                sides |= {True, False}
        crossed += len(sides) > 1
    assert crossed <= slab.crossed(found, len(units)) <= max(len(units), crossed)


def test_slopes_that_are_tried_bound_more() -> None:
    """Never less than the usual lines alone, where those of the units below are the same."""
    more = 0
    for seed in range(60):
        rng = random.Random(seed)
        asked, net = drawn(rng)
        box = tuple(part_of(asked, rng))
        usual, tried = Pass(net, box, net.moves), Pass(net, box, net.moves, [0, 1 << BITS - 1, 1 << BITS])
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
    assert 2 <= slab.crossed(Pass(net, ((0, 23), (0, 1)), net.moves), 24) <= 4


def test_a_box_of_which_it_is_not_known_who_is_asked_about_is_not_counted(tmp_path: Path) -> None:
    assert tried(tmp_path, LINEAR, question(), "~").follows
    claims = question()["claims"] | {"holds": False, "certified": 1, "compared": []}
    for relation in ("<", "<="):  # nobody, and some
        asked = question(where=[relation, [["age", 1]], 0], claims=claims)
        with pytest.raises(RejectedError, match="not known who is compared"):
            tried(tmp_path, LINEAR, asked, "~")
    for loose in (
        question(relax=[["age", 1]]),
        question(relax=[["age", 1]], pair=["<=", [["a.age", 1], ["b.age", -1]], 0]),
    ):
        with pytest.raises(RejectedError, match="not known who is compared"):
            tried(tmp_path, LINEAR, loose, "~")


def test_more_is_proved_where_boxes_are_counted(tmp_path: Path) -> None:
    """One leaf over everybody shows a share without a single cut."""
    wide = [PEOPLE[0] | {"low": -100, "high": 100}, PEOPLE[1]]
    asked = question(attributes=wide, asks="share", decides={"of": "score", "relation": ">", "threshold": "1/2"})
    asked["claims"] = asked["claims"] | {"holds": False, "certified": "9/10", "compared": []}
    assert tried(tmp_path, LINEAR, asked, "~").follows
    # An engine that counts half of what is open claims more than follows.
    asked["claims"] = asked["claims"] | {"certified": 1}
    for faulty in (False, True):
        with pytest.MonkeyPatch.context() as patch:
            if faulty:
                patch.setattr("fairdsl_verify.tree.crossed", lambda *_: 0)
            assert tried(tmp_path, LINEAR, asked, "~").follows is faulty
