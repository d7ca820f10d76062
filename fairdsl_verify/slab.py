"""How many units the decision may change in, and why no more: docs/proof-format.md, Counted boxes."""

from __future__ import annotations

from collections import Counter
from operator import add, sub

from fairdsl_verify.bounds import BITS, Pass
from fairdsl_verify.lines import on_a_line
from fairdsl_verify.question import MAYBE

#: A sum is told apart by so many bins, and an attribute's range by so many pieces.
BINS, PIECES = 4096, 256


def crossed(found: Pass, mass: int, along: int | None = None) -> int:
    """At most so many of the box's ``mass`` units, or cells; of lines ``along`` an attribute what `on_a_line` says."""
    if found.side != MAYBE:
        return 0
    if along is not None:
        return between(found, found.lower, mass, *slab(found, found.lower, found.upper), along)
    # Nobody is above the threshold by the one row and below it by the other: open are those that neither row decides.
    return short(found, found.lower, mass) + short(found, found.upper, mass) - mass


def short(found: Pass, row: list[int], mass: int) -> int:
    """At most so many of the box's units are not beyond the margin by a row."""
    start, margin = found.start(row), found.off << BITS * len(found.net.weights)
    return between(found, row, mass, found.least(row) - start, margin - start)


def slab(found: Pass, lower: list[int], upper: list[int]) -> tuple[int, int]:
    """From where to where the lower row is, without where it starts, of a unit that the two rows leave open."""
    both, margin = list(map(add, lower, upper)), found.off << BITS * len(found.net.weights)
    gap = sum(min(found.adds(both, place, found.net.positions(place, found.box[place]))) for place in found.ranges)
    return gap + found.start(upper) - margin, margin - found.start(lower)


def between(found: Pass, row: list[int], mass: int, first: int, last: int, along: int | None = None) -> int:
    """In at most so many of the box's units a row comes to something from first to last, without where it starts."""
    # A bin is `width` bits of one number; all bins together have `mass`, so their sums do not run into each other.
    width, reach, parts = 1 + mass.bit_length(), 0, list[tuple[list[int], list[int], int, int]]()
    for place in found.ranges:
        lows, highs, sizes = _pieces(found, row, place)
        if place == along:
            lows, highs, sizes = [min(lows)], [max(highs)], [on_a_line(found, place)]
        parts.append((lows, sizes, min(lows), max(map(sub, highs, lows))))
        reach += max(highs) - min(lows)
        mass //= found.net.question.attributes[place].measure(found.box[place])
    step, counts = reach // BINS + 1, mass
    for lows, sizes, least, wide in sorted(parts, key=lambda part: -len(part[0])):  # most pieces while bins are few
        first, last = first - least - wide - step, last - least
        bins: Counter[int] = Counter()
        for low, size in zip(lows, sizes, strict=True):
            bins[(low - least) // step] += size
        counts = sum(size * (counts << width * at) for at, size in bins.items())
    start, end = max(0, first // step), min(last // step, BINS)
    if start > end:
        return 0
    inside = (counts & ((1 << width * (end + 1)) - 1)) >> width * start
    return inside % ((1 << width) - 1)  # the sum of the bins


def _pieces(found: Pass, row: list[int], place: int) -> tuple[list[int], list[int], list[int]]:
    """An attribute's range in pieces: the least and the most that each adds to a row, and its measure."""
    attribute, (low, high) = found.net.question.attributes[place], found.box[place]
    size, whole = -(-attribute.measure((low, high)) // PIECES), not attribute.real
    starts = range(low, high + whole, size)
    if size == 1 and whole:
        return (added := found.adds(row, place, starts)), added, [1] * len(added)
    ends = [min(high, start + size - whole) for start in starts]
    if found.net.multiples[place] is None:
        several = [found.adds(row, place, range(a, b + 1)) for a, b in zip(starts, ends, strict=True)]
    else:  # its extremes are at the ends
        several = list(map(list, zip(found.adds(row, place, starts), found.adds(row, place, ends), strict=True)))
    return list(map(min, several)), list(map(max, several)), [b - a + whole for a, b in zip(starts, ends, strict=True)]
