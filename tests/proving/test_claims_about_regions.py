"""Boxes cut by the signs of units: never fewer units are open than counting everybody finds, whatever is cut."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import pairwise, product
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from fairdsl.proving.looking import Looking
from fairdsl_verify import regions, slab
from fairdsl_verify.bounds import Integers, Pass
from fairdsl_verify.chain import Affine, Network
from fairdsl_verify.question import YES, Box, Question
from fairdsl_verify.regions import Region, open_in
from fairdsl_verify.tree import Checker, Node
from tests.proving.test_slabs import drawn, either, part_of, values_of


def tree(rng: random.Random, found: Pass, cut: tuple[tuple[int, int], ...] = ()) -> Iterator[str]:
    """Splits by signs, more often by those that are open, and any bound that a leaf may name."""
    units = [(layer, unit) for layer, live in enumerate(found.live) for unit, *_ in live]
    open_ = [at for at in units if found.bounds[at[0]][0][at[1]] < 0 and at not in cut]
    left = (open_ if rng.random() < 0.9 else units) or units
    if left and len(cut) < 4 and rng.random() < 0.8:
        layer, unit = at = min(rng.sample(left, min(2, len(left))))
        yield from ("N", str(layer), str(unit))
        for _ in range(2):
            yield from tree(rng, found, (*cut, at))
    elif cut and rng.random() < 0.3:
        yield from ("H", str(rng.randrange(len(set(cut)))))
    else:
        yield "~"


def checker_of(asked: Question, net: Integers) -> Any:
    def mass(node: Node) -> int:
        return len(units_of(node.box))

    return SimpleNamespace(question=asked, net=net, mass=mass)


def units_of(box: Box) -> list[tuple[int, ...]]:
    return list(product(*(range(low, high + 1) for low, high in box[:3])))


def close(rng: random.Random, most: int = 6) -> tuple[Question, Integers]:
    """A network of several hidden units whose threshold is the score of somebody; no weight is more than this."""
    asked, _ = drawn(rng)
    sizes = [4, *(rng.randint(2, 4) for _ in range(rng.randint(1, 2))), 1]
    layers = [
        Affine(
            [[Fraction(rng.randint(-most, most)) for _ in range(below)] for _ in range(width)],
            [Fraction(rng.randint(-9, 9) * most, 6) for _ in range(width)],
        )
        for below, width in pairwise(sizes)
    ]
    network = Network([[layer] for layer in layers], sigmoid=False)
    net = Integers(asked, network)
    *_, (score,) = values_of(net, [rng.randrange(attribute.size) for attribute in asked.attributes])
    layers[-1].bias[0] -= Fraction(score, net.scale)
    return asked, Integers(asked, network)


@cache
def several() -> list[tuple[Any, Node, list[str], int, int]]:
    """Networks with hidden layers, boxes and trees; how many units are unfair, and how many one pass leaves open."""
    made = []
    for seed in range(250):
        rng = random.Random(seed)
        asked, net = close(rng)
        net.margin = rng.choice((0, 0, 0, net.scale))
        ages, *others, sex = [(0, attribute.size - 1) for attribute in asked.attributes]
        if rng.random() < 0.8:  # where ages alone are different, many a bound is what there is to say
            others = [(low, low) for low, _ in part_of(asked, rng)[1:3]]
        node = Node((ages, *others, sex), (YES,) * len(net.moves))
        found = Pass(net, node.box, range(2))
        if not (usual := slab.crossed(found, len(units := units_of(node.box)))):
            continue
        unfair = sum(either(net, unit) for unit in units)
        made += [(checker_of(asked, net), node, list(tree(rng, found)), unfair, usual) for _ in range(6)]
    return made


def test_no_unit_that_is_unfair_is_left_out() -> None:
    """Some trees say more than one pass does, and some all that there is to say."""
    less = tight = 0
    for checker, node, words, unfair, usual in several():
        found = open_in(checker, node, words)
        assert unfair <= found <= checker.mass(node), words
        less += found < usual
        tight += unfair == found < usual
    assert (less > 30, tight > 15) == (True, True), (less, tight, len(several()))


WITHIN, UNIT, CROSSED, CUT = Region.within, Region._unit, Region.crossed, Region.cut


def too_narrow(self: Region, layer: int, ends: Any) -> Any:
    """A sign is taken for more than it says."""
    lows, highs = WITHIN(self, layer, ends)
    for (at, unit), above in self._signs.items():
        if at == layer and above:
            lows[unit] = max(lows[unit], min(5, highs[unit]))
    return lows, highs


def turned(self: Region, layer: int, ends: Any) -> Any:
    """Of the two sides of a sign one stands for both."""
    signs, self._signs = self._signs, dict.fromkeys(self._signs, True)
    found = WITHIN(self, layer, ends)
    self._signs = signs
    return found


def of_the_region(*given: Any) -> Region:
    """Scores are off by what they are of whoever has such signs."""
    return Region(*given[:4], 0, *given[5:])


def smaller(self: Region, *given: Any) -> list[int]:
    """A unit has to be further from 0 than it has to be."""
    constant, *counts = UNIT(self, *given)
    return [constant + sum(map(abs, counts)) // 2, *counts]


FAULTS: dict[str, tuple[object, str, Any]] = {
    "a sign says more than it does": (Region, "within", too_narrow),
    "one side stands for both": (Region, "within", turned),
    "the half is the other one": (Region, "_unit", lambda self, layer, unit, sign: UNIT(self, layer, unit, -sign)),
    "the half is smaller": (Region, "_unit", smaller),
    "nobody is off": (regions, "Region", of_the_region),
    "one less than there are": (regions, "between", lambda *given: slab.between(*given) - 1),
    "a region is forgotten": (
        Region,
        "crossed",
        lambda self, mass: (True not in self._signs.values()) * CROSSED(self, mass),
    ),
    "half of what lies between": (Region, "crossed", lambda self, mass: CROSSED(self, mass) // 2),
    "a half-space counts less than nothing": (Region, "_times", lambda self, row, half: -2),
    "a row is finer than its number": (
        Region,
        "cut",
        lambda self, row, layers: [row[0] + 1, *CUT(self, row, layers)[1:]],
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each leaves somebody out who is unfair."""
    monkeypatch.setattr(*FAULTS[fault])
    assert any(open_in(checker, node, words) < unfair for checker, node, words, unfair, _ in several())


