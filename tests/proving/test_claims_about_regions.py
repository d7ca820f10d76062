"""Boxes cut by the signs of units: never fewer units are open than counting everybody finds, whatever is cut."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import chain, combinations, pairwise, product
from math import ceil, floor
from operator import mul
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest

from fairdsl_verify import regions, slab
from fairdsl_verify.bounds import Integers, Pass
from fairdsl_verify.chain import Affine, Network
from fairdsl_verify.question import MAYBE, YES, Question
from fairdsl_verify.regions import Region, Signs, Unit, open_in
from fairdsl_verify.tree import Node
from tests.proving.test_checker_review import ABOVE_ZERO, PEOPLE, question
from tests.proving.test_counted_boxes import deep, drawn_rounding, rough
from tests.proving.test_slabs import drawn, values_of

#: What units are before ReLU, by layers, rounded down and up; the last one is the score less its threshold.
Values = tuple[tuple[tuple[int, int], ...], ...]
#: Which region a leaf is about, and whose half-space it counts.
Leaf = tuple[Signs, Unit | None]


def way(net: Integers, two: Sequence[list[int]]) -> set[Values]:
    """The units between two first layers, wherever one changes its sign or the score is just within the margin."""

    def at(part: Fraction) -> list[list[Fraction]]:
        layers = [[one + part * (other - one) for one, other in zip(*two, strict=True)]]
        for rows, biases in zip(net.weights, net.biases, strict=True):
            below = [max(value, 0) for value in layers[-1]]
            layers.append([bias + sum(map(mul, row, below)) for row, bias in zip(rows, biases, strict=True)])
        return layers

    known = {part: at(part) for part in (Fraction(0), Fraction(1))}
    for layer, off in [*((layer, 0) for layer, _ in enumerate(net.units)), (-1, net.margin), (-1, -net.margin)]:
        for low, high in pairwise(sorted(known)):  # there all below is linear
            for one, other in zip(known[low][layer], known[high][layer], strict=True):
                if (one - off) * (other - off) < 0:
                    known[part] = at(part := low + (high - low) * (one - off) / (one - other))
    return {tuple(tuple((floor(each), ceil(each)) for each in layer) for layer in at) for at in known.values()}


def drawn_tree(rng: random.Random, found: Pass, leaves: list[Leaf], signs: Signs, depth: int = 0) -> Iterator[str]:
    """Splits by signs, more often by those that are open, and any bound that a leaf may name."""
    units = [(layer, unit) for layer, live in enumerate(found.live) for unit, *_ in live]
    open_ = [at for at in units if found.bounds[at[0]][0][at[1]] < 0 and at not in signs]
    left = (open_ if rng.random() < 0.9 else units) or units
    if left and depth < 3 and rng.random() < 0.9:
        layer, unit = at = min(rng.sample(left, min(2, len(left))))
        yield from ("N", str(layer), str(unit))
        for above in (False, True):
            yield from drawn_tree(rng, found, leaves, {**signs, at: above}, depth + 1)
    else:
        half = rng.choice([None, None, *signs])
        leaves.append((signs, half))
        yield from ["~"] if half is None else ["H", str([*signs].index(half))]


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


@dataclass(frozen=True)
class Case:
    """A tree about a box, and in what numbers it is checked: of few digits and bins most is rounded."""

    checker: Any
    node: Node
    words: list[str]
    leaves: list[Leaf]
    #: Of each unit of the box, who is between any two who are compared; how many are unfair, how many open in one pass.
    ways: list[set[Values]]
    unfair: int
    usual: int
    rounded: tuple[int, int, int]

    def found(self) -> int:
        """How many are open, or -1 if somebody is left out: of a region, of a unit's range, or of all together."""
        net, crossed, counted = self.checker.net, Region.crossed, list[tuple[Region, Unit | None, int]]()

        def seen(region: Region, mass: int, half: Unit | None = None) -> int:
            counted.append((region, half, crossed(region, mass, half)))
            return counted[-1][-1]

        with pytest.MonkeyPatch.context() as patch:
            rough(patch, *self.rounded)
            patch.setattr(Region, "crossed", seen)
            said, total = open_in(self.checker, self.node, self.words), 0
        for (signs, half), (region, by, open_) in zip(self.leaves, counted, strict=True):
            there = [[values for values in each if has(values, signs)] for each in self.ways]
            true = sum(any(near(values[-1][0], net.margin) for values in each) for each in there)
            if half != by or open_ < true or not all(lies(region, each) for each in chain(*there)):
                return -1
            total += true
        return said if max(self.unfair, min(len(self.ways), total)) <= said <= len(self.ways) else -1


def near(ends: tuple[int, int], margin: int) -> bool:
    """Whether a number is no further from 0, by what it is rounded down and up."""
    return -margin <= ends[0] and ends[1] <= margin


def has(values: Values, signs: Signs) -> bool:
    """Whether somebody is in a region."""
    return all(values[at][unit][0] >= 0 if above else values[at][unit][1] <= 0 for (at, unit), above in signs.items())


def lies(found: Pass, values: Values) -> bool:
    """Whether somebody's units are all in their ranges."""
    ends = zip(values, found.bounds, strict=True)
    return all(low <= at[0] and at[1] <= high for each, two in ends for at, low, high in zip(each, *two, strict=True))


