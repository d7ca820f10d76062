"""Numbers that depend on which class was chosen: what votes, bins and calibrations make of an ArgMax.

A class that was chosen by numbers of the individual alone, before any unit bends, is read as such numbers where that
is exact. Three kinds of scores are: those of one tree, whose leaves each choose a class; lines over one number, whose
highest one changes at points (the nearest of some marks is of this kind); and sums of comparisons of one number, as
bins are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

import numpy as np

from fairdsl.ir.expr import Relation
from fairdsl.models import exact
from fairdsl.models.basis import Affine, Basis, Comparison, Dense, Indicators, add, apply, dense, scale, take
from fairdsl.models.onnx_import.values import Labelled, NodeCall, UnreadableError

#: A linear form without its constant: the factor of each unit that counts, by block and place.
_Slope = tuple[tuple[tuple[int, int], Fraction], ...]


@dataclass(frozen=True, slots=True)
class _Border:
    """From where on, in ascending order, another class is chosen: above the number, or from it on."""

    at: Fraction
    included: bool

    @property
    def key(self) -> tuple[Fraction, bool]:
        """Where the border lies: one that includes its number comes first."""
        return self.at, not self.included


def is_early(call: NodeCall, chosen: Labelled) -> bool:
    """Whether the class is chosen by numbers of the individual that no unit has bent."""
    return call.basis.early(chosen.scores)


def by_choice(call: NodeCall, chosen: Labelled, rows: Sequence[Sequence[Fraction]], shape: tuple[int, ...]) -> Affine:
    """The numbers ``rows[k]`` of the class in place k that was chosen, in this shape. Raises UnreadableError."""
    if not is_early(call, chosen):
        raise UnreadableError("it computes with a class that was chosen by what units of a network compute")
    chosen = replace(chosen, scores=_without_nothing(chosen.scores))
    block = _one_tree(chosen.scores, call.basis)
    if block is not None:
        return _of_leaves(call, chosen, block, rows, shape)
    number, classes, borders = _along_a_number(chosen, call.basis)
    return _steps(call, number, [rows[place] for place in classes], borders, shape)


def _without_nothing(scores: Affine) -> Affine:
    """The scores without blocks of which every unit is weighed with 0."""
    parts = {
        block: part
        for block, part in scores.parts.items()
        if np.any(part.matrix if isinstance(part, Dense) else part.scale[part.units >= 0])
    }
    return Affine(scores.shape, parts, scores.bias)


def nearest(call: NodeCall, number: Affine, marks: Sequence[Fraction]) -> Affine:
    """Scores of which the highest, the first in a tie, is that of the mark nearest to a single number.

    ``(x - m)^2`` is least where ``2 m x - m^2`` is greatest, which is a line over x.
    """
    slopes = np.array([[2 * mark] for mark in marks], dtype=object)
    offsets = np.array([-(mark**2) for mark in marks], dtype=object)
    lines = apply(exact.from_rationals(slopes), number, (len(marks),), call.basis)
    return Affine((1, len(marks)), lines.parts, exact.add(lines.bias, exact.from_rationals(offsets)))


# ---- one tree ------------------------------------------------------------------------------------


def _one_tree(scores: Affine, basis: Basis) -> int | None:
    """The block whose leaves, those of a single tree, are all that the scores depend on."""
    (block, *more) = scores.parts or (None,)
    if block is None or more:
        return None
    trees = basis.blocks[block].trees
    return block if trees is not None and trees.shape.trees == 1 else None


def _of_leaves(
    call: NodeCall, chosen: Labelled, block: int, rows: Sequence[Sequence[Fraction]], shape: tuple[int, ...]
) -> Affine:
    scores = chosen.scores
    of_leaf = exact.to_fractions(exact.add(dense(scores.parts[block], call.basis.width(block)), scores.bias[:, None]))
    order = range(scores.size)[:: -1 if chosen.ties_last else 1]
    places = [max(order, key=lambda k: of_leaf[k, leaf]) for leaf in range(of_leaf.shape[1])]
    matrix = np.array([[Fraction(rows[place][i]) for place in places] for i in range(len(rows[0]))], dtype=object)
    return Affine(shape, {block: Dense(exact.from_rationals(matrix))}, exact.zeros((len(rows[0]),)))


# ---- one number ----------------------------------------------------------------------------------


def _along_a_number(chosen: Labelled, basis: Basis) -> tuple[Affine, list[int], list[_Border]]:
    """A single number, the classes that are chosen as it grows, and the borders between them."""
    scores = chosen.scores
    compared = [block for block in scores.parts if basis.blocks[block].indicators is not None]
    if not compared:
        return _along_lines(chosen, basis)
    if len(compared) < len(scores.parts):
        raise UnreadableError("it computes with a class that was chosen by comparisons and by numbers at once")
    return _along_comparisons(chosen, basis)


def slopes(value: Affine) -> list[_Slope]:
    """The factors of all units that count, without the constant, of each element."""
    found: list[dict[tuple[int, int], Fraction]] = [{} for _ in range(value.size)]
    for block, part in sorted(value.parts.items()):
        for element, row in enumerate(found):
            if isinstance(part, Dense):
                factors = part.matrix[element]
                row.update({(block, int(unit)): Fraction(factors[unit]) for unit in np.flatnonzero(factors)})
            elif part.units[element] >= 0 and part.scale[element]:
                row[block, int(part.units[element])] = Fraction(part.scale[element])
    return [tuple(row.items()) for row in found]


def _multiple(slope: _Slope, unit: _Slope) -> Fraction | None:
    """By which factor the slope is the unit's; None where it is not."""
    if not slope:
        return Fraction(0)
    factor = slope[0][1] / unit[0][1]
    return factor if slope == tuple((place, factor * size) for place, size in unit) else None