def test_the_writer_bounds_regions_as_the_checker_does() -> None:
    """In float64, for several boxes together: it cuts where the checker is about to gain."""
    alike = others = 0
    for seed in range(120):
        rng = random.Random(seed)
        asked, net = close(rng, 10**6)
        shared = [at for at, _ in enumerate(asked.attributes) if at not in asked.differ]
        node = Node(tuple((0, attribute.size - 1) for attribute in asked.attributes), (YES,) * len(net.moves))
        usual = Pass(net, node.box, range(2))
        units = [(layer, unit) for layer, live in enumerate(usual.live) for unit, *_ in live]
        signs = {unit: rng.random() < 0.5 for unit in rng.sample(units, min(3, len(units)))}
        region = Region(net, node.box, range(2), signs, 0)
        if region.empty or any(net.multiples[at] is None for at in shared):
            continue
        looking = Looking(cast(Checker, SimpleNamespace(question=asked, shared=shared)), net)
        ends, sizes = looking.ends([node.box] * 2), [len(each) for each in net.units[:-1]]
        given = [np.zeros((2, size), dtype=np.int8) for size in sizes]
        for (layer, unit), above in signs.items():
            given[layer][1, unit] = 1 if above else -1
        passed = looking.passed(ends, given)
        for (under, over), whole, narrow in zip(passed.ranges, usual.bounds, region.bounds, strict=True):
            told, there = np.array(whole, dtype=np.float64), np.array(narrow, dtype=np.float64)
            seen, open_ = np.stack((under, over), 1), (there[0] < 0) & (there[1] > 0)
            scale = np.median(told[seen[0] != 0] / seen[0][seen[0] != 0])
            for given_, found in zip(seen, (told, there), strict=True):
                near = np.allclose(given_[:, open_] * scale, found[:, open_], 0, 1e-3 * np.abs(told).max())
                alike, others = alike + near, others + (not near)
    assert (alike > 200, others < alike / 20) == (True, True), (alike, others)
