"""How many units of a line along an attribute may be decided differently, and why (docs/proof-format.md, Lines)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, combinations, pairwise
from operator import sub

from fairdsl_verify.bounds import Pass


def on_a_line(found: Pass, along: int) -> int:
    """At most so many units of a line, or so long a part of it, may be decided differently: ceil((r + 2 m) / s)."""
    net, (low, high) = found.net, found.box[along]
    multiples, attributes = net.multiples[along], net.question.attributes
    least, most = moves(found, net.rows[along][0])
    rise, moved = max(least, -most, 0), 2 * found.off
    if not isinstance(multiples, range):  # the score goes up by the least step between two positions
        rise *= min((abs(b - a) for a, b in pairwise((multiples or [])[low : high + 1])), default=0)
    for place in net.question.differ:
        rows = net.extremes(place, (0, attributes[place].size - 1))
        apart = [moves(found, list(map(sub, *two))) for two in combinations(rows, 2)]
        moved += max(map(abs, chain(*apart)), default=0)
    size = attributes[along].measure((low, high))
    return min(size, -(-moved // rise)) if rise else size


def moves(found: Pass, row: Sequence[int]) -> tuple[int, int]:
    """From where to where the difference of two scores is, of two in the box whose first layers differ by a row."""
    low = high = list(row)
    for layer, live in enumerate(found.live):
        lows, given = found.bounds[layer][0], list[tuple[int, int, int]]()
        for at, *_ in live:
            given.append((at, min(low[at], 0), max(high[at], 0)) if lows[at] < 0 else (at, low[at], high[at]))
        low, high = found.net.above(layer, given, bias=0)
    return low[0], high[0]
