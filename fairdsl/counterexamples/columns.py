"""Which columns the table of counterexamples has.

They are the attributes of a, then ``b.NAME`` for those in which b may be another, the two decisions, the two
scores (one each, or one for each outcome), what was asked for beside (``score_gap`` and ``bits``, ``distance`` and
``nearest_row``, ``representative``), and which strategy found the pair. Names of attributes hold no dot; where one of
them is the name of such a column, or ``decision`` or ``score``, the column's own name begins with ``found.``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from fairdsl.counterexamples.results import Results
from fairdsl.counterexamples.table import Coded, Column, Numbers
from fairdsl.ir.domain import Domain
from fairdsl.ir.question import Pair

__all__ = ["columns_of"]

BoolArray = NDArray[np.bool_]


def columns_of(
    results: Results, domain: Domain, pair: Pair, outcomes: Sequence[str], boxes: Sequence[BoolArray]
) -> tuple[Column, ...]:
    """The table of the counterexamples; ``boxes`` say which of them lie in the box of each representative."""
    taken = {attribute.name for attribute in domain.attributes}
    columns = [*_individuals(results, domain, pair), *_answers(results, outcomes, taken)]
    columns += _asked_for(results, taken, boxes)
    return (*columns, Coded("found.by", results.strategies, results.by))


def _individuals(results: Results, domain: Domain, pair: Pair) -> Iterator[Column]:
    a, b = results.written
    for index, attribute in enumerate(domain.attributes):
        yield Coded.of_attribute(attribute.name, attribute, a[:, index])
    for index in sorted({*pair.differ, *(relaxation.attribute for relaxation in pair.relax)}):
        attribute = domain.attributes[index]
        yield Coded.of_attribute(f"b.{attribute.name}", attribute, b[:, index])


def _answers(results: Results, outcomes: Sequence[str], taken: set[str]) -> Iterator[Column]:
    def named(who: str, name: str) -> str:
        return f"found.{who}.{name}" if name in taken else f"{who}.{name}"

    pairs = results.pairs
    # An open decision is the last of the names.
    names = (*outcomes, "open")
    for place, who in enumerate("ab"):
        yield Coded(named(who, "decision"), names, pairs.decisions[:, place] % len(names))
    single = pairs.scores.shape[2] == 1
    for place, who in enumerate("ab"):
        for score in range(pairs.scores.shape[2]):
            name = named(who, "score") if single else f"{who}.score.{outcomes[score]}"
            yield Numbers(name, pairs.scores[:, place, score])


def _asked_for(results: Results, taken: set[str], boxes: Sequence[BoolArray]) -> Iterator[Column]:
    def named(name: str) -> str:
        return f"found.{name}" if name in taken else name

    if results.severity is not None:
        yield Numbers(named("score_gap"), results.severity.gaps)
        yield Numbers(named("bits"), results.severity.bits)
    if results.near is not None:
        yield Numbers(named("distance"), results.near.distances)
        numbers, places = np.unique(results.near.rows, return_inverse=True)
        yield Coded(named("nearest_row"), tuple(numbers.tolist()), places.ravel())
    if boxes:
        # Boxes do not overlap; the first of the values is that of a pair in none of them.
        places = np.zeros(len(results.pairs), dtype=np.int64)
        for number, inside in enumerate(boxes, 1):
            places[inside] = number
        yield Coded(named("representative"), (None, *range(1, len(boxes) + 1)), places)
