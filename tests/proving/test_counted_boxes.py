"""Boxes of which the checker counts how much is open: however it rounds, nobody is left out, by counting everybody."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from functools import partial
from itertools import pairwise, permutations, product
from math import prod
from types import SimpleNamespace
from typing import Any, cast

import pytest

from fairdsl_verify import apart, bounds, pairs, regions, slab
from fairdsl_verify.bounds import BITS, Integers, Pass
from fairdsl_verify.chain import Affine, Network
from fairdsl_verify.question import CELLS, MAYBE, NO, YES, Question
from fairdsl_verify.tree import Checker, Node
from tests.proving.test_checker_review import ABOVE_ZERO, PEOPLE, question
from tests.proving.test_slabs import either, slopes_of, values_of


def summed(rng: random.Random) -> Pass:
    """A score that is a sum of whole numbers, of listed or of real ones, and of the sex, on a part of the domain."""
    people, terms, box, cell = list[dict[str, Any]](), list[list[Any]](), list[tuple[int, int]](), Fraction(1)
    if reals := rng.random() < 0.2:
        cell = Fraction(1, CELLS)
    for name in "abc"[: rng.randint(1, 3)]:
        size, kind = rng.randint(2, 8), rng.choice(("integer", "values", "real" if reals else "integer"))
        listed = {"values": list(range(size)), "labels": list(map(str, range(size)))}
        people.append({"name": name, "type": kind, **(listed if kind == "values" else {"low": 0, "high": size - 1})})
        adds = [rng.randint(-9, 9) * (1 if kind == "real" else cell) for _ in range(size)]
        adds = sorted(adds) if rng.random() < 0.5 else adds  # multiples of one row
        terms.append([name, list(map(str, adds)) if kind == "values" else str(adds[0])])
        low, high = rng.choice(((0, size - 1), sorted(rng.choices(range(size), k=2))))
        box.append((low, high + (kind == "real")))
    sex = ["sex", [0, str(rng.randint(-3, 3) * cell)]]
    reads = [{"constant": 0, "terms": [term]} for term in (*terms, sex)]
    decides = ABOVE_ZERO | {"relation": rng.choice((">", ">=", "<", "<="))}
    asked = Question(question(attributes=[*people, PEOPLE[1]], reads=reads, decides=decides))
    layer = Affine([[Fraction(1)] * len(reads)], [Fraction(0)])
    net = Integers(asked, network := Network([[layer]], sigmoid=False))
    somebody = enumerate(rng.choice(range(low, high + 1)) for low, high in (*box, (0, 1)))
    layer.bias[0] -= Fraction(net.adds(net.origin, somebody)[0], net.scale)  # somebody has the threshold
    net = Integers(asked, network)
    net.margin = rng.choice((0, 0, 1, 3, 9))
    return Pass(net, (*box, (0, 1)), (0, 1))


def cells(found: Pass, row: list[int], place: int) -> list[tuple[int, int]]:
    """From where to where it is what each position of an attribute adds, or each cell of a real one."""
    low, high = found.box[place]
    added = found.adds(row, place, range(low, high + 1))
    two = pairwise(added) if found.net.question.attributes[place].real else zip(added, added, strict=True)
    return [(min(each), max(each)) for each in two]


def within(found: Pass, row: list[int], first: int, last: int, along: int | None, most: int) -> int:
    """Of how many units the sum is between two numbers; of each line along an attribute with such a unit so many."""
    rest = [cells(found, row, place) for place in found.ranges if place != along]
    line = [(0, 0)] if along is None else cells(found, row, along)
    count = 0
    for unit in product(*rest):
        low, high = (sum(ends) for ends in zip((0, 0), *unit, strict=True))
        count += any(first <= high + up and low + down <= last for down, up in line)
    return count * (1 if along is None else most)


def deep(rng: random.Random, most: int = 4, *, grows: bool = False) -> tuple[Question, Integers]:
    """A few hidden layers, some alike; several differ; of listed values no row is a multiple of another."""
    sizes = {"age": rng.choice((6, 12, 20)), "job": 4, "sex": 2, "race": 3, "group": rng.choice((1, 3))}
    age, *others = sizes
    people: list[dict[str, Any]] = [{"name": age, "type": "integer", "low": -2, "high": sizes[age] - 3}]
    for name in others:
        values = list(range(sizes[name]))
        people.append({"name": name, "type": "values", "values": values, "labels": list(map(str, values))})

    entries = (0, 1, 1, 2) if grows else (-2, -1, -1, 0, 1, 1, 2)

    def numbers(count: int) -> list[Fraction]:
        return [Fraction(each) for each in rng.choices(entries, k=count)]

    def terms() -> list[list[Any]]:
        listed = [[name, list(map(str, numbers(sizes[name])))] for name in rng.sample(others, 2)]
        return [[age, rng.randint(1, 3) if grows else rng.randint(-2, 2)], *listed]

    decides = {"of": "score", "relation": rng.choice((">", ">=", "<", "<=")), "threshold": 0}
    reads = [{"constant": 0, "terms": terms()} for _ in range(3)]
    asked = Question(question(attributes=people, reads=reads, differ=others[1:], decides=decides))
    widths = [3, *(rng.randint(2, 3) for _ in range(rng.randint(0, 1) if grows else rng.randint(1, most))), 1]
    layers = [Affine([numbers(below) for _ in range(width)], numbers(width)) for below, width in pairwise(widths)]
    for at in range(1, len(layers) - 1):
        if widths[at - 1 : at + 2] == [widths[at]] * 3 and rng.random() < 0.7:
            layers[at] = layers[at - 1]
    network = Network([[layer] for layer in layers], sigmoid=False)
    net = Integers(asked, network)
    *_, (score,) = values_of(net, [rng.randrange(attribute.size) for attribute in asked.attributes])
    layers[-1].bias[0] -= Fraction(score, net.scale)
    return asked, Integers(asked, network)


def drawn_rounding(rng: random.Random) -> tuple[int, int, int]:
    """Digits of slopes, bins of a sum and pieces of a range: few, or as many as there are."""
    return rng.choice((1, 3, 16, 16)), rng.choice((1, 3, 8, 4096, 4096)), rng.choice((1, 2, 3, 256, 256))


def rough(patch: pytest.MonkeyPatch, digits: int, bins: int, pieces: int) -> None:
    """Let there be no more of them."""
    for module in (bounds, pairs, regions, slab):
        patch.setattr(module, "BITS", digits)
    patch.setattr(slab, "BINS", bins)
    patch.setattr(slab, "PIECES", pieces)


def test_no_sum_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the sums of two of the box, or one of them and nothing but that."""
    tight = 0
    for seed in range(250):
        rng = random.Random(seed)
        rough(monkeypatch, *drawn_rounding(rng))
        found = summed(rng)
        row, along = found.lower, rng.choice((None, None, *found.ranges))
        mass = prod(len(cells(found, row, place)) for place in found.ranges)
        most = rng.randint(1, len(cells(found, row, along))) if along is not None else 0
        monkeypatch.setattr(slab, "on_a_line", lambda _found, _along, most=most: most)
        for _ in range(6):
            two = [sum(rng.choice(rng.choice(cells(found, row, at))) for at in found.ranges) for _ in range(2)]
            first, last = sorted(rng.choice((two, two[:1] * 2)))
            said = slab.between(found, row, mass, first, last, along)
            true = within(found, row, first, last, along, most)
            assert true <= said <= mass, seed
            tight += true == said < mass
    assert tight > 5


