"""How many units of a box are decided differently for certain (docs/proof-format.md, Counted boxes)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fairdsl_verify import reject
from fairdsl_verify.bounds import Pass
from fairdsl_verify.question import MAYBE, NO, YES
from fairdsl_verify.slab import short

if TYPE_CHECKING:
    from fairdsl_verify.tree import Checker, Node


def apart(checker: Checker, node: Node, pair: Sequence[int], mass: int) -> int:
    """At least so many have the first of two assignments above the threshold, and the second below.

    By the union bound: all but those of whom the one is not known to be so, and those of whom the other is not.
    """
    left = mass
    for number, side in zip(pair, (YES, NO), strict=True):
        found = checker.bounded(node, [number])
        if not isinstance(found, Pass):
            reject("a leaf counts units that are decided differently, and the model is trees")
        if found.side == MAYBE:
            left -= short(found, found.lower if side == YES else found.upper, mass)
        elif found.side != side:
            return 0
    return max(0, left)
