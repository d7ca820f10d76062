"""What the first layer reads: graph inputs, and the indicators and leaves that come before all other units."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import overload

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.domain import Domain
from fairdsl.ir.ensemble import Ensemble, joined
from fairdsl.ir.expr import Predicate
from fairdsl.ir.feature import Form, IndicatorInput
from fairdsl.models.basis import Block
from fairdsl.models.binding.indicators import bind_indicators
from fairdsl.models.binding.trees import BoundTrees, bind_trees

_Found = list[Predicate | bool] | BoundTrees


@dataclass(frozen=True, slots=True, eq=False)
class Bound:
    """The units of some blocks, side by side.

    Units of trees that stand nowhere are those of leaves that nobody reaches.
    """

    #: The indicators, by their place: a predicate each, or a truth value where it is known.
    indicators: tuple[tuple[int, Predicate | bool], ...]
    #: The trees; None without any.
    ensemble: Ensemble | None
    #: The places of the ensemble's leaves.
    leaves: NDArray[np.int64]
    #: The places of leaves that everybody reaches.
    always: NDArray[np.int64]


def bind_early(blocks: Sequence[Block], wanted: Sequence[int], forms: Sequence[Form], domain: Domain) -> Bound:
    """The units of the blocks ``wanted``, which are ascending, where ``forms`` fill the graph inputs.

    Raises EntangledError.
    """
    place = 0
    indicators: list[tuple[int, Predicate | bool]] = []
    trees: list[BoundTrees] = []
    leaves, always = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for number, found in _in_order(blocks, wanted, filled(blocks, forms), domain):
        if number not in wanted:
            continue
        if isinstance(found, BoundTrees):
            trees.append(found)
            leaves.append(found.leaves + place)
            always.append(found.always + place)
        else:
            indicators += enumerate(found, start=place)
        place += blocks[number].width
    ensemble = joined([found.ensemble for found in trees])
    return Bound(
        indicators=tuple(indicators),
        ensemble=ensemble if ensemble.shape.trees else None,
        leaves=np.concatenate(leaves),
        always=np.concatenate(always),
    )


def early_forms(
    blocks: Sequence[Block], wanted: Sequence[int], forms: Sequence[Form], domain: Domain
) -> dict[int, Sequence[Form]]:
    """The forms of the units of every graph input, and of those up to the blocks ``wanted``. Raises EntangledError."""
    units_of = filled(blocks, forms)
    for _ in _in_order(blocks, wanted, units_of, domain):
        pass
    return units_of


def filled(blocks: Sequence[Block], forms: Sequence[Form]) -> dict[int, Sequence[Form]]:
    """The forms of the units of every graph input, by the number of its block."""
    found: dict[int, Sequence[Form]] = {}
    start = 0
    for number, block in enumerate(blocks):
        if block.given:
            found[number] = forms[start : start + block.width]
            start += block.width
    return found


def _in_order(
    blocks: Sequence[Block], wanted: Sequence[int], units_of: dict[int, Sequence[Form]], domain: Domain
) -> Iterator[tuple[int, _Found]]:
    """The blocks that test, up to those ``wanted``, bound; their forms go to ``units_of``."""
    for number, block in enumerate(blocks[: max(wanted, default=-1) + 1]):
        if block.trees is not None:
            trees = bind_trees(block.trees, units_of, domain)
            units_of[number] = _LeafForms(trees, block.width)
            yield number, trees
        elif block.indicators is not None:
            found = bind_indicators(block.indicators, units_of, domain)
            units_of[number] = [_form(unit) for unit in found]
            yield number, found


def _form(unit: Predicate | bool) -> Form:
    return Form((), Fraction(unit)) if isinstance(unit, bool) else Form.of(IndicatorInput(unit))


class _LeafForms(Sequence[Form]):
    """The forms of the leaves of a file, made when somebody reads them."""

    def __init__(self, trees: BoundTrees, width: int) -> None:
        self._trees, self._width = trees, width
        self._place = {leaf: place for place, leaf in enumerate(trees.leaves.tolist())}
        self._always = frozenset(trees.always.tolist())

    def __len__(self) -> int:
        return self._width

    @overload
    def __getitem__(self, leaf: int) -> Form: ...
    @overload
    def __getitem__(self, leaf: slice) -> Sequence[Form]: ...
    def __getitem__(self, leaf: int | slice) -> Form | Sequence[Form]:
        if isinstance(leaf, slice):
            return [self[each] for each in range(self._width)[leaf]]
        place = self._place.get(leaf)
        return _form(leaf in self._always if place is None else self._trees.ensemble.leaf_predicate(place))