def test_no_unit_that_is_open_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who are decided differently, or are too near the threshold to be known; where one row says it, too."""
    tight = 0
    for seed in range(250):
        rng = random.Random(seed)
        rough(monkeypatch, *drawn_rounding(rng))
        found = summed(rng)
        net, units = found.net, list(product(*(range(low, high + 1) for low, high in found.box[:-1])))
        if any(each.real for each in net.question.attributes):
            continue
        open_ = sum(either(net, unit) for unit in units)
        for along in (None, *found.ranges):
            said = slab.crossed(found, len(units), along)
            assert open_ <= said, (seed, along)
            tight += open_ == said < len(units)
        scores = [[net.adds(net.origin, enumerate((*unit, sex)))[0] for sex in (0, 1)] for unit in units]
        for row, sign in ((found.lower, 1), (found.upper, -1)):
            short = sum(min(sign * score for score in each) <= found.off for each in scores)
            assert short <= slab.short(found, row, len(units)) <= len(units)
    assert tight > 5


LEFT_OUT = "somebody is left out"


def test_of_networks_nobody_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor of a line along an attribute; and none is decided differently for certain that is not."""
    told = tight = sure = 0
    for seed in range(200):
        rng = random.Random(seed)
        rough(monkeypatch, digits := rng.choice((1, 3, 16)), *drawn_rounding(rng)[1:])
        asked, net = deep(rng, grows=rng.random() < 0.6)
        net.margin = rng.choice((0, 0, 1, 4))
        only = sorted(rng.sample(range(len(net.moves)), rng.choice((2, 2, 3))))
        ages, _, *differing = [(0, attribute.size - 1) for attribute in asked.attributes]
        box = (ages, tuple(sorted(rng.choices(range(4), k=2))), *differing)
        found = Pass(net, box, only, [slope >> BITS - digits for slope in slopes_of(rng)])
        if found.side != MAYBE:
            continue
        units, sides = list(product(*(range(low, high + 1) for low, high in box[:2]))), {}
        for unit in units:
            points = (tuple((at, at) for at in (*unit, *asked.assignments[one])) for one in only)
            sides[unit] = [net.high(None, point) for point in points]
        open_ = [unit for unit, each in sides.items() if len({*each}) > 1 or MAYBE in each]
        for along in (None, *found.ranges):
            assert len(open_) <= slab.crossed(found, len(units), along), LEFT_OUT
        for along in found.ranges:
            most, size = slab.on_a_line(found, along), box[along][1] - box[along][0] + 1
            counts = Counter((*unit[:along], *unit[along + 1 :]) for unit in open_).values()
            assert max(counts, default=0) <= most, LEFT_OUT
            told, tight = told + (most < size), tight + (max(counts, default=0) == most < size)
        passed = partial(Pass, net)
        checker = cast(Checker, SimpleNamespace(bounded=lambda node, only, passed=passed: passed(node.box, only)))
        for one, other in permutations(range(len(only)), 2):
            true = sum((each[one], each[other]) == (YES, NO) for each in sides.values())
            said = apart.apart(checker, Node(box), (only[one], only[other]), len(units))
            assert said <= true, LEFT_OUT
            sure += said > 0
    assert (told > 40, tight > 15, sure > 3) == (True, True, True), (told, tight, sure)


SHORT, ON_A_LINE = slab.short, slab.on_a_line
FAULTS: dict[str, tuple[object, str, Any]] = {
    "one less there than are not apart": (apart, "short", lambda *given: SHORT(*given) - 1),
    "those who are apart are those who are not": (
        apart,
        "short",
        lambda found, row, mass: mass - SHORT(found, row, mass),
    ),
    "the first side is that of the second": (apart, "YES", NO),
    "one less than is open": (slab, "short", lambda *given: SHORT(*given) - 1),
    "one less of each line": (slab, "on_a_line", lambda found, along: ON_A_LINE(found, along) - 1),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(*FAULTS[fault])
    with pytest.raises(AssertionError, match=LEFT_OUT):
        test_of_networks_nobody_is_left_out(monkeypatch)