@cache
def cases() -> list[Case]:
    """Networks, boxes and trees about them, for some of the assignments of what differs."""
    return list(chain.from_iterable(map(drawn_cases, range(120))))


def drawn_cases(seed: int) -> Iterator[Case]:
    """Some trees about a box of one network."""
    rng = random.Random(seed)
    rounded = drawn_rounding(rng)
    with pytest.MonkeyPatch.context() as patch:
        rough(patch, *rounded)
        asked, net = deep(rng)
        net.margin = rng.choice((0, 0, 1, 4))
        only = sorted(rng.sample(range(len(net.moves)), rng.choice((2, 2, 2, 4))))
        ages, _, *differing = [(0, attribute.size - 1) for attribute in asked.attributes]
        box = (ages, tuple(sorted(rng.choices(range(4), k=2))), *differing)
        node = Node(box, tuple(YES * (at in only) for at, _ in enumerate(net.moves)))
        found, ways, unfair = Pass(net, node.box, only), [], 0
        units = list(product(*(range(low, high + 1) for low, high in node.box[:2])))
        usual = slab.crossed(found, len(units))
        for unit in units if usual else ():
            ends = [next(values_of(net, (*unit, *asked.assignments[one]))) for one in only]
            ways.append({values for two in combinations(ends, 2) for values in way(net, two)})
            sides = {net.high(None, tuple((at, at) for at in (*unit, *asked.assignments[one]))) for one in only}
            unfair += len(sides) > 1 or MAYBE in sides
        checker = SimpleNamespace(question=asked, net=net, mass=Mock(return_value=len(units)))
        for _ in range(3 if usual else 0):
            words = list(drawn_tree(rng, found, leaves := [], {}))
            yield Case(checker, node, words, leaves, ways, unfair, usual, rounded)


def test_bounds_of_nobody_may_be_any_way_apart() -> None:
    """``x + y <= -1`` and ``x <= 3000 (y - 1)``, from -1 to 1, is nobody: bounds of what is above left their lanes."""
    people = [*({"name": name, "type": "integer", "low": -1, "high": 1} for name in "xyz"), PEOPLE[1]]
    reads = [{"constant": 0, "terms": [[name, 1]]} for name in "xyz"]
    asked = Question(question(attributes=people, reads=reads, decides=ABOVE_ZERO))
    rows, biases = [[-1, -1, 0], [-1, 3000, 0], [-2, 1, 2]], [-1, -3000, 0]
    first = Affine([list(map(Fraction, row)) for row in rows], list(map(Fraction, biases)))
    score = Affine([[Fraction(0), Fraction(0), Fraction(1)]], [Fraction(0)])
    net, box = Integers(asked, Network([[first], [score]], sigmoid=False)), ((0, 2), (0, 2), (0, 2), (0, 1))
    assert Region(net, box, (0, 1), {(0, 0): True, (0, 1): True}, 0).empty
    assert not Region(net, box, (0, 1), {(0, 0): True, (0, 1): False}, 0).empty


def test_no_unit_that_is_unfair_is_left_out() -> None:
    """Some trees say more than one pass does, and some all that there is to say."""
    less = tight = 0
    for case in cases():
        found = case.found()
        assert found >= 0, case.words
        less += found < case.usual
        tight += case.unfair == found < case.usual
    assert (less > 10, tight > 3) == (True, True), (less, tight, len(cases()))


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


def touched(self: Region, layer: int, ends: Any) -> Any:
    """Who is just where a half-space ends is taken for nobody."""
    found = WITHIN(self, layer, ends)
    self.empty |= any(Pass.least(self, half) >= 0 for half in self._halves.values())
    return found


def of_the_first(*given: Any) -> Region:
    """The way from one to another is where the first of them is."""
    return Region(*given[:2], given[2][:1], *given[3:])


FAULTS: dict[str, tuple[object, str, Any]] = {
    "a sign says more than it does": (Region, "within", too_narrow),
    "one side stands for both": (Region, "within", turned),
    "the half is the other one": (Region, "_unit", lambda self, layer, unit, sign: UNIT(self, layer, unit, -sign)),
    "the half is smaller": (Region, "_unit", smaller),
    "an edge is nobody": (Region, "within", touched),
    "the first is all of the way": (regions, "Region", of_the_first),
    "nobody is off": (regions, "Region", of_the_region),
    "one less than there are": (regions, "between", lambda *given: slab.between(*given) - 1),
    "a region is forgotten": (
        Region,
        "crossed",
        lambda self, *given: (True not in self._signs.values()) * CROSSED(self, *given),
    ),
    "half of what lies between": (Region, "crossed", lambda self, *given: CROSSED(self, *given) // 2),
    "a half-space counts less than nothing": (Region, "_times", lambda self, row, half: -2),
    "a row is finer than its number": (
        Region,
        "cut",
        lambda self, row: [row[0] + 1, *CUT(self, row)[1:]],
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each leaves somebody out who is unfair."""
    monkeypatch.setattr(*FAULTS[fault])

    assert any(case.found() < 0 for case in cases())
