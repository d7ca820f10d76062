"""How many units of a line may be decided differently: every small network, and everybody on every line of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from fairdsl_verify import lines
from fairdsl_verify.bounds import Integers, Pass
from fairdsl_verify.chain import Affine, Network
from fairdsl_verify.question import MAYBE, Question
from tests.proving.test_checker_review import ABOVE_ZERO, question

#: What a line along the first attribute adds: the same at each step, more and more, and less and less.
ADDS = {"steps": None, "growing": [0, 1, 3, 6, 12], "falling": [5, -1, -4, -6, -7]}
#: Such a line with a relation, a box and a margin.
CASES = [
    *(("steps", relation, box, 0) for relation in (">", ">=") for box in ((0, 4), (1, 3))),
    ("steps", ">", (0, 4), 1),
    *((adds, ">", box, 0) for adds in ("growing", "falling") for box in ((0, 4), (1, 3))),
]
OnALine = Callable[[Pass, int], int]


def networks(adds: list[int] | None, relation: str) -> Iterator[tuple[tuple[Any, ...], Integers]]:
    """Linear ones, by what goes together with every place of the threshold, and some of two hidden units."""
    people = [
        {"name": "a", "type": "integer", "low": 0, "high": 4}
        if adds is None
        else {"name": "a", "type": "values", "values": list(range(5)), "labels": list("01234")},
        {"name": "sex", "type": "values", "values": [0, 1, 2], "labels": ["f", "m", "x"]},
    ]
    reads = [["a", 1 if adds is None else list(map(str, adds))], ["sex", [0, 1, -1]]]
    said = question(attributes=people, reads=[{"constant": 0, "terms": [each]} for each in reads])
    asked = Question(said | {"decides": ABOVE_ZERO | {"relation": relation}})

    def of(*layers: tuple[list[list[int]], list[int]]) -> Integers:
        exact = [Affine([[Fraction(x) for x in row] for row in rows], [*map(Fraction, bias)]) for rows, bias in layers]
        return Integers(asked, Network([[layer] for layer in exact], sigmoid=False))

    for step, sex in product((-3, 1, 2), (0, 2, -3)):
        for bias in range(-12, 9):
            yield ("linear", step, sex), of(([[step, sex]], [bias]))
    for first, second, bias, out in product(((1, 2), (-2, 1)), ((1, -1), (2, 3)), (-5, -2, 0), ((1, 2), (2, -1))):
        for limit in (-5, -1, 0):
            hidden = [[*first], [*second]], [bias, 1]
            yield ("hidden", first, second, bias, out, limit), of(hidden, ([[*out]], [limit]))


@cache
def undecided(name: str, relation: str, box: tuple[int, int], margin: int) -> list[tuple[tuple[Any, ...], Pass, int]]:
    """What goes together, what is known of the box, and how many of its units are open: if any may be."""
    found = []
    for key, net in networks(ADDS[name], relation):
        net.margin = margin
        known = Pass(net, (box, (0, 2)), range(3))
        if known.side == MAYBE:
            found.append((key, known, sum(MAYBE in each or len(each) > 1 for each in sides(net, box))))
    return found


def counted(on_a_line: OnALine) -> None:
    """Never less than are open on some line; of a sum, where the threshold is anywhere, as many as on the worst."""
    for name, relation, box, margin in CASES:
        worst, told = dict[tuple[Any, ...], int](), dict[tuple[Any, ...], int]()
        for key, found, open_ in undecided(name, relation, box, margin):
            said = on_a_line(found, 0)
            assert open_ <= said <= found.net.question.attributes[0].measure(box), (name, relation, box, margin, key)
            worst[key], told[key] = max(worst.get(key, 0), open_), said
        if name == "steps" and not margin:
            assert {key: said for key, said in told.items() if key[0] == "linear"} == {
                key: most for key, most in worst.items() if key[0] == "linear"
            }, (relation, box)


def sides(net: Integers, box: tuple[int, int]) -> Iterator[set[int]]:
    """On which sides of the threshold the three of each unit are."""
    for at in range(box[0], box[1] + 1):
        yield {net.high(None, ((at, at), (sex, sex))) for sex in range(3)}


def test_no_line_has_more_that_are_open_than_is_said() -> None:
    counted(lines.on_a_line)


#: Mistakes, as what stands in the file and what would stand there.
FAULTS = {
    "an open end is closed": ("-(-moved // rise)", "moved // rise + 1"),
    "rounded down": ("-(-moved // rise)", "moved // rise"),
    "one less": ("-(-moved // rise)", "-(-moved // rise) - 1"),
    "one more": ("-(-moved // rise)", "-(-moved // rise) + 1"),
    "the margin of one of the two": ("2 * found.off", "found.off"),
    "no margin": ("2 * found.off", "0"),
    "the greatest step": ("rise *= min(", "rise *= max("),
    "the last step is left out": ("[low : high + 1]", "[low : high]"),
    "the first step is left out": ("[low : high + 1]", "[low + 1 : high + 1]"),
    "moves in one direction": ("max(map(abs, chain(*apart))", "max(chain(*apart)"),
    "what differs moves nothing": ("moved += max", "moved += 0 * max"),
    "one of the values that differ is left out": (".size - 1))", ".size - 2))"),
    "rises where it may fall": ("max(least, -most, 0)", "max(most, -least, 0)"),
    "all of an open unit passes": ("min(low[at], 0), max(high[at], 0)", "low[at], high[at]"),
    "nothing of an open unit falls": ("min(low[at], 0), max", "max(low[at], 0), max"),
    "nothing of an open unit rises": ("min(low[at], 0), max(high[at], 0)", "min(low[at], 0), min(high[at], 0)"),
    "units that may be off are on": ("if lows[at] < 0", "if lows[at] < -5"),
    "biases differ": ("given, bias=0)", "given)"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_of_lines_are_found(fault: str) -> None:
    old, new = FAULTS[fault]
    source = Path(lines.__file__).read_text(encoding="utf-8")
    assert source.count(old) == 1
    planted = ModuleType("planted")
    exec(source.replace(old, new), planted.__dict__)
    with pytest.raises(AssertionError):
        counted(planted.on_a_line)
