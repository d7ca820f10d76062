"""The variance of a sum of trees over a box, in whole numbers.

Within a box attributes are independent, each uniform over its positions. The sum is its mean and *effects*, one of each
set V of attributes, which are uncorrelated (Hoeffding 1948), so its variance is the sum of theirs. The effect of V is,
added over the leaves that are narrower than the box in all of V, a coefficient (the value times the chances of the
other attributes in which the leaf is narrower) times the product over V of ``1 - chance`` for whoever is on the leaf,
and ``-chance`` for all others. Chances are multiplied by how many positions the box has of an attribute.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate, pairwise
from math import prod
from operator import add, mul

from fairdsl_verify import require

#: Terms of leaves, and products of two of them (or cells), of one box at most: more is rejected, not attempted.
MOST_TERMS, MOST_PRODUCTS = 1 << 22, 1 << 26
#: Of each attribute in which a leaf is narrower than a box its first position, and that behind its last one.
Runs = Mapping[int, tuple[int, int]]
#: Coefficients by the runs in a set of attributes; runs are numbered.
Effect = dict[tuple[int, ...], int]


def variance(leaves: Iterable[tuple[int, Runs]], ends: Sequence[tuple[int, int]]) -> int:
    """The variance, times the square of how many positions the box has; of each leaf its value and its runs."""
    return sum(work() for work in planned(leaves, ends))


def planned(leaves: Iterable[tuple[int, Runs]], ends: Sequence[tuple[int, int]]) -> Iterator[Callable[[], int]]:
    """What computes the variance of each effect; rejected where all together would take too long."""
    sizes = [end - begin for begin, end in ends]
    numbers: list[dict[tuple[int, int], int]] = [{} for _ in ends]
    found = effects(leaves, sizes, numbers)
    left = MOST_PRODUCTS - 4 * sum(len(runs) ** 2 for runs in numbers)
    require(left >= 0, "a leaf is counted that has too many leaves of trees")
    shared = [
        [[_shared(size, *one, *other) for other in runs] for one in runs]
        for size, runs in zip(sizes, numbers, strict=True)
    ]
    listed = [list(runs) for runs in numbers]
    for places, effect in found.items():
        columns = list(zip(*effect, strict=True))
        lines = [[listed[place][number] for number in column] for place, column in zip(places, columns, strict=True)]
        cuts = [sorted({*ends[at], *(c for run in line for c in run)}) for at, line in zip(places, lines, strict=True)]
        cells, pairs = prod(map(len, cuts)), len(effect) ** 2 // 4
        left -= min(cells, pairs)
        require(left >= 0, "a leaf is counted that has too many leaves of trees")
        if cells < pairs:
            yield partial(by_cells, list(effect.values()), lines, cuts)
        else:
            yield partial(by_pairs, list(effect.values()), columns, [shared[place] for place in places])


def effects(
    leaves: Iterable[tuple[int, Runs]], sizes: Sequence[int], numbers: Sequence[dict[tuple[int, int], int]]
) -> dict[tuple[int, ...], Effect]:
    """The coefficients of each set of attributes, times the positions of all other attributes."""
    found: dict[tuple[int, ...], Effect] = {}
    left = MOST_TERMS
    for value, runs in leaves:
        rest = value * prod(size for place, size in enumerate(sizes) if place not in runs)
        terms: list[tuple[tuple[int, ...], tuple[int, ...], int]] = [((), (), rest)]
        left -= 1 << len(runs)
        require(left >= 0, "a leaf is counted that has too many leaves of trees")
        for place, run in sorted(runs.items()):
            number, length = numbers[place].setdefault(run, len(numbers[place])), run[1] - run[0]
            terms = [(places, key, amount * length) for places, key, amount in terms] + [
                ((*places, place), (*key, number), amount) for places, key, amount in terms
            ]
        for places, key, amount in terms[1:]:
            effect = found.setdefault(places, {})
            effect[key] = effect.get(key, 0) + amount
    return found


def _shared(size: int, begin: int, end: int, first: int, last: int) -> int:
    """What two runs of an attribute have in common beyond chance, times the positions squared."""
    return size * max(0, min(end, last) - max(begin, first)) - (end - begin) * (last - first)


def by_pairs(amounts: list[int], columns: Sequence[tuple[int, ...]], shared: Sequence[Sequence[Sequence[int]]]) -> int:
    """The variance of an effect, added over pairs of its terms."""
    total = 0
    for at, amount in enumerate(amounts):
        row: Iterable[int] = amounts[: at + 1]
        for column, each in zip(columns, shared, strict=True):
            row = map(mul, row, map(each[column[at]].__getitem__, column))
        *others, own = row
        total += amount * (2 * sum(others) + own)
    return total


def by_cells(amounts: list[int], lines: Sequence[Sequence[tuple[int, int]]], cuts: Sequence[list[int]]) -> int:
    """The same, added over cells between which no run begins or ends."""
    table, weights = [0] * prod(map(len, cuts)), [1]
    corners = [[(0, amount)] for amount in amounts]
    for line, axis in zip(lines, cuts, strict=True):
        at = {cut: number for number, cut in enumerate(axis)}
        for number, (begin, end) in enumerate(line):
            corners[number] = [
                corner
                for place, amount in corners[number]
                for corner in ((place * len(at) + at[begin], amount), (place * len(at) + at[end], -amount))
            ]
    for place, amount in (corner for each in corners for corner in each):
        table[place] += amount
    # What changes at each cut becomes what there is, less its mean; then it is the next attribute's turn.
    for axis in cuts:
        step, sizes = len(table) // len(axis), [end - begin for begin, end in pairwise(axis)]
        rows = [table[at : at + step] for at in range(0, len(table) - step, step)]
        columns = zip(*accumulate(rows, lambda one, other: list(map(add, one, other))), strict=True)
        whole, table = axis[-1] - axis[0], []
        for column in columns:
            mean = sum(map(mul, column, sizes))
            table += [whole * value - mean for value in column]
        weights = [weight * size for weight in weights for size in sizes]
    squares = sum(weight * value * value for weight, value in zip(weights, table, strict=True))
    return squares // prod(axis[-1] - axis[0] for axis in cuts)  # of each two terms it is whole