def _along_lines(chosen: Labelled, basis: Basis) -> tuple[Affine, list[int], list[_Border]]:
    scores = chosen.scores
    lying = slopes(scores)
    first = lying[0]
    # What all scores have in common decides nothing; of two it is their difference that counts.
    differences = [_less(slope, first) for slope in lying]
    moving = next((place for place, slope in enumerate(differences) if slope), None)
    if moving is None:
        raise UnreadableError("it computes with a class that is always the same")
    factors = [_multiple(slope, differences[moving]) for slope in differences]
    if any(factor is None for factor in factors):
        raise UnreadableError("it computes with a class that was chosen by several numbers at once")
    base = Fraction(scores.bias[0])
    offsets = [Fraction(bias) - base for bias in scores.bias.tolist()]
    lines = [(factor or Fraction(0), offset) for factor, offset in zip(factors, offsets, strict=True)]
    number = _part_of(scores, moving, basis)
    classes, borders = _envelope(lines, chosen.ties_last)
    return number, classes, borders


def _less(left: _Slope, right: _Slope) -> _Slope:
    total = dict(left)
    for unit, factor in right:
        total[unit] = total.get(unit, Fraction(0)) - factor
    return tuple(sorted((unit, factor) for unit, factor in total.items() if factor))


def _part_of(scores: Affine, place: int, basis: Basis) -> Affine:
    """The score in this place less the first one, without its constant, as a single number."""
    mine, first = (take(scores, np.array([element])) for element in (place, 0))
    found = add(mine, scale(first, np.array([-1.0])), basis)
    return Affine((1,), found.parts, exact.zeros((1,)))


def _envelope(lines: Sequence[tuple[Fraction, Fraction]], ties_last: bool) -> tuple[list[int], list[_Border]]:
    """Which line is the highest as its argument grows, and from where on."""
    best: dict[Fraction, int] = {}
    for place, (slope, offset) in enumerate(lines):
        known = best.get(slope)
        if known is None or offset > lines[known][1] or (offset == lines[known][1] and ties_last):
            best[slope] = place
    hull: list[int] = []
    borders: list[Fraction] = []
    for slope in sorted(best):
        place = best[slope]
        while hull:
            (a, b), (c, d) = lines[hull[-1]], lines[place]
            at = (b - d) / (c - a)
            if borders and at == borders[-1]:
                raise UnreadableError("it computes with a class that was chosen among three that tie at one number")
            if borders and at < borders[-1]:
                hull.pop()
                borders.pop()
                continue
            borders.append(at)
            break
        hull.append(place)
    found = [
        # At the border both are highest, and the order of the classes decides.
        _Border(at, included=(after < before) != ties_last)
        for at, (before, after) in zip(borders, pairwise(hull), strict=True)
    ]
    return hull, found


def _along_comparisons(chosen: Labelled, basis: Basis) -> tuple[Affine, list[int], list[_Border]]:
    """Scores that are sums of comparisons of one number: constant between the borders, and at each of them."""
    scores = chosen.scores
    number: Affine | None = None
    unit: _Slope = ()
    changes: list[tuple[_Border, np.ndarray, bool]] = []
    for block, part in scores.parts.items():
        indicators = basis.blocks[block].indicators
        assert indicators is not None, "all of them compare"
        weights = exact.to_fractions(dense(part, indicators.width))
        lying = slopes(indicators.features)
        for place in np.flatnonzero((weights != 0).any(axis=0)).tolist():
            test = indicators.tests[place]
            slope = lying[test.feature]
            if number is None:
                unit = slope
                row = take(indicators.features, np.array([test.feature]))
                number = Affine((1,), row.parts, exact.zeros((1,)))
            factor = _multiple(slope, unit) if slope and unit else None
            if not factor or test.relation in (Relation.EQ, Relation.NE):
                raise UnreadableError("it computes with a class that was chosen by several numbers at once")
            at = (test.threshold - Fraction(indicators.features.bias[test.feature])) / factor
            relation = test.relation if factor > 0 else test.relation.mirrored
            rising = relation.upwards
            changes.append((_Border(at, relation in (Relation.GE, Relation.LT)), weights[:, place], rising))
    assert number is not None, "some comparison counts"
    total = exact.to_fractions(scores.bias) + sum(weights for _, weights, rising in changes if not rising)
    order = range(scores.size)[:: -1 if chosen.ties_last else 1]
    classes, borders = [max(order, key=lambda k: total[k])], list[_Border]()
    for border in sorted({border for border, _, _ in changes}, key=lambda border: border.key):
        for other, weights, rising in changes:
            if other == border:
                total = total + (weights if rising else -weights)
        found = max(order, key=lambda k: total[k])
        if found != classes[-1]:
            classes.append(found)
            borders.append(border)
    return number, classes, borders


def _steps(
    call: NodeCall,
    number: Affine,
    rows: Sequence[Sequence[Fraction]],
    borders: Sequence[_Border],
    shape: tuple[int, ...],
) -> Affine:
    """The first row, and beyond each border the next one."""
    start = exact.from_rationals(np.array([Fraction(value) for value in rows[0]], dtype=object))
    if not borders:
        return Affine(shape, {}, start)
    tests = tuple(Comparison(0, Relation.GE if border.included else Relation.GT, border.at) for border in borders)
    units = call.basis.indicate(Indicators(call.node.operator, call.node.where, number, tests))
    steps = [
        [Fraction(b) - Fraction(a) for a, b in zip(before, after, strict=True)] for before, after in pairwise(rows)
    ]
    matrix = exact.from_rationals(np.array(steps, dtype=object).T)
    found = apply(matrix, units, shape, call.basis)
    return Affine(shape, found.parts, exact.add(found.bias, start))
