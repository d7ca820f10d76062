"""Individuals that reach what random ones seldom reach: leaves of trees, and units that are rarely on, or rarely off.

For a leaf a point of its box, at the borders of the tests on the way to it. For a unit first the individual that its
weights ask for, and then a short climb: whoever comes nearest has one attribute changed, again and again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.expr import Relation
from fairdsl.ir.feature import AttributeInput, Form
from fairdsl.ir.model import Curve
from fairdsl.models.basis import TREE_RELATIONS, Affine, Block, Pick, Trees, dense
from fairdsl.models.confirm.individuals import Draw
from fairdsl.models.confirm.units import Reader

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
#: What the file is given for individuals: from [n, attributes] to [n, features].
Features = Callable[[FloatArray], FloatArray]

#: Units and leaves that are looked for at most, and how long a climb is.
_UNITS, _LEAVES, _ROUNDS, _TRIES = 48, 400, 3, 6
#: A unit that fewer than one individual in so many turns on or off is rare.
_RARE = 50
#: Tests whose borders are tried at most.
_TESTS = 4000


def plain_features(
    value: Affine, features: Iterable[int], forms: Mapping[int, Sequence[Form]]
) -> dict[int, tuple[int, float, float]]:
    """The features that are ``factor * attribute + constant``: the attribute, the factor and the constant of each."""
    found = {}
    for feature in features:
        reads = []
        for number, part in value.parts.items():
            if not isinstance(part, Pick):
                row = part.matrix[feature]
                reads += [(number, int(unit), float(row[unit])) for unit in np.flatnonzero(row)]
            elif part.units[feature] >= 0 and part.scale[feature]:
                reads.append((number, int(part.units[feature]), float(part.scale[feature])))
        if len(reads) == 1 and reads[0][0] in forms:
            number, unit, factor = reads[0]
            attribute = forms[number][unit].alone
            if attribute is not None:
                found[feature] = attribute, factor, float(value.bias[feature])
    return found


def borders_of(blocks: Sequence[Block], forms: Mapping[int, Sequence[Form]]) -> dict[int, list[float]]:
    """The numbers at which indicators and trees compare attributes, by the attribute."""
    found: dict[int, list[float]] = defaultdict(list)
    for block in blocks:
        if block.testing is None:
            continue
        tests = _tests(block)
        plain = plain_features(block.testing.features, dict.fromkeys(feature for feature, _ in tests), forms)
        for feature, threshold in tests:
            if feature in plain:
                attribute, factor, constant = plain[feature]
                found[attribute].append((threshold - constant) / factor)
    return found


def _tests(block: Block) -> list[tuple[int, float]]:
    """Features that a block tests, each with the number that it is compared with; of many tests some."""
    if block.indicators is not None:
        tests = block.indicators.tests
        return [(test.feature, float(test.threshold)) for test in tests[:: max(1, len(tests) // _TESTS)]]
    assert block.trees is not None, "the block tests"
    nodes = np.flatnonzero(block.trees.shape.inner)
    nodes = nodes[:: max(1, len(nodes) // _TESTS)]
    return list(zip(block.trees.feature[nodes].tolist(), block.trees.threshold[nodes].tolist(), strict=True))


def in_leaves(blocks: Sequence[Block], forms: Mapping[int, Sequence[Form]], draw: Draw) -> FloatArray:
    """Individuals at the borders of the boxes of leaves, [n, attributes]; of many leaves those of a sample."""
    rows = []
    for block in blocks:
        trees = block.trees
        if trees is None:
            continue
        plain = plain_features(trees.features, np.unique(trees.feature[trees.shape.inner]).tolist(), forms)
        leaves = np.unique(np.linspace(0, trees.width - 1, _LEAVES).astype(np.int64))
        found = draw.random(len(leaves))
        for row, leaf in zip(found, leaves.tolist(), strict=True):
            _put_in(row, trees, leaf, plain, upper=bool(leaf % 2))
        rows.append(draw.inside(found))
    return np.concatenate(rows) if rows else draw.random(0)


def _put_in(
    row: FloatArray, trees: Trees, leaf: int, plain: Mapping[int, tuple[int, float, float]], *, upper: bool
) -> None:
    """Move the individual into the leaf's box, as far as single attributes go: to its upper or lower border."""
    box: dict[int, tuple[float, float]] = {}
    for node, held in trees.shape.way(int(trees.shape.leaf_nodes[leaf])):
        if (feature := int(trees.feature[node])) not in plain:
            continue
        attribute, factor, constant = plain[feature]
        border = (float(trees.threshold[node]) - constant) / factor
        relation = TREE_RELATIONS[trees.relation[node]]
        relation = relation if held else relation.negated
        relation = relation if factor > 0 else relation.mirrored
        low, high = box.get(attribute, (-inf, inf))
        step = max(float(np.spacing(np.float32(abs(border)))), 1e-30)
        match relation:
            case Relation.LE:
                high = min(high, border)
            case Relation.LT:
                high = min(high, border - step)
            case Relation.GE:
                low = max(low, border)
            case Relation.GT:
                low = max(low, border + step)
            case Relation.EQ:
                low = high = border
            case Relation.NE:
                pass
        box[attribute] = low, high
    for attribute, (low, high) in box.items():
        ends = (max(low, row[attribute]), min(high, row[attribute]))
        inner = ends[0] if low > row[attribute] else ends[1] if high < row[attribute] else row[attribute]
        chosen = high if upper and high < inf else low if low > -inf and not upper else inner
        row[attribute] = chosen


