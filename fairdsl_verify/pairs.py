"""Two of a box at once: nobody who is above the threshold is compared with anybody below it (docs/proof-format.md)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from operator import add
from typing import TYPE_CHECKING

from fairdsl_verify import reject, require
from fairdsl_verify.bounds import BITS, Integers, Pass
from fairdsl_verify.question import NO, Box, digits

if TYPE_CHECKING:
    from fairdsl_verify.tree import Checker, Node

#: Pairs of assignments of what differs at most: each is looked at, at every leaf.
MOST_PAIRS = 1 << 14


@dataclass(frozen=True)
class Two:
    """Two individuals of a box: pairs of assignments that they may have, and units whose signs are known of them.

    The first of the two is the one above. Signs are by individual, layer and unit: whether it is above zero.
    """

    pairs: Sequence[tuple[int, int]]
    signs: tuple[dict[tuple[int, int], bool], ...] = ({}, {})

    def members(self, which: int) -> list[int]:
        """Assignments that one of the two may have."""
        return sorted({pair[which] for pair in self.pairs})

    def split(self, below: Callable[[tuple[int, int]], bool]) -> list[Two]:
        """Those whose assignments are below, and all others."""
        return [replace(self, pairs=[pair for pair in self.pairs if below(pair) is side]) for side in (True, False)]

    def signed(self, which: int, unit: tuple[int, int]) -> list[Two]:
        """Those of whom a unit of one is zero or below, and those where it is zero or above."""
        signs = [{**known, unit: above} for known in (self.signs[which],) for above in (False, True)]
        return [replace(self, signs=(*self.signs[:which], sign, *self.signs[which + 1 :])) for sign in signs]


class Parting:
    """Follows what a leaf claims of two: a tree of splits in preorder, and at each leaf multipliers of a bound."""

    def __init__(self, net: Integers, box: Box, assignments: Sequence[Sequence[int]]) -> None:
        self._net, self._box, self._assignments, self._differ = net, box, assignments, net.question.differ

    def follow(self, two: Two, words: Iterator[str]) -> None:
        """Reject unless nobody meets what a leaf's splits say of two of whom the first is above, the other below."""
        waiting = [(two, list[Pass]())]
        while waiting:
            two, found = waiting.pop()
            kind = next(words, "")
            if kind in ("A", "O"):
                waiting += [(half, []) for half in reversed(self.halves(two, kind, words))]
                continue
            found = found or self.passes(two)
            if kind == "N" and found:
                which, layer = _number(words, 2), _number(words, len(found[0].net.weights))
                unit = layer, _number(words, len(found[0].bounds[layer][0]))
                waiting += [(half, found) for half in reversed(two.signed(which, unit))]
            elif kind == "D" and found:
                require(self.refuted(two, found, words), "two may be decided differently of whom a leaf denies it")
            elif kind != "V" or found:
                reject(f"a leaf about two says {kind!r}, which is not known, or not of those whom it is about")
        require(next(words, None) is None, "a leaf about two goes on after its last word")

    def passes(self, two: Two) -> list[Pass]:
        """The pass over the box for either of the two; none where nobody is compared."""
        return [self._net.bounded(self._box, two.members(which), None) for which in range(2) if two.pairs]

    def halves(self, two: Two, kind: str, words: Iterator[str]) -> list[Two]:
        """By `A` those of whom one has an attribute up to a position, by `O` the first less of it than the other."""
        which, at = _number(words, 2) if kind == "A" else None, _number(words, len(self._differ))
        if which is None:
            return two.split(lambda pair: self._assignments[pair[0]][at] < self._assignments[pair[1]][at])
        last = digits(next(words, ""))
        return two.split(lambda pair: self._assignments[pair[which]][at] <= last)

    def refuted(self, two: Two, found: Sequence[Pass], words: Iterator[str]) -> bool:
        """Whether a mixture of how far the first is below, and the second above, is more than nothing everywhere."""
        weights = [digits(next(words, "")) for _ in found]
        below = [
            below_score(each, sign * weight, signs, words)
            for each, weight, sign, signs in zip(found, weights, (-1, 1), two.signs, strict=True)
        ]
        (first, second), together, net = found, list(map(add, *below)), self._net
        shared = ((place, net.positions(place, self._box[place])) for place in net.question.shared)
        least = together[0] + sum(min(first.adds(together, *each)) for each in shared)
        moved = [self._moved(each, rows) for each, rows in zip(found, below, strict=True)]
        least += min(moved[0][one] + moved[1][other] for one, other in two.pairs)
        return bool(least > sum(weights) * max(first.off, second.off) << BITS * len(net.weights))

    def _moved(self, found: Pass, below: list[int]) -> list[int]:
        """What each assignment of what differs adds."""
        sizes = [range(self._net.question.attributes[place].size) for place in self._differ]
        moves = [found.adds(below, place, size) for place, size in zip(self._differ, sizes, strict=True)]
        return [sum(map(list.__getitem__, moves, each)) for each in self._assignments]


def of_two(checker: Checker, node: Node, words: Sequence[str]) -> bool:
    """Whether the words show that no two who are compared in a box are decided differently; else it is rejected."""
    net, members = checker.net, [number for number, admitted in enumerate(node.admitted) if admitted != NO]
    if not isinstance(net, Integers) or checker.question.loose or checker.question.linked:
        reject("a leaf is about two, and the model has no units, or more may differ, or two are linked")
    require(len(members) ** 2 <= MOST_PAIRS, "a leaf is about two who have too many assignments")
    pairs = [(one, other) for one, other in product(members, members) if checker.compared(one, other)]
    Parting(net, node.box, checker.assignments).follow(Two(pairs), iter(words))
    return True


def _number(words: Iterator[str], below: int) -> int:
    number = digits(next(words, ""))
    require(number < below, "a leaf about two names what there is not")
    return number


def below_score(found: Pass, weight: int, signs: dict[tuple[int, int], bool], words: Iterator[str]) -> list[int]:
    """What lies below ``weight`` times the score less its threshold: a constant, and what all rows count.

    A unit of open sign with pre-activation z in [l, h] that counts c times is ``c max(z, 0) >= g z + r``, with r the
    least of ``c max(z, 0) - g z`` at l, 0 and h, whatever g is: a word says by how many 2^-16 of c.
    """
    units = found.net.units
    total = [weight * each for each in units[-1][0]]
    for layer in reversed(range(len(units) - 1)):
        constant, *counts = total
        total = [constant << BITS, *[0] * (len(units[layer][0]) - 1)]
        for unit, (count, low, high) in enumerate(zip(counts, *found.bounds[layer], strict=True)):
            if high <= 0:
                continue
            given, above = count << BITS, signs.get((layer, unit))
            if low < 0:
                given = count * multiple(next(words, ""))
                ends = (0, low if above is not True else 0, high if above is not False else 0)
                total[0] += min((count * max(end, 0) << BITS) - given * end for end in ends)
            if given:
                total = [known + given * each for known, each in zip(total, units[layer][unit], strict=True)]
    return total


def multiple(word: str) -> int:
    """A whole number, perhaps below 0."""
    return -digits(word[1:]) if word.startswith("-") else digits(word)
