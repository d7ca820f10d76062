"""How many units of a box the decision may change in: those between two half-spaces, counted in whole numbers.

A unit in which two are decided differently has ``lower <= 0`` for one of them and ``upper <= 0`` for the other; so has
what lies below both, whoever it is. With ``gap`` the least of the sum of both, ``lower`` lies in [gap, 0] there. Where
scores may be off by a margin, 0 is the margin instead.
"""

from __future__ import annotations

from collections import Counter

from fairdsl_verify.bounds import BITS, Below, Pass
from fairdsl_verify.question import MAYBE

#: A sum is told apart by so many bins, and an attribute's range by so many pieces.
BINS, PIECES = 2048, 256


def crossed(found: Pass, mass: int) -> int:
    """At most so many of the box's units, or cells of them; there are ``mass``."""
    if found.side != MAYBE:
        return 0
    # A bin is `width` bits of one number; all bins together have `mass`, so their sums do not run into each other.
    width, net = 1 + mass.bit_length(), found.net
    both = Below([a + b for a, b in zip(found.lower.slopes, found.upper.slopes, strict=True)], 0)
    gap = found.start(found.lower) + found.start(found.upper)
    margin = found.off << BITS * len(net.weights)
    last, reach = margin - found.start(found.lower), 0
    parts: list[list[tuple[int, int, int]]] = []
    for place in found.ranges:
        gap += min(found.adds(both, place, found.positions(place, found.box[place])))
        parts.append(_pieces(found, place))
        reach += max(high for _, high, _ in parts[-1]) - min(low for low, _, _ in parts[-1])
        mass //= net.question.attributes[place].measure(found.box[place])
    step = reach // BINS + 1
    first, counts = last + gap - 2 * margin, mass
    for pieces in parts:
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
    positions = [found.positions(place, ends) for ends in ranges]
    known = sorted({at for each in positions for at in each})
    added = dict(zip(known, found.adds(found.lower, place, known), strict=True))
    numbers = [[added[at] for at in each] for each in positions]
    return [(min(each), max(each), attribute.measure(ends)) for each, ends in zip(numbers, ranges, strict=True)]