def activating(
    reader: Reader, forms: Mapping[int, Sequence[Form]], draw: Draw, start: FloatArray, features_of: Features
) -> FloatArray:
    """Individuals that turn units on and off which hardly anybody of ``start`` does, [n, attributes]."""
    live = [number for number, block in enumerate(reader.blocks) if _bends(block, reader)]
    if not live:
        return draw.random(0)
    wanted = [_wanted(reader, number, forms, draw) for number in live]
    found = [rows for rows in wanted if rows is not None]
    climb = _Climb(reader, live, draw, features_of)
    return np.concatenate([*found, climb.rare(np.concatenate([start, *found]))])


@dataclass(frozen=True, slots=True)
class _Climb:
    """Looks for individuals that turn units of the ``live`` blocks."""

    reader: Reader
    live: Sequence[int]
    draw: Draw
    features_of: Features

    def rare(self, pool: FloatArray) -> FloatArray:
        """For some of the units that hardly anybody of the pool turns, who comes nearest to it, [units, attributes]."""
        before = self._before(pool)
        on = (before > 0).mean(axis=0)
        rare = np.flatnonzero((on < 1 / _RARE) | (on > 1 - 1 / _RARE))
        rare = rare[:: max(1, -(-len(rare) // _UNITS))]
        if not rare.size:
            return self.draw.random(0)
        sign = np.where(on[rare] < 1 / 2, 1.0, -1.0)
        each = np.arange(len(rare))
        reached = before[:, rare] * sign
        best = np.argmax(reached, axis=0)
        rows, values = pool[best].copy(), reached[best, each]
        for _ in range(_ROUNDS):
            tried = self.draw.changed(np.repeat(rows, _TRIES, axis=0))
            reached = self._before(tried)[:, rare] * sign
            own = reached.reshape(len(rare), _TRIES, len(rare))[each, :, each]
            place = np.argmax(own, axis=1)
            better = own[each, place] > values
            rows[better] = tried.reshape(len(rare), _TRIES, -1)[better, place[better]]
            values[better] = own[better, place[better]]
        return np.asarray(rows, dtype=np.float64)

    def _before(self, points: FloatArray) -> FloatArray:
        """What goes into the units, [n, units]."""
        units = self.reader.at(self.features_of(points))
        arguments = (self.reader.blocks[number].argument for number in self.live)
        return np.concatenate([units.affine(value) for value in arguments if value is not None], axis=1)


def _bends(block: Block, reader: Reader) -> bool:
    return block.argument is not None and block.curve is Curve.LEAKY and bool((reader.floats(block.slope) != 1).any())


def _wanted(reader: Reader, number: int, forms: Mapping[int, Sequence[Form]], draw: Draw) -> FloatArray | None:
    """The individuals that the signs of a unit's weights ask for, on and off; None beyond the first layer."""
    argument = reader.blocks[number].argument
    assert argument is not None, "the block bends"
    if not argument.parts or not all(part in forms for part in argument.parts):
        return None
    chosen = np.unique(np.linspace(0, argument.size - 1, min(argument.size, _UNITS)).astype(np.int64))
    pull = np.zeros((len(chosen), len(draw.random(1)[0])))
    for block, part in argument.parts.items():
        matrix = reader.floats(dense(part, reader.blocks[block].width))[chosen]
        for unit, form in enumerate(forms[block]):
            for item, factor in form.terms:
                if isinstance(item, AttributeInput):
                    pull[:, item.attribute] += matrix[:, unit] * float(factor)
    ends = np.array([draw.ends(index) for index in range(pull.shape[1])]).reshape(-1, 2)
    usual = draw.random(2 * len(chosen))
    rows = np.where(np.concatenate([pull, -pull]) > 0, ends[:, 1], ends[:, 0])
    rows = np.where(np.concatenate([pull, pull]) == 0, usual, rows)
    return draw.inside(rows)
