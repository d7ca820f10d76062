"""How many units the decision may change in, and why no more: docs/proofs.md, Counted boxes and Lines."""

from __future__ import annotations

from collections import Counter
from itertools import chain, combinations, pairwise
from operator import add, sub

from fairdsl_verify.bounds import BITS, Pass
from fairdsl_verify.question import MAYBE

#: A sum is told apart by so many bins, and an attribute's range by so many pieces.
BINS, PIECES = 1024, 256


def crossed(found: Pass, mass: int, along: int | None = None) -> int:
    """At most so many of the box's ``mass`` units, or cells; of lines ``along`` an attribute what `on_a_line` says."""
    if found.side != MAYBE:
        return 0
    # A bin is `width` bits of one number; all bins together have `mass`, so their sums do not run into each other.
    width, net = 1 + mass.bit_length(), found.net
    both = list(map(add, found.lower, found.upper))
    gap = found.start(found.lower) + found.start(found.upper)
    margin = found.off << BITS * len(net.weights)
    last, reach = margin - found.start(found.lower), 0
    parts: list[list[tuple[int, int, int]]] = []
    for place in found.ranges:
        gap += min(found.adds(both, place, found.net.positions(place, found.box[place])))
        parts.append(_pieces(found, place))
        if place == along:
            lows, highs, _ = zip(*parts[-1], strict=True)
            parts[-1] = [(min(lows), max(highs), on_a_line(found, place))]
        reach += max(high for _, high, _ in parts[-1]) - min(low for low, _, _ in parts[-1])
        mass //= net.question.attributes[place].measure(found.box[place])
    step = reach // BINS + 1
    first, counts = last + gap - 2 * margin, mass
    for pieces in sorted(parts, key=len, reverse=True):  # the most pieces while there are few bins
        least = min(low for low, _, _ in pieces)
        first, last = first - least - max(high - low for low, high, _ in pieces) - step, last - least
        bins: Counter[int] = Counter()
        for low, _, measure in pieces:
            bins[(low - least) // step] += measure
        counts = sum(measure * (counts << width * at) for at, measure in bins.items())
    start, end = max(0, first // step), min(last // step, BINS)
    if start > end:
        return 0
    inside = (counts & ((1 << width * (end + 1)) - 1)) >> width * start
    return inside % ((1 << width) - 1)  # the sum of the bins


def _pieces(found: Pass, place: int) -> list[tuple[int, int, int]]:
    """An attribute's range in pieces: the least and the most that each adds, and its measure."""
    attribute, (low, high) = found.net.question.attributes[place], found.box[place]
    size, whole = -(-attribute.measure((low, high)) // PIECES), not attribute.real
    ranges = [(start, min(high, start + size - whole)) for start in range(low, high + whole, size)]
    positions = [found.net.positions(place, ends) for ends in ranges]
    known = sorted({at for each in positions for at in each})
    added = dict(zip(known, found.adds(found.lower, place, known), strict=True))
    numbers = [[added[at] for at in each] for each in positions]
    return [(min(each), max(each), attribute.measure(ends)) for each, ends in zip(numbers, ranges, strict=True)]


def on_a_line(found: Pass, along: int) -> int:
    """At most so many units of a line, or so long a part of it, may be decided differently: ceil((r + 2 m) / s)."""
    net, (low, high) = found.net, found.box[along]
    multiples, attributes = net.multiples[along], net.question.attributes
    least, most = found.moves(net.rows[along][0])
    rise, moved = max(least, -most, 0), 2 * found.off
    if not isinstance(multiples, range):  # the score goes up by the least step between two positions
        rise *= min((abs(b - a) for a, b in pairwise((multiples or [])[low : high + 1])), default=0)
    for place in net.question.differ:
        rows = net.extremes(place, (0, attributes[place].size - 1))
        apart = [found.moves(list(map(sub, *two))) for two in combinations(rows, 2)]
        moved += max(map(abs, chain(*apart)), default=0)
    size = attributes[along].measure((low, high))
    return min(size, -(-moved // rise)) if rise else size
