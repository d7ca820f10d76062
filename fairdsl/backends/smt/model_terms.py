"""The model as SMT-LIB: over a region, folded, and whole.

Folded, what bounds decide is computed here, not in the solver. Whole, every unit is as the definition has it:
``z = weight @ h + bias``, ``h = max(z, 0) + slope * min(z, 0)``. Weights are printed exactly.

Theorem (soundness of folding). Let l <= z <= u hold for a unit in every point of the region. If l >= 0 its
output is z, if u <= 0 it is slope * z, and where the slope is 1 it is z: then the output is an affine
function of what feeds the layer, and is substituted, exactly. Every other unit keeps its definition
``h = max(z, slope * z)``, to which facts are added that follow from it on the region: h >= z,
h >= slope * z, l <= z <= u, and h lies below the chord from (l, slope * l) to (u, u), as h is convex.
Bounds and chord may be rounded outwards: they stay implied. Units that no score reads are left out.

Affine functions are rows of integers over one denominator: columns are the inputs and the kept units
that feed them, the last column is the constant.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor, gcd, isfinite, lcm, log2

import numpy as np

from fairdsl.backends.smt import terms
from fairdsl.backends.smt.case_bounds import FloatArray
from fairdsl.backends.smt.forest import Forest, grown
from fairdsl.backends.smt.individuals import Individuals
from fairdsl.backends.smt.terms import Term
from fairdsl.ir.exact_array import ObjectArray
from fairdsl.ir.feature import AttributeInput, Input
from fairdsl.ir.model import Layer, Model
from fairdsl.numerics.narrow import ValueSet, decided
from fairdsl.numerics.space import constant


@dataclass(frozen=True, slots=True)
class _Unit:
    """A kept unit: its symbol, its pre-activation as a term, the columns it reads, slope and bounds."""

    name: Term
    before: Term
    value: Term
    reads: frozenset[Term]
    slope: Fraction
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Folded:
    """One copy of the model on a region: the lines that define it and its scores as terms."""

    lines: tuple[str, ...]
    scores: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class _Affine:
    """``rows / denominator`` over ``columns`` and a constant."""

    columns: tuple[Term, ...]
    rows: ObjectArray
    denominator: int

    def term(self, row: int) -> Term:
        """One row as a term."""
        return terms.total(
            (terms.product(factor, column) for column, factor in self._factors(row)),
            Fraction(self.rows[row, -1], self.denominator),
        )

    def reads(self, row: int) -> frozenset[Term]:
        """The columns of one row."""
        return frozenset(column for column, _ in self._factors(row))

    def _factors(self, row: int) -> Iterator[tuple[Term, Fraction]]:
        for column, factor in zip(self.columns, self.rows[row, :-1].tolist(), strict=True):
            if factor:
                yield column, Fraction(factor, self.denominator)


def fold(
    model: Model,
    people: Individuals,
    who: str,
    sets: Sequence[ValueSet],
    bounds: Sequence[tuple[FloatArray, FloatArray]],
    asked: Sequence[int],
) -> Folded:
    """One copy of the model over the product of ``sets``, with its pre-activation bounds there.

    Units are defined that the ``asked`` scores read; of the others nothing is said.
    """
    forest = grown(model, people, who, sets)
    others = [position for position in range(len(model.inputs)) if position not in forest.positions]
    current = _inputs([model.inputs[position] for position in others], people, who, sets)
    kept: list[_Unit] = []
    for depth, (layer, (low, high)) in enumerate(zip(model.layers, bounds, strict=True), start=1):
        current = _weighted(layer, current) if depth > 1 else _planted(_weighted(layer, current, others), forest)
        if depth < len(model.layers):
            units, current = _bent(layer, current, low, high, f"{who}.{depth}")
            kept.extend(units)
    scores = tuple(current.term(row) for row in range(model.score_count))
    needed = frozenset[Term]().union(*(current.reads(row) for row in asked))
    live: list[_Unit] = []
    for unit in reversed(kept):
        if unit.name in needed:
            live.append(unit)
            needed |= unit.reads
    lines = [line for name, its in forest.lines.items() if name in needed for line in its]
    lines += [line for unit in reversed(live) for line in _definition(unit)]
    return Folded(tuple(lines), scores)


def _inputs(inputs: Sequence[Input], people: Individuals, who: str, sets: Sequence[ValueSet]) -> _Affine:
    values = [_known(item, sets) for item in inputs]
    columns = tuple(input_term(people, who, item) for item, value in zip(inputs, values, strict=True) if value is None)
    denominator = lcm(*(value.denominator for value in values if value is not None))
    rows = np.zeros((len(inputs), len(columns) + 1), dtype=object)
    column = 0
    for row, value in enumerate(values):
        if value is None:
            rows[row, column] = denominator
            column += 1
        else:
            rows[row, -1] = int(value * denominator)
    return _Affine(columns, rows, denominator)


def _known(item: Input, sets: Sequence[ValueSet]) -> Fraction | None:
    if isinstance(item, AttributeInput):
        return constant(sets[item.attribute])
    truth = decided(item.predicate, sets)
    return None if truth is None else Fraction(truth)


def _weighted(layer: Layer, inputs: _Affine, positions: Sequence[int] | None = None) -> _Affine:
    """The layer's sums over the inputs, or over those at the given positions."""
    weight, weight_denominator = layer.weight.scaled
    weight = weight if positions is None else weight[:, list(positions)]
    bias, bias_denominator = layer.bias.scaled
    below = weight_denominator * inputs.denominator
    denominator = lcm(below, bias_denominator)
    rows = (weight @ inputs.rows) * (denominator // below)
    rows[:, -1] += bias * (denominator // bias_denominator)
    return _Affine(inputs.columns, rows, denominator)


def _planted(sums: _Affine, forest: Forest) -> _Affine:
    """The sums with what the trees contribute to them."""
    columns = [column for own in forest.columns for column in own]
    denominator = lcm(sums.denominator, *(constant.denominator for constant in forest.constants))
    rows = sums.rows * (denominator // sums.denominator)
    rows[:, -1] += np.array([int(constant * denominator) for constant in forest.constants], dtype=object)
    place = {column: index for index, column in enumerate(columns)}
    trees = np.zeros((len(rows), len(columns)), dtype=object)
    for unit, own in enumerate(forest.columns):
        trees[unit, [place[column] for column in own]] = denominator
    return _Affine((*sums.columns, *columns), np.hstack([rows[:, :-1], trees, rows[:, -1:]]), denominator)


def _bent(layer: Layer, before: _Affine, low: FloatArray, high: FloatArray, prefix: str) -> tuple[list[_Unit], _Affine]:
    """The layer's outputs: stable units as affine rows, the others as columns of their own."""
    slopes, slope_denominator = layer.slope.scaled
    active = (low >= 0) | layer.linear
    kept = [unit for unit in range(layer.width) if not active[unit] and high[unit] > 0]
    names = [f"h{prefix}.{unit}" for unit in kept]
    denominator = before.denominator * slope_denominator
    rows = np.zeros((layer.width, len(before.columns) + len(kept) + 1), dtype=object)
    old = [*range(len(before.columns)), -1]
    for unit in range(layer.width):
        if unit in kept:
            rows[unit, len(before.columns) + kept.index(unit)] = denominator
        else:
            rows[unit, old] = before.rows[unit] * (slope_denominator if active[unit] else slopes[unit])
    units = [
        _Unit(
            name=name,
            before=f"z{prefix}.{unit}",
            value=before.term(unit),
            reads=before.reads(unit),
            slope=Fraction(slopes[unit], slope_denominator),
            low=float(low[unit]),
            high=float(high[unit]),
        )
        for name, unit in zip(names, kept, strict=True)
    ]
    return units, _reduced(_Affine((*before.columns, *names), rows, denominator))


def _reduced(affine: _Affine) -> _Affine:
    """Without columns that nothing reads, over the least denominator."""
    used = [i for i, column in enumerate(affine.rows[:, :-1].T) if any(column)]
    rows = affine.rows[:, [*used, -1]]
    shared = gcd(affine.denominator, *rows.ravel().tolist())
    return _Affine(tuple(affine.columns[i] for i in used), rows // shared, affine.denominator // shared)


def _definition(unit: _Unit) -> Iterator[str]:
    """The unit and the facts that follow from it."""
    h, z = unit.name, unit.before
    scaled = "0.0" if unit.slope == 0 else terms.product(unit.slope, z)
    yield f"(declare-const {z} Real)"
    yield f"(declare-const {h} Real)"
    yield f"(assert (= {z} {unit.value}))"
    yield f"(assert (or (and (>= {z} 0.0) (= {h} {z})) (and (<= {z} 0.0) (= {h} {scaled}))))"
    yield f"(assert (and (>= {h} {z}) (>= {h} {scaled})))"
    low, high = short(unit.low, down=True), short(unit.high, down=False)
    if low is not None:
        yield f"(assert (>= {z} {terms.rational(low)}))"
    if high is not None:
        yield f"(assert (<= {z} {terms.rational(high)}))"
    if low is not None and high is not None:
        yield f"(assert (<= {h} {_chord(z, unit.slope, low, high)}))"


def _chord(z: Term, slope: Fraction, low: Fraction, high: Fraction) -> Term:
    """A line above the unit on [low, high], with a short gradient; valid for every gradient."""
    exact = (high - slope * low) / (high - low)
    gradient = Fraction(round(exact * 256), 256)
    intercept = max((slope - gradient) * low, (1 - gradient) * high)
    return terms.total([terms.product(gradient, z)] if gradient else [], intercept)


def short(value: float, *, down: bool) -> Fraction | None:
    """The float rounded outwards to about ten bits, so that the solver's numbers stay short."""
    if not isfinite(value):
        return None
    if value == 0:
        return Fraction(0)
    exact = Fraction(value)
    step = Fraction(2) ** (floor(log2(abs(value))) - 10)
    return (exact // step if down else -(-exact // step)) * step


# ---- whole and unfolded --------------------------------------------------------------------------


def input_term(people: Individuals, who: str, item: Input) -> Term:
    """What the model reads, as a Real."""
    if isinstance(item, AttributeInput):
        return people.number(who, item.attribute)
    return f"(ite {people.holds(item.predicate, who)} 1.0 0.0)"


def scores(model: Model, who: str, *, prefix: str = "") -> list[Term]:
    """The symbols of one copy's scores, as :func:`whole_model` defines them."""
    return [f"{prefix}s{who}.{index}" for index in range(model.score_count)]


def whole_model(model: Model, people: Individuals, who: str, *, prefix: str = "") -> Iterator[str]:
    """Definitions of one copy, layer by layer: inputs ``v``, sums ``z``, outputs ``h``, scores ``s``.

    ``prefix`` stands before all of them where a script has several models.
    """
    outputs: list[Term] = []
    for index, item in enumerate(model.inputs):
        outputs.append(f"{prefix}v{who}.{index}")
        yield _defined(outputs[-1], input_term(people, who, item))
    for depth, layer in enumerate(model.layers, start=1):
        last = depth == len(model.layers)
        yield f"; {who}, layer {depth} of {len(model.layers)}: {'scores' if last else 'units'}"
        names = (
            scores(model, who, prefix=prefix)
            if last
            else [f"{prefix}h{who}.{depth}.{unit}" for unit in range(layer.width)]
        )
        for unit, name in enumerate(names):
            yield from _unit(layer, unit, outputs, name, f"{prefix}z{who}.{depth}.{unit}")
        outputs = names


def _unit(layer: Layer, unit: int, inputs: list[Term], name: Term, before: Term) -> Iterator[str]:
    weights = layer.weight.exact[unit]
    summands = [terms.product(w, term) for w, term in zip(weights, inputs, strict=True) if w]
    value = terms.total(summands, layer.bias.exact[unit])
    slope = layer.slope.exact[unit]
    if slope == 1:
        yield _defined(name, value)
        return
    yield _defined(before, value)
    below = "0.0" if slope == 0 else terms.product(slope, before)
    yield _defined(name, f"(ite (>= {before} 0.0) {before} {below})")


def _defined(name: Term, value: Term) -> str:
    return f"(define-fun {name} () Real {value})"
