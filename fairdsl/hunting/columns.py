"""Which columns the table of finds has.

They are the attributes of a, then ``b.NAME`` for those in which b may be another, the two decisions, the two
scores (one each, or one for each outcome), what was asked for beside (``score_gap`` and ``bits``, ``distance`` and
``nearest_row``, ``representative``), and which strategy found the pair. Names of attributes hold no dot; where one of
them is the name of such a column, or ``decision`` or ``score``, the column's own name begins with ``found.``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from fairdsl.hunting.finds import Finds
from fairdsl.hunting.table import Coded, Column, Numbers
from fairdsl.ir.domain import Domain
from fairdsl.ir.question import Pair

__all__ = ["columns_of"]

BoolArray = NDArray[np.bool_]


def columns_of(
    finds: Finds, domain: Domain, pair: Pair, outcomes: Sequence[str], boxes: Sequence[BoolArray]
) -> tuple[Column, ...]:
    """The table of the finds; ``boxes`` say which of them lie in the box of each representative."""
    taken = {attribute.name for attribute in domain.attributes}
    columns = [*_individuals(finds, domain, pair), *_answers(finds, outcomes, taken)]
    columns += _asked_for(finds, taken, boxes)
    return (*columns, Coded("found.by", finds.strategies, finds.by))


def _individuals(finds: Finds, domain: Domain, pair: Pair) -> Iterator[Column]:
    a, b = finds.written
    for index, attribute in enumerate(domain.attributes):
        yield Coded.of_attribute(attribute.name, attribute, a[:, index])
    for index in sorted({*pair.differ, *(relaxation.attribute for relaxation in pair.relax)}):
        attribute = domain.attributes[index]
        yield Coded.of_attribute(f"b.{attribute.name}", attribute, b[:, index])


def _answers(finds: Finds, outcomes: Sequence[str], taken: set[str]) -> Iterator[Column]:
    def named(who: str, name: str) -> str:
        return f"found.{who}.{name}" if name in taken else f"{who}.{name}"

    pairs = finds.pairs
    # An open decision is the last of the names.
    names = (*outcomes, "open")
    for place, who in enumerate("ab"):
        yield Coded(named(who, "decision"), names, pairs.decisions[:, place] % len(names))
    single = pairs.scores.shape[2] == 1
    for place, who in enumerate("ab"):
        for score in range(pairs.scores.shape[2]):
            name = named(who, "score") if single else f"{who}.score.{outcomes[score]}"
            yield Numbers(name, pairs.scores[:, place, score])


def _asked_for(finds: Finds, taken: set[str], boxes: Sequence[BoolArray]) -> Iterator[Column]:
    def named(name: str) -> str:
        return f"found.{name}" if name in taken else name

    if finds.severity is not None:
        yield Numbers(named("score_gap"), finds.severity.gaps)
        yield Numbers(named("bits"), finds.severity.bits)
    if finds.near is not None:
        yield Numbers(named("distance"), finds.near.distances)
        numbers, places = np.unique(finds.near.rows, return_inverse=True)
        yield Coded(named("nearest_row"), tuple(numbers.tolist()), places.ravel())
    if boxes:
        # Boxes do not overlap; the first of the values is that of a pair in none of them.
        places = np.zeros(len(finds.pairs), dtype=np.int64)
        for number, inside in enumerate(boxes, 1):
            places[inside] = number
        yield Coded(named("representative"), (None, *range(1, len(boxes) + 1)), places)
